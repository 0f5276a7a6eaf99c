"""The public `tf.linalg.experimental` namespace."""

from tapeflow.linalg.experimental.conjugate_gradient import conjugate_gradient

__all__ = ["conjugate_gradient"]
__dir__ = __all__.copy
