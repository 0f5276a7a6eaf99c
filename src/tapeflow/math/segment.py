"""Reductions over segments: the rows that share an id."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.array.concat_and_split import concat_v2
from tapeflow.array.creation import fill_op, ones_like_op, range_op
from tapeflow.array.gathers import gather_v2
from tapeflow.array.masks import select_v2
from tapeflow.array.properties import rank, shape_op
from tapeflow.array.reshapes import broadcast_to, reshape, transpose_op
from tapeflow.core.autodiff.gradients import conj, is_unranked, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.loops import Int64s, Numbers, loop, simd_range
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, static, times
from tapeflow.core.ops.convert import as_operand, convert
from tapeflow.core.ops.elementwise_kernels import by_value, may_have_nan
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import check_rank, leave_to_kernel, text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid, is_traced
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.casting import cast, cast_op
from tapeflow.math.comparison import equal, greater, greater_equal, less, logical_and
from tapeflow.math.division import realdiv, truediv
from tapeflow.math.elementwise import sqrt
from tapeflow.math.extrema import maximum

# ---- unsorted segments -----------------------------------------------------------------------------------------------


def _lowest_number(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest_number(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def _unsorted_kernel(start: Callable[[torch.dtype], float], gather: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """Returns the kernel of an unsorted segment reduction.

    Args:
        start: the value of an empty segment, by dtype.
        gather: `gather(out, ids, rows)` combines each row with the row of `out` that its id names, in place.
    """

    def kernel(data: torch.Tensor, ids: torch.Tensor, num_segments: int) -> torch.Tensor:
        if type(num_segments) is int and num_segments >= 2**31 and ids.itemsize < 8:
            num_segments = (num_segments + 2**31) % 2**32 - 2**31  # TensorFlow counts in the dtype of the ids
        if type(num_segments) is not int or num_segments < 0 or data.shape[: ids.ndim] != ids.shape:
            raise invalid(_wrong_segments(data.shape, ids.shape, num_segments))
        shape = (num_segments, *data.shape[ids.ndim :])
        check_memory(shape, data.itemsize, UNFILLED)
        out = data.new_full(shape, start(data.dtype))
        rows = data if ids.ndim == 1 else data.reshape(ids.numel(), *shape[1:])
        ids = ids.reshape(-1)
        if not ids.is_cpu or is_traced(ids):
            return _gathered_on_gpu(out, ids, rows, gather)
        if num_segments:  # torch does not check ids against no segments at all
            try:
                gather(out, ids, rows)
                return out
            except (IndexError, RuntimeError):  # as torch checks ids anyway; negative ones are left out
                out = data.new_full(shape, start(data.dtype))
        high = ids >= num_segments
        if high.any():
            where = int(torch.nonzero(high)[0, 0])
            raise invalid(f"segment_ids[{where}] = {int(ids[where])} is out of range [0, {num_segments})")
        present = ids >= 0
        gather(out, ids[present], rows[present])
        return out

    return kernel


def _gathered_on_gpu(
    out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor, gather: Callable[..., Any]
) -> torch.Tensor:
    """Drops the rows of all ids that are out of range, as TensorFlow does there, without waiting for the GPU."""
    count = out.shape[0]
    one_more = torch.cat([out, out.new_zeros((1, *out.shape[1:]))])
    gather(one_more, torch.where((ids < 0) | (ids >= count), count, ids), rows)
    return one_more[:count]


def _wrong_segments(data: Any, ids: Any, num_segments: int) -> str:
    if type(num_segments) is not int:
        return f"num_segments should be a scalar of integer type, not {num_segments!r}"
    if num_segments < 0:
        return f"Input num_segments == {num_segments} must not be negative."
    return f"data.shape = {text(TensorShape(data))} does not start with segment_ids.shape = {text(TensorShape(ids))}"


def _scatter_reduction(how: str, include_self: bool = True) -> Callable[..., Any]:
    """Combines rows by `torch.scatter_reduce_`, which wants an index for every element."""

    def gather(out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor) -> None:
        index = ids.long().reshape(-1, *[1] * (rows.ndim - 1)).expand(rows.shape)
        out.scatter_reduce_(0, index, rows, how, include_self=include_self)

    return gather


def _scatter_extremes(how: str, include_self: bool = True) -> Callable[..., Any]:
    """Combines rows by "amax" or "amin" like a running extreme. Its comparisons fail with a NaN: the extreme becomes
    NaN, and then the number after the NaN."""
    scatter, neutral = _scatter_reduction(how, include_self), -math.inf if how == "amax" else math.inf

    def gather(out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor) -> None:
        if rows.is_floating_point() and rows.is_cpu and not is_traced(rows) and may_have_nan(rows):
            last, last_nan = _last_places(out, ids, rows)
            out.masked_fill_(last_nan >= 0, neutral)
            places, last, last_nan = _row_places(rows), last[ids], last_nan[ids]
            remembered = (places > last_nan) | ((places == last_nan) & (last == last_nan))
            rows = torch.where(remembered, rows, neutral)
        scatter(out, ids, rows)

    return gather


def _last_places(out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns for each element of `out` the number of the last row that it is of, and of the last that is NaN there."""
    last, last_nan = (torch.full(out.shape, -1) for _ in range(2))
    latest = _scatter_reduction("amax")
    latest(last, ids, _row_places(rows))
    latest(last_nan, ids, torch.where(torch.isnan(rows), _row_places(rows), -1))
    return last, last_nan


