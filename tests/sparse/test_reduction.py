"""Sums, maxima, softmax, counts and segments of sparse tensors. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row


def sparse(indices, values, shape):
    return tf.SparseTensor(np.array(indices, np.int64).reshape(-1, len(shape)), values, shape)


sp, R = tf.sparse, tf.raw_ops
A = sparse([[0, 1], [0, 3], [2, 0]], [1.0, 2.0, 3.0], [3, 4])
N = sparse([[0, 1], [0, 3], [2, 0]], [-1.0, -2.0, -3.0], [3, 4])
C = sparse([[0, 1, 2], [1, 0, 0], [1, 2, 3]], [1.0, 2.0, 3.0], [2, 3, 4])
E = sparse([], np.zeros(0, np.float32), [3, 4])
D = tf.SparseTensor([[1, 0], [0, 1], [1, 0]], [1, 2, 3], [2, 4])
V = sparse([[0, 0], [0, 2], [2, 1]], [1, 4, 1], [3, 3])
W = sparse([[0, 0], [0, 2], [2, 1]], [0.5, 1.5, 2.5], [3, 3])
G, H = tf.ragged.constant([[1, 1], [], [3]]), tf.ragged.constant([[0.5, 1.0], [], [2.0]])
M = [[1, 1, 3], [0, 2, 2]]

ROWS = read_rows("""
sp.reduce_sum(A)
    float32 [] 6
sp.reduce_sum(A, 0)
    float32 [4] [3, 1, 0, 2]
sp.reduce_sum(A, 1)
    float32 [3] [3, 0, 3]
sp.reduce_sum(A, -1, True)
    float32 [3, 1] [[3], [0], [3]]
sp.reduce_sum(A, 0, True)
    float32 [1, 4] [[3, 1, 0, 2]]
sp.reduce_sum(A, [1, 0])
    float32 [] 6
sp.reduce_sum(A, [0, -1], True)
    float32 [1, 1] [[6]]
sp.reduce_sum(A, [0, 0])
    float32 [4] [3, 1, 0, 2]
sp.reduce_sum(A, [])
    float32 [3, 4] [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0]]
sp.reduce_sum(A, 2)
    InvalidArgumentError
sp.reduce_sum(A, -3)
    InvalidArgumentError
sp.reduce_sum(C, [0, 2], True)
    float32 [1, 3, 1] [[[2], [1], [3]]]
sp.reduce_sum(C, [0, 2])
    float32 [3] [2, 1, 3]
sp.reduce_sum(C, 1)
    float32 [2, 4] [[0, 0, 1, 0], [2, 0, 0, 3]]
sp.reduce_sum(A, output_is_sparse=True)
    sparse int64 [1, 0] [[]] float32 [1] [6] int64 [0] []
sp.reduce_sum(A, 0, output_is_sparse=True)
    sparse int64 [3, 1] [[0], [1], [3]] float32 [3] [3, 1, 2] int64 [1] [4]
sp.reduce_sum(A, 1, output_is_sparse=True)
    sparse int64 [2, 1] [[0], [2]] float32 [2] [3, 3] int64 [1] [3]
sp.reduce_sum(A, 1, True, True)
    sparse int64 [2, 2] [[0, 0], [2, 0]] float32 [2] [3, 3] int64 [2] [3, 1]
sp.reduce_sum(A, 0, True, True)
    sparse int64 [3, 2] [[0, 0], [0, 1], [0, 3]] float32 [3] [3, 1, 2] int64 [2] [1, 4]
sp.reduce_sum(A, None, True, True)
    sparse int64 [1, 2] [[0, 0]] float32 [1] [6] int64 [2] [1, 1]
sp.reduce_sum(C, 1, True, True)
    sparse int64 [3, 3] [[0, 0, 2], [1, 0, 0], [1, 0, 3]] float32 [3] [1, 2, 3] int64 [3] [2, 1, 4]
sp.reduce_sum(C, [1, 2], False, True)
    sparse int64 [2, 1] [[0], [1]] float32 [2] [1, 5] int64 [1] [2]
