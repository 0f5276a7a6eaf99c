"""The public `tf.profiler` namespace: timelines of kernels and functions for TensorBoard's profile plugin."""

from tapeflow.profiler import experimental

__all__ = ["experimental"]
__dir__ = __all__.copy
