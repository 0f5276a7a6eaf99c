"""`tf.ragged.map_flat_values`, `range`, `boolean_mask` and others, and `tf.ragged_fill_empty_rows`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.array.creation import range as range_op
from tapeflow.array.gathers import gather
from tapeflow.array.identities import less_static
from tapeflow.array.masks import where
from tapeflow.array.properties import ensure_shape
from tapeflow.array.sorting import argsort, searchsorted
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import check_ranks_first, text, with_rank
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, dtype_error, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.math.casting import cast
from tapeflow.math.counts import bincount, dense_bincount
from tapeflow.math.cumulative import cumsum
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_sum
from tapeflow.math.segment import unsorted_segment_sum
from tapeflow.ragged import concat_and_stack
from tapeflow.ragged.conversion import merge_dimensions
from tapeflow.ragged.row_partition import array_of, integers, number_of, splits_of, tensor_of
from tapeflow.ragged.rows import as_ragged
from tapeflow.ragged.tensor import RaggedTensor, as_values


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function on the flat values of ragged tensors.

    Args:
        op: takes flat values in the place of each ragged tensor, and returns as many.
        *args, **kwargs: arguments of `op`, or lists of such; all ragged tensors among them have the same rows.

    Returns:
        A ragged tensor with the values that `op` returns in the same rows; without ragged tensors, the result of `op`.

    Raises:
        ValueError: `op` returned more or fewer values, or ragged tensors have more or fewer than others.
        InvalidArgumentError: the rows of ragged tensors differ.

    Example:
        >>> tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]]))
        <tf.RaggedTensor [[1, 4], [9]]>
    """
    ragged: list[RaggedTensor] = []

    def flat(value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            ragged.append(value)
            return value.flat_values
        return type(value)([flat(v) for v in value]) if type(value) in (list, tuple) else value

    new_args, new_kwargs = [flat(a) for a in args], {k: flat(v) for k, v in kwargs.items()}
    if not ragged:
        return op(*new_args, **new_kwargs)
    first = ragged[0]
    if len({r.flat_values.shape[0] for r in ragged} - {None}) > 1:
        raise ValueError("Input RaggedTensors' flat_values must all have the same outer-dimension size.")
    for other in ragged[1:]:
        mine, theirs = first._nested_row_partitions, other._nested_row_partitions
        different = "Inputs must have identical ragged splits"
        if len(mine) != len(theirs):
            raise ValueError("All ragged inputs must have the same ragged_rank.")
        for p, q in zip(mine, theirs, strict=True):
            if len({p.static_nrows, q.static_nrows} - {None}) > 1:
                raise ValueError(different)
            p.must_be(q, different)
    result = as_values(op(*new_args, **new_kwargs))
    expected = first.flat_values.shape[:1]
    if result.shape.rank == 0 or not result.shape[:1].is_compatible_with(expected):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            f"flat_values of any ragged inputs. (output shape: {result.shape}; "
            f"expected outer dimension size: {expected[0]})"
        )
    return first.with_flat_values(result)


def _range_shapes(starts: TensorShape, limits: TensorShape, deltas: TensorShape, _: DType) -> list[TensorShape]:
    vectors = [s for s in (starts, limits, deltas) if s.with_rank_at_most(1).rank == 1]
    for vector in vectors[1:]:
        vectors[0].assert_is_compatible_with(vector)
    count = next((s[0] for s in vectors if s[0] is not None), None)
    scalars = all(s.rank == 0 for s in (starts, limits, deltas))
    return [TensorShape([2 if scalars else None if count is None else count + 1]), TensorShape([None])]


