"""Products of matrices in `vectorized_map`: those of each slice."""

import itertools

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("stacked", ["a", "b", "ab"])
@pytest.mark.parametrize("rows", [3, 1])
@pytest.mark.parametrize(("transpose_a", "transpose_b"), [*itertools.product([False, True], repeat=2)])
def test_products_of_slices(stacked, rows, transpose_a, transpose_b):
    def numbers(name, shape, transposed):
        shape = shape[::-1] if transposed else shape
        random = np.random.default_rng(len(shape) + ord(name))
        return tf.constant(random.normal(size=(5, *shape) if name in stacked else shape), tf.float32)

    a, b = numbers("a", (rows, 4), transpose_a), numbers("b", (4, 2), transpose_b)
    given = [x for name, x in (("a", a), ("b", b)) if name in stacked]

    def product(slices):
        rest = iter(slices)
        x, y = next(rest) if "a" in stacked else a, next(rest) if "b" in stacked else b
        return tf.matmul(x, y, transpose_a, transpose_b)

    got = tf.vectorized_map(product, given)
    want = [product([x[i] for x in given]) for i in range(5)]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
