"""Gradients of conditionals and loops in TensorFlow's own operations, for a `GraphDef`.

When a graph runs here, the gradient of a conditional asks the tape under which its branch ran, and that of a loop goes
through a list of what was kept of each iteration. TensorFlow has no such operations. In their place it gets

- a conditional that gives one output more: an optional of what the backward function of its branch takes of it;
- a conditional that calls the backward function of the same branch, with what is in the optional;
- a loop with one loop variable more: a list to which each iteration appends such an optional;
- a loop that takes these from the end of the list, and calls the backward function of the body with each.

An operation's op says how to lower it (`NodeOp.lowered`). What comes of it is written down and never run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.tensor_list import empty_list, list_length, list_pop_back, list_push_back
from tapeflow.core.context import registry, state
from tapeflow.core.dtypes import resource, variant
from tapeflow.core.shape import TensorShape
from tapeflow.core.spec import TensorSpec
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tensor import EagerTensor
from tapeflow.function.body import Body, Call
from tapeflow.graph.control_flow import loop
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.operation import NodeOp, Operation
from tapeflow.graph.taped import spec_of_gradient

if TYPE_CHECKING:
    from tapeflow.graph.loop_gradients import LoopGradient


def lowered(operation: Operation) -> list[Operation]:
    """What stands for an operation in a `GraphDef`: others, of which the last one has its name and outputs."""
    op = operation.op
    how = op.lowered if isinstance(op, NodeOp) else None
    return [operation] if how is None else how(operation)


# ---- conditionals ----------------------------------------------------------------------------------------------------


def conditional_with_kept(operation: Operation) -> list[Operation]:
    """A conditional whose branches also give an optional of what their backward functions take."""
    op = operation.op
    bodies = {label: _with_kept(body, _kept(body, op.differentiated)) for label, body in op.bodies.items()}
    return [_replaced(operation, bodies, op.places, operation.args)]


def _kept(body: Body, differentiated: Sequence[Sequence[int]]) -> list[SymbolicTensor]:
    """What the backward functions of a branch take of it, besides its inputs.

    Args:
        differentiated: for each gradient of the conditional, the outputs whose gradients are given.
    """
    known = {id(t) for t in body.inputs}
    found = {id(t): t for given in differentiated for t in _taken(_backward(body, given)) if id(t) not in known}
    return list(found.values())


def _backward(body: Body, given: Sequence[int]) -> Body:
    return body.backward(body.outputs, tuple(i in given for i in range(len(body.outputs))))


def _taken(backward: Body) -> list[SymbolicTensor]:
    return [t for t in backward.graph.external_captures if isinstance(t, SymbolicTensor)]


def _with_kept(body: Body, kept: Sequence[SymbolicTensor]) -> Body:
    """A body that gives one tensor more: an optional of these tensors of its graph."""

    def calls(*inputs: Any) -> list[Any]:
        given = _call(body, [*body.outputs, *kept], inputs)
        count = len(body.outputs)
        return [*given[:count], _optional(given[count:])]

    return _function(f"{body.name}_kept", body.inputs, calls)


def gradient_of_conditional(forward: Operation, given: Sequence[int], asked: Sequence[int]) -> Any:
    """How the gradient of a conditional is lowered.

    Args:
        forward: the conditional.
        given: the outputs whose gradients are given.
        asked: the inputs whose gradients it gives, counted with the index.
    """

    def how(operation: Operation) -> list[Operation]:
        op = forward.op
        saved, *rest = operation.args
        seeds, (index, *values) = rest[: len(given)], rest[len(given) :]

        def branch(body: Body, places: Sequence[int]) -> Body:
            kept = _kept(body, op.differentiated)
            backward = _backward(body, given)
            specs = [forward.inputs[j] for j in asked]

            def calls(saved: Any, *taken: Any) -> list[Any]:
                dys, values = taken[: len(seeds)], taken[len(seeds) :]
                inputs = [values[p] for p in places]
                known = _by_id(body.inputs, inputs) | _by_id(kept, _values_of(saved, kept))
                found = dict(zip(places, _gradients(backward, dys, known), strict=True))
                grads = [found.get(j - 1) for j in asked]
                return [
                    _zeros_of(values[j - 1], t) if g is None else g for j, t, g in zip(asked, specs, grads, strict=True)
                ]

            return _function(f"{body.name}_grad", [saved, *seeds, *values], calls)

        bodies = {label: branch(body, op.places[label]) for label, body in op.bodies.items()}
        places = {label: range(1 + len(seeds) + len(values)) for label in bodies}
        return [_replaced(operation, bodies, places, [index, saved, *seeds, *values], forward)]

    return how


# ---- loops -----------------------------------------------------------------------------------------------------------


def loop_with_record(operation: Operation) -> list[Operation]:
    """A loop with one more variable: the list of what is kept of each iteration."""
    op, count = operation.op, operation.op.kernel.count
    kept = op.kernel.kept
    limit, values = operation.args[: op.steering], operation.args[op.steering :]
    begin = _unattached(operation.graph, empty_list.op, f"{operation.name}/record", ((), -1, variant), [variant])
    body = op.bodies["body"]

    def calls(*inputs: Any) -> list[Any]:
        given = _call(body, [*body.outputs, *kept], [*inputs[:count], *inputs[count + 1 :]])
        return [*given[:count], list_push_back(inputs[count], _optional(given[count:]))]

    specs = [*body.inputs[:count], TensorSpec([], variant), *body.inputs[count:]]
    bodies = {"cond": op.bodies["cond"], "body": _function(f"{body.name}_kept", specs, calls)}
    places = {label: [p if p < count else p + 1 for p in taken] for label, taken in op.places.items()}
    places["body"] = [*places["body"][:count], count, *places["body"][count:]]
    args = [*limit, *values[:count], begin.outputs[0], *values[count:]]
    return [begin, _replaced(operation, bodies, places, args)]


def gradient_of_loop(operation: Operation) -> list[Operation]:
    """A call of a function that has the loop of the gradient."""
    gradient: LoopGradient = operation.op.kernel
    args = operation.args
    body = _function(operation.name, args, lambda *values: _backward_loop(gradient, values))
    made = Operation(operation.graph, Call(body, body.outputs), operation.name, args)
    made.outputs, made.device = operation.outputs, operation.device
    return [made]


def _backward_loop(gradient: LoopGradient, values: Sequence[Any]) -> list[Any]:
    """The gradients that are asked for, from what the gradient's kernel takes."""
    backward, live = gradient.backward, gradient.live
    record, *rest = values
    given, late = len(gradient.given), len(gradient.late)
    inputs = rest[given + late :]
    grads = dict(zip(gradient.given, rest, strict=False))
    grads.update((i, _zeros_like(v)) for i, v in zip(gradient.late, rest[given : given + late], strict=True))
    specs = [gradient.inputs[i] for i, _ in gradient.captured]
    totals = [_zeros_of(inputs[i], t) for (i, _), t in zip(gradient.captured, specs, strict=True)]
    places = [at for kind, at in gradient.taken if kind == "input"]
    kept = gradient.loop.kept or ()
    count = 1 + len(live) + len(totals)

    def step(record: Any, *now: Any) -> list[Any]:
        dys, sums, others = now[: len(live)], now[len(live) : count - 1], iter(now[count - 1 :])
        record, optional = list_pop_back(record, (), variant)
        of_iteration = _values_of(optional, kept)
        taken = [of_iteration[at] if kind == "kept" else next(others) if kind == "input" else _constant(at)
                 for kind, at in gradient.taken]  # fmt: skip
        found = _call(backward, backward.outputs, [*dys, *taken])
        places = (gradient.found[i] for i in live)
        after = [_zeros_like(dy) if n is None else found[n] for n, dy in zip(places, dys, strict=True)]
        after += [_sum(total, found[n]) for (_, n), total in zip(gradient.captured, sums, strict=True)]
        return [record, *after]

    variables = [record, *(grads[i] for i in live), *totals]
    unknown = [TensorSpec(None if t.dtype is not variant else [], t.dtype) for t in variables]
    captured = [inputs[at] for at in places]
    going = _function("record_left", unknown[:1], lambda record: [list_length(record) > 0])
    turning = _function(f"{backward.name}_step", [*unknown, *captured], step)
    outputs = [(t.dtype, t.shape) for t in unknown]
    taken_by: tuple[list[int], list[int]] = [], list(range(len(captured)))  # by the condition, and by the body
    made = loop(variables, captured, _of_first(going, unknown), turning, taken_by, outputs, None, "while")
    ends = dict(zip(live, made.outputs[1:], strict=False))
    return [*(ends[i] for _, i in gradient.variables), *made.outputs[1 + len(live) : count]]


