"""Scalars of loops as numbers.

A loop counts, adds up and compares: ops on scalars, for which a call of ATen costs ten times what Python's own
arithmetic does. Where all that makes a scalar is such arithmetic, it is a Python int or bool, or a NumPy float, from
one iteration to the next, and a tensor only where an op of tensors takes it. Integers wrap and floats round as the
tensors would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.scalars import WRAPPED, ScalarForm
from tapeflow.core.types.dtypes import DType, bool_, float32, float64, int32, int64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Step

# How a tensor's number is taken out, and put back.
UNBOX = {
    int32: "{0}.item()",
    int64: "{0}.item()",
    bool_: "{0}.item()",
    float32: "f32({0}.item())",
    float64: "f64({0}.item())",
}
NAMES = {"f32": np.float32, "f64": np.float64}


def box(dtype: DType) -> Callable[[Any], torch.Tensor]:
    """What makes a scalar tensor of a number."""
    kind = dtype.torch
    plain = float if dtype.is_floating else int if dtype.is_integer else bool
    return lambda number: torch.tensor(plain(number), dtype=kind)


def literal(value: torch.Tensor, dtype: DType) -> Any:
    """The number of a constant."""
    number = value.item()
    return {float32: np.float32, float64: np.float64}[dtype](number) if dtype.is_floating else number


def may_be_number(tensor: Any) -> bool:
    """Whether a tensor is a scalar of a dtype that has numbers."""
    return isinstance(tensor, SymbolicTensor) and tensor.dtype in UNBOX and tensor.shape.rank == 0


def template(step: Step) -> str | None:
    """Returns the expression that computes a step of numbers, or None where it takes or gives something else."""
    form = step.op.scalar
    if form is None or step.placed or len(step.outputs) != 1 or not may_be_number(step.outputs[0]):
        return None
    if not all(may_be_number(t) for t in step.inputs):
        return None
    dtype = step.outputs[0].dtype
    if not isinstance(form, ScalarForm):
        return form(step.inputs[0].dtype, dtype)
    if form.to_bool:
        return form.template
    if dtype.is_floating:
        return form.template if form.floats else None
    if form.bounded:
        return form.template
    return WRAPPED[dtype].format(form.template) if form.integers and dtype.is_integer else None