sp.reduce_sum(E, 1)
    float32 [3] [0, 0, 0]
sp.reduce_sum(E, 1, output_is_sparse=True)
    sparse int64 [0, 1] [] float32 [0] [] int64 [1] [3]
sp.reduce_sum(E, output_is_sparse=True)
    sparse int64 [0, 0] [] float32 [0] [] int64 [0] []
sp.reduce_sum(D, 1)
    int32 [2] [2, 4]
sp.reduce_sum(D, 1, output_is_sparse=True)
    sparse int64 [2, 1] [[0], [1]] int32 [2] [2, 4] int64 [1] [2]
sp.reduce_sum(tf.SparseTensor([[5, 0]], [1], [2, 4]), 1)
    InternalError
sp.reduce_sum(tf.SparseTensor([[5, 0]], [1], [2, 4]), 0)
    int32 [4] [1, 0, 0, 0]
sp.reduce_max(A)
    float32 [] 3
sp.reduce_max(A, 0)
    float32 [4] [3, 1, 0, 2]
sp.reduce_max(N, 1)
    float32 [3] [-1, 0, -3]
sp.reduce_max(N, 0, True)
    float32 [1, 4] [[-3, -1, 0, -2]]
sp.reduce_max(N, 0, output_is_sparse=True)
    sparse int64 [3, 1] [[0], [1], [3]] float32 [3] [-3, -1, -2] int64 [1] [4]
sp.reduce_max(N, None, True, True)
    sparse int64 [1, 2] [[0, 0]] float32 [1] [-1] int64 [2] [1, 1]
sp.reduce_max(D, 1)
    int32 [2] [2, 3]
sp.reduce_max(E, 1)
    float32 [3] [0, 0, 0]
sp.softmax(A)
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [0.26894, 0.73106, 1] int64 [2] [3, 4]
sp.softmax(C)
    sparse int64 [3, 3] [[0, 1, 2], [1, 0, 0], [1, 2, 3]] float32 [3] [1, 1, 1] int64 [3] [2, 3, 4]
sp.softmax(E)
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [3, 4]
sp.softmax(sparse([[0, 0], [0, 1], [1, 1]], [1000.0, 1000.0, -1000.0], [2, 2]))
    sparse int64 [3, 2] [[0, 0], [0, 1], [1, 1]] float32 [3] [0.5, 0.5, 1] int64 [2] [2, 2]
sp.softmax(tf.SparseTensor([[0]], [1.0], [2]))
    InvalidArgumentError
sp.to_indicator(sparse([[0, 0], [1, 1], [1, 2]], [2, 0, 3], [2, 4]), 4)
    bool [2, 4] [[False, False, True, False], [True, False, False, True]]
sp.to_indicator(sparse([[0, 0], [0, 1]], [1, 1], [1, 2]), 2)
    bool [1, 2] [[False, True]]
sp.to_indicator(sparse([[0, 0], [1, 1], [1, 2]], [2, 0, 3], [2, 4]), 3)
    InvalidArgumentError
sp.bincount([1, 1, 3])
    sparse int64 [2, 1] [[1], [3]] int32 [2] [2, 1] int64 [1] [4]
sp.bincount([1, 1, 3], axis=-1)
    sparse int64 [2, 1] [[1], [3]] int32 [2] [2, 1] int64 [1] [4]
sp.bincount([1, 1, 3], axis=None)
    sparse int64 [2, 1] [[1], [3]] int32 [2] [2, 1] int64 [1] [4]
sp.bincount([1, 1, 3], minlength=6)
    sparse int64 [2, 1] [[1], [3]] int32 [2] [2, 1] int64 [1] [6]
sp.bincount([1, 1, 3], maxlength=2)
    sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]
sp.bincount([1, 1, 3], maxlength=3)
    sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [3]
sp.bincount([1, 1, 3], minlength=1, maxlength=9)
    sparse int64 [2, 1] [[1], [3]] int32 [2] [2, 1] int64 [1] [9]
