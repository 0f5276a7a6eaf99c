"""Gradients of conditionals and loops in TensorFlow's own operations, for a `GraphDef`.

When a graph runs here, conditionals and loops return records of residuals, which their gradients read. TensorFlow has
no such operations. In their place it gets

- a conditional with one more output: an optional of the residuals of its branch's backward function;
- a conditional that calls the backward function of the same branch, with the values in the optional;
- a function with a loop that pushes the residuals of each iteration onto lists, one a tensor, and returns an optional
  of these;
- a function with a loop that pops them, and calls the backward function of the body.

The lowered operations are exported and never run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.loops import Loop
from tapeflow.graph.codegen.program import substituted
from tapeflow.graph.control.body import Body, Call
from tapeflow.graph.gradients.derived import (
    backward_loop,
    branch_gradients,
    by_id,
    call_with_residuals,
    forward_loop,
    traced_body,
)
from tapeflow.graph.gradients.loop_gradients import LoopGradient
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation


def lowered(operation: Operation) -> list[Operation]:
    """Returns the operations that replace one in a `GraphDef`; the last of them has its name and outputs."""
    op = operation.op
    if not isinstance(op, GraphOp):
        return [operation] if op.decomposition is None else _decomposed(operation)
    if isinstance(op.kernel, LoopGradient):
        return [_gradient_of_loop(operation)]
    if op.gradient_of is not None and op.gradient_of.operation.op.bodies:
        return _gradient_of_conditional(operation)
    if operation.record is not None and op.bodies:
        return [(_loop_with_record if isinstance(op.kernel, Loop) else _conditional_with_record)(operation)]
    return [operation] if op.lowered is None else op.lowered(operation)


def _decomposed(operation: Operation) -> list[Operation]:
    """Returns the TensorFlow operations that replace one of an op that it lacks, or has no kernel for here."""
    scratch = FuncGraph(operation.name, operation.name)
    inner = {id(t): scratch.input(t, "input") for t in operation.inputs}
    with scratch.as_default():
        state.name_scope = operation.name
        result = operation.op.decomposition(*substituted(operation.args, inner))
        if result is None:
            return [operation]
        if len(result.op.outputs) != 1:
            result = ops.Identity(result)
    outer = {id(own): t for own, t in zip(inner.values(), operation.inputs, strict=True)}
    parts = [part for part in scratch.get_operations() if part.type != "Placeholder"]
    for part in parts:
        part.args, part.device = substituted(part.args, outer), operation.device
    last = result.op
    last.name, last.outputs, last._control_inputs = operation.name, operation.outputs, operation._control_inputs
    return [*(part for part in parts if part is not last), last]


# ---- conditionals ----------------------------------------------------------------------------------------------------


def _conditional_with_record(operation: Operation) -> Operation:
    """Returns a conditional whose branches also return an optional of their residuals."""
    op = operation.op
    bodies = map(_with_residuals, op.bodies.values(), op.kernel.residuals)
    return _replaced(operation, dict(zip(op.bodies, bodies, strict=True)), op.places, operation.args)


def _with_residuals(body: Body, residuals: Sequence[SymbolicTensor]) -> Body:
    """Returns a body with one more output: an optional of these tensors of its graph."""

    def compute(*inputs: Any) -> list[Any]:
        outputs, values = call_with_residuals(body, residuals, inputs)
        return [*outputs, _optional(values)]

    return traced_body(f"{body.name}_kept", body.inputs, compute)


def _gradient_of_conditional(operation: Operation) -> list[Operation]:
    """Returns a conditional that calls the backward function of each branch with its residuals."""
    of, (optional, *rest) = operation.op.gradient_of, operation.args
    forward, count = of.operation, len(of.targets)
    cotangents, (index, *operands) = rest[:count], rest[count:]

    def branch(body: Body, residuals: Sequence[SymbolicTensor], places: Sequence[int]) -> Body:
        def compute(optional: Any, *values: Any) -> list[Any]:
            by_tensor = by_id(residuals, _values_of(optional, residuals))
            return branch_gradients(of, body, places, by_tensor, values[:count], values[count:])

        return traced_body(f"{body.name}_grad", [optional, *cotangents, *operands], compute)

    op = forward.op
    parts = zip(op.bodies, op.bodies.values(), op.kernel.residuals, op.places.values(), strict=True)
    bodies = {label: branch(*part) for label, *part in parts}
    places = {label: range(1 + count + len(operands)) for label in bodies}
    return [_replaced(operation, bodies, places, [index, optional, *cotangents, *operands], forward)]


# ---- loops -----------------------------------------------------------------------------------------------------------


def _loop_with_record(operation: Operation) -> Operation:
    """Returns a call of a function that runs a loop, and also returns an optional of the record of its iterations."""
    op = operation.op
    before = [SymbolicTensor(operation, i, int32, TensorShape([])) for i in range(op.first_output)]

    def compute(*values: Any) -> list[Any]:
        finals, record = forward_loop(op.kernel, values, op.kernel.residuals)
        return [*record[:1] * len(before), *finals, _optional(record)]

    return called(operation, traced_body(operation.name, operation.args, compute), [*before, *operation.outputs])


def _gradient_of_loop(operation: Operation) -> Operation:
    """Returns a call of a function that runs a loop's gradient as a loop."""
    gradient: LoopGradient = operation.op.kernel
    residuals = operation.op.gradient_of.operation.op.kernel.residuals
    specs = [TensorSpec([], int32), *(TensorSpec([], variant) for _ in residuals)]
    targets, others = len(gradient.targets), len(gradient.zero_at_end)

    def compute(optional: Any, *values: Any) -> list[Any]:
        dys, finals, inputs = values[:targets], values[targets : targets + others], values[targets + others :]
        return backward_loop(gradient, _values_of(optional, specs), residuals, dys, finals, inputs)

    return called(operation, traced_body(operation.name, operation.args, compute), operation.outputs)


