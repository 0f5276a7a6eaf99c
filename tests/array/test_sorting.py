"""Order, places in it, and different elements. The outcomes are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row


def ints(*shape):
    return tf.TensorSpec(shape, tf.int32)


X = tf.constant([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
U = tf.constant([3, 1, 3, 2, 1, 9])
D = tf.constant([[1, 2], [3, 4], [1, 2], [0, 9]])
R = tf.raw_ops

ROWS = read_rows("""
tf.sort(X)
    float32 [2, 3] [[1, 2, 3], [0, 4, 5]]
tf.sort(X, 0)
    float32 [2, 3] [[0, 1, 2], [3, 5, 4]]
tf.sort(X, -2, "DESCENDING")
    float32 [2, 3] [[3, 5, 4], [0, 1, 2]]
tf.sort(X, direction="DESCENDING")
    float32 [2, 3] [[3, 2, 1], [5, 4, 0]]
tf.sort([3, 1, 2])
    int32 [3] [1, 2, 3]
tf.sort(tf.constant([3, 1, 2], tf.uint8), direction="DESCENDING")
    uint8 [3] [3, 2, 1]
tf.sort(tf.constant([-128, 127, 0], tf.int8))
    int8 [3] [-128, 0, 127]
tf.sort([[[2, 1]], [[4, 3]]], axis=0)
    int32 [2, 1, 2] [[[2, 1]], [[4, 3]]]
tf.sort([1.0, np.inf, -np.inf])
    float32 [3] [-inf, 1, inf]
tf.sort(X, direction="UP")
    ValueError
tf.sort(X, 2)
    InvalidArgumentError
tf.sort(5)
    InvalidArgumentError
tf.sort(X, [0])
    ValueError
tf.sort(["a"])
    InvalidArgumentError
tf.argsort(X)
    int32 [2, 3] [[1, 2, 0], [0, 2, 1]]
tf.argsort(X, 0, "DESCENDING")
    int32 [2, 3] [[0, 1, 1], [1, 0, 0]]
tf.argsort([2, 1, 2, 1])
    int32 [4] [1, 3, 0, 2]
tf.argsort([2, 1, 2, 1], direction="DESCENDING", stable=True)
    int32 [4] [0, 2, 1, 3]
tf.argsort(X, 3)
    InvalidArgumentError
cube_grads(lambda x: tf.sort(x), X)
    (float32 [2, 3] [[27, 3, 12], [-0, 75, 48]])
cube_grads(lambda x: tf.sort(x, 0, "DESCENDING"), X)
    (float32 [2, 3] [[27, 3, 12], [0, 75, 48]])
sized(lambda x: tf.sort(x, 0), X)
    float32 [2, 3] [[0, 1, 2], [3, 5, 4]]
unranked(lambda x: tf.argsort(x), X)
    int32 [2, 3] [[1, 2, 0], [0, 2, 1]]
static(lambda x: tf.sort(x, 0), [None, 3])
    '(None, 3)'
static(lambda x: tf.argsort(x), [None, 3])
    '(None, 3)'
tf.searchsorted([1, 3, 5, 5, 7], [0, 1, 5, 8])
    int32 [4] [0, 0, 2, 5]
tf.searchsorted([1, 3, 5, 5, 7], [0, 1, 5, 8], "right")
    int32 [4] [0, 1, 4, 5]
tf.searchsorted([[1, 3], [2, 4]], [[1, 3, 9], [2, 3, 4]], out_type=tf.int64)
    int64 [2, 3] [[0, 1, 2], [0, 1, 1]]
tf.searchsorted([[1.0, 3.0], [2.0, 4.0]], [[1.0], [4.0]], side="right")
    int32 [2, 1] [[1], [2]]
tf.searchsorted([[[1, 3]], [[2, 4]]], [[[2]], [[5]]])
    int32 [2, 1, 1] [[[1]], [[2]]]
tf.searchsorted([1, 3], [])
    InvalidArgumentError
tf.searchsorted([1, 3], [2], "middle")
    ValueError
tf.searchsorted([[1, 3]], [[1], [2]])
    InvalidArgumentError
tf.searchsorted([1, 3], 2)
    InvalidArgumentError
tf.searchsorted([1, 3], [[2], [3]])
    InvalidArgumentError