sp.bincount([1, 1, 3], minlength=9, maxlength=2)
    sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]
sp.bincount([1, 1, 3], binary_output=True)
    sparse int64 [2, 1] [[1], [3]] int32 [2] [1, 1] int64 [1] [4]
sp.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0])
    sparse int64 [2, 1] [[1], [3]] float32 [2] [1.5, 2] int64 [1] [4]
sp.bincount([1, 1, 3], axis=1)
    ValueError
sp.bincount(M)
    sparse int64 [4, 1] [[0], [1], [2], [3]] int32 [4] [1, 2, 2, 1] int64 [1] [4]
sp.bincount(M, axis=-1)
    sparse int64 [4, 2] [[0, 1], [0, 3], [1, 0], [1, 2]] int32 [4] [2, 1, 1, 2] int64 [2] [2, 4]
sp.bincount(M, axis=-1, binary_output=True)
    sparse int64 [4, 2] [[0, 1], [0, 3], [1, 0], [1, 2]] int32 [4] [1, 1, 1, 1] int64 [2] [2, 4]
sp.bincount(M, axis=-1, maxlength=2)
    sparse int64 [2, 2] [[0, 1], [1, 0]] int32 [2] [2, 1] int64 [2] [2, 2]
sp.bincount(M, axis=-1, minlength=6)
    sparse int64 [4, 2] [[0, 1], [0, 3], [1, 0], [1, 2]] int32 [4] [2, 1, 1, 2] int64 [2] [2, 6]
sp.bincount(M, weights=np.array(M) * 0.5)
    sparse int64 [4, 1] [[0], [1], [2], [3]] float64 [4] [0, 1, 2, 1.5] int64 [1] [4]
sp.bincount(M, weights=np.array(M) * 0.5, axis=-1)
    sparse int64 [4, 2] [[0, 1], [0, 3], [1, 0], [1, 2]] float64 [4] [1, 1.5, 0, 2] int64 [2] [2, 4]
sp.bincount(M, weights=np.array(M) * 0.5, axis=-1, maxlength=3)
    sparse int64 [3, 2] [[0, 1], [1, 0], [1, 2]] float64 [3] [1, 0, 2] int64 [2] [2, 3]
sp.bincount(V)
    sparse int64 [2, 1] [[1], [4]] int32 [2] [2, 1] int64 [1] [5]
sp.bincount(V, axis=-1)
    sparse int64 [3, 2] [[0, 1], [0, 4], [2, 1]] int32 [3] [1, 1, 1] int64 [2] [3, 5]
sp.bincount(V, axis=-1, maxlength=3)
    sparse int64 [2, 2] [[0, 1], [2, 1]] int32 [2] [1, 1] int64 [2] [3, 3]
sp.bincount(V, axis=-1, binary_output=True)
    sparse int64 [3, 2] [[0, 1], [0, 4], [2, 1]] int32 [3] [1, 1, 1] int64 [2] [3, 5]
sp.bincount(V, axis=-1, minlength=7)
    sparse int64 [3, 2] [[0, 1], [0, 4], [2, 1]] int32 [3] [1, 1, 1] int64 [2] [3, 7]
sp.bincount(V, weights=W)
    sparse int64 [2, 1] [[1], [4]] float32 [2] [3, 1.5] int64 [1] [5]
sp.bincount(V, weights=W, axis=-1)
    sparse int64 [3, 2] [[0, 1], [0, 4], [2, 1]] float32 [3] [0.5, 1.5, 2.5] int64 [2] [3, 5]
sp.bincount(tf.SparseTensor([[0], [2]], [1, 1], [3]), axis=-1)
    sparse int64 [1, 1] [[1]] int32 [1] [2] int64 [1] [2]
sp.bincount(G)
    sparse int64 [2, 1] [[1], [3]] int32 [2] [2, 1] int64 [1] [4]
sp.bincount(G, axis=-1)
    sparse int64 [2, 2] [[0, 1], [2, 3]] int32 [2] [2, 1] int64 [2] [3, 4]
