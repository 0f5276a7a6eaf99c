"""`tf.distribute.Server`: a task of a cluster, which others call."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from tapeflow.core.fork_locks import new_event
from tapeflow.distribute.parameter_server.task import ServerTask
from tapeflow.train.cluster import TARGETS_OF_SEVERAL, ClusterDef, ClusterSpec, ServerDef


class Server:
    """A task of a cluster: a worker or a parameter server of a `tf.distribute.ParameterServerStrategy`.

    It serves the strategy's coordinator until its process ends. As in TensorFlow, it accepts any client without a
    password. With a cluster of one process, `tf.compat.v1.Session(server.target)` runs in this process.
    `tf.distribute.MultiWorkerMirroredStrategy` needs no server.

    Args:
        server_or_cluster_def: a `tf.train.ServerDef`, a `tf.train.ClusterDef`, or what `tf.train.ClusterSpec` takes.
        job_name: the job of the server; by default the only one.
        task_index: the number of the server in its job; by default the only one.
        protocol: the protocol, which the target begins with; "grpc" by default.
        config: a `ConfigProto` for sessions.
        start: whether the server starts at once.

    Raises:
        TypeError: it is no definition of a cluster.
        UnknownError: another process uses the port.
        ValueError: there are several jobs or tasks, and none is named.

    Example:
        >>> server = tf.distribute.Server.create_local_server()
        >>> with tf.Graph().as_default(), tf.compat.v1.Session(server.target) as session:
        ...     print(session.run(tf.constant(1) + 1))
        2
    """

    def __init__(
        self,
        server_or_cluster_def: ServerDef | ClusterDef | ClusterSpec | Mapping[str, Any],
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        job, index = self._server_def.job_name, self._server_def.task_index
        cluster = ClusterSpec(self._server_def.cluster)
        self._task = ServerTask(cluster.task_address(job, index), f"{job}:{index}")
        weakref.finalize(self, self._task.endpoint.end)
        self._target = f"{self._server_def.protocol}://{self._task.endpoint.address}"
        if sum(cluster.num_tasks(name) for name in cluster.jobs) > 1:
            TARGETS_OF_SEVERAL.add(self._target)
        if start:
            self.start()

    def start(self) -> None:
        """Begins to serve other tasks."""
        self._task.endpoint.start()

    def join(self) -> None:
        """Waits until the process is ended."""
        new_event().wait()

    @property
    def server_def(self) -> ServerDef:
        """The definition of the server, as a `tf.train.ServerDef`."""
        return self._server_def

    @property
    def target(self) -> str:
        """The target for `tf.compat.v1.Session`."""
        return self._target

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Returns a server at a free port of this machine.

        Args:
            config: a `ConfigProto` for sessions.
            start: whether the server starts at once.
        """
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def _server_def(
    definition: Any, job_name: str | None, task_index: int | None, protocol: str | None, config: Any
) -> ServerDef:
    if isinstance(definition, ServerDef):
        merged = ServerDef()
        merged.CopyFrom(definition)
        fields = {"job_name": job_name, "task_index": task_index, "protocol": protocol}
        merged.MergeFrom(ServerDef(**{name: value for name, value in fields.items() if value is not None}))
    else:
        try:
            cluster = ClusterSpec(definition)
        except TypeError as error:
            raise TypeError(
                "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."
            ) from error
        if job_name is None and len(cluster.jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        job_name = cluster.jobs[0] if job_name is None else job_name
        if task_index is None and cluster.num_tasks(job_name) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        merged = ServerDef(
            cluster=cluster.as_cluster_def(),
            job_name=job_name,
            task_index=cluster.task_indices(job_name)[0] if task_index is None else task_index,
            protocol=protocol or "grpc",
        )
    if config is not None:
        merged.default_session_config.MergeFrom(config)
    return merged
