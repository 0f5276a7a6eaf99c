"""Checks of values, which run at once in eager mode, and when it runs in a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.static import value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.ir.python_op import as_eager, executing_eagerly, python_op


def checked(check: Callable[..., None], *tensors: Any) -> Operation | None:
    """Calls a check on eager tensors: at once where all values are static, else as an operation of the graph.

    Args:
        check: raises an error if something is wrong.
        tensors: its arguments.

    Returns:
        The operation, or None where the check has run already.
    """
    if state.graph is None:
        check(*tensors)
        return None
    values = [value_of(t) if isinstance(t, SymbolicTensor) else t.value for t in tensors]
    if all(v is not None for v in values):
        with executing_eagerly():
            check(*[as_eager(v, t.dtype) for v, t in zip(values, tensors, strict=True)])
        return None
    return python_op("Assert", check, tensors)


def assertion(check: Callable[..., None], *tensors: Any) -> Operation | None:
    """Calls `checked` for an assertion; a graph that sessions run gets an operation in any case."""
    return checked(check, *tensors) or nothing_to_check()


def nothing_to_check() -> Operation | None:
    """Returns the result of an assertion that holds already: a `NoOp` in a graph that sessions run, else None."""
    graph = state.graph
    return None if graph is None or graph.building_function else graph.node(GraphOp("NoOp"), (), (), "NoOp")
