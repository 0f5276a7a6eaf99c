"""The functions of `tf.experimental.numpy`: their options, dtypes, borders and errors. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import outcome, read_rows
from tapeflow.experimental import numpy as tnp

M = tf.constant([[1, 2, 3], [4, 5, 6]])
F = tf.constant([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]])
X = tf.reshape(tf.range(24), [2, 3, 4])


def of_unknown_rank(function, value):
    return tf.function(function, input_signature=[tf.TensorSpec(None, tf.int32)], autograph=False)(value)


def of_unknown_sizes(function, value):
    spec = tf.TensorSpec([None] * len(value.shape), value.dtype)
    return tf.function(function, input_signature=[spec], autograph=False)(value)


ROWS = read_rows(r"""
tnp.array([1, 2])
    int64 [2] [1, 2]
tnp.array([1.5], dtype=tf.float32)
    float32 [1] [1.5]
tnp.array(5, ndmin=2)
    int64 [1, 1] [[5]]
tnp.array([[1]], ndmin=1)
    int64 [1, 1] [[1]]
tnp.array(5, ndmin=33)
    ValueError: ndmin bigger than allowable number of dimensions: 32.
tnp.array([1, 2], float)
    float64 [2] [1, 2]
tnp.asarray([True])
    bool [1] [True]
tnp.asarray(M, tf.float64)
    float64 [2, 3] [[1, 2, 3], [4, 5, 6]]
tnp.asanyarray([1], dtype=np.int16)
    int16 [1] [1]
tnp.ascontiguousarray(3)
    int64 [1] [3]
tnp.zeros([2, 1])
    float64 [2, 1] [[0], [0]]
tnp.zeros(3, dtype=int)
    int64 [3] [0, 0, 0]
tnp.zeros_like(M)
    int32 [2, 3] [[0, 0, 0], [0, 0, 0]]
tnp.zeros_like(M, dtype=tf.float32)
    float32 [2, 3] [[0, 0, 0], [0, 0, 0]]
tnp.ones([2, 1])
    float64 [2, 1] [[1], [1]]
tnp.ones(2, dtype=bool)
    bool [2] [True, True]
tnp.ones_like(F)
    float32 [2, 3] [[1, 1, 1], [1, 1, 1]]
tnp.ones_like(F, dtype=int)
    int64 [2, 3] [[1, 1, 1], [1, 1, 1]]
tnp.empty([2, 3]).shape
    TensorShape([2, 3])
tnp.empty([2], dtype=np.int8).dtype
    tf.int8
tnp.empty([2]).dtype
    tf.float64
tnp.empty_like(M).dtype
    tf.int32
tnp.empty_like(M, dtype=float).dtype
    tf.float64
tnp.full([2, 2], 7)
    int64 [2, 2] [[7, 7], [7, 7]]
tnp.full([2], [1, 2], dtype=float)
    float64 [2] [1, 2]
tnp.full([2, 2], [1, 2])
    int64 [2, 2] [[1, 2], [1, 2]]
tnp.full_like(M, 9)
    int32 [2, 3] [[9, 9, 9], [9, 9, 9]]
tnp.full_like(M, 9.5)
    int32 [2, 3] [[9, 9, 9], [9, 9, 9]]
tnp.full_like(M, 9.5, dtype=float)
    float64 [2, 3] [[9.5, 9.5, 9.5], [9.5, 9.5, 9.5]]
tnp.full_like(M, 9, subok=False)
    ValueError: subok being False is not supported.
tnp.full_like(M, 9, shape=[1])
    ValueError: Overriding the shape is not supported.
tnp.full_like(M, 9, order='X')
    ValueError: Non-standard orders are not supported.
tnp.eye(2)
    float64 [2, 2] [[1, 0], [0, 1]]
tnp.eye(2, 3, 1)
    float64 [2, 3] [[0, 1, 0], [0, 0, 1]]
tnp.eye(3, 2, k=-1, dtype=int)
    int64 [3, 2] [[0, 0], [1, 0], [0, 1]]
