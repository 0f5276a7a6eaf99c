# Written by `scripts/record.py stubs`.
from tapeflow.train.sharding import MaxShardSizePolicy as MaxShardSizePolicy
from tapeflow.train.experimental.python_state import PythonState as PythonState
from tapeflow.train.sharding import ShardByTaskPolicy as ShardByTaskPolicy
from tapeflow.train.sharding import ShardableTensor as ShardableTensor
from tapeflow.train.sharding import ShardingCallback as ShardingCallback
