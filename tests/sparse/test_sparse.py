"""Gradients of sparse ops, and sparse tensors as values."""

import numpy as np
import pytest

import tapeflow as tf
from op_table import check_gradient, rand

PLACES = np.array([[0, 0], [1, 2], [2, 1]], np.int64)
UNSORTED = np.array([[1, 2], [0, 0], [1, 0]], np.int64)
OTHER = np.array([[0, 0], [1, 1]], np.int64)


def sparse(values, places=PLACES):
    return tf.SparseTensor(places, values, [3, 4])


FUNCTIONS = {
    "to_dense": (lambda v: tf.sparse.to_dense(sparse(v)), 1),
    "to_dense with a default": (lambda v, d: tf.sparse.to_dense(sparse(v), d), 2),
    "from_dense": (lambda m: tf.sparse.from_dense(m).values, "matrix"),
    "matmul": (lambda v, m: tf.sparse.sparse_dense_matmul(sparse(v), tf.transpose(m)), "both"),
    "matmul, transposed": (lambda v, m: tf.sparse.sparse_dense_matmul(sparse(v), m, adjoint_a=True), "both"),
    "matmul, both transposed": (
        lambda v, m: tf.sparse.sparse_dense_matmul(sparse(v), tf.transpose(m), adjoint_a=True, adjoint_b=True), "both"),
    "dense times sparse": (lambda v, m: tf.sparse.sparse_dense_matmul(tf.transpose(m), sparse(v)), "both"),
    "add": (lambda v: tf.sparse.add(sparse(v), sparse(v[:2], OTHER)).values, 1),
    "add to dense": (lambda v, m: tf.sparse.add(sparse(v), m), "both"),
    "multiply": (lambda v, m: (sparse(v) * m).values, "both"),
    "multiply, broadcast": (lambda v: (sparse(v) * v[:, None]).values, 1),
    "divide": (lambda v, m: (sparse(v) / (m + 3.0)).values, "both"),
    "reduce_sum": (lambda v: tf.sparse.reduce_sum(sparse(v), 1), 1),
    "reduce_sum, all": (lambda v: tf.sparse.reduce_sum(sparse(v)), 1),
    "reduce_max": (lambda v: tf.sparse.reduce_max(sparse(v + 3.0), 0), 1),
    "reorder": (lambda v: tf.sparse.reorder(sparse(v, UNSORTED)).values, 1),
    "transpose": (lambda v: tf.sparse.transpose(sparse(v)).values, 1),
    "reshape": (lambda v: tf.sparse.reshape(sparse(v), [12]).values, 1),
    "concat": (lambda v: tf.sparse.concat(1, [sparse(v), sparse(v[:2], OTHER)]).values, 1),
    "split": (lambda v: tf.sparse.split(sparse(v), 2, 1)[0].values, 1),
    "slice": (lambda v: tf.sparse.slice(sparse(v), [1, 1], [2, 2]).values, 1),
    "retain": (lambda v: tf.sparse.retain(sparse(v), [True, False, True]).values, 1),
    "softmax": (lambda v: tf.sparse.softmax(sparse(v, np.array([[0, 0], [0, 2], [1, 1]]))).values, 1),
    "maximum": (lambda v: tf.sparse.maximum(sparse(v), sparse(v[:2] * 2.0, OTHER)).values, 1),
    "fill_empty_rows": (lambda v, d: tf.sparse.fill_empty_rows(sparse(v, UNSORTED[1:2].repeat(3, 0)), d)[0].values, 2),
    "square": (lambda v: tf.square(sparse(v)).values, 1),
    "segment_sum": (lambda m: tf.sparse.segment_sum(m, [0, 2, 1], [0, 0, 1]), "matrix"),
    "segment_mean": (lambda m: tf.sparse.segment_mean(m, [0, 2, 1], [0, 0, 1]), "matrix"),
    "sampled_addmm": (
        lambda v, m: tf.sparse.sampled_addmm(PLACES[:, :2], v, [3, 3], m, tf.transpose(m))[1], "both"),
}  # fmt: skip
ARGUMENTS = {1: [rand(3)], 2: [rand(3), rand(seed=4)], "matrix": [rand(3, 4)], "both": [rand(3), rand(3, 4, seed=5)]}


