"""Collectives in a group of one worker: how values are packed, and when reductions start."""

import re

import pytest
import torch.distributed as c10d

import tapeflow as tf
from tapeflow.distribute import collectives, workers
from tapeflow.distribute.reducing import ReduceOp


@pytest.fixture
def group():
    group = workers.WorkerGroup(c10d.HashStore(), 0, 1, "localhost", 60.0, bytes_per_pack=128)
    yield group
    workers.groups.remove(group)


def test_values_are_summed_in_packs(group):
    sizes = [8, 16, 40, 4, 12]
    values = [tf.fill([n], float(n)) for n in sizes]
    sums = collectives.all_reduce(group, ReduceOp.MEAN, [*values, tf.constant([6])], replicas=2)
    assert [s.numpy().tolist() for s in sums] == [*([n / 2.0] * n for n in sizes), [3.0]]
    assert group.collectives == 4  # 12 and 4 numbers, 40 alone, 16 and 8, and those of another dtype
    assert group.bytes_sent == 4 * sum(sizes) + 4
    assert [len(p) for p in collectives._packs(values, 0)] == [5]


def test_reductions_start_while_gradients_are_computed(group):
    layers = [tf.Variable(tf.ones([6, 6])) for _ in range(3)]

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as tape:
            y = x
            for layer in layers:
                y = tf.tanh(y @ layer)
        gradients = collectives.all_reduce(group, ReduceOp.SUM, tape.gradient(y, layers), replicas=1)
        for layer, gradient in zip(layers, gradients, strict=True):
            layer.assign_sub(gradient)

    step(tf.ones([2, 6]))
    source = step.get_concrete_function(tf.ones([2, 6])).source()
    order = re.findall(r"op_(TanhGrad|StartAllReduce|FinishAllReduce|AssignSub)", source)
    assert order == ["TanhGrad", "StartAllReduce"] * 3 + ["FinishAllReduce"] * 3 + ["AssignSub"] * 3
    assert group.collectives == 3


def test_an_error_stays(group):
    group._error = tf.errors.UnavailableError(None, None, "gone")
    with pytest.raises(tf.errors.UnavailableError, match="An earlier collective failed: gone"):
        collectives.all_gather(group, tf.constant([1]), 0)
