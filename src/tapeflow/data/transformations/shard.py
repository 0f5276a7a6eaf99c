"""`Dataset.shard`, and a worker's shard of a pipeline: some of its files, or the shard that a hint stands for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tapeflow.core import errors
from tapeflow.core.values.tensor import invalid
from tapeflow.data.node import Node, Unary, dataset_op


@dataset_op("ShardDataset")
class Shard(Unary):
    """Every `num_shards`-th element, from the element number `index` on.

    With -1 for both numbers it is a hint, which strategies replace, and yields an error.
    """

    num_shards: int
    index: int
    require_non_empty: bool = False

    passes_elements = chooses = True

    def element_spec(self) -> Any:
        self.is_hint = self.num_shards == self.index == -1
        if not self.is_hint and self.num_shards <= 0:
            raise invalid(
                f"Number of shards must be greater than zero (currently num_shards = {self.num_shards}). "
                "[Op:ShardDataset] name: "
            )
        if not self.is_hint and not 0 <= self.index < self.num_shards:
            raise invalid(
                f"Index must be between 0 and {self.num_shards - 1} (currently index = {self.index}). "
                "[Op:ShardDataset] name: "
            )
        return super().element_spec()

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        return size if size < 0 or self.is_hint else max(0, -(-(size - self.index) // self.num_shards))

    def generate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        if self.is_hint:
            return self._refused()
        numbers = itertools.count()
        own = filter(lambda _: next(numbers) % self.num_shards == self.index, inputs[0])
        return itertools.chain(own, self._checked(numbers)) if self.require_non_empty else own

    def _refused(self) -> Iterator[Any]:
        raise errors.FailedPreconditionError.of(
            "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
            "`tf.distribute.Strategy.experimental_distribute_dataset()` with `tf.data.experimental."
            "AutoShardPolicy.HINT` policy, or tf.data service with "
            "`tf.data.experimental.service.ShardingPolicy.HINT` processing mode."
        )
        yield

    def _checked(self, numbers: Iterator[int]) -> Iterator[Any]:
        """Raises an error at the end of the elements if the shard is empty."""
        if next(numbers) <= self.index:
            raise invalid(
                "Could not read any data: There aren't enough elements in this dataset for each shard to have at "
                f"least one element (# shards = {self.num_shards}). If you are using datasets with distribution "
                "strategy, consider setting the auto sharding policy to either DATA or OFF using the "
                "`experimental_distribute.auto_shard_policy` option of `tf.data.Options()`."
            )
        yield from ()


def with_own_files(node: Node, workers: int, rank: int) -> Node | None:
    """Returns the pipeline of a worker's files; None if it reads no files."""
    if node.reads_files():
        return node.over([_names_of_worker(i, workers, rank) for i in node.inputs])
    shares = [share for i in node.inputs if (share := with_own_files(i, workers, rank)) is not None]
    return node.over_if_new(shares) if shares and len(shares) == len(node.inputs) else None


def _names_of_worker(names: Node, workers: int, rank: int) -> Node:
    """Returns a worker's names: divided before they are shuffled, as each worker shuffles in its own way."""
    if names.shards_inside:
        return names.over([_names_of_worker(i, workers, rank) for i in names.inputs])
    return Shard(names, workers, rank, True)


def with_hints_replaced(node: Node, workers: int, rank: int) -> Node:
    """Returns the pipeline with a worker's shard in place of each `shard(SHARD_HINT, SHARD_HINT)`."""
    inputs = [with_hints_replaced(i, workers, rank) for i in node.inputs]
    return Shard(inputs[0], workers, rank) if isinstance(node, Shard) and node.is_hint else node.over_if_new(inputs)
