"""Parameter servers of TensorFlow 1, as far as one machine has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.device_spec import DeviceSpec
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.scopes import executing_eagerly
from tapeflow.distribute.central_storage import CentralStorageExtended
from tapeflow.distribute.cluster_resolver import ClusterResolver, TFConfigClusterResolver
from tapeflow.distribute.strategy import Strategy
from tapeflow.train.cluster import ClusterSpec

_ADVICE = "sessions run in one process. Use tf.distribute.ParameterServerStrategy, whose coordinator sends functions."


class _ParameterServerExtended(CentralStorageExtended):
    experimental_between_graph = True
    experimental_should_init = True


class ParameterServerStrategy(Strategy):
    """Trains in graphs, on the devices of one machine, with all variables on one device: the CPU, or the only GPU.

    Args:
        cluster_resolver: knows the tasks of the cluster; by default, `TF_CONFIG` does. There must be none.

    Raises:
        ValueError: the cluster has no job "ps", or the resolver does not know which task this process is.
        UnimplementedError: there is a cluster.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     strategy = tf.compat.v1.distribute.experimental.ParameterServerStrategy()
        ...     with strategy.scope():
        ...         v = tf.compat.v1.get_variable("v", initializer=1.0)
        ...     result = strategy.run(lambda: v + 1.0)
        ...     sess.run(tf.compat.v1.global_variables_initializer())
        ...     print(sess.run(result))
        2.0
    """

    def __init__(self, cluster_resolver: ClusterResolver | None = None) -> None:
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        cluster = resolver.cluster_spec()
        if cluster and cluster.jobs:
            if not resolver.task_type or resolver.task_id is None:
                raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`")
            if not cluster.as_dict().get("ps"):
                raise ValueError("The cluster spec needs to have `ps` jobs.")
            raise UnimplementedError.of(f"The cluster has the jobs {', '.join(cluster.jobs)}, and {_ADVICE}")
        super().__init__(_ParameterServerExtended(self))

    def scope(self) -> Any:
        _check_graph()
        return super().scope()

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        _check_graph()
        return super().run(fn, args, kwargs, options)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        _check_graph()
        return super().experimental_distribute_dataset(dataset, options)

    def distribute_datasets_from_function(self, dataset_fn: Callable[..., Any], options: Any = None) -> Any:
        _check_graph()
        return super().distribute_datasets_from_function(dataset_fn, options)


def _check_graph() -> None:
    if executing_eagerly():
        raise NotImplementedError(
            "`tf.compat.v1.distribute.experimental.ParameterServerStrategy` works in graphs alone. In eager programs, "
            "use tf.distribute.experimental.CentralStorageStrategy or tf.distribute.ParameterServerStrategy."
        )


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[..., int] | None = None,
) -> None:
    """Returns the device function for variables on parameter servers: None, as there are none.

    Args:
        ps_tasks: the number of parameter servers.
        ps_device: the device whose job the parameter servers have.
        worker_device: the device of all else.
        merge_devices: without effect.
        cluster: the tasks of each job, a `tf.train.ClusterSpec` or an argument for one. Overrides `ps_tasks`.
        ps_ops: the ops to place on parameter servers.
        ps_strategy: chooses the server of an operation.

    Returns:
        None, which `tf.device` takes and leaves everything where it is.

    Raises:
        UnimplementedError: there are parameter servers.

    Example:
        >>> tf.compat.v1.train.replica_device_setter(ps_tasks=0) is None
        True
    """
    if cluster is not None:
        jobs = (cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)).as_dict()
        ps_tasks = len(jobs.get(DeviceSpec.from_string(ps_device).job) or ())
    if ps_tasks:
        raise UnimplementedError.of(f"There are {ps_tasks} parameter servers ({ps_device}), and {_ADVICE}")
