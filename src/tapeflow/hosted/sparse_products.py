"""The product of two sparse matrices, as Keras asks for it: through compressed rows and back."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import range as range_of
from tapeflow.array.gathering import gather
from tapeflow.array.joining import concat, repeat
from tapeflow.array.properties import size
from tapeflow.array.shaping import transpose
from tapeflow.array.sorting import argsort, unique, unravel_index
from tapeflow.core.types.dtypes import int64
from tapeflow.math import add, cumsum, multiply
from tapeflow.math.casting import cast
from tapeflow.math.counting import bincount
from tapeflow.math.segment import unsorted_segment_sum
from tapeflow.sparse.tensor import SparseTensor


def sparse_tensor_to_csr_sparse_matrix(indices: Any, values: Any, dense_shape: Any, name: str | None = None) -> Any:
    """Returns a sparse matrix, or a batch of them. Compressed rows would hold the same: this is the `SparseTensor` itself."""
    return SparseTensor(indices, values, dense_shape)


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix: Any, type: Any, name: str | None = None) -> Any:
    """Returns the `SparseTensor` of a sparse matrix."""
    return sparse_matrix


def sparse_matrix_sparse_mat_mul(a: Any, b: Any, type: Any, name: str | None = None) -> Any:
    """Returns the product of two sparse matrices, or of two batches of equal length, row by row (Gustavson's algorithm).

    Every nonzero of `a` meets the nonzeros of the row of `b` that its column names; products of one place are summed.
    """
    depth = b.dense_shape[-2]
    row_of_b = _place(b.indices[:, :-1], b.dense_shape[:-1])
    order = argsort(row_of_b, stable=True)
    batches = a.dense_shape[0] if a.shape.rank == 3 else 1
    lengths = bincount(cast(row_of_b, "int32"), minlength=cast(batches * depth, "int32"), dtype=int64)
    met = _place(concat([a.indices[:, :-2], a.indices[:, -1:]], 1), concat([a.dense_shape[:-2], [depth]], 0))
    count = gather(lengths, met)
    from_a = repeat(range_of(size(count, int64)), count)
    within = range_of(size(from_a, int64)) - gather(cumsum(count, exclusive=True), from_a)
    from_b = gather(order, add(gather(gather(cumsum(lengths, exclusive=True), met), from_a), within))
    products = multiply(gather(a.values, from_a), gather(b.values, from_b))
    shape = concat([a.dense_shape[:-1], b.dense_shape[-1:]], 0)
    where = _place(concat([gather(a.indices[:, :-1], from_a), gather(b.indices[:, -1:], from_b)], 1), shape)
    places, segment = unique(where, int64)
    sums = unsorted_segment_sum(products, segment, size(places))
    sorted_places = argsort(places)
    indices = unravel_index(gather(places, sorted_places), shape)
    return SparseTensor(transpose(indices), gather(sums, sorted_places), shape)


def _place(indices: Any, shape: Any) -> Any:
    """Returns the positions that indices have in a tensor of that shape, in row-major order."""
    place = indices[:, 0]
    for axis in range(1, indices.shape[1]):
        place = place * shape[axis] + indices[:, axis]
    return place
