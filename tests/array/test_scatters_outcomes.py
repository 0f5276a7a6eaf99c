"""Scattered updates. The outcomes are those of TensorFlow 2.21."""

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
N = ints()
add, sub, put = tf.tensor_scatter_nd_add, tf.tensor_scatter_nd_sub, tf.tensor_scatter_nd_update
most, least = tf.tensor_scatter_nd_max, tf.tensor_scatter_nd_min
IGNORE = {"bad_indices_policy": "IGNORE"}

ROWS = read_rows("""
tf.scatter_nd([[0], [2], [0]], [1.0, 2.0, 3.0], [4])
    float32 [4] [4, 0, 2, 0]
tf.scatter_nd([[1]], [[1.0, 2.0]], [2, 2])
    float32 [2, 2] [[0, 0], [1, 2]]
tf.scatter_nd([[0, 1], [1, 0]], [5, 6], [2, 2])
    int32 [2, 2] [[0, 5], [6, 0]]
tf.scatter_nd([[[0], [1]]], [[5, 6]], [3])
    int32 [3] [5, 6, 0]
tf.scatter_nd([[0]], ["a"], [2])
    string [2] [b'a', b'']
tf.scatter_nd([[0], [3]], [1, 2], [3])
    InvalidArgumentError
tf.scatter_nd([[-1]], [1], [3])
    InvalidArgumentError
tf.scatter_nd([[0]], [1, 2], [3])
    InvalidArgumentError
tf.scatter_nd([[0, 0]], [1], [3])
    InvalidArgumentError
tf.scatter_nd([[0], [5]], [1, 2], [3], **IGNORE)
    int32 [3] [1, 0, 0]
tf.scatter_nd([0], [1], [3])
    InvalidArgumentError
tf.scatter_nd(np.zeros([0, 1], int), np.zeros([0], int), [3])
    int64 [3] [0, 0, 0]
tf.scatter_nd([[0]], [1], [0])
    InvalidArgumentError
cube_grads(lambda u: tf.scatter_nd([[0], [2], [0]], u, [4]), [1.0, 2.0, 3.0])
    (float32 [3] [48, 12, 48])
sized(lambda i, u, s: tf.scatter_nd(i, u, s), [[0], [2]], [1.0, 2.0], [4])
    float32 [4] [1, 0, 2, 0]
static(lambda u: tf.scatter_nd([[0], [2]], u, [4, 3]), [2, 3])
    '(4, 3)'
static(lambda u: tf.scatter_nd([[0], [2]], u, [4, 3]), [2, 4])
    ValueError
static(lambda u, s: tf.scatter_nd([[0], [2]], u, s), [2, 3], ints(2))
    '(None, None)'
static(lambda u, n: tf.scatter_nd([[0], [2]], u, [n, 3]), [2, 3], N)
    '(None, 3)'
add(X, [[0, 1], [1, 2], [0, 1]], [1.0, 2.0, 3.0])
    float32 [2, 3] [[0, 5, 2], [3, 4, 7]]
add(X, [[1]], [[1.0, 2.0, 3.0]])
    float32 [2, 3] [[0, 1, 2], [4, 6, 8]]
add([1, 2], [[0], [0]], [5, 6])
    int32 [2] [12, 2]
sub(X, [[0, 1], [1, 2], [0, 1]], [1.0, 2.0, 3.0])
    float32 [2, 3] [[0, -3, 2], [3, 4, 3]]
put(X, [[0, 1], [1, 2]], [1.5, 2.5])
    float32 [2, 3] [[0, 1.5, 2], [3, 4, 2.5]]
put(X, [[1]], [[1.5, 2.5, 3.5]])
    float32 [2, 3] [[0, 1, 2], [1.5, 2.5, 3.5]]
put(["a", "b"], [[1]], ["z"])
    string [2] [b'a', b'z']
put([True, False], [[1]], [True])
    bool [2] [True, True]
most(X, [[0, 1], [1, 2], [0, 1]], [9.0, 2.0, 3.0])
    float32 [2, 3] [[0, 9, 2], [3, 4, 5]]
least(X, [[0, 1], [1, 2], [0, 1]], [9.0, 2.0, -3.0])
    float32 [2, 3] [[0, -3, 2], [3, 4, 2]]
most([1, 2], [[0], [1]], [0, 7])
    int32 [2] [1, 7]
least(tf.constant([1, 2], tf.int64), [[0], [1]], tf.constant([0, 7], tf.int64))
    int64 [2] [0, 2]
add(X, [[2, 0]], [1.0])
    InvalidArgumentError
add(X, [[2, 0], [0, 0]], [1.0, 5.0], **IGNORE)
    float32 [2, 3] [[5, 1, 2], [3, 4, 5]]
put(X, [[2, 0], [0, 0]], [1.0, 5.0], **IGNORE)
    TypeError
most(X, [[2, 0], [0, 0]], [1.0, 5.0], **IGNORE)
    float32 [2, 3] [[5, 1, 2], [3, 4, 5]]
put(X, [[0, 0]], [1.0, 2.0])
    InvalidArgumentError
put(X, [[0, 0, 0]], [1.0])
    InvalidArgumentError
put(X, 0, [1.0])
    InvalidArgumentError
put(X, [[0]], [[1.0]])
    InvalidArgumentError
sub(X, [[-1, 0]], [1.0])
    InvalidArgumentError
put(tf.zeros([0, 2]), [[0]], [[1.0, 2.0]])
    InvalidArgumentError
cube_grads(lambda x, u: add(x, [[0, 1], [1, 2]], u), X, [1.0, 2.0])
    (float32 [2, 3] [[0, 12, 12], [27, 48, 147]]; float32 [2] [12, 147])
cube_grads(lambda x, u: sub(x, [[0, 1], [1, 2]], u), X, [1.0, 2.0])
    (float32 [2, 3] [[0, 0, 12], [27, 48, 27]]; float32 [2] [-0, -27])
cube_grads(lambda x, u: put(x, [[0, 1], [1, 2]], u), X, [1.0, 2.0])
    (float32 [2, 3] [[0, 0, 12], [27, 48, 0]]; float32 [2] [3, 12])
cube_grads(lambda x, u: most(x, [[0, 1], [1, 2]], u), X, [1.0, 2.0])
    (float32 [2, 3] [[0, 1.5, 12], [27, 48, 75]]; float32 [2] [1.5, 0])
cube_grads(lambda x, u: least(x, [[0, 1], [1, 2]], u), X, [1.5, 2.0])
    (float32 [2, 3] [[0, 3, 12], [27, 48, 0]]; float32 [2] [0, 12])
sized(lambda x, i, u: [f(x, i, u) for f in (add, sub, put, most, least)], X, [[0, 1], [1, 2]], [1.0, 9.0])
    (float32 [2, 3] [[0, 2, 2], [3, 4, 14]]; float32 [2, 3] [[0, 0, 2], [3, 4, -4]]; float32 [2, 3] [[0, 1, 2], [3, 4,
    9]]; float32 [2, 3] [[0, 1, 2], [3, 4, 9]]; float32 [2, 3] [[0, 1, 2], [3, 4, 5]])
static(lambda x, u: add(x, [[0, 1]], u), [None, 3], [1])
    '(None, 3)'
static(lambda x, u: put(x, [[0]], u), [2, 3], [1, 3])
    '(2, 3)'
static(lambda x, u: put(x, [[0]], u), [2, 3], [1, 4])
    ValueError
static(lambda x, u: put(x, [[0]], u), None, [1, 4])
    '<unknown>'
static(lambda x, i: put(x, i, [1.0]), [2, 3], ints(None, 2))
    '(2, 3)'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
