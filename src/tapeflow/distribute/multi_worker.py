"""`MultiWorkerMirroredStrategy`: replicas in several processes, each with a copy of every variable.

A process sends only sums over its own replicas: a worker sends as much with eight devices as with one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.variable import Variable
from tapeflow.data.node import INFINITE
from tapeflow.distribute import collectives
from tapeflow.distribute.cluster_resolver.environment import resolver_of_environment
from tapeflow.distribute.cluster_resolver.resolver import ClusterResolver
from tapeflow.distribute.context import require_cross_replica
from tapeflow.distribute.data_shards import share_of_worker
from tapeflow.distribute.input import DistributedDataset, dealt
from tapeflow.distribute.mirrored import MirroredExtended, default_devices
from tapeflow.distribute.options import CommunicationOptions, InputContext, InputOptions
from tapeflow.distribute.replica_reductions import ReduceOp, reduce_op_of, reduce_values
from tapeflow.distribute.strategy import Strategy
from tapeflow.distribute.values import DistributedValues, MirroredValues
from tapeflow.distribute.workers import WorkerGroup, join
from tapeflow.math.casting import cast
from tapeflow.math.division import truediv

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


class MultiWorkerExtended(MirroredExtended):
    """The interface for libraries of a strategy with several workers.

    Args:
        container_strategy: the strategy.
        devices: the devices of this worker's replicas.
        group: the workers.
        task_type, task_id: this process's task.
    """

    def __init__(
        self, container_strategy: Strategy, devices: Sequence[str], group: WorkerGroup, task_type: str, task_id: int
    ) -> None:
        task = f"/job:{task_type}/replica:0/task:{task_id}/"
        super().__init__(container_strategy, [task + d.rpartition("/")[2] for d in devices])
        self._group = group

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._group.size * len(self._devices)

    @property
    def _first_replica(self) -> int:  # type: ignore[override]
        return self._group.rank * len(self._devices)

    @property
    def _num_workers(self) -> int:
        return self._group.size

    @property
    def _is_chief(self) -> bool:
        return self._group.rank == 0

    @property
    def should_checkpoint(self) -> bool:
        return self._is_chief

    def _in_multi_worker_mode(self) -> bool:
        return True

    # ---- reductions --------------------------------------------------------------------------------------------------

    def _local_sum(self, value: Any) -> Any:
        if isinstance(value, DistributedValues):
            values = [v if isinstance(v, IndexedSlices) else convert(v) for v in value.values]
            return reduce_values(ReduceOp.SUM, values)
        return value if isinstance(value, IndexedSlices) else convert(value)

    def _reduce_all(self, op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        return collectives.all_reduce(self._group, op, [self._local_sum(v) for v in values], self._num_replicas_in_sync)

    def _reduce(self, op: ReduceOp, value: Any) -> Any:
        if isinstance(value, MirroredValues) and op is ReduceOp.MEAN:
            return value.values[0]
        return self._reduce_all(op, [value])[0]

    def _reduce_along(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        first = convert(value.values[0] if isinstance(value, DistributedValues) else value)
        if first.shape.rank == 0:  # Keras reduces the scalars of its logs along an axis
            return self._reduce(op, value)
        total, count = self._sums_along(value, axis)
        if op is ReduceOp.SUM:
            return self._reduce(op, total)
        if total.dtype.is_integer:
            return truediv(self._reduce(ReduceOp.SUM, total), self._reduce(ReduceOp.SUM, count))
        total, count = self._reduce_all(ReduceOp.SUM, [total, cast(count, total.dtype)])
        return truediv(total, count)

    def _gather(self, value: Any, axis: int) -> Any:
        return collectives.all_gather(self._group, convert(super()._gather(value, axis)), axis)

    def reduce_to(self, reduce_op: ReduceOp | str, value: Any, destinations: Any, options: Any = None) -> Any:
        return self.batch_reduce_to(reduce_op, [(value, destinations)], options)[0]

    def batch_reduce_to(
        self, reduce_op: ReduceOp | str, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        require_cross_replica(self._strategy)
        op = reduce_op_of(reduce_op)
        pairs = list(value_destination_pairs)
        results = [v for v, _ in pairs]  # values that are mirrored are their own means
        differ = [i for i, v in enumerate(results) if not (isinstance(v, MirroredValues) and op is ReduceOp.MEAN)]
        totals = self._reduce_all(op, [results[i] for i in differ])
        for i, total in zip(differ, totals, strict=True):
            whole = len(self._devices) == 1  # nothing to copy
            results[i] = total if whole else self._cross_device_ops.broadcast(total, pairs[i][1])
        return results

    def _agree_on_first_value(self, variable: Variable) -> None:
        value = getattr(variable, "_value", None)
        if isinstance(variable, Variable) and value is not None:
            variable._set(self._group.broadcast(value.value, f"variable {variable.name}"))

    # ---- datasets ----------------------------------------------------------------------------------------------------

    def _input_context(self) -> InputContext:
        return InputContext(self._group.size, self._group.rank, self._num_replicas_in_sync)

    def _distribute_dataset(self, dataset: Dataset, options: InputOptions | None) -> Any:
        share, division = share_of_worker(dataset, self._group.size, self._group.rank, len(self._devices))
        return DistributedDataset(share, self._strategy, options, division)

    def _distribute_datasets_from_function(self, dataset_fn: Callable[..., Any], options: InputOptions | None) -> Any:
        dataset = dataset_fn(self._input_context())
        division = dealt(len(self._devices), agrees=dataset._node.cardinality() != INFINITE)
        return DistributedDataset(dataset, self._strategy, options, division)


class MultiWorkerMirroredStrategy(Strategy):
    """Trains in several processes together: each has a copy of every variable, and a part of every batch.

    The environment says which processes there are: TF_CONFIG, or what `torchrun` sets; without either, this process is
    the only one. Variables begin with the first worker's values; gradients are summed over all workers.

    Args:
        cluster_resolver: a `tf.distribute.cluster_resolver.ClusterResolver`, instead of the environment's.
        communication_options: a `tf.distribute.experimental.CommunicationOptions`: the timeout of collectives, which is
            ten minutes by default, and the number of bytes that are sent at once.

    Raises:
        UnavailableError, DeadlineExceededError: the other workers could not be met in time.
        ValueError: the cluster does not have this process as a worker.

    Example:
        >>> strategy = tf.distribute.MultiWorkerMirroredStrategy()
        >>> with strategy.scope():
        ...     v = tf.Variable(1.0)
        >>> strategy.num_replicas_in_sync
        1
    """

    def __init__(
        self, cluster_resolver: ClusterResolver | None = None, communication_options: CommunicationOptions | None = None
    ) -> None:
        resolver = cluster_resolver or resolver_of_environment()
        options = communication_options or CommunicationOptions()
        self._cluster_resolver = resolver
        devices = _own_devices(default_devices())
        group = join(resolver, options.timeout_seconds, options.bytes_per_pack)
        if group is None:
            super().__init__(MirroredExtended(self, devices))
        else:
            super().__init__(MultiWorkerExtended(self, devices, group, resolver.task_type, resolver.task_id))

    @property
    def cluster_resolver(self) -> ClusterResolver:
        """The resolver of the cluster."""
        return self._cluster_resolver


def _own_devices(devices: Sequence[str]) -> list[str]:
    """Returns all GPUs of a worker, or its first CPU."""
    return list(devices) if "GPU" in devices[0] else [devices[0]]
