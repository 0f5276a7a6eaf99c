"""Diagonals of matrices."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import read_rows
from traced_calls import check_row, static


def test_diagonals_that_do_not_fit_are_refused_after_a_call_that_did():
    """A call with tensors alone and a list is quick from the second time on."""
    x = tf.reshape(tf.range(12.0), [3, 4])
    for _ in range(2):
        found = tf.linalg.set_diag(x, [[20.0, 21.0, 22.0], [30.0, 31.0, 32.0]], k=[0, 1])
        assert found.numpy().tolist() == [[30.0, 20.0, 2.0, 3.0], [4.0, 31.0, 21.0, 7.0], [8.0, 9.0, 32.0, 22.0]]
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.linalg.set_diag(x, tf.ones([3, 3]), k=[0, 1])


# ---- outcomes that TensorFlow gave -----------------------------------------------------------------------------------

L, R = tf.linalg, tf.raw_ops


def numbers(*shape, dtype=tf.int32):
    return tf.cast(tf.reshape(tf.range(1, int(np.prod(shape)) + 1), shape), dtype)


def floats(*shape):
    return numbers(*shape, dtype=tf.float32)


def diag_of(**options):
    return lambda x: L.diag(x, **options)


def part_of(**options):
    return lambda x: L.diag_part(x, **options)


def set_of(**options):
    return lambda x, d: L.set_diag(x, d, **options)


def static_diag(*shapes, **options):
    return static(diag_of(**options), *shapes)


def static_part(*shapes, **options):
    return static(part_of(**options), *shapes)


def static_set(*shapes, **options):
    return static(set_of(**options), *shapes)


X34, X43 = numbers(3, 4), numbers(4, 3)
ALIGNS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
C = tf.constant([[1 + 2j, 3j], [4, 5 - 1j], [2, 2j]])

ROWS = read_rows(r"""
static_diag([3])
    '(3, 3)'
static_diag([None])
    '(None, None)'
static_diag(None)
    '<unknown>'
static_diag([])
    ValueError
static_diag([2,3])
    '(2, 3, 3)'
static_diag([2,3], k=1)
    '(2, 4, 4)'
static_diag([2,3], k=-2)
    '(2, 5, 5)'
static_diag([2,3], k=(0, 1))
    '(3, 3)'
static_diag([2,3], k=(-1, 1))
    ValueError
static_diag([3,3], k=(-1, 1))
    '(3, 3)'
static_diag([3,None], k=(-1, 1))
    '(None, None)'
static_diag([4,3,3], k=(-1, 1))
    '(4, 3, 3)'
static_diag([3], num_rows=3)
    '(3, 3)'
static_diag([3], num_rows=5)
    '(5, 3)'
static_diag([3], num_cols=5)
    '(3, 5)'
static_diag([3], num_rows=2)
    ValueError
static_diag([3], num_cols=2)
    ValueError
static_diag([3], num_rows=3, num_cols=5)
    '(3, 5)'
static_diag([3], num_rows=5, num_cols=3)
    '(5, 3)'
static_diag([3], num_rows=4, num_cols=4)
    ValueError
static_diag([3], k=1, num_rows=3)
    '(3, 4)'
static_diag([3], k=1, num_cols=4)
    '(3, 4)'
static_diag([3], k=-1, num_rows=4)
    '(4, 3)'
static_diag([3], k=-1, num_cols=3)
    '(4, 3)'
static_diag([3], k=-1, num_rows=3)
    ValueError
static_diag([3], k=1, num_cols=3)
    ValueError
static_diag([None], num_rows=5)
    '(5, None)'
static_diag([None], num_cols=5)
    '(None, 5)'
static_diag([None], num_rows=5, num_cols=4)
    ValueError
static_diag([3], k=[0])
    '(3, 3)'
static_diag([3], k=[1, 0])
    ValueError
static_diag([3], k=[0, 0, 0])
    ValueError
static_diag([3], k=[[0]])
    ValueError
static_diag([3], k=[])
    ValueError
static_diag([3], num_rows=[3])
    ValueError
static_diag([3], padding_value=[1.0])
    ValueError
static(lambda x, k: L.diag(x, k=k), [3], tf.TensorSpec([], tf.int32))
    '<unknown>'
static(lambda x, k: L.diag(x, k=k), [3], tf.TensorSpec([2], tf.int32))
    '<unknown>'
static(lambda x, k: L.diag(x, k=k), [3], tf.TensorSpec([1, 2], tf.int32))
    ValueError
L.diag([1, 2])
    int32 [2, 2] [[1, 0], [0, 2]]
