"""The private names of Keras that TapeFlow uses: names in `keras.src`, and methods with an underscore.

`internals.NAME` is looked up on first use. Each name has a fallback in Keras's public names, or raises an error that
names the missing part. A method that Keras lacks is not replaced.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tapeflow.core.aten import resolve
from tapeflow.core.lazy_modules import load

OLDEST, NEWEST = "3.12", "3.15"  # the versions of Keras that have all of these

# Names here, and where Keras has them: a module, and attributes in it.
PRIVATE: dict[str, str] = {
    "tf_keras": "keras._tf_keras.keras:",
    "backend": "keras._tf_keras.keras:backend",
    "configured_backend": "keras.src.backend.config:backend",
    "global_state": "keras.src.backend.common.global_state:",
    "in_stateless_scope": "keras.src.backend.common.stateless_scope:in_stateless_scope",
    "legacy_h5_format": "keras.src.legacy.saving.legacy_h5_format:",
    "saving_lib": "keras.src.saving.saving_lib:",
    "BaseOptimizer": "keras.src.optimizers.base_optimizer:BaseOptimizer",
    "Tracker": "keras.src.utils.tracking:Tracker",
    "distribution_lib": "keras.src.backend.tensorflow.distribution_lib:",
    "get_input_signature": "keras.src.export.export_utils:get_input_signature",
    "make_default_seed": "keras.src.random.seed_generator:make_default_seed",
    "get_random_seed": "keras.src.utils.rng_utils:get_random_seed",
    # classes with methods that TapeFlow replaces
    "TensorFlowTrainer": "keras.src.backend.tensorflow.trainer:TensorFlowTrainer",
}

# The methods and functions that TapeFlow replaces, by their owners. Of Keras 2, it replaces
# `tf_keras.src.saving.legacy.save.load_model`, in `tensorflow_python/keras_2.py`.
REPLACED: dict[str, tuple[str, ...]] = {
    "keras:Layer": ("_lookup_dependency", "_handle_deferred_dependencies", "_initialize_tracker"),
    "keras:Model": ("_resolve_auto_jit_compile",),
    "keras:Optimizer": ("_backend_update_step", "_apply_weight_decay"),
    "keras:Variable": ("_serialize_to_tensors", "_restore_from_tensors", "_initialize"),
    PRIVATE["TensorFlowTrainer"]: ("_autoconvert_optionals",),
    PRIVATE["distribution_lib"]: ("_to_backend_mesh",),
    PRIVATE["saving_lib"]: ("save_model", "save_weights_only", "load_model"),
    PRIVATE["legacy_h5_format"]: ("save_model_to_hdf5", "load_model_from_hdf5"),
    "keras.src.ops.nn:": ("_layer_normalization", "_rms_normalization"),
    "keras:layers.GroupNormalization": ("_apply_normalization",),
    PRIVATE["BaseOptimizer"]: ("apply", "_filter_empty_gradients"),
}


def __getattr__(name: str) -> Any:
    path = PRIVATE.get(name)
    if path is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = resolve(path)
    if value is None and name in _FALLBACKS:
        value = _FALLBACKS[name]()
    if value is None:
        version = load("keras").__version__
        what = path.strip(":").replace(":", ".")
        raise ImportError(
            f"Keras {version} has no `{what}`, which TapeFlow needs for this. Versions {OLDEST} to {NEWEST} have it: "
            'pip install "keras>=3.12.4,!=3.13.*,!=3.14.*,<3.16"'
        )
    globals()[name] = value
    return value


def lacking() -> list[str]:
    """Returns the private names that this version of Keras lacks."""
    names = [path for path in PRIVATE.values() if resolve(path) is None]
    for owner, methods in REPLACED.items():
        names += [f"{owner}.{method}" for method in methods if getattr(resolve(owner), method, None) is None]
    return names


def replace(owner: str, name: str, wrapped: Callable[[Any], Any]) -> None:
    """Replaces a method or function of `REPLACED` by `wrapped(it)`, if Keras has it.

    Args:
        owner: the path of the class or module.
        name: the name of the method or function.
        wrapped: takes the method or function, and returns its replacement.
    """
    holder: Any = resolve(owner)
    function = getattr(holder, name, None)
    if function is not None:
        setattr(holder, name, wrapped(function))


def wrapper(replacement: Callable[..., Any]) -> Callable[[Any], Any]:
    """Turns a function of an original function and its arguments into a decorator of the original."""

    def decorate(original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            return replacement(original, *args, **kwargs)

        return call

    return decorate


# ---- fallbacks -------------------------------------------------------------------------------------------------------


def _keras_module() -> Any:
    return load("keras")


_FALLBACKS: dict[str, Callable[[], Any]] = {
    "tf_keras": _keras_module,
    "backend": lambda: _keras_module().backend,
    "configured_backend": lambda: _keras_module().backend.backend,
    "global_state": lambda: SimpleNamespace(
        GLOBAL_STATE_TRACKER=SimpleNamespace(current_call_ctx=True),  # a call may be within another
        set_global_attribute=lambda name, value: None,
    ),
    "in_stateless_scope": lambda: lambda: False,
    "BaseOptimizer": lambda: _keras_module().optimizers.Optimizer,
    "distribution_lib": SimpleNamespace,  # `keras.distribution` stays as it is
    "make_default_seed": lambda: lambda: random.randint(1, 10**9),
    "get_random_seed": lambda: lambda: None,
}
