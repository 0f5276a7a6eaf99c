"""Options of `Strategy.run` and of distributed datasets, and the contexts of their functions."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple


class InputReplicationMode(enum.Enum):
    """The calls of the function of `distribute_datasets_from_function`: one for each worker, or for each replica.

    Example:
        >>> tf.distribute.InputReplicationMode.PER_WORKER
        <InputReplicationMode.PER_WORKER: 'PER_WORKER'>
    """

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """Options of a distributed dataset.

    Attributes:
        experimental_fetch_to_device: puts batches on the replicas' devices.
        experimental_replication_mode: the calls of a dataset function; only `PER_WORKER` is supported.
        experimental_place_dataset_on_device: accepted, and without effect: datasets run on the CPU.
        experimental_per_replica_buffer_size: accepted, and without effect.

    Example:
        >>> options = tf.distribute.InputOptions(experimental_fetch_to_device=False)
        >>> options.experimental_per_replica_buffer_size
        1
    """

    experimental_fetch_to_device: bool = True
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class RunOptions(NamedTuple):
    """Hints for `Strategy.run`, all of them for TPUs; accepted, and without effect.

    Example:
        >>> options = tf.distribute.RunOptions(experimental_enable_dynamic_batch_size=False)
        >>> tf.distribute.get_strategy().run(lambda: 1, options=options)
        1
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class InputContext:
    """The argument of a function that creates a dataset for a strategy.

    Args:
        num_input_pipelines: the number of datasets, one for each worker.
        input_pipeline_id: the number of this one.
        num_replicas_in_sync: the number of replicas.

    Example:
        >>> tf.distribute.InputContext(num_replicas_in_sync=4).get_per_replica_batch_size(32)
        8
    """

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Returns the number of examples that each replica gets of a global batch.

        Args:
            global_batch_size: the number of examples for all replicas.

        Raises:
            ValueError: the replicas can't get equal parts.
        """
        replicas = self.num_replicas_in_sync
        if global_batch_size % replicas:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` {replicas} "
            )
        return global_batch_size // replicas

    def __str__(self) -> str:
        number, count = self.input_pipeline_id, self.num_input_pipelines
        return f"tf.distribute.InputContext(input pipeline id {number}, total: {count})"


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class ValueContext:
    """The argument of a function that creates a value for a replica.

    Args:
        replica_id_in_sync_group: the number of the replica.
        num_replicas_in_sync: the number of replicas.

    Example:
        >>> context = tf.distribute.experimental.ValueContext(replica_id_in_sync_group=1, num_replicas_in_sync=2)
        >>> context.replica_id_in_sync_group, context.num_replicas_in_sync
        (1, 2)
    """

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1

    def __str__(self) -> str:
        number, count = self.replica_id_in_sync_group, self.num_replicas_in_sync
        return f"tf.distribute.ValueContext(replica id {number}, total replicas in sync: {count})"


class CommunicationImplementation(enum.Enum):
    """The library that runs collectives between workers.

    Example:
        >>> tf.distribute.experimental.CommunicationImplementation.RING.value
        'RING'
    """

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclasses.dataclass(eq=False)
class CommunicationOptions:
    """Hints for collectives between workers.

    Args:
        bytes_per_pack: the number of bytes to send at once; 0 leaves it open.
        timeout_seconds: how long a worker waits for the others, when a `MultiWorkerMirroredStrategy` with these options
            starts and in each of its collectives; by default ten minutes. Then it raises a `DeadlineExceededError`.
            In the options of one reduction, and with other strategies, it has no effect.
        implementation: a `CommunicationImplementation`, or its name.

    Raises:
        ValueError: `bytes_per_pack` is negative, or the implementation is unknown.

    Example:
        >>> options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=1 << 20)
        >>> options.bytes_per_pack
        1048576
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation | str = CommunicationImplementation.AUTO

    def __post_init__(self) -> None:
        if self.bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {self.bytes_per_pack}.")
        self.implementation = CommunicationImplementation(self.implementation)
