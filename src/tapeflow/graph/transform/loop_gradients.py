"""The kernel of loop gradients: calls the backward function of a loop's body for each iteration, in reverse order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.list_values import Repeated, Rows
from tapeflow.core.autodiff.gradients import raw_zeros
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, rule_of
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.codegen.loop_kernel import Loop
from tapeflow.graph.compiler.native_loops import NativeGradient, entry_shape, sized_program
from tapeflow.graph.compiler.qualification import KEPT, is_static, may_compile
from tapeflow.graph.ir.batch_rules import arguments, of_registered, varying
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation, reachable
from tapeflow.graph.program.program import bytes_of, needed_operations
from tapeflow.graph.program.sizes import BySizes
from tapeflow.graph.transform.body import Body


class LoopSums:
    """Sums a backward function's outputs over all iterations at once.

    The gradient of a loop-invariant input is a sum over iterations. If the op of the addend can sum over a batch
    (`@f.summed`), the loop only records the op's operands, and one op after the loop computes the sum. The gradient of
    a recurrent layer's weights thus is one matrix product, not one per iteration. A linear op, such as the
    concatenation of gates' gradients, applies to the sums of its inputs. Small addends, such as the gradient of a bias,
    are computed for all iterations by batching rules and then summed, with any op.

    Args:
        backward: the backward function of the loop's body.
        recurrent: the indices of its outputs that are loop-carried.
        addends: the indices of its outputs that are summed over iterations.
        invariant: the places of the backward function's loop-invariant captures.

    Attributes:
        numbers: the indices of the outputs that are summed here. The loop sums the others.
        per_iteration: the operands of the sums with one value per iteration, tensors of the backward function.
        shared: the places of the loop-invariant captures that the sums take.
    """

    def __init__(
        self, backward: Body, recurrent: Sequence[int], addends: Sequence[int], invariant: Sequence[int]
    ) -> None:
        places = {id(backward.graph.internal_captures[i]): i for i in invariant}
        self._invariant = places.keys()
        in_loop = {
            id(o) for o in needed_operations([backward.outputs[n] for n in recurrent], backward.graph.effects(), set())
        }
        self.numbers: list[int] = []
        inputs: dict[int, Slices] = {}
        graph = FuncGraph(f"sums_{backward.name}")
        graph.around = None
        with graph.as_default():
            count = graph.input(TensorSpec([], int32), "count")
            for number in addends if backward.optimized else ():
                addend = backward.outputs[number]
                sources = self._sources(addend.op, in_loop)
                if sources is None:
                    continue
                for t in sources:
                    if id(t) not in inputs:
                        inputs[id(t)] = self._input(graph, t)
                try:
                    graph.outputs.append(_sum_iterations(addend, Batch(count), dict(inputs)))
                except NoRule:
                    continue
                self.numbers.append(number)
        graph.structured_outputs = graph.outputs
        used = set(needed_operations(graph.outputs, (), set()))
        inputs = {i: x for i, x in inputs.items() if x.value.op in used}
        self.per_iteration = [x.slice for x in inputs.values() if x.stacked]
        self.shared = [places[i] for i, x in inputs.items() if not x.stacked]
        graph.inputs = [count, *(x.value for x in sorted(inputs.values(), key=lambda x: not x.stacked))]
        self._function = Body(graph).compiled

    def _input(self, graph: FuncGraph, tensor: SymbolicTensor) -> Slices:
        """Returns a new input for a tensor: its stacked values in all iterations, or its loop-invariant value."""
        if id(tensor) in self._invariant:
            return Slices(graph.input_like(tensor), tensor, False)
        spec = TensorSpec(TensorShape([None]).concatenate(tensor.shape), tensor.dtype)
        return Slices(graph.input(spec, "stacked"), tensor, True)

    def _sources(self, operation: Operation, in_loop: set[int]) -> list[SymbolicTensor] | None:
        """Returns the operands for computing an operation after the loop; None if the loop must compute it."""
        if id(operation) in in_loop or isinstance(operation.op, GraphOp):
            return None
        *reached, _ = [o for o in reachable([operation], in_loop, controls=False) if o.type != "Placeholder"]
        inside = set(reached)
        sources = {id(t): t for o in (*reached, operation) for t in o.inputs if t.op not in inside}
        own = [t for t in sources.values() if id(t) not in self._invariant]
        small = bytes_of(operation.outputs[0]) <= sum(map(bytes_of, own))
        if not _is_sum(operation) and not (small and _has_rule(operation, True)):
            return None
        changing = varying(reached, own)
        possible = all(_has_rule(o, o in changing) for o in reached)
        return list(sources.values()) if own and possible and all(t.dtype.torch is not None for t in own) else None

    def __call__(self, columns: Sequence[Any], shared: Sequence[Any]) -> list[Any]:
        """Returns the raw sums for `numbers`.

        Args:
            columns: for each tensor in `per_iteration`, a sequence of its values, or one stacked tensor.
            shared: the values of `shared`.
        """
        stacks = [column if isinstance(column, torch.Tensor) else torch.stack(column) for column in columns]
        return list(self._function(torch.tensor(len(stacks[0]), dtype=torch.int32), *stacks, *shared))


def _has_rule(operation: Operation, varies: bool) -> bool:
    """Returns True if an operation can be computed for all iterations at once; `varies` if its inputs vary."""
    op = operation.op
    if isinstance(op, GraphOp):
        return op.name == "Const"
    return not op.opdef.stateful and (not varies or op.reads_shape or rule_of(op) is not None)


def _is_sum(operation: Operation) -> bool:
    """Returns True if an op can sum the operation's results over a batch, possibly after linear ops."""
    return operation.op.summed is not None or (_is_linear(operation) and all(_is_sum(t.op) for t in operation.inputs))


