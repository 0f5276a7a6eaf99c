"""Incomplete gamma functions, where goldens are too coarse to tell."""

import numpy as np
import pytest
import scipy.special

import tapeflow as tf

# a, x, and the derivative of igamma by a, from 40 digits.
DERIVATIVES = np.array([
    (0.8, 7.3, -0.0011693468132568279), (1.3, 7.3, -0.0032375586774713449),
    (20.0, 40.0, -0.00013418118615733181), (59.0, 63.0, -0.044199907817100299),
])  # fmt: skip


def test_derivatives_of_many_numbers_are_as_exact_as_of_one():
    # A fraction that goes on until no number changes any more loses digits of all, besides the time.
    others = np.linspace(0.1, 60.0, 400)
    a = tf.constant(np.concatenate([DERIVATIVES[:, 0], others]))
    with tf.GradientTape() as tape:
        tape.watch(a)
        result = tf.math.igamma(a, np.concatenate([DERIVATIVES[:, 1], others * 1.2 + 2.0]))
    np.testing.assert_allclose(tape.gradient(result, a)[:4], DERIVATIVES[:, 2], rtol=5e-14)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-7), (np.float64, 1e-12)])
def test_betainc_and_zeta_have_all_digits(dtype, rtol):
    rng = np.random.default_rng(0)
    few, many = rng.uniform(0.05, 4.0, (2, 300)), rng.uniform(0.0, 80.0, (2, 300))
    a, b = np.concatenate([few, many], 1).astype(dtype)
    x = rng.uniform(0.01, 0.99, 600).astype(dtype)
    expected = scipy.special.betainc(*(v.astype(np.float64) for v in (a, b, x)))
    np.testing.assert_allclose(tf.math.betainc(a, b, x), expected, rtol, 1e-30)
    s, q = (1.0 + a.astype(np.float64)).astype(dtype), b
    expected = scipy.special.zeta(*(v.astype(np.float64) for v in (s, q)))
    fits = np.isfinite(expected.astype(dtype)) & (expected > 1e-37)
    np.testing.assert_allclose(tf.math.zeta(s, q).numpy()[fits], expected[fits], rtol)


@pytest.mark.parametrize("repeat", [1, 1000])  # a loop that runs as Python, and machine code
def test_borders_of_betainc_and_zeta(repeat):
    nan, inf = np.nan, np.inf
    a = np.array([1, 1, 0, -1, 2, 2, nan, inf, 2], np.float32)
    b = np.array([1, 1, 1, 1, inf, 2, 1, 2, 2], np.float32)
    x = np.array([0, 1, 0.5, 0.5, 0.5, 1.5, 0.5, 0, nan], np.float32)
    result = tf.math.betainc(*(np.tile(v, repeat) for v in (a, b, x))).numpy()
    np.testing.assert_array_equal(result, np.tile([0, 1, nan, nan, nan, nan, nan, 0, nan], repeat))
    s = np.array([1, 0.5, 3, 3, 2, 2, 50, 2, inf], np.float32)
    q = np.array([2, 2, -1, -1.5, -1, 0, 1e5, nan, 2], np.float32)
    result = tf.math.zeta(*(np.tile(v, repeat) for v in (s, q))).numpy().reshape(repeat, -1)
    assert (np.isnan(result) == np.isnan(result[0])).all()
    assert np.isinf(result[:, [0, 4, 5]]).all() and np.isnan(result[:, [1, 2, 7]]).all()
    assert (result[:, 6] == 0).all()


def test_betainc_and_zeta_of_single_numbers():
    assert tf.math.betainc(1.0, 1.0, 0.25).numpy() == 0.25
    assert tf.math.zeta(2.0, 1.0).numpy() == np.float32(np.pi**2 / 6)
    assert tf.math.polygamma(1.0, 1.0).numpy() == np.float32(np.pi**2 / 6)
