"""A hash table that numbers strings."""

from __future__ import annotations

import numpy as np

from tapeflow.core.farmhash import hash_range
from tapeflow.core.loops import Bytes, Int64s, equal, loop
from tapeflow.core.values.strings import SLACK, StringArray, copy_string

_MOST_RECENT, _MOST_BYTES = 4096, 4096  # strings, and bytes at a time


class StringIndex:
    """Distinct strings, numbered in the order in which they were added. The strings lie in a buffer."""

    def __init__(self) -> None:
        self._count = 0
        self._data, self._offsets = np.empty(256, np.uint8), np.zeros(17, np.int64)
        self._slots = np.full(32, -1, np.int64)  # the number of a string whose hash belongs here; a power of 2
        self._recent: dict[bytes, int] = {}  # the numbers of some strings that came a few at a time
        self._strings: StringArray | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def strings(self) -> StringArray:
        """The strings, a vector."""
        strings = self._strings
        if strings is None or strings.size < self._count:
            offsets = self._offsets[: self._count + 1]  # strings that are added later stand behind these
            strings = self._strings = StringArray(self._data[: offsets[-1]], offsets)
        return strings

    def add(self, strings: StringArray) -> np.ndarray:
        """Adds the strings that are new. Returns the numbers of all, int64 of shape `[strings.size]`."""
        recent = self._look_up(strings)
        if recent and -1 not in recent:
            return np.array(recent, np.int64)
        self._reserve(strings)
        numbers = np.empty(strings.size, np.int64)
        count = _add_strings(
            strings.data, len(strings.data), strings.offsets, strings.size, self._slots, len(self._slots) - 1,
            self._data, self._offsets, self._count, numbers,
        )  # fmt: skip
        if count > self._count:
            self._recent.clear()  # it may say that a string is not there
            self._count = count
        self._remember(strings, numbers)
        return numbers

    def find(self, strings: StringArray) -> np.ndarray:
        """Returns the numbers of strings, int64 of shape `[strings.size]`; -1 for strings that were not added."""
        recent = self._look_up(strings)
        if recent:
            return np.array(recent, np.int64)
        numbers = np.empty(strings.size, np.int64)
        _find_strings(
            strings.data, strings.offsets, strings.size, self._slots, len(self._slots) - 1, self._data, self._offsets,
            numbers,
        )  # fmt: skip
        self._remember(strings, numbers)
        return numbers

    def _look_up(self, strings: StringArray) -> list[int] | None:
        """Returns the numbers of a few strings if all came lately: a dict is faster than a loop then."""
        few, recent = strings.listed, self._recent
        try:
            return None if few is None else [recent[string] for string in few]
        except KeyError:
            return None

    def _remember(self, strings: StringArray, numbers: np.ndarray) -> None:
        few = strings.listed
        if few is not None and sum(map(len, few)) < _MOST_BYTES:
            if len(self._recent) > _MOST_RECENT:
                self._recent.clear()
            self._recent.update(zip(few, numbers.tolist(), strict=True))

    def _reserve(self, strings: StringArray) -> None:
        """Makes room for strings that may all be new."""
        count, size = self._count + strings.size, int(self._offsets[self._count] + strings.lengths.sum()) + SLACK
        if size > len(self._data):
            self._data = grow_array(self._data, size)
        if count >= len(self._offsets):
            self._offsets = grow_array(self._offsets, count + 1)
        if 2 * count > len(self._slots):
            self._slots = np.full(1 << (2 * count - 1).bit_length(), -1, np.int64)
            _fill_slots(self._data, self._offsets, self._count, self._slots, len(self._slots) - 1)


def grow_array(array: np.ndarray, size: int) -> np.ndarray:
    """Returns a larger array that begins with an array."""
    out = np.empty((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out


@loop
def _slot_of(data: Bytes, at: int, size: int, slots: Int64s, mask: int, kept: Bytes, ends: Int64s) -> int:
    """Returns the slot of a string, or the free one where it belongs."""
    slot = hash_range(data, at, size) & mask
    while True:
        number = slots[slot]
        if number < 0:
            return slot
        if ends[number + 1] - ends[number] == size and equal(kept, ends[number], data, at, size):
            return slot
        slot = (slot + 1) & mask


@loop
def _find_strings(
    data: Bytes, offsets: Int64s, count: int, slots: Int64s, mask: int, kept: Bytes, ends: Int64s, numbers: Int64s
) -> None:
    for i in range(count):
        numbers[i] = slots[_slot_of(data, offsets[i], offsets[i + 1] - offsets[i], slots, mask, kept, ends)]


@loop
def _add_strings(
    data: Bytes, end: int, offsets: Int64s, count: int, slots: Int64s, mask: int, kept: Bytes, ends: Int64s,
    known: int, numbers: Int64s,
) -> int:  # fmt: skip
    for i in range(count):
        size = offsets[i + 1] - offsets[i]
        slot = _slot_of(data, offsets[i], size, slots, mask, kept, ends)
        if slots[slot] < 0:
            copy_string(kept, ends[known], data, end, offsets[i], size)
            ends[known + 1] = ends[known] + size
            slots[slot] = known
            known += 1
        numbers[i] = slots[slot]
    return known


@loop
def _fill_slots(kept: Bytes, ends: Int64s, count: int, slots: Int64s, mask: int) -> None:
    for i in range(count):
        slot = hash_range(kept, ends[i], ends[i + 1] - ends[i]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = i
