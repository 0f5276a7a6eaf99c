"""Updates at places that indices name, beside loops in NumPy."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_the_last_of_several_updates_of_a_place_remains(dtype, index_dtype):
    rng = np.random.default_rng(0)
    for shape, depth, count in [((5,), 1, 1), ((5,), 1, 40), ((4, 6), 1, 9), ((3, 4, 5), 3, 200), ((3, 4), 1, 0)]:
        x, updates = (tf.cast(rng.integers(0, 100, s), dtype) for s in (shape, (count, *shape[depth:])))
        indices = np.stack([rng.integers(0, size, count) for size in shape[:depth]], -1).astype(index_dtype)
        expected = x.numpy().copy()
        for index, update in zip(indices, updates.numpy(), strict=True):
            expected[tuple(index)] = update
        np.testing.assert_array_equal(tf.tensor_scatter_nd_update(x, indices, updates), expected)
        np.testing.assert_array_equal(tf.gather_nd(x, indices), x.numpy()[tuple(indices.T)])


def test_extremes_of_updates_ignore_nan():
    rng = np.random.default_rng(0)
    x, updates = rng.normal(size=(4, 6)).astype(np.float32), rng.normal(size=(50, 6)).astype(np.float32)
    updates[::3, ::2], x[1, 1], x[2, 2] = np.nan, np.inf, np.nan
    rows = rng.integers(0, 4, (50, 1))
    for function, combine in ((tf.tensor_scatter_nd_max, np.fmax), (tf.tensor_scatter_nd_min, np.fmin)):
        expected = x.copy()
        combine.at(expected, rows[:, 0], updates)
        expected[2, 2] = np.nan
        np.testing.assert_array_equal(function(x, rows, updates), expected)


@pytest.mark.parametrize("indices", [[[0, 0], [2, 0]], [[0, 3]], [[-1, 0]], [[0, 0], [0, -(2**40)]]])
def test_indices_out_of_range_are_named(indices):
    x, bad = tf.zeros([2, 3]), ", ".join(map(str, indices[-1]))
    for call in (
        lambda: tf.gather_nd(x, indices),
        lambda: tf.tensor_scatter_nd_update(x, indices, tf.ones([len(indices)])),
        lambda: tf.scatter_nd(indices, tf.ones([len(indices)]), [2, 3]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[{len(indices) - 1}\] = \[{bad}\]"):
            call()


def test_bytes_of_one_element_that_was_broadcast():
    x = tf.broadcast_to(tf.constant(5.0), [1])
    np.testing.assert_array_equal(tf.tensor_scatter_nd_update(x, [[0]], x), [5.0])
    np.testing.assert_array_equal(tf.bitcast(x, tf.uint8), [[0, 0, 160, 64]])
    np.testing.assert_array_equal(tf.raw_ops.PopulationCount(x=tf.broadcast_to(tf.constant(7), [1, 1])), [[3]])
