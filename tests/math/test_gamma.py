"""Incomplete gamma functions, where goldens are too coarse to tell."""

import numpy as np

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
