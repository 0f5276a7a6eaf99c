"""The public `tf.profiler` namespace: what ran, when and for how long, for TensorBoard's profile plugin."""

from tapeflow.profiler import experimental
