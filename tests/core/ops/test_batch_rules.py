"""Ops on all slices of a batch at once, by the rules of families. Slices are compared with each other."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import batch_rules
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices
from tapeflow.core.ops.definition import ops

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


def slices_of(value, shape, stacked=True):
    """Returns slices in a graph; `shape` is that of the tensor of one slice."""
    with tf.Graph().as_default():
        return Slices(value, tf.compat.v1.placeholder(value.dtype, shape), stacked)


def test_products_of_numbers():
    assert batch_rules.times(3, 4) == 12
    for a, b in ((3, tf.constant(4)), (tf.constant(3), 4), (tf.constant(3), tf.constant(4))):
        assert batch_rules.times(a, b).numpy() == 12


def test_counts_of_slices():
    assert Batch(3).count == 3 and type(Batch(tf.constant(3)).count) is int and Batch(tf.constant(3)).count == 3
    with tf.Graph().as_default():
        unknown = tf.compat.v1.placeholder(tf.int32, [])
        assert Batch(unknown).count is unknown and Batch(tf.constant(5)).count == 5
    batch = Batch(3, ops.Neg.op, ["output"])
    assert (
        batch.of_count(4).count == 4 and batch.of_count(4).op is ops.Neg.op and batch.of_count(4).outputs == ["output"]
    )
    other = batch.of_op(ops.Exp.op, [])
    assert (other.count, other.op, other.outputs) == (3, ops.Exp.op, [])
    assert batch.run(tf.constant([1.0])).numpy().tolist() == [-1.0]


def test_slices_as_batches():
    batch, x = Batch(2), tf.constant(X)
    stacked, shared = slices_of(x, [3, 4]), slices_of(x[0], [3, 4], stacked=False)
    assert stacked.rank == shared.rank == 2 and batch.dims(stacked) == batch.dims(shared) == [3, 4]
    assert batch.stack(stacked) is x and batch.stack(shared).numpy().tolist() == [X[0].tolist()] * 2
    assert batch.dims(slices_of(x, [None, 4])) == [3, 4] and batch.dims(slices_of(x[0], [None, 4], False)) == [3, 4]
    assert batch.lift(stacked, 4).shape == [2, 1, 1, 3, 4] and batch.lift(stacked, 2) is x
    assert batch.lift(shared, 4) is shared.value
    with pytest.raises(NoRule):
        slices_of(x, None).rank  # noqa: B018
    assert batch.reshape(x, [12]).shape == [2, 12]


def test_slices_joined_and_parted():
    batch, x = Batch(2), tf.constant(X)
    stacked, shared = slices_of(x, [3, 4]), slices_of(x[0], [3, 4], stacked=False)
    assert batch.flat(stacked).numpy().tolist() == X.reshape(6, 4).tolist()
    assert batch.flat(shared).numpy().tolist() == [*X[0].tolist(), *X[0].tolist()]
    for shape in ([3, 5], [None, 5], [None, None], None):
        joined = tf.reshape(tf.range(30), [6, 5])
        parted = batch.unflat(joined, slices_of(joined, shape).slice, stacked)
        assert parted.numpy().tolist() == np.arange(30).reshape(2, 3, 5).tolist()
    unknown = Batch(2)
    unknown.count = tf.constant(2)  # as if it were not static
    assert unknown.flat(stacked).shape == [6, 4] and unknown.flat(slices_of(x[:, :, :0], [3, 0])).shape == [6, 0]


def test_numbers_of_host_arguments():
    two = tf.constant([1, 2])
    assert batch_rules.static(3) == 3 and batch_rules.static((1, 2)) == (1, 2) and batch_rules.static(None) is None
    assert batch_rules.static(slices_of(two, [2], False)) == (1, 2)
    assert batch_rules.vector(3) == [3] and batch_rules.vector((1, 2)) == [1, 2]
    assert batch_rules.vector(slices_of(two, [2], False)) == [1, 2]
    for call in (batch_rules.static, batch_rules.vector):
        with pytest.raises(NoRule):
            call(slices_of(two, [], True))
    with tf.Graph().as_default():
        n = tf.compat.v1.placeholder(tf.int32, [])
        partial = tf.stack([3, n])
        first, second = batch_rules.vector(Slices(partial, partial, False))
        assert first == 3 and isinstance(second, tf.Tensor)
        for call in (batch_rules.static, batch_rules.vector):
            with pytest.raises(NoRule):
                call(Slices(n, n, False))
        with pytest.raises(NoRule):
            batch_rules.static(Slices(partial, partial, False))


def test_axes_behind_the_batch():
    assert batch_rules.behind(0) == 1 and batch_rules.behind(2) == 3 and batch_rules.behind(-1) == -1
    assert batch_rules.behind((0, -2, [1])) == (1, -2, (2,)) and batch_rules.behind([]) == ()


def test_rules_of_ops():
    assert batch_rules.rule_of(ops.Neg.op) is batch_rules.equal_shapes
    assert batch_rules.rule_of(ops.AddV2.op) is batch_rules.broadcasting
    assert batch_rules.rule_of(ops.Sum.op) is batch_rules.reducing
    assert batch_rules.rule_of(ops.MatMul.op) is ops.MatMul.op.batching is not None


def test_leading_dimensions():
    batch = Batch(2, ops.Neg.op)
    stacked, shared = slices_of(tf.constant(X), [3, 4]), slices_of(tf.constant(X[0]), [3, 4], stacked=False)
    assert batch_rules.leading_dimensions(batch, stacked).numpy().tolist() == (-X).tolist()
    for wrong in ((shared,), (stacked, stacked)):
        with pytest.raises(NoRule):
            batch_rules.leading_dimensions(batch, *wrong)


FUNCTIONS = [
    lambda x: x + 1.0,
    lambda x: x + tf.constant(X[0, 0]),
    lambda x: tf.constant(X[0]) - x[0],
    lambda x: x[0] * x,
    lambda x: tf.reduce_sum(x),
    lambda x: tf.reduce_max(x, 0),
    lambda x: tf.reduce_mean(x, -1, keepdims=True),
    lambda x: tf.reduce_sum(x, [0, 1]),
    lambda x: tf.cumsum(x, 0, exclusive=True),
    lambda x: tf.cumsum(x, -1, reverse=True),
    lambda x: tf.reverse(x, [0]),
    lambda x: tf.argmax(x, 0),
    lambda x: tf.matmul(x, x, transpose_b=True),
    lambda x: tf.concat([x, tf.ones([1, 4])], 0),
    lambda x: tf.where(x > 5.0, x, 0.0),
    lambda x: tf.reshape(x, [2, 6]),
    lambda x: tf.transpose(x),
    lambda x: tf.nn.softmax(x, 0),
    lambda x: tf.expand_dims(x, -1) * tf.ones([2]),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_all_slices_at_once(function):
    x = tf.constant(X)
    expected = [function(part).numpy() for part in x]
    for found in (tf.vectorized_map(function, x), tf.function(lambda x: tf.vectorized_map(function, x))(x)):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    concrete = tf.function(lambda x: tf.vectorized_map(function, x)).get_concrete_function(tf.TensorSpec([None, 3, 4]))
    np.testing.assert_allclose(concrete(x), expected, rtol=1e-6)
