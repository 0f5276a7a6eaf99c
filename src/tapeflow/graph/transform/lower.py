"""Lowers operations that TensorFlow lacks to TensorFlow's operations, for a `GraphDef`. The results never run."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.array.identities import identity_n, identity_op
from tapeflow.core.context import state
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import substitute
from tapeflow.graph.transform.body import Body, Call


def lower_operation(operation: Operation) -> list[Operation]:
    """Returns the operations that replace an operation in a `GraphDef`. The last one has its name and outputs."""
    op = operation.op
    if not isinstance(op, GraphOp):
        return [operation] if op.decomposition is None else _decompose_operation(operation)
    return [operation] if op.lowered is None else op.lowered(operation)


def _decompose_operation(operation: Operation) -> list[Operation]:
    """Returns TensorFlow operations that replace an operation without an op or a kernel in TensorFlow."""
    scratch = FuncGraph(operation.name, operation.name)
    inner = {id(t): scratch.input(t, "input") for t in operation.inputs}
    with scratch.as_default():
        state.name_scope = operation.name
        result = operation.op.decomposition(*substitute(operation.args, inner))
        if result is None:
            return [operation]
        if isinstance(result, list):
            result = identity_n(result)[0]
        elif len(result.op.outputs) != 1:
            result = identity_op(result)
    outer = {id(own): t for own, t in zip(inner.values(), operation.inputs, strict=True)}
    parts = [part for part in scratch.get_operations() if part.type != "Placeholder"]
    for part in parts:
        part.args, part.device = substitute(part.args, outer), operation.device
    last = result.op
    last.name, last.outputs, last._control_inputs = operation.name, operation.outputs, operation._control_inputs
    return [*(part for part in parts if part is not last), last]


def call_operation(operation: Operation, body: Body, outputs: Sequence[SymbolicTensor]) -> Operation:
    """Returns a detached operation that calls a function with the inputs of the operation that it replaces."""
    call = Operation(operation.graph, Call(body, body.outputs), operation.name, operation.args)
    call.outputs, call.device, call._control_inputs = list(outputs), operation.device, operation._control_inputs
    return call
