"""Fractional pooling, beside windows in NumPy."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("overlapping", [False, True])
def test_windows_are_pooled_as_numpy_does(dtype, overlapping):
    rng = np.random.default_rng(0)
    cases = {(1, 1, 1, 1): (1.0, 1.0), (2, 9, 11, 3): (1.4, 2.7), (2, 8, 8, 40): (2.0, 1.9), (0, 4, 4, 2): (2.0, 2.0)}
    for shape, ratio in cases.items():
        x = (rng.normal(size=shape) * 1000).astype(dtype)
        if dtype.startswith("float") and x.size > 100:
            x[0, 2, 3], x[1, 5, 5, 0] = np.nan, -np.inf
        for pseudo_random in (False, True):
            for function in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool):
                out, rows, columns = function(x, [1.0, *ratio, 1.0], pseudo_random, overlapping, seed=3)
                rows, columns = rows.numpy(), columns.numpy()
                for starts, length in ((rows, shape[1]), (columns, shape[2])):
                    sizes = np.diff(starts)
                    assert starts[0] == 0 and starts[-1] == length
                    assert set(sizes) <= {length // len(sizes), length // len(sizes) + 1}
                for i in range(len(rows) - 1):
                    for j in range(len(columns) - 1):
                        window = x[:, rows[i] : rows[i + 1] + overlapping, columns[j] : columns[j + 1] + overlapping]
                        if function is tf.nn.fractional_max_pool:
                            least = np.finfo(dtype).min if dtype.startswith("float") else np.iinfo(dtype).min
                            expected = np.where(np.isnan(window), least, window).max((1, 2), initial=least)
                            np.testing.assert_array_equal(out[:, i, j], expected)
                        else:
                            expected = window.mean((1, 2), dtype=np.float64)
                            expected = expected.astype(dtype)
                            np.testing.assert_allclose(out[:, i, j], expected, 1e-5, 1e-3)
