"""TFLite forms of calls, conditionals and loops. A branch, a condition and a body of a loop are subgraphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.core.types.dtypes import bool_, int32, variant
from tapeflow.graph.ir.attrs import attrs_of
from tapeflow.lite.forms.elementwise import binary
from tapeflow.lite.forms.lists import ReservedList
from tapeflow.lite.program import LiteTensor
from tapeflow.lite.table import NoForm, form

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor
    from tapeflow.graph.ir.operation import Operation
    from tapeflow.lite.lower import LoweredCall, Writer


@form("PartitionedCall", "StatefulPartitionedCall")
def _lower_call(w: Writer, call: LoweredCall, *inputs: Any) -> list[Any]:
    op = call.operation.op
    return w.inline(op.body, inputs, op.results)


def _is_operand(value: LiteTensor) -> bool:
    """Returns True if a value must be passed to a subgraph: constants and variables stand in it."""
    return isinstance(value, LiteTensor) and value.value is None


@form("If", "StatelessIf", "Case", "StatelessCase")
def _lower_conditional(w: Writer, call: LoweredCall, index: LiteTensor, *operands: Any) -> list[Any]:
    op = call.operation.op
    branches = [_Branch(*branch) for branch in zip(op.bodies.values(), op.places.values(), strict=True)]
    if index.value is not None:
        return branches[op.number_of(index.value)].inline(w, operands)
    if not op.by_truth:
        return _lower_case(w, index, operands, branches)
    truth = index if index.dtype is bool_ else w.add(
        "NOT_EQUAL", [index, w.constant(0, index.dtype)], index.shape, bool_
    )  # fmt: skip
    return _add_if(w, truth, operands, [(branch.body.name, branch.inline) for branch in branches])


class _Branch(NamedTuple):
    """A branch of a conditional, and the places of its inputs among the operands."""

    body: Any
    places: Sequence[int]

    def inline(self, w: Writer, operands: Sequence[Any]) -> list[Any]:
        """Adds the operators of the branch, and returns its results."""
        return w.inline(self.body, [operands[p] for p in self.places], self.body.outputs)


def _add_if(
    w: Writer, truth: LiteTensor, operands: Sequence[Any], branches: Sequence[tuple[str, Callable[..., list[Any]]]]
) -> list[Any]:
    """Adds a conditional on a truth value; `branches` has for each the name, and a function that adds its operators."""
    passed = [v for v in operands if _is_operand(v)]
    subgraphs = []
    for name, write in branches:
        inner = w.function(name, passed)
        inner.subgraph.outputs = write(inner, inner.stand_ins(operands))
        subgraphs.append(inner.subgraph)
    pairs = zip(*[s.outputs for s in subgraphs], strict=True)
    results = [(_common_shape(a.shape, b.shape), a.dtype) for a, b in pairs]
    return w.add_many("IF", [truth, *passed], results, thenSubgraphIndex=subgraphs[0], elseSubgraphIndex=subgraphs[1])


def _common_shape(x: Sequence[int | None], y: Sequence[int | None]) -> list[int | None]:
    return [a if a == b else None for a, b in zip(x, y, strict=True)]


def _lower_case(
    w: Writer, index: LiteTensor, operands: Sequence[Any], branches: Sequence[_Branch], number: int = 0
) -> list[Any]:
    """Adds a conditional on the number of a branch: it is a chain of conditionals on truth values."""
    first, *others = branches
    if not others:
        return first.inline(w, operands)
    truth = w.add("EQUAL", [index, w.constant(number, index.dtype)], [], bool_)
    name = first.body.name
    this = (name, lambda inner, values: first.inline(inner, values[1:]))
    rest = (f"{name}_else", lambda inner, values: _lower_case(inner, values[0], values[1:], others, number + 1))
    return _add_if(w, truth, (index, *operands), [this, rest])


_SETTERS = ("TensorListSetItem", "TensorListPushBack")


@form("While", "StatelessWhile")
def _lower_loop(w: Writer, call: LoweredCall, *inputs: Any) -> list[Any]:
    operation = call.operation
    op = operation.op
    count = op.kernel.count
    limit = inputs[0] if op.steering else None
    variables, captured = list(inputs[op.steering : op.steering + count]), list(inputs[op.steering + count :])
    bodies, places = op.bodies, op.places
    for i, value in enumerate(variables):
        if isinstance(value, ReservedList):
            variables[i] = _add_reserved(w, value, bodies["body"], i, variables)
    invariant = [v for v in captured if _is_operand(v)]
    if limit is not None:
        variables = [w.constant(0, int32), *variables]
        invariant += [limit] if _is_operand(limit) else []
    first = limit is not None
    shapes = [_loop_shape(operation, bodies["body"], i, v) for i, v in enumerate(variables[first:])]
    carried = [LiteTensor("", v.dtype, s) for v, s in zip(variables[first:], shapes, strict=True)]
    carried = [*variables[:first], *carried, *invariant]

    def enter(label: str) -> tuple[Any, list[Any], list[Any]]:
        """Returns the writer of a function, its loop variables, and the invariant values in it."""
        inner = w.function(bodies[label].name, carried)
        own = inner.subgraph.inputs
        named = dict(zip(map(id, invariant), own[len(variables) :], strict=True))
        return inner, own[: len(variables)], [named.get(id(v), v) for v in (*captured, limit)]

    def inputs_of(label: str, own: list[Any], fixed: list[Any]) -> list[Any]:
        values = [*own[first:], *fixed]
        return [values[p] for p in places[label]]

    inner, own, fixed = enter("cond")
    (goes_on,) = inner.inline(bodies["cond"], inputs_of("cond", own, fixed), bodies["cond"].outputs)
    if limit is not None:
        bound = inner.cast(fixed[-1], int32)
        goes_on = inner.add("LOGICAL_AND", [inner.add("LESS", [own[0], bound], [], bool_), goes_on], [])
    inner.subgraph.outputs = [goes_on]
    condition = inner.subgraph
    inner, own, fixed = enter("body")
    after = inner.inline(bodies["body"], inputs_of("body", own, fixed), bodies["body"].outputs)
    if limit is not None:
        after = [binary(inner, "ADD", own[0], 1), *after]
    inner.subgraph.outputs = [*after, *own[len(variables) :], *inner.subgraph.inputs[len(variables) :]]
    results = [(t.shape, t.dtype) for t in carried]
    outputs = w.add_many("WHILE", [*variables, *invariant], results, condSubgraphIndex=condition,
                         bodySubgraphIndex=inner.subgraph)  # fmt: skip
    return outputs[first : len(variables)]


def _loop_shape(operation: Operation, body: Any, i: int, value: LiteTensor) -> Any:
    """Returns the static shape of a loop variable in all iterations."""
    symbolic = operation.outputs[i]
    if symbolic.dtype is not variant:
        return value.shape if symbolic.shape.rank is None else tuple(symbolic.shape.as_list())
    grows = any(
        o.type == "TensorListPushBack" or attrs_of(o)["resize_if_index_out_of_bounds"] for o in _setters_of(body, i)
    )
    return (None, *value.shape[1:]) if grows else value.shape


def _list_origin(tensor: Tensor) -> Any:
    """Returns the list that a list is, before identities."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _setters_of(body: Any, i: int) -> list[Operation]:
    """Returns the operations of a body that set entries of the list that is its input `i`."""
    setters = [o for o in body.graph.get_operations() if o.type in _SETTERS]
    return [o for o in setters if _list_origin(o.inputs[0]) is body.inputs[i]]


