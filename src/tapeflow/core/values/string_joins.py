"""Joins of strings: element by element, and segment by segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tapeflow.core.loops import Bytes, Int64s, copy, loop
from tapeflow.core.values.strings import FEW, SLACK, StringArray, copy_string, offsets_of


def join_elements(arrays: Sequence[StringArray], shape: Sequence[int], separator: bytes = b"") -> StringArray:
    """Joins arrays of strings element by element.

    Args:
        arrays: arrays of one shape; scalars go with every element.
        shape: that shape.
        separator: the text between two strings.
    """
    size = math.prod(shape)
    few: list[Any] = [v.few for v in arrays]
    if None not in few:
        rows = [strings if v.shape else strings * size for v, strings in zip(arrays, few, strict=True)]
        return StringArray.of(list(map(separator.join, zip(*rows, strict=True))), shape)
    pieces = [arrays[0]]
    for other in arrays[1:]:
        pieces += [StringArray.scalar(separator), other] if separator else [other]
    lengths = np.zeros(size, np.int64)
    for v in pieces:
        lengths += v.lengths
    offsets = offsets_of(lengths)
    out, places = np.empty(offsets[-1], np.uint8), offsets[:-1].copy()
    for v in pieces:
        _write_strings(v.data, v.offsets, int(v.ndim > 0), out, places, size)
    return StringArray(out, offsets, shape)


@loop
def _write_strings(data: Bytes, offsets: Int64s, step: int, out: Bytes, places: Int64s, count: int) -> None:
    """Writes a string to each place, the same one if `step` is 0, and moves the places behind it."""
    for i in range(count):
        start = offsets[i * step]
        size = offsets[i * step + 1] - start
        copy(out, places[i], data, start, size)
        places[i] += size


def join_segments(
    strings: StringArray, places: np.ndarray, splits: np.ndarray, separator: bytes, shape: Sequence[int],
    drops_empty: bool = False,
) -> StringArray:  # fmt: skip
    """Joins strings, segment by segment.

    Args:
        strings: the strings.
        places: the places of the strings to join.
        splits: the start of each segment among the places, and the end of the last one.
        separator: the text between two strings.
        shape: the result's shape.
        drops_empty: ignores the empty strings at the beginning of a segment.
    """
    few = strings.few
    if few is not None and not drops_empty and len(places) <= FEW and len(splits) <= FEW:
        texts = [few[i] for i in places.tolist()]
        return StringArray.of([separator.join(texts[i:j]) for i, j in pairwise(splits.tolist())], shape)
    places, splits = np.ascontiguousarray(places, np.int64), np.ascontiguousarray(splits, np.int64)
    count, size = len(splits) - 1, len(separator)
    out = np.empty(int(strings.lengths[places].sum()) + size * len(places) + SLACK, np.uint8)
    ends = np.zeros(count + 1, np.int64)
    data = strings.data, len(strings.data), strings.offsets
    _write_segments(*data, places, splits, count, separator, size, drops_empty, out, ends)
    return StringArray(out[: ends[-1]], ends, shape)


@loop
def _write_segments(
    data: Bytes, data_size: int, offsets: Int64s, places: Int64s, splits: Int64s, count: int, separator: Bytes,
    size: int, drops_empty: int, out: Bytes, ends: Int64s,
) -> None:  # fmt: skip
    at = 0
    for i in range(count):
        begins = True
        for j in range(splits[i], splits[i + 1]):
            start = offsets[places[j]]
            length = offsets[places[j] + 1] - start
            if begins and drops_empty and length == 0:
                continue
            if not begins:
                copy(out, at, separator, 0, size)
                at += size
            copy_string(out, at, data, data_size, start, length)
            at += length
            begins = False
        ends[i + 1] = at
