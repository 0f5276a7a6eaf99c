"""Recognizes loops that count their iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.program.functions import Loop
from tapeflow.graph.program.program import Program


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
