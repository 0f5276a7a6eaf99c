"""Constant folding: computes steps that depend only on constants once, and removes identities.

Most constants come from shapes and gradients: a mean divides by a number of elements, and backpropagation starts from
ones.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from tapeflow.core.ops.shape_rules import wholly_static
from tapeflow.core.ops.static import computed, host_static, value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step, substituted

_MOST_BYTES = 1 << 16  # of a folded value, if its inputs are not larger: it stays in memory as long as the function


def fold(program: Program) -> None:
    """Computes the steps with constant values, and removes the steps that return an input unchanged."""
    if not program.static:
        return
    same_as: dict[int, SymbolicTensor] = {}
    remaining = []
    for step in program.steps:
        step.args = substituted(step.args, same_as)
        operand = _unchanged_operand(step, program)
        if operand is not None:
            same_as[id(step.outputs[0])] = operand
            continue
        values = _constant_outputs(step, program)
        if values is None:
            remaining.append(step)
            continue
        for tensor, value in zip(step.outputs, values, strict=True):
            program.constants[id(tensor)] = value
            same_as[id(tensor)] = program.canonical_constant(tensor)
        program.folded += step.outputs
    program.steps = remaining
    program.outputs = substituted(program.outputs, same_as)


# ---- identities ------------------------------------------------------------------------------------------------------


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
    size = sum(map(_size, step.outputs))
    if size == math.inf or size > max(_MOST_BYTES, sum(map(_size, step.inputs))):
        return None
    if step.op.fills is not None and step.outputs[0].dtype.torch is not None:
        out = step.outputs[0]
        return (torch.full(out.shape.as_list(), step.op.fills, dtype=out.dtype.torch),)
    static_values = [value_of(t) for t in step.outputs]
    if all(value is not None for value in static_values):
        return tuple(static_values)
    return computed(step.op, step.args, step.types, program.constant)


def _size(tensor: SymbolicTensor) -> float:
    """Returns the number of bytes of a tensor, infinite if that is not static."""
    count = tensor.shape.num_elements() if tensor.shape.is_fully_defined() else None
    return math.inf if count is None else count * max(tensor.dtype.size or 1, 1)
