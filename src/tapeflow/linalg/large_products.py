"""Products of matrices where MKL, which ATen calls, is slow on the processor.

oneDNN then computes large products in 0.4 to 0.9 of MKL's time. It copies a transposed matrix. Machine code does not
(`graph/compiler/products.py`): gradients of weights take 0.4 to 0.8 of the time. On some processors, MKL takes three
to seven times as long for 2 to 15 columns as for 16. The last layer of a classifier has so few. The product of the
transposes has as many rows, and is fast. Eager ops, functions and gradients all choose here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core import aten, mkl
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.types.dtypes import DType, float32
from tapeflow.core.types.shape import TensorShape

_LARGE = 1 << 22  # multiplications: below, the overhead of a longer call exceeds the gain
_MAY_BE_LARGE = 1 << 13  # multiplications without a dimension of unknown size
_NARROW = range(2, 16)  # columns; ATen computes one column by another function
_TALL = 1 << 14  # elements of the rows: below, the cost of transposing exceeds the gain
_FEW_OF_TILE = 8  # rows or columns of the result: fewer leave most of a tile empty
_MANY_ROWS = 1 << 10  # oneDNN reads transposed weights again for each block of rows: from here on, a copy is faster


def by_size(kernel: Callable[..., Any]) -> Callable[[], Callable[..., Any] | None]:
    """Returns the trait `for_many` of a product: its kernel that chooses by size, where there is a choice."""
    return lambda: kernel if may_choose() else None


def may_choose() -> bool:
    """Returns True if `product` computes some products in less time than ATen."""
    return mkl.products_are_slow() or mkl.narrow_products_are_slow()


def chooses(dtype: DType, rows: TensorShape, columns: int | None) -> bool:
    """Returns True if `product` may compute a product in less time than ATen.

    Args:
        dtype: the dtype of both matrices.
        rows: the shape of the rows.
        columns: the number of columns of the result, or None if it is not static.
    """
    count = rows.num_elements()
    if dtype is float32 and columns in _NARROW and mkl.narrow_products_are_slow():
        return count is None or count >= _TALL
    if count is None and rows.rank is not None:
        rows = TensorShape([n for n in rows if n is not None])
        return is_large(dtype, rows, columns, _MAY_BE_LARGE)
    return is_large(dtype, rows, columns)


def is_large(dtype: DType, rows: TensorShape, columns: int | None, least: int = _LARGE) -> bool:
    """Returns True if a product has static sizes, and oneDNN computes it in less time than MKL.

    Args:
        dtype, rows, columns: as of `chooses`.
        least: the fewest multiplications.
    """
    count = rows.num_elements()
    return dtype is float32 and None not in (count, columns) and count * columns >= least and mkl.products_are_slow()


def product(rows: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Computes `rows @ matrix` by the fastest kernel for the sizes.

    Args:
        rows: of two dimensions or more.
        matrix: of two dimensions.
    """
    columns, count = matrix.shape[-1], rows.numel()
    if rows.dtype is torch.float32 is matrix.dtype and by_value(rows) and by_value(matrix):
        if _is_transposed(rows, matrix):
            return hooks.wide_code().transposed_product(rows.t(), matrix)
        if columns in _NARROW and count >= _TALL and rows.ndim == 2 and mkl.narrow_products_are_slow():
            return torch.mm(matrix.t(), rows.t()).t().contiguous()
        if count * columns >= _LARGE and mkl.products_are_slow():
            return _by_onednn(rows, matrix.t())
    if rows.ndim != 2:
        return torch.nn.functional.linear(rows, matrix.t())
    return torch.mm(rows, matrix)


def _is_transposed(rows: torch.Tensor, matrix: torch.Tensor) -> bool:
    """Returns True if the first matrix is transposed, and `transposed_product` takes less time."""
    return (
        rows.ndim == 2
        and min(len(rows), matrix.shape[1]) >= _FEW_OF_TILE
        and rows.shape[1] == len(matrix) > 0  # ATen raises the error for others
        and rows.t().is_contiguous()
        and matrix.is_contiguous()
        and not (rows.is_neg() or matrix.is_neg() or aten.maybe_current_level() is not None)
        and mkl.products_are_slow()
        and hooks.wide_code() is not None
    )


def _by_onednn(rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Computes `rows @ weights.t()`."""
    if rows.ndim > 2 or not rows.t().is_contiguous():
        rows = rows.contiguous()  # for other strides oneDNN has only slow code
    if rows.numel() >= _MANY_ROWS * rows.shape[-1] or not weights.t().is_contiguous():
        weights = weights.contiguous()
    return aten.onednn_linear(rows, weights, None, "none", [], "")
