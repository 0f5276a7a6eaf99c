"""Conversions of ragged tensors from and to dense tensors, sparse tensors and lists, as TensorFlow gave them."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RT, C = tf.RaggedTensor, tf.ragged.constant
D = tf.constant([[[1, 0], [2, 3], [0, 0]], [[4, 5], [0, 0], [0, 0]]])
M = tf.constant([[1, 2, 0, 0], [0, 3, 0, 4], [0, 0, 0, 0]])
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
U = RT.from_row_splits(tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 3])
S = tf.sparse.SparseTensor


def traced(function, *values):
    """Calls a function in a graph, with dimensions that are not static."""
    values = [tf.convert_to_tensor(v) for v in values]
    return tf.function(function, input_signature=[tf.TensorSpec([None] * len(v.shape), v.dtype) for v in values])(
        *values
    )


def of_unknown_rank(function, value):
    return tf.function(function, input_signature=[tf.TensorSpec(None, tf.int32)])(value)


def make(pylist, **options):
    """Describes a constant whose static shape matters."""
    value = C(pylist, **options)
    return value, value.shape, getattr(value, "ragged_rank", 0)


ROWS = read_rows("""
RT.from_tensor(M)
    int32 (3, 4) [[1, 2, 0, 0], [0, 3, 0, 4], [0, 0, 0, 0]]
RT.from_tensor(M).uniform_row_length
    int64 [] 4
RT.from_tensor(M, padding=0)
    int32 (3, None) [[1, 2], [0, 3, 0, 4], []]
RT.from_tensor(M, lengths=[1, 9, -2])
    int32 (3, None) [[1], [0, 3, 0, 4], []]
RT.from_tensor(M, lengths=[1, 9, 2], row_splits_dtype=tf.int32)
    int32 (3, None) int32 [[1], [0, 3, 0, 4], [0, 0]]
RT.from_tensor(M, lengths=[1, 2])
    ValueError: lengths must have shape (3,), not (2,)
RT.from_tensor(M, lengths=[1, 2, 3], padding=0)
    ValueError: Specify argument `lengths` or `padding`, but not both.
RT.from_tensor(M, ragged_rank=1.5)
    TypeError: Argument `ragged_rank` must be an int. Received 1.5.
RT.from_tensor(M, ragged_rank=0)
    ValueError: Argument `ragged_rank` must be greater than 0. Received 0.
RT.from_tensor(M, ragged_rank=-1)
    ValueError: Argument `ragged_rank` must be greater than 0. Received -1.
RT.from_tensor(M, ragged_rank=2)
    ValueError: Shape (3, 4) must have rank at least 3
RT.from_tensor([1, 2])
    ValueError: The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged
    dimensions. Received argument `tensor` with rank 1.
RT.from_tensor(3)
    ValueError: The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged
    dimensions. Received argument `tensor` with rank 0.
RT.from_tensor(D)
    int32 (2, 3, 2) [[[1, 0], [2, 3], [0, 0]], [[4, 5], [0, 0], [0, 0]]]
RT.from_tensor(D, padding=[0, 0])
    int32 (2, None, 2) [[[1, 0], [2, 3]], [[4, 5]]]
RT.from_tensor(D, padding=0, ragged_rank=2)
    int32 (2, 3, None) [[[1], [2, 3], []], [[4, 5], [], []]]
RT.from_tensor(D, padding=0)
    ValueError: Shapes () and (2,) are incompatible: `padding` is one value
RT.from_tensor(D, padding=[0, 0, 0])
    ValueError: Shapes (3,) and (2,) are incompatible: `padding` is one value
RT.from_tensor(D, ragged_rank=2)
    int32 (2, 3, 2) [[[1, 0], [2, 3], [0, 0]], [[4, 5], [0, 0], [0, 0]]]
RT.from_tensor(D, ragged_rank=2).shape
    TensorShape([2, 3, 2])
RT.from_tensor(D, ragged_rank=2).nested_row_splits
    (int64 [3] [0, 3, 6]; int64 [7] [0, 2, 4, 6, 8, 10, 12])
RT.from_tensor(D, ragged_rank=2, row_splits_dtype='int32')
    int32 (2, 3, 2) int32 [[[1, 0], [2, 3], [0, 0]], [[4, 5], [0, 0], [0, 0]]]
