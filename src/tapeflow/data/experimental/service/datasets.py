"""`distribute`, `register_dataset` and `from_dataset_id`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data.dataset import Dataset
from tapeflow.data.experimental.service.config import CrossTrainerCache, ShardingPolicy
from tapeflow.data.experimental.service.dispatcher import not_registered
from tapeflow.data.experimental.service.element_reader import DISPATCHER_SECONDS, DataService, Reading
from tapeflow.data.experimental.service.remote_calls import Caller
from tapeflow.data.experimental.service.splits import sizes_of
from tapeflow.data.graph_defs import message_of, node_of
from tapeflow.data.options import AutoShardPolicy, Options

_COMPRESSIONS = ["AUTO", None, "SNAPPY"]
_OLDER_NAMES = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}


def register_dataset(
    service: str | tuple[str, str], dataset: Dataset, compression: str | None = "AUTO", dataset_id: str | None = None
) -> Tensor:
    """Registers a dataset with a data service, from where other processes can read it.

    Functions travel as graphs: they may capture tensors, variables and lookup tables, which travel with their values,
    but can't call Python.

    Args:
        service: the dispatcher's address, with or without "grpc://"; or a pair of protocol and address.
        dataset: the dataset.
        compression: "SNAPPY" to compress the elements on their way, with zlib if cramjam is not installed; "AUTO" and
            None for no compression.
        dataset_id: the id; a new one by default. Nothing happens if it is registered already.

    Returns:
        The id, a string scalar.

    Raises:
        ValueError: the service's address or the compression is not valid.
        InvalidArgumentError: a dataset with another spec has the id.
        UnavailableError: the dispatcher can't be reached.
        UnimplementedError: the dataset can't travel, as its functions call Python.

    Example:
        >>> dispatcher = tf.data.experimental.service.DispatchServer()
        >>> tf.data.experimental.service.register_dataset(dispatcher.target, tf.data.Dataset.range(3)).numpy()
        b'1000'
        >>> dispatcher.stop()
    """
    _check_compression(compression)
    address = _dispatcher_address(service)
    message = message_of(dataset._node)
    node_of(message)  # refuses here what can't run elsewhere
    id = None if dataset_id is None else _id_text(dataset_id)
    arguments = message, dataset.element_spec, dataset._node.cardinality(), sizes_of(dataset._node), compression, id
    return convert(_call_dispatcher(address, "register_dataset", *arguments), string)


def from_dataset_id(
    processing_mode: ShardingPolicy | str, service: str | tuple[str, str], dataset_id: TensorLike,
    element_spec: Any = None, job_name: str | None = None, consumer_index: int | None = None,
    num_consumers: int | None = None, max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None, cross_trainer_cache: CrossTrainerCache | None = None,
    target_workers: str = "AUTO",
) -> Dataset:  # fmt: skip
    """Returns a dataset that reads a registered dataset from a data service.

    Args:
        dataset_id: what `register_dataset` returned.
        element_spec: the spec of the elements; by default the registered one.
        processing_mode, service, job_name, consumer_index, num_consumers, max_outstanding_requests: as for
            `distribute`.
        data_transfer_protocol, cross_trainer_cache, target_workers: as for `distribute`.

    Returns:
        A dataset of unknown or infinite cardinality.

    Raises:
        ValueError: an argument is not valid, or the spec is not known.
        NotFoundError: the dataset is not registered.

    Example:
        >>> dispatcher = tf.data.experimental.service.DispatchServer()
        >>> id = tf.data.experimental.service.register_dataset(dispatcher.target, tf.data.Dataset.range(3))
        >>> tf.data.experimental.service.from_dataset_id("parallel_epochs", dispatcher.target, id).element_spec
        TensorSpec(shape=(), dtype=tf.int64, name=None)
        >>> dispatcher.stop()
    """
    _check_job_name(job_name)
    id = _id_text(dataset_id)
    return _read_elements(
        processing_mode, service, id, element_spec, None if job_name is None else f"dataset_id={id}/{job_name}",
        consumer_index, num_consumers, max_outstanding_requests, data_transfer_protocol, cross_trainer_cache,
        target_workers,
    )  # fmt: skip


def distribute(
    processing_mode: ShardingPolicy | str, service: str | tuple[str, str], job_name: str | None = None,
    consumer_index: int | None = None, num_consumers: int | None = None, max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None, compression: str | None = "AUTO",
    cross_trainer_cache: CrossTrainerCache | None = None, target_workers: str = "AUTO",
) -> Callable[[Dataset], Dataset]:  # fmt: skip
    """Returns a transformation that has the workers of a data service compute the elements of a dataset.

    With `ShardingPolicy.DYNAMIC` each element of the sources is visited once. When a worker dies, those that it was
    handed, and that no element is computed from that a consumer has got, go to another worker. Lost is the rest of a
    file that the worker was reading, and what the pipeline itself had read ahead, as `shuffle` and parallel calls do.

    Args:
        processing_mode: a `ShardingPolicy`, or "parallel_epochs" for OFF or "distributed_epoch" for DYNAMIC.
        service: the dispatcher's address, with or without "grpc://"; or a pair of protocol and address.
        job_name: the name of a job whose elements are divided among all who read it; by default a job of its own.
        consumer_index, num_consumers: the number of this consumer, and how many there are: then all get elements of the
            same worker at the same step. The dataset must be infinite.
        max_outstanding_requests: how many elements are requested, or wait for the consumer, at the same time.
        data_transfer_protocol: "grpc" or "local".
        compression: "SNAPPY" to compress the elements on their way, with zlib if cramjam is not installed; "AUTO" and
            None for no compression.
        cross_trainer_cache: lets trainers share the elements of a job.
        target_workers: "AUTO", "ANY" or "LOCAL": whether to read from workers of this process alone.

    Returns:
        A function from a dataset to a dataset.

    Raises:
        ValueError: an argument is not valid.

    Example:
        >>> dispatcher = tf.data.experimental.service.DispatchServer()
        >>> config = tf.data.experimental.service.WorkerConfig(dispatcher.target.split("://")[1])
        >>> workers = [tf.data.experimental.service.WorkerServer(config) for _ in range(2)]
        >>> service = tf.data.experimental.service.distribute("distributed_epoch", dispatcher.target)
        >>> dataset = tf.data.Dataset.range(4).map(lambda x: x * x).apply(service)
        >>> sorted(x.item() for x in dataset.as_numpy_iterator())
        [0, 1, 4, 9]
        >>> [server.stop() for server in (*workers, dispatcher)]
        [None, None, None]
    """
    _sharding_policy(processing_mode)
    _check_job_name(job_name)
    _check_compression(compression)

    def apply(dataset: Dataset) -> Dataset:
        id = _id_text(register_dataset(service, dataset, compression))
        return _read_elements(
            processing_mode, service, id, dataset.element_spec, job_name, consumer_index, num_consumers,
            max_outstanding_requests, data_transfer_protocol, cross_trainer_cache, target_workers,
        )  # fmt: skip

    return apply


def _read_elements(
    processing_mode: ShardingPolicy | str, service: str | tuple[str, str], id: str, spec: Any, job_name: str | None,
    consumer: int | None, consumers: int | None, outstanding: int | None, protocol: str | None,
    cache: CrossTrainerCache | None, targets: str,
) -> Dataset:  # fmt: skip
    policy, address = _sharding_policy(processing_mode), _dispatcher_address(service)
    if cache is not None and job_name is None:
        raise invalid("Cross-trainer caching requires named jobs. Got empty `job_name`. [Op:MakeIterator] name: ")
    if cache is not None and consumers is not None:
        raise invalid(
            "Cross-trainer caching does not support coordinated reads. Got number of coordinated consumers: "
            f"{consumers} [Op:MakeIterator] name: "
        )
    if consumers is not None and job_name is None:
        raise ValueError(f"`job_name` must be set when setting `num_consumers`. num_consumers was set to {consumers}.")
    if spec is None and state.graph is not None:
        raise ValueError("In graph mode `element_spec` must be provided manually.")
    metadata = _call_dispatcher(address, "metadata", id)
    if metadata is None:
        if spec is not None:
            raise not_registered(id)
        raise ValueError(
            f"Failed to fetch element spec for dataset id {id} from tf.data service. If the dataset was registered in "
            "graph mode or inside a tf.function, the `element_spec` must be specified as an argument to "
            "`from_dataset_id`."
        )
    registered, cardinality = metadata
    reading = Reading(
        address, id, policy, job_name or "", -1 if consumer is None else consumer, consumers, outstanding, protocol,
        cache, targets,
    )  # fmt: skip
    dataset = Dataset(DataService(reading, registered if spec is None else spec, cardinality))
    if job_name is None:
        return dataset
    options = Options()
    options.experimental_distribute.auto_shard_policy = AutoShardPolicy.OFF  # the job divides the elements
    return dataset.with_options(options)


def _call_dispatcher(address: str, method: str, *args: Any) -> Any:
    """Returns the result of a dispatcher's method."""
    with closing(Caller(address, "The dispatcher", DISPATCHER_SECONDS)) as dispatcher:
        return dispatcher.call(method, *args)


