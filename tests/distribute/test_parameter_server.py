"""`ParameterServerStrategy` and `ClusterCoordinator`, with all tasks in this process.

What is expected is what TensorFlow 2.21 gave.
"""

import gc

import numpy as np
import pytest

import tapeflow as tf
from worker_processes import free_addresses

coordination = tf.distribute.coordinator


def cluster(workers, servers):
    addresses = free_addresses(workers + servers)
    spec = tf.train.ClusterSpec({"worker": addresses[:workers], "ps": addresses[workers:]})
    tasks = [("worker", i) for i in range(workers)] + [("ps", i) for i in range(servers)]
    return spec, [tf.distribute.Server(spec, job, i) for job, i in tasks]


@pytest.fixture(scope="module")
def strategy():
    spec, servers = cluster(2, 2)
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec)
    yield tf.distribute.ParameterServerStrategy(resolver, variable_partitioner=partitioner)
    del servers


@pytest.fixture(scope="module")
def coordinator(strategy):
    return coordination.ClusterCoordinator(strategy)


def server(number):
    return f"/job:ps/replica:0/task:{number}/device:CPU:0"


def test_what_a_strategy_says(strategy, coordinator):
    extended = strategy.extended
    assert (strategy.num_replicas_in_sync, extended._in_multi_worker_mode()) == (1, False)
    assert extended.parameter_devices == ("/job:chief/replica:0/task:0/device:CPU:0",)
    assert coordination.ClusterCoordinator(strategy) is coordinator
    assert coordinator.strategy is strategy
    assert strategy.run(lambda: 1) == 1
    assert strategy.reduce("SUM", tf.constant(1.0), axis=None).numpy() == 1.0
    with pytest.raises(ValueError, match="There must be at least one ps"):
        spec = tf.train.ClusterSpec({"worker": ["localhost:1"]})
        tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.SimpleClusterResolver(spec))
    with pytest.raises(ValueError, match="Cluster spec must be non-empty"):
        tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.TFConfigClusterResolver())
    with pytest.raises(tf.errors.UnknownError, match="Could not start the server"):
        tf.distribute.Server({"local": [strategy.cluster_resolver.cluster_spec().task_address("ps", 0)]})


def test_variables(strategy):
    with strategy.scope():
        v = tf.Variable([[1.0]], name="v")
        with strategy.extended.colocate_vars_with(v):
            other = tf.Variable(tf.ones([3]))
    assert other.device == v.device
    assert v.device in (server(0), server(1))
    assert repr(v) == "<tf.Variable 'v:0' shape=(1, 1) dtype=float32, numpy=array([[1.]], dtype=float32)>"
    assert v.assign([[2.0]]).numpy() == 2.0
    v.assign_add([[3.0]])
    v.assign_sub([[1.0]])
    assert (v * 2.0).numpy() == 8.0
    other.scatter_sub(tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 0])))
    other.scatter_nd_update([[2]], [7.0])
    assert other.numpy().tolist() == [-2.0, 1.0, 7.0]
    assert tf.gather(other, [2, 0]).numpy().tolist() == [7.0, -2.0]
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v).numpy() == 8.0
    with pytest.raises(ValueError, match="shape"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes must be equal"):
        v.assign_add([1.0, 2.0, 3.0])

    @tf.function
    def change(x):
        v.assign(x)
        v.assign_add(x)
        other.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([1])))
        other.scatter_nd_add([[0]], [5.0])
        return v + 1.0

    assert change(tf.constant([[2.0]])).numpy() == 5.0
    assert other.numpy().tolist() == [3.0, 2.0, 7.0]