tnp.eye(2, k=5)
    float64 [2, 2] [[0, 0], [0, 0]]
tnp.eye(2, k=-5)
    float64 [2, 2] [[0, 0], [0, 0]]
tnp.eye(2, 4, k=3)
    float64 [2, 4] [[0, 0, 0, 1], [0, 0, 0, 0]]
tnp.identity(2)
    float64 [2, 2] [[1, 0], [0, 1]]
tnp.identity(2, dtype=tf.int32)
    int32 [2, 2] [[1, 0], [0, 1]]
tnp.arange(4)
    int64 [4] [0, 1, 2, 3]
tnp.arange(1, 4)
    int64 [3] [1, 2, 3]
tnp.arange(1, 4, 2)
    int64 [2] [1, 3]
tnp.arange(4, 1, -2)
    int64 [2] [4, 2]
tnp.arange(1.5, 3)
    float64 [2] [1.5, 2.5]
tnp.arange(4, dtype=float)
    float64 [4] [0, 1, 2, 3]
tnp.arange(1, 4, 0)
    ValueError: step must be non-zero.
tnp.arange(3, 1)
    int64 [0] []
tnp.arange(tf.constant(2), tf.constant(5))
    int32 [3] [2, 3, 4]
tnp.linspace(0, 1, 3)
    float64 [3] [0, 0.5, 1]
tnp.linspace(0, 1, 3, endpoint=False)
    float64 [3] [0, 0.33333, 0.66667]
tnp.linspace(0, 1, 3, retstep=True)
    (float64 [3] [0, 0.5, 1]; float64 [] 0.5)
tnp.linspace(0, 1, 3, dtype=tf.float32)
    float64 [3] [0, 0.5, 1]
tnp.linspace([0, 1], [2, 5], 3)
    TypeError: can't multiply sequence by non-int of type 'float'
tnp.linspace([0, 1], [2, 5], 3, axis=1)
    TypeError: can't multiply sequence by non-int of type 'float'
tnp.linspace([0, 1], [2, 5], 3, axis=-1)
    TypeError: can't multiply sequence by non-int of type 'float'
tnp.linspace(0, 1, 1)
    float64 [1] [0]
tnp.linspace(0, 1, 0)
    float64 [0] []
tnp.linspace(0, 1, 1, endpoint=False, retstep=True)
    (float64 [1] [0]; float64 [] 1)
tnp.linspace(0., 10.).shape
    TensorShape([50])
tnp.logspace(0, 2, 3)
    float64 [3] [1, 10, 100]
tnp.logspace(0, 2, 3, base=2.0)
    float64 [3] [1, 2, 4]
tnp.logspace(0, 2, 2, endpoint=False)
    float64 [2] [1, 10]
tnp.logspace(0, 2, 3, dtype=int)
    float64 [3] [1, 10, 100]
tnp.logspace([0, 1], [2, 3], 2, axis=1)
    TypeError: can't multiply sequence by non-int of type 'float'
tnp.geomspace(1, 100, 3)
    float64 [3] [1, 10, 100]
tnp.geomspace(1, 16, 4, endpoint=False)
    float64 [4] [1, 2, 4, 8]
tnp.geomspace(-1, -100, 3)
    float64 [3] [-1, -10, -100]
tnp.geomspace(1, 100, 3, dtype=tf.float32)
    float32 [3] [1, 10, 100]
tnp.geomspace([1, 2], [4, 8], 3, axis=1)
    float64 [2, 3] [[1, 2, 4], [2, 4, 8]]
tnp.meshgrid([1, 2], [3, 4, 5])
    (int64 [3, 2] [[1, 2], [1, 2], [1, 2]]; int64 [3, 2] [[3, 3], [4, 4], [5, 5]])
tnp.meshgrid([1, 2], [3, 4, 5], indexing='ij')
    (int64 [2, 3] [[1, 1, 1], [2, 2, 2]]; int64 [2, 3] [[3, 4, 5], [3, 4, 5]])