L.diag(numbers(2, 2))
    int32 [2, 2, 2] [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
L.diag(numbers(2, 2), k=1)
    int32 [2, 3, 3] [[[0, 1, 0], [0, 0, 2], [0, 0, 0]], [[0, 3, 0], [0, 0, 4], [0, 0, 0]]]
L.diag(numbers(2, 2), k=-1)
    int32 [2, 3, 3] [[[0, 0, 0], [1, 0, 0], [0, 2, 0]], [[0, 0, 0], [3, 0, 0], [0, 4, 0]]]
L.diag([1, 2], padding_value=7)
    int32 [2, 2] [[1, 7], [7, 2]]
L.diag([1, 2], num_rows=3, padding_value=7)
    int32 [3, 2] [[1, 7], [7, 2], [7, 7]]
L.diag([1, 2], num_cols=4)
    int32 [2, 4] [[1, 0, 0, 0], [0, 2, 0, 0]]
L.diag([1, 2], num_rows=2, num_cols=2)
    int32 [2, 2] [[1, 0], [0, 2]]
L.diag([1, 2], num_rows=2, num_cols=3)
    int32 [2, 3] [[1, 0, 0], [0, 2, 0]]
L.diag([1, 2], num_rows=3, num_cols=3)
    InvalidArgumentError: The number of rows or columns is not consistent with the specified d_lower, d_upper, and
    diagonal.
L.diag([1, 2], num_rows=1)
    InvalidArgumentError: The number of rows is too small.
L.diag([1, 2], num_cols=1)
    InvalidArgumentError: The number of columns is too small.
L.diag([1, 2], k=2, num_rows=3, padding_value=9)
    int32 [3, 4] [[9, 9, 1, 9], [9, 9, 9, 2], [9, 9, 9, 9]]
L.diag([1, 2], k=-2, num_cols=3, padding_value=9)
    int32 [4, 3] [[9, 9, 9], [9, 9, 9], [1, 9, 9], [9, 2, 9]]
L.diag([1.5, 2], k=1, padding_value=0.5)
    float32 [3, 3] [[0.5, 1.5, 0.5], [0.5, 0.5, 2], [0.5, 0.5, 0.5]]
L.diag([True, False], k=1)
    TypeError: Cannot convert 0 to EagerTensor of dtype bool
[L.diag(numbers(3, 3), k=(-1, 1), align=a) for a in ALIGNS]
    (int32 [3, 3] [[4, 2, 0], [7, 5, 3], [0, 8, 6]]; int32 [3, 3] [[4, 1, 0], [8, 5, 2], [0, 9, 6]]; int32 [3, 3] [[4,
    1, 0], [7, 5, 2], [0, 8, 6]]; int32 [3, 3] [[4, 2, 0], [8, 5, 3], [0, 9, 6]])
[L.diag(numbers(2, 3), k=(1, 2), align=a) for a in ALIGNS]
    (int32 [4, 4] [[0, 4, 2, 0], [0, 0, 5, 3], [0, 0, 0, 6], [0, 0, 0, 0]]; int32 [4, 4] [[0, 4, 1, 0], [0, 0, 5, 2],
    [0, 0, 0, 6], [0, 0, 0, 0]]; int32 [4, 4] [[0, 4, 1, 0], [0, 0, 5, 2], [0, 0, 0, 6], [0, 0, 0, 0]]; int32 [4, 4]
    [[0, 4, 2, 0], [0, 0, 5, 3], [0, 0, 0, 6], [0, 0, 0, 0]])
[L.diag(numbers(2, 3), k=(-2, -1), align=a) for a in ALIGNS]
    (int32 [4, 4] [[0, 0, 0, 0], [1, 0, 0, 0], [4, 2, 0, 0], [0, 5, 3, 0]]; int32 [4, 4] [[0, 0, 0, 0], [1, 0, 0, 0],
    [5, 2, 0, 0], [0, 6, 3, 0]]; int32 [4, 4] [[0, 0, 0, 0], [1, 0, 0, 0], [4, 2, 0, 0], [0, 5, 3, 0]]; int32 [4, 4]
    [[0, 0, 0, 0], [1, 0, 0, 0], [5, 2, 0, 0], [0, 6, 3, 0]])
[L.diag(numbers(3, 3), k=(-1, 1), num_rows=3, num_cols=4, padding_value=9, align=a) for a in ALIGNS]
    (int32 [3, 4] [[4, 1, 9, 9], [7, 5, 2, 9], [9, 8, 6, 3]]; int32 [3, 4] [[4, 1, 9, 9], [8, 5, 2, 9], [9, 9, 6, 3]];
    int32 [3, 4] [[4, 1, 9, 9], [7, 5, 2, 9], [9, 8, 6, 3]]; int32 [3, 4] [[4, 1, 9, 9], [8, 5, 2, 9], [9, 9, 6, 3]])
L.diag(numbers(2, 3), k=(-1, 1))
    InvalidArgumentError
L.diag(numbers(1, 3), k=(1, 1))
    int32 [1, 4, 4] [[[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3], [0, 0, 0, 0]]]
L.diag(numbers(3), k=[1])
    int32 [4, 4] [[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3], [0, 0, 0, 0]]
L.diag(1)
    InvalidArgumentError: diagonal must be at least 1-dim, received shape: []
L.diag(numbers(2, 2, 2), k=[0, 1])
    int32 [2, 2, 2] [[[3, 2], [0, 4]], [[7, 6], [0, 8]]]
L.diag([1, 2], k=[1, 0])
    InvalidArgumentError: lower_diag_index must not be larger than upper_diag_index: 1 > 0
L.diag([1, 2], k=[0, 1, 2])
    InvalidArgumentError: diag_index must have only one or two elements, received 3 elements.
L.diag([1, 2], k=[[0, 1]])
    InvalidArgumentError
L.diag([], k=1)
    float32 [1, 1] [[0]]
grad(lambda d: L.diag(d, k=1) * [[0., 2, 0], [0, 0, 3], [0, 0, 0]], [1., 2])
    float32 [2] [2, 3]
grad(lambda d: L.diag(d, k=(-1, 1), align='LEFT_RIGHT') * floats(3, 3), floats(3, 3))
    float32 [3, 3] [[2, 6, 0], [1, 5, 9], [0, 4, 8]]
grad(lambda d: L.diag(d, num_rows=4, num_cols=2) * floats(4, 2), [1., 2])
    float32 [2] [1, 4]
mapped(L.diag, numbers(2, 3))
    int32 [2, 3, 3] [[[1, 0, 0], [0, 2, 0], [0, 0, 3]], [[4, 0, 0], [0, 5, 0], [0, 0, 6]]]
mapped(diag_of(k=(0, 1), num_rows=4), numbers(2, 2, 3))
    int32 [2, 4, 3] [[[4, 2, 0], [0, 5, 3], [0, 0, 6], [0, 0, 0]], [[10, 8, 0], [0, 11, 9], [0, 0, 12], [0, 0, 0]]]
unranked(diag_of(k=(0, 1)), numbers(2, 3))
    int32 [3, 3] [[4, 2, 0], [0, 5, 3], [0, 0, 6]]
sized(diag_of(k=-1), numbers(2, 3))
    int32 [2, 4, 4] [[[0, 0, 0, 0], [1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0]], [[0, 0, 0, 0], [4, 0, 0, 0], [0, 5, 0,
    0], [0, 0, 6, 0]]]
static_part([3,4])
    '(3,)'
static_part([None,4])
    '(None,)'
static_part([3,None])
    '(None,)'
static_part(None)
    '<unknown>'
static_part([3])
    ValueError
static_part([])
    ValueError
static_part([5,3,4], k=1)
    '(5, 3)'
static_part([5,3,4], k=2)
    '(5, 2)'
static_part([5,3,4], k=3)
    '(5, 1)'
static_part([5,3,4], k=4)
    ValueError
static_part([5,3,4], k=-1)
    '(5, 2)'
static_part([5,3,4], k=-2)
    '(5, 1)'
static_part([5,3,4], k=-3)
    ValueError
static_part([4,3], k=-1)
    '(3,)'
static_part([4,3], k=(-1, 0))
    '(2, 3)'
static_part([4,3], k=(-2, -1))
    '(2, 3)'
static_part([3,4], k=(1, 2))
    '(2, 3)'
static_part([3,4], k=(1, 4))
    ValueError
static_part([3,4], k=(-3, 0))
    ValueError
static_part([3,None], k=(-1, 2))
    '(4, None)'
static_part([3,4], k=[1])
    '(3,)'
static_part([3,4], k=[2, 1])
    ValueError
static_part([3,4], k=[0, 1, 2])
    ValueError
static_part([3,4], padding_value=[1.])
    ValueError
static_part([0,0])
    '(0,)'
static(lambda x, k: L.diag_part(x, k=k), [3,4], tf.TensorSpec([], tf.int32))
    '<unknown>'
static(lambda x, k: L.diag_part(x, k=k), [3,4], tf.TensorSpec([2, 2], tf.int32))
    ValueError
[L.diag_part(X34, k=i) for i in range(-2, 4)]
    (int32 [1] [9]; int32 [2] [5, 10]; int32 [3] [1, 6, 11]; int32 [3] [2, 7, 12]; int32 [2] [3, 8]; int32 [1] [4])
[L.diag_part(X43, k=i) for i in range(-3, 3)]
    (int32 [1] [10]; int32 [2] [7, 11]; int32 [3] [4, 8, 12]; int32 [3] [1, 5, 9]; int32 [2] [2, 6]; int32 [1] [3])
[L.diag_part(X34, k=(-2, 3), align=a) for a in ALIGNS]
    (int32 [6, 3] [[0, 0, 4], [0, 3, 8], [2, 7, 12], [1, 6, 11], [5, 10, 0], [9, 0, 0]]; int32 [6, 3] [[4, 0, 0], [3, 8,
    0], [2, 7, 12], [1, 6, 11], [0, 5, 10], [0, 0, 9]]; int32 [6, 3] [[4, 0, 0], [3, 8, 0], [2, 7, 12], [1, 6, 11], [5,
    10, 0], [9, 0, 0]]; int32 [6, 3] [[0, 0, 4], [0, 3, 8], [2, 7, 12], [1, 6, 11], [0, 5, 10], [0, 0, 9]])
[L.diag_part(X43, k=(-3, 2), align=a, padding_value=99) for a in ALIGNS]
    (int32 [6, 3] [[99, 99, 3], [99, 2, 6], [1, 5, 9], [4, 8, 12], [7, 11, 99], [10, 99, 99]]; int32 [6, 3] [[3, 99,
    99], [2, 6, 99], [1, 5, 9], [4, 8, 12], [99, 7, 11], [99, 99, 10]]; int32 [6, 3] [[3, 99, 99], [2, 6, 99], [1, 5,
    9], [4, 8, 12], [7, 11, 99], [10, 99, 99]]; int32 [6, 3] [[99, 99, 3], [99, 2, 6], [1, 5, 9], [4, 8, 12], [99, 7,
    11], [99, 99, 10]])
L.diag_part(X34, k=(1, 2), padding_value=99)
    int32 [2, 3] [[99, 3, 8], [2, 7, 12]]
L.diag_part(X34, k=(-2, -1), padding_value=99)
    int32 [2, 2] [[5, 10], [9, 99]]
L.diag_part(X34, k=(0, 0))
    int32 [3] [1, 6, 11]
L.diag_part(X34, k=4)
    InvalidArgumentError: lower_diag_index is out of bound: 4. It must be between -3 and 4
L.diag_part(X34, k=-3)
    InvalidArgumentError: lower_diag_index is out of bound: -3. It must be between -3 and 4
L.diag_part(X34, k=(-3, 0))
    InvalidArgumentError: lower_diag_index is out of bound: -3. It must be between -3 and 4
L.diag_part(X34, k=(0, 4))
    InvalidArgumentError
L.diag_part([1, 2])
    InvalidArgumentError: input must be at least 2-dim, received shape: [2]
L.diag_part(1)
    InvalidArgumentError: input must be at least 2-dim, received shape: []
L.diag_part(tf.zeros([0, 0]))
    float32 [0] []
L.diag_part(tf.zeros([0, 2]), k=0)
    float32 [0] []
L.diag_part(X34 > 5, k=(0, 1), padding_value=1)
    bool [2, 3] [[False, True, True], [False, True, True]]
L.diag_part(X34 > 5, k=(0, 1), padding_value=True)
    bool [2, 3] [[False, True, True], [False, True, True]]
L.diag_part(X34 > 5)
    bool [3] [False, True, True]
L.diag_part(numbers(2, 2, 2))
    int32 [2, 2] [[1, 4], [5, 8]]
R.MatrixDiagPartV2(input=X34, k=[-1, 1], padding_value=0)
    int32 [3, 3] [[2, 7, 12], [1, 6, 11], [5, 10, 0]]
R.MatrixDiagPartV2(input=X34, k=[-2, 2], padding_value=99)
    int32 [5, 3] [[3, 8, 99], [2, 7, 12], [1, 6, 11], [5, 10, 99], [9, 99, 99]]
R.MatrixDiagPart(input=X34)
    int32 [3] [1, 6, 11]
R.MatrixDiag(diagonal=[1, 2])
    int32 [2, 2] [[1, 0], [0, 2]]
R.MatrixDiagV2(diagonal=numbers(2, 2), k=[0, 1], num_rows=-1, num_cols=-1, padding_value=0)
    int32 [2, 2] [[3, 1], [0, 4]]
R.MatrixSetDiag(input=X34, diagonal=[90, 91, 92])
    int32 [3, 4] [[90, 2, 3, 4], [5, 91, 7, 8], [9, 10, 92, 12]]
R.MatrixSetDiagV2(input=X34, diagonal=[[90, 91, 92], [93, 94, 95]], k=[0, 1])
    int32 [3, 4] [[93, 90, 3, 4], [5, 94, 91, 8], [9, 10, 95, 92]]
grad(lambda x: R.MatrixDiagPartV2(input=x, k=[-1, 1], padding_value=0.) * floats(3, 3), floats(3, 4))
    float32 [3, 4] [[4, 1, 0, 0], [7, 5, 2, 0], [0, 8, 6, 3]]
grad(lambda x: L.diag_part(x) * [1., 2, 3], floats(3, 4))
    float32 [3, 4] [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0]]
