"""Reductions of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import ones_like
from tapeflow.array.gathers import gather
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import bool_, int32
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, not_equal
from tapeflow.math.division import truediv
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum
from tapeflow.math.segment import (
    unsorted_segment_max,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sum,
)
from tapeflow.ragged.concat_and_stack import expand_dims
from tapeflow.ragged.row_partition import repeat_values, splits_of
from tapeflow.ragged.tensor import RaggedTensor, as_values, checked_axis

# From functions that reduce a dimension to functions that reduce segments.
_SEGMENTS: dict[Any, Callable[..., Any]] = {
    reduce_sum: unsorted_segment_sum,
    reduce_prod: unsorted_segment_prod,
    reduce_max: unsorted_segment_max,
    reduce_min: unsorted_segment_min,
}


def reduce(function: Callable[..., Any], rt: TensorLike, axis: AxisLike, keepdims: bool = False) -> Any:
    """Reduces a ragged tensor over dimensions.

    Args:
        function: the reduction of dense tensors: `reduce_sum`, `reduce_prod`, `reduce_max`, `reduce_min`,
            `reduce_mean`, `reduce_all` or `reduce_any`.
        rt: a ragged tensor.
        axis: a dimension or several; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A ragged tensor, or a tensor if no ragged dimension is left.

    Raises:
        ValueError: there is no such dimension.
    """
    if isinstance(rt, RaggedTensor) and function is reduce_mean:
        return _ragged_mean(rt, axis, keepdims)
    if not isinstance(rt, RaggedTensor):
        return function(rt, axis, keepdims)
    if function is reduce_all or function is reduce_any:
        return _reduce_logical(function, rt, axis, keepdims)
    result: Any
    if axis is None:
        result = function(rt.flat_values, None, keepdims)
        for _ in range(rt.ragged_rank if keepdims else 0):
            result = expand_dims(result, 0)
        return result
    rank = len(rt.shape)
    result = rt
    for a in sorted({checked_axis(a, rank, "axis") for a in _list_axes(axis)}, reverse=True):  # the inner ones first
        result = _reduce_dimension(function, result, a, keepdims)
    return result


def _list_axes(axis: AxisLike) -> Sequence[Any]:
    """Returns dimensions as a list. Dimensions in a tensor must be static."""
    if isinstance(axis, SymbolicTensor):
        raise ValueError("axis must be known at graph construction time.")
    if isinstance(axis, Tensor):
        axis = axis.numpy()
    if isinstance(axis, np.ndarray) and axis.ndim:
        axis = axis.tolist()
    return axis if isinstance(axis, (list, tuple)) else [axis]


def _reduce_dimension(function: Callable[..., Any], value: Tensor | RaggedTensor, axis: int, keepdims: bool) -> Any:
    """Reduces one dimension."""
    if not isinstance(value, RaggedTensor):
        return function(value, axis, keepdims)
    if axis > 1:
        return value.with_values(_reduce_dimension(function, value.values, axis - 1, keepdims))
    partition = value._row_partition
    combine = _SEGMENTS[function]
    if axis == 0:
        result = segments(combine, value.values, partition.offsets_in_rows(), partition.longest())
    else:
        result = segments(combine, value.values, partition.value_rowids(), partition.nrows())
    return expand_dims(result, axis) if keepdims else result


def segments(combine: Callable[..., Any], data: TensorLike, ids: Tensor, count: TensorLike) -> Any:
    """Combines the values of each segment; of ragged data, those at the same position in the rows of a segment.

    Args:
        combine: a reduction of segments, such as `unsorted_segment_sum`.
        data: a tensor or ragged tensor.
        ids: the segment of each row of `data`.
        count: the number of segments.
    """
    if not isinstance(data, RaggedTensor):
        return combine(data, ids, count)
    partition = data._row_partition
    longest = maximum(unsorted_segment_max(partition.row_lengths(), cast(ids, partition.dtype), count), 0)
    splits = splits_of(longest)
    positions = repeat_values(gather(splits[:-1], ids), partition.row_splits()) + partition.offsets_in_rows()
    values = segments(combine, data.values, positions, splits[-1])
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _ragged_mean(rt: RaggedTensor, axis: AxisLike, keepdims: bool) -> Any:
    total = reduce(reduce_sum, rt, axis, keepdims)
    count = reduce(reduce_sum, rt.with_flat_values(ones_like(rt.flat_values)), axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(truediv(total.flat_values, count.flat_values))
    return truediv(total, count)


def _reduce_logical(function: Callable[..., Any], rt: RaggedTensor, axis: AxisLike, keepdims: bool) -> Any:
    """Computes `reduce_any` and `reduce_all` by the number of elements that are true, or false. Like in TensorFlow,
    elements may be numbers.
    """
    flat = cast(rt.flat_values, int32)
    flat = flat if function is reduce_any else cast(equal(flat, 0), int32)
    count = as_values(reduce(reduce_sum, rt.with_flat_values(flat), axis, keepdims))
    compare = not_equal if function is reduce_any else equal
    return cast(compare(count, 0), bool_)
