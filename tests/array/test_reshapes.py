"""Reshaping, broadcasting and transposing. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row
from ways import check


def whole(*shape):
    return tf.reshape(tf.range(float(np.prod(shape))), shape)


def ints(*shape):
    return tf.TensorSpec(shape, tf.int32)


N = ints()

ROWS = read_rows("""
tf.reshape(whole(2, 3), [3, 2])
    float32 [3, 2] [[0, 1], [2, 3], [4, 5]]
tf.reshape(whole(2, 3), [-1])
    float32 [6] [0, 1, 2, 3, 4, 5]
tf.reshape(whole(2, 3), -1)
    float32 [6] [0, 1, 2, 3, 4, 5]
tf.reshape(whole(2, 3), 6)
    float32 [6] [0, 1, 2, 3, 4, 5]
tf.reshape(whole(2, 3), [1, -1, 2])
    float32 [1, 3, 2] [[[0, 1], [2, 3], [4, 5]]]
tf.reshape(whole(0, 3), [-1, 3])
    float32 [0, 3] []
tf.reshape(whole(0, 3), [0, -1])
    float32 [0, 3] []
tf.reshape(whole(0, 3), [3, 0])
    float32 [3, 0] [[], [], []]
tf.reshape(whole(0, 3), [5, -1])
    float32 [5, 0] [[], [], [], [], []]
tf.reshape(whole(1), [])
    float32 [] 0
tf.reshape(tf.constant(["a", "b"]), [2, 1])
    string [2, 1] [[b'a'], [b'b']]
tf.reshape(tf.constant(["a", "b"]), [2, -1])
    string [2, 1] [[b'a'], [b'b']]
tf.reshape(tf.constant(["a", "b"])[:0], [3, -1])
    string [3, 0] [[], [], []]
tf.reshape(tf.constant(["a", "b"]), [3])
    InvalidArgumentError
tf.reshape(whole(2, 3), [4])
    InvalidArgumentError
tf.reshape(whole(2, 3), [4, -1])
    InvalidArgumentError
tf.reshape(whole(2, 3), [-1, -1])
    InvalidArgumentError
tf.reshape(whole(2, 3), [-2, 3])
    InvalidArgumentError
tf.reshape(whole(2, 3), [0, -1])
    InvalidArgumentError
tf.reshape(whole(2, 3), [[6]])
    InvalidArgumentError
tf.reshape(whole(2, 3), [6.0])
    InvalidArgumentError
static(lambda x: tf.reshape(x, [3, -1]), [None, 6])
    '(3, None)'
static(lambda x: tf.reshape(x, [3, -1]), [2, 6])
    '(3, 4)'
static(lambda x: tf.reshape(x, [5, -1]), [2, 6])
    ValueError
static(lambda x: tf.reshape(x, [5]), [2, 6])
    ValueError
static(lambda x: tf.reshape(x, [0, -1]), [2, 6])
    ValueError
static(lambda x: tf.reshape(x, [0, -1]), [0, 6])
    '(0, None)'
static(lambda x: tf.reshape(x, [4, -1]), None)
    '(4, None)'
static(lambda x, n: tf.reshape(x, [n, 3]), [2, 6], N)
    '(4, 3)'
static(lambda x, n: tf.reshape(x, [n, 5]), [2, 6], N)
    ValueError
static(lambda x, n: tf.reshape(x, [n, -1]), [2, 6], N)
    '(None, None)'
static(lambda x, n: tf.reshape(x, [n, 3]), [None, 6], N)
    '(None, 3)'
static(lambda x, s: tf.reshape(x, s), [2, 6], ints(3))
    '(None, None, None)'
static(lambda x, s: tf.reshape(x, s), [2, 6], ints(None))
    '<unknown>'
static(lambda x, s: tf.reshape(x, s), [2, 6], ints(1, 2))
    ValueError
static(lambda x: tf.zeros(tf.reshape(tf.shape(x)[1], [1])), [None, 4])
    '(4,)'
static(lambda x: tf.zeros(tf.reshape(tf.reshape(tf.shape(x), [2, 1]), [-1])), [None, 4])
    '(None, None)'
