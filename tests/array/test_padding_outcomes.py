"""Padded, rolled and reversed tensors. The outcomes are those of TensorFlow 2.21."""

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
tf.pad(X, [[1, 0], [0, 2]])
    float32 [3, 5] [[0, 0, 0, 0, 0], [0, 1, 2, 0, 0], [3, 4, 5, 0, 0]]
tf.pad(X, [[1, 0], [0, 2]], constant_values=5.0)
    float32 [3, 5] [[5, 5, 5, 5, 5], [0, 1, 2, 5, 5], [3, 4, 5, 5, 5]]
tf.pad(X, [[1, 1], [2, 2]], "REFLECT")
    float32 [4, 7] [[5, 4, 3, 4, 5, 4, 3], [2, 1, 0, 1, 2, 1, 0], [5, 4, 3, 4, 5, 4, 3], [2, 1, 0, 1, 2, 1, 0]]
tf.pad(X, [[2, 1], [3, 0]], "SYMMETRIC")
    float32 [5, 6] [[5, 4, 3, 3, 4, 5], [2, 1, 0, 0, 1, 2], [2, 1, 0, 0, 1, 2], [5, 4, 3, 3, 4, 5], [5, 4, 3, 3, 4, 5]]
tf.pad(X, [[0, 1], [2, 1]], "reflect")
    float32 [3, 6] [[2, 1, 0, 1, 2, 1], [5, 4, 3, 4, 5, 4], [2, 1, 0, 1, 2, 1]]
tf.pad(X, [[0, 0], [0, 0]])
    float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tf.pad(5.0, np.zeros([0, 2], int))
    float32 [] 5
tf.pad([True], [[1, 1]])
    bool [3] [False, True, False]
tf.pad([1, 2], [[2, 1]], constant_values=-1)
    int32 [5] [-1, -1, 1, 2, -1]
tf.pad(["a"], [[1, 1]], constant_values="z")
    string [3] [b'z', b'a', b'z']
tf.pad(whole(0), [[2, 1]])
    float32 [3] [0, 0, 0]
tf.pad(X, [[1, 1]])
    InvalidArgumentError
tf.pad(X, [[1, 1, 1], [1, 1, 1]])
    InvalidArgumentError
tf.pad(X, [[-1, 0], [0, 0]])
    InvalidArgumentError
tf.pad(X, [[2, 0], [0, 0]], "REFLECT")
    InvalidArgumentError
tf.pad(X, [[0, 3], [0, 0]], "SYMMETRIC")
    InvalidArgumentError
tf.pad(X, [[0, 0], [0, 0]], "NONE")
    ValueError
tf.pad(X, [[1, 0], [0, 0]], constant_values=[1.0])
    InvalidArgumentError
cube_grads(lambda x: tf.pad(x, [[1, 0], [0, 2]]), X)
    (float32 [2, 3] [[0, 3, 12], [27, 48, 75]])
cube_grads(lambda x: tf.pad(x, [[1, 1], [2, 2]], "REFLECT"), X)
    (float32 [2, 3] [[0, 18, 48], [108, 288, 300]])
cube_grads(lambda x: tf.pad(x, [[2, 1], [3, 0]], "SYMMETRIC"), X)
    (float32 [2, 3] [[0, 12, 48], [162, 288, 450]])
sized(lambda x, p: tf.pad(x, p), X, [[1, 0], [0, 2]])
    float32 [3, 5] [[0, 0, 0, 0, 0], [0, 1, 2, 0, 0], [3, 4, 5, 0, 0]]
sized(lambda x, p: tf.pad(x, p, "REFLECT"), X, [[1, 0], [0, 2]])
    float32 [3, 5] [[3, 4, 5, 4, 3], [0, 1, 2, 1, 0], [3, 4, 5, 4, 3]]
sized(lambda x, p: cube_grads(lambda x: tf.pad(x, p), x), X, [[1, 0], [0, 2]])
    (float32 [2, 3] [[0, 3, 12], [27, 48, 75]])
sized(lambda x, p: cube_grads(lambda x: tf.pad(x, p, "SYMMETRIC"), x), X, [[1, 0], [0, 2]])
    (float32 [2, 3] [[0, 12, 48], [27, 96, 150]])
static(lambda x: tf.pad(x, [[1, 0], [0, 2]]), [None, 3])
    '(None, 5)'
static(lambda x: tf.pad(x, [[1, 0], [0, 2]], "REFLECT"), [2, None])
    '(3, None)'
static(lambda x: tf.pad(x, [[1, 0], [0, 2]]), None)
    '(None, None)'
static(lambda x: tf.pad(x, [[1, 0]]), [2, 3])
    ValueError
static(lambda x: tf.pad(x, [[2, 0], [0, 0]], "REFLECT"), [2, 3])
    '(4, 3)'
static(lambda x, p: tf.pad(x, p), [2, 3], ints(2, 2))
    '(None, None)'
static(lambda x, p: tf.pad(x, p), None, ints(2, 2))
    '(None, None)'
static(lambda x, p: tf.pad(x, p), None, ints(None, 2))
    '<unknown>'
static(lambda x, p: tf.pad(x, p), [2, 3], ints(3, 2))
    ValueError
