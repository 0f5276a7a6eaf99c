"""Both gradients of a convolution in one call."""

import numpy as np
import pytest

import tapeflow as tf


def gradients(images, filters, strides, padding, dilations=None, data_format="NHWC"):
    """Returns the gradients of a convolution as a function computes them, and the function's source."""

    def by_tape(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            loss = tf.reduce_sum(tf.nn.conv2d(x, w, strides, padding, data_format, dilations) ** 2)
        return tape.gradient(loss, [x, w])

    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.standard_normal(shape).astype(np.float32)) for shape in (images, filters))
    function = tf.function(by_tape)
    for got, wanted in zip(function(x, w), by_tape(x, w), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    return function.get_concrete_function(x, w).source()


@pytest.mark.parametrize(
    ("images", "filters", "strides", "padding", "dilations"),
    [
        ((2, 9, 8, 16), (3, 3, 16, 32), 1, "SAME", None),
        ((2, 9, 9, 5), (3, 3, 5, 7), 2, "SAME", None),
        ((1, 12, 11, 8), (5, 3, 8, 4), 1, "VALID", None),
        ((3, 10, 10, 8), (3, 3, 4, 6), 1, "SAME", None),
        ((2, 10, 10, 6), (3, 3, 6, 4), 1, "SAME", 2),
        ((2, 8, 8, 64), (3, 3, 64, 64), 1, "SAME", None),
        ((2, 7, 7, 4), (3, 3, 4, 4), 2, [[0, 0], [1, 1], [1, 1], [0, 0]], None),
    ],
)
def test_both_gradients_come_from_one_call(images, filters, strides, padding, dilations):
    source = gradients(images, filters, strides, padding, dilations)
    assert "op_Conv2DBackprop(" in source
    assert "op_Conv2DBackpropInput(" not in source


@pytest.mark.parametrize(
    ("images", "filters", "strides", "padding"),
    [
        ((2, 8, 8, 4), (3, 3, 4, 4), 2, "SAME"),
        ((2, 8, 8, 4), (1, 1, 4, 4), 1, "SAME"),
        ((2, 8, 8, 1), (3, 3, 1, 4), 1, "SAME"),
    ],
)
def test_other_kernels_stay(images, filters, strides, padding):
    assert "op_Conv2DBackprop(" not in gradients(images, filters, strides, padding)


def test_images_of_an_unknown_number_stay():
    @tf.function(input_signature=[tf.TensorSpec((None, 8, 8, 4)), tf.TensorSpec((3, 3, 4, 4))])
    def function(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            loss = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME"))
        return tape.gradient(loss, [x, w])

    assert "op_Conv2DBackprop(" not in function.get_concrete_function().source()


def test_one_gradient_stays_alone():
    @tf.function
    def function(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME"))
        return tape.gradient(loss, w)

    source = function.get_concrete_function(tf.zeros((1, 8, 8, 4)), tf.zeros((3, 3, 4, 4))).source()
    assert "op_Conv2DBackpropFilter(" in source
