"""The public `tf.distribute.experimental.coordinator` namespace: `tf.distribute.coordinator` with its older names."""

from tapeflow.distribute.parameter_server.coordinator import ClusterCoordinator
from tapeflow.distribute.parameter_server.values import PerWorkerValues, RemoteValue

__all__ = ["ClusterCoordinator", "PerWorkerValues", "RemoteValue"]
__dir__ = __all__.copy
