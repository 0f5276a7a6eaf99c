"""The public `tf.distribute.experimental` namespace."""

from tapeflow.distribute.central_storage import CentralStorageStrategy
from tapeflow.distribute.experimental import coordinator, partitioners
from tapeflow.distribute.experimental.strategies import (
    CollectiveCommunication,
    CollectiveHints,
    MultiWorkerMirroredStrategy,
    TPUStrategy,
)
from tapeflow.distribute.options import CommunicationImplementation, CommunicationOptions, ValueContext
from tapeflow.distribute.parameter_server.strategy import ParameterServerStrategy
from tapeflow.distribute.preemption import PreemptionCheckpointHandler, PreemptionWatcher, TerminationConfig

__all__ = [
    "CentralStorageStrategy", "CollectiveCommunication", "CollectiveHints", "CommunicationImplementation",
    "CommunicationOptions", "MultiWorkerMirroredStrategy", "ParameterServerStrategy", "PreemptionCheckpointHandler",
    "PreemptionWatcher", "TPUStrategy", "TerminationConfig", "ValueContext", "coordinator", "partitioners",
]  # fmt: skip
__dir__ = __all__.copy
