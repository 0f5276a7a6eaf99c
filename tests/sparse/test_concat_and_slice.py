"""Joining, slicing, reshaping and filling of sparse tensors. The outcomes are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row, cube_grads


def sparse(indices, values, shape):
    return tf.SparseTensor(np.array(indices, np.int64).reshape(-1, len(shape)), values, shape)


sp, R = tf.sparse, tf.raw_ops
A = sparse([[0, 1], [0, 3], [2, 0]], [1.0, 2.0, 3.0], [3, 4])
B = sparse([[1, 0], [2, 1]], [5.0, 6.0], [3, 2])
C = sparse([[0, 1, 2], [1, 0, 0], [1, 2, 3]], [1.0, 2.0, 3.0], [2, 3, 4])
E = sparse([], np.zeros(0, np.float32), [3, 4])
U = tf.SparseTensor([[2, 0], [0, 1], [0, 0], [0, 1]], [1, 2, 3, 4], [4, 4])
S = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([4, 7, 9]), tf.constant([10, 1]))

ROWS = read_rows("""
sp.concat(1, [A, B])
    sparse int64 [5, 2] [[0, 1], [0, 3], [1, 4], [2, 0], [2, 5]] float32 [5] [1, 2, 5, 3, 6] int64 [2] [3, 6]
sp.concat(-1, [B, A, B])
    sparse int64 [7, 2] [[0, 3], [0, 5], [1, 0], [1, 6], [2, 1], [2, 2], [2, 7]] float32 [7] [1, 2, 5, 5, 6, 3, 6] int64
    [2] [3, 8]
sp.concat(0, [A, B], True)
    sparse int64 [5, 2] [[0, 1], [0, 3], [2, 0], [4, 0], [5, 1]] float32 [5] [1, 2, 3, 5, 6] int64 [2] [6, 4]
sp.concat(-2, [A, B], True)
    sparse int64 [5, 2] [[0, 1], [0, 3], [2, 0], [4, 0], [5, 1]] float32 [5] [1, 2, 3, 5, 6] int64 [2] [6, 4]
sp.concat(1, [A, B], True)
    sparse int64 [5, 2] [[0, 1], [0, 3], [1, 4], [2, 0], [2, 5]] float32 [5] [1, 2, 5, 3, 6] int64 [2] [3, 6]
sp.concat(2, [C, C])
    sparse int64 [6, 3] [[0, 1, 2], [0, 1, 6], [1, 0, 0], [1, 0, 4], [1, 2, 3], [1, 2, 7]] float32 [6] [1, 1, 2, 2, 3,
    3] int64 [3] [2, 3, 8]
sp.concat(0, [U, U])
    sparse int64 [8, 2] [[0, 0], [0, 1], [0, 1], [2, 0], [4, 0], [4, 1], [4, 1], [6, 0]] int32 [8] [3, 2, 4, 1, 3, 2, 4,
    1] int64 [2] [8, 4]
sp.concat(0, [A, B])
    InvalidArgumentError
sp.concat(2, [A, A])
    InvalidArgumentError
sp.concat(-3, [A, A])
    InvalidArgumentError
sp.concat(5, [A])
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 4]
sp.concat(0, A)
    TypeError
sp.concat(0, [])
    InvalidArgumentError
sp.concat(0, [A, C])
    InvalidArgumentError
sp.split(A, 2, 0)
    (sparse int64 [2, 2] [[0, 1], [0, 3]] float32 [2] [1, 2] int64 [2] [2, 4]; sparse int64 [1, 2] [[0, 0]] float32 [1]
    [3] int64 [2] [1, 4])
sp.split(A, 3, 0)
    (sparse int64 [2, 2] [[0, 1], [0, 3]] float32 [2] [1, 2] int64 [2] [1, 4]; sparse int64 [0, 2] [] float32 [0] []
    int64 [2] [1, 4]; sparse int64 [1, 2] [[0, 0]] float32 [1] [3] int64 [2] [1, 4])
sp.split(A, 2, 1)
    (sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 2]; sparse int64 [1, 2] [[0, 1]] float32 [1]
    [2] int64 [2] [3, 2])
sp.split(A, 3, -1)
    (sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 2]; sparse int64 [0, 2] [] float32 [0] []
    int64 [2] [3, 1]; sparse int64 [1, 2] [[0, 0]] float32 [1] [2] int64 [2] [3, 1])
