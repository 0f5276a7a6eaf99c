"""Broadcasting, reductions, products and other ops of ragged tensors. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RT, C = tf.RaggedTensor, tf.ragged.constant
A = C([[1, 2], [], [3]])
F = C([[1.5, 2.0], [], [3.0]])
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
U = RT.from_row_splits(tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 3])
ONES = RT.from_row_splits(tf.constant([[10], [20], [30]]), [0, 2, 3])
UNIFORM = RT.from_uniform_row_length(C([[1], [2, 3], [], [4]]), 2)


def traced(function, *values):
    """Calls a function in a graph, with row splits and dimensions that are not static."""
    specs = [
        tf.RaggedTensorSpec([None] * len(v.shape), v.dtype, v.ragged_rank, v.row_splits.dtype)
        if isinstance(v, RT)
        else tf.TensorSpec([None] * len(v.shape), v.dtype)
        for v in (v if isinstance(v, RT) else tf.convert_to_tensor(v) for v in values)
    ]
    return tf.function(function, input_signature=specs, autograph=False)(*values)


def of_unknown_rank(function, value):
    return tf.function(function, input_signature=[tf.TensorSpec(None, tf.int32)])(value)


def with_static(value):
    return value, value.shape


ROWS = read_rows(r"""
A + 10
    int32 (3, None) [[11, 12], [], [13]]
10 - A
    int32 (3, None) [[9, 8], [], [7]]
A + [[10], [20], [30]]
    int32 (3, None) [[11, 12], [], [33]]
[[10], [20], [30]] - A
    int32 (3, None) [[9, 8], [], [27]]
A + [10]
    int32 (3, None) [[11, 12], [], [13]]
A + [[10]]
    int32 (3, None) [[11, 12], [], [13]]
A + [[[10]], [[20]]]
    int32 (2, 3, None) [[[11, 12], [], [13]], [[21, 22], [], [23]]]
[[[10]], [[20]]] * A
    int32 (2, 3, None) [[[10, 20], [], [30]], [[20, 40], [], [60]]]
A + C([[10], [20], [30]])
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 1: lengths [2, 0, 1] and [1, 1,
    1]
A + C([[10, 20], [], [30]])
    int32 (3, None) [[11, 22], [], [33]]
A + C([[10, 20], [30]])
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 0: lengths [3] and [2]
A + [10, 20]
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 1: lengths [2, 0, 1] and [2, 2,
    2]
A + [[10], [20]]
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 0: lengths [3] and [2]
A + 2.5
    InvalidArgumentError: cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a
    float tensor
F + 1
    float32 (3, None) [[2.5, 3], [], [4]]
F * [[1], [2], [3]]
    float32 (3, None) [[1.5, 2], [], [9]]
N + [[[10]], [[20]], [[30]]]
    int32 (3, None, None) [[[11, 12], [13]], [], [[34, 35, 36], []]]
N + [[10], [20], [30]]
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 1: lengths [2, 0, 2] and [3, 3,
    3]
N + [[10], [20]]
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 1: lengths [2, 0, 2] and [2, 2,
    2]
N + 1
    int32 (3, None, None) [[[2, 3], [4]], [], [[5, 6, 7], []]]
N + [5]
    int32 (3, None, None) [[[6, 7], [8]], [], [[9, 10, 11], []]]
N + RT.from_row_splits([[10], [20], [30], [40]], [0, 2, 2, 4])
    int32 (3, None, None) [[[11, 12], [23]], [], [[34, 35, 36], []]]
with_static(N * RT.from_uniform_row_length(C([[1], [2], [3]]), 1))
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 2: lengths [2, 1, 3, 0] and [1,
    1, 1, 1]
with_static(U + [[10], [20]])
    (int32 (2, None, 2, 2) [[[[10, 11], [22, 23]], [[14, 15], [26, 27]]], [[[18, 19], [30, 31]]]]; TensorShape([2,
    None, 2, 2]))
with_static(U + [10, 20])
    (int32 (2, None, 2, 2) [[[[10, 21], [12, 23]], [[14, 25], [16, 27]]], [[[18, 29], [20, 31]]]]; TensorShape([2,
    None, 2, 2]))
with_static(U + [[[[10]]], [[[20]]]])
    (int32 (2, None, 2, 2) [[[[10, 11], [12, 13]], [[14, 15], [16, 17]]], [[[28, 29], [30, 31]]]]; TensorShape([2,
    None, 2, 2]))
with_static(U + [10, 20, 30])
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 3: lengths [2, 2, 2, 2, 2, 2]
    and [3, 3, 3, 3, 3, 3]
