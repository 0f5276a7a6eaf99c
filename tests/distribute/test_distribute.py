"""Strategies on two logical CPUs. What is expected is what TensorFlow 2.21 gave."""

import threading

import numpy as np
import pytest

import tapeflow as tf

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
AGGREGATION = tf.VariableAggregation
ONE_VALUE = type(tf.Variable(1.0))  # of variables that have no copies


pytestmark = pytest.mark.usefixtures("two_cpus")


def replica_id():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def number():
    """1.0 in the first replica, 2.0 in the second."""
    return 1.0 + tf.cast(replica_id(), tf.float32)


def values(distributed):
    return [np.asarray(v).tolist() for v in distributed.values]


# ---- where a program is ----------------------------------------------------------------------------------------------


def test_the_default_strategy():
    default = tf.distribute.get_strategy()
    assert not tf.distribute.has_strategy()
    assert not tf.distribute.in_cross_replica_context()
    assert default.num_replicas_in_sync == 1
    assert tf.distribute.get_replica_context().replica_id_in_sync_group == 0
    assert default.run(lambda x: x + 1, args=(tf.constant(1),)).numpy() == 2
    assert default.reduce("mean", tf.constant([1.0, 3.0]), axis=0).numpy() == 2.0
    x = tf.constant([1.0, 2.0])
    assert default.reduce("SUM", x, axis=None) is x
    assert default.gather(x, axis=0) is x
    assert default.experimental_local_results(x) == (x,)
    assert tf.distribute.get_replica_context().all_reduce(SUM, [x])[0] is x
    with default.scope() as entered:
        assert entered is default
    merged = tf.distribute.get_replica_context().merge_call(
        lambda s, y: (s is default, y, tf.distribute.in_cross_replica_context()), args=(3,)
    )
    assert merged == (True, 3, True)
    with pytest.raises(RuntimeError, match="unsupported by default"):
        _ = default.extended.worker_devices


def test_scopes(strategy):
    default = tf.distribute.get_strategy()
    with strategy.scope() as entered:
        assert entered is strategy is tf.distribute.get_strategy()
        assert tf.distribute.has_strategy()
        assert tf.distribute.get_replica_context() is None
        assert tf.distribute.in_cross_replica_context()
        with strategy.scope():
            pass
        assert tf.distribute.get_strategy() is strategy
        with pytest.raises(RuntimeError, match="Mixing different"), tf.distribute.MirroredStrategy(["CPU:1"]).scope():
            pass
    assert tf.distribute.get_strategy() is default
    with pytest.raises(RuntimeError, match="requires being in cross-replica context"):
        strategy.run(lambda: strategy.scope().__enter__())
    with pytest.raises(RuntimeError, match="requires being in cross-replica context"):
        strategy.run(lambda: strategy.reduce("SUM", 1.0, axis=None))


def test_set_strategy(strategy):
    tf.distribute.experimental_set_strategy(strategy)
    try:
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.in_cross_replica_context()
        assert len(tf.Variable(1.0).values) == 2
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()
    assert type(tf.Variable(1.0)) is ONE_VALUE


def test_devices(strategy):
    prefix = "/job:localhost/replica:0/task:0/device:CPU:"
    assert strategy.extended.worker_devices == (f"{prefix}0", f"{prefix}1")
    assert strategy.extended._global_batch_size  # which Keras 2 asks for
    assert tf.distribute.MirroredStrategy().extended.worker_devices == (f"{prefix}0", f"{prefix}1")
    assert strategy.run(lambda: tf.constant(1).device).values == (f"{prefix}0", f"{prefix}1")
    with pytest.raises(AssertionError, match="No duplicates allowed"):
        tf.distribute.MirroredStrategy(["CPU:0", "/cpu:0"])
    with pytest.raises(ValueError, match="list of names"):
        tf.distribute.MirroredStrategy("CPU:0")


# ---- run -------------------------------------------------------------------------------------------------------------


