"""A conditional that is evaluated in Python where its predicate is static."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.properties import get_static_value
from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.ops.static import array_of
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import ReadAsTensor, Tensor


def smart_cond(
    pred: TensorLike,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Returns `true_fn()` or `false_fn()`; calls `tf.cond` only where the predicate is not static.

    Raises:
        TypeError: the predicate is neither a tensor nor a Python bool, or a function is missing.
    """
    for function_name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"Argument `{function_name}` must be callable. Received {function}")
    static = smart_constant_value(pred)
    if static is None:
        return cond(pred, true_fn, false_fn, name=name)
    return true_fn() if static else false_fn()  # type: ignore[misc]


def smart_constant_value(pred: Any) -> bool | None:
    """Returns the value of a predicate, or None where it is not static.

    Raises:
        TypeError: the predicate is neither a tensor nor a Python bool.
    """
    if isinstance(pred, (Tensor, ReadAsTensor)):
        static = array_of(pred) if isinstance(pred, SymbolicTensor) else get_static_value(pred)
        return None if static is None else bool(static)
    if pred not in (0, 1):
        raise TypeError(
            f"Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Received: pred={pred} of type "
            f"{type(pred).__name__}"
        )
    return bool(pred)