with_static(UNIFORM + [[[1], [2]], [[3], [4]]])
    (int32 (2, 2, None) [[[2], [4, 5]], [[], [8]]]; TensorShape([2, 2, None]))
with_static(UNIFORM + [[1], [2]])
    (int32 (2, 2, None) [[[2], [4, 5]], [[], [6]]]; TensorShape([2, 2, None]))
with_static(UNIFORM + UNIFORM)
    (int32 (2, 2, None) [[[2], [4, 6]], [[], [8]]]; TensorShape([2, 2, None]))
with_static(UNIFORM + [[[1]], [[2]]])
    (int32 (2, 2, None) [[[2], [3, 4]], [[], [6]]]; TensorShape([2, 2, None]))
A.with_row_splits_dtype(tf.int32) + 1
    int32 (3, None) int32 [[2, 3], [], [4]]
A.with_row_splits_dtype(tf.int32) + [[1], [2], [3]]
    int32 (3, None) int32 [[2, 3], [], [6]]
tf.maximum(A, 2)
    int32 (3, None) [[2, 2], [], [3]]
tf.maximum(2, A)
    int32 (3, None) [[2, 2], [], [3]]
tf.where(A > 1, A, -A)
    int32 (3, None) [[-1, 2], [], [3]]
tf.where(A > 1, A, 0)
    int32 (3, None) [[0, 2], [], [3]]
tf.where(C([[True], [False]]), C([[1], [2]]), [[7], [8]])
    int32 (2, None) [[1], [8]]
tf.where(A - 1)
    int64 [2, 2] [[0, 1], [2, 0]]
tf.clip_by_value(A, 2, 2)
    int32 (3, None) [[2, 2], [], [2]]
tf.add_n([A, A, A])
    int32 (3, None) [[3, 6], [], [9]]
tf.strings.join([C([['a'], ['b', 'c']]), 'x'], '-')
    string (2, None) [[b'a-x'], [b'b-x', b'c-x']]
tf.strings.join(['x', C([['a'], ['b', 'c']])])
    string (2, None) [[b'xa'], [b'xb', b'xc']]
tf.cast(F, tf.int32)
    int32 (3, None) [[1, 2], [], [3]]
tf.bitcast(A, tf.float32)
    float32 (3, None) [[1.4013e-45, 2.8026e-45], [], [4.2039e-45]]
tf.math.divide(A, 2)
    float64 (3, None) [[0.5, 1], [], [1.5]]
tf.realdiv(F, 2.0)
    float32 (3, None) [[0.75, 1], [], [1.5]]
tf.rank(N)
    int32 [] 3
tf.size(N)
    int32 [] 6
tf.size(N, tf.int64)
    int64 [] 6
tf.reshape(A, [-1])
    int32 [3] [1, 2, 3]
tf.reverse(A, [0])
    int32 (3, None) [[3], [], [1, 2]]
tf.reverse(A, [1])
    int32 (3, None) [[2, 1], [], [3]]
tf.reverse(A, [-1, 0])
    int32 (3, None) [[3], [], [2, 1]]
tf.reverse(A, [2])
    ValueError: axis[0]=2 out of bounds: expected -2<=axis[0]<2
tf.reverse(A, 1)
    TypeError: `axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor
tf.reverse(A, tf.constant([1]))
    TypeError: `axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor
tf.reverse(A, [-3])
    ValueError: axis[0]=-3 out of bounds: expected -2<=axis[0]<2
tf.one_hot(A, 3)
    float32 (3, None, 3) [[[0, 1, 0], [0, 0, 1]], [], [[0, 0, 0]]]
tf.one_hot(A, 3, axis=-1)
    float32 (3, None, 3) [[[0, 1, 0], [0, 0, 1]], [], [[0, 0, 0]]]
tf.one_hot(A, 3, axis=2, on_value=5, off_value=-1)
    int32 (3, None, 3) [[[-1, 5, -1], [-1, -1, 5]], [], [[-1, -1, -1]]]
tf.one_hot(A, 3, axis=0)
    InvalidArgumentError: one_hot of a RaggedTensor takes axis=-1, not 0
tf.nn.softmax(F)
    float32 (3, None) [[0.37754, 0.62246], [], [1]]
tf.nn.softmax(C([[[1., 2.], [3.]], [[4.]]]))
    float32 (2, None, None) [[[0.26894, 0.73106], [1]], [[1]]]
tf.cumsum(A)
    int32 (3, None) [[1, 2], [], [4]]
tf.cumsum(A, axis=1)
    int32 (3, None) [[1, 3], [], [3]]
tf.cumsum(C([[1, 2, 3], [4, 5]]), axis=1, exclusive=True)
    int32 (2, None) [[0, 1, 3], [0, 4]]