cube_grads(lambda x: tf.reshape(x, [-1]), whole(2, 2))
    (float32 [2, 2] [[0, 3], [12, 27]])
sized(lambda x, s: tf.reshape(x, s), whole(2, 3), [3, -1])
    float32 [3, 2] [[0, 1], [2, 3], [4, 5]]
unranked(lambda x, s: tf.reshape(x, s), whole(2, 3), [3, -1])
    float32 [3, 2] [[0, 1], [2, 3], [4, 5]]
unranked(lambda x: cube_grads(lambda x: tf.reshape(x, [-1]), x), whole(2, 2))
    (float32 [2, 2] [[0, 3], [12, 27]])
tf.broadcast_to(whole(3, 1), [2, 3, 2])
    float32 [2, 3, 2] [[[0, 0], [1, 1], [2, 2]], [[0, 0], [1, 1], [2, 2]]]
tf.broadcast_to(5.0, [2])
    float32 [2] [5, 5]
tf.broadcast_to(whole(1), [0])
    float32 [0] []
tf.broadcast_to(whole(2), [2])
    float32 [2] [0, 1]
tf.broadcast_to(whole(2), [3])
    InvalidArgumentError
tf.broadcast_to(whole(2, 2), [2])
    InvalidArgumentError
tf.broadcast_to(whole(2), [2, 1])
    InvalidArgumentError
tf.broadcast_to(whole(2), [-1, 2])
    InvalidArgumentError
tf.broadcast_to(whole(2), 2)
    InvalidArgumentError
tf.broadcast_to(whole(2), [[2]])
    InvalidArgumentError
tf.broadcast_to(tf.constant(["a", "b"]), [2, 2])
    string [2, 2] [[b'a', b'b'], [b'a', b'b']]
static(lambda x: tf.broadcast_to(x, [2, 3, 4]), [3, 1])
    '(2, 3, 4)'
static(lambda x: tf.broadcast_to(x, [2, 3, 4]), [None, 4])
    '(2, 3, 4)'
static(lambda x: tf.broadcast_to(x, [2, 3]), None)
    '(2, 3)'
static(lambda x: tf.broadcast_to(x, [2, 3]), [4])
    ValueError
static(lambda x: tf.broadcast_to(x, [3]), [1, 3])
    ValueError
static(lambda x, n: tf.broadcast_to(x, [n, 3]), [3], N)
    '(None, 3)'
static(lambda x, n: tf.broadcast_to(x, [n, 3]), [2, 1], N)
    '(2, 3)'
static(lambda x, n: tf.broadcast_to(x, [n, 3]), [1, 1], N)
    '(None, 3)'
static(lambda x, s: tf.broadcast_to(x, s), [1, 1], ints(2))
    '(None, None)'
static(lambda x, s: tf.broadcast_to(x, s), [1, 1], ints(None))
    '<unknown>'
static(lambda x, s: tf.broadcast_to(x, s), [1, 1], ints(2, 1))
    ValueError
cube_grads(lambda x: tf.broadcast_to(x, [2, 3, 2]), whole(3, 1))
    (float32 [3, 1] [[0], [12], [48]])
sized(lambda x: cube_grads(lambda x: tf.broadcast_to(x, [2, 3, 2]), x), whole(3, 1))
    (float32 [3, 1] [[0], [12], [48]])
unranked(lambda x: cube_grads(lambda x: tf.broadcast_to(x, [2, 3, 2]), x), whole(3, 1))
    (float32 [3, 1] [[0], [12], [48]])
tf.squeeze(whole(1, 2, 1))
    float32 [2] [0, 1]
tf.squeeze(whole(1, 2, 1), 0)
    float32 [2, 1] [[0], [1]]
tf.squeeze(whole(1, 2, 1), [0, -1])
    float32 [2] [0, 1]
tf.squeeze(whole(1, 2, 1), [0, -3])
    float32 [2, 1] [[0], [1]]
tf.squeeze(whole(1, 2, 1), [])
    float32 [2] [0, 1]
tf.squeeze(whole(1, 2, 1), np.int64(2))
    float32 [1, 2] [[0, 1]]
tf.squeeze(whole(1, 2, 1), 1)
    InvalidArgumentError
tf.squeeze(whole(1, 2, 1), 3)
    InvalidArgumentError