grad(lambda x: L.diag_part(x, k=(-1, 1), padding_value=5.) * floats(3, 3), floats(3, 4))
    float32 [3, 4] [[4, 1, 0, 0], [7, 5, 2, 0], [0, 8, 6, 3]]
grad(lambda x: L.diag_part(x, k=(-1, 1), align='LEFT_LEFT') * floats(3, 3), floats(3, 4))
    float32 [3, 4] [[4, 1, 0, 0], [7, 5, 2, 0], [0, 8, 6, 3]]
mapped(part_of(k=(-1, 1)), numbers(2, 3, 3))
    int32 [2, 3, 3] [[[0, 2, 6], [1, 5, 9], [4, 8, 0]], [[0, 11, 15], [10, 14, 18], [13, 17, 0]]]
mapped(L.diag_part, numbers(2, 3, 3))
    int32 [2, 3] [[1, 5, 9], [10, 14, 18]]
unranked(part_of(k=(-1, 1)), X34)
    int32 [3, 3] [[2, 7, 12], [1, 6, 11], [5, 10, 0]]
sized(part_of(k=(-1, 1)), X34)
    int32 [3, 3] [[2, 7, 12], [1, 6, 11], [5, 10, 0]]
static_set([3,4],[3])
    '(3, 4)'
static_set([3,4],[None])
    '(3, 4)'
