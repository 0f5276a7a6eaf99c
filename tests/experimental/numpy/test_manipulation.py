"""Shapes, joining, splitting, order and parts of arrays in `tf.experimental.numpy`. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row

# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

tnp = tf.experimental.numpy
V = tf.constant([5, 1, 4])
M = tf.reshape(tf.range(6), [2, 3])
CUBE = tf.reshape(tf.range(12), [2, 3, 2])
FOUR = tf.reshape(tf.range(24), [2, 3, 2, 2])
nan = float("nan")


def of(function, *args, **options):
    return lambda x: function(x, *args, **options)


def shapes(*values):
    return [v.shape for v in values]


ROWS = read_rows(r"""
[tnp.shape(v) for v in (3, [1, 2], M, [[]])]
    (TensorShape([]); TensorShape([2]); TensorShape([2, 3]); TensorShape([1, 0]))
[tnp.ndim(v) for v in (3, [1, 2], M, [[]])]
    (0; 1; 2; 2)
[tnp.isscalar(v) for v in (3, 3.5, True, [1], M, tf.constant(2), 'a')]
    (True; True; True; False; False; True; True)
[tnp.size(v) for v in (3, 3.5, [1, 2], M, [[]])]
    (1; 1; int64 2; int64 6; int64 0)
tnp.size(M, axis=0)
    NotImplementedError: axis argument is not supported in the current `np.size` implementation
static(of(tnp.size), [2,3])
    '()'
sized(of(tnp.size), M)
    int32 [] 6
unranked(of(tnp.size), M)
    int32 [] 6
unranked(of(tnp.ndim), M)
    int32 [] -1
sized(of(tnp.ndim), M)
    int32 [] 2
tnp.reshape(M, (3, 2))
    int32 [3, 2] [[0, 1], [2, 3], [4, 5]]
tnp.reshape(M, -1)
    int32 [6] [0, 1, 2, 3, 4, 5]
tnp.reshape(M, 6)
    int32 [6] [0, 1, 2, 3, 4, 5]
tnp.reshape(M, [3, -1])
    int32 [3, 2] [[0, 1], [2, 3], [4, 5]]
tnp.reshape(M, (3, 2), 'F')
    int32 [3, 2] [[0, 4], [3, 2], [1, 5]]
tnp.reshape(M, (3, 2), order='C')
    int32 [3, 2] [[0, 1], [2, 3], [4, 5]]
tnp.reshape(M, (3, 2), order='A')
    ValueError: Unsupported order argument A
tnp.reshape(M, (4, 2))
    InvalidArgumentError: Input to reshape is a tensor with 6 values, but the requested shape has 8
tnp.reshape([1, 2, 3, 4], (2, 2), order='F')
    int64 [2, 2] [[1, 3], [2, 4]]
tnp.ravel(M)
    int32 [6] [0, 1, 2, 3, 4, 5]
tnp.ravel(3)
    int64 [1] [3]
tnp.flatten(M)
    int32 [6] [0, 1, 2, 3, 4, 5]
[tnp.flatten(M, o) for o in 'CAKF']
    (int32 [6] [0, 1, 2, 3, 4, 5]; int32 [6] [0, 1, 2, 3, 4, 5]; int32 [6] [0, 1, 2, 3, 4, 5]; int32 [6] [0, 3, 1, 4, 2,
    5])
tnp.flatten(M, 'X')
    ValueError: order can only be C, A, K (all row major) or F (column major).
tnp.flatten(CUBE, order='F')
    int32 [12] [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]
tnp.expand_dims(V, 0)
    int32 [1, 3] [[5, 1, 4]]
tnp.expand_dims(V, -1)
    int32 [3, 1] [[5], [1], [4]]
tnp.expand_dims(V, 2)
    InvalidArgumentError: Tried to expand dim index 2 for tensor with 1 dimensions.
tnp.squeeze([[[1, 2]]])
    int64 [2] [1, 2]
tnp.squeeze([[[1], [2]]], 0)
    int64 [2, 1] [[1], [2]]
