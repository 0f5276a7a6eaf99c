"""The effects of steps: the variables that they read and change. Effects determine the order of steps."""

from __future__ import annotations

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