def test_variables_in_parts(strategy, tmp_path):
    with strategy.scope():
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
        drawn = tf.Variable(lambda: tf.range(5.0), shape=[5], dtype=tf.float32)
    assert [(part.name, part.shape.as_list()) for part in w.variables] == [
        ("w/part_0:0", [2, 2]),
        ("w/part_1:0", [1, 2]),
    ]
    assert {part.device for part in w.variables} == {server(0), server(1)}
    assert drawn.numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert w.shape == [3, 2]
    assert (w + 1.0).numpy().tolist() == [[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
    w.assign_add(tf.ones([3, 2]))
    assert tf.nn.embedding_lookup(w, [0, 2]).numpy().tolist() == [[2.0, 3.0], [6.0, 7.0]]
    assert tf.gather(w, [2, 0]).numpy().tolist() == [[6.0, 7.0], [2.0, 3.0]]
    assert w[1:].numpy().tolist() == [[4.0, 5.0], [6.0, 7.0]]
    w.scatter_update(tf.IndexedSlices(tf.constant([[0.0, 0.0], [9.0, 9.0]]), tf.constant([2, 1])))
    assert w.numpy().tolist() == [[2.0, 3.0], [9.0, 9.0], [0.0, 0.0]]
    path = tf.train.Checkpoint(w=w).save(str(tmp_path / "ckpt"))
    w.assign(tf.zeros([3, 2]))
    tf.train.Checkpoint(w=w).restore(path)
    assert w.numpy().tolist() == [[2.0, 3.0], [9.0, 9.0], [0.0, 0.0]]
    whole = tf.Variable(tf.zeros([3, 2]))
    tf.train.Checkpoint(w=whole).restore(path)
    assert whole.numpy().tolist() == w.numpy().tolist()


def test_gradients_of_rows_travel_as_rows(strategy, coordinator):
    with strategy.scope():
        table = tf.Variable(tf.ones([6, 2]))

    @tf.function
    def step(keys):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, keys) ** 2)
        for part, dy in zip(table.variables, tape.gradient(loss, table.variables), strict=True):
            part.scatter_sub(tf.IndexedSlices(0.25 * dy.values, dy.indices))
        return loss

    with pytest.raises(AttributeError, match="no attribute 'handle'"), tf.GradientTape() as tape:
        tape.gradient(table * 2.0, table)
    assert coordinator.schedule(step, args=(tf.constant([0, 4, 4]),)).fetch() == 6.0
    assert table.numpy()[:, 0].tolist() == [0.5, 1.0, 1.0, 1.0, 0.0, 1.0]


def test_scheduled_functions(strategy, coordinator):
    with strategy.scope():
        v = tf.Variable(1.0)
    local = tf.Variable(10)
    constant = tf.constant(np.arange(300, dtype=np.float32))

    @tf.function
    def f(x, scale=1.0):
        if x > 0.0:
            v.assign_add(x)
        local.assign_add(1)
        return {"v": v.read_value(), "x": x * scale, "sum": tf.reduce_sum(constant)}, None

    value = coordinator.schedule(f, args=(tf.constant(2.0),), kwargs={"scale": 3.0})
    assert isinstance(value, coordination.RemoteValue)
    assert value.fetch() == ({"v": 3.0, "x": 6.0, "sum": 44850.0}, None)
    assert isinstance(value.get()[0]["x"], tf.Tensor)
    assert coordinator.fetch({"a": value, "b": 3})["b"] == 3
    assert local.numpy() == 11
    concrete = f.get_concrete_function(tf.constant(1.0))
    assert coordinator.schedule(concrete, args=(tf.constant(-1.0),)).fetch()[0]["x"] == -1.0
    assert coordinator.join() is None
    assert coordinator.done()
    with pytest.raises(TypeError, match=r"only accepts a `tf\.function` or a concrete function"):
        coordinator.schedule(lambda: 1)
    with pytest.raises(ValueError, match="used as an input to scheduled function is not yet supported"):
        coordinator.schedule(f, args=(value,))


def test_an_error_cancels_what_waits(coordinator):
    @tf.function
    def fail(x):
        tf.Assert(x > 1, ["x must be more than", 1])
        return x

    values = [coordinator.schedule(fail, args=(tf.constant(2),))]
    values[0].fetch()
    failed = coordinator.schedule(fail, args=(tf.constant(0),))
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be more than"):
        coordinator.join()
    with pytest.raises(tf.errors.InvalidArgumentError):
        failed.fetch()
    assert coordinator.join() is None

    @tf.function
    def take(iterator):
        return next(iterator)

    iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(2)))
    waiting = []
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        for _ in range(200):
            waiting.append(coordinator.schedule(take, args=(iterator,)))
        coordinator.join()
    kinds = set()
    for value in waiting:
        try:
            value.fetch()
        except tf.errors.OpError as error:
            kinds.add(type(error))
    assert tf.errors.OutOfRangeError in kinds
    assert kinds <= {tf.errors.OutOfRangeError, tf.errors.CancelledError}


