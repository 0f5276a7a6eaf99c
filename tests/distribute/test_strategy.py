"""The interface of strategies, of replicas' contexts, and of the strategy outside of all scopes."""

import copy
import threading

import numpy as np
import pytest

import tapeflow as tf

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
SLICES = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([3, 1]))

pytestmark = pytest.mark.usefixtures("two_cpus")


def number():
    """1.0 in the first replica, 2.0 in the second."""
    return 1.0 + tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def values(distributed):
    return [np.asarray(v).tolist() for v in distributed.values]


# ---- contexts of replicas --------------------------------------------------------------------------------------------


def test_a_context_knows_its_strategy_and_device(strategy):
    def replica():
        context = tf.distribute.get_replica_context()
        return context.strategy is strategy, context.num_replicas_in_sync, context.devices

    same, count, devices = strategy.run(replica)
    prefix = "/job:localhost/replica:0/task:0/device:CPU:"
    assert same is True and count == 2
    assert [d.values for d in devices] == [(f"{prefix}0", f"{prefix}1")]
    default = tf.distribute.get_replica_context()
    assert default.strategy is tf.distribute.get_strategy() and default.devices == ("",)


def test_a_context_is_of_the_replica_that_runs(strategy):
    contexts = []

    def keep():
        contexts.append(tf.distribute.get_replica_context())

    strategy.run(keep)
    for call in (
        lambda: contexts[0].all_reduce("SUM", 1.0),
        lambda: contexts[0].all_gather(tf.ones([1]), 0),
        lambda: contexts[0].merge_call(lambda s: 1),
    ):
        with pytest.raises(RuntimeError):
            call()
    with strategy.scope(), pytest.raises(RuntimeError):
        contexts[1].all_reduce("SUM", 1.0)


def test_slices_are_not_gathered(strategy):
    with pytest.raises(ValueError, match="all_gather does not support IndexedSlices"):
        strategy.run(lambda: tf.distribute.get_replica_context().all_gather([tf.ones([1]), SLICES], 0))
    with pytest.raises(ValueError, match="gather does not support IndexedSlices"):
        strategy.gather(SLICES, axis=0)


def test_collectives_of_one_replica_are_the_value():
    strategy = tf.distribute.OneDeviceStrategy("CPU:1")
    x = tf.constant([1.0, 2.0])

    def replica():
        context = tf.distribute.get_replica_context()
        return context.all_reduce(MEAN, x) is x, context.all_gather(x, 0) is x, context.replica_id_in_sync_group

    summed, gathered, index = strategy.run(replica)
    assert (summed, gathered, index, type(index)) == (True, True, 0, int)
    with pytest.raises(ValueError, match="PRODUCT"):
        strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("PRODUCT", x))


def test_dense_and_sparse_values_are_reduced_together(strategy):
    def replica():
        x = number()
        slices = tf.IndexedSlices(x * [[1.0]], tf.cast([x], tf.int32), tf.constant([3, 1]))
        return tf.distribute.get_replica_context().all_reduce("sum", {"a": slices, "b": x, "c": [10 * x]})

    total = strategy.run(replica)
    for i in range(2):
        slices = strategy.experimental_local_results(total)[i]["a"]
        assert slices.values.numpy().tolist() == [[1.0], [2.0]] and slices.indices.numpy().tolist() == [1, 2]
        assert slices.dense_shape.numpy().tolist() == [3, 1]
    assert (values(total["b"]), values(total["c"][0])) == ([3.0, 3.0], [30.0, 30.0])


