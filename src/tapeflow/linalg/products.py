"""Products of matrices."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.op import op
from tapeflow.core.shape import TensorShape
from tapeflow.core.shape_rules import text
from tapeflow.core.tape import Call
from tapeflow.core.tensor import invalid
from tapeflow.math.gradients import conj


def _matmul_rule(a: TensorShape, b: TensorShape, transpose_a: bool = False, transpose_b: bool = False) -> TensorShape:
    for i, x in enumerate((a, b)):
        if x.rank != 2:
            raise invalid(f"In[{i}] ndims must be >= 2" if x.rank < 2 else f"In[{i}] is not a matrix. Instead it has shape {text(x)}")
    m, k = a[::-1] if transpose_a else a
    l, n = b[::-1] if transpose_b else b  # noqa: E741
    if k != l and k is not None and l is not None:
        raise invalid(f"Matrix size-incompatible: In[0]: {text(a)}, In[1]: {text(b)}")
    return TensorShape([m, n])


def _mm(a: torch.Tensor, b: torch.Tensor, transpose_a: bool = False, transpose_b: bool = False) -> torch.Tensor:
    return torch.mm(a.t() if transpose_a else a, b.t() if transpose_b else b)


@op("MatMul", kernel=_mm, shape=_matmul_rule)
def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Any:
    """The product of two matrices."""


@_matmul.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    a, b = call.inputs
    transpose_a, transpose_b = call.attrs
    want_a, want_b = call.wanted
    if dy.dtype.is_complex:
        a, b = conj(a), conj(b)
    if transpose_a:
        da = _matmul(b, dy, transpose_b, True) if want_a else None
    else:
        da = _matmul(dy, b, False, not transpose_b) if want_a else None
    if transpose_b:
        db = _matmul(dy, a, True, transpose_a) if want_b else None
    else:
        db = _matmul(a, dy, not transpose_a, False) if want_b else None
    return da, db


matmul = _matmul
