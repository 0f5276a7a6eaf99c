"""`tf.__internal__.ops`; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf

broadcast_weights = tf.__internal__.ops.broadcast_weights


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([[2.0], [3.0]], [[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]),
        ([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]),
        (2, [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]),
        ([[1, 2, 3], [4, 5, 6]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ],
)
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_weights_have_the_shape_of_values(weights, expected, dtype):
    found = broadcast_weights(tf.constant(weights, dtype), tf.fill([2, 3], tf.constant(7.0, dtype)))
    assert found.numpy().tolist() == expected and found.dtype == dtype


def test_weights_of_the_shape_are_unchanged():
    weights = tf.constant([[1.0, 2.0]])
    assert broadcast_weights(weights, tf.zeros([1, 2])) is weights


@pytest.mark.parametrize("shape", [[3], [3, 1], [2, 1, 1], [2, 2]])
def test_weights_of_other_shapes(shape):
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        broadcast_weights(tf.ones(shape), tf.ones([2, 3]))


def test_variables():
    of = tf.__internal__.ops.is_resource_variable
    assert of(tf.Variable(1)) is True and of(tf.constant(1)) is False and of(3) is False
