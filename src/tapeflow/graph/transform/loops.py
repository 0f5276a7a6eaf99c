"""Loops: operations that call a function repeatedly, and their gradients.

The gradient of a loop calls the backward function of its body for each iteration, from the last to the first. The
forward loop also returns its trip count, and for each residual a list of its values in all iterations. Both are
compiled in this form. For export and for second gradients, they are lowered to TensorFlow's operations: the loop
carries the lists as additional loop variables and pushes each iteration's residuals, and its gradient is a loop that
pops them.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any

from tapeflow.array.tensor_list import empty_list, list_pop_back, list_push_back, shape_argument
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.loop_kernel import Loop
from tapeflow.graph.ir.operation import GradientOf, GraphOp, Operation, has_gradient
from tapeflow.graph.ir.python_op import spec_of_gradient
from tapeflow.graph.transform.body import Body, call, call_operation, gradients_of_inputs, traced_body, zeros_of
from tapeflow.graph.transform.loop_gradients import LoopGradient


def loop(
    variables: Sequence[Any],
    captured: Sequence[Any],
    condition_body: Body,
    loop_body: Body,
    places: tuple[Sequence[int], Sequence[int]],
    specs: Sequence[Any],
    limit: Any,
    name: str,
    counted: bool = False,
) -> Operation:
    """Adds the operation that calls `loop_body` on the loop variables while `condition_body` returns true.

    Args:
        variables: the initial values of the loop variables.
        captured: the loop-invariant inputs of the bodies.
        condition_body: the condition.
        loop_body: the body.
        places: for each body, the places in `captured` of its inputs after the loop variables.
        specs: the dtypes and shapes of the loop variables.
        limit: a scalar, the greatest trip count; or None.
        name: the operation's name.
        counted: True if TensorFlow's operation would have a counter and a limit before the loop variables.
    """
    count = len(variables)
    limited = limit is not None

    stateful = condition_body.stateful or loop_body.stateful
    uniform = {i for i, t in enumerate(captured) if t.dtype is variant and t.op.op is ops.TensorListFromTensor.op}
    kernel = Loop(condition_body, loop_body, count, len(captured), places, limited, uniform)
    named_stateful = condition_body.named_stateful or loop_body.named_stateful
    op = GraphOp("While" if named_stateful else "StatelessWhile",
    kernel, stateful=stateful, gradient=loop_gradient,
                gives_tuple=True, bodies={"cond": condition_body, "body": loop_body},
                places={label: [*range(count), *(count + i for i in p)]
                        for label, p in zip(("cond", "body"), places, strict=True)})  # fmt: skip
    op.control, op.specialized = "loop", kernel.specialized
    op.steering, op.first_output = int(limited), 2 if counted else 0
    return state.graph.node(op, [*([limit] if limited else ()), *variables, *captured], specs, name)


# ---- gradients -------------------------------------------------------------------------------------------------------


def loop_gradient(call: Any, *dys: Any) -> list[Any]:
    """Returns the gradients of the inputs of a loop's operation."""
    operation, inputs = call.outputs[0].op, list(call.inputs)
    loop: Loop = operation.op.kernel
    targets = [i for i, dy in enumerate(dys[: loop.count]) if dy is not None]
    wanted = [w and has_gradient(t) for w, t in zip(call.wanted, inputs, strict=True)]
    if not targets or not any(wanted):
        return [None] * len(inputs)
    kernel = LoopGradient(loop, targets, wanted)
    residuals = _residuals_of(operation, kernel)
    cotangents, first = [dys[i] for i in targets], len(residuals)

    gradient_of = GradientOf(operation, targets, kernel.sources, first, len(kernel.zero_at_end), kernel.outside)
    op = GraphOp("WhileGrad", kernel, gradient=_second_gradient, gives_tuple=True, gradient_of=gradient_of)
    op.lowered = _with_lists
    finals = [operation.outputs[i] for i in kernel.zero_at_end]
    captured = map(state.graph.capture, kernel.outside)
    specs = [spec_of_gradient(inputs[i]) for i in kernel.sources]
    backward = state.graph.node(op, [*residuals, *cotangents, *finals, *inputs, *captured], specs)
    grads = dict(zip(kernel.sources, backward.outputs, strict=True))
    return [grads.get(i) for i in range(len(inputs))]


