"""From tokens to the inputs of a model: windows, n-grams, and segments in one row."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import fill, ones_like
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math import reduce_mean, reduce_sum
from tapeflow.math.casting import cast
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.join_and_ngrams import reduce_join
from tapeflow.text.tokenizer import ragged_or_tensor


def sliding_window(data: TensorLike, width: int, axis: int = -1, name: str | None = None) -> Any:
    """Returns the windows of neighbours along a dimension.

    Args:
        data: a tensor or `RaggedTensor`.
        width: an int, the number of items in a window.
        axis: the dimension.

    Returns:
        The windows, with one dimension more behind `axis`.

    Raises:
        TypeError: `axis` or `width` is no int.
        InvalidArgumentError: there is no such dimension, or no such width.

    Example:
        >>> from tapeflow import text
        >>> text.sliding_window([1, 2, 3], 2).numpy().tolist()
        [[1, 2], [2, 3]]
    """
    values = ragged_or_tensor(data)
    if not isinstance(axis, int):
        raise TypeError("axis must be an int")
    if not isinstance(width, int):
        raise TypeError("width must be an int")
    rank = values.shape.rank
    if rank is not None and not -rank <= axis < rank:
        raise invalid("axis must be between -k <= axis <= -1 OR 0 <= axis < k")
    if width <= 0:
        raise invalid("width must be an integer greater than 0")
    windows = []
    for start in range(width):
        part = slice(start, start - width + 1 or None)
        key = [slice(None)] * axis + [part] if axis >= 0 else [..., part] + [slice(None)] * (-axis - 1)
        windows.append(values[tuple(key)])
    return stack(windows, axis + 1 if axis >= 0 else axis)


class Reduction(enum.Enum):
    """Chooses how the items of a window are combined.

    Attributes:
        SUM: their sum.
        MEAN: their mean.
        STRING_JOIN: the strings joined.

    Example:
        >>> from tapeflow import text
        >>> text.Reduction.SUM.value
        1
    """

    SUM = 1
    MEAN = 2
    STRING_JOIN = 3


def ngrams(
    data: TensorLike, width: int, axis: int = -1, reduction_type: Reduction | None = None, string_separator: str = " ",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Combines neighbours along a dimension.

    Args:
        data: a tensor or `RaggedTensor`.
        width: an int, the number of neighbours.
        axis: the dimension.
        reduction_type: how they are combined.
        string_separator: stands between strings that are joined.

    Returns:
        The n-grams, in the form of `data`.

    Raises:
        InvalidArgumentError: there is no `reduction_type`, no such dimension, or no such width.

    Example:
        >>> from tapeflow import text
        >>> text.ngrams(["a", "b", "c"], 2, reduction_type=text.Reduction.STRING_JOIN).numpy().tolist()
        [b'a b', b'b c']
    """
    if not isinstance(reduction_type, Reduction):
        raise invalid("reduction_type must be specified, and be a Reduction.")
    if reduction_type is Reduction.STRING_JOIN and axis != -1:
        raise invalid("STRING_JOIN requires that ngrams' 'axis' parameter be -1.")
    windows = sliding_window(data, width, axis)
    dim = axis if axis < 0 else axis + 1
    if reduction_type is Reduction.STRING_JOIN:
        join = reduce_join
        if isinstance(windows, RaggedTensor):
            return windows.with_flat_values(join(windows.flat_values, axis=-1, separator=string_separator))
        return join(windows, axis=-1, separator=string_separator)
    return (reduce_sum if reduction_type is Reduction.SUM else reduce_mean)(windows, dim)


def pad_model_inputs(input: TensorLike, max_seq_length: TensorLike, pad_value: TensorLike = 0) -> tuple[Tensor, Tensor]:
    """Pads or cuts rows to a length.

    Args:
        input: a `RaggedTensor` or tensor of at least rank 1.
        max_seq_length: the length, an int.
        pad_value: fills short rows.

    Returns:
        The rows as a matrix, and a matrix with 1 for each item and 0 for padding. Vectors for a vector.

    Raises:
        TypeError: `input` is a scalar.

    Example:
        >>> from tapeflow import text
        >>> [t.numpy().tolist() for t in text.pad_model_inputs(tf.ragged.constant([[1, 2, 3], [4]]), 2)]
        [[[1, 2], [4, 0]], [[1, 1], [1, 0]]]
    """
    rows = ragged_or_tensor(input)
    if not isinstance(rows, RaggedTensor):
        if rows.shape.rank == 0:
            raise TypeError("Input must be at least rank 1")
        if rows.shape.rank == 1:
            padded, mask = pad_model_inputs(expand_dims(rows, 0), max_seq_length, pad_value)
            return reshape(padded, [-1]), reshape(mask, [-1])
        rows = RaggedTensor.from_tensor(rows)
    rows = rows.merge_dims(1, -1) if rows.ragged_rank > 1 else rows
    shape = [None, max_seq_length] if isinstance(max_seq_length, int) else cast([-1, max_seq_length], int64)
    return rows.to_tensor(shape=shape, default_value=pad_value), ones_like(rows).to_tensor(shape=shape)


def _join_segments(segments: Sequence[Any], around: Any = None) -> tuple[Any, Any]:
    """Joins segments in each row.

    Args:
        segments: `RaggedTensor`s.
        around: the tokens before all and behind each, if there are any.

    Returns:
        The tokens, and the number of the segment that each is in.

    Raises:
        ValueError: there are no segments, or not of integers.
    """
    if len(segments) <= 0:
        raise ValueError("`segments` must be a nonempty list.")
    dtype = segments[0].dtype
    if dtype not in (int32, int64):
        raise ValueError("`segments` must have elements with dtype of int32 or int64")
    parts = []
    for i, segment in enumerate(segments):
        parts.append((segment, i))
        if around is not None:
            dims = [segments[0].nrows()] + [1] * segments[0].ragged_rank
            start, end = [fill(dims, cast(convert(t), dtype)) for t in around]
            parts = [(start, 0), *parts, (end, i)] if i == 0 else [*parts, (end, i)]
    return concat([t for t, _ in parts], 1), concat([ones_like(t) * i for t, i in parts], 1)


def combine_segments(segments: Sequence[Any], start_of_sequence_id: TensorLike, end_of_segment_id: TensorLike) -> Any:
    """Joins segments in each row, with a token before all and one behind each.

    Args:
        segments: `RaggedTensor`s of integers.
        start_of_sequence_id: the token at the beginning, such as BERT's [CLS].
        end_of_segment_id: the token behind each segment, such as [SEP].

    Returns:
        The tokens, and the number of the segment that each is in.

    Raises:
        ValueError: there are no segments, or not of integers.

    Example:
        >>> from tapeflow import text
        >>> [t.to_list() for t in text.combine_segments([tf.ragged.constant([[5]]), tf.ragged.constant([[6]])], 1, 2)]
        [[[1, 5, 2, 6, 2]], [[0, 0, 0, 1, 1]]]
    """
    return _join_segments(segments, (start_of_sequence_id, end_of_segment_id))


def concatenate_segments(segments: Sequence[Any]) -> Any:
    """Joins segments in each row.

    Args:
        segments: `RaggedTensor`s of integers.

    Returns:
        The tokens, and the number of the segment that each is in.

    Raises:
        ValueError: there are no segments, or not of integers.

    Example:
        >>> from tapeflow import text
        >>> [t.to_list() for t in text.concatenate_segments([tf.ragged.constant([[5]]), tf.ragged.constant([[6]])])]
        [[[5, 6]], [[0, 1]]]
    """
    return _join_segments(segments)
