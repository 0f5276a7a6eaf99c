"""A worker's part of a dataset, by the sharding policy of its job."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import count, islice
from typing import Any

from tapeflow.core.errors import NotFoundError
from tapeflow.data import structure
from tapeflow.data.experimental.service.config import ShardingPolicy
from tapeflow.data.maps import PrefetchDataset
from tapeflow.data.node import Node, rewritten
from tapeflow.data.nodes import ShardDataset
from tapeflow.data.shards import over, with_hints_replaced, with_own_files
from tapeflow.data.threads import END, Failure, raises_failures, with_failures

# The numbers of a source's next elements, from the source's number and how often it was begun anew; none at the end.
NextSplits = Callable[[int, int], list[int]]


def sources_of(dataset: Any) -> list[Any]:
    """Returns the sources of a dataset, whose elements are the splits of dynamic sharding."""
    inputs = dataset._inputs()
    return [s for i in inputs for s in sources_of(i)] if inputs else [dataset]


class SplitDataset(Node):
    """The elements of a source that a worker was handed.

    Args:
        source: the source.
        number: its number among the sources of the dataset.
        consumed: where it counts its elements.
        splits: returns their numbers.
    """

    def __init__(self, source: Any, number: int, consumed: list[int], splits: NextSplits) -> None:
        super().__init__(source.element_spec)
        self._source, self._number, self._consumed, self._splits = source, number, consumed, splits
        self._repetitions = count()

    @raises_failures
    def _iterate(self) -> Generator[Any]:
        repetition = next(self._repetitions)
        element_at = self._reader()
        while numbers := self._splits(self._number, repetition):
            for number in numbers:
                element = element_at(number)
                if element is END:
                    return
                self._consumed[self._number] += 1
                yield element

    def _reader(self) -> Callable[[int], Any]:
        """Returns a function from the number of an element to the element; numbers ascend, where it has to count."""
        rows = self._source._rows()
        if rows is not None:
            return lambda number: tuple([structure.slice_row(v, 0) for v in rows.between(number, number + 1)])
        elements, position = with_failures(rewritten(self._source)._iterate()), 0

        def element_at(number: int) -> Any:
            nonlocal position
            skipped, position = number - position, number + 1
            return next(islice(elements, skipped, None), END)

        return element_at


def _with_splits(dataset: Any, numbers: Iterator[int], consumed: list[int], splits: NextSplits) -> Any:
    inputs = dataset._inputs()
    if not inputs:
        consumed.append(0)
        return SplitDataset(dataset, next(numbers), consumed, splits)
    inputs = [_with_splits(i, numbers, consumed, splits) for i in inputs]
    # The worker computes ahead itself, and knows of each element which splits it needed.
    return inputs[0] if isinstance(dataset, PrefetchDataset) else over(dataset, inputs)


class Part:
    """The elements that a worker computes of a dataset.

    Args:
        dataset: the dataset.
        policy: the sharding policy.
        index, workers: the worker's number among those of static sharding, and how many these are.
        splits: returns the splits of dynamic sharding.

    Raises:
        NotFoundError: the policy is FILE, and the dataset reads no files.
    """

    def __init__(self, dataset: Any, policy: int, index: int, workers: int, splits: NextSplits) -> None:
        self._consumed: list[int] = []
        if policy == ShardingPolicy.DYNAMIC:
            dataset = _with_splits(dataset, count(), self._consumed, splits)
        elif policy == ShardingPolicy.HINT:
            dataset = with_hints_replaced(dataset, workers, index)
        elif policy != ShardingPolicy.OFF:
            by_file = None if policy == ShardingPolicy.DATA else with_own_files(dataset, workers, index)
            if by_file is None and policy == ShardingPolicy.FILE:
                raise NotFoundError.of(
                    f"Failed to shard dataset in tf.data service: {dataset!r} reads no files that could be divided "
                    f"among {workers} workers. Use ShardingPolicy.DATA."
                )
            dataset = ShardDataset(dataset, workers, index) if by_file is None else by_file
        self._dataset = dataset

    @raises_failures
    def elements(self) -> Generator[Any]:
        """Yields the elements, each with the number of splits of each source that were needed for it and all before."""
        for element in with_failures(rewritten(self._dataset)._iterate()):
            yield element if type(element) is Failure else (element, list(self._consumed))


def sizes_of(dataset: Any) -> list[int]:
    """Returns the sizes of the sources of a dataset."""
    return [source._size() for source in sources_of(dataset)]
