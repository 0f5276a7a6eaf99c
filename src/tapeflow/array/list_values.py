"""The raw values of lists of tensors: sequences of raw tensors that never change.

A loop that fills a list writes one entry after the other. Copying the list each time would take time proportional to
its length. So writing to a list gives a list that shares its memory. The newest list owns the memory, and each older
list remembers its overwritten entry. Reading an older list copies it to separate memory. Writing to the newest list
then takes constant time, and every list keeps its entries.

The technique is Baker's shallow binding for arrays (https://dl.acm.org/doi/10.1145/122598.122614).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.fork_locks import new_lock
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import Addend, box_object

Raw = Any  # a `torch.Tensor`, or an array of objects; None for an entry that was not written

_MOST_SPARSE = 8  # entries; from there on they are held in a row

_MOST_STEPS = 4  # from an older list towards the newest one, to read an entry
_writing = new_lock()  # held while memory passes from one list to another


class EntrySpec(NamedTuple):
    """The dtype and shape that the entries of a list must have.

    Attributes:
        dtype: their dtype.
        dims: the dimensions of their static shape; None for an unknown rank.
        most: the largest number of entries that may be pushed; -1 for any number.
    """

    dtype: DType
    dims: tuple[int | None, ...] | None
    most: int = -1

    @classmethod
    def of(cls, dtype: DType, shape: TensorShape, most: int = -1) -> EntrySpec:
        """Returns the spec of entries with a static shape."""
        return cls(dtype, None if shape.rank is None else tuple(shape.as_list()), most)

    @property
    def shape(self) -> TensorShape:
        """Their static shape."""
        return TensorShape(self.dims)


class ListVariant(np.ndarray):
    """The raw value of a list: a 0-d object array that holds the entries.

    Attributes:
        spec: what the entries must be; None for lists that only this library fills.
    """

    spec: EntrySpec | None = None


class Zeros(tuple):
    """The gradient of a list that no output depends on: zeros for every entry of a list of any length."""

    __slots__ = ()


class Sparse(Sequence):
    """A list with few written entries.

    Args:
        length: the number of entries.
        written: a dict from indices to the written entries.
    """

    __slots__ = ("length", "written")

    def __init__(self, length: int, written: dict[int, Raw] | None = None) -> None:
        self.length = length
        self.written = written or {}

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self.written.get(i) for i in range(self.length)[place]]
        return self.written.get(range(self.length)[place])

    def __iter__(self) -> Iterator[Raw]:
        return iter(self[:])

    def with_entry(self, place: int, entry: Raw) -> Sequence[Raw]:
        """Returns the list with another entry at a place, or with one more at its end."""
        length = max(self.length, place + 1)
        if len(self.written) < _MOST_SPARSE:
            return Sparse(length, {**self.written, place: entry})
        return WrittenList(self[:]).with_entry(place, entry)


class Rows(Sequence):
    """The list of a tensor's rows, which become separate tensors when the first one is read.

    Args:
        tensor: the tensor.
    """

    __slots__ = ("_entries", "tensor")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self._entries: Sequence[Raw] | None = None

    def __len__(self) -> int:
        return len(self.tensor)

    def __getitem__(self, place: int | slice) -> Any:
        if self._entries is None:
            self._entries = self.tensor.unbind()
        return self._entries[place]

    def __iter__(self) -> Iterator[Raw]:
        return iter(self[:])


class Repeated(Sequence):
    """A list whose entries are all the same.

    Args:
        entry: the entry.
        length: the number of entries.
    """

    __slots__ = ("entry", "length")

    def __init__(self, entry: Raw, length: int) -> None:
        self.entry, self.length = entry, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: Any) -> Any:
        return [self.entry] * len(range(self.length)[place]) if isinstance(place, slice) else self.entry

    def __iter__(self) -> Iterator[Raw]:
        return itertools.repeat(self.entry, self.length)


class WrittenList(Sequence):
    """A list in a line of lists. Each list results from the one before by writing an entry or dropping the last.

    Args:
        entries: the entries, in a Python list that this list owns from now on.
        line: the line that the list joins; a new one by default.
        length: the number of entries; `len(entries)` by default.
    """

    __slots__ = ("_after", "_length", "_line", "_number")

    def __init__(self, entries: list[Raw], line: _Line | None = None, length: int = -1) -> None:
        self._line = line or _Line(entries)
        self._number = self._line.newest
        self._length = len(entries) if length < 0 else length
        # the next list of the line, the place that was written to create it, and the former entry there
        self._after: tuple[WrittenList, int, Raw] | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return self.entries()[place]
        place = range(self._length)[place]
        version = self
        for _ in range(_MOST_STEPS):
            line = version._line
            entry = line.entries[place]
            # A writer takes the memory over before it writes: if the memory is still this list's, so was the entry.
            if line.newest == version._number:
                return entry
            if version._after is not None:
                version, changed, former = version._after
                if changed == place:
                    return former
        return self._with_own_memory()[place]

    def __iter__(self) -> Iterator[Raw]:
        return iter(self.entries())

    def entries(self) -> list[Raw]:
        """Returns a copy of its entries."""
        line = self._line
        entries = line.entries[: self._length]
        return entries if line.newest == self._number else self._with_own_memory()[: self._length]

    def with_entry(self, place: int, entry: Raw) -> WrittenList:
        """Returns the list with another entry at a place, or with one more at its end."""
        with _writing:
            line = self._line
            if line.newest == self._number:
                appends = place == len(line.entries)
                line.newest += 1
                after = WrittenList(line.entries, line, max(self._length, place + 1))
                self._after = after, place, None if appends else line.entries[place]
                if appends:
                    line.entries.append(entry)
                else:
                    line.entries[place] = entry
                return after
        return WrittenList(self.entries()).with_entry(place, entry)

    def without_last(self) -> WrittenList:
        """Returns the list without its last entry."""
        with _writing:
            line = self._line
            if line.newest == self._number:
                line.newest += 1
                after = WrittenList(line.entries, line, self._length - 1)
                self._after = after, -1, None
                return after
        return WrittenList(self.entries()[:-1])

    def _with_own_memory(self) -> list[Raw]:
        """Begins a new line, and returns all entries in it."""
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
        entries: the entries of the newest list, then the further entries of longer, older lists.
        newest: the number of the list that may write to it.
    """

    __slots__ = ("entries", "newest")

    def __init__(self, entries: list[Raw]) -> None:
        self.entries = entries
        self.newest = 0


