"""Gradients of the gradients of conditionals and loops.

The gradient of a conditional or of a loop takes what its forward operation kept, and of this nothing passes on a
gradient. So the gradient of the gradient is that of another way to compute it, from the inputs alone, by operations
that have gradients themselves:

- of a conditional: another one, whose branches run those of the first, and then their backward functions;
- of a loop: one that keeps in lists what the backward function of its body takes, one list a tensor; and one that
  takes that from the ends of the lists, and calls the backward function.

These are differentiated as any conditional or loop is, and so to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.tensor_list import empty_list, list_pop_back, list_push_back
from tapeflow.core.autodiff.tape import Call, describe
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int32, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.loops import Loop
from tapeflow.graph.control.body import Body
from tapeflow.graph.control.control_flow import conditional, loop
from tapeflow.graph.gradients.derived import (
    backward_for,
    backward_loop,
    backward_of_branch,
    by_id,
    call_keeping,
    function,
    taken_by,
)
from tapeflow.graph.gradients.loop_gradients import LoopGradient
from tapeflow.graph.gradients.taped import has_gradient
from tapeflow.graph.ir.operation import Operation


def of_conditional(
    forward: Operation, given: Sequence[int], asked: Sequence[int], seeds: Sequence[Any], inputs: Sequence[Any],
    ddys: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """The gradients of what the gradient of a conditional takes: the record, the seeds, the inputs.

    Args:
        forward: the conditional.
        given: the outputs whose gradients are given.
        asked: the inputs whose gradients it gives, counted with the index.
        seeds: the gradients of the outputs.
        inputs: the index, and what the branches take.
        ddys: the gradients of what it gives.
    """
    op, count = forward.op, len(seeds)
    index, values = inputs[0], inputs[1:]

    def branch(body: Body, places: Sequence[int]) -> Body:
        known = {id(t) for t in body.inputs}
        kept = [t for t in taken_by(backward_for(body, given)) if id(t) not in known]

        def calls(*taken: Any) -> list[Any]:
            dys, values = taken[:count], taken[count:]
            _, more = call_keeping(body, kept, [values[p] for p in places])
            known = by_id(kept, more)
            return backward_of_branch(body, given, places, [j - 1 for j in asked], known, dys, values)

        return function(f"{body.name}_vjp", [*seeds, *values], calls)

    bodies = [branch(body, op.places[label]) for label, body in op.bodies.items()]
    places = [range(count + len(values))] * len(bodies)
    made = conditional(index, [*seeds, *values], bodies, list(op.bodies), places, None)
    of_index, *found = _gradients(made, ddys)
    return [None, *found[:count], of_index, *found[count:]]


def of_loop(gradient: LoopGradient, seeds: Sequence[Any], inputs: Sequence[Any], ddys: Sequence[Any]) -> list[Any]:
    """The gradients of what the gradient of a loop takes: the record, the seeds, last values, the inputs.

    Args:
        gradient: its kernel.
        seeds: the gradients of `gradient.given`.
        inputs: what the loop takes.
        ddys: the gradients of what it gives.
    """
    count = len(seeds)
    taken = [*seeds, *inputs]
    name = f"{gradient.loop.name}_vjp"
    body = function(name, taken, lambda *values: _forward_and_backward(gradient, values[:count], values[count:]))
    found = _gradients(body.call(taken)[0].op, ddys)
    return [None, *found[:count], *([None] * len(gradient.late)), *found[count:]]


def _forward_and_backward(gradient: LoopGradient, seeds: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """The gradients that are asked for, from what the loop takes."""
    of_iteration = gradient.loop.kept or []
    kept = {at: of_iteration[at] for kind, at in gradient.taken if kind == "kept"}
    shapes = {at: _as_argument(t.shape) for at, t in kept.items()}
    turns, finals, lists = _forward_loop(gradient.loop, inputs, list(kept.values()), list(shapes.values()))

    def take(turn: Any, *lists: Any) -> tuple[list[Any], dict[int, Any]]:
        pairs = [list_pop_back(held, shapes[at], t.dtype) for held, (at, t) in zip(lists, kept.items(), strict=True)]
        return [turn - 1, *(left for left, _ in pairs)], dict(zip(kept, (last for _, last in pairs), strict=True))

    late = [finals[i] for i in gradient.late]
    return backward_loop(gradient, [turns, *lists], lambda turn, *_: turn > 0, take, seeds, late, inputs)


def _forward_loop(
    of: Loop, inputs: Sequence[Any], kept: Sequence[SymbolicTensor], shapes: Sequence[Any]
) -> tuple[Any, list[Any], list[Any]]:
    """A loop that also counts its iterations, and makes lists of what is kept of them.

    Args:
        of: what it does besides.
        inputs: what that takes.
        kept: the tensors of its body's graph that are kept.
        shapes: their shapes, as ops take them.

    Returns:
        How many iterations there were, the last values of the loop variables, and the lists.
    """
    count, first = of.count, int(of.limited)
    limit, variables, captured = inputs[:first], inputs[first : first + count], inputs[first + count :]
    lists = [empty_list(shape, -1, t.dtype) for t, shape in zip(kept, shapes, strict=True)]
    before = [convert(0, int32), *variables, *lists]
    specs: list[Any] = [TensorSpec([], int32), *of.body.inputs[:count], *(TensorSpec([], variant) for _ in lists)]

    def going(_: Any, *now: Any) -> list[Any]:
        return call_keeping(of.condition, (), [*now[:count], *now[count + len(lists) :]])[0]

    def step(turn: Any, *now: Any) -> list[Any]:
        after, more = call_keeping(of.body, kept, [*now[:count], *now[count + len(lists) :]])
        return [turn + 1, *after, *map(list_push_back, now[count : count + len(lists)], more)]

    of_condition, of_body = ([captured[p] for p in places] for places in of.places)
    condition = function(f"{of.condition.name}_counted", [*specs, *of_condition], going)
    body = function(f"{of.body.name}_counted", [*specs, *of_body], step)
    outputs = [(t.dtype, t.shape) for t in specs]
    at_most = limit[0] if limit else None
    made = loop(before, captured, condition, body, of.places, outputs, at_most, "while", counted=of.limited)
    return made.outputs[0], made.outputs[1 : 1 + count], made.outputs[1 + count :]


def _as_argument(shape: TensorShape) -> Any:
    """A shape as the ops of lists take it."""
    return -1 if shape.rank is None else tuple([-1 if d is None else d for d in shape])


def _gradients(operation: Operation, dys: Sequence[Any]) -> list[Any]:
    """The gradients of all that an operation takes.

    Args:
        dys: the gradients of its first outputs, as many as it gives to begin with.
    """
    made = Call(operation.op, (), (), 0, [has_gradient(t) for t in operation.inputs])
    describe(made, operation.inputs, operation.outputs)
    return operation.op.gradient(made, *dys)