def test_run_gives_what_the_replicas_gave(strategy):
    ids = strategy.run(replica_id)
    assert isinstance(ids, tf.distribute.DistributedValues)
    assert str(ids) == (
        "PerReplica:{\n  0: tf.Tensor(0, shape=(), dtype=int32),\n  1: tf.Tensor(1, shape=(), dtype=int32)\n}"
    )
    assert repr(ids._type_spec) == (
        "PerReplicaSpec(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorSpec(shape=(), dtype=tf.int32, "
        "name=None))"
    )
    assert [int(t) for t in tf.nest.flatten(ids, expand_composites=True)] == [0, 1]
    assert strategy.run(lambda: None) is None
    same, text, (different,) = strategy.run(lambda: (strategy, "a", [replica_id()]))
    assert (same, text) == (strategy, "a")
    assert values(different) == [0, 1]
    assert values(strategy.run(lambda a, b: a * b, args=(ids,), kwargs={"b": 10})) == [0, 10]
    assert strategy.experimental_local_results((different, 1)) == ((different.values[0], 1), (different.values[1], 1))
    assert strategy.experimental_run_v2(lambda: 1) == 1
    with pytest.raises(ValueError, match="while not inside a replica context"):
        tf.convert_to_tensor(ids)


def test_an_error_in_a_replica(strategy):
    with pytest.raises(ZeroDivisionError):
        strategy.run(lambda: 1 / int(replica_id()))
    meets = lambda: tf.distribute.get_replica_context().merge_call(lambda s: 1)  # noqa: E731
    with pytest.raises(RuntimeError, match="different number of replica_context"):
        strategy.run(lambda: meets() if int(replica_id()) == 0 else 2)
    assert strategy.run(meets) == 1


def test_a_replica_that_fails_before_its_function_stops_the_run(strategy, monkeypatch):
    def inherit(self):
        return [(object(), {})]  # which has no `vars` to update

    monkeypatch.setattr("tapeflow.distribute.mirrored._ReplicaThread._state_to_inherit", inherit)
    outcome = []

    def run():
        try:
            strategy.run(lambda: tf.constant(1.0))
        except TypeError as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert outcome


def test_merge_call(strategy):
    def merge(s, ids, factor=1):
        assert s is strategy
        assert tf.distribute.get_replica_context() is None
        return s.reduce(SUM, ids, axis=None) * factor, ids

    def replica():
        context = tf.distribute.get_replica_context()
        total, mine = context.merge_call(merge, args=(replica_id(),), kwargs={"factor": 3})
        assert tf.distribute.get_replica_context() is context
        return total, mine

    total, mine = strategy.run(replica)
    assert total.numpy() == 3
    assert values(mine) == [0, 1]


def test_all_reduce_and_all_gather(strategy):
    def replica():
        context = tf.distribute.get_replica_context()
        reduced = context.all_reduce("SUM", {"a": number(), "b": [2.0 * number()]})
        mean = context.all_reduce(MEAN, number())
        gathered = context.all_gather(tf.fill([int(replica_id()) + 1, 1], number()), axis=0)
        return reduced, mean, gathered

    reduced, mean, gathered = strategy.run(replica)
    assert values(reduced["a"]) == [3.0, 3.0]
    assert values(reduced["b"][0]) == [6.0, 6.0]
    assert values(mean) == [1.5, 1.5]
    assert values(gathered) == [[[1.0], [2.0], [2.0]]] * 2
    with pytest.raises(ValueError, match="'MAX' is not a valid ReduceOp"):
        strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("MAX", 1.0))


def test_all_reduce_of_a_tensor_from_outside(strategy):
    outside = tf.constant([2.0])

    def replica():
        context = tf.distribute.get_replica_context()
        own = context.all_reduce(SUM, [outside, number()])
        return own, context.all_gather(outside, 0), context.all_reduce(SUM, 5.0)

    (same, own), gathered, number_of_python = strategy.run(replica)
    assert values(same) == [[2.0], [2.0]] and values(own) == [3.0, 3.0]
    assert np.asarray(strategy.experimental_local_results(gathered)[0]).tolist() == [2.0]
    assert values(number_of_python) == [10.0, 10.0]
    with strategy.scope():
        assert strategy.extended.batch_reduce_to(SUM, [(outside, outside)])[0].numpy().tolist() == [2.0]
        with pytest.raises(ValueError, match="A non-DistributedValues value"):
            strategy.extended.reduce_to(SUM, outside, outside)


