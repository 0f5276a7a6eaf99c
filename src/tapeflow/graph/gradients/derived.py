"""Functions composed of other functions: of the bodies of conditionals and loops, and of their backward functions.

The gradients of conditionals and loops are written to a `GraphDef` as such functions (`transform/lower.py`), and the
gradients of these gradients are computed by them (`second_order.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.tensor_list import empty_list, list_pop_back, list_push_back
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, resource, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.control.body import Body, Call
from tapeflow.graph.control.control_flow import loop
from tapeflow.graph.control.tensor_array import shape_argument
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GradientOf, variable_of
from tapeflow.graph.ir.python_op import spec_of_gradient

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop
    from tapeflow.graph.gradients.loop_gradients import LoopGradient


def traced_body(name: str, specs: Sequence[Any], compute: Callable[..., list[Any]]) -> Body:
    """Returns the body of a function with parameters of these dtypes and shapes.

    Args:
        name: the function's name.
        specs: tensors or specs, one for each parameter. The parameter for a variable's handle is a handle of the same
            variable.
        compute: is traced; returns the function's outputs from its inputs.
    """
    graph = FuncGraph(name)
    with graph.as_default():
        inputs = [graph.input_like(t) for t in specs]
        state.name_scope = _SCOPE
        graph.outputs = [graph.capture(t) for t in compute(*inputs)]
        graph.structured_outputs = graph.outputs
    return Body(graph)


_SCOPE = "inner"  # TensorFlow inlines calls under their names: nodes in the function must not have the same ones


def call(body: Body, outputs: Sequence[SymbolicTensor], inputs: Sequence[Any]) -> list[Any]:
    """Calls a body in the current graph, and returns the values of these tensors of the body's graph."""
    return list(Call(body, outputs).add(inputs))


