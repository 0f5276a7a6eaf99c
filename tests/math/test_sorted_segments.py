"""Reductions over sorted segments, beside NumPy."""

import numpy as np
import pytest

import tapeflow as tf

REDUCTIONS = {
    "segment_sum": np.sum, "segment_mean": np.mean, "segment_prod": np.prod, "segment_max": np.max,
    "segment_min": np.min,
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16", "uint8"])
def test_segments_of_random_rows(name, dtype):
    rng = np.random.default_rng(0)
    for shape in [(1,), (9,), (40, 3), (20, 2, 17), (5, 0)]:
        x = rng.integers(0, 4, shape).astype(dtype)
        for ids in (np.sort(rng.integers(0, 6, shape[0])), np.zeros(shape[0], np.int32)):
            result = getattr(tf.math, name)(tf.constant(x), ids)
            assert result.dtype == dtype and result.shape == (ids[-1] + 1, *shape[1:])
            for i in range(ids[-1] + 1):
                rows = x[ids == i].astype(np.float64)
                expected = REDUCTIONS[name](rows, 0) if len(rows) else float(name == "segment_prod")
                np.testing.assert_allclose(result[i], np.broadcast_to(expected, shape[1:]).astype(dtype), 1e-3)


def test_a_number_after_nan_counts_in_extremes():
    rows = [[1.0, np.nan], [np.nan, 5.0], [2.0, 3.0], [np.nan, np.nan]]
    for name, last in (("segment_max", [2.0, 5.0]), ("segment_min", [2.0, 3.0])):
        result = getattr(tf.math, name)(rows, [0, 0, 0, 1]).numpy()
        np.testing.assert_array_equal(result, [last, [np.nan, np.nan]])


def test_segments_of_slices():
    """The rows are batched, the ids are not."""
    x, ids = np.random.default_rng(0).normal(size=(4, 6, 3)).astype(np.float32), [0, 0, 1, 3, 3, 3]
    for name in REDUCTIONS:
        function = getattr(tf.math, name)
        together = tf.vectorized_map(lambda rows, function=function: function(rows, ids), x)
        np.testing.assert_allclose(together, [function(rows, ids) for rows in x], 1e-6)


@pytest.mark.parametrize(
    ("ids", "message"), [([1, 0, 2], "not increasing"), ([-1, 0, 1], r"Segment id -1 out of range \[0, 2\)")]
)
def test_ids_that_are_no_segments(ids, message):
    for name in REDUCTIONS:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            getattr(tf.math, name)([1.0, 2.0, 3.0], ids)