def _is_linear(operation: Operation) -> bool:
    op = operation.op
    return op.linear and not any(isinstance(arg, SymbolicTensor) for arg in op.statics(operation.args))


def _sum_iterations(addend: SymbolicTensor, batch: Batch, values: dict[int, Slices]) -> Any:
    """Returns the sum of a tensor over all iterations.

    Args:
        addend: the tensor.
        batch: the batch of iterations.
        values: the values of its operands, by the tensors' ids. Intermediate results are added.

    Raises:
        NoRule: a batching rule does not apply.
    """
    operation = addend.op
    if id(addend) not in values and _is_linear(operation):
        return operation.op.run(tuple(operation.op.map(lambda t: _sum_iterations(t, batch, values), operation.args)))
    for producer in needed_operations([addend] if operation.op.summed is None else operation.inputs, (), set(values)):
        values.update(zip(map(id, producer.outputs), of_registered(producer, batch, values), strict=True))
    if operation.op.summed is not None:
        return operation.op.summed(batch.of_op(operation.op, operation.outputs), *arguments(operation, values))
    addends = values[id(addend)]
    if not addends.stacked or addend.dtype.torch is None:  # there is no sum of lists over a batch
        raise NoRule
    return ops.Sum(addends.value, 0, False)


Column = Repeated | torch.Tensor | Sequence[Any]  # a tensor's values in all iterations; a `torch.Tensor` is stacked


