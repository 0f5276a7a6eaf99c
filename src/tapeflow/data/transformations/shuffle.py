"""`Dataset.shuffle`: TensorFlow's order for every seed.

A shuffle holds a ring of elements. Each step yields the element at a random place of it, puts the oldest in that place
and the next of the input where the oldest was. The random numbers are the 32-bit words of a Philox stream, modulo the
number of elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.tensor import invalid
from tapeflow.data.node import Node, Unary, dataset_op, op_kernel
from tapeflow.data.seeds import Seeded, Seeds, Words
from tapeflow.data.threads import END, Failure, raises_failures, with_failures
from tapeflow.data.transformations.repeat import Repeat


@dataset_op("ShuffleDatasetV3", "ShuffleDataset")
class Shuffle(Seeded, Unary):
    """The elements in a random order: each is drawn from the next `buffer_size`, or from all for -2."""

    buffer_size: int
    seeds: Seeds

    same_size = passes_elements = chooses = shards_inside = True

    @classmethod
    def of_op(
        cls, input_dataset: Node, buffer_size: int, seed: int, seed2: int, reshuffle_each_iteration: bool = True
    ) -> Shuffle:
        return cls(input_dataset, buffer_size, Seeds((seed, seed2), reshuffle_each_iteration is not False))

    def element_spec(self) -> Any:
        if self.buffer_size < 1 and self.buffer_size != -2:
            raise invalid("buffer_size must be greater than zero or UNKNOWN_CARDINALITY [Op:ShuffleDatasetV3] name: ")
        return super().element_spec()

    @property
    def reshuffle_each_iteration(self) -> bool:
        """True if each iterator has an order of its own."""
        return self.seeds.renew

    def iterate(self) -> Iterator[Any]:
        return self._shuffled(self.input_dataset.iterate(), Words(self.seeds.next()))

    @raises_failures
    def _shuffled(self, elements: Iterator[Any], words: Words) -> Generator[Any]:
        ring: list[Any] = []
        while True:
            try:
                missing = None if self.buffer_size < 0 else self.buffer_size - len(ring)
                ring.extend(itertools.islice(elements, missing))
                break
            except Exception as error:
                yield Failure(error)
        size, oldest = len(ring), 0
        left: np.ndarray = words.take(256)
        if size and size == self.buffer_size:
            while True:
                # The number of an element in the ring, counted from the oldest.
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
                        element = yield from _after_failure(error, elements)
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
        yield from _drain_ring(ring, left, words)


def _after_failure(error: Exception, elements: Iterator[Any]) -> Generator[Any, None, Any]:
    """Yields the failure, and those that follow it; returns the next element, or `END`."""
    yield Failure(error)
    for element in with_failures(elements):
        if type(element) is not Failure:
            return element
        yield element
    return END


def _drain_ring(ring: list[Any], left: np.ndarray, words: Words) -> Iterator[Any]:
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


@op_kernel("ShuffleDatasetV2")
def _shuffle_v2(input_dataset: Node, buffer_size: int, seed_generator: Any) -> Node:
    return Shuffle.of_op(input_dataset, buffer_size, *seed_generator)


@op_kernel("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2")
def _shuffle_and_repeat(
    input_dataset: Node, buffer_size: int, seed: int, seed2: int, count: int, reshuffle_each_iteration: bool
) -> Node:
    return Repeat(Shuffle.of_op(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration), count)


@op_kernel("AnonymousSeedGenerator", "AnonymousRandomSeedGenerator", shape=lambda *_: [[], []])
def _seed_generator(seed: int, seed2: int, reshuffle: bool = True) -> Any:
    return box_object((seed, seed2, reshuffle)), box_object(None)


@op_kernel("DummySeedGenerator")
def _no_seeds() -> Any:
    return box_object((0, 0, True))
