"""Sums of sparse gradients, in sessions; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


def apply(session, accumulator, indices, values, shape=(4, 2), step=0):
    operation = accumulator.apply_grad(
        tf.constant(indices, tf.int64), tf.constant(values, tf.float32), tf.constant(list(shape), tf.int64), step
    )
    session.run(operation)


@pytest.mark.parametrize(("reduction", "expected"), [("MEAN", [4.0, 5.0]), ("SUM", [8.0, 10.0])])
def test_rows_are_summed(session, reduction, expected):
    accumulator = v1.SparseConditionalAccumulator(tf.float32, [4, 2], reduction_type=reduction)
    apply(session, accumulator, [0, 2], [[1.0, 2.0], [3.0, 4.0]])
    apply(session, accumulator, [2, 3], [[5.0, 6.0], [5.0, 6.0]])
    assert session.run(accumulator.num_accumulated()) == 2
    indices, values, shape = session.run(accumulator.take_grad(2))
    assert (
        indices.tolist() == [0, 2, 3]
        and values.tolist() == [[1.0, 2.0], expected, [5.0, 6.0]]
        and shape.tolist() == [4, 2]
    )
    assert session.run(accumulator.num_accumulated()) == 0
    apply(session, accumulator, [1], [[9.0, 9.0]])  # stale
    assert session.run(accumulator.num_accumulated()) == 0
    apply(session, accumulator, [1], [[9.0, 9.0]], step=1)
    assert session.run(accumulator.take_grad(1)).indices.tolist() == [1]


@pytest.mark.parametrize(
    ("indices", "values", "shape"),
    [([0, 1], [[1.0, 2.0]], [4, 2]), ([0], [[1.0, 2.0, 3.0]], [4, 3]), ([4], [[1.0, 2.0]], [4, 2]),
     ([-1], [[1.0, 2.0]], [4, 2]), ([0], [[1.0, 2.0]], [3, 2])],
)  # fmt: skip
def test_gradients_that_do_not_fit(session, indices, values, shape):
    accumulator = v1.SparseConditionalAccumulator(tf.float32, [4, 2])
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        apply(session, accumulator, indices, values, shape)
    assert session.run(accumulator.num_accumulated()) == 0


def test_shapes_that_are_not_known(session):
    accumulator = v1.SparseConditionalAccumulator(tf.float32, None)
    apply(session, accumulator, [7], [[1.0, 2.0]], [9, 2])
    indices, values, shape = session.run(accumulator.take_grad(1))
    assert (indices.tolist(), values.tolist()) == ([7], [[1.0, 2.0]]) and shape.tolist()[1:] == [2]
    assert np.asarray(shape).dtype == np.int64
