"""A worker's part of a dataset, by the sharding policy of its job."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import count, islice
from typing import Any

from tapeflow.core.errors import NotFoundError
from tapeflow.data.dataset import Dataset
from tapeflow.data.experimental.service.config import ShardingPolicy
from tapeflow.data.node import Node
from tapeflow.data.threads import END, Failure, IteratorState, raises_failures, with_failures, working_for
from tapeflow.data.transformations.prefetch import Prefetch
from tapeflow.data.transformations.shard import Shard, with_hints_replaced, with_own_files

# The numbers of a source's next elements, from the source's number and how often it was begun anew; none at the end.
NextSplits = Callable[[int, int], list[int]]


def sources_of(node: Node) -> list[Node]:
    """Returns the sources of a pipeline, whose elements are the splits of dynamic sharding."""
    return [s for i in node.inputs for s in sources_of(i)] if node.inputs else [node]


class Split(Node):
    """The elements of a source that a worker was handed.

    Args:
        source: the source.
        number: its number among the sources of the pipeline.
        consumed: the counts of consumed elements, for each source.
        splits: returns their numbers.
    """

    source: Any
    number: int
    consumed: list[int]
    splits: NextSplits

    def element_spec(self) -> Any:
        self._repetitions = count()
        return self.source.spec

    @raises_failures
    def iterate(self) -> Generator[Any]:
        repetition = next(self._repetitions)
        element_at = self._reader()
        while numbers := self.splits(self.number, repetition):
            for number in numbers:
                element = element_at(number)
                if element is END:
                    return
                self.consumed[self.number] += 1
                yield element

    def _reader(self) -> Callable[[int], Any]:
        """Returns a function from the number of an element to the element. The numbers must ascend."""
        rows = self.source.rows()
        if rows is not None:
            return rows.at
        elements, position = with_failures(self.source.rewritten().iterate()), 0

        def element_at(number: int) -> Any:
            nonlocal position
            skipped, position = number - position, number + 1
            return next(islice(elements, skipped, None), END)

        return element_at


def _with_splits(node: Node, numbers: Iterator[int], consumed: list[int], splits: NextSplits) -> Node:
    if not node.inputs:
        consumed.append(0)
        return Split(node, next(numbers), consumed, splits)
    inputs = [_with_splits(i, numbers, consumed, splits) for i in node.inputs]
    # The worker computes ahead itself, and knows of each element which splits it needed.
    return inputs[0] if isinstance(node, Prefetch) else node.over_if_new(inputs)


class Part:
    """The elements that a worker computes of a dataset.

    Args:
        node: its last node.
        policy: the sharding policy.
        index, workers: the worker's number among the workers of static sharding, and the number of these.
        splits: returns the splits of dynamic sharding.

    Raises:
        NotFoundError: the policy is FILE, and the dataset reads no files.
    """

    def __init__(self, node: Node, policy: int, index: int, workers: int, splits: NextSplits) -> None:
        self._consumed: list[int] = []
        if policy == ShardingPolicy.DYNAMIC:
            node = _with_splits(node, count(), self._consumed, splits)
        elif policy == ShardingPolicy.HINT:
            node = with_hints_replaced(node, workers, index)
        elif policy != ShardingPolicy.OFF:
            by_file = None if policy == ShardingPolicy.DATA else with_own_files(node, workers, index)
            if by_file is None and policy == ShardingPolicy.FILE:
                raise NotFoundError.of(
                    f"Failed to shard dataset in tf.data service: {Dataset(node)!r} reads no files that could be "
                    f"divided among {workers} workers. Use ShardingPolicy.DATA."
                )
            node = Shard(node, workers, index) if by_file is None else by_file
        self._node = node

    @raises_failures
    def elements(self) -> Generator[Any]:
        """Yields the elements, each with the number of splits of each source that were needed for it and all before."""
        state = IteratorState(None)
        with working_for(state):
            steps = with_failures(self._node.outermost().iterate())
        while True:
            with working_for(state):
                element = next(steps, END)
            if element is END:
                return
            yield element if type(element) is Failure else (element, list(self._consumed))


def sizes_of(node: Node) -> list[int]:
    """Returns the sizes of the sources of a pipeline."""
    return [source.cardinality() for source in sources_of(node)]
