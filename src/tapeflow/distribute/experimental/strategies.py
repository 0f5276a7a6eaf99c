"""Strategies and hints with their older parameters."""

from typing import Any

from tapeflow.distribute.cluster_resolver.resolver import ClusterResolver
from tapeflow.distribute.mirrored import TPUStrategy as _TPUStrategy
from tapeflow.distribute.multi_worker import MultiWorkerMirroredStrategy as _MultiWorkerMirroredStrategy
from tapeflow.distribute.options import CommunicationImplementation, CommunicationOptions

CollectiveCommunication = CommunicationImplementation


class CollectiveHints(CommunicationOptions):
    """Hints for collectives between workers: the older name of `CommunicationOptions`.

    Args:
        bytes_per_pack: the number of bytes to send at once; 0 leaves it open.
        timeout_seconds: how long a worker waits for the others, when a `MultiWorkerMirroredStrategy` with these options
            starts and in each of its collectives; by default ten minutes. Then it raises a `DeadlineExceededError`.
            In the options of one reduction, and with other strategies, it has no effect.

    Raises:
        ValueError: `bytes_per_pack` is negative.

    Example:
        >>> tf.distribute.experimental.CollectiveHints(timeout_seconds=30.0).timeout_seconds
        30.0
    """

    def __init__(self, bytes_per_pack: int = 0, timeout_seconds: float | None = None) -> None:
        super().__init__(bytes_per_pack, timeout_seconds)


class MultiWorkerMirroredStrategy(_MultiWorkerMirroredStrategy):
    """Trains in several processes together: `tf.distribute.MultiWorkerMirroredStrategy` with its older parameters.

    Args:
        communication: a `tf.distribute.experimental.CollectiveCommunication`.
        cluster_resolver: the resolver of the cluster, instead of the environment's.

    Example:
        >>> tf.distribute.experimental.MultiWorkerMirroredStrategy().num_replicas_in_sync
        1
    """

    def __init__(
        self,
        communication: CommunicationImplementation = CommunicationImplementation.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ) -> None:
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


class TPUStrategy(_TPUStrategy):
    """Refuses, as `tf.distribute.TPUStrategy` does; with its older parameters.

    Raises:
        NotFoundError: always.

    Example:
        >>> isinstance(tf.distribute.get_strategy(), tf.distribute.experimental.TPUStrategy)
        False
    """

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None:
        super().__init__(tpu_cluster_resolver, device_assignment)
