"""The effects of steps: the variables that they read and change. Effects determine the order of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.types.dtypes import resource
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import VariableUpdate, variable_of
from tapeflow.graph.program.program import Step


def touched_variables(step: Step) -> frozenset[int] | None:
    """Returns the ids of the variables that a step reads or changes; None if it may have other effects."""
    variables = [variable_of(t) for t in step.inputs if t.dtype is resource]
    if not all(_is_confined(o.op) for o in step.origins) or any(v is None for v in variables):
        return None
    return frozenset(v._id for v in variables)


def _is_confined(op: Any) -> bool:
    """Returns True if an op has no effects except on the variables among its inputs."""
    if op.registered:
        return not op.opdef.stateful or op.random
    if op is READ or isinstance(op, VariableUpdate):
        return True
    return bool(op.bodies) and all(_is_confined(o.op) for p in op.programs for step in p.steps for o in step.origins)


def has_effect(step: Step) -> bool:
    """Returns True if a step must keep its order relative to other steps with effects."""
    return not step.pure or step.must_run


def effects_before(steps: Sequence[Step], counts: Callable[[Step], bool] = has_effect) -> list[list[int]]:
    """Returns for each step the indices of the steps that must run before it because of effects.

    Reads and changes of one variable keep their order. Their first index is the step that gave the variable its current
    value, or -1. Other effects keep their order among all steps with effects.

    Args:
        steps: the steps.
        counts: returns True for the steps with effects.
    """
    result: list[list[int]] = []
    last = -1  # the last step with other effects
    since: list[int] = []  # later steps with effects on one variable
    changed: dict[int, int] = {}
    read: dict[int, list[int]] = {}
    for i, step in enumerate(steps):
        variable = variable_of(step.args[0]) if step.op is READ or isinstance(step.op, VariableUpdate) else None
        if not counts(step):
            result.append([])
        elif variable is None:
            result.append(since or [last])
            last, since, changed, read = i, [], {}, {}
        else:
            before = [changed.get(variable._id, last)]
            since.append(i)
            if step.op is READ:
                read.setdefault(variable._id, []).append(i)
            else:
                before += read.pop(variable._id, [])
                changed[variable._id] = i
            result.append(before)
    return result
