"""Ragged tensors of TensorFlow 1: their values, and placeholders."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def test_values_of_lists():
    value = v1.ragged.constant_value([[1, 2], [], [3]])
    assert isinstance(value, v1.ragged.RaggedTensorValue)
    assert value.to_list() == [[1, 2], [], [3]]
    assert value.dtype == np.int64
    assert value.shape == (3, None)
    assert value.row_splits.dtype == np.int64
    assert value.row_splits.tolist() == [0, 2, 2, 3]
    assert value.values.tolist() == [1, 2, 3]
    assert value.ragged_rank == 1
    small = v1.ragged.constant_value([[1.5]], dtype=np.float16, row_splits_dtype="int32")
    assert small.dtype == np.float16
    assert small.row_splits.dtype == np.int32
    deep = v1.ragged.constant_value([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert deep.flat_values.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert deep.ragged_rank == 1
    assert v1.ragged.constant_value([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)).ragged_rank == 1
    nested = v1.ragged.constant_value([np.array([[1], [2]]), np.array([[3]])])
    assert nested.to_list() == [[[1], [2]], [[3]]]
    assert v1.ragged.constant_value([1, 2, 3]).tolist() == [1, 2, 3]


def test_placeholders():
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.ragged.placeholder(tf.int32, 1, name="r")
        fed = {x: v1.ragged.constant_value([[1, 2, 3], [4]], dtype=np.int32)}
        assert x.dtype is tf.int32
        assert x.ragged_rank == 1
        assert sess.run(x.row_lengths(), fed).tolist() == [3, 1]
        with pytest.raises(ValueError, match=r"axis=-1 may only be negative if .* is statically known"):
            x.row_lengths(axis=-1)
        deep = v1.ragged.placeholder(tf.float32, 2, value_shape=[2])
        assert deep.shape.as_list() == [None, None, None, 2]
        assert deep.ragged_rank == 2
        assert deep.flat_values.shape.as_list() == [None, 2]
        assert deep.row_splits.dtype is tf.int64
        flat = v1.ragged.placeholder(tf.float32, 0, value_shape=[])
        assert flat.shape.as_list() == []
