"""`Dataset.batch`."""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

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


def runs(items: Iterator[Any], size: int, drop_remainder: bool) -> Iterator[list[Any]]:
    """Returns an iterator over lists of `size` items. The last one may be shorter, unless it is to be dropped.

    After an error it continues with the items after those that would have been in the list, as in TensorFlow.
    """

    def take() -> list[Any]:
        run: list[Any] = []
        try:
            run.extend(itertools.islice(items, size))
        except Exception:
            deque(itertools.islice(with_failures(items), size - len(run) - 1), maxlen=0)
            raise
        return run

    lists = iter(take, [])
    return filter(lambda run: len(run) == size, lists) if drop_remainder else lists


def stack_batches(source: Node, items: Iterator[Element], size: int, drop_remainder: bool) -> Iterator[Element]:
    """Returns an iterator over batches of a node's elements, stacked one by one."""
    stack = functools.partial(elements.batch_elements, specs=elements.flatten(source.spec))
    return map(stack, runs(items, size, drop_remainder))


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
    """Elements stacked into batches."""

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
        return stack_batches(self.input_dataset, inputs[0], self.batch_size, self.drop_remainder)


@dataset_op("ParallelBatchDataset")
class ParallelBatch(Batch):
    """Batches whose elements may be built in parallel."""

    num_parallel_calls: int = 1
    deterministic: str = "default"

    is_asynchronous = True


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
        numbers = map(functools.partial(torch.tensor, dtype=torch.int64), runs(inputs[0], size, drop))
        return map(rows.take, numbers)


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
