"""The public `tf.distribute.experimental` namespace."""

from tapeflow.core.public_names import publish as _publish
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

_publish(globals(), "coordinator", "partitioners")
