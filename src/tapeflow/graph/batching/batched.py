"""A function of one slice, written anew for the whole batch.

What does not depend on slices is computed once. An op that has a rule (`graph/batch_rules.py`) becomes ops on batches;
one that has none is called on all slices as a function of its own (`function/vectorized.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.batched_lists import (
    changed_lists,
    check_lengths,
    joined_lists,
    picked_lists,
    stacked_list,
)
from tapeflow.autodiff.ends import zero_gradient
from tapeflow.control_flow import switch_case, while_loop
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Tape, dense
from tapeflow.core.ops.batching import Batch, NoRule, Slices, rule_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, resource, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.batching.calls import call_on_slices
from tapeflow.graph.batching.vmapped import STACKED, Manner, draws, own_stream, varying
from tapeflow.graph.codegen.loops import Loop
from tapeflow.graph.codegen.program import CALLS, needed
from tapeflow.graph.control.body import Body
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import Differentiated, GraphOp, Operation, variable_of

# What says something of slices that is the same for all of them.
_OF_SLICES = frozenset({"Shape", "Size", "Rank", "TensorListLength", "TensorListElementShape"})
_CONDITIONALS = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})


# ---- what can be written anew ----------------------------------------------------------------------------------------


def can_be_written(body: Body, batched: Sequence[bool]) -> bool:
    """Whether a function has nothing but registered ops on tensors of numbers, and calls, conditionals and loops of
    such functions."""
    operations = body.graph._operations
    found = varying(operations, [t for t, b in zip(body.inputs, batched, strict=True) if b])
    return all(_is_plain(o, found) for o in operations)


def _is_plain(operation: Operation, found: set[int]) -> bool:
    op = operation.op
    if id(operation) in found and any(t.dtype is string for t in operation.outputs):
        return False
    if not isinstance(op, GraphOp) or op is READ or op.name in ("Const", "Placeholder", "NoOp"):
        return True
    stacked = [id(t.op) in found for t in operation.inputs]
    of = op.gradient_of
    if of is not None:  # slices get gradients of their own, also by what all of them share
        values = stacked[1 + len(of.given) + of.others :]
        own = [s or i in of.asked for i, s in enumerate(values)]
        return not draws(of.operation.op) and _calls_plain(of.operation.op, own)
    if op.bodies:
        return _calls_plain(op, stacked)
    numbers = all(t.dtype.torch is not None for t in (*operation.inputs, *operation.outputs))
    return numbers and bool(op.kernel) and not op.stateful  # a kernel that is called as it is


def _calls_plain(op: GraphOp, stacked: Sequence[bool]) -> bool:
    """Whether an op is a call, a conditional or a loop of functions that can be written anew."""
    if op.name in CALLS:
        return can_be_written(op.bodies["f"], stacked)
    if op.name in _CONDITIONALS:
        _, *values = stacked
        branches = zip(op.bodies.values(), op.places.values(), strict=True)
        return all(can_be_written(body, [values[p] for p in places]) for body, places in branches)
    loop = op.kernel
    if not isinstance(loop, Loop) or (loop.limited and stacked[0]):
        return False
    carried, _ = _carried(loop, stacked)
    return all(can_be_written(*part) for part in _parts(loop, carried, stacked))


def _parts(loop: Loop, variables: Sequence[Any], inputs: Sequence[Any]) -> list[tuple[Body, list[Any]]]:
    """A loop's condition and body, each with what it takes: of the loop variables, and of the loop's inputs."""
    captured = inputs[loop.limited + loop.count :]
    bodies = zip((loop.condition, loop.body), loop.places, strict=True)
    return [(body, [*variables, *(captured[p] for p in places)]) for body, places in bodies]


def _carried(loop: Loop, stacked: Sequence[bool]) -> tuple[list[bool], bool]:
    """Which loop variables are other ones for each slice, and whether each slice leaves the loop by itself."""
    carried = list(stacked[loop.limited : loop.limited + loop.count])
    while True:
        outputs = []
        for body, flags in _parts(loop, carried, stacked):
            found = varying(body.graph._operations, [t for t, f in zip(body.inputs, flags, strict=True) if f])
            outputs.append([id(t.op) in found for t in body.outputs])
        (by_itself,), after = outputs
        if by_itself or not any(a and not b for a, b in zip(after, carried, strict=False)):
            return [c or by_itself for c in carried], by_itself
        carried = [a or b for a, b in zip(after, carried, strict=False)]


# ---- writing it ------------------------------------------------------------------------------------------------------


def on_batch(body: Body, count: Any, values: Sequence[Any], batched: Sequence[bool], manner: Manner) -> list[Any]:
    """What a body gives for all slices, stacked, as `call_on_slices` gives it.

    Raises:
        NoRule: it has lists of tensors, with which it can't be written anew.
    """
    writer = _Writer(count, manner)
    given = [Slices(v, t, b) for v, t, b in zip(values, body.inputs, batched, strict=True)]
    return [writer.batch.stack(found) for found in writer.write(body, body.outputs, given)]


class _Writer:
    """Calls a function's ops for all slices, one after the other."""

    def __init__(self, count: Any, manner: Manner, nothing: dict[int, Any] | None = None) -> None:
        self.batch = Batch(count)
        self._count, self._manner = count, manner
        # what stands for records of conditionals and loops that were written anew: by ids, as it must not be freed
        self._nothing: dict[int, Any] = {} if nothing is None else nothing

    def write(self, body: Body, outputs: Sequence[SymbolicTensor], given: Sequence[Slices]) -> list[Slices]:
        """What a function gives, of what it takes."""
        made = {id(t): Slices(x.value, t, x.stacked) for t, x in zip(body.inputs, given, strict=True)}
        for operation in needed(outputs, body.graph.effects(), set(made)):
            for t, found in zip(_given(operation), self._made(operation, made), strict=True):
                made[id(t)] = Slices(found.value, t, found.stacked)
            if isinstance(operation.op, GraphOp) and operation.op.saved is not None:
                kept = operation.op.saved
                nothing = ops.EmptyTensorList((), -1, variant)  # gradients are computed from what is taken alone
                self._nothing[id(nothing)] = nothing
                made[id(kept)] = Slices(nothing, kept, False)
        return [made[id(t)] for t in outputs]

    def _made(self, operation: Operation, made: dict[int, Slices]) -> list[Slices]:
        """What an operation gives."""
        op, outputs = operation.op, _given(operation)
        inputs = [made[id(t)] for t in operation.inputs]
        stacked = any(x.stacked for x in inputs)
        if op.name == "Const":
            return [Slices(op.attrs["value"], outputs[0], False)]
        if op is READ:
            return [Slices(inputs[0].value if stacked else _read(inputs[0].value), outputs[0], stacked)]
        if op.name in CALLS:
            return self.write(op.body, op.gives, inputs)
        if isinstance(op, GraphOp) and op.bodies:
            return self._called(op, outputs, inputs)
        if isinstance(op, GraphOp) and op.gradient_of is not None:
            with_lists = any(t.dtype is variant for t in (*operation.inputs[1:], *outputs))
            if with_lists or id(inputs[0].value) in self._nothing:
                return self._differentiated(op.gradient_of, outputs, inputs)
        if isinstance(op, GraphOp):
            return [Slices(v, t, stacked) for v, t in zip(self._alone(operation, inputs), outputs, strict=True)]
        args: list[Any] = [
            made[id(a)] if isinstance(a, SymbolicTensor) else [made[id(t)] for t in a] if type(a) is list else a
            for a in operation.args
        ]
        if op.name in _OF_SLICES and stacked:
            found: Any = _said_of_slices(self.batch, op, *args)
            stacked = False
        elif not stacked and not draws(op):
            found = op.run(tuple([_plain(a) for a in args]))
        else:
            stacked, rule = True, rule_of(op)
            try:
                if rule is None:
                    raise NoRule
                found = own_stream(operation, rule)(self.batch.of_op(op, outputs), *args)
            except NoRule:
                if any(t.dtype is variant for t in (*operation.inputs, *outputs)):
                    raise
                found = self._alone(operation, inputs)
        results = list(found) if isinstance(found, (list, tuple)) else [found]
        return [Slices(r, t, stacked) for r, t in zip(results, outputs, strict=True)]

    def _called(self, op: GraphOp, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """What a conditional or a loop gives."""
        if isinstance(op.kernel, Loop):
            return self._looped(op.kernel, outputs, inputs)
        return self._chosen(op, outputs, *inputs)

    def _differentiated(
        self, of: Differentiated, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]
    ) -> list[Slices]:
        """What the gradient of a conditional or a loop gives: the gradients of what that gives for the batch."""
        seeds, taken = inputs[1 : 1 + len(of.given)], list(inputs[1 + len(of.given) + of.others :])
        stacked = any(x.stacked for x in (*seeds, *taken))
        tape = Tape(persistent=False, watch_accessed=False)
        tape.start()
        try:
            for i in of.asked:
                taken[i] = self._own(taken[i], stacked)
                tape.watch(taken[i].value)
            found = self._called(of.operation.op, _given(of.operation), taken)
            targets = [self._stacked(found[i]) if stacked else found[i].value for i in of.given]
        finally:
            tape.stop()
        sources = [taken[i].value for i in of.asked]
        grads = tape.gradients(targets, sources, [self._stacked(dy) if stacked else dy.value for dy in seeds])
        return [
            Slices(zero_gradient(x) if g is None else dense(g), t, stacked)
            for g, x, t in zip(grads, sources, outputs, strict=True)
        ]

    def _own(self, x: Slices, stacked: bool) -> Slices:
        """A tensor that nobody else has: of all slices, or of what is the same for them; also of a variable's value."""
        if x.slice.dtype is not resource or x.stacked:
            return Slices(ops.Identity(self._stacked(x) if stacked else x.value), x.slice, stacked)
        value = _read(x.value)
        if stacked:
            return Slices(ops.BroadcastTo(value, (self.batch.count, *shape_of(value))), x.slice, True)
        return Slices(ops.Identity(value), x.slice, False)

    def _chosen(self, op: GraphOp, outputs: Sequence[SymbolicTensor], index: Slices, *values: Slices) -> list[Slices]:
        """What a conditional gives: each branch is run on the slices that take it."""
        last, stacked = len(op.bodies) - 1, draws(op) or any(x.stacked for x in (index, *values))
        branches = [
            (body, [values[p] for p in places])
            for body, places in zip(op.bodies.values(), op.places.values(), strict=True)
        ]
        if not index.stacked:
            made = switch_case(
                _number_of_branch(index.value, last),
                [
                    lambda b=b, v=v: [self._stacked(x) if stacked else x.value for x in self.write(b, b.outputs, v)]
                    for b, v in branches
                ],
            )
            return [Slices(v, t, stacked) for v, t in zip(made, outputs, strict=True)]
        for body, _ in branches:
            check_lengths(body.outputs)
        numbers = _number_of_branch(index.value, last)
        places, results = [], []
        for i, (body, taken) in enumerate(branches):
            place = _places(ops.Equal(numbers, convert(i)))
            part = self._part(place)
            given = [self._picked(x, part, place) for x in taken]
            results.append([(part.batch, x) for x in part.write(body, body.outputs, given)])
            places.append(place)
        order = ops.InvertPermutation(ops.Cast(ops.ConcatV2(places, 0), int32))
        joined = [self._joined(column, order) for column in zip(*results, strict=True)]
        return [Slices(v, t, True) for v, t in zip(joined, outputs, strict=True)]

    def _looped(self, loop: Loop, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """What a loop gives."""
        variables = inputs[loop.limited : loop.limited + loop.count]
        carried, by_itself = _carried(loop, [x.stacked for x in inputs])
        start = [self._stacked(x) if c else x.value for x, c in zip(variables, carried, strict=True)]
        number = self.batch.count if isinstance(self.batch.count, int) else None
        shapes = [
            TensorShape([number]).concatenate(t.shape) if c and t.dtype is not variant else t.shape
            for t, c in zip(loop.body.inputs, carried, strict=False)
        ]

        def called(now: Sequence[Any], body: int) -> list[Slices]:
            own = [Slices(v, x.slice, c) for v, x, c in zip(now, variables, carried, strict=True)]
            part, given = _parts(loop, own, inputs)[body]
            return self.write(part, part.outputs, given)

        def goes_on(now: Sequence[Any]) -> Any:
            return self.batch.stack(called(now, 0)[0])

        def step(*now: Any) -> list[Any]:
            made = called(now, 1)[: loop.count]
            return [self._stacked(x) if c else x.value for x, c in zip(made, carried, strict=True)]

        def step_of_some(going: Any, *now: Any) -> list[Any]:
            place = _places(going)
            some = self._part(place)
            own = [Slices(v, x.slice, True) for v, x in zip(now, variables, strict=True)]
            part, given = _parts(loop, own, inputs)[1]
            made = some.write(part, part.outputs, [self._picked(x, some, place) for x in given])[: loop.count]
            after = [self._changed(x, some, place, y) for x, y in zip(own, made, strict=True)]
            return [ops.LogicalAnd(going, goes_on(after)), *after]

        most = inputs[0].value if loop.limited else None
        if by_itself:
            check_lengths(loop.body.outputs)
            start, shapes = [goes_on(start), *start], [TensorShape([number]), *shapes]
            _, *made = while_loop(
                lambda going, *_: ops.Any(going, None, False), step_of_some, start, shapes, maximum_iterations=most
            )
        else:
            made = while_loop(lambda *now: called(now, 0)[0].value, step, start, shapes, maximum_iterations=most)
        return [Slices(v, t, c) for v, t, c in zip(made, outputs, carried, strict=True)]

    def _stacked(self, x: Slices) -> Any:
        """A batch, or a list of batches, also of what is the same for all slices."""
        return stacked_list(self.batch, x) if x.slice.dtype is variant else self.batch.stack(x)

    def _part(self, places: Any) -> _Writer:
        """What writes functions of the slices in some places."""
        return _Writer(ops.Size(places), self._manner, self._nothing)

    def _picked(self, x: Slices, part: _Writer, places: Any) -> Slices:
        """The slices in some places."""
        if not x.stacked:
            return x
        if x.slice.dtype is variant:
            return x._replace(value=picked_lists(self.batch, x, places, part.batch.count))
        return x._replace(value=ops.GatherV2(x.value, places, 0))

    def _joined(self, parts: Sequence[tuple[Batch, Slices]], order: Any) -> Any:
        """All slices, of those of some of them each; `order` says where each slice is in the parts."""
        if parts[0][1].slice.dtype is variant:
            return joined_lists(self.batch, parts, order)
        return ops.GatherV2(ops.ConcatV2([batch.stack(x) for batch, x in parts], 0), order, 0)

    def _changed(self, before: Slices, part: _Writer, places: Any, after: Slices) -> Any:
        """All slices, where those in some places are other ones now."""
        if before.slice.dtype is variant:
            return changed_lists(self.batch, before, part.batch, places, after)
        return ops.TensorScatterUpdate(before.value, ops.ExpandDims(places, 1), part.batch.stack(after))

    def _alone(self, operation: Operation, inputs: Sequence[Slices]) -> list[Any]:
        """What an operation gives for all slices, as a function of its own."""
        op = operation.op
        graph = FuncGraph(f"{operation.name.replace('/', '_')}_of_slice")
        with graph.as_default():
            others = iter([graph.input(x.slice, "slice") for x in inputs])
            if isinstance(op, GraphOp):
                found: Any = graph.node(op, list(others), [(t.dtype, t.shape) for t in operation.outputs]).outputs
            else:
                args: list[Any] = [
                    next(others)
                    if isinstance(a, SymbolicTensor)
                    else [next(others) for _ in a]
                    if type(a) is list
                    else a
                    for a in operation.args
                ]
                found = op.run(tuple(args))
            graph.outputs = list(found) if isinstance(found, (list, tuple)) else [found]
        body, values, batched = Body(graph), [x.value for x in inputs], [x.stacked for x in inputs]
        if not any(batched) and not draws(op):
            return body.call(values)
        count = convert(self._count)
        return call_on_slices(body, count, values, batched, [STACKED] * len(graph.outputs), self._manner)


def _given(operation: Operation) -> list[SymbolicTensor]:
    """The tensors that an operation gives, without what it keeps for its gradient."""
    saved = getattr(operation.op, "saved", None)
    return [t for t in operation.outputs if t is not saved]


def _read(variable: Any) -> Any:
    """The value of a variable, or of one whose handle a tensor is."""
    held = variable_of(variable)
    return convert(variable if held is None else held)


def _number_of_branch(index: Any, last: int) -> Any:
    """Which branch a predicate or an index stands for."""
    if index.dtype.is_bool:
        return ops.Cast(ops.LogicalNot(index), int32)
    inside = ops.LogicalAnd(ops.GreaterEqual(index, 0), ops.LessEqual(index, last))
    return ops.SelectV2(inside, index, convert(last))


def _places(chosen: Any) -> Any:
    """The numbers of the slices that are chosen."""
    return ops.Reshape(ops.Where(chosen), (-1,))


def _plain(arg: Any) -> Any:
    if isinstance(arg, Slices):
        return arg.value
    return [x.value for x in arg] if type(arg) is list else arg


def _said_of_slices(batch: Batch, op: Any, x: Slices, *attrs: Any) -> Any:
    """What an op says of slices' shape, which is that of all of them."""
    if op.name == "Rank":
        return convert(x.rank)
    if op.name == "TensorListLength":
        return op.run((x.value,))
    if op.name in ("Shape", "TensorListElementShape"):
        return op.run((x.value, *attrs))[1:]
    return ops.Prod(ops.Shape(x.value, *attrs)[1:], 0, False)
