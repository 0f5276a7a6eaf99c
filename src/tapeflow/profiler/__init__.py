"""The public `tf.profiler` namespace: timelines of kernels and functions for TensorBoard's profile plugin."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.profiler import experimental

_publish(globals(), "experimental")
