"""Strings read as words of eight bytes for hashing: one string as Python integers, or many strings as arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MASK = (1 << 64) - 1


class OneString:
    """The words of one string."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def word(self, at: int, size: int = 8) -> int:
        """Returns the little-endian integer of so many bytes from a place on."""
        return int.from_bytes(self._data[at : at + size], "little")


class ManyStrings:
    """The words of many strings at the same place."""

    def __init__(self, buffer: np.ndarray, starts: np.ndarray) -> None:
        self._words = np.ndarray((len(buffer) - 7,), np.dtype("<u8"), buffer, strides=(1,))
        self._starts = starts

    def word(self, at: Any, size: int = 8) -> np.ndarray:
        """Returns the little-endian integers of so many bytes from a place in each string on, uint64."""
        return self._words[self._starts + np.asarray(at).astype(np.int64)] & ((1 << 8 * size) - 1)


_FEW = 16  # strings: up to here, Python's integers are faster


def hash_many(strings: list[bytes], kind: Callable[[int], int], rule: Callable[[Any, Any, int], Any]) -> np.ndarray:
    """Returns the hashes of strings, computed together for all strings of a kind.

    Args:
        strings: the strings.
        kind: a function from a string's size to a number that selects the computation, such as a branch of the hash.
        rule: a function from the words of a string, its size and its kind to the hash. It also takes uint64 arrays of
            words and sizes.

    Returns:
        uint64 of shape `[len(strings)]`.
    """
    if len(strings) <= _FEW:
        return np.array([rule(OneString(s), len(s), kind(len(s))) for s in strings], np.uint64)
    sizes = np.fromiter(map(len, strings), np.int64, len(strings))
    buffer = np.frombuffer(b"".join([*strings, bytes(8)]), np.uint8)
    starts = np.cumsum(sizes) - sizes
    distinct = np.flatnonzero(np.bincount(sizes))
    kinds_of = np.zeros(distinct[-1] + 1, np.int64)
    kinds_of[distinct] = [kind(size) for size in distinct.tolist()]
    kinds = kinds_of[sizes]
    out = np.empty(len(strings), np.uint64)
    for each in sorted(set(kinds_of[distinct].tolist())):
        members = np.flatnonzero(kinds == each)
        out[members] = rule(ManyStrings(buffer, starts[members]), sizes[members].astype(np.uint64), each)
    return out
