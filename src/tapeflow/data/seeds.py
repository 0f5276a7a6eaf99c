"""Random numbers and seeds of iterators, as TensorFlow's."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.definition import ops
from tapeflow.core.rng.philox import from_seeds
from tapeflow.core.rng.seeds import lasting_seeds
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.data.node import integer
from tapeflow.data.threads import running

_PAIRS = 32  # iterators whose seeds are computed at once
_FIRST, _MOST = 16, 2048  # blocks of four words that are computed at once


class Words:
    """The words of a Philox stream, from its start.

    Args:
        seeds: the two seeds; with none, the stream is another one each time.
    """

    def __init__(self, seeds: tuple[int, int]) -> None:
        if seeds == (0, 0):
            seeds = secrets.randbits(63), secrets.randbits(63)
        self._stream = from_seeds(*seeds)
        self._blocks = _FIRST
        self._rest = np.empty(0, np.uint32)

    def take(self, count: int) -> np.ndarray:
        """Returns up to `count` words, at least one."""
        if not len(self._rest):
            self._rest = self._stream.words(self._blocks, torch.device("cpu")).numpy().view(np.uint32).reshape(-1)
            self._stream = self._stream.skipped(self._blocks)
            self._blocks = min(2 * self._blocks, _MOST)
        words, self._rest = self._rest[:count], self._rest[count:]
        return words


class Seeds:
    """The seeds of the iterators over a dataset: the same each time, or new ones that follow from them.

    Args:
        base: the first two seeds; two random ones for (0, 0).
        renew: whether each iterator gets others.

    Attributes:
        drawn: whether nobody chose them, and they are random.
    """

    def __init__(self, base: tuple[int, int], renew: bool) -> None:
        self.drawn = tuple(base) == (0, 0)
        self.base = (secrets.randbits(63), secrets.randbits(63)) if self.drawn else base
        self.renew = renew
        self._count = 0
        self._pairs: tuple[Any, list[list[int]]] = (None, [])  # of some iterators, and which these are
        self._lock = new_lock()

    @property
    def pair(self) -> tuple[int, int]:
        """The first two seeds as operations take them: (0, 0) if they are random."""
        return (0, 0) if self.drawn else self.base

    def next(self) -> tuple[int, int]:
        """Returns the seeds of the next iterator."""
        log = None if running.state is None else running.state.log
        return self.of(self.number(), self.base) if log is None else log.next(self)

    def number(self) -> int:
        """Returns the number of the next iterator."""
        with self._lock:
            self._count += 1
            return self._count - 1

    def of(self, number: int, base: tuple[int, int]) -> tuple[int, int]:
        """Returns the seeds of an iterator by its number: with `renew`, these two words of the stream that `base`
        begins.
        """
        if not self.renew:
            return base
        group, place = divmod(number, _PAIRS)
        if self._pairs[0] != (base, group):  # computed together for many iterators
            stream = from_seeds(*base).skipped(group * _PAIRS // 2)
            words = stream.words(_PAIRS // 2, torch.device("cpu")).numpy().view(np.uint32).reshape(_PAIRS, 2)
            self._pairs = (base, group), words.tolist()
        first, second = self._pairs[1][place]
        return first, second


def seeds_of(seed: TensorLike | None) -> tuple[int, int]:
    """Returns the two seeds of a dataset, from the user's seed or None."""
    return lasting_seeds(None if seed is None else integer(seed))


class Seeded:
    """The fields of the operation of a node with random numbers."""

    seeds: Seeds

    draws_seeds = True

    @property
    def seed(self) -> int:
        """The first seed."""
        return self.seeds.pair[0]

    @property
    def seed2(self) -> int:
        """The second seed."""
        return self.seeds.pair[1]

    @property
    def seed_generator(self) -> Tensor:
        """The resource that TensorFlow draws seeds from."""
        return ops.DummySeedGenerator()


class SeedLog:
    """The first seeds of the shuffles of one iterator, to repeat its order.

    Args:
        past: the state of another log, in the order of its shuffles.
    """

    def __init__(self, past: Sequence[Any] = ()) -> None:
        self._past = [((int(a), int(b)), [_iterator_number(n) for n in numbers]) for (a, b), numbers in past]
        self._order: dict[Seeds, int] = {}
        self._lines: list[tuple[tuple[int, int], list[Any]]] = []

    def next(self, seeds: Seeds) -> tuple[int, int]:
        """Returns the first seeds of a shuffle: the seeds in the past, then the seeds that follow."""
        place = self._order.setdefault(seeds, len(self._order))
        past = self._past[place] if place < len(self._past) else None
        if place == len(self._lines):
            self._lines.append((seeds.base if past is None else past[0], []))
        base, numbers = self._lines[place]
        if past is not None and len(numbers) < len(past[1]):
            number = past[1][len(numbers)]
        elif past is None or isinstance(numbers[-1], tuple):
            number = seeds.number()
        else:
            number = numbers[-1] + 1
        numbers.append(number)
        return number if isinstance(number, tuple) else seeds.of(number, base)

    def state(self) -> list[Any]:
        """Returns the bases and numbers that another log continues, as JSON values."""
        return [[list(base), list(numbers)] for base, numbers in self._lines]


def _iterator_number(value: Any) -> Any:
    """Returns the number of an iterator in a log, or TensorFlow's two seeds in its place."""
    return (int(value[0]), int(value[1])) if isinstance(value, (list, tuple)) else int(value)