class LoopGradient:
    """The kernel of a loop's gradient.

    Its inputs are the loop's trip count, the lists of `residuals`, the cotangents of the loop variables `targets`, the
    final values of the loop variables `zero_at_end`, the inputs of the loop, and `outside`. Its outputs are the
    gradients of the inputs `sources`.

    Args:
        loop: the loop.
        targets: the indices of the loop variables with cotangents.
        wanted: for each input of the loop, True if its gradient is requested.

    Attributes:
        loop: the loop that returns the residuals.
        sources: the indices of the inputs with gradients, first from `variables`, then from `captured`.
        variables: pairs of a loop's input and the loop variable that starts with it.
        captured: pairs of a loop-invariant input and the place of its gradient among the backward function's results.
        live: the loop variables with cotangents that the backward function takes.
        zero_at_end: the loop variables in `live` without a cotangent after the last iteration.
        result_places: for each input of the body, the place of its gradient among the backward function's results, or
            None.
        outside: the backward function's captures from outside the graph of the loop's body.
        captures: the backward function's captures, as pairs: ("residual", index in `residuals`), or ("input", index
            among the loop's inputs and `outside`).
        residuals: the captured residuals.
    """

    def __init__(self, loop: Loop, targets: Sequence[int], wanted: Sequence[bool]) -> None:
        body, count = loop.body.differentiable, loop.count
        self.backward, self.live = _backward_body(body, count, targets)
        self.targets = list(targets)
        self.zero_at_end = [i for i in self.live if i not in targets]
        grads = self.backward.graph.structured_outputs
        numbers = iter(range(len(grads)))
        self.result_places = [None if g is None else next(numbers) for g in grads]
        first = 1 if loop.limited else 0
        self.variables = [(first + i, i) for i in self.live if wanted[first + i]]
        self.captured = [
            (first + count + place, number)
            for place, number in zip(loop.places[1], self.result_places[count:], strict=True)
            if number is not None and wanted[first + count + place]
        ]
        self.sources = [i for i, _ in self.variables] + [i for i, _ in self.captured]
        self.outside = self.backward.outside
        self.captures: list[tuple[str, Any]] = []
        inputs = {id(t): first + count + i for t, i in zip(body.inputs[count:], loop.places[1], strict=True)}
        inputs.update((id(t), first + count + loop.captured + i) for i, t in enumerate(self.outside))
        self.residuals: list[SymbolicTensor] = []
        for t in self.backward.captures:
            at = inputs.get(id(t))
            self.captures.append(("residual", len(self.residuals)) if at is None else ("input", at))
            if at is None:
                self.residuals.append(t)
        self.loop = loop.recording(self.residuals)
        self.loop.gradients.append(self)

    def split(self, values: Sequence[Any]) -> list[list[Any]]:
        """Divides its inputs: the trip count and residuals, cotangents, final values, the loop's inputs, `outside`."""
        loop, rest = self.loop, iter(values)
        inputs = loop.limited + loop.count + loop.captured
        sizes = 1 + len(self.residuals), len(self.targets), len(self.zero_at_end), inputs
        return [*(list(itertools.islice(rest, n)) for n in sizes), list(rest)]

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Returns the gradients of the inputs `sources`, as raw values."""
        (count, *held), cotangents, finals, of_loop, outside = self.split(values)
        trips, lists, inputs = int(count), [v[()] for v in held], [*of_loop, *outside]
        grads = dict(zip(self.targets, cotangents, strict=True))
        grads.update((i, raw_zeros(v)) for i, v in zip(self.zero_at_end, finals, strict=True))
        totals: dict[int, Any] = {}
        owned: set[int] = set()  # the totals that this call allocated
        is_stacked = trips > 0 and all(type(entries) in (Rows, Repeated) for entries in lists)
        is_stacked = is_stacked and self.backward.optimized
        iteration = self.iteration
        columns = self._columns(lists, inputs, trips)
        computed = iteration.in_machine_code(columns, trips, grads, totals) if is_stacked else None
        if computed is None and is_stacked and any(t.dtype is variant for t in self.residuals):
            again = self.loop(*of_loop)[self.loop.count + 1 :]
            by_tensor = dict(zip(map(id, self.loop.residuals or ()), again, strict=True))
            columns = self._columns([by_tensor[id(t)][()] for t in self.residuals], inputs, trips)
        if computed is None:
            computed = self._from_last(iteration, columns, trips, grads, totals, owned)
        sums = iteration.sums
        if trips and sums.numbers:
            others = iter(computed)
            each = [next(others) if i is None else _of_all(columns[i], trips) for i in iteration.taken_by_sums]
            shared = [next(iter(_from_last(columns[i], 1))) for i in sums.shared]
            for part in [each] if _same_shapes(each) else [[c[i : i + 1] for c in each] for i in range(trips)]:
                for number, total in zip(sums.numbers, sums(part, shared), strict=True):
                    _add_to_sum(totals, number, total, owned)
        ends = [grads[i] for _, i in self.variables]
        return (*ends, *[totals[n] if n in totals else raw_zeros(_input_value(inputs[i])) for i, n in self.captured])

    def _from_last(
        self, iteration: _Iteration, columns: list[Column], trips: int, grads: dict[int, Any], totals: dict[int, Any],
        owned: set[int],
    ) -> list[Sequence[Any]]:  # fmt: skip
        """Computes all iterations, from the last to the first.

        Args:
            iteration: the part of the backward function that iterations compute.
            columns: the values of the captures.
            trips: the number of iterations.
            grads: the cotangents of the loop variables. They are updated.
            totals: the sums over iterations. They are updated.
            owned: the indices of the totals that this call allocated. They are updated.

        Returns:
            The operands of the sums that `iteration.function` computes: for each, its values in all iterations.
        """
        for i in iteration.transposed:
            columns[i] = _laid_out_transposed(columns[i])
        rows: list[Sequence[Any]] = []
        for _, *captured in zip(
            range(trips), *[_from_last(columns[i], trips) for i in iteration.captured], strict=True
        ):
            outputs = iteration.function(*[grads[i] for i in self.live], *captured)
            rows.append(outputs[len(iteration.numbers) :])
            results = dict(zip(iteration.numbers, outputs, strict=False))
            for i in iteration.changing:
                number = self.result_places[i]
                grads[i] = raw_zeros(grads[i]) if number is None else results[number]
            for _, number in self.captured:
                if number in results:
                    _add_to_sum(totals, number, results[number], owned)
        return list(zip(*reversed(rows), strict=True))

    def _columns(self, lists: Sequence[Any], inputs: Sequence[Any], trips: int) -> list[Column]:
        """Returns the values of the backward function's captures in all iterations.

        Args:
            lists: the lists of `residuals`.
            inputs: the inputs of the loop, and the values of `outside`.
            trips: the number of iterations.
        """
        columns = [entries.tensor if type(entries) is Rows else entries for entries in lists]
        return [columns[at] if kind == "residual" else Repeated(inputs[at], trips) for kind, at in self.captures]

    def compiles(self, is_shared: dict[int, bool]) -> bool:
        """Returns True if machine code computes the iterations.

        Args:
            is_shared: for each residual, by its id, True if it is loop-invariant.
        """
        return self.iteration.compiles([is_shared[id(t)] for t in self.residuals])

    @cached_property
    def iteration(self) -> _Iteration:
        """The part of the gradient that each iteration computes."""
        return _Iteration(self)


class _Iteration:
    """The backward function of a loop's body, divided into the iterations' part and sums after the loop.

    Args:
        gradient: the gradient of the loop.

    Attributes:
        sums: the sums that are computed after the loop.
        changing: the loop variables with cotangents that iterations change.
        numbers: the indices of the backward function's outputs that iterations compute.
        function: computes these outputs, and then the operands of the sums that are not captures, from the cotangents
            of the loop variables and from captures.
        captured: the places of the captures that `function` takes.
        taken_by_sums: for each operand of the sums from an iteration, its place among the captures, or None.
        transposed: the places of loop-invariant matrices that are transposed in products, such as the weights of a
            recurrent layer.
    """

    def __init__(self, gradient: LoopGradient) -> None:
        backward, loop = gradient.backward, gradient.loop
        self._gradient = gradient
        captures = backward.graph.internal_captures
        varying = _varying_operations(loop.body, loop.count)
        invariant = [
            i for i, (kind, _) in enumerate(gradient.captures)
            if kind != "residual" or backward.captures[i].op not in varying
        ]  # fmt: skip
        self.changing = [i for i in gradient.live if not _only_blanks(gradient, i)]
        recurrent = [n for n in (gradient.result_places[i] for i in self.changing) if n is not None]
        summed = [n for _, n in gradient.captured]
        self.sums = LoopSums(backward, recurrent, summed, invariant)
        self.numbers = sorted({*recurrent, *summed}.difference(self.sums.numbers))
        places = {id(t): i for i, t in enumerate(captures)}
        self.taken_by_sums = [places.get(id(t)) for t in self.sums.per_iteration]
        computed = [t for t in self.sums.per_iteration if id(t) not in places]
        outputs = [*(backward.outputs[n] for n in self.numbers), *computed]
        effects = backward.graph.effects()
        used = set(needed_operations(outputs, effects, set()))
        self.captured = [i for i, t in enumerate(captures) if t.op in used]
        products = [o.args for o in used if o.op is ops.MatMul.op]
        transposed = {id(b) for _, b, *flags in products if flags[1:2] == [True]}
        self.transposed = [i for i in invariant if id(captures[i]) in transposed]
        inputs = [*backward.inputs[: len(gradient.live)], *(captures[i] for i in self.captured)]
        self.function = backward.function(f"iteration_of_{backward.name}", inputs, outputs, effects)
        self._natives = BySizes()

    def in_machine_code(
        self, columns: Sequence[Column], trips: int, grads: dict[int, Any], totals: dict[int, Any]
    ) -> list[Any] | None:
        """Computes all iterations by machine code, or returns None; arguments and result as in `_from_last`."""
        gradient, captured = self._gradient, [columns[i] for i in self.captured]
        of_residuals = zip(gradient.captures, columns, strict=True)
        is_same = [type(column) is Repeated for (kind, _), column in of_residuals if kind == "residual"]
        is_shared = self._is_shared(is_same)
        values = [column.entry if type(column) is Repeated else column for column in captured]
        cotangents = [grads[i] for i in gradient.live]
        sizes = None
        if not self._is_static:
            rows = [is_same is False for is_same in is_shared]
            sizes = tuple(map(_entry_or_own_shape, (*cotangents, *values), (*[False] * len(cotangents), *rows)))
        native = self._natives.get((is_shared, sizes), lambda: self._native(is_shared, sizes))
        results = None if native is None else native(cotangents, values, trips)
        if results is None:
            return None
        grads.update(zip(gradient.live, results[0], strict=True))
        totals.update(results[1])
        return results[2]

    def compiles(self, is_same: Sequence[bool]) -> bool:
        """Returns True if machine code computes the iterations, for sizes that it supports.

        Args:
            is_same: for each residual, True if it is loop-invariant.
        """
        if not self._is_static:
            return all(may_compile(step, None) for step in self.function.program.steps)
        is_shared = self._is_shared(is_same)
        native = self._natives.get((is_shared, None), lambda: self._native(is_shared, None))
        return native is not None and native.compiles

    @cached_property
    def _is_static(self) -> bool:
        return all(map(is_static, self.function.program.inputs))

    def _is_shared(self, is_same: Sequence[bool]) -> tuple[bool | None, ...]:
        """Returns `NativeGradient.is_shared`; argument as in `compiles`."""
        gradient, is_shared = self._gradient, []
        for i in self.captured:
            kind, at = gradient.captures[i]
            is_list = gradient.backward.captures[i].dtype is variant
            is_shared.append(True if kind == "input" else None if is_list else is_same[at])
        return tuple(is_shared)

    def _native(
        self, is_shared: Sequence[bool | None], sizes: Sequence[torch.Size | None] | None
    ) -> NativeGradient | None:
        """Returns the machine code.

        Args:
            is_shared: see `NativeGradient`.
            sizes: the shapes of the inputs and of the entries of lists; None if they are static.
        """
        gradient, program = self._gradient, self.function.program
        if sizes is not None:
            sized = sized_program(program, sizes)
            if sized is None:
                return None
            program = sized
        following: list[int | None] = []
        for i in gradient.live:
            number = gradient.result_places[i]
            changes = i in self.changing
            following.append(KEPT if not changes else None if number is None else self.numbers.index(number))
        added = {n: self.numbers.index(n) for _, n in gradient.captured if n in self.numbers}
        return NativeGradient(program, following, added, is_shared, len(self.numbers))


def _entry_or_own_shape(value: Any, is_stacked: bool) -> torch.Size | None:
    """Returns the shape of a tensor, of its rows if they are stacked, or of a list's entries."""
    if not isinstance(value, torch.Tensor):
        return entry_shape(value)
    return value.shape[1:] if is_stacked else value.shape