def _row_places(rows: torch.Tensor) -> torch.Tensor:
    return torch.arange(len(rows)).reshape(-1, *[1] * (rows.ndim - 1)).expand(rows.shape)


def _add_rows(out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor) -> None:
    out.index_add_(0, ids, rows)


def _unsorted_rule(data: TensorShape, ids: TensorShape, num_segments: TensorLike) -> TensorShape:
    if isinstance(num_segments, tuple):
        raise invalid(f"num_segments must be a scalar, and is {list(num_segments)}")
    check_rank(num_segments, 0)
    if data.rank is None or ids.rank is None:
        return TensorShape(None)
    count = num_segments if isinstance(num_segments, int) else None
    if not data[: ids.rank].is_compatible_with(ids):
        raise invalid(_wrong_segments(data, ids, count or 0))
    return TensorShape([count]).concatenate(data[ids.rank :])


def _batch_unsorted(batch: Batch, x: Slices, ids: Slices, num_segments: Slices) -> Any:
    """Computes the segments of all slices at once, in the order of the slices."""
    count, own = static(num_segments), batch.stack(ids)
    zero, end = (convert(n, own.dtype) for n in (0, count))
    starts = multiply(range_op(zero, cast_op(convert(batch.count), own.dtype), convert(1, own.dtype)), end)
    moved = add(own, batch.reshape(starts, [1] * ids.rank))
    total = times(batch.count, count)
    # An id past the last segment of its slice stays out of range, and does not name a segment of the next slice.
    moved = select_v2(greater_equal(own, end), cast_op(convert(total), own.dtype), moved)
    moved = select_v2(less(own, zero), own, moved)
    return batch.reshape(batch.run(batch.stack(x), moved, total), [count, *batch.dims(x)[ids.rank :]])


_UNSORTED: dict[str, Any] = {"host": ("num_segments",), "shape": _unsorted_rule, "batching": _batch_unsorted}


@op("UnsortedSegmentSum", kernel=_unsorted_kernel(lambda dtype: 0, _add_rows), **_UNSORTED,
    in_loops=lambda b, data, segment_ids, _: b.sum_segments(data, segment_ids))  # fmt: skip
