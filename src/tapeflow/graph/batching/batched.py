"""A function of one slice, rewritten for the whole batch.

Operations that do not depend on slices are computed once. An op that has a batching rule becomes ops on batches; one
that has none is called on all slices as a function of its own (`calls.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.batched_lists import changed_lists, check_lengths, joined_lists, picked_lists, stacked_list
from tapeflow.autodiff.ends import zero_gradient
from tapeflow.control_flow import switch_case, while_loop
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Tape, dense
from tapeflow.core.ops.batching import Batch, NoRule, Slices
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, resource, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.batching.calls import call_on_slices
from tapeflow.graph.batching.registered import of_registered
from tapeflow.graph.batching.vmapped import STACKED, Manner, draws, varying
from tapeflow.graph.codegen.loops import Loop
from tapeflow.graph.codegen.program import CALLS, needed
from tapeflow.graph.control.body import Body
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GradientOf, GraphOp, Operation, variable_of

_CONDITIONALS = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})


# ---- functions that can be rewritten ---------------------------------------------------------------------------------


def can_be_written(body: Body, batched: Sequence[bool]) -> bool:
    """Tests whether a function can be rewritten for a batch.

    It can if it consists of registered ops on tensors of numbers, and of calls, conditionals and loops of such
    functions.

    Args:
        body: the function of one slice.
        batched: for each input, whether slices differ in it.
    """
    operations = body.graph._operations
    varying_ids = varying(operations, [t for t, b in zip(body.inputs, batched, strict=True) if b])
    return all(_is_plain(o, varying_ids) for o in operations)


def _is_plain(operation: Operation, varying_ids: set[int]) -> bool:
    op = operation.op
    if id(operation) in varying_ids and any(t.dtype is string for t in operation.outputs):
        return False
    if not isinstance(op, GraphOp) or op is READ or op.name in ("Const", "Placeholder", "NoOp"):
        return True
    stacked = [id(t.op) in varying_ids for t in operation.inputs]
    of = op.gradient_of
    if of is not None:  # each slice has gradients of its own, also for inputs that all slices share
        values = stacked[1 + len(of.targets) + of.others : len(stacked) - len(of.outside)]
        own = [s or i in of.sources for i, s in enumerate(values)]
        reachable = not any(isinstance(t, SymbolicTensor) for t in of.outside)  # a tensor there is that of one slice
        return reachable and not draws(of.operation.op) and _calls_plain(of.operation.op, own)
    if op.bodies:
        return _calls_plain(op, stacked)
    numbers = all(t.dtype.torch is not None for t in (*operation.inputs, *operation.outputs))
    return numbers and bool(op.kernel) and not op.stateful  # a kernel that is called as it is


def _calls_plain(op: GraphOp, stacked: Sequence[bool]) -> bool:
    """Tests whether an op is a call, a conditional or a loop of functions that can be rewritten."""
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
    """Returns a loop's condition and its body, each with its inputs: the loop variables, then captures.

    Args:
        loop: the loop.
        variables: something for each loop variable.
        inputs: the same for each input of the loop's operation.
    """
    captured = inputs[loop.limited + loop.count :]
    bodies = zip((loop.condition, loop.body), loop.places, strict=True)
    return [(body, [*variables, *(captured[p] for p in places)]) for body, places in bodies]


def _carried(loop: Loop, stacked: Sequence[bool]) -> tuple[list[bool], bool]:
    """Finds the loop variables that differ between slices.

    Args:
        loop: the loop.
        stacked: for each input of the loop's operation, whether slices differ in it.

    Returns:
        A flag for each loop variable, and whether slices may differ in their trip counts.
    """
    carried = list(stacked[loop.limited : loop.limited + loop.count])
    while True:
        outputs = []
        for body, flags in _parts(loop, carried, stacked):
            ids = varying(body.graph._operations, [t for t, f in zip(body.inputs, flags, strict=True) if f])
            outputs.append([id(t.op) in ids for t in body.outputs])
        (own_trip_counts,), after = outputs
        if own_trip_counts or not any(a and not b for a, b in zip(after, carried, strict=False)):
            return [c or own_trip_counts for c in carried], own_trip_counts
        carried = [a or b for a, b in zip(after, carried, strict=False)]


# ---- rewriting -------------------------------------------------------------------------------------------------------


def on_batch(body: Body, count: Any, values: Sequence[Any], batched: Sequence[bool], manner: Manner) -> list[Any]:
    """Computes a body's outputs for all slices, stacked, as `call_on_slices` does.

    Args:
        body: the function of one slice, which `can_be_written`.
        count: the number of slices: a scalar tensor.
        values: a tensor or variable for each input of the body.
        batched: for each, whether it is a batch of slices, or shared by all.
        manner: the options for computing slices.

    Raises:
        NoRule: it has lists of tensors for which there are no rules.
    """
    writer = _Writer(count, manner)
    inputs = [Slices(v, t, b) for v, t, b in zip(values, body.inputs, batched, strict=True)]
    return [writer.batch.stack(output) for output in writer.write(body, body.outputs, inputs)]


class _Writer:
    """Calls a function's ops for all slices, one after the other."""

    def __init__(self, count: Any, manner: Manner, empty_records: dict[int, Any] | None = None) -> None:
        self.batch = Batch(count)
        self._count, self._manner = count, manner
        # Empty lists in the place of rewritten conditionals' and loops' records, by their ids; they must not be freed.
        self._empty_records: dict[int, Any] = {} if empty_records is None else empty_records

    def write(self, body: Body, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """Computes tensors of a function's graph from its inputs."""
        values = {id(t): Slices(x.value, t, x.stacked) for t, x in zip(body.inputs, inputs, strict=True)}
        for operation in needed(outputs, body.graph.effects(), set(values)):
            for t, output in zip(_outputs(operation), self._write(operation, values), strict=True):
                values[id(t)] = Slices(output.value, t, output.stacked)
            saved = operation.record
            if saved is not None:
                empty = ops.EmptyTensorList((), -1, variant)  # its gradient is computed from its inputs alone
                self._empty_records[id(empty)] = empty
                values[id(saved)] = Slices(empty, saved, False)
        return [values[id(t)] for t in outputs]

    def _write(self, operation: Operation, values: dict[int, Slices]) -> list[Slices]:
        """Computes an operation's outputs from the values of the tensors before it, by their ids."""
        op, outputs = operation.op, _outputs(operation)
        inputs = [values[id(t)] for t in operation.inputs]
        stacked = any(x.stacked for x in inputs)
        if op.name == "Const":
            return [Slices(op.attrs["value"], outputs[0], False)]
        if op is READ:
            return [Slices(inputs[0].value if stacked else _read(inputs[0].value), outputs[0], stacked)]
        if op.name in CALLS:
            return self.write(op.body, op.results, inputs)
        if isinstance(op, GraphOp) and op.bodies:
            return self._control_flow(op, outputs, inputs)
        if isinstance(op, GraphOp) and op.gradient_of is not None:
            with_lists = any(t.dtype is variant for t in (*operation.inputs[1:], *outputs))
            if with_lists or id(inputs[0].value) in self._empty_records:
                return self._differentiated(op.gradient_of, outputs, inputs)
        if isinstance(op, GraphOp):
            return [Slices(v, t, stacked) for v, t in zip(self._alone(operation, inputs), outputs, strict=True)]
        try:
            return of_registered(operation, self.batch, values)
        except NoRule:
            if any(t.dtype is variant for t in (*operation.inputs, *outputs)):
                raise
            return [Slices(v, t, True) for v, t in zip(self._alone(operation, inputs), outputs, strict=True)]

    def _control_flow(self, op: GraphOp, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """Computes the outputs of a conditional or a loop."""
        if isinstance(op.kernel, Loop):
            return self._loop(op.kernel, outputs, inputs)
        return self._conditional(op, outputs, *inputs)

    def _differentiated(
        self, of: GradientOf, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]
    ) -> list[Slices]:
        """Computes the gradient of a conditional or a loop: runs that for the batch again, and differentiates it."""
        seeds, rest = inputs[1 : 1 + len(of.targets)], inputs[1 + len(of.targets) + of.others :]
        primals = list(rest[: len(rest) - len(of.outside)])
        stacked = any(x.stacked for x in (*seeds, *primals))
        tape = Tape(persistent=False, watch_accessed=False)
        tape.start()
        try:
            for i in of.sources:
                primals[i] = self._copy(primals[i], stacked)
                tape.watch(primals[i].value)
            results = self._control_flow(of.operation.op, _outputs(of.operation), primals)
            targets = [self._stacked(results[i]) if stacked else results[i].value for i in of.targets]
        finally:
            tape.stop()
        sources = [primals[i].value for i in of.sources]
        grads = tape.gradients(targets, sources, [self._stacked(dy) if stacked else dy.value for dy in seeds])
        return [
            Slices(zero_gradient(x) if g is None else dense(g), t, stacked)
            for g, x, t in zip(grads, sources, outputs, strict=True)
        ]

    def _copy(self, x: Slices, stacked: bool) -> Slices:
        """Returns a new tensor of the same value, or of a variable's, that a tape can watch for itself.

        Args:
            x: a batch, or a value that slices share.
            stacked: stacks a shared value.
        """
        if x.slice.dtype is not resource or x.stacked:
            return Slices(ops.Identity(self._stacked(x) if stacked else x.value), x.slice, stacked)
        value = _read(x.value)
        if stacked:
            return Slices(ops.BroadcastTo(value, (self.batch.count, *shape_of(value))), x.slice, True)
        return Slices(ops.Identity(value), x.slice, False)

    def _conditional(
        self, op: GraphOp, outputs: Sequence[SymbolicTensor], index: Slices, *values: Slices
    ) -> list[Slices]:
        """Computes the outputs of a conditional. Where slices take different branches, each runs on its own slices."""
        last, stacked = len(op.bodies) - 1, draws(op) or any(x.stacked for x in (index, *values))
        branches = [
            (body, [values[p] for p in places])
            for body, places in zip(op.bodies.values(), op.places.values(), strict=True)
        ]
        if not index.stacked:
            results = switch_case(
                _branch_number(index.value, last),
                [
                    lambda b=b, v=v: [self._stacked(x) if stacked else x.value for x in self.write(b, b.outputs, v)]
                    for b, v in branches
                ],
            )
            return [Slices(v, t, stacked) for v, t in zip(results, outputs, strict=True)]
        for body, _ in branches:
            check_lengths(body.outputs)
        numbers = _branch_number(index.value, last)
        indices, rows = [], []
        for i, (body, inputs) in enumerate(branches):
            where = _indices(ops.Equal(numbers, convert(i)))
            part = self._part(where)
            gathered = [self._gather(x, part, where) for x in inputs]
            rows.append([(part.batch, x) for x in part.write(body, body.outputs, gathered)])
            indices.append(where)
        order = ops.InvertPermutation(ops.Cast(ops.ConcatV2(indices, 0), int32))
        joined = [self._join(column, order) for column in zip(*rows, strict=True)]
        return [Slices(v, t, True) for v, t in zip(joined, outputs, strict=True)]

    def _loop(self, loop: Loop, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """Computes the outputs of a loop. If trip counts differ between slices, it goes on for those not done yet."""
        variables = inputs[loop.limited : loop.limited + loop.count]
        carried, own_trip_counts = _carried(loop, [x.stacked for x in inputs])
        start = [self._stacked(x) if c else x.value for x, c in zip(variables, carried, strict=True)]
        static_count = self.batch.count if isinstance(self.batch.count, int) else None
        shapes = [
            TensorShape([static_count]).concatenate(t.shape) if c and t.dtype is not variant else t.shape
            for t, c in zip(loop.body.inputs, carried, strict=False)
        ]

        def call(current: Sequence[Any], part: int) -> list[Slices]:
            slices = [Slices(v, x.slice, c) for v, x, c in zip(current, variables, carried, strict=True)]
            body, values = _parts(loop, slices, inputs)[part]
            return self.write(body, body.outputs, values)

        def condition(current: Sequence[Any]) -> Any:
            return self.batch.stack(call(current, 0)[0])

        def step(*current: Any) -> list[Any]:
            results = call(current, 1)[: loop.count]
            return [self._stacked(x) if c else x.value for x, c in zip(results, carried, strict=True)]

        def masked_step(active: Any, *current: Any) -> list[Any]:
            indices = _indices(active)
            part = self._part(indices)
            slices = [Slices(v, x.slice, True) for v, x in zip(current, variables, strict=True)]
            body, values = _parts(loop, slices, inputs)[1]
            results = part.write(body, body.outputs, [self._gather(x, part, indices) for x in values])[: loop.count]
            after = [self._scatter(x, part, indices, y) for x, y in zip(slices, results, strict=True)]
            return [ops.LogicalAnd(active, condition(after)), *after]

        limit = inputs[0].value if loop.limited else None
        if own_trip_counts:
            check_lengths(loop.body.outputs)
            start, shapes = [condition(start), *start], [TensorShape([static_count]), *shapes]
            _, *final = while_loop(
                lambda active, *_: ops.Any(active, None, False), masked_step, start, shapes, maximum_iterations=limit
            )
        else:
            final = while_loop(
                lambda *current: call(current, 0)[0].value, step, start, shapes, maximum_iterations=limit
            )
        return [Slices(v, t, c) for v, t, c in zip(final, outputs, carried, strict=True)]

    def _stacked(self, x: Slices) -> Any:
        """Returns a batch, or a list of batches, also of a value that slices share."""
        return stacked_list(self.batch, x) if x.slice.dtype is variant else self.batch.stack(x)

    def _part(self, indices: Any) -> _Writer:
        """Returns a writer of functions for the slices of some indices alone."""
        return _Writer(ops.Size(indices), self._manner, self._empty_records)

    def _gather(self, x: Slices, part: _Writer, indices: Any) -> Slices:
        """Returns the slices of some indices, for `part`."""
        if not x.stacked:
            return x
        if x.slice.dtype is variant:
            return x._replace(value=picked_lists(self.batch, x, indices, part.batch.count))
        return x._replace(value=ops.GatherV2(x.value, indices, 0))

    def _join(self, parts: Sequence[tuple[Batch, Slices]], order: Any) -> Any:
        """Joins batches of some slices each to the batch of all.

        Args:
            parts: the batches.
            order: for each slice, its index in the concatenated parts.
        """
        if parts[0][1].slice.dtype is variant:
            return joined_lists(self.batch, parts, order)
        return ops.GatherV2(ops.ConcatV2([batch.stack(x) for batch, x in parts], 0), order, 0)

    def _scatter(self, before: Slices, part: _Writer, indices: Any, after: Slices) -> Any:
        """Returns the batch with the slices of some indices replaced by those of `part`."""
        if before.slice.dtype is variant:
            return changed_lists(self.batch, before, part.batch, indices, after)
        return ops.TensorScatterUpdate(before.value, ops.ExpandDims(indices, 1), part.batch.stack(after))

    def _alone(self, operation: Operation, inputs: Sequence[Slices]) -> list[Any]:
        """Computes an operation's outputs for all slices by a call of a function of this operation alone."""
        op = operation.op
        graph = FuncGraph(f"{operation.name.replace('/', '_')}_of_slice")
        with graph.as_default():
            placeholders = iter([graph.input(x.slice, "slice") for x in inputs])
            if isinstance(op, GraphOp):
                specs = [(t.dtype, t.shape) for t in operation.outputs]
                outputs: Any = graph.node(op, list(placeholders), specs).outputs
            else:
                outputs = op.run(tuple([
                    next(placeholders) if isinstance(a, SymbolicTensor)
                    else [next(placeholders) for _ in a] if type(a) is list
                    else a
                    for a in operation.args
                ]))  # fmt: skip
            graph.outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        body, values, batched = Body(graph), [x.value for x in inputs], [x.stacked for x in inputs]
        if not any(batched) and not draws(op):
            return body.call(values)
        count = convert(self._count)
        return call_on_slices(body, count, values, batched, [STACKED] * len(graph.outputs), self._manner)


def _outputs(operation: Operation) -> list[SymbolicTensor]:
    """Returns an operation's outputs, without the record for its gradient."""
    return [t for t in operation.outputs if t is not operation.record]


def _read(variable: Any) -> Any:
    """Returns the value of a variable, or of the variable whose handle a tensor is."""
    referenced = variable_of(variable)
    return convert(variable if referenced is None else referenced)


def _branch_number(index: Any, last: int) -> Any:
    """Returns the number of the branch that a predicate or an index chooses; indices out of range choose the last."""
    if index.dtype.is_bool:
        return ops.Cast(ops.LogicalNot(index), int32)
    inside = ops.LogicalAnd(ops.GreaterEqual(index, 0), ops.LessEqual(index, last))
    return ops.SelectV2(inside, index, convert(last))


def _indices(mask: Any) -> Any:
    """Returns the indices of the slices for which a mask is true."""
    return ops.Reshape(ops.Where(mask), (-1,))
