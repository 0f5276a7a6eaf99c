"""The functions of `tf.ragged`, and those of empty rows. TensorFlow gave the outcomes."""

import pytest

import tapeflow as tf
from outcomes import outcome, read_rows

RT, C, R = tf.RaggedTensor, tf.ragged.constant, tf.ragged
A, B = C([[1, 2], [], [3]]), C([[10, 20], [], [30]])
N = C([[[1, 2], [3]], [], [[4, 5, 6], []]])
U = RT.from_row_splits(tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 3])
MASK = C([[True, False], [], [True]])
raw = tf.raw_ops


def traced(function, *values):
    """Calls a function in a graph, with row splits and dimensions that are not static."""
    specs = [
        tf.RaggedTensorSpec([None] * len(v.shape), v.dtype, v.ragged_rank, v.row_splits.dtype)
        if isinstance(v, RT)
        else tf.TensorSpec([None] * len(v.shape), v.dtype)
        for v in (v if isinstance(v, RT) else tf.convert_to_tensor(v) for v in values)
    ]
    return tf.function(function, input_signature=specs, autograph=False)(*values)


def add_all(parts, scale=1):
    return sum(parts) * scale


def slope_of_filled(default):
    values, default = tf.constant([1.5, 2.5]), tf.constant(default)
    with tf.GradientTape() as tape:
        tape.watch([values, default])
        filled = tf.ragged_fill_empty_rows(tf.constant([1, 1], tf.int64), values, 4, default).output_values
        total = tf.reduce_sum(filled * [1.0, 2.0, 3.0, 4.0, 5.0])
    return tape.gradient(total, [values, default])


def rows_of(x):
    return tf.constant(x, tf.int64)


def pad(shape, values, default, partitions, kinds):
    partitions = [rows_of(p) for p in partitions]
    return raw.RaggedTensorToTensor(
        shape=shape, values=values, default_value=default, row_partition_tensors=partitions, row_partition_types=kinds
    )


def take(splits, values, indices, rank):
    return raw.RaggedGather(
        params_nested_splits=splits, params_dense_values=values, indices=indices, OUTPUT_RAGGED_RANK=rank
    )


def box(splits, values, batched):
    splits = [rows_of(s) for s in splits]
    return raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=batched)


def unbox(encoded, input_rank, output_rank, Tvalues=tf.int32, **options):
    return raw.RaggedTensorFromVariant(
        encoded_ragged=encoded, input_ragged_rank=input_rank, output_ragged_rank=output_rank, Tvalues=Tvalues, **options
    )