static_set([3,4],None)
    '(3, 4)'
static_set(None,[3])
    '(None, None)'
static_set(None,[2,3])
    '(2, None, None)'
static_set(None,[2,3], k=(0, 1))
    '(None, None)'
static_set(None,None)
    '<unknown>'
static_set([3,4],[4])
    '(3, 4)'
static_set([3,4],[2,3])
    ValueError
static_set([5,3,4],[3])
    ValueError
static_set([5,3,4],[5,3])
    '(5, 3, 4)'
static_set([5,3,4],[6,3])
    '(5, 3, 4)'
static_set([3,4],[2,3], k=(0, 1))
    '(3, 4)'
static_set([3,4],[3,3], k=(0, 1))
    '(3, 4)'
static_set([3,4],[2], k=2)
    '(3, 4)'
static_set([3],[3])
    ValueError
static_set([3,4],[2], k=4)
    ValueError
static(lambda x, d, k: L.set_diag(x, d, k=k), [3,4], [3], tf.TensorSpec([], tf.int32))
    '(3, 4)'
static(lambda x, d, k: L.set_diag(x, d, k=k), [3,4], [2,3], tf.TensorSpec([2], tf.int32))
    '(3, 4)'
static(lambda x, d, k: L.set_diag(x, d, k=k), [3,4], [2,3,4], tf.TensorSpec([2], tf.int32))
    ValueError: Shape must be at most rank 2 but is rank 3 for '{{node set_diag}} = MatrixSetDiagV3[T=DT_FLOAT,
    align="RIGHT_LEFT"](xs_0, xs_1, xs_2)' with input shapes: [3,4], [2,3,4], [2].
