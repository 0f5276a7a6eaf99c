"""Functions of `tf.ragged`, and `tf.ragged_fill_empty_rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.array.gathering import gather
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import as_dtype, bool_, int64
from tapeflow.core.op import op
from tapeflow.core.tape import Call
from tapeflow.core.tensor import Tensor, invalid
from tapeflow.math.arithmetic import subtract
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_sum
from tapeflow.ragged import arranging
from tapeflow.ragged.row_partition import array_of, integers, tensor_of
from tapeflow.ragged.tensor import RaggedTensor, as_values


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function on the flat values of ragged tensors.

    Args:
        op: takes flat values in the place of each ragged tensor, and gives as many.
        *args, **kwargs: for `op`, or lists of that; all ragged tensors among them have the same rows.

    Returns:
        A ragged tensor with what `op` gave in the same rows; without a ragged tensor, what `op` gave.

    Raises:
        ValueError: `op` gave more or fewer values, or ragged tensors have more or fewer than others.
        InvalidArgumentError: the rows of ragged tensors differ.

    Example:
        >>> tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
        <tf.RaggedTensor [[1, 4], [9]]>
    """
    found: list[RaggedTensor] = []

    def flat(value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        return type(value)([flat(v) for v in value]) if type(value) in (list, tuple) else value

    new_args, new_kwargs = [flat(a) for a in args], {k: flat(v) for k, v in kwargs.items()}
    if not found:
        return op(*new_args, **new_kwargs)
    first = found[0]
    if len({r.flat_values.shape[0] for r in found}) > 1:
        raise ValueError("Input RaggedTensors' flat_values must all have the same outer-dimension size.")
    for other in found[1:]:
        mine, theirs = first._nested_row_partitions, other._nested_row_partitions
        if len(mine) != len(theirs) or not all(p.same_as(q) for p, q in zip(mine, theirs, strict=True)):
            raise invalid("Inputs must have identical ragged splits")
    result = as_values(op(*new_args, **new_kwargs))
    expected = first.flat_values.shape[0]
    if result.shape.rank == 0 or result.shape[0] != expected:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as flat_values "
            f"of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: {expected})"
        )
    return first.with_flat_values(result)


