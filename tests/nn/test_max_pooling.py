"""Max pooling beside NumPy's, its gradients, and the places of maxima."""

import numpy as np
import pytest

import tapeflow as tf
from support.windows import places

# Sizes, window, strides, padding.
CASES = {
    "a line": ((9,), (3,), (2,), "SAME"),
    "a line without borders": ((9,), (2,), (3,), "VALID"),
    "blocks": ((6, 8), (2, 2), (2, 2), "VALID"),
    "uneven blocks": ((7, 9), (2, 2), (2, 2), "VALID"),
    "pairs of rows": ((6, 5), (2, 1), (2, 1), "VALID"),
    "pairs of columns": ((5, 6), (1, 2), (1, 2), "SAME"),
    "steps of one": ((6, 5), (3, 3), (1, 1), "SAME"),
    "uneven borders": ((7, 6), (4, 2), (3, 1), "SAME"),
    "gaps": ((7, 9), (2, 1), (3, 2), "VALID"),
    "gaps and borders": ((8, 7), (1, 2), (3, 4), "SAME"),
    "wide windows": ((5, 6), (5, 4), (2, 1), "SAME"),
    "explicit": ((5, 6), (3, 4), (2, 1), ((1, 2), (3, 0))),
    "volumes": ((4, 5, 3), (2, 3, 2), (2, 1, 1), "SAME"),
    "blocks of volumes": ((4, 4, 6), (2, 2, 2), (2, 2, 2), "VALID"),
}
ALL = [(name, order) for name in CASES for order in ("last", "first") if name != "explicit" or order == "last"]
FORMATS = {"last": ("NWC", "NHWC", "NDHWC"), "first": ("NCW", "NCHW", "NCDHW")}


def pool(name, x, window, strides, padding, order="last"):
    """`tf.nn.max_pool2d` and its like of images whose channels are last."""
    dims = len(window)
    padding = [[0, 0], *map(list, padding), [0, 0]] if type(padding) is tuple else padding
    function, data_format = getattr(tf.nn, f"{name}{dims}d"), FORMATS[order][dims - 1]
    if order == "last":
        return function(x, list(window), list(strides), padding, data_format)
    y = function(tf.transpose(x, [0, dims + 1, *range(1, dims + 1)]), window, strides, padding, data_format)
    return tf.transpose(y, [0, *range(2, dims + 2), 1])


def elements(x, window, strides, padding, value=-np.inf):
    """The elements under each window, the place in the window first."""
    found = places(x, window, strides, (1,) * len(window), padding, value)
    return np.stack([pixels for _, pixels in found])


@pytest.mark.parametrize(("name", "order"), ALL)
def test_maxima_and_their_gradients(name, order):
    """The gradient goes to the first maximum."""
    sizes, window, strides, padding = CASES[name]
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64") if len(sizes) < 3 else ("float32",):
        x = rng.permutation(2 * np.prod(sizes) * 3).reshape(2, *sizes, 3).astype(dtype)
        if len(sizes) < 3:
            x = x // 5  # many are equal
        change, change_back = rng.normal(size=(2, *x.shape)).astype(dtype)
        under = elements(x, window, strides, padding)
        picked, expected = under.argmax(0)[None], under.max(0)
        dy = rng.normal(size=expected.shape).astype(dtype)
        variable, upstream = tf.constant(x), tf.constant(dy)
        with tf.GradientTape() as outer:
            outer.watch(upstream)
            with tf.GradientTape() as tape:
                tape.watch(variable)
                y = pool("max_pool", variable, window, strides, padding, order)
            dx = tape.gradient(y, variable, upstream)
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == dtype
        moved = np.take_along_axis(elements(change, window, strides, padding, 0), picked, 0)[0]
        np.testing.assert_allclose(tf.reduce_sum(dx * change), (moved * dy).sum(), 1e-4, 1e-4)
        moved = np.take_along_axis(elements(change_back, window, strides, padding, 0), picked, 0)[0]
        np.testing.assert_allclose(outer.gradient(dx, upstream, tf.constant(change_back)), moved, 1e-6)


def test_a_gradient_of_volumes_goes_to_all_maxima():
    x = tf.constant([3.0, 3.0, 1.0, 2.0, 2.0, 2.0])[None, :, None, None, None]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool3d(x, [1, 3, 1, 1, 1], [1, 3, 1, 1, 1], "VALID")
    dx = tape.gradient(y, x, tf.constant([5.0, 7.0])[None, :, None, None, None])
    assert tf.reshape(dx, [-1]).numpy().tolist() == [5.0, 5.0, 0.0, 7.0, 7.0, 7.0]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int8", "int64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["blocks", "uneven borders"])
