"""`shuffle` and `random`: TensorFlow's order and numbers for every seed.

A shuffle holds a ring of elements. Each step yields the element at a random place of it, puts the oldest in that place
and the next of the input where the oldest was. The random numbers are the 32-bit words of a Philox stream, of which the
remainder by the number of elements is taken.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.rng.philox import from_seeds
from tapeflow.core.rng.seeds import lasting_seeds
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import invalid
from tapeflow.data.dataset import INFINITE
from tapeflow.data.nodes import Chooser, Node, integer
from tapeflow.data.parts import register
from tapeflow.data.structure import Element
from tapeflow.data.threads import END, Failure, raises_failures, running, with_failures

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
        seed: the user's, or None.
        renew: whether each iterator gets others.

    Attributes:
        drawn: whether nobody chose them, and they are random.
    """

    def __init__(self, seed: Any, renew: bool) -> None:
        base = lasting_seeds(None if seed is None else integer(seed))
        self.drawn = base == (0, 0)
        self.base = (secrets.randbits(63), secrets.randbits(63)) if self.drawn else base
        self.renew = renew
        self._count = 0
        self._lock = threading.Lock()

    def next(self) -> tuple[int, int]:
        """Returns the seeds of the next iterator."""
        return self.of(self.number(), self.base) if running.log is None else running.log.next(self)

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
        words = from_seeds(*base).skipped(number // 2).words(1, torch.device("cpu")).numpy().view(np.uint32)[0].tolist()
        return words[0 if number % 2 == 0 else 2], words[1 if number % 2 == 0 else 3]


class SeedLog:
    """The seeds that the shuffles of one iterator began with, so that its order can be repeated.

    Args:
        past: the state of another log, in the order in which its shuffles began.
    """

    def __init__(self, past: Sequence[Any] = ()) -> None:
        self._past = [((int(a), int(b)), [_number(n) for n in numbers]) for (a, b), numbers in past]
        self._order: dict[Seeds, int] = {}
        self._lines: list[tuple[tuple[int, int], list[Any]]] = []

    def next(self, seeds: Seeds) -> tuple[int, int]:
        """Returns the seeds with which a shuffle begins: those of the past, and after these the following ones."""
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
        """Returns the bases and numbers from which another log continues, as JSON values."""
        return [[list(base), list(numbers)] for base, numbers in self._lines]


def _number(value: Any) -> Any:
    """Returns the number of an iterator in a log, or TensorFlow's two seeds in its place."""
    return (int(value[0]), int(value[1])) if isinstance(value, (list, tuple)) else int(value)


class ShuffleDataset(Chooser):
    """The elements in a random order."""

    _same_size = True

    def __init__(self, source: Any, buffer_size: Any, seed: Any, reshuffle_each_iteration: bool | None) -> None:
        super().__init__(source)
        size = integer(buffer_size)
        if size < 1 and size != -2:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY [Op:ShuffleDatasetV3] name: ")
        self._buffer_size = size
        self._seeds = Seeds(seed, reshuffle_each_iteration is None or bool(reshuffle_each_iteration))

    def _iterate(self) -> Iterator[Any]:
        return self._shuffled(self._input_dataset._iterate(), Words(self._seeds.next()))

    @raises_failures
    def _shuffled(self, elements: Iterator[Any], words: Words) -> Generator[Any]:
        ring: list[Any] = []
        for element in with_failures(elements):
            if type(element) is Failure:
                yield element
                continue
            ring.append(element)
            if len(ring) == self._buffer_size:
                break
        size, oldest = len(ring), 0
        left: np.ndarray = words.take(256)
        if size and size == self._buffer_size:
            while True:
                # The number of an element among those of the ring, counted from the oldest.
                for used, offset in enumerate((left % np.uint32(size)).tolist(), 1):  # noqa: B007
                    place = oldest + offset
                    if place >= size:
                        place -= size
                    drawn = ring[place]
                    ring[place] = ring[oldest]
                    yield drawn
                    try:
                        ring[oldest] = next(elements)
                    except StopIteration:
                        break
                    except Exception as error:
                        element = yield from _after(error, elements)
                        if element is END:
                            break
                        ring[oldest] = element
                    oldest = oldest + 1 if oldest + 1 < size else 0
                else:
                    left = words.take(256)
                    continue
                left = left[used:]
                break
            ring = ring[oldest + 1 :] + ring[:oldest]
        yield from _drained(ring, left, words)


def _after(error: Exception, elements: Iterator[Any]) -> Generator[Any, None, Any]:
    """Yields the failure, and those that follow it; returns the next element, or `END`."""
    yield Failure(error)
    for element in with_failures(elements):
        if type(element) is not Failure:
            return element
        yield element
    return END


def _drained(ring: list[Any], left: np.ndarray, words: Words) -> Iterator[Any]:
    """Yields the rest of a ring, the oldest first, when its input has ended."""
    start, size = 0, len(ring)
    while start < size:
        if not len(left):
            left = words.take(size - start)
        counts = np.arange(size - start, 0, -1, dtype=np.uint32)[: len(left)]
        for offset in (left[: len(counts)] % counts).tolist():
            place = start + offset
            drawn = ring[place]
            ring[place] = ring[start]
            start += 1
            yield drawn
        left = left[:0]


class RandomDatasetV2(Node):
    """An infinite dataset of random integers in [0, 2**32): TensorFlow's for the seed.

    Args:
        seed: the seed of the numbers; None for a random one.
        rerandomize_each_iteration: whether each iterator has numbers of its own.

    Example:
        >>> [x.item() for x in tf.data.experimental.RandomDataset(seed=3).take(2).as_numpy_iterator()]
        [3534849767, 279844183]
    """

    def __init__(
        self, seed: TensorLike | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> None:
        super().__init__(TensorSpec([], int64))
        self._seeds = Seeds(seed, bool(rerandomize_each_iteration))

    def _size(self) -> int:
        return INFINITE

    def _iterate(self) -> Iterator[Element]:
        return _numbers(Words(self._seeds.next()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self._spec}>"


def _numbers(words: Words) -> Iterator[Element]:
    while True:
        for word in words.take(256).tolist():
            yield (torch.scalar_tensor(word, dtype=torch.int64),)


register(RandomDatasetV2, ShuffleDataset)
