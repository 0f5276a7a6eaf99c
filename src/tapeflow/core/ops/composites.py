"""Compositions of ops that eager programs call, such as GELU: with many elements, one compiled function.

Each op of a composition reads and writes whole tensors. The compiled function computes the result, and later its
gradient, in one pass over memory. Last bits may differ. Few elements take the ops: a call of a function takes longer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.errors import OpError
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.values.tensor import EagerTensor

_LEAST = 1 << 16  # elements


def is_compiled(x: Any) -> bool:
    """Returns True if a composition of this operand runs as a compiled function."""
    if type(x) is not EagerTensor or not x.dtype.is_floating or x.value.numel() < _LEAST:
        return False
    return state.graph is None and by_value(x.value)


def composite(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a composition of ops, whose first operand has most of the elements. All arguments are positional."""
    compiled: Callable[..., Any] | None = None

    @functools.wraps(function)
    def call(x: Any, *args: Any) -> Any:
        nonlocal compiled
        if not is_compiled(x):
            return function(x, *args)
        compiled = compiled or hooks.compiled_function(function)
        try:
            return compiled(x, *args)
        except (OpError, TypeError, ValueError):
            return function(x, *args)  # raises the errors of eager mode

    return call
