"""Sharing (common subexpression elimination): computes equal steps once."""

from __future__ import annotations

from typing import Any

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step, substituted
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import variable_of


def share(program: Program) -> None:
    """Replaces the outputs of a step by the outputs of an earlier step with the same op and arguments.

    A variable is read once between two updates. A side effect on unknown variables ends the sharing of all reads.
    """
    same_as: dict[int, SymbolicTensor] = {}
    computed: dict[Any, Step] = {}
    reads: dict[int | None, list[Any]] = {}  # the keys of reads, by the ids of variables
    remaining = []
    for step in program.steps:
        step.args = substituted(step.args, same_as)
        key = _key(step)
        earlier = None if key is None else computed.get(key)
        if earlier is not None:
            for mine, other in zip(step.outputs, earlier.outputs, strict=True):
                same_as[id(mine)] = other
            continue
        if key is not None:
            computed[key] = step
            if step.op is READ:
                reads.setdefault(key[1], []).append(key)
        elif step.must_run:
            changed = step.changed_variable
            for variable in [*reads] if changed is None else [changed, None]:
                for read in reads.pop(variable, ()):
                    del computed[read]
        remaining.append(step)
    program.steps = remaining
    program.outputs = substituted(program.outputs, same_as)


def _key(step: Step) -> Any:
    """Returns a key that is equal for steps with equal results, or None if the step must not be shared."""
    if step.op is READ:
        variable = variable_of(step.args[0])
        return READ, None if variable is None else variable._id, id(step.args[0])
    if not step.pure or step.must_run or step.placed:
        return None
    key = step.op, *map(_frozen, step.args)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(arg: Any) -> Any:
    """Returns an argument as a key: tensors by identity, numbers with their types (1, 1.0 and True are equal)."""
    if isinstance(arg, SymbolicTensor):
        return "tensor", id(arg)
    if type(arg) in (list, tuple):
        return (type(arg), *map(_frozen, arg))
    return (float, repr(arg)) if type(arg) is float else (type(arg), arg)