def _residuals_of(operation: Operation, gradient: LoopGradient) -> list[SymbolicTensor]:
    """Returns a loop's outputs for its gradient, the trip count and lists of residuals, after adding missing ones."""
    loop = gradient.loop
    if loop is not operation.op.kernel:
        operation.op = copy.copy(operation.op)
        operation.op.kernel, operation.op.lowered = loop, _with_lists
        operation.op.bodies = dict(zip(operation.op.bodies, [loop.condition, loop.body], strict=True))
    op = operation.op
    if len(operation.outputs) == loop.count:
        operation.also_return(op, int32, TensorShape([]))
    while len(operation.outputs) < loop.results:
        operation.also_return(op, variant, TensorShape([]))
    count, *lists = operation.outputs[loop.count :]
    by_tensor = dict(zip(map(id, loop.residuals or ()), lists, strict=True))
    return [count, *(by_tensor[id(t)] for t in gradient.residuals)]


def _second_gradient(call: Any, *ddys: Any) -> list[Any]:
    """Returns the gradients of the inputs of a loop's gradient. Recomputes the loop instead of using residuals."""
    of, gradient = call.outputs[0].op.op.gradient_of, call.outputs[0].op.op.kernel
    first, count = of.residuals, len(of.targets)
    operands = [*call.inputs[first : first + count], *call.inputs[first + count + of.others :]]

    def compute(*values: Any) -> list[Any]:
        finals, counted = _with_pushes(gradient.loop, values[count:], gradient.residuals)
        return _with_pops(gradient, counted, values[:count], [finals[i] for i in gradient.zero_at_end], values[count:])

    operation = traced_body(f"{gradient.loop.name}_vjp", operands, compute).call(operands)[0].op
    grads = gradients_of_inputs(operation, ddys)
    return [*[None] * first, *grads[:count], *[None] * of.others, *grads[count:]]


# ---- in TensorFlow's operations --------------------------------------------------------------------------------------


def _with_lists(operation: Operation) -> list[Operation]:
    """Lowers a loop with residuals, or a loop's gradient, to a call of a function with TensorFlow's operations."""
    op, outputs = operation.op, operation.outputs
    before = [SymbolicTensor(operation, i, int32, TensorShape([])) for i in range(op.first_output)]

    def compute(*values: Any) -> list[Any]:
        if isinstance(op.kernel, Loop):
            finals, counted = _with_pushes(op.kernel, values, op.kernel.residuals or ())
            return [*counted[:1] * len(before), *finals, *counted]
        of, parts = op.gradient_of, iter(values)
        counted, dys, finals = (list(itertools.islice(parts, n)) for n in (of.residuals, len(of.targets), of.others))
        return _with_pops(op.kernel, counted, dys, finals, list(parts))

    return [call_operation(operation, traced_body(operation.name, operation.args, compute), [*before, *outputs])]


def _with_pushes(forward: Loop, inputs: Sequence[Any], residuals: Sequence[SymbolicTensor]) -> tuple[Any, Any]:
    """Builds a copy of a loop that also counts its iterations and pushes each residual onto its own list.

    Args:
        forward: the loop.
        inputs: its inputs. Additional values after them are ignored.
        residuals: the residuals, tensors of its body's graph.

    Returns:
        The final values of the loop variables, and the trip count followed by the lists.
    """
    count, first = forward.count, int(forward.limited)
    limit, variables, rest = inputs[:first], inputs[first : first + count], inputs[first + count :]
    captured = rest[: forward.captured]
    lists = [empty_list(shape_argument(t.shape), -1, t.dtype) for t in residuals]
    initial = [convert(0, int32), *variables, *lists]
    specs: list[Any] = [TensorSpec([], int32), *forward.body.inputs[:count], *(TensorSpec([], variant) for _ in lists)]

    def continues(_: Any, *values: Any) -> list[Any]:
        return call(forward.condition, forward.condition.outputs, [*values[:count], *values[count + len(lists) :]])

    def step(trip: Any, *values: Any) -> list[Any]:
        inputs = [*values[:count], *values[count + len(lists) :]]
        after = call(forward.body, [*forward.body.outputs, *residuals], inputs)
        pushed = map(list_push_back, values[count : count + len(lists)], after[count:])
        return [trip + 1, *after[:count], *pushed]

    of_condition, of_body = ([captured[p] for p in places] for places in forward.places)
    condition = traced_body(f"{forward.condition.name}_counted", [*specs, *of_condition], continues)
    body = traced_body(f"{forward.body.name}_counted", [*specs, *of_body], step)
    outputs = [(t.dtype, t.shape) for t in specs]
    at_most = limit[0] if limit else None
    operation = loop(
        initial, captured, condition, body, forward.places, outputs, at_most, "while", counted=forward.limited
    )
    trips, *ends = operation.outputs
    return ends[:count], [trips, *ends[count:]]


