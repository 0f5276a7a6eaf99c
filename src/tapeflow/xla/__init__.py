"""The public `tf.xla` namespace."""

from tapeflow.xla import experimental

__all__ = ["experimental"]
__dir__ = __all__.copy
