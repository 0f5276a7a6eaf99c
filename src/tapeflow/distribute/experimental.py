"""The public `tf.distribute.experimental` namespace."""

from tapeflow.distribute import coordinator
from tapeflow.distribute.multi_worker import MultiWorkerMirroredStrategy
from tapeflow.distribute.options import CommunicationImplementation, CommunicationOptions, ValueContext

CollectiveCommunication = CommunicationImplementation

__all__ = [
    "CollectiveCommunication", "CommunicationImplementation", "CommunicationOptions", "MultiWorkerMirroredStrategy",
    "ValueContext", "coordinator",
]  # fmt: skip
