"""Diagonals of matrices."""

import pytest

import tapeflow as tf


def test_diagonals_that_do_not_fit_are_refused_after_a_call_that_did():
    """A call with tensors alone and a list is quick from the second time on."""
    x = tf.reshape(tf.range(12.0), [3, 4])
    for _ in range(2):
        found = tf.linalg.set_diag(x, [[20.0, 21.0, 22.0], [30.0, 31.0, 32.0]], k=[0, 1])
        assert found.numpy().tolist() == [[30.0, 20.0, 2.0, 3.0], [4.0, 31.0, 21.0, 7.0], [8.0, 9.0, 32.0, 22.0]]
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.linalg.set_diag(x, tf.ones([3, 3]), k=[0, 1])
