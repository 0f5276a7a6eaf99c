"""Gradients of ragged ops, and ragged tensors as values."""

import numpy as np
import pytest

import tapeflow as tf
from op_table import check_gradient, rand

RT = tf.RaggedTensor


def ragged(values):
    return RT.from_row_splits(values, [0, 2, 2, 5])


def nested(values):
    return RT.from_nested_row_splits(values, [[0, 2, 2, 3], [0, 1, 3, 5]])


def flat(value):
    return value.flat_values if isinstance(value, RT) else value


FUNCTIONS = {
    "add": lambda v: ragged(v) + ragged(v) * 2.0,
    "broadcast": lambda v: ragged(v) * tf.reshape(v[:3], [3, 1]),
    "broadcast a ragged tensor": lambda v: nested(v) * RT.from_row_splits(tf.reshape(v[:3], [3, 1]), [0, 2, 2, 3]),
    "exp": lambda v: tf.exp(ragged(v)),
    "reduce_sum": lambda v: tf.reduce_sum(ragged(v), 1) ** 2.0,
    "reduce_sum, columns": lambda v: tf.reduce_sum(ragged(v), 0) ** 2.0,
    "reduce_sum, inner": lambda v: tf.reduce_sum(nested(v), 2) ** 2.0,
    "reduce_sum, rows of rows": lambda v: tf.reduce_sum(nested(v), 1) ** 2.0,
    "reduce_mean": lambda v: tf.reduce_mean(nested(v), axis=[1, 2])[::2] ** 2.0,
    "reduce_max": lambda v: tf.reduce_max(ragged(v), 0),
    "to_tensor": lambda v: ragged(v).to_tensor(default_value=3.0, shape=[None, 2]),
    "to_tensor, nested": lambda v: nested(v).to_tensor(),
    "from_tensor": lambda v: RT.from_tensor([v, v], lengths=[1, 3]),
    "to_sparse": lambda v: ragged(v).to_sparse().values,
    "concat rows": lambda v: tf.concat([ragged(v), ragged(v) * 2.0], 0),
    "concat columns": lambda v: tf.concat([ragged(v), ragged(v) * 2.0], 1),
    "stack": lambda v: tf.stack([ragged(v), ragged(v) * 2.0], 1),
    "index": lambda v: ragged(v)[2] * ragged(v)[2, 0],
    "slice": lambda v: ragged(v)[::-1, 1:],
    "slice, nested": lambda v: nested(v)[:, :1, ::-1],
    "gather": lambda v: tf.gather(ragged(v), [2, 0, 2]),
    "gather by ragged indices": lambda v: tf.gather(v, tf.ragged.constant([[0, 4], [], [4]])),
    "gather columns by ragged indices": lambda v: tf.gather([v, v * v], tf.ragged.constant([[0, 4], [4]]), axis=1),
    "softmax": lambda v: tf.nn.softmax(ragged(v)),
    "boolean_mask": lambda v: tf.ragged.boolean_mask(
        ragged(v), tf.ragged.constant([[True, False], [], [True, True, False]])),
    "map_flat_values": lambda v: tf.ragged.map_flat_values(tf.square, ragged(v)),
    "stack_dynamic_partitions": lambda v: tf.ragged.stack_dynamic_partitions(v, [1, 0, 1, 1, 0], 2),
    "fill_empty_rows": lambda v: tf.ragged_fill_empty_rows(tf.constant([0, 0, 2, 2, 3], tf.int64), v, 6, v[0])[1],
    "map_fn": lambda v: tf.map_fn(lambda r: tf.reduce_sum(r) ** 2.0, ragged(v), fn_output_signature=tf.float64),
    "where": lambda v: tf.where(ragged(v) > 0.0, ragged(v) * 2.0, ragged(v)),
    "merge_dims": lambda v: nested(v).merge_dims(0, 1) * 2.0,
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_gradients(function):
    check_gradient(lambda v: flat(function(v)), [rand(5)], {}, [0])


CUBE = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("axis", "batch_dims", "indices", "shape"),
    [
        (1, 0, [[2], [0, 1, 1]], [2, 2, None, 4]),
        (2, 0, [[2], [0, 1, 1]], [2, 3, 2, None]),
        (-1, 0, [[2], [], [0, 1]], [2, 3, 3, None]),
        (1, 0, [[[0], [1, 1]], [[2]]], [2, 2, None, None, 4]),
        (2, 1, [[1], [0, 3, 1]], [2, 3, None]),
        (2, 2, [[[0], [1, 2], []], [[3], [0], [2]]], [2, 3, None]),
    ],
)
def test_gather_at_ragged_indices(axis, batch_dims, indices, shape, traced):
    def gather(params, indices):
        return tf.gather(params, indices, axis=axis, batch_dims=batch_dims)

    def expected(params, axis, indices, batch_dims):
        if batch_dims:
            return [expected(p, axis - 1, i, batch_dims - 1) for p, i in zip(params, indices, strict=True)]
        if axis:
            return [expected(p, axis - 1, indices, 0) for p in params]
        return [expected(params, 0, i, 0) if isinstance(i, list) else params[i].tolist() for i in indices]

    found = (tf.function(gather) if traced else gather)(CUBE, tf.ragged.constant(indices))
    assert found.shape.as_list() == shape
    assert found.to_list() == expected(CUBE, axis % 3, indices, batch_dims)


