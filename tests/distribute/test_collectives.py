"""Collectives in a group of one worker: how values are packed, and when reductions start."""

import re

import pytest
import torch.distributed as c10d

import tapeflow as tf
from tapeflow.distribute import collectives, workers
from tapeflow.distribute.multi_worker import MultiWorkerExtended
from tapeflow.distribute.replica_reductions import ReduceOp


@pytest.fixture
def group():
    group = workers.WorkerGroup(c10d.HashStore(), 0, 1, "localhost", 60.0, bytes_per_pack=128)
    yield group
    del workers.groups[group.key]


def test_values_are_summed_in_packs(group):
    sizes = [8, 16, 40, 4, 12]
    values = [tf.fill([n], float(n)) for n in sizes]
    sums = collectives.all_reduce(group, ReduceOp.MEAN, [*values, tf.constant([6])], replicas=2)
    assert [s.numpy().tolist() for s in sums] == [*([n / 2.0] * n for n in sizes), [3.0]]
    assert group.collectives == 4  # 12 and 4 numbers, 40 alone, 16 and 8, and those of another dtype
    assert group.bytes_sent == 4 * sum(sizes) + 4
    assert [len(p) for p in collectives._pack_indices(values, 0)] == [5]


def test_reductions_start_while_gradients_are_computed(group):
    layers = [tf.Variable(tf.ones([512, 512])) for _ in range(3)]

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as tape:
            y = x
            for layer in layers:
                y = tf.tanh(y @ layer)
        gradients = collectives.all_reduce(group, ReduceOp.SUM, tape.gradient(y, layers), replicas=1)
        for layer, gradient in zip(layers, gradients, strict=True):
            layer.assign_sub(gradient)

    step(tf.ones([80, 512]))
    source = step.get_concrete_function(tf.ones([80, 512])).source()
    order = re.findall(r"op_(?:Tanh)?(TanhGrad|StartAllReduce|FinishAllReduce|AssignSub)", source)
    assert order == ["TanhGrad", "StartAllReduce"] * 3 + ["FinishAllReduce"] * 3 + ["AssignSub"] * 3
    assert group.collectives == 3


def test_an_error_stays(group):
    group._error = tf.errors.UnavailableError(None, None, "gone")
    with pytest.raises(tf.errors.UnavailableError, match="An earlier collective failed: gone"):
        collectives.all_gather(group, tf.constant([1]), 0)


@pytest.mark.usefixtures("two_cpus")
def test_a_worker_with_several_replicas(group):
    """What leaves the worker is the sum over its replicas; with no other worker, it trains as MirroredStrategy."""
    strategy = tf.distribute.Strategy.__new__(tf.distribute.MultiWorkerMirroredStrategy)
    tf.distribute.Strategy.__init__(
        strategy, MultiWorkerExtended(strategy, ["device:CPU:0", "device:CPU:1"], group, "worker", 0)
    )
    with strategy.scope():
        v = tf.Variable(1.0)
        total = tf.Variable(
            0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM
        )

    def replica(x):
        context = tf.distribute.get_replica_context()
        total.assign_add(x[0])
        with tf.GradientTape() as tape:
            loss = v * tf.reduce_sum(x)
        (gradient,) = context.all_reduce("SUM", [tape.gradient(loss, v)])
        context.merge_call(
            lambda s, g: s.extended.update(v, lambda v, g: v.assign_sub(0.1 * g), args=(g,)), args=(gradient,)
        )
        return context.all_reduce("MEAN", x), context.all_gather(x, 0), v + 0.0

    dataset = tf.data.Dataset.range(1, 5).map(lambda x: tf.cast(x, tf.float32)).batch(4)
    (batch,) = strategy.experimental_distribute_dataset(dataset)
    assert [x.numpy().tolist() for x in batch.values] == [[1.0, 2.0], [3.0, 4.0]]
    for run in (strategy.run, tf.function(strategy.run)):
        v.assign(1.0)
        mean, joined, after = run(replica, args=(batch,))
        assert [m.numpy().tolist() for m in strategy.experimental_local_results(mean)] == [[2.0, 3.0]] * 2
        assert [j.numpy().tolist() for j in strategy.experimental_local_results(joined)] == [[1.0, 2.0, 3.0, 4.0]] * 2
        assert [float(a) for a in after.values] == pytest.approx([0.0, 0.0], abs=1e-7)  # of 0.1 * 10
    assert float(total.read_value()) == 8.0
    assert float(strategy.reduce("SUM", batch, axis=0)) == 10.0
    assert float(strategy.reduce("MEAN", batch, axis=0)) == 2.5
    assert strategy.gather(batch, axis=0).numpy().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert strategy.num_replicas_in_sync == 2