static(lambda x, p: tf.pad(x, p), [2, 3], ints(2, 3))
    ValueError
tf.roll(X, 1, 1)
    float32 [2, 3] [[2, 0, 1], [5, 3, 4]]
tf.roll(X, -1, 0)
    float32 [2, 3] [[3, 4, 5], [0, 1, 2]]
tf.roll(X, [1, -1], [0, 1])
    float32 [2, 3] [[4, 5, 3], [1, 2, 0]]
tf.roll(X, [1, 1], [1, 1])
    float32 [2, 3] [[1, 2, 0], [4, 5, 3]]
tf.roll(X, 7, -1)
    float32 [2, 3] [[2, 0, 1], [5, 3, 4]]
tf.roll(["a", "b", "c"], 1, 0)
    string [3] [b'c', b'a', b'b']
tf.roll(X, 1, 2)
    InvalidArgumentError
tf.roll(5, 1, 0)
    InvalidArgumentError
tf.roll(X, [1, 2], [0])
    InvalidArgumentError
tf.roll(X, [[1]], [[0]])
    InvalidArgumentError
cube_grads(lambda x: tf.roll(x, [1, 2], [0, 1]) * X, X)
    (float32 [2, 3] [[0, 456, 1092], [243, 384, 75]])
sized(lambda x, n: tf.roll(x, n, 1), X, 2)
    float32 [2, 3] [[1, 2, 0], [4, 5, 3]]
static(lambda x: tf.roll(x, 1, 0), [None, 3])
    '(None, 3)'
tf.reverse(X, [0])
    float32 [2, 3] [[3, 4, 5], [0, 1, 2]]
tf.reverse(X, [1, 0])
    float32 [2, 3] [[5, 4, 3], [2, 1, 0]]
tf.reverse(X, [-1])
    float32 [2, 3] [[2, 1, 0], [5, 4, 3]]
tf.reverse(X, np.zeros([0], int))
    float32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tf.reverse(["a", "b"], [0])
    string [2] [b'b', b'a']
tf.reverse(X, [2])
    InvalidArgumentError
tf.reverse(X, [0, 0])
    InvalidArgumentError
tf.reverse(X, [0, -2])
    InvalidArgumentError
tf.reverse(X, 0)
    InvalidArgumentError
tf.reverse(5, [0])
    int32 [] 5
cube_grads(lambda x: tf.reverse(x, [1]) * X, X)
    (float32 [2, 3] [[0, 6, 0], [6750, 6144, 4050]])
sized(lambda x, a: tf.reverse(x, a), X, [0, 1])
    float32 [2, 3] [[5, 4, 3], [2, 1, 0]]
static(lambda x: tf.reverse(x, [0]), [None, 3])
    '(None, 3)'
static(lambda x: tf.reverse(x, [2]), [None, 3])
    ValueError
static(lambda x, a: tf.reverse(x, a), [None, 3], ints(2))
    '(None, 3)'
static(lambda x, a: tf.reverse(x, a), None, ints(2))
    '<unknown>'
tf.reverse_sequence(X, [2, 3], 1)
    float32 [2, 3] [[1, 0, 2], [5, 4, 3]]
tf.reverse_sequence(X, [1, 2, 0], 0, 1)
    float32 [2, 3] [[0, 4, 2], [3, 1, 5]]
tf.reverse_sequence(whole(2, 2, 3), [1, 3], seq_axis=2, batch_axis=0)
    float32 [2, 2, 3] [[[0, 1, 2], [3, 4, 5]], [[8, 7, 6], [11, 10, 9]]]
tf.reverse_sequence(whole(2, 2, 3), [1, 3], seq_axis=-1, batch_axis=1)
    InvalidArgumentError
tf.reverse_sequence(["ab", "cd"], [1], 0)
    InvalidArgumentError
tf.reverse_sequence([["a", "b"], ["c", "d"]], [1, 2], 1)
    string [2, 2] [[b'a', b'b'], [b'd', b'c']]
tf.reverse_sequence(X, [2, 4], 1)
    InvalidArgumentError
tf.reverse_sequence(X, [2, -1], 1)
    InvalidArgumentError
tf.reverse_sequence(X, [2], 1)
    InvalidArgumentError
tf.reverse_sequence(X, [2, 3], 0)
    InvalidArgumentError
tf.reverse_sequence(X, [2, 3], 2)
    InvalidArgumentError
tf.reverse_sequence(X, [[2, 3]], 1)
    InvalidArgumentError
tf.reverse_sequence(X, [2, 3])
    TypeError
cube_grads(lambda x: tf.reverse_sequence(x, [2, 3], 1) * X, X)
    (float32 [2, 3] [[0, 0, 192], [6750, 6144, 4050]])
sized(lambda x, n: tf.reverse_sequence(x, n, 1), X, [2, 1])
    float32 [2, 3] [[1, 0, 2], [3, 4, 5]]
static(lambda x: tf.reverse_sequence(x, [1, 2], 1), [None, 3])
    '(2, 3)'
static(lambda x: tf.reverse_sequence(x, [1, 2], 1), [3, 3])
    ValueError
static(lambda x: tf.reverse_sequence(x, [1, 2], 1), None)
    '<unknown>'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