sp.bincount(G, axis=-1, binary_output=True)
    sparse int64 [2, 2] [[0, 1], [2, 3]] int32 [2] [1, 1] int64 [2] [3, 4]
sp.bincount(G, axis=-1, maxlength=2)
    sparse int64 [1, 2] [[0, 1]] int32 [1] [2] int64 [2] [3, 2]
sp.bincount(G, weights=H)
    sparse int64 [2, 1] [[1], [3]] float32 [2] [1.5, 2] int64 [1] [4]
sp.bincount(G, weights=H, axis=-1)
    sparse int64 [2, 2] [[0, 1], [2, 3]] float32 [2] [1.5, 2] int64 [2] [3, 4]
sp.bincount([1] * 9)
    sparse int64 [1, 1] [[1]] int32 [1] [9] int64 [1] [2]
sp.bincount([900, 1, 900])
    sparse int64 [2, 1] [[1], [900]] int32 [2] [1, 2] int64 [1] [901]
sp.bincount([[1] * 40, [2] * 40], axis=-1)
    sparse int64 [2, 2] [[0, 1], [1, 2]] int32 [2] [40, 40] int64 [2] [2, 3]
sp.bincount([0, 1], maxlength=0)
    sparse int64 [0, 1] [] int32 [0] [] int64 [1] [0]
sp.bincount(tf.zeros([0], tf.int32))
    sparse int64 [0, 1] [] int32 [0] [] int64 [1] [1]
sp.bincount(tf.zeros([0], tf.int32), minlength=3)
    sparse int64 [0, 1] [] int32 [0] [] int64 [1] [3]
sp.bincount([-1])
    InvalidArgumentError
sp.bincount([1, 2], weights=[1.0], axis=-1)
    InvalidArgumentError
sp.bincount(tf.constant([1, 1], tf.int64)).values.dtype
    tf.int64
sp.bincount([1, 1], weights=tf.constant([1, 2], tf.int64)).values.dtype
    tf.int64
sp.segment_sum([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 2, 1], [0, 0, 2])
    float32 [3, 2] [[6, 8], [0, 0], [3, 4]]
sp.segment_sum([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 2, 1], [0, 0, 2], 5)
    float32 [5, 2] [[6, 8], [0, 0], [3, 4], [0, 0], [0, 0]]
sp.segment_sum([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 2, 1], [1, 1, 2], 3)
    float32 [3, 2] [[0, 0], [6, 8], [3, 4]]
sp.segment_mean([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 2, 1], [0, 0, 2])
    float32 [3, 2] [[3, 4], [0, 0], [3, 4]]
sp.segment_sqrt_n([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 2, 1], [0, 0, 2], 4)
    float32 [4, 2] [[4.2426, 5.6569], [0, 0], [3, 4], [0, 0]]
sp.segment_sum([1.0, 2.0], np.zeros([0], np.int32), np.zeros([0], np.int32))
    float32 [0] []
sp.segment_sum([1.0, 2.0], np.zeros([0], np.int32), np.zeros([0], np.int32), 2)
    float32 [2] [0, 0]
sp.segment_sum([1.0, 2.0], tf.constant([0, 1], tf.int64), tf.constant([0, 1], tf.int64))
    float32 [2] [1, 2]
sp.segment_sum([1.0, 2.0], np.array([0, 1], np.int8), [0, 0])
    float32 [1] [3]
sp.segment_sum([1.0, 2.0], tf.constant([0, 1], tf.int8), [0, 0])
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 1], tf.constant([0, 1], tf.uint8))
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 1], [1, 0])
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 1], [-1, 0])
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 1], [0, 1], 1)
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 1], [0, 1], 2)
    float32 [2] [1, 2]
sp.segment_sum([1.0, 2.0], [0, 1], [0, 1], -1)
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 1], [0, 1], [2])
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [[0, 1]], [[0, 1]])
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 2], [0, 1])
    InvalidArgumentError
