"""Ragged tensors put together, taken from and reshaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.array.gathering import gather as gather_dense
from tapeflow.array.gathering import gather_nd as gather_nd_dense
from tapeflow.array.joining import concat as concat_dense
from tapeflow.array.shaping import expand_dims as expand_dense
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import int32, int64
from tapeflow.core.op import is_tensor_like
from tapeflow.core.tensor import invalid
from tapeflow.ragged.indexing import take_rows
from tapeflow.ragged.row_partition import array_of, tensor_of
from tapeflow.ragged.tensor import RaggedTensor, as_values, checked_axis


def _matched(values: Sequence[Any]) -> list[Any]:
    """Tensors and ragged tensors of one rank, of one dtype and with row splits of one dtype."""
    dtype = next((v.dtype for v in values if isinstance(v, RaggedTensor) or is_tensor_like(v)), None)
    items = [v if isinstance(v, RaggedTensor) else convert(v, None if is_tensor_like(v) else dtype) for v in values]
    ranks = {len(v.shape) for v in items}
    if len(ranks) > 1:
        raise ValueError(f"Shapes {[v.shape for v in items]} must all have the same rank.")
    ragged = [v for v in items if isinstance(v, RaggedTensor)]
    if any(v.row_splits.dtype is int64 for v in ragged):
        items = [v.with_row_splits_dtype(int64) if isinstance(v, RaggedTensor) else v for v in items]
    return items


def as_ragged(value: Any, ragged_rank: int) -> Any:
    """The tensor or ragged tensor with that many partitioned dimensions at least."""
    if ragged_rank == 0:
        return value
    if isinstance(value, RaggedTensor):
        return value.with_values(as_ragged(value.values, ragged_rank - 1))
    return RaggedTensor.from_tensor(value, ragged_rank=ragged_rank)


def _equally_ragged(items: Sequence[Any], least: int = 0) -> list[Any]:
    rank = max([least] + [v.ragged_rank for v in items if isinstance(v, RaggedTensor)])
    return [as_ragged(v, rank) for v in items]


def concat(values: Sequence[Any], axis: int) -> Any:
    """Joins ragged tensors along a dimension.

    Raises:
        ValueError: there is no such dimension, or the ranks differ.
        InvalidArgumentError: rows outside of the dimension are of different lengths.
    """
    items = _matched(values)
    axis = checked_axis(axis, len(items[0].shape), "axis")
    return _joined(items, axis)


def _joined(items: list[Any], axis: int) -> Any:
    if not any(isinstance(v, RaggedTensor) for v in items) and axis == 0:
        return concat_dense(items, 0)
    if len(items) == 1:
        return items[0]
    if axis == 0:
        return _joined_rows(_equally_ragged(items))
    if not any(isinstance(v, RaggedTensor) for v in items):
        return concat_dense(items, axis)
    items = _equally_ragged(items, 1)
    counts = {v._row_partition.static_nrows for v in items}
    if len(counts) > 1:
        raise invalid(f"Input tensors have incompatible shapes: {sorted(counts)} rows")
    if axis == 1:
        return _side_by_side(items)
    first = items[0]
    if not all(v._row_partition.same_as(first._row_partition) for v in items):
        raise invalid("Inputs must have identical ragged splits outside of the dimension they are joined along")
    return first.with_values(_joined([v.values for v in items], axis - 1)) if axis > 1 else first


def _joined_rows(items: list[Any]) -> Any:
    """The rows of all, one after the other."""
    if not isinstance(items[0], RaggedTensor):
        return concat_dense(items, 0)
    values = _joined([v.values for v in items], 0)
    dtype = items[0].row_splits.dtype
    lengths = np.concatenate([v._row_partition.lengths() for v in items])
    uniform = {v._row_partition.static_uniform_row_length for v in items}
    if len(uniform) == 1 and None not in uniform:
        return RaggedTensor.from_uniform_row_length(values, tensor_of(uniform.pop(), dtype), len(lengths))
    return RaggedTensor.from_row_lengths(values, tensor_of(lengths, dtype), validate=False)


def _side_by_side(items: list[Any]) -> Any:
    """Each row of the result is the rows of all, joined."""
    joined = _joined_rows(items)
    count = items[0]._row_partition.static_nrows
    order = np.arange(len(items) * count).reshape(len(items), count).T.reshape(-1)
    rows = take_rows(joined, order)
    splits = rows._row_partition.splits()[:: len(items)]
    return RaggedTensor.from_row_splits(rows.values, tensor_of(splits, rows.row_splits.dtype), validate=False)


def stack(values: Sequence[Any], axis: int) -> Any:
    """Puts ragged tensors of one rank together along a new dimension.

    Raises:
        ValueError: there is no such place, or the ranks differ.
    """
    items = _matched(values)
    rank = len(items[0].shape)
    if rank == 0:
        from tapeflow import stack as stack_dense

        return stack_dense(items)
    axis = checked_axis(axis, rank + 1, "axis")
    if axis:
        return _joined([expand_dims(v, axis) for v in items], axis)
    counts = [v.shape[0] for v in items]
    joined = _joined(items, 0)
    dtype = joined.row_splits.dtype if isinstance(joined, RaggedTensor) else int32  # as TensorFlow gives for tensors
    return RaggedTensor.from_row_lengths(joined, tensor_of(counts, dtype), validate=False)


def expand_dims(value: Any, axis: int) -> Any:
    """A new dimension of length 1.

    Raises:
        ValueError: there is no such place.
    """
    if not isinstance(value, RaggedTensor):
        return expand_dense(value, axis)
    axis = checked_axis(axis, len(value.shape) + 1, "axis")
    rows = value._row_partition.static_nrows
    dtype = value.row_splits.dtype
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(value, tensor_of(rows, dtype), 1)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(value, tensor_of(1, dtype), rows)
    return value.with_values(expand_dims(value.values, axis - 1))


def gather(params: Any, indices: Any, axis: int = 0, batch_dims: int = 0) -> Any:
    """The slices of ragged or dense `params` at ragged or dense `indices`.

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
    if batch_dims == 0:
        return params.with_values(gather(params.values, indices, axis - 1)) if axis > 1 else _columns_at(params, indices)
    if batch_dims == 1 and axis == 1:
        return _in_batches(params, indices)
    raise ValueError(f"gather of ragged tensors with axis={axis} and batch_dims={batch_dims} is not supported: use 0 or 1")


