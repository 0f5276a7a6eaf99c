"""Transposed convolutions: the sum of products with any images is that of the convolution's results."""

import numpy as np
import pytest

import tapeflow as tf
from support.windows import convolved

FORMATS = {"last": ("NWC", "NHWC", "NDHWC"), "first": ("NCW", "NCHW", "NCDHW")}
# The sizes of results, window, strides, dilations, padding.
CASES = {
    "a line": ((9,), (3,), (2,), (1,), "SAME"),
    "a line without borders": ((9,), (2,), (3,), (1,), "VALID"),
    "a dilated line": ((9,), (3,), (1,), (2,), "VALID"),
    "images": ((7, 6), (3, 2), (1, 1), (1, 1), "SAME"),
    "steps": ((7, 9), (3, 4), (2, 3), (1, 1), "VALID"),
    "dilated": ((9, 8), (3, 2), (1, 1), (2, 3), "SAME"),
    "explicit": ((5, 6), (3, 2), (1, 2), (1, 1), ((1, 3), (0, 2))),
    "volumes": ((4, 5, 3), (2, 3, 2), (2, 1, 1), (1, 1, 1), "SAME"),
    "dilated volumes": ((4, 5, 3), (2, 2, 2), (1, 1, 1), (2, 1, 1), "VALID"),
}


@pytest.mark.parametrize("by_rank", [False, True])
@pytest.mark.parametrize("order", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_transposed_convolutions(name, order, by_rank):
    sizes, window, steps, rates, padding = CASES[name]
    rng, dims = np.random.default_rng(0), len(sizes)
    image, filters = rng.normal(size=(2, *sizes, 3)), rng.normal(size=(*window, 3, 4))
    y = convolved(image, filters, steps, rates, padding)
    x = rng.normal(size=y.shape)
    if name == "explicit":
        padding = [[0, 0], *padding, [0, 0]] if order == "last" else [[0, 0], [0, 0], *padding]
    shape, given = image.shape, x
    if order == "first":
        given, shape = np.moveaxis(x, -1, 1), (2, 3, *sizes)
    function = tf.nn.conv_transpose if by_rank else getattr(tf.nn, f"conv{dims}d_transpose")
    result = function(tf.constant(given), filters, shape, steps, padding, FORMATS[order][dims - 1], rates)
    assert result.shape == shape
    result = result.numpy() if order == "last" else np.moveaxis(result.numpy(), 1, -1)
    np.testing.assert_allclose((result * image).sum(), (x * y).sum(), 1e-9)


def test_defaults():
    rng = np.random.default_rng(0)
    for dims in (1, 2, 3):
        x, filters = rng.normal(size=(1, *[3] * dims, 2)), rng.normal(size=(*[2] * dims, 4, 2))
        shape = (1, *[5] * dims, 4)
        whole = getattr(tf.nn, f"conv{dims}d_transpose")
        given = whole(x, filters, shape, 2, "SAME", FORMATS["last"][dims - 1], [1])
        np.testing.assert_array_equal(whole(x, filters, shape, 2), given)
        np.testing.assert_array_equal(tf.nn.conv_transpose(x, filters, shape, [2]), given)
        np.testing.assert_array_equal(whole(x, filters, tf.constant(shape), 2), given)
        sized = tf.function(
            lambda s, f=whole, x=x, w=filters: f(x, w, s, 2), input_signature=[tf.TensorSpec([dims + 2], tf.int32)]
        )
        np.testing.assert_array_equal(sized(shape), given)


@pytest.mark.parametrize("rate", [1, 2, 3])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_convolutions_with_holes(padding, rate):
    rng = np.random.default_rng(0)
    image, filters = rng.normal(size=(2, 9, 8, 2)), rng.normal(size=(3, 2, 2, 4))
    y = convolved(image, filters, (1, 1), (rate, rate), padding)
    np.testing.assert_allclose(tf.nn.atrous_conv2d(tf.constant(image), filters, rate, padding), y, 1e-9)
    x = rng.normal(size=y.shape)
    result = tf.nn.atrous_conv2d_transpose(tf.constant(x), filters, image.shape, rate, padding)
    assert result.shape == image.shape
    np.testing.assert_allclose((result.numpy() * image).sum(), (x * y).sum(), 1e-9)


X, FILTERS = np.ones((1, 3, 3, 2)), np.ones((2, 2, 4, 2))
INVALID = tf.errors.InvalidArgumentError
WRONG = [
    (lambda: tf.nn.conv_transpose(X, FILTERS, [1, 4], 1), ValueError, "length 3, 4 or 5"),
    (lambda: tf.nn.conv_transpose(X, FILTERS, [1] * 6, 1), ValueError, "length 3, 4 or 5"),
    (lambda: tf.nn.conv2d_transpose(X, FILTERS, [1, 9, 3, 4], 1), INVALID, "Size of out_backprop"),
    (lambda: tf.nn.conv2d_transpose(X, FILTERS, [1, 3, 3, 4], [1, 1, 1]), ValueError, "of length 1, 2 or 4"),
    (lambda: tf.nn.atrous_conv2d_transpose(X, FILTERS, [1, 3, 3, 4], 0, "SAME"), ValueError, "less than one"),
    (lambda: tf.nn.atrous_conv2d_transpose(X, FILTERS, [1, 3, 3, 4], 2, "FULL"), ValueError, "'VALID' or 'SAME'"),
    (lambda: tf.nn.atrous_conv2d_transpose(X, FILTERS, [3, 3, 4], 2, "SAME"), ValueError, r"shape \(4,\)"),
    (lambda: tf.nn.atrous_conv2d_transpose(X, FILTERS, [1, 3, 3, 5], 2, "SAME"), ValueError, "many channels"),
    (lambda: tf.nn.atrous_conv2d_transpose(X[..., :1], FILTERS, [1, 3, 3, 4], 2, "SAME"), ValueError, "many channels"),
    (lambda: tf.nn.atrous_conv2d_transpose(X[0], FILTERS, [1, 3, 3, 4], 2, "SAME"), ValueError, "many channels"),
    (lambda: tf.nn.conv1d_transpose(X[0], FILTERS[0], [1, 3, 4], 1, data_format="CNW"), ValueError, "'NWC' or 'NCW'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_arguments_that_do_not_go_together(call, error, message):
    with pytest.raises(error, match=message):
        call()
