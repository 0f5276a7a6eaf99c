"""Reductions over segments: the rows that share an id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.autodiff.gradients import conj, is_unranked, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid, traced
from tapeflow.math.arithmetic import multiply, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, greater_equal, logical_and
from tapeflow.math.division import realdiv, truediv
from tapeflow.math.elementwise import sqrt
from tapeflow.math.extrema import maximum

# ---- unsorted segments -----------------------------------------------------------------------------------------------


def _lowest(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def _unsorted(start: Callable[[torch.dtype], float], gather: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """The kernel of an unsorted segment reduction.

    Args:
        start: what an empty segment gives, by dtype.
        gather: `gather(out, ids, rows)` brings each row to the row of `out` that its id names, in place.
    """

    def kernel(data: torch.Tensor, ids: torch.Tensor, num_segments: Any) -> torch.Tensor:
        if type(num_segments) is not int or num_segments < 0 or data.shape[: ids.ndim] != ids.shape:
            raise invalid(_wrong_segments(data.shape, ids.shape, num_segments))
        shape = (num_segments, *data.shape[ids.ndim :])
        out = data.new_full(shape, start(data.dtype))
        rows = data if ids.ndim == 1 else data.reshape(-1, *shape[1:])
        ids = ids.reshape(-1)
        if ids.is_cuda or traced(ids):
            return _gathered_on_gpu(out, ids, rows, gather)
        try:
            if not num_segments:
                raise IndexError  # which torch does not look for
            gather(out, ids, rows)
        except (IndexError, RuntimeError):  # an id is out of range; negative ones may be
            high = ids >= num_segments
            if high.any():
                where = int(torch.nonzero(high)[0, 0])
                raise invalid(f"segment_ids[{where}] = {int(ids[where])} is out of range [0, {num_segments})") from None
            present = ids >= 0
            out = data.new_full(shape, start(data.dtype))
            gather(out, ids[present], rows[present])
        return out

    return kernel


def _gathered_on_gpu(
    out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor, gather: Callable[..., Any]
) -> torch.Tensor:
    """Drops the rows of all ids that are out of range, as TensorFlow does there, so that nobody waits for the GPU."""
    count = out.shape[0]
    one_more = torch.cat([out, out.new_zeros((1, *out.shape[1:]))])
    gather(one_more, torch.where((ids < 0) | (ids >= count), count, ids), rows)
    return one_more[:count]


def _wrong_segments(data: Any, ids: Any, num_segments: Any) -> str:
    if type(num_segments) is not int:
        return f"num_segments should be a scalar of integer type, not {num_segments!r}"
    if num_segments < 0:
        return f"Input num_segments == {num_segments} must not be negative."
    return f"data.shape = {text(TensorShape(data))} does not start with segment_ids.shape = {text(TensorShape(ids))}"


def _scattered(how: str) -> Callable[..., Any]:
    """Combines rows by `torch.scatter_reduce_`, which wants an index for every element."""

    def gather(out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor) -> None:
        index = ids.long().reshape(-1, *[1] * (rows.ndim - 1)).expand(rows.shape)
        out.scatter_reduce_(0, index, rows, how)

    return gather


def _unsorted_rule(data: TensorShape, ids: TensorShape, num_segments: Any) -> TensorShape:
    if data.rank is None or ids.rank is None:
        return TensorShape(None)
    if not data[: ids.rank].is_compatible_with(ids):
        raise invalid(_wrong_segments(data, ids, num_segments))
    count = num_segments if isinstance(num_segments, int) else None
    return TensorShape([count]).concatenate(data[ids.rank :])


@op(
    "UnsortedSegmentSum",
    kernel=_unsorted(lambda dtype: 0, lambda out, ids, rows: out.index_add_(0, ids, rows)),
    host=("num_segments",),
    shape=_unsorted_rule,
)
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """Sums the elements of each segment: `result[i]` is the sum of all `data[j]` with `segment_ids[j] == i`.

    Args:
        data: numeric, of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order; what has a negative id is left out.
        num_segments: how many segments there are.

    Returns:
        A tensor of shape `[num_segments, *rest]`; 0 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_sum([1, 2, 3], [2, 0, 2], 3).numpy().tolist()
        [2, 0, 4]
    """


@unsorted_segment_sum.gradient(needs="input1")
def _(call: Call, dy: Any) -> Any:
    return _taken(dy, call.inputs[1])[0], None


def _beside(rows: Any, ids: Any) -> Any:
    """The shape of ids, with dimensions of size 1 for those that the rows of a segment have."""
    shape, numbers = shape_of(rows), shape_of(ids)
    if not is_unranked(shape) and not is_unranked(numbers):
        return (*numbers, *[1] * (len(shape) - 1))
    inner = subtract(ops.Rank(rows), 1)
    ones = ops.Fill(ops.Reshape(inner, [1]), 1)
    return ops.ConcatV2([ops.Shape(ids), ones], 0)


def _taken(rows: Any, ids: Any) -> tuple[Any, Any, Any]:
    """The row for each id, zero where the id is negative; the ids as indices; and where they were not negative."""
    zero = convert(0, ids.dtype)
    index = maximum(ids, zero)
    present = greater_equal(ids, zero)
    present = ops.Reshape(present, _beside(rows, ids))
    found = ops.GatherV2(rows, index, 0)
    return ops.SelectV2(present, found, convert(0, rows.dtype)), index, present


@op(
    "UnsortedSegmentMax",
    kernel=_unsorted(_lowest, _scattered("amax")),
    host=("num_segments",),
    shape=_unsorted_rule,
    orders=True,
)
def unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The largest element of each segment.

    Args:
        data: real, of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order; what has a negative id is left out.
        num_segments: how many segments there are.

    Returns:
        A tensor of shape `[num_segments, *rest]`; the lowest finite number for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_max([1, 5, 3], [1, 0, 1], 2).numpy().tolist()
        [5, 3]
    """


