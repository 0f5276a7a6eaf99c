"""Masks, and elements chosen by them. The outcomes are those of TensorFlow 2.21."""

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
B = tf.constant([[True, False, True], [False, True, True]])

ROWS = read_rows("""
tf.where(B)
    int64 [4, 2] [[0, 0], [0, 2], [1, 1], [1, 2]]
tf.where([1.0, 0.0, -2.0, np.nan])
    int64 [3, 1] [[0], [2], [3]]
tf.where(["a"])
    InvalidArgumentError
tf.where(True)
    InvalidArgumentError
tf.where(tf.zeros([0, 2]))
    int64 [0, 2] []
tf.where(B, X, -X)
    float32 [2, 3] [[0, -1, 2], [-3, 4, 5]]
tf.where(B, X, 9.0)
    float32 [2, 3] [[0, 9, 2], [9, 4, 5]]
tf.where([[True], [False]], X, 0.0)
    float32 [2, 3] [[0, 1, 2], [0, 0, 0]]
tf.where([True, False, True], 1, [7, 8, 9])
    int32 [3] [1, 8, 1]
tf.where(B, ["a", "b", "c"], "z")
    string [2, 3] [[b'a', b'z', b'c'], [b'z', b'b', b'c']]
tf.where(B, X)
    ValueError
tf.where(B, None, X)
    ValueError
tf.where(B, X, 1)
    float32 [2, 3] [[0, 1, 2], [1, 4, 5]]
tf.where(B, X, [1.0, 2.0])
    InvalidArgumentError
tf.where(X, X, X)
    InvalidArgumentError
cube_grads(lambda a, b: tf.where(B, a, b), X, [1.0, 2.0, 3.0])
    (float32 [2, 3] [[0, 0, 12], [0, 48, 75]]; float32 [3] [3, 12, 0])
cube_grads(lambda a, b: tf.where(B, a, b), 2.0, X)
    (float32 [] 48; float32 [2, 3] [[0, 3, 0], [27, 0, 0]])
sized(lambda c, a, b: tf.where(c, a, b), B, X, -X)
    float32 [2, 3] [[0, -1, 2], [-3, 4, 5]]
unranked(lambda c, a, b: cube_grads(lambda a, b: tf.where(c, a, b), a, b), B, X, [1.0, 2.0, 3.0])
    (float32 [2, 3] [[0, 0, 12], [0, 48, 75]]; float32 [3] [3, 12, 0])
static(lambda c: tf.where(c), [2, None])
    '(None, 2)'
static(lambda c: tf.where(c), None)
    '(None, None)'
static(lambda c: tf.where(c), [])
    '(None, 0)'
static(lambda a, b: tf.where(True, a, b), [2, None], [None, 3])
    '(2, 3)'
static(lambda a, b: tf.where([True, False], a, b), [2, 1], [3])
    ValueError
static(lambda a, b: tf.where([True, False], a, b), [3], [2])
    ValueError
static(lambda a, b: tf.where(True, a, b), None, [2])
    '<unknown>'
tf.boolean_mask(X, B)
    float32 [4] [0, 2, 4, 5]
tf.boolean_mask(X, [True, False])
    float32 [1, 3] [[0, 1, 2]]
tf.boolean_mask(X, [True, False, True], 1)
    float32 [2, 2] [[0, 2], [3, 5]]
tf.boolean_mask(whole(2, 2, 2), [[True, False], [True, True]], 1)
    float32 [2, 3] [[0, 2, 3], [4, 6, 7]]
tf.boolean_mask(["a", "b"], [False, True])
    string [1] [b'b']
tf.boolean_mask(X, [False, False])
    float32 [0, 3] []
tf.boolean_mask(X, [True, False, True])
    ValueError
tf.boolean_mask(X, True)
    ValueError
tf.boolean_mask(X, [True, False], 2)
    ValueError
tf.boolean_mask(X, [[True, False, True]], 1)
    ValueError
cube_grads(lambda x: tf.boolean_mask(x, B), X)
    (float32 [2, 3] [[0, 0, 12], [0, 48, 75]])
sized(lambda x, m: tf.boolean_mask(x, m), X, [True, False])
    float32 [1, 3] [[0, 1, 2]]
sized(lambda x, m: tf.boolean_mask(x, m, 1), X, [True, False, True])
    float32 [2, 2] [[0, 2], [3, 5]]
static(lambda x: tf.boolean_mask(x, [True, False, True], 1), [2, None, 4])
    '(2, None, 4)'
static(lambda x: tf.boolean_mask(x, [True, False]), [2, None])
    '(None, None)'
static(lambda x: tf.boolean_mask(x, [True, False]), None)
    '<unknown>'
static(lambda x, m: tf.boolean_mask(x, m), [2, 3, 4], tf.TensorSpec([2, None], tf.bool))
    '(None, 4)'
static(lambda x, m: tf.boolean_mask(x, m), [2, 3, 4], tf.TensorSpec(None, tf.bool))
    ValueError
tf.sequence_mask([1, 3, 0], 4)
    bool [3, 4] [[True, False, False, False], [True, True, True, False], [False, False, False, False]]
tf.sequence_mask([1, 3, 0])
    bool [3, 3] [[True, False, False], [True, True, True], [False, False, False]]
tf.sequence_mask([[1], [2]], dtype=tf.int32)
    int32 [2, 1, 2] [[[1, 0]], [[1, 1]]]
tf.sequence_mask(2, 3)
    bool [3] [True, True, False]
tf.sequence_mask([], 2)
    bool [0, 2] []
tf.sequence_mask([1, 2], tf.constant(3))
    bool [2, 3] [[True, False, False], [True, True, False]]
tf.sequence_mask([1, 2], [3])
    ValueError
tf.sequence_mask([1.5], 3)
    bool [1, 3] [[True, False, False]]
tf.sequence_mask(tf.constant([1], tf.int64), dtype=tf.float64)
    float64 [1, 1] [[1]]
sized(lambda n: tf.sequence_mask(n), [1, 2])
    bool [2, 2] [[True, False], [True, True]]
sized(lambda n, m: tf.sequence_mask(n, m), [1, 2], 4)
    bool [2, 4] [[True, False, False, False], [True, True, False, False]]
static(lambda n: tf.sequence_mask(n, 4), ints(None))
    '(None, 4)'
static(lambda n: tf.sequence_mask(n), ints(3))
    '(3, None)'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