sp.segment_sum([1.0, 2.0], [0, 1], [0])
    InvalidArgumentError
sized(lambda x, i, s: sp.segment_sum(x, i, s), [[1.0, 2.0], [3.0, 4.0]], [1, 0], [0, 2])
    float32 [3, 2] [[3, 4], [0, 0], [1, 2]]
sized(lambda x, i, s: sp.segment_mean(x, i, s, 4), [[1.0, 2.0], [3.0, 4.0]], [1, 0], [2, 2])
    float32 [4, 2] [[0, 0], [0, 0], [2, 3], [0, 0]]
sized(lambda x, i, s: sp.segment_sum(x, i, s), [[1.0, 2.0], [3.0, 4.0]], [1, 0], [2, 1])
    InvalidArgumentError
unranked(lambda x, i, s: sp.segment_sum(x, i, s), [[1.0, 2.0], [3.0, 4.0]], [1, 0], [0, 2])
    float32 [3, 2] [[3, 4], [0, 0], [1, 2]]
static(lambda x: sp.segment_sum(x, [0, 1], [0, 1]), [3, 4])
    '(None, 4)'
static(lambda x: sp.segment_sum(x, [0, 1], [0, 1], 7), [None, 4])
    '(7, 4)'
static(lambda x: sp.segment_mean(x, [0, 1], [0, 1]), [3, None])
    '(None, None)'
static(lambda x: sp.segment_sum(x, [0, 1], [0, 1]), None)
    '<unknown>'
static(lambda x: sp.segment_sum(x, [0, 1, 2], [0, 1]), [3, 4])
    ValueError
cube_grads(lambda x: sp.segment_mean(x, [1, 0, 1], [0, 0, 1]), [[1.0, 2.0], [3.0, 4.0]])
    (float32 [2, 2] [[6, 13.5], [33, 61.5]])
cube_grads(lambda a: sp.reduce_sum(a), A)
    (float32 [3] [108, 108, 108])
cube_grads(lambda a: sp.reduce_sum(a, 0), A)
    (float32 [3] [3, 12, 27])
cube_grads(lambda a: sp.reduce_sum(a, [-1], True), A)
    (float32 [3] [27, 27, 27])
cube_grads(lambda a: sp.reduce_sum(a, [0, 2]), C)
    (float32 [3] [3, 12, 27])
cube_grads(lambda a: sp.softmax(a), A)
    (float32 [3] [-0.27257, 0.27257, 0])
cube_grads(lambda a: sp.softmax(a), C)
    (float32 [3] [0, 0, 0])
sized(lambda a: sp.reduce_sum(a), A)
    float32 [] 6
unranked(lambda a: sp.reduce_sum(a), A)
    float32 [] 6
unranked(lambda a: sp.reduce_sum(a, 1), A)
    float32 [3] [3, 0, 3]
sized(lambda a: sp.reduce_max(a, [0], True), A)
    float32 [1, 4] [[3, 1, 0, 2]]
sized(lambda a: sp.reduce_sum(a, 1, True, True), C)
    sparse int64 [3, 3] [[0, 0, 2], [1, 0, 0], [1, 0, 3]] float32 [3] [1, 2, 3] int64 [3] [2, 1, 4]
sized(lambda a, x: sp.reduce_sum(a, x), A, [1])
    float32 [3] [3, 0, 3]
sized(lambda a: sp.softmax(a), A)
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [0.26894, 0.73106, 1] int64 [2] [3, 4]
sized(lambda a, n: sp.to_indicator(a, n), sparse([[0, 0], [1, 1]], [2, 0], [2, 4]), 3)
    bool [2, 3] [[False, False, True], [True, False, False]]
sized(lambda a, n: sp.to_indicator(a, n), sparse([[0, 0], [1, 1]], [2, 0], [2, 4]), -1)
    InvalidArgumentError
sized(lambda a: sp.bincount(a, axis=-1), V)
    sparse int64 [3, 2] [[0, 1], [0, 4], [2, 1]] int32 [3] [1, 1, 1] int64 [2] [3, 5]
