"""Joins of strings: element by element, over dimensions, by segments, and of neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.creation import range_op
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.shape_rules import check_rank, check_ranks_first, reduction, with_rank
from tapeflow.core.ops.shape_rules import text as shape_text
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.string_joins import join_elements, join_segments
from tapeflow.core.values.strings import StringArray, numbers_within, offsets_of
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import encode_text, string_op, text

if TYPE_CHECKING:
    from tapeflow.ragged.tensor import RaggedTensor


def _join_shape(inputs: Sequence[TensorShape], separator: str) -> TensorShape:
    shape = TensorShape([])
    for other in inputs:
        if shape.rank == 0:
            shape = other
        elif other.rank != 0:
            if not shape.is_compatible_with(other):
                raise invalid(f"Input shapes do not match: {shape_text(shape)} vs. {shape_text(other)}")
            shape = shape.merge_with(other)
    return shape


@string_op("StringJoin", shape=_join_shape)
def string_join(inputs: list[StringArray], separator: str = "") -> StringArray:
    """Joins strings element by element."""
    between = separator.encode()
    shapes = [v.shape for v in inputs if v.ndim]
    shape = shapes[0] if shapes else ()
    for dims in shapes:
        if dims != shape:
            raise invalid(f"Input shapes do not match: {shape_text(shape)} vs. {shape_text(dims)}")
    return join_elements(inputs, shape, between)


def join(inputs: Sequence[TensorLike], separator: str | None = "", name: str | None = None) -> Tensor:
    """Joins tensors of strings element by element.

    Args:
        inputs: strings of one shape; scalars go with every element.
        separator: the text between two strings; None stands for none.

    Returns:
        Strings of that shape.

    Raises:
        InvalidArgumentError: the shapes differ.

    Example:
        >>> tf.strings.join(["a", ["b", "c"]], separator="-").numpy().tolist()
        [b'a-b', b'a-c']
    """
    if not isinstance(inputs, (list, tuple)):
        inputs = list(convert(inputs))
    return string_join(list(inputs), "" if separator is None else separator, name) if inputs else convert(b"")


@string_op("ReduceJoin", host=("reduction_indices",), shape=reduction)
def reduce_joined(
    inputs: StringArray, reduction_indices: Any, keep_dims: bool = False, separator: str = ""
) -> StringArray:
    """Joins strings over dimensions."""
    rank = inputs.ndim
    axes = (reduction_indices,) if isinstance(reduction_indices, int) else tuple(reduction_indices)
    for axis in axes:
        if not -rank <= axis < rank:
            raise OutOfRangeError.of(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
    axes = tuple(a % rank for a in axes)
    if len(set(axes)) != len(axes):
        raise invalid(f"Duplicate reduction dimension {next(a for a in axes if axes.count(a) > 1)}")
    if rank == 1 and axes and not keep_dims and inputs.few is not None:
        return StringArray.scalar(separator.encode().join(inputs.few))
    others = [i for i in range(rank) if i not in axes]
    shape = [inputs.shape[i] for i in others]
    length = math.prod(inputs.shape[i] for i in axes)
    places = inputs.places().transpose(*others, *axes[::-1]).reshape(-1)
    result = [1 if i in axes else d for i, d in enumerate(inputs.shape)] if keep_dims else shape
    splits = np.arange(math.prod(shape) + 1) * length
    return join_segments(inputs, places, splits, separator.encode(), result)


def reduce_join(
    inputs: TensorLike, axis: AxisLike = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """Joins the strings along one dimension after the other.

    Args:
        inputs: a string tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions; None for all, the last first.
        keepdims: keeps the reduced dimensions, with length 1.
        separator: the text between two strings.

    Returns:
        Strings, of the shape of `inputs` without the reduced dimensions.

    Raises:
        OutOfRangeError: there is no such dimension.
        InvalidArgumentError: a dimension occurs twice.

    Example:
        >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=0, separator="-").numpy().tolist()
        [b'a-c', b'b-d']
    """
    strings: Any = inputs if hasattr(type(inputs), "__tf_dispatch__") else convert(inputs)
    if axis is None:
        rank = strings.shape.rank
        axis = (
            range_op(rank_op(strings) - 1, -1, -1) if rank is None else convert(np.arange(rank, dtype=np.int32)[::-1])
        )
    return reduce_joined(strings, axis, keepdims, separator, name)


def _segment_join(inputs: StringArray, segment_ids: torch.Tensor, num_segments: int, separator: str) -> StringArray:
    ids = segment_ids.numpy()
    if inputs.shape[: ids.ndim] != ids.shape:
        raise invalid(
            f"segment_ids must have a shape that begins inputs's: {shape_text(ids.shape)} vs. "
            f"{shape_text(inputs.shape)}"
        )
    if not ids.ndim:
        raise invalid("Segment_id cannot have rank 0")
    rest = inputs.shape[ids.ndim :]
    width = math.prod(rest)
    ids = ids.reshape(-1)
    if ids.size and not (ids.min() >= 0 and ids.max() < num_segments):
        raise invalid("segment_ids are not allowed to exceed num_segments or to have negative values.")
    columns = ids.astype(np.int64)[:, None] * width + np.arange(width)  # a segment for each column
    order = np.argsort(columns.reshape(-1), kind="stable")
    splits = offsets_of(np.repeat(np.bincount(ids, minlength=num_segments), width))
    # As in TensorFlow, a separator ends at a zero byte, and stands before each string but those at the beginning that
    # are empty.
    between = separator.encode().partition(b"\0")[0]
    return join_segments(inputs, order, splits, between, (num_segments, *rest), drops_empty=True)


def _segments_shape(inputs: TensorShape, ids: TensorShape, num_segments: Any, separator: str) -> TensorShape:
    check_rank(num_segments, 0)
    if inputs.rank is None or ids.rank is None:
        return TensorShape(None)
    if not ids.is_compatible_with(inputs[: ids.rank]):
        raise invalid(f"segment_ids must have a shape that begins inputs's: {shape_text(ids)} vs. {shape_text(inputs)}")
    count = num_segments if isinstance(num_segments, int) else None
    return TensorShape([count]).concatenate(inputs[ids.rank :])


@string_op("UnsortedSegmentJoin", _segment_join, host=("num_segments",), shape=_segments_shape)
def unsorted_segment_join(
    inputs: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, separator: str = "", name: str | None = None
) -> Tensor:
    """Joins the strings of each segment.

    Args:
        inputs: a string tensor whose shape begins with `segment_ids.shape`.
        segment_ids: an int32 or int64 tensor. The shape of `inputs` begins with its shape.
        num_segments: an integer scalar, the number of segments.
        separator: the text between two strings.

    Returns:
        Strings of shape `[num_segments, ...]`, with the dimensions of `inputs` that `segment_ids` does not have.

    Raises:
        InvalidArgumentError: the shapes do not fit, or an id is negative or not less than `num_segments`.

    Example:
        >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2, ":").numpy().tolist()
        [b'a:c', b'b']
    """


def _check_splits(splits: np.ndarray, count: int) -> None:
    """Raises InvalidArgumentError if row splits do not fit the number of strings."""
    if not splits.size:
        return
    if splits[0] != 0:
        raise invalid(f"First split value must be 0, got {splits[0]}")
    wrong = np.flatnonzero((splits[1:] < splits[:-1]) | (splits[1:] > count))
    if wrong.size:
        last, split = splits[wrong[0] : wrong[0] + 2]
        raise invalid(f"Invalid split value {split}, must be in [{last}, {count}]")
    if splits[-1] != count:
        raise invalid(f"Last split value must be data size. Expected {count}, got {splits[-1]}")


_PADS = 2  # the left one and the right one stand before the strings


def _padded_places(starts: np.ndarray, lengths: np.ndarray, pad: int) -> np.ndarray:
    """Returns the places of the strings of all rows, with `pad` pads at both ends of each row."""
    size = int(lengths.sum())
    if not pad:
        return np.arange(size) + _PADS
    added = 2 * pad * np.arange(len(lengths))  # pads before each row
    first = (starts + added)[:, None] + np.arange(pad)
    out = np.empty(size + 2 * pad * len(lengths), np.int64)
    out[first], out[first + pad + lengths[:, None]] = 0, 1
    out[np.repeat(added + pad, lengths) + np.arange(size)] = np.arange(size) + _PADS
    return out


@string_op(
    "StringNGrams", shape=check_ranks_first(lambda data, splits, *_: [TensorShape([None]), with_rank(splits, 1)], 1, 1)
)
def _string_ngrams(
    data: StringArray, data_splits: torch.Tensor, separator: str, ngram_widths: Any, left_pad: str, right_pad: str,
    pad_width: int, preserve_short_sequences: bool,
) -> tuple[StringArray, torch.Tensor]:  # fmt: skip
    """Joins the ngrams of each row of strings."""
    left, right, between = encode_text(left_pad), encode_text(right_pad), encode_text(separator)
    splits = data_splits.numpy().astype(np.int64)
    _check_splits(splits, data.size)
    if not data.size:  # TensorFlow pads no row then
        return data, torch.zeros_like(data_splits)
    starts, lengths = splits[:-1], np.diff(splits)
    pads = [width - 1 if pad_width < 0 else min(width - 1, pad_width) for width in ngram_widths]
    counts = [np.maximum(lengths + 2 * pad - width + 1, 0) for width, pad in zip(ngram_widths, pads, strict=True)]
    sizes = sum(counts, 0 * lengths)
    short = np.flatnonzero((sizes == 0) & (lengths > 0) & preserve_short_sequences)
    around = max(pad_width, 0)
    sizes[short] = 1
    ends = np.cumsum(sizes)
    for width, pad, count in zip(ngram_widths, pads, counts, strict=True):
        check_memory([len(lengths), 2 * max(pad, 0) + 1], 32, UNFILLED)
        check_memory([int(count.sum()), max(width, 0)], 32, UNFILLED)
    check_memory([len(short), 2 * max(pad_width, 0)], 16, UNFILLED)
    total, next_places = int(sizes.sum()), ends - sizes
    rows, windows = [], []  # the numbers of ngrams, and for each the places of its strings
    for width, pad, count in zip(ngram_widths, pads, counts, strict=True):
        words = _padded_places(starts, lengths, pad)
        within = numbers_within(count)
        firsts = np.repeat(starts + 2 * pad * np.arange(len(lengths)), count) + within
        rows.append(np.repeat(next_places, count) + within)
        windows.append(words[firsts[:, None] + np.arange(width)])
        next_places = next_places + count
    widths = np.zeros(total, np.int64)
    for row, window in zip(rows, windows, strict=True):
        widths[row] = window.shape[1]
    widths[next_places[short]] = lengths[short] + 2 * around
    bounds = offsets_of(widths)
    places = np.empty(bounds[-1], np.int64)
    for row, window in zip(rows, windows, strict=True):
        places[bounds[row][:, None] + np.arange(window.shape[1])] = window
    for row in short:
        at = bounds[next_places[row]]
        padded = _padded_places(starts[row : row + 1] * 0, lengths[row : row + 1], around)
        places[at : at + len(padded)] = np.where(padded < _PADS, padded, padded + starts[row])
    pool = StringArray.concatenate([StringArray.of([left, right]), data])
    grams = join_segments(pool, places, bounds, between, (total,))
    return grams, torch.from_numpy(np.append(0, ends)[: splits.size]).to(data_splits.dtype)


def ngrams(
    data: TensorLike,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: str | bytes | tuple[str | bytes, str | bytes] | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Joins all runs of `ngram_width` neighbours in the last dimension.

    Args:
        data: a string tensor or `RaggedTensor` [..., n].
        ngram_width: the number of neighbours, or a list of such numbers.
        separator: the text between two strings; " " by default.
        pad_values: a string, or a pair for the left and the right, that pads each row.
        padding_width: an int, the number of pads at each side; by default one less than the width.
        preserve_short_sequences: a row that is too short for any run counts as one.

    Returns:
        Strings with the rank of `data`; ragged if `data` is.

    Raises:
        ValueError: a width is not positive, there is a `padding_width` without `pad_values`, or `data` is a scalar.

    Example:
        >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
        [b'a b', b'b c']
    """
    from tapeflow.ragged.tensor import RaggedTensor

    sizes: Any = ngram_width
    widths = [sizes] if isinstance(sizes, int) or getattr(sizes, "ndim", 1) == 0 else list(sizes)
    if any(w < 1 for w in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Received: {ngram_width}")
    widths = [host_value(w) for w in widths]
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"padding_width must be greater than 0. Received: {padding_width}")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    both: Any = ("", "") if pad_values is None else pad_values
    left, right = (both, both) if isinstance(both, (str, bytes)) else both
    width = 0 if pad_values is None else -1 if padding_width is None else padding_width

    def of_rows(rows: Any) -> Any:
        if isinstance(rows.values, RaggedTensor):
            return rows.with_values(of_rows(rows.values))
        attrs = separator, widths, _as_text(left), _as_text(right), width, preserve_short_sequences
        words, splits = _string_ngrams(rows.values, rows.row_splits, *attrs, name)
        return RaggedTensor.from_row_splits(words, splits, validate=False)

    if isinstance(data, RaggedTensor):
        if data.dtype is not string:
            raise ValueError(f"Tensor conversion requested dtype string for RaggedTensor with dtype {data.dtype.name}")
        return of_rows(data)
    tensor: Any = convert(data, string)
    if not tensor.shape.rank:
        raise ValueError("ngrams needs at least one dimension to run along")
    if tensor.shape.rank == 1:
        return of_rows(RaggedTensor.from_tensor(expand_dims(tensor, 0))).values
    grams = of_rows(RaggedTensor.from_tensor(tensor, ragged_rank=tensor.shape.rank - 1)).flat_values
    return reshape(grams, [*shape_of(tensor)[:-1], -1])


def _as_text(value: str | bytes) -> str:
    """Returns a string as Python text."""
    return text(value) if isinstance(value, bytes) else value