RT.from_tensor(D[:, :2], lengths=[[2, 1], [1, 2, 0]])
    int32 (2, None, None) [[[1], [2, 3]], [[]]]
RT.from_tensor(D[:, :2], lengths=([2, 1], [1, 2, 0]), row_splits_dtype=tf.int32)
    int32 (2, None, None) int32 [[[1], [2, 3]], [[]]]
RT.from_tensor(D[:, :2], lengths=[[2, 1]])
    int32 (2, None, 2) [[[1, 0], [2, 3]], [[4, 5]]]
RT.from_tensor(D, lengths=[[2, 1], [1, 2]])
    ValueError: Shapes (3,) and (2,) are incompatible
RT.from_tensor(D[None, :, :2], lengths=[[2], [2, 1], [1, 2, 0]])
    int32 (1, None, None, None) [[[[1], [2, 3]], [[]]]]
RT.from_tensor(tf.zeros([0, 3], tf.int32), padding=0)
    int32 (0, None) []
RT.from_tensor(tf.zeros([2, 0], tf.int32), padding=0)
    int32 (2, None) [[], []]
RT.from_tensor(tf.zeros([2, 0], tf.int32))
    int32 (2, 0) [[], []]
RT.from_tensor([['a', ''], ['', 'b'], ['', '']], padding='')
    string (3, None) [[b'a'], [b'', b'b'], []]
RT.from_tensor(tf.reshape(tf.range(16), [2, 2, 2, 2]), ragged_rank=3)
    int32 (2, 2, 2, 2) [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]], [[12, 13], [14, 15]]]]
RT.from_tensor(tf.reshape(tf.range(24), [2, 3, 2, 2]), ragged_rank=2)
    int32 (2, 3, 2, 2) [[[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]], [[[12, 13], [14, 15]], [[16, 17],
    [18, 19]], [[20, 21], [22, 23]]]]
of_unknown_rank(lambda x: RT.from_tensor(x), [[1]])
    ValueError: ValueError: tensor.shape.ndims must be statically known: specify it with set_shape or
    tf.ensure_shape
traced(lambda x: RT.from_tensor(x, padding=0), M)
    int32 (3, None) [[1, 2], [0, 3, 0, 4], []]
traced(lambda x, n: RT.from_tensor(x, lengths=n), M, [2, 1, 0])
    int32 (3, None) [[1, 2], [0], []]
traced(lambda x: RT.from_tensor(x, ragged_rank=2), D)
    int32 (2, None, None) [[[1, 0], [2, 3], [0, 0]], [[4, 5], [0, 0], [0, 0]]]
traced(lambda x: RT.from_tensor(x, padding=0, ragged_rank=2), D)
    int32 (2, None, None) [[[1], [2, 3], []], [[4, 5], [], []]]
N.to_tensor()
    int32 [3, 2, 3] [[[1, 2, 0], [3, 0, 0]], [[0, 0, 0], [0, 0, 0]], [[4, 5, 6], [0, 0, 0]]]
N.to_tensor().dtype
    tf.int32
N.to_tensor(-1)
    int32 [3, 2, 3] [[[1, 2, -1], [3, -1, -1]], [[-1, -1, -1], [-1, -1, -1]], [[4, 5, 6], [-1, -1, -1]]]
N.to_tensor(default_value=[7])
    InvalidArgumentError: default_value.shape=[1] and rt_input.flat_values.shape=[6] are incompatible
N.to_tensor(default_value=[7, 8])
    InvalidArgumentError: default_value.shape=[2] and rt_input.flat_values.shape=[6] are incompatible
N.to_tensor(shape=[None, None, 2])
    int32 [3, 2, 2] [[[1, 2], [3, 0]], [[0, 0], [0, 0]], [[4, 5], [0, 0]]]
