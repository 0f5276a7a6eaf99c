"""Checks of values. They run immediately in eager mode, and at run time in a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.ir.python_op import as_eager, executing_eagerly, python_op


def check_or_defer(
    check: Callable[..., None], *tensors: Any, holds: Callable[[], Any] | None = None
) -> Operation | None:
    """Calls a check on eager tensors, immediately if all values are static, otherwise as an operation of the graph.

    Args:
        check: raises an error if something is wrong.
        tensors: its arguments.
        holds: returns a scalar tensor of the graph that is true if nothing is wrong, for other readers of the graph.

    Returns:
        The operation, or None if the check has already run.
    """
    if state.graph is None:
        check(*tensors)
        return None
    values = [value_of(t) if isinstance(t, SymbolicTensor) else t.value for t in tensors]
    if all(v is not None for v in values):
        with executing_eagerly():
            check(*[as_eager(v, t.dtype) for v, t in zip(values, tensors, strict=True)])
        return None

    def run(condition: Any, *values: Any) -> None:
        if holds is None or not condition:
            check(*values)

    return assert_op(run, convert(True) if holds is None else holds(), tensors)


def assert_op(function: Callable[..., Any], condition: Any, data: Sequence[Any], summarize: int = 3) -> Operation:
    """Adds an `Assert` of TensorFlow's form to the graph.

    Args:
        function: takes the condition and the data, and raises an error if the condition does not hold.
        condition: a boolean scalar.
        data: tensors that other readers of the graph show if it does not hold.
        summarize: the number of elements of each tensor that they show.
    """
    attrs = {"T": [tensor.dtype for tensor in data], "summarize": summarize}
    return python_op("Assert", function, [condition, *data], attrs=attrs, diagnostic=True)


def assertion(check: Callable[..., None], *tensors: Any, holds: Callable[[], Any] | None = None) -> Operation | None:
    """Calls `check_or_defer` for an assertion; a graph that sessions run gets an operation in any case."""
    return check_or_defer(check, *tensors, holds=holds) or nothing_to_check()


def nothing_to_check() -> Operation | None:
    """Returns the result of an assertion that holds already: a `NoOp` in a graph that sessions run, else None."""
    graph = state.graph
    return None if graph is None or graph.building_function else graph.node(GraphOp("NoOp"), (), (), "NoOp")
