"""The public `tf.distribute.experimental.partitioners` namespace: the number of parts to cut a variable into."""

from tapeflow.distribute.partitioners import FixedShardsPartitioner, MaxSizePartitioner, MinSizePartitioner, Partitioner

__all__ = ["FixedShardsPartitioner", "MaxSizePartitioner", "MinSizePartitioner", "Partitioner"]
__dir__ = __all__.copy