tnp.meshgrid([1, 2], [3, 4, 5], sparse=True)
    ValueError: Function `meshgrid` does not support returning sparse arrays yet. Received: sparse=True
tnp.meshgrid([1, 2], [3, 4, 5], copy=False)
    ValueError: Function `meshgrid` only supports copy=True. Received: copy=False
tnp.ix_([1, 2], [0, 2, 3])
    (int64 [2, 1] [[1], [2]]; int64 [1, 3] [[0, 2, 3]])
tnp.ix_([True, False, True], [1])
    (int64 [2, 1] [[0], [2]]; int64 [1, 1] [[1]])
tnp.ix_([1.5])
    ValueError: Only integer and bool dtypes are supported, got tf.float64
tnp.ix_([[1]])
    ValueError: Arguments must be 1-d, got arg 0 of rank 2
tnp.diag([1, 2])
    int64 [2, 2] [[1, 0], [0, 2]]
tnp.diag([1, 2], 1)
    int64 [3, 3] [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
tnp.diag([1, 2], k=-1)
    int64 [3, 3] [[0, 0, 0], [1, 0, 0], [0, 2, 0]]
tnp.diag(M)
    int32 [2] [1, 5]
tnp.diag(M, 1)
    int32 [2] [2, 6]
tnp.diag(M, 2)
    int32 [1] [3]
tnp.diag(M, 3)
    int32 [0] []
tnp.diag(M, -1)
    int32 [1] [4]
tnp.diag(M, -2)
    int32 [0] []
tnp.diag(X)
    ValueError: Shape (2, 3, 4) must have rank 1 or 2
tnp.diag(5)
    ValueError: Shape () must have rank 1 or 2
tnp.diagflat([[1, 2], [3, 4]])
    int64 [4, 4] [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 4]]