def test_all_reduce_of_sparse_gradients(strategy):
    def replica():
        slices = tf.IndexedSlices(number()[None, None], tf.fill([1], replica_id()), tf.constant([3, 1]))
        return tf.convert_to_tensor(tf.distribute.get_replica_context().all_reduce(SUM, slices))

    assert values(strategy.run(replica)) == [[[1.0], [2.0], [0.0]]] * 2


def test_gradients_pass_collectives(strategy):
    def replica():
        context = tf.distribute.get_replica_context()
        x = tf.fill([2], number())
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            total = context.all_reduce(SUM, x) * number()
            gathered = context.all_gather(x, axis=0) * tf.range(4.0)
        return tape.gradient(total, x), tape.gradient(gathered, x)

    total, gathered = strategy.run(replica)
    assert values(total) == [[3.0, 3.0]] * 2
    assert values(gathered) == [[0.0, 2.0], [4.0, 6.0]]


def test_an_outer_tape_sees_the_replicas(strategy):
    with strategy.scope():
        v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.watch(v.values)
        loss = strategy.reduce(SUM, strategy.run(lambda: v * v * number()), axis=None)
    assert [g.numpy() for g in tape.gradient(loss, list(v.values))] == [6.0, 12.0]


# ---- reductions ------------------------------------------------------------------------------------------------------


def test_reduce(strategy):
    f = strategy.run(lambda: tf.fill([2], number()))
    assert strategy.reduce("SUM", f, axis=None).numpy().tolist() == [3.0, 3.0]
    assert strategy.reduce(MEAN, f, axis=None).numpy().tolist() == [1.5, 1.5]
    assert strategy.reduce("SUM", f, axis=0).numpy() == 6.0
    assert strategy.reduce("MEAN", f, axis=0).numpy() == 1.5
    assert strategy.reduce("SUM", {"a": f, "b": (f,)}, axis=None)["b"][0].numpy().tolist() == [3.0, 3.0]
    assert strategy.reduce("MEAN", strategy.run(replica_id), axis=None).dtype is tf.float64
    assert strategy.reduce("MEAN", tf.constant(2.0), axis=None).numpy() == 2.0
    assert strategy.reduce("SUM", tf.constant([2.0, 2.0]), axis=0).numpy() == 8.0
    uneven = strategy.run(lambda: tf.ones([2]) if int(replica_id()) == 0 else tf.constant([4.0]))
    assert strategy.reduce("MEAN", uneven, axis=0).numpy() == 2.0
    with pytest.raises(ValueError, match=r"A non-DistributedValues value 2\.0 cannot be reduced"):
        strategy.reduce("SUM", 2.0, axis=None)
    with pytest.raises(ValueError, match="'MAX' is not a valid ReduceOp"):
        strategy.reduce("MAX", f, axis=None)


def test_gather(strategy):
    f = strategy.run(lambda: tf.fill([2], number()))
    assert strategy.gather(f, axis=0).numpy().tolist() == [1.0, 1.0, 2.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        strategy.gather(strategy.run(replica_id), axis=0)


@pytest.mark.parametrize(
    "ops",
    [
        tf.distribute.ReductionToOneDevice(),
        tf.distribute.ReductionToOneDevice("CPU:1", accumulation_fn=tf.add_n),
        tf.distribute.HierarchicalCopyAllReduce(),
        tf.distribute.NcclAllReduce(num_packs=2),
    ],
)
def test_cross_device_ops(ops):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=ops)
    f = strategy.run(number)
    assert values(ops.reduce(SUM, f, f)) == [3.0, 3.0]
    assert [values(r) for r in ops.batch_reduce(MEAN, [(f, f)])] == [[1.5, 1.5]]
    copies = ops.broadcast(tf.constant(1.0), f)
    assert [v.device[-1] for v in copies.values] == ["0", "1"]
    assert values(strategy.run(lambda: tf.distribute.get_replica_context().all_reduce(SUM, number()))) == [3.0, 3.0]
    with pytest.raises(ValueError, match=r"must be Reduce\.SUM or Reduce\.MEAN"):
        ops.reduce("SUM", f, f)


