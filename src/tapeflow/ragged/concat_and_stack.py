"""Joining, gathering and reshaping ragged tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import concat as concat_dense
from tapeflow.array.concat_and_split import split as split_dense
from tapeflow.array.concat_and_split import stack as stack_dense
from tapeflow.array.concat_and_split import tile as tile_dense
from tapeflow.array.concat_and_split import unstack
from tapeflow.array.gathers import gather as gather_dense
from tapeflow.array.gathers import gather_nd as gather_nd_dense
from tapeflow.array.properties import ensure_shape
from tapeflow.array.reshapes import broadcast_to, reshape, transpose
from tapeflow.array.reshapes import expand_dims as expand_dense
from tapeflow.array.reshapes import squeeze as squeeze_dense
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.arguments import is_tensor_like
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.math.casting import cast
from tapeflow.math.division import floormod
from tapeflow.ragged.kernels import ragged_gather
from tapeflow.ragged.row_partition import array_of, length_of, repeat_values, tensor_of, up_to
from tapeflow.ragged.rows import as_ragged, take_rows
from tapeflow.ragged.tensor import RaggedTensor, as_values, checked_axis


def _match_values(values: Sequence[Any]) -> list[Any]:
    """Converts values to tensors and ragged tensors of one rank, of one dtype and with row splits of one dtype."""
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    dtype = next((v.dtype for v in values if isinstance(v, RaggedTensor) or is_tensor_like(v)), None)
    items = [v if isinstance(v, RaggedTensor) else convert(v, None if is_tensor_like(v) else dtype) for v in values]
    ranks = {v.shape.rank for v in items} - {None}
    if len(ranks) > 1:
        raise ValueError(f"Shapes {[v.shape for v in items]} must all have the same rank.")
    items = [ensure_shape(v, [None] * rank) if v.shape.rank is None else v for rank in ranks for v in items] or items
    ragged = [v for v in items if isinstance(v, RaggedTensor)]
    if any(v.row_splits.dtype is int64 for v in ragged):
        items = [v.with_row_splits_dtype(int64) if isinstance(v, RaggedTensor) else v for v in items]
    return items


def _equally_ragged(items: Sequence[Any], least: int = 0) -> list[Any]:
    rank = max([least] + [v.ragged_rank for v in items if isinstance(v, RaggedTensor)])
    return [as_ragged(v, rank) for v in items]


def concat(values: Sequence[Any], axis: int) -> Any:
    """Joins ragged tensors along a dimension.

    Raises:
        ValueError: there is no such dimension, or the ranks differ.
        InvalidArgumentError: rows outside of the dimension are of different lengths.
    """
    items = _match_values(values)
    axis = checked_axis(axis, len(items[0].shape), "axis")
    return _join_items(items, axis)


def _join_items(items: list[Any], axis: int) -> Any:
    if not any(isinstance(v, RaggedTensor) for v in items) and axis == 0:
        return concat_dense(items, 0)
    if len(items) == 1:
        return items[0]
    if axis == 0:
        return _joined_rows(_equally_ragged(items))
    if not any(isinstance(v, RaggedTensor) for v in items):
        return concat_dense(items, axis)
    items = _equally_ragged(items, 1)
    for other in items[1:]:
        check_or_defer(_check_rows, items[0]._row_partition.nrows(), other._row_partition.nrows())
    if axis == 1:
        return _side_by_side(items)
    first = items[0]
    different = "Inputs must have identical ragged splits outside of the dimension they are joined along"
    for other in items[1:]:
        first._row_partition.must_be(other._row_partition, different)
    return first.with_values(_join_items([v.values for v in items], axis - 1))


def _check_rows(*counts: Any) -> None:
    if len({int(count) for count in counts}) > 1:
        raise InvalidArgumentError.of(
            f"Input tensors have incompatible shapes: {[int(count) for count in counts]} rows"
        )


def _joined_rows(items: list[Any]) -> Any:
    """Joins the rows of all items."""
    if not isinstance(items[0], RaggedTensor):
        return concat_dense(items, 0)
    values = _join_items([v.values for v in items], 0)
    lengths = concat_dense([v._row_partition.row_lengths() for v in items], 0)
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


def _side_by_side(items: list[Any]) -> Any:
    """Joins the rows of all items that have the same index."""
    joined = _joined_rows(items)
    rows = up_to(joined._row_partition.nrows())
    rows = take_rows(joined, reshape(transpose(reshape(rows, [len(items), -1])), [-1]))
    return RaggedTensor.from_row_splits(rows.values, rows.row_splits[:: len(items)], validate=False)


def stack(values: Sequence[Any], axis: int) -> Any:
    """Stacks ragged tensors of one rank along a new dimension.

    Raises:
        ValueError: there is no such position, or the ranks differ.
    """
    items = _match_values(values)
    rank = len(items[0].shape)
    if rank == 0:
        return stack_dense(items, checked_axis(axis, 1, "axis"))
    axis = checked_axis(axis, rank + 1, "axis")
    if axis:
        return _join_items([expand_dims(v, axis) for v in items], axis)
    counts = [length_of(v) for v in items]
    items = _equally_ragged(items, 1 if rank > 1 else 0)  # the rows of tensors may be of other lengths
    joined = items[0] if len(items) == 1 else _joined_rows(items)
    dtype = joined.row_splits.dtype if isinstance(joined, RaggedTensor) else int32  # as TensorFlow gives for tensors
    return RaggedTensor.from_row_lengths(joined, tensor_of(counts, dtype), validate=False)


def split(value: Any, sizes: Any, axis: int) -> list[Any]:
    """Splits a ragged tensor into parts along a dimension that is not ragged.

    Args:
        value: a ragged tensor.
        sizes: the number of parts, or a list of their lengths.
        axis: the dimension.

    Raises:
        ValueError: the dimension is ragged, or does not exist.
        InvalidArgumentError: the lengths do not add up to the dimension's.
    """
    axis = checked_axis(axis, len(value.shape), "axis")
    if axis > value.ragged_rank:
        parts = split_dense(value.flat_values, sizes, axis - value.ragged_rank)
        return [value.with_flat_values(part) for part in parts]
    if axis > 1:
        return [value.with_values(part) for part in split(value.values, sizes, axis - 1)]
    if axis == 1 and not value._row_partition.is_uniform():
        raise ValueError(f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` {axis}.")
    length = length_of(value) if axis == 0 else value._row_partition.uniform_row_length()
    count = sizes if isinstance(sizes, int) else len(sizes)
    if isinstance(sizes, int):
        sizes = [length // count] * count
    limits = list(itertools.accumulate(sizes))

    def check(sizes: Tensor, length: Tensor) -> None:
        if array_of(sizes).sum() != array_of(length) or (array_of(sizes) < 0).any():
            raise invalid(f"Cannot split {array_of(length)} slices into parts of {array_of(sizes).tolist()}")

    check_or_defer(check, tensor_of(sizes, int64), tensor_of(length, int64))
    spans = [slice(start, limit) for start, limit in zip([0, *limits], limits, strict=False)]
    return [value[span] if axis == 0 else value[:, span] for span in spans]


def expand_dims(value: Tensor | RaggedTensor, axis: int) -> Any:
    """Inserts a dimension of length 1.

    Raises:
        ValueError: there is no such position.
    """
    if not isinstance(value, RaggedTensor):
        return expand_dense(value, axis)
    axis = checked_axis(axis, len(value.shape) + 1, "axis")
    rows = value._row_partition.nrows()
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(value, rows, 1)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(value, tensor_of(1, rows.dtype), rows)
    return value.with_values(expand_dims(value.values, axis - 1))


def tile(value: TensorLike, multiples: Sequence[Any]) -> Any:
    """Repeats a tensor or ragged tensor along each of its dimensions.

    Args:
        value: the tensor.
        multiples: how often to repeat each dimension, ints or scalar tensors.
    """
    if not isinstance(value, RaggedTensor):
        return tile_dense(value, multiples)
    of_rows, of_each, *inner = multiples
    if any(type(m) is not int or m != 1 for m in inner):
        value = value.with_values(tile(value.values, [1, *inner]))
    partition = value._row_partition
    rows = tile_dense(up_to(partition.nrows()), [of_rows])
    copies = take_rows(value, reshape(tile_dense(expand_dense(rows, 1), [1, of_each]), [-1]))
    lengths = gather_dense(partition.row_lengths(), rows)
    nested = RaggedTensor.from_row_lengths(copies.values, lengths * cast(of_each, lengths.dtype), validate=False)
    return RaggedTensor.from_nested_row_splits(nested.flat_values, nested.nested_row_splits, validate=False)


def gather(params: Any, indices: Any, axis: int = 0, batch_dims: int = 0) -> Any:
    """Returns the slices of ragged or dense `params` at ragged or dense `indices`.

    Raises:
        InvalidArgumentError: an index is out of range.
    """
    params, indices = as_values(params), as_values(indices)
    if batch_dims < 0:
        batch_dims += len(indices.shape)
    axis = checked_axis(axis, len(params.shape), "axis")
    axis = max(axis, batch_dims)
    if batch_dims == 0 and axis == 0:
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        return _rows_at(params, indices)
    if batch_dims == 0 and axis == 1:
        return _columns_at(params, indices)
    if batch_dims == 1 and axis == 1:
        return _in_batches(params, indices)
    outer = as_ragged(params, 1)
    if batch_dims == 1:  # every row's indices, for each of its values
        indices = _rows_at(indices, outer.value_rowids())
    elif batch_dims > 1:
        batches = as_ragged(indices, 1)
        check_or_defer(_check_batches, outer.row_splits, batches.row_splits)
        indices, batch_dims = batches.values, batch_dims - 1
    return outer.with_values(gather(outer.values, indices, axis - 1, batch_dims))


def _rows_at(params: Tensor | RaggedTensor, indices: Tensor) -> Any:
    if not isinstance(params, RaggedTensor):
        return gather_dense(params, indices)
    ragged_gather.op.check_types({"Tindices": indices.dtype})
    check_or_defer(_check_places, indices, params._row_partition.nrows())
    dtype = params.row_splits.dtype
    rank = indices.shape.rank
    if rank == 0:
        return params[indices]
    result: Any = take_rows(params, cast(reshape(indices, [-1]), dtype))
    dims = tuple(shape_of(indices))
    for i in range(rank - 1, 0, -1):
        rows = tensor_of(math.prod(dims[:i]), dtype)
        result = RaggedTensor.from_uniform_row_length(result, tensor_of(dims[i], dtype), rows)
    # As in TensorFlow, uniform row lengths are not static any more.
    return RaggedTensor.from_nested_row_splits(result.flat_values, result.nested_row_splits, validate=False)


def _columns_at(params: Tensor | RaggedTensor, indices: Tensor | RaggedTensor) -> Any:
    """Returns the same columns of every row."""
    params = as_ragged(params, 1)
    rows = params._row_partition.nrows()
    if not isinstance(indices, RaggedTensor):
        return _in_batches(params, broadcast_to(indices, [tensor_of(rows, int32), *shape_of(indices)]))
    count = indices._row_partition.nrows()
    again = take_rows(indices, floormod(up_to(rows * tensor_of(count, rows.dtype)), tensor_of(count, rows.dtype)))
    return _in_batches(params, RaggedTensor.from_uniform_row_length(again, count, rows))


def _in_batches(params: Tensor | RaggedTensor, indices: Any) -> Any:
    """Returns of each row of `params` the elements at the row of `indices`."""
    params = as_ragged(params, 1)
    dtype = params.row_splits.dtype

    check_or_defer(_check_batches, params._row_partition.nrows(), tensor_of(length_of(indices), dtype))
    nested, rows = indices, up_to(params._row_partition.nrows())
    while isinstance(nested, RaggedTensor):  # the outermost row of every index
        rows = repeat_values(rows, nested.row_splits)
        nested = nested.values
    positions = cast(nested, dtype)
    column = [-1] + [1] * (nested.shape.rank - 1)
    lengths = reshape(gather_dense(params._row_partition.row_lengths(), rows), column)
    check_or_defer(_check_places, positions, lengths)
    starts = reshape(gather_dense(params._row_partition.row_starts(), rows), column)
    gathered = _rows_at(params.values, positions + starts)
    return indices.with_flat_values(gathered) if isinstance(indices, RaggedTensor) else gathered


def _check_batches(mine: Tensor, theirs: Tensor) -> None:
    if not np.array_equal(array_of(mine), array_of(theirs)):
        raise invalid("batch shape from indices does not match params shape")


def gather_nd(params: Any, indices: Any) -> Any:
    """Returns the elements or slices of ragged `params` at rows of indices.

    Raises:
        InvalidArgumentError: an index is out of range.
    """
    indices = as_values(indices)
    depth = indices.shape[-1]
    if depth is None:
        raise ValueError("gather_nd of a ragged tensor needs indices whose last dimension is static.")
    dtype = params.row_splits.dtype
    columns = unstack(cast(indices, dtype), depth, -1)
    check_or_defer(_check_places, columns[0], params._row_partition.nrows())
    positions, values = columns[0], params
    for i, column in enumerate(columns[1:], 1):
        if not isinstance(values, RaggedTensor):  # the remaining indices refer to dense values
            return gather_nd_dense(values, stack_dense([positions, *columns[i:]], -1))
        check_or_defer(_check_places, column, gather_dense(values._row_partition.row_lengths(), positions))
        positions, values = gather_dense(values._row_partition.row_starts(), positions) + column, values.values
    return _rows_at(values, positions)


def squeeze(value: Tensor | RaggedTensor, axis: int) -> Any:
    """Removes a dimension of length 1.

    Raises:
        InvalidArgumentError: the dimension is of another length.
    """
    if not isinstance(value, RaggedTensor):
        return squeeze_dense(value, [axis])
    if axis > 1:
        return value.with_values(squeeze(value.values, axis - 1))

    def check(lengths: Tensor) -> None:
        numbers = array_of(lengths).reshape(-1).tolist()
        if any(n != 1 for n in numbers):
            raise invalid(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {numbers} [Op:Squeeze]")

    check_or_defer(check, value.nrows() if axis == 0 else value.row_lengths())
    return value.values


def _check_places(indices: Tensor, count: Tensor) -> None:
    flat, counts = (a.reshape(-1) for a in np.broadcast_arrays(array_of(indices), array_of(count)))
    wrong = np.flatnonzero((flat < 0) | (flat >= counts))
    if len(wrong):
        raise invalid(f"indices[{wrong[0]}] = {flat[wrong[0]]} is not in [0, {counts[wrong[0]]}) [Op:RaggedGather]")
