"""Indices and slices of ragged tensors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RT, C = tf.RaggedTensor, tf.ragged.constant
A = C([[1, 2, 3], [], [4], [5, 6]])
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
U = RT.from_row_splits(tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 3])
UNIFORM = RT.from_uniform_row_length(C([[1], [2, 3], [], [4]]), 2)


def traced(function, value, *others):
    """Calls a function in a graph, with row splits and numbers that are not static."""
    spec = tf.RaggedTensorSpec([None] * len(value.shape), value.dtype, value.ragged_rank, value.row_splits.dtype)
    specs = [spec, *[tf.TensorSpec([], tf.int32)] * len(others)]
    return tf.function(function, input_signature=specs, autograph=False)(value, *others)


def with_static(value):
    return value, value.shape


ROWS = read_rows("""
A[0]
    int32 [3] [1, 2, 3]
A[3]
    int32 [2] [5, 6]
A[-1]
    int32 [2] [5, 6]
A[-4]
    int32 [3] [1, 2, 3]
A[4]
    IndexError: Row key 4 out of bounds
A[-5]
    IndexError: Row key -5 out of bounds
A[0, 1]
    int32 [] 2
A[0, -1]
    int32 [] 3
A[0, 3]
    InvalidArgumentError: slice index 3 of dimension 0 out of bounds.
A[1:]
    int32 (3, None) [[], [4], [5, 6]]
A[:2]
    int32 (2, None) [[1, 2, 3], []]
A[1:3]
    int32 (2, None) [[], [4]]
A[-2:]
    int32 (2, None) [[4], [5, 6]]
A[:-1]
    int32 (3, None) [[1, 2, 3], [], [4]]
A[2:1]
    int32 (0, None) []
A[9:]
    int32 (0, None) []
A[::2]
    int32 (2, None) [[1, 2, 3], [4]]
A[::-1]
    int32 (4, None) [[5, 6], [4], [], [1, 2, 3]]
A[3:0:-2]
    int32 (2, None) [[5, 6], []]
A[::0]
    InvalidArgumentError: strides[0] must be non-zero
A[:]
    int32 (4, None) [[1, 2, 3], [], [4], [5, 6]]
A[:, 1:]
    int32 (4, None) [[2, 3], [], [], [6]]
A[:, :1]
    int32 (4, None) [[1], [], [4], [5]]
A[:, :-1]
    int32 (4, None) [[1, 2], [], [], [5]]
A[:, -1:]
    int32 (4, None) [[3], [], [4], [6]]
A[:, -2:-1]
    int32 (4, None) [[2], [], [], [5]]
A[:, ::2]
    int32 (4, None) [[1, 3], [], [4], [5]]
A[:, ::-1]
    int32 (4, None) [[3, 2, 1], [], [4], [6, 5]]
A[:, ::-2]
    int32 (4, None) [[3, 1], [], [4], [6]]
A[:, 1::-1]
    int32 (4, None) [[2, 1], [], [4], [6, 5]]
A[:, :0:-1]
    int32 (4, None) [[3, 2], [], [], [6]]
A[:, -1:-3:-1]
    int32 (4, None) [[3, 2], [], [4], [6, 5]]
A[:, 5:]
    int32 (4, None) [[], [], [], []]
A[1:, 1:]
    int32 (3, None) [[], [], [6]]
A[:, 0]
    ValueError: Cannot index into an inner ragged dimension.
A[...]
    int32 (4, None) [[1, 2, 3], [], [4], [5, 6]]
A[..., 0]
    ValueError: Cannot index into an inner ragged dimension.
A[..., :1]
    int32 (4, None) [[1], [], [4], [5]]
A[0, ...]
    int32 [3] [1, 2, 3]
A[0, ..., 1]
    int32 [] 2
with_static(A[tf.newaxis])
    (int32 (1, 4, None) [[[1, 2, 3], [], [4], [5, 6]]]; TensorShape([1, 4, None]))
with_static(A[:, tf.newaxis])
    (int32 (4, 1, None) [[[1, 2, 3]], [[]], [[4]], [[5, 6]]]; TensorShape([4, 1, None]))
with_static(A[..., tf.newaxis])
    (int32 (4, None, 1) [[[1], [2], [3]], [], [[4]], [[5], [6]]]; TensorShape([4, None, 1]))
with_static(A[tf.newaxis, 0])
    (int32 (1, 3) [[1, 2, 3]]; TensorShape([1, 3]))
A[1.5]
    TypeError: Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64
    tensors are valid indices, got 1.5
A['a']
    TypeError: Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64
    tensors are valid indices, got 'a'
A[True]
    TypeError: Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64
    tensors are valid indices, got True
A[tf.constant(2)]
    int32 [1] [4]
A[tf.constant(-1, tf.int64)]
    int32 [2] [5, 6]
A[np.int64(2)]
    int32 [1] [4]
A[tf.constant([1])]
    TypeError: Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64
    tensors are valid indices, got <tf.Tensor: shape=(1,), dtype=int32, numpy=array([1], dtype=int32)>
A[tf.constant(1):tf.constant(3)]
    int32 (2, None) [[], [4]]
A[A > 2]
    int32 (4, None) [[3], [], [4], [5, 6]]
A[tf.constant([True, False, True, False])]
    int32 (2, None) [[1, 2, 3], [4]]
A[0, 0, 0]
    InvalidArgumentError: Index out of range using input dim 1; input has only 1 dims
N[0]
    int32 (2, None) [[1, 2], [3]]
N[0, 1]
    int32 [1] [3]
N[2, 0, 1]
    int32 [] 5
N[2, 0, 1:]
    int32 [2] [5, 6]
