"""What stands for a CUDA graph where there is no GPU, and calls of functions that are captured."""

import threading
import weakref

import torch

import tapeflow as tf
from tapeflow.graph.backends.cuda_graphs import WARM_UPS


class Recorder:
    """Repeats a recording as a CUDA graph does: the same work, on the same memory, and no Python but that."""

    made = ()  # those that were made

    def __init__(self, device):
        self.device, self.lock = device, threading.RLock()
        self.replays = 0
        self.made.append(weakref.ref(self))

    def rehearse(self, run, watch, uses):
        assert all(isinstance(t, torch.Tensor) for t in uses())
        return run()

    def generator(self):
        return torch.Generator()

    def record(self, run):
        self.run, self.outputs, self.fresh = run, run(), True  # which a capture would not do before its first replay
        return self.outputs

    def wait(self):
        pass

    def replay(self):
        self.replays += 1
        if not self.fresh:
            for place, value in zip(self.outputs, self.run(), strict=True):
                place.copy_(value)
        self.fresh = False


captured = tf.function(experimental_attributes={"cuda_graph": True})


def called(function, *args, times=WARM_UPS + 1):
    for _ in range(times):
        result = function(*args)
    return result


def explanation(function):
    (concrete,) = function._list_all_concrete_functions()
    return concrete.explain_cuda_graph()
