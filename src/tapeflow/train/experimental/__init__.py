"""`tf.train.experimental`: Python state in checkpoints, and the shards of checkpoints."""

from tapeflow.train.experimental.python_state import PythonState
from tapeflow.train.sharding import MaxShardSizePolicy, ShardableTensor, ShardByTaskPolicy, ShardingCallback

__all__ = ["MaxShardSizePolicy", "PythonState", "ShardByTaskPolicy", "ShardableTensor", "ShardingCallback"]
__dir__ = __all__.copy