tf.searchsorted([1, 3], [2], out_type=tf.float32)
    InvalidArgumentError
sized(lambda a, b: tf.searchsorted(a, b), [[1, 3]], [[2, 5]])
    int32 [1, 2] [[1, 2]]
static(lambda a, b: tf.searchsorted(a, b), [2, 3], [2, None])
    '(2, None)'
R.Bucketize(input=[-5, 0, 3, 10, 99], boundaries=[0.0, 3.0, 10.0])
    int32 [5] [0, 1, 2, 3, 3]
R.Bucketize(input=[[0.5], [3.0]], boundaries=[])
    int32 [2, 1] [[0], [0]]
R.Bucketize(input=[0.5], boundaries=[3.0, 1.0])
    InvalidArgumentError
tf.unique(U)
    (int32 [4] [3, 1, 2, 9]; int32 [6] [0, 1, 0, 2, 1, 3])
tf.unique(U, tf.int64)
    (int32 [4] [3, 1, 2, 9]; int64 [6] [0, 1, 0, 2, 1, 3])
tf.unique(["b", "a", "b"])
    (string [2] [b'b', b'a']; int32 [3] [0, 1, 0])
tf.unique([0.5, -0.5, 0.5])
    (float32 [2] [0.5, -0.5]; int32 [3] [0, 1, 0])
tf.unique([True, False, True])
    (bool [2] [True, False]; int32 [3] [0, 1, 0])
tf.unique(tf.constant([2**40, 5, 2**40, -(2**50)], tf.int64))
    (int64 [3] [1099511627776, 5, -1125899906842624]; int32 [4] [0, 1, 0, 2])
tf.unique([])
    (float32 [0] []; int32 [0] [])
tf.unique(D)
    InvalidArgumentError
tf.unique(np.arange(40) % 7)
    (int64 [7] [0, 1, 2, 3, 4, 5, 6]; int32 [40] [0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1,
    2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4])
tf.unique([1000000, 5, 1000000, -7])
    (int32 [3] [1000000, 5, -7]; int32 [4] [0, 1, 0, 2])
tf.unique([np.nan, 1.0, np.nan])
    (float32 [3] [nan, 1, nan]; int32 [3] [0, 1, 2])
tf.unique_with_counts(U)
    (int32 [4] [3, 1, 2, 9]; int32 [6] [0, 1, 0, 2, 1, 3]; int32 [4] [2, 2, 1, 1])
tf.unique_with_counts(["b", "a", "b"], tf.int64)
    (string [2] [b'b', b'a']; int64 [3] [0, 1, 0]; int64 [2] [2, 1])
tf.unique_with_counts([])
    (float32 [0] []; int32 [0] []; int32 [0] [])
R.UniqueV2(x=D, axis=[0])
    (int32 [3, 2] [[1, 2], [3, 4], [0, 9]]; int32 [4] [0, 1, 0, 2])
R.UniqueV2(x=D, axis=[1])
    (int32 [4, 2] [[1, 2], [3, 4], [1, 2], [0, 9]]; int32 [2] [0, 1])
R.UniqueV2(x=D, axis=[-1])
    (int32 [4, 2] [[1, 2], [3, 4], [1, 2], [0, 9]]; int32 [2] [0, 1])
R.UniqueV2(x=U, axis=np.zeros([0], int))
    (int32 [4] [3, 1, 2, 9]; int32 [6] [0, 1, 0, 2, 1, 3])
R.UniqueV2(x=D, axis=np.zeros([0], int))
    InvalidArgumentError
R.UniqueV2(x=D, axis=[2])
    InvalidArgumentError
R.UniqueV2(x=D, axis=[0, 1])
    InvalidArgumentError
R.UniqueV2(x=[["a", "b"], ["a", "b"]], axis=[0])
    (string [1, 2] [[b'a', b'b']]; int32 [2] [0, 0])
R.UniqueWithCountsV2(x=D, axis=[0])
    (int32 [3, 2] [[1, 2], [3, 4], [0, 9]]; int32 [4] [0, 1, 0, 2]; int32 [3] [2, 1, 1])
R.UniqueWithCountsV2(x=D, axis=[0], out_idx=tf.int64)
    (int32 [3, 2] [[1, 2], [3, 4], [0, 9]]; int64 [4] [0, 1, 0, 2]; int64 [3] [2, 1, 1])