def _only_blanks(gradient: LoopGradient, variable: int) -> bool:
    """Returns True for a list if each iteration only writes its entry at the loop's counter.

    Backpropagation through the iteration sets the cotangent of that entry to zero. No other iteration reads the entry,
    so all iterations may use the unchanged cotangent of the final list.
    """
    loop, backward, number = gradient.loop, gradient.backward, gradient.result_places[variable]
    counter = loop.prologue.counter
    if counter is None or number is None or any(variable == i for _, i in gradient.variables):
        return False
    dy, after = backward.inputs[gradient.live.index(variable)], backward.outputs[number].op
    if after.op is not ops.TensorListSetItem.op or after.args[0] is not dy:
        return False
    index = after.args[1]
    captures = zip(backward.captures, backward.graph.internal_captures, strict=True)
    if not any(own is index and t is loop.body.inputs[counter] for t, own in captures):
        return False
    users = [o for o in backward.graph._operations if any(t is dy for t in o.inputs)]
    return all(o is after or (o.op is ops.TensorListGetItem.op and o.args[1] is index) for o in users)


def _backward_body(body: Body, count: int, targets: Sequence[int]) -> tuple[Body, list[int]]:
    """Returns the backward function of a loop's body, and the loop variables with cotangents that it takes.

    These are the targets, and the loop variables that the targets depend on through earlier iterations.
    """
    live = set(targets)
    while True:
        backward = body.backward(body.outputs, tuple(i in live for i in range(count)))
        reached = {i for i, g in enumerate(backward.graph.structured_outputs[:count]) if g is not None}
        if reached <= live:
            return backward, sorted(live)
        live |= reached


