"""Functions made of other functions: of the bodies of conditionals and loops, and of their backward functions.

They are what the gradients of conditionals and loops are in a `GraphDef` (`lowering.py`), and what gradients of these
gradients are computed by (`second_order.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import resource
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.control.body import Body, Call
from tapeflow.graph.control.control_flow import loop
from tapeflow.graph.gradients.taped import spec_of_gradient
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import variable_of

if TYPE_CHECKING:
    from tapeflow.graph.gradients.loop_gradients import LoopGradient


def function(name: str, specs: Sequence[Any], calls: Callable[..., list[Any]]) -> Body:
    """The body of a function of tensors of these dtypes and shapes; those that are handles of variables stay these."""
    graph = FuncGraph(name)
    graph.around = None
    with graph.as_default():
        inputs = [_parameter(graph, t) for t in specs]
        state.name_scope = _SCOPE
        graph.outputs = [graph.capture(t) for t in calls(*inputs)]
        graph.structured_outputs = graph.outputs
    return Body(graph)


_SCOPE = "inner"  # TensorFlow writes calls out under their names, where other nodes may be: these would have the same


def _parameter(graph: FuncGraph, spec: Any) -> SymbolicTensor:
    made = graph.input(TensorSpec(spec.shape, spec.dtype), "input")
    variable = variable_of(spec)
    if variable is not None:
        made.op.op.attrs["variable"] = variable
        made._id = variable._id
        graph._captured[variable._id] = made
    return made


def call(body: Body, gives: Sequence[SymbolicTensor], inputs: Sequence[Any]) -> list[Any]:
    """Calls a body, in the graph that is being built; gives these tensors of the body's graph."""
    return list(state.graph.node(Call(body, gives), inputs, [(t.dtype, t.shape) for t in gives]).outputs)


def call_keeping(body: Body, kept: Sequence[SymbolicTensor], inputs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Calls a body; gives what it gives, and these tensors of its graph."""
    given = call(body, [*body.outputs, *kept], inputs)
    return given[: len(body.outputs)], given[len(body.outputs) :]


def gradients(backward: Body, dys: Sequence[Any], known: dict[int, Any]) -> list[Any]:
    """Calls a backward function; gives the gradient of each input of the forward one, or None.

    Args:
        dys: the gradients that it takes.
        known: what stands for the tensors of the forward function's graph, by their ids.
    """
    captured = [
        known[id(t)] if isinstance(t, SymbolicTensor) else constant(t) for t in backward.graph.external_captures
    ]
    found = iter(call(backward, backward.outputs, [*dys, *captured]))
    return [None if g is None else next(found) for g in backward.graph.structured_outputs]


def taken_by(backward: Body) -> list[SymbolicTensor]:
    """What a backward function takes of the forward one's graph."""
    return [t for t in backward.graph.external_captures if isinstance(t, SymbolicTensor)]


def by_id(tensors: Sequence[Any], values: Sequence[Any]) -> dict[int, Any]:
    return dict(zip(map(id, tensors), values, strict=True))


def constant(value: Any) -> Any:
    """A constant with an eager tensor's value, however large."""
    return state.graph.constant(value) if isinstance(value, EagerTensor) else state.graph.capture(value)


def zeros_like(tensor: Any) -> Any:
    return ops.ZerosLike(tensor)


def zeros_of(tensor: Any) -> Any:
    """Zeros for the gradient of an input, which may be a variable's handle."""
    return zeros_like(state.graph.read_variable(variable_of(tensor)) if tensor.dtype is resource else tensor)


# ---- branches --------------------------------------------------------------------------------------------------------


def backward_of_branch(
    body: Body, given: Sequence[int], places: Sequence[int], asked: Sequence[int], known: dict[int, Any],
    dys: Sequence[Any], values: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """The gradients of what a conditional takes, from the backward function of one of its branches.

    Args:
        body: the branch.
        given: the outputs whose gradients are given.
        places: which of `values` the branch takes.
        asked: those of `values` whose gradients are asked for.
        known: what stands for the tensors of the branch that the backward function takes, besides its inputs.
        dys: the gradients.
        values: what the conditional takes.
    """
    inputs = by_id(body.inputs, [values[p] for p in places])
    found = dict(zip(places, gradients(backward_for(body, given), dys, inputs | known), strict=True))
    return [zeros_of(values[p]) if found.get(p) is None else found[p] for p in asked]


def backward_for(body: Body, given: Sequence[int]) -> Body:
    """The backward function of a body, for gradients of these outputs."""
    return body.backward(body.outputs, tuple(i in given for i in range(len(body.outputs))))


# ---- loops -----------------------------------------------------------------------------------------------------------


def backward_loop(
    gradient: LoopGradient,
    states: Sequence[Any],
    going: Callable[..., Any],
    take: Callable[..., tuple[list[Any], dict[int, Any]]],
    dys: Sequence[Any],
    finals: Sequence[Any],
    inputs: Sequence[Any],
) -> list[Any]:
    """The loop that calls the backward function of a loop's body for each iteration, from the last to the first.

    Args:
        gradient: what there is to know of it.
        states: what of the iterations is left, as loop variables.
        going: gives of these whether there is one left.
        take: gives of these what is left after another one; and what was kept of that one, by places among all that
            is kept of an iteration.
        dys: the gradients of `gradient.given`.
        finals: the last values of the loop variables `gradient.late`.
        inputs: what the loop takes.

    Returns:
        The gradients of those inputs that are asked for.
    """
    backward, live, count = gradient.backward, gradient.live, len(states)
    grads = dict(zip(gradient.given, dys, strict=True))
    grads.update((i, zeros_like(v)) for i, v in zip(gradient.late, finals, strict=True))
    totals = [zeros_of(inputs[i]) for i, _ in gradient.captured]

    def step(*now: Any) -> list[Any]:
        left, kept = take(*now[:count])
        dys, sums = now[count : count + len(live)], now[count + len(live) : count + len(live) + len(totals)]
        others = iter(now[count + len(live) + len(totals) :])
        taken = [kept[at] if kind == "kept" else next(others) if kind == "input" else constant(at)
                 for kind, at in gradient.taken]  # fmt: skip
        found = call(backward, backward.outputs, [*dys, *taken])
        places = (gradient.found[i] for i in live)
        after = [zeros_like(dy) if n is None else found[n] for n, dy in zip(places, dys, strict=True)]
        after += [_sum(total, found[n]) for (_, n), total in zip(gradient.captured, sums, strict=True)]
        return [*left, *after]

    specs = [
        *(TensorSpec(t.shape, t.dtype) for t in states),
        *(TensorSpec(t.shape, t.dtype) for t in (gradient.loop.body.inputs[i] for i in live)),
        *(TensorSpec(shape, dtype) for dtype, shape in (spec_of_gradient(inputs[i]) for i, _ in gradient.captured)),
    ]
    captured = [inputs[at] for kind, at in gradient.taken if kind == "input"]
    condition = function(f"{backward.name}_left", specs, lambda *now: [going(*now[:count])])
    turning = function(f"{backward.name}_step", [*specs, *captured], step)
    places: tuple[list[int], list[int]] = [], list(range(len(captured)))  # by the condition, and by the body
    variables, outputs = [*states, *(grads[i] for i in live), *totals], [(t.dtype, t.shape) for t in specs]
    made = loop(variables, captured, condition, turning, places, outputs, None, "while")
    ends = dict(zip(live, made.outputs[count:], strict=False))
    return [*(ends[i] for _, i in gradient.variables), *made.outputs[count + len(live) :]]


def _sum(a: Any, b: Any) -> Any:
    return ops.AddN([a, b])
