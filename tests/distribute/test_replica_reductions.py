"""Reductions among the devices of a strategy."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.distribute.replica_reductions import devices_of, reduce_over_replicas, reduce_values
from tapeflow.distribute.values import MirroredValues, PerReplica

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN

pytestmark = pytest.mark.usefixtures("two_cpus")


def slices(value, index):
    return tf.IndexedSlices(tf.constant([[value]]), tf.constant([index]), tf.constant([9, 1]))


def plain(value):
    if isinstance(value, tf.IndexedSlices):
        return value.values.numpy().tolist(), value.indices.numpy().tolist(), value.dense_shape.numpy().tolist()
    return np.asarray(value).tolist()


def test_names_of_reductions():
    aggregations = tf.VariableAggregation
    assert tf.distribute.ReduceOp.from_variable_aggregation(aggregations.SUM) is SUM
    assert tf.distribute.ReduceOp.from_variable_aggregation(aggregations.MEAN) is MEAN
    for other in (aggregations.NONE, aggregations.ONLY_FIRST_REPLICA):
        with pytest.raises(ValueError, match="Could not convert from"):
            tf.distribute.ReduceOp.from_variable_aggregation(other)


def test_values_of_one_kind():
    assert reduce_values(SUM, [tf.constant(1.0), tf.constant(4.0)]).numpy() == 5.0
    assert reduce_values(MEAN, [tf.constant(1.0), tf.constant(4.0)]).numpy() == 2.5
    assert reduce_values(MEAN, [tf.constant(3.0)]).numpy() == 3.0
    both = [slices(1.0, 3), slices(4.0, 2)]
    assert plain(reduce_values(SUM, both)) == ([[1.0], [4.0]], [3, 2], [9, 1])
    assert plain(reduce_values(MEAN, both)) == ([[0.5], [2.0]], [3, 2], [9, 1])
    with pytest.raises(ValueError):
        reduce_values(SUM, [slices(1.0, 3), tf.constant(1.0)])


def test_values_that_all_replicas_share():
    assert reduce_over_replicas(MEAN, 3.0) == 3.0
    assert reduce_over_replicas(SUM, 0) == 0 and reduce_over_replicas(SUM, 0.0) == 0.0
    for value in (1.0, tf.constant(0.0)):
        with pytest.raises(ValueError, match=r"A non-DistributedValues value .* reduce op ReduceOp.SUM"):
            reduce_over_replicas(SUM, value)
    mirrored = MirroredValues([tf.constant(3.0), tf.constant(3.0)])
    assert reduce_over_replicas(MEAN, mirrored) is mirrored.values[0]
    assert reduce_over_replicas(SUM, mirrored).numpy() == 6.0
    assert reduce_over_replicas(MEAN, PerReplica([tf.constant(1.0), tf.constant(2.0)])).numpy() == 1.5


def test_devices(strategy):
    names = strategy.extended.worker_devices
    with strategy.scope():
        v = tf.Variable(1.0)
    with tf.device("CPU:1"):
        tensor = tf.constant(1.0) + 0.0
    assert devices_of("CPU:1") == ("CPU:1",) and devices_of(tensor) == (names[1],)
    assert devices_of(v) == names and devices_of(v.values[1]) == (names[1],)
    assert devices_of(PerReplica([v.values[1], tensor])) == (names[1], names[1])


def test_broadcasts(strategy):
    ops, names = tf.distribute.CrossDeviceOps(), strategy.extended.worker_devices
    whole = ops.broadcast(tf.constant(3.0), PerReplica([tf.constant(0), tf.Variable(0)]))
    assert isinstance(whole, MirroredValues) and [float(v) for v in whole.values] == [3.0, 3.0]
    one = ops.broadcast(tf.constant(3.0), "CPU:1")
    assert one.device == names[1] and float(one) == 3.0
    assert plain(ops.broadcast(slices(2.0, 1), "CPU:1")) == ([[2.0]], [1], [9, 1])
    assert ops.broadcast(slices(2.0, 1), "CPU:1").values.device == names[1]


def multiply(values):
    return values[0] * values[1]


@pytest.mark.parametrize(
    ("ops", "op", "expected"),
    [
        (tf.distribute.ReductionToOneDevice(), SUM, 8.0),
        (tf.distribute.ReductionToOneDevice(), MEAN, 4.0),
        (tf.distribute.ReductionToOneDevice("CPU:1"), SUM, 8.0),
        (tf.distribute.ReductionToOneDevice("CPU:1"), MEAN, 4.0),
        (tf.distribute.ReductionToOneDevice(accumulation_fn=multiply), SUM, 12.0),
        (tf.distribute.ReductionToOneDevice("CPU:1", multiply), MEAN, 6.0),
        (tf.distribute.HierarchicalCopyAllReduce(num_packs=0), SUM, 8.0),
        (tf.distribute.NcclAllReduce(), MEAN, 4.0),
    ],
)
def test_ops_of_strategies(strategy, ops, op, expected):
    x = PerReplica([tf.constant(2.0), tf.constant(6.0)])
    names = strategy.extended.worker_devices
    with strategy.scope():
        v = tf.Variable(1.0)
    assert [float(r) for r in ops.reduce(op, x, v).values] == [expected] * 2
    to_one = ops.reduce(op, x, "CPU:1")
    assert float(to_one) == expected and to_one.device == names[1]
    first, second = ops.batch_reduce(op.name.lower(), [(x, v), (PerReplica([tf.constant(1.0)] * 2), "CPU:0")])
    assert [float(r) for r in first.values] == [expected] * 2 and second.shape == []
    total = ops.reduce(op, PerReplica([slices(1.0, 3), slices(4.0, 2)]), "CPU:0")
    assert plain(total) == ([[1.0], [4.0]] if op is SUM else [[0.5], [2.0]], [3, 2], [9, 1])


def test_where_a_reduction_runs():
    places = []

    def add(values):
        places.append([tf.constant(0).device[-5:], *(v.device[-5:] for v in values)])
        return tf.add_n(values)

    with tf.device("CPU:1"):
        x = PerReplica([tf.constant(2.0) + 0.0, tf.constant(6.0) + 0.0])
    tf.distribute.ReductionToOneDevice("CPU:0", add).reduce(SUM, x, "CPU:1")
    tf.distribute.ReductionToOneDevice(accumulation_fn=add).reduce(SUM, x, "CPU:0")
    assert places == [["CPU:0"] * 3, ["CPU:1"] * 3]


def test_a_tensor_is_a_value_of_one_replica():
    assert float(tf.distribute.CrossDeviceOps().reduce(SUM, tf.constant(3.0), "CPU:0")) == 3.0


def test_numbers_of_packs():
    for kind in (tf.distribute.HierarchicalCopyAllReduce, tf.distribute.NcclAllReduce):
        assert kind().num_packs == 1 and kind(0).num_packs == 0
        with pytest.raises(ValueError, match="num_packs must be greater than or equal to zero, but -1 is specified"):
            kind(-1)