static(lambda x, d, k: L.set_diag(x, d, k=k), [3,4], [], tf.TensorSpec([2], tf.int32))
    ValueError
static(lambda x, d, k: L.set_diag(x, d, k=k), [3], [3], tf.TensorSpec([2], tf.int32))
    ValueError: Shape must be at least rank 2 but is rank 1 for '{{node set_diag}} = MatrixSetDiagV3[T=DT_FLOAT,
    align="RIGHT_LEFT"](xs_0, xs_1, xs_2)' with input shapes: [3], [3], [2].
L.set_diag(X34, [90, 91, 92])
    int32 [3, 4] [[90, 2, 3, 4], [5, 91, 7, 8], [9, 10, 92, 12]]
L.set_diag(X34, [90, 91], k=2)
    int32 [3, 4] [[1, 2, 90, 4], [5, 6, 7, 91], [9, 10, 11, 12]]
L.set_diag(X34, [90, 91], k=-1)
    int32 [3, 4] [[1, 2, 3, 4], [90, 6, 7, 8], [9, 91, 11, 12]]
[L.set_diag(X34, [[90, 91, 92], [93, 94, 95], [96, 97, 98]], k=(-1, 1), align=a) for a in ALIGNS]
    (int32 [3, 4] [[93, 90, 3, 4], [96, 94, 91, 8], [9, 97, 95, 92]]; int32 [3, 4] [[93, 90, 3, 4], [97, 94, 91, 8], [9,
    98, 95, 92]]; int32 [3, 4] [[93, 90, 3, 4], [96, 94, 91, 8], [9, 97, 95, 92]]; int32 [3, 4] [[93, 90, 3, 4], [97,
    94, 91, 8], [9, 98, 95, 92]])
