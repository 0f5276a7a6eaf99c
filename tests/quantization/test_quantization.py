"""Fake quantization. What is expected is what TensorFlow 2.21 gave."""

import numpy as np
import pytest

import tapeflow as tf

Q = tf.quantization
X = tf.constant([-10.0, -6.0, -1.3, -0.024, 0.0, 0.0235, 0.5, 1.9, 5.99, 7.3, np.nan, np.inf, -np.inf])
SYMMETRIC = [-6.0235295, -5.9764705, -1.3176471, -0.047058824, 0.0, 0.0, 0.5176471, 1.8823529, 5.9764705, 5.9764705,
             np.nan, 5.9764705, -6.0235295]  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "bits", "narrow", "expected"),
    [
        (-6.0, 6.0, 8, False, SYMMETRIC),
        (-6.0, 6.0, 2, True, [-6, -6, 0, 0, 0, 0, 0, 0, 6, 6, np.nan, 6, -6]),
        (0.5, 3.0, 2, False, [0, 0, 0, 0, 0, 0, 0.8333333, 1.6666666, 2.5, 2.5, np.nan, 2.5, 0]),
        (-3.0, -1.0, 2, False, [-2, -2, -1.3333334, 0, 0, 0, 0, 0, 0, 0, np.nan, 0, -2]),
    ],
)
def test_rounds_to_steps(low, high, bits, narrow, expected):
    settings = {"num_bits": bits, "narrow_range": narrow}
    for found in (
        Q.fake_quant_with_min_max_args(X, low, high, **settings),
        Q.fake_quant_with_min_max_vars(X, low, high, **settings),
        Q.fake_quant_with_min_max_vars_per_channel(X[:, None], [low], [high], **settings)[:, 0],
        tf.function(Q.fake_quant_with_min_max_vars)(X, tf.constant(low), tf.constant(high), **settings),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_gradients_pass_inside_of_the_range():
    low, high, weights = tf.constant(-6.0), tf.constant(6.0), tf.range(1.0, 14.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([X, low, high])
        y = Q.fake_quant_with_min_max_vars(X, low, high) * weights
        z = Q.fake_quant_with_min_max_args(X) * weights
    inside = [0, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0]
    found = tape.gradient(y, [X, low, high])
    assert found[0].numpy().tolist() == tape.gradient(z, X).numpy().tolist() == inside
    assert (found[1].numpy(), found[2].numpy()) == (14.0, 31.0)


def test_channels_have_ranges_of_their_own():
    x = tf.constant([[-7.0, -1.0, 0.3], [2.0, 5.0, 1e3], [0.1, 0.2, 0.3]])
    low, high = tf.constant([-6.0, 0.0, 0.1]), tf.constant([6.0, 3.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch([x, low, high])
        y = Q.fake_quant_with_min_max_vars_per_channel(x, low, high, 4)
        total = y * tf.reshape(tf.range(1.0, 10.0), [3, 3])
    expected = [[-6.4, 0.0, 0.25333333], [2.4, 3.0, 1.9], [0.0, 0.2, 0.25333333]]
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    dx, dlow, dhigh = tape.gradient(total, [x, low, high])
    assert dx.numpy().tolist() == [[0, 0, 3], [4, 0, 0], [7, 8, 9]]
    assert dlow.numpy().tolist() == [1, 2, 0] and dhigh.numpy().tolist() == [0, 5, 6]


def test_an_empty_range_is_zero():
    zero = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch([X, zero])
        y = Q.fake_quant_with_min_max_vars(X, zero, 0.0)
    assert not y.numpy().any()
    assert tape.gradient(y, [X, zero])[0].numpy().all()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: Q.fake_quant_with_min_max_args(X, 3.0, 1.0), "min has to be smaller than max, was: 3 >= 1"),
        (lambda: Q.fake_quant_with_min_max_vars(X, 0.0, 1.0, 1), "num_bits must be between 2 and 16, inclusive"),
        (lambda: Q.fake_quant_with_min_max_vars(X, [0.0], 1.0), "`min` must be rank 0 but is rank 1"),
        (
            lambda: Q.fake_quant_with_min_max_vars_per_channel(X[None], [0.0], [1.0]),
            "min has incorrect size, expected 13 was 1",
        ),
        (lambda: Q.fake_quant_with_min_max_vars_per_channel(1.0, [0.0], [1.0]), "last dimension"),
        (
            lambda: Q.fake_quant_with_min_max_vars_gradient(X[:2], X, 0.0, 1.0),
            "gradient and input must be the same size",
        ),
        (lambda: Q.fake_quant_with_min_max_vars(tf.cast(X, tf.float64), 0.0, 1.0), "float"),
    ],
)
def test_refuses(call, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        call()


@pytest.mark.parametrize("function", [Q.fake_quant_with_min_max_args, Q.quantize_and_dequantize_v2])
def test_number_of_bits_as_a_tensor(function):
    bounds = (-1.0, 1.0)
    np.testing.assert_array_equal(function(X, *bounds, num_bits=tf.constant(4)), function(X, *bounds, num_bits=4))
