# Written by `scripts/record.py stubs`.
from tapeflow.data.experimental.service.config import CrossTrainerCache as CrossTrainerCache
from tapeflow.data.experimental.service.dispatcher import DispatchServer as DispatchServer
from tapeflow.data.experimental.service.config import DispatcherConfig as DispatcherConfig
from tapeflow.data.experimental.service.config import ShardingPolicy as ShardingPolicy
from tapeflow.data.experimental.service.config import WorkerConfig as WorkerConfig
from tapeflow.data.experimental.service.worker import WorkerServer as WorkerServer
from tapeflow.data.experimental.service.datasets import distribute as distribute
from tapeflow.data.experimental.service.datasets import from_dataset_id as from_dataset_id
from tapeflow.data.experimental.service.datasets import register_dataset as register_dataset