sp.split(A, 4, 1)
    (sparse int64 [1, 2] [[2, 0]] float32 [1] [3] int64 [2] [3, 1]; sparse int64 [1, 2] [[0, 0]] float32 [1] [1] int64
    [2] [3, 1]; sparse int64 [0, 2] [] float32 [0] [] int64 [2] [3, 1]; sparse int64 [1, 2] [[0, 0]] float32 [1] [2]
    int64 [2] [3, 1])
sp.split(A, 1, 1)
    (sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 4])
sp.split(A, 2, True)
    (sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 2]; sparse int64 [1, 2] [[0, 1]] float32 [1]
    [2] int64 [2] [3, 2])
sp.split(C, 2, 1)
    (sparse int64 [2, 3] [[0, 1, 2], [1, 0, 0]] float32 [2] [1, 2] int64 [3] [2, 2, 4]; sparse int64 [1, 3] [[1, 0, 3]]
    float32 [1] [3] int64 [3] [2, 1, 4])
sp.split(E, 3, 1)
    (sparse int64 [0, 2] [] float32 [0] [] int64 [2] [3, 2]; sparse int64 [0, 2] [] float32 [0] [] int64 [2] [3, 1];
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [3, 1])
sp.split(A, 5, 1)
    InvalidArgumentError
sp.split(A, 0, 0)
    InvalidArgumentError
sp.split(A, 2, 2)
    InvalidArgumentError
sp.split(A, 2, -3)
    InvalidArgumentError
sp.split(A, None, 1)
    ValueError
sp.split(A, 2)
    ValueError
sp.split(A, 2, [0])
    InvalidArgumentError
sp.split(A, 2**30, 0)
    ValueError
sp.slice(A, [0, 0], [3, 4])
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 4]
sp.slice(A, [0, 1], [1, 3])
    sparse int64 [2, 2] [[0, 0], [0, 2]] float32 [2] [1, 2] int64 [2] [1, 3]
sp.slice(A, [1, 0], [9, 9])
    sparse int64 [1, 2] [[1, 0]] float32 [1] [3] int64 [2] [2, 4]
sp.slice(A, [2, 0], [1, 1])
    sparse int64 [1, 2] [[0, 0]] float32 [1] [3] int64 [2] [1, 1]
sp.slice(A, [4, 0], [1, 1])
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [0, 1]
sp.slice(A, [-1, 0], [2, 2])
    sparse int64 [1, 2] [[1, 1]] float32 [1] [1] int64 [2] [2, 2]
sp.slice(A, [0, 0], [0, 4])
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [0, 4]
sp.slice(A, [0, 5], [2, 2])
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [2, 0]
sp.slice(C, [0, 1, 1], [2, 9, 2])
    sparse int64 [1, 3] [[0, 0, 1]] float32 [1] [1] int64 [3] [2, 2, 2]
sp.slice(A, [0], [1])
    InvalidArgumentError
sp.slice(A, [0, 0], [1])
    InvalidArgumentError
sp.slice(A, [0, 0], [-1, 2])
    InvalidArgumentError
sp.reshape(A, [4, 3])
    sparse int64 [3, 2] [[0, 1], [1, 0], [2, 2]] float32 [3] [1, 2, 3] int64 [2] [4, 3]
sp.reshape(A, [2, -1])
    sparse int64 [3, 2] [[0, 1], [0, 3], [1, 2]] float32 [3] [1, 2, 3] int64 [2] [2, 6]
sp.reshape(A, [-1])
    sparse int64 [3, 1] [[1], [3], [8]] float32 [3] [1, 2, 3] int64 [1] [12]
