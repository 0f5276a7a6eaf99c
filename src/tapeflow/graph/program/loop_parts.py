"""The programs of a loop, and how values pass between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.program.counters import increment
from tapeflow.graph.program.program import Program, Step


class Ahead(NamedTuple):
    """The hoisted part of a loop (see `Prologue`).

    Attributes:
        program: the program that computes it. Its first inputs are the trip count and the counter's values.
        shared: the number of loop-invariant outputs. They come first. Later outputs have one value per iteration.
    """

    program: Program
    shared: int


class LoopParts:
    """A loop as the programs of its condition and body.

    Attributes:
        condition, body: the programs.
        ahead: the hoisted part, or None.
        from_ahead: the body's inputs for its results.
        variables: for each loop variable, its inputs of condition and body.
        captured: the inputs for each loop-invariant value, by its place among these values.
        limited: True if the loop's first operand is the maximal trip count.
        counter: the index of the loop variable that counts the iterations, or None.
        numbers: the indices of loop variables that are Python numbers: each iteration adds a constant.

    Args:
        count: the number of loop variables.
        places: for condition and body, the places of the loop-invariant values that follow the loop variables.
    """

    def __init__(
        self,
        condition: Program,
        body: Program,
        count: int,
        places: Sequence[Sequence[int]],
        limited: bool,
        counter: int | None,
        ahead: Ahead | None = None,
    ) -> None:
        self.condition, self.body, self.limited = condition, body, limited
        self.counter, self.ahead = counter, ahead
        self.numbers = {i for i in range(count) if increment(body, i) is not None}
        self.variables = list(zip(condition.inputs[:count], body.inputs[:count], strict=True))
        self.from_ahead = body.inputs[count + len(places[1]) :]
        invariant = [(condition.inputs[count:], places[0]), (body.inputs[count:], places[1])]
        if ahead is not None:
            invariant.append((ahead.program.inputs[2:], places[1]))
        self.captured: dict[int, list[SymbolicTensor]] = {}
        for tensors, places_of_inputs in invariant:
            for t, place in zip(tensors, places_of_inputs, strict=False):
                self.captured.setdefault(place, []).append(t)

    @property
    def test(self) -> Step:
        """The step that computes the condition."""
        (result,) = self.condition.outputs
        return next(step for step in self.condition.steps if any(t is result for t in step.outputs))
