"""Clusters of Google's cloud: the instances of a group, and TPUs, which TapeFlow does not support."""

from __future__ import annotations

from typing import Any

from tapeflow.core.errors import NotFoundError
from tapeflow.distribute.cluster_resolver.resolver import AddressResolver
from tapeflow.train.cluster import ClusterSpec


class GCEClusterResolver(AddressResolver):
    """Resolves the running instances of an instance group of Google Compute Engine.

    Args:
        project, zone, instance_group: strings, the names of the project, the zone and the group.
        port: the port of every process.
        task_type, task_id: the task that this process is.
        rpc_layer: the protocol between the processes.
        credentials: the credentials for the service. "default", the default, takes them from the environment.
        service: the Compute Engine service of `googleapiclient`; by default one with the credentials.

    Raises:
        ImportError: there is no service, and `googleapiclient` is not installed.

    Example:
        >>> tf.distribute.cluster_resolver.GCEClusterResolver.__name__
        'GCEClusterResolver'
    """

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._group = {"project": project, "zone": zone, "instanceGroup": instance_group}
        self._port = port
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._service = service or _compute_engine(credentials)

    def cluster_spec(self) -> ClusterSpec:
        """Returns the addresses of the running instances, in their order by name."""
        groups, instances = self._service.instanceGroups(), self._service.instances()
        addresses = []
        request = groups.listInstances(**self._group, body={"instanceState": "RUNNING"}, orderBy="name")
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                host = instances.get(
                    project=self._group["project"], zone=self._group["zone"], instance=item["instance"].split("/")[-1]
                ).execute()
                addresses.append(f"{host['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self._task_type or "worker": sorted(addresses)})


def _compute_engine(credentials: Any) -> Any:
    try:
        from googleapiclient import discovery  # optional: only programs on Google's cloud have it
    except ImportError as error:
        raise ImportError("googleapiclient must be installed before using the GCE cluster resolver") from error
    return discovery.build("compute", "v1", **({} if credentials == "default" else {"credentials": credentials}))


class TPUClusterResolver(AddressResolver):
    """Refuses to look for a TPU, which TapeFlow has no kernels for; programs catch the ValueError and go on without.

    Args:
        tpu, zone, project, job_name, coordinator_name, coordinator_address, credentials, service, discovery_url:
            accepted.

    Raises:
        ValueError: always; it is a NotFoundError too.

    Example:
        >>> try:
        ...     tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
        ... except ValueError:
        ...     strategy = tf.distribute.get_strategy()
    """

    def __init__(
        self,
        tpu: str | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        raise _NoTPUError.of(
            "Please provide a TPU Name to connect to: TapeFlow runs on CPUs and GPUs and finds no TPU. Use "
            "tf.distribute.MirroredStrategy for the devices of this machine, or "
            "tf.distribute.MultiWorkerMirroredStrategy for several machines."
        )

    @staticmethod
    def connect(tpu: str | None = None, zone: str | None = None, project: str | None = None) -> Any:
        """Refuses to connect to a TPU.

        Raises:
            ValueError: always.
        """
        return TPUClusterResolver(tpu, zone, project)

    def cluster_spec(self) -> Any:
        raise NotImplementedError


class _NoTPUError(NotFoundError, ValueError):
    """There is no TPU: TensorFlow has a ValueError here, and a NotFoundError later."""
