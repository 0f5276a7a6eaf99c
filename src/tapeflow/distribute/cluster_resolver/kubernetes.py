"""Clusters of the pods that Kubernetes runs."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.distribute.cluster_resolver.resolver import AddressResolver
from tapeflow.train.cluster import ClusterSpec


class KubernetesExecutableLocation(enum.Enum):
    """The place of the program that asks Kubernetes: in a pod of the cluster, or elsewhere.

    Example:
        >>> tf.distribute.cluster_resolver.KubernetesExecutableLocation.OFF_CLUSTER.value
        1
    """

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(AddressResolver):
    """Resolves the running pods that labels select. A program sets `task_type` and `task_id` itself.

    Args:
        job_to_label_mapping: a dict from the names of jobs to lists of label selectors.
        tf_server_port: the port of every process.
        rpc_layer: the protocol between the processes.
        override_client: a client with `list_pod_for_all_namespaces`; by default the client of the package `kubernetes`.
        executable_location: whether the program runs in a pod, which decides where credentials are.

    Raises:
        ImportError: there is no client, and the package `kubernetes` is not installed.
        ValueError: `executable_location` is not a `KubernetesExecutableLocation`.

    Example:
        >>> from types import SimpleNamespace
        >>> pod = SimpleNamespace(
        ...     metadata=SimpleNamespace(name="pod"), status=SimpleNamespace(phase="Running", host_ip="10.0.0.1")
        ... )
        >>> client = SimpleNamespace(list_pod_for_all_namespaces=lambda label_selector: SimpleNamespace(items=[pod]))
        >>> resolver = tf.distribute.cluster_resolver.KubernetesClusterResolver(override_client=client)
        >>> resolver.cluster_spec()
        ClusterSpec({'worker': ['10.0.0.1:8470']})
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str = "grpc",
        override_client: Any = None,
        executable_location: KubernetesExecutableLocation = KubernetesExecutableLocation.WITHIN_CLUSTER,
    ) -> None:
        if not isinstance(executable_location, KubernetesExecutableLocation):
            raise ValueError("The executable location provided is invalid.")
        self._selectors = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self._rpc_layer = tf_server_port, rpc_layer
        self._client = override_client or _kubernetes_client(executable_location)

    def cluster_spec(self) -> ClusterSpec:
        """Returns the addresses of the pods, by the order of their names.

        Raises:
            RuntimeError: a selected pod is not running.
        """
        jobs = {job: [a for s in selectors for a in self._addresses(s)] for job, selectors in self._selectors.items()}
        return ClusterSpec(jobs)

    def _addresses(self, selector: str) -> list[str]:
        found = self._client.list_pod_for_all_namespaces(label_selector=selector)
        pods = sorted(found.items, key=lambda pod: pod.metadata.name)
        for pod in pods:
            if pod.status.phase != "Running":
                raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
        return [f"{pod.status.host_ip}:{self._port}" for pod in pods]


def _kubernetes_client(location: KubernetesExecutableLocation) -> Any:
    try:
        from kubernetes import client, config  # optional: only clusters of Kubernetes have it
    except ImportError as error:
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To install "
            "the Kubernetes Python client, run `pip install kubernetes` on your command line."
        ) from error
    within = location is KubernetesExecutableLocation.WITHIN_CLUSTER
    (config.load_incluster_config if within else config.load_kube_config)()
    return client.CoreV1Api()