def _rows_at(params: Any, indices: Any) -> Any:
    if not isinstance(params, RaggedTensor):
        return gather_dense(params, indices)
    numbers = array_of(indices)
    _check(numbers, params._row_partition.static_nrows)
    result: Any = params[int(numbers)] if numbers.ndim == 0 else take_rows(params, numbers.reshape(-1))
    for i in range(numbers.ndim - 1, 0, -1):
        length = tensor_of(numbers.shape[i], params.row_splits.dtype)
        result = RaggedTensor.from_uniform_row_length(result, length, int(np.prod(numbers.shape[:i])))
    return result


def _columns_at(params: RaggedTensor, indices: Any) -> Any:
    """The same columns of every row."""
    numbers = array_of(indices)
    return _in_batches(params, convert(np.broadcast_to(numbers, (params.shape[0], *numbers.shape))))


def _in_batches(params: Any, indices: Any) -> Any:
    """Of each row of `params` the elements at the row of `indices`."""
    params = as_ragged(params, 1)
    if params.shape[0] != indices.shape[0]:
        raise invalid("batch shape from indices does not match params shape")
    nested, rows = indices, np.arange(indices.shape[0])
    while isinstance(nested, RaggedTensor):  # the outermost row of every index
        rows = np.repeat(rows, nested._row_partition.lengths())
        nested = nested.values
    numbers = array_of(nested)
    lengths = params._row_partition.lengths()[rows]
    shape = (-1,) + (1,) * (numbers.ndim - 1)
    if ((numbers < 0) | (numbers >= lengths.reshape(shape))).any():
        raise invalid(f"indices {numbers.tolist()} are out of range: rows have {lengths.tolist()} elements")
    places = numbers + params._row_partition.splits()[:-1][rows].reshape(shape)
    taken = _rows_at(params.values, convert(places))
    return indices.with_flat_values(taken) if isinstance(indices, RaggedTensor) else taken


def gather_nd(params: Any, indices: Any) -> Any:
    """The elements or slices of ragged `params` at rows of indices.

    Raises:
        InvalidArgumentError: an index is out of range.
    """
    numbers = array_of(as_values(indices))
    flat = numbers.reshape(-1, numbers.shape[-1])
    _check(flat[:, 0], params.shape[0])
    places, values = flat[:, 0], params
    for i, column in enumerate(flat.T[1:], 1):
        if not isinstance(values, RaggedTensor):  # the remaining indices are those of dense values
            rest = np.concatenate([places[:, None], flat[:, i:]], 1)
            return gather_nd_dense(values, rest.reshape(*numbers.shape[:-1], -1))
        lengths = values._row_partition.lengths()[places]
        if ((column < 0) | (column >= lengths)).any():
            raise invalid(f"indices {flat.tolist()} are out of range [Op:GatherNd]")
        places, values = values._row_partition.splits()[:-1][places] + column, values.values
    return _rows_at(values, convert(places.reshape(numbers.shape[:-1])))


def squeeze(value: Any, axis: int) -> Any:
    """The value without a dimension of length 1.

    Raises:
        InvalidArgumentError: the dimension is of another length.
    """
    if not isinstance(value, RaggedTensor):
        from tapeflow.array.shaping import squeeze as squeeze_dense

        return squeeze_dense(value, [axis])
    if axis > 1:
        return value.with_values(squeeze(value.values, axis - 1))
    lengths = [value.shape[0]] if axis == 0 else value._row_partition.lengths()
    if any(n != 1 for n in lengths):
        raise invalid(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {list(lengths)} [Op:Squeeze]")
    return value.values


def _check(numbers: np.ndarray, count: int) -> None:
    flat = numbers.reshape(-1)
    wrong = np.flatnonzero((flat < 0) | (flat >= count))
    if len(wrong):
        raise invalid(f"indices[{wrong[0]}] = {flat[wrong[0]]} is not in [0, {count}) [Op:RaggedGather]")


