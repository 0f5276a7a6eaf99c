"""Joining, splitting, tiling, gathering and squeezing ragged tensors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RT, C = tf.RaggedTensor, tf.ragged.constant
A, B = C([[1, 2], [], [3]]), C([[10], [20, 30], []])
A32 = C([[1, 2], [], [3]], row_splits_dtype=tf.int32)
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
U = RT.from_row_splits(tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 3])
UNIFORM = RT.from_uniform_row_length(C([[1], [2, 3], [], [4]]), 2)
CUBE = tf.reshape(tf.range(24), [2, 3, 4])
M = tf.constant([[7, 8], [9, 10], [11, 12]])


def traced(function, *values):
    """Calls a function in a graph, with row splits and dimensions that are not static."""
    specs = [
        tf.RaggedTensorSpec([None] * len(v.shape), v.dtype, v.ragged_rank, v.row_splits.dtype)
        if isinstance(v, RT)
        else tf.TensorSpec([None] * len(v.shape), v.dtype)
        for v in (v if isinstance(v, RT) else tf.convert_to_tensor(v) for v in values)
    ]
    return tf.function(function, input_signature=specs, autograph=False)(*values)


def with_static(value):
    return value, value.shape


ROWS = read_rows("""
tf.concat([A, B], 0)
    int32 (6, None) [[1, 2], [], [3], [10], [20, 30], []]
tf.concat([A, B], 1)
    int32 (3, None) [[1, 2, 10], [20, 30], [3]]
tf.concat([A, B], -1)
    int32 (3, None) [[1, 2, 10], [20, 30], [3]]
tf.concat([A, B, A], -2)
    int32 (9, None) [[1, 2], [], [3], [10], [20, 30], [], [1, 2], [], [3]]