def test_reduce_to_and_update(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    f = strategy.run(number)
    with strategy.scope():
        assert values(strategy.extended.reduce_to(SUM, f, v)) == [3.0, 3.0]
        assert values(strategy.extended.update(v, lambda a, b: a.assign(b), args=(7.0,))) == [7.0, 7.0]
        assert [float(r) for r in strategy.extended.update(v, lambda a, b: b, args=(f,), group=False)] == [1.0, 2.0]
        strategy.extended.update(v, lambda a, b: b.assign(a - 1.0), args=(v,))
    assert values(v) == [6.0, 6.0]
    assert strategy.extended.value_container(v.values[1]) is v
    assert strategy.extended.variable_created_in_scope(v)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    with pytest.raises(ValueError, match="must only be passed a variable created in this"):
        strategy.extended.colocate_vars_with(tf.Variable(1.0))


# ---- variables -------------------------------------------------------------------------------------------------------


def test_mirrored_variables(strategy):
    with strategy.scope():
        v = tf.Variable(lambda: tf.random.normal([]), name="v")
    assert isinstance(v, tf.Variable)
    assert isinstance(v, tf.distribute.DistributedValues)
    assert [c.name for c in v.values] == ["v:0", "v/replica_1:0"]
    assert values(v)[0] == values(v)[1]
    v.assign(1.0)
    assert repr(v) == (
        "MirroredVariable:{\n  0: <tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>,\n"
        "  1: <tf.Variable 'v/replica_1:0' shape=() dtype=float32, numpy=1.0>\n}"
    )
    assert (v.name, v.dtype, v.shape.rank, v.trainable) == ("v:0", tf.float32, 0, True)
    assert v.synchronization is tf.VariableSynchronization.ON_WRITE
    assert (v + 1).numpy() == v.numpy() + 1 == float(v) + 1 == 2.0
    assert values(v.assign_add(2.0)) == [3.0, 3.0]
    assert values(v.assign_sub(strategy.run(number))) == [2.0, 1.0]
    with strategy.scope(), pytest.raises(ValueError, match="`NONE` variable synchronization mode is not supported"):
        tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)


def test_mirrored_variables_in_replicas(strategy):
    with strategy.scope():
        plain, summed, mean, first = (
            tf.Variable(1.0, aggregation=a)
            for a in (AGGREGATION.NONE, AGGREGATION.SUM, AGGREGATION.MEAN, AGGREGATION.ONLY_FIRST_REPLICA)
        )
    assert values(strategy.run(lambda: plain + number())) == [2.0, 3.0]
    strategy.run(lambda: plain.assign(number()))
    assert values(plain) == [1.0, 2.0]
    assert values(strategy.run(lambda: summed.assign_add(number()))) == [4.0, 4.0]
    assert values(summed) == [4.0, 4.0]
    strategy.run(lambda: mean.assign(number()))
    assert values(mean) == [1.5, 1.5]
    assert strategy.run(lambda: mean.assign(5.0, read_value=False)) is None
    assert values(mean) == [5.0, 5.0]
    strategy.run(lambda: first.assign_sub(number()))
    assert values(first) == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"A non-DistributedValues value 5\.0"):
        strategy.run(lambda: summed.assign(5.0))


def test_rows_of_mirrored_variables(strategy):
    with strategy.scope():
        v = tf.Variable([[0.0], [0.0]], aggregation=AGGREGATION.SUM)
    row = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([1]))
    v.scatter_add(row)
    assert values(v) == [[[0.0], [1.0]]] * 2
    strategy.run(lambda: v.scatter_add(tf.IndexedSlices(number()[None, None], tf.fill([1], replica_id()))))
    assert values(v) == [[[1.0], [3.0]]] * 2


