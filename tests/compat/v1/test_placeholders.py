"""Placeholders: what they need, and the values they have if nothing is fed."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def test_placeholders_need_a_graph():
    for make in (lambda: v1.placeholder(tf.float32), lambda: v1.sparse_placeholder(tf.float32)):
        with pytest.raises(RuntimeError, match="not compatible with eager execution"):
            make()
    assert v1.placeholder_with_default([1, 2], [2]).numpy().tolist() == [1, 2]


def test_shapes_and_names():
    with tf.Graph().as_default(), v1.Session() as sess:
        x, y = v1.placeholder(tf.int32), v1.placeholder(tf.float64, [None, 2], name="y")
        assert x.shape.rank is None
        assert x.name == "Placeholder:0"
        assert x.op.type == "Placeholder"
        assert y.shape.as_list() == [None, 2]
        assert y.name == "y:0"
        assert y.dtype == tf.float64
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'y'"):
            sess.run(y)
        assert sess.run(x, {x: [[1]]}).tolist() == [[1]]


def test_defaults():
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder_with_default(np.float32([1.0, 2.0]), [None], name="x")
        assert x.shape.as_list() == [None]
        assert x.name == "x:0"
        assert sess.run(x * 2.0).tolist() == [2.0, 4.0]
        assert sess.run(x * 2.0, {x: [3.0]}).tolist() == [6.0]
        with pytest.raises(ValueError):
            v1.placeholder_with_default([1.0, 2.0], [3])


@pytest.mark.parametrize(("shape", "static"), [(None, None), ([2, 3], [2, 3]), ([None, 3], [None, 3])])
def test_sparse(shape, static):
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.sparse_placeholder(tf.float32, shape, name="s")
        assert (None if x.shape.rank is None else x.shape.as_list()) == static
        assert x.values.name == "s/values:0"
        assert x.indices.dtype == tf.int64
        value = v1.SparseTensorValue(np.int64([[1, 2]]), np.float32([5.0]), np.int64([2, 3]))
        assert sess.run(tf.sparse.to_dense(x), {x: value}).tolist() == [[0, 0, 0], [0, 0, 5.0]]
