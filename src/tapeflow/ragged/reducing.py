"""Reductions of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.gathering import gather
from tapeflow.core.ops.convert import host_value
from tapeflow.core.types.dtypes import bool_, float64, int32
from tapeflow.math.casting import cast
from tapeflow.math.extrema import maximum
from tapeflow.ragged.row_partition import repeated, splits_of
from tapeflow.ragged.tensor import RaggedTensor, as_values, checked_axis

# What combines the values of a segment, by the reduction's op.
_SEGMENTS = {
    "Sum": "unsorted_segment_sum",
    "Prod": "unsorted_segment_prod",
    "Max": "unsorted_segment_max",
    "Min": "unsorted_segment_min",
}


def reduce(op: str, rt: Any, axis: Any, keepdims: bool = False) -> Any:
    """Reduces a ragged tensor over dimensions.

    Args:
        op: the name of the op: Sum, Prod, Max, Min, Mean, All or Any.
        rt: a ragged tensor.
        axis: a dimension or several; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Raises:
        ValueError: there is no such dimension.
    """
    from tapeflow import math

    if not isinstance(rt, RaggedTensor) or axis is None:
        dense = {"All": math.reduce_all, "Any": math.reduce_any, "Max": math.reduce_max, "Mean": math.reduce_mean,
                 "Min": math.reduce_min, "Prod": math.reduce_prod, "Sum": math.reduce_sum}[op]  # fmt: skip
        return dense(rt.flat_values if isinstance(rt, RaggedTensor) else rt, axis, keepdims)
    if op == "Mean":
        return _mean(rt, axis, keepdims)
    if op in ("All", "Any"):
        return _logical(op, rt, axis, keepdims)
    rank = len(rt.shape)
    axes = host_value(axis)
    wanted = [axes] if isinstance(axes, int) else list(axes)
    result: Any = rt
    for a in sorted({checked_axis(a, rank, "axis") for a in wanted}, reverse=True):  # the inner ones first
        result = _over(op, result, a, keepdims)
    return result


def _over(op: str, value: Any, axis: int, keepdims: bool) -> Any:
    """Reduces one dimension."""
    if not isinstance(value, RaggedTensor):
        return reduce(op, value, axis, keepdims)
    if axis > 1:
        return value.with_values(_over(op, value.values, axis - 1, keepdims))
    from tapeflow import math
    from tapeflow.ragged.arranging import expand_dims

    partition = value._row_partition
    combine = getattr(math, _SEGMENTS[op])
    if axis == 0:
        result = segments(combine, value.values, partition.offsets_in_rows(), partition.longest())
    else:
        result = segments(combine, value.values, partition.value_rowids(), partition.nrows())
    return expand_dims(result, axis) if keepdims else result


def segments(combine: Callable[..., Any], data: Any, ids: Any, count: Any) -> Any:
    """Combines the values of each segment; of ragged data, those in the same place of the rows of a segment."""
    if not isinstance(data, RaggedTensor):
        return combine(data, ids, count)
    from tapeflow.math import unsorted_segment_max

    partition = data._row_partition
    longest = maximum(unsorted_segment_max(partition.row_lengths(), cast(ids, partition.dtype), count), 0)
    splits = splits_of(longest)
    places = repeated(gather(splits[:-1], ids), partition.row_splits()) + partition.offsets_in_rows()
    values = segments(combine, data.values, places, splits[-1])
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _mean(rt: RaggedTensor, axis: Any, keepdims: bool) -> Any:
    from tapeflow import ones_like, truediv

    total = reduce("Sum", rt, axis, keepdims)
    count = reduce("Sum", rt.with_flat_values(ones_like(rt.flat_values)), axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(truediv(total.flat_values, count.flat_values))
    return truediv(total, count)


def variance(rt: RaggedTensor, axis: Any, keepdims: bool) -> Any:
    """The variance over dimensions: the mean of the squares less the square of the mean; integers count as float64."""
    from tapeflow import square

    numbers = cast(rt, float64) if rt.dtype.is_integer else rt
    return reduce("Mean", square(numbers), axis, keepdims) - square(reduce("Mean", numbers, axis, keepdims))


def _logical(op: str, rt: RaggedTensor, axis: Any, keepdims: bool) -> Any:
    """`All` and `Any`: that no, or some, element is different, counted."""
    from tapeflow import equal, logical_not, not_equal

    flat = rt.flat_values if op == "Any" else logical_not(rt.flat_values)
    count = as_values(reduce("Sum", rt.with_flat_values(cast(flat, int32)), axis, keepdims))
    compare = not_equal if op == "Any" else equal
    return cast(compare(count, 0), bool_)