# ---- building blocks -------------------------------------------------------------------------------------------------


def _optional(tensors: Sequence[Any]) -> Any:
    """Returns an optional that holds tensors; one without a value, if there are none."""
    attrs = {"Toutput_types": [t.dtype for t in tensors]} if tensors else {}
    op = GraphOp("OptionalFromValue" if tensors else "OptionalNone", attrs=attrs)
    return state.graph.node(op, tensors, [(variant, [])]).outputs[0]


def _values_of(optional: Any, like: Sequence[Any]) -> list[Any]:
    """Returns the tensors that an optional holds, which have the dtypes and shapes of `like`."""
    if not like:
        return []
    attrs = {"output_types": [t.dtype for t in like], "output_shapes": [t.shape for t in like]}
    specs = [(t.dtype, t.shape) for t in like]
    return list(state.graph.node(GraphOp("OptionalGetValue", attrs=attrs), [optional], specs).outputs)


def called(operation: Operation, body: Body, outputs: Sequence[SymbolicTensor]) -> Operation:
    """Returns a detached operation that replaces another one, and calls a function with its inputs."""
    call = Operation(operation.graph, Call(body, body.outputs), operation.name, operation.args)
    call.outputs, call.device, call._control_inputs = list(outputs), operation.device, operation._control_inputs
    return call


def _replaced(
    operation: Operation, bodies: dict[str, Body], places: Any, args: Sequence[Any], like: Operation | None = None
) -> Operation:
    """Returns a detached operation that replaces another one and calls other functions.

    It is an operation of the same kind as `like`, or as the replaced one.
    """
    before = (like or operation).op
    kind = "" if any(b.named_stateful for b in bodies.values()) else "Stateless"
    op = GraphOp(kind + before.name.removeprefix("Stateless"), bodies=bodies, places=places)
    op.steering, op.first_output = before.steering, before.first_output
    replacement = Operation(operation.graph, op, operation.name, args)
    replacement.outputs, replacement.device = operation.outputs, operation.device
    replacement._control_inputs = operation._control_inputs
    return replacement