def _add_reserved(w: Any, reserved: ReservedList, body: Any, i: int, variables: Sequence[Any]) -> LiteTensor:
    """Adds the zeros for a list that the body of a loop fills.

    The entries have the shape of the tensor that the body sets. An unknown size of them is the batch size: another loop
    variable has it, too.
    """
    setters = _setters_of(body, i)
    if not setters:
        raise NoForm("the body of the loop sets no entry of a list")
    item = setters[0].inputs[-1].shape
    if item.rank is None:
        raise NoForm("the entries of a list have no static rank")
    shape = tuple(item.as_list())
    return reserved.filled(w, shape, _size_like(w, shape, variables) if None in shape else None)


def _size_like(w: Writer, shape: Sequence[int | None], variables: Sequence[Any]) -> LiteTensor:
    """Returns a tensor whose unknown size is the one of the entries of a list."""
    if shape.count(None) > 1:
        raise NoForm("the entries of a list have several unknown sizes")
    same = [v for v in variables if isinstance(v, LiteTensor) and v.shape == shape]
    if same:
        return same[0]
    for v in variables:
        if isinstance(v, LiteTensor) and v.shape.count(None) == 1:
            size = w.size(v, v.shape.index(None))
            parts = [size if d is None else w.constant(d, int32) for d in shape]
            target = w.add("PACK", parts, [len(shape)], axis=0, valuesCount=len(parts))
            return w.add("FILL", [target, w.constant(0.0)], shape, w.constant(0.0).dtype)
    raise NoForm("a size of the entries of a list is unknown: give the model a static batch size")
