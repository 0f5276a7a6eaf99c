"""Isotonic regression, beside its closed form."""

import numpy as np
import pytest

import tapeflow as tf


def _nearest_decreasing(row):
    """Element `i` is the least, over the starts before it, of the largest mean up to an end after it."""
    n = len(row)
    return [min(max(row[j : k + 1].mean() for k in range(i, n)) for j in range(i + 1)) for i in range(n)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8"])
@pytest.mark.parametrize("shape", [(1,), (13,), (5, 20), (2, 3, 7), (4, 0), (0, 4)])
@pytest.mark.parametrize("decreasing", [True, False])
def test_isotonic_regression_of_random_sequences(dtype, shape, decreasing):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) * 3).round(0 if shape == (13,) else 5).astype(dtype)
    output, segments = tf.nn.isotonic_regression(x, decreasing)
    sign = 1 if decreasing else -1
    rows = x.reshape(int(np.prod(shape[:-1])), shape[-1]).astype(np.float64)
    expected = [[sign * y for y in _nearest_decreasing(sign * row)] for row in rows]
    np.testing.assert_allclose(output.numpy().reshape(rows.shape), np.reshape(expected, rows.shape), 1e-5, 1e-5)
    steps = np.diff(segments.numpy().reshape(rows.shape), axis=1)
    assert set(steps.ravel()) <= {0, 1} and (segments.numpy()[..., :1] == 0).all()
    assert (np.diff(output.numpy().reshape(rows.shape), axis=1)[steps == 0] == 0).all()


def test_isotonic_regression_of_nan_and_infinity():
    output, segments = tf.nn.isotonic_regression([[1.0, np.nan, 2.0], [1.0, np.inf, 2.0], [np.inf, 1.0, -np.inf]])
    assert segments.numpy().tolist() == [[0, 1, 2], [0, 0, 1], [0, 1, 2]]
    np.testing.assert_array_equal(output.numpy(), [[1, np.nan, 2], [np.inf, np.inf, 2], [np.inf, 1, -np.inf]])
