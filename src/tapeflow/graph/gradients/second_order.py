"""Gradients of the gradients of conditionals and loops.

The gradient of a conditional or of a loop reads the record of its forward operation, and no gradient passes through
that record. So the gradient is differentiated as another computation of the same values from the inputs alone, by
operations that have gradients themselves:

- of a conditional: another one, whose branches run those of the first, and then their backward functions;
- of a loop: one that pushes the residuals of each iteration onto lists, one list a tensor; and one that pops them, and
  calls the backward function of the body.

These are differentiated as any conditional or loop is, and so to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.tensor_list import empty_list, list_pop_back, list_push_back
from tapeflow.core.autodiff.tape import Call, describe
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int32, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.loops import Loop
from tapeflow.graph.control.body import Body, inner_residuals
from tapeflow.graph.control.control_flow import conditional, loop
from tapeflow.graph.control.tensor_array import shape_argument
from tapeflow.graph.gradients.derived import backward_loop, branch_gradients, by_id, call_with_residuals, traced_body
from tapeflow.graph.gradients.loop_gradients import LoopGradient
from tapeflow.graph.ir.operation import GradientOf, Operation, has_gradient


def conditional_second_gradient(
    of: GradientOf, cotangents: Sequence[Any], inputs: Sequence[Any], ddys: Sequence[Any]
) -> list[Any]:
    """Returns the gradients of the inputs of a conditional's gradient: the record, the cotangents, the inputs.

    Args:
        of: the conditional, and what its gradient computes.
        cotangents: the cotangents of its targets.
        inputs: the index of the branch, the operands of the branches, and what the backward functions capture from
            outside.
        ddys: the cotangents of the conditional's gradient.
    """
    op, count = of.operation.op, len(cotangents)
    index, operands = inputs[0], inputs[1:]

    def branch(body: Body, places: Sequence[int]) -> Body:
        residuals = inner_residuals(body.backward_from(of.targets))

        def compute(*values: Any) -> list[Any]:
            dys, operands = values[:count], values[count:]
            _, residual_values = call_with_residuals(body, residuals, [operands[p] for p in places])
            by_tensor = by_id(residuals, residual_values)
            return branch_gradients(of, body, places, by_tensor, dys, operands)

        return traced_body(f"{body.name}_vjp", [*cotangents, *operands], compute)

    bodies = [branch(body, op.places[label]) for label, body in op.bodies.items()]
    places = [range(count + len(operands))] * len(bodies)
    operation = conditional(index, [*cotangents, *operands], bodies, list(op.bodies), places, None)
    of_index, *grads = _gradients(operation, ddys)
    return [None, *grads[:count], of_index, *grads[count:]]


def loop_second_gradient(
    gradient: LoopGradient, cotangents: Sequence[Any], inputs: Sequence[Any], ddys: Sequence[Any]
) -> list[Any]:
    """Returns the gradients of the inputs of a loop's gradient: the record, the cotangents, final values, the inputs.

    Args:
        gradient: the kernel of the loop's gradient.
        cotangents: the cotangents of `gradient.targets`.
        inputs: the loop's inputs, then `gradient.outside`.
        ddys: the cotangents of the loop's gradient.
    """
    count = len(cotangents)
    operands = [*cotangents, *inputs]
    body = traced_body(
        f"{gradient.loop.name}_vjp",
        operands,
        lambda *values: _forward_and_backward(gradient, values[:count], values[count:]),
    )
    grads = _gradients(body.call(operands)[0].op, ddys)
    return [None, *grads[:count], *([None] * len(gradient.zero_at_end)), *grads[count:]]


def _forward_and_backward(gradient: LoopGradient, cotangents: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """Returns the gradients of `gradient.sources`, from the loop's inputs instead of its record."""
    residuals = {id(t): t for t in gradient.residuals}
    shapes = {at: shape_argument(t.shape) for at, t in residuals.items()}
    trips, finals, lists = _forward_loop(gradient.loop, inputs, list(residuals.values()), list(shapes.values()))

    def pop(trip: Any, *lists: Any) -> tuple[list[Any], dict[int, Any]]:
        pairs = [
            list_pop_back(held, shapes[at], t.dtype) for held, (at, t) in zip(lists, residuals.items(), strict=True)
        ]
        last = dict(zip(residuals, (value for _, value in pairs), strict=True))
        return [trip - 1, *(rest for rest, _ in pairs)], last

    final_values = [finals[i] for i in gradient.zero_at_end]
    return backward_loop(gradient, [trips, *lists], lambda trip, *_: trip > 0, pop, cotangents, final_values, inputs)


def _forward_loop(
    forward: Loop, inputs: Sequence[Any], residuals: Sequence[SymbolicTensor], shapes: Sequence[Any]
) -> tuple[Any, list[Any], list[Any]]:
    """Builds a loop that also counts its iterations, and pushes the residuals of each onto lists.

    Args:
        forward: the loop to repeat.
        inputs: its inputs, and what follows them.
        residuals: the tensors of its body's graph that are pushed.
        shapes: their shapes, as ops take them.

    Returns:
        The trip count, the final values of the loop variables, and the lists.
    """
    count, first = forward.count, int(forward.limited)
    limit, variables, rest = inputs[:first], inputs[first : first + count], inputs[first + count :]
    captured = rest[: forward.captured]
    lists = [empty_list(shape, -1, t.dtype) for t, shape in zip(residuals, shapes, strict=True)]
    initial = [convert(0, int32), *variables, *lists]
    specs: list[Any] = [TensorSpec([], int32), *forward.body.inputs[:count], *(TensorSpec([], variant) for _ in lists)]

    def continues(_: Any, *values: Any) -> list[Any]:
        return call_with_residuals(forward.condition, (), [*values[:count], *values[count + len(lists) :]])[0]

    def step(trip: Any, *values: Any) -> list[Any]:
        inputs = [*values[:count], *values[count + len(lists) :]]
        after, residual_values = call_with_residuals(forward.body, residuals, inputs)
        return [trip + 1, *after, *map(list_push_back, values[count : count + len(lists)], residual_values)]

    of_condition, of_body = ([captured[p] for p in places] for places in forward.places)
    condition = traced_body(f"{forward.condition.name}_counted", [*specs, *of_condition], continues)
    body = traced_body(f"{forward.body.name}_counted", [*specs, *of_body], step)
    outputs = [(t.dtype, t.shape) for t in specs]
    at_most = limit[0] if limit else None
    operation = loop(
        initial, captured, condition, body, forward.places, outputs, at_most, "while", counted=forward.limited
    )
    return operation.outputs[0], operation.outputs[1 : 1 + count], operation.outputs[1 + count :]


def _gradients(operation: Operation, dys: Sequence[Any]) -> list[Any]:
    """Returns the gradients of all inputs of an operation.

    Args:
        operation: the operation.
        dys: the cotangents of its first outputs, without those that its gradient adds to it.
    """
    call = Call(operation.op, (), (), 0, [has_gradient(t) for t in operation.inputs])
    describe(call, operation.inputs, operation.outputs)
    return operation.op.gradient(call, *dys)
