"""Functions of `tf.ragged`, and `tf.ragged_fill_empty_rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from tapeflow.array.gathering import gather
from tapeflow.array.masks import where
from tapeflow.array.sorting import argsort
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.checks import checked
from tapeflow.math.arithmetic import subtract
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_sum
from tapeflow.math.segment import unsorted_segment_sum
from tapeflow.ragged import arranging
from tapeflow.ragged.row_partition import RowPartition, array_of, integers, number_of, rowids_of, tensor_of
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
    if len({r.flat_values.shape[0] for r in found} - {None}) > 1:
        raise ValueError("Input RaggedTensors' flat_values must all have the same outer-dimension size.")
    for other in found[1:]:
        mine, theirs = first._nested_row_partitions, other._nested_row_partitions
        different = invalid("Inputs must have identical ragged splits")
        if len(mine) != len(theirs):
            raise different
        for p, q in zip(mine, theirs, strict=True):
            p.must_be(q, different)
    result = as_values(op(*new_args, **new_kwargs))
    expected = first.flat_values.shape[:1]
    if result.shape.rank == 0 or not result.shape[:1].is_compatible_with(expected):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            "flat_values "
            f"of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: {expected[0]})"
        )
    return first.with_flat_values(result)


def _rows_of_numbers(starts: Any, limits: Any, deltas: Any, splits_dtype: DType) -> tuple[torch.Tensor, torch.Tensor]:
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
    offsets = torch.arange(len(rows), device=rows.device) - splits[rows]
    return splits.to(splits_dtype.torch), begin[rows] + offsets.to(begin.dtype) * step[rows]


def _range_shapes(starts: Any, limits: Any, deltas: Any, splits_dtype: DType) -> list[TensorShape]:
    known = next((s[0] for s in (starts, limits, deltas) if s.rank == 1 and s[0] is not None), None)
    scalars = all(s.rank == 0 for s in (starts, limits, deltas))
    return [TensorShape([2 if scalars else None if known is None else known + 1]), TensorShape([None])]


@op("RaggedRange", kernel=_rows_of_numbers, shape=_range_shapes, rename={"splits_dtype": "Tsplits"})
def _ragged_range(starts: Any, limits: Any, deltas: Any, splits_dtype: Any = int64, name: str | None = None) -> Any:
    """The splits and the values of rows of numbers."""


not_differentiable(_ragged_range)


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
    splits, values = ops.RaggedRange(*[cast(t, kind) for t in tensors], as_dtype(row_splits_dtype), name=name)
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
        return arranging.gather(data, _where_true(mask))
    data, mask = arranging.as_ragged(data, rank - 1), arranging.as_ragged(mask, rank - 1)
    different = invalid("Inputs must have identical ragged splits: the rows of `mask` are not those of `data`")
    data._row_partition.must_be(mask._row_partition, different)
    if rank > 2:
        return data.with_values(boolean_mask(data.values, mask.values))
    kept = unsorted_segment_sum(cast(mask.values, data.row_splits.dtype), mask.value_rowids(), mask.nrows())
    values = arranging.gather(data.values, _where_true(mask.values))
    return RaggedTensor.from_row_lengths(values, kept, validate=False)


def _where_true(mask: Any) -> Any:
    return where(mask)[:, 0]


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
    return tensor_of(rowids_of(splits), splits.dtype if out_type is None else as_dtype(out_type))


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Where each row begins, of the sorted rows of values.

    Example:
        >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy().tolist()
        [0, 2, 2, 3]
    """
    ids = integers(segment_ids, "segment_ids")
    dtype = (ids.dtype if isinstance(segment_ids, Tensor) else int64) if out_type is None else as_dtype(out_type)
    return tensor_of(RowPartition.from_value_rowids(ids, num_segments).row_splits(), dtype)


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

    def check(given: Any, most: Any) -> None:
        numbers, count = array_of(given), int(most)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= count):
            raise invalid(f"partitions {numbers.tolist()} are not in [0, {count})")

    count = number_of(num_partitions)
    checked(check, rows, tensor_of(count, rows.dtype))
    order = argsort(rows, stable=True)
    values = arranging.gather(data, order)
    return RaggedTensor.from_value_rowids(values, gather(rows, order), count, validate=False)


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
