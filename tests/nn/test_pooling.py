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


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [1, 0], [0, 1], [0, 0]]])
@pytest.mark.parametrize(("window", "stride"), [(2, 2), (3, 2), (2, 3), (4, 3), (3, 1), (1, 2), ([1, 3], [2, 2])])
def test_maxima_of_windows_that_overlap_or_leave_gaps(padding, window, stride):
    rng = np.random.default_rng(0)
    if type(padding) is list and 1 in np.broadcast_to(window, 2):
        return  # a window of nothing but padding
    for height, width in [(9, 8), (4, 4), (12, 7)]:
        x = rng.normal(size=(2, height, width, 3)).astype(np.float32)
        if height == 9:
            x[0, 2:7, 2:7, 0], x[1, 1, 1, 1] = np.nan, -np.inf
        out = tf.nn.max_pool2d(x, window, stride, padding).numpy()
        sizes, steps = np.broadcast_to(window, 2), np.broadcast_to(stride, 2)
        for i, j in np.ndindex(out.shape[1:3]):
            starts = [i * steps[0], j * steps[1]]
            if padding == "SAME":
                for d, n in enumerate((height, width)):
                    starts[d] -= max((out.shape[d + 1] - 1) * steps[d] + sizes[d] - n, 0) // 2
            elif padding != "VALID":
                starts = [starts[0] - 1, starts[1]]
            rows, columns = (slice(max(s, 0), s + k) for s, k in zip(starts, sizes, strict=True))
            part = x[:, rows, columns]
            expected = np.where(np.isnan(part), np.finfo(np.float32).min, part)
            np.testing.assert_array_equal(out[:, i, j], expected.max((1, 2), initial=np.finfo(np.float32).min))
