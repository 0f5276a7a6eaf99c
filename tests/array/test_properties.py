"""Shapes, sizes and ranks of tensors. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row


def ints(*shape):
    return tf.TensorSpec(shape, tf.int32)


def whole(*shape):
    return tf.reshape(tf.range(float(np.prod(shape))), shape)


X = whole(2, 3)

ROWS = read_rows("""
tf.shape(X)
    int32 [2] [2, 3]
tf.shape(X, tf.int64)
    int64 [2] [2, 3]
tf.shape(["a"])
    int32 [1] [1]
tf.shape(5)
    int32 [0] []
tf.shape(X, tf.float32)
    InvalidArgumentError
tf.shape_n([X, [1]])
    (int32 [2] [2, 3]; int32 [1] [1])
tf.shape_n([X, [1]], tf.int64)
    (int64 [2] [2, 3]; int64 [1] [1])
tf.size(X)
    int32 [] 6
tf.size([], tf.int64)
    int64 [] 0
tf.rank(X)
    int32 [] 2
tf.rank(5)
    int32 [] 0
tf.rank(["a"])
    int32 [] 1
unranked(lambda x: [tf.shape(x), tf.size(x), tf.rank(x)], X)
    (int32 [2] [2, 3]; int32 [] 6; int32 [] 2)
sized(lambda x: [tf.shape(x, tf.int64), tf.size(x, tf.int64), tf.rank(x)], X)
    (int64 [2] [2, 3]; int64 [] 6; int32 [] 2)
static(lambda x: [tf.shape(x), tf.size(x), tf.rank(x), *tf.shape_n([x, x])], [None, 3])
    ('(2,)'; '()'; '()'; '(2,)'; '(2,)')
static(lambda x: [tf.shape(x), tf.size(x), tf.rank(x)], None)
    ('(None,)'; '()'; '()')
static(lambda x: tf.zeros([tf.size(x), tf.rank(x)]), [2, 3])
    '(6, 2)'
static(lambda x: tf.zeros([tf.size(x), tf.rank(x)]), [None, 3])
    '(None, 2)'
static(lambda x: tf.zeros(tf.shape_n([x, x])[1]), [None, 3])
    '(None, 3)'
[tf.is_tensor(v) for v in (X, 5, [X], np.zeros(2), tf.Variable(1), tf.ragged.constant([[1]]), tf.sparse.eye(2), None)]
    (True; False; False; False; True; True; True; False)
tf.get_static_value(X)
    array float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tf.get_static_value(5)
    5
tf.get_static_value([1, 2])
    (1; 2)
tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])).as_list()
    (2; 3)
tf.broadcast_static_shape(tf.TensorShape([None, 1]), tf.TensorShape([3])).as_list()
    (None; 3)
tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3]))
    ValueError
str(tf.broadcast_static_shape(tf.TensorShape(None), tf.TensorShape([3])))
    '<unknown>'
tf.broadcast_dynamic_shape([2, 1], [3])
    int32 [2] [2, 3]
tf.broadcast_dynamic_shape([], [3])
    int32 [1] [3]
tf.broadcast_dynamic_shape([2], [3])
    InvalidArgumentError
tf.broadcast_dynamic_shape(tf.constant([1, 2], tf.int64), tf.constant([5, 1], tf.int64))
    int64 [2] [5, 2]
static(lambda a, b: tf.broadcast_dynamic_shape(a, b), ints(2), ints(3))
    '(3,)'
static(lambda a, b: tf.broadcast_dynamic_shape(a, b), ints(None), ints(3))
    '(None,)'
static(lambda a, b: tf.broadcast_dynamic_shape(a, b), ints(1, 2), ints(3))
    ValueError
tf.ensure_shape(X, [2, 3])
    float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tf.ensure_shape(X, [None, 3])
    float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tf.ensure_shape(X, None)
    float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tf.ensure_shape(["a"], [1])
    string [1] [b'a']
tf.ensure_shape(X, [3, 2])
    InvalidArgumentError
tf.ensure_shape(X, [2])
    InvalidArgumentError
static(lambda x: tf.ensure_shape(x, [None, 3]), [2, None])
    '(2, 3)'
static(lambda x: tf.ensure_shape(x, [None, 3]), None)
    '(None, 3)'
static(lambda x: tf.ensure_shape(x, [None, 3]), [2, 4])
    ValueError
unranked(lambda x: tf.ensure_shape(x, [2, 3]), X)
    float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
unranked(lambda x: tf.ensure_shape(x, [2, 4]), X)
    InvalidArgumentError
cube_grads(lambda x: tf.ensure_shape(x, [2, 3]), X)
    (float32 [2, 3] [[0, 3, 12], [27, 48, 75]])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
