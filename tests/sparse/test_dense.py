"""Sparse and dense tensors together."""

import numpy as np

import tapeflow as tf


def test_a_sum_leaves_its_operands_alone():
    sparse, dense = tf.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2]), tf.ones([2, 2])
    np.testing.assert_array_equal(tf.sparse.add(sparse, dense), [[1, 3], [4, 1]])
    np.testing.assert_array_equal(dense, np.ones([2, 2]))
    np.testing.assert_array_equal(sparse.values, [2, 3])
