"""The public `tf.distribute.cluster_resolver` namespace: the processes of a cluster, and which one this is."""

from tapeflow.distribute.cluster_resolver.clouds import GCEClusterResolver, TPUClusterResolver
from tapeflow.distribute.cluster_resolver.environment import TFConfigClusterResolver, TorchrunClusterResolver
from tapeflow.distribute.cluster_resolver.kubernetes import KubernetesClusterResolver, KubernetesExecutableLocation
from tapeflow.distribute.cluster_resolver.resolver import ClusterResolver, SimpleClusterResolver, UnionResolver
from tapeflow.distribute.cluster_resolver.slurm import SlurmClusterResolver

__all__ = [
    "ClusterResolver", "GCEClusterResolver", "KubernetesClusterResolver", "KubernetesExecutableLocation",
    "SimpleClusterResolver", "SlurmClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver",
    "TorchrunClusterResolver", "UnionResolver",
]  # fmt: skip
__dir__ = __all__.copy
