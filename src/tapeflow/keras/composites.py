"""Normalizations of Keras as compositions that run as compiled functions; see `core/ops/composites.py`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import keras

from tapeflow.core.ops.composites import composite, is_compiled
from tapeflow.keras.internals import REPLACED, replace, wrapper

_OPS = "keras.src.ops.nn:"
_GROUPS = "keras:layers.GroupNormalization"


def add() -> None:
    """Changes the functions of Keras."""
    for name in REPLACED[_OPS]:
        replace(_OPS, name, _compiling)
    replace(_GROUPS, "_apply_normalization", _normalize_groups)


def _compiling(normalize: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a normalization that runs as a compiled function for many elements."""
    compiled, signature = composite(normalize), inspect.signature(normalize)

    @functools.wraps(normalize)
    def normalize_many(x: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_compiled(x):
            return normalize(x, *args, **kwargs)
        bound = signature.bind(x, *args, **kwargs)
        bound.apply_defaults()
        return compiled(*(_as_argument(name, value) for name, value in bound.arguments.items()))

    return normalize_many


@wrapper
def _normalize_groups(apply: Callable[..., Any], self: Any, x: Any, input_shape: Any) -> Any:
    """Normalizes groups: for many elements, as a layer normalization over several axes."""
    if not is_compiled(x):
        return apply(self, x, input_shape)
    axes = list(range(1, len(x.shape)))
    axes.pop(-2 if self.axis == -1 else self.axis - 1)
    shape = self._create_broadcast_shape(input_shape)
    gamma, beta = (None if v is None else keras.ops.reshape(v, shape) for v in (self.gamma, self.beta))
    return keras.ops.layer_normalization(x, gamma, beta, axes, self.epsilon)


def _as_argument(name: str, value: Any) -> Any:
    """Returns an argument of a compiled function: tensors for variables, and a number for the default epsilon."""
    if isinstance(value, keras.Variable):
        return keras.ops.convert_to_tensor(value)
    if name == "epsilon" and value is None:
        return keras.config.epsilon()
    return tuple(value) if isinstance(value, list) else value
