"""`tf.pad` with paddings that are known in part. What is expected is what TensorFlow 2.21 gave."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize(
    ("paddings", "static", "shape"),
    [
        (lambda n: [[1, n], [0, 0]], [None, 3], [5, 3]),
        (lambda n: [[n, 1], [2, n]], [None, None], [5, 7]),
        (lambda n: [[1, 2], [0, n]], [5, None], [5, 5]),
    ],
)
def test_static_shapes_of_paddings_that_are_known_in_part(paddings, static, shape):
    found = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def padded(n):
        y = tf.pad(tf.ones([2, 3]), paddings(n))
        found.append(y.shape.as_list())
        return y

    assert padded(2).shape == shape and found == [static]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=5),
        lambda x: tf.pad(x, [[1, 2], [0, 1]], "SYMMETRIC"),
        lambda x: tf.roll(x, [1, 2], [0, -1]),
        lambda x: tf.roll(x, 1, 0),
        lambda x: tf.reverse_sequence(x, [1, 2, 4], 1),
    ],
)
def test_slices_of_a_batch_one_by_one(function):
    """TensorFlow pads the slices of a batch with zeros, and rolls them along one dimension alone."""
    batch = tf.reshape(tf.range(24), [2, 3, 4])
    assert np.array_equal(tf.vectorized_map(function, batch), np.stack([function(x) for x in batch]))


def test_the_gradient_by_the_value_of_the_padding():
    """TensorFlow has none."""
    x, value, weights = tf.ones([2, 3]), tf.constant(2.0), tf.reshape(tf.range(15.0), [3, 5])
    with tf.GradientTape() as tape:
        tape.watch([x, value])
        y = tf.pad(x, [[1, 0], [0, 2]], constant_values=value) * weights
    by_x, by_value = tape.gradient(y, [x, value])
    assert np.array_equal(by_x, weights[1:, :3])
    assert by_value.numpy() == weights.numpy().sum() - weights[1:, :3].numpy().sum()
