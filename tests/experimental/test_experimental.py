"""`tf.experimental`: capsules for other libraries, and how ops run."""

import numpy as np
import pytest
import torch

import tapeflow as tf

DLPACK = tf.experimental.dlpack


def test_tensors_go_to_other_libraries_and_come_back():
    x = tf.constant([[1.0, 2.0]])
    shared = torch.utils.dlpack.from_dlpack(DLPACK.to_dlpack(x))
    shared += 1
    assert shared.tolist() == [[2.0, 3.0]] and x.numpy().tolist() == [[1.0, 2.0]]
    array = np.array([1, 2])
    y = DLPACK.from_dlpack(array)
    array += 1
    assert y.dtype is tf.int64 and y.numpy().tolist() == [1, 2]
    assert DLPACK.from_dlpack(DLPACK.to_dlpack(tf.Variable(3.0))).numpy() == 3.0


def test_what_is_no_capsule_and_has_none():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a TF tensor"):
        DLPACK.to_dlpack(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="DLPack has no tensors of string"):
        DLPACK.to_dlpack(tf.constant(["a"]))
    with pytest.raises(TypeError, match="takes a DLPack capsule, not int"):
        DLPACK.from_dlpack(3)


def test_scopes_that_change_nothing():
    with tf.experimental.async_scope(), pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
        tf.debugging.assert_equal(1, 2)
    tf.experimental.async_clear_error()
    with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        assert tf.function(lambda x: x + 1)(1).numpy() == 2
    scope = tf.experimental.function_executor_type("X")
    with pytest.raises(tf.errors.NotFoundError, match="No executor factory registered"), scope:
        pass


def test_narrow_dtypes_are_those_of_dtypes():
    assert tf.experimental.float8_e5m2 is tf.dtypes.experimental.float8_e5m2
    assert tf.experimental.int4 is tf.dtypes.experimental.int4
