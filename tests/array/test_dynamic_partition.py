"""Slices that are sorted into tensors, and put together again. The outcomes are those of TensorFlow 2.21."""

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
tf.dynamic_partition([1, 2, 3, 4, 5], [0, 2, 0, 1, 2], 4)
    (int32 [2] [1, 3]; int32 [1] [4]; int32 [2] [2, 5]; int32 [0] [])
tf.dynamic_partition(X, [1, 0], 2)
    (float32 [1, 3] [[3, 4, 5]]; float32 [1, 3] [[0, 1, 2]])
tf.dynamic_partition(X, [[1, 0, 1], [0, 0, 1]], 2)
    (float32 [3] [1, 3, 4]; float32 [3] [0, 2, 5])
tf.dynamic_partition(["a", "b"], [1, 1], 2)
    (string [0] []; string [2] [b'a', b'b'])
tf.dynamic_partition(5, 1, 2)
    (int32 [0] []; int32 [1] [5])
tf.dynamic_partition([1, 2], [0, 2], 2)
    InvalidArgumentError
tf.dynamic_partition([1, 2], [0, -1], 2)
    InvalidArgumentError
tf.dynamic_partition([1, 2], [0], 2)
    InvalidArgumentError
tf.dynamic_partition([1, 2], [0, 1], 0)
    InvalidArgumentError
cube_grads(lambda x: tf.dynamic_partition(x, [1, 0], 3), X)
    (float32 [2, 3] [[0, 3, 12], [27, 48, 75]])
sized(lambda x, p: tf.dynamic_partition(x, p, 2), X, [1, 0])
    (float32 [1, 3] [[3, 4, 5]]; float32 [1, 3] [[0, 1, 2]])
static(lambda x: tf.dynamic_partition(x, [1, 0], 2), [2, 3])
    ('(None, 3)'; '(None, 3)')
static(lambda x, p: tf.dynamic_partition(x, p, 2), [2, 3], ints(None))
    ('(None, 3)'; '(None, 3)')
static(lambda x, p: tf.dynamic_partition(x, p, 2), [2, 3], tf.TensorSpec(None, tf.int32))
    ('<unknown>'; '<unknown>')
static(lambda x, p: tf.dynamic_partition(x, p, 2), [2, 3], ints(3))
    ValueError
tf.dynamic_stitch([[0, 2], [1]], [[1, 3], [2]])
    int32 [3] [1, 2, 3]
tf.dynamic_stitch([[0, 2], [2]], [[1, 3], [9]])
    int32 [3] [1, 0, 9]
tf.dynamic_stitch([0, [[1], [3]]], [[1, 2], [[[3, 4]], [[5, 6]]]])
    int32 [4, 2] [[1, 2], [3, 4], [0, 0], [5, 6]]
tf.dynamic_stitch([[0], [4]], [["a"], ["b"]])[0]
    string [] b'a'
tf.dynamic_stitch([[], []], [[], []])
    float32 [0] []
tf.dynamic_stitch([[-1]], [[1]])
    InvalidArgumentError
tf.dynamic_stitch([[0, 1]], [[1]])
    InvalidArgumentError
tf.dynamic_stitch([[0], [1]], [[1], [[2]]])
    InvalidArgumentError
cube_grads(lambda a, b: tf.dynamic_stitch([[0, 2], [1]], [a, b]), [1.0, 2.0], [3.0])
    (float32 [2] [3, 12]; float32 [1] [27])
sized(lambda a, b: tf.dynamic_stitch([[0, 2], [1]], [a, b]), [1.0, 2.0], [3.0])
    float32 [3] [1, 3, 2]
static(lambda a, b: tf.dynamic_stitch([[0, 2], [1]], [a, b]), [2, 3], [1, 3])
    '(3, 3)'
static(lambda a, i: tf.dynamic_stitch([i], [a]), [2, 3], ints(2))
    '(None, 3)'
static(lambda a, i: tf.dynamic_stitch([i], [a]), [2, 3], ints(3))
    ValueError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
