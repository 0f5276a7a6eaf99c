"""The data service: a dispatcher and workers in this process, over the network of this machine and without it."""

import contextlib
import inspect

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data.experimental.service import compression
from tapeflow.data.experimental.service import dispatcher as dispatchers
from tapeflow.data.experimental.service.state import Journal, Source, State

pytest.importorskip("grpc")
service = tf.data.experimental.service
Dataset = tf.data.Dataset


@contextlib.contextmanager
def cluster(workers=1, **config):
    dispatcher = service.DispatchServer(service.DispatcherConfig(**config))
    servers = [service.WorkerServer(service.WorkerConfig(dispatcher._address)) for _ in range(workers)]
    try:
        yield dispatcher, servers
    finally:
        for server in (*servers, dispatcher):
            server.stop()


@pytest.fixture(scope="module")
def one():
    with cluster() as (dispatcher, _):
        yield dispatcher.target


@pytest.fixture(scope="module")
def two():
    with cluster(workers=2) as (dispatcher, _):
        yield dispatcher.target


def numbers(dataset):
    return [int(x) for element in dataset.as_numpy_iterator() for x in np.ravel(element)]


# ---- how elements come -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", ["LOCAL", "ANY"])
@pytest.mark.parametrize("compression", ["AUTO", None, "SNAPPY"])
def test_one_worker_keeps_the_order(one, targets, compression):
    ds = Dataset.range(20).map(lambda x: x * x).batch(3)
    ds = ds.apply(service.distribute("parallel_epochs", one, compression=compression, target_workers=targets))
    assert numbers(ds) == [x * x for x in range(20)] == numbers(ds)  # each iterator is a job of its own


def test_elements_of_all_kinds(one):
    words = tf.ragged.constant([["a"], ["b", "c"], []])
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.5], [3, 2])
    ds = Dataset.from_tensor_slices({"w": words, "s": sparse, "f": tf.constant([1, 2, 3], tf.bfloat16)}).batch(2)
    read = ds.apply(service.distribute("parallel_epochs", one, target_workers="ANY"))
    assert read.element_spec == ds.element_spec
    for a, b in zip(ds, read, strict=True):
        assert a["w"].to_list() == b["w"].to_list()
        assert tf.sparse.to_dense(a["s"]).numpy().tolist() == tf.sparse.to_dense(b["s"]).numpy().tolist()
        assert a["f"].dtype is b["f"].dtype and a["f"].numpy().tolist() == b["f"].numpy().tolist()


@pytest.mark.parametrize("targets", ["AUTO", "ANY"])
def test_each_worker_gives_all_or_each_its_own(two, targets):
    ds = Dataset.range(100).shuffle(10).batch(7)
    everything = ds.apply(service.distribute(service.ShardingPolicy.OFF, two, target_workers=targets))
    assert sorted(numbers(everything)) == sorted([*range(100), *range(100)])
    divided = ds.apply(service.distribute(service.ShardingPolicy.DYNAMIC, two, target_workers=targets))
    for _ in range(2):
        assert sorted(numbers(divided)) == [*range(100)]


def test_cardinality_and_options(one):
    ds = Dataset.range(5)
    alone = ds.apply(service.distribute("parallel_epochs", one))
    assert (alone.cardinality().numpy(), repr(alone)) == (
        tf.data.UNKNOWN_CARDINALITY,
        "<_DataServiceDatasetV2 element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>",
    )
    assert ds.repeat().apply(service.distribute("parallel_epochs", one)).cardinality() == tf.data.INFINITE_CARDINALITY
    shared = ds.apply(service.distribute("parallel_epochs", one, job_name="options"))
    policies = tf.data.experimental.AutoShardPolicy
    assert alone.options().experimental_distribute.auto_shard_policy is policies.AUTO
    assert shared.options().experimental_distribute.auto_shard_policy is policies.OFF


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (lambda: Dataset.range(5).repeat(2), [*range(5), *range(5)]),
        (lambda: Dataset.range(5).take(2), [0, 1]),
        (lambda: Dataset.range(5).skip(2), [2, 3, 4]),
        (lambda: Dataset.from_tensors(3), [3]),
        (lambda: Dataset.zip(Dataset.range(3), Dataset.range(10, 13)).map(lambda a, b: a + b), [10, 12, 14]),
        (lambda: Dataset.range(3).concatenate(Dataset.range(5, 7)), [0, 1, 2, 5, 6]),
        (lambda: Dataset.range(4).flat_map(lambda n: Dataset.range(n)), [0, 0, 1, 0, 1, 2]),
        (lambda: Dataset.range(6).prefetch(2).filter(lambda x: x % 2 == 0), [0, 2, 4]),
        (lambda: tf.data.experimental.from_list([1, 2, 3]), [1, 2, 3]),
        (lambda: Dataset.random(seed=1).take(3), Dataset.random(seed=1).take(3)),
    ],
)
def test_dynamic_sharding_of_one_worker_is_the_dataset(one, dataset, expected):
    ds = dataset().apply(service.distribute("distributed_epoch", one))
    assert numbers(ds) == (expected if isinstance(expected, list) else numbers(expected))


