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

from tapeflow.core.dtypes import DType, bool_, float32, float64, int32, int64
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.graph.program import Step

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


_ARITHMETIC = {"AddV2": "{0} + {1}", "Sub": "{0} - {1}", "Mul": "{0} * {1}", "Neg": "-{0}", "Square": "{0} * {0}"}
_OF_INTEGERS = {"FloorDiv": "{0} // {1}", "Abs": "abs({0})"}
# of integers; they can't wrap
_WITHIN = {"FloorMod": "{0} % {1}", "Maximum": "max({0}, {1})", "Minimum": "min({0}, {1})"}
_OF_FLOATS = {**_ARITHMETIC, "RealDiv": "{0} / {1}", "Abs": "abs({0})"}
_TRUTHS = {
    "Less": "{0} < {1}", "LessEqual": "{0} <= {1}", "Greater": "{0} > {1}", "GreaterEqual": "{0} >= {1}",
    "Equal": "{0} == {1}", "NotEqual": "{0} != {1}", "LogicalAnd": "{0} and {1}", "LogicalOr": "{0} or {1}",
    "LogicalNot": "not {0}",
}  # fmt: skip
_WRAPPED = {
    int32: "({} + 2147483648 & 4294967295) - 2147483648",
    int64: "({} + 9223372036854775808 & 18446744073709551615) - 9223372036854775808",
}
_FLOATS = {float32: "f32({0})", float64: "f64({0})"}


def template(step: Step) -> str | None:
    """The expression that computes a step of numbers, or None where it takes or gives something else."""
    if not step.registered or step.placed or len(step.outputs) != 1 or not may_be_number(step.outputs[0]):
        return None
    if not all(may_be_number(t) for t in step.inputs):
        return None
    name, dtype = step.name, step.outputs[0].dtype
    if name == "Cast":
        return _cast(step.inputs[0].dtype, dtype)
    if name == "SelectV2":
        return "{1} if {0} else {2}"
    if name in _TRUTHS:
        return _TRUTHS[name]
    if dtype.is_floating:
        return _OF_FLOATS.get(name)
    if name in _WITHIN:
        return _WITHIN[name]
    expression = _ARITHMETIC.get(name) or _OF_INTEGERS.get(name)
    return None if expression is None or not dtype.is_integer else _WRAPPED[dtype].format(expression)


def _cast(source: DType, to: DType) -> str | None:
    """Casts that a number comes through as a tensor would. Of int64 to float32 it would be rounded twice."""
    if source is to:
        return "{0}"
    if to.is_integer:
        return {bool_: "int({0})", int32: "{0}", int64: _WRAPPED[int32].format("{0}")}.get(source)
    if to.is_floating and source in (int32, bool_, float32, float64):
        return _FLOATS[to]
    return None
