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

from tapeflow.core.ops.definition import ops
from tapeflow.core.rng.philox import from_seeds
from tapeflow.core.rng.seeds import lasting_seeds
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.boxed_objects import boxed
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data.dataset import INFINITE, Dataset
from tapeflow.data.node import Node, dataset_op, integer, op_kernel
from tapeflow.data.nodes import Chooser
from tapeflow.data.parts import register
from tapeflow.data.structure import Element
from tapeflow.data.threads import END, Failure, raises_failures, running, with_failures

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
        self._lock = threading.Lock()

    @property
    def pair(self) -> tuple[int, int]:
        """The first two seeds as operations take them: (0, 0) if they are random."""
        return (0, 0) if self.drawn else self.base

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
        group, place = divmod(number, _PAIRS)
        if self._pairs[0] != (base, group):  # computed together for many iterators
            stream = from_seeds(*base).skipped(group * _PAIRS // 2)
            words = stream.words(_PAIRS // 2, torch.device("cpu")).numpy().view(np.uint32).reshape(_PAIRS, 2)
            self._pairs = (base, group), words.tolist()
        first, second = self._pairs[1][place]
        return first, second


def seeds_of(seed: Any) -> tuple[int, int]:
    """Returns the two seeds of a dataset, of the user's seed or None."""
    return lasting_seeds(None if seed is None else integer(seed))


class _Seeded(Node):
    """A node with random numbers: the fields of its operation."""

    _seeds: Seeds

    @property
    def _seed(self) -> int:
        return self._seeds.pair[0]

    @property
    def _seed2(self) -> int:
        return self._seeds.pair[1]

    @property
    def _seed_generator(self) -> Tensor:
        return ops.DummySeedGenerator()


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


@dataset_op("ShuffleDatasetV3")
class ShuffleDataset(_Seeded, Chooser):
    """The elements in a random order.

    Args:
        input_dataset: the dataset.
        buffer_size: from how many elements each is drawn.
        seed, seed2: the two seeds; 0 and 0 for random ones.
        reshuffle_each_iteration: whether each iterator has an order of its own.
    """

    _same_size = True

    def __init__(
        self, input_dataset: Any, buffer_size: Any, seed: int, seed2: int, reshuffle_each_iteration: bool = True
    ) -> None:
        super().__init__(input_dataset)
        size = integer(buffer_size)
        if size < 1 and size != -2:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY [Op:ShuffleDatasetV3] name: ")
        self._buffer_size = size
        self._reshuffle_each_iteration = bool(reshuffle_each_iteration)
        self._seeds = Seeds((seed, seed2), self._reshuffle_each_iteration)

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


@op_kernel("ShuffleDataset")
def _shuffle(input_dataset: Any, buffer_size: int, seed: int, seed2: int, reshuffle_each_iteration: Any) -> Node:
    return ShuffleDataset(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration is not False)


@op_kernel("ShuffleDatasetV2")
def _shuffle_v2(input_dataset: Any, buffer_size: int, seed_generator: Any) -> Node:
    return ShuffleDataset(input_dataset, buffer_size, *seed_generator)


@op_kernel("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2")
def _shuffle_and_repeat(
    input_dataset: Any, buffer_size: int, seed: int, seed2: int, count: int, reshuffle_each_iteration: Any
) -> Dataset:
    return _shuffle(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration).repeat(count)


@op_kernel("AnonymousSeedGenerator", shape=lambda *_: [[], []])
def _seed_generator(seed: int, seed2: int, reshuffle: bool) -> Any:
    return boxed((seed, seed2, reshuffle)), boxed(None)


@op_kernel("AnonymousRandomSeedGenerator", shape=lambda *_: [[], []])
def _random_seed_generator(seed: int, seed2: int) -> Any:
    return boxed((seed, seed2, True)), boxed(None)


@op_kernel("DummySeedGenerator")
def _no_seeds() -> Any:
    return boxed((0, 0, True))


@dataset_op("RandomDatasetV2", "RandomDataset")
class RandomDatasetV2(_Seeded):
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
        self._rerandomize_each_iteration = bool(rerandomize_each_iteration)
        self._seeds = Seeds(seeds_of(seed), self._rerandomize_each_iteration)

    @classmethod
    def _of_op(cls, seed: int, seed2: int, rerandomize_each_iteration: Any = False) -> RandomDatasetV2:
        node = cls(0, rerandomize_each_iteration)
        node._seeds = Seeds((seed, seed2), node._rerandomize_each_iteration)
        return node

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


register(RandomDatasetV2, ShuffleDataset, seeds_of)
