"""Gradients of loops.

A differentiated loop has one more output: a record of the residuals that the backward function of its body needs of
each iteration. The gradient is an operation that calls this backward function once for each iteration, from the last
one to the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core.autodiff.gradients import raw_zeros
from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.codegen.loop_records import Column, Record, Same
from tapeflow.graph.codegen.loops import Loop
from tapeflow.graph.codegen.program import needed
from tapeflow.graph.codegen.recurrent import Run
from tapeflow.graph.compiler.native_loops import KEPT, NativeGradient
from tapeflow.graph.gradients.conditional_gradients import record_of, second_order
from tapeflow.graph.gradients.loop_sums import LoopSums
from tapeflow.graph.ir.operation import GradientOf, GraphOp, has_gradient
from tapeflow.graph.ir.python_op import spec_of_gradient

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body


def loop_gradient(call: Any, *dys: Any) -> list[Any]:
    """Returns the gradients of the inputs of a loop's operation."""
    operation, inputs = call.outputs[0].op, list(call.inputs)
    loop: Loop = operation.op.kernel
    targets = [i for i, dy in enumerate(dys[: loop.count]) if dy is not None]
    wanted = [w and has_gradient(t) for w, t in zip(call.wanted, inputs, strict=True)]
    if not targets or not any(wanted):
        return [None] * len(inputs)
    kernel = LoopGradient(loop, targets, wanted)
    record = record_of(operation, kernel.loop)
    cotangents = [dys[i] for i in targets]

    def second_gradient(call: Any, *ddys: Any) -> list[Any]:
        cotangents, rest = call.inputs[1 : 1 + len(targets)], call.inputs[1 + len(targets) :]
        return second_order().loop_second_gradient(kernel, cotangents, rest[len(kernel.zero_at_end) :], ddys)

    gradient_of = GradientOf(operation, targets, kernel.sources, len(kernel.zero_at_end), kernel.outside)
    op = GraphOp("WhileGrad", kernel, gradient=second_gradient, gives_tuple=True, gradient_of=gradient_of)
    finals = [operation.outputs[i] for i in kernel.zero_at_end]
    captured = map(state.graph.capture, kernel.outside)
    specs = [spec_of_gradient(inputs[i]) for i in kernel.sources]
    backward = state.graph.node(op, [record, *cotangents, *finals, *inputs, *captured], specs)
    grads = dict(zip(kernel.sources, backward.outputs, strict=True))
    return [grads.get(i) for i in range(len(inputs))]


