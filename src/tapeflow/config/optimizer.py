"""The public `tf.config.optimizer` namespace: how graphs are made faster."""

from __future__ import annotations

from typing import Any

from tapeflow.core.settings import settings


def set_jit(enabled: bool | str) -> None:
    """Says whether graphs are compiled of their own accord: True or "autoclustering", or False.

    Raises:
        ValueError: it is neither.

    Example:
        >>> tf.config.optimizer.set_jit(False)
        >>> tf.config.optimizer.get_jit()
        ''
    """
    if enabled not in (True, False, "autoclustering"):
        raise ValueError(f"`enabled` must be True, False or 'autoclustering', not {enabled!r}")
    settings.jit = "autoclustering" if enabled else ""


def get_jit() -> str:
    """`"autoclustering"`, or `""` where graphs are not compiled of their own accord.

    Example:
        >>> tf.config.optimizer.get_jit()
        ''
    """
    return settings.jit


def set_experimental_options(options: dict[str, Any]) -> None:
    """Switches graph passes on or off by TensorFlow's names for them, such as `{"constant_folding": False}`.

    `{"cuda_graphs": False}` has no `tf.function` captured as a CUDA graph that does not ask for it, `True` each that
    can be, "auto" (the default) those that gain by it; it holds for functions that are traced later.

    Raises:
        ValueError: "cuda_graphs" is given something else.

    Example:
        >>> tf.config.optimizer.set_experimental_options({"constant_folding": True})
        >>> tf.config.optimizer.get_experimental_options()["constant_folding"]
        True
    """
    if options.get("cuda_graphs", "auto") not in (True, False, "auto"):
        raise ValueError(f'`cuda_graphs` must be True, False or "auto", not {options["cuda_graphs"]!r}')
    settings.optimizer_options.update(options)


def get_experimental_options() -> dict[str, Any]:
    """Returns the graph passes that were switched, and what holds of the others by default.

    Example:
        >>> tf.config.optimizer.get_experimental_options().get("constant_folding", True)
        True
    """
    return {"disable_model_pruning": False, "disable_meta_optimizer": False} | settings.optimizer_options
