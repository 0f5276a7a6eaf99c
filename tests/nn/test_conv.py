"""Convolutions beside NumPy's, their gradients, and what they refuse."""

import numpy as np
import pytest

import tapeflow as tf
from support.windows import convolved

FORMATS = {"last": ("NWC", "NHWC", "NDHWC"), "first": ("NCW", "NCHW", "NCDHW")}

# Sizes, window, channels, channels of a filter, filters, strides, dilations, padding.
CASES = {
    "a line": ((9,), (3,), 2, 2, 3, (2,), (1,), "SAME"),
    "a line of groups": ((9,), (2,), 4, 2, 6, (1,), (3,), "VALID"),
    "images": ((7, 6), (3, 2), 3, 3, 4, (1, 1), (1, 1), "SAME"),
    "steps": ((7, 9), (3, 4), 3, 3, 4, (2, 3), (1, 1), "VALID"),
    "uneven borders": ((8, 5), (4, 2), 3, 3, 4, (3, 2), (1, 1), "SAME"),
    "dilated": ((9, 8), (3, 2), 2, 2, 3, (1, 1), (2, 3), "SAME"),
    "groups": ((6, 6), (3, 3), 6, 2, 9, (1, 1), (1, 1), "SAME"),
    "each channel": ((6, 5), (3, 3), 4, 1, 8, (2, 2), (1, 1), "VALID"),
    "pixels": ((4, 5), (1, 1), 3, 3, 2, (1, 1), (1, 1), "VALID"),
    "some pixels": ((4, 5), (1, 1), 3, 3, 2, (2, 3), (1, 1), "SAME"),
    "explicit": ((5, 6), (3, 2), 2, 2, 3, (1, 2), (1, 1), ((1, 3), (0, 2))),
    "few channels": ((6, 7), (3, 3), 1, 1, 5, (2, 1), (1, 1), "SAME"),
    "one window": ((3, 4), (3, 4), 2, 2, 3, (1, 1), (1, 1), "VALID"),
    "many weights": ((4, 4), (3, 3), 96, 96, 320, (2, 1), (1, 1), "SAME"),
    "many windows": ((20, 20), (3, 3), 64, 64, 128, (1, 1), (1, 1), "SAME"),
    "volumes": ((4, 5, 3), (2, 3, 2), 2, 2, 3, (1, 1, 1), (1, 1, 1), "SAME"),
    "steps in volumes": ((5, 5, 6), (2, 3, 2), 2, 2, 3, (2, 1, 3), (1, 1, 1), "VALID"),
    "dilated volumes": ((5, 6, 4), (2, 2, 3), 2, 2, 3, (1, 1, 1), (2, 3, 1), "SAME"),
    "groups of volumes": ((4, 4, 4), (2, 2, 2), 4, 2, 6, (1, 1, 1), (1, 1, 1), "VALID"),
}  # fmt: skip


def convolve(x, filters, dims, steps, rates, padding, order):
    """`tf.nn.conv1d`, `conv2d` or `conv3d` of images whose channels are last."""
    data_format = FORMATS[order][dims - 1]
    to_order = [0, dims + 1, *range(1, dims + 1)] if order == "first" else range(dims + 2)
    if dims == 2 and type(padding) is tuple:
        padding = [[0, 0], *padding, [0, 0]] if order == "last" else [[0, 0], [0, 0], *padding]
    if dims == 3:
        steps, rates = ([1, *v, 1] if order == "last" else [1, 1, *v] for v in (steps, rates))
    function = getattr(tf.nn, f"conv{dims}d")
    y = function(tf.transpose(x, to_order), filters, steps, padding, data_format, rates)
    return tf.transpose(y, [0, *range(2, dims + 2), 1]) if order == "first" else y