KINDS = (tuple, list, Sparse, Rows, Repeated, WrittenList)  # the kinds of sequences in raw values
_EXACTLY = frozenset(KINDS)  # three of them are abstract base classes, and `isinstance` takes a microsecond for these


def as_variant(entries: Sequence | tuple[torch.Tensor, ...], spec: EntrySpec | None = None) -> ListVariant:
    """Returns the raw value of a list with these entries."""
    variant = ListVariant((), object)
    variant[()] = entries if type(entries) in _EXACTLY or isinstance(entries, KINDS) else list(entries)
    if spec is not None:
        variant.spec = spec
    return variant


def spec_of(variant: np.ndarray) -> EntrySpec | None:
    """Returns what the entries of a list must be."""
    return variant.spec if type(variant) is ListVariant else None


def zeros_variant() -> ListVariant:
    """Returns the raw value of a list of zeros, of any length."""
    return as_variant(Zeros())


def zeros_of_list(variant: np.ndarray) -> np.ndarray:
    """Returns a list of zeros that match the entries of another list: the `ZerosLike` of a variant."""
    items = variant[()]
    if isinstance(items, Addend):
        return box_object(items.zeros())
    if isinstance(items, Zeros) or not isinstance(items, KINDS):
        return zeros_variant()
    zeros = [torch.zeros_like(v) if isinstance(v, torch.Tensor) else v and zeros_of_list(v) for v in items]
    return as_variant(zeros, spec_of(variant))


def with_entry(entries: Sequence[Raw], place: int, entry: Raw) -> Sequence[Raw]:
    """Returns a list with another entry at a place, or with one more at its end."""
    if type(entries) is not WrittenList and type(entries) is not Sparse:
        entries = WrittenList(list(entries))
    return entries.with_entry(place, entry)


def without_last(entries: Sequence[Raw]) -> WrittenList:
    """Returns a list without its last entry."""
    return (entries if isinstance(entries, WrittenList) else WrittenList(list(entries))).without_last()


def add_lists(a: Any, b: Any) -> Any:
    """Returns the sum of two lists, entry by entry; entries that were not written count as zero. Zeros of any length
    are zeros of whatever a variant holds."""
    if isinstance(a, Zeros) or isinstance(b, Zeros):
        return b if isinstance(a, Zeros) else a
    if isinstance(a, Addend):
        return a + b
    if isinstance(a, Sparse) and not isinstance(b, Sparse):
        a, b = b, a
    if isinstance(b, Sparse) and len(b) <= len(a):
        for place, entry in b.written.items():
            a = with_entry(a, place, _add_entries(a[place], entry))
        return a
    if isinstance(a, Rows) and isinstance(b, Rows) and a.tensor.shape == b.tensor.shape:
        return Rows(a.tensor + b.tensor)
    length = max(len(a), len(b))
    first, second = (list(v) + [None] * (length - len(v)) for v in (a, b))
    return tuple(map(_add_entries, first, second))


def _add_entries(a: Raw, b: Raw) -> Raw:
    return b if a is None else a if b is None else a + b