def test_all_gather_along_another_axis(strategy):
    def replica():
        x = tf.fill([2, tf.cast(number(), tf.int32)], number())
        with tf.GradientTape() as tape:
            tape.watch(x)
            joined = tf.distribute.get_replica_context().all_gather(x, 1)
            y = tf.reduce_sum(joined * [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        return joined, tape.gradient(y, x)

    joined, gradient = strategy.run(replica)
    assert values(joined) == [[[1.0, 2.0, 2.0]] * 2] * 2
    assert values(gradient) == [[[2.0], [8.0]], [[4.0, 6.0], [10.0, 12.0]]]


# ---- the interface for libraries -------------------------------------------------------------------------------------


def test_reductions_to_devices(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    x, extended = strategy.run(number), strategy.extended
    assert values(extended.reduce_to("SUM", x, v)) == [3.0, 3.0]
    assert values(extended.reduce_to(MEAN, x, x)) == [1.5, 1.5]
    assert float(extended.reduce_to("mean", x, "CPU:1")) == 1.5
    assert extended.reduce_to("SUM", x, "CPU:1").device.endswith("CPU:1")
    mirrored = extended.reduce_to("SUM", x, v)
    assert extended.reduce_to("MEAN", mirrored, v) is mirrored
    assert values(extended.reduce_to("SUM", mirrored, v)) == [6.0, 6.0]
    assert values(extended.reduce_to("MEAN", tf.constant(5.0), v)) == [5.0, 5.0]
    with pytest.raises(ValueError, match="cannot be reduced"):
        extended.reduce_to("SUM", 5.0, v)
    several = extended.batch_reduce_to("SUM", [(x, v), (tf.constant(4.0), v), (x, "CPU:0")])
    assert [values(s) for s in several[:2]] == [[3.0, 3.0], [4.0, 4.0]] and float(several[2]) == 3.0
    for call in (
        lambda: extended.reduce_to("SUM", number(), v),
        lambda: extended.batch_reduce_to("SUM", []),
        lambda: extended.call_for_each_replica(number),
    ):
        with pytest.raises(RuntimeError, match="cross-replica context"):
            strategy.run(call)


def test_one_device_reduces_to_the_value():
    strategy = tf.distribute.OneDeviceStrategy("CPU:1")
    x = tf.constant(5.0)
    assert strategy.extended.reduce_to("SUM", x, "CPU:1") is x
    assert strategy.reduce("SUM", x, axis=None) is x
    assert float(strategy.reduce("SUM", tf.constant([1.0, 2.0]), axis=0)) == 3.0
    assert strategy.gather(tf.ones([2]), 0).shape == [2]


def test_updates_of_copies(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    x, places = strategy.run(number), []

    def add(copy, value, scale):
        places.append((tf.constant(0).device[-5:], copy.device[-5:], tf.distribute.get_replica_context()))
        return copy.assign_add(value * scale)

    result = strategy.extended.update(v, add, args=(x,), kwargs={"scale": 10.0})
    assert places == [("CPU:0", "CPU:0", None), ("CPU:1", "CPU:1", None)]
    assert values(result) == values(v) == [11.0, 21.0] and str(result).startswith("Mirrored:")


def test_results_of_updates(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    apart = strategy.extended.update(v, lambda copy: copy.assign_add(1.0), group=False)
    assert isinstance(apart, tuple) and [float(a) for a in apart] == [2.0, 2.0]
    assert strategy.extended.update(v, lambda copy, a, b: (a, b), args=(1,), kwargs={"b": 2}) == (1, 2)
    one = tf.Variable(3.0)
    assert tf.distribute.get_strategy().extended.update(one, lambda v, x: v + x, args=(4.0,)).numpy() == 7.0


def test_properties_of_strategies(strategy):
    extended = strategy.extended
    assert extended.experimental_require_static_shapes is False
    assert extended.should_checkpoint is True and extended.should_save_summary is True
    assert extended.parameter_devices == extended.worker_devices and len(extended.worker_devices) == 2
    assert extended._use_merge_call() and not extended._in_multi_worker_mode()
    one = tf.distribute.OneDeviceStrategy("CPU:1")
    assert one.num_replicas_in_sync == 1
    assert one.extended.worker_devices == ("/job:localhost/replica:0/task:0/device:CPU:1",)
    assert strategy.cluster_resolver is None
    assert copy.deepcopy(strategy) is strategy and copy.deepcopy([one])[0] is one


def test_variables_of_strategies(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    outside, other = tf.Variable(1.0), tf.distribute.OneDeviceStrategy("CPU:1")
    default = tf.distribute.get_strategy()
    assert strategy.extended.variable_created_in_scope(v) and not strategy.extended.variable_created_in_scope(outside)
    assert default.extended.variable_created_in_scope(outside) and not other.extended.variable_created_in_scope(v)
    with strategy.scope(), strategy.extended.colocate_vars_with(v):
        assert len(tf.Variable(2.0).values) == 2
    with strategy.scope(), strategy.colocate_vars_with(v):
        assert len(tf.Variable(2.0).values) == 2
    with strategy.scope(), pytest.raises(ValueError, match="must only be passed a variable created in this"):
        strategy.extended.colocate_vars_with(outside)
    assert strategy.extended.value_container(v.values[1]) is v and strategy.extended.value_container(3) == 3
    with other.scope():
        one = tf.Variable(1.0)
    assert one.device.endswith("CPU:1") and other.extended.variable_created_in_scope(one)


# ---- strategies ------------------------------------------------------------------------------------------------------


def test_run_takes_a_function(strategy):
    with pytest.raises(ValueError):
        strategy.run(3)


def test_a_function_has_branches_in_a_graph(strategy):
    def branch(x):
        if x > 1.0:  # converted in graphs
            return x * 10.0
        return x

    @tf.function
    def run():
        return strategy.run(lambda: number())

    x = strategy.run(number)
    assert values(run()) == [1.0, 2.0]
    assert values(tf.function(lambda x: strategy.run(branch, args=(x,)))(x)) == [1.0, 20.0]


def test_older_names(strategy):
    x = strategy.run(number)
    assert [float(v) for v in strategy.unwrap(x)] == [1.0, 2.0] and strategy.unwrap(3) == (3,)
    assert strategy.group(x) is None
    assert values(strategy.experimental_run_v2(lambda a, b: a + b, (x,), {"b": 1.0})) == [2.0, 3.0]
    config = tf.compat.v1.ConfigProto()
    assert strategy.update_config_proto(config) is config
    with tf.Graph().as_default():
        assert strategy.group(tf.constant(1), name="all").name == "all"


def test_values_of_a_function(strategy):
    contexts = []

    def value(context):
        contexts.append(context.num_replicas_in_sync)
        return context.replica_id_in_sync_group * 10

    assert strategy.experimental_distribute_values_from_function(value).values == (0, 10) and contexts == [2, 2]
    one = tf.distribute.OneDeviceStrategy("CPU:1")
    assert one.experimental_local_results(one.experimental_distribute_values_from_function(value)) == (0,)


def test_reductions_along_axes(strategy):
    x = strategy.run(lambda: number() * [[1.0, 2.0, 3.0]])
    assert strategy.reduce("SUM", x, axis=1).numpy().tolist() == [18.0]
    assert strategy.reduce("MEAN", x, axis=-1).numpy().tolist() == [3.0]
    assert strategy.reduce("MEAN", {"a": x}, axis=0)["a"].numpy().tolist() == [1.5, 3.0, 4.5]
    assert strategy.reduce("SUM", [x], axis=None)[0].numpy().tolist() == [[3.0, 6.0, 9.0]]
    whole = strategy.run(lambda: tf.cast(number() * [1.0, 4.0], tf.int32))
    mean = strategy.reduce("MEAN", whole, axis=0)
    assert mean.numpy() == 3.75 and mean.dtype == tf.float64
    assert strategy.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0).numpy() == 2.0
    assert strategy.reduce("SUM", tf.constant([1.0, 3.0]), axis=0).numpy() == 8.0  # in both replicas


def test_methods_are_of_cross_replica_context(strategy):
    for call in (lambda: strategy.gather(tf.ones([1]), 0), lambda: strategy.reduce("SUM", number(), axis=0)):
        with pytest.raises(RuntimeError, match="cross-replica context"):
            strategy.run(call)
    other = tf.distribute.OneDeviceStrategy("CPU:0")
    with other.scope():
        for call in (lambda: strategy.gather(tf.ones([1]), 0), lambda: strategy.reduce("SUM", 1.0, axis=None)):
            with pytest.raises(RuntimeError, match="Mixing different"):
                call()


def test_a_scope_may_be_entered_again(strategy):
    scope = strategy.scope()
    with scope, scope:
        assert len(tf.Variable(1.0).values) == 2
    assert not tf.distribute.has_strategy() and not hasattr(tf.Variable(1.0), "values")


# ---- the strategy outside of all scopes ------------------------------------------------------------------------------


def test_the_default_strategy_runs_where_it_is(strategy):
    default = tf.distribute.get_strategy()
    context = tf.distribute.get_replica_context()
    assert default.run(lambda a, b: (a, b), args=(1,), kwargs={"b": 2}) == (1, 2)
    with strategy.scope(), pytest.raises(RuntimeError, match="Mixing different"):
        default.run(lambda: 1)
    with strategy.scope(), pytest.raises(RuntimeError, match="Mixing different"):
        default.scope()

    def merged(s):
        inner = s.run(lambda x: (tf.distribute.get_replica_context() is context, x), args=(3,))
        return (
            inner,
            s.extended.call_for_each_replica(lambda x: -x, kwargs={"x": 4}),
            tf.distribute.get_replica_context(),
        )

    assert context.merge_call(merged) == ((True, 3), -4, None)
    assert tf.distribute.get_replica_context() is context


def test_the_default_strategy_leaves_datasets():
    default, dataset = tf.distribute.get_strategy(), tf.data.Dataset.range(4).batch(2)
    assert default.experimental_distribute_dataset(dataset) is dataset
    contexts = []

    def make(context):
        contexts.append((context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync))
        return dataset

    assert default.distribute_datasets_from_function(make) is dataset and contexts == [(1, 0, 1)]
    for name in ("worker_devices", "parameter_devices"):
        with pytest.raises(RuntimeError, match=rf"{name}\(\) method unsupported by default"):
            getattr(default.extended, name)


def test_a_strategy_is_set_for_this_thread(strategy):
    other = tf.distribute.OneDeviceStrategy("CPU:1")
    seen = []
    tf.distribute.experimental_set_strategy(strategy)
    try:
        thread = threading.Thread(target=lambda: seen.append(tf.distribute.has_strategy()))
        thread.start()
        thread.join()
        tf.distribute.experimental_set_strategy(other)
        assert tf.distribute.get_strategy() is other and not hasattr(tf.Variable(1.0), "values")
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert seen == [False] and not tf.distribute.has_strategy()
    assert tf.distribute.get_replica_context() is not None