@pytest.mark.parametrize("order", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_convolutions_and_their_gradients(name, order):
    """A convolution is linear in images and in filters, so a gradient times a change is the change of the result."""
    sizes, window, channels, depth, results, steps, rates, padding = CASES[name]
    rng, dims = np.random.default_rng(0), len(sizes)
    for batch, dtype, tolerance in ((2, "float64", 1e-9), (1, "float32", 1e-4)):
        x, dx = rng.normal(size=(2, batch, *sizes, channels)).astype(dtype)
        filters, dfilters = rng.normal(size=(2, *window, depth, results)).astype(dtype)
        expected = convolved(x, filters, steps, rates, padding)
        dy = rng.normal(size=expected.shape).astype(dtype)
        variables = [tf.constant(x), tf.constant(filters)]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(variables)
            y = convolve(*variables, dims, steps, rates, padding, order)
            by_x, by_filters = tape.gradient(y, variables, tf.constant(dy))
            second = tf.reduce_sum(by_x * dx) + tf.reduce_sum(by_filters * dfilters)
        assert y.dtype == dtype
        np.testing.assert_allclose(y, expected, tolerance, tolerance * np.abs(expected).max())
        change_x = convolved(dx, filters, steps, rates, padding)
        change_filters = convolved(x, dfilters, steps, rates, padding)
        scale = np.sqrt(dy.size) * np.abs(expected).max()
        np.testing.assert_allclose(tf.reduce_sum(by_x * dx), (dy * change_x).sum(), tolerance, tolerance * scale)
        np.testing.assert_allclose(
            tf.reduce_sum(by_filters * dfilters), (dy * change_filters).sum(), tolerance, tolerance * scale
        )
        if dtype == "float64":
            # By `x` the second one is the product of `dy` and `dfilters`; by the filters that of `dy` and `dx`.
            second_x, second_filters = tape.gradient(second, variables)
            both = convolved(dx, dfilters, steps, rates, padding)
            np.testing.assert_allclose(tf.reduce_sum(second_x * dx), (dy * both).sum(), 1e-9, 1e-9 * scale)
            np.testing.assert_allclose(tf.reduce_sum(second_filters * dfilters), (dy * both).sum(), 1e-9, 1e-9 * scale)


@pytest.mark.parametrize(("dims", "dtype"), [(1, "int32"), (2, "int32"), (2, "float16"), (3, "float16")])
def test_other_dtypes(dims, dtype):
    rng = np.random.default_rng(0)
    x, filters = rng.integers(-4, 5, (2, *[5] * dims, 2)), rng.integers(-4, 5, (*[2] * dims, 2, 3))
    y = convolve(tf.constant(x, dtype), tf.constant(filters, dtype), dims, (1,) * dims, (1,) * dims, "SAME", "last")
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, convolved(x, filters, (1,) * dims, (1,) * dims, "SAME").astype(dtype))


def test_gradients_of_integers():
    rng = np.random.default_rng(0)
    x, filters, change = (
        rng.integers(-4, 5, (1, 4, 5, 2)),
        rng.integers(-4, 5, (2, 2, 2, 3)),
        rng.integers(9, size=(1, 4, 5, 2)),
    )
    dy = rng.integers(-4, 5, (1, 3, 4, 3))
    attrs = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    result = tf.raw_ops.Conv2DBackpropInput(
        input_sizes=x.shape, filter=tf.constant(filters, tf.int32), out_backprop=tf.constant(dy, tf.int32), **attrs
    )
    assert result.dtype == tf.int32
    assert (result.numpy() * change).sum() == (dy * convolved(change, filters, (1, 1), (1, 1), "VALID")).sum()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_more_batch_dimensions(dims):
    rng = np.random.default_rng(0)
    x, filters = rng.normal(size=(2, 3, *[4] * dims, 2)), rng.normal(size=(*[2] * dims, 2, 3))
    y = convolve_last(tf.constant(x), tf.constant(filters), dims)
    assert y.shape == [2, 3, *[3] * dims, 3]
    expected = convolved(x.reshape(6, *x.shape[2:]), filters, (1,) * dims, (1,) * dims, "VALID")
    np.testing.assert_allclose(y, expected.reshape(y.shape), 1e-12, 1e-12)


def convolve_last(x, filters, dims):
    return getattr(tf.nn, f"conv{dims}d")(x, filters, [1] * 5 if dims == 3 else 1, "VALID")


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_images_of_no_elements(dims):
    for batch, results in ((0, 3), (2, 0)):
        x, filters = tf.zeros([batch, *[4] * dims, 2]), tf.zeros([*[2] * dims, 2, results])
        with tf.GradientTape() as tape:
            tape.watch([x, filters])
            y = convolve_last(x, filters, dims)
        assert y.shape == [batch, *[3] * dims, results]
        for gradient, of in zip(tape.gradient(y, [x, filters]), (x, filters), strict=True):
            np.testing.assert_array_equal(gradient, tf.zeros_like(of))