@op(
    "UnsortedSegmentMin",
    kernel=_unsorted(_highest, _scattered("amin")),
    host=("num_segments",),
    shape=_unsorted_rule,
    orders=True,
)
def unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The smallest element of each segment.

    Args:
        data: real, of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order; what has a negative id is left out.
        num_segments: how many segments there are.

    Returns:
        A tensor of shape `[num_segments, *rest]`; the highest finite number for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_min([1, 5, 3], [1, 0, 1], 2).numpy().tolist()
        [5, 1]
    """


@unsorted_segment_max.gradient(needs="inputs outputs")
@unsorted_segment_min.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    return _extreme_gradient(call, dy, lambda x, ids: unsorted_segment_sum(x, ids, call.attrs[0]))


def _extreme_gradient(call: Call, dy: Any, total: Callable[[Any, Any], Any]) -> Any:
    """Shared equally by all elements of a segment that are its extreme; `total` sums over segments."""
    data, ids = call.inputs
    extremes, index, present = _taken(call.outputs[0], ids)
    chosen = logical_and(equal(data, extremes), present)
    ties = maximum(total(cast(chosen, dy.dtype), ids), convert(1, dy.dtype))
    shares = ops.GatherV2(realdiv(dy, ties), index, 0)
    return ops.SelectV2(chosen, shares, convert(0, dy.dtype)), None


@op(
    "UnsortedSegmentProd",
    kernel=_unsorted(lambda dtype: 1, _scattered("prod")),
    host=("num_segments",),
    shape=_unsorted_rule,
)
def unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The product of the elements of each segment.

    Args:
        data: numeric, of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order; what has a negative id is left out.
        num_segments: how many segments there are.

    Returns:
        A tensor of shape `[num_segments, *rest]`; 1 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_prod([2, 5, 3], [1, 0, 1], 2).numpy().tolist()
        [5, 6]
    """


@unsorted_segment_prod.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    count = call.attrs[0]
    return _product_gradient(
        call,
        dy,
        lambda x, ids: unsorted_segment_sum(x, ids, count),
        lambda x, ids: unsorted_segment_prod(x, ids, count),
    )