def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Sums the elements of each segment: `result[i]` is the sum of all `data[j]` with `segment_ids[j] == i`.

    Args:
        data: a numeric tensor of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order, of a shape that begins the shape of `data`; rows with a
            negative id are left out.
        num_segments: an integer scalar, the number of segments.

    Returns:
        A tensor of shape `[num_segments, *rest]` and of the dtype of `data`; 0 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_sum([1, 2, 3], [2, 0, 2], 3).numpy().tolist()
        [2, 0, 4]
    """


@unsorted_segment_sum.gradient(needs="input1")
def _(call: Call, dy: Tensor) -> Any:
    return _gathered_rows(dy, call.inputs[1])[0], None


def _broadcast_ids(rows: Tensor, ids: Tensor) -> Any:
    """Returns the shape of ids, with dimensions of length 1 for those that the rows of a segment have."""
    shape, ids_shape = shape_of(rows), shape_of(ids)
    if not is_unranked(shape) and not is_unranked(ids_shape):
        return (*ids_shape, *[1] * (len(shape) - 1))
    inner = subtract(rank(rows), 1)
    ones = fill_op(reshape(inner, [1]), 1)
    return concat_v2([shape_op(ids), ones], 0)


def _gathered_rows(rows: Tensor, ids: Tensor) -> tuple[Any, Any, Any]:
    """Returns the row for each id (zero for negative ids), the ids as indices, and the ids that are not negative."""
    zero = convert(0, ids.dtype)
    index = maximum(ids, zero)
    present = reshape(greater_equal(ids, zero), _broadcast_ids(rows, ids))
    gathered = gather_v2(rows, index, 0)
    return select_v2(present, gathered, convert(0, rows.dtype)), index, present


@op("UnsortedSegmentMax", kernel=_unsorted_kernel(_lowest_number, _scatter_extremes("amax")), **_UNSORTED, orders=True)
def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Returns the largest element of each segment.

    Args:
        data: a real tensor of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order, of a shape that begins the shape of `data`; rows with a
            negative id are left out.
        num_segments: an integer scalar, the number of segments.

    Returns:
        A tensor of shape `[num_segments, *rest]` and of the dtype of `data`; the lowest finite number for empty
        segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_max([1, 5, 3], [1, 0, 1], 2).numpy().tolist()
        [5, 3]
    """


@op("UnsortedSegmentMin", kernel=_unsorted_kernel(_highest_number, _scatter_extremes("amin")), **_UNSORTED, orders=True)
def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Returns the smallest element of each segment.

    Args:
        data: a real tensor of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order, of a shape that begins the shape of `data`; rows with a
            negative id are left out.
        num_segments: an integer scalar, the number of segments.

    Returns:
        A tensor of shape `[num_segments, *rest]` and of the dtype of `data`; the highest finite number for empty
        segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_min([1, 5, 3], [1, 0, 1], 2).numpy().tolist()
        [5, 1]
    """


@unsorted_segment_max.gradient(needs="inputs outputs")
@unsorted_segment_min.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    return _extreme_gradient(call, dy, lambda x, ids: unsorted_segment_sum(x, ids, call.attrs[0]))


def _extreme_gradient(call: Call, dy: Tensor, total: Callable[[Any, Any], Any]) -> Any:
    """Shares the gradient among all elements of a segment that equal its extreme; `total` sums over segments."""
    data, ids = call.inputs
    extremes, index, present = _gathered_rows(call.outputs[0], ids)
    chosen = logical_and(equal(data, extremes), present)
    ties = maximum(total(cast(chosen, dy.dtype), ids), convert(1, dy.dtype))
    shares = gather_v2(realdiv(dy, ties), index, 0)
    return select_v2(chosen, shares, convert(0, dy.dtype)), None


@op("UnsortedSegmentProd", kernel=_unsorted_kernel(lambda dtype: 1, _scatter_reduction("prod")), **_UNSORTED)
def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Multiplies the elements of each segment.

    Args:
        data: a numeric tensor of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order, of a shape that begins the shape of `data`; rows with a
            negative id are left out.
        num_segments: an integer scalar, the number of segments.

    Returns:
        A tensor of shape `[num_segments, *rest]` and of the dtype of `data`; 1 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_prod([2, 5, 3], [1, 0, 1], 2).numpy().tolist()
        [5, 6]
    """