@pytest.mark.parametrize(
    ("aggregation", "read", "written"), [("SUM", 5.0, 5.0), ("MEAN", 2.5, 10.0), ("ONLY_FIRST_REPLICA", 2.0, 10.0)]
)
def test_sync_on_read(strategy, aggregation, read, written):
    with strategy.scope():
        v = tf.Variable(
            1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=getattr(AGGREGATION, aggregation)
        )
    assert not v.trainable
    strategy.run(lambda: v.assign_add(number()))
    assert values(v) == [2.0, 3.0]
    assert (v + 0.0).numpy() == v.numpy() == v.read_value().numpy() == read
    assert values(strategy.run(lambda: v + 0.0)) == [2.0, 3.0]
    assert v.assign(10.0).numpy() == 10.0
    assert values(v) == [written] * 2
    if aggregation == "SUM":
        with pytest.raises(ValueError, match="does not support `assign_add` in cross-replica context"):
            v.assign_add(1.0)
    else:
        assert v.assign_add(1.0).numpy() == 11.0
    with pytest.raises(NotImplementedError, match="doesn't support `scatter_add`"):
        v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))


def test_sync_on_read_that_is_trained(strategy):
    with strategy.scope():
        v = tf.Variable(3.0, True, synchronization=tf.VariableSynchronization.ON_READ, aggregation=AGGREGATION.SUM)

    def replica():
        with tf.GradientTape() as tape:
            y = v * number()
        return tape.gradient(y, v), tape.watched_variables()[0] is v

    gradients, whole = strategy.run(replica)
    assert v.trainable and whole and values(gradients) == [1.0, 2.0]
    assert v.numpy() == 6.0


def test_where_copies_are(strategy):
    names = strategy.extended.worker_devices
    for synchronization in (tf.VariableSynchronization.ON_WRITE, tf.VariableSynchronization.ON_READ):
        with strategy.scope():
            v = tf.Variable([1.0], synchronization=synchronization, aggregation=AGGREGATION.SUM)
        v.assign([2.0])
        assert tuple(copy.device for copy in v.values) == names
        assert v.device == names[0] and strategy.run(lambda v=v: v.device).values == names
    with tf.device("CPU:1"):
        w = tf.Variable(1.0)
    w.assign(2.0)
    assert w.device == w.handle.device == names[1] and (w + 1.0).device == names[0]


def test_kinds_of_distributed_values(strategy):
    distributed = tf.types.experimental.distributed
    with strategy.scope():
        v = tf.Variable([1.0])
        total = strategy.extended.reduce_to(SUM, strategy.run(lambda: tf.ones([1])), v)
    assert isinstance(strategy.run(replica_id), distributed.PerReplica)
    assert isinstance(v, distributed.Mirrored) and isinstance(total, distributed.Mirrored)
    assert str(total).startswith("Mirrored:{")


def test_sync_on_read_without_aggregation(strategy):
    with strategy.scope():
        v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)
    with pytest.raises(ValueError, match="Could not convert from"):
        v.numpy()


@pytest.mark.parametrize(
    ("synchronization", "aggregation", "saved", "restored"),
    [("ON_READ", "SUM", 3.0, 1.5), ("ON_READ", "MEAN", 1.5, 1.5), ("ON_READ", "ONLY_FIRST_REPLICA", 1.0, 1.0),
     ("ON_WRITE", "SUM", 3.0, 3.0), ("ON_WRITE", "MEAN", 1.5, 1.5), ("ON_WRITE", "NONE", 1.0, 1.0)],
)  # fmt: skip
def test_variables_in_checkpoints(strategy, tmp_path, synchronization, aggregation, saved, restored):
    how = {
        "trainable": False,
        "synchronization": tf.VariableSynchronization[synchronization],
        "aggregation": AGGREGATION[aggregation],
    }
    with strategy.scope():
        v = tf.Variable(0.0, **how)
    strategy.run(lambda: v.assign(number()))
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(tmp_path / "ckpt")
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == saved
    v.assign(8.0)
    checkpoint.read(path).assert_consumed()
    assert values(v) == [restored, restored]

    later = tf.train.Checkpoint()
    later.read(path)
    with strategy.scope():
        later.v = tf.Variable(9.0, **how)
    assert values(later.v) == [restored, restored]
    alone = tf.Variable(0.0)
    tf.train.Checkpoint(v=alone).read(path)
    assert alone.numpy() == saved


