"""Gradients of pooling refuse gradients that have not the shape of the result."""

import numpy as np
import pytest

import tapeflow as tf

WRONG = [(1, 4, 4, 1), (1, 1, 1, 1), (1, 3, 1, 1), (2, 2, 2, 1), (1, 2, 2, 3), (0, 2, 2, 1)]


@pytest.mark.parametrize("shape", WRONG)
@pytest.mark.parametrize("window", [[1, 2, 2, 1], [1, 2, 1, 1], [1, 3, 3, 1]])
def test_gradients_have_the_shape_of_the_result(shape, window):
    """As in TensorFlow: windows of two elements would leave elements unwritten."""
    x, sizes = tf.ones([1, 4, 4, 1]), {"ksize": window, "strides": window, "padding": "SAME"}
    y = tf.nn.max_pool2d(x, window, window, "SAME")
    assert y.shape != shape
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected grad shape to be"):
        tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=tf.ones(shape), **sizes)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected grad shape to be"):
        tf.raw_ops.AvgPoolGrad(orig_input_shape=[1, 4, 4, 1], grad=tf.ones(shape), **sizes)


def test_second_gradients_have_the_shape_of_the_images():
    x, sizes = tf.ones([1, 4, 4, 1]), {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    for shape in WRONG[1:]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected grad shape to be \[1, 4, 4, 1\]"):
            tf.raw_ops.MaxPoolGradGrad(
                orig_input=x, orig_output=tf.nn.max_pool2d(x, 2, 2, "VALID"), grad=tf.ones(shape), **sizes
            )


@pytest.mark.parametrize("window", [15, 16, 40, 2**31 - 1])
@pytest.mark.parametrize("stride", [1, 3])
def test_windows_larger_than_the_image(window, stride):
    """They take the whole image, and cost no more than it."""
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype("float32"))
    for function, reduce in ((tf.nn.max_pool2d, tf.reduce_max), (tf.nn.avg_pool2d, tf.reduce_mean)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, window, stride, "SAME")
        size = -(-8 // stride)
        assert y.shape == [2, size, size, 3]
        if window >= 8 + (size - 1) * stride:
            wanted = tf.broadcast_to(reduce(x, [1, 2], keepdims=True), y.shape)
            np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-6)
        assert tape.gradient(y, x).shape == x.shape
