"""The public `tf.data.experimental.service` namespace: pipelines that run in processes of their own.

A dispatcher knows the datasets and the workers; workers compute elements; consumers, such as the processes of a
training, read them from the workers. `examples/data_service.py` shows all three.
"""

from tapeflow.core.public_names import publish as _publish
from tapeflow.data.experimental.service.config import CrossTrainerCache, DispatcherConfig, ShardingPolicy, WorkerConfig
from tapeflow.data.experimental.service.datasets import distribute, from_dataset_id, register_dataset
from tapeflow.data.experimental.service.dispatcher import DispatchServer
from tapeflow.data.experimental.service.worker import WorkerServer

_publish(globals())