def _varying_operations(body: Body, count: int) -> set[Operation]:
    """Returns a loop body's operations with outputs that may differ between iterations.

    Args:
        body: the body.
        count: the number of loop variables, its first inputs.
    """
    operations = body.graph._operations
    if body.stateful:  # it may assign variables
        return set(operations)
    changing = {t.op for t in body.inputs[:count]}
    for operation in operations:
        if operation.stateful or any(t.op in changing for t in operation.inputs):
            changing.add(operation)
    return changing


def _from_last(column: Column, trips: int) -> Iterable[Any]:
    """Returns the values of a column, from the last iteration to the first."""
    if type(column) is Repeated:
        return iter(column)
    return reversed(column.unbind() if isinstance(column, torch.Tensor) else column)


def _laid_out_transposed(column: Column) -> Column:
    """Returns a loop-invariant matrix in a layout with a contiguous transpose.

    A product of a small matrix and this transpose takes a quarter of the time.
    """
    if type(column) is not Repeated or not isinstance(column.entry, torch.Tensor):
        return column
    return Repeated(column.entry.t().contiguous().t(), column.length)


def _same_shapes(columns: Sequence[Any]) -> bool:
    """Returns True if the tensors in each column have the same shape."""
    lists = [c for c in columns if not isinstance(c, torch.Tensor) and isinstance(c[0], torch.Tensor)]
    return all(all(value.shape == c[0].shape for value in c) for c in lists)


def _input_value(value: Any) -> Any:
    """Returns the raw value of an input, which may be a variable."""
    return value._value.value if hasattr(value, "_value") else value


def _add_to_sum(totals: dict[int, Any], number: int, value: Any, owned: set[int]) -> None:
    """Adds to a sum, in place if this call allocated the sum."""
    before = totals.get(number)
    if before is None:
        totals[number] = value
    elif isinstance(before, np.ndarray):
        totals[number] = ops.AddN([EagerTensor(before, variant), EagerTensor(value, variant)]).value
    elif number in owned:
        before.add_(value)
    else:
        totals[number] = torch.add(before, value)
        owned.add(number)


def _of_all(column: Column, trips: int) -> Any:
    """Returns the values of a column in all iterations; a loop-invariant tensor is expanded."""
    return column.entry.expand(trips, *column.entry.shape) if type(column) is Repeated else column