sized(lambda x: tf.unique(x), U)
    (int32 [4] [3, 1, 2, 9]; int32 [6] [0, 1, 0, 2, 1, 3])
unranked(lambda x: tf.unique_with_counts(x), U)
    (int32 [4] [3, 1, 2, 9]; int32 [6] [0, 1, 0, 2, 1, 3]; int32 [4] [2, 2, 1, 1])
static(lambda x: tf.unique(x), [5])
    ('(None,)'; '(5,)')
static(lambda x: tf.unique(x), None)
    ('(None,)'; '<unknown>')
static(lambda x: tf.unique(x), [5, 5])
    ValueError
static(lambda x: tf.unique_with_counts(x), [5])
    ('(None,)'; '(5,)'; '(None,)')
static(lambda x: R.UniqueV2(x=x, axis=[1]), [5, 4])
    ('(None, None)'; '(4,)')
static(lambda x: R.UniqueV2(x=x, axis=[-1]), [5, 4])
    ('(None, None)'; '(4,)')
static(lambda x, a: R.UniqueV2(x=x, axis=a), [5, 4], ints(1))
    ('(None, None)'; '(None,)')
static(lambda x: R.UniqueV2(x=x, axis=[2]), [5, 4])
    ValueError
static(lambda x: R.UniqueWithCountsV2(x=x, axis=[0]), [5, None])
    ('(None, None)'; '(5,)'; '(None,)')
tf.unravel_index([5, 0, 11], [3, 4])
    int32 [2, 3] [[1, 0, 2], [1, 0, 3]]
tf.unravel_index(7, [2, 2, 2])
    int32 [3] [1, 1, 1]
tf.unravel_index(tf.constant([5], tf.int64), tf.constant([3, 4], tf.int64))
    int64 [2, 1] [[1], [1]]
tf.unravel_index([[5], [6]], [3, 4])
    InvalidArgumentError
tf.unravel_index([12], [3, 4])
    InvalidArgumentError
tf.unravel_index([-1], [3, 4])
    int32 [2, 1] [[0], [-1]]
tf.unravel_index([1], [0, 4])
    InvalidArgumentError
tf.unravel_index([1], [[3, 4]])
    InvalidArgumentError
tf.unravel_index([3], 4)
    InvalidArgumentError
tf.unravel_index([], [3])
    InvalidArgumentError
static(lambda i: tf.unravel_index(i, [3, 4]), ints(5))
    '(2, 5)'
static(lambda i: tf.unravel_index(i, [3, 4]), ints())
    '(2,)'
static(lambda i, d: tf.unravel_index(i, d), ints(None), ints(2))
    '(2, None)'
tf.math.invert_permutation([2, 0, 1])
    int32 [3] [1, 2, 0]
tf.math.invert_permutation(tf.constant([1, 0], tf.int64))
    int64 [2] [1, 0]
tf.math.invert_permutation([])
    int32 [0] []
tf.math.invert_permutation([0, 0])
    InvalidArgumentError
tf.math.invert_permutation([0, 2])
    InvalidArgumentError
tf.math.invert_permutation([0, -1])
    InvalidArgumentError
tf.math.invert_permutation([[0]])
    InvalidArgumentError
static(lambda i: tf.math.invert_permutation(i), ints(5))
    '(5,)'
static(lambda i: tf.math.invert_permutation(i), ints(5, 5))
    ValueError
unranked(lambda a, b: tf.searchsorted(a, b), [[1, 3]], [[2, 5]])
    int32 [1, 2] [[1, 2]]
tf.sort(X, 2**63)
    ValueError
tf.unravel_index(tf.zeros([0], tf.int32), [0, 4])
    InvalidArgumentError
tf.unique(np.array([-5, 3, -5, 7, 3] * 4))
    (int64 [3] [-5, 3, 7]; int32 [20] [0, 1, 0, 2, 1, 0, 1, 0, 2, 1, 0, 1, 0, 2, 1, 0, 1, 0, 2, 1])
tf.math.invert_permutation([5, 0])
    InvalidArgumentError
static(lambda x: R.UniqueV2(x=x, axis=[1]), None)
    ('<unknown>'; '(None,)')
static(lambda x: tf.sort(x), None)
    '<unknown>'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
