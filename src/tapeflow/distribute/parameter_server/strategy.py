"""`ParameterServerStrategy`: variables on parameter servers, and functions that a coordinator sends to workers."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.variable import Variable
from tapeflow.distribute.cluster_resolver.resolver import ClusterResolver
from tapeflow.distribute.input import DistributedDataset, DistributedIterator, dealt, divide_batches
from tapeflow.distribute.mirrored import default_devices
from tapeflow.distribute.options import InputOptions
from tapeflow.distribute.parameter_server.dispatch import dispatch
from tapeflow.distribute.parameter_server.sharded import ShardedVariable
from tapeflow.distribute.parameter_server.task import ServerTask
from tapeflow.distribute.parameter_server.variables import OWNER, RemoteVariable, VariablePlace, new_key
from tapeflow.distribute.partitioners import Partitioner
from tapeflow.distribute.strategy import Strategy, StrategyExtended
from tapeflow.train.cluster import ClusterSpec
from tapeflow.transport.calls import client_of, is_loopback

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset

_CONNECT_SECONDS = 600.0


class PerWorkerInput(DistributedDataset):
    """A dataset that each worker goes through by itself."""

    def __iter__(self) -> DistributedIterator:
        if state.graph is None and dispatch.worker is None:
            raise ValueError(
                "To use this dataset, you need to pass this dataset to ClusterCoordinator.create_per_worker_dataset."
            )
        return super().__iter__()


class ParameterServerExtended(StrategyExtended):
    """The interface for libraries of a strategy with parameter servers.

    Args:
        container_strategy: the strategy.
        cluster: the cluster.
        partitioner: decides the partition of each variable; None leaves variables whole.
        task: this process's task, with the objects that it holds for the others.
    """

    def __init__(
        self, container_strategy: Strategy, cluster: ClusterSpec, partitioner: Partitioner | None, task: ServerTask
    ) -> None:
        super().__init__(container_strategy, default_devices()[:1])
        self._partitioner = partitioner
        self._task = task
        self._servers = [client_of(cluster.task_address("ps", i), f"ps:{i}") for i in cluster.task_indices("ps")]
        self._unused: list[list[str]] = [[] for _ in self._servers]
        self._count = 0  # of the variables so far, which go to one server after the other
        self._colocated: list[int] = []  # the numbers of the servers to use, in scopes of `colocate_vars_with`

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return ("/job:chief/replica:0/task:0/device:CPU:0",)

    def _use_merge_call(self) -> bool:
        return True

    # ---- variables ---------------------------------------------------------------------------------------------------

    def _make_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        parts = self._partition(kwargs) if self._partitioner is not None and not self._colocated else None
        return self._place(next_creator, kwargs) if parts is None else self._sharded(next_creator, kwargs, parts)

    def _place(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Variable:
        """Creates a variable on the next server."""
        with init_scope():
            first = next_creator(**kwargs)  # which has the name, the dtype and the initial value
        number = self._colocated[-1] if self._colocated else self._count % len(self._servers)
        self._count += not self._colocated
        server, key = self._servers[number], new_key()
        unused, self._unused[number] = self._unused[number], []
        if unused:
            server.call("delete", unused)
        server.call("create", key, first._value, first._name, first.shape, first.trainable)
        where = VariablePlace(server.address, server.task, key, first._name, first.dtype, first.shape, first.trainable)
        variable = RemoteVariable(where, first)
        weakref.finalize(variable, self._drop, number, key)
        return variable

    def _drop(self, number: int, key: str) -> None:
        """Notes that a server need not hold a variable any more: it is told so when the next one is created."""
        self._unused[number].append(key)

    def _partition(self, kwargs: dict[str, Any]) -> int | None:
        """Returns the number of parts to cut a variable into, if there are several; computes its initial value.

        Raises:
            ValueError: the partitioner cuts along another axis than the first, or the variable has no initial value.
        """
        assert self._partitioner is not None
        value, shape = kwargs["initial_value"], kwargs["shape"]
        dtype = None if kwargs["dtype"] is None else as_dtype(kwargs["dtype"])
        if value is None:
            raise ValueError(
                "It looks like you are using `ParameterServerStrategy` with a `variable_partitioner`, and trying to "
                "create a variable without specifying `initial_value`. This is not allowed. Please specify the "
                "`initial_value`."
            )
        if not (callable(value) and dtype is not None and shape is not None):
            with init_scope():
                value = kwargs["initial_value"] = convert(value() if callable(value) else value, dtype)
            dtype, shape = value.dtype, value.shape
        shape = TensorShape(shape)
        if shape.rank == 0:
            return None
        parts = self._partitioner(shape=shape, dtype=dtype)
        if not parts or parts[0] == 0 or any(n != 1 for n in parts[1:]):
            raise ValueError(
                "variable_partitioner must return a list/tuple whose elements are 1 besides the first element "
                f"(non-zero), got: {parts!r}"
            )
        count = min(parts[0], shape[0])
        kwargs["shape"] = shape
        return None if count == 1 else count

    def _sharded(self, next_creator: Callable[..., Any], kwargs: dict[str, Any], count: int) -> ShardedVariable:
        """Creates a variable in so many parts, each on the next server; the first ones have a row more."""
        value, shape, name = kwargs["initial_value"], kwargs["shape"], kwargs["name"]
        rows, more = divmod(shape[0], count)
        parts, start = [], 0
        for i in range(count):
            stop = start + rows + (i < more)
            own = dict(kwargs, shape=[stop - start, *shape[1:]], name=f"{name or 'Variable'}/part_{i}")
            own["initial_value"] = _initial_rows(value, start, stop, shape)
            parts.append(self._place(next_creator, own))
            start = stop
        return ShardedVariable(parts, name or "ShardedVariable")

    @contextmanager
    def _on_server_of(self, variable: Variable) -> Iterator[None]:
        self._colocated.append([s.address for s in self._servers].index(variable.where.address))
        try:
            yield
        finally:
            self._colocated.pop()

    def variable_created_in_scope(self, v: Any) -> bool:
        return isinstance(v, (RemoteVariable, ShardedVariable))

    def colocate_vars_with(self, colocate_with_variable: Any) -> AbstractContextManager[Any]:
        scope = super().colocate_vars_with(colocate_with_variable)
        return self._on_server_of(colocate_with_variable) if hasattr(colocate_with_variable, "where") else scope

    # ---- datasets ----------------------------------------------------------------------------------------------------

    def _distribute_dataset(self, dataset: Dataset, options: InputOptions | None) -> Any:
        return PerWorkerInput(dataset, self._strategy, options, divide_batches(1))

    def _distribute_datasets_from_function(self, dataset_fn: Callable[..., Any], options: InputOptions | None) -> Any:
        return PerWorkerInput(dataset_fn(self._input_context()), self._strategy, options, dealt(1))


def _initial_rows(value: Any, start: int, stop: int, shape: Any) -> Callable[[], Any]:
    """Returns a function of the initial value of some rows. An initializer that supports partitions computes only
    these."""

    def part() -> Any:
        if not callable(value):
            return value[start:stop]
        if "partition_shape" in inspect.signature(value).parameters:
            offset = (start,) + (0,) * (len(shape) - 1)
            return value(partition_shape=(stop - start, *shape[1:]), partition_offset=offset)
        return convert(value())[start:stop]

    return part


class ParameterServerStrategy(Strategy):
    """Trains asynchronously: parameter servers hold the variables, and workers run the functions of a coordinator.

    The process that creates it is the coordinator, and the others are `tf.distribute.Server`s, of the jobs "worker" and
    "ps". Functions are sent to workers by a `tf.distribute.coordinator.ClusterCoordinator`. Variables created in the
    strategy's `scope` go to one server after the other; workers read and change them there, each operation atomic.
    Datasets are gone through in the coordinator, which sends each worker its elements.

    Args:
        cluster_resolver: the resolver of a cluster with jobs "worker" and "ps".
        variable_partitioner: a `tf.distribute.experimental.partitioners.Partitioner`, which says into how many parts to
            cut a variable along its first axis; by default none.

    Raises:
        ValueError: the cluster has no workers, or no parameter servers.
        UnavailableError: a parameter server can't be reached.

    Example:
        >>> import socket
        >>> with socket.socket() as a, socket.socket() as b:
        ...     a.bind(("localhost", 0)), b.bind(("localhost", 0))
        ...     ports = [s.getsockname()[1] for s in (a, b)]
        (None, None)
        >>> cluster = tf.train.ClusterSpec({"worker": [f"localhost:{ports[0]}"], "ps": [f"localhost:{ports[1]}"]})
        >>> servers = [tf.distribute.Server(cluster, job, 0) for job in ("worker", "ps")]
        >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster)
        >>> strategy = tf.distribute.ParameterServerStrategy(resolver)
        >>> with strategy.scope():
        ...     v = tf.Variable(1.0)
        >>> coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        >>> value = coordinator.schedule(tf.function(lambda x: v.assign_add(x)), args=(tf.constant(2.0),))
        >>> value.fetch().item(), v.device
        (3.0, '/job:ps/replica:0/task:0/device:CPU:0')
    """

    _should_use_with_coordinator = True

    def __init__(self, cluster_resolver: ClusterResolver, variable_partitioner: Partitioner | None = None) -> None:
        cluster = cluster_resolver.cluster_spec()
        if not cluster:
            raise ValueError("Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.")
        for job in ("ps", "worker"):
            if job not in cluster.jobs or not cluster.num_tasks(job):
                raise ValueError(f"There must be at least one {job}.")
        self._cluster_resolver = cluster_resolver
        self._cluster_coordinator: Any = None  # this strategy's only `ClusterCoordinator`
        task = ServerTask(_own_address(cluster), "chief:0")
        task.endpoint.start()
        weakref.finalize(self, task.endpoint.end)
        super().__init__(ParameterServerExtended(self, cluster, variable_partitioner, task))
        for server in self._extended._servers:
            server.call("begin", OWNER, timeout=_CONNECT_SECONDS, wait=True)

    @property
    def cluster_resolver(self) -> ClusterResolver:
        """The resolver of the cluster."""
        return self._cluster_resolver


def _own_address(cluster: ClusterSpec) -> str:
    """Returns the address of the coordinator, for the other tasks."""
    if "chief" in cluster.jobs:
        return cluster.task_address("chief", cluster.task_indices("chief")[0])
    tasks = [(job, i) for job in ("ps", "worker") for i in cluster.task_indices(job)]
    if all(is_loopback(cluster.task_address(*task).rpartition(":")[0]) for task in tasks):
        return "localhost:0"
    import socket  # here, as programs on one machine do without

    return f"{socket.gethostname()}:0"