N[:, 0]
    ValueError: Cannot index into an inner ragged dimension.
N[:, :1]
    int32 (3, None, None) [[[1, 2]], [], [[4, 5, 6]]]
N[:, :, 1:]
    int32 (3, None, None) [[[2], []], [], [[5, 6], []]]
N[:, :1, ::-1]
    int32 (3, None, None) [[[2, 1]], [], [[6, 5, 4]]]
N[..., 1:]
    int32 (3, None, None) [[[2], []], [], [[5, 6], []]]
N[0, ..., :1]
    int32 (2, None) [[1], [3]]
with_static(N[:, tf.newaxis])
    (int32 (3, 1, None, None) [[[[1, 2], [3]]], [[]], [[[4, 5, 6], []]]]; TensorShape([3, 1, None, None]))
with_static(N[:, :, tf.newaxis])
    (int32 (3, None, 1, None) [[[[1, 2]], [[3]]], [], [[[4, 5, 6]], [[]]]]; TensorShape([3, None, 1, None]))
with_static(UNIFORM[:, 0])
    (int32 (2, None) [[1], []]; TensorShape([2, None]))
with_static(UNIFORM[:, -1])
    (int32 (2, None) [[2, 3], [4]]; TensorShape([2, None]))
with_static(UNIFORM[:, 1, :1])
    (int32 (2, None) [[2], [4]]; TensorShape([2, None]))
with_static(UNIFORM[:, 1:])
    (int32 (2, 1, None) [[[2, 3]], [[4]]]; TensorShape([2, 1, None]))
with_static(UNIFORM[1:])
    (int32 (1, 2, None) [[[], [4]]]; TensorShape([1, 2, None]))
with_static(UNIFORM[::-1])
    (int32 (2, 2, None) [[[], [4]], [[1], [2, 3]]]; TensorShape([2, 2, None]))
UNIFORM[:, 2]
    IndexError: Row key 2 out of bounds
UNIFORM[:, -3]
    IndexError: Row key -3 out of bounds
UNIFORM[1, 1]
    int32 [1] [4]
U[0, 1, 0, 1]
    int32 [] 5
U[:, :, 1]
    int32 (2, None, 2) [[[2, 3], [6, 7]], [[10, 11]]]
U[:, :, 1, 0]
    int32 (2, None) [[2, 6], [10]]
U[:, :, -1:]
    int32 (2, None, 1, 2) [[[[2, 3]], [[6, 7]]], [[[10, 11]]]]
U[..., 0]
    int32 (2, None, 2) [[[0, 2], [4, 6]], [[8, 10]]]
U[0, :, 1]
    int32 [2, 2] [[2, 3], [6, 7]]
U[:, 1:, 0]
    int32 (2, None, 2) [[[4, 5]], []]
U[:, :, tf.newaxis].shape
    TensorShape([2, None, 1, 2, 2])
U[:, :, 2]
    InvalidArgumentError: slice index 2 of dimension 1 out of bounds.
C([['a'], ['b', 'c']])[1, 0]
    string [] b'b'
C([])[:1]
    float32 [0] []
tf.RaggedTensor.from_row_splits([1, 2], [0])[0:1]
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
tf.RaggedTensor.from_row_splits([1, 2], [0, 2, 2])[1:]
    int32 (1, None) [[]]
traced(lambda a, i: a[i], A, 2)
    int32 [1] [4]
traced(lambda a, i: a[i], A, -1)
    int32 [2] [5, 6]
traced(lambda a, i: a[i, 0], A, -1)
    int32 [] 5
traced(lambda a, i, j: a[i:j], A, 1, 3)
    int32 (2, None) [[], [4]]
traced(lambda a, i: a[i:], A, -2)
    int32 (2, None) [[4], [5, 6]]
traced(lambda a, i: a[:, i:], A, 1)
    int32 (4, None) [[2, 3], [], [], [6]]
traced(lambda a, i: a[:, i:], A, -1)
    int32 (4, None) [[3], [], [4], [6]]
traced(lambda a, i: a[:, :i], A, -1)
    int32 (4, None) [[1, 2], [], [], [5]]
traced(lambda a, i: a[:, i::-1], A, 1)
    int32 (4, None) [[2, 1], [], [4], [6, 5]]
traced(lambda a, i: a[::i], A, 2)
    ValueError: The step of a slice of a ragged tensor must be known when a function is traced.
traced(lambda a: a[3], A)
    int32 [2] [5, 6]
traced(lambda a: a[-4], A)
    int32 [3] [1, 2, 3]
traced(lambda a: a[1:, ::-1], A)
    int32 (3, None) [[], [4], [6, 5]]
traced(lambda a: a[::-1], A)
    int32 (4, None) [[5, 6], [4], [], [1, 2, 3]]
traced(lambda a: a[tf.newaxis], A)
    int32 (1, None, None) [[[1, 2, 3], [], [4], [5, 6]]]
traced(lambda a: a[:, tf.newaxis], A)
    int32 (4, 1, None) [[[1, 2, 3]], [[]], [[4]], [[5, 6]]]
traced(lambda a: a[..., 1:], N)
    int32 (3, None, None) [[[2], []], [], [[5, 6], []]]
traced(lambda a: a[:, 0], N)
    ValueError: Cannot index into an inner ragged dimension.
traced(lambda a, i: RT.from_uniform_row_length(a.values, i)[:, 1], UNIFORM, 2)
    int32 (2, None) [[2, 3], [4]]
traced(lambda a, i: RT.from_uniform_row_length(a.values, 2)[:, i], UNIFORM, -1)
    int32 (2, None) [[2, 3], [4]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