def _product_gradient(call: Call, dy: Any, total: Callable[[Any, Any], Any], product: Callable[[Any, Any], Any]) -> Any:
    """The product over `data`; where `data` is 0, the product of the others, if that is the only zero there."""
    data, ids = call.inputs
    select, gather = ops.SelectV2, ops.GatherV2
    is_zero = equal(data, convert(0, data.dtype))
    zeros = total(cast(is_zero, "int32"), ids)
    dy = select(greater(zeros, convert(1, zeros.dtype)), convert(0, dy.dtype), dy)
    without_zeros = select(is_zero, convert(1, data.dtype), data)
    index = maximum(ids, convert(0, ids.dtype))
    others = select(
        is_zero,
        gather(product(without_zeros, ids), index, 0),
        realdiv(gather(call.outputs[0], index, 0), without_zeros),
    )
    return multiply(_taken(dy, ids)[0], conj(others)), None


def _counts(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """How many rows each segment has, but at least 1, to divide its sum by."""
    reshape = ops.Reshape
    ones = ops.BroadcastTo(convert(1, data.dtype), shape_of(segment_ids))
    counts = unsorted_segment_sum(ones, segment_ids, num_segments)
    if is_unranked(shape_of(data)) or is_unranked(shape_of(segment_ids)):
        rank = ops.Rank
        inner = reshape(subtract(rank(data), rank(segment_ids)), [1])
        counts = reshape(counts, ops.ConcatV2([[-1], ops.Fill(inner, 1)], 0))
    else:
        counts = reshape(counts, (-1, *[1] * (len(shape_of(data)) - len(shape_of(segment_ids)))))
    return maximum(counts, convert(1, data.dtype))


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The mean of each segment.

    Args:
        data: real, of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order; what has a negative id is left out.
        num_segments: how many segments there are.

    Returns:
        A tensor of shape `[num_segments, *rest]`, floating; 0 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_mean([1.0, 5.0, 3.0], [1, 0, 1], 2).numpy().tolist()
        [5.0, 2.0]
    """
    data, segment_ids = convert(data), convert(segment_ids)
    sums = unsorted_segment_sum(data, segment_ids, num_segments)
    return truediv(sums, _counts(data, segment_ids, num_segments))


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of each segment over the square root of how many elements it has.

    Args:
        data: floating, of shape `[*segment_ids.shape, *rest]`.
        segment_ids: integers below `num_segments` in any order; what has a negative id is left out.
        num_segments: how many segments there are.

    Returns:
        A tensor of shape `[num_segments, *rest]`; 0 for empty segments.

    Raises:
        InvalidArgumentError: the shapes do not match, or an id is out of range.

    Example:
        >>> tf.math.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0], 1).numpy().tolist()
        [5.0]
    """
    data, segment_ids = convert(data), convert(segment_ids)
    sums = unsorted_segment_sum(data, segment_ids, num_segments)
    return truediv(sums, sqrt(_counts(data, segment_ids, num_segments)))


# ---- sorted segments -------------------------------------------------------------------------------------------------


def _sorted(start: float, gather: Callable[..., Any], finish: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """The kernel of a reduction over segments with ids in order.

    Args:
        start: what an empty segment gives.
        gather: `gather(out, ids, rows, **how)` brings each row to the row of `out` that its id names, in place.
        finish: `finish(out, ids)` gives the result.
    """

    def kernel(data: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        problem = _not_segments(TensorShape(data.shape), TensorShape(ids.shape))
        if problem:
            raise invalid(problem)
        if not len(ids):
            return data.new_zeros((0, *data.shape[1:]))
        ids = ids.long()
        first, last = int(ids[0]), int(ids[-1])
        if bool((ids[1:] < ids[:-1]).any()):
            raise invalid("segment ids are not increasing")
        if first < 0:
            raise invalid(
                f"Segment id {first} out of range [0, {last + 1}), possibly because 'segment_ids' input is not sorted."
            )
        out = data.new_full((last + 1, *data.shape[1:]), start)
        gather(out, ids, data)
        return out if finish is None else finish(out, ids)

    return kernel


def _not_segments(data: TensorShape, ids: TensorShape) -> str:
    """What is wrong with the shapes, or nothing."""
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
        raise invalid(problem)
    return TensorShape(None) if data.rank is None else TensorShape([None]).concatenate(data[1:])


def _add_rows(out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor) -> None:
    out.index_add_(0, ids, rows)


def _divided_by_counts(out: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    counts = torch.bincount(ids, minlength=len(out)).clamp(min=1).reshape(-1, *[1] * (out.ndim - 1)).to(out.dtype)
    if out.is_floating_point() or out.is_complex():
        return torch.div(out, counts)
    return torch.div(out, counts, rounding_mode="trunc")


@op("SegmentSum", kernel=_sorted(0, _add_rows), shape=_sorted_rule)
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Sums the rows of each segment: `result[i]` is the sum of all `data[j]` with `segment_ids[j] == i`.

    Args:
        data: numeric, of shape `[n, *rest]`.
        segment_ids: int32 or int64 of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_sum([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [3, 0, 3]
    """


@segment_sum.gradient(needs="input1")
def _(call: Call, dy: Any) -> Any:
    return ops.GatherV2(dy, call.inputs[1], 0), None


@op("SegmentMean", kernel=_sorted(0, _add_rows, _divided_by_counts), shape=_sorted_rule)
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment. The mean of integers is an integer, rounded towards zero.

    Args:
        data: numeric, of shape `[n, *rest]`.
        segment_ids: int32 or int64 of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_mean([1.0, 2.0, 3.0], [0, 0, 2]).numpy().tolist()
        [1.5, 0.0, 3.0]
    """


@segment_mean.gradient(needs="input1 shapes")
def _(call: Call, dy: Any) -> Any:
    ids = call.inputs[1]
    ones = ops.BroadcastTo(convert(1, dy.dtype), _beside(dy, ids))
    counts = maximum(segment_sum(ones, ids), convert(1, dy.dtype))
    return ops.GatherV2(realdiv(dy, counts), ids, 0), None


def _sorted_extreme(start: Callable[[torch.dtype], float], how: str) -> Callable[..., torch.Tensor]:
    """The kernel of SegmentMax or SegmentMin."""

    def gather(out: torch.Tensor, ids: torch.Tensor, rows: torch.Tensor) -> None:
        out.index_fill_(0, ids, start(out.dtype))  # so that the 0 of an empty segment does not take part
        _scattered(how)(out, ids, rows)

    kernel = _sorted(0, gather)

    def for_any_dtype(data: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        if data.dtype != torch.uint64:
            return kernel(data, ids)
        sign = -(2**63)  # ATen orders no uint64s; with this bit flipped, int64s have their order
        found = kernel(data.view(torch.int64) ^ sign, ids) ^ sign
        present = torch.zeros(len(found), dtype=torch.bool, device=found.device).index_fill_(0, ids.long(), True)
        return torch.where(present.reshape(-1, *[1] * (found.ndim - 1)), found, 0).view(torch.uint64)

    return for_any_dtype


@op("SegmentMax", kernel=_sorted_extreme(_lowest, "amax"), shape=_sorted_rule)
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The largest element of each segment.

    Args:
        data: real, of shape `[n, *rest]`.
        segment_ids: int32 or int64 of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_max([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [2, 0, 3]
    """


@op("SegmentMin", kernel=_sorted_extreme(_highest, "amin"), shape=_sorted_rule)
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest element of each segment.

    Args:
        data: real, of shape `[n, *rest]`.
        segment_ids: int32 or int64 of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]`; 0 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_min([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [1, 0, 3]
    """


@segment_max.gradient(needs="inputs outputs")
@segment_min.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    return _extreme_gradient(call, dy, segment_sum)


@op("SegmentProd", kernel=_sorted(1, _scattered("prod")), shape=_sorted_rule)
def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The product of each segment.

    Args:
        data: numeric, of shape `[n, *rest]`.
        segment_ids: int32 or int64 of shape `[n]`, sorted, not negative.

    Returns:
        A tensor of shape `[segment_ids[-1] + 1, *rest]`; 1 for ids that do not occur.

    Raises:
        InvalidArgumentError: the shapes do not match, or the ids are negative or not sorted.

    Example:
        >>> tf.math.segment_prod([1, 2, 3], [0, 0, 2]).numpy().tolist()
        [2, 1, 3]
    """


@segment_prod.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    return _product_gradient(call, dy, segment_sum, segment_prod)
