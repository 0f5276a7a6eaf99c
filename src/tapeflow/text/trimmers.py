"""Trimmers: several segments get a common length, and each keeps the items at its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import stack, unstack
from tapeflow.array.creation import zeros
from tapeflow.array.properties import shape
from tapeflow.array.ranges import one_hot
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.control.conditions_and_loops import while_loop
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math import argmax, cumsum
from tapeflow.math.casting import cast
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_any, reduce_sum
from tapeflow.ragged import boolean_mask
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.text.item_selectors import FirstNItemSelector
from tapeflow.text.tokenizer import ragged_or_tensor

Raw = Any


class Trimmer:
    """The base of trimmers.

    Args:
        max_seq_length: the length that the segments have together at most; an int or int32 tensor.
        axis: the dimension whose items stay or are dropped.

    Example:
        >>> from tapeflow import text
        >>> issubclass(text.WaterfallTrimmer, text.Trimmer)
        True
    """

    def __init__(self, max_seq_length: TensorLike, axis: int = -1) -> None:
        self._max_seq_length, self._axis = max_seq_length, axis

    def _allocate(self, lengths: Tensor) -> Any:
        """Returns how many items each segment keeps; for subclasses.

        Args:
            lengths: int32 of shape `[batch, segments]`.
        """
        raise NotImplementedError

    def generate_mask(self, segments: Sequence[Any]) -> list[Any]:
        """Returns for each item of each segment whether it stays.

        Args:
            segments: `RaggedTensor`s of the same number of rows.

        Returns:
            Ragged tensors of booleans.
        """
        segments = [ragged_or_tensor(s) for s in segments]
        lengths = stack([cast(_count_items(s, self._axis), int32) for s in segments], -1)
        held = unstack(self._allocate(lengths), axis=-1, num=len(segments))
        pairs = zip(segments, held, strict=True)
        return [FirstNItemSelector(count).get_selectable(s, self._axis) for s, count in pairs]

    def trim(self, segments: Sequence[Any]) -> list[Any]:
        """Drops the items that are too many.

        Args:
            segments: `RaggedTensor`s of the same number of rows.

        Returns:
            A ragged tensor for each.
        """
        segments = [ragged_or_tensor(s) for s in segments]
        masks = self.generate_mask(segments)
        pairs = zip(segments, masks, strict=True)
        return [boolean_mask(s, mask.with_row_splits_dtype(s.row_splits.dtype)) for s, mask in pairs]


def _count_items(segment: RaggedTensor, axis: int) -> Any:
    """Returns the number of items along a dimension in each row."""
    depth = (axis + segment.shape.rank if axis < 0 else axis) - 1
    nested = segment.nested_row_lengths()
    lengths: Any = RaggedTensor.from_nested_row_lengths(nested[depth], nested[:depth])
    for _ in range(depth):
        lengths = reduce_sum(lengths, -1)
    return lengths


class WaterfallTrimmer(Trimmer):
    """Fills segments one after the other until the length is used up.

    Args:
        max_seq_length: the length that the segments have together at most; an int, or int32 with one for each row.
        axis: the dimension whose items stay or are dropped.

    Example:
        >>> from tapeflow import text
        >>> segments = [tf.ragged.constant([[1, 2, 3]]), tf.ragged.constant([[4, 5, 6]])]
        >>> [s.to_list() for s in text.WaterfallTrimmer(4).trim(segments)]
        [[[1, 2, 3]], [[4]]]
    """

    def _allocate(self, lengths: Tensor) -> Any:
        budget = cast(convert(self._max_seq_length), int32)
        budget = expand_dims(budget, -1) if budget.shape.rank else budget
        left = budget - cumsum(lengths, -1)
        return maximum(lengths + minimum(left, 0), 0)


def _round_robin(lengths: np.ndarray, budget: int) -> np.ndarray:
    """Returns how many items each segment keeps if they take turns.

    Args:
        lengths: of shape `[batch, segments]`.
        budget: the number of items in each row.
    """
    count = lengths.shape[1]
    order = np.argsort(lengths, 1, kind="stable")
    rising, held = np.take_along_axis(lengths, order, 1), np.zeros_like(lengths)
    left, open_ = np.full(len(lengths), budget, np.int64), np.ones(len(lengths), bool)
    filled = np.zeros(len(lengths), np.int64)
    for i in range(count):  # the shorter ones fit as a whole
        open_ &= rising[:, i] * (count - filled) <= left
        held[:, i] = np.where(open_, rising[:, i], 0)
        left -= held[:, i]
        filled += open_
    share = np.where(filled < count, left // np.maximum(count - filled, 1), 0)
    rest = np.arange(count) >= filled[:, None]
    held = np.where(rest, share[:, None], held)
    left -= share * (count - filled)
    out = np.empty_like(held)
    np.put_along_axis(out, order, held, 1)
    for i in range(count):  # the remainder goes to the first ones
        more = (left > 0) & (out[:, i] < lengths[:, i])
        out[:, i] += more
        left -= more
    return out


def _row_lengths(values: Sequence[torch.Tensor], splits: Sequence[torch.Tensor]) -> np.ndarray:
    """Returns the lengths of the rows of all segments.

    Raises:
        InvalidArgumentError: the row splits do not fit.
    """
    ends = [s.numpy().astype(np.int64) for s in splits]
    for v, s in zip(values, ends, strict=True):
        if s.ndim != 1 or len(s) != len(ends[0]) or not len(s) or s[0] or s[-1] != len(v) or (s[1:] < s[:-1]).any():
            raise invalid(f"The row splits of segments must go up from 0 to the number of values, {len(v)}.")
    return np.stack([np.diff(s) for s in ends], 1)


def _trim_masks(max_sequence_length: Raw, values: list[Raw], splits: list[Raw]) -> list[Raw]:
    lengths = _row_lengths(values, splits)
    held = _round_robin(lengths, max(int(max_sequence_length), 0))
    masks = []
    for i, size in enumerate(lengths.T):
        places = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        masks.append(torch.from_numpy(places < np.repeat(held[:, i], size)))
    return masks


_SEGMENTS = "max_sequence_length:int32, input_values:N*T, input_row_splits:N*Tsplits -> "
_TYPES = "; attr=N:int,min=0; attr=T:type; attr=Tsplits:type,allowed=[DT_INT32, DT_INT64]"


@op("TFText>RoundRobinGenerateMasks", _trim_masks, strings=_trim_masks, signature=f"{_SEGMENTS}masks:N*bool{_TYPES}",
    shape=lambda size, values, splits: list(values))  # fmt: skip
def _masks_op(
    max_sequence_length: TensorLike, input_values: TensorLike, input_row_splits: TensorLike, name: str | None = None
) -> Any:
    """Computes which items segments keep."""


def _trim_rows(max_sequence_length: Raw, values: list[Raw], splits: list[Raw]) -> list[Raw]:
    masks = _trim_masks(max_sequence_length, values, splits)
    held = _round_robin(_row_lengths(values, splits), max(int(max_sequence_length), 0))
    ends = [np.concatenate([[0], np.cumsum(held[:, i])]) for i in range(len(values))]
    out = [torch.from_numpy(e).to(s.dtype) for e, s in zip(ends, splits, strict=True)]
    return [*[v[m] for v, m in zip(values, masks, strict=True)], *out]


@op("TFText>RoundRobinTrim", _trim_rows, strings=_trim_rows,
    signature=f"{_SEGMENTS}values:N*T, row_splits:N*Tsplits{_TYPES}",
    shape=lambda size, values, splits: [*[TensorShape([None])] * len(values), *splits])  # fmt: skip
def _trim_op(
    max_sequence_length: TensorLike, input_values: TensorLike, input_row_splits: TensorLike, name: str | None = None
) -> Any:
    """Drops the items that segments do not keep."""


class RoundRobinTrimmer(Trimmer):
    """Lets the segments take turns until the length is used up.

    Args:
        max_seq_length: the length that the segments have together at most; an int or int32 scalar.
        axis: the dimension whose items stay or are dropped.

    Example:
        >>> from tapeflow import text
        >>> segments = [tf.ragged.constant([[1, 2, 3]]), tf.ragged.constant([[4, 5, 6]])]
        >>> [s.to_list() for s in text.RoundRobinTrimmer(4).trim(segments)]
        [[[1, 2]], [[4, 5]]]
    """

    def _allocate(self, lengths: Tensor) -> Any:
        counts = unstack(lengths, axis=-1)
        values = [zeros([reduce_sum(n)], int32) for n in counts]
        rows = [RaggedTensor.from_row_lengths(v, n, validate=False) for v, n in zip(values, counts, strict=True)]
        splits = [r.row_splits for r in rows]
        masks = _masks_op(self._budget(), values, splits)
        held = [RaggedTensor.from_row_splits(cast(m, int32), s) for m, s in zip(masks, splits, strict=True)]
        return stack([reduce_sum(k, -1) for k in held], -1)

    def _budget(self) -> Any:
        return reshape(cast(convert(self._max_seq_length), int32), [])

    def trim(self, segments: Sequence[Any]) -> list[Any]:
        """Drops the items that are too many.

        Args:
            segments: `RaggedTensor`s of the same number of rows.

        Returns:
            A ragged tensor for each.
        """
        rows = [ragged_or_tensor(s) for s in segments]
        if rows[0].shape.rank != 2 or self._axis not in (-1, 1):
            return super().trim(rows)
        parts = _trim_op(self._budget(), [s.values for s in rows], [s.row_splits for s in rows])
        pairs = zip(parts[: len(rows)], parts[len(rows) :], strict=True)
        return [RaggedTensor.from_row_splits(values, splits) for values, splits in pairs]


class ShrinkLongestTrimmer(Trimmer):
    """Shortens the longest segment, item by item, until the length suffices.

    Args:
        max_seq_length: the length that the segments have together at most; an int or int32 scalar.
        axis: the dimension whose items stay or are dropped.

    Example:
        >>> from tapeflow import text
        >>> segments = [tf.ragged.constant([[1, 2, 3]]), tf.ragged.constant([[4]])]
        >>> [s.to_list() for s in text.ShrinkLongestTrimmer(3).trim(segments)]
        [[[1, 2]], [[4]]]
    """

    def _allocate(self, lengths: Tensor) -> Any:
        budget = cast(convert(self._max_seq_length), int32)
        depth = shape(lengths)[-1]

        def too_long(held: Tensor) -> Any:
            return reduce_sum(held, -1) > budget

        def shorten(held: Tensor) -> Any:
            longest = one_hot(argmax(held, -1), depth, dtype=int32)
            return (held - expand_dims(cast(too_long(held), int32), -1) * longest,)

        return while_loop(lambda held: reduce_any(too_long(held)), shorten, (lengths,))[0]