tf.squeeze(whole(1, 2, 1), -4)
    InvalidArgumentError
tf.squeeze(5.0)
    float32 [] 5
static(lambda x: tf.squeeze(x), [1, 2, 1])
    '(2,)'
static(lambda x: tf.squeeze(x), [1, None, 1])
    '<unknown>'
static(lambda x: tf.squeeze(x, 0), [1, None, 1])
    '(None, 1)'
static(lambda x: tf.squeeze(x, 1), [1, None, 1])
    '(1, 1)'
static(lambda x: tf.squeeze(x, [0, -1]), [None, 3, 1])
    '(3,)'
static(lambda x: tf.squeeze(x, 1), [1, 2, 1])
    ValueError
static(lambda x: tf.squeeze(x, 3), [1, 2, 1])
    ValueError
static(lambda x: tf.squeeze(x, -4), [1, 2, 1])
    ValueError
static(lambda x: tf.squeeze(x, 1), None)
    '<unknown>'
sized(lambda x: tf.squeeze(x), whole(1, 2, 1))
    float32 [2] [0, 1]
unranked(lambda x: tf.squeeze(x, [0, 2]), whole(1, 2, 1))
    float32 [2] [0, 1]
sized(lambda x: tf.squeeze(x, [1]), whole(1, 2, 1))
    InvalidArgumentError
unranked(lambda x: cube_grads(lambda x: tf.squeeze(x, 0), x), whole(1, 2))
    (float32 [1, 2] [[0, 3]])
tf.expand_dims(whole(2, 2), 0)
    float32 [1, 2, 2] [[[0, 1], [2, 3]]]
tf.expand_dims(whole(2, 2), 1)
    float32 [2, 1, 2] [[[0, 1]], [[2, 3]]]
tf.expand_dims(whole(2, 2), 2)
    float32 [2, 2, 1] [[[0], [1]], [[2], [3]]]
tf.expand_dims(whole(2, 2), -1)
    float32 [2, 2, 1] [[[0], [1]], [[2], [3]]]
tf.expand_dims(whole(2, 2), -3)
    float32 [1, 2, 2] [[[0, 1], [2, 3]]]
tf.expand_dims(whole(2, 2), [1])
    float32 [2, 1, 2] [[[0, 1]], [[2, 3]]]
tf.expand_dims(whole(2, 2), 3)
    InvalidArgumentError
tf.expand_dims(whole(2, 2), -4)
    InvalidArgumentError
tf.expand_dims(whole(2, 2), [0, 1])
    InvalidArgumentError
tf.expand_dims(tf.constant(["a"]), 0)
    string [1, 1] [[b'a']]
static(lambda x: tf.expand_dims(x, 1), [2, None])
    '(2, 1, None)'
static(lambda x: tf.expand_dims(x, -1), [2, None])
    '(2, None, 1)'
static(lambda x: tf.expand_dims(x, 2), [2, None])
    '(2, None, 1)'
static(lambda x: tf.expand_dims(x, 3), [2, None])
    ValueError
static(lambda x: tf.expand_dims(x, -4), [2, None])
    ValueError
static(lambda x: tf.expand_dims(x, 1), None)
    '<unknown>'
static(lambda x, n: tf.expand_dims(x, n), [2, 3], N)
    '<unknown>'
static(lambda x: tf.expand_dims(x, [0, 1]), [2, 3])
    ValueError
sized(lambda x, n: tf.expand_dims(x, n), whole(2, 2), 1)
    float32 [2, 1, 2] [[[0, 1]], [[2, 3]]]
tf.transpose(whole(2, 3))
    float32 [3, 2] [[0, 3], [1, 4], [2, 5]]
tf.transpose(whole(1, 2, 3), [2, 0, 1])
    float32 [3, 1, 2] [[[0, 3]], [[1, 4]], [[2, 5]]]
tf.transpose(whole(1, 2, 3), [-1, 0, -2])
    float32 [3, 1, 2] [[[0, 3]], [[1, 4]], [[2, 5]]]
tf.transpose(tf.complex(whole(1, 2), whole(1, 2)), conjugate=True)
    complex64 [2, 1] [[0-0j], [1-1j]]