sp.reshape(A, [6, -1, 1])
    sparse int64 [3, 3] [[0, 1, 0], [1, 1, 0], [4, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [6, 2, 1]
sp.reshape(C, [-1, 8])
    sparse int64 [3, 2] [[0, 6], [1, 4], [2, 7]] float32 [3] [1, 2, 3] int64 [2] [3, 8]
sp.reshape(A, [-1, -1])
    InvalidArgumentError
sp.reshape(A, [5, -1])
    InvalidArgumentError
sp.reshape(A, [5])
    InvalidArgumentError
sp.reshape(A, [0, -1])
    InvalidArgumentError
sp.reshape(sparse([], np.zeros(0), [0, 4]), [0, -1])
    InvalidArgumentError
sp.reshape(sparse([], np.zeros(0), [0, 4]), [-1, 4])
    sparse int64 [0, 2] [] float64 [0] [] int64 [2] [0, 4]
sp.reshape(sparse([], np.zeros(0), [0, 4]), [4, 0])
    sparse int64 [0, 2] [] float64 [0] [] int64 [2] [4, 0]
sp.expand_dims(A)
    sparse int64 [3, 3] [[0, 1, 0], [0, 3, 0], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 4, 1]
sp.expand_dims(A, 0)
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [0, 2, 0]] float32 [3] [1, 2, 3] int64 [3] [1, 3, 4]
sp.expand_dims(A, 1)
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 1, 4]
sp.expand_dims(A, 2)
    sparse int64 [3, 3] [[0, 1, 0], [0, 3, 0], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 4, 1]
sp.expand_dims(A, -2)
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 1, 4]
sp.expand_dims(A, -3)
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [0, 2, 0]] float32 [3] [1, 2, 3] int64 [3] [1, 3, 4]
sp.expand_dims(A, np.int64(1))
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 1, 4]
sp.expand_dims(A, tf.constant(1))
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 1, 4]
sp.expand_dims(A, 3)
    InvalidArgumentError
sp.expand_dims(A, -4)
    InvalidArgumentError
sp.expand_dims(A, 1.0)
    TypeError
sp.transpose(A)
    sparse int64 [3, 2] [[0, 2], [1, 0], [3, 0]] float32 [3] [3, 1, 2] int64 [2] [4, 3]
sp.transpose(A, [0, 1])
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 4]
sp.transpose(A, [-1, 0])
    InvalidArgumentError
sp.transpose(C)
    sparse int64 [3, 3] [[0, 0, 1], [2, 1, 0], [3, 2, 1]] float32 [3] [2, 1, 3] int64 [3] [4, 3, 2]
sp.transpose(C, [1, 0, 2])
    sparse int64 [3, 3] [[0, 1, 0], [1, 0, 2], [2, 1, 3]] float32 [3] [2, 1, 3] int64 [3] [3, 2, 4]
sp.transpose(C, tf.constant([2, 0, 1]))
    sparse int64 [3, 3] [[0, 1, 0], [2, 0, 1], [3, 1, 2]] float32 [3] [2, 1, 3] int64 [3] [4, 2, 3]
sp.transpose(A, [0])
    ValueError
sp.transpose(A, [0, 1, 2])
    InvalidArgumentError
sp.reorder(U)
    sparse int64 [4, 2] [[0, 0], [0, 1], [0, 1], [2, 0]] int32 [4] [3, 2, 4, 1] int64 [2] [4, 4]
sp.reorder(tf.SparseTensor([[2, 0], [9, 1], [0, 0]], [1, 2, 3], [3, 4]))
    sparse int64 [3, 2] [[0, 0], [2, 0], [9, 1]] int32 [3] [3, 1, 2] int64 [2] [3, 4]
R.SparseReorder(input_indices=[[0, 0]], input_values=[1, 2], input_shape=np.array([2, 2], np.int64))
    InvalidArgumentError
R.SparseReorder(input_indices=[[0, 0]], input_values=[1], input_shape=np.array([2, 2, 2], np.int64))
    InvalidArgumentError
sp.reset_shape(A)
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 4]
sp.reset_shape(E)
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [0, 0]
sp.reset_shape(A, [3, 4])
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 4]
sp.reset_shape(A, [3, 9])
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 9]
sp.reset_shape(A, [2, 9])
    ValueError
sp.reset_shape(A, [3, 4, 1])
    ValueError
sp.reset_shape(A, [3])
    ValueError
sp.fill_empty_rows(A, 9.0)
    (sparse int64 [4, 2] [[0, 1], [0, 3], [1, 0], [2, 0]] float32 [4] [1, 2, 9, 3] int64 [2] [3, 4]; bool [3] [False,
    True, False])
sp.fill_empty_rows(B, 9.0)
    (sparse int64 [3, 2] [[0, 0], [1, 0], [2, 1]] float32 [3] [9, 5, 6] int64 [2] [3, 2]; bool [3] [True, False, False])