tnp.squeeze([[[1], [2]]], axis=(0, 2))
    int64 [2] [1, 2]
tnp.squeeze([[[1], [2]]], -1)
    int64 [1, 2] [[1, 2]]
tnp.squeeze([[[1], [2]]], 1)
    InvalidArgumentError: Can not squeeze dim[1], expected a dimension of 1, got 2
tnp.transpose(M)
    int32 [3, 2] [[0, 3], [1, 4], [2, 5]]
tnp.transpose(CUBE, (1, 0, 2)).shape
    TensorShape([3, 2, 2])
tnp.transpose(CUBE, axes=[2, 0, 1])
    int32 [2, 2, 3] [[[0, 2, 4], [6, 8, 10]], [[1, 3, 5], [7, 9, 11]]]
tnp.transpose(M, (0,))
    InvalidArgumentError: transpose expects a vector of size 2. But input(1) is a vector of size 1
tnp.swapaxes(CUBE, 0, 2)
    int32 [2, 3, 2] [[[0, 6], [2, 8], [4, 10]], [[1, 7], [3, 9], [5, 11]]]
tnp.swapaxes(CUBE, -1, 1)
    int32 [2, 2, 3] [[[0, 2, 4], [1, 3, 5]], [[6, 8, 10], [7, 9, 11]]]
tnp.swapaxes(M, 0, 2)
    IndexError
tnp.moveaxis(CUBE, 0, -1)
    int32 [3, 2, 2] [[[0, 6], [1, 7]], [[2, 8], [3, 9]], [[4, 10], [5, 11]]]
tnp.moveaxis(CUBE, 2, 0)
    int32 [2, 2, 3] [[[0, 2, 4], [6, 8, 10]], [[1, 3, 5], [7, 9, 11]]]
tnp.moveaxis(CUBE, -1, 1).shape
    TensorShape([2, 2, 3])
tnp.moveaxis(FOUR, (0, 1), (-1, -2)).shape
    TensorShape([2, 2, 3, 2])
tnp.moveaxis(FOUR, [0, 2], [1, 3]).shape
    TensorShape([3, 2, 2, 2])
tnp.moveaxis(FOUR, (3, 0), (0, 1))
    int32 [2, 2, 3, 2] [[[[0, 2], [4, 6], [8, 10]], [[12, 14], [16, 18], [20, 22]]], [[[1, 3], [5, 7], [9, 11]], [[13,
    15], [17, 19], [21, 23]]]]
tnp.moveaxis(FOUR, (0, 1), (0, 1)).shape
    TensorShape([2, 3, 2, 2])
tnp.moveaxis(FOUR, (0, 1), (1,)).shape
    ValueError: The lengths of source and destination must equal
tnp.moveaxis(FOUR, (0, 0), (1, 2)).shape
    InvalidArgumentError: transpose expects a vector of size 4. But input(1) is a vector of size 5
unranked(of(tnp.moveaxis, (3, 0), (0, 1)), FOUR)
    int32 [2, 2, 3, 2] [[[[0, 2], [4, 6], [8, 10]], [[12, 14], [16, 18], [20, 22]]], [[[1, 3], [5, 7], [9, 11]], [[13,
    15], [17, 19], [21, 23]]]]
unranked(of(tnp.moveaxis, -1, 0), CUBE)
    int32 [2, 2, 3] [[[0, 2, 4], [6, 8, 10]], [[1, 3, 5], [7, 9, 11]]]
unranked(of(tnp.moveaxis, (0, -2), (-1, 1)), FOUR)
    int32 [3, 2, 2, 2] [[[[0, 12], [1, 13]], [[2, 14], [3, 15]]], [[[4, 16], [5, 17]], [[6, 18], [7, 19]]], [[[8, 20],
    [9, 21]], [[10, 22], [11, 23]]]]
shapes(*(tnp.atleast_1d(v) for v in (3, V, M, CUBE)))
    (TensorShape([1]); TensorShape([3]); TensorShape([2, 3]); TensorShape([2, 3, 2]))
