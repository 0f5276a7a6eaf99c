"""A worker's share of a dataset, by the dataset's auto-shard policy.

FILE: each worker reads files of its own. DATA: each reads all, and takes its parts of every batch. HINT: each takes the
shard where the program wrote `shard(SHARD_HINT, SHARD_HINT)`. OFF: each takes all elements, in batches for its
replicas. AUTO is FILE where there are files, else DATA.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.core import errors
from tapeflow.core.ops.convert import host_value
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import invalid
from tapeflow.data.batch_size import compute_batch_size
from tapeflow.data.bucketing import RebatchDataset
from tapeflow.data.dataset import INFINITE, UNKNOWN, Dataset
from tapeflow.data.files import OfFiles
from tapeflow.data.maps import FlatMapDataset, InterleaveDataset, PrefetchDataset
from tapeflow.data.nodes import OptionsDataset, ShardDataset
from tapeflow.data.options import AutoShardPolicy
from tapeflow.data.shuffling import ShuffleDataset
from tapeflow.data.threads import Failure, raises_failures
from tapeflow.distribute.input import Division, dealt, leading_part
from tapeflow.math.casting import cast

_OPEN_DATASETS = (FlatMapDataset, InterleaveDataset)  # whose functions may return datasets of files
_PASS_NAMES = (ShuffleDataset, OptionsDataset, PrefetchDataset)  # whose elements are those of their input


def share_of_worker(dataset: Any, workers: int, rank: int, replicas: int) -> tuple[Any, Division]:
    """Returns a worker's share of a dataset, and the division of its batches among the worker's replicas.

    Args:
        dataset: a dataset of batches for the replicas of all workers.
        workers: the number of workers.
        rank: the number of this one.
        replicas: the number of replicas of each.

    Raises:
        NotFoundError: the policy is FILE, and the dataset reads no files.
    """
    policy = dataset.options().experimental_distribute.auto_shard_policy
    if policy in (AutoShardPolicy.AUTO, AutoShardPolicy.FILE):
        by_file = _with_own_files(dataset, workers, rank)
        if by_file is None and policy is AutoShardPolicy.FILE:
            raise errors.NotFoundError.of(
                f"Found an unshardable source dataset: {dataset!r} reads no files that could be divided among "
                f"{workers} workers. Use AutoShardPolicy.DATA."
            )
        policy, dataset = (AutoShardPolicy.DATA, dataset) if by_file is None else (AutoShardPolicy.FILE, by_file)
    if policy is AutoShardPolicy.DATA:
        slots = tuple(range(rank, workers * replicas, workers))
        return dataset, Division(slots, workers * replicas, leading_part, dataset._size() == UNKNOWN)
    if policy is AutoShardPolicy.HINT:
        dataset = _with_hints_replaced(dataset, workers, rank)
    dataset = _in_batches_for_replicas(dataset, workers, rank, replicas)
    return dataset, dealt(replicas, agrees=dataset._size() != INFINITE)


def _over(node: Any, inputs: list[Any]) -> Any:
    """Returns a node over other inputs; the node itself where they are the same."""
    return node if all(new is old for new, old in zip(inputs, node._inputs(), strict=True)) else node._over(inputs)


# ---- by file ---------------------------------------------------------------------------------------------------------


class _ShardOfFiles(ShardDataset):
    """A worker's part of the names of files, of which there must be one at least."""

    @raises_failures
    def _from_inputs(self, *inputs: Iterator[Any]) -> Generator[Any]:
        count = 0
        for count, element in enumerate(super()._from_inputs(*inputs), 1):  # noqa: B007
            yield element
        if not count:
            yield Failure(
                invalid(
                    "Could not read any data: There aren't enough elements in this dataset for each shard to have at "
                    f"least one element (# shards = {self._num_shards}). If you are using datasets with distribution "
                    "strategy, consider setting the auto sharding policy to either DATA or OFF using the "
                    "`experimental_distribute.auto_shard_policy` option of `tf.data.Options()`."
                )
            )


def _with_own_files(dataset: Any, workers: int, rank: int) -> Any:
    """Returns the dataset of a worker's files; None where it reads none."""
    inputs = dataset._inputs()
    if isinstance(dataset, OfFiles) or (isinstance(dataset, _OPEN_DATASETS) and _opens_files(dataset)):
        return dataset._over([_names_of_worker(i, workers, rank) for i in inputs])
    shares = [_with_own_files(i, workers, rank) for i in inputs]
    if not shares or any(share is None for share in shares):
        return None
    return _over(dataset, shares)


def _opens_files(dataset: Any) -> bool:
    operations = dataset._function._body.graph._operations
    readers = {cls.__name__ for cls in _subclasses(OfFiles)}
    return any(operation.type in readers for operation in operations)


def _subclasses(cls: Any) -> Iterator[Any]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _names_of_worker(names: Any, workers: int, rank: int) -> Any:
    """Returns a worker's names: divided before they are shuffled, as each worker shuffles in its own way."""
    if isinstance(names, _PASS_NAMES):
        return names._over([_names_of_worker(i, workers, rank) for i in names._inputs()])
    return _ShardOfFiles(names, workers, rank)


# ---- by hint ---------------------------------------------------------------------------------------------------------


def _with_hints_replaced(dataset: Any, workers: int, rank: int) -> Any:
    inputs = [_with_hints_replaced(i, workers, rank) for i in dataset._inputs()]
    if isinstance(dataset, ShardDataset) and dataset.is_hint:
        return ShardDataset(inputs[0], workers, rank)
    return _over(dataset, inputs)


# ---- batches for replicas --------------------------------------------------------------------------------------------


def batch_sizes_of_worker(batch: int, workers: int, replicas: int, rank: int) -> list[int]:
    """Returns the sizes, in turn, of a worker's batches for one replica each, which it cuts from batches for all.

    At every step the replicas of all workers together get one whole batch's number of elements, and the parts of two
    replicas differ by one at most.
    """
    total = workers * replicas
    parts = [batch // total + (i < batch % total) for i in range(total)]
    first = rank * replicas
    return parts[first:] + parts[:first]


def _in_batches_for_replicas(dataset: Any, workers: int, rank: int, replicas: int) -> Any:
    size = int(host_value(compute_batch_size(dataset)))
    if size > 0 and size >= workers * replicas:
        return RebatchDataset(dataset, batch_sizes_of_worker(size, workers, replicas, rank), False)
    total = workers * replicas

    def parts(*batch: Any) -> Any:
        element = batch if len(batch) > 1 else batch[0]

        def part(i: Any) -> Any:
            return nest.map_structure(lambda t: leading_part(t, cast(i, int32), total), element)

        return Dataset.range(total).map(part)

    return dataset.flat_map(parts)
