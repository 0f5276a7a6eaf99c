"""`Dataset.batch`."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core.errors import OpError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, Rows, Unary, dataset_op
from tapeflow.data.threads import with_failures

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


class Runs:
    """An iterator over lists of `size` items. The last one may be shorter, unless it is to be dropped.

    As in TensorFlow, an error ends a list, and the next one begins with the item behind the error.

    Args:
        items: the items.
        size: the number of items in a list.
        drop_remainder: whether a last, shorter list is dropped.
        skips: whether the next list begins behind all items that would have been in the list with the error.
    """

    def __init__(self, items: Iterator[Any], size: int, drop_remainder: bool, skips: bool = False) -> None:
        self._items, self._size, self._drop, self._skips = items, size, drop_remainder, skips
        self._left: list[Any] = []

    def __iter__(self) -> Runs:
        return self

    def __next__(self) -> list[Any]:
        run, self._left = self._left, []
        try:
            run.extend(itertools.islice(self._items, self._size - len(run)))
        except Exception:
            if self._skips:
                deque(itertools.islice(with_failures(self._items), self._size - len(run) - 1), maxlen=0)
            raise
        if not run or (self._drop and len(run) < self._size):
            raise StopIteration
        return run

    def put_back(self, items: list[Any]) -> None:
        """Begins the next list with items of the last one."""
        self._left = items


def stack_batches(
    source: Node, items: Iterator[Element], size: int, drop_remainder: bool, skips: bool
) -> Iterator[Element]:
    """Returns an iterator over batches of a node's elements, stacked one by one. `skips`: see `Runs`."""
    stack = functools.partial(elements.batch_elements, specs=elements.flatten(source.spec))
    return map(stack, Runs(items, size, drop_remainder, skips))


class Batching(Unary):
    """A node that combines each run of `batch_size` elements."""

    batch_size: int
    drop_remainder: bool = False

    def element_spec(self) -> Any:
        if self.batch_size <= 0:
            raise invalid(f"Batch size must be greater than zero. [Op:{self.op}] name: ")
        # A size that has no value before the graph runs is of a subclass of int.
        static = self.drop_remainder is True and type(self.batch_size) is int
        return self.spec_of_batches(self.batch_size if static else None)

    def spec_of_batches(self, size: int | None) -> Any:
        """Returns the spec of batches of a size; None if it is not static."""
        raise NotImplementedError

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        return size if size < 0 else size // self.batch_size if self.drop_remainder else -(-size // self.batch_size)

    def size_of_batches(self) -> int:
        return self.batch_size


@dataset_op("BatchDatasetV2", "BatchDataset")
class Batch(Batching):
    """Elements stacked into batches.

    TensorFlow computes `map` and `batch` in one step. There, an error drops all elements of its batch.
    """

    is_fused = True  # with `map`

    def spec_of_batches(self, size: int | None) -> Any:
        return elements.batch_spec(self.input_dataset.spec, size)

    def iterate(self) -> Iterator[Element]:
        batches = self.input_dataset.batches(self.batch_size, self.drop_remainder)
        return super().iterate() if batches is None else batches

    def in_place(self) -> Node:
        """Returns batches that are gathered whole if the elements are rows, possibly chosen and mapped.

        Many rows (slices of tensors, a range, some of these zipped, or a map over them) can be gathered at once by
        their numbers. `shuffle`, `take`, `skip`, `repeat` and `shard` only choose among elements and order them. So
        they run over the numbers, and the batch gathers the rows with the chosen numbers. A function whose ops compute
        many elements as they compute each (`whole_batches.py`) may stand in between: it runs for the whole batch.
        """
        choosers, functions = [], []
        source = self.input_dataset
        while True:
            function = source.function_of_rows()
            if function is not None:
                functions.append(function)
            elif source.chooses:
                choosers.append(source)
            else:
                break
            source = source.inputs[0]
        rows = source.rows()
        if rows is None:
            return self
        for function in reversed(functions):
            rows = rows.mapped(function)
        numbers: Node = _Numbers(rows.count)
        for chooser in reversed(choosers):
            numbers = chooser.over([numbers])
        return _RowBatches([numbers] if choosers else [], self, rows)

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        source = self.input_dataset
        return stack_batches(source, inputs[0], self.batch_size, self.drop_remainder, self.is_fused and source.is_map)


@dataset_op("ParallelBatchDataset")
class ParallelBatch(Batch):
    """Batches whose elements may be built in parallel."""

    num_parallel_calls: int = 1
    deterministic: str = "default"

    is_asynchronous = True
    is_fused = False


class _Numbers(Node):
    """The numbers of rows, in place of the rows."""

    count: int

    def element_spec(self) -> Any:
        return None

    def cardinality(self) -> int:
        return self.count

    def iterate(self) -> Iterator[Any]:
        return iter(range(self.count))


class _RowBatches(Node):
    """Batches of rows, each gathered whole, in place of `batch`. Without `numbers`, the rows come in their order."""

    numbers: Sequence[Node]
    batch: Any
    source: Rows

    def element_spec(self) -> Any:
        return self.batch.spec

    def cardinality(self) -> int:
        return self.batch.cardinality()

    def generate(self, *inputs: Iterator[Any]) -> Iterator[Element]:
        size, drop, rows = self.batch.batch_size, self.batch.drop_remainder, self.source
        if not inputs:
            between, count = rows.between, rows.count
            starts = range(0, count - size + 1 if drop else count, size)
            return map(lambda start: between(start, min(start + size, count)), starts)  # noqa: C417 (goes on after errors)
        runs = Runs(inputs[0], size, drop)

        def take(numbers: list[int]) -> Element:
            try:
                return rows.take(torch.tensor(numbers, dtype=torch.int64))
            except OpError:
                if not self.batch.input_dataset.is_map:
                    self._find_error(numbers, runs)
                raise

        return map(take, runs)

    def _find_error(self, numbers: list[int], runs: Runs) -> None:
        """Raises the first error of a row, and begins the next batch behind it."""
        for i, number in enumerate(numbers):
            try:
                self.source.between(number, number + 1)
            except OpError:
                runs.put_back(numbers[i + 1 :])
                raise


def compute_batch_size(dataset: Dataset) -> Tensor:
    """Returns the batch size of a dataset as an int64 scalar; -1 if it is not static, or differs between batches.

    Args:
        dataset: a `tf.data.Dataset` whose elements have a first dimension.

    Raises:
        IndexError: an element is a scalar.
    """
    lengths = {spec.shape[0] for spec in nest.flatten(dataset.element_spec)}
    static = len(lengths) == 1 and None not in lengths
    return convert(lengths.pop() if static else dataset._node.size_of_batches(), int64)
