"""The public `tf.config.optimizer` namespace: optimizations of graphs."""

from typing import Any as _Any

from tapeflow.core.settings import settings as _settings

__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
__dir__ = __all__.copy


def set_jit(enabled: bool | str) -> None:
    """Sets whether graphs are compiled automatically.

    Args:
        enabled: True or "autoclustering", or False.

    Returns:
        None.

    Raises:
        ValueError: `enabled` is something else.

    Example:
        >>> tf.config.optimizer.set_jit(False)
        >>> tf.config.optimizer.get_jit()
        ''
    """
    if enabled not in (True, False, "autoclustering"):
        raise ValueError(f"`enabled` must be True, False or 'autoclustering', not {enabled!r}")
    _settings.jit = "autoclustering" if enabled else ""


def get_jit() -> str:
    """Returns whether graphs are compiled automatically.

    Returns:
        `"autoclustering"`, or `""` if they are not.

    Example:
        >>> tf.config.optimizer.get_jit()
        ''
    """
    return _settings.jit


def set_experimental_options(options: dict[str, _Any]) -> None:
    """Switches graph passes on or off.

    Args:
        options: a dict with TensorFlow's names of passes, such as `{"constant_folding": False}`.

    Returns:
        None.

    Raises:
        TypeError: `options` is not a dict.

    Example:
        >>> tf.config.optimizer.set_experimental_options({"constant_folding": True})
        >>> tf.config.optimizer.get_experimental_options()["constant_folding"]
        True
    """
    _settings.optimizer_options.update(options)


def get_experimental_options() -> dict[str, _Any]:
    """Returns the switches of graph passes.

    Returns:
        A dict by TensorFlow's names of passes: those that were set, and some defaults.

    Example:
        >>> tf.config.optimizer.get_experimental_options().get("constant_folding", True)
        True
    """
    return {"disable_model_pruning": False, "disable_meta_optimizer": False} | _settings.optimizer_options
