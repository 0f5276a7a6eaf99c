"""Integers with ranges; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

X, Y = np.array([[-1.0, 0.5], [2.0, 0.0]], np.float32), np.array([[3.0, -2.0]], np.float32)


def parts(dtype):
    return [tf.quantization.quantize(v, v.min(), v.max(), dtype, mode="MIN_FIRST") for v in (X, Y)]


@pytest.mark.parametrize(
    ("dtype", "expected", "ends"),
    [(tf.quint8, [[51, 128], [204, 102], [255, 0]], (-2.0, 3.0)), (tf.qint32, None, (-3.0, 3.0))],
)
def test_concatenated_integers_have_one_range(dtype, expected, ends):
    (a, b) = parts(dtype)
    found = tf.quantization.quantized_concat(0, [a[0], b[0]], [a[1], b[1]], [a[2], b[2]])
    assert found.output.dtype == dtype and found.output.shape == [3, 2]
    assert (float(found.output_min), float(found.output_max)) == ends
    if expected is not None:
        assert np.abs(found.output.numpy().astype(int) - expected).max() <= 1
    numbers = tf.quantization.dequantize(found.output, found.output_min, found.output_max, "MIN_FIRST")
    np.testing.assert_allclose(numbers, np.concatenate([X, Y]), atol=0.03)


def test_axes_and_static_shapes():
    (a, b) = parts(tf.quint8)
    pairs = [a[0], tf.reshape(b[0], [2, 1])], [a[1], b[1]], [a[2], b[2]]
    found = tf.quantization.quantized_concat(1, *pairs)
    numbers = tf.quantization.dequantize(found[0], found[1], found[2], "MIN_FIRST")
    np.testing.assert_allclose(numbers, np.concatenate([X, Y.reshape(2, 1)], 1), atol=0.03)
    with tf.Graph().as_default():
        q = [tf.compat.v1.placeholder(tf.quint8, shape) for shape in ([2, 3], [2, None], [2, 4])]
        ends = [tf.constant(0.0)] * 3, [tf.constant(1.0)] * 3
        fixed, low, high = tf.quantization.quantized_concat(1, [q[0], q[2]], *(e[:2] for e in ends))
        assert fixed.shape.as_list() == [2, 7] and low.shape == high.shape == []
        assert tf.quantization.quantized_concat(1, q, *ends)[0].shape.as_list() == [2, None]


@pytest.mark.parametrize("axis", [0, 1])
def test_ranges_of_slices(axis):
    low, high = X.min(1 - axis), X.max(1 - axis)
    q, first, last = tf.quantization.quantize(X, low, high, tf.qint8, mode="SCALED", axis=axis)
    numbers = tf.quantization.dequantize(q, first, last, "SCALED", axis=axis)
    np.testing.assert_allclose(numbers, X, atol=0.02)
    assert first.shape == last.shape == [X.shape[axis]]


@pytest.mark.parametrize(
    ("low", "high", "axis"), [([0.0], [1.0], 2), ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 0), ([0.0, 0.0], [1.0, 1.0], None)]
)
def test_ranges_that_are_refused(low, high, axis):
    q = tf.cast(tf.constant([[1, 2], [3, 4]]), tf.qint8)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.quantization.dequantize(q, low, high, "SCALED", axis=axis)


CHANNELS = np.array([[-1.0, 0.3], [0.6, 5.0], [2.0, 9.0]], np.float32)


def test_channels_have_ranges():
    fake = tf.quantization.fake_quant_with_min_max_vars_per_channel
    low, high = np.array([-1.0, 0.0], np.float32), np.array([1.0, 6.0], np.float32)
    found = fake(CHANNELS, low, high, num_bits=2).numpy()
    np.testing.assert_allclose(found, [[-0.6666667, 0.0], [0.6666667, 6.0], [0.6666667, 6.0]], rtol=1e-6)
    narrow = fake(CHANNELS, low, high, num_bits=2, narrow_range=True).numpy()
    np.testing.assert_allclose(narrow, [[-1.0, 0.0], [1.0, 6.0], [1.0, 6.0]], rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "low", "high"),
    [(CHANNELS, 0.0, [1.0, 1.0]), (CHANNELS, [0.0, 0.0], [[1.0, 1.0]]), (CHANNELS, [0.0], [1.0]),
     (CHANNELS, [0.0] * 3, [1.0] * 3), (np.float32(1.0), [0.0], [1.0])],
)  # fmt: skip
def test_channels_without_ranges(x, low, high):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.quantization.fake_quant_with_min_max_vars_per_channel(x, low, high)
