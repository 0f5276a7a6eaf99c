"""The programs of a loop, and how values pass between them."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.program.counters import counter_of, increment
from tapeflow.graph.program.functions import Loop
from tapeflow.graph.program.program import Program, Step


class LoopParts:
    """A loop as the programs of its condition and body.

    Attributes:
        condition, body: the programs.
        ahead: the program of the hoisted part (see `Prologue`), or None. Its first inputs are the trip count and the
            counter's values.
        shared: the number of its loop-invariant outputs. They come first. Later outputs have one value per iteration.
        from_ahead: the body's inputs for its results.
        variables: for each loop variable, its inputs of condition and body.
        captured: the inputs for each loop-invariant value, by its place among these values.
        limited: True if the loop's first operand is the maximal trip count.
        counter: the index of the loop variable that counts the iterations, or None.
        numbers: the indices of loop variables that are Python numbers: each iteration adds a constant.

    Args:
        programs: the programs of condition and body, and of the hoisted part.
        loop: the loop.
    """

    def __init__(self, programs: Sequence[Program], loop: Loop) -> None:
        self.condition, self.body, *ahead = programs
        condition, body, count, places = self.condition, self.body, loop.count, loop.places
        self.ahead: Program | None = ahead[0] if ahead else None
        self.shared = len(loop.prologue.shared) if ahead else 0
        self.limited, self.counter = loop.limited, counter_of(loop)
        self.numbers = {i for i in range(count) if increment(body, i) is not None}
        self.variables = list(zip(condition.inputs[:count], body.inputs[:count], strict=True))
        self.from_ahead = body.inputs[count + len(places[1]) :]
        invariant = [(condition.inputs[count:], places[0]), (body.inputs[count:], places[1])]
        if self.ahead is not None:
            invariant.append((self.ahead.inputs[2:], places[1]))
        self.captured: dict[int, list[SymbolicTensor]] = {}
        for tensors, places_of_inputs in invariant:
            for t, place in zip(tensors, places_of_inputs, strict=False):
                self.captured.setdefault(place, []).append(t)

    @property
    def test(self) -> Step:
        """The step that computes the condition."""
        (result,) = self.condition.outputs
        return next(step for step in self.condition.steps if any(t is result for t in step.outputs))