class LoopGradient:
    """The kernel of a loop's gradient.

    Its inputs are the loop's record, the cotangents of the loop variables `targets`, the final values of the loop
    variables `zero_at_end`, the inputs of the loop, and `outside`. Its outputs are the gradients of the inputs
    `sources`.

    Args:
        loop: the loop.
        targets: indices of the loop variables that have cotangents.
        wanted: for each input of the loop, True if its gradient is wanted.

    Attributes:
        loop: the loop that records the residuals.
        sources: indices of the inputs whose gradients it returns: those of `variables`, then those of `captured`.
        variables: pairs of an input and the loop variable whose initial value it is.
        captured: pairs of a loop-invariant input and the place of its gradient among the backward function's results.
        live: the loop variables whose cotangents the backward function takes.
        zero_at_end: those of them that have no cotangent after the last iteration.
        result_places: for each input of the body, the place of its gradient among the backward function's results, or
            None.
        outside: what the backward function captures from outside of the graph of the loop's body.
        captures: what the backward function captures, as pairs: ("record", the id of a residual), or ("input", index
            among the loop's inputs and `outside`).
        residuals: the residuals that it captures.
    """

    def __init__(self, loop: Loop, targets: Sequence[int], wanted: Sequence[bool]) -> None:
        body, count = loop.body.differentiable, loop.count
        self.backward, self.live = _backward(body, count, targets)
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
            self.captures.append(("record", id(t)) if at is None else ("input", at))
            if at is None:
                self.residuals.append(t)
        self.loop = loop.recording(self.residuals)
        self.loop.gradients.append(self)
        self._iterations: dict[int, tuple[Loop, _Iteration]] = {}  # by the ids of the loops that record

    def __call__(self, record: Any, *values: Any) -> tuple[Any, ...]:
        """Returns the gradients of the inputs `sources`, as raw values."""
        cotangents, rest = values[: len(self.targets)], values[len(self.targets) :]
        finals, inputs = rest[: len(self.zero_at_end)], rest[len(self.zero_at_end) :]
        grads = dict(zip(self.targets, cotangents, strict=True))
        if isinstance(record[()], Run):
            first = int(self.loop.limited)
            gradients = record[()].gradients(grads, {i - first for i in self.sources})
            return tuple([gradients[i - first] if i - first in gradients else raw_zeros(_value(inputs[i]))
                          for i in self.sources])  # fmt: skip
        grads.update((i, raw_zeros(v)) for i, v in zip(self.zero_at_end, finals, strict=True))
        totals: dict[int, Any] = {}
        owned: set[int] = set()  # the totals that this call allocated
        loop, trips = record[()].loop, record[()].trips
        is_native = record[()].columns is not None
        iteration = self.iteration(loop)
        columns = self._columns(record[()], inputs)
        computed = iteration.in_machine_code(columns, trips, grads, totals) if is_native and trips else None
        if computed is None and is_native and trips and self._needs_records:
            again = loop(*inputs[: len(inputs) - len(self.outside)])[-1][()]
            columns = self._columns(again, inputs)
        if computed is None:
            computed = self._from_last(iteration, columns, trips, grads, totals, owned)
        sums = iteration.sums
        if trips and sums.numbers:
            others = iter(computed)
            each = [next(others) if i is None else _of_all(columns[i], trips) for i in iteration.taken_by_sums]
            shared = [next(iter(_from_last(columns[i], 1))) for i in sums.shared]
            for part in [each] if _same_shapes(each) else [[c[i : i + 1] for c in each] for i in range(trips)]:
                for number, total in zip(sums.numbers, sums(part, shared), strict=True):
                    _add(totals, number, total, owned)
        ends = [grads[i] for _, i in self.variables]
        return (*ends, *[totals[n] if n in totals else raw_zeros(_value(inputs[i])) for i, n in self.captured])

    def _from_last(
        self, iteration: _Iteration, columns: list[Column], trips: int, grads: dict[int, Any], totals: dict[int, Any],
        owned: set[int],
    ) -> list[Sequence[Any]]:  # fmt: skip
        """Computes iterations from the last one on.

        Args:
            iteration: the part of the backward function that iterations compute.
            columns: the values of the captures.
            trips: the number of iterations.
            grads: the cotangents of the loop variables, which change.
            totals: the sums over iterations, to which this adds.
            owned: the totals that are in memory of this call.

        Returns:
            For each value that is computed and no output, its values in all iterations.
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
                    _add(totals, number, results[number], owned)
        return list(zip(*reversed(rows), strict=True))

    def _columns(self, record: Record, inputs: Sequence[Any]) -> list[Column]:
        """Returns the values of the backward function's captures in all iterations."""
        recorded = record.loop.columns(record)
        return [recorded.get(at, ()) if kind == "record" else Same(inputs[at]) for kind, at in self.captures]

    @property
    def _needs_records(self) -> bool:
        """True if the iterations of Python take the records of conditionals, which machine code does not keep."""
        return any(t.dtype is variant for t in self.residuals)

    def compiles(self, loop: Loop, is_shared: dict[int, bool]) -> bool:
        """Tests whether machine code computes the iterations.

        Args:
            loop: the loop that records the residuals.
            is_shared: for each residual, by the ids, whether it is the same in all iterations.
        """
        return self.iteration(loop).compiled(is_shared.__getitem__).compiles

    def iteration(self, loop: Loop) -> _Iteration:
        """Returns what is computed in each iteration from the record of a loop, which may have further residuals."""
        if id(loop) not in self._iterations:
            self._iterations[id(loop)] = loop, _Iteration(self, loop)
        return self._iterations[id(loop)][1]


