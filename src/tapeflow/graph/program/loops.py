"""Loops in programs: their programs, their counters, and how values pass between iterations."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, Protocol

import torch

from tapeflow.array.list_values import as_variant
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.program.program import Program, Step


class Loop(Protocol):
    """A loop: the kernel of a `While` operation. Its condition and body are `Body`s (`transform/body.py`)."""

    name: str
    condition: Any
    body: Any
    count: int
    places: tuple[Sequence[int], Sequence[int]]
    limited: bool
    uniform: Container[int]
    residuals: Sequence[SymbolicTensor] | None
    gradients: list[Any]

    @property
    def prologue(self) -> Any:
        """The hoisted part of the body."""

    @property
    def in_rows(self) -> list[SymbolicTensor]:
        """The residuals that iterations compute."""

    @property
    def results(self) -> int:
        """The number of returned values."""

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values."""


# ---- counters --------------------------------------------------------------------------------------------------------


def counter_of(loop: Loop) -> int | None:
    """Returns the index of the loop variable that counts the iterations up to a loop-invariant bound, or None."""
    program = loop.condition.compiled.program
    if not program.steps or not all(step.pure and step.registered for step in program.steps):
        return None
    test, others = program.steps[-1], program.steps[:-1]
    variables = [id(t) for t in program.inputs[: loop.count]]
    if test.op is not ops.Less.op or test.outputs[0] is not program.outputs[0] or id(test.args[0]) not in variables:
        return None
    if id(test.args[1]) in variables or any(id(t) in variables for step in others for t in step.inputs):
        return None
    counter = variables.index(id(test.args[0]))
    return counter if increment(loop.body.compiled.program, counter) == 1 else None


def increment(body: Program, variable: int) -> int | None:
    """Returns the constant that each iteration adds to a scalar loop variable; None for other updates."""
    before, after = body.inputs[variable], body.outputs[variable]
    step = next((s for s in body.steps if any(t is after for t in s.outputs)), None)
    if step is None or step.op is not ops.AddV2.op or after.dtype not in (int32, int64) or after.shape.rank != 0:
        return None
    added = [t for t in step.args if t is not before]
    value = body.constant(added[0]) if len(added) == 1 else None
    return int(value) if isinstance(value, torch.Tensor) else None


def counts_to_known_bound(loop: Loop) -> bool:
    """Returns True if a loop counts its iterations up to a constant or a loop-invariant operand."""
    program = loop.condition.compiled.program
    if counter_of(loop) is None or len(program.steps) != 1:
        return False
    bound = program.steps[0].args[1]
    return program.constant(bound) is not None or any(t is bound for t in program.inputs)


def trip_count(loop: Loop, values: Sequence[Any]) -> int:
    """Returns the trip count of a loop that counts up to a known bound, ignoring a maximal trip count.

    Args:
        loop: the loop.
        values: the raw values of its loop variables and loop-invariant values.
    """
    program = loop.condition.compiled.program
    counter, bound = program.steps[-1].args
    places = [*range(loop.count), *(loop.count + i for i in loop.places[0])]
    known = {id(t): values[i] for t, i in zip(program.inputs, places, strict=True)} | program.constants
    return max(int(known[id(bound)]) - int(known[id(counter)]), 0)


def static_trip_count(program: Program, loop: Loop, tensors: Sequence[SymbolicTensor]) -> int | None:
    """Returns the maximal trip count of a loop that counts from one constant to another; None for other loops."""
    condition = loop.condition.compiled.program
    if len(condition.steps) != 1 or condition.steps[0].op is not ops.Less.op:
        return None
    counter, limit = condition.steps[0].args
    places = {id(t): i for i, t in enumerate(condition.inputs)}
    start = tensors[places[id(counter)]] if places.get(id(counter), loop.count) < loop.count else None
    first, last = program.constant(start), condition.constant(limit)
    return None if first is None or last is None else max(int(last) - int(first), 0)


# ---- programs --------------------------------------------------------------------------------------------------------


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
        limit: the printed expression for the maximal trip count.
        record, recorded: the printed name of the record, "" without one, and the indices of hoisted values in it.

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
        self.limit = self.record = ""
        self.recorded: Sequence[int] = ()
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


# ---- residuals -------------------------------------------------------------------------------------------------------


class Record:
    """The residuals of a running loop.

    Attributes:
        rows: for each iteration, the values of the residuals that it computes.
        ahead: the values of the hoisted residuals.
    """

    __slots__ = ("ahead", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.ahead: tuple[Any, ...] = ()


def returned_values(trips: int, lists: Sequence[Any]) -> list[Any]:
    """Returns a loop's raw results after its loop variables: the trip count and the lists of residuals."""
    return [torch.tensor(trips, dtype=torch.int32), *map(as_variant, lists)]
