"""Gradients of pooling refuse gradients that have not the shape of the result."""

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