@op("RaggedRange", shape=_range_shapes, rename={"splits_dtype": "Tsplits"})
def _ragged_range(
    starts: torch.Tensor, limits: torch.Tensor, deltas: torch.Tensor, splits_dtype: DType = int64
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the splits and the values of rows of numbers."""
    shapes = {tuple(t.shape) for t in (starts, limits, deltas) if t.ndim}
    if any(len(s) > 1 for s in shapes) or len(shapes) > 1:
        raise invalid(f"starts, limits, and deltas must have the same shape, not {list(starts.shape)}, "
                      f"{list(limits.shape)}, {list(deltas.shape)}")  # fmt: skip
    if (deltas == 0).any():
        raise invalid("Requires delta != 0")
    begin, end, step = torch.broadcast_tensors(*[t.reshape(-1) for t in (starts, limits, deltas)])
    if begin.is_floating_point():
        lengths = torch.ceil((end - begin) / step).long()
    else:
        lengths = torch.div(end - begin + step - torch.sign(step), step, rounding_mode="floor").long()
    lengths = lengths.clamp(min=0)
    splits = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    rows = torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)
    offsets = torch.arange(len(rows), device=rows.device).sub_(splits.index_select(0, rows)).to(begin.dtype)
    steps = offsets.mul_(deltas.reshape(()) if deltas.numel() == 1 else step.index_select(0, rows))
    return splits.to(splits_dtype.torch), steps.add_(begin.index_select(0, rows))


not_differentiable(_ragged_range)


def range(
    starts: TensorLike, limits: TensorLike | None = None, deltas: TensorLike = 1, dtype: DTypeLike = None,
    name: str | None = None, row_splits_dtype: DTypeLike = int64,
) -> RaggedTensor:  # fmt: skip
    """Returns rows of numbers from `starts` up to `limits`.

    Args:
        starts: a scalar or vector, the first number of each row, or one for all rows; the limits, if there are none.
        limits: a scalar or vector, the ends of the rows, not included.
        deltas: a scalar or vector, the steps; 1 by default.
        dtype: the dtype of the result.
        row_splits_dtype: int32 or int64; int64 by default.

    Returns:
        A ragged matrix.

    Raises:
        InvalidArgumentError: a step is 0, or the lengths do not match.

    Example:
        >>> tf.ragged.range([3, 0, 2])
        <tf.RaggedTensor [[0, 1, 2], [], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    kind = None if dtype is None else as_dtype(dtype)
    tensors = [convert(v, kind) for v in (starts, limits, deltas)]
    kind = kind or max([t.dtype for t in tensors], key=lambda d: (d.is_floating, d.size))
    splits, values = _ragged_range(*[cast(t, kind) for t in tensors], as_dtype(row_splits_dtype), name=name)
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def stack(values: Sequence[TensorLike], axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Stacks tensors and ragged tensors of one rank along a new dimension, whatever their lengths.

    Args:
        values: a list of tensors or ragged tensors of one rank.
        axis: an int, the position of the new dimension; 0 by default.

    Returns:
        A ragged tensor of one rank more.

    Raises:
        ValueError: the ranks differ, or there is no such position.

    Example:
        >>> tf.ragged.stack([[1, 2], [3]])
        <tf.RaggedTensor [[1, 2], [3]]>
    """
    items = [as_values(v) for v in (values if isinstance(values, (list, tuple)) else [values])]
    return concat_and_stack.stack(items, axis)


def boolean_mask(data: TensorLike, mask: TensorLike, name: str | None = None) -> RaggedTensor | Tensor:
    """Returns the elements where a mask is true; rows stay rows.

    Args:
        data: a tensor or ragged tensor whose shape begins with `mask.shape`.
        mask: booleans of shape `data.shape[:k]`, `k` at least 1.

    Returns:
        A ragged tensor with the rank of `data`; a tensor, if nothing is ragged.

    Raises:
        TypeError: the mask is not of booleans.
        ValueError: the mask is a scalar, or a tensor that is not of booleans, or its shape does not match `data`.
        InvalidArgumentError: the rows of the mask and of `data` differ.

    Example:
        >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
        <tf.RaggedTensor [[1], [3, 4]]>
    """
    values, where_true = as_values(data), mask if isinstance(mask, RaggedTensor) else convert(mask, bool_)
    if where_true.dtype is not bool_:
        raise ValueError(
            f"Tensor conversion requested dtype bool for RaggedTensor with dtype {where_true.dtype.name}: {mask!r}."
        )
    if not isinstance(values, RaggedTensor) and not isinstance(where_true, RaggedTensor):
        values.shape[: where_true.shape.rank].assert_is_compatible_with(where_true.shape)
    return _mask_data(values, where_true)


def _mask_data(data: Tensor | RaggedTensor, mask: Tensor | RaggedTensor) -> Any:
    rank = len(mask.shape)
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if rank == 1 and not isinstance(mask, RaggedTensor):
        data.shape[:1].assert_is_compatible_with(mask.shape)
        return concat_and_stack.gather(data, _where_true(mask))
    data, mask = as_ragged(data, rank - 1), as_ragged(mask, rank - 1)
    different = "Inputs must have identical ragged splits: the rows of `mask` are not those of `data`"
    data._row_partition.must_be(mask._row_partition, different)
    if rank > 2:
        return data.with_values(_mask_data(data.values, mask.values))
    lengths = unsorted_segment_sum(cast(mask.values, data.row_splits.dtype), mask.value_rowids(), mask.nrows())
    values = concat_and_stack.gather(data.values, _where_true(mask.values))
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


def _where_true(mask: Tensor) -> Any:
    return where(mask)[:, 0]


# ---- segments --------------------------------------------------------------------------------------------------------


def row_splits_to_segment_ids(splits: TensorLike, name: str | None = None, out_type: DTypeLike = None) -> Tensor:
    """Returns the row of each value, by the row splits.

    Args:
        splits: int32 or int64, a vector that begins with 0. A row is empty if its splits decrease.
        out_type: int32 or int64; by default the dtype of the splits.

    Returns:
        A vector with an element for each value.

    Raises:
        ValueError: there are no splits.

    Example:
        >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist()
        [0, 0, 0, 2, 2]
    """
    row_splits = integers(splits, "splits", None if isinstance(splits, Tensor) else int64)
    dtype = row_splits.dtype if out_type is None else _index_dtype(out_type, "out_type")
    row_splits.shape.assert_has_rank(1)
    if row_splits.shape[0] == 0:
        raise ValueError("Invalid row_splits: []")
    lengths = maximum(row_splits[1:] - row_splits[:-1], tensor_of(0, row_splits.dtype))
    ids = searchsorted(cumsum(lengths), range_op(reduce_sum(lengths)), "right", row_splits.dtype)
    return less_static(tensor_of(ids, dtype), [None])


def _index_dtype(dtype: DTypeLike, attr: str) -> DType:
    """Returns a dtype that the indices of rows may have.

    Raises:
        InvalidArgumentError: it is not int32 or int64.
    """
    dtype = as_dtype(dtype)
    if dtype not in (int32, int64):
        raise dtype_error(
            f"Value for attr '{attr}' of {datatype_name(dtype)} is not in the list of allowed values: int32, int64"
        )
    return dtype


def segment_ids_to_row_splits(
    segment_ids: TensorLike, num_segments: TensorLike | None = None, out_type: DTypeLike = None, name: str | None = None
) -> Tensor:
    """Returns the row splits, by the row of each value.

    Args:
        segment_ids: int32 or int64, a vector in any order.
        num_segments: a scalar, the number of rows; by default one more than the greatest id. Values of later rows do
            not count.
        out_type: int32 or int64; by default the dtype of the ids.

    Returns:
        A vector with an element for each row and one more.

    Raises:
        TypeError: the ids are no integers.

    Example:
        >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy().tolist()
        [0, 2, 2, 3]
    """
    ids: Any = segment_ids if isinstance(segment_ids, Tensor) else None
    if ids is None:
        try:
            ids = integers(segment_ids, "segment_ids")
        except ValueError:
            ids = convert(segment_ids)
    if not ids.dtype.is_integer:
        raise TypeError(f"Argument `tensor` (name: segment_ids) must be of type integer. Received dtype: {ids.dtype}")
    _index_dtype(ids.dtype, "T")
    own_dtype = ids.dtype if isinstance(segment_ids, Tensor) else int64
    dtype = own_dtype if out_type is None else _index_dtype(out_type, "T")
    ids.shape.assert_has_rank(1)
    ids = ensure_shape(ids, [None])
    if num_segments is None:
        lengths = bincount(ids, dtype=ids.dtype)
    else:
        size = convert(num_segments)
        if not size.dtype.is_integer:
            raise TypeError(
                f"Argument `tensor` (name: num_segments) must be of type integer. Received dtype: {size.dtype}"
            )
        lengths = dense_bincount(ids, tensor_of(size, ids.dtype), tensor_of([], ids.dtype), False)
    return tensor_of(splits_of(lengths), dtype)


def stack_dynamic_partitions(
    data: TensorLike, partitions: TensorLike, num_partitions: TensorLike, name: str | None = None
) -> RaggedTensor:
    """Puts each value into the row that `partitions` specifies.

    Args:
        data: a tensor or ragged tensor. Its shape begins with `partitions.shape`.
        partitions: an integer tensor of shape `data.shape[:k]`.
        num_partitions: a scalar, the number of rows.

    Returns:
        A ragged tensor of `num_partitions` rows.

    Raises:
        ValueError: the shape of `data` does not begin with the shape of `partitions`.
        InvalidArgumentError: a row is out of range.

    Example:
        >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 2)
        <tf.RaggedTensor [[b'b'], [b'a', b'c']]>
    """
    items, rows = as_values(data), as_values(partitions)
    rank = len(rows.shape)
    if rank == 0:
        items, rows = concat_and_stack.expand_dims(items, 0), concat_and_stack.expand_dims(rows, 0)
    else:
        items.shape[:rank].assert_is_compatible_with(rows.shape)
    if rank > 1:
        items, rows = merge_dimensions(items, 0, rank - 1), merge_dimensions(rows, 0, rank - 1)

    def check(rows: Tensor, most: Tensor) -> None:
        numbers, count = array_of(rows), int(most)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= count):
            raise invalid(f"partitions {numbers.tolist()} are not in [0, {count})")

    count = number_of(num_partitions)
    check_or_defer(check, rows, tensor_of(count, rows.dtype))
    order = argsort(rows, stable=True)
    values = concat_and_stack.gather(items, order)
    return RaggedTensor.from_value_rowids(values, gather(rows, order), count, validate=False)


# ---- empty rows ------------------------------------------------------------------------------------------------------


class RaggedFillEmptyRows(NamedTuple):
    """The results of `tf.ragged_fill_empty_rows`."""

    output_value_rowids: Any
    output_values: Any
    empty_row_indicator: Any
    reverse_index_map: Any


class RaggedFillEmptyRowsGrad(NamedTuple):
    """The results of `tf.ragged_fill_empty_rows_grad`."""

    d_values: Any
    d_default_value: Any


def _filled_rule(value_rowids: TensorShape, values: TensorShape, *_: Any) -> list[TensorShape]:
    rows = TensorShape([None]) if values.rank is None else TensorShape([None, *values[1:]])
    ids = value_rowids.with_rank(1)
    return [TensorShape([None]), rows, TensorShape([None]), ids if values.rank is None else ids.merge_with(values[:1])]


@op("RaggedFillEmptyRows", host=("nrows",), shape=_filled_rule, moves=True)
def _ragged_fill_empty_rows(value_rowids: torch.Tensor, values: Any, nrows: Any, default_value: Any) -> Any:
    """Adds a value for each empty row."""
    if value_rowids.ndim != 1 or type(nrows) is not int or default_value.ndim or len(values) != len(value_rowids):
        raise invalid(
            "value_rowids and values must be of one length, and nrows and default_value scalars, not of shapes "
            f"{text(value_rowids.shape)}, {text(values.shape)}, {text(np.shape(nrows))}, {text(default_value.shape)}"
        )
    outside = ((value_rowids < 0) | (value_rowids >= nrows)).nonzero()
    if len(outside):
        raise invalid(f"value_rowids({int(outside[0])}) is invalid: {int(value_rowids[outside[0]])} >= {nrows}")
    empty = torch.bincount(value_rowids, minlength=nrows) == 0
    rows = torch.cat([value_rowids, empty.nonzero()[:, 0]])
    order = torch.argsort(rows, stable=True)
    position = torch.empty_like(order)
    position[order] = torch.arange(len(order), device=order.device)
    joined = torch.cat([values, default_value.expand(int(empty.sum()), *values.shape[1:])])
    return rows[order], joined[order], empty, position[: len(value_rowids)]


@op("RaggedFillEmptyRowsGrad", shape=check_ranks_first(lambda rows, _: [with_rank(rows, 1), TensorShape([])], 1, 1))
def _fill_grad(reverse_index_map: torch.Tensor, grad_values: torch.Tensor) -> Any:
    """Computes the gradients of the values and of the default value."""
    if grad_values.dim() != 1:
        raise invalid(f"grad_values must be a vector, saw: {list(grad_values.shape)}")
    size = len(grad_values)
    outside = ((reverse_index_map < 0) | (reverse_index_map >= size)).nonzero()
    if len(outside):
        raise invalid(f"Elements in reverse index must be in [0, {size}) but got {int(reverse_index_map[outside[0]])}")
    of_default = torch.ones(size, dtype=torch.bool, device=grad_values.device)
    of_default[reverse_index_map] = False
    return grad_values[reverse_index_map], grad_values[of_default].sum(dtype=grad_values.dtype)


@_ragged_fill_empty_rows.gradient(needs="outputs")
def _(call: Call, d_rows: Tensor, d_values: Tensor, d_empty: Tensor, d_map: Tensor) -> Any:
    return None, *ragged_fill_empty_rows_grad(call.outputs[3], d_values)


def ragged_fill_empty_rows(
    value_rowids: TensorLike, values: TensorLike, nrows: TensorLike, default_value: TensorLike, name: str | None = None
) -> RaggedFillEmptyRows:
    """Fills every row without a value with the default value.

    Args:
        value_rowids: int64, a vector: the row of each value.
        values: a vector, the values.
        nrows: a scalar, the number of rows.
        default_value: a scalar, the value of empty rows.

    Returns:
        The rows of the values, the values, booleans that are true for the rows that were empty, and the new position of
        each of the old values.

    Raises:
        InvalidArgumentError: a row is out of range.

    Example:
        >>> rowids, values, empty, places = tf.ragged_fill_empty_rows([1, 1], [5, 7], 3, 0)
        >>> values.numpy().tolist()
        [0, 5, 7, 0]
    """
    return RaggedFillEmptyRows(*_ragged_fill_empty_rows(value_rowids, values, nrows, default_value, name))


def ragged_fill_empty_rows_grad(
    reverse_index_map: TensorLike, grad_values: TensorLike, name: str | None = None
) -> RaggedFillEmptyRowsGrad:
    """Computes the gradients of `ragged_fill_empty_rows`.

    Args:
        reverse_index_map: int64, a vector: the position of each of the old values.
        grad_values: a vector, the gradients of the values that `ragged_fill_empty_rows` returned.

    Returns:
        The gradients of the old values, and of the default value.

    Raises:
        InvalidArgumentError: a position lies outside of `grad_values`.

    Example:
        >>> d_values, d_default = tf.ragged_fill_empty_rows_grad([1], [2.0, 3.0])
        >>> d_values.numpy().tolist(), d_default.numpy().item()
        ([3.0], 2.0)
    """
    return RaggedFillEmptyRowsGrad(*_fill_grad(reverse_index_map, grad_values, name))