tf.concat([A, B], 2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
tf.concat([A, B], -3)
    ValueError: axis=-3 out of bounds: expected -2<=axis<2
tf.concat([A, B[:2]], 1)
    InvalidArgumentError: Input tensors have incompatible shapes: [3, 2] rows
tf.concat([A, M], 0)
    int32 (6, None) [[1, 2], [], [3], [7, 8], [9, 10], [11, 12]]
tf.concat([A, M], 1)
    int32 (3, None) [[1, 2, 7, 8], [9, 10], [3, 11, 12]]
tf.concat([M, A], 1)
    int32 (3, None) [[7, 8, 1, 2], [9, 10], [11, 12, 3]]
tf.concat([A], 0)
    int32 (3, None) [[1, 2], [], [3]]
tf.concat([A, [[5, 6]]], 0)
    int32 (4, None) [[1, 2], [], [3], [5, 6]]
tf.concat([A, [5, 6]], 0)
    ValueError: Shapes [TensorShape([3, None]), TensorShape([2])] must all have the same rank.
tf.concat([A, A32], 0).row_splits.dtype
    tf.int64
tf.concat([A32, A32], 1).row_splits.dtype
    tf.int32
tf.concat([N, N], 2)
    int32 (3, None, None) [[[1, 2, 1, 2], [3, 3]], [], [[4, 5, 6, 4, 5, 6], []]]
tf.concat([N, N], 1)
    int32 (3, None, None) [[[1, 2], [3], [1, 2], [3]], [], [[4, 5, 6], [], [4, 5, 6], []]]
tf.concat([N, N], 0)
    int32 (6, None, None) [[[1, 2], [3]], [], [[4, 5, 6], []], [[1, 2], [3]], [], [[4, 5, 6], []]]
tf.concat([N, N[::-1]], 2)
    int32 (3, None, None) [[[1, 2, 4, 5, 6], [3]], [], [[4, 5, 6, 1, 2], [3]]]
tf.concat([U, U], 2)
    int32 (2, None, 4, 2) [[[[0, 1], [2, 3], [0, 1], [2, 3]], [[4, 5], [6, 7], [4, 5], [6, 7]]], [[[8, 9], [10, 11],
    [8, 9], [10, 11]]]]
tf.concat([U, U * 10], 3)
    int32 (2, None, 2, 4) [[[[0, 1, 0, 10], [2, 3, 20, 30]], [[4, 5, 40, 50], [6, 7, 60, 70]]], [[[8, 9, 80, 90],
    [10, 11, 100, 110]]]]
tf.concat([U, CUBE[:2, :2, :2][:, :, None]], 0)
    InvalidArgumentError: ConcatOp : Dimension 1 in both shapes must be equal: shape[0] = [3,2,2] vs. shape[1] =
    [4,1,2]
tf.concat([A, tf.constant([[1.5]])], 0)
    InvalidArgumentError: cannot compute ConcatV2 as input #1(zero-based) was expected to be a int32 tensor but is a
    float tensor
tf.concat([C([['a'], []]), [['b'], ['c']]], 1)
    string (2, None) [[b'a', b'b'], [b'c']]
traced(lambda a, b: tf.concat([a, b], 0), A, B)
    int32 (6, None) [[1, 2], [], [3], [10], [20, 30], []]
traced(lambda a, b: tf.concat([a, b], 1), A, B)
    int32 (3, None) [[1, 2, 10], [20, 30], [3]]
traced(lambda a, b: tf.concat([a, b], 1), A, M)
    int32 (3, None) [[1, 2, 7, 8], [9, 10], [3, 11, 12]]
traced(lambda a, b: tf.concat([a, b], 1), A, B[:2])
    InvalidArgumentError: Input tensors have incompatible shapes: [3, 2] rows
traced(lambda a, b: tf.concat([a, b], 2), N, N)
    int32 (3, None, None) [[[1, 2, 1, 2], [3, 3]], [], [[4, 5, 6, 4, 5, 6], []]]
tf.stack([A, B], 0)
    int32 (2, None, None) [[[1, 2], [], [3]], [[10], [20, 30], []]]
tf.stack([A, B], 1)
    int32 (3, None, None) [[[1, 2], [10]], [[], [20, 30]], [[3], []]]
tf.stack([A, B], 2)
    InvalidArgumentError: Inputs must have identical ragged splits outside of the dimension they are joined along
tf.stack([A, B], -1)
    InvalidArgumentError: Inputs must have identical ragged splits outside of the dimension they are joined along
tf.stack([A, B], 3)
    ValueError: axis=3 out of bounds: expected -3<=axis<3
tf.stack([A, B], -4)
    ValueError: axis=-4 out of bounds: expected -3<=axis<3
tf.stack([A], 0)
    int32 (1, None, None) [[[1, 2], [], [3]]]
tf.stack([A, M], 0)
    int32 (2, None, None) [[[1, 2], [], [3]], [[7, 8], [9, 10], [11, 12]]]
tf.stack([A32, A32]).row_splits.dtype
    tf.int32
tf.stack([A, N])
    ValueError: Shapes [TensorShape([3, None]), TensorShape([3, None, None])] must all have the same rank.
tf.ragged.stack([[1, 2], [3]])
    int32 (2, None) int32 [[1, 2], [3]]
tf.ragged.stack([[1, 2], [3]]).row_splits.dtype
    tf.int32
tf.ragged.stack([[1, 2]])
    int32 (1, None) int32 [[1, 2]]
tf.ragged.stack([1, 2])
    int32 [2] [1, 2]
tf.ragged.stack([1, 2], 1)
    ValueError: axis=1 out of bounds: expected -1<=axis<1
tf.ragged.stack([[[1, 2], [3, 4]], [[5, 6]]])
    int32 (2, None, None) [[[1, 2], [3, 4]], [[5, 6]]]
tf.ragged.stack([[1, 2], [3, 4]], 1)
    int32 [2, 2] [[1, 3], [2, 4]]
tf.ragged.stack([[[1, 2]], [[3]]], 1)
    InvalidArgumentError: ConcatOp : Dimension 2 in both shapes must be equal: shape[0] = [1,1,2] vs. shape[1] =
    [1,1,1]
tf.ragged.stack([])
    ValueError: rt_inputs may not be empty.
tf.stack([N, N], 1)
    int32 (3, None, None, None) [[[[1, 2], [3]], [[1, 2], [3]]], [[], []], [[[4, 5, 6], []], [[4, 5, 6], []]]]
tf.stack([N, N], 2)
    int32 (3, None, None, None) [[[[1, 2], [1, 2]], [[3], [3]]], [], [[[4, 5, 6], [4, 5, 6]], [[], []]]]
traced(lambda a, b: tf.stack([a, b], 0), A, B)
    int32 (2, None, None) [[[1, 2], [], [3]], [[10], [20, 30], []]]
traced(lambda a, b: tf.stack([a, b], 1), A, B)
    int32 (3, None, None) [[[1, 2], [10]], [[], [20, 30]], [[3], []]]
tf.split(A, 3)
    (int32 (1, None) [[1, 2]]; int32 (1, None) [[]]; int32 (1, None) [[3]])
tf.split(A, 2)
    InvalidArgumentError: Cannot split 3 slices into parts of [1, 1]
tf.split(A, [1, 2])
    (int32 (1, None) [[1, 2]]; int32 (2, None) [[], [3]])
tf.split(A, [1, 1])
    InvalidArgumentError: Cannot split 3 slices into parts of [1, 1]
tf.split(A, [4, -1])
    InvalidArgumentError: Cannot split 3 slices into parts of [4, -1]
tf.split(A, 1, axis=1)
    ValueError: Cannot split a ragged dimension. Got `value` with shape (3, None) and `axis` 1.
tf.split(UNIFORM, 2, axis=1)
    (int32 (2, 1, None) [[[1]], [[]]]; int32 (2, 1, None) [[[2, 3]], [[4]]])
tf.split(UNIFORM, [0, 2], axis=1)
    (int32 (2, 0, None) [[], []]; int32 (2, 2, None) [[[1], [2, 3]], [[], [4]]])
tf.split(UNIFORM, [1, 2], axis=1)
    InvalidArgumentError: Cannot split 2 slices into parts of [1, 2]
tf.split(U, 2, axis=2)
    (int32 (2, None, 1, 2) [[[[0, 1]], [[4, 5]]], [[[8, 9]]]]; int32 (2, None, 1, 2) [[[[2, 3]], [[6, 7]]], [[[10,
    11]]]])
tf.split(U, 2, axis=-1)
    (int32 (2, None, 2, 1) [[[[0], [2]], [[4], [6]]], [[[8], [10]]]]; int32 (2, None, 2, 1) [[[[1], [3]], [[5],
    [7]]], [[[9], [11]]]])
tf.split(U, [1, 1], axis=3)
    (int32 (2, None, 2, 1) [[[[0], [2]], [[4], [6]]], [[[8], [10]]]]; int32 (2, None, 2, 1) [[[[1], [3]], [[5],
    [7]]], [[[9], [11]]]])
tf.split(U, 2, axis=4)
    ValueError: axis=4 out of bounds: expected -4<=axis<4
tf.split(RT.from_row_lengths(UNIFORM, [1, 1]), 2, axis=2)
    (int32 (2, None, 1, None) [[[[1]]], [[[]]]]; int32 (2, None, 1, None) [[[[2, 3]]], [[[4]]]])
traced(lambda a: tf.split(a, 3), A)
    (int32 (1, None) [[1, 2]]; int32 (1, None) [[]]; int32 (1, None) [[3]])
traced(lambda a: tf.split(a, [2, 1]), A)
    (int32 (2, None) [[1, 2], []]; int32 (1, None) [[3]])
with_static(tf.expand_dims(A, 0))
    (int32 (1, 3, None) [[[1, 2], [], [3]]]; TensorShape([1, 3, None]))
with_static(tf.expand_dims(A, 1))
    (int32 (3, 1, None) [[[1, 2]], [[]], [[3]]]; TensorShape([3, 1, None]))
with_static(tf.expand_dims(A, 2))
    (int32 (3, None, 1) [[[1], [2]], [], [[3]]]; TensorShape([3, None, 1]))
with_static(tf.expand_dims(A, -1))
    (int32 (3, None, 1) [[[1], [2]], [], [[3]]]; TensorShape([3, None, 1]))
with_static(tf.expand_dims(A, -3))
    (int32 (1, 3, None) [[[1, 2], [], [3]]]; TensorShape([1, 3, None]))
tf.expand_dims(A, 3)
    ValueError: axis=3 out of bounds: expected -3<=axis<3
tf.expand_dims(A, -4)
    ValueError: axis=-4 out of bounds: expected -3<=axis<3
with_static(tf.expand_dims(N, 2))
    (int32 (3, None, 1, None) [[[[1, 2]], [[3]]], [], [[[4, 5, 6]], [[]]]]; TensorShape([3, None, 1, None]))
with_static(tf.expand_dims(U, 2))
    (int32 (2, None, 1, 2, 2) [[[[[0, 1], [2, 3]]], [[[4, 5], [6, 7]]]], [[[[8, 9], [10, 11]]]]]; TensorShape([2,
    None, 1, 2, 2]))
tf.tile(A, [1, 1])
    int32 (3, None) [[1, 2], [], [3]]
tf.tile(A, [2, 1])
    int32 (6, None) [[1, 2], [], [3], [1, 2], [], [3]]
tf.tile(A, [1, 2])
    int32 (3, None) [[1, 2, 1, 2], [], [3, 3]]
tf.tile(A, [2, 3])
    int32 (6, None) [[1, 2, 1, 2, 1, 2], [], [3, 3, 3], [1, 2, 1, 2, 1, 2], [], [3, 3, 3]]
tf.tile(A, [0, 1])
    int32 (0, None) []
tf.tile(A, [1, 0])
    int32 (3, None) [[], [], []]
tf.tile(N, [1, 1, 2])
    int32 (3, None, None) [[[1, 2, 1, 2], [3, 3]], [], [[4, 5, 6, 4, 5, 6], []]]
tf.tile(N, [1, 2, 1])
    int32 (3, None, None) [[[1, 2], [3], [1, 2], [3]], [], [[4, 5, 6], [], [4, 5, 6], []]]
tf.tile(N, [2, 1, 2])
    int32 (6, None, None) [[[1, 2, 1, 2], [3, 3]], [], [[4, 5, 6, 4, 5, 6], []], [[1, 2, 1, 2], [3, 3]], [], [[4, 5,
    6, 4, 5, 6], []]]
tf.tile(U, [1, 1, 2, 1])
    int32 (2, None, 4, 2) [[[[0, 1], [2, 3], [0, 1], [2, 3]], [[4, 5], [6, 7], [4, 5], [6, 7]]], [[[8, 9], [10, 11],
    [8, 9], [10, 11]]]]
tf.tile(U, [1, 2, 1, 2])
    int32 (2, None, 2, 4) [[[[0, 1, 0, 1], [2, 3, 2, 3]], [[4, 5, 4, 5], [6, 7, 6, 7]], [[0, 1, 0, 1], [2, 3, 2,
    3]], [[4, 5, 4, 5], [6, 7, 6, 7]]], [[[8, 9, 8, 9], [10, 11, 10, 11]], [[8, 9, 8, 9], [10, 11, 10, 11]]]]
tf.tile(A, [1])
    InvalidArgumentError: Expected multiples argument to be a vector of length 2 but got length 1
tf.tile(A, [[1, 2]])
    ValueError: The shape of `multiples`, (1, 2), must have rank 1
tf.tile(UNIFORM, [1, 1, 1]).shape
    TensorShape([2, None, None])
tf.tile(A, tf.constant([2, 1]))
    int32 (6, None) [[1, 2], [], [3], [1, 2], [], [3]]
traced(lambda a, m: tf.tile(a, tf.ensure_shape(m, [2])), A, [1, 2])
    int32 (3, None) [[1, 2, 1, 2], [], [3, 3]]
tf.gather(A, [2, 0, 0])
    int32 (3, None) [[3], [1, 2], [1, 2]]
tf.gather(A, 0)
    int32 [2] [1, 2]
tf.gather(A, [[2], [0]])
    int32 (2, None, None) [[[3]], [[1, 2]]]
with_static(tf.gather(A, [[2, 1], [0, 0]]))
    (int32 (2, None, None) [[[3], []], [[1, 2], [1, 2]]]; TensorShape([2, None, None]))
with_static(tf.gather(A, [[[2], [1]], [[0], [0]]]))
    (int32 (2, None, None, None) [[[[3]], [[]]], [[[1, 2]], [[1, 2]]]]; TensorShape([2, None, None, None]))
tf.gather(A, [3])
    InvalidArgumentError: indices[0] = 3 is not in [0, 3)
tf.gather(A, [-1])
    InvalidArgumentError: indices[0] = -1 is not in [0, 3)
tf.gather(A, [1.5])
    InvalidArgumentError: Value for attr 'Tindices' of float is not in the list of allowed values: int32, int64
tf.gather(A, C([[2], [0, 1]]))
    int32 (2, None, None) [[[3]], [[1, 2], []]]
tf.gather([5, 6, 7], C([[2], [0, 1], []]))
    int32 (3, None) [[7], [5, 6], []]
tf.gather(A, [0], axis=2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
tf.gather(M, C([[1], [0, 1]]), axis=1)
    int32 (3, 2, None) [[[8], [7, 8]], [[10], [9, 10]], [[12], [11, 12]]]
tf.gather(A, [0], axis=1)
    InvalidArgumentError: indices[1] = 0 is not in [0, 0)
tf.gather(C([[1, 2], [3, 4, 5]]), [1, 0], axis=1)
    int32 [2, 2] [[2, 1], [4, 3]]
tf.gather(C([[1, 2], [3, 4, 5]]), 1, axis=1)
    int32 [2] [2, 4]
tf.gather(C([[1, 2], [3, 4, 5]]), [2], axis=1)
    InvalidArgumentError: indices[0] = 2 is not in [0, 2)
tf.gather(C([[1, 2], [3, 4, 5]]), [-1], axis=1)
    InvalidArgumentError: indices[0] = -1 is not in [0, 2)
tf.gather(C([[1, 2], [3, 4, 5]]), C([[1], [0, 1], []]), axis=1)
    int32 (2, 3, None) [[[2], [1, 2], []], [[4], [3, 4], []]]
tf.gather(A, C([[1, 0], [], [0]]), batch_dims=1)
    int32 (3, None) [[2, 1], [], [3]]
tf.gather(A, C([[1, 0], [], [0]]), batch_dims=-1)
    int32 (3, None) [[2, 1], [], [3]]
tf.gather(A, C([[2, 0], [], [0]]), batch_dims=1)
    InvalidArgumentError: indices[0] = 2 is not in [0, 2)
tf.gather(A, C([[1, 0], []]), batch_dims=1)
    InvalidArgumentError: batch shape from indices does not match params shape
tf.gather(M, C([[1, 0], [], [0]]), batch_dims=1)
    int32 (3, None) [[8, 7], [], [11]]
tf.gather(C([[1, 2], [3]]), [[0, 1], [0, 0]], batch_dims=1)
    int32 [2, 2] [[1, 2], [3, 3]]
tf.gather(N, C([[[1, 0], [0]], [], [[2], []]]), batch_dims=2)
    int32 (3, None, None) [[[2, 1], [3]], [], [[6], []]]
tf.gather(N, C([[[1, 0]], [], [[2], []]]), batch_dims=2)
    InvalidArgumentError: batch shape from indices does not match params shape
tf.gather(U, [1], axis=2)
    int32 (2, None, 1, 2) [[[[2, 3]], [[6, 7]]], [[[10, 11]]]]
tf.gather(U, [1, 0], axis=3)
    int32 (2, None, 2, 2) [[[[1, 0], [3, 2]], [[5, 4], [7, 6]]], [[[9, 8], [11, 10]]]]
tf.gather(U, C([[1], [0, 1]]), axis=1, batch_dims=1)
    InvalidArgumentError: indices[2] = 1 is not in [0, 1)
tf.gather(U, C([[1], [0, 1]]), axis=2, batch_dims=1)
    int32 (2, None, None, 2) [[[[2, 3]], [[6, 7]]], [[[8, 9], [10, 11]]]]
traced(lambda a, i: tf.gather(a, i), A, [2, 0])
    int32 (2, None) [[3], [1, 2]]
traced(lambda a, i: tf.gather(a, i), A, [[2], [0]])
    int32 (2, None, None) [[[3]], [[1, 2]]]
traced(lambda a, i: tf.gather(a, i), A, [5])
    InvalidArgumentError: indices[0] = 5 is not in [0, 3)
traced(lambda a, i: tf.gather(a, i, batch_dims=1), A, C([[1, 0], [], [0]]))
    int32 (3, None) [[2, 1], [], [3]]
traced(lambda a, i: tf.gather(a, i, axis=1), C([[1, 2], [3, 4, 5]]), [1, 0])
    int32 [2, 2] [[2, 1], [4, 3]]
tf.gather(A32, [2, 0]).row_splits.dtype
    tf.int32
tf.gather_nd(A, [[0, 1], [2, 0]])
    int32 [2] [2, 3]
tf.gather_nd(A, [[0], [2]])
    int32 (2, None) [[1, 2], [3]]
tf.gather_nd(A, [[0, 2]])
    InvalidArgumentError: indices[0] = 2 is not in [0, 2)
tf.gather_nd(A, [[3, 0]])
    InvalidArgumentError: indices[0] = 3 is not in [0, 3)
tf.gather_nd(A, [[-1, 0]])
    InvalidArgumentError: indices[0] = -1 is not in [0, 3)
tf.gather_nd(N, [[2, 0, 1]])
    int32 [1] [5]
tf.gather_nd(N, [[2, 0], [0, 1]])
    int32 (2, None) [[4, 5, 6], [3]]
tf.gather_nd(U, [[1, 0, 1]])
    int32 [1, 2] [[10, 11]]
tf.gather_nd(U, [[[0, 1, 1, 0]], [[1, 0, 0, 1]]])
    int32 [2, 1] [[6], [9]]
traced(lambda a, i: tf.gather_nd(a, tf.ensure_shape(i, [None, 2])), A, [[0, 1], [2, 0]])
    int32 [2] [2, 3]
traced(lambda a, i: tf.gather_nd(a, i), A, [[0, 1], [2, 0]])
    ValueError: gather_nd of a ragged tensor needs indices whose last dimension is static.
tf.squeeze(tf.expand_dims(A, 0), 0)
    int32 (3, None) [[1, 2], [], [3]]
tf.squeeze(tf.expand_dims(A, 1), 1)
    int32 (3, None) [[1, 2], [], [3]]
tf.squeeze(tf.expand_dims(A, 2), 2)
    int32 (3, None) [[1, 2], [], [3]]
tf.squeeze(tf.expand_dims(A, 2), -1)
    int32 (3, None) [[1, 2], [], [3]]
tf.squeeze(tf.expand_dims(tf.expand_dims(A, 0), -1), [0, 3])
    int32 (3, None) [[1, 2], [], [3]]
tf.squeeze(A, 1)
    InvalidArgumentError: Can not squeeze dim[1], expected a dimension of 1, got [2, 0, 1]
tf.squeeze(A, 0)
    InvalidArgumentError: Can not squeeze dim[0], expected a dimension of 1, got [3]
tf.squeeze(C([[1], [2]]), 1)
    int32 [2] [1, 2]
tf.squeeze(tf.expand_dims(N, 3), 3)
    int32 (3, None, None) [[[1, 2], [3]], [], [[4, 5, 6], []]]
tf.squeeze(tf.expand_dims(N, 2), 2)
    int32 (3, None, None) [[[1, 2], [3]], [], [[4, 5, 6], []]]
traced(lambda a: tf.squeeze(a, 1), C([[1], [2]]))
    int32 [2] [1, 2]
traced(lambda a: tf.squeeze(a, 1), A)
    InvalidArgumentError: Can not squeeze dim[1], expected a dimension of 1, got [2, 0, 1]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