class _Iteration:
    """Divides the backward function of a loop's body into what each iteration computes, and what is left for later.

    Args:
        gradient: the gradient of the loop.
        loop: the loop that records the residuals.

    Attributes:
        sums: the sums that are computed after the loop.
        changing: the loop variables whose cotangents change.
        numbers: the numbers of the outputs of the backward function that are computed in each iteration.
        function: computes these outputs, and then what the sums take of the iteration and is no capture, from the
            cotangents of the loop variables, and captures.
        captured: the places of these captures.
        taken_by_sums: for each tensor that the sums take of an iteration, its place among the captures, or None.
        transposed: the places of captured matrices that are the same in all iterations and by which each multiplies
            transposed, such as the weights of a recurrent layer.
    """

    def __init__(self, gradient: LoopGradient, loop: Loop) -> None:
        backward = gradient.backward
        self._gradient = gradient
        captures = backward.graph.internal_captures
        varying = _varying(loop.body, loop.count)
        invariant = [
            i for i, (kind, _) in enumerate(gradient.captures)
            if kind != "record" or id(backward.captures[i].op) not in varying
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
        used = {id(o) for o in needed(outputs, effects, set())}
        self.captured = [i for i, t in enumerate(captures) if id(t.op) in used]
        products = [o.args for o in backward.graph._operations if o.op is ops.MatMul.op and id(o) in used]
        transposed = {id(b) for _, b, *flags in products if flags[1:2] == [True]}
        self.transposed = [i for i in invariant if id(captures[i]) in transposed]
        inputs = [*backward.inputs[: len(gradient.live)], *(captures[i] for i in self.captured)]
        self.function = backward.function(f"iteration_of_{backward.name}", inputs, outputs, effects)
        self._native: NativeGradient | None = None

    def in_machine_code(
        self, columns: Sequence[Column], trips: int, grads: dict[int, Any], totals: dict[int, Any]
    ) -> list[Any] | None:
        """Computes all iterations by machine code, if possible; arguments and result as of `_from_last`."""
        gradient, captured = self._gradient, [columns[i] for i in self.captured]
        recorded = {
            at: type(column) is Same
            for (kind, at), column in zip(gradient.captures, columns, strict=True)
            if kind == "record"
        }
        native = self.compiled(recorded.__getitem__)
        values = [column.value if type(column) is Same else column for column in captured]
        results = native([grads[i] for i in gradient.live], values, trips)
        if results is None:
            return None
        grads.update(zip(gradient.live, results[0], strict=True))
        totals.update(results[1])
        return results[2]

    def compiled(self, is_same: Callable[[int], bool]) -> NativeGradient:
        """Returns the machine code.

        Args:
            is_same: tells of the id of a residual whether it is the same in all iterations.
        """
        gradient, is_shared = self._gradient, []
        for i in self.captured:
            kind, at = gradient.captures[i]
            is_list = gradient.backward.captures[i].dtype is variant
            is_shared.append(True if kind == "input" else None if is_list else is_same(at))
        if self._native is None or self._native.is_shared != is_shared:
            following: list[int | None] = []
            for i in gradient.live:
                number = gradient.result_places[i]
                changes = i in self.changing
                following.append(KEPT if not changes else None if number is None else self.numbers.index(number))
            added = {n: self.numbers.index(n) for _, n in gradient.captured if n in self.numbers}
            self._native = NativeGradient(self.function.program, following, added, is_shared, len(self.numbers))
        return self._native


def _only_blanks(gradient: LoopGradient, variable: int) -> bool:
    """Returns True for a list of which each iteration writes the entry at the loop's counter.

    Its cotangent has zeros there before that iteration. But no iteration reads the entry of another, so that all may
    use the cotangent that there is after the loop.
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


def _backward(body: Body, count: int, targets: Sequence[int]) -> tuple[Body, list[int]]:
    """Returns the backward function of a loop's body, and the loop variables whose cotangents it takes.

    They are the targets, and the loop variables that these depend on in an earlier iteration.
    """
    live = set(targets)
    while True:
        backward = body.backward(body.outputs, tuple(i in live for i in range(count)))
        reached = {i for i, g in enumerate(backward.graph.structured_outputs[:count]) if g is not None}
        if reached <= live:
            return backward, sorted(live)
        live |= reached


def _varying(body: Body, count: int) -> set[int]:
    """Returns the ids of the operations of a loop's body whose outputs may differ between iterations.

    Args:
        body: the body.
        count: the number of loop variables, its first inputs.
    """
    operations = body.graph._operations
    if body.stateful:  # it may assign variables
        return {id(o) for o in operations}
    ids = {id(t.op) for t in body.inputs[:count]}
    for operation in operations:
        if operation.stateful or any(id(t.op) in ids for t in operation.inputs):
            ids.add(id(operation))
    return ids


def _from_last(column: Column, trips: int) -> Iterable[Any]:
    """Returns the values of a column, from that of the last iteration to that of the first."""
    if type(column) is Same:
        return itertools.repeat(column.value, trips)
    return reversed(column.unbind() if isinstance(column, torch.Tensor) else column)


def _laid_out_transposed(column: Column) -> Column:
    """Returns a matrix whose transpose is contiguous: a product of a small matrix and another with that takes a
    quarter of the time."""
    if type(column) is not Same or not isinstance(column.value, torch.Tensor):
        return column
    return Same(column.value.t().contiguous().t())


def _same_shapes(columns: Sequence[Any]) -> bool:
    """Tests whether each column holds tensors of one shape."""
    lists = [c for c in columns if not isinstance(c, torch.Tensor) and isinstance(c[0], torch.Tensor)]
    return all(all(value.shape == c[0].shape for value in c) for c in lists)


def _value(value: Any) -> Any:
    """Returns the raw value of an input, which may be a variable."""
    return value._value.value if hasattr(value, "_value") else value


def _add(totals: dict[int, Any], number: int, value: Any, owned: set[int]) -> None:
    """Adds to a sum, in place where the sum was allocated here."""
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
    """Returns the values of a column, of all iterations."""
    return column.value.expand(trips, *column.value.shape) if type(column) is Same else column
