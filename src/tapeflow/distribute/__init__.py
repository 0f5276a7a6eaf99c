"""The public `tf.distribute` namespace: the same program on several devices."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.distribute import cluster_resolver, coordinator, experimental
from tapeflow.distribute.context import get_replica_context, get_strategy, has_strategy, in_cross_replica_context
from tapeflow.distribute.input import DistributedDataset, DistributedIterator
from tapeflow.distribute.mirrored import MirroredStrategy, OneDeviceStrategy, TPUStrategy
from tapeflow.distribute.multi_worker import MultiWorkerMirroredStrategy
from tapeflow.distribute.options import InputContext, InputOptions, InputReplicationMode, RunOptions
from tapeflow.distribute.parameter_server.strategy import ParameterServerStrategy
from tapeflow.distribute.replica_reductions import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReduceOp,
    ReductionToOneDevice,
)
from tapeflow.distribute.server import Server
from tapeflow.distribute.strategy import ReplicaContext, Strategy, StrategyExtended, experimental_set_strategy
from tapeflow.distribute.values import DistributedValues

_publish(globals(), "cluster_resolver", "coordinator", "experimental")