tf.cumsum(C([[1, 2, 3], [4, 5]]), axis=1, reverse=True)
    int32 (2, None) [[6, 5, 3], [9, 5]]
tf.cumsum(C([[1, 2, 3], [4, 5]]), axis=0)
    int32 (2, None) [[1, 2, 3], [5, 7]]
tf.dynamic_partition(A, C([[1, 0], [], [1]]), 2)
    (int32 [1] [2]; int32 [2] [1, 3])
tf.dynamic_partition(A, [1, 0, 1], 3)
    (int32 (1, None) [[]]; int32 (2, None) [[1, 2], [3]]; int32 (0, None) [])
tf.io.decode_raw(C([['ab'], ['cd', 'ef']]), tf.uint8)
    uint8 (2, None, 2) [[[97, 98]], [[99, 100], [101, 102]]]
tf.io.decode_raw(C([['ab'], ['cd', 'ef']]), tf.uint16, little_endian=False)
    uint16 (2, None, 1) [[[24930]], [[25444], [25958]]]
tf.strings.reduce_join(C([['a', 'b'], ['c']]), 1)
    string [2] [b'ab', b'c']
tf.strings.reduce_join(C([['a', 'b'], ['c']]), -1, separator='-')
    string [2] [b'a-b', b'c']
tf.strings.reduce_join(C([['a', 'b'], ['c']]), 1, keepdims=True)
    string [2, 1] [[b'ab'], [b'c']]
tf.strings.reduce_join(C([['a', 'b'], ['c']]), 0)
    string [2] [b'ac', b'b']
tf.strings.reduce_join(C([[['a', 'b'], ['c']], [['d']]]), 2)
    string (2, None) [[b'ab', b'c'], [b'd']]
tf.strings.reduce_join(C([[['a', 'b'], ['c']], [['d']]]), 2, keepdims=True, separator=',')
    string (2, None, 1) [[[b'a,b'], [b'c']], [[b'd']]]
tf.strings.reduce_join(C([[['a', 'b'], ['c']], [['d']]]), [2, 1], separator=',')
    string [2] [b'a,b,c', b'd']
tf.strings.reduce_join(C([[['a', 'b'], ['c']], [['d']]]), [1, 2], separator=',')
    string [2] [b'a,b,c', b'd']
tf.math.unsorted_segment_sum(A, C([[1, 0], [], [1]]), 3)
    int32 [3] [2, 4, 0]
tf.math.unsorted_segment_max(A, [1, 0, 1], 2)
    int32 (2, None) [[], [3, 2]]
tf.math.unsorted_segment_min(A, [1, 0, 1], 2)
    int32 (2, None) [[], [1, 2]]
tf.math.unsorted_segment_prod(C([[2, 3], [4], [5, 6, 7]]), [1, 0, 1], 2)
    int32 (2, None) [[4], [10, 18, 7]]
tf.reduce_sum(A)
    int32 [] 6
tf.reduce_sum(A, 0)
    int32 [2] [4, 2]
tf.reduce_sum(A, 1)
    int32 [3] [3, 0, 3]
tf.reduce_sum(A, -1, keepdims=True)
    int32 [3, 1] [[3], [0], [3]]
tf.reduce_sum(A, 0, keepdims=True)
    int32 [1, 2] [[4, 2]]
tf.reduce_sum(A, keepdims=True)
    int32 [1, 1] [[6]]
tf.reduce_sum(N, [0, 2])
    int32 [2] [18, 3]
tf.reduce_sum(N, [1, 2])
    int32 [3] [6, 0, 15]
tf.reduce_sum(N, 1)
    int32 (3, None) [[4, 2], [], [4, 5, 6]]
tf.reduce_sum(N, 1, keepdims=True)
    int32 (3, 1, None) [[[4, 2]], [[]], [[4, 5, 6]]]
tf.reduce_sum(N, 2, keepdims=True)
    int32 (3, None, 1) [[[3], [3]], [], [[15], [0]]]
tf.reduce_sum(N, keepdims=True)
    int32 [1, 1, 1] [[[21]]]
tf.reduce_sum(N, 0)
    int32 (2, None) [[5, 7, 6], [3]]
