"""Pooling in any number of dimensions, with gaps, beside NumPy's."""

import numpy as np
import pytest

import tapeflow as tf
from support.windows import convolved, places

CASES = [
    ((9,), (2,), (1,), (3,), "VALID"), ((9,), (3,), (2,), (1,), "SAME"), ((7, 8), (2, 3), (1, 1), (2, 1), "VALID"),
    ((7, 8), (3, 2), (1, 1), (2, 3), "VALID"), ((7, 8), (2, 3), (2, 1), (1, 1), "SAME"),
    ((4, 5, 6), (2, 2, 2), (1, 1, 1), (1, 2, 1), "VALID"), ((4, 5, 6), (2, 3, 1), (2, 2, 1), (1, 1, 1), "VALID"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize(("sizes", "window", "strides", "rates", "padding"), CASES)
def test_pooling_in_any_number_of_dimensions(kind, sizes, window, strides, rates, padding):
    x = np.random.default_rng(0).normal(size=(2, *sizes, 3)).astype(np.float32)
    empty = -np.inf if kind == "MAX" else np.nan
    under = np.stack([pixels for _, pixels in places(x, window, strides, rates, padding, empty)])
    expected = under.max(0) if kind == "MAX" else np.nanmean(under, 0)
    y = tf.nn.pool(x, window, kind, strides, padding, dilations=rates)
    np.testing.assert_allclose(y, expected, 1e-5, 1e-6)
    channels_second = ("NCW", "NCHW", "NCDHW")[len(sizes) - 1]
    y = tf.nn.pool(np.moveaxis(x, -1, 1), window, kind, strides, padding, channels_second, rates)
    np.testing.assert_allclose(y, np.moveaxis(expected, -1, 1), 1e-5, 1e-6)
    sized = tf.function(
        lambda x: tf.nn.pool(x, window, kind, strides, padding, dilations=rates),
        input_signature=[tf.TensorSpec([None] * x.ndim)],
    )
    np.testing.assert_allclose(sized(x), expected, 1e-5, 1e-6)


def test_defaults():
    x = np.random.default_rng(0).normal(size=(2, 5, 6, 3)).astype(np.float32)
    given = tf.nn.pool(x, [2, 3], "AVG", [1, 1], "VALID", "NHWC", [1, 1])
    np.testing.assert_array_equal(tf.nn.pool(x, [2, 3], "AVG"), given)
    np.testing.assert_array_equal(tf.nn.pool(x[0], 2, "MAX", dilations=2), tf.nn.pool(x[0], [2], "MAX", dilations=[2]))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_any_op_with_gaps(padding):
    """The dilated dimensions may be any."""
    rng = np.random.default_rng(0)
    x, filters = rng.normal(size=(2, 6, 7, 3)), rng.normal(size=(2, 3, 3, 4))

    def run(rates, window, filters, **options):
        def op(x, dims, padding):
            assert dims == len(rates)
            return tf.nn.conv2d(x, filters, 1, padding)

        return tf.nn.with_space_to_batch(tf.constant(x), rates, padding, op, window, **options)

    for rates in ([1, 1], [2, 1], [1, 3], [2, 2]):
        np.testing.assert_allclose(run(rates, [2, 3], filters), convolved(x, filters, (1, 1), rates, padding), 1e-9)
    columns = filters[:1]
    expected = convolved(x, columns, (1, 1), (1, 2), padding)
    np.testing.assert_allclose(run([2], [3], columns, spatial_dims=[2]), expected, 1e-9)


IMAGES = np.ones((1, 5, 5, 1), np.float32)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([2], "MAX"), ValueError, "must have rank 3"),
        (([2] * 4, "MAX"), ValueError, "must be 1, 2, or 3"),
        (([2, 2], "MEAN"), ValueError, "MEAN pooling is not supported"),
        (([2, 2], "MAX", 1, [[0, 0]] * 4), TypeError, "Expected string"),
        (([2, 2], "MAX", 1, "SAME", None, [2, 1]), ValueError, "'SAME' padding is not implemented"),
        (([2, 2], "MAX", [1, 3]), ValueError, "`strides` > `window_shape`"),
        (([2, 2], "MAX", 2, "VALID", None, [1, 2]), ValueError, "not supported in conjunction"),
        (([2, 2], "MAX", 1, "VALID", None, [1, 0]), ValueError, "must be positive"),
        (([2, 2], "MAX", [1, 1, 1]), ValueError, "of length 1, 2 or 4"),
    ],
)
def test_wrong_pooling(arguments, error, message):
    with pytest.raises(error, match=message):
        tf.nn.pool(IMAGES, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, "VALID"), "rank` must be 1"),
        (([2, 0], "VALID"), "must be positive"),
        (([2, 2], "VALID", [2, 2], [1]), "as many positive dimensions"),
        (([2, 2], "VALID", [2, 2], [0, 1]), "as many positive dimensions"),
        (([2, 2], "FULL", [2, 2]), "must be one of 'SAME' or 'VALID'"),
        (([2, 2], "SAME"), "`filter_shape` must be specified"),
    ],
)
def test_wrong_gaps(arguments, message):
    rates, padding, *rest = arguments
    with pytest.raises(ValueError, match=message):
        tf.nn.with_space_to_batch(IMAGES, rates, padding, lambda x, *_: x, *rest)
