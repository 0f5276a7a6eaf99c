"""Replicas in threads, and strategies of one process."""

import threading

import pytest

import tapeflow as tf

pytestmark = pytest.mark.usefixtures("two_cpus")
PREFIX = "/job:localhost/replica:0/task:0/device:CPU:"


def replica_id():
    return int(tf.get_static_value(tf.distribute.get_replica_context().replica_id_in_sync_group))


def test_names_of_devices():
    for names, expected in {
        ("CPU:1", "/cpu:0"): ("1", "0"), ("/job:localhost/replica:0/task:0/device:CPU:1",): ("1",), ("CPU",): ("0",),
    }.items():  # fmt: skip
        strategy = tf.distribute.MirroredStrategy(list(names))
        assert strategy.extended.worker_devices == tuple(PREFIX + e for e in expected)
    assert tf.distribute.MirroredStrategy().num_replicas_in_sync == 2
    for wrong in ("CPU:0", "x:y:z"):
        with pytest.raises(ValueError):
            tf.distribute.MirroredStrategy(wrong if wrong == "CPU:0" else [wrong])
    assert tf.distribute.OneDeviceStrategy("CPU:1").extended.worker_devices == (PREFIX + "1",)


def test_replicas_run_in_turn(strategy):
    order = []

    def replica():
        context = tf.distribute.get_replica_context()
        order.append(("begin", replica_id()))
        sums = context.merge_call(lambda s, x: order.append(("merge", x.values)) or 10, args=(replica_id() + 1,))
        order.append(("end", replica_id(), sums))

    strategy.run(replica)
    merged = ("merge", (1, 2))
    assert order == [("begin", 0), ("begin", 1), merged, ("end", 0, 10), ("end", 1, 10)]


def test_merge_calls_return_parts(strategy):
    def merge(s, x, y, z=0):
        assert s is strategy and tf.distribute.in_cross_replica_context()
        return {"x": x, "y": [y, z]}

    def replica():
        i = replica_id()
        return tf.distribute.get_replica_context().merge_call(merge, args=(i, "same"), kwargs={"z": 10 * i})

    result = strategy.run(replica)
    assert result["x"].values == (0, 1) and result["y"][0] == "same" and result["y"][1].values == (0, 10)


def test_replicas_that_do_not_meet(strategy):
    def replica():
        if replica_id() == 0:
            tf.distribute.get_replica_context().merge_call(lambda s: 1)
        return 2

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="a different number of replica_context"):
        strategy.run(replica)
    assert threading.active_count() == before


@pytest.mark.parametrize("failing", [0, 1])
def test_errors_of_replicas_and_of_merges(strategy, failing):
    def replica():
        if replica_id() == failing:
            raise KeyError("here")
        tf.distribute.get_replica_context().merge_call(lambda s: 1)

    def merge(s):
        raise ValueError("merging")

    before = threading.active_count()
    with pytest.raises(KeyError, match="here"):
        strategy.run(replica)
    with pytest.raises(ValueError, match="merging"):
        strategy.run(lambda: tf.distribute.get_replica_context().merge_call(merge))
    assert threading.active_count() == before and not tf.distribute.has_strategy()


def test_replicas_inherit_the_state_of_the_thread(strategy):
    with tf.name_scope("outer"), tf.control_dependencies([]), tf.Graph().as_default() as graph:

        def replica():
            return tf.compat.v1.get_default_graph() is graph

        assert strategy.run(replica) is True
    assert strategy.run(tf.executing_eagerly) is True
    with tf.GradientTape(persistent=True) as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        y = strategy.run(lambda: x * (1.0 + replica_id()))
    assert [float(tape.gradient(v, x)) for v in y.values] == [1.0, 2.0]


def test_variables_of_replicas(strategy):
    def replica():
        first, second = tf.Variable(1.0 + replica_id()), tf.Variable([5.0])
        return first, second

    first, second = strategy.run(replica)
    assert [float(c) for c in first.values] == [1.0, 1.0] and [c.shape for c in second.values] == [[1], [1]]
    assert [c.device for c in first.values] == [PREFIX + "0", PREFIX + "1"]


def test_functions_run_all_replicas_in_one_trace(strategy):
    traces = []

    @tf.function
    def step(x, scale=1.0):
        traces.append(replica_id())
        total = tf.distribute.get_replica_context().all_reduce("SUM", x * scale)
        if total > 3.0:
            return -total
        return total

    x = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(1.0 + c.replica_id_in_sync_group))
    assert [float(v) for v in strategy.run(step, args=(x,)).values] == [3.0, 3.0]
    assert [float(v) for v in strategy.run(step, args=(x,)).values] == [3.0, 3.0]
    assert traces == [0, 1]
    assert [float(v) for v in strategy.run(step, args=(x,), kwargs={"scale": 2.0}).values] == [-6.0, -6.0]
    plain = tf.function(lambda x: x + 1.0, autograph=False)
    assert [float(v) for v in strategy.run(plain, args=(x,)).values] == [2.0, 3.0]


def test_one_device():
    strategy = tf.distribute.OneDeviceStrategy("CPU:1")
    with strategy.scope():
        v = tf.Variable(1.0)
    assert v.device == PREFIX + "1" and strategy.run(lambda: tf.constant(1.0).device) == PREFIX + "1"
    assert strategy.extended.update(v, lambda v, x: (v.assign_add(x), tf.constant(0).device)[1], (2.0,)) == PREFIX + "1"
    assert float(v) == 3.0
    one = tf.distribute.MirroredStrategy(["CPU:1"])
    assert one.run(lambda x: (replica_id(), x, tf.constant(1.0).device), args=(7,)) == (0, 7, PREFIX + "1")


def test_central_storage():
    strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:1")
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        total = tf.Variable(
            0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM
        )
    assert strategy.extended.parameter_devices == (PREFIX + "1",)
    assert [c.device for c in v.values] == [PREFIX + "1"] and [c.device for c in total.values] == [PREFIX + "1"] * 2
    strategy.run(lambda: (v.assign_add(1.0 + replica_id() + tf.constant(0.0)), total.assign_add(1.0 + replica_id())))
    assert float(v) == 4.0 and float(total) == 3.0
    default = tf.distribute.experimental.CentralStorageStrategy()
    assert default.extended.worker_devices == default.extended.parameter_devices == (PREFIX + "0",)
    home = tf.distribute.experimental.CentralStorageStrategy(["CPU:1"])
    assert home.extended.parameter_devices == (PREFIX + "1",)
    both = tf.distribute.experimental.CentralStorageStrategy(["CPU:1", "CPU:0"])
    assert both.extended.parameter_devices == (PREFIX + "0",)


def test_there_is_no_tpu():
    with pytest.raises(tf.errors.NotFoundError, match="found no TPU"):
        tf.distribute.TPUStrategy()