sp.fill_empty_rows(E, 9.0)
    (sparse int64 [3, 2] [[0, 0], [1, 0], [2, 0]] float32 [3] [9, 9, 9] int64 [2] [3, 4]; bool [3] [True, True, True])
sp.fill_empty_rows(U, 7)
    (sparse int64 [6, 2] [[0, 1], [0, 0], [0, 1], [1, 0], [2, 0], [3, 0]] int32 [6] [2, 3, 4, 7, 1, 7] int64 [2] [4, 4];
    bool [4] [False, True, False, True])
sp.fill_empty_rows(tf.SparseTensor([[1, 0], [0, 1], [1, 1]], [1, 2, 3], [2, 4]), 7)
    (sparse int64 [3, 2] [[0, 1], [1, 0], [1, 1]] int32 [3] [2, 1, 3] int64 [2] [2, 4]; bool [2] [False, False])
sp.fill_empty_rows(A, [9.0])
    InvalidArgumentError
sp.fill_empty_rows(A, "a")
    TypeError
sp.fill_empty_rows(tf.SparseTensor([[3, 0]], [1.0], [3, 4]), 0.0)
    InvalidArgumentError
sp.fill_empty_rows(tf.SparseTensor([[-1, 0]], [1.0], [3, 4]), 0.0)
    InvalidArgumentError
list(R.SparseFillEmptyRows(indices=U.indices, values=U.values, dense_shape=U.dense_shape, default_value=7))
    (int64 [6, 2] [[0, 1], [0, 0], [0, 1], [1, 0], [2, 0], [3, 0]]; int32 [6] [2, 3, 4, 7, 1, 7]; bool [4] [False, True,
    False, True]; int64 [4] [4, 0, 1, 2])
sp.retain(A, [True, False, True])
    sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 4]
sp.retain(A, [1, 0, 0])
    sparse int64 [1, 2] [[0, 1]] float32 [1] [1] int64 [2] [3, 4]
sp.retain(A, [False] * 3)
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [3, 4]
sp.retain(A, [True, True])
    ValueError
sp.retain(A, [[True, False, True]])
    ValueError
sp.eye(2)
    sparse int64 [2, 2] [[0, 0], [1, 1]] float32 [2] [1, 1] int64 [2] [2, 2]
sp.eye(2, 3)
    sparse int64 [2, 2] [[0, 0], [1, 1]] float32 [2] [1, 1] int64 [2] [2, 3]
sp.eye(3, 2, tf.int32)
    sparse int64 [2, 2] [[0, 0], [1, 1]] int32 [2] [1, 1] int64 [2] [3, 2]
sp.eye(0)
    sparse int64 [0, 2] [] float32 [0] [] int64 [2] [0, 0]
sp.eye(-1)
    InvalidArgumentError
sp.eye(2.0)
    TypeError
sp.eye(2, 1.0)
    TypeError
sp.map_values(tf.add, A, 1.0)
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [2, 3, 4] int64 [2] [3, 4]
sp.map_values(tf.add, A, y=A)
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [2, 4, 6] int64 [2] [3, 4]
sp.map_values(tf.add, A, B)
    InvalidArgumentError
sp.map_values(tf.add, 1, 2)
    ValueError
sp.map_values(tf.add, A, sparse(A.indices, A.values, [3, 5]))
    InvalidArgumentError
sp.map_values(tf.reduce_sum, A)
    ValueError
sp.mask(S, [7])
    sparse int32 [2] [4, 9] float32 [2, 1] [[1], [3]] int32 [2] [10, 1]
sp.mask(S, [9, 4])
    sparse int32 [1] [7] float32 [1, 1] [[2]] int32 [2] [10, 1]
sp.mask(S, [[7]])
    InvalidArgumentError
cube_grads(lambda a: sp.slice(a, [0, 1], [3, 2]), A)
    (float32 [3] [3, 0, 0])
cube_grads(lambda c: sp.slice(c, [1, 0, 0], [1, 2, 3]), C)
    (float32 [3] [0, 12, 0])
cube_grads(lambda a: sp.transpose(a), A)
    (float32 [3] [3, 12, 27])
cube_grads(lambda a: sp.reorder(a), tf.cast(U, tf.float32))
    (float32 [4] [3, 12, 27, 48])