def _of_first(body: Body, specs: Sequence[Any]) -> Body:
    """A function of all of these, which calls one of the first."""
    return _function(body.name, specs, lambda first, *_: _call(body, body.outputs, [first]))


# ---- what functions are made of --------------------------------------------------------------------------------------


def _function(name: str, specs: Sequence[Any], calls: Callable[..., list[Any]]) -> Body:
    """The body of a function of tensors of these dtypes and shapes."""
    graph = FuncGraph(name)
    graph.outer_graph = None
    with graph.as_default():
        inputs = [graph.input(TensorSpec(t.shape, t.dtype), "input") for t in specs]
        graph.outputs = [graph.capture(t) for t in calls(*inputs)]
        graph.structured_outputs = graph.outputs
    return Body(graph)


def _call(body: Body, gives: Sequence[SymbolicTensor], inputs: Sequence[Any]) -> list[Any]:
    """Calls a body, in the graph that is being built; gives these tensors of the body's graph."""
    return list(state.graph.node(Call(body, gives), inputs, [(t.dtype, t.shape) for t in gives]).outputs)


def _gradients(backward: Body, dys: Sequence[Any], known: dict[int, Any]) -> list[Any]:
    """Calls a backward function; gives the gradient of each input of the forward one, or None."""
    captured = [
        known[id(t)] if isinstance(t, SymbolicTensor) else _constant(t) for t in backward.graph.external_captures
    ]
    found = iter(_call(backward, backward.outputs, [*dys, *captured]))
    return [None if g is None else next(found) for g in backward.graph.structured_outputs]


