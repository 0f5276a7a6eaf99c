"""Products of ragged matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import repeat
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.linalg.products import matmul as matmul_dense
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_max
from tapeflow.ragged.row_partition import array_of, tensor_of
from tapeflow.ragged.rows import as_ragged
from tapeflow.ragged.tensor import RaggedTensor, as_values


def matmul(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Any:
    """Multiplies matrices. At least one argument is ragged: its matrices differ in size, but each has equal rows.

    Raises:
        ValueError: dtypes, ranks or the numbers of matrices differ.
        InvalidArgumentError: a matrix has rows of different lengths, or sizes do not go together.
    """
    a, b = as_values(a), as_values(b)
    if a.dtype is not b.dtype:
        raise ValueError("`a` and `b` must have the same dtype.")
    rank = len(a.shape)
    if len(b.shape) != rank:
        raise ValueError("`a` and `b` must have the same rank.")
    if not isinstance(a, RaggedTensor) and not isinstance(b, RaggedTensor):
        return matmul_dense(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    if rank == 2:
        return matmul_dense(_dense_matrix(a), _dense_matrix(b), adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    a.shape[:1].assert_is_compatible_with(b.shape[:1])
    if rank == 3:
        return _multiply_padded(a, b, adjoint_a, adjoint_b)
    a, b = as_ragged(a, 1), as_ragged(b, 1)
    a._row_partition.must_be(b._row_partition, "Batch dimensions of `a` and `b` do not have the same size.")
    return a.with_values(matmul(a.values, b.values, adjoint_a, adjoint_b))


_UNEVEN = "The matrices in `a` and `b` may not be ragged in their innermost dimension."


def _dense_matrix(x: Tensor | RaggedTensor) -> Any:
    """Returns a ragged matrix as a dense one."""
    if not isinstance(x, RaggedTensor):
        return x
    _require_equal(x.row_lengths(), reduce_max(x.row_lengths()), _UNEVEN)
    return x.to_tensor()


def _require_equal(lengths: Tensor, others: Tensor, message: str) -> None:
    def check(lengths: Tensor, others: Tensor) -> None:
        if (array_of(lengths) != array_of(others)).any():
            raise invalid(f"{message} {np.unique(array_of(lengths)).tolist()}")

    check_or_defer(check, lengths, others)


def _matrix_sizes(x: Tensor | RaggedTensor, dtype: DType) -> list[Any]:
    """Returns the numbers of rows and of columns of each matrix; None if all have the same number."""
    if not isinstance(x, RaggedTensor):
        return [None, None]
    x = x.with_row_splits_dtype(dtype)
    rows = None if x._row_partition.is_uniform() else x.row_lengths()
    if not isinstance(x.values, RaggedTensor) or x.values._row_partition.is_uniform():
        return [rows, None]
    lengths = x.values.row_lengths()
    columns = maximum(reduce_max(x.with_values(lengths), 1), 0)
    _require_equal(lengths, repeat(columns, x.row_lengths()), _UNEVEN)
    return [rows, columns]


def _multiply_padded(
    a: Tensor | RaggedTensor, b: Tensor | RaggedTensor, adjoint_a: bool, adjoint_b: bool
) -> RaggedTensor:
    """Multiplies the matrices padded to one size, and leaves the padding out again."""
    dtype = (a if isinstance(a, RaggedTensor) else b).row_splits.dtype
    rows, inner = _matrix_sizes(a, dtype)[:: -1 if adjoint_a else 1]
    other_inner, columns = _matrix_sizes(b, dtype)[:: -1 if adjoint_b else 1]
    a, b = (x.to_tensor() if isinstance(x, RaggedTensor) else x for x in (a, b))
    if inner is not None or other_inner is not None:
        inner = tensor_of(shape_of(a)[1 if adjoint_a else 2], dtype) if inner is None else inner
        other_inner = tensor_of(shape_of(b)[2 if adjoint_b else 1], dtype) if other_inner is None else other_inner
        _require_equal(inner, other_inner, "Matrix size-incompatible:")
    product = matmul_dense(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    result = RaggedTensor.from_tensor(product, lengths=rows, row_splits_dtype=dtype)
    if columns is None:
        return result
    lengths = repeat(columns, result.row_lengths())
    return result.with_values(RaggedTensor.from_tensor(result.values, lengths=lengths, row_splits_dtype=dtype))