def test_a_variable_made_in_the_replicas_is_one(strategy):
    made = strategy.run(lambda: tf.Variable(number(), aggregation=AGGREGATION.SUM))
    assert values(made) == [1.0, 1.0]
    assert made.aggregation is AGGREGATION.SUM


def test_training(strategy):
    """Two replicas with half of the batch each do what one does with all of it."""
    x = tf.constant([[1.0], [2.0], [3.0], [4.0]])
    y = 3.0 * x
    with strategy.scope():
        w = tf.Variable([[0.0]], aggregation=AGGREGATION.MEAN)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ w - y) ** 2) / 4.0
        (gradient,) = tf.distribute.get_replica_context().all_reduce(SUM, [tape.gradient(loss, w)])
        w.assign_sub(0.05 * gradient)
        return loss

    parts = [strategy.experimental_distribute_values_from_function(
        lambda c, t=t: t[2 * c.replica_id_in_sync_group :][:2]) for t in (x, y)]  # fmt: skip
    losses = [strategy.reduce(SUM, strategy.run(step, args=parts), axis=None).numpy() for _ in range(20)]
    alone, expected = tf.Variable([[0.0]]), []
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ alone - y) ** 2) / 4.0
        alone.assign_sub(0.05 * tape.gradient(loss, alone))
        expected.append(loss.numpy())
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    np.testing.assert_allclose(values(w), [alone.numpy()] * 2, rtol=1e-6)


# ---- other strategies ------------------------------------------------------------------------------------------------


def test_one_device():
    strategy = tf.distribute.OneDeviceStrategy("CPU:1")
    with strategy.scope():
        v = tf.Variable(1.0)
        assert tf.distribute.in_cross_replica_context()
    assert type(v) is ONE_VALUE
    assert strategy.run(lambda: tf.constant(1.0).device).endswith("CPU:1")
    assert strategy.run(lambda: v.assign_add(1.0)).numpy() == 2.0
    assert strategy.reduce("SUM", tf.constant([1.0, 2.0]), axis=0).numpy() == 3.0
    assert strategy.experimental_local_results(1.0) == (1.0,)
    assert strategy.experimental_distribute_values_from_function(lambda c: 5) == 5


@pytest.mark.parametrize("kind", [tf.distribute.OneDeviceStrategy, tf.distribute.experimental.CentralStorageStrategy])
def test_variables_of_a_strategy_with_one_device_are_its_own(kind):
    strategy = kind("CPU:0") if kind is tf.distribute.OneDeviceStrategy else kind(["CPU:0"])
    with strategy.scope():
        v = tf.Variable(1.0)
        with strategy.extended.colocate_vars_with(v):  # as Keras does for the variables of optimizers
            assert type(tf.Variable(2.0)) is ONE_VALUE
    assert strategy.extended.variable_created_in_scope(v)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert not tf.distribute.get_strategy().extended.variable_created_in_scope(v)


def test_one_mirrored_replica():
    strategy = tf.distribute.MirroredStrategy(["CPU:1"])
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=AGGREGATION.SUM)
    assert type(v).__name__ == "MirroredVariable"
    result = strategy.run(lambda: tf.constant(2.0) + v)
    assert isinstance(result, tf.Tensor)
    assert strategy.reduce("SUM", result, axis=None).numpy() == 3.0

    def assigned():
        merged = tf.distribute.get_replica_context().merge_call(lambda s, x: x, args=(tf.constant(4.0),))
        return v.assign(merged, read_value=False)

    strategy.run(assigned)
    assert v.numpy() == 4.0


def test_a_strategy_for_several_workers_without_others():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1  # one CPU, however many logical ones there are
    assert strategy.cluster_resolver.cluster_spec() == tf.train.ClusterSpec({})
    assert strategy.reduce("SUM", strategy.run(number), axis=None).numpy() == 1.0


def test_only_the_first_replica_writes_summaries(strategy, tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=0):
        written = strategy.run(lambda: tf.summary.scalar("x", 1.0))
    assert values(written) == [True, False]


