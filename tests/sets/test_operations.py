"""Sets in the rows of tensors; the results are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

A = [[3, 1, 1, 2], [5, 5, 5, 9]]
B = [[4, 3], [9, 9]]
RAGGED_A = ([[0, 0], [0, 1], [0, 2], [1, 0]], [3, 1, 1, 5], [2, 4])
RAGGED_B = ([[0, 0], [1, 0], [1, 3]], [3, 5, 6], [2, 4])


def sparse(parts, dtype=np.int32):
    indices, values, shape = parts
    return tf.SparseTensor(indices, np.asarray(values, dtype), shape)


def plain(found):
    return [part.numpy().tolist() for part in (found.indices, found.values, found.dense_shape)]


FORMS = {
    "dense and dense": (tf.constant(A), tf.constant(B)),
    "dense and sparse": (tf.constant(A), sparse(RAGGED_B)),
    "sparse and dense": (sparse(RAGGED_A), tf.constant(B)),
    "sparse and sparse": (sparse(RAGGED_A), sparse(RAGGED_B)),
}
UNION = {
    "dense and dense": [[1, 2, 3, 4, 5, 9], [4, 2]],
    "dense and sparse": [[1, 2, 3, 5, 6, 9], [3, 3]],
    "sparse and dense": [[1, 3, 4, 5, 9], [3, 2]],
    "sparse and sparse": [[1, 3, 5, 6], [2, 2]],
}


@pytest.mark.parametrize("form", FORMS)
def test_unions(form):
    a, b = FORMS[form]
    values, lengths = UNION[form]
    found = tf.sets.union(a, b)
    indices = [[row, i] for row, length in enumerate(lengths) for i in range(length)]
    assert plain(found) == [indices, values, [2, max(lengths)]] and found.dtype == tf.int32
    assert plain(tf.sets.union(b, a)) == plain(found)


INTERSECTION = {
    "dense and dense": [[[0, 0], [1, 0]], [3, 9]],
    "dense and sparse": [[[0, 0], [1, 0]], [3, 5]],
    "sparse and dense": [[[0, 0]], [3]],
    "sparse and sparse": [[[0, 0], [1, 0]], [3, 5]],
}


@pytest.mark.parametrize("form", FORMS)
def test_intersections(form):
    a, b = FORMS[form]
    assert plain(tf.sets.intersection(a, b)) == [*INTERSECTION[form], [2, 1]]
    assert plain(tf.sets.intersection(b, a)) == [*INTERSECTION[form], [2, 1]]


DIFFERENCE = {
    "dense and dense": ([[[0, 0], [0, 1], [1, 0]], [1, 2, 5], [2, 2]], [[[0, 0]], [4], [2, 1]]),
    "dense and sparse": ([[[0, 0], [0, 1], [1, 0]], [1, 2, 9], [2, 2]], [[[1, 0]], [6], [2, 1]]),
    "sparse and dense": ([[[0, 0], [1, 0]], [1, 5], [2, 1]], [[[0, 0], [1, 0]], [4, 9], [2, 1]]),
    "sparse and sparse": ([[[0, 0]], [1], [2, 1]], [[[1, 0]], [6], [2, 1]]),
}


@pytest.mark.parametrize("form", FORMS)
def test_differences(form):
    a, b = FORMS[form]
    ab, ba = DIFFERENCE[form]
    assert plain(tf.sets.difference(a, b)) == plain(tf.sets.difference(b, a, aminusb=False)) == ab
    assert plain(tf.sets.difference(b, a)) == plain(tf.sets.difference(a, b, aminusb=False)) == ba


def test_sizes_count_distinct_elements():
    found = tf.sets.size(sparse(RAGGED_A))
    assert found.numpy().tolist() == [2, 1] and found.dtype == tf.int32
    deep = sparse(([[0, 1, 0], [0, 1, 1], [1, 0, 2]], [7, 7, 8], [2, 3, 4]))
    assert tf.sets.size(deep).numpy().tolist() == [[0, 1, 0], [1, 0, 0]]
    assert tf.sets.size(sparse((np.zeros([0, 2], int), [], [3, 2]))).numpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16])
def test_dtypes(dtype):
    found = tf.sets.union(tf.constant([[2, 1]], dtype), tf.constant([[3]], dtype))
    assert found.values.numpy().tolist() == [1, 2, 3] and found.dtype == dtype


def test_strings_and_more_dimensions():
    a, b = tf.constant([[["b", "a"]], [["c", "c"]]]), tf.constant([[["a"]], [["d"]]])
    found = tf.sets.union(a, b)
    assert plain(found) == [[[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]], [b"a", b"b", b"c", b"d"], [2, 1, 2]]
    empty = tf.sets.intersection(tf.constant([["a"]]), tf.constant([["b"]]))
    assert plain(empty) == [[], [], [1, 0]] and empty.indices.shape == [0, 2]


@pytest.mark.parametrize(
    ("a", "b", "error"),
    [
        ([[1.0]], [[1.0]], TypeError),
        ([[1]], [["a"]], TypeError),
        ([1, 2], [1, 2], (ValueError, tf.errors.InvalidArgumentError)),
        ([[1], [2]], [[1]], (ValueError, tf.errors.InvalidArgumentError)),
        ([[[1]]], [[1]], (ValueError, tf.errors.InvalidArgumentError)),
    ],
)
def test_operands_that_are_refused(a, b, error):
    for operation in (tf.sets.union, tf.sets.intersection, tf.sets.difference):
        with pytest.raises(error):
            operation(tf.constant(a), tf.constant(b))


@pytest.mark.parametrize("operation", ["", "a+b"])
def test_other_operations_are_refused(operation):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid set_operation"):
        tf.raw_ops.DenseToDenseSetOperation(set1=[[1]], set2=[[2]], set_operation=operation)


def test_operations_in_capital_letters():
    found = tf.raw_ops.DenseToDenseSetOperation(set1=[[1]], set2=[[2]], set_operation="A-B")
    assert found.result_values.numpy().tolist() == [1]


def test_indices_are_checked_if_wanted():
    unsorted = tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])
    other = tf.constant([[1], [2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.sets.intersection(other, unsorted)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.sets.size(unsorted)
    other_order = tf.SparseTensor([[0, 1], [0, 0]], [1, 2], [2, 2])
    assert tf.sets.size(other_order, validate_indices=False).numpy().tolist() == [2, 0]


def test_sizes_of_other_values():
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.sets.size(tf.constant([[1]]))
    with pytest.raises(TypeError, match="not in supported dtypes"):
        tf.sets.size(tf.SparseTensor([[0, 0]], [1.0], [1, 1]))


def test_static_shapes():
    @tf.function(input_signature=[tf.TensorSpec([2, None], tf.int32), tf.TensorSpec([2, 3], tf.int32)])
    def union(a, b):
        found = tf.sets.union(a, b)
        assert found.indices.shape.as_list() == [None, 2] and found.values.shape.as_list() == [None]
        return found.values

    assert union([[1], [2]], [[3, 3, 3], [4, 4, 2]]).numpy().tolist() == [1, 3, 2, 4]
    with tf.Graph().as_default():
        unknown = tf.compat.v1.placeholder(tf.int32)
        assert tf.sets.union(unknown, tf.constant([[1]])).indices.shape.as_list() == [None, 2]
        for a, b in (([3], [3]), ([2, 3], [2, 3, 4]), ([2, 1], [3, 1])):
            with pytest.raises(ValueError):
                tf.sets.union(tf.compat.v1.placeholder(tf.int32, a), tf.compat.v1.placeholder(tf.int32, b))
