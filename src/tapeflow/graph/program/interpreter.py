"""Runs operations one by one: parts of sessions' runs, frames of TensorFlow 1, and the steps around an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.ops.static import arguments_of, results_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.effects import with_stream
from tapeflow.graph.program.program import Step


def interpret(
    call: Operation | Step,
    value_of: Callable[[SymbolicTensor], Any],
    resources: Callable[[Any], Any] = lambda variable: variable,
) -> Sequence[Any]:
    """Returns the raw values of an operation's outputs.

    Args:
        call: the operation, or a step that computes one.
        value_of: returns the raw value of an input.
        resources: maps each variable to the variable to use.

    Raises:
        OpError: the operation failed.
        ValueError: its kernel raised one.
    """
    op = call.op
    if not isinstance(op, GraphOp):
        return with_stream(call, results_of)(op, arguments_of(op, call.args, value_of), call.types)
    if op.name == "Const":
        return (op.attrs["value"].value,)
    if op.name == "VarHandleOp":
        return (resources(op.attrs["variable"]),)
    result = None if op.kernel is None else op.kernel(*map(value_of, call.inputs))
    if result is None:
        return ()
    values: Sequence[Any] = result if op.gives_tuple or len(call.outputs) > 1 else (result,)
    return values
