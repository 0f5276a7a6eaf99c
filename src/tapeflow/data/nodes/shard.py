"""`Dataset.shard`, and a worker's shard of a pipeline: some of its files, or the shard that a hint stands for."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.core import errors
from tapeflow.core.values.tensor import invalid
from tapeflow.data.node import Node, Unary, dataset_op
from tapeflow.data.threads import Failure, raises_failures, with_failures


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

    @raises_failures
    def generate(self, *inputs: Iterator[Any]) -> Generator[Any]:
        if self.is_hint:
            yield Failure(
                errors.FailedPreconditionError.of(
                    "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in "
                    "`tf.distribute.Strategy.experimental_distribute_dataset()` with `tf.data.experimental."
                    "AutoShardPolicy.HINT` policy, or tf.data service with "
                    "`tf.data.experimental.service.ShardingPolicy.HINT` processing mode."
                )
            )
            return
        number, is_empty = 0, self.require_non_empty
        for element in with_failures(inputs[0]):
            if type(element) is Failure:
                yield element
                continue
            if number == self.index:
                is_empty = False
                yield element
            number = (number + 1) % self.num_shards
        if is_empty:
            yield Failure(
                invalid(
                    "Could not read any data: There aren't enough elements in this dataset for each shard to have at "
                    f"least one element (# shards = {self.num_shards}). If you are using datasets with distribution "
                    "strategy, consider setting the auto sharding policy to either DATA or OFF using the "
                    "`experimental_distribute.auto_shard_policy` option of `tf.data.Options()`."
                )
            )


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
