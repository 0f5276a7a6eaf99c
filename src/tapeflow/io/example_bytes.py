"""The features of serialized `tf.train.Example` and `SequenceExample` messages, read by loops over their bytes.

Both messages hold maps from keys to features: an `Example` in field 1, a `SequenceExample` its context in field 1 and
its feature lists in field 2. A loop finds the ranges of the wanted features in all messages. Others count and read the
values of one feature. They skip unknown fields, as protobuf does. Valid messages that no program writes, such as those
with a field in two parts, are written anew by protobuf first.

https://protobuf.dev/programming-guides/encoding describes the bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from google.protobuf.message import DecodeError, Message

from tapeflow.core.loops import MASK, Bytes, Int64s, Words, copy, equal, loop
from tapeflow.core.types.dtypes import DType, float32, int64, string
from tapeflow.core.values.strings import StringArray, gather_ranges
from tapeflow.core.values.tensor import invalid

KINDS: tuple[DType | None, ...] = (None, string, float32, int64)  # of a feature, by the number of its field
_TOTALS = 10  # numbers for each key
SHOWN = {int64: "int64", float32: "float", string: "string"}


class UnusualMessageError(Exception):
    """A message is damaged, or written in an unusual way."""


class Values(NamedTuple):
    """The values of one feature.

    Attributes:
        flat: the values of all rows one after the other, a raw vector.
        counts: the number of values in each row, an int64 vector.
        least, most: the least and the greatest of these numbers; 0 if there are no rows.
        kinds: the kind of each row's values, 0 for a missing feature.
        missing: the number of rows without the feature.
    """

    flat: Any
    counts: np.ndarray
    least: int
    most: int
    kinds: np.ndarray
    missing: int


class Rows:
    """Features by key for some rows: examples, or steps of feature lists.

    Args:
        data: the bytes of all messages.
        keys: the keys.
        fields: int64s that are free to be written to, see `_measure_features`.
        count: the number of rows.
        numbers: the numbers of the rows' examples, for error messages; None if there is one example.

    Raises:
        UnusualMessageError: a feature is damaged, or written in an unusual way.
    """

    def __init__(
        self, data: Any, keys: Sequence[str], fields: np.ndarray, count: int, numbers: Sequence[int] | None
    ) -> None:
        self._data, self._keys, self._fields, self._count, self._numbers = data, keys, fields, count, numbers
        if _measure_features(data, fields, len(keys), count):
            raise UnusualMessageError
        totals = fields[4 * len(keys) * count :].tolist()
        self._totals = [totals[i : i + _TOTALS] for i in range(0, len(totals), _TOTALS)]
        self._sizes = [sum(totals[kind::_TOTALS]) for kind in range(4, 8)]
        strings = self._sizes[1]
        words, floats = np.empty(2 * strings + self._sizes[3], np.uint64), np.empty(self._sizes[2], np.float32)
        _read_values(data, fields, len(keys), count, words, strings, floats.view(np.uint8))
        self._words, self._floats = words.view(np.int64), floats

    def __len__(self) -> int:
        return self._count

    def values(self, key: str, dtype: DType) -> Values:
        """Returns the values of a feature.

        Raises:
            InvalidArgumentError: they are of another dtype.
        """
        at, kind, count = self._keys.index(key), KINDS.index(dtype), self._count
        totals, half = self._totals[at], 2 * len(self._keys)
        counts, kinds = (self._fields[i * count : (i + 1) * count] for i in (half + at, half + len(self._keys) + at))
        if totals[0] + totals[kind] < count:
            wrong = np.flatnonzero((kinds != 0) & (kinds != kind))[0]
            place = f"Key: {key}. "
            if self._numbers is not None:
                place = f"Name: <unknown>, Key: {key}, Index: {self._numbers[wrong]}. "
            found: Any = KINDS[kinds[wrong]]
            raise invalid(
                f"{place} Data types don't match. Data type: {SHOWN[found]} but expected type: {SHOWN[dtype]}"
            )
        start = sum([each[4 + kind] for each in self._totals[:at]])
        stop, strings, words = start + totals[4 + kind], self._sizes[1], self._words
        if dtype is string:
            flat: Any = gather_ranges(self._data, words[start:stop], words[strings + start : strings + stop])
        elif dtype is int64:
            flat = torch.from_numpy(words[2 * strings + start : 2 * strings + stop])
        else:
            flat = torch.from_numpy(self._floats[start:stop])
        return Values(flat, counts, totals[8], totals[9], kinds, totals[0])


class Lists:
    """Feature lists by key, of examples.

    Args:
        data: the bytes of all messages.
        keys: the keys.
        ranges: int64 of shape `[2, keys, examples]`: the start of each list, -1 for a missing one, and its end.
    """

    def __init__(self, data: Any, keys: Sequence[str], ranges: np.ndarray) -> None:
        self._data, self._ranges, self._keys = data, ranges, keys

    def __len__(self) -> int:
        return self._ranges.shape[2]

    def lacks(self, key: str) -> bool:
        """Returns True if an example has no list with a key."""
        return bool((self._ranges[0, self._keys.index(key)] < 0).any())

    def steps(self, keys: Sequence[str]) -> tuple[Rows, np.ndarray]:
        """Returns the steps of feature lists as rows, and the number of steps of each example.

        Raises:
            InvalidArgumentError: the lists of an example differ in their lengths.
        """
        lengths, ranges = np.zeros((len(keys), len(self)), np.int64), []
        for own, key in zip(lengths, keys, strict=True):
            starts, ends = self._ranges[:, self._keys.index(key)]
            if _count_steps(self._data, starts, ends, len(self), own) < len(self):
                raise UnusualMessageError
            found = np.empty((2, int(own.sum())), np.int64)
            _find_steps(self._data, starts, ends, len(self), found[0], found[1])
            ranges.append(found)
        if (lengths != lengths[0]).any():
            raise invalid(f"The feature lists {', '.join(keys)} of an example differ in their lengths.")
        numbers = np.repeat(np.arange(len(self)), lengths[0]).tolist()
        fields = np.stack(ranges, 1).reshape(-1)
        room = np.empty(len(fields) + _TOTALS * len(keys), np.int64)
        return Rows(self._data, keys, np.concatenate([fields, room]), len(numbers), numbers), lengths[0]


def read_columns(
    columns: Sequence[Any], serialized: StringArray, message: str, field: int, single: bool
) -> list[list[Any]]:
    """Returns the raw values of columns.

    Args:
        columns: the columns; see `columns.py`.
        serialized: the messages.
        message: the type of the messages.
        field: the number of the field with the maps of features or feature lists.
        single: True if there is one message, whose results have no dimension for the batch.

    Raises:
        InvalidArgumentError: a message is damaged, or its features are not as the columns expect them.
    """
    keys = [*dict.fromkeys([key for column in columns for key in column.keys])]
    try:
        rows = _example_rows(serialized, field, keys, single)
        return [column.read(rows, single) for column in columns]
    except UnusualMessageError:
        rows = _example_rows(_written_anew(serialized, message), field, keys, single)
        return [column.read(rows, single) for column in columns]


def _example_rows(serialized: StringArray, field: int, keys: Sequence[str], single: bool) -> Rows | Lists:
    count, names, data, wanted = serialized.size, _names_of(*keys), serialized.data, len(keys)
    fields = np.empty((4 * count + _TOTALS) * wanted, np.int64)
    found = _find_entries(data, serialized.offsets, count, 8 * field + 2, names.data, names.offsets, wanted, fields)
    if found < count:
        raise UnusualMessageError
    if field == 2:
        return Lists(data, keys, fields[: 2 * wanted * count].reshape(2, wanted, count))
    return Rows(data, keys, fields, count, None if single else range(count))


@functools.lru_cache(256)
def _names_of(*keys: str) -> StringArray:
    return StringArray.of([key.encode() for key in keys])


def _written_anew(serialized: StringArray, message: Message) -> StringArray:
    """Returns messages as protobuf writes them, without unknown fields."""
    out = []
    for i, text in enumerate(serialized.flat):
        try:
            read = message.FromString(text)
        except DecodeError:
            raise invalid(f"Could not parse example input number {i}, value: {text[:100]!r}") from None
        read.DiscardUnknownFields()
        out.append(read.SerializeToString())
    return StringArray.of(out)


# ---- loops -----------------------------------------------------------------------------------------------------------
#
# All check that they stay in the given range.


@loop
def _varint_end(data: Bytes, at: int, end: int) -> int:
    """Returns the place behind a variable-length integer, or -1."""
    for i in range(at, min(end, at + 10)):
        if data[i] < 128:
            return i + 1
    return -1


@loop
def _varint_value(data: Bytes, at: int, stop: int) -> int:
    """Returns a variable-length integer of up to 10 bytes."""
    value, shift = 0, 0
    for i in range(at, stop):
        value |= (data[i] & 127) << shift & MASK
        shift += 7
    return value


@loop
def _field_end(data: Bytes, at: int, end: int) -> int:
    """Returns the place behind a field of a message, or -1 if it is damaged or unusual."""
    place = _varint_end(data, at, end)
    if place < 0 or data[at] < 8 or (place - at > 1 and _varint_value(data, at, place) < 128):
        return -1
    kind = data[at] & 7
    if kind == 0:
        return _varint_end(data, place, end)
    if kind == 1:
        return place + 8 if place + 8 <= end else -1
    if kind == 5:
        return place + 4 if place + 4 <= end else -1
    if kind != 2:
        return -1
    stop = _varint_end(data, place, end)
    if stop < 0:
        return -1
    size = _varint_value(data, place, stop)
    return stop + size if 0 <= size <= end - stop else -1


@loop
def _find_entries(
    data: Bytes, offsets: Int64s, count: int, tag: int, keys: Bytes, key_ends: Int64s, wanted: int, fields: Int64s
) -> int:
    """Finds the values of keys in the maps of messages.

    Args:
        data: the messages.
        offsets: their offsets.
        count: their number.
        tag: the tag of the field with the map.
        keys: the keys.
        key_ends: their offsets.
        wanted: their number.
        fields: for each key and message, the start of the value, or -1; then the ends.

    Returns:
        The number of messages before one that is damaged or unusual.
    """
    for i in range(2 * wanted * count):
        fields[i] = -1
    for i in range(count):
        at, end, seen, following = offsets[i], offsets[i + 1], 0, 0
        while at < end:
            stop = _field_end(data, at, end)
            if stop < 0 or (data[at] == tag and seen):
                return i
            if data[at] != tag:
                at = stop
                continue
            seen = 1
            at = _varint_end(data, at + 1, stop)
            while at < stop:  # the entries of the map
                entry_end = _field_end(data, at, stop)
                if entry_end < 0:
                    return i
                if data[at] != 10:
                    at = entry_end
                    continue
                at = _varint_end(data, at + 1, entry_end)
                key, key_end, value, value_end = -1, -1, -1, -1
                while at < entry_end:
                    part_end = _field_end(data, at, entry_end)
                    if part_end < 0 or (data[at] == 10 and key >= 0) or (data[at] == 18 and value >= 0):
                        return i
                    if data[at] == 10:
                        key, key_end = _varint_end(data, at + 1, part_end), part_end
                    elif data[at] == 18:
                        value, value_end = _varint_end(data, at + 1, part_end), part_end
                    at = part_end
                if key < 0:
                    key, key_end = at, at
                if value < 0:
                    value, value_end = at, at
                for j in range(wanted):  # most messages have their keys in the same order
                    k = (following + j) % wanted
                    size = key_ends[k + 1] - key_ends[k]
                    if size == key_end - key and equal(keys, key_ends[k], data, key, size):
                        fields[k * count + i], fields[(wanted + k) * count + i] = value, value_end
                        following = k + 1
                        break
    return count


@loop
def _count_steps(data: Bytes, starts: Int64s, ends: Int64s, count: int, counts: Int64s) -> int:
    """Counts the features of feature lists; returns the number of lists before one that is damaged or unusual."""
    for i in range(count):
        at, end = starts[i], ends[i]
        while 0 <= at < end:
            stop = _field_end(data, at, end)
            if stop < 0:
                return i
            counts[i] += data[at] == 10
            at = stop
    return count


@loop
def _find_steps(data: Bytes, starts: Int64s, ends: Int64s, count: int, first: Int64s, last: Int64s) -> None:
    found = 0
    for i in range(count):
        at, end = starts[i], ends[i]
        while 0 <= at < end:
            stop = _field_end(data, at, end)
            if data[at] == 10:
                first[found], last[found] = _varint_end(data, at + 1, stop), stop
                found += 1
            at = stop


@loop
def _measure_features(data: Bytes, fields: Int64s, keys: int, count: int) -> int:
    """Measures features, and narrows their ranges to their lists of values; missing features get empty ranges.

    Args:
        data: the messages.
        fields: four numbers for each key and row: first all starts, -1 for a missing feature, then all ends, the
            numbers of values, and the kinds. For each key, `_TOTALS` numbers follow: the rows by kind, the values by
            kind, and the least and the greatest number of values in a row. Only starts and ends are read.
        keys: the number of keys.
        count: the number of rows.

    Returns:
        1 if a feature is damaged or unusual, or 0.
    """
    size = keys * count
    for i in range(4 * size, 4 * size + _TOTALS * keys):
        fields[i] = 0
    for i in range(size):
        at, end, kind = fields[i], fields[size + i], 0
        fields[i], fields[size + i] = 0, 0
        while 0 <= at < end:
            stop = _field_end(data, at, end)
            if stop < 0:
                return 1
            if data[at] == 10 or data[at] == 18 or data[at] == 26:
                if kind:
                    return 1
                kind = data[at] >> 3
                fields[i], fields[size + i] = _varint_end(data, at + 1, stop), stop
            at = stop
        at, end, found = fields[i], fields[size + i], 0
        while at < end:
            stop = _field_end(data, at, end)
            if stop < 0:
                return 1
            if data[at] == 10 and kind > 1:  # many values in a row
                first = _varint_end(data, at + 1, stop)
                if kind == 2:
                    if (stop - first) & 3:
                        return 1
                    found += (stop - first) >> 2
                while kind == 3 and first < stop:
                    first = _varint_end(data, first, stop)
                    if first < 0:
                        return 1
                    found += 1
            elif data[at] == 10 or (kind == 2 and data[at] == 13) or (kind == 3 and data[at] == 8):
                found += 1
            at = stop
        fields[2 * size + i], fields[3 * size + i] = found, kind
        place = 4 * size + _TOTALS * (i // count)
        fields[place + kind] += 1
        fields[place + 4 + kind] += found
        fields[place + 8] = min(fields[place + 8], found) if i % count else found
        fields[place + 9] = max(fields[place + 9], found)
    return 0


@loop
def _read_values(data: Bytes, fields: Int64s, keys: int, count: int, words: Words, strings: int, floats: Bytes) -> None:
    """Reads the values of measured features.

    Args:
        data: the messages.
        fields: the numbers that `_measure_features` wrote.
        keys: the number of keys.
        count: the number of rows.
        words: the starts of strings, their lengths, and integers.
        strings: the number of strings.
        floats: the bytes of floats.
    """
    found, written, whole, size = 0, 0, 2 * strings, keys * count
    for i in range(size):
        at, end, kind = fields[i], fields[size + i], fields[3 * size + i]
        while at < end:
            stop = _field_end(data, at, end)
            first = _varint_end(data, at + 1, stop) if data[at] == 10 else at + 1
            if kind == 1 and data[at] == 10:
                words[found], words[strings + found] = first, stop - first
                found += 1
            elif kind == 2 and (data[at] == 10 or data[at] == 13):
                copy(floats, written, data, first, stop - first)
                written += stop - first
            elif kind == 3 and (data[at] == 10 or data[at] == 8):
                while first < stop:
                    after = _varint_end(data, first, stop)
                    words[whole] = _varint_value(data, first, after)
                    whole += 1
                    first = after
            at = stop
