"""Convolutions of each channel by its own filters, beside NumPy's."""

import numpy as np
import pytest

import tapeflow as tf
from support.windows import convolved

# Sizes, window, channels, filters of each, strides, dilations, padding.
CASES = {
    "images": ((6, 5), (3, 2), 3, 2, (1, 1), (1, 1), "SAME"),
    "steps": ((7, 8), (3, 3), 2, 1, (2, 2), (1, 1), "VALID"),
    "dilated": ((7, 8), (2, 3), 3, 1, (1, 1), (2, 3), "SAME"),
    "explicit": ((5, 6), (3, 2), 2, 3, (2, 2), (1, 1), ((1, 3), (0, 2))),
    "one channel": ((5, 6), (2, 2), 1, 4, (1, 1), (1, 1), "VALID"),
}


def attrs_of(case, order):
    *_, steps, rates, padding = CASES[case]
    last = order == "NHWC"
    if type(padding) is tuple:
        padding = [[0, 0], *padding, [0, 0]] if last else [[0, 0], [0, 0], *padding]
    return [1, *steps, 1] if last else [1, 1, *steps], padding, order, rates


@pytest.mark.parametrize("order", ["NHWC", "NCHW"])
@pytest.mark.parametrize("case", CASES)
def test_depthwise_convolutions_and_their_gradients(case, order):
    sizes, window, channels, each, steps, rates, padding = CASES[case]
    rng = np.random.default_rng(0)
    x, dx = rng.normal(size=(2, 2, *sizes, channels))
    filters, dfilters = rng.normal(size=(2, *window, channels, each))
    there, back = ((0, 3, 1, 2), (0, 2, 3, 1)) if order == "NCHW" else ((0, 1, 2, 3),) * 2

    def expected(x, filters):
        return convolved(x, filters.reshape(*window, 1, channels * each), steps, rates, padding)

    dy = rng.normal(size=expected(x, filters).shape)
    variables = [tf.constant(x), tf.constant(filters)]
    with tf.GradientTape() as tape:
        tape.watch(variables)
        y = tf.nn.depthwise_conv2d(tf.transpose(variables[0], there), variables[1], *attrs_of(case, order))
        y = tf.transpose(y, back)
    np.testing.assert_allclose(y, expected(x, filters), 1e-9, 1e-12)
    by_x, by_filters = tape.gradient(y, variables, tf.constant(dy))
    np.testing.assert_allclose((by_x.numpy() * dx).sum(), (dy * expected(dx, filters)).sum(), 1e-9)
    np.testing.assert_allclose((by_filters.numpy() * dfilters).sum(), (dy * expected(x, dfilters)).sum(), 1e-9)
    # The ops of the gradients give the same by the sizes alone.
    strides, padding, data_format, _ = attrs_of(case, order)
    if isinstance(padding, str) and max(rates) == 1:
        attrs = {"strides": strides, "padding": padding, "data_format": data_format}
        above, images = tf.transpose(tf.constant(dy), there), tf.transpose(variables[0], there)
        sizes = tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
            input_sizes=images.shape, filter=filters, out_backprop=above, **attrs
        )
        np.testing.assert_allclose(tf.transpose(sizes, back), by_x, 1e-9)
        weights = tf.raw_ops.DepthwiseConv2dNativeBackpropFilter(
            input=images, filter_sizes=filters.shape, out_backprop=above, **attrs
        )
        np.testing.assert_allclose(weights, by_filters, 1e-9)


@pytest.mark.parametrize("order", ["NHWC", "NCHW"])
@pytest.mark.parametrize("case", CASES)
def test_separable_convolutions(case, order):
    """A depthwise one, and one of pixels."""
    sizes, window, channels, each, steps, rates, padding = CASES[case]
    rng = np.random.default_rng(0)
    x, filters = rng.normal(size=(2, *sizes, channels)), rng.normal(size=(*window, channels, each))
    pointwise = rng.normal(size=(1, 1, channels * each, 5))
    expected = convolved(x, filters.reshape(*window, 1, channels * each), steps, rates, padding) @ pointwise[0, 0]
    strides, padding, data_format, rates = attrs_of(case, order)
    images = x if order == "NHWC" else x.transpose(0, 3, 1, 2)
    y = tf.nn.separable_conv2d(tf.constant(images), filters, pointwise, strides, padding, data_format, rates).numpy()
    np.testing.assert_allclose(y if order == "NHWC" else y.transpose(0, 2, 3, 1), expected, 1e-9, 1e-12)


def test_static_shapes():
    def shape_of(x, filters, **attrs):
        attrs = {"strides": [1, 1, 1, 1], "padding": "VALID", **attrs}
        function = tf.function(lambda x, w: tf.raw_ops.DepthwiseConv2dNative(input=x, filter=w, **attrs))
        specs = [tf.TensorSpec(dims) for dims in (x, filters)]
        return function.get_concrete_function(*specs).output_shapes.as_list()

    assert shape_of([2, 5, 6, 3], [2, 2, 3, 4]) == [2, 4, 5, 12]
    assert shape_of([2, 3, 5, 6], [2, 2, 3, 4], data_format="NCHW") == [2, 12, 4, 5]
    assert shape_of([None, 5, None, None], [2, 2, 3, 4]) == [None, 4, None, 12]
    assert shape_of([2, 5, 6, 3], [2, 2, None, 4]) == [2, 4, 5, 12]
    assert shape_of([2, 5, 6, 3], [2, 2, 3, None]) == [2, 4, 5, None]
    assert shape_of([2, 5, 6, None], [2, 2, None, 4]) == [2, 4, 5, None]
    assert shape_of(None, [2, 2, 3, 4]) == [None, None, None, 12]
    for x, filters in (([2, 5, 6, 3], [2, 2, 4, 4]), ([5, 6, 3], [2, 2, 3, 4]), ([2, 5, 6, 3], [2, 2, 3])):
        with pytest.raises(ValueError, match=r"must be equal, but are 3 and 4|4-dimensional|rank"):
            shape_of(x, filters)


def test_shapes_that_are_refused():
    for x, filters in (([2, 5, 6, 3], [2, 2, 4, 4]), ([5, 6, 3], [2, 2, 3, 4]), ([2, 5, 6, 3], [2, 2, 3])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.raw_ops.DepthwiseConv2dNative(
                input=tf.ones(x), filter=tf.ones(filters), strides=[1, 1, 1, 1], padding="VALID"
            )