shapes(*(tnp.atleast_2d(v) for v in (3, V, M, CUBE)))
    (TensorShape([1, 1]); TensorShape([1, 3]); TensorShape([2, 3]); TensorShape([2, 3, 2]))
shapes(*(tnp.atleast_3d(v) for v in (3, V, M, CUBE, FOUR)))
    (TensorShape([1, 1, 1]); TensorShape([1, 3, 1]); TensorShape([2, 3, 1]); TensorShape([2, 3, 2]); TensorShape([2, 3,
    2, 2]))
tnp.atleast_1d(3, V)
    (int64 [1] [3]; int32 [3] [5, 1, 4])
tnp.atleast_2d(3, V)
    (int64 [1, 1] [[3]]; int32 [1, 3] [[5, 1, 4]])
tnp.atleast_3d(V)
    int32 [1, 3, 1] [[[5], [1], [4]]]
tnp.atleast_3d(M)
    int32 [2, 3, 1] [[[0], [1], [2]], [[3], [4], [5]]]
[unranked(of(tnp.atleast_1d), v) for v in (3, V, M)]
    (int32 [1] [3]; int32 [3] [5, 1, 4]; int32 [2, 3] [[0, 1, 2], [3, 4, 5]])
[unranked(of(tnp.atleast_2d), v) for v in (3, V, M)]
    (int32 [1, 1] [[3]]; int32 [1, 3] [[5, 1, 4]]; int32 [2, 3] [[0, 1, 2], [3, 4, 5]])
[unranked(of(tnp.atleast_3d), v) for v in (3, V, M, CUBE)]
    (int32 [1, 1, 1] [[[3]]]; int32 [1, 3, 1] [[[5], [1], [4]]]; int32 [2, 3, 1] [[[0], [1], [2]], [[3], [4], [5]]];
    int32 [2, 3, 2] [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]])
tnp.broadcast_to(V, (2, 3))
    int32 [2, 3] [[5, 1, 4], [5, 1, 4]]
tnp.broadcast_to(3, 2)
    int64 [2] [3, 3]
tnp.broadcast_to(3, [2])
    int64 [2] [3, 3]
tnp.broadcast_to(V, tf.constant([2, 3]))
    int32 [2, 3] [[5, 1, 4], [5, 1, 4]]
tnp.broadcast_to(V, (2, 2))
    InvalidArgumentError: Incompatible shapes: [3] vs. [2,2]
tnp.broadcast_arrays(V, [[1], [2]])
    (int32 [2, 3] [[5, 1, 4], [5, 1, 4]]; int64 [2, 3] [[1, 1, 1], [2, 2, 2]])
tnp.broadcast_arrays(V)
    (int32 [3] [5, 1, 4])
tnp.broadcast_arrays(V, 1, [[2]])
    (int32 [1, 3] [[5, 1, 4]]; int64 [1, 3] [[1, 1, 1]]; int64 [1, 3] [[2, 2, 2]])
tnp.broadcast_arrays(V, V, subok=False)
    (int32 [3] [5, 1, 4]; int32 [3] [5, 1, 4])
tnp.broadcast_arrays(V, V, subok=True)
    ValueError: subok=True is not supported.
tnp.broadcast_arrays(V, V, other=1)
    ValueError: Received unsupported arguments dict_keys(['other'])
tnp.broadcast_arrays(V, [1, 2])
    InvalidArgumentError: Incompatible shapes: [3] vs. [2]
tnp.broadcast_arrays()
    ()
tnp.concatenate([V, V])
    int32 [6] [5, 1, 4, 5, 1, 4]
tnp.concatenate((V, [1.5]))
    float64 [4] [5, 1, 4, 1.5]