[L.set_diag(X43, [[90, 91, 92], [93, 94, 95], [96, 97, 98]], k=(-1, 1), align=a) for a in ALIGNS]
    (int32 [4, 3] [[93, 91, 3], [96, 94, 92], [7, 97, 95], [10, 11, 98]]; int32 [4, 3] [[93, 90, 3], [96, 94, 91], [7,
    97, 95], [10, 11, 98]]; int32 [4, 3] [[93, 90, 3], [96, 94, 91], [7, 97, 95], [10, 11, 98]]; int32 [4, 3] [[93, 91,
    3], [96, 94, 92], [7, 97, 95], [10, 11, 98]])
L.set_diag(X34, [90, 91])
    InvalidArgumentError: Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is
    not equal to the longests diagonal in range [lower_diag_index:upper_diag_index].
L.set_diag(X34, [[90, 91, 92]])
    InvalidArgumentError
L.set_diag(X34, [[90, 91, 92]], k=(0, 1))
    InvalidArgumentError
L.set_diag(numbers(2, 3, 4), [90, 91, 92])
    InvalidArgumentError
L.set_diag(numbers(2, 2, 2), [[90, 91], [92, 93]])
    int32 [2, 2, 2] [[[90, 2], [3, 91]], [[92, 6], [7, 93]]]
L.set_diag([1, 2], [1])
    InvalidArgumentError: input must be at least 2-dim, received shape: [2]
L.set_diag(X34, [1], k=4)
    InvalidArgumentError
X34 + 0 * L.set_diag(X34, [90, 91, 92])
    int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
grad(lambda x, d: L.set_diag(x, d) * floats(3, 4), floats(3, 4), [90., 91, 92])
    (float32 [3, 4] [[0, 2, 3, 4], [5, 0, 7, 8], [9, 10, 0, 12]]; float32 [3] [1, 6, 11])
grad(lambda x, d: L.set_diag(x, d, k=(0, 1), align='LEFT_LEFT') * floats(3, 4), floats(3, 4), floats(2, 3))
    (float32 [3, 4] [[0, 0, 3, 4], [5, 0, 0, 8], [9, 10, 0, 0]]; float32 [2, 3] [[2, 7, 12], [1, 6, 11]])
grad(lambda x: L.set_diag(x, [90., 91, 92]) * floats(3, 4), floats(3, 4))
    float32 [3, 4] [[0, 2, 3, 4], [5, 0, 7, 8], [9, 10, 0, 12]]
grad(lambda d: L.set_diag(floats(3, 4), d) * floats(3, 4), [90., 91, 92])
    float32 [3] [1, 6, 11]
mapped(L.set_diag, numbers(2, 3, 4), numbers(2, 3))
    int32 [2, 3, 4] [[[1, 2, 3, 4], [5, 2, 7, 8], [9, 10, 3, 12]], [[4, 14, 15, 16], [17, 5, 19, 20], [21, 22, 6, 24]]]
mapped(lambda d: L.set_diag(X34, d), numbers(2, 3))
    int32 [2, 3, 4] [[[1, 2, 3, 4], [5, 2, 7, 8], [9, 10, 3, 12]], [[4, 2, 3, 4], [5, 5, 7, 8], [9, 10, 6, 12]]]
unranked(set_of(k=1), X34, [90, 91, 92])
    int32 [3, 4] [[1, 90, 3, 4], [5, 6, 91, 8], [9, 10, 11, 92]]
sized(set_of(k=1), X34, [90, 91, 92])
    int32 [3, 4] [[1, 90, 3, 4], [5, 6, 91, 8], [9, 10, 11, 92]]
L.trace(X34)
    int32 [] 18
L.trace(numbers(2, 2, 2))
    int32 [2] [5, 13]
L.trace([1, 2])
    InvalidArgumentError: input must be at least 2-dim, received shape: [2]
L.trace(tf.zeros([0, 0]))
    float32 [] 0
static(L.trace, [None,3,4])
    '(None,)'
static(L.trace, None)
    '<unknown>'
grad(L.trace, floats(2, 3))
    float32 [2, 3] [[1, 0, 0], [0, 1, 0]]