def _with_pops(
    gradient: LoopGradient, counted: Sequence[Any], dys: Sequence[Any], finals: Sequence[Any], inputs: Sequence[Any]
) -> list[Any]:
    """Builds the loop that calls the backward function of a loop's body for each iteration, from the last to the first.

    Args:
        gradient: the kernel of the loop's gradient.
        counted: the trip count and the lists of `gradient.residuals`, as returned by `_with_pushes`.
        dys: the cotangents of the loop variables `gradient.targets`.
        finals: the final values of the loop variables `gradient.zero_at_end`.
        inputs: the forward loop's inputs, then `gradient.outside`.

    Returns:
        The gradients of the inputs `gradient.sources`.
    """
    backward, live, count, residuals = gradient.backward, gradient.live, len(counted), gradient.residuals
    grads = dict(zip(gradient.targets, dys, strict=True))
    grads.update((i, ops.ZerosLike(v)) for i, v in zip(gradient.zero_at_end, finals, strict=True))
    totals = [zeros_of(inputs[i]) for i, _ in gradient.captured]

    def step(trip: Any, *carried: Any) -> list[Any]:
        lists, carried = carried[: count - 1], carried[count - 1 :]
        popped = [list_pop_back(x, shape_argument(t.shape), t.dtype) for x, t in zip(lists, residuals, strict=True)]
        last = [value for _, value in popped]
        dys, sums = carried[: len(live)], carried[len(live) : len(live) + len(totals)]
        invariants = iter(carried[len(live) + len(totals) :])
        captures = [last[at] if kind == "residual" else next(invariants) for kind, at in gradient.captures]
        results = call(backward, backward.outputs, [*dys, *captures])
        places = (gradient.result_places[i] for i in live)
        after = [ops.ZerosLike(dy) if n is None else results[n] for n, dy in zip(places, dys, strict=True)]
        after += [ops.AddN([total, results[n]]) for (_, n), total in zip(gradient.captured, sums, strict=True)]
        return [trip - 1, *(rest for rest, _ in popped), *after]

    specs = [
        *(TensorSpec(t.shape, t.dtype) for t in counted),
        *(TensorSpec(t.shape, t.dtype) for t in (gradient.loop.body.inputs[i] for i in live)),
        *(TensorSpec(shape, dtype) for dtype, shape in (spec_of_gradient(inputs[i]) for i, _ in gradient.captured)),
    ]
    captured = [inputs[at] for kind, at in gradient.captures if kind == "input"]
    condition = traced_body(f"{backward.name}_left", specs, lambda trip, *_: [trip > 0])
    body = traced_body(f"{backward.name}_step", [*specs, *captured], step)
    places: tuple[list[int], list[int]] = [], list(range(len(captured)))  # of the condition, and of the body
    variables, outputs = [*counted, *(grads[i] for i in live), *totals], [(t.dtype, t.shape) for t in specs]
    operation = loop(variables, captured, condition, body, places, outputs, None, "while")
    ends = dict(zip(live, operation.outputs[count:], strict=False))
    return [*(ends[i] for _, i in gradient.variables), *operation.outputs[count + len(live) :]]
