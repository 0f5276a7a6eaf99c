"""Simplifying: removes steps that return an input unchanged, have constant results, or equal an earlier step.

Most constants come from shapes and gradients: a mean divides by a number of elements, and backpropagation starts from
ones.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core.ops.shape_rules import wholly_static
from tapeflow.core.ops.static import compute_static, host_static, value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.program.effects import effects_before
from tapeflow.graph.program.program import Program, Step, substitute

_MOST_BYTES = 1 << 16  # of a folded value, if its inputs are not larger: it stays in memory as long as the function


def simplify(program: Program) -> None:
    """Replaces the outputs of steps by tensors with the same values, and removes these steps and unused ones."""
    same_as: dict[int, SymbolicTensor] = {}
    earlier: dict[Any, Step] = {}
    remaining = []
    effects = effects_before(program.steps, lambda step: step.must_run or step.op is READ)
    for step, before in zip(program.steps, effects, strict=True):
        step.args = substitute(step.args, same_as)
        same = _fold_step(step, program)
        if same is None and (key := _sharing_key(step, before)) is not None:
            equal = earlier.setdefault(key, step)
            same = None if equal is step else equal.outputs
        if same is None:
            remaining.append(step)
        else:
            same_as.update(zip(map(id, step.outputs), same, strict=True))
    program.steps = remaining
    program.outputs = substitute(program.outputs, same_as)
    prune(program)


def prune(program: Program) -> None:
    """Removes the steps whose outputs have no use, unless they must run."""
    program.steps = live_steps(program.steps, program.outputs)


def live_steps(steps: Sequence[Step], outputs: Iterable[SymbolicTensor], unless: Container[int] = ()) -> list[Step]:
    """Returns the steps that outputs need, or that must run, except for steps with the ids `unless`."""
    needed = {id(t) for t in outputs}
    live = []
    for step in reversed(steps):
        if (step.must_run and id(step) not in unless) or any(id(t) in needed for t in step.outputs):
            live.append(step)
            needed.update(id(t) for t in step.inputs)
    return live[::-1]


# ---- identities ------------------------------------------------------------------------------------------------------


def _fold_step(step: Step, program: Program) -> Sequence[SymbolicTensor] | None:
    """Returns the operand that a step returns unchanged, or its results as constants; None for other steps."""
    if not program.static:
        return None
    operand = _unchanged_operand(step, program)
    if operand is not None:
        return [operand]
    values = _constant_outputs(step, program)
    if values is None:
        return None
    for tensor, value in zip(step.outputs, values, strict=True):
        program.constants[id(tensor)] = value
    program.folded += step.outputs
    return list(map(program.canonical_constant, step.outputs))


def _unchanged_operand(step: Step, program: Program) -> SymbolicTensor | None:
    """Returns the operand that a step returns unchanged, or None."""
    op = step.op
    if step.placed or step.must_run or len(step.outputs) != 1 or not step.inputs:
        return None
    first, last = step.inputs[0], step.inputs[-1]
    result = step.outputs[0]
    if op.identity:
        return first if first.dtype is result.dtype else None
    if op.identity_if_same_shape and _same_type(first, result) and _has_static_shape_argument(step):
        return first
    if op.neutral is not None:
        for tensor, other in ((first, last), (last, first))[: 2 if op.commutative else 1]:
            if _same_type(tensor, result) and _is_all(program.constant(other), op.neutral):
                return tensor
    return None


def _has_static_shape_argument(step: Step) -> bool:
    """Returns False if a step takes a shape that is not static, and so may raise: the static shape of its result is
    that of a valid call."""
    hosts = [arg for kind, arg in zip(step.op.kinds or (), step.args, strict=False) if kind == "host"]
    return all(wholly_static(host_static(arg)) for arg in hosts)


def _same_type(tensor: SymbolicTensor, result: SymbolicTensor) -> bool:
    """Returns True if a tensor and a result have the same dtype and the same static shape."""
    static = tensor.shape.is_fully_defined() and result.shape.is_fully_defined()
    return tensor.dtype is result.dtype and static and tensor.shape == result.shape


def _is_all(value: Any, number: float) -> bool:
    """Returns True if a value has one element, the number. Zeros must have the same sign: -0.0 + 0.0 is 0.0."""
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        return False
    element = value.item()
    return element == number and (type(element) is not float or math.copysign(1, element) == math.copysign(1, number))


# ---- constants -------------------------------------------------------------------------------------------------------


def _constant_outputs(step: Step, program: Program) -> tuple[Any, ...] | None:
    """Returns the raw values of a step that depends on constants alone, or None."""
    if not step.pure or step.placed or step.must_run or not step.outputs:
        return None
    size = sum(map(_byte_count, step.outputs))
    if size == math.inf or size > max(_MOST_BYTES, sum(map(_byte_count, step.inputs))):
        return None
    if step.op.fills is not None and step.outputs[0].dtype.torch is not None:
        out = step.outputs[0]
        return (torch.full(out.shape.as_list(), step.op.fills, dtype=out.dtype.torch),)
    static_values = [value_of(t) for t in step.outputs]
    if all(value is not None for value in static_values):
        return tuple(static_values)
    return compute_static(step.op, step.args, step.types, program.constant)


def _byte_count(tensor: SymbolicTensor) -> float:
    """Returns the number of bytes of a tensor, infinite if that is not static."""
    count = tensor.shape.num_elements() if tensor.shape.is_fully_defined() else None
    return math.inf if count is None else count * max(tensor.dtype.size or 1, 1)


# ---- equal steps -----------------------------------------------------------------------------------------------------


def _sharing_key(step: Step, before: Sequence[int]) -> Any:
    """Returns a key that is equal for steps with equal results, or None if the step must not be shared.

    A variable is read once between two updates: the first of the steps `before` it gave the variable its value.
    """
    if step.op is READ:
        return READ, id(step.args[0]), *before
    if not step.pure or step.must_run or step.placed:
        return None
    key = step.op, *map(_freeze_argument, step.args)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _freeze_argument(arg: Any) -> Any:
    """Returns an argument as a key: tensors by identity, numbers with their types (1, 1.0 and True are equal)."""
    if isinstance(arg, SymbolicTensor):
        return "tensor", id(arg)
    if type(arg) in (list, tuple):
        return (type(arg), *map(_freeze_argument, arg))
    return (float, repr(arg)) if type(arg) is float else (type(arg), arg)
