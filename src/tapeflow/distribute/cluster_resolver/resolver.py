"""The base of cluster resolvers, and those that are told everything."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any

from tapeflow.core import device as devices
from tapeflow.train.cluster import ClusterSpec

if TYPE_CHECKING:
    from google.protobuf.message import Message


def _setting(name: str, description: str) -> property:
    """Returns a property that can be set. `_find_setting` returns its value."""
    attribute = f"_{name}"

    def read_setting(self: ClusterResolver) -> Any:
        return self._find_setting(name, getattr(self, attribute))

    def write_setting(self: ClusterResolver, value: Any) -> None:
        setattr(self, attribute, value)

    return property(read_setting, write_setting, doc=description)


class ClusterResolver(metaclass=ABCMeta):
    """Finds the processes of a cluster: the base of all resolvers.

    A subclass defines `cluster_spec` and `master`, and sets `_task_type`, `_task_id` and `_rpc_layer`, or overrides
    their properties.

    Example:
        >>> resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        >>> isinstance(resolver, tf.distribute.cluster_resolver.ClusterResolver)
        True
    """

    _task_type: str | None = None
    _task_id: int | None = None
    _rpc_layer: str | None = None
    _environment = ""

    @abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """Returns the addresses of all tasks, as a `tf.train.ClusterSpec`."""

    @abstractmethod
    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Returns the address of a task.

        Args:
            task_type, task_id: the task.
            rpc_layer: the protocol, which the address then begins with.
        """

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> dict[str, int]:
        """Returns the number of accelerators of this process.

        Args:
            task_type, task_id, config_proto: accepted; other processes are not asked.

        Returns:
            A dict from the kind, such as "GPU", to the number.
        """
        return dict(Counter(d.kind for d in devices.logical_devices() if d.kind != "CPU"))

    @property
    def environment(self) -> str:
        """The environment that the cluster runs in; outside of Google, an empty string."""
        return self._environment

    task_type = _setting("task_type", 'The job of this process, such as "worker"; None where it is unknown.')
    task_id = _setting("task_id", "The number of this process in its job; None where it is unknown.")
    rpc_layer = _setting(
        "rpc_layer",
        'The protocol between the processes, such as "grpc". Accepted, without effect on the protocol of TapeFlow.',
    )

    def _find_setting(self, name: str, value: Any) -> Any:
        """Returns the value of a setting, which was set to `value`."""
        return value


class AddressResolver(ClusterResolver):
    """A resolver whose `master` is the address of a task of its cluster."""

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Returns the address of a task, by default this process's; an empty string where that is unknown."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return with_protocol(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)


def with_protocol(address: str, rpc_layer: str | None) -> str:
    """Returns an address with the protocol before it, if there is one."""
    return f"{rpc_layer}://{address}" if rpc_layer else address


class SimpleClusterResolver(ClusterResolver):
    """Resolves a cluster whose tasks are listed by the program.

    Args:
        cluster_spec: a `tf.train.ClusterSpec`.
        master: the address that `master` returns for no task in particular.
        task_type, task_id: the task that this process is.
        environment: what `environment` returns.
        num_accelerators: what `num_accelerators` returns: a dict from the kind to the number.
        rpc_layer: the protocol between the processes.

    Raises:
        TypeError: `cluster_spec` is not a `tf.train.ClusterSpec`, or `master` is not a string.

    Example:
        >>> cluster = tf.train.ClusterSpec({"worker": ["host0:2222", "host1:2222"]})
        >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=1)
        >>> resolver.master("worker", 0, rpc_layer="grpc")
        'grpc://host0:2222'
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec, self._master, self._environment = cluster_spec, master, environment
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._num_accelerators = num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        if task_type is not None and task_id is not None:
            return with_protocol(self._cluster_spec.task_address(task_type, task_id), rpc_layer or self._rpc_layer)
        return with_protocol(self._master, rpc_layer or self._rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> dict[str, int]:
        return self._num_accelerators or {}


class UnionResolver(ClusterResolver):
    """Joins the tasks of several resolvers; the first resolver decides everything else.

    Args:
        *args: the resolvers.
        **kwargs: `task_type`, `task_id` and `rpc_layer`, which override the first resolver's values.

    Raises:
        TypeError: an argument is not a resolver.
        ValueError: there is no resolver, or an unknown keyword.

    Example:
        >>> resolvers = [
        ...     tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({job: [f"{job}0:2222"]}))
        ...     for job in ("worker", "ps")
        ... ]
        >>> tf.distribute.cluster_resolver.UnionResolver(*resolvers).cluster_spec()
        ClusterSpec({'ps': ['ps0:2222'], 'worker': ['worker0:2222']})
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        names = "rpc_layer", "task_type", "task_id"
        self._rpc_layer, self._task_type, self._task_id = (kwargs.pop(name, None) for name in names)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(resolver, ClusterResolver) for resolver in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args

    def cluster_spec(self) -> ClusterSpec:
        """Returns the tasks of all resolvers; lists of one job are joined, numbered tasks are merged.

        Raises:
            KeyError: two resolvers number a task of one job the same.
        """
        specs = [resolver.cluster_spec().as_dict() for resolver in self._resolvers]
        jobs: dict[str, Any] = {}
        for job in dict.fromkeys(name for spec in specs for name in spec):
            parts = [spec[job] for spec in specs if job in spec]
            if all(isinstance(tasks, list) for tasks in parts):
                jobs[job] = [address for tasks in parts for address in tasks]
                continue
            merged: dict[int, str] = {}
            for tasks in parts:
                numbered = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
                if duplicates := merged.keys() & numbered.keys():
                    raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {duplicates!r}")
                merged.update(numbered)
            jobs[job] = merged
        return ClusterSpec(jobs)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        if task_type is not None and task_id is not None:
            return with_protocol(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    @property
    def environment(self) -> str:
        return self._resolvers[0].environment

    def _find_setting(self, name: str, value: Any) -> Any:
        is_missing = not value if name == "rpc_layer" else value is None
        return getattr(self._resolvers[0], name) if is_missing else value

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Message | None = None
    ) -> dict[str, int]:
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)
