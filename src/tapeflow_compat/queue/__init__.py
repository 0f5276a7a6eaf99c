"""The public `tf.queue` namespace: buffers between threads, or between the runs of a session."""

from tapeflow_compat.queue.queues import FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]
__dir__ = __all__.copy
