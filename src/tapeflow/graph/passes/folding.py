"""Constant folding: what does not depend on the inputs is computed once, and what changes nothing is left out.

Most of what is folded comes from gradients (the number of elements that a mean divides by, the ones that
backpropagation starts from) and from shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.graph.program import Program, Step, substituted
from tapeflow.graph.static import computed, value_of

_MOST_BYTES = 1 << 16  # of a folded value: more would cost memory for as long as the function lives


def fold(program: Program) -> None:
    """Computes constants, and passes over steps that give what they take."""
    if not program.static:
        return
    same_as: dict[int, SymbolicTensor] = {}
    kept = []
    for step in program.steps:
        step.args = substituted(step.args, same_as)
        taken = _passed_on(program, step)
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


def _passed_on(program: Program, step: Step) -> SymbolicTensor | None:
    """The input that a step gives as it is, or None."""
    rule = _RULES.get(step.name)
    if rule is None or step.placed or len(step.outputs) != 1:
        return None
    given = step.outputs[0]
    tensors = [a for a in step.args if isinstance(a, SymbolicTensor)]
    for taken, other in ((tensors[0], tensors[-1]), (tensors[-1], tensors[0]))[: 2 if step.name in _COMMUTES else 1]:
        if taken.dtype is given.dtype and rule(program, taken, other, given):
            return taken
    return None


def _always(program: Program, taken: SymbolicTensor, other: SymbolicTensor, given: SymbolicTensor) -> bool:
    return True


def _keeps_shape(program: Program, taken: SymbolicTensor, other: SymbolicTensor, given: SymbolicTensor) -> bool:
    return taken.shape.is_fully_defined() and given.shape.is_fully_defined() and taken.shape == given.shape


def _and_one(program: Program, taken: SymbolicTensor, other: SymbolicTensor, given: SymbolicTensor) -> bool:
    return _is_all(program.known(other), 1) and _keeps_shape(program, taken, other, given)


def _and_zero(program: Program, taken: SymbolicTensor, other: SymbolicTensor, given: SymbolicTensor) -> bool:
    return _is_all(program.known(other), 0) and _keeps_shape(program, taken, other, given)


def _and_integer_zero(program: Program, taken: SymbolicTensor, other: SymbolicTensor, given: SymbolicTensor) -> bool:
    return given.dtype.is_integer and _and_zero(program, taken, other, given)  # -0.0 + 0.0 is 0.0


def _is_all(value: Any, number: int) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() == 1 and value.item() == number


# Whether the result is one of the inputs as it is, asked as `rule(program, that input, the other one, result)`.
_RULES: dict[str, Callable[..., bool]] = {
    "Identity": _always, "StopGradient": _always, "PreventGradient": _always, "Snapshot": _always, "Cast": _keeps_shape,
    "Reshape": _keeps_shape, "BroadcastTo": _keeps_shape, "SumToShape": _keeps_shape, "Mul": _and_one,
    "RealDiv": _and_one, "Sub": _and_zero, "AddV2": _and_integer_zero,
}  # fmt: skip
_COMMUTES = frozenset({"Mul", "AddV2"})


# ---- what is known ---------------------------------------------------------------------------------------------------


def _computed(program: Program, step: Step) -> tuple[Any, ...] | None:
    """The values of a step that depends on constants alone, or None."""
    if not step.pure or step.placed or step.must_run or not step.outputs:
        return None
    if not all(_is_little(t) for t in step.outputs):
        return None
    if step.name in ("OnesLike", "ZerosLike") and step.outputs[0].dtype.torch is not None:
        out = step.outputs[0]
        make = torch.ones if step.name == "OnesLike" else torch.zeros
        return (make(out.shape.as_list(), dtype=out.dtype.torch),)
    found = [value_of(t) for t in step.outputs]
    if all(v is not None for v in found):
        return tuple(found)
    return computed(step.op, step.args, step.types, program.known)


def _is_little(tensor: SymbolicTensor) -> bool:
    shape = tensor.shape
    return shape.is_fully_defined() and shape.num_elements() * max(tensor.dtype.size or 1, 1) <= _MOST_BYTES
