"""Checkpoints, and the messages of training data: `tf.train`."""

from tapeflow.core.protos import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from tapeflow.core.public_names import publish as _publish
from tapeflow.train import experimental
from tapeflow.train.averages import ExponentialMovingAverage
from tapeflow.train.checkpoint import Checkpoint
from tapeflow.train.cluster import ClusterDef, ClusterSpec, JobDef, ServerDef
from tapeflow.train.coordinator import Coordinator
from tapeflow.train.manager import CheckpointManager
from tapeflow.train.options import CheckpointOptions
from tapeflow.train.reader import list_variables, load_checkpoint, load_variable
from tapeflow.train.states import checkpoints_iterator, get_checkpoint_state, latest_checkpoint
from tapeflow.train.views import CheckpointView, TrackableView

_publish(globals(), "experimental")
