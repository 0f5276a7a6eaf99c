"""What the raw value of a list of tensors holds: sequences of raw tensors that never change.

A loop that fills a list writes one entry after the other. A copy for each would cost as much as the list is long, so
that lists which come of writing share their memory: the newest of them has it, and each older one knows what was
written over. Reading an older one gives it memory of its own. So writing to the newest costs the same for lists of any
length, and every list keeps its entries, whoever holds it.

The technique is that of Baker's shallow binding for arrays (https://dl.acm.org/doi/10.1145/122598.122614).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Raw = Any  # a `torch.Tensor`, or an array of objects; None for an entry that was not written

_MOST_SPARSE = 8  # entries; from there on they are held in a row

_MOST_STEPS = 4  # from an older list to the newest one, to read an entry
_writing = threading.Lock()  # held for the moment in which memory changes hands


class Zeros(tuple):
    """The gradient of a list that nothing depends on: zeros for every entry of a list of any length."""

    __slots__ = ()


class Sparse(Sequence):
    """A list of which few entries were written.

    Args:
        length: how long it is.
        written: the entries by their places.
    """

    __slots__ = ("length", "written")

    def __init__(self, length: int, written: dict[int, Raw] | None = None) -> None:
        self.length = length
        self.written = written or {}

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self.written.get(i) for i in range(self.length)[place]]
        return self.written.get(range(self.length)[place])

    def __iter__(self) -> Iterator[Raw]:
        return iter(self[:])

    def with_entry(self, place: int, entry: Raw) -> Sequence[Raw]:
        """The list with another entry at a place, or with one more at its end."""
        length = max(self.length, place + 1)
        if len(self.written) < _MOST_SPARSE:
            return Sparse(length, {**self.written, place: entry})
        return Written(self[:]).with_entry(place, entry)


class Written(Sequence):
    """A list in a line of lists, each of which came of the one before by writing an entry, or leaving out the last.

    Args:
        entries: its entries, in a list that is its own from now on.
    """

    __slots__ = ("_after", "_length", "_line", "_number")

    def __init__(self, entries: list[Raw], line: _Line | None = None, length: int = -1) -> None:
        self._line = line or _Line(entries)
        self._number = self._line.newest
        self._length = len(entries) if length < 0 else length
        # the next list of the line, and the place and the former entry of what was written to make it
        self._after: tuple[Written, int, Raw] | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self.entries()[place]
        place = range(self._length)[place]
        version = self
        for _ in range(_MOST_STEPS):
            line = version._line
            found = line.entries[place]
            # Whoever writes takes the memory first, so that what was found is its own if the memory still is.
            if line.newest == version._number:
                return found
            if version._after is not None:
                version, changed, former = version._after
                if changed == place:
                    return former
        return self._with_own_memory()[place]

    def __iter__(self) -> Iterator[Raw]:
        return iter(self.entries())

    def entries(self) -> list[Raw]:
        """A copy of its entries."""
        line = self._line
        found = line.entries[: self._length]
        return found if line.newest == self._number else self._with_own_memory()[: self._length]

    def with_entry(self, place: int, entry: Raw) -> Written:
        """The list with another entry at a place, or with one more at its end."""
        with _writing:
            line = self._line
            if line.newest == self._number:
                appends = place == len(line.entries)
                line.newest += 1
                after = Written(line.entries, line, max(self._length, place + 1))
                self._after = after, place, None if appends else line.entries[place]
                if appends:
                    line.entries.append(entry)
                else:
                    line.entries[place] = entry
                return after
        return Written(self.entries()).with_entry(place, entry)

    def without_last(self) -> Written:
        """The list without its last entry."""
        with _writing:
            line = self._line
            if line.newest == self._number:
                line.newest += 1
                after = Written(line.entries, line, self._length - 1)
                self._after = after, -1, None
                return after
        return Written(self.entries()[:-1])

    def _with_own_memory(self) -> list[Raw]:
        """Begins a line of its own; gives all entries in it."""
        with _writing:
            former: dict[int, Raw] = {}
            version = self
            while version._after is not None:
                version, place, entry = version._after
                if place >= 0:
                    former.setdefault(place, entry)
            if version is not self:
                entries = list(version._line.entries)
                for place, entry in former.items():
                    entries[place] = entry
                self._line, self._after = _Line(entries), None
                self._number = self._line.newest
            return list(self._line.entries)


class _Line:
    """The memory of a line of lists.

    Attributes:
        entries: those of the newest list, and after them what longer ones had.
        newest: the number of the list that may write to it.
    """

    __slots__ = ("entries", "newest")

    def __init__(self, entries: list[Raw]) -> None:
        self.entries = entries
        self.newest = 0


KINDS = (tuple, list, Sparse, Written)  # of sequences that a list's raw value holds


def as_variant(entries: Any) -> np.ndarray:
    """The raw value of a list."""
    held = np.empty((), object)
    held[()] = entries if isinstance(entries, KINDS) else list(entries)
    return held


def with_entry(entries: Sequence[Raw], place: int, entry: Raw) -> Sequence[Raw]:
    """A list with another entry at a place, or with one more at its end."""
    if not isinstance(entries, (Sparse, Written)):
        entries = Written(list(entries))
    return entries.with_entry(place, entry)


def without_last(entries: Sequence[Raw]) -> Written:
    """A list without its last entry."""
    return (entries if isinstance(entries, Written) else Written(list(entries))).without_last()


def added(a: Sequence[Raw], b: Sequence[Raw]) -> Sequence[Raw]:
    """The sum of two lists, entry by entry; what is not there counts as zero."""
    if isinstance(a, Zeros) or isinstance(b, Zeros):
        return b if isinstance(a, Zeros) else a
    if isinstance(a, Sparse) and not isinstance(b, Sparse):
        a, b = b, a
    if isinstance(b, Sparse) and len(b) <= len(a):
        for place, entry in b.written.items():
            a = with_entry(a, place, _sum(a[place], entry))
        return a
    length = max(len(a), len(b))
    first, second = (list(v) + [None] * (length - len(v)) for v in (a, b))
    return tuple(map(_sum, first, second))


def _sum(a: Raw, b: Raw) -> Raw:
    return b if a is None else a if b is None else a + b
