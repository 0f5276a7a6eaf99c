"""`tf.train.experimental`: Python state in checkpoints, and the shards of checkpoints."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.train.experimental.python_state import PythonState
from tapeflow.train.sharding import MaxShardSizePolicy, ShardableTensor, ShardByTaskPolicy, ShardingCallback

_publish(globals())
