"""The public `tf.distribute.coordinator` namespace: functions on the workers of a `ParameterServerStrategy`.

It is `tf.distribute.experimental.coordinator` too, where `PerWorkerValue` has another name.
"""

from tapeflow.distribute.parameter_server.coordinator import ClusterCoordinator
from tapeflow.distribute.parameter_server.dispatch import experimental_get_current_worker_index
from tapeflow.distribute.parameter_server.values import PerWorkerValues, RemoteValue

PerWorkerValue = PerWorkerValues

__all__ = [
    "ClusterCoordinator", "PerWorkerValue", "PerWorkerValues", "RemoteValue", "experimental_get_current_worker_index",
]  # fmt: skip
