"""`tf.math.invert_permutation`, beside NumPy."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_inverse_of_random_permutations(dtype):
    for size in (0, 1, 7, 3000):
        x = np.random.default_rng(size).permutation(size).astype(dtype)
        inverse = tf.math.invert_permutation(tf.constant(x))
        assert inverse.dtype == dtype
        np.testing.assert_array_equal(inverse, np.argsort(x))
        np.testing.assert_array_equal(tf.math.invert_permutation(tf.constant(np.repeat(x, 2))[::2]), inverse)


@pytest.mark.parametrize(
    ("x", "message"),
    [([0, 0], "0 is duplicated"), ([2, 0], "2 is not between 0 and 2"), ([1, -1], "-1 is not between"),
     ([1, 1, 9], "1 is duplicated"), ([2**31 - 1], "2147483647 is not between")],
)  # fmt: skip
def test_the_first_number_that_is_wrong_is_named(x, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.math.invert_permutation(x)
