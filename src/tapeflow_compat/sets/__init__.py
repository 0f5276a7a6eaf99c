"""The public `tf.sets` namespace: the rows of tensors as sets."""

from tapeflow_compat.sets.operations import difference, intersection, size, union

__all__ = ["difference", "intersection", "size", "union"]
__dir__ = __all__.copy
