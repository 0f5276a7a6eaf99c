"""Gradients of conditionals and loops in TensorFlow's own operations, for a `GraphDef`.

When a graph runs here, the gradient of a conditional asks the tape under which its branch ran, and that of a loop goes
through a list of what was kept of each iteration. TensorFlow has no such operations. In their place it gets

- a conditional that gives one output more: an optional of what the backward function of its branch takes of it;
- a conditional that calls the backward function of the same branch, with what is in the optional;
- a loop with one loop variable more: a list to which each iteration appends such an optional;
- a loop that takes these from the end of the list, and calls the backward function of the body with each.

An operation's op says how to lower it (`GraphOp.lowered`). What comes of it is written down and never run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.tensor_list import empty_list, list_length, list_pop_back, list_push_back
from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import substituted
from tapeflow.graph.control.body import Body, Call
from tapeflow.graph.gradients.derived import (
    backward_for,
    backward_loop,
    backward_of_branch,
    by_id,
    call_keeping,
    function,
    taken_by,
)
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation

if TYPE_CHECKING:
    from tapeflow.graph.gradients.loop_gradients import LoopGradient


def lowered(operation: Operation) -> list[Operation]:
    """What stands for an operation in a `GraphDef`: others, of which the last one has its name and outputs."""
    op = operation.op
    if isinstance(op, GraphOp):
        return [operation] if op.lowered is None else op.lowered(operation)
    return [operation] if op.decomposition is None else _decomposed(operation)


def _decomposed(operation: Operation) -> list[Operation]:
    """Returns the operations of TensorFlow that stand for one of an op that it lacks, or has no kernel for here."""
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
    found = {id(t): t for given in differentiated for t in taken_by(backward_for(body, given)) if id(t) not in known}
    return list(found.values())


def _with_kept(body: Body, kept: Sequence[SymbolicTensor]) -> Body:
    """A body that gives one tensor more: an optional of these tensors of its graph."""

    def calls(*inputs: Any) -> list[Any]:
        given, more = call_keeping(body, kept, inputs)
        return [*given, _optional(more)]

    return function(f"{body.name}_kept", body.inputs, calls)


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

            def calls(saved: Any, *taken: Any) -> list[Any]:
                dys, values = taken[: len(seeds)], taken[len(seeds) :]
                known = by_id(kept, _values_of(saved, kept))
                return backward_of_branch(body, given, places, [j - 1 for j in asked], known, dys, values)

            return function(f"{body.name}_grad", [saved, *seeds, *values], calls)

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
        given, more = call_keeping(body, kept, [*inputs[:count], *inputs[count + 1 :]])
        return [*given, list_push_back(inputs[count], _optional(more))]

    specs = [*body.inputs[:count], TensorSpec([], variant), *body.inputs[count:]]
    bodies = {"cond": op.bodies["cond"], "body": function(f"{body.name}_kept", specs, calls)}
    places = {label: [p if p < count else p + 1 for p in taken] for label, taken in op.places.items()}
    places["body"] = [*places["body"][:count], count, *places["body"][count:]]
    args = [*limit, *values[:count], begin.outputs[0], *values[count:]]
    return [begin, _replaced(operation, bodies, places, args)]


def gradient_of_loop(operation: Operation) -> list[Operation]:
    """A call of a function that has the loop of the gradient."""
    gradient: LoopGradient = operation.op.kernel
    args = operation.args
    body = function(operation.name, args, lambda *values: _backward(gradient, *values))
    made = Operation(operation.graph, Call(body, body.outputs), operation.name, args)
    made.outputs, made.device = operation.outputs, operation.device
    return [made]


def _backward(gradient: LoopGradient, record: Any, *values: Any) -> list[Any]:
    """The gradients that are asked for, from what the gradient's kernel takes."""
    given, late, kept = len(gradient.given), len(gradient.late), gradient.loop.kept or ()

    def take(record: Any) -> tuple[list[Any], dict[int, Any]]:
        record, optional = list_pop_back(record, (), variant)
        return [record], dict(enumerate(_values_of(optional, kept)))

    dys, finals, inputs = values[:given], values[given : given + late], values[given + late :]
    return backward_loop(gradient, [record], lambda left: list_length(left) > 0, take, dys, finals, inputs)


# ---- what they are made of -------------------------------------------------------------------------------------------


def _optional(tensors: Sequence[Any]) -> Any:
    """An optional that holds tensors; one without a value, if there are none."""
    attrs = {"Toutput_types": [t.dtype for t in tensors]} if tensors else {}
    op = GraphOp("OptionalFromValue" if tensors else "OptionalNone", attrs=attrs)
    return state.graph.node(op, tensors, [(variant, [])]).outputs[0]


def _values_of(optional: Any, like: Sequence[SymbolicTensor]) -> list[Any]:
    """The tensors that an optional holds, which are of the dtypes and shapes of others."""
    if not like:
        return []
    attrs = {"output_types": [t.dtype for t in like], "output_shapes": [t.shape for t in like]}
    specs = [(t.dtype, t.shape) for t in like]
    return list(state.graph.node(GraphOp("OptionalGetValue", attrs=attrs), [optional], specs).outputs)


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
    op = GraphOp(kind + before.name.removeprefix("Stateless"), bodies=bodies, places=places)
    op.steering, op.first_output = before.steering, before.first_output
    made = Operation(operation.graph, op, operation.name, args)
    made.outputs, made.device = operation.outputs, operation.device
    made._control_inputs = operation._control_inputs
    return made
