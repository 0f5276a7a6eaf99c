"""Cosine transforms beside their sums of cosines."""

import numpy as np
import pytest

import tapeflow as tf


def cosine_sums(x, kind, norm=None):
    """The definition, along the last dimension."""
    count = x.shape[-1]
    n, k = np.arange(count)[:, None], np.arange(count)
    if kind == 1:
        matrix = 2 * np.cos(np.pi * k * n / (count - 1))
        matrix[0], matrix[-1] = 1, (-1.0) ** k
    elif kind == 2:
        matrix = 2 * np.cos(np.pi * k * (2 * n + 1) / (2 * count))
    elif kind == 3:
        matrix = 2 * np.cos(np.pi * (2 * k + 1) * n / (2 * count))
        matrix[0] = 1
    else:
        matrix = 2 * np.cos(np.pi * (2 * k + 1) * (2 * n + 1) / (4 * count))
    if norm == "ortho":
        matrix *= np.sqrt(1 / (2 * count))
        if kind == 2:
            matrix[:, 0] *= np.sqrt(0.5)
        if kind == 3:
            matrix[0] *= np.sqrt(2)
    return x @ matrix


ALL = [(1, None), *((kind, norm) for kind in (2, 3, 4) for norm in (None, "ortho"))]


@pytest.mark.parametrize(("kind", "norm"), ALL)
@pytest.mark.parametrize("n", [None, 3, 6, 9])
def test_cosine_transforms(kind, norm, n):
    for shape, dtype, tolerance in (((2, 3, 6), "float64", 1e-9), ((7,), "float32", 1e-4)):
        x = np.random.default_rng(0).normal(size=shape).astype(dtype)
        wide = np.zeros((*shape[:-1], n or shape[-1]), dtype)
        wide[..., : shape[-1]] = x[..., : wide.shape[-1]]
        expected = cosine_sums(wide, kind, norm)
        variable = tf.constant(x)
        sized = tf.function(
            lambda x: tf.signal.dct(x, kind, n, norm=norm), input_signature=[tf.TensorSpec([None] * x.ndim, dtype)]
        )
        for result in (tf.signal.dct(variable, kind, n, norm=norm), sized(variable)):
            assert result.dtype == dtype
            np.testing.assert_allclose(result, expected, tolerance, tolerance * 10)
        inverse = tf.signal.idct(expected.astype(dtype), kind, norm=norm)
        factor = 1 if norm else 2 * (wide.shape[-1] - (kind == 1))
        np.testing.assert_allclose(inverse, wide * factor, tolerance, tolerance * 100)


def test_defaults():
    x = tf.constant([1.0, 5.0, 2.0, -3.0])
    np.testing.assert_array_equal(tf.signal.dct(x), tf.signal.dct(x, 2, 4, -1, None))
    np.testing.assert_array_equal(tf.signal.idct(x), tf.signal.idct(x, 2, 4, -1, None))


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        ([1.0, 2.0], {"axis": 0}, NotImplementedError, "axis must be -1"),
        ([1.0, 2.0], {"n": 0}, ValueError, "positive integer or None"),
        ([1.0, 2.0], {"type": 5}, ValueError, "Types I, II, III and IV"),
        ([1.0, 2.0], {"type": 0}, ValueError, "Types I, II, III and IV"),
        ([1.0, 2.0], {"type": 1, "norm": "ortho"}, ValueError, "not supported for the Type-I"),
        ([1.0, 2.0], {"norm": "l2"}, ValueError, "Unknown normalization"),
        ([1.0], {"type": 1}, ValueError, "greater than one"),
        ([1, 2], {}, TypeError, "float32 or tf.float64"),
    ],
)
def test_arguments_that_are_refused(x, options, error, message):
    for function in (tf.signal.dct, tf.signal.idct):
        with pytest.raises(error, match=message):
            function(tf.constant(x), **options)
