"""`tf.TensorArray` and assertions in functions."""

import numpy as np
import pytest

import tapeflow as tf


def test_a_loop_writes_and_gradients_pass():
    @tf.function
    def powers(x):
        array, power = tf.TensorArray(tf.float32, size=0, dynamic_size=True), tf.constant(1.0)
        for i in tf.range(4):
            power = power * x
            array = array.write(i, power)
        return array.stack()

    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = powers(x)
    assert y.numpy().tolist() == [2.0, 4.0, 8.0, 16.0]
    assert tape.gradient(y, x).numpy().item() == 1 + 4 + 12 + 32


def test_size_may_be_a_tensor_and_the_shape_is_learned():
    @tf.function
    def squares(n):
        array = tf.TensorArray(tf.int32, size=n)
        for i in tf.range(n):
            array = array.write(i, [i, i * i])
        stacked = array.stack()
        assert stacked.shape.as_list() == [None, 2]
        return stacked

    assert squares(tf.constant(3)).numpy().tolist() == [[0, 0], [1, 1], [2, 4]]


def test_unstack_read_in_a_loop():
    @tf.function
    def total(x):
        array, s = tf.TensorArray(tf.float32, size=3).unstack(x), tf.constant(0.0)
        for v in array:
            s += v * v * v
        return s

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [3.0, 12.0, 27.0])


def test_assertions_wait_for_the_graph():
    @tf.function
    def checked(x):
        tf.debugging.assert_greater(x, 1)
        return x

    assert checked(tf.constant(2)).numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="x > y did not hold"):
        checked(tf.constant(0))
