"""The public `tf.distribute.coordinator` namespace: functions on the workers of a `ParameterServerStrategy`."""

from tapeflow.distribute.parameter_server.coordinator import ClusterCoordinator
from tapeflow.distribute.parameter_server.dispatch import experimental_get_current_worker_index
from tapeflow.distribute.parameter_server.values import PerWorkerValues as PerWorkerValue
from tapeflow.distribute.parameter_server.values import RemoteValue

__all__ = ["ClusterCoordinator", "PerWorkerValue", "RemoteValue", "experimental_get_current_worker_index"]
__dir__ = __all__.copy
