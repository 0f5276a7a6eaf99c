"""Gradients of loops.

A loop whose gradient is asked for also gives, for each iteration, what the backward function of its body takes of it.
The gradient is an operation that calls this backward function once for each iteration, from the last one to the first.
"""

from __future__ import annotations

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
from tapeflow.graph.ir.operation import Differentiated, GraphOp, Operation

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop
    from tapeflow.graph.control.body import Body


def loop_gradient(loop: Loop) -> Callable[..., Any]:
    """The gradient of a loop's operation.

    Args:
        loop: its kernel.
    """

    def gradient(call: Any, *dys: Any) -> list[Any]:
        operation, inputs = call.outputs[0].op, list(call.inputs)
        given = [i for i, dy in enumerate(dys[: loop.count]) if dy is not None]
        wanted = [w and has_gradient(t) for w, t in zip(call.wanted, inputs, strict=True)]
        if not given or not any(wanted):
            return [None] * len(inputs)
        saved = _with_record(operation, loop)
        kernel = LoopGradient(loop, given, wanted, inputs)
        seeds = [dys[i] for i in given]

        def second(again: Any, *ddys: Any) -> list[Any]:
            seeds, rest = again.inputs[1 : 1 + len(given)], again.inputs[1 + len(given) :]
            return _second_order().of_loop(kernel, seeds, rest[len(kernel.late) :], ddys)

        op = GraphOp("WhileGrad", kernel, gradient=second, gives_tuple=True)
        op.gradient_of = Differentiated(operation, given, kernel.asked, len(kernel.late))
        op.lowered = lambda made: _lowering().gradient_of_loop(made)
        finals = [operation.outputs[i] for i in kernel.late]
        specs = [spec_of_gradient(inputs[i]) for i in kernel.asked]
        made = state.graph.node(op, [saved, *seeds, *finals, *inputs], specs)
        found = dict(zip(kernel.asked, made.outputs, strict=True))
        return [found.get(i) for i in range(len(inputs))]

    return gradient


def _with_record(operation: Operation, loop: Loop) -> SymbolicTensor:
    """The output of a loop that gives what was kept of each iteration; the operation is changed to have one."""
    if operation.op.saved is None:
        index = operation.op.first_output + len(operation.outputs)
        operation.op.saved = SymbolicTensor(operation, index, variant, TensorShape([]))
        operation.op.lowered = lambda made: _lowering().loop_with_record(made)
        operation.outputs.append(operation.op.saved)
        loop.keep([])
    return operation.op.saved


class LoopGradient:
    """The kernel of a loop's gradient. It takes what the loop kept, gradients of loop variables, last values of others,
    and the inputs of the loop.

    Args:
        loop: the loop.
        given: the loop variables whose gradients are given.
        wanted: for each input of the loop, whether its gradient is wanted.
        inputs: the inputs of the loop.

    Attributes:
        asked: the inputs whose gradients it gives: those of `variables`, then those of `captured`.
        variables: pairs of an input and the loop variable that begins with it.
        captured: pairs of an input and where its gradient is among the results of the backward function.
        live: the loop variables whose gradients the backward function takes.
        late: those of them that have a gradient only in earlier iterations: their last values are taken.
        found: where the gradient of each input of the body is among the results of the backward function, or None.
        taken: what the backward function takes besides: what was "kept" of an iteration, by its place there; an "input"
            of the loop, by its place; or a "constant".
    """

    def __init__(self, loop: Loop, given: Sequence[int], wanted: Sequence[bool], inputs: Sequence[Any]) -> None:
        body, count = loop.body, loop.count
        self.loop, self.inputs = loop, inputs
        self.backward, self.live = _backward(body, count, given)
        self.given = list(given)
        self.late = [i for i in self.live if i not in given]
        found = self.backward.graph.structured_outputs
        numbers = iter(range(len(found)))
        self.found = [None if g is None else next(numbers) for g in found]  # where each gradient is among the results
        first = 1 if loop.limited else 0
        self.variables = [(first + i, i) for i in self.live if wanted[first + i]]
        self.captured = [
            (first + count + place, number)
            for place, number in zip(loop.places[1], self.found[count:], strict=True)
            if number is not None and wanted[first + count + place]
        ]
        self.asked = [i for i, _ in self.variables] + [i for i, _ in self.captured]
        self.taken: list[tuple[str, Any]] = []
        places = {id(t): i for i, t in enumerate(body.inputs)}
        for t in self.backward.graph.external_captures:
            place = places.get(id(t), -1)
            if not isinstance(t, SymbolicTensor):
                self.taken.append(("constant", t))
            elif place >= count:
                self.taken.append(("input", first + count + loop.places[1][place - count]))
            else:
                self.taken.append(("kept", loop.keep([t])[0]))

    def __call__(self, record: Any, *values: Any) -> tuple[Any, ...]:
        """The gradients of the inputs that are asked for, as raw values."""
        given, late = len(self.given), len(self.late)
        inputs = values[given + late :]
        grads = dict(zip(self.given, values, strict=False))
        grads.update((i, raw_zeros(v)) for i, v in zip(self.late, values[given : given + late], strict=True))
        totals: dict[int, Any] = {}
        owned: set[int] = set()  # the totals that are sums made here
        backward = self.backward.compiled
        others = [(self._other(kind, at, inputs), at) for kind, at in self.taken]
        kept = [kind == "kept" for kind, _ in self.taken]
        for iteration in reversed(record[()]):
            taken = [iteration[at] if k else v for k, (v, at) in zip(kept, others, strict=True)]
            found = backward(*[grads[i] for i in self.live], *taken)
            for i in self.live:
                number = self.found[i]
                grads[i] = raw_zeros(grads[i]) if number is None else found[number]
            for _, number in self.captured:
                _add(totals, number, found[number], owned)
        ends = [grads[i] for _, i in self.variables]
        return (*ends, *[totals[n] if n in totals else raw_zeros(_value(inputs[i])) for i, n in self.captured])

    def _other(self, kind: str, at: Any, inputs: Sequence[Any]) -> Any:
        """The raw value of what the backward function takes in every iteration."""
        if kind == "constant":
            return at.value if type(at) is EagerTensor else at
        return inputs[at] if kind == "input" else None


def _lowering() -> Any:
    from tapeflow.graph.graphdef import lowering

    return lowering


def _backward(body: Body, count: int, given: Sequence[int]) -> tuple[Body, list[int]]:
    """The backward function of a loop's body, and the loop variables whose gradients it takes.

    They are those given, and those that these depend on in an earlier iteration.
    """
    live = set(given)
    while True:
        backward = body.backward(body.outputs, tuple(i in live for i in range(count)))
        reached = {i for i, g in enumerate(backward.graph.structured_outputs[:count]) if g is not None}
        if reached <= live:
            return backward, sorted(live)
        live |= reached


def _value(given: Any) -> Any:
    """The raw value of an input, which may be a variable."""
    return given._value.value if hasattr(given, "_value") else given


def _add(totals: dict[int, Any], number: int, value: Any, owned: set[int]) -> None:
    """Adds to a sum, in place where it is nobody else's."""
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