tnp.diagflat([1, 2], 1)
    int64 [3, 3] [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
tnp.diag_indices(3)
    (int32 [3] [0, 1, 2]; int32 [3] [0, 1, 2])
tnp.diag_indices(2, ndim=3)
    (int32 [2] [0, 1]; int32 [2] [0, 1]; int32 [2] [0, 1])
tnp.diag_indices(-1)
    ValueError: n argument to diag_indices must be nonnegative, got -1
tnp.diag_indices(2, -1)
    ValueError: ndim argument to diag_indices must be nonnegative, got -1
tnp.diag_indices(0)
    (int32 [0] []; int32 [0] [])
tnp.tri(2)
    float64 [2, 2] [[1, 0], [1, 1]]
tnp.tri(2, 3)
    float64 [2, 3] [[1, 0, 0], [1, 1, 0]]
tnp.tri(3, 2, 1)
    float64 [3, 2] [[1, 1], [1, 1], [1, 1]]
tnp.tri(3, 2, k=-1, dtype=int)
    int64 [3, 2] [[0, 0], [1, 0], [1, 1]]
tnp.tri(2, k=5)
    float64 [2, 2] [[1, 1], [1, 1]]
tnp.tri(2, k=-5)
    float64 [2, 2] [[0, 0], [0, 0]]
tnp.tril(M)
    int32 [2, 3] [[1, 0, 0], [4, 5, 0]]
tnp.tril(M, 1)
    int32 [2, 3] [[1, 2, 0], [4, 5, 6]]
tnp.tril(M, -1)
    int32 [2, 3] [[0, 0, 0], [4, 0, 0]]
tnp.tril(M, 9)
    int32 [2, 3] [[1, 2, 3], [4, 5, 6]]
tnp.triu(M)
    int32 [2, 3] [[1, 2, 3], [0, 5, 6]]
tnp.triu(M, 1)
    int32 [2, 3] [[0, 2, 3], [0, 0, 6]]
tnp.triu(M, k=-1)
    int32 [2, 3] [[1, 2, 3], [4, 5, 6]]
tnp.triu(M, 9)
    int32 [2, 3] [[0, 0, 0], [0, 0, 0]]
tnp.triu(X, 1)
    int32 [2, 3, 4] [[[0, 1, 2, 3], [0, 0, 6, 7], [0, 0, 0, 11]], [[0, 13, 14, 15], [0, 0, 18, 19], [0, 0, 0, 23]]]
tnp.tril([1, 2])
    ValueError: Argument to tril must have rank at least 2
of_unknown_rank(tnp.tril, M)
    ValueError: Argument to tril should have known rank
of_unknown_rank(tnp.triu, M)
    ValueError: Argument to triu should have known rank
of_unknown_sizes(tnp.tril, M)
    ValueError: Currently, the last two dimensions of the input array need to be known.
of_unknown_rank(tnp.diag, M)
    ValueError: tf.experimental.numpy.diag needs a tensor of a known rank, got <tf.Tensor 'v:0' shape=<unknown>
    dtype=int32>.
tnp.vander([1, 2, 3])
    int64 [3, 3] [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
tnp.vander([1, 2, 3], 2)
    int64 [3, 2] [[1, 1], [2, 1], [3, 1]]
tnp.vander([1, 2, 3], N=4, increasing=True)
    int64 [3, 4] [[1, 1, 1, 1], [1, 2, 4, 8], [1, 3, 9, 27]]
tnp.vander([1, 2], 0)
    int64 [2, 0] [[], []]
tnp.vander([1, 2], -1)
    ValueError: N must be nonnegative
tnp.vander([1.5, 2])
    float64 [2, 2] [[1.5, 1], [2, 1]]
tnp.vander([[1]])
    ValueError: x must be a one-dimensional array
tnp.atleast_1d(5)
    int64 [1] [5]
tnp.atleast_2d(5, [1, 2])
    (int64 [1, 1] [[5]]; int64 [1, 2] [[1, 2]])
tnp.atleast_2d([1, 2])
    int64 [1, 2] [[1, 2]]
tnp.atleast_3d([1, 2])
    int64 [1, 2, 1] [[[1], [2]]]
tnp.atleast_3d(M).shape
    TensorShape([2, 3, 1])
tnp.atleast_1d()
    ()
tnp.reshape(M, [3, 2])
    int32 [3, 2] [[1, 2], [3, 4], [5, 6]]
tnp.reshape(M, -1)
    int32 [6] [1, 2, 3, 4, 5, 6]
tnp.reshape(M, [3, 2], order='F')
    int32 [3, 2] [[1, 5], [4, 3], [2, 6]]
tnp.reshape(M, [3, 2], order='A')
    ValueError: Unsupported order argument A
tnp.ravel(M)
    int32 [6] [1, 2, 3, 4, 5, 6]
tnp.ravel(5)
    int64 [1] [5]
tnp.expand_dims(M, 1)
    int32 [2, 1, 3] [[[1, 2, 3]], [[4, 5, 6]]]
tnp.expand_dims(M, -1).shape
    TensorShape([2, 3, 1])
tnp.squeeze([[[1], [2]]])
    int64 [2] [1, 2]
tnp.squeeze([[[1], [2]]], 0)
    int64 [2, 1] [[1], [2]]
tnp.squeeze([[[1], [2]]], axis=(0, 2))
    int64 [2] [1, 2]
tnp.squeeze([[1, 2]], 1)
    InvalidArgumentError: Can not squeeze dim[1], expected a dimension of 1, got 2
tnp.transpose(X).shape
    TensorShape([4, 3, 2])
tnp.transpose(X, [1, 0, 2]).shape
    TensorShape([3, 2, 4])
tnp.transpose(M, axes=[-1, 0])
    int32 [3, 2] [[1, 4], [2, 5], [3, 6]]
tnp.swapaxes(X, 0, 2).shape
    TensorShape([4, 3, 2])
tnp.swapaxes(X, -1, 1).shape
    TensorShape([2, 4, 3])
tnp.moveaxis(X, 0, -1).shape
    TensorShape([3, 4, 2])
tnp.moveaxis(X, [0, 1], [-1, 0]).shape
    TensorShape([3, 4, 2])
tnp.moveaxis(X, 2, 0)
    int32 [4, 2, 3] [[[0, 4, 8], [12, 16, 20]], [[1, 5, 9], [13, 17, 21]], [[2, 6, 10], [14, 18, 22]], [[3, 7, 11],
    [15, 19, 23]]]
tnp.flip(M)
    int32 [2, 3] [[6, 5, 4], [3, 2, 1]]
tnp.flip(M, 0)
    int32 [2, 3] [[4, 5, 6], [1, 2, 3]]
tnp.flip(M, axis=-1)
    int32 [2, 3] [[3, 2, 1], [6, 5, 4]]
tnp.flip(M, (0, 1))
    TypeError: '<' not supported between instances of 'tuple' and 'int'
tnp.flipud(M)
    int32 [2, 3] [[4, 5, 6], [1, 2, 3]]
tnp.fliplr(M)
    int32 [2, 3] [[3, 2, 1], [6, 5, 4]]
tnp.rot90(M)
    int32 [3, 2] [[3, 6], [2, 5], [1, 4]]
tnp.rot90(M, 2)
    int32 [2, 3] [[6, 5, 4], [3, 2, 1]]
tnp.rot90(M, k=-1)
    int32 [3, 2] [[4, 1], [5, 2], [6, 3]]
tnp.rot90(M, 4)
    int32 [2, 3] [[1, 2, 3], [4, 5, 6]]
tnp.rot90(X, axes=(1, 2))
    int32 [2, 4, 3] [[[3, 7, 11], [2, 6, 10], [1, 5, 9], [0, 4, 8]], [[15, 19, 23], [14, 18, 22], [13, 17, 21], [12,
    16, 20]]]
tnp.rot90(X, 3, (0, 2)).shape
    TensorShape([4, 3, 2])
tnp.rot90(M, axes=(0, 1, 1))
    ValueError: too many values to unpack (expected 2)
tnp.roll([1, 2, 3], 1)
    int64 [3] [3, 1, 2]
tnp.roll(M, -1)
    int32 [2, 3] [[2, 3, 4], [5, 6, 1]]
tnp.roll(M, 1, axis=1)
    int32 [2, 3] [[3, 1, 2], [6, 4, 5]]
tnp.roll(M, 1, axis=0)
    int32 [2, 3] [[4, 5, 6], [1, 2, 3]]
tnp.tile([1, 2], 2)
    int64 [4] [1, 2, 1, 2]
tnp.tile(M, [2, 1])
    int32 [4, 3] [[1, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]]
tnp.tile([1, 2], [2, 2])
    int64 [2, 4] [[1, 2, 1, 2], [1, 2, 1, 2]]
tnp.tile(X, 2).shape
    TensorShape([2, 3, 8])
tnp.repeat([1, 2], 2)
    int64 [4] [1, 1, 2, 2]
tnp.repeat(M, 2)
    int32 [12] [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
tnp.repeat(M, [1, 2], axis=0)
    int32 [3, 3] [[1, 2, 3], [4, 5, 6], [4, 5, 6]]
tnp.repeat(M, 2, axis=1)
    int32 [2, 6] [[1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6]]
tnp.broadcast_to([1, 2], [2, 2])
    int64 [2, 2] [[1, 2], [1, 2]]
tnp.broadcast_arrays([1, 2], [[1], [2]])
    (int64 [2, 2] [[1, 2], [1, 2]]; int64 [2, 2] [[1, 1], [2, 2]])
tnp.broadcast_arrays([1], subok=True)
    ValueError: subok=True is not supported.
tnp.broadcast_arrays([1], other=3)
    ValueError: Received unsupported arguments dict_keys(['other'])
tnp.concatenate([[1, 2], [3]])
    int64 [3] [1, 2, 3]
tnp.concatenate([M, M], axis=1)
    int32 [2, 6] [[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]
tnp.concatenate([M, M], axis=None)
    ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.
tnp.concatenate([[1], [1.5]])
    float64 [2] [1, 1.5]
tnp.stack([[1, 2], [3, 4]])
    int64 [2, 2] [[1, 2], [3, 4]]
tnp.stack([[1, 2], [3, 4]], axis=1)
    int64 [2, 2] [[1, 3], [2, 4]]
tnp.stack([[1, 2], [3, 4]], -1)
    int64 [2, 2] [[1, 3], [2, 4]]
tnp.stack(M)
    int32 [2, 3] [[1, 2, 3], [4, 5, 6]]
tnp.hstack([[1, 2], [3]])
    int64 [3] [1, 2, 3]
tnp.hstack([M, M])
    int32 [2, 6] [[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]
tnp.vstack([[1, 2], [3, 4]])
    int64 [2, 2] [[1, 2], [3, 4]]
tnp.dstack([[1, 2], [3, 4]])
    int64 [1, 2, 2] [[[1, 3], [2, 4]]]
tnp.split(tf.range(6), 3)
    (int32 [2] [0, 1]; int32 [2] [2, 3]; int32 [2] [4, 5])
tnp.split(tf.range(6), [1, 4])
    (int32 [1] [0]; int32 [3] [1, 2, 3]; int32 [2] [4, 5])
tnp.split(M, 3, axis=1)
    (int32 [2, 1] [[1], [4]]; int32 [2, 1] [[2], [5]]; int32 [2, 1] [[3], [6]])
tnp.split(M, 2, axis=1)
    InvalidArgumentError: Number of ways to split should evenly divide the split dimension, but got split_dim 1
    (size = 3) and num_split 2
tnp.hsplit(M, 3)
    (int32 [2, 1] [[1], [4]]; int32 [2, 1] [[2], [5]]; int32 [2, 1] [[3], [6]])
tnp.hsplit(tf.range(4), 2)
    (int32 [2] [0, 1]; int32 [2] [2, 3])
tnp.vsplit(M, 2)
    (int32 [1, 3] [[1, 2, 3]]; int32 [1, 3] [[4, 5, 6]])
tnp.dsplit(X, [1])
    (int32 [2, 3, 1] [[[0], [4], [8]], [[12], [16], [20]]]; int32 [2, 3, 3] [[[1, 2, 3], [5, 6, 7], [9, 10, 11]],
    [[13, 14, 15], [17, 18, 19], [21, 22, 23]]])
tnp.append([1, 2], [3])
    int64 [3] [1, 2, 3]
tnp.append(M, [[7, 8, 9]], axis=0)
    int32 [3, 3] [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
tnp.append(M, 5)
    int64 [7] [1, 2, 3, 4, 5, 6, 5]
tnp.pad([1, 2], 1, 'constant')
    InvalidArgumentError: paddings must be a matrix with 2 columns: []
tnp.pad([1, 2], [[1, 2]], 'constant', constant_values=9)
    int64 [5] [9, 1, 2, 9, 9]
tnp.pad([1, 2, 3], [[1, 1]], 'reflect')
    int64 [5] [2, 1, 2, 3, 2]
tnp.pad([1, 2, 3], [[1, 1]], 'symmetric')
    int64 [5] [1, 1, 2, 3, 3]
tnp.pad([1, 2, 3], [[1, 1]], 'edge')
    ValueError: Unsupported padding mode: edge
tnp.take(M, 1)
    int32 [] 2
tnp.take(M, [0, 5])
    int32 [2] [1, 6]
tnp.take(M, [0, 1], axis=1)
    int32 [2, 2] [[1, 2], [4, 5]]
tnp.take(M, [-1], axis=1)
    int32 [2, 1] [[1], [4]]
tnp.take(M, [0, 9], axis=1, mode='clip')
    int32 [2, 2] [[1, 3], [4, 6]]
tnp.take(M, [0, 4, -1], axis=1, mode='wrap')
    int32 [2, 3] [[1, 2, 3], [4, 5, 6]]
tnp.take(M, [1], mode='raise')
    ValueError: The 'raise' mode to take is not supported.
tnp.take(M, [7], axis=1)
    int32 [2, 1] [[3], [6]]
tnp.take(M, [1], mode='other')
    ValueError: Invalid mode 'other' for take
tnp.take(M, [1], out=M)
    ValueError: out argument is not supported in take.
tnp.take(M, [[0], [1]], axis=0)
    int32 [2, 1, 3] [[[1, 2, 3]], [[4, 5, 6]]]
tnp.take_along_axis(M, [[2], [0]], 1)
    int32 [2, 1] [[3], [4]]
tnp.take_along_axis(M, [[1, 0, 1]], 0)
    int32 [1, 3] [[4, 2, 6]]
tnp.take_along_axis(M, [5, 0], None)
    int32 [2] [6, 1]
tnp.take_along_axis(M, [[-1], [0]], axis=-1)
    int32 [2, 1] [[3], [4]]
tnp.nonzero([1, 0, 2])
    (int64 [2] [0, 2])
tnp.nonzero([[1, 0], [0, 2]])
    (int64 [2] [0, 1]; int64 [2] [0, 1])
tnp.nonzero(5)
    (int64 [1] [0])
of_unknown_rank(tnp.nonzero, M)
    ValueError: The rank of `a` is unknown, so we can't decide how many arrays to return.
tnp.where([True, False], 1, 2)
    int64 [2] [1, 2]
tnp.where([True, False], [1.5, 2], 3)
    float64 [2] [1.5, 3]
tnp.where([0, 2, 3])
    (int64 [2] [1, 2])
tnp.select([[True, False], [True, True]], [[1, 2], [3, 4]])
    int64 [2] [1, 4]
tnp.select([[False, False]], [[1, 2]], 9)
    int64 [2] [9, 9]
tnp.compress([True, False], M, axis=0)
    int32 [1, 3] [[1, 2, 3]]
tnp.compress([False, True, True], M, axis=1)
    int32 [2, 2] [[2, 3], [5, 6]]
tnp.compress([0, 1, 0, 0, 1], M)
    int32 [2] [2, 5]
tnp.compress([[True]], M)
    ValueError: condition must be a 1-d array.
tnp.count_nonzero(M)
    int64 [] 6
tnp.count_nonzero([[0, 1], [2, 0]], axis=0)
    int64 [2] [1, 1]
tnp.ndim(M)
    2
tnp.shape(M)
    TensorShape([2, 3])
tnp.size(M)
    int64 6
tnp.size(M, 1)
    NotImplementedError: axis argument is not supported in the current `np.size` implementation
tnp.size(X, axis=(0, 1))
    NotImplementedError: axis argument is not supported in the current `np.size` implementation
tnp.isscalar(5)
    True
tnp.isscalar('a')
    True
tnp.isscalar([1])
    False
tnp.isscalar(tf.constant(5))
    True
tnp.copy(M)
    int32 [2, 3] [[1, 2, 3], [4, 5, 6]]
tnp.around([1.256, 2.5], 2)
    float64 [2] [1.26, 2.5]
tnp.round([15, 25], -1)
    int64 [2] [19, 29]
tnp.finfo(tf.float32).bits
    32
tnp.iinfo(tf.int16).max
    ValueError: Invalid integer data type 'O'.
tnp.result_type(1, 2.0)
    tf.float64
tnp.result_type(tf.int32, tf.float32)
    tf.float64
tnp.promote_types(tf.int8, tf.uint8)
    dtype('int16')
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_arrays_are_copied():
    values = np.array([1, 2, 3])
    held = tnp.array(values), tnp.asarray(values)
    values[0] = 9
    assert held[0].numpy().tolist() == [1, 2, 3]
    x = tf.constant([1])
    assert tnp.asarray(x) is x and tnp.array(x, copy=False) is x
    assert tnp.array(x) is not x
