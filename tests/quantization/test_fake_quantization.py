"""Rounding to the numbers of integers; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

X = np.array([[-1.75, -0.3, 0.1], [0.55, 0.9, 3.0]], np.float32)


def quantize(x=X, low=-1.0, high=2.0, **options):
    return tf.quantization.quantize_and_dequantize_v2(x, low, high, **options).numpy()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"num_bits": 3, "range_given": True}, [[-2.0, -0.0, 0.0], [0.6666667, 0.6666667, 2.0]]),
        ({"num_bits": 3, "range_given": False}, [[-2.0, 0.0, 0.0], [1.0, 1.0, 3.0]]),
        ({"num_bits": 3, "range_given": True, "narrow_range": True}, [[-2.0, -0.0, 0.0], [0.6666667, 0.6666667, 2.0]]),
        (
            {"num_bits": 3, "range_given": True, "round_mode": "HALF_UP"},
            [[-2.0, 0.0, 0.0], [0.6666667, 0.6666667, 2.0]],
        ),
        ({"num_bits": 2, "range_given": True, "signed_input": False}, [[0.0, 0.0, 0.0], [0.6666667, 0.6666667, 2.0]]),
        ({"num_bits": 4, "range_given": False, "signed_input": False}, [[-1.8, -0.4, 0.0], [0.6, 0.8, 3.0]]),
    ],
)
def test_rounded_numbers(options, expected):
    before = X.copy()
    np.testing.assert_allclose(quantize(**options), expected, rtol=1e-6)
    assert X.tolist() == before.tolist()


@pytest.mark.parametrize("axis", [0, 1])
def test_ranges_of_slices(axis):
    found = quantize(low=[-1.0] * X.shape[axis], high=[2.0] * X.shape[axis], range_given=True, num_bits=3, axis=axis)
    assert found.tolist() == quantize(range_given=True, num_bits=3).tolist()
    low, high = X.min(1 - axis), X.max(1 - axis)
    found = quantize(low=low, high=high, range_given=False, num_bits=4, axis=axis)
    slices = [quantize(np.take(X, [i], axis), num_bits=4) for i in range(X.shape[axis])]
    np.testing.assert_array_equal(found, np.concatenate(slices, axis))


def test_numbers_of_no_elements():
    empty = np.zeros([0, 3], np.float32)
    for range_given in (True, False):
        assert quantize(empty, range_given=range_given).shape == (0, 3)


@pytest.mark.parametrize(
    ("x", "options"),
    [(X, {"num_bits": 0}), (X, {"num_bits": 63}), (X, {"range_given": True, "low": 3.0}),
     (X, {"range_given": True, "axis": 2, "low": [0.0], "high": [1.0]}),
     (X, {"range_given": True, "axis": 1, "low": [0.0, 0.0], "high": [1.0, 1.0]})],
)  # fmt: skip
def test_arguments_that_are_refused(x, options):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        quantize(x, **options)


def test_gradients_pass_inside_of_the_range():
    x, low, high = (tf.constant(v) for v in (X, -1.0, 1.0))
    with tf.GradientTape() as tape:
        tape.watch([x, low, high])
        y = tf.quantization.quantize_and_dequantize_v2(x, low, high, range_given=True) * [[1.0, 2.0, 3.0]]
    gradients = [g.numpy().tolist() for g in tape.gradient(y, [x, low, high])]
    assert gradients == [[[0.0, 2.0, 3.0], [1.0, 2.0, 0.0]], 0.0, 0.0]


def gradient(axis=-1, low=-1.0, high=1.0, dy=None, x=X):
    dy = np.full(X.shape, 5.0, np.float32) if dy is None else dy
    found = tf.raw_ops.QuantizeAndDequantizeV4Grad(gradients=dy, input=x, input_min=low, input_max=high, axis=axis)
    return [t.numpy().tolist() for t in found]


def test_gradients_of_slices():
    assert gradient() == [[[0.0, 5.0, 5.0], [5.0, 5.0, 0.0]], 0.0, 0.0]
    found = gradient(axis=1, low=[-2.0, 0.0, 0.0], high=[0.0, 1.0, 3.0])
    assert found == [[[5.0, 0.0, 5.0], [0.0, 5.0, 5.0]], [0.0] * 3, [0.0] * 3]
    assert gradient(low=np.float32(0.1), high=np.float32(0.55))[0] == [[0.0, 0.0, 5.0], [5.0, 0.0, 0.0]]  # ends count


def test_gradients_of_other_shapes():
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        gradient(dy=np.zeros([3, 2], np.float32))


def test_defaults_of_ranges():
    q, low, high = tf.quantization.quantize([0.0, 0.001], 0.0, 0.0, tf.quint8)
    assert (float(low), round(float(high), 6)) == (0.0, 0.01) and q.numpy().tolist() == [0, 26]
    q, low, high = tf.quantization.quantize([-1.0, 1.0], -1.0, 1.0, tf.qint8, mode="SCALED")
    narrow, *_ = tf.quantization.quantize([-1.0, 1.0], -1.0, 1.0, tf.qint8, mode="SCALED", narrow_range=True)
    assert (q.numpy().tolist(), narrow.numpy().tolist()) == ([-127, 127], [-127, 127])
    ends = tf.cast([-128, 127], tf.qint8)
    wide = tf.quantization.dequantize(ends, -2.0, 1.0, "SCALED").numpy()
    np.testing.assert_allclose(wide, [-2.0, 1.984375])
    close = tf.quantization.dequantize(ends, -2.0, 1.0, "SCALED", narrow_range=True).numpy()
    np.testing.assert_allclose(close, [-2.015748, 2.0], rtol=1e-6)
