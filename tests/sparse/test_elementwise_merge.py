"""Sums and extremes of sparse tensors, and the checks of their indices, beside dictionaries."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("shape", [(1,), (50,), (6, 7), (2, 3, 4), (40, 30), (0, 4)])
def test_sums_and_extremes_of_random_tensors(shape):
    rng = np.random.default_rng(0)
    for density in (0.0, 0.3, 0.9):
        (a, dense_a), (b, dense_b) = _pairs(rng, shape, density)
        both = np.argwhere((dense_a != 0) | (dense_b != 0))
        for name, combine in (("add", np.add), ("maximum", np.maximum), ("minimum", np.minimum)):
            result = getattr(tf.sparse, name)(a, b)
            np.testing.assert_array_equal(result.indices, both.reshape(-1, len(shape)))
            np.testing.assert_array_equal(result.values, combine(dense_a, dense_b)[tuple(both.T)])
        np.testing.assert_array_equal(tf.sparse.to_dense(a), dense_a)


def _pairs(rng, shape, density):
    pairs = []
    for by_columns in (False, True):  # as `tf.where` has them in memory, and as NumPy has
        dense = np.where(rng.random(shape) < density, rng.integers(1, 6, shape), 0).astype(np.float32)
        sparse = tf.sparse.from_dense(dense)
        if not by_columns:
            sparse = tf.SparseTensor(np.ascontiguousarray(sparse.indices.numpy()), sparse.values, shape)
        pairs.append((sparse, dense))
    return pairs


@pytest.mark.parametrize(
    ("indices", "message"),
    [([[0, 1], [0, 0]], r"indices\[1\] = \[0,0\] is out of order"),
     ([[0, 1], [0, 1]], r"indices\[1\] = \[0,1\] is repeated"),
     ([[0, 0], [0, 3]], r"indices\[1\] = \[0,3\] is out of bounds"), ([[-1, 0], [0, 0]], r"indices\[0\] = \[-1,0\]"),
     ([[1, 0], [0, 1]], "out of order")],
)  # fmt: skip
def test_the_first_row_of_indices_that_is_wrong_is_named(indices, message):
    for data in (np.array(indices), np.asfortranarray(indices)):
        sparse = tf.SparseTensor(tf.constant(data, tf.int64), [1.0, 2.0], [2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            tf.sparse.to_dense(sparse)


def test_indices_of_another_width_are_refused():
    for name in ("SparseSparseMaximum", "SparseAdd"):
        extra = {"thresh": 0.0} if name == "SparseAdd" else {}
        with pytest.raises(tf.errors.InvalidArgumentError):
            getattr(tf.raw_ops, name)(
                a_indices=tf.constant([[0]], tf.int64), a_values=[1.0], a_shape=tf.constant([1, 1], tf.int64),
                b_indices=tf.constant([[0, 0]], tf.int64), b_values=[1.0], b_shape=tf.constant([1, 1], tf.int64),
                **extra,
            )  # fmt: skip
