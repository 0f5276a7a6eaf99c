"""Scalars of loops as Python numbers.

A loop counts, adds up and compares: ops on scalars, for which a call of ATen costs ten times what Python's own
arithmetic does. A scalar that only such arithmetic computes is a Python int or bool, or a NumPy float, from one
iteration to the next, and becomes a tensor only where an op on tensors uses it. Integers wrap around and floats round
as the tensors would.
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

# Expressions for the number of a scalar tensor.
UNBOX = {
    int32: "{0}.item()",
    int64: "{0}.item()",
    bool_: "{0}.item()",
    float32: "f32({0}.item())",
    float64: "f64({0}.item())",
}
NAMES = {"f32": np.float32, "f64": np.float64}


def box(dtype: DType) -> Callable[[Any], torch.Tensor]:
    """Returns the function that converts a number to a scalar tensor."""
    torch_dtype = dtype.torch
    plain = float if dtype.is_floating else int if dtype.is_integer else bool
    return lambda number: torch.tensor(plain(number), dtype=torch_dtype)


def literal(value: torch.Tensor, dtype: DType) -> Any:
    """Returns the number of a scalar constant."""
    number = value.item()
    return {float32: np.float32, float64: np.float64}[dtype](number) if dtype.is_floating else number


def may_be_number(tensor: Any) -> bool:
    """Returns True if a tensor is a scalar of a dtype that can be held as a number."""
    return isinstance(tensor, SymbolicTensor) and tensor.dtype in UNBOX and tensor.shape.rank == 0


def template(step: Step) -> str | None:
    """Returns the expression that computes a step on numbers, or None if it has other operands or results."""
    if step.op.scalar is None or step.placed or len(step.outputs) != 1 or not may_be_number(step.outputs[0]):
        return None
    if not all(may_be_number(t) for t in step.inputs):
        return None
    form, dtype = step.op.scalar, step.outputs[0].dtype
    if not isinstance(form, ScalarForm):
        return form(step.inputs[0].dtype, dtype)
    if form.to_bool:
        return form.template
    if dtype.is_floating:
        return form.template if form.floats else None
    if form.bounded:
        return form.template
    return WRAPPED[dtype].format(form.template) if form.integers and dtype.is_integer else None