def _constant(value: Any) -> Any:
    """A constant with an eager tensor's value, however large."""
    return state.graph.constant(value) if isinstance(value, EagerTensor) else state.graph.capture(value)


def _optional(tensors: Sequence[Any]) -> Any:
    """An optional that holds tensors; one without a value, if there are none."""
    attrs = {"Toutput_types": [t.dtype for t in tensors]} if tensors else {}
    op = NodeOp("OptionalFromValue" if tensors else "OptionalNone", attrs=attrs)
    return state.graph.node(op, tensors, [(variant, [])]).outputs[0]


def _values_of(optional: Any, like: Sequence[SymbolicTensor]) -> list[Any]:
    """The tensors that an optional holds, which are of the dtypes and shapes of others."""
    if not like:
        return []
    attrs = {"output_types": [t.dtype for t in like], "output_shapes": [t.shape for t in like]}
    specs = [(t.dtype, t.shape) for t in like]
    return list(state.graph.node(NodeOp("OptionalGetValue", attrs=attrs), [optional], specs).outputs)


def _zeros_like(tensor: Any) -> Any:
    return registry["ZerosLike"].function(tensor)


def _zeros_of(tensor: Any, original: SymbolicTensor) -> Any:
    """Zeros for the gradient of an input, which may be a variable's handle."""
    if tensor.dtype is resource:
        tensor = state.graph.node(NodeOp("ReadVariableOp"), [tensor], [spec_of_gradient(original)]).outputs[0]
    return _zeros_like(tensor)


def _sum(a: Any, b: Any) -> Any:
    return registry["AddN"].function([a, b])


def _by_id(tensors: Sequence[Any], values: Sequence[Any]) -> dict[int, Any]:
    return dict(zip(map(id, tensors), values, strict=True))


def _unattached(graph: Any, op: Any, name: str, args: Any, dtypes: Sequence[Any]) -> Operation:
    """An operation that no graph has."""
    made = Operation(graph, op, name, args)
    made.outputs = [SymbolicTensor(made, i, dtype, TensorShape([])) for i, dtype in enumerate(dtypes)]
    return made


def _replaced(
    operation: Operation, bodies: dict[str, Body], places: Any, args: Sequence[Any], like: Operation | None = None
) -> Operation:
    """An operation in another's place that calls other functions; of the kind of `like`, if that is another one."""
    before = (like or operation).op
    kind = "" if any(b.named_stateful for b in bodies.values()) else "Stateless"
    op = NodeOp(kind + before.name.removeprefix("Stateless"), bodies=bodies, places=places)
    op.steering, op.first_output = before.steering, before.first_output
    made = Operation(operation.graph, op, operation.name, args)
    made.outputs, made.device = operation.outputs, operation.device
    made._control_inputs = operation._control_inputs
    return made