ROWS = read_rows("""
R.map_flat_values(tf.add, A, 1)
    int32 (3, None) [[2, 3], [], [4]]
R.map_flat_values(tf.add, A, B)
    int32 (3, None) [[11, 22], [], [33]]
R.map_flat_values(tf.add, x=A, y=B)
    int32 (3, None) [[11, 22], [], [33]]
R.map_flat_values(tf.add, 1, 2)
    int32 [] 3
R.map_flat_values(add_all, [A, B, 5])
    int32 (3, None) [[16, 27], [], [38]]
R.map_flat_values(add_all, (A, B), scale=2)
    int32 (3, None) [[22, 44], [], [66]]
R.map_flat_values(tf.reduce_sum, A)
    ValueError: tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as
    flat_values of any ragged inputs. (output shape: (); expected outer dimension size: 3)
R.map_flat_values(lambda x: x[:2], A)
    ValueError: tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as
    flat_values of any ragged inputs. (output shape: (2,); expected outer dimension size: 3)
R.map_flat_values(lambda x: x[:, None], A)
    int32 (3, None, 1) [[[1], [2]], [], [[3]]]
R.map_flat_values(lambda x: tf.constant('abc'), A)
    ValueError: tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as
    flat_values of any ragged inputs. (output shape: (); expected outer dimension size: 3)
R.map_flat_values(lambda x: ['a', 'b', 'c'], A)
    string (3, None) [[b'a', b'b'], [], [b'c']]
R.map_flat_values(tf.add, A, C([[10], [20], [30]]))
    InvalidArgumentError: Inputs must have identical ragged splits
R.map_flat_values(tf.add, A, C([[10, 20, 30]]))
    ValueError: Inputs must have identical ragged splits
R.map_flat_values(tf.add, A, C([[1]]))
    ValueError: Input RaggedTensors' flat_values must all have the same outer-dimension size.
R.map_flat_values(tf.add, A, RT.from_nested_row_splits([1, 2, 3], [[0, 2, 2, 3], [0, 1, 2, 3]]))
    ValueError: All ragged inputs must have the same ragged_rank.
traced(lambda a, b: R.map_flat_values(tf.add, a, b), A, B)
    int32 (3, None) [[11, 22], [], [33]]
traced(lambda a, b: R.map_flat_values(tf.add, a, b), A, C([[10], [20], [30]]))
    InvalidArgumentError: Inputs must have identical ragged splits
R.range(5)
    int32 (1, None) [[0, 1, 2, 3, 4]]
R.range([2, 0, 3])
    int32 (3, None) [[0, 1], [], [0, 1, 2]]
R.range([1, 2], [4, 2])
    int32 (2, None) [[1, 2, 3], []]
R.range([1, 5], [4, 2], [2, -1])
    int32 (2, None) [[1, 3], [5, 4, 3]]
R.range([0, 0], 5, [2, 3])
    int32 (2, None) [[0, 2, 4], [0, 3]]
R.range(1, [3, 6])
    int32 (2, None) [[1, 2], [1, 2, 3, 4, 5]]
R.range(2, 9, 3)
    int32 (1, None) [[2, 5, 8]]
R.range(9, 2, -3)
    int32 (1, None) [[9, 6, 3]]
R.range([0.0, 1.0], [1.0, 2.0], 0.4)
    float32 (2, None) [[0, 0.4, 0.8], [1, 1.4, 1.8]]
R.range(1.0, 0.0, -0.3)
    float32 (1, None) [[1, 0.7, 0.4, 0.1]]
R.range([1], dtype=tf.float32)
    float32 (1, None) [[0]]
R.range([1, 2], row_splits_dtype=tf.int32).row_splits
    int32 [3] [0, 1, 3]
R.range([1, 2]).row_splits.dtype
    tf.int64
R.range(np.array([1, 2], np.int64)).dtype
    tf.int64
R.range([1, 2], [3, 4, 5])
    InvalidArgumentError: starts, limits, and deltas must have the same shape, not [2], [3], []
R.range([[1, 2]])
    InvalidArgumentError: starts, limits, and deltas must have the same shape, not [], [1, 2], []
R.range(1, 5, 0)
    InvalidArgumentError: Requires delta != 0
R.range([5, -2])
    int32 (2, None) [[0, 1, 2, 3, 4], []]
R.range([])
    float32 (0, None) []
traced(lambda x: R.range(x), [2, 1])
    int32 (2, None) [[0, 1], [0]]
R.boolean_mask(A, MASK)
    int32 (3, None) [[1], [], [3]]
R.boolean_mask(A, [True, False, True])
    int32 (2, None) [[1, 2], [3]]
R.boolean_mask(A, [[True], [False], [True]])
    InvalidArgumentError: Inputs must have identical ragged splits: the rows of `mask` are not those of `data`
R.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    int32 (2, None) [[1], [3, 4]]
R.boolean_mask([[1, 2], [3, 4]], [False, True])
    int32 [1, 2] [[3, 4]]
R.boolean_mask([[1, 2], [3, 4]], True)
    ValueError: mask cannot be scalar.
R.boolean_mask([[1, 2], [3, 4]], [True, True, True])
    ValueError: Shapes (2,) and (3,) are incompatible
R.boolean_mask([[1, 2], [3, 4]], [[True, True, True]] * 2)
    ValueError: Shapes (2, 2) and (2, 3) are incompatible
R.boolean_mask([1, 2, 3], [True, False, True])
    int32 [2] [1, 3]
R.boolean_mask(A, [1, 0, 1])
    TypeError: Cannot convert [1, 0, 1] to EagerTensor of dtype bool
R.boolean_mask(A, C([[1, 0], [], [1]]))
    ValueError: Tensor conversion requested dtype bool for RaggedTensor with dtype int32: <tf.RaggedTensor [[1, 0],
    [], [1]]>.
R.boolean_mask(A, C([[True], [False], [True]]))
    InvalidArgumentError: Inputs must have identical ragged splits: the rows of `mask` are not those of `data`
R.boolean_mask(N, C([[True, False], [], [False, True]]))
    int32 (3, None, None) [[[1, 2]], [], [[]]]
R.boolean_mask(N, C([[[True, False], [True]], [], [[False, True, True], []]]))
    int32 (3, None, None) [[[1], [3]], [], [[5, 6], []]]
R.boolean_mask(U, C([[[True, False], [True, True]], [[False, True]]], ragged_rank=1))
    int32 (2, None, None, 2) [[[[0, 1]], [[4, 5], [6, 7]]], [[[10, 11]]]]
R.boolean_mask([[[1, 2], [3, 4]]], [[[True, False], [True, True]]])
    int32 (1, 2, None) [[[1], [3, 4]]]
R.boolean_mask(A.with_row_splits_dtype(tf.int32), MASK).row_splits.dtype
    tf.int32
traced(lambda a, m: R.boolean_mask(a, m), A, MASK)
    int32 (3, None) [[1], [], [3]]
R.row_splits_to_segment_ids([0, 3, 3, 5])
    int64 [5] [0, 0, 0, 2, 2]
R.row_splits_to_segment_ids([0, 3, 3, 5], out_type=tf.int32)
    int32 [5] [0, 0, 0, 2, 2]
R.row_splits_to_segment_ids(tf.constant([0, 2]))
    int32 [2] [0, 0]
R.row_splits_to_segment_ids(tf.constant([0, 2]), out_type='int64')
    int64 [2] [0, 0]
R.row_splits_to_segment_ids([0])
    int64 [0] []
R.row_splits_to_segment_ids(tf.zeros([0], tf.int64))
    ValueError: Invalid row_splits: []
R.row_splits_to_segment_ids([[0, 1]])
    ValueError: Shape (1, 2) must have rank 1
R.row_splits_to_segment_ids([0.0, 1.0])
    ValueError: splits must have dtype int32 or int64
R.row_splits_to_segment_ids([0, 1], out_type=tf.float32)
    InvalidArgumentError: Value for attr 'out_type' of float is not in the list of allowed values: int32, int64
R.segment_ids_to_row_splits([0, 0, 2])
    int64 [4] [0, 2, 2, 3]
R.segment_ids_to_row_splits([2, 0, 0])
    int64 [4] [0, 2, 2, 3]
R.segment_ids_to_row_splits([0, 0, 2], 5)
    int64 [6] [0, 2, 2, 3, 3, 3]
R.segment_ids_to_row_splits([0, 0, 2], 2)
    int64 [3] [0, 2, 2]
R.segment_ids_to_row_splits([0, 0, 2], out_type=tf.int32)
    int32 [4] [0, 2, 2, 3]
R.segment_ids_to_row_splits(tf.constant([0, 0, 2]))
    int32 [4] [0, 2, 2, 3]
R.segment_ids_to_row_splits(tf.constant([0, 2]), out_type=tf.int64)
    int64 [4] [0, 1, 1, 2]
R.segment_ids_to_row_splits(tf.zeros([0], tf.int64))
    int64 [1] [0]
R.segment_ids_to_row_splits([0, 1], 2.5)
    TypeError: Argument `tensor` (name: num_segments) must be of type integer. Received dtype: <dtype: 'float32'>
R.segment_ids_to_row_splits([0.5])
    TypeError: Argument `tensor` (name: segment_ids) must be of type integer. Received dtype: <dtype: 'float32'>
R.segment_ids_to_row_splits([[0]])
    ValueError: Shape (1, 1) must have rank 1
R.segment_ids_to_row_splits(tf.constant([0], tf.int16))
    InvalidArgumentError: Value for attr 'T' of int16 is not in the list of allowed values: int32, int64
traced(lambda x: R.segment_ids_to_row_splits(x), [0, 0, 2])
    int32 [4] [0, 2, 2, 3]
R.stack_dynamic_partitions(['a', 'b', 'c'], [1, 0, 1], 2)
    string (2, None) int32 [[b'b'], [b'a', b'c']]
R.stack_dynamic_partitions(['a', 'b', 'c'], [1, 0, 1], 4)
    string (4, None) int32 [[b'b'], [b'a', b'c'], [], []]
R.stack_dynamic_partitions(['a', 'b', 'c'], [3, 0, 3], 4)
    string (4, None) int32 [[b'b'], [], [], [b'a', b'c']]
R.stack_dynamic_partitions('a', 1, 3)
    string (3, None) int32 [[], [b'a'], []]
R.stack_dynamic_partitions([5, 6], 1, 3)
    int32 (3, None, 2) int32 [[], [[5, 6]], []]
R.stack_dynamic_partitions([[1, 2], [3, 4]], [[1, 0], [1, 1]], 2)
    int32 (2, None) int32 [[2], [1, 3, 4]]
R.stack_dynamic_partitions([[1, 2], [3, 4]], [1, 0], 2)
    int32 (2, None, 2) int32 [[[3, 4]], [[1, 2]]]
R.stack_dynamic_partitions(A, [2, 0, 2], 3)
    int32 (3, None, None) [[[]], [], [[1, 2], [3]]]
R.stack_dynamic_partitions(A, C([[1, 0], [], [1]]), 2).to_list()
    ((2); (1; 3))
R.stack_dynamic_partitions(['a', 'b'], [0, 2], 2)
    InvalidArgumentError: partitions [0, 2] are not in [0, 2)
R.stack_dynamic_partitions(['a', 'b'], [0, -1], 2)
    InvalidArgumentError: partitions [0, -1] are not in [0, 2)
R.stack_dynamic_partitions(['a', 'b'], [0, 1, 1], 2)
    ValueError: Shapes (2,) and (3,) are incompatible
R.stack_dynamic_partitions([1, 2], tf.constant([1, 0], tf.int64), 2).row_splits.dtype
    tf.int64
R.stack_dynamic_partitions([1, 2], [1, 0], 2).row_splits.dtype
    tf.int32
traced(lambda d, p: R.stack_dynamic_partitions(d, p, 3), [5, 6, 7], [2, 0, 2])
    int32 (3, None) int32 [[6], [], [5, 7]]
traced(lambda d, p, n: R.stack_dynamic_partitions(d, p, n), [5, 6, 7], [2, 0, 2], 3)
    int32 (3, None) int32 [[6], [], [5, 7]]
traced(lambda d, p: R.stack_dynamic_partitions(d, p, 2), [5, 6, 7], [2, 0, 2])
    InvalidArgumentError: partitions [2, 0, 2] are not in [0, 2)
tf.ragged_fill_empty_rows(rows_of([0, 0, 2]), [5, 6, 7], 4, -1)
    (int64 [5] [0, 0, 1, 2, 3]; int32 [5] [5, 6, -1, 7, -1]; bool [4] [False, True, False, True]; int64 [3] [0, 1,
    3])
tf.ragged_fill_empty_rows(rows_of([2, 0, 0]), ['c', 'a', 'b'], 3, '?')
    (int64 [4] [0, 0, 1, 2]; string [4] [b'a', b'b', b'?', b'c']; bool [3] [False, True, False]; int64 [3] [3, 0,
    1])
tf.ragged_fill_empty_rows(rows_of([]), [1.0][:0], 2, 0.5)
    (int64 [2] [0, 1]; float32 [2] [0.5, 0.5]; bool [2] [True, True]; int64 [0] [])
tf.ragged_fill_empty_rows(rows_of([]), [1.0][:0], 0, 0.5)
    (int64 [0] []; float32 [0] []; bool [0] []; int64 [0] [])
tf.ragged_fill_empty_rows(rows_of([0, 4]), [1, 2], 4, 0)
    InvalidArgumentError: value_rowids(1) is invalid: 4 >= 4
tf.ragged_fill_empty_rows(rows_of([0, -1]), [1, 2], 4, 0)
    InvalidArgumentError: value_rowids(1) is invalid: -1 >= 4
tf.ragged_fill_empty_rows(rows_of([0, 3]), [1, 2], 4, 0).output_value_rowids
    int64 [4] [0, 1, 2, 3]
tf.ragged_fill_empty_rows(rows_of([[0]]), [1], 4, 0)
    InvalidArgumentError: value_rowids and values must be of one length, and nrows and default_value scalars, not of
    shapes [1,1], [1], [], []
tf.ragged_fill_empty_rows(rows_of([0]), [1, 2], 4, 0)
    InvalidArgumentError: value_rowids and values must be of one length, and nrows and default_value scalars, not of
    shapes [1], [2], [], []
tf.ragged_fill_empty_rows(rows_of([0]), [1], [4], 0)
    InvalidArgumentError: value_rowids and values must be of one length, and nrows and default_value scalars, not of
    shapes [1], [1], [1], []
tf.ragged_fill_empty_rows(rows_of([0]), [1], 4, [0])
    InvalidArgumentError: value_rowids and values must be of one length, and nrows and default_value scalars, not of
    shapes [1], [1], [], [1]
tf.ragged_fill_empty_rows_grad(rows_of([1, 2]), [2.0, 3.0, 5.0, 7.0])
    (float32 [2] [3, 5]; float32 [] 9)
tf.ragged_fill_empty_rows_grad(rows_of([]), [2.0, 3.0])
    (float32 [0] []; float32 [] 5)
tf.ragged_fill_empty_rows_grad(rows_of([2]), [2.0, 3.0])
    InvalidArgumentError: Elements in reverse index must be in [0, 2) but got 2
tf.ragged_fill_empty_rows_grad(rows_of([-1]), [2.0, 3.0])
    InvalidArgumentError: Elements in reverse index must be in [0, 2) but got -1
tf.ragged_fill_empty_rows_grad(rows_of([0]), [[2.0, 3.0]])
    InvalidArgumentError: grad_values must be a vector, saw: [1, 2]
slope_of_filled(9.0)
    (float32 [2] [2, 3]; float32 [] 10)
pad([2, 3], [1, 2, 3], 0, [2, [0, 1, 1]], ['FIRST_DIM_SIZE', 'VALUE_ROWIDS'])
    int32 [2, 3] [[1, 0, 0], [2, 3, 0]]
pad(-1, [1, 2, 3], 9, [4, [0, 1, 1]], ['FIRST_DIM_SIZE', 'VALUE_ROWIDS'])
    int32 [4, 2] [[1, 9], [2, 3], [9, 9], [9, 9]]
pad(-1, [1, 2, 3], 9, [2, [0, 1, 1], [0, 0, 2]], ['FIRST_DIM_SIZE', 'VALUE_ROWIDS', 'VALUE_ROWIDS'])
    int32 [2, 2, 2] [[[1, 2], [9, 9]], [[9, 9], [3, 9]]]
pad(-1, [1, 2, 3], 9, [[0, 1, 3]], ['ROW_SPLITS'])
    int32 [2, 2] [[1, 9], [2, 3]]
pad([3, 2], [1, 2, 3], 9, [[0, 1, 3]], ['ROW_SPLITS'])
    int32 [3, 2] [[1, 9], [2, 3], [9, 9]]
pad([1, 2], [1, 2, 3], 9, [[0, 1, 3]], ['ROW_SPLITS'])
    int32 [1, 2] [[1, 9]]
pad([-1, 1], [[1, 2], [3, 4]], [8, 9], [[0, 0, 2]], ['ROW_SPLITS'])
    InvalidArgumentError: rt_input.shape and shape=[-1, 1] are incompatible: rt_input.rank = 3 but shape.rank = 2
pad([-1, 1, 2], [[1, 2], [3, 4]], [8, 9], [[0, 0, 2]], ['ROW_SPLITS'])
    int32 [2, 1, 2] [[[8, 9]], [[1, 2]]]
pad([-1, 1, 3], [[1, 2], [3, 4]], [8, 9], [[0, 0, 2]], ['ROW_SPLITS'])
    InvalidArgumentError: The inner dimensions of shape=[None, 1, 3] must be [2]
pad(-1, [1, 2, 3], 9, [[0, 1, 3]], ['ROWS'])
    InvalidArgumentError: Unsupported row partition type ROWS
pad([3], [1, 2, 3], 9, [[0, 1, 3]], ['ROW_SPLITS'])
    InvalidArgumentError: rt_input.shape and shape=[3] are incompatible: rt_input.rank = 2 but shape.rank = 1
take([[0, 2, 3]], [5, 6, 7], [1, 0], 1)
    ((int32 [3] [0, 1, 3]); int32 [3] [7, 5, 6])
take([[0, 2, 3]], [5, 6, 7], [[1, 0], [1, 1]], 2)
    ((int32 [3] [0, 2, 4]; int32 [5] [0, 1, 3, 4, 5]); int32 [5] [7, 5, 6, 7, 7])
take([[0, 2, 3]], [5, 6, 7], [[[1], [0], [1]], [[1], [1], [0]]], 3)
    ((int32 [3] [0, 3, 6]; int32 [7] [0, 1, 2, 3, 4, 5, 6]; int32 [7] [0, 1, 3, 4, 5, 6, 8]); int32 [8] [7, 5, 6, 7,
    7, 7, 5, 6])
take([[0, 1, 2], [0, 2, 3]], [5, 6, 7], [1, 0, 1], 2)
    ((int32 [4] [0, 1, 2, 3]; int32 [4] [0, 1, 3, 4]); int32 [4] [7, 5, 6, 7])
take([[0, 1, 2], [0, 2, 3]], [[5, 50], [6, 60], [7, 70]], [1, 0, 1], 2)
    ((int32 [4] [0, 1, 2, 3]; int32 [4] [0, 1, 3, 4]); int32 [4, 2] [[7, 70], [5, 50], [6, 60], [7, 70]])
take([[0, 2, 3]], [5, 6, 7], [2], 1)
    InvalidArgumentError: indices[0] = 2 is not in [0, 2)
take([[0, 2, 3]], [5, 6, 7], [-1], 1)
    InvalidArgumentError: indices[0] = -1 is not in [0, 2)
take([[0, 2, 3]], [5, 6, 7], [1], 2)
    InvalidArgumentError: OUTPUT_RAGGED_RANK must be 1, the number of row splits and of dimensions of the indices
    less 1, but is 2
raw.RaggedTensorToSparse(rt_nested_splits=[[0, 1, 3]], rt_dense_values=[[1, 2], [3, 4], [5, 6]])
    (int64 [6, 3] [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]; int32 [6] [1, 2, 3, 4, 5, 6];
    int64 [3] [2, 2, 2])
raw.RaggedTensorToSparse(rt_nested_splits=[[0, 2], [0, 0, 1]], rt_dense_values=['a'])
    (int64 [1, 3] [[0, 1, 0]]; string [1] [b'a']; int64 [3] [1, 2, 1])
unbox(box([[0, 2, 3]], [5, 6, 7], True), 0, 1)
    ((int64 [3] [0, 2, 3]); int32 [3] [5, 6, 7])
unbox(box([[0, 2, 3]], [5, 6, 7], True), 0, 1, Tsplits=tf.int32)
    ((int32 [3] [0, 2, 3]); int32 [3] [5, 6, 7])
unbox(box([[0, 1, 3], [0, 2, 3, 3]], [5, 6, 7], True), 1, 2)
    ((int64 [3] [0, 1, 3]; int64 [4] [0, 2, 3, 3]); int32 [3] [5, 6, 7])
unbox(box([[0, 1, 3], [0, 2, 3, 3]], [[5], [6], [7]], False), 2, 2)
    ((int64 [3] [0, 1, 3]; int64 [4] [0, 2, 3, 3]); int32 [3, 1] [[5], [6], [7]])
unbox(box([[0, 2, 3]], ['a', 'b', 'c'], True), 0, 1, Tvalues=tf.string)
    ((int64 [3] [0, 2, 3]); string [3] [b'a', b'b', b'c'])
unbox(box([[0, 2, 3]], ['a', 'b', 'c'], False), 1, 1, Tvalues=tf.string)
    ((int64 [3] [0, 2, 3]); string [3] [b'a', b'b', b'c'])
unbox(box([[0, 2, 3]], [5, 6, 7], False), 1, 1, Tvalues=tf.float32)
    InvalidArgumentError: Expected values Tensor dtype: float32, found: int32
unbox(box([[0, 2, 3]], [5, 6, 7], False), 2, 2)
    InvalidArgumentError: output_ragged_rank must be 1, as the variant holds, but is 2
box([], [[5, 6], [7, 8]], True).shape
    TensorShape([2])
box([], [[5, 6], [7, 8]], False).shape
    TensorShape([])
box([[0, 2, 3]], [5, 6, 7], True).shape
    TensorShape([2])
box([[0, 2, 3]], [5, 6, 7], False).shape
    TensorShape([])
unbox(box([], [[5, 6], [7, 8]], True), 0, 1)
    ((int64 [3] [0, 2, 4]); int32 [4] [5, 6, 7, 8])
R.cross([C([['a'], ['b', 'c']]), C([['d', 'e'], ['f']])])
    string (2, None) [[b'a_X_d', b'a_X_e'], [b'b_X_f', b'c_X_f']]
R.cross([C([['a'], ['b', 'c']]), [['d', 'e'], ['f', 'g']]])
    string (2, None) [[b'a_X_d', b'a_X_e'], [b'b_X_f', b'b_X_g', b'c_X_f', b'c_X_g']]
R.cross([[['d', 'e'], ['f', 'g']], C([['a'], []])])
    string (2, None) [[b'd_X_a', b'e_X_a'], []]
R.cross([C([[1], [2, 3]]), [[4], [5]]])
    string (2, None) [[b'1_X_4'], [b'2_X_5', b'3_X_5']]
R.cross([tf.sparse.from_dense([['a', ''], ['b', 'c']]), C([['x'], ['y']])])
    string (2, None) [[b'a_X_x'], [b'b_X_y', b'c_X_y']]
R.cross([C([['a'], ['b', 'c']]), tf.sparse.from_dense([[7, 0], [8, 9]]), [['p'], ['q']]])
    string (2, None) [[b'a_X_7_X_p'], [b'b_X_8_X_q', b'b_X_9_X_q', b'c_X_8_X_q', b'c_X_9_X_q']]
R.cross([[['a']], [['c']]]).row_splits.dtype
    tf.int64
R.cross(C([['a']]))
    TypeError: Inputs must be a list
R.cross([C([[1.5]])])
    ValueError: Unexpected dtype for inputs[0]: <dtype: 'float32'>
R.cross([C([[['a']]])])
    ValueError: tf.ragged.cross only supports inputs with rank=2.
R.cross([[['a'], ['b']], [['c']]])
    InvalidArgumentError: Features must have the same batch size, not [2, 1]
R.cross([['a']])
    InvalidArgumentError: A dense feature must be a matrix, not of shape [1]
R.cross([C([['a'], ['b']]), C([['c']])])
    InvalidArgumentError: Features must have the same batch size, not [2, 1]
R.cross_hashed([C([['a'], ['b', 'c']]), C([['d', 'e'], ['f']])])
    int64 (2, None) [[1584069791037555375, 3927666362714511010], [300175262452528982, 4546572711251652368]]
R.cross_hashed([C([['a'], ['b', 'c']]), C([['d', 'e'], ['f']])], num_buckets=100)
    int64 (2, None) [[82, 17], [89, 68]]
R.cross_hashed([C([['a'], ['b', 'c']]), C([['d', 'e'], ['f']])], num_buckets=100, hash_key=5)
    int64 (2, None) [[4, 63], [46, 3]]
R.cross_hashed([C([[1, 2]]), [[3, 4]]], num_buckets=1000)
    int64 (1, None) [[651, 725, 584, 547]]
""")


