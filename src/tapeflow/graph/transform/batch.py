"""Rewrites a function of one slice for a whole batch.

Operations that do not depend on slices are computed once. An op with a batching rule becomes ops on batches. Every
other op runs by itself under `torch.func.vmap`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.array.batched_lists import changed_lists, check_lengths, joined_lists, picked_lists, stacked_list
from tapeflow.array.concat_and_split import concat_v2
from tapeflow.array.creation import range as range_
from tapeflow.array.gathers import gather_v2
from tapeflow.array.identities import identity_op
from tapeflow.array.list_values import as_variant
from tapeflow.array.masks import select_v2, where_op
from tapeflow.array.properties import shape_op, size_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, reshape
from tapeflow.array.scatters import tensor_scatter_update
from tapeflow.array.sorting import invert_permutation
from tapeflow.array.tensor_list import empty_list
from tapeflow.autodiff.targets_and_sources import zero_gradient
from tapeflow.control.conditions_and_loops import switch_case, while_loop
from tapeflow.control.map_and_scan import map_fn
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Tape, dense, record
from tapeflow.core.context import state
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, rule_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, resource, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import invalid
from tapeflow.graph.codegen.loop_kernel import Loop
from tapeflow.graph.ir.batch_rules import draws, of_registered, varying
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_of
from tapeflow.graph.ir.positions import user_line
from tapeflow.graph.ir.python_op import eager_outputs
from tapeflow.graph.program.interpreter import interpret
from tapeflow.graph.program.program import needed_operations
from tapeflow.graph.transform.body import Body, by_id, call_operation, raw, traced_body
from tapeflow.math.casting import cast_op
from tapeflow.math.comparison import equal, greater_equal, less_equal, logical_and, logical_not

_LENGTHS = "lists may differ in length between slices"


class BatchOptions(NamedTuple):
    """A program's options for computing slices.

    Attributes:
        fallback: True if slices may be computed one by one if they can't be computed at once.
        warn: True to log a warning for this fallback.
        chunk: the maximal number of slices that are computed at once; None for no limit.
    """

    fallback: bool = True
    warn: bool = True
    chunk: int | None = None

    def report(self, what: str, error: Exception | None = None) -> None:
        """Warns that slices are computed one by one.

        Raises:
            ValueError: the options exclude this fallback.
        """
        if not self.fallback:
            raise ValueError(
                f"No pfor vectorization defined for {what}. Allow fallback_to_while_loop to have it computed for the "
                "slices one by one."
            ) from error
        if self.warn:
            get_logger().warning("vectorized_map computes slices one by one: no vectorization for %s", what)


def batch(graph: FuncGraph, batched: Sequence[bool]) -> FuncGraph:
    """Returns the graph of a function of whole batches.

    Args:
        graph: the graph of a function of one slice.
        batched: for each input and each capture, True if it is batched. The first input is.

    Returns:
        A graph with batches as inputs, the same captures, and batches as outputs.

    Raises:
        NoRule: the graph can't be rewritten.
    """
    body, new = Body(graph), FuncGraph(f"{graph.name}_of_batches")
    why = obstacle(body, batched)
    if why:
        raise NoRule(why)
    with new.as_default():
        inputs: list[Any] = [
            new.input(TensorSpec(TensorShape([None]).concatenate(t.shape), t.dtype), "batch") if b
            else new.input_like(t)
            for t, b in zip(graph.inputs, batched, strict=False)
        ]  # fmt: skip
        captures = [new.capture(c) for c in graph.external_captures]
        outputs = on_batch(body, shape_op(inputs[0])[0], [*inputs, *captures], batched, BatchOptions())
        new.outputs = new.structured_outputs = [new.as_output(t, graph.name) for t in outputs]
    return new


# ---- functions that can be rewritten ---------------------------------------------------------------------------------


def obstacle(body: Body, batched: Sequence[bool]) -> str:
    """Returns a message about the operation that prevents the rewriting of a function; "" if there is none.

    Args:
        body: the function of one slice.
        batched: for each input, True if it is batched.
    """
    operations = body.graph._operations
    stacked = varying(operations, [t for t, b in zip(body.inputs, batched, strict=True) if b])
    for operation in operations:
        why = _batch_obstacle(operation, stacked)
        if why:
            return why
    return ""


def _batch_obstacle(operation: Operation, differing: set[Operation]) -> str:
    op = operation.op
    strings = operation in differing and any(t.dtype is string for t in (*operation.inputs, *operation.outputs))
    if strings and not isinstance(op, GraphOp) and rule_of(op) is None:
        return f"{_operation_label(operation)}: its strings differ between slices"
    if op.stateful and not getattr(op, "bodies", None) and not op.elementwise and op.name != "Assert":
        return f"{_operation_label(operation)}: it has side effects"
    if not isinstance(op, GraphOp) or op is READ or op.name in ("Const", "Placeholder", "NoOp"):
        return ""
    stacked = [t.op in differing for t in operation.inputs]
    of = op.gradient_of
    if of is not None:  # each slice has its own gradients, even for shared inputs
        gradient: Any = op.kernel
        if any(isinstance(t, SymbolicTensor) for t in gradient.outside) or draws(of.op):
            return f"{_operation_label(operation)}: it takes tensors or random numbers of one slice"
        values = gradient.split(stacked)[3]
        return _obstacle_in(of, [s or i in gradient.sources for i, s in enumerate(values)])
    if op.bodies:
        return _obstacle_in(operation, stacked)
    if not op.kernel or any(t.dtype.torch is None for t in (*operation.inputs, *operation.outputs)):
        return f"{_operation_label(operation)}: it computes with other values than numbers"
    return ""


def _obstacle_in(operation: Operation, stacked: Sequence[bool]) -> str:
    """Returns the first obstacle in the functions that a call, a conditional or a loop calls."""
    loop = operation.op.kernel
    if isinstance(loop, Loop) and loop.limited and stacked[0]:
        return f"{_operation_label(operation)}: slices differ in its maximum_iterations"
    whys = (obstacle(body, flags) for body, flags in _called_with(operation.op, stacked))
    return next(filter(None, whys), "")


def _called_with(op: GraphOp, stacked: Sequence[bool]) -> Iterator[tuple[Body, list[bool]]]:
    """Yields the functions that a call, a conditional or a loop calls, each with a flag per input: True if batched."""
    values = list(stacked[op.steering :])
    if isinstance(op.kernel, Loop):
        values[: op.kernel.count], _ = _varying_variables(op.kernel, stacked)
    for label, body in op.bodies.items():
        yield body, [values[p] for p in op.places[label]]


def _operation_label(operation: Operation) -> str:
    """Returns an operation's type, and the line of the user's code that added it."""
    line = user_line(operation.position)
    return f"{operation.type} ({line})" if line else operation.type


def _loop_parts(loop: Loop, variables: Sequence[Any], inputs: Sequence[Any]) -> list[tuple[Body, list[Any]]]:
    """Returns a loop's condition and its body, each with its inputs: the loop variables, then captures.

    Args:
        loop: the loop.
        variables: something for each loop variable.
        inputs: the same for each input of the loop's operation.
    """
    captured = inputs[loop.limited + loop.count :]
    bodies = zip((loop.condition, loop.body), loop.places, strict=True)
    return [(body, [*variables, *(captured[p] for p in places)]) for body, places in bodies]


def _varying_variables(loop: Loop, stacked: Sequence[bool]) -> tuple[list[bool], bool]:
    """Finds the loop variables that differ between slices.

    Args:
        loop: the loop.
        stacked: for each input of the loop's operation, True if it is batched.

    Returns:
        For each loop variable, True if it differs; and True if trip counts may differ.
    """
    carried = list(stacked[loop.limited : loop.limited + loop.count])
    while True:
        outputs = []
        for body, flags in _loop_parts(loop, carried, stacked):
            differing = varying(body.graph._operations, [t for t, f in zip(body.inputs, flags, strict=True) if f])
            outputs.append([t.op in differing for t in body.outputs])
        (own_trip_counts,), after = outputs
        if own_trip_counts or not any(a and not b for a, b in zip(after, carried, strict=False)):
            return [c or own_trip_counts for c in carried], own_trip_counts
        carried = [a or b for a, b in zip(after, carried, strict=False)]


# ---- rewriting -------------------------------------------------------------------------------------------------------


def on_batch(
    body: Body, count: Any, values: Sequence[Any], batched: Sequence[bool], options: BatchOptions
) -> list[Any]:
    """Computes a function's outputs for all slices, stacked, in the graph that is being built or in eager mode.

    Args:
        body: the function of one slice, without an `obstacle`.
        count: the number of slices: a scalar tensor.
        values: a tensor or variable for each input of the body.
        batched: for each value, True for a batch of slices, False for a value that all slices share.
        options: the options for computing slices.

    Raises:
        NoRule: an op on lists of tensors has no rule.
    """
    writer = _Writer(count, options)
    inputs = [Slices(v, t, b) for v, t, b in zip(values, body.inputs, batched, strict=True)]
    return [writer.batch.stack(output) for output in writer.write(body, body.outputs, inputs)]


class _Writer:
    """Calls a function's ops in their order, each for all slices."""

    def __init__(self, count: Any, options: BatchOptions, loops: set[Any] | None = None) -> None:
        self.batch = Batch(count)
        self._count, self._options = count, options
        self._loops = set() if loops is None else loops  # the loops' operations that it has written

    def write(self, body: Body, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """Computes tensors of a function's graph from its inputs."""
        values = {id(t): Slices(x.value, t, x.stacked) for t, x in zip(body.inputs, inputs, strict=True)}
        for operation in needed_operations(outputs, body.graph.effects(), set(values)):
            try:
                results = self._write(operation, values)
            except NoRule as error:
                raise NoRule(str(error) or f"{_operation_label(operation)}: {_LENGTHS}") from None
            for t, output in zip(_plain_outputs(operation), results, strict=True):
                values[id(t)] = Slices(output.value, t, output.stacked)
            for t in operation.outputs[len(results) :]:  # the loop's gradient is computed from its inputs alone
                unused = empty_list((), -1, variant) if t.dtype is variant else convert(0, t.dtype)
                values[id(t)] = Slices(unused, t, False)
        return [values[id(t)] for t in outputs]

    def _write(self, operation: Operation, values: dict[int, Slices]) -> list[Slices]:
        """Computes an operation's outputs from the values of the tensors before it, by their ids."""
        op, outputs = operation.op, _plain_outputs(operation)
        inputs = [values[id(t)] for t in operation.inputs]
        stacked = any(x.stacked for x in inputs)
        if op.name == "Const":  # as an eager tensor, which a graph captures if it is large
            return [Slices(op.attrs["value"], outputs[0], False)]
        if op is READ:
            return [Slices(inputs[0].value if stacked else _read_variable(inputs[0].value), outputs[0], stacked)]
        if op.control == "call":
            return self.write(op.body, op.results, inputs)
        if isinstance(op, GraphOp) and op.bodies:
            self._loops.add(operation)
            return self._control_flow(op, outputs, inputs)
        if isinstance(op, GraphOp) and op.gradient_of in self._loops:
            return self._differentiated(op, outputs, inputs)
        if not isinstance(op, GraphOp):
            try:
                return of_registered(operation, self.batch, values)
            except NoRule:
                lists = any(t.dtype is variant for t in (*operation.inputs, *outputs))
                if lists and any(x.stacked and x.slice.dtype.is_integer for x in inputs):
                    raise
                if any(x.stacked and x.slice.dtype is string for x in inputs):
                    raise NoRule(f"{_operation_label(operation)}: its strings differ between slices") from None
        stacked = stacked or draws(op)
        return [Slices(v, t, stacked) for v, t in zip(self._alone(operation, inputs), outputs, strict=True)]

    def _control_flow(self, op: GraphOp, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """Computes the outputs of a conditional or a loop."""
        if isinstance(op.kernel, Loop):
            return self._loop(op.kernel, outputs, inputs)
        return self._conditional(op, outputs, *inputs)

    def _differentiated(self, op: GraphOp, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """Computes the gradient of a loop: runs the loop for the batch again, and differentiates it."""
        gradient: Any = op.kernel
        loop: Any = op.gradient_of
        _, seeds, _, primals, _ = gradient.split(inputs)
        stacked = any(x.stacked for x in (*seeds, *primals))
        tape = Tape(persistent=False, watch_accessed=False)
        tape.start()
        try:
            for i in gradient.sources:
                primals[i] = self._copy(primals[i], stacked)
                tape.watch(primals[i].value)
            results = self._control_flow(loop.op, _plain_outputs(loop), primals)
            targets = [self._stacked(results[i]) if stacked else results[i].value for i in gradient.targets]
        finally:
            tape.stop()
        sources = [primals[i].value for i in gradient.sources]
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
            return Slices(identity_op(self._stacked(x) if stacked else x.value), x.slice, stacked)
        value = _read_variable(x.value)
        if stacked:
            return Slices(broadcast_to(value, (self.batch.count, *shape_of(value))), x.slice, True)
        return Slices(identity_op(value), x.slice, False)

    def _conditional(
        self, op: GraphOp, outputs: Sequence[SymbolicTensor], index: Slices, *values: Slices
    ) -> list[Slices]:
        """Computes the outputs of a conditional. Each branch runs on the slices that select it."""
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
            where = _true_indices(equal(numbers, convert(i)))
            part = self._part(where)
            gathered = [self._gather(x, part, where) for x in inputs]
            rows.append([(part.batch, x) for x in part.write(body, body.outputs, gathered)])
            indices.append(where)
        order = invert_permutation(cast_op(concat_v2(indices, 0), int32))
        joined = [self._join(column, order) for column in zip(*rows, strict=True)]
        return [Slices(v, t, True) for v, t in zip(joined, outputs, strict=True)]

    def _loop(self, loop: Loop, outputs: Sequence[SymbolicTensor], inputs: Sequence[Slices]) -> list[Slices]:
        """Computes the outputs of a loop. If trip counts differ, the loop continues with the unfinished slices."""
        variables = inputs[loop.limited : loop.limited + loop.count]
        carried, own_trip_counts = _varying_variables(loop, [x.stacked for x in inputs])
        start = [self._stacked(x) if c else x.value for x, c in zip(variables, carried, strict=True)]
        static_count = self.batch.count if isinstance(self.batch.count, int) else None
        shapes = [
            TensorShape([static_count]).concatenate(t.shape) if c and t.dtype is not variant else t.shape
            for t, c in zip(loop.body.inputs, carried, strict=False)
        ]

        def call(current: Sequence[Any], part: int) -> list[Slices]:
            slices = [Slices(v, x.slice, c) for v, x, c in zip(current, variables, carried, strict=True)]
            body, values = _loop_parts(loop, slices, inputs)[part]
            return self.write(body, body.outputs, values)

        def condition(current: Sequence[Any]) -> Any:
            return self.batch.stack(call(current, 0)[0])

        def step(*current: Any) -> list[Any]:
            results = call(current, 1)[: loop.count]
            return [self._stacked(x) if c else x.value for x, c in zip(results, carried, strict=True)]

        def masked_step(active: Any, *current: Any) -> list[Any]:
            indices = _true_indices(active)
            part = self._part(indices)
            slices = [Slices(v, x.slice, True) for v, x in zip(current, variables, strict=True)]
            body, values = _loop_parts(loop, slices, inputs)[1]
            results = part.write(body, body.outputs, [self._gather(x, part, indices) for x in values])[: loop.count]
            after = [self._scatter(x, part, indices, y) for x, y in zip(slices, results, strict=True)]
            return [logical_and(active, condition(after)), *after]

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
        """Returns a value as a batch or a list of batches. Stacks a shared value."""
        return stacked_list(self.batch, x) if x.slice.dtype is variant else self.batch.stack(x)

    def _part(self, indices: Any) -> _Writer:
        """Returns a writer of functions for the slices of some indices alone."""
        return _Writer(size_op(indices), self._options, self._loops)

    def _gather(self, x: Slices, part: _Writer, indices: Any) -> Slices:
        """Returns the slices of some indices, for `part`."""
        if not x.stacked:
            return x
        if x.slice.dtype is variant:
            return x._replace(value=picked_lists(self.batch, x, indices, part.batch.count))
        return x._replace(value=gather_v2(x.value, indices, 0))

    def _join(self, parts: Sequence[tuple[Batch, Slices]], order: Any) -> Any:
        """Joins batches of disjoint slices to the batch of all slices.

        Args:
            parts: the batches.
            order: for each slice, its index in the concatenated parts.
        """
        if parts[0][1].slice.dtype is variant:
            return joined_lists(self.batch, parts, order)
        return gather_v2(concat_v2([batch.stack(x) for batch, x in parts], 0), order, 0)

    def _scatter(self, before: Slices, part: _Writer, indices: Any, after: Slices) -> Any:
        """Returns the batch after replacing the slices at some indices by `part`."""
        if before.slice.dtype is variant:
            return changed_lists(self.batch, before, part.batch, indices, after)
        return tensor_scatter_update(before.value, expand_dims(indices, 1), part.batch.stack(after))

    def _alone(self, operation: Operation, inputs: Sequence[Slices]) -> list[Any]:
        """Computes an operation's outputs for all slices by a `Vectorized` call."""
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
        return Vectorized(body, batched, self._options).call(convert(self._count), values)


def _plain_outputs(operation: Operation) -> list[SymbolicTensor]:
    """Returns an operation's outputs, without the residuals of a loop."""
    loop = operation.op.kernel if isinstance(operation.op, GraphOp) else None
    return operation.outputs[: loop.count] if isinstance(loop, Loop) else operation.outputs


def _read_variable(variable: Any) -> Any:
    """Returns the value of a variable, or of the variable whose handle a tensor is."""
    referenced = variable_of(variable)
    return convert(variable if referenced is None else referenced)


def _branch_number(index: Any, last: int) -> Any:
    """Returns the number of the branch for a predicate or an index. An index out of range selects the last branch."""
    if index.dtype.is_bool:
        return cast_op(logical_not(index), int32)
    inside = logical_and(greater_equal(index, 0), less_equal(index, last))
    return select_v2(inside, index, convert(last))


def _true_indices(mask: TensorLike) -> Any:
    """Returns the indices of the slices with a true mask."""
    return reshape(where_op(mask), (-1,))


# ---- ops without a rule ----------------------------------------------------------------------------------------------


class Vectorized(GraphOp):
    """One operation for all slices of a batch: by `torch.func.vmap`, or slice by slice.

    Its first input is the number of slices. Batches and shared values follow, one for each input of the operation.

    Args:
        body: a function that computes only this operation, for one slice.
        batched: for each input of the operation, True if it is a batch.
        options: the options for computing slices.

    Attributes:
        operation: the operation.
        one_by_one: True if slices are computed one by one.
    """

    keep_outputs = True

    def __init__(self, body: Body, batched: Sequence[bool], options: BatchOptions) -> None:
        self.operation = operation = body.graph._operations[-1]
        super().__init__(
            "Vectorized", self._run, stateful=operation.stateful, gradient=self._gradient, gives_tuple=True
        )
        self.random = self.one_by_one = draws(operation.op)
        self._body, self._batched, self._options = body, batched, options
        self.lowered = self._as_loop

    def call(self, count: Any, values: Sequence[Any]) -> list[Any]:
        """Computes the operation's outputs for all slices.

        Args:
            count: the number of slices: a scalar tensor.
            values: a tensor or variable for each input of the operation.
        """
        if state.graph is not None:
            size = Batch(count).count
            rows = TensorShape([size if isinstance(size, int) else None])
            specs = [(t.dtype, t.shape if t.dtype is variant else rows.concatenate(t.shape))
                     for t in self.operation.outputs]  # fmt: skip
            return list(state.graph.node(self, [count, *values], specs).outputs)
        outputs = eager_outputs(self._run(*map(raw, (count, *values))), self.operation.outputs)
        record(self, [count, *values], (), outputs)
        return outputs

    def _run(self, count: Any, *values: Any) -> tuple[Any, ...]:
        """Computes raw values.

        Raises:
            OpError: the operation failed.
            ValueError: it can't be computed at once, and the options exclude the fallback.
        """
        count = int(count)
        sizes = [e.shape[0] for v, b in zip(values, self._batched, strict=True) if b for e in _written_tensors(v)]
        if any(size != count for size in sizes):
            raise invalid(f"vectorized_map: first dimensions {sizes} differ")
        if not count:  # a slice of zeros gives the shapes
            results = self._compute(self._slices(values, lambda e: e.new_zeros(e.shape[1:])))
            return tuple([_with_entries(r, [e.expand(0, *e.shape) for e in _written_tensors(r)]) for r in results])
        if not self.one_by_one:
            try:
                return self.at_once(count, *values)
            except Exception as error:
                outputs = self._each(count, values)  # raises an error of the program's own, for the slice at fault
                self._options.report(_operation_label(self.operation), error)
                self.one_by_one = True
                return outputs
        return self._each(count, values)

    def at_once(self, count: Any, *values: Any) -> tuple[Any, ...]:
        """Computes raw values at once.

        Raises:
            Exception: it is impossible.
        """
        structure: tuple[Any, ...] = ()

        def one(*entries: torch.Tensor) -> tuple[Any, ...]:
            nonlocal structure
            rest = iter(entries)
            structure = self._compute(self._slices(values, lambda _: next(rest)))
            return tuple([e for r in structure for e in _written_tensors(r)])

        batches = [e for v, b in zip(values, self._batched, strict=True) if b for e in _written_tensors(v)]
        results = iter(torch.func.vmap(one, randomness="different")(*batches))
        return tuple([_with_entries(r, results) for r in structure])

    def _each(self, count: int, values: Sequence[Any]) -> tuple[Any, ...]:
        """Computes raw values slice by slice."""
        rows = [self._compute(self._slices(values, operator.itemgetter(i))) for i in range(count)]
        return tuple([
            _with_entries(column[0], map(_stack_slices, zip(*map(_written_tensors, column), strict=True)))
            for column in zip(*rows, strict=True)
        ])  # fmt: skip

    def _slices(self, values: Sequence[Any], slice_of: Callable[[Any], Any]) -> list[Any]:
        """Returns raw inputs for one slice; `slice_of` returns the slice of a batch."""
        return [
            _with_entries(v, map(slice_of, _written_tensors(v))) if b else v
            for v, b in zip(values, self._batched, strict=True)
        ]  # fmt: skip

    def _compute(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Computes the operation's raw outputs for one slice."""
        by_tensor = by_id(self.operation.inputs, values)
        return tuple(interpret(self.operation, lambda t: by_tensor.get(id(t))))

    def _gradient(self, call: Any, *dys: Any) -> list[Any]:
        """Returns the gradients of the inputs: the batch of the operation's gradient."""
        count, *values = call.inputs
        backward = self._body.backward_from([i for i, dy in enumerate(dys) if dy is not None])
        body = self._body.differentiable
        primals, flags = [*body.inputs, *body.outputs], [*self._batched, *([True] * len(body.outputs))]
        known = {id(t): (v, b) for t, v, b in zip(primals, [*values, *call.outputs], flags, strict=True)}
        pairs = [(dense(dy), True) for dy in dys if dy is not None]
        pairs += [known.get(id(t), (t, False)) for t in backward.captures]
        inputs, batched = zip(*pairs, strict=True)
        grads = iter(on_batch(backward, count, inputs, batched, self._options))
        of_inputs = [None if g is None else next(grads) for g in backward.graph.structured_outputs]
        own = zip(of_inputs, self._batched, strict=True)
        return [None, *(g if g is None or b else ops.Sum(g, 0, False) for g, b in own)]

    def _as_loop(self, operation: Operation) -> list[Operation]:
        """Returns the operation for a `GraphDef`: a call of a function with a loop over slices."""

        def compute(count: Any, *values: Any) -> list[Any]:
            def one(i: Any) -> list[Any]:
                return self._body.call([
                    gather_v2(v, i, 0) if b else v for v, b in zip(values, self._batched, strict=True)
                ])  # fmt: skip

            specs = [TensorSpec(t.shape, t.dtype) for t in self.operation.outputs]
            return list(map_fn(one, range_(count), fn_output_signature=specs))

        return [call_operation(operation, traced_body(operation.name, operation.args, compute), operation.outputs)]


def _written_tensors(value: Any) -> list[Any]:
    """Returns the tensors in a raw value: the value itself, or the written entries of a list."""
    return [e for e in value[()] if e is not None] if isinstance(value, np.ndarray) else [value]


def _with_entries(value: Any, entries: Iterable[Any]) -> Any:
    """Returns a raw value after replacing its tensors."""
    rest = iter(entries)
    if isinstance(value, np.ndarray):
        return as_variant([None if e is None else next(rest) for e in value[()]])
    return next(rest)


def _stack_slices(column: tuple[Any, ...]) -> torch.Tensor:
    """Stacks the results of all slices."""
    shapes = {tuple(v.shape) for v in column}
    if len(shapes) > 1:
        raise invalid(f"vectorized_map: the slices gave results of different shapes: {sorted(shapes)}")
    return torch.stack(column)
