"""Variables with copies: their attributes, what writes to them, and what they refuse."""

import copy

import numpy as np
import pytest

import tapeflow as tf

AGGREGATION, SYNCHRONIZATION = tf.VariableAggregation, tf.VariableSynchronization

pytestmark = pytest.mark.usefixtures("two_cpus")


def number():
    """1.0 in the first replica, 2.0 in the second."""
    return 1.0 + tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def values(distributed):
    return [np.asarray(v).tolist() for v in distributed.values]


def on_read(strategy, value=0.0, aggregation=AGGREGATION.SUM, **kwargs):
    with strategy.scope():
        return tf.Variable(value, synchronization=SYNCHRONIZATION.ON_READ, aggregation=aggregation, **kwargs)


def test_attributes(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v", trainable=False, aggregation=AGGREGATION.MEAN, constraint=abs)
    assert v.distribute_strategy is strategy
    assert (v.name, [c.name for c in v.values]) == ("v:0", ["v:0", "v/replica_1:0"])
    assert (v.dtype, v.shape, v.trainable, v.constraint) == (tf.float32, [2], False, abs)
    assert v.aggregation is AGGREGATION.MEAN and v.synchronization is SYNCHRONIZATION.ON_WRITE
    w = on_read(strategy, name="w")
    assert w.aggregation is AGGREGATION.SUM and w.synchronization is SYNCHRONIZATION.ON_READ and not w.trainable
    with strategy.scope():
        x = tf.Variable(1)
    assert x.aggregation is AGGREGATION.NONE and x.trainable
    assert [c.name for c in x.values] == ["Variable:0", "Variable/replica_1:0"]


def test_copies_begin_alike_and_the_initializer_runs_once(strategy):
    calls = []

    def begin():
        calls.append(tf.constant(0).device[-5:])
        return tf.random.uniform([3])

    with strategy.scope():
        v = tf.Variable(begin)
    assert values(v)[0] == values(v)[1] and calls == ["CPU:0"]


def test_reading(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    assert np.array(v).tolist() == v.numpy().tolist() == v.read_value().numpy().tolist() == [1.0, 2.0]
    assert np.asarray(v, dtype=np.float64).dtype == np.float64
    assert tf.reduce_sum(v).numpy() == 3.0 and v[1].numpy() == 2.0 and (v * 2.0).numpy().tolist() == [2.0, 4.0]
    assert str(v) == repr(v) and str(v).startswith("MirroredVariable:{\n  0: <tf.Variable 'Variable:0'")
    with strategy.scope():
        whole = tf.Variable(3)
    assert int(whole) == 3 and float(whole) == 3.0 and bool(whole)


def test_a_graph_reads_no_numbers(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    for read in (lambda: v.numpy(), lambda: np.array(v), lambda: copy.deepcopy(v)):
        with pytest.raises(NotImplementedError):
            tf.function(read, autograph=False)()


@pytest.mark.parametrize("keyword", [True, False])
def test_writing(strategy, keyword):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    if keyword:
        assert values(v.assign(value=[3.0, 4.0])) == [[3.0, 4.0]] * 2
        assert values(v.assign_add(delta=[1.0, 1.0])) == [[4.0, 5.0]] * 2
        v.scatter_update(sparse_delta=tf.IndexedSlices(tf.constant([9.0]), tf.constant([0])))
        v.scatter_nd_sub(indices=[[1]], updates=[0.5])
    else:
        assert values(v.assign([3.0, 4.0])) == [[3.0, 4.0]] * 2
        assert values(v.assign_add([1.0, 1.0])) == [[4.0, 5.0]] * 2
        v.scatter_update(tf.IndexedSlices(tf.constant([9.0]), tf.constant([0])))
        v.scatter_nd_sub([[1]], [0.5])
    assert values(v) == [[9.0, 4.5]] * 2
    assert v.assign_sub([1.0, 1.0], read_value=False) is None and values(v) == [[8.0, 3.5]] * 2
    assert v.assign.__name__ == "assign" and v.scatter_nd_sub.__name__ == "scatter_nd_sub"
    x = strategy.run(lambda: number() * [1.0, 10.0])
    assert values(v.assign(x)) == [[1.0, 10.0], [2.0, 20.0]]


def test_writes_of_rows(strategy):
    with strategy.scope():
        v = tf.Variable([4.0, 6.0, 8.0])
    for name, expected in {
        "scatter_add": [4.0, 6.0, 10.0], "scatter_mul": [4.0, 6.0, 20.0], "scatter_div": [4.0, 6.0, 10.0],
        "scatter_max": [4.0, 6.0, 10.0], "scatter_min": [4.0, 6.0, 2.0], "scatter_sub": [4.0, 6.0, 0.0],
    }.items():  # fmt: skip
        getattr(v, name)(tf.IndexedSlices(tf.constant([2.0]), tf.constant([2])))
        assert values(v) == [expected] * 2, name


def test_writing_in_replicas(strategy):
    with strategy.scope():
        plain, total, first = (
            tf.Variable(1.0, aggregation=a) for a in (AGGREGATION.NONE, AGGREGATION.SUM, AGGREGATION.ONLY_FIRST_REPLICA)
        )
    written = strategy.run(lambda: (plain.assign_add(number()), total.assign(number()), first.assign(5.0 * number())))
    assert [values(w) for w in written] == [[2.0, 3.0], [3.0, 3.0], [5.0, 5.0]]
    assert [values(v) for v in (plain, total, first)] == [[2.0, 3.0], [3.0, 3.0], [5.0, 5.0]]
    assert values(strategy.run(lambda: plain.read_value() * 10.0)) == [20.0, 30.0]
    strategy.run(lambda: first.assign(7.0))
    assert values(first) == [7.0, 7.0]


def test_updates_write_one_copy(strategy):
    v, mirrored = on_read(strategy), None
    with strategy.scope():
        mirrored = tf.Variable(0.0, aggregation=AGGREGATION.SUM)
    for variable in (v, mirrored):
        index = iter((1.0, 2.0))
        strategy.extended.update(variable, lambda copy, x: copy.assign(next(x)), args=(index,))
        assert values(variable) == [1.0, 2.0]
        seen = []
        strategy.extended.update(variable, lambda copy, of=variable, to=seen: to.append(float(of)))
        assert seen == [1.0, 2.0]  # the whole variable is the copy there


@pytest.mark.parametrize(
    ("aggregation", "read"), [(AGGREGATION.SUM, 3.0), (AGGREGATION.MEAN, 1.5), (AGGREGATION.ONLY_FIRST_REPLICA, 1.0)]
)
def test_reading_reduces(strategy, aggregation, read):
    v = on_read(strategy, aggregation=aggregation)
    strategy.run(lambda: v.assign(number()))
    assert float(v.read_value()) == float(v) == read
    assert values(strategy.run(lambda: v.read_value())) == [1.0, 2.0]
    assert float(tf.function(lambda: v + 0.5)()) == read + 0.5
    with strategy.scope():
        assert float(v.read_value()) == read


def test_a_sum_is_shared_out(strategy):
    v = on_read(strategy)
    assert float(v.assign(10.0)) == 10.0 and values(v) == [5.0, 5.0]
    assert v.assign(6.0, read_value=False) is None and values(v) == [3.0, 3.0]
    v.assign(strategy.run(number))  # each copy its own
    assert values(v) == [1.0, 2.0] and float(v) == 3.0
    whole = on_read(strategy, 0, dtype=tf.int64)
    whole.assign(10)
    assert values(whole) == [5, 5] and whole.read_value().dtype == tf.int64
    with pytest.raises(ValueError, match="does not support `assign_sub` in cross-replica context"):
        v.assign_sub(1.0)
    mean = on_read(strategy, aggregation=AGGREGATION.MEAN)
    assert float(mean.assign(4.0)) == 4.0 and float(mean.assign_sub(1.0)) == 3.0 and values(mean) == [3.0, 3.0]
    with pytest.raises(NotImplementedError, match="doesn't support `scatter_sub`"):
        mean.scatter_sub(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))


def test_one_replica_reads_its_copy():
    strategy = tf.distribute.MirroredStrategy(["CPU:1"])
    for aggregation in (AGGREGATION.NONE, AGGREGATION.SUM):
        v = on_read(strategy, 3.0, aggregation)
        assert float(v) == 3.0 and v.device.endswith("CPU:1")
        assert float(v.assign(4.0)) == 4.0 and values(v) == [4.0]


def test_copies_of_variables(strategy):
    with strategy.scope():
        v = tf.Variable([1.0], aggregation=AGGREGATION.MEAN)
    other = copy.deepcopy(v)
    v.assign([2.0])
    assert type(other) is type(v) and values(other) == [[1.0], [1.0]] and other.aggregation is AGGREGATION.MEAN
    assert other.distribute_strategy is strategy
    pair = copy.deepcopy([v, v])
    assert pair[0] is pair[1] is not v and values(pair[0]) == [[2.0], [2.0]]
    assert strategy.extended.value_container(pair[0].values[1]) is pair[0]


def test_synchronization_none(strategy):
    with strategy.scope(), pytest.raises(ValueError, match=r"`NONE` variable synchronization mode .* variable: v"):
        tf.Variable(1.0, synchronization=SYNCHRONIZATION.NONE, name="v")


def test_gradients_of_copies(strategy):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])

    def replica():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v) * number()
        return tape.gradient(y, v)

    assert values(strategy.run(replica)) == [[2.0, 4.0], [4.0, 8.0]]
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]


def test_saved_sums_are_shared_out(strategy, tmp_path):
    v, mean = on_read(strategy), on_read(strategy, aggregation=AGGREGATION.MEAN)
    v.assign(6.0)
    mean.assign(4.0)
    path = tf.train.Checkpoint(v=v, mean=mean).write(str(tmp_path / "c"))
    v.assign(0.0)
    mean.assign(0.0)
    tf.train.Checkpoint(v=v, mean=mean).read(path)
    assert values(v) == [3.0, 3.0] and values(mean) == [4.0, 4.0] and float(v) == 6.0
