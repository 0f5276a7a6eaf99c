"""Constant folding: what does not depend on the inputs is computed once, and what changes nothing is left out.

Most of what is folded comes from gradients (the number of elements that a mean divides by, the ones that
backpropagation starts from) and from shapes.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from tapeflow.core.ops.static import computed, value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step, substituted

_MOST_BYTES = 1 << 16  # of a folded value: more would cost memory for as long as the function lives


def fold(program: Program) -> None:
    """Computes constants, and passes over steps that give what they take."""
    if not program.static:
        return
    same_as: dict[int, SymbolicTensor] = {}
    kept = []
    for step in program.steps:
        step.args = substituted(step.args, same_as)
        taken = _passed_on(step, program)
        if taken is not None:
            same_as[id(step.outputs[0])] = taken
            continue
        values = _computed(program, step)
        if values is None:
            kept.append(step)
            continue
        for tensor, value in zip(step.outputs, values, strict=True):
            program.constants[id(tensor)] = value
            same_as[id(tensor)] = program.equal_number(tensor)
    program.steps = kept
    program.outputs = substituted(program.outputs, same_as)


# ---- what changes nothing --------------------------------------------------------------------------------------------


def _passed_on(step: Step, program: Program) -> SymbolicTensor | None:
    """Returns the input that a step gives as it is, or None."""
    op = step.op
    if step.placed or len(step.outputs) != 1 or not step.inputs:
        return None
    first, last = step.inputs[0], step.inputs[-1]
    result = step.outputs[0]
    if op.identity:
        return first if first.dtype is result.dtype else None
    if op.identity_if_same_shape and _same_type(first, result):
        return first
    if op.neutral is not None:
        for tensor, other in ((first, last), (last, first))[: 2 if op.commutative else 1]:
            if _same_type(tensor, result) and _is_all(program.constant(other), op.neutral):
                return tensor
    return None


def _same_type(tensor: SymbolicTensor, result: SymbolicTensor) -> bool:
    """Whether a tensor has the result's dtype, and certainly its shape."""
    shapes_are_known = tensor.shape.is_fully_defined() and result.shape.is_fully_defined()
    return tensor.dtype is result.dtype and shapes_are_known and tensor.shape == result.shape


def _is_all(value: Any, number: float) -> bool:
    """Whether a value is this number alone, with its sign if it is a zero of floats: 0.0 is not neutral in a sum."""
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        return False
    element = value.item()
    return element == number and (type(element) is not float or math.copysign(1, element) == math.copysign(1, number))


# ---- what is known ---------------------------------------------------------------------------------------------------


def _computed(program: Program, step: Step) -> tuple[Any, ...] | None:
    """The values of a step that depends on constants alone, or None."""
    if not step.pure or step.placed or step.must_run or not step.outputs:
        return None
    if not all(_is_little(t) for t in step.outputs):
        return None
    if step.op.fills is not None and step.outputs[0].dtype.torch is not None:
        out = step.outputs[0]
        return (torch.full(out.shape.as_list(), step.op.fills, dtype=out.dtype.torch),)
    found = [value_of(t) for t in step.outputs]
    if all(v is not None for v in found):
        return tuple(found)
    return computed(step.op, step.args, step.types, program.constant)


def _is_little(tensor: SymbolicTensor) -> bool:
    shape = tensor.shape
    return shape.is_fully_defined() and shape.num_elements() * max(tensor.dtype.size or 1, 1) <= _MOST_BYTES