def test_what_can_not_travel(coordinator):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
    with pytest.raises(tf.errors.UnimplementedError, match="can't travel"):
        coordinator.schedule(tf.function(lambda: table.lookup(tf.constant("a"))))
    one = tf.Variable(1)
    coordinator.schedule(tf.function(lambda: tf.py_function(lambda: 1, [], tf.int32)))
    with pytest.raises(tf.errors.UnimplementedError, match="can't travel to a worker, as it calls Python"):
        coordinator.join()

    @tf.function
    def check():
        tf.debugging.assert_equal(one, 2)

    coordinator.schedule(check)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[1\] \[2\]"):
        coordinator.join()
    assert coordinator.join() is None


def test_nothing_is_held_for_what_is_gone(strategy, coordinator):
    task = strategy.extended._task
    before = set(task._iterators)
    iterator = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(2)))
    assert coordinator.schedule(tf.function(lambda i: next(i)), args=(iterator,)).fetch() == 0
    own = set(task._iterators) - before
    assert len(own) == 1
    with strategy.scope():
        v = tf.Variable(1.0)
    number, key = int(v.where.task[-1]), v.where.key
    del iterator, v
    gc.collect()
    assert not own & set(task._iterators)
    assert key in strategy.extended._unused[number]
    with strategy.scope():
        _ = [tf.Variable(1.0) for _ in range(2)]
    assert key not in strategy.extended._unused[number]


def test_datasets_of_workers(strategy, coordinator):
    def create(context):
        number = coordination.experimental_get_current_worker_index()
        return tf.data.Dataset.range(10 * number, 10 * number + 5).map(lambda i: {"i": i}).batch(2)

    @tf.function
    def per_worker():
        return strategy.distribute_datasets_from_function(create)

    dataset = coordinator.create_per_worker_dataset(per_worker)
    assert dataset.element_spec == {"i": tf.TensorSpec([None], tf.int64)}

    @tf.function
    def total(iterator):
        numbers = tf.zeros([], tf.int64)
        for element in iterator:
            numbers += tf.reduce_sum(strategy.run(lambda e: e["i"], args=(element,)))
        return numbers, coordination.experimental_get_current_worker_index()

    results = set()
    for _ in range(50):  # until each worker has had one
        iterator = iter(dataset)
        results |= {tuple(map(int, coordinator.schedule(total, args=(iterator,)).fetch())) for _ in range(2)}
        if {r for r in results if r[0]} == {(10, 0), (60, 1)}:
            break
    assert {r for r in results if r[0]} == {(10, 0), (60, 1)}
    with pytest.raises(NotImplementedError, match="is not supported right now"):
        next(iterator)
    with pytest.raises(ValueError, match="Unexpected dataset type"):
        coordinator.create_per_worker_dataset(3)
    with pytest.raises(ValueError, match="Creating variables in `dataset_fn` is not allowed"):
        coordinator.create_per_worker_dataset(lambda: [tf.Variable(1.0), tf.data.Dataset.range(3)][1])
    with pytest.raises(ValueError, match=r"pass this dataset to ClusterCoordinator\.create_per_worker_dataset"):
        iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2)))
    with pytest.raises(RuntimeError, match="Cannot retrieve the worker index"):
        coordination.experimental_get_current_worker_index()


def test_keras_models_train_in_loops_and_not_by_fit(strategy, coordinator):
    with strategy.scope(), strategy.extended.colocate_vars_with(tf.Variable(1.0)):  # in TensorFlow, too, whole
        model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
        optimizer = tf.keras.optimizers.Adam(0.1)
        mean = tf.keras.metrics.Mean()
        model.compile("sgd", "mse")
    trained = model.trainable_variables
    optimizer.build(trained)

    @tf.function
    def step(iterator):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, trained), trained, strict=True))
            mean.update_state(loss)
            return loss

        return strategy.run(replica, args=next(iterator))

    data = tf.data.Dataset.from_tensor_slices((tf.ones([8, 2]), tf.ones([8, 1]))).batch(4).repeat()
    iterator = iter(coordinator.create_per_worker_dataset(lambda: data))
    losses = [float(coordinator.schedule(step, args=(iterator,)).fetch()) for _ in range(30)]
    assert losses[-1] < losses[0]
    assert optimizer.iterations.numpy() == 30
    assert float(mean.result()) == pytest.approx(np.mean(losses), rel=1e-5)
    with pytest.raises(ValueError, match=r"pass this dataset to ClusterCoordinator\.create_per_worker_dataset"):
        model.fit(data, steps_per_epoch=2, verbose=0)