tnp.concatenate([M, M], 1)
    int32 [2, 6] [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
tnp.concatenate([M, M], axis=-1)
    int32 [2, 6] [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
tnp.concatenate(M)
    int32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tnp.concatenate([])
    ValueError: Need at least one array to concatenate. Received empty input: arys=[]
tnp.concatenate([M, V])
    InvalidArgumentError: ConcatOp : Ranks of all input tensors should match: shape[0] = [2,3] vs. shape[1] = [3]
tnp.append(M, V)
    int32 [9] [0, 1, 2, 3, 4, 5, 5, 1, 4]
tnp.append(M, [[7, 8, 9]], 0)
    int32 [3, 3] [[0, 1, 2], [3, 4, 5], [7, 8, 9]]
tnp.append(M, [[7], [8]], axis=1)
    int32 [2, 4] [[0, 1, 2, 7], [3, 4, 5, 8]]
tnp.append(M, 1.5)
    float64 [7] [0, 1, 2, 3, 4, 5, 1.5]
tnp.append(M, V, 0)
    InvalidArgumentError: ConcatOp : Ranks of all input tensors should match: shape[0] = [2,3] vs. shape[1] = [3]
tnp.stack([V, V + 1])
    int32 [2, 3] [[5, 1, 4], [6, 2, 5]]
tnp.stack((V, [1.5, 2, 3]), 1)
    float64 [3, 2] [[5, 1.5], [1, 2], [4, 3]]
tnp.stack([V, V], axis=-1)
    int32 [3, 2] [[5, 5], [1, 1], [4, 4]]
tnp.stack(M)
    int32 [2, 3] [[0, 1, 2], [3, 4, 5]]
tnp.stack(M, 1)
    int32 [3, 2] [[0, 3], [1, 4], [2, 5]]
tnp.stack(CUBE, axis=2)
    int32 [2, 3, 2] [[[0, 6], [2, 8], [4, 10]], [[1, 7], [3, 9], [5, 11]]]
tnp.stack(M, -1)
    int32 [3, 2] [[0, 3], [1, 4], [2, 5]]
tnp.hstack([V, [7]])
    int64 [4] [5, 1, 4, 7]
tnp.hstack([M, M])
    int32 [2, 6] [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
tnp.hstack([1, 2])
    int64 [2] [1, 2]
tnp.hstack(([1, 2], [1.5]))
    float64 [3] [1, 2, 1.5]
tnp.vstack([V, V])
    int32 [2, 3] [[5, 1, 4], [5, 1, 4]]
tnp.vstack([M, V])
    int32 [3, 3] [[0, 1, 2], [3, 4, 5], [5, 1, 4]]
tnp.vstack([1, 2])
    int64 [2, 1] [[1], [2]]
tnp.vstack(([1, 2], [1.5, 2]))
    float64 [2, 2] [[1, 2], [1.5, 2]]
tnp.dstack([V, V])
    int32 [1, 3, 2] [[[5, 5], [1, 1], [4, 4]]]
tnp.dstack([M, M])
    int32 [2, 3, 2] [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5]]]
tnp.dstack([1, 2])
    int64 [1, 1, 2] [[[1, 2]]]
tnp.dstack([CUBE, CUBE]).shape
    TensorShape([2, 3, 4])
unranked(lambda x: tnp.hstack([x, x]), V)
    int32 [6] [5, 1, 4, 5, 1, 4]
unranked(lambda x: tnp.hstack([x, x]), M)
    int32 [2, 6] [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
tnp.split(V, 3)
    (int32 [1] [5]; int32 [1] [1]; int32 [1] [4])
tnp.split(M, 2)
    (int32 [1, 3] [[0, 1, 2]]; int32 [1, 3] [[3, 4, 5]])
tnp.split(M, 3, axis=1)
    (int32 [2, 1] [[0], [3]]; int32 [2, 1] [[1], [4]]; int32 [2, 1] [[2], [5]])
tnp.split(M, 3, -1)
    (int32 [2, 1] [[0], [3]]; int32 [2, 1] [[1], [4]]; int32 [2, 1] [[2], [5]])
tnp.split(M, [1], 1)
    (int32 [2, 1] [[0], [3]]; int32 [2, 2] [[1, 2], [4, 5]])
tnp.split(M, [1, 2], 1)
    (int32 [2, 1] [[0], [3]]; int32 [2, 1] [[1], [4]]; int32 [2, 1] [[2], [5]])
tnp.split(tf.range(10), [3, 5, 6, 12])
    (int32 [3] [0, 1, 2]; int32 [2] [3, 4]; int32 [1] [5]; int32 [4] [6, 7, 8, 9]; int32 [0] [])
tnp.split(tf.range(5), [3, 1])
    ValueError: The 1-th boundary 1 is smaller than the previous boundary 3
tnp.split(tf.range(5), [])
    (int32 [5] [0, 1, 2, 3, 4])
tnp.split(tf.range(5), 2)
    InvalidArgumentError: Number of ways to split should evenly divide the split dimension, but got split_dim 0 (size =
    5) and num_split 2
tnp.split(M, [1], 2)
    ValueError: axis 2 is out of bound for shape (2, 3)
tnp.split(M, [1], -1)
    (int32 [2, 1] [[0], [3]]; int32 [2, 2] [[1, 2], [4, 5]])
tnp.split(M, np.array([1, 2]), 1)
    (int32 [2, 1] [[0], [3]]; int32 [2, 1] [[1], [4]]; int32 [2, 1] [[2], [5]])
tnp.split(M, (1, 1), 1)
    (int32 [2, 1] [[0], [3]]; int32 [2, 0] [[], []]; int32 [2, 2] [[1, 2], [4, 5]])
tnp.vsplit(M, 2)
    (int32 [1, 3] [[0, 1, 2]]; int32 [1, 3] [[3, 4, 5]])
tnp.vsplit(M, [1])
    (int32 [1, 3] [[0, 1, 2]]; int32 [1, 3] [[3, 4, 5]])
tnp.vsplit(M, 3)
    ValueError: array split does not result in an equal division
tnp.hsplit(M, 3)
    (int32 [2, 1] [[0], [3]]; int32 [2, 1] [[1], [4]]; int32 [2, 1] [[2], [5]])
tnp.hsplit(M, [1])
    (int32 [2, 1] [[0], [3]]; int32 [2, 2] [[1, 2], [4, 5]])
tnp.hsplit(V, 3)
    (int32 [1] [5]; int32 [1] [1]; int32 [1] [4])
tnp.hsplit(V, [1, 2])
    (int32 [1] [5]; int32 [1] [1]; int32 [1] [4])
tnp.hsplit(M, 2)
    ValueError: array split does not result in an equal division
tnp.dsplit(CUBE, 2)
    (int32 [2, 3, 1] [[[0], [2], [4]], [[6], [8], [10]]]; int32 [2, 3, 1] [[[1], [3], [5]], [[7], [9], [11]]])
tnp.dsplit(CUBE, [1])
    (int32 [2, 3, 1] [[[0], [2], [4]], [[6], [8], [10]]]; int32 [2, 3, 1] [[[1], [3], [5]], [[7], [9], [11]]])
tnp.dsplit(CUBE, 3)
    ValueError: array split does not result in an equal division
tnp.dsplit(M, 1)
    IndexError: tuple index out of range
static(of(tnp.vsplit, 2), [4,3])
    ('(2, 3)'; '(2, 3)')
static(of(tnp.hsplit, 2), [None,None])
    ('(None, None)'; '(None, None)')
tnp.tile(V, 2)
    int32 [6] [5, 1, 4, 5, 1, 4]
tnp.tile(V, (2, 1))
    int32 [2, 3] [[5, 1, 4], [5, 1, 4]]
tnp.tile(M, 2)
    int32 [2, 6] [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
tnp.tile(M, (2, 2))
    int32 [4, 6] [[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5], [0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]
tnp.tile(M, (1, 1, 2))
    int32 [1, 2, 6] [[[0, 1, 2, 0, 1, 2], [3, 4, 5, 3, 4, 5]]]
tnp.tile(CUBE, (2, 1)).shape
    TensorShape([2, 6, 2])
tnp.tile(3, 2)
    int64 [2] [3, 3]
tnp.tile(3, (2, 2))
    int64 [2, 2] [[3, 3], [3, 3]]
tnp.tile(V, [])
    int32 [3] [5, 1, 4]
tnp.tile(V, tf.constant([2, 2], tf.int64))
    int32 [2, 6] [[5, 1, 4, 5, 1, 4], [5, 1, 4, 5, 1, 4]]
tnp.repeat(V, 2)
    int32 [6] [5, 5, 1, 1, 4, 4]
tnp.repeat(V, [1, 0, 2])
    int32 [3] [5, 4, 4]
tnp.repeat(M, 2)
    int32 [12] [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
tnp.repeat(M, 2, 0)
    int32 [4, 3] [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]]
tnp.repeat(M, [1, 2, 0], axis=1)
    int32 [2, 3] [[0, 1, 1], [3, 4, 4]]
tnp.repeat(3, 2)
    int64 [2] [3, 3]
tnp.repeat(M, [1, 2], axis=-2)
    int32 [3, 3] [[0, 1, 2], [3, 4, 5], [3, 4, 5]]
tnp.pad(M, [[1, 1], [0, 2]], 'constant')
    int32 [4, 5] [[0, 0, 0, 0, 0], [0, 1, 2, 0, 0], [3, 4, 5, 0, 0], [0, 0, 0, 0, 0]]
tnp.pad(M, [[1, 0], [0, 2]], 'constant', constant_values=9)
    int32 [3, 5] [[9, 9, 9, 9, 9], [0, 1, 2, 9, 9], [3, 4, 5, 9, 9]]
tnp.pad(M, [[1, 0], [0, 2]], 'reflect')
    int32 [3, 5] [[3, 4, 5, 4, 3], [0, 1, 2, 1, 0], [3, 4, 5, 4, 3]]
tnp.pad(M, [[1, 0], [0, 2]], 'symmetric')
    int32 [3, 5] [[0, 1, 2, 2, 1], [0, 1, 2, 2, 1], [3, 4, 5, 5, 4]]
tnp.pad(M, [[1, 0], [0, 2]], 'edge')
    ValueError: Unsupported padding mode: edge
tnp.pad(M, [[1, 0], [0, 2]], mode='wrap')
    ValueError: Unsupported padding mode: wrap
tnp.pad(V, [[1, 2]], 'constant')
    int32 [6] [0, 5, 1, 4, 0, 0]
tnp.pad(M, tf.constant([[1, 0], [0, 2]], tf.int64), 'constant')
    int32 [3, 5] [[0, 0, 0, 0, 0], [0, 1, 2, 0, 0], [3, 4, 5, 0, 0]]
tnp.flip(M)
    int32 [2, 3] [[5, 4, 3], [2, 1, 0]]
tnp.flip(M, 0)
    int32 [2, 3] [[3, 4, 5], [0, 1, 2]]
tnp.flip(M, 1)
    int32 [2, 3] [[2, 1, 0], [5, 4, 3]]
tnp.flip(M, axis=-1)
    int32 [2, 3] [[2, 1, 0], [5, 4, 3]]
tnp.flip(CUBE, -2)
    int32 [2, 3, 2] [[[4, 5], [2, 3], [0, 1]], [[10, 11], [8, 9], [6, 7]]]
tnp.flip(3)
    int64 [] 3
tnp.flip(M, 2)
    InvalidArgumentError: 'axis'[0] = 2 is out of valid range [0, 1
tnp.flipud(M)
    int32 [2, 3] [[3, 4, 5], [0, 1, 2]]
tnp.fliplr(M)
    int32 [2, 3] [[2, 1, 0], [5, 4, 3]]
tnp.fliplr(V)
    InvalidArgumentError: 'axis'[0] = 1 is out of valid range [0, 0
unranked(of(tnp.flip, 0), M)
    int32 [2, 3] [[3, 4, 5], [0, 1, 2]]
unranked(of(tnp.flip), M)
    int32 [2, 3] [[5, 4, 3], [2, 1, 0]]
tnp.roll(V, 1)
    int32 [3] [4, 5, 1]
tnp.roll(V, -1)
    int32 [3] [1, 4, 5]
tnp.roll(M, 1)
    int32 [2, 3] [[5, 0, 1], [2, 3, 4]]
tnp.roll(M, 2, 1)
    int32 [2, 3] [[1, 2, 0], [4, 5, 3]]
tnp.roll(M, 1, axis=0)
    int32 [2, 3] [[3, 4, 5], [0, 1, 2]]
tnp.roll(M, (1, 2), (0, 1))
    int32 [2, 3] [[4, 5, 3], [1, 2, 0]]
tnp.roll(M, None)
    ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.
tnp.roll(M, 1, -1)
    int32 [2, 3] [[2, 0, 1], [5, 3, 4]]
[tnp.rot90(M, k) for k in (-1, 0, 1, 2, 3, 4, 5)]
    (int32 [3, 2] [[3, 0], [4, 1], [5, 2]]; int32 [2, 3] [[0, 1, 2], [3, 4, 5]]; int32 [3, 2] [[2, 5], [1, 4], [0, 3]];
    int32 [2, 3] [[5, 4, 3], [2, 1, 0]]; int32 [3, 2] [[3, 0], [4, 1], [5, 2]]; int32 [2, 3] [[0, 1, 2], [3, 4, 5]];
    int32 [3, 2] [[2, 5], [1, 4], [0, 3]])
tnp.rot90(M)
    int32 [3, 2] [[2, 5], [1, 4], [0, 3]]
tnp.rot90(CUBE, 1, (1, 2))
    int32 [2, 2, 3] [[[1, 3, 5], [0, 2, 4]], [[7, 9, 11], [6, 8, 10]]]
tnp.rot90(CUBE, 3, (0, -1))
    int32 [2, 3, 2] [[[6, 0], [8, 2], [10, 4]], [[7, 1], [9, 3], [11, 5]]]
tnp.rot90(CUBE, 2, (2, 0))
    int32 [2, 3, 2] [[[7, 6], [9, 8], [11, 10]], [[1, 0], [3, 2], [5, 4]]]
tnp.rot90(CUBE, axes=(-1, 0))
    int32 [2, 3, 2] [[[6, 0], [8, 2], [10, 4]], [[7, 1], [9, 3], [11, 5]]]
tnp.rot90(V)
    InvalidArgumentError
tnp.take(V, [2, 0])
    int32 [2] [4, 5]
tnp.take(M, [5, 0])
    int32 [2] [5, 0]
tnp.take(M, [1, 0], 0)
    int32 [2, 3] [[3, 4, 5], [0, 1, 2]]
tnp.take(M, [2, 0], axis=1)
    int32 [2, 2] [[2, 0], [5, 3]]
tnp.take(M, [2, 0], axis=-1)
    int32 [2, 2] [[2, 0], [5, 3]]
tnp.take(V, 1)
    int32 [] 1
tnp.take(V, [7, -7])
    int32 [2] [4, 5]
tnp.take(V, [7, -7, -1, 4], mode='wrap')
    int32 [4] [1, 4, 4, 1]
tnp.take(V, [7, -7, 3, 2], mode='clip')
    int32 [4] [4, 5, 4, 4]
tnp.take(V, [1], mode='raise')
    ValueError: The 'raise' mode to take is not supported.
tnp.take(V, [1], mode='other')
    ValueError: Invalid mode 'other' for take
tnp.take(V, [1], out=V)
    ValueError: out argument is not supported in take.
tnp.take(M, [[1, 2], [0, 1]], 1)
    int32 [2, 2, 2] [[[1, 2], [0, 1]], [[4, 5], [3, 4]]]
tnp.take(V, tf.constant([1], tf.int64))
    int32 [1] [1]
tnp.take_along_axis(M, tf.constant([[2, 0], [1, 1]]), 1)
    int32 [2, 2] [[2, 0], [4, 4]]
tnp.take_along_axis(M, tf.constant([[2, 0], [1, 1]]), -1)
    int32 [2, 2] [[2, 0], [4, 4]]
tnp.take_along_axis(M, tf.constant([[1, 0, 1]]), 0)
    int32 [1, 3] [[3, 1, 5]]
tnp.take_along_axis(M, tf.constant([[-1], [-2]]), 1)
    int32 [2, 1] [[2], [4]]
tnp.take_along_axis(M, tf.constant([[0, 2]]), 1)
    int32 [2, 2] [[0, 2], [3, 5]]
tnp.take_along_axis(M[:1], tf.constant([[0, 2], [1, 0]]), 1)
    int32 [2, 2] [[0, 2], [1, 0]]
tnp.take_along_axis(CUBE, tf.constant([[[2, 0]], [[1, 1]]]), 1)
    int32 [2, 1, 2] [[[4, 1]], [[8, 9]]]
tnp.take_along_axis(CUBE, tf.constant([[[1], [0], [1]]]), -1)
    int32 [2, 3, 1] [[[1], [2], [5]], [[7], [8], [11]]]
tnp.take_along_axis(CUBE, tf.constant([[[1], [0], [1]]]), 0)
    int32 [1, 3, 2] [[[6, 7], [2, 3], [10, 11]]]
tnp.take_along_axis(M, tf.constant([[3], [0]]), 1)
    InvalidArgumentError: indices[0,0] = 3 is not in [0, 3)
tnp.take_along_axis(M, tf.constant([[2, 0], [1, 1]], tf.int64), 1)
    int32 [2, 2] [[2, 0], [4, 4]]
sized(lambda a, i: tnp.take_along_axis(a, i, 1), M, [[2, 0], [1, 1]])
    int32 [2, 2] [[2, 0], [4, 4]]
sized(lambda a, i: tnp.take_along_axis(a, i, -1), M, [[2, 0], [1, 1]])
    int32 [2, 2] [[2, 0], [4, 4]]
unranked(lambda a, i: tnp.take_along_axis(a, i, 1), M, [[2, 0], [1, 1]])
    int32 [2, 2] [[2, 0], [4, 4]]
unranked(lambda a, i: tnp.take_along_axis(a, i, 0), M, [[1, 0, 1]])
    int32 [1, 3] [[3, 1, 5]]
tnp.nonzero([0, 3, 4])
    (int64 [2] [1, 2])
tnp.nonzero(M)
    (int64 [5] [0, 0, 1, 1, 1]; int64 [5] [1, 2, 0, 1, 2])
tnp.nonzero(0)
    (int64 [0] [])
tnp.nonzero(5)
    (int64 [1] [0])
tnp.nonzero([[nan, 0.0]])
    (int64 [1] [0]; int64 [1] [0])
unranked(lambda x: tnp.nonzero(x)[0], M)
    ValueError: The rank of `a` is unknown, so we can't decide how many arrays to return.
tnp.where([True, False], [1, 2], [3, 4])
    int64 [2] [1, 4]
tnp.where([True, False], [1, 2], 3.5)
    float64 [2] [1, 3.5]
tnp.where(M > 2, M, -1)
    int32 [2, 3] [[-1, -1, -1], [3, 4, 5]]
tnp.where(M > 2)
    (int64 [3] [1, 1, 1]; int64 [3] [0, 1, 2])
tnp.where([1, 0], 5, 6)
    int64 [2] [5, 6]
tnp.where([True, False], 1)
    ValueError: Both x and y must be ndarrays, or both must be None.
tnp.where([True, False], y=1)
    ValueError: Both x and y must be ndarrays, or both must be None.
tnp.select([M > 3, M > 1], [M, -M])
    int32 [2, 3] [[0, 0, -2], [-3, 4, 5]]
tnp.select([M > 3, M > 1], [M, -M], 99)
    int32 [2, 3] [[99, 99, -2], [-3, 4, 5]]
tnp.select([M > 3, M > 1], [M, 0.5], default=7)
    float64 [2, 3] [[7, 7, 0.5], [0.5, 4, 5]]
tnp.select([M > 1, M > 3], [1, 2])
    int64 [2, 3] [[0, 0, 1], [1, 1, 1]]
tnp.select([M > 3], [M, M])
    ValueError: condlist must have length equal to choicelist (1 vs 2)
tnp.select([], [])
    ValueError: condlist must be non-empty
tnp.select([[True, False]], [[1, 2]], 9)
    int64 [2] [1, 9]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
