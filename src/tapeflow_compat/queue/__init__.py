"""The public `tf.queue` namespace: buffers between threads, or between the runs of a session."""

from tapeflow.core.public_names import publish as _publish
from tapeflow_compat.queue.queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue

_publish(globals())