# ---- arguments -------------------------------------------------------------------------------------------------------


def _sharding_policy(processing_mode: ShardingPolicy | str) -> ShardingPolicy:
    if isinstance(processing_mode, ShardingPolicy):
        return processing_mode
    policy = _OLDER_NAMES.get(processing_mode) if isinstance(processing_mode, str) else None
    if policy is None:
        raise ValueError(
            "tf.data service processing mode should be a `tf.data.experimental.service.ShardingPolicy`, "
            f'`"parallel_epochs"`, or `"distributed_epoch"`. Got {processing_mode!r}.'
        )
    return policy


def _check_job_name(job_name: object) -> None:
    if job_name is None:
        return
    if not isinstance(job_name, str):
        raise ValueError(
            f"`job_name` must be a string, but `job_name` was of type {type(job_name)}. job_name={job_name}"
        )
    if not job_name:
        raise ValueError("`job_name` must not be empty")


def _check_compression(compression: object) -> None:
    if compression not in _COMPRESSIONS:
        raise ValueError(f"Invalid `compression` argument: {compression}. Must be one of {_COMPRESSIONS}.")


def _dispatcher_address(service: object) -> str:
    """Returns a dispatcher's address, without the protocol."""
    if isinstance(service, tuple):
        return service[1]
    if not isinstance(service, str):
        raise ValueError(f"`service` must be a string, but `service` was of type {type(service)}. service={service}")
    if not service:
        raise ValueError("`service` must not be empty")
    if service.count("://") > 1:
        raise ValueError(f"Malformed `service` string has multiple '://': {service}.")
    return service.rpartition("://")[2]


def _id_text(dataset_id: TensorLike) -> str:
    """Returns an id as text."""
    value = host_value(convert(dataset_id))
    return value.decode() if isinstance(value, bytes) else str(value)