N.to_tensor(shape=[3, 3, None])
    int32 [3, 3, 3] [[[1, 2, 0], [3, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[4, 5, 6], [0, 0, 0],
    [0, 0, 0]]]
N.to_tensor(shape=[2, 1, 1])
    int32 [2, 1, 1] [[[1]], [[0]]]
N.to_tensor(shape=(None, tf.constant(3), None))
    int32 [3, 3, 3] [[[1, 2, 0], [3, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[4, 5, 6], [0, 0, 0],
    [0, 0, 0]]]
N.to_tensor(shape=tf.constant([3, 2, 4]))
    int32 [3, 2, 4] [[[1, 2, 0, 0], [3, 0, 0, 0]], [[0, 0, 0, 0], [0, 0, 0, 0]], [[4, 5, 6, 0], [0, 0, 0, 0]]]
N.to_tensor(shape=[tf.constant(3), 2, 4])
    int32 [3, 2, 4] [[[1, 2, 0, 0], [3, 0, 0, 0]], [[0, 0, 0, 0], [0, 0, 0, 0]], [[4, 5, 6, 0], [0, 0, 0, 0]]]
N.to_tensor(shape=tf.TensorShape(None))
    int32 [3, 2, 3] [[[1, 2, 0], [3, 0, 0]], [[0, 0, 0], [0, 0, 0]], [[4, 5, 6], [0, 0, 0]]]
N.to_tensor(shape=tf.TensorShape([None, 3, None]))
    int32 [3, 3, 3] [[[1, 2, 0], [3, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[4, 5, 6], [0, 0, 0],
    [0, 0, 0]]]
U.to_tensor()
    int32 [2, 2, 2, 2] [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]], [[0, 0], [0, 0]]]]
U.to_tensor(default_value=9)
    int32 [2, 2, 2, 2] [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]], [[9, 9], [9, 9]]]]
U.to_tensor(default_value=[9, 8])
    int32 [2, 2, 2, 2] [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]], [[9, 8], [9, 8]]]]
U.to_tensor(default_value=[[9], [8]])
    int32 [2, 2, 2, 2] [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8, 9], [10, 11]], [[9, 9], [8, 8]]]]
U.to_tensor(default_value=[9, 8, 7])
    InvalidArgumentError: default_value.shape=[3] and rt_input.flat_values.shape=[3, 2, 2] are incompatible
U.to_tensor(default_value=tf.zeros([2, 2, 2], tf.int32))
    InvalidArgumentError: default_value.shape=[2, 2, 2] and rt_input.flat_values.shape=[3, 2, 2] are incompatible
U.to_tensor(shape=[None, 3, 2, 2])
    int32 [2, 3, 2, 2] [[[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[0, 0], [0, 0]]], [[[8, 9], [10, 11]], [[0, 0], [0,
    0]], [[0, 0], [0, 0]]]]
U.to_tensor(shape=[None, 3, 2, 3])
    InvalidArgumentError: The inner dimensions of shape=[None, 3, 2, 3] must be [2, 2]
C([['a'], ['b', 'c']]).to_tensor()
    string [2, 2] [[b'a', b''], [b'b', b'c']]
C([['a'], ['b', 'c']]).to_tensor('?')
    string [2, 2] [[b'a', b'?'], [b'b', b'c']]
C([[1.5], []]).to_tensor()
    float32 [2, 1] [[1.5], [0]]
C([[True], []]).to_tensor()
    bool [2, 1] [[True], [False]]
N.merge_dims(0, 1)
    int32 (4, None) [[1, 2], [3], [4, 5, 6], []]
N.merge_dims(1, 2)
    int32 (3, None) [[1, 2, 3], [], [4, 5, 6]]
N.merge_dims(0, 2)
    int32 [6] [1, 2, 3, 4, 5, 6]
N.merge_dims(-2, -1)
    int32 (3, None) [[1, 2, 3], [], [4, 5, 6]]
N.merge_dims(2, 1)
    ValueError: Expected outer_axis (2) to be less than or equal to inner_axis (1).
N.merge_dims(1, 1)
    int32 (3, None, None) [[[1, 2], [3]], [], [[4, 5, 6], []]]
N.merge_dims(0, 3)
    ValueError: inner_axis=3 out of bounds: expected -3<=inner_axis<3
N.merge_dims(-4, 1)
    ValueError: outer_axis=-4 out of bounds: expected -3<=outer_axis<3
U.merge_dims(1, 2)
    int32 (2, None, 2) [[[0, 1], [2, 3], [4, 5], [6, 7]], [[8, 9], [10, 11]]]
U.merge_dims(1, 3)
    int32 (2, None) [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11]]
