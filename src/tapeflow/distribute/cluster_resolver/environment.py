"""Clusters that environment variables describe: TensorFlow's TF_CONFIG, and what `torchrun` sets."""

from __future__ import annotations

import json
import os
from typing import Any

from tapeflow.distribute.cluster_resolver.resolver import AddressResolver, ClusterResolver, with_protocol
from tapeflow.train.cluster import ClusterSpec

_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def _tf_config() -> dict[str, Any]:
    return json.loads(os.environ.get("TF_CONFIG") or "{}")


class TFConfigClusterResolver(ClusterResolver):
    """Reads the cluster, and the task that this process is, from the environment variable TF_CONFIG.

    Args:
        task_type, task_id, rpc_layer: a job's name, a task's number and a protocol. Each overrides TF_CONFIG's value;
            None keeps it.
        environment: a string, the value of `environment`, such as "google". None keeps TF_CONFIG's.

    Example:
        >>> import json, os
        >>> os.environ["TF_CONFIG"] = json.dumps(
        ...     {"cluster": {"worker": ["localhost:12345", "localhost:23456"]}, "task": {"type": "worker", "index": 1}}
        ... )
        >>> resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        >>> resolver.task_type, resolver.task_id, resolver.master()
        ('worker', 1, 'localhost:23456')
        >>> del os.environ["TF_CONFIG"]
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._environment = environment  # type: ignore[assignment]  # as in TensorFlow, None by default

    def _find_setting(self, name: str, value: Any) -> Any:
        if name == "rpc_layer":
            return _tf_config().get(name) if value is None else value
        key, kind = ("type", str) if name == "task_type" else ("index", int)
        value = _tf_config().get("task", {}).get(key) if value is None else value
        return None if value is None else kind(value)

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(_tf_config().get("cluster", {}))

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        session_master = _tf_config().get("session_master")
        if session_master is not None:
            return session_master
        cluster = self.cluster_spec()
        if sum(len(cluster.job_tasks(job)) for job in cluster.jobs) <= 1:
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        rpc_layer = self.rpc_layer if rpc_layer is None else rpc_layer
        return with_protocol(cluster.task_address(task_type, task_id), rpc_layer)


class TorchrunClusterResolver(AddressResolver):
    """Reads the cluster from RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which `torchrun` sets: all are workers.

    `torchrun` tells a process the address of the first worker only; the others have only a number.

    Raises:
        ValueError: a variable is missing.

    Example:
        >>> import os
        >>> os.environ.update(RANK="1", WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT="29500")
        >>> resolver = tf.distribute.cluster_resolver.TorchrunClusterResolver()
        >>> resolver.task_id, resolver.cluster_spec().num_tasks("worker")
        (1, 2)
        >>> for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        ...     del os.environ[name]
    """

    _task_type = "worker"

    def __init__(self) -> None:
        missing = [name for name in _TORCHRUN if name not in os.environ]
        if missing:
            raise ValueError(f"The environment lacks {', '.join(missing)}: start the program with `torchrun`.")
        self._task_id = int(os.environ["RANK"])
        self._size = int(os.environ["WORLD_SIZE"])
        self._first = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"

    def cluster_spec(self) -> ClusterSpec:
        others = {i: f"rank{i}" for i in range(1, self._size)}
        return ClusterSpec({"worker": {0: self._first, **others}})


def resolver_of_environment() -> ClusterResolver:
    """Returns the resolver of the environment's cluster: TF_CONFIG if it is set, else `torchrun`'s variables.

    Without either, the resolver of an empty cluster.
    """
    if not os.environ.get("TF_CONFIG") and all(name in os.environ for name in _TORCHRUN):
        return TorchrunClusterResolver()
    return TFConfigClusterResolver()
