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

from tapeflow.core.autodiff.tape import Call, describe
from tapeflow.graph.control.body import Body
from tapeflow.graph.control.control_flow import conditional
from tapeflow.graph.gradients.derived import (
    backward_loop,
    branch_gradients,
    by_id,
    call_with_residuals,
    forward_loop,
    traced_body,
)
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
        residuals = body.backward_from(of.targets).inner_residuals

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
    finals, record = forward_loop(gradient.loop, inputs, gradient.residuals)
    at_end = [finals[i] for i in gradient.zero_at_end]
    return backward_loop(gradient, record, gradient.residuals, cotangents, at_end, inputs)


def _gradients(operation: Operation, dys: Sequence[Any]) -> list[Any]:
    """Returns the gradients of all inputs of an operation.

    Args:
        operation: the operation.
        dys: the cotangents of its first outputs, without those that its gradient adds to it.
    """
    call = Call(operation.op, (), (), 0, [has_gradient(t) for t in operation.inputs])
    describe(call, operation.inputs, operation.outputs)
    return operation.op.gradient(call, *dys)
