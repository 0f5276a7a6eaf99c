"""`tf.IndexedSlices`."""

import re

import numpy as np
import pytest

import tapeflow as tf


@pytest.fixture
def slices():
    return tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 0]), tf.constant([4, 2]))


def test_parts(slices):
    assert slices.values.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]] and slices.indices.numpy().tolist() == [2, 0]
    assert slices.dense_shape.numpy().tolist() == [4, 2] and slices.dtype is tf.float32
    assert slices.shape.as_list() == [4, 2] and slices.device == slices.values.device
    without = tf.IndexedSlices(slices.values, slices.indices)
    assert without.dense_shape is None and without.shape.as_list() == [None, 2]


def test_dense_tensors(slices):
    assert tf.convert_to_tensor(slices).numpy().tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
    twice = tf.IndexedSlices(slices.values, tf.constant([1, 1]), tf.constant([2, 2]))
    assert tf.convert_to_tensor(twice, tf.float32).numpy().tolist() == [[0.0, 0.0], [4.0, 6.0]]
    assert (-slices).indices is slices.indices
    assert tf.convert_to_tensor(-slices).numpy()[2].tolist() == [-1.0, -2.0]
    said = r"Incompatible tensor conversion requested to `dtype` float64 for IndexedSlices \(Ind.*\) with dtype float32"
    with pytest.raises(ValueError, match=re.compile(said, re.DOTALL)):
        tf.convert_to_tensor(slices, tf.float64)
    with pytest.raises(ValueError, match=r"Tensor conversion requested for IndexedSlices for argument .* dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(slices.values, slices.indices))


def test_texts(slices):
    parts = f"indices={slices.indices!s}, values={slices.values!s}, dense_shape={slices.dense_shape!s}"
    assert str(slices) == f"IndexedSlices({parts})"
    assert "dense_shape" not in str(tf.IndexedSlices(slices.values, slices.indices))


def test_slices_of_graphs():
    with tf.Graph().as_default() as graph:
        values = tf.compat.v1.placeholder(tf.float32, [2, 3], name="rows")
        slices = tf.IndexedSlices(values, tf.constant([1, 0]))
        assert slices.name == "rows:0" and slices.op is values.op and slices.graph is graph
        assert slices.consumers() == []
        tf.identity(values, name="next")
        assert [op.name for op in slices.consumers()] == ["next"]
        with tf.compat.v1.Session() as session:
            found = session.run(slices, {values: np.ones([2, 3])})
            assert found.values.shape == (2, 3) and found.indices.tolist() == [1, 0] and found.dense_shape is None


def test_gradients_of_gathers_add_up():
    v = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [2, 0]) * [[10.0], [20.0]]) + tf.reduce_sum(tf.gather(v, [2, 2]) * 5.0)
    gradient = tape.gradient(y, v)
    assert isinstance(gradient, tf.IndexedSlices) and gradient.dense_shape.numpy().tolist() == [3, 1]
    assert tf.convert_to_tensor(gradient).numpy().tolist() == [[20.0], [0.0], [20.0]]


def test_sums_of_slices_with_different_indices():
    v = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, tf.constant([2], tf.int64))) + tf.reduce_sum(tf.gather(v, tf.constant([1])))
    gradient = tape.gradient(y, v)
    assert gradient.indices.dtype is tf.int64 and gradient.values.shape == [2, 1]
    assert tf.convert_to_tensor(gradient).numpy().tolist() == [[0.0], [1.0], [1.0]]