@pytest.mark.parametrize("source", ROWS)
def test_outcomes(source):
    assert outcome(source, globals()) == ROWS[source]


def static(function, *specs):
    """Returns the static shapes of the results of a function."""
    found = []

    def record(*values):
        found.extend(v.shape for v in tf.nest.flatten(function(*values), expand_composites=True))

    tf.function(record, input_signature=specs, autograph=False).get_concrete_function()
    return [None if s.rank is None else s.as_list() for s in found]


def spec(*shape, dtype=tf.int64):
    return tf.TensorSpec(shape, dtype)


ANY = tf.TensorSpec(None, tf.int64)


def test_static_shapes():
    def padded(shape, rank=2):
        kinds = ["ROW_SPLITS"] * (rank - 1)
        return lambda v, *s: raw.RaggedTensorToTensor(
            shape=shape, values=v, default_value=tf.constant(0, tf.int64), row_partition_tensors=s,
            row_partition_types=kinds,
        )  # fmt: skip

    # TensorFlow's op leaves the number of rows open, which `RaggedTensor.to_tensor` then sets.
    assert static(padded(-1), spec(None), spec(4)) == [[3, None]]
    assert static(padded([-1, 5]), spec(None), spec(4)) == [[3, 5]]
    assert static(padded([2, -1]), spec(None), spec(4)) == [[2, None]]
    assert static(padded(-1), spec(None, 7), spec(None)) == [[None, None, 7]]
    assert static(padded(-1, 3), spec(None), spec(4), spec(None)) == [[3, None, None]]
    assert static(padded(-1), ANY, spec(4)) == [None]
    assert static(lambda r, v: tf.ragged_fill_empty_rows(r, v, 3, v[0]), spec(5), spec(5)) == [
        [None], [None], [None], [5]
    ]  # fmt: skip
    assert static(lambda n: R.range(n).values, spec(3)) == [[None]]
    assert static(lambda n: R.range(n).row_splits, spec(3)) == [[4]]
    assert static(lambda n: R.range(n).row_splits, spec()) == [[2]]
    assert static(lambda n, m: R.range(n, m).row_splits, spec(None), spec(3)) == [[4]]
    sparse = static(
        lambda s, v: raw.RaggedTensorToSparse(rt_nested_splits=[s], rt_dense_values=v), spec(4), spec(None, 2)
    )
    assert sparse == [[None, 3], [None], [3]]
    with pytest.raises(ValueError, match="compatible"):
        static(lambda n, m: R.range(n, m).row_splits, spec(2), spec(3))


def test_rows_keep_the_order_of_their_values():
    numbers = tf.range(100)
    stacked = R.stack_dynamic_partitions(numbers, numbers % 3, 3)
    assert stacked.to_list() == [list(range(k, 100, 3)) for k in range(3)]
    rows = tf.cast(tf.sort(numbers % 7), tf.int64)
    filled = tf.ragged_fill_empty_rows(rows, numbers, 9, -1)
    assert filled.output_values.numpy().tolist() == [*range(100), -1, -1]
