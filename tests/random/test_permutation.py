"""Shuffled elements and indices. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

R, O = tf.random, tf.raw_ops  # noqa: E741
X = tf.random.experimental
S = [3, 8]

ROWS = read_rows(r"""
X.stateless_shuffle([1, 2, 3, 4, 5], S)
    int32 [5] [1, 2, 3, 5, 4]
X.stateless_shuffle([[1, 2], [3, 4], [5, 6]], S)
    int32 [3, 2] [[5, 6], [3, 4], [1, 2]]
X.stateless_shuffle([1], S)
    int32 [1] [1]
X.stateless_shuffle([], S)
    float32 [0] []
X.stateless_shuffle([1, 2], [1, 1])
    int32 [2] [1, 2]
X.stateless_shuffle([1, 2, 3, 4, 5], S, 'philox')
    int32 [5] [1, 2, 3, 5, 4]
X.stateless_shuffle([1, 2, 3, 4, 5], S, alg='threefry')
    InvalidArgumentError
X.index_shuffle(0, S, 9)
    int32 [] 9
[X.index_shuffle(i, S, 9) for i in range(10)]
    (int32 [] 9; int32 [] 5; int32 [] 2; int32 [] 1; int32 [] 3; int32 [] 8; int32 [] 0; int32 [] 7; int32 [] 6; int32
    [] 4)
[X.index_shuffle(i, [1, 2], 255) for i in (0, 100, 255)]
    (int32 [] 29; int32 [] 215; int32 [] 20)
[X.index_shuffle(i, [1, 2], 100000) for i in (0, 100, 99999, 100000)]
    (int32 [] 66456; int32 [] 90138; int32 [] 29872; int32 [] 69511)
[X.index_shuffle(tf.constant(i, tf.int64), [1, 2], tf.constant(2**40, tf.int64)) for i in (0, 100, 2**40)]
    (int64 [] 560705115234; int64 [] 712247182887; int64 [] 560705115234)
X.index_shuffle(0, S, 0)
    int32 [] 0
X.index_shuffle(10, S, 9)
    InvalidArgumentError: max_index must be >= index, but 9 < 10
X.index_shuffle(-1, S, 9)
    InvalidArgumentError
X.index_shuffle([0, 1, 2], S, 9)
    int32 [3] [9, 5, 2]
X.index_shuffle([0, 1, 2], S, [9, 8, 7])
    int32 [3] [9, 5, 2]
X.index_shuffle([0, 1], S, [9, 8, 7])
    InvalidArgumentError
X.index_shuffle([[0]], S, 9)
    InvalidArgumentError
X.index_shuffle(0, [1, 2, 3], 9)
    InvalidArgumentError
X.index_shuffle(0, S, [[9]])
    InvalidArgumentError: Maxval must be a scalar or a vector of the same size as index but got [1,1]
O.RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9, rounds=4)
    int32 [] 4
O.RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9, rounds=8)
    int32 [] 1
O.RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9999999, rounds=8)
    int32 [] 3042914
O.RandomIndexShuffle(index=tf.constant(3, tf.uint32), seed=[1, 2, 3], max_index=tf.constant(9, tf.uint32))
    uint32 [] 4
O.RandomIndexShuffle(index=3, seed=[1, 2], max_index=9)
    InvalidArgumentError
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec([None], tf.int32))
    '(None,)'
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec([], tf.int32))
    '()'
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec([2, 2], tf.int32))
    ValueError
static(lambda i: X.index_shuffle(i, S, [1, 2]), tf.TensorSpec([None], tf.int32))
    '(2,)'
static(lambda i: X.index_shuffle(i, S, [1, 2]), tf.TensorSpec([3], tf.int32))
    ValueError
static(lambda i: X.index_shuffle(i, S, 9), tf.TensorSpec(None, tf.int32))
    '<unknown>'
static(lambda a: X.stateless_shuffle(a, S), [None,3])
    '(None, 3)'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
