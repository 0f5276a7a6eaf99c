"""Products with a matrix of few columns in functions, such as the last layer of a classifier or its gradient.

For most processors, MKL computes them as fast as others. If MKL has only general code for a processor, a matrix of 10
columns takes three to seven times as long as one of 16. The product of the transposes has as many rows, and is fast.
"""

from __future__ import annotations

import torch

from tapeflow.core.ops.elementwise_kernels import mkl_is_slow
from tapeflow.core.types.dtypes import DType, float32
from tapeflow.core.types.shape import TensorShape

_COLUMNS = range(2, 16)  # ATen computes one column by another function
_LEAST = 1 << 14  # elements of the other matrix: below, the cost of transposing exceeds the gain


def is_narrow(dtype: DType, rows: TensorShape, columns: int | None) -> bool:
    """Returns True if `by_transposes` may compute a product in less time than ATen.

    Args:
        dtype: the dtype of both matrices.
        rows: the shape of the matrix on the left.
        columns: the number of columns of the result, or None if it is not static.
    """
    count = rows.num_elements()
    return dtype is float32 and columns in _COLUMNS and (count is None or count >= _LEAST) and mkl_is_slow()


def by_transposes(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Computes `a @ b` as the transpose of `b.T @ a.T`, if `a` is large."""
    return torch.mm(b.t(), a.t()).t().contiguous() if _is_large(a) else torch.mm(a, b)


def by_transposes_with_bias(bias: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Computes `bias + a @ b`, as `torch.addmm` does."""
    return torch.add(by_transposes(a, b), bias) if _is_large(a) else torch.addmm(bias, a, b)


def _is_large(a: torch.Tensor) -> bool:
    return a.is_cpu and a.numel() >= _LEAST and not torch.compiler.is_exporting()  # another processor may run it
