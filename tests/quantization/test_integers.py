"""`tf.quantization.quantize`, `dequantize` and their like: the numbers are those that TensorFlow 2.21 gives."""

import numpy as np
import pytest

import tapeflow as tf

Q = tf.quantization
X = tf.constant([-2.0, -1.0, 0.0, 0.1, 0.5, 1.0, 2.5, 7.0])
# By type, mode and rounding: the integers for X between -1 and 2, their range, and what they stand for.
RECORDED = [
    ("quint8", "MIN_COMBINED", [0, 0, 85, 94, 128, 170, 255, 255], (-1, 2),
     [-1, -1, 0, 0.105882406, 0.5058824, 1, 2, 2]),
    ("quint8", "MIN_FIRST", [0, 0, 85, 94, 128, 170, 255, 255], (-1, 2), [-1, -1, 0, 0.105882406, 0.5058824, 1, 2, 2]),
    ("quint8", "SCALED", [0, 0, 0, 13, 64, 128, 255, 255], (0, 2), [0, 0, 0, 0.10196079, 0.5019608, 1.0039216, 2, 2]),
    ("qint8", "MIN_COMBINED", [-128, -128, -43, -35, -1, 42, 127, 127], (-1, 2),
     [-1, -1, 0, 0.094117641, 0.4941176, 1, 2, 2]),
    ("qint8", "MIN_FIRST", [-128, -128, -43, -34, 0, 42, 127, 127], (-1, 2),
     [-1, -1, 0, 0.10588238, 0.5058824, 1, 2, 2]),
    ("qint8", "SCALED", [-127, -64, 0, 6, 32, 64, 127, 127], (-2.015748, 2),
     [-2, -1.007874, 0, 0.09448819, 0.503937, 1.007874, 2, 2]),
    ("quint16", "MIN_COMBINED", [0, 0, 21845, 24030, 32768, 43690, 65535, 65535], (-1, 2),
     [-1, -1, 0, 0.10002291, 0.5000229, 1, 2, 2]),
    ("qint16", "SCALED", [-32767, -16384, 0, 1638, 8192, 16384, 32767, 32767], (-2.000061, 2),
     [-2, -1.0000305, 0, 0.09997864, 0.50001526, 1.0000305, 2, 2]),
    ("qint32", "MIN_COMBINED", [-2147483648, -2147483648, -715827840, -572662272, 0, 715827968, 2147483647, 2147483647],
     (-1, 2), [-1, -1, 0, 0.1, 0.5, 1, 2, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "mode", "integers", "ends", "numbers"), RECORDED)
def test_to_integers_and_back(kind, mode, integers, ends, numbers):
    q, low, high = Q.quantize(X, -1.0, 2.0, getattr(tf, kind), mode)
    assert q.dtype is getattr(tf, kind) and q.numpy().tolist() == integers
    np.testing.assert_allclose((low, high), ends, rtol=1e-6)
    np.testing.assert_allclose(Q.dequantize(q, low, high, mode), numbers, rtol=1e-6, atol=1e-7)


def test_in_functions():
    @tf.function
    def there_and_back(x):
        q, low, high = Q.quantize(x, -1.0, 2.0, tf.quint8)
        return Q.dequantize(q, low, high), q

    numbers, q = there_and_back(X)
    assert q.numpy().tolist() == RECORDED[0][2]
    np.testing.assert_allclose(numbers, RECORDED[0][4], rtol=1e-6)


def test_narrow_ranges_and_ranges_of_slices():
    q, low, high = Q.quantize(X, -1.0, 2.0, tf.qint8, "SCALED", narrow_range=True)
    assert q.numpy().tolist() == [-127, -64, 0, 6, 32, 64, 127, 127] and (low.numpy(), high.numpy()) == (-2.0, 2.0)
    q, low, high = Q.quantize(X, -1.0, 2.0, tf.qint8, ensure_minimum_range=10.0)
    assert q.numpy().tolist() == [-128, -128, -115, -114, -109, -103, -83, -26] and high.numpy() == 19.0
    rows = tf.reshape(X, [2, 4])
    q, low, high = Q.quantize(rows, [-1.0, -2.0], [2.0, 1.0], tf.qint8, "SCALED", "HALF_TO_EVEN", axis=0)
    assert q.numpy().tolist() == [[-127, -64, 0, 6], [32, 64, 127, 127]]
    np.testing.assert_allclose(low, [-2.015748, -2.0], rtol=1e-6)
    back = Q.dequantize(q, low, high, "SCALED", axis=0)
    np.testing.assert_allclose(back, [[-2, -1.007874, 0, 0.09448819], [0.5, 1, 1.984375, 1.984375]], rtol=1e-6)
    assert Q.dequantize(Q.quantize(X, -1.0, 2.0, tf.quint8)[0], -1.0, 2.0, dtype=tf.bfloat16).dtype is tf.bfloat16


def test_joined_in_a_range_that_holds_all():
    a, b = Q.quantize(X, -1.0, 2.0, tf.quint8), Q.quantize(X, -3.0, 3.0, tf.quint8)
    q, low, high = Q.quantized_concat(0, [a[0], b[0]], [a[1], b[1]], [a[2], b[2]])
    expected = [85, 85, 128, 133, 150, 171, 213, 213, 43, 85, 128, 132, 149, 170, 234, 255]
    assert q.numpy().tolist() == expected and (low.numpy(), high.numpy()) == (-3.0, 3.0)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [-1.984252, -0.992126, 0, 0.11023622, 0.496063, 0.992126, 2.480315, 7]),
        ({"signed_input": False}, [-2.0039215, -0.9882353, 0, 0.109803922, 0.49411765, 0.9882353, 2.498039, 7]),
        ({"num_bits": 4}, [-2, -1, 0, 0, 0, 1, 2, 7]),
        ({"range_given": True}, [-2, -1.007874, 0, 0.09448819, 0.503937, 1.007874, 2, 2]),
        ({"range_given": True, "num_bits": 3}, [-2, -1.3333334, 0, 0, 0.6666667, 1.3333334, 2, 2]),
        (
            {"range_given": True, "num_bits": 3, "round_mode": "HALF_UP"},
            [-2, -0.6666667, 0, 0, 0.6666667, 1.3333334, 2, 2],
        ),
        ({"range_given": True, "signed_input": False, "num_bits": 3}, [0, 0, 0, 0, 0.5714286, 1.1428572, 2, 2]),
    ],
)
def test_rounding_and_its_gradients(options, expected):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        clipped = Q.quantize_and_dequantize_v2(X, -1.0, 2.0, **options)
        passed = Q.quantize_and_dequantize(X, -1.0, 2.0, **options)
    np.testing.assert_allclose(clipped, expected, rtol=1e-6)
    np.testing.assert_array_equal(clipped, passed)
    assert tape.gradient(clipped, X, tf.fill([8], 3.0)).numpy().tolist() == [0, 3, 3, 3, 3, 3, 0, 0]
    assert tape.gradient(passed, X).numpy().tolist() == [1] * 8