[L.band_part(X34, i, j) for i in (-1, 0, 1, 3) for j in (-1, 0, 2, 4)]
    (int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]; int32 [3, 4] [[1, 0, 0, 0], [5, 6, 0, 0], [9, 10, 11,
    0]]; int32 [3, 4] [[1, 2, 3, 0], [5, 6, 7, 8], [9, 10, 11, 12]]; int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10,
    11, 12]]; int32 [3, 4] [[1, 2, 3, 4], [0, 6, 7, 8], [0, 0, 11, 12]]; int32 [3, 4] [[1, 0, 0, 0], [0, 6, 0, 0], [0,
    0, 11, 0]]; int32 [3, 4] [[1, 2, 3, 0], [0, 6, 7, 8], [0, 0, 11, 12]]; int32 [3, 4] [[1, 2, 3, 4], [0, 6, 7, 8], [0,
    0, 11, 12]]; int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7, 8], [0, 10, 11, 12]]; int32 [3, 4] [[1, 0, 0, 0], [5, 6, 0, 0],
    [0, 10, 11, 0]]; int32 [3, 4] [[1, 2, 3, 0], [5, 6, 7, 8], [0, 10, 11, 12]]; int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7,
    8], [0, 10, 11, 12]]; int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]; int32 [3, 4] [[1, 0, 0, 0], [5, 6,
    0, 0], [9, 10, 11, 0]]; int32 [3, 4] [[1, 2, 3, 0], [5, 6, 7, 8], [9, 10, 11, 12]]; int32 [3, 4] [[1, 2, 3, 4], [5,
    6, 7, 8], [9, 10, 11, 12]])
L.band_part(X34, 4, 0)
    InvalidArgumentError: num_lower must be negative or less or equal to number of rows (3) got: 4
L.band_part(X34, 0, 5)
    InvalidArgumentError: num_upper must be negative or less or equal to number of columns (4) got: 5
L.band_part(X34, 3, 4)
    int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
L.band_part(X34, -5, -7)
    int32 [3, 4] [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
L.band_part([1, 2], 0, 0)
    InvalidArgumentError: input must be at least 2-dim, received shape: [2]
L.band_part(X34, [0], 0)
    InvalidArgumentError
L.band_part(X34, 0, [0])
    InvalidArgumentError
L.band_part(X34, tf.constant(0, tf.int64), tf.constant(1, tf.int64))
    int32 [3, 4] [[1, 2, 0, 0], [0, 6, 7, 0], [0, 0, 11, 12]]
L.band_part(numbers(2, 2, 2), 0, -1)
    int32 [2, 2, 2] [[[1, 2], [0, 4]], [[5, 6], [0, 8]]]
L.band_part(C, 0, 0)
    complex128 [3, 2] [[1+2j, 0+0j], [0+0j, 5-1j], [0+0j, 0+0j]]
static(lambda x: L.band_part(x, 1, 0), [None,3])
    '(None, 3)'
static(lambda x: L.band_part(x, 1, 0), None)
    '<unknown>'
static(lambda x: L.band_part(x, 1, 0), [3])
    '(3,)'
static(lambda x: L.band_part(x, 4, 0), [3,4])
    '(3, 4)'
static(lambda x: L.band_part(x, 0, 5), [3,4])
    '(3, 4)'
static(lambda x: L.band_part(x, 3, 4), [3,4])
    '(3, 4)'
static(lambda x: L.band_part(x, [1], 0), [3,4])
    '(3, 4)'
grad(lambda x: L.band_part(x, 0, 1) * floats(3, 4), floats(3, 4))
    float32 [3, 4] [[1, 2, 0, 0], [0, 6, 7, 0], [0, 0, 11, 12]]
mapped(lambda x: L.band_part(x, 0, 1), numbers(2, 3, 4))
    int32 [2, 3, 4] [[[1, 2, 0, 0], [0, 6, 7, 0], [0, 0, 11, 12]], [[13, 14, 0, 0], [0, 18, 19, 0], [0, 0, 23, 24]]]
unranked(lambda x: L.band_part(x, 1, 0), X34)
    int32 [3, 4] [[1, 0, 0, 0], [5, 6, 0, 0], [0, 10, 11, 0]]
L.tensor_diag([1, 2])
    int32 [2, 2] [[1, 0], [0, 2]]
L.tensor_diag([[1, 2], [3, 4]])
    int32 [2, 2, 2, 2] [[[[1, 0], [0, 0]], [[0, 2], [0, 0]]], [[[0, 0], [3, 0]], [[0, 0], [0, 4]]]]
L.tensor_diag(1)
    InvalidArgumentError: Input must be at least rank 1, got 0
L.tensor_diag(tf.zeros([0]))
    float32 [0, 0] []
static(L.tensor_diag, [2,None])
    '(2, None, 2, None)'
static(L.tensor_diag, None)
    '<unknown>'
static(L.tensor_diag, [])
    ValueError
grad(lambda x: L.tensor_diag(x) * [[1., 2], [3, 4]], [5., 6])
    float32 [2] [1, 4]
L.tensor_diag_part([[1, 2], [3, 4]])
    int32 [2] [1, 4]
L.tensor_diag_part(numbers(2, 3, 2, 3))
    int32 [2, 3] [[1, 8, 15], [22, 29, 36]]
L.tensor_diag_part(numbers(2, 3))
    InvalidArgumentError: Invalid shape [2,3]: dimensions 0 and 1 do not match.
L.tensor_diag_part(numbers(2, 3, 3, 2))
    InvalidArgumentError: Invalid shape [2,3,3,2]: dimensions 0 and 2 do not match.
L.tensor_diag_part(numbers(3))
    InvalidArgumentError: The rank of the tensor should be even and positive, got shape [3]
L.tensor_diag_part(numbers(2, 2, 2))
    InvalidArgumentError: The rank of the tensor should be even and positive, got shape [2,2,2]
L.tensor_diag_part(1)
    int32 [] 1
static(L.tensor_diag_part, [2,2])
    '(2,)'
static(L.tensor_diag_part, [2,None])
    '(2,)'
static(L.tensor_diag_part, [None,3,2,None])
    '(2, 3)'
static(L.tensor_diag_part, [2,3])
    ValueError
static(L.tensor_diag_part, [2,3,2,4])
    ValueError
static(L.tensor_diag_part, [3])
    ValueError
static(L.tensor_diag_part, [])
    ValueError
static(L.tensor_diag_part, None)
    '<unknown>'
grad(lambda x: L.tensor_diag_part(x) * [1., 2], floats(2, 2))
    float32 [2, 2] [[1, 0], [0, 2]]
unranked(L.tensor_diag_part, numbers(2, 3, 2, 3))
    int32 [2, 3] [[1, 8, 15], [22, 29, 36]]
unranked(L.tensor_diag, numbers(2, 2))
    int32 [2, 2, 2, 2] [[[[1, 0], [0, 0]], [[0, 2], [0, 0]]], [[[0, 0], [3, 0]], [[0, 0], [0, 4]]]]
L.matrix_transpose(X34)
    int32 [4, 3] [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]]
