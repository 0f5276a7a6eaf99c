"""The public `tf.distribute.cluster_resolver` namespace: the processes of a cluster, and which one this is."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.distribute.cluster_resolver.clouds import GCEClusterResolver, TPUClusterResolver
from tapeflow.distribute.cluster_resolver.environment import TFConfigClusterResolver, TorchrunClusterResolver
from tapeflow.distribute.cluster_resolver.kubernetes import KubernetesClusterResolver, KubernetesExecutableLocation
from tapeflow.distribute.cluster_resolver.resolver import ClusterResolver, SimpleClusterResolver, UnionResolver
from tapeflow.distribute.cluster_resolver.slurm import SlurmClusterResolver

_publish(globals())