@pytest.mark.parametrize(("function", "arguments"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_gradients(function, arguments):
    given = ARGUMENTS[arguments]
    nth = list(range(len(given)))
    check_gradient(function, given, {}, nth)

    def first_order(*args):
        with tf.GradientTape() as tape:
            tape.watch(args)
            y = tf.reduce_sum(function(*args) ** 2.0)
        return [tf.convert_to_tensor(g) for g in tape.gradient(y, list(args), unconnected_gradients="zero")]

    check_gradient(first_order, given, {}, nth)


def test_strings_and_other_dtypes_move():
    for dtype in ("string", "bool", "int8", "uint16", "float16", "complex64"):
        values = tf.constant(["a", "b", "c"]) if dtype == "string" else tf.cast([1, 0, 1], dtype)
        s = tf.sparse.reorder(tf.sparse.transpose(sparse(values)))
        assert s.values.numpy().tolist() == [values.numpy()[i] for i in (0, 2, 1)]
        assert tf.sparse.to_dense(s).dtype == dtype
        assert tf.sparse.concat(0, [s, s]).values.dtype == dtype


def test_sums_of_what_cancels():
    one, minus = sparse([1.0, 2.0, 3.0]), sparse([-1.0, 2.0, 3.0])
    assert tf.sparse.add(one, minus).values.numpy().tolist() == [0.0, 4.0, 6.0]
    assert tf.sparse.add(one, minus, threshold=0.5).values.numpy().tolist() == [4.0, 6.0]


def test_shapes_too_large_to_count_the_elements_of():
    huge = 2**40
    s = tf.SparseTensor([[5, 1], [1, 7], [1, 2]], [1, 2, 3], [huge, huge])
    assert tf.sparse.reorder(s).values.numpy().tolist() == [3, 2, 1]


def test_repr():
    assert repr(tf.SparseTensor([[0]], [5], [2])) == (
        "SparseTensor(indices=tf.Tensor([[0]], shape=(1, 1), dtype=int64), values=tf.Tensor([5], shape=(1,), "
        "dtype=int32), dense_shape=tf.Tensor([2], shape=(1,), dtype=int64))"
    )


def test_map_fn_over_rows():
    doubled = tf.map_fn(lambda row: tf.sparse.reduce_sum(row), sparse([1.0, 2.0, 3.0]), fn_output_signature=tf.float32)
    assert doubled.numpy().tolist() == [1.0, 2.0, 3.0]


def test_cross_of_a_batch_larger_than_memory():
    feature = tf.SparseTensor([[0, 0], [1 << 40, 0]], ["a", "b"], [1 << 62, 2])
    crossed = tf.sparse.cross([feature, feature])
    assert crossed.indices.numpy().tolist() == [[0, 0], [1 << 40, 0]]
    assert crossed.values.numpy().tolist() == [b"a_X_a", b"b_X_b"]
    assert crossed.dense_shape.numpy().tolist() == [1 << 62, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        tf.sparse.cross([tf.SparseTensor([[5, 0]], ["a"], [2, 2])])


def test_static_shapes_of_joined_tensors():
    def shape(axis, *dims, expand=False):
        specs = [tf.SparseTensorSpec(d) for d in dims]
        function = tf.function(lambda *parts: tf.sparse.concat(axis, list(parts), expand_nonconcat_dims=expand))
        return function.get_concrete_function(*specs).structured_outputs.shape

    assert shape(-1, [2, 3], [2, 4]) == [2, 7]
    assert shape(1, [None, 3], [2, 4]).as_list() == [None, 7]
    assert shape(0, [2, 3], [None, 3]).as_list() == [None, 3]
    assert shape(0, [2, 3], [2, 5], expand=True) == [4, 5]
    assert shape(0, [2, 3], [2, None], expand=True).as_list() == [4, None]
    assert shape(0, None, None).rank is None


@pytest.mark.parametrize("rows", [[0], (0,), np.array([0]), tf.constant([0])])
@pytest.mark.parametrize("indices", [[0, 1], np.array([0, 1], np.int32), tf.constant([0, 1])])
def test_mask_takes_what_converts_to_tensors(indices, rows):
    slices = tf.sparse.mask(tf.IndexedSlices(np.array([[1, 2], [3, 4]]), indices), rows)
    assert slices.indices.numpy().tolist() == [1] and slices.values.numpy().tolist() == [[3, 4]]


@pytest.mark.parametrize("rows", [0, [[0]]])
def test_mask_refuses_what_is_no_vector(rows):
    with pytest.raises(tf.errors.InvalidArgumentError, match="y should be a 1D vector"):
        tf.sparse.mask(tf.IndexedSlices(tf.constant([[1], [2]]), tf.constant([0, 1])), rows)


def test_gradients_of_joined_parts():
    """TensorFlow has none."""
    a, b = tf.sparse.from_dense([[1.0, 0.0, 2.0]]), tf.sparse.from_dense([[0.0, 3.0], [4.0, 0.0]])
    for axis, parts in ((0, [a, tf.sparse.from_dense([[0.0, 5.0, 0.0]])]), (1, [tf.sparse.reset_shape(a, [2, 3]), b])):
        values = [part.values for part in parts]
        with tf.GradientTape() as tape:
            tape.watch(values)
            joined = tf.sparse.concat(axis, [part.with_values(v) for part, v in zip(parts, values, strict=True)])
            y = joined.values**2
        for gradient, v in zip(tape.gradient(y, values), values, strict=True):
            assert np.array_equal(gradient, 2 * v)