def test_contexts_for_input():
    context = tf.distribute.InputContext(2, 1, 4)
    assert str(context) == "tf.distribute.InputContext(input pipeline id 1, total: 2)"
    assert context.get_per_replica_batch_size(8) == 2
    with pytest.raises(ValueError, match="is not divisible by"):
        context.get_per_replica_batch_size(7)


# ---- in functions ----------------------------------------------------------------------------------------------------


def test_run_in_a_function(strategy):
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=AGGREGATION.MEAN)
        seen = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=AGGREGATION.SUM)
    traces = []

    def replica(x):
        traces.append(x)
        with tf.GradientTape() as tape:
            loss = v * x * number()
        (gradient,) = tf.distribute.get_replica_context().all_reduce(SUM, [tape.gradient(loss, v)])
        v.assign_sub(0.1 * gradient)
        seen.assign_add(x)
        return loss

    @tf.function
    def step(x):
        losses = strategy.run(replica, args=(x,))
        return strategy.reduce(SUM, losses, axis=None), losses

    total, losses = step(tf.constant(2.0))
    assert total.numpy() == 6.0
    assert values(losses) == [2.0, 4.0]
    np.testing.assert_allclose(values(v), [0.4, 0.4], rtol=1e-6)
    np.testing.assert_allclose(values(step(tf.constant(1.0))[1]), [0.4, 0.8], rtol=1e-6)
    assert seen.numpy() == 6.0
    assert len(traces) == 2  # one a replica
    each = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant(float(c.replica_id_in_sync_group))
    )
    np.testing.assert_allclose(values(step(each)[1]), [0.0, 0.2], rtol=1e-5)


def test_a_function_as_what_is_run(strategy):
    with strategy.scope():
        v = tf.Variable(0.0, aggregation=AGGREGATION.SUM)
    assert values(strategy.run(lambda: tf.function(lambda: replica_id() * 1)())) == [0, 1]
    strategy.run(tf.function(lambda x: v.assign_add(x * number())), args=(tf.constant(1.0),))
    assert values(v) == [3.0, 3.0]


def test_there_is_no_tpu():
    assert not isinstance(tf.distribute.get_strategy(), tf.distribute.TPUStrategy)
    with pytest.raises(tf.errors.NotFoundError, match="found no TPU"):
        tf.distribute.TPUStrategy()


@pytest.mark.usefixtures("two_cpus")
@pytest.mark.parametrize("replicas", [1, 2])
def test_methods_for_programs_of_tensorflow_1(replicas):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"][:replicas])

    def batches(values):
        return [v.numpy().tolist() for v in strategy.experimental_local_results(values)]

    dataset = tf.data.Dataset.range(6).batch(2)
    iterator = strategy.make_dataset_iterator(dataset)
    parts = [[[0, 2]], [[4, 6]]] if replicas == 1 else [[[0], [2]], [[4], [6]]]
    assert [batches(strategy.experimental_run(lambda x: x * 2, iterator)) for _ in range(2)] == parts
    assert iterator.initialize() is None
    assert batches(strategy.experimental_run(lambda x: x * 2, iterator)) == parts[0]
    whole = strategy.make_input_fn_iterator(lambda context: dataset)
    assert batches(whole.get_next()) == [[0, 1], [2, 3]][:replicas]
    assert strategy.experimental_run(lambda: 1) == 1
    assert strategy.configure() is None
    assert strategy.extended.should_checkpoint
    assert strategy.extended.should_save_summary
    with pytest.raises(ValueError, match="can't change its cluster"):
        strategy.configure(cluster_spec={"worker": ["a:1"]})


def test_cpus_share_a_memory_so_nothing_is_moved_between_them(strategy):
    @tf.function
    def step(x):
        return strategy.run(lambda: tf.nn.relu(tf.exp(x) * 2.0 + 1.0))

    x = tf.ones([512, 2])
    source = step.get_concrete_function(x).source()
    assert "placed" not in source
    assert source.count("op_Exp(") == 1  # what all replicas compute of the same values is computed once
    assert [v.numpy()[0, 0] for v in strategy.experimental_local_results(step(x))] == pytest.approx([6.43656] * 2)
