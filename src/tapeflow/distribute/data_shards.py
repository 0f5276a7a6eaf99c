"""A worker's share of a dataset, by the dataset's auto-shard policy.

FILE: each worker reads files of its own. DATA: each reads all, and takes its parts of every batch. HINT: each takes the
shard where the program wrote `shard(SHARD_HINT, SHARD_HINT)`. OFF: each takes all elements, in batches for its
replicas. AUTO is FILE where there are files, else DATA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.ops.convert import host_value
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values import nest
from tapeflow.data.dataset import Dataset
from tapeflow.data.node import INFINITE, UNKNOWN
from tapeflow.data.options import AutoShardPolicy
from tapeflow.data.transformations.batch import compute_batch_size
from tapeflow.data.transformations.rebatch import Rebatch
from tapeflow.data.transformations.shard import with_hints_replaced, with_own_files
from tapeflow.distribute.input import Division, dealt, leading_part
from tapeflow.math.casting import cast

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor


def share_of_worker(dataset: Dataset, workers: int, rank: int, replicas: int) -> tuple[Any, Division]:
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
        by_file = with_own_files(dataset._node, workers, rank)
        if by_file is None and policy is AutoShardPolicy.FILE:
            raise errors.NotFoundError.of(
                f"Found an unshardable source dataset: {dataset!r} reads no files that could be divided among "
                f"{workers} workers. Use AutoShardPolicy.DATA."
            )
        policy = AutoShardPolicy.DATA if by_file is None else AutoShardPolicy.FILE
        dataset = dataset if by_file is None else Dataset(by_file)
    if policy is AutoShardPolicy.DATA:
        slots = tuple(range(rank, workers * replicas, workers))
        return dataset, Division(slots, workers * replicas, leading_part, dataset._node.cardinality() == UNKNOWN)
    if policy is AutoShardPolicy.HINT:
        dataset = Dataset(with_hints_replaced(dataset._node, workers, rank))
    dataset = _in_batches_for_replicas(dataset, workers, rank, replicas)
    return dataset, dealt(replicas, agrees=dataset._node.cardinality() != INFINITE)


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


def _in_batches_for_replicas(dataset: Dataset, workers: int, rank: int, replicas: int) -> Any:
    size = int(host_value(compute_batch_size(dataset)))
    if size > 0 and size >= workers * replicas:
        return Dataset(Rebatch(dataset._node, batch_sizes_of_worker(size, workers, replicas, rank), False))
    total = workers * replicas

    def parts(*batch: Any) -> Any:
        element = batch if len(batch) > 1 else batch[0]

        def part(i: Tensor) -> Any:
            return nest.map_structure(lambda t: leading_part(t, cast(i, int32), total), element)

        return Dataset.range(total).map(part)

    return dataset.flat_map(parts)