cube_grads(lambda a: sp.reshape(a, [-1]), A)
    (float32 [3] [3, 12, 27])
cube_grads(lambda a: sp.expand_dims(a, 0), A)
    (float32 [3] [3, 12, 27])
cube_grads(lambda b, v: sp.fill_empty_rows(b, v), B, 9.0)
    (float32 [2] [75, 108]; float32 [] 243)
cube_grads(lambda a: sp.retain(a, [True, False, True]), A)
    (float32 [3] [3, 0, 27])
cube_grads(lambda a: sp.map_values(tf.square, a), A)
    (float32 [3] [6, 192, 1458])
cube_grads(lambda a: sp.reset_shape(a, [5, 5]), A)
    (float32 [3] [3, 12, 27])
sized(lambda a, b: sp.concat(1, [a, b]), A, B)
    sparse int64 [5, 2] [[0, 1], [0, 3], [1, 4], [2, 0], [2, 5]] float32 [5] [1, 2, 5, 3, 6] int64 [2] [3, 6]
sized(lambda a, b: sp.concat(-2, [a, b], True), A, B)
    sparse int64 [5, 2] [[0, 1], [0, 3], [2, 0], [4, 0], [5, 1]] float32 [5] [1, 2, 3, 5, 6] int64 [2] [6, 4]
unranked(lambda a, b: sp.concat(0, [a, b], True), A, B)
    sparse int64 [5, 2] [[0, 1], [0, 3], [2, 0], [4, 0], [5, 1]] float32 [5] [1, 2, 3, 5, 6] int64 [2] [6, 4]
unranked(lambda a, b: sp.concat(-1, [a, b], True), A, B)
    sparse int64 [5, 2] [[0, 1], [0, 3], [1, 4], [2, 0], [2, 5]] float32 [5] [1, 2, 5, 3, 6] int64 [2] [3, 6]
sized(lambda a: sp.split(a, 3, 1), A)
    (sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 2]; sparse int64 [0, 2] [] float32 [0] []
    int64 [2] [3, 1]; sparse int64 [1, 2] [[0, 0]] float32 [1] [2] int64 [2] [3, 1])
unranked(lambda a: sp.split(a, 3, 1), A)
    (sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 2]; sparse int64 [0, 2] [] float32 [0] []
    int64 [2] [3, 1]; sparse int64 [1, 2] [[0, 0]] float32 [1] [2] int64 [2] [3, 1])
unranked(lambda a: sp.split(a, 2, -2), A)
    (sparse int64 [2, 2] [[0, 1], [0, 3]] float32 [2] [1, 2] int64 [2] [2, 4]; sparse int64 [1, 2] [[0, 0]] float32 [1]
    [3] int64 [2] [1, 4])
sized(lambda c: sp.split(c, 2, 1), C)
    (sparse int64 [2, 3] [[0, 1, 2], [1, 0, 0]] float32 [2] [1, 2] int64 [3] [2, 2, 4]; sparse int64 [1, 3] [[1, 0, 3]]
    float32 [1] [3] int64 [3] [2, 1, 4])
sized(lambda a: sp.slice(a, [0, 1], [3, 2]), A)
    sparse int64 [1, 2] [[0, 0]] float32 [1] [1] int64 [2] [3, 2]
sized(lambda a: sp.reshape(a, [2, -1]), A)
    sparse int64 [3, 2] [[0, 1], [0, 3], [1, 2]] float32 [3] [1, 2, 3] int64 [2] [2, 6]
sized(lambda a: sp.expand_dims(a, 1), A)
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 1, 4]
unranked(lambda a: sp.expand_dims(a), A)
    sparse int64 [3, 3] [[0, 1, 0], [0, 3, 0], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 4, 1]
unranked(lambda a: sp.expand_dims(a, 0), A)
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [0, 2, 0]] float32 [3] [1, 2, 3] int64 [3] [1, 3, 4]
unranked(lambda a: sp.expand_dims(a, -2), A)
    sparse int64 [3, 3] [[0, 0, 1], [0, 0, 3], [2, 0, 0]] float32 [3] [1, 2, 3] int64 [3] [3, 1, 4]
sized(lambda a: sp.transpose(a), A)
    sparse int64 [3, 2] [[0, 2], [1, 0], [3, 0]] float32 [3] [3, 1, 2] int64 [2] [4, 3]
