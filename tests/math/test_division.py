"""Quotients and remainders of integers at the ends of their ranges."""

import numpy as np
import pytest

import tapeflow as tf

RAW = tf.raw_ops
SIGNED = ["int8", "int16", "int32", "int64"]
QUOTIENTS = {
    "truncatediv": tf.truncatediv,
    "floordiv": tf.math.floordiv,
    "Div": lambda x, y: RAW.Div(x=x, y=y),
    "TruncateDiv": lambda x, y: RAW.TruncateDiv(x=x, y=y),
}
REMAINDERS = {"truncatemod": tf.truncatemod, "floormod": tf.math.floormod, "Mod": lambda x, y: RAW.Mod(x=x, y=y)}


def ways(function):
    """The function as it is, traced without a shape, compiled, and compiled for a divisor that is a constant."""
    yield function
    yield lambda x, y: tf.function(function, input_signature=[tf.TensorSpec(None, x.dtype)] * 2)(x, y)
    yield lambda x, y: tf.function(function, jit_compile=True)(x, y)
    yield lambda x, y: tf.function(lambda x: function(x, tf.constant(y.numpy())), jit_compile=True)(x)


CASES = [(name, dtype) for name in [*QUOTIENTS, "floormod"] for dtype in SIGNED]
CASES += [(name, dtype) for name in ("truncatemod", "Mod") for dtype in ("int32", "int64")]


@pytest.mark.parametrize(("name", "dtype"), CASES)
@pytest.mark.parametrize("count", [0, 1, 3, 40])
def test_the_least_number_by_minus_one(name, dtype, count):
    """The quotient wraps around, as in TensorFlow; the processor traps on it."""
    least = tf.as_dtype(dtype).min
    x, y = tf.fill([count], tf.constant(least, dtype)), tf.fill([count], tf.constant(-1, dtype))
    expected = [0 if name in REMAINDERS else least] * count
    for way in ways((QUOTIENTS | REMAINDERS)[name]):
        assert way(x, y).numpy().tolist() == expected


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_minus_one_among_other_divisors(dtype):
    least = tf.as_dtype(dtype).min
    x, y = tf.constant([least, 7, -7, 9, least], dtype), tf.constant([-1, -1, 2, -2, 3], dtype)
    expected = [least, -7, -3, -4, -(-least // 3)]
    for function in (tf.truncatediv, QUOTIENTS["Div"]):
        for way in ways(function):
            assert way(x, y).numpy().tolist() == expected
    assert tf.truncatediv(x[:, None], y[None, :]).numpy()[:, 1].tolist() == [least, -7, 7, -9, least]


def test_in_a_loop():
    @tf.function
    def quotients(x, y):
        a, b = x, x[0]
        for _ in tf.range(40):
            a = tf.truncatediv(a, y)
            b = tf.truncatediv(b, y[0]) if tf.equal(b % 2, 1) else b // y[0]
        return a, b

    least = tf.int32.min
    a, b = quotients(tf.constant([least, least]), tf.constant([-1, -1]))
    assert a.numpy().tolist() == [least, least] and int(b) == least


@pytest.mark.parametrize("name", ["Div", "Mod"])
@pytest.mark.parametrize("count", [1, 40])
def test_raw_division_by_zero(name, count):
    x = tf.ones([count], tf.int32)
    for way in ways((QUOTIENTS | REMAINDERS)[name]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            way(x, tf.concat([x[1:], [0]], 0))


def test_raw_division_has_the_gradient_of_a_quotient():
    x, y = tf.constant([1.0, 2.0]), tf.constant([4.0, 5.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = RAW.Div(x=x, y=y)
    by_x, by_y = tape.gradient(z, [x, y])
    assert z.numpy().tolist() == pytest.approx([0.25, 0.4])
    assert by_x.numpy().tolist() == pytest.approx([0.25, 0.2])
    assert by_y.numpy().tolist() == pytest.approx([-1 / 16, -2 / 25])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("divisor", [1, 3, 8, 100, -3])
def test_many_integers_by_one_number(dtype, divisor):
    if divisor < 0 and dtype.startswith("u"):
        return
    limits = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(limits.min, limits.max, (100, 100), dtype, endpoint=True)
    x[0, :2] = limits.min, limits.max
    y = np.array(divisor, dtype)
    for function, expected in ((tf.math.floordiv, x // y), (tf.math.floormod, x % y)):
        result = function(tf.constant(x), tf.constant(y))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.numpy(), expected)
    np.testing.assert_array_equal(tf.math.floormod(tf.transpose(x), y).numpy(), (x % y).T)