def test_an_error_is_one_element_s(one):
    ds = Dataset.range(3).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), "bad"))
    for targets in ("LOCAL", "ANY"):
        elements = iter(ds.apply(service.distribute("parallel_epochs", one, target_workers=targets)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            next(elements)
        assert [float(x) for x in elements] == [1.0, 0.5]


def test_inside_a_function(one):
    ds = Dataset.range(5).apply(service.distribute("parallel_epochs", one))

    @tf.function
    def total():
        result = tf.constant(0, tf.int64)
        for x in ds:
            result += x
        return result

    assert total() == 10


def test_an_iterator_that_is_left_leaves_no_task():
    with cluster() as (dispatcher, (worker,)):
        elements = iter(Dataset.range(10).repeat().apply(service.distribute("parallel_epochs", dispatcher.target)))
        next(elements)
        assert worker._num_tasks() == 1
        state = dispatcher._dispatcher
        del elements
        with state._changed:
            assert state._changed.wait_for(lambda: not state._state.iterations, 60)
        with worker._worker._changed:
            assert worker._worker._changed.wait_for(lambda: worker._num_tasks() == 0, 60)


def test_a_worker_that_stops_does_not_blame_the_element():
    with cluster() as (dispatcher, (server,)):
        ds = Dataset.range(500).apply(service.distribute("distributed_epoch", dispatcher.target, target_workers="ANY",
                                                         max_outstanding_requests=1))  # fmt: skip
        elements = iter(ds)
        next(elements)
        worker = server._worker
        (number,) = worker._definitions
        worker._for_tasks.close()
        answers = [worker.element(number, -1, -1, "") for _ in range(100)]
        assert answers[0] != answers[-1] == "over"


# ---- jobs ------------------------------------------------------------------------------------------------------------


def test_a_job_is_shared_by_its_name(two):
    id = service.register_dataset(two, Dataset.range(50))
    ds = service.from_dataset_id("distributed_epoch", two, id, job_name="by id")
    for _ in range(2):  # another iterator over one dataset is another repetition
        assert sorted(numbers(ds)) == [*range(50)]
    ds = Dataset.range(50).batch(1)
    one, other = (iter(ds.apply(service.distribute("distributed_epoch", two, job_name="both"))) for _ in range(2))
    got = [int(next(one)[0]), int(next(other)[0])]
    assert sorted(got + [int(x[0]) for e in (one, other) for x in e]) == [*range(50)]
    again = ds.apply(service.distribute("distributed_epoch", two, job_name="both"))
    assert numbers(again) == []  # as in TensorFlow: that repetition has been read
    with pytest.raises(tf.errors.InvalidArgumentError, match="an existing job with different parameters"):
        iter(ds.apply(service.distribute("parallel_epochs", two, job_name="both")))


def test_consumers_take_turns_at_one_worker_after_the_other(two):
    ds = Dataset.range(6).repeat().batch(2)
    consumers = [
        iter(ds.apply(service.distribute("parallel_epochs", two, "turns", i, 2, target_workers="ANY")))
        for i in range(2)
    ]
    rounds = [[next(c).numpy().tolist() for c in consumers] for _ in range(6)]
    assert rounds[::2] == rounds[1::2] == [[[0, 1], [2, 3]], [[4, 5], [0, 1]], [[2, 3], [4, 5]]]


def test_trainers_share_what_was_computed(one):
    def trainer(name):
        cache = service.CrossTrainerCache(name)
        return iter(Dataset.range(5).repeat().apply(
            service.distribute("parallel_epochs", one, "cached", cross_trainer_cache=cache, max_outstanding_requests=1)
        ))  # fmt: skip

    first, second = trainer("first"), trainer("second")
    assert [int(next(first)) for _ in range(7)] == [int(next(second)) for _ in range(7)] == [0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize("policy", ["FILE", "FILE_OR_DATA", "DATA"])
def test_static_sharding(tmp_path, policy):
    for name, lines in (("a", "a1\na2"), ("b", "b1"), ("c", "c1")):
        (tmp_path / name).write_text(lines)
    with cluster(workers=2, worker_addresses=["localhost:%port%"] * 2) as (dispatcher, _):
        files = Dataset.from_tensor_slices([str(tmp_path / name) for name in "abc"])
        ds = files.flat_map(tf.data.TextLineDataset)
        ds = ds.apply(service.distribute(service.ShardingPolicy[policy], dispatcher.target))
        assert sorted(x.decode() for x in ds.as_numpy_iterator()) == ["a1", "a2", "b1", "c1"]
        hint = Dataset.range(7).shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)
        assert sorted(numbers(hint.apply(service.distribute(service.ShardingPolicy.HINT, dispatcher.target)))) == [
            *range(7)
        ]


def test_keras_trains_from_it(one):
    keras = tf.keras
    model = keras.Sequential([keras.Input([1]), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    ds = Dataset.range(8).map(lambda x: (tf.cast([x], tf.float32), tf.cast([x], tf.float32))).batch(4)
    history = model.fit(ds.apply(service.distribute("distributed_epoch", one)), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2


# ---- arguments -------------------------------------------------------------------------------------------------------


def test_configurations_and_signatures():
    assert repr(service.DispatcherConfig()) == (
        "DispatcherConfig(port=0, protocol='grpc', work_dir=None, fault_tolerant_mode=False, worker_addresses=None, "
        "job_gc_check_interval_ms=0, job_gc_timeout_ms=0, worker_timeout_ms=None, worker_max_concurrent_snapshots=0)"
    )
    assert repr(service.WorkerConfig("a:1", heartbeat_interval_ms=0)) == (
        "WorkerConfig(dispatcher_address='a:1', worker_address='localhost:%port%', port=0, protocol='grpc', "
        "heartbeat_interval_ms=1, dispatcher_timeout_ms=0, data_transfer_protocol=None, "
        "data_transfer_address='localhost:%dts_port%')"
    )
    assert list(inspect.signature(service.register_dataset).parameters) == [
        "service", "dataset", "compression", "dataset_id",
    ]  # fmt: skip
    assert service.DispatchServer(start=False).target == "grpc://localhost:0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"processing_mode": "foo"}, "tf.data service processing mode should be a"),
        ({"job_name": ""}, "`job_name` must not be empty"),
        ({"job_name": 3}, "`job_name` must be a string, but `job_name` was of type <class 'int'>. job_name=3"),
        ({"compression": "x"}, r"Invalid `compression` argument: x. Must be one of \['AUTO', None, 'SNAPPY'\]."),
        ({"service": ""}, "`service` must not be empty"),
        ({"service": 3}, "`service` must be a string, but `service` was of type <class 'int'>. service=3"),
        ({"service": "a://b://c"}, "Malformed `service` string has multiple '://': a://b://c."),
        ({"num_consumers": 2}, "`job_name` must be set when setting `num_consumers`. num_consumers was set to 2."),
    ],
)
def test_bad_arguments(one, arguments, message):
    with pytest.raises(ValueError, match=message):
        Dataset.range(5).apply(
            service.distribute(**({"processing_mode": "parallel_epochs", "service": one} | arguments))
        )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"target_workers": "foo"}, tf.errors.InvalidArgumentError, "Unrecognized target workers: foo"),
        ({"data_transfer_protocol": "foo"}, tf.errors.NotFoundError, "Protocol 'foo' is not available for worker"),
        ({"processing_mode": service.ShardingPolicy.DATA}, tf.errors.NotFoundError, "is not in the workers list"),
        ({"job_name": "finite", "num_consumers": 1, "consumer_index": 0}, tf.errors.FailedPreconditionError,
         "Round robin reads require that the input dataset has infinite cardinality, but the dataset has"),
        ({"job_name": "few", "num_consumers": 2, "consumer_index": 2, "ds": Dataset.range(5).repeat()},
         tf.errors.FailedPreconditionError, "Requesting data for consumer index 2, but the task is configured for"),
        ({"job_name": "c", "cross_trainer_cache": service.CrossTrainerCache("t")}, tf.errors.InvalidArgumentError,
         "Cross-trainer caching requires the input dataset to be infinite. Got input with cardinality 5"),
        ({"cross_trainer_cache": service.CrossTrainerCache("t"), "ds": Dataset.range(5).repeat()},
         tf.errors.InvalidArgumentError, "Cross-trainer caching requires named jobs. Got empty `job_name`."),
        ({"ds": Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32))},
         tf.errors.UnimplementedError, "can't travel to another process"),
        ({"ds": Dataset.range(3).map(lambda x: tf.py_function(lambda y: y, [x], tf.int64))},
         tf.errors.UnimplementedError, "calls Python"),
    ],
)  # fmt: skip
def test_what_is_refused(one, arguments, error, message):
    arguments = {"processing_mode": "parallel_epochs", "service": one} | arguments
    ds = arguments.pop("ds", Dataset.range(5))
    with pytest.raises(error, match=message):
        next(iter(ds.apply(service.distribute(**arguments))))


