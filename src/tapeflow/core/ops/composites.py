"""Compositions of ops that eager programs call, such as GELU: with many elements, one compiled function.

Each op of a composition reads and writes whole tensors. The compiled function computes the result, and later its
gradient, in one pass over memory. Last bits may differ. Few elements take the ops: a call of a function takes longer.
The first call for a rank waits for the trace and the compiler: 0.04 to 0.3 seconds of a processor, and a tenth of that
if an earlier process on the machine compiled the function. Compiling beside the ops would change last bits at a random
call. If the function raises an error, the ops run, and raise an error in the words of eager mode. If they succeed, the
function is wrong: tests see its error (`TAPEFLOW_CHECK_PASSES`), programs get the result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapeflow.core.context import CHECKS_PROGRAMS, state
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
            result = function(x, *args)  # raises the errors of eager mode
            if CHECKS_PROGRAMS:
                raise
            return result

    return call
