"""The public `tf.types.experimental.distributed` namespace: what values with a part for each replica can be."""

from tapeflow.distribute.values import Mirrored, PerReplica

__all__ = ["Mirrored", "PerReplica"]