def test_registered_datasets(one):
    ds = Dataset.range(5)
    id = service.register_dataset(one, ds, dataset_id="mine")
    assert (id.dtype, id.numpy()) == (tf.string, b"mine")
    assert service.register_dataset(one, ds, dataset_id="mine").numpy() == b"mine"
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Datasets with the same ID should have the same structure"
    ):
        service.register_dataset(one, ds.map(lambda x: tf.cast(x, tf.float32)), dataset_id="mine")
    assert numbers(service.from_dataset_id("parallel_epochs", one, "mine")) == [*range(5)]
    assert service.register_dataset(one, ds).numpy() != service.register_dataset(one, ds).numpy()
    with pytest.raises(ValueError, match=r"Failed to fetch element spec for dataset id nope from tf.data service"):
        service.from_dataset_id("parallel_epochs", one, "nope")
    with pytest.raises(tf.errors.NotFoundError, match=r"Dataset id nope not found. It must be registered"):
        service.from_dataset_id("parallel_epochs", one, "nope", ds.element_spec)


def test_servers_say_what_they_lack():
    with pytest.raises(ValueError, match="Cannot enable fault tolerant mode without configuring a work dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))
    with pytest.raises(ValueError, match="Must specify a `dispatcher_address`"):
        service.WorkerServer(service.WorkerConfig(None))
    with pytest.raises(ValueError, match="requires a non-empty trainer ID"):
        service.CrossTrainerCache("")
    with pytest.raises(tf.errors.UnavailableError, match="can't be reached"):
        service.WorkerServer(service.WorkerConfig("localhost:1", dispatcher_timeout_ms=200))


# ---- the dispatcher's state ------------------------------------------------------------------------------------------


def test_splits_get_fewer_toward_the_end():
    source, sizes = Source(100), []
    while numbers := source.next(0, workers=2):
        source.position = numbers.stop
        sizes.append(len(numbers))
    assert sum(sizes) == 100 and sizes[0] == 6 and sizes[-1] == 1 and sizes == sorted(sizes, reverse=True)
    assert list(source.next(1, workers=2)) == [*range(6)]
    assert len(Source(tf.data.UNKNOWN_CARDINALITY).next(0, 1)) == 1


@pytest.mark.parametrize("installed", [False, True])
def test_compression_with_and_without_cramjam(monkeypatch, installed):
    data = b"abc" * 1000 + bytes(range(256))
    pytest.importorskip("cramjam")
    packed = compression.compress(data)
    if not installed:
        monkeypatch.setattr(compression, "fast", None)
        assert compression.decompress(packed) == data
        packed = compression.compress(data)
    assert len(packed) < 1000
    assert compression.decompress(packed) == data


def test_a_journal_gives_the_same_state_again(tmp_path):
    journal = Journal(str(tmp_path))
    state = State()
    for entry in (
        {"change": "dataset", "id": "1000", "number": 1000},
        {"change": "job", "name": "j", "dataset": "1000", "policy": 1, "consumers": None, "cached": False},
        {"change": "iteration", "id": 1001, "job": "j", "repetition": 0, "sizes": [10]},
        {"change": "client", "id": "c", "iteration": 1001},
        {"change": "task", "id": 1002, "iteration": 1001, "address": "a", "process": "p", "slot": 0, "fixed": False},
        {"change": "splits", "task": 1002, "source": 0, "repetition": 0, "start": 0, "stop": 4},
        {"change": "dead", "task": 1002},
        {"change": "report", "client": "c", "consumed": [[1002, [1]]]},
        {"change": "lost", "task": 1002},
    ):
        journal.write(entry)
        state.apply(entry)
    path = next(tmp_path.rglob("journal.jsonl"))
    path.write_bytes(path.read_bytes() + b'{"change": "job", "na')  # the write that a crash cut off
    again = State()
    for entry in journal.read():
        again.apply(entry)
    assert again.iterations == state.iterations and again.last == state.last == 1002
    assert state.iterations[1001].lost == [[[1, 2, 3]]]
    task = {"change": "task", "id": 1003, "iteration": 1001, "address": "b", "process": "q", "slot": 0, "fixed": True}
    for entry in (task, {"change": "dead", "task": 1003}):
        state.apply(entry)
    journal.replace(state.entry())
    (entry,) = journal.read()
    restored = State()
    restored.apply(entry)
    assert vars(restored) == vars(state)
    assert restored.iterations[1001].tasks[1003].silent == {"c"}
    path.write_bytes(b"no entry\n" + path.read_bytes())
    with pytest.raises(tf.errors.DataLossError, match="Line 1 of"):
        list(journal.read())


def test_a_worker_that_does_not_call_is_gone(monkeypatch):
    with cluster(worker_timeout_ms=1) as (dispatcher, (worker,)):
        clock = dispatchers.time.monotonic
        worker._worker._dispatcher.close()  # as if its process hung
        monkeypatch.setattr(dispatchers.time, "monotonic", lambda: clock() + 60)
        state = dispatcher._dispatcher
        with state._changed:
            state._tend()
        assert dispatcher._num_workers() == 0
