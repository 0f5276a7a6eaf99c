"""`tf.RaggedTensor`: how it is made, its parts, its lengths, and Python's protocols. TensorFlow gave the outcomes."""

import numpy as np
import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RT, C = tf.RaggedTensor, tf.ragged.constant
A = C([[1, 2], [], [3]])
A32 = A.with_row_splits_dtype(tf.int32)
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
U = RT.from_row_splits(tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 3])
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


def parts(rt):
    return (
        rt.shape, rt.dtype, rt.ragged_rank, rt.flat_values, rt.row_splits, rt.uniform_row_length,
        rt.nested_row_splits, rt.nested_row_lengths(), rt.nested_value_rowids(), rt.row_starts(), rt.row_limits(),
        rt.value_rowids(), rt.nrows(), rt.bounding_shape(),
    )  # fmt: skip


ROWS = read_rows(r"""
RT.from_row_splits([1, 2, 3], [0, 2, 2, 3])
    int32 (3, None) [[1, 2], [], [3]]
RT.from_row_splits([1, 2, 3], [0, 2, 2])
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
RT.from_row_splits([1, 2, 3], [0, 2, 2], validate=False).row_splits
    int64 [3] [0, 2, 2]
RT.from_row_splits([1, 2, 3], [0, 2, 3], validate=False).row_splits
    int64 [3] [0, 2, 3]
RT.from_row_splits(5, [0, 1])
    InvalidArgumentError: The values of a RaggedTensor must have rank 1 or more, not 0.
RT.from_row_lengths([1, 2, 3], [1, 1])
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
RT.from_row_lengths([1, 2, 3], [1, 2])
    int32 (2, None) [[1], [2, 3]]
RT.from_row_starts([1, 2, 3], [0, 2, 2])
    int32 (3, None) [[1, 2], [], [3]]
RT.from_row_starts([1, 2, 3], [0, 4])
    InvalidArgumentError: Arguments to from_row_splits do not form a valid RaggedTensor:monotonic: row splits
    decrease: [0, 4, 3]
RT.from_row_limits([1, 2, 3], [2, 2, 3])
    int32 (3, None) [[1, 2], [], [3]]
RT.from_row_limits([1, 2, 3], [2])
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
RT.from_value_rowids([1, 2, 3], [0, 0, 2])
    int32 (3, None) [[1, 2], [], [3]]
RT.from_value_rowids([1, 2, 3], [0, 0, 2], 5)
    int32 (5, None) [[1, 2], [], [3], [], []]
RT.from_value_rowids([1, 2, 3], [0, 0])
    ValueError: Shapes (3,) and (2,) are incompatible
RT.from_value_rowids([1, 2, 3], [0, 0, 2], 2)
    ValueError: Expected nrows >= value_rowids[-1] + 1; got nrows=2, value_rowids[-1]=2
RT.from_value_rowids([1, 2, 3], tf.constant([0, 0, 2]), nrows=4).row_splits
    int32 [5] [0, 2, 2, 3, 3]
RT.from_uniform_row_length([1, 2, 3, 4], 2)
    int32 (2, 2) [[1, 2], [3, 4]]
RT.from_uniform_row_length([1, 2, 3, 4], 3)
    ValueError: uniform_row_length=3 times nrows=1 must equal nvals=4
RT.from_uniform_row_length([1, 2, 3, 4], -1)
    ValueError: uniform_row_length must be >= 0.
RT.from_uniform_row_length(tf.zeros([0]), 0, nrows=2)
    float32 (2, 0) [[], []]
RT.from_uniform_row_length([1, 2, 3, 4], 2, nrows=3)
    ValueError: uniform_row_length=2 times nrows=3 must equal nvals=4
RT.from_uniform_row_length([1, 2], tf.constant(2)).row_splits
    int32 [2] [0, 2]
RT.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 3]])
    int32 (1, None, None) [[[1], [2, 3]]]
RT.from_nested_row_splits([1, 2, 3], [])
    (1; 2; 3)
RT.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 4]])
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
RT.from_nested_row_splits([1, 2, 3], tf.constant([[0, 3]]))
    TypeError: Argument must be a list of Tensors. Received [[0 3]].
RT.from_nested_row_lengths([1, 2, 3], [[2], [1, 2]])
    int32 (1, None, None) [[[1], [2, 3]]]
RT.from_nested_row_lengths([1, 2, 3], [[2], [1, 3]])
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
RT.from_nested_row_lengths([1, 2, 3], tf.constant([[3]]))
    TypeError: Argument must be a list of Tensors. Received [[3]].
RT.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]])
    int32 (1, None, None) [[[1], [2, 3]]]
RT.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]], [3, 2])
    int32 (3, None, None) [[[1], [2, 3]], [], []]
RT.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]], [3])
    ValueError: Argument `nested_nrows` must have the same length as argument `nested_value_rowids`.
RT.from_nested_value_rowids([1, 2, 3], tf.constant([[0, 0, 0]]))
    TypeError: Argument must be a list of Tensors. Received [[0 0 0]].
RT.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 4]], validate=False).nested_row_splits
    (int64 [2] [0, 2]; int64 [3] [0, 1, 4])
parts(A)
    (TensorShape([3, None]); tf.int32; 1; int32 [3] [1, 2, 3]; int64 [4] [0, 2, 2, 3]; None; (int64 [4] [0, 2, 2,
    3]); (int64 [3] [2, 0, 1]); (int64 [3] [0, 0, 2]); int64 [3] [0, 2, 2]; int64 [3] [2, 2, 3]; int64 [3] [0, 0,
    2]; int64 [] 3; int64 [2] [3, 2])
parts(N)
    (TensorShape([3, None, None]); tf.int32; 2; int32 [6] [1, 2, 3, 4, 5, 6]; int64 [4] [0, 2, 2, 4]; None; (int64
    [4] [0, 2, 2, 4]; int64 [5] [0, 2, 3, 6, 6]); (int64 [3] [2, 0, 2]; int64 [4] [2, 1, 3, 0]); (int64 [4] [0, 0,
    2, 2]; int64 [6] [0, 0, 1, 2, 2, 2]); int64 [3] [0, 2, 2]; int64 [3] [2, 2, 4]; int64 [4] [0, 0, 2, 2]; int64 []
    3; int64 [3] [3, 2, 3])
parts(U)
    (TensorShape([2, None, 2, 2]); tf.int32; 1; int32 [3, 2, 2] [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10,
    11]]]; int64 [3] [0, 2, 3]; None; (int64 [3] [0, 2, 3]); (int64 [2] [2, 1]); (int64 [3] [0, 0, 1]); int64 [2]
    [0, 2]; int64 [2] [2, 3]; int64 [3] [0, 0, 1]; int64 [] 2; int64 [4] [2, 2, 2, 2])
parts(UNIFORM)
    (TensorShape([2, 2, None]); tf.int32; 2; int32 [4] [1, 2, 3, 4]; int64 [3] [0, 2, 4]; int64 [] 2; (int64 [3] [0,
    2, 4]; int64 [5] [0, 1, 3, 3, 4]); (int64 [2] [2, 2]; int64 [4] [1, 2, 0, 1]); (int64 [4] [0, 0, 1, 1]; int64
    [4] [0, 1, 1, 3]); int64 [2] [0, 2]; int64 [2] [2, 4]; int64 [4] [0, 0, 1, 1]; int64 [] 2; int64 [3] [2, 2, 2])
parts(A32)
    (TensorShape([3, None]); tf.int32; 1; int32 [3] [1, 2, 3]; int32 [4] [0, 2, 2, 3]; None; (int32 [4] [0, 2, 2,
    3]); (int32 [3] [2, 0, 1]); (int32 [3] [0, 0, 2]); int32 [3] [0, 2, 2]; int32 [3] [2, 2, 3]; int32 [3] [0, 0,
    2]; int32 [] 3; int32 [2] [3, 2])
parts(C([['a'], []]))
    (TensorShape([2, None]); tf.string; 1; string [1] [b'a']; int64 [3] [0, 1, 1]; None; (int64 [3] [0, 1, 1]);
    (int64 [2] [1, 0]); (int64 [1] [0]); int64 [2] [0, 1]; int64 [2] [1, 1]; int64 [1] [0]; int64 [] 2; int64 [2]
    [2, 1])
A.get_shape()
    TensorShape([3, None])
A.row_lengths(0)
    int64 [] 3
A.row_lengths()
    int64 [3] [2, 0, 1]
A.row_lengths(axis=-1)
    int64 [3] [2, 0, 1]
A.row_lengths(2)
    ValueError: axis=2 out of bounds: expected -2<=axis<2
A.row_lengths('a')
    TypeError: axis must be an int; got str
N.row_lengths(2)
    int64 (3, None) [[2, 1], [], [3, 0]]
N.row_lengths(1)
    int64 [3] [2, 0, 2]
U.row_lengths(2)
    int64 (2, None) [[2, 2], [2]]
U.row_lengths(3)
    int64 (2, None, 2) [[[2, 2], [2, 2]], [[2, 2]]]
UNIFORM.row_lengths(2)
    int64 (2, 2) [[1, 2], [0, 1]]
traced(lambda u: u.row_lengths(3), U)
    int64 (2, None, 2) [[[2, 2], [2, 2]], [[2, 2]]]
A.nrows(tf.int32)
    int32 [] 3
A.nrows(out_type='int32')
    int32 [] 3
A32.nrows()
    int32 [] 3
N.bounding_shape(1)
    int64 [] 2
N.bounding_shape([0, 2])
    int64 [2] [3, 3]
N.bounding_shape(out_type=tf.int32)
    int32 [3] [3, 2, 3]
N.bounding_shape(axis=[2], out_type=tf.int32)
    int32 [1] [3]
C([]).shape
    TensorShape([0])
RT.from_row_splits(tf.zeros([0, 3]), [0]).bounding_shape()
    int64 [3] [0, 0, 3]
traced(lambda a: a.bounding_shape(), N)
    int64 [3] [3, 2, 3]
traced(lambda a: a.nrows(), N)
    int64 [] 3
A.consumers()
    ()
A.with_values(['a', 'b', 'c'])
    string (3, None) [[b'a', b'b'], [], [b'c']]
A.with_values(['a', 'b'])
    ValueError: Shapes (2,) and (3,) are incompatible
A.with_values(C([[5], [], [6, 7]]))
    int32 (3, None, None) [[[5], []], [], [[6, 7]]]
N.with_values([7, 8, 9, 10])
    int32 (3, None) [[7, 8], [], [9, 10]]
N.with_flat_values(tf.range(6) * 10)
    int32 (3, None, None) [[[0, 10], [20]], [], [[30, 40, 50], []]]
N.with_flat_values([1, 2])
    ValueError: Shapes (2,) and (6,) are incompatible
A.with_row_splits_dtype(tf.int32).row_splits
    int32 [4] [0, 2, 2, 3]
N.with_row_splits_dtype('int32').nested_row_splits
    (int32 [4] [0, 2, 2, 4]; int32 [5] [0, 2, 3, 6, 6])
UNIFORM.with_row_splits_dtype(tf.int32).uniform_row_length
    int32 [] 2
A.with_row_splits_dtype(tf.float32)
    ValueError: Argument dtype must be int32 or int64. Received <dtype: 'float32'>.
A.to_list()
    ((1; 2); (); (3))
N.to_list()
    (((1; 2); (3)); (); ((4; 5; 6); ()))
U.to_list()
    ((((0; 1); (2; 3)); ((4; 5); (6; 7))); (((8; 9); (10; 11))))
A.numpy()[0]
    array int32 [2] [1, 2]
A.numpy().dtype
    dtype('O')
C([[1, 2], [3, 4]]).numpy()
    array int32 [2, 2] [[1, 2], [3, 4]]
C([[]]).numpy()
    array float32 [1, 0] [[]]
C([]).numpy()
    array float32 [0] []
C([[[1], [2]], [[3], [4]]]).numpy()
    array int32 [2, 2, 1] [[[1], [2]], [[3], [4]]]
N.numpy()[2][0]
    array int32 [3] [4, 5, 6]
RT.from_row_splits([1, 2], [0]).numpy()
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
RT.from_row_splits(tf.zeros([2, 3], tf.int32), [0]).numpy()
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
C([['a', 'b'], ['c', 'd']]).numpy()
    array object [2, 2] [[b'a', b'b'], [b'c', b'd']]
list(A)
    (int32 [2] [1, 2]; int32 [0] []; int32 [1] [3])
list(N)
    (int32 (2, None) [[1, 2], [3]]; int32 (0, None) []; int32 (2, None) [[4, 5, 6], []])
[tf.reduce_sum(r) for r in C([[1, 2], [3]])]
    (int32 [] 3; int32 [] 3)
len(list(U))
    2
bool(A)
    TypeError: RaggedTensor may not be used as a boolean.
hash(A)
    TypeError: RaggedTensor is unhashable.
A in [1]
    TypeError: RaggedTensor may not be used as a boolean.
A == A
    bool (3, None) [[True, True], [], [True]]
A != C([[1, 5], [], [3]])
    bool (3, None) [[False, True], [], [False]]
repr(A)
    '<tf.RaggedTensor [[1, 2], [], [3]]>'
repr(N)
    '<tf.RaggedTensor [[[1, 2], [3]], [], [[4, 5, 6], []]]>'
repr(C([['a'], [], ['bc', 'd']]))
    "<tf.RaggedTensor [[b'a'], [], [b'bc', b'd']]>"
repr(U)
    '<tf.RaggedTensor [[[[0, 1],\n [2, 3]],\n\n [[4, 5],\n [6, 7]]], [[[8, 9],\n [10, 11]]]]>'
str(C([[1.5, 2.0], []]))
    '<tf.RaggedTensor [[1.5, 2.0], []]>'
repr(RT.from_row_splits([1, 2], [0]))
    InvalidArgumentError: Arguments to _from_row_partition do not form a valid RaggedTensor
traced(lambda a: tf.constant(repr(a)[:16]), A)
    string [] b'tf.RaggedTensor('
traced(lambda a: a.to_list(), A)
    ValueError: values must be convertible to a list
traced(lambda a: a.numpy(), A)
    ValueError: RaggedTensor.numpy() is only supported in eager mode.
A + 1
    int32 (3, None) [[2, 3], [], [4]]
1 - A
    int32 (3, None) [[0, -1], [], [-2]]
A * A
    int32 (3, None) [[1, 4], [], [9]]
-A
    int32 (3, None) [[-1, -2], [], [-3]]
A / 2
    float64 (3, None) [[0.5, 1], [], [1.5]]
A // 2
    int32 (3, None) [[0, 1], [], [1]]
A % 2
    int32 (3, None) [[1, 0], [], [1]]
A ** 2
    int32 (3, None) [[1, 4], [], [9]]
2 ** A
    int32 (3, None) [[2, 4], [], [8]]
abs(-A)
    int32 (3, None) [[1, 2], [], [3]]
A < 2
    bool (3, None) [[True, False], [], [False]]
A >= C([[2, 2], [], [2]])
    bool (3, None) [[False, True], [], [True]]
~(A > 1)
    bool (3, None) [[True, False], [], [False]]
(A > 1) & (A < 3)
    bool (3, None) [[False, True], [], [False]]
(A > 1) | (A < 2)
    bool (3, None) [[True, True], [], [True]]
(A > 1) ^ True
    bool (3, None) [[True, False], [], [False]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def test_loops_over_rows_in_graphs():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def sum_of_squares(rows):
        total = 0
        for row in rows:
            total += tf.reduce_sum(row) ** 2
        return total

    assert sum_of_squares(A).numpy() == 18
    assert sum_of_squares(A[:0]).numpy() == 0


def test_a_ragged_tensor_feeds_a_session():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        held = v1.ragged.placeholder(tf.int32, 1, [])
        value = v1.ragged.constant_value([[1, 2], [], [3]])
        found = session.run(held * 10, {held: value})
    assert isinstance(found, v1.ragged.RaggedTensorValue) and found.to_list() == [[10, 20], [], [30]]


def test_arrays_are_copied():
    values = np.array([1, 2, 3])
    rt = RT.from_row_splits(values, np.array([0, 1, 3]))
    values[0] = 7
    assert rt.to_list() == [[1], [2, 3]]
    rt.numpy()[0][0] = 9
    assert rt.to_list() == [[1], [2, 3]]
