"""The public `tf.types.experimental.distributed` namespace: values with a part for each replica."""

from tapeflow.distribute.values import Mirrored, PerReplica

__all__ = ["Mirrored", "PerReplica"]
__dir__ = __all__.copy