@unsorted_segment_prod.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    count = call.attrs[0]
    return _product_gradient(
        call,
        dy,
        lambda x, ids: unsorted_segment_sum(x, ids, count),
        lambda x, ids: unsorted_segment_prod(x, ids, count),
    )


def _product_gradient(
    call: Call, dy: Tensor, total: Callable[[Any, Any], Any], product: Callable[[Any, Any], Any]
) -> Any:
    """Computes `dy` times the product over `data`.

    Where `data` is 0, that is the product of the others, if there is no other zero in the segment.
    """
    data, ids = call.inputs
    is_zero = equal(data, convert(0, data.dtype))
    zeros = total(cast(is_zero, "int32"), ids)
    dy = select_v2(greater(zeros, convert(1, zeros.dtype)), convert(0, dy.dtype), dy)
    without_zeros = select_v2(is_zero, convert(1, data.dtype), data)
    index = maximum(ids, convert(0, ids.dtype))
    others = select_v2(
        is_zero,
        gather_v2(product(without_zeros, ids), index, 0),
        realdiv(gather_v2(call.outputs[0], index, 0), without_zeros),
    )
    return multiply(_gathered_rows(dy, ids)[0], conj(others)), None


def _segment_counts(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """Counts the rows of each segment, but at least 1, as the divisor of its sum."""
    if hasattr(data, "with_flat_values"):  # a ragged tensor has as many as each position of a segment
        return unsorted_segment_sum(ones_like_op(data), segment_ids, num_segments)
    one = convert(True if data.dtype.is_bool else 1, data.dtype)  # of strings there is none
    ones = broadcast_to(one, shape_of(segment_ids))
    counts = unsorted_segment_sum(ones, segment_ids, num_segments)
    dims: Any
    if is_unranked(shape_of(data)) or is_unranked(shape_of(segment_ids)):
        inner = reshape(subtract(rank(data), rank(segment_ids)), [1])
        dims = concat_v2([[-1], fill_op(inner, 1)], 0)
    else:
        dims = (-1, *[1] * (len(shape_of(data)) - len(shape_of(segment_ids))))
    return maximum(reshape(counts, dims), one)


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Computes the mean of each segment.

    Args:
        data: a real tensor of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order, of a shape that begins the shape of `data`; rows with a
            negative id are left out.
        num_segments: an integer scalar, the number of segments.

    Returns:
        A floating tensor of shape `[num_segments, *rest]`; 0 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_mean([1.0, 5.0, 3.0], [1, 0, 1], 2).numpy().tolist()
        [5.0, 2.0]
    """
    data, segment_ids = as_operand(data), as_operand(segment_ids)
    counts = _segment_counts(data, segment_ids, num_segments)
    return truediv(unsorted_segment_sum(data, segment_ids, num_segments), counts)


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Divides the sum of each segment by the square root of the number of its elements.

    Args:
        data: a floating tensor of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order, of a shape that begins the shape of `data`; rows with a
            negative id are left out.
        num_segments: an integer scalar, the number of segments.

    Returns:
        A tensor of shape `[num_segments, *rest]` and of the dtype of `data`; 0 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0], 1).numpy().tolist()
        [5.0]
    """
    data, segment_ids = as_operand(data), as_operand(segment_ids)
    counts = sqrt(_segment_counts(data, segment_ids, num_segments))
    return truediv(unsorted_segment_sum(data, segment_ids, num_segments), counts)


# ---- sorted segments -------------------------------------------------------------------------------------------------


_SUM, _MEAN, _PRODUCT, _MAX, _MIN = range(5)  # kinds of reductions
_LOOP_TYPES = torch.float32, torch.float64, torch.int32, torch.int64


@loop
def _reduce_segments(kind: int, data: Numbers, ids: Int64s, count: int, width: int, out: Numbers) -> None:
    """Reduces segments, row after row. A comparison with NaN fails, so the number after it counts.

    Args:
        kind: the reduction.
        data: the rows, `[count, width]`.
        ids: the segments of the rows, which ascend.
        count, width: the sizes.
        out: a row for each segment, which receives those that occur.
    """
    rows = 0
    for i in range(count):
        at, shift = ids[i] * width, (i - ids[i]) * width
        if i == 0 or ids[i] != ids[i - 1]:
            rows = 0
            for k in simd_range(at, at + width):
                out[k] = data[k + shift]
        elif kind <= _MEAN:
            for k in simd_range(at, at + width):
                out[k] += data[k + shift]
        elif kind == _PRODUCT:
            for k in simd_range(at, at + width):
                out[k] *= data[k + shift]
        elif kind == _MAX:
            for k in simd_range(at, at + width):
                most, value = out[k], data[k + shift]
                out[k] = most if most > value else value
        else:
            for k in simd_range(at, at + width):
                least, value = out[k], data[k + shift]
                out[k] = least if least < value else value
        rows += 1
        if kind == _MEAN and (i + 1 == count or ids[i + 1] != ids[i]):
            for k in simd_range(at, at + width):
                out[k] /= rows


def _reduction_kernel(
    kind: int, start: float, gather: Callable[..., Any], finish: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Returns the kernel of a reduction over segments with ids in order.

    Args:
        kind: the reduction.
        start: the value of an empty segment.
        gather: `gather(out, ids, rows)` combines each row with the row of `out` that its id names, in place.
        finish: `finish(out, ids)` computes the result.
    """

    def kernel(data: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        problem = _not_segments(TensorShape(data.shape), TensorShape(ids.shape))
        if problem:
            raise invalid(problem)
        if not len(ids):
            return data.new_zeros((0, *data.shape[1:]))
        ids = ids.long()
        last = _last_id(ids.cpu().contiguous(), len(ids))
        if last == -2:
            raise invalid("segment ids are not increasing")
        if last < 0:
            raise invalid(
                f"Segment id {int(ids[0])} out of range [0, {int(ids[-1]) + 1}), possibly because 'segment_ids' input "
                "is not sorted."
            )
        check_memory((last + 1, *data.shape[1:]), data.itemsize, UNFILLED)
        out = data.new_full((last + 1, *data.shape[1:]), start)
        mean_of_integers = kind == _MEAN and not data.is_floating_point()
        if data.dtype in _LOOP_TYPES and not mean_of_integers and by_value(data):
            _reduce_segments(kind, data.contiguous(), ids.contiguous(), len(ids), data[0].numel(), out)
            return out
        gather(out, ids, data)
        return out if finish is None else finish(out, ids)

    return kernel


@loop
def _last_id(ids: Int64s, size: int) -> int:
    """Returns the last of some ids, -1 if the first one is negative, and -2 if they do not ascend."""
    for i in range(1, size):
        if ids[i] < ids[i - 1]:
            return -2
    return -1 if ids[0] < 0 else ids[size - 1]


def _not_segments(data: TensorShape, ids: TensorShape) -> str:
    """Returns an error message for shapes that do not match, or an empty string."""
    if data.rank == 0:
        return "input must be at least rank 1"
    if ids.rank is not None and ids.rank != 1:
        return "segment_ids should be a vector."
    if data.rank is not None and ids.rank is not None and not data[:1].is_compatible_with(ids):
        return "segment_ids should be the same size as dimension 0 of input."
    return ""


def _sorted_rule(data: TensorShape, ids: TensorShape) -> TensorShape:
    problem = _not_segments(data, ids)
    if problem:
        if data.rank == 0 or ids.rank not in (1, None):
            raise invalid(problem)
        leave_to_kernel(problem)
    return TensorShape(None) if data.rank is None else TensorShape([None]).concatenate(data[1:])


def _divided_by_counts(out: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    counts = torch.bincount(ids, minlength=len(out)).clamp(min=1).reshape(-1, *[1] * (out.ndim - 1)).to(out.dtype)
    if out.is_floating_point() or out.is_complex():
        return torch.div(out, counts)
    return torch.div(out, counts, rounding_mode="trunc")


def _batch_sorted(batch: Batch, x: Slices, ids: Slices) -> Any:
    if ids.stacked:
        raise NoRule  # slices may have more or fewer segments
    rows_first = (1, 0, *range(2, x.rank + 1))
    return transpose_op(batch.run(transpose_op(x.value, rows_first), ids.value), rows_first)


_SORTED: dict[str, Any] = {"shape": _sorted_rule, "batching": _batch_sorted}


@op("SegmentSum", kernel=_reduction_kernel(_SUM, 0, _add_rows), **_SORTED)
def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Sums the rows of each segment: `result[i]` is the sum of all `data[j]` with `segment_ids[j] == i`.

    Args:
        data: a numeric tensor of shape `[n, *rest]`.
        segment_ids: an int32 or int64 tensor of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]` and of the dtype of `data`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_sum([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [3, 0, 3]
    """


@segment_sum.gradient(needs="input1")
def _(call: Call, dy: Tensor) -> Any:
    return gather_v2(dy, call.inputs[1], 0), None


@op("SegmentMean", kernel=_reduction_kernel(_MEAN, 0, _add_rows, _divided_by_counts), **_SORTED)
def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Computes the mean of the rows of each segment. The mean of integers is rounded towards zero.

    Args:
        data: a numeric tensor of shape `[n, *rest]`.
        segment_ids: an int32 or int64 tensor of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]` and of the dtype of `data`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_mean([1.0, 2.0, 3.0], [0, 0, 2]).numpy().tolist()
        [1.5, 0.0, 3.0]
    """


@segment_mean.gradient(needs="input1 shapes")
def _(call: Call, dy: Tensor) -> Any:
    ids = call.inputs[1]
    ones = broadcast_to(convert(1, dy.dtype), _broadcast_ids(dy, ids))
    counts = maximum(segment_sum(ones, ids), convert(1, dy.dtype))
    return gather_v2(realdiv(dy, counts), ids, 0), None


def _sorted_extreme(how: str) -> Callable[..., torch.Tensor]:
    """Returns the kernel of SegmentMax or SegmentMin."""
    # The 0 of an empty segment takes no part.
    kernel = _reduction_kernel(_MAX if how == "amax" else _MIN, 0, _scatter_extremes(how, include_self=False))

    def for_any_dtype(data: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        if data.dtype != torch.uint64:
            return kernel(data, ids)
        sign = -(2**63)  # ATen orders no uint64s; with this bit flipped, int64s have their order
        extremes = kernel(data.view(torch.int64) ^ sign, ids) ^ sign
        present = torch.zeros(len(extremes), dtype=torch.bool, device=data.device).index_fill_(0, ids.long(), True)
        return torch.where(present.reshape(-1, *[1] * (extremes.ndim - 1)), extremes, 0).view(torch.uint64)

    return for_any_dtype


@op("SegmentMax", kernel=_sorted_extreme("amax"), **_SORTED)
def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Returns the largest element of each segment.

    Args:
        data: a real tensor of shape `[n, *rest]`.
        segment_ids: an int32 or int64 tensor of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]` and of the dtype of `data`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_max([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [2, 0, 3]
    """


@op("SegmentMin", kernel=_sorted_extreme("amin"), **_SORTED)
def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Returns the smallest element of each segment.

    Args:
        data: a real tensor of shape `[n, *rest]`.
        segment_ids: an int32 or int64 tensor of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]` and of the dtype of `data`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_min([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [1, 0, 3]
    """


@segment_max.gradient(needs="inputs outputs")
@segment_min.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    return _extreme_gradient(call, dy, segment_sum)


@op("SegmentProd", kernel=_reduction_kernel(_PRODUCT, 1, _scatter_reduction("prod")), **_SORTED)
def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the rows of each segment.

    Args:
        data: a numeric tensor of shape `[n, *rest]`.
        segment_ids: an int32 or int64 tensor of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]` and of the dtype of `data`; 1 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_prod([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [2, 1, 3]
    """


@segment_prod.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    return _product_gradient(call, dy, segment_sum, segment_prod)