tf.reduce_sum(A, 2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
tf.reduce_sum(A, -3)
    ValueError: axis=-3 out of bounds: expected -2<=axis<2
tf.reduce_sum(A, [1, 1])
    int32 [3] [3, 0, 3]
tf.reduce_sum(A, np.array([0, 1]))
    int32 [] 6
tf.reduce_sum(A, np.array(1))
    TypeError: axis must be an int; got ndarray
tf.reduce_sum(A, tf.constant(1))
    TypeError: axis must be an int; got int32
tf.reduce_sum(A, tf.constant([0, 1]))
    int32 [] 6
tf.reduce_sum(U, 2)
    int32 (2, None, 2) [[[2, 4], [10, 12]], [[18, 20]]]
tf.reduce_sum(U, 3)
    int32 (2, None, 2) [[[1, 5], [9, 13]], [[17, 21]]]
tf.reduce_sum(U, 1)
    int32 [2, 2, 2] [[[4, 6], [8, 10]], [[8, 9], [10, 11]]]
tf.reduce_prod(A, 1)
    int32 [3] [2, 1, 3]
tf.reduce_max(A, 0)
    int32 [2] [3, 2]
tf.reduce_max(A, 1)
    int32 [3] [2, -2147483648, 3]
tf.reduce_min(F, 1)
    float32 [3] [1.5, 3.4028e+38, 3]
tf.reduce_mean(F, 0)
    float32 [2] [2.25, 2]
tf.reduce_mean(F, 1)
    float32 [3] [1.75, nan, 3]
tf.reduce_mean(A, 1)
    float64 [3] [1.5, nan, 3]
tf.reduce_mean(A)
    float64 [] 2
tf.reduce_mean(C([[1, 2], [4]]), 0)
    float64 [2] [2.5, 2]
tf.reduce_mean(C([[[1., 2.], [3.]], [[4.]]]), 2)
    float32 (2, None) [[1.5, 3], [4]]
tf.reduce_mean(C([[[1., 2.], [3.]], [[4.]]]), [1, 2])
    float32 [2] [2, 4]
tf.reduce_mean(F, 1, keepdims=True)
    float32 [3, 1] [[1.75], [nan], [3]]
tf.reduce_any(A > 2, 1)
    bool [3] [False, False, True]
tf.reduce_any(A > 2, 0)
    bool [2] [True, False]
tf.reduce_all(A > 1, 1)
    bool [3] [False, True, True]
tf.reduce_all(A > 0)
    bool [] True
tf.reduce_all(C([[True, False], [True]]), 0)
    bool [2] [True, False]
tf.reduce_any(C([[[True], [False]], [[False]]]), 2)
    bool (2, None) [[True, False], [False]]
traced(lambda a: tf.reduce_sum(a, 1), A)
    int32 [3] [3, 0, 3]
traced(lambda a, x: tf.reduce_sum(a, x), A, 1)
    ValueError: axis must be known at graph construction time.
traced(lambda a: tf.reduce_mean(a, 0), F)
    float32 [2] [2.25, 2]
tf.matmul(C([[1, 2], [3, 4]]), [[5, 6], [7, 8]])
    int32 [2, 2] [[19, 22], [43, 50]]
tf.matmul([[5, 6], [7, 8]], C([[1, 2], [3, 4]]))
    int32 [2, 2] [[23, 34], [31, 46]]
tf.matmul(C([[1, 2], [3, 4]]), C([[5, 6], [7, 8]]), transpose_a=True)
    int32 [2, 2] [[26, 30], [38, 44]]
tf.matmul(C([[1, 2], [3, 4]]), C([[5, 6], [7, 8]]), transpose_b=True)
    int32 [2, 2] [[17, 23], [39, 53]]
tf.matmul(C([[1, 2], [3]]), C([[5, 6], [7, 8]]))
    InvalidArgumentError: The matrices in `a` and `b` may not be ragged in their innermost dimension. [1, 2]
tf.matmul(C([[1, 2], [3, 4]]), C([[5., 6.], [7., 8.]]))
    ValueError: `a` and `b` must have the same dtype.
tf.matmul(C([[1, 2], [3, 4]]), [[[5, 6], [7, 8]]])
    ValueError: `a` and `b` must have the same rank.
tf.matmul(C([[[1, 2]], [[3, 4], [5, 6]]]), C([[[1], [2]], [[3], [4]]]))
    int32 (2, None, None) [[[5]], [[25], [39]]]
tf.matmul(C([[[1, 2]], [[3, 4], [5, 6]]]), [[[1, 0], [2, 1]], [[3, 1], [4, 2]]])
    int32 (2, None, 2) [[[5, 2]], [[25, 11], [39, 17]]]
tf.matmul(C([[[1, 2]], [[3], [5]]]), C([[[1, 2], [2, 1]], [[3, 4, 5]]]))
    int32 (2, None, None) [[[5, 4]], [[9, 12, 15], [15, 20, 25]]]
tf.matmul(C([[[1], [2]], [[3, 4, 5], [5, 6, 7]]]), C([[[1], [2]], [[3], [4]]]), transpose_a=True)
    int32 (2, None, None) [[[5]], [[29], [36], [43]]]
tf.matmul(C([[[1, 2]], [[3, 4], [5, 6]]]), C([[[1, 2], [3, 4], [5, 6]], [[3, 4]]]), transpose_b=True)
    int32 (2, None, None) [[[5, 11, 17]], [[25], [39]]]
tf.matmul(C([[[1, 2]], [[3, 4, 5]]]), C([[[1], [2]], [[3], [4]]]))
    InvalidArgumentError: Matrix size-incompatible: [2, 3]
tf.matmul(C([[[1, 2]], [[3, 4], [5]]]), C([[[1], [2]], [[3], [4]]]))
    InvalidArgumentError: The matrices in `a` and `b` may not be ragged in their innermost dimension. [1, 2]
tf.matmul(C([[[1, 2]], [[3, 4]]]), C([[[1], [2]]]))
    ValueError: Shapes (2,) and (1,) are incompatible
tf.matmul(C([[[[1, 2]], [[3, 4]]], [[[5, 6]]]]), C([[[[1], [2]], [[3], [4]]], [[[5], [6]]]]))
    int32 (2, None, None, None) [[[[5]], [[25]]], [[[61]]]]
tf.matmul(C([[[[1, 2]]], [[[5, 6]]]]), C([[[[1], [2]], [[3], [4]]], [[[5], [6]]]]))
    InvalidArgumentError: Batch dimensions of `a` and `b` do not have the same size.
traced(lambda a, b: tf.matmul(a, b), C([[[1, 2]], [[3], [5]]]), C([[[1, 2], [2, 1]], [[3, 4, 5]]]))
    int32 (2, None, None) [[[5, 4]], [[9, 12, 15], [15, 20, 25]]]
traced(lambda a, b: a + b, A, [[10], [20], [30]])
    int32 (3, None) [[11, 12], [], [33]]
traced(lambda a, b: a + b, A, [10])
    int32 (3, None) [[11, 12], [], [13]]
traced(lambda a, b: a + b, A, [10, 20])
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 1: lengths [2, 0, 1] and [2, 2,
    2]
traced(lambda a, b: a + b, A, C([[1, 2], [], [3]]))
    int32 (3, None) [[2, 4], [], [6]]
traced(lambda a, b: a + b, A, C([[1, 2], [3]]))
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 0: lengths [3] and [2]
traced(lambda a, b: a + b, N, ONES)
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 0: lengths [3] and [2]
traced(lambda a, b: a * b, N, [[10], [20], [30]])
    InvalidArgumentError: Unable to broadcast: dimension size mismatch in dimension 1: lengths [2, 0, 2] and [3, 3,
    3]
traced(lambda a, b: a * b, N, [[[10]], [[20]], [[30]]])
    int32 (3, None, None) [[[10, 20], [30]], [], [[120, 150, 180], []]]
traced(lambda a, b: a * b, A, [[[10]], [[20]]])
    int32 (2, None, None) [[[10, 20], [], [30]], [[20, 40], [], [60]]]
traced(lambda a, b: b * a, U, [10, 20])
    int32 (2, None, None, None) [[[[0, 20], [20, 60]], [[40, 100], [60, 140]]], [[[80, 180], [100, 220]]]]
of_unknown_rank(lambda x: A + x, [10])
    ValueError: ValueError: Unable to broadcast a ragged tensor with a tensor of unknown rank: specify it with
    tf.ensure_shape.
tf.strings.format('{}', A)
    string [] b'[[1, 2], [], [3]]'
tf.strings.format('{} {}', (A, C([["it's"], []])))
    string [] b"[[1, 2], [], [3]] [['it\\'s'], []]"
tf.strings.format('{}', C([[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3]]), summarize=2)
    string [] b'[[1, 2, ..., 7, 8], [1, 2, 3]]'
tf.strings.format('{}', C([[1, 2, 3, 4, 5, 6, 7]]), summarize=3)
    string [] b'[[1, 2, 3, ..., 5, 6, 7]]'
tf.strings.format('{}', C([[1, 2, 3, 4, 5, 6, 7]]), summarize=-1)
    string [] b'[[1, 2, 3, 4, 5, 6, 7]]'
tf.strings.format('{}', C([[i] for i in range(9)]), summarize=2)
    string [] b'[[0], [1], ..., [7], [8]]'
tf.strings.format('{}', N, summarize=1)
    string [] b'[[[1, 2], [3]], ..., [[4, ..., 6], []]]'
tf.strings.format('{}', U)
    string [] b'[[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]]]]'
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
