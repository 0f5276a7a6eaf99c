"""The effects of steps: variables that they read and change, and streams of random numbers that they draw from.

Effects determine the order of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.rng.seeds import of_operation
from tapeflow.core.types.dtypes import resource
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, Operation, VariableUpdate, variable_of
from tapeflow.graph.program.program import Step

_OTHERS = "the effects outside of resources"


def used_resources(step: Step, source: Callable[[SymbolicTensor], SymbolicTensor]) -> set[Any]:
    """Returns keys of the resources that a step with effects uses; none for a step without effects or order.

    Args:
        step: the step.
        source: returns the tensor to look at for an input, such as the argument for an input of a called function.
    """
    if not step.must_run and step.op is not READ:
        return set()
    tensors = [source(t) for t in step.inputs if t.dtype is resource]
    used: set[Any] = {id(t) if (v := variable_of(t)) is None else v._id for t in tensors}
    if not used and not _is_confined(step.op) and not all(_is_confined(o.op) for o in step.origins):
        used.add(_OTHERS)
    return used


def _is_confined(op: Any) -> bool:
    """Returns True if an op has no effects but on the variables among its inputs, and diagnostics in any order."""
    if op.registered:
        return not op.opdef.stateful or op.random
    if op is READ or isinstance(op, VariableUpdate) or op.diagnostic:
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


# ---- random numbers --------------------------------------------------------------------------------------------------


def draws_from_stream(operation: Any) -> bool:
    """Returns True if an operation draws numbers that go on from call to call, if it has seeds."""
    op = operation.op
    return not isinstance(op, GraphOp) and op.opdef.stateful and "seed" in op.params


def has_stream(call: Operation | Step) -> bool:
    """Returns True if an operation or step draws seeded random numbers, from a stream of the operation."""
    op = call.op
    return op.opdef.stateful and any(
        kind == "attr" and param in ("seed", "seed2") and arg
        for param, kind, arg in zip(op.params, op.kinds, call.args, strict=True)
    )


def with_stream(call: Operation | Step, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the kernel of a registered operation or step, bound to the operation's stream if it has one."""
    if not has_stream(call):
        return kernel
    operation = call if isinstance(call, Operation) else call.operation
    return of_operation(operation._original_op or operation, kernel)  # all sizes of a function draw from one stream