unranked(lambda a: sp.transpose(a), C)
    sparse int64 [3, 3] [[0, 0, 1], [2, 1, 0], [3, 2, 1]] float32 [3] [2, 1, 3] int64 [3] [4, 3, 2]
sized(lambda a: sp.transpose(a, [1, 0]), A)
    sparse int64 [3, 2] [[0, 2], [1, 0], [3, 0]] float32 [3] [3, 1, 2] int64 [2] [4, 3]
sized(lambda a: sp.reset_shape(a), A)
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [3, 4]
sized(lambda a: sp.reset_shape(a, [5, 5]), A)
    sparse int64 [3, 2] [[0, 1], [0, 3], [2, 0]] float32 [3] [1, 2, 3] int64 [2] [5, 5]
sized(lambda a: sp.reset_shape(a, [2, 5]), A)
    InvalidArgumentError
sized(lambda a: sp.fill_empty_rows(a, 9.0), B)
    (sparse int64 [3, 2] [[0, 0], [1, 0], [2, 1]] float32 [3] [9, 5, 6] int64 [2] [3, 2]; bool [3] [True, False, False])
sized(lambda a, m: sp.retain(a, m), A, [True, False, True])
    sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 4]
unranked(lambda a, m: sp.retain(a, m), A, [True, False, True])
    sparse int64 [2, 2] [[0, 1], [2, 0]] float32 [2] [1, 3] int64 [2] [3, 4]
sized(lambda n: sp.eye(n), 2)
    sparse int64 [2, 2] [[0, 0], [1, 1]] float32 [2] [1, 1] int64 [2] [2, 2]
sized(lambda n, m: sp.eye(n, m), 2, 3)
    sparse int64 [2, 2] [[0, 0], [1, 1]] float32 [2] [1, 1] int64 [2] [2, 3]
unranked(lambda n: sp.eye(2, n), 3)
    sparse int64 [2, 2] [[0, 0], [1, 1]] float32 [2] [1, 1] int64 [2] [2, 3]
static(lambda a, b: sp.concat(1, [a, b]), tf.SparseTensorSpec([3, 4]), tf.SparseTensorSpec([3, None]))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.slice(a, [0, 0], [1, 1]), tf.SparseTensorSpec([3, 4]))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.reshape(a, [2, -1]), tf.SparseTensorSpec([3, 4]))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.reshape(a, [5, -1]), tf.SparseTensorSpec([3, 4]))
    ValueError
static(lambda a: sp.transpose(a), tf.SparseTensorSpec([3, 4]))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.fill_empty_rows(a, 1.0), tf.SparseTensorSpec([3, 4]))
    (('(None, 2)'; '(None,)'; '(2,)'); '(None,)')
static(lambda a: sp.fill_empty_rows(a, 1.0), tf.SparseTensorSpec([None, 4]))
    (('(None, 2)'; '(None,)'; '(2,)'); '(None,)')
static(lambda a: sp.fill_empty_rows(a, 1.0), tf.SparseTensorSpec(None))
    (('(None, None)'; '(None,)'; '(None,)'); '(None,)')
static(lambda a: sp.expand_dims(a, 0), tf.SparseTensorSpec([3, None]))
    ('(None, 3)'; '(None,)'; '(3,)')
static(lambda a: sp.reorder(a), tf.SparseTensorSpec([3, None]))
    ('(None, 2)'; '(None,)'; '(2,)')
static(lambda a: sp.split(a, 0, 1), tf.SparseTensorSpec([3, 4]))
    ValueError
static(lambda i: R.SparseReorder(input_indices=i, input_values=[1.0], input_shape=[2, 2]), tf.TensorSpec([1], tf.int64))
    ValueError
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (lambda a, b: sp.concat(1, [a, b]), [A, B], [[3, 12, 27], [75, 108]]),
        (lambda a, b: sp.concat(-2, [b, a, b], True), [A, B], [[3, 12, 27], [150, 216]]),
        (lambda a: sp.split(a, 2, 1), [A], [[3, 12, 27]]),
    ],
)
def test_gradients_that_tensorflow_lacks(function, args, expected):
    assert [g.numpy().tolist() for g in cube_grads(function, *args)] == expected
