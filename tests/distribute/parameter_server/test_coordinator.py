"""Functions that a coordinator schedules, with all tasks in this process."""

import pytest

import tapeflow as tf
from tapeflow.distribute.parameter_server.dispatch import dispatching
from tapeflow.distribute.parameter_server.values import PerWorkerValues, WorkerValue, of_worker
from worker_processes import free_addresses

coordination = tf.distribute.coordinator


@pytest.fixture(name="strategy", scope="module")
def started_strategy():
    worker, server = free_addresses(2)
    spec = tf.train.ClusterSpec({"worker": [worker], "ps": [server]})
    servers = [tf.distribute.Server(spec, job, 0) for job in ("worker", "ps")]
    yield tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.SimpleClusterResolver(spec))
    del servers


@pytest.fixture(name="coordinator", scope="module")
def started_coordinator(strategy):
    return coordination.ClusterCoordinator(strategy)


def test_arguments_and_results(coordinator):
    @tf.function
    def f(x, y, scale=2.0):
        return {"a": x * scale, "b": [y, None]}

    value = coordinator.schedule(f, (tf.constant(3.0), tf.constant([1, 2])), {"scale": 5.0})
    result = value.fetch()
    assert result["a"] == 15.0 and result["b"][0].tolist() == [1, 2] and result["b"][1] is None
    assert coordinator.schedule(f, args=[tf.constant(3.0), 1]).get()["a"].numpy() == 6.0
    several = coordinator.fetch([value, 7, {"v": value}])
    assert several[0]["a"] == several[2]["v"]["a"] == 15.0 and several[1] == 7


def test_a_worker_runs_a_function_again(strategy, coordinator):
    with strategy.scope():
        v = tf.Variable(1.0)
    step = tf.function(lambda x: v.assign_add(x))
    values = [coordinator.schedule(step, args=(tf.constant(float(i)),)) for i in range(5)]
    coordinator.join()
    assert coordinator.done() and [float(v.fetch()) for v in values] == [1.0, 2.0, 4.0, 7.0, 11.0]
    assert float(v.numpy()) == 11.0


def test_one_coordinator_for_a_strategy(strategy, coordinator):
    assert coordination.ClusterCoordinator(strategy) is coordinator and coordinator.strategy is strategy
    with pytest.raises(ValueError, match=r"Only `tf.distribute.experimental.ParameterServerStrategy` is supported"):
        coordination.ClusterCoordinator(tf.distribute.get_strategy())


def test_results_that_can_not_travel(coordinator):
    @tf.function
    def empty_list():
        return tf.raw_ops.EmptyTensorList(element_shape=[], max_num_elements=3, element_dtype=tf.float32)

    with pytest.raises(tf.errors.UnimplementedError, match="returns a variant, which can't travel"):
        coordinator.schedule(empty_list)


def test_datasets(coordinator):
    dataset = tf.data.Dataset.range(5)

    @tf.function
    def following(iterator):
        return next(iterator), coordination.experimental_get_current_worker_index()

    created = []

    def create():
        created.append(coordination.experimental_get_current_worker_index())
        return dataset.map(lambda i: i * 10)

    per_worker = coordinator.create_per_worker_dataset(create)
    assert created == [0] and per_worker.element_spec == tf.TensorSpec([], tf.int64)
    iterator = iter(per_worker)
    values = [tuple(map(int, coordinator.schedule(following, args=(iterator,)).fetch())) for _ in range(3)]
    assert values == [(0, 0), (10, 0), (20, 0)]
    again = iter(coordinator.create_per_worker_dataset(dataset))
    assert int(coordinator.schedule(following, args=(again,)).fetch()[0]) == 0
    with pytest.raises(NotImplementedError):
        again.get_next()

    def in_graph():
        iter(per_worker)

    with pytest.raises(RuntimeError, match=r"__iter__\(\) is not supported inside of tf.function"):
        tf.function(in_graph, autograph=False)()
    with pytest.raises(ValueError, match="Unexpected dataset type!"):
        coordinator.create_per_worker_dataset([dataset])


def test_values_of_workers():
    first, second = WorkerValue(3), WorkerValue(tf.constant([4.0]))
    assert first.get() == first.fetch() == 3 and isinstance(first, coordination.RemoteValue)
    assert second._type_spec == tf.TensorSpec([1])
    values = coordination.PerWorkerValue([first, second])
    assert isinstance(values, PerWorkerValues) and of_worker(0, [values, 5]) == [3, 5]
    assert of_worker(1, {"a": values})["a"].numpy().tolist() == [4.0]
    with pytest.raises(AssertionError, match="should only take `RemoteValue`s"):
        coordination.PerWorkerValue([first, 3])


def test_the_number_of_a_worker():
    with dispatching(3):
        assert coordination.experimental_get_current_worker_index() == 3
        with dispatching(0):
            assert coordination.experimental_get_current_worker_index() == 0
        assert coordination.experimental_get_current_worker_index() == 3
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="Cannot retrieve the worker index"):
        coordination.experimental_get_current_worker_index()