def range(
    starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None,
    row_splits_dtype: Any = int64,
) -> RaggedTensor:  # fmt: skip
    """Rows of numbers from `starts` up to `limits`.

    Args:
        starts: where rows begin, a number for each or one for all; the limits, if there are none.
        limits: where they end; not included.
        deltas: the steps.
        dtype: of the result.
        row_splits_dtype: int32 or int64.

    Raises:
        InvalidArgumentError: a step is 0, or the lengths do not match.

    Example:
        >>> tf.ragged.range([3, 0, 2])
        <tf.RaggedTensor [[0, 1, 2], [], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    kind = None if dtype is None else as_dtype(dtype)
    tensors = [convert(v, None if isinstance(v, Tensor) else kind) for v in (starts, limits, deltas)]
    if kind is None:
        order = [t.dtype for t in tensors]
        kind = max(order, key=lambda d: (d.is_floating, d.size))
    begin, end, step = (np.asarray(cast(t, kind)._numpy()) for t in tensors)
    lengths = {a.shape[0] for a in (begin, end, step) if a.ndim}
    if any(a.ndim > 1 for a in (begin, end, step)) or len(lengths) > 1:
        raise invalid(f"starts, limits, and deltas must have the same shape, not {begin.shape}, {end.shape}, {step.shape}")
    if (step == 0).any():
        raise invalid("Requires delta != 0")
    count = lengths.pop() if lengths else 1
    rows = [
        np.arange(b, e, s, dtype=kind.as_numpy_dtype)
        for b, e, s in zip(*[np.broadcast_to(a, count).tolist() for a in (begin, end, step)], strict=True)
    ]
    splits = tensor_of(np.cumsum([0] + [len(r) for r in rows]), as_dtype(row_splits_dtype))
    values = convert(np.concatenate([np.zeros(0, kind.as_numpy_dtype), *rows]), kind)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def stack(values: Any, axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Puts tensors and ragged tensors of one rank together along a new dimension, whatever their lengths.

    Args:
        values: a list of tensors or ragged tensors.
        axis: where the new dimension goes.

    Raises:
        ValueError: the ranks differ, or there is no such place.

    Example:
        >>> tf.ragged.stack([[1, 2], [3]])
        <tf.RaggedTensor [[1, 2], [3]]>
    """
    items = [as_values(v) for v in (values if isinstance(values, (list, tuple)) else [values])]
    return arranging.stack(items, axis)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements where a mask is true; rows stay rows.

    Args:
        data: a tensor or ragged tensor.
        mask: booleans of shape `data.shape[:k]`, `k` at least 1.

    Returns:
        A ragged tensor with the rank of `data`; a tensor, if nothing is ragged.

    Raises:
        ValueError: the mask is a scalar.
        InvalidArgumentError: its rows are not those of `data`.

    Example:
        >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
        <tf.RaggedTensor [[1], [3, 4]]>
    """
    data, mask = as_values(data), as_values(mask)
    if mask.dtype is not bool_:
        raise TypeError(f"mask must be boolean, not {mask.dtype.name}")
    rank = len(mask.shape)
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if rank == 1 and not isinstance(mask, RaggedTensor):
        chosen = np.flatnonzero(array_of(mask))
        return arranging.gather(data, tensor_of(chosen, int64))
    data, mask = arranging.as_ragged(data, rank - 1), arranging.as_ragged(mask, rank - 1)
    if not data._row_partition.same_as(mask._row_partition):
        raise invalid("Inputs must have identical ragged splits: the rows of `mask` are not those of `data`")
    if rank > 2:
        return data.with_values(boolean_mask(data.values, mask.values))
    flat = array_of(mask.values)
    kept = np.bincount(mask._row_partition.rowids(), weights=flat, minlength=mask._row_partition.static_nrows)
    values = arranging.gather(data.values, tensor_of(np.flatnonzero(flat), int64))
    return RaggedTensor.from_row_lengths(values, tensor_of(kept.astype(np.int64), data.row_splits.dtype), validate=False)


# ---- segments --------------------------------------------------------------------------------------------------------


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value.

    Example:
        >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist()
        [0, 0, 0, 2, 2]
    """
    splits = integers(splits, "splits")
    splits.shape.assert_has_rank(1)
    if splits.shape[0] == 0:
        raise ValueError("Invalid row_splits: []")
    lengths = np.diff(array_of(splits))
    return tensor_of(np.repeat(np.arange(len(lengths)), lengths), splits.dtype if out_type is None else as_dtype(out_type))


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Where each row begins, of the sorted rows of values.

    Example:
        >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy().tolist()
        [0, 2, 2, 3]
    """
    ids = integers(segment_ids, "segment_ids")
    counts = np.bincount(array_of(ids), minlength=0 if num_segments is None else int(num_segments))
    dtype = (ids.dtype if isinstance(segment_ids, Tensor) else int64) if out_type is None else as_dtype(out_type)
    return tensor_of(np.concatenate([[0], np.cumsum(counts)]), dtype)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> RaggedTensor:
    """Puts each value into the row that `partitions` says.

    Args:
        data: a tensor or ragged tensor.
        partitions: integers of shape `data.shape[:k]`.
        num_partitions: how many rows there are.

    Raises:
        InvalidArgumentError: a row is out of range.

    Example:
        >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 2)
        <tf.RaggedTensor [[b'b'], [b'a', b'c']]>
    """
    data, rows = as_values(data), as_values(partitions)
    rank = len(rows.shape)
    if rank == 0:
        data, rows = arranging.expand_dims(data, 0), arranging.expand_dims(rows, 0)
    elif rank > 1:
        from tapeflow.ragged.conversion import merged

        data, rows = merged(data, 0, rank - 1), merged(rows, 0, rank - 1)
    numbers, count = array_of(rows), int(num_partitions)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= count):
        raise invalid(f"partitions {numbers.tolist()} are not in [0, {count})")
    order = np.argsort(numbers, kind="stable")
    values = arranging.gather(data, tensor_of(order, int64))
    return RaggedTensor.from_value_rowids(values, tensor_of(numbers[order], rows.dtype), count, validate=False)


# ---- crosses ---------------------------------------------------------------------------------------------------------


def _crossed(inputs: Any, cross: Callable[[list[Any]], Any]) -> RaggedTensor:
    """Crosses of ragged, sparse and dense features, as rows."""
    from tapeflow.sparse.tensor import SparseTensor

    features = []
    for value in inputs:
        if isinstance(value, RaggedTensor):
            if value.ragged_rank != 1:
                raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
            features.append(value.to_sparse())
        else:
            features.append(value if isinstance(value, SparseTensor) else convert(value))
    result = cross(features)
    rows = array_of(result.indices)[:, 0]
    count = result.shape[0]
    return RaggedTensor.from_value_rowids(result.values, tensor_of(rows, int64), count, validate=False)


def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Joins values of features with `_X_`: one from each, in every combination, row by row.

    Args:
        inputs: ragged, sparse or dense matrices of strings or integers, with equally many rows.

    Example:
        >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])])
        <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>
    """
    from tapeflow import sparse

    return _crossed(inputs, sparse.cross)


def cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None) -> RaggedTensor:
    """Hashes values of features: one from each, in every combination, row by row. See `tf.sparse.cross_hashed`."""
    from tapeflow import sparse

    return _crossed(inputs, lambda features: sparse.cross_hashed(features, num_buckets, hash_key))


# ---- empty rows ------------------------------------------------------------------------------------------------------


class RaggedFillEmptyRows(NamedTuple):
    """What `tf.ragged_fill_empty_rows` gives."""

    output_value_rowids: Any
    output_values: Any
    empty_row_indicator: Any
    reverse_index_map: Any


class RaggedFillEmptyRowsGrad(NamedTuple):
    """What `tf.ragged_fill_empty_rows_grad` gives."""

    d_values: Any
    d_default_value: Any


def _filled(value_rowids: Any, values: Any, nrows: Any, default_value: Any) -> Any:
    outside = ((value_rowids < 0) | (value_rowids >= nrows)).nonzero()
    if len(outside):
        raise invalid(f"value_rowids({int(outside[0])}) is invalid: {int(value_rowids[outside[0]])} >= {nrows}")
    empty = torch.bincount(value_rowids, minlength=nrows) == 0
    rows = torch.cat([value_rowids, empty.nonzero()[:, 0]])
    order = torch.argsort(rows, stable=True)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    together = torch.cat([values, default_value.expand(int(empty.sum()), *values.shape[1:])])
    return rows[order], together[order], empty, place[: len(value_rowids)]


@op("RaggedFillEmptyRows", kernel=_filled, host=("nrows",), moves=True)
def _fill(value_rowids: Any, values: Any, nrows: Any, default_value: Any, name: str | None = None) -> Any:
    """The values with one for each empty row."""


@_fill.gradient(needs="outputs")
def _(call: Call, d_rows: Any, d_values: Any, d_empty: Any, d_map: Any) -> Any:
    mine, default = ragged_fill_empty_rows_grad(call.outputs[3], d_values)
    return None, mine, default


def ragged_fill_empty_rows(
    value_rowids: Any, values: Any, nrows: Any, default_value: Any, name: str | None = None
) -> RaggedFillEmptyRows:
    """Gives every row without a value the default value.

    Args:
        value_rowids: int64: the row of each value.
        values: the values.
        nrows: how many rows there are.
        default_value: for empty rows.

    Returns:
        The rows of the values, the values, which rows were empty, and where each given value went.

    Raises:
        InvalidArgumentError: a row is out of range.

    Example:
        >>> rowids, values, empty, places = tf.ragged_fill_empty_rows([1, 1], [5, 7], 3, 0)
        >>> values.numpy().tolist()
        [0, 5, 7, 0]
    """
    values = convert(values)
    rows = integers(value_rowids, "value_rowids")
    return RaggedFillEmptyRows(*_fill(cast(rows, int64), values, nrows, convert(default_value, values.dtype), name))


def ragged_fill_empty_rows_grad(
    reverse_index_map: Any, grad_values: Any, name: str | None = None
) -> RaggedFillEmptyRowsGrad:
    """The gradients of `ragged_fill_empty_rows`: of the values, and of the default value.

    Example:
        >>> d_values, d_default = tf.ragged_fill_empty_rows_grad([1], [2.0, 3.0])
        >>> d_values.numpy().tolist(), d_default.numpy().item()
        ([3.0], 2.0)
    """
    grads = convert(grad_values)
    mine = gather(grads, reverse_index_map)
    return RaggedFillEmptyRowsGrad(mine, subtract(reduce_sum(grads), reduce_sum(mine)))