tf.transpose(tf.complex(whole(1, 2), whole(1, 2)), [0, 1], True)
    complex64 [1, 2] [[0-0j, 1-1j]]
tf.transpose(tf.complex(whole(1, 2), whole(1, 2)))
    complex64 [2, 1] [[0+0j], [1+1j]]
tf.transpose(whole(1, 2), conjugate=True)
    float32 [2, 1] [[0], [1]]
tf.transpose([[1, 2]], conjugate=True)
    int32 [2, 1] [[1], [2]]
tf.transpose(5.0)
    float32 [] 5
tf.transpose(tf.constant([["a", "b"]]))
    string [2, 1] [[b'a'], [b'b']]
tf.transpose(whole(2, 3), [0])
    InvalidArgumentError
tf.transpose(whole(2, 3), [0, 0])
    InvalidArgumentError
tf.transpose(whole(2, 3), [0, 2])
    InvalidArgumentError
tf.transpose(whole(2, 3), [0, -3])
    InvalidArgumentError
tf.transpose(whole(2, 3), 0)
    InvalidArgumentError
tf.transpose(whole(2, 3), [[0, 1]])
    InvalidArgumentError
static(lambda x: tf.transpose(x), [2, None, 4])
    '(4, None, 2)'
static(lambda x: tf.transpose(x, [1, 0, 2]), [2, None, 4])
    '(None, 2, 4)'
static(lambda x: tf.transpose(x), None)
    '<unknown>'
static(lambda x: tf.transpose(x, [1, 0]), None)
    '(None, None)'
static(lambda x: tf.transpose(x, [1, 2]), None)
    ValueError
static(lambda x: tf.transpose(x, [1, 0]), [2, 3, 4])
    ValueError
static(lambda x: tf.transpose(x, [1, 3, 0]), [2, 3, 4])
    ValueError
static(lambda x, p: tf.transpose(x, p), [2, 3, 4], ints(3))
    '(None, None, None)'
static(lambda x, p: tf.transpose(x, p), None, ints(3))
    '(None, None, None)'
static(lambda x, p: tf.transpose(x, p), None, ints(None))
    '<unknown>'
static(lambda x, p: tf.transpose(x, p), None, tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(lambda x, p: tf.transpose(x, p), [2, 3], ints(2, 1))
    ValueError
static(lambda x, n: tf.transpose(x, [n, 0]), [2, 3], N)
    '(None, None)'
unranked(lambda x: tf.transpose(x), whole(2, 3))
    float32 [3, 2] [[0, 3], [1, 4], [2, 5]]
sized(lambda x, p: tf.transpose(x, p), whole(1, 2, 3), [1, 2, 0])
    float32 [2, 3, 1] [[[0], [1], [2]], [[3], [4], [5]]]
sized(lambda x, p: cube_grads(lambda x: tf.transpose(x, p), x), whole(1, 2, 3), [1, 2, 0])
    (float32 [1, 2, 3] [[[0, 3, 12], [27, 48, 75]]])
unranked(lambda x: cube_grads(lambda x: tf.transpose(x), x), whole(2, 3))
    (float32 [2, 3] [[0, 3, 12], [27, 48, 75]])
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())


def test_slices_of_a_batch():
    def moved(x):
        return [
            tf.reshape(x, [3, 2]), tf.reshape(x, [-1]), tf.reshape(x, [1, -1, 2]), tf.reshape(x, tf.shape(x)[::-1]),
            tf.broadcast_to(x, [2, 1, 3, 2]), tf.broadcast_to(x[0, 0], [3, 2]), tf.squeeze(x), tf.squeeze(x, 0),
            tf.squeeze(x, -3), tf.squeeze(x[:, :1, :1], [0, 2]), tf.squeeze(x[0]), tf.expand_dims(x, 0),
            tf.expand_dims(x, -1), tf.expand_dims(x, 2), tf.transpose(x), tf.transpose(x, [1, 0, 2]),
            tf.transpose(x, [-1, 0, -2]), tf.math.real(tf.transpose(tf.complex(x, x), [1, 2, 0], True)),
        ]  # fmt: skip

    check(moved, whole(1, 3, 2), knows=["static"])
