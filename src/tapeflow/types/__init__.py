"""The public `tf.types` namespace."""

from tapeflow.types import experimental

__all__ = ["experimental"]
__dir__ = __all__.copy