def test_maxima_of_other_dtypes(name, dtype):
    sizes, window, strides, padding = CASES[name]
    x = np.random.default_rng(0).integers(0 if dtype == "uint8" else -100, 100, (2, *sizes, 3))
    y = pool("max_pool", tf.constant(x, dtype), window, strides, padding)
    assert y.dtype == dtype
    np.testing.assert_array_equal(tf.cast(y, tf.float64), elements(x.astype(float), window, strides, padding).max(0))


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("name", [n for n, case in CASES.items() if len(case[0]) == 2 and n != "explicit"])
def test_the_places_of_maxima(name, batched):
    sizes, window, strides, padding = CASES[name]
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (2, *sizes, 3)).astype(np.float32)
    number = np.arange(x.size).reshape(x.shape) if batched else np.arange(x[0].size).reshape(x[0].shape) + 0 * x
    under = elements(x, window, strides, padding)
    expected = np.take_along_axis(elements(number.astype(float), window, strides, padding, 0), under.argmax(0)[None], 0)
    for dtype in (tf.int32, tf.int64):
        variable = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(variable)
            y, at = tf.nn.max_pool_with_argmax(
                variable, window, strides, padding, output_dtype=dtype, include_batch_in_index=batched
            )
        assert at.dtype == dtype
        np.testing.assert_array_equal(y, under.max(0))
        np.testing.assert_array_equal(at, expected[0])
        dy = rng.normal(size=y.shape).astype(np.float32)
        dx = np.zeros(x.shape)
        flat = expected[0].astype(int) + (0 if batched else np.arange(2).reshape(2, 1, 1, 1) * x[0].size)
        np.add.at(dx.reshape(-1), flat, dy)
        np.testing.assert_allclose(tape.gradient(y, variable, tf.constant(dy)), dx, 1e-5, 1e-5)


@pytest.mark.parametrize("order", FORMATS)
def test_maxima_of_channels(order):
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 6)).astype(np.float32)
    images = x if order == "last" else x.transpose(0, 3, 1, 2)
    depth = [1, 1, 1, 3] if order == "last" else [1, 3, 1, 1]
    y = tf.nn.max_pool2d(images, depth, depth, "VALID", FORMATS[order][1]).numpy()
    expected = x.reshape(2, 3, 4, 2, 3).max(-1)
    np.testing.assert_array_equal(y, expected if order == "last" else expected.transpose(0, 3, 1, 2))
    for window, strides in (([1, 2, 1, 3], [1, 2, 1, 3]), ([1, 1, 1, 4], [1, 1, 1, 4]), ([1, 1, 1, 3], [1, 1, 1, 1])):
        with pytest.raises(tf.errors.UnimplementedError):
            tf.nn.max_pool2d(x, window, strides, "VALID")


# ---- means -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "order"), [pair for pair in ALL if pair[0] != "explicit"])
def test_means_and_their_gradients(name, order):
    """A mean is that of the elements inside of the image."""
    sizes, window, strides, padding = CASES[name]
    rng = np.random.default_rng(0)

    def means(x):
        inside = elements(np.ones(x.shape), window, strides, padding, 0).sum(0)
        return elements(x, window, strides, padding, 0).sum(0) / inside

    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-5)):
        x, change = rng.normal(size=(2, 2, *sizes, 3)).astype(dtype)
        dy = rng.normal(size=means(x).shape).astype(dtype)
        variable, upstream = tf.constant(x), tf.constant(dy)
        with tf.GradientTape() as outer:
            outer.watch(upstream)
            with tf.GradientTape() as tape:
                tape.watch(variable)
                y = pool("avg_pool", variable, window, strides, padding, order)
            dx = tape.gradient(y, variable, upstream)
        assert y.dtype == dtype
        np.testing.assert_allclose(y, means(x), tolerance, tolerance)
        np.testing.assert_allclose(tf.reduce_sum(dx * change), (means(change) * dy).sum(), 0, tolerance * dy.size)
        np.testing.assert_allclose(
            outer.gradient(dx, upstream, tf.constant(change)), means(change), tolerance, tolerance
        )