def test_rounding_by_slices():
    rows = Q.quantize_and_dequantize_v2(tf.reshape(X, [2, 4]), 0.0, 0.0, axis=1)
    np.testing.assert_allclose(rows, [[-2, -1, 0, 0.11023622], [0.5, 1, 2.5, 7]], rtol=1e-6)
    wide = Q.quantize_and_dequantize_v2(tf.cast(X, tf.float64), -1.0, 2.0, range_given=True)
    assert wide.dtype is tf.float64 and abs(wide[1].numpy() + 1.0078740157480315) < 1e-12


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: Q.quantize(X, 2.0, -1.0, tf.quint8), "input_max_range must be larger than input_min_range"),
        (lambda: Q.quantize(X, -1.0, 2.0, tf.quint8, "X"), "'mode' of \"X\" is not in the list of allowed values"),
        (lambda: Q.quantize(X, -1.0, 2.0, tf.int8), "'T' of int8 is not in the list of allowed values"),
        (
            lambda: Q.quantize(X, -1.0, 2.0, tf.quint8, "MIN_FIRST", "HALF_TO_EVEN"),
            "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is 'MIN_FIRST'",
        ),
        (lambda: Q.quantize(X, [-1.0, 0.0], [2.0, 1.0], tf.quint8), "min_range must be a scalar"),
        (
            lambda: Q.quantize_and_dequantize_v2(X, 2.0, -1.0, range_given=True),
            "Invalid range: input_min 2 > input_max -1",
        ),
        (lambda: Q.quantize_and_dequantize_v2(X, -1.0, 2.0, num_bits=80), "num_bits is out of range: 80"),
    ],
)
def test_refuses(call, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        call()


def test_results_are_named():
    q = Q.quantize([1.0, 2.0], 0.0, 3.0, tf.quint8)
    joined = Q.quantized_concat(0, [q.output, q.output], [q.output_min] * 2, [q.output_max] * 2)
    assert [type(q).__name__, type(joined).__name__] == ["QuantizeV2", "QuantizedConcat"]
    assert joined._fields == ("output", "output_min", "output_max")