U.merge_dims(2, 3)
    int32 (2, None, 4) [[[0, 1, 2, 3], [4, 5, 6, 7]], [[8, 9, 10, 11]]]
U.merge_dims(0, 2)
    int32 [6, 2] [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
U.merge_dims(0, 3)
    int32 [12] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
C([[[[1, 2]], [[3], []]], [[[4]]]]).merge_dims(2, 3)
    int32 (2, None, None) [[[1, 2], [3]], [[4]]]
C([[[[1, 2]], [[3], []]], [[[4]]]]).merge_dims(1, 3)
    int32 (2, None) [[1, 2, 3], [4]]
C([[[[1, 2]], [[3], []]], [[[4]]]]).merge_dims(1, 2)
    int32 (2, None, None) [[[1, 2], [3], []], [[4]]]
N.to_sparse()
    sparse int64 [6, 3] [[0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 0, 0], [2, 0, 1], [2, 0, 2]] int32 [6] [1, 2, 3, 4, 5,
    6] int64 [3] [3, 2, 3]
U.to_sparse()
    sparse int64 [12, 4] [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 1], [0, 1,
    1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1]] int32 [12] [0, 1, 2, 3, 4, 5, 6, 7,
    8, 9, 10, 11] int64 [4] [2, 2, 2, 2]
C([['a'], [], ['b', 'c']]).to_sparse()
    sparse int64 [3, 2] [[0, 0], [2, 0], [2, 1]] string [3] [b'a', b'b', b'c'] int64 [2] [3, 2]
RT.from_sparse(S([[0, 0], [0, 1], [2, 0]], [5, 6, 7], [3, 4]))
    int32 (3, None) [[5, 6], [], [7]]
RT.from_sparse(S([[0, 0], [0, 1], [2, 0]], [5, 6, 7], [4, 4]), row_splits_dtype=tf.int32)
    int32 (4, None) int32 [[5, 6], [], [7], []]
RT.from_sparse(S([[0, 1], [2, 0]], [5, 7], [3, 4]))
    InvalidArgumentError: Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data:
    b'SparseTensor is not right-ragged'
RT.from_sparse(S([[0, 0], [0, 2]], [5, 7], [3, 4]))
    InvalidArgumentError: Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data:
    b'SparseTensor is not right-ragged'
RT.from_sparse(S([[0, 0], [1, 1]], [5, 7], [3, 4]))
    InvalidArgumentError: Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data:
    b'SparseTensor is not right-ragged'
RT.from_sparse(S([[0, 0], [1, 0], [1, 1]], [5, 7, 8], [3, 4]))
    int32 (3, None) [[5], [7, 8], []]
RT.from_sparse(S(np.zeros([0, 2], np.int64), [], [2, 4]))
    float32 (2, None) [[], []]
RT.from_sparse(S([[0]], [5], [3]))
    ValueError: rank(st_input) must be 2.
RT.from_sparse(S([[0, 0, 0]], [5], [3, 1, 1]))
    ValueError: rank(st_input) must be 2.
RT.from_sparse([[1]])
    TypeError: Argument `st_input` must be of type SparseTensor, but is of type list.
make([[1, 2], [], [3]])
    (int32 (3, None) [[1, 2], [], [3]]; TensorShape([3, None]); 1)
make([[1, 2], [3]], dtype='float64')
    (float64 (2, None) [[1, 2], [3]]; TensorShape([2, None]); 1)
make([[1, 2], [3]], row_splits_dtype='int32')
    (int32 (2, None) int32 [[1, 2], [3]]; TensorShape([2, None]); 1)
make([[1, 2.5], []])
    (float32 (2, None) [[1, 2.5], []]; TensorShape([2, None]); 1)
make([])
    (float32 [0] []; TensorShape([0]); 0)
make([], ragged_rank=0)
    (float32 [0] []; TensorShape([0]); 0)
make([], ragged_rank=1)
    (float32 (0, None) []; TensorShape([0, None]); 1)
make([], ragged_rank=2)
    (float32 (0, None, None) []; TensorShape([0, None, None]); 2)
make([], dtype=tf.int32)
    (int32 [0] []; TensorShape([0]); 0)
make([[]])
    (float32 (1, None) [[]]; TensorShape([1, None]); 1)
make([[], [[]]])
    (float32 (2, None, None) [[], [[]]]; TensorShape([2, None, None]); 2)
