# Written by `scripts/record.py stubs`.
from tapeflow_compat.queue.queues import FIFOQueue as FIFOQueue
from tapeflow_compat.queue.queues import PaddingFIFOQueue as PaddingFIFOQueue
from tapeflow_compat.queue.queues import PriorityQueue as PriorityQueue
from tapeflow_compat.queue.queues import QueueBase as QueueBase
from tapeflow_compat.queue.queues import RandomShuffleQueue as RandomShuffleQueue
