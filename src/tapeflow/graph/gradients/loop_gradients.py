"""Gradients of loops.

A differentiated loop has one more output: a record of the residuals that the backward function of its body needs of
each iteration. The gradient is an operation that calls this backward function once for each iteration, from the last
one to the first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core.autodiff.gradients import raw_zeros
from tapeflow.core.context import state
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.gradients.taped import _second_order, has_gradient, spec_of_gradient
from tapeflow.graph.ir.operation import GradientOf, GraphOp, Operation, Residuals

if TYPE_CHECKING:
    from tapeflow.graph.codegen.compile import Compiled
    from tapeflow.graph.codegen.loops import Loop
    from tapeflow.graph.control.body import Body
    from tapeflow.graph.gradients.loop_sums import LoopSums


def loop_gradient(loop: Loop) -> Callable[..., Any]:
    """Returns the gradient function of a loop's operation.

    Args:
        loop: the operation's kernel.
    """

    def gradient(call: Any, *dys: Any) -> list[Any]:
        operation, inputs = call.outputs[0].op, list(call.inputs)
        targets = [i for i, dy in enumerate(dys[: loop.count]) if dy is not None]
        wanted = [w and has_gradient(t) for w, t in zip(call.wanted, inputs, strict=True)]
        if not targets or not any(wanted):
            return [None] * len(inputs)
        record = _with_record(operation, loop)
        kernel = LoopGradient(loop, targets, wanted)
        cotangents = [dys[i] for i in targets]

        def second_gradient(call: Any, *ddys: Any) -> list[Any]:
            cotangents, rest = call.inputs[1 : 1 + len(targets)], call.inputs[1 + len(targets) :]
            return _second_order().loop_second_gradient(kernel, cotangents, rest[len(kernel.zero_at_end) :], ddys)

        op = GraphOp("WhileGrad", kernel, gradient=second_gradient, gives_tuple=True,
                    gradient_of=GradientOf(operation, targets, kernel.sources, len(kernel.zero_at_end)))  # fmt: skip
        finals = [operation.outputs[i] for i in kernel.zero_at_end]
        specs = [spec_of_gradient(inputs[i]) for i in kernel.sources]
        backward = state.graph.node(op, [record, *cotangents, *finals, *inputs], specs)
        grads = dict(zip(kernel.sources, backward.outputs, strict=True))
        return [grads.get(i) for i in range(len(inputs))]

    return gradient


def _with_record(operation: Operation, loop: Loop) -> SymbolicTensor:
    """Returns the output of a loop that is the record of its iterations; adds it to the operation if there is none."""
    if operation.residuals is None:
        index = operation.op.first_output + len(operation.outputs)
        operation.residuals = Residuals(SymbolicTensor(operation, index, variant, TensorShape([])), [])
        operation.outputs.append(operation.residuals.output)
        loop.add_residuals([])
    return operation.residuals.output


class LoopGradient:
    """The kernel of a loop's gradient.

    Its inputs are the loop's record, the cotangents of the loop variables `targets`, the final values of the loop
    variables `zero_at_end`, and the inputs of the loop. Its outputs are the gradients of the inputs `sources`.

    Args:
        loop: the loop.
        targets: indices of the loop variables that have cotangents.
        wanted: for each input of the loop, True if its gradient is wanted.

    Attributes:
        sources: indices of the inputs whose gradients it returns: those of `variables`, then those of `captured`.
        variables: pairs of an input and the loop variable whose initial value it is.
        captured: pairs of a loop-invariant input and the place of its gradient among the backward function's results.
        live: the loop variables whose cotangents the backward function takes.
        zero_at_end: those of them that have no cotangent after the last iteration.
        result_places: for each input of the body, the place of its gradient among the backward function's results, or
            None.
        captures: what the backward function captures, as pairs: ("record", place in an iteration's record), ("input",
            index of the loop's input), or ("constant", value).
    """

    def __init__(self, loop: Loop, targets: Sequence[int], wanted: Sequence[bool]) -> None:
        body, count = loop.body, loop.count
        self.loop = loop
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
        self.captures: list[tuple[str, Any]] = []
        places = {id(t): i for i, t in enumerate(body.inputs)}
        for t in self.backward.graph.external_captures:
            place = places.get(id(t), -1)
            if not isinstance(t, SymbolicTensor):
                self.captures.append(("constant", t))
            elif place >= count:
                self.captures.append(("input", first + count + loop.places[1][place - count]))
            else:
                self.captures.append(("record", loop.add_residuals([t])[0]))

    def __call__(self, record: Any, *values: Any) -> tuple[Any, ...]:
        """Returns the gradients of the inputs `sources`, as raw values."""
        cotangents, rest = values[: len(self.targets)], values[len(self.targets) :]
        finals, inputs = rest[: len(self.zero_at_end)], rest[len(self.zero_at_end) :]
        grads = dict(zip(self.targets, cotangents, strict=True))
        grads.update((i, raw_zeros(v)) for i, v in zip(self.zero_at_end, finals, strict=True))
        totals: dict[int, Any] = {}
        owned: set[int] = set()  # the totals that this call allocated
        invariants = [(self._invariant(kind, at, inputs), at) for kind, at in self.captures]
        recorded = [kind == "record" for kind, _ in self.captures]
        sums, in_loop, iteration = self._after_loop
        rows: list[Sequence[Any]] = []
        captured: list[Any] = []
        for residuals in reversed(record[()]):
            captured = [residuals[at] if r else v for r, (v, at) in zip(recorded, invariants, strict=True)]
            outputs = iteration(*[grads[i] for i in self.live], *captured)
            rows.append(outputs[len(in_loop) :])
            results = dict(zip(in_loop, outputs, strict=False))
            for i in self.live:
                number = self.result_places[i]
                grads[i] = raw_zeros(grads[i]) if number is None else results[number]
            for _, number in self.captured:
                if number in results:
                    _add(totals, number, results[number], owned)
        if rows and sums.numbers:
            shared = [captured[place] for place in sums.shared]
            for part in [rows] if _same_shapes(rows) else [[row] for row in rows]:
                for number, total in zip(sums.numbers, sums(part, shared), strict=True):
                    _add(totals, number, total, owned)
        ends = [grads[i] for _, i in self.variables]
        return (*ends, *[totals[n] if n in totals else raw_zeros(_value(inputs[i])) for i, n in self.captured])

    @functools.cached_property
    def _after_loop(self) -> tuple[LoopSums, list[int], Compiled]:
        """The sums that are computed after the loop, the numbers of the other outputs of the backward function, and the
        function that computes these and what the sums take of each iteration."""
        from tapeflow.graph.gradients.loop_sums import LoopSums

        recurrent = [n for n in (self.result_places[i] for i in self.live) if n is not None]
        varying = _varying(self.loop.body, self.loop.count)
        invariant = [
            i for i, (kind, _) in enumerate(self.captures)
            if kind != "record" or id(self.backward.graph.external_captures[i].op) not in varying
        ]  # fmt: skip
        sums = LoopSums(self.backward, recurrent, [n for _, n in self.captured], invariant)
        in_loop = [n for n in range(len(self.backward.outputs)) if n not in sums.numbers]
        outputs = [self.backward.outputs[n] for n in in_loop]
        return sums, in_loop, self.backward.returning([*outputs, *sums.per_iteration])

    def _invariant(self, kind: str, at: Any, inputs: Sequence[Any]) -> Any:
        """Returns the raw value of a capture of the backward function that is the same in all iterations, or None."""
        if kind == "constant":
            return at.value if type(at) is EagerTensor else at
        return inputs[at] if kind == "input" else None


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


def _same_shapes(rows: Sequence[Sequence[torch.Tensor]]) -> bool:
    """Tests whether each column holds tensors of one shape."""
    return all(all(value.shape == column[0].shape for value in column) for column in zip(*rows, strict=True))


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