make([[], [[]]], ragged_rank=1)
    (float32 (2, None, 0) [[], [[]]]; TensorShape([2, None, 0]); 1)
make([[], [[]]], ragged_rank=3)
    (float32 (2, None, None, None) [[], [[]]]; TensorShape([2, None, None, None]); 3)
make([1, 2])
    (int32 [2] [1, 2]; TensorShape([2]); 0)
make([1, 2], ragged_rank=1)
    ValueError: Invalid pylist=[1, 2]: pylist has scalar values depth 1, but ragged_rank=1 requires scalar value
    depth greater than 1
make([1, 2], ragged_rank=0)
    (int32 [2] [1, 2]; TensorShape([2]); 0)
make([[1, 2], [3, 4]], ragged_rank=0)
    (int32 [2, 2] [[1, 2], [3, 4]]; TensorShape([2, 2]); 0)
make([[1, 2], [3]], ragged_rank=0)
    ValueError: inner values have inconsistent shape
make([[1, 2], [3]], ragged_rank=2)
    ValueError: Invalid pylist=[[1, 2], [3]]: pylist has scalar values depth 2, but ragged_rank=2 requires scalar
    value depth greater than 2
make([[[1, 2], [3, 4]], [[5, 6]]])
    (int32 (2, None, None) [[[1, 2], [3, 4]], [[5, 6]]]; TensorShape([2, None, None]); 2)