L.matrix_transpose(numbers(2, 2, 3))
    int32 [2, 3, 2] [[[1, 4], [2, 5], [3, 6]], [[7, 10], [8, 11], [9, 12]]]
L.matrix_transpose(C)
    complex128 [2, 3] [[1+2j, 4+0j, 2+0j], [0+3j, 5-1j, 0+2j]]
L.matrix_transpose(C, conjugate=True)
    complex128 [2, 3] [[1-2j, 4-0j, 2-0j], [0-3j, 5+1j, 0-2j]]
L.matrix_transpose([1, 2])
    ValueError: Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = [1 2] with shape: (2,)
L.matrix_transpose(1)
    ValueError: Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = 1 with shape: ()
L.matrix_transpose([[1, 2]])
    int32 [2, 1] [[1], [2]]
static(L.matrix_transpose, [2,None,3])
    '(2, 3, None)'
static(L.matrix_transpose, None)
    '<unknown>'
static(L.matrix_transpose, [3])
    ValueError: Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = Tensor("xs_0:0", shape=(3,),
    dtype=float32) with shape: (3,)
unranked(L.matrix_transpose, numbers(2, 2, 3))
    int32 [2, 3, 2] [[[1, 4], [2, 5], [3, 6]], [[7, 10], [8, 11], [9, 12]]]
unranked(lambda x: L.matrix_transpose(x, conjugate=True), C)
    complex128 [2, 3] [[1-2j, 4-0j, 2-0j], [0-3j, 5+1j, 0-2j]]
unranked(L.adjoint, tf.stack([C, 2 * C]))
    complex128 [2, 2, 3] [[[1-2j, 4-0j, 2-0j], [0-3j, 5+1j, 0-2j]], [[2-4j, 8-0j, 4-0j], [0-6j, 10+2j, 0-4j]]]
L.adjoint(C)
    complex128 [2, 3] [[1-2j, 4-0j, 2-0j], [0-3j, 5+1j, 0-2j]]
L.adjoint([1, 2])
    ValueError: Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = [1 2] with shape: (2,)
L.adjoint(X34)
    int32 [4, 3] [[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]]
L.adjoint(L.LinearOperatorFullMatrix(C)).to_dense()
    complex128 [2, 3] [[1-2j, 4-0j, 2-0j], [0-3j, 5+1j, 0-2j]]
grad(lambda x: L.adjoint(x) * [1 + 1j, 2, 3], C)
    complex128 [3, 2] [[1+1j, 1+1j], [2-0j, 2-0j], [3-0j, 3-0j]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    check_row(ROWS, source, globals())