def test_nothing_is_copied_where_rows_agree():
    a = ragged(tf.constant([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (a + a).row_splits is a.row_splits
    assert a.with_values(a.values).values is a.values


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (10, [[11, 12], [], [13, 14, 15]]),
        ([[10], [20], [30]], [[11, 12], [], [33, 34, 35]]),
        ([10], [[11, 12], [], [13, 14, 15]]),
        ([[[10]], [[20]]], [[[11, 12], [], [13, 14, 15]], [[21, 22], [], [23, 24, 25]]]),
    ],
)
def test_broadcasting(other, expected):
    a = ragged([1, 2, 3, 4, 5])
    assert (a + other).to_list() == expected
    assert (other + a).to_list() == expected


@pytest.mark.parametrize("other", [[[1, 2], [3, 4], [5, 6]], [1, 2], [[1], [2]]])
def test_rows_of_other_lengths_do_not_broadcast(other):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
        ragged([1, 2, 3, 4, 5]) + tf.constant(other)


def test_row_splits_keep_their_dtype():
    a = tf.ragged.constant([[1, 2], [3]], row_splits_dtype=tf.int32)
    for value in (
        a + 1,
        a[:, 1:],
        a[::-1],
        tf.concat([a, a], 1),
        tf.gather(a, [1]),
        a + [[1], [2]],
        tf.expand_dims(a, 0),
        a[tf.newaxis],
        a[:, tf.newaxis],
        tf.ragged.cross([a, a]),
    ):
        assert value.row_splits.dtype == tf.int32
    mixed = tf.concat([a, a.with_row_splits_dtype(tf.int64)], 0)
    assert mixed.row_splits.dtype == tf.int64


def test_uniform_rows_stay_known():
    a = RT.from_uniform_row_length([1, 2, 3, 4], 2)
    assert (a + 1).shape == [2, 2]
    assert a[1:].shape == [1, 2]
    assert a[:, :1].shape == [2, 1]
    for joined in (tf.concat([a, a], 0), tf.gather(a, [0, 1]), tf.gather(a, [[0], [1]])):  # as in TensorFlow
        assert joined.shape[-1] is None and joined.uniform_row_length is None
    batch = next(iter(tf.data.Dataset.from_tensor_slices(a).batch(2)))
    assert batch.shape == [2, 2] and batch.row_splits.dtype == tf.int64
    pairs = tf.map_fn(lambda row: row, a, fn_output_signature=tf.RaggedTensorSpec([2], tf.int32))
    assert pairs.shape == [2, 2]
    assert a.shape == tf.type_spec_from_value(a).shape


@pytest.mark.parametrize("traced", [False, True])
def test_stacks_of_tensors_with_rows_of_other_lengths(traced):
    stack = tf.function(tf.ragged.stack) if traced else tf.ragged.stack
    found = stack([tf.constant([[1], [2]]), tf.constant([[3, 4, 5]])])
    assert found.to_list() == [[[1], [2]], [[3, 4, 5]]] and found.shape.as_list() == [2, None, None]
    inner = stack([tf.ones([1, 2, 3]), tf.ones([2, 1, 3])])
    assert inner.shape.as_list() == [2, None, None, 3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.ragged.stack([tf.ones([1, 2, 3]), tf.ones([1, 2, 2])])


def test_what_ragged_tensors_are_not():
    a = ragged([1, 2, 3, 4, 5])
    with pytest.raises(TypeError, match="boolean"):
        bool(a)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    with pytest.raises(ValueError, match="private"):
        RT([1], None)
    with pytest.raises(ValueError, match="RaggedTensor"):
        tf.convert_to_tensor(a)
    with pytest.raises(ValueError, match="inner ragged dimension"):
        a[:, 0]


def test_numpy():
    rows = ragged([1, 2, 3, 4, 5]).numpy()
    assert rows.dtype == object
    assert [r.tolist() for r in rows] == [[1, 2], [], [3, 4, 5]]
    assert RT.from_row_lengths([1, 2], [1, 1]).numpy().tolist() == [[1], [2]]
    np.testing.assert_array_equal(nested([1, 2, 3, 4, 5]).to_tensor().numpy()[2], [[4, 5], [0, 0]])


def test_shapes_of_ragged_tensors():
    a = tf.ragged.constant([[1, 2], [], [3]])
    deep = RT.from_row_splits([[1, 2], [3, 4]], [0, 1, 2])
    shape = tf.shape(a)
    assert repr(shape) == "<DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>"
    assert repr(tf.shape(deep)) == "<DynamicRaggedShape lengths=[2, (1, 1), 2] num_row_partitions=1>"
    assert (shape.rank, shape.inner_rank, shape.dtype) == (2, 1, tf.int32)
    assert shape.static_lengths(ragged_lengths=False) == [3, None]
    assert [tf.shape(deep).is_uniform(i) for i in range(3)] == [True, False, True]
    assert tf.shape(deep)[-1].numpy() == 2
    assert repr(tf.shape(deep)[:1]) == "<DynamicRaggedShape lengths=[2] num_row_partitions=0>"
    with pytest.raises(ValueError, match="Index 1 is not uniform"):
        shape[1]
    with pytest.raises(ValueError, match="must be uniform"):
        shape[1:]
    assert (shape == tf.shape(a + 1)).numpy()
    assert not (shape == tf.shape(a[::-1])).numpy()


def test_shapes_from_lengths():
    Shape = tf.experimental.DynamicRaggedShape
    made = Shape.from_lengths([2, (1, 2), (1, 2, 3), 4])
    assert repr(made) == "<DynamicRaggedShape lengths=[2, (1, 2), (1, 2, 3), 4] num_row_partitions=2>"
    assert Shape.from_lengths([3, 2, 2], num_row_partitions=1).num_row_partitions == 1
    target = Shape.from_lengths([3, (2, 0, 1)])
    assert tf.fill(target, 7).to_list() == [[7, 7], [], [7]]
    assert tf.reshape([1.0, 2.0, 3.0], target).to_list() == [[1.0, 2.0], [], [3.0]]
    assert tf.broadcast_to([[1.0], [2.0], [3.0]], target).to_list() == [[1.0, 1.0], [], [3.0]]


def test_shapes_in_functions():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def rows(a):
        shape = tf.shape(a)
        assert shape.static_lengths() == [None, None]
        return shape[0], tf.fill(shape, 1)

    count, filled = rows(tf.ragged.constant([[1, 2], [], [3]]))
    assert count.numpy() == 3
    assert filled.to_list() == [[1, 1], [], [1]]


ROWS = [[1, 2], [], [3]]

# From a function of a ragged tensor with `ROWS` to the shape, dtype and values that TensorFlow gives.
RESULTS = {
    "sum of all, keepdims": (lambda x: tf.reduce_sum(x, keepdims=True), [1, 1], "int32", [[6]]),
    "mean of all, keepdims": (lambda x: tf.reduce_mean(x[tf.newaxis], keepdims=True), [1, 1, 1], "float64", [[[2.0]]]),
    "any of all numbers": (lambda x: tf.reduce_any(x - 3), [], "bool", True),
    "all of all, keepdims": (lambda x: tf.reduce_all(x > 1, keepdims=True), [1, 1], "bool", [[False]]),
    "all of numbers": (lambda x: tf.reduce_all(x - 1, 1), [3], "bool", [False, True, True]),
    "variance of small integers": (
        lambda x: tf.math.reduce_variance(tf.cast(x, tf.uint8)[::2], 1), [2], "float32", [0.25, 0.0]),
    "tile no rows": (lambda x: tf.tile(x, [0, 2]), [0, None], "int32", []),
    "tile no columns": (lambda x: tf.tile(x, [2, 0]), [6, None], "int32", [[]] * 6),
    "segment means": (
        lambda x: tf.math.unsorted_segment_mean(x, [1, 0, 1], 3), [3, None], "float64", [[], [2.0, 2.0], []]),
    "segment sums by roots of counts": (
        lambda x: tf.math.unsorted_segment_sqrt_n(tf.cast(x, tf.float32), [1, 0, 0], 2), [2, None], "float32",
        [[3.0], [1.0, 2.0]]),
    "reshape": (lambda x: tf.reshape(x, [3, 1]), [3, 1], "int32", [[1], [2], [3]]),
    "zeros for strings": (
        lambda x: tf.zeros_like(tf.strings.as_string(x), tf.int8), [3, None], "int8", [[0, 0], [], [0]]),
    "ones for strings": (
        lambda x: tf.ones_like(tf.strings.as_string(x), tf.int8), [3, None], "int8", [[1, 1], [], [1]]),
}  # fmt: skip


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(("function", "shape", "dtype", "values"), RESULTS.values(), ids=RESULTS)
def test_results(function, shape, dtype, values, traced):
    result = (tf.function(function) if traced else function)(tf.ragged.constant(ROWS))
    assert result.shape.as_list() == shape
    assert result.dtype.name == dtype
    assert (result.to_list() if isinstance(result, RT) else result.numpy().tolist()) == values


def test_arrays_of_no_rows_have_all_dimensions():
    assert RT.from_row_splits(tf.zeros([0, 3]), [0]).numpy().shape == (0, 0, 3)


@pytest.mark.parametrize(
    ("rows", "make"),
    [
        (2, lambda rows: tf.RaggedTensor.from_value_rowids([1.0, 2.0], tf.constant([0, 1], tf.int64), nrows=rows)),
        (2, lambda rows: tf.RaggedTensor.from_value_rowids([1.0, 2.0], [0, 1], nrows=rows)),
        (1, lambda rows: tf.RaggedTensor.from_uniform_row_length([1.0, 2.0, 3.0], 3, nrows=rows)),
    ],
)
def test_a_number_of_rows_has_the_dtype_of_the_partition(rows, make):
    assert make(tf.constant(rows, tf.int64)).row_splits.dtype is tf.int64
    with pytest.raises(ValueError, match="requested dtype int64 for Tensor with dtype int32"):
        make(tf.constant(rows))


def test_the_shape_of_a_dense_tensor_may_hold_tensors():
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])

    @tf.function
    def dense(n):
        return rows.to_tensor(shape=[n, 3]), rows.to_tensor(shape=tf.stack([n, 3]))

    assert [t.shape.as_list() for t in dense.get_concrete_function(tf.constant(3)).outputs] == [[None, 3]] * 2
    for tensor in (*dense(tf.constant(3)), rows.to_tensor(shape=[tf.constant(3), 3])):
        assert tensor.numpy().tolist() == [[1.0, 0.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    assert rows.to_tensor(shape=tf.constant([-1, 1])).numpy().tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("join", "axis", "expected"),
    [
        *((tf.concat, axis, [[[1, 2], [3]], [], [[4]]]) for axis in (0, 1, 2, -1)),
        (tf.stack, 0, [[[[1, 2], [3]], [], [[4]]]]),
        (tf.stack, 1, [[[[1, 2], [3]]], [[]], [[[4]]]]),
        (tf.stack, 2, [[[[1, 2]], [[3]]], [], [[[4]]]]),
        (tf.stack, 3, [[[[1], [2]], [[3]]], [], [[[4]]]]),
    ],
)
def test_one_ragged_tensor_is_joined(join, axis, expected):
    assert join([tf.ragged.constant([[[1, 2], [3]], [], [[4]]])], axis).to_list() == expected