make([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    (int32 (2, None, 2) [[[1, 2], [3, 4]], [[5, 6]]]; TensorShape([2, None, 2]); 1)
make([[[1, 2], [3, 4]], [[5]]], ragged_rank=1)
    ValueError: inner values have inconsistent shape
make([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,))
    (int32 (2, None, 2) [[[1, 2], [3, 4]], [[5, 6]]]; TensorShape([2, None, 2]); 1)
make([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=[2])
    TypeError: can only concatenate tuple (not "list") to tuple
make([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(3,))
    TypeError: Invalid pylist=[[[1, 2], [3, 4]], [[5, 6]]]: incompatible with inner_shape=(3,)
make([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,), ragged_rank=1)
    (int32 (2, None, 2) [[[1, 2], [3, 4]], [[5, 6]]]; TensorShape([2, None, 2]); 1)
make([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,), ragged_rank=2)
    ValueError: Invalid pylist=[[[1, 2], [3, 4]], [[5, 6]]]: incompatible with ragged_rank=2 and dim(inner_shape)=1
make([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(), ragged_rank=2)
    (int32 (2, None, None) [[[1, 2], [3, 4]], [[5, 6]]]; TensorShape([2, None, None]); 2)
make([[1, 2], [3, 4]], inner_shape=(2,))
    TypeError: Eager execution of tf.constant with unsupported shape. Tensor [[1 2]
make([[], []], inner_shape=(2,))
    TypeError: Eager execution of tf.constant with unsupported shape. Tensor [] (converted from [[], []]) has 0
    elements, but got `shape` (2,) with 2 elements).
make([[], []], inner_shape=(2,), ragged_rank=1)
    (float32 (2, None, 2) [[], []]; TensorShape([2, None, 2]); 1)
make([[], []], inner_shape=(0,), ragged_rank=1)
    (float32 (2, None, 0) [[], []]; TensorShape([2, None, 0]); 1)
make(5)
    (int32 [] 5; TensorShape([]); 0)
make(5, ragged_rank=0)
    (int32 [] 5; TensorShape([]); 0)
make(5, ragged_rank=1)
    ValueError: Invalid pylist=5: incompatible with ragged_rank=1
make(5, inner_shape=(1,))
    ValueError: Invalid pylist=5: incompatible with dim(inner_shape)=1
make(5, inner_shape=())
    (int32 [] 5; TensorShape([]); 0)
make('abc')
    (string [] b'abc'; TensorShape([]); 0)
make(5, dtype=tf.float32)
    (float32 [] 5; TensorShape([]); 0)
make(np.array([1, 2]))
    (int64 [2] [1, 2]; TensorShape([2]); 0)
make(np.array([1, 2]), ragged_rank=1)
    ValueError: Invalid pylist=[1, 2]: pylist has scalar values depth 1, but ragged_rank=1 requires scalar value
    depth greater than 1
make(np.array([[1, 2], [3, 4]]))
    (int32 (2, None) [[1, 2], [3, 4]]; TensorShape([2, None]); 1)
make(np.array([[1, 2], [3, 4]], np.float32))
    (float32 (2, None) [[1, 2], [3, 4]]; TensorShape([2, None]); 1)
make([np.array([1, 2]), np.array([3])])
    (int32 (2, None) [[1, 2], [3]]; TensorShape([2, None]); 1)
make([np.array([1., 2.], np.float32), [3]])
    (float32 (2, None) [[1, 2], [3]]; TensorShape([2, None]); 1)
make(np.array(5))
    (int64 [] 5; TensorShape([]); 0)
make([[1], 2])
    ValueError: all scalar values must have the same nesting depth
make([1, [2]])
    ValueError: all scalar values must have the same nesting depth
make([[1], [[2]]])
    ValueError: all scalar values must have the same nesting depth
make([[1, []]])
    ValueError: Invalid pylist=[[1, []]]: empty list nesting is greater than scalar value nesting
make([[[1]], [[]], []])
    (int32 (3, None, None) [[[1]], [[]], []]; TensorShape([3, None, None]); 2)
make([['a', b'b'], []])
    (string (2, None) [[b'a', b'b'], []]; TensorShape([2, None]); 1)
make([[1, 'a']])
    ValueError: Can't convert Python sequence with mixed types to Tensor.
make(((1, 2), (3,)))
    (int32 (2, None) [[1, 2], [3]]; TensorShape([2, None]); 1)
make([[True], [False, False]])
    (bool (2, None) [[True], [False, False]]; TensorShape([2, None]); 1)
make([[1j], []])
    (complex128 (2, None) [[0+1j], []]; TensorShape([2, None]); 1)
make([[None]])
    ValueError: Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.
C(tf.constant([1, 2]))
    int32 [2] [1, 2]
C(tf.constant([1, 2]), ragged_rank=0)
    int32 [2] [1, 2]
C(tf.constant([1, 2]), ragged_rank=1)
    ValueError: TypeError: Scalar tensor has no `len()`
C(tf.constant([[1, 2]]))
    ValueError: TypeError: Scalar tensor has no `len()`
C(np.float32(5))
    float32 [] 5
C(np.array(5.0), dtype=tf.float32)
    float32 [] 5
C(np.array([1, 2]), dtype=tf.float32)
    float32 [2] [1, 2]
C([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(1, 2))
    ValueError: Can't convert non-rectangular Python sequence to Tensor.
C([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(4,), dtype=tf.int32)
    TypeError: Invalid pylist=[[[1, 2], [3, 4]], [[5, 6]]]: incompatible with inner_shape=(4,)
make([], ragged_rank=2, inner_shape=(3,))
    (float32 (0, None, None, 3) []; TensorShape([0, None, None, 3]); 2)
make([[], []], ragged_rank=2)
    (float32 (2, None, None) [[], []]; TensorShape([2, None, None]); 2)
make([[[], []]], ragged_rank=1)
    (float32 (1, None, 0) [[[], []]]; TensorShape([1, None, 0]); 1)
C([tf.constant(1), tf.constant(2)])
    ValueError: Can't convert Python sequence with mixed types to Tensor.
C([[1.5, 2], [3]], dtype=tf.int32)
    TypeError: Cannot convert [1.5, 2, 3] to EagerTensor of dtype int32
C([[300]], dtype=tf.uint8)
    uint8 (1, None) [[44]]
tf.compat.v1.ragged.constant_value([[1, 2], [], [3]])
    int64 (3, None) [[1, 2], [], [3]]
tf.compat.v1.ragged.constant_value([[1, 2], [3]], dtype=np.float32, row_splits_dtype='int32')
    float32 (2, None) int32 [[1, 2], [3]]
tf.compat.v1.ragged.constant_value([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,))
    int64 (2, None, 2) [[[1, 2], [3, 4]], [[5, 6]]]
tf.compat.v1.ragged.constant_value([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    int64 (2, None, 2) [[[1, 2], [3, 4]], [[5, 6]]]
tf.compat.v1.ragged.constant_value([[1], 2])
    ValueError: all scalar values must have the same nesting depth
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]
