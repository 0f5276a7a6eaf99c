"""The product of two sparse matrices, as Keras computes it: by a conversion to compressed rows and back."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import range as range_of
from tapeflow.array.gathering import gather
from tapeflow.array.joining import concat, repeat
from tapeflow.array.properties import size
from tapeflow.array.shaping import transpose
from tapeflow.array.sorting import argsort, unique, unravel_index
from tapeflow.core.types.dtypes import int64
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.casting import cast
from tapeflow.math.counting import bincount
from tapeflow.math.cumulative import cumsum
from tapeflow.math.segment import unsorted_segment_sum
from tapeflow.sparse.tensor import SparseTensor


def sparse_tensor_to_csr_sparse_matrix(indices: Any, values: Any, dense_shape: Any, name: str | None = None) -> Any:
    """Returns a sparse matrix, or a batch of them: a `SparseTensor`, in the place of compressed rows."""
    return SparseTensor(indices, values, dense_shape)


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: Any, type: Any, name: str | None = None) -> Any:
    """Returns the `SparseTensor` of a sparse matrix."""
    return sparse_matrix


def sparse_matrix_sparse_mat_mul(a: Any, b: Any, type: Any, name: str | None = None) -> Any:
    """Returns the product of two sparse matrices, or of two batches of equal length.

    By Gustavson's algorithm (1978): each nonzero of `a` is multiplied by the nonzeros of the row of `b` that its column
    names, and products for the same element are summed.
    """
    depth = b.dense_shape[-2]
    row_of_b = _position(b.indices[:, :-1], b.dense_shape[:-1])
    order = argsort(row_of_b, stable=True)
    batches = a.dense_shape[0] if a.shape.rank == 3 else 1
    lengths = bincount(cast(row_of_b, "int32"), minlength=cast(batches * depth, "int32"), dtype=int64)
    row_of_a = _position(concat([a.indices[:, :-2], a.indices[:, -1:]], 1), concat([a.dense_shape[:-2], [depth]], 0))
    count = gather(lengths, row_of_a)
    from_a = repeat(range_of(size(count, int64)), count)
    within = range_of(size(from_a, int64)) - gather(cumsum(count, exclusive=True), from_a)
    from_b = gather(order, add(gather(gather(cumsum(lengths, exclusive=True), row_of_a), from_a), within))
    products = multiply(gather(a.values, from_a), gather(b.values, from_b))
    shape = concat([a.dense_shape[:-1], b.dense_shape[-1:]], 0)
    where = _position(concat([gather(a.indices[:, :-1], from_a), gather(b.indices[:, -1:], from_b)], 1), shape)
    positions, segment = unique(where, int64)
    sums = unsorted_segment_sum(products, segment, size(positions))
    order_of_positions = argsort(positions)
    indices = unravel_index(gather(positions, order_of_positions), shape)
    return SparseTensor(transpose(indices), gather(sums, order_of_positions), shape)


def _position(indices: Any, shape: Any) -> Any:
    """Returns the positions of indices in a tensor of that shape, in row-major order."""
    position = indices[:, 0]
    for axis in range(1, indices.shape[1]):
        position = position * shape[axis] + indices[:, axis]
    return position