sized(lambda a: sp.bincount(a, axis=-1), M)
    sparse int64 [4, 2] [[0, 1], [0, 3], [1, 0], [1, 2]] int32 [4] [2, 1, 1, 2] int64 [2] [2, 4]
sized(lambda a: sp.bincount(a), M)
    sparse int64 [4, 1] [[0], [1], [2], [3]] int32 [4] [1, 2, 2, 1] int64 [1] [4]
static(lambda a: sp.reduce_sum(a, 1), tf.SparseTensorSpec([3, 4]))
    '<unknown>'
static(lambda a: sp.reduce_sum(a, 1, True), tf.SparseTensorSpec([3, 4]))
    '<unknown>'
static(lambda a: sp.reduce_max(a), tf.SparseTensorSpec([3, None]))
    '<unknown>'
static(lambda a: sp.softmax(a), tf.SparseTensorSpec([3, None]))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.bincount(a, axis=-1), tf.TensorSpec([2, 3], tf.int32))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.bincount(a), tf.TensorSpec([2, 3], tf.int32))
    ('(None, 1)'; '(None,)'; '(1,)')
static(lambda a: sp.bincount(a, weights=[[1, 2]], axis=-1), tf.TensorSpec([2, 3], tf.int32))
    ValueError
static(lambda a: sp.bincount(a, axis=-1), tf.SparseTensorSpec([2, None], tf.int32))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.to_indicator(a, 3), tf.SparseTensorSpec([2, 4], tf.int32))
    '(None, 3)'
sp.sampled_addmm([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]])
    (int32 [2, 2] [[0, 1], [1, 0]]; float32 [2] [23, 45]; int32 [2] [2, 2])
sp.sampled_addmm([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], [[1.0, 2.0], [3.0, 4.0]], [[5.0], [7.0]])
    ValueError
sp.sampled_addmm([[0, 1]], [1.0], [2, 2], [[1.0], [3.0]], [[5.0, 6.0]], beta=2.0, alpha=0.5)
    (int32 [1, 2] [[0, 1]]; float32 [1] [5]; int32 [2] [2, 2])
sp.sampled_addmm([[0, 1]], [1], [2, 2], [[1.0], [3.0]], [[5.0, 6.0]], 2, 3, tf.float64)
    (int32 [1, 2] [[0, 1]]; float64 [1] [20]; int32 [2] [2, 2])
sp.sampled_addmm([[[0, 1]], [[1, 1]]], [[1.0], [2.0]], [2, 2], [[[1.0], [3.0]]] * 2, [[[5.0, 6.0]]] * 2)
    (int32 [2, 1, 2] [[[0, 1]], [[1, 1]]]; float32 [2, 1] [[7], [20]]; int32 [2] [2, 2])
static(lambda x: [sp.reduce_sum(A), sp.reduce_sum(A, 0), sp.reduce_sum(A, [1], True), sp.reduce_max(C, [0, -1])], [])
    ('()'; '(4,)'; '(3, 1)'; '(3,)')
static(lambda x: sp.reduce_sum(A, 2), [])
    '(4,)'
static(lambda i: R.SparseSoftmax(sp_indices=i, sp_values=[1.0], sp_shape=[2, 2]), tf.TensorSpec([1], tf.int64))
    ValueError
static(lambda v: R.SparseSoftmax(sp_indices=[[0, 0]], sp_values=v, sp_shape=[2, 2]), [1, 1])
    ValueError
sp.reduce_sum(tf.SparseTensor([[-1, 0], [0, 1], [-1, 3]], [1, 2, 3], [2, 4]), 1, output_is_sparse=True)
    sparse int64 [2, 1] [[-1], [0]] int32 [2] [4, 2] int64 [1] [2]
sp.segment_sum([1.0, 2.0], [0, 1], [0, 3], 2)
    InvalidArgumentError
sp.reduce_sum(A, keepdims=False)
    float32 [] 6
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