def call_with_residuals(
    body: Body, residuals: Sequence[SymbolicTensor], inputs: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Calls a body, and returns its outputs and the values of these other tensors of its graph."""
    results = call(body, [*body.outputs, *residuals], inputs)
    return results[: len(body.outputs)], results[len(body.outputs) :]


def call_backward(backward: Body, dys: Sequence[Any], forward_values: dict[int, Any]) -> list[Any]:
    """Calls a backward function, and returns the gradient of each input of the forward function, or None.

    Args:
        backward: the backward function.
        dys: its cotangents.
        forward_values: the values of the forward graph's tensors, and of what the backward function captures from
            outside of it, by the ids of these.
    """
    captured = [
        forward_values[id(t)] if id(t) in forward_values else state.graph.constant(t)  # however large
        for t in backward.captures
    ]
    grads = iter(call(backward, backward.outputs, [*dys, *captured]))
    return [None if g is None else next(grads) for g in backward.graph.structured_outputs]


def by_id(tensors: Sequence[Any], values: Sequence[Any]) -> dict[int, Any]:
    """Returns values by the ids of the tensors that they belong to."""
    return dict(zip(map(id, tensors), values, strict=True))


def zeros_of(tensor: Any) -> Any:
    """Returns zeros as the gradient of an input, which may be a variable's handle."""
    return ops.ZerosLike(state.graph.read_variable(variable_of(tensor)) if tensor.dtype is resource else tensor)


# ---- branches --------------------------------------------------------------------------------------------------------


def branch_gradients(
    of: GradientOf, body: Body, places: Sequence[int], residuals: dict[int, Any],
    dys: Sequence[Any], operands: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Returns the gradients of a conditional's operands, by the backward function of one of its branches.

    Args:
        of: the conditional, and what its gradient computes.
        body: the branch.
        places: indices of the operands that are the branch's inputs.
        residuals: the values that the backward function takes besides the branch's inputs, by the ids of their tensors
            in the branch's graph.
        dys: the cotangents.
        operands: the inputs of the conditional without the index, and what its backward functions capture from outside.
    """
    inputs = by_id(body.inputs, [operands[p] for p in places])
    outside = by_id(of.outside, operands[len(operands) - len(of.outside) :])
    values = inputs | outside | residuals
    grads = dict(zip(places, call_backward(body.backward_from(of.targets), dys, values), strict=True))
    sources = [i - 1 for i in of.sources]  # the index of the branch counts as the first input
    return [zeros_of(operands[p]) if grads.get(p) is None else grads[p] for p in sources]


# ---- loops -----------------------------------------------------------------------------------------------------------


def forward_loop(forward: Loop, inputs: Sequence[Any], residuals: Sequence[SymbolicTensor]) -> tuple[Any, Any]:
    """Builds a loop that also counts its iterations, and pushes the residuals of each onto lists, one a tensor.

    Args:
        forward: the loop to repeat.
        inputs: its inputs, and what follows them.
        residuals: the tensors of its body's graph that are pushed.

    Returns:
        The final values of the loop variables; and the record: the trip count, and the lists.
    """
    count, first = forward.count, int(forward.limited)
    limit, variables, rest = inputs[:first], inputs[first : first + count], inputs[first + count :]
    captured = rest[: forward.captured]
    lists = [empty_list(shape_argument(t.shape), -1, t.dtype) for t in residuals]
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
    trips, *ends = operation.outputs
    return ends[:count], [trips, *ends[count:]]


def backward_loop(
    gradient: LoopGradient,
    record: Sequence[Any],
    residuals: Sequence[SymbolicTensor],
    dys: Sequence[Any],
    finals: Sequence[Any],
    inputs: Sequence[Any],
) -> list[Any]:
    """Builds the loop that calls the backward function of a loop's body for each iteration, from the last to the first.

    Args:
        gradient: the kernel of the loop's gradient.
        record: that of `forward_loop`, for these residuals.
        residuals: the tensors of the body's graph whose values are in the record.
        dys: the cotangents of the loop variables `gradient.targets`.
        finals: the final values of the loop variables `gradient.zero_at_end`.
        inputs: the forward loop's inputs, then `gradient.outside`.

    Returns:
        The gradients of the inputs `gradient.sources`.
    """
    backward, live, count = gradient.backward, gradient.live, len(record)
    grads = dict(zip(gradient.targets, dys, strict=True))
    grads.update((i, ops.ZerosLike(v)) for i, v in zip(gradient.zero_at_end, finals, strict=True))
    totals = [zeros_of(inputs[i]) for i, _ in gradient.captured]

    def step(trip: Any, *carried: Any) -> list[Any]:
        lists, carried = carried[: count - 1], carried[count - 1 :]
        popped = [list_pop_back(x, shape_argument(t.shape), t.dtype) for x, t in zip(lists, residuals, strict=True)]
        last = by_id(residuals, [value for _, value in popped])
        dys, sums = carried[: len(live)], carried[len(live) : len(live) + len(totals)]
        invariants = iter(carried[len(live) + len(totals) :])
        captures = [last[at] if kind == "record" else next(invariants) for kind, at in gradient.captures]
        results = call(backward, backward.outputs, [*dys, *captures])
        places = (gradient.result_places[i] for i in live)
        after = [ops.ZerosLike(dy) if n is None else results[n] for n, dy in zip(places, dys, strict=True)]
        after += [ops.AddN([total, results[n]]) for (_, n), total in zip(gradient.captured, sums, strict=True)]
        return [trip - 1, *(rest for rest, _ in popped), *after]

    specs = [
        *(TensorSpec(t.shape, t.dtype) for t in record),
        *(TensorSpec(t.shape, t.dtype) for t in (gradient.loop.body.inputs[i] for i in live)),
        *(TensorSpec(shape, dtype) for dtype, shape in (spec_of_gradient(inputs[i]) for i, _ in gradient.captured)),
    ]
    captured = [inputs[at] for kind, at in gradient.captures if kind == "input"]
    condition = traced_body(f"{backward.name}_left", specs, lambda trip, *_: [trip > 0])
    body = traced_body(f"{backward.name}_step", [*specs, *captured], step)
    places: tuple[list[int], list[int]] = [], list(range(len(captured)))  # of the condition, and of the body
    variables, outputs = [*record, *(grads[i] for i in live), *totals], [(t.dtype, t.shape) for t in specs]
    operation = loop(variables, captured, condition, body, places, outputs, None, "while")
    ends = dict(zip(live, operation.outputs[count:], strict=False))
    return [*(ends[i] for _, i in gradient.variables), *operation.outputs[count + len(live) :]]
