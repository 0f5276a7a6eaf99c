"""Small functions inside TensorFlow; the values are those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import conversion


def test_tensorflow_behaves_as_version_2():
    assert conversion.yes() is True


def test_shapes_in_tensors():
    shape_of = conversion.constant_value_as_shape
    given = tf.TensorShape([2, None])
    assert shape_of(given) is given
    assert shape_of(tf.constant([3, -1, 0])).as_list() == [3, None, 0]
    assert shape_of(tf.constant([])).as_list() == []
    assert shape_of(tf.constant(-1)) == tf.TensorShape(None) and shape_of(tf.constant(-1)).rank is None
    with pytest.raises(ValueError, match="Received a scalar value '2' as shape; require a statically known scalar"):
        shape_of(tf.constant(2))


def test_shapes_in_tensors_of_graphs():
    shape_of = conversion.constant_value_as_shape
    with tf.Graph().as_default():
        vector, unknown = tf.compat.v1.placeholder(tf.int32, [2]), tf.compat.v1.placeholder(tf.int32)
        assert shape_of(vector).as_list() == [None, None]
        assert shape_of(tf.compat.v1.placeholder(tf.int32, [None])).rank is None
        assert shape_of(unknown).rank is None
        assert shape_of(tf.stack([vector[0], 3])).as_list() == [None, 3]
        assert shape_of(tf.shape(tf.zeros([2, 5]))).as_list() == [2, 5]


@pytest.mark.parametrize(("rank", "expected"), [(None, None), (0, []), (2, [None, None])])
def test_unknown_shapes(rank, expected):
    shape = conversion.unknown_shape(rank)
    assert shape.rank == rank and (rank is None or shape.as_list() == expected)
    assert conversion.unknown_shape().rank is None


def test_ragged_values():
    ragged = tf.ragged.constant([[1], [2, 3]])
    assert conversion.is_ragged(ragged) is True
    assert conversion.is_ragged(tf.compat.v1.ragged.constant_value([[1], [2, 3]])) is True
    assert conversion.is_ragged(tf.constant([1])) is False and conversion.is_ragged([[1], [2, 3]]) is False
    assert conversion.convert_to_tensor_or_composite(ragged, tf.float32) is ragged
    named = conversion.convert_to_tensor_or_composite
    with tf.Graph().as_default():
        assert named([1, 2], tf.int16, name="n").name == "n:0" and named(1, tf.int16).dtype is tf.int16


def test_splits_are_compared_with_the_first():
    a, b = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1, 2], [3]])
    deep = tf.ragged.constant([[[1], [2]], [[3, 4]]])
    assert conversion.assert_splits_match([a.nested_row_splits]) == []
    assert len(conversion.assert_splits_match([deep.nested_row_splits] * 3)) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inputs must have identical ragged splits"):
        conversion.assert_splits_match([a.nested_row_splits, a.nested_row_splits, b.nested_row_splits])
    inner = tf.ragged.constant([[[1], [2]], [[3]]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inputs must have identical ragged splits"):
        conversion.assert_splits_match([deep.nested_row_splits, inner.nested_row_splits])


def test_slices_of_variables():
    variable = tf.Variable([[1, 2], [3, 4]])
    assert conversion.slice_of_variable(variable, (slice(None), 1)).numpy().tolist() == [2, 4]
    assert conversion.slice_of_variable(variable, 0).numpy().tolist() == [1, 2]


def test_classes_stay_what_they_are():
    assert conversion.make_composite_tensor(int) is int and conversion.make_composite_tensor(int, "tf.x") is int


def test_stacked_results_of_a_function():
    x = tf.constant([1.0, 2.0, 4.0])
    found = conversion.pfor(lambda i: (tf.gather(x, i) * 2.0, i), tf.constant(2))
    assert [t.numpy().tolist() for t in found] == [[2.0, 4.0], [0, 1]]
    found = conversion.pfor(lambda i: i + 1, 2, True, 3, True)
    assert found.numpy().tolist() == [1, 2]


def test_copies_after_dependencies():
    with tf.Graph().as_default() as graph:
        x, before = tf.constant(3.0), tf.no_op()
        copy = conversion.with_dependencies([before], x, name="copy")
    assert copy.op.control_inputs == [before] and copy.op.inputs[0] is x and copy.name == "copy:0"
    assert graph.get_operation_by_name("copy").type == "Identity"


def test_truncated_normal_numbers_have_the_dtype_and_the_bounds():
    drawn = conversion.parameterized_truncated_normal([500], seed=3)
    values = drawn.numpy()
    assert drawn.dtype is tf.float32 and -2.0 <= values.min() < -1.0 and 1.0 < values.max() <= 2.0
    assert abs(values.mean()) < 0.15 and 0.7 < values.std() < 1.0  # 0.88 without bound
    half = conversion.parameterized_truncated_normal([500], 3.0, 0.1, 2.9, 4.0, tf.float64, 3)
    assert half.dtype is tf.float64 and half.numpy().min() >= 2.9 and half.numpy().max() < 3.6
    shifted = conversion.parameterized_truncated_normal([500, 2], [0.0, 50.0], 1.0, [-1.0, 49.0], [1.0, 51.0])
    assert np.abs(shifted.numpy() - [0.0, 50.0]).max() <= 1.0
    again = [conversion.parameterized_truncated_normal([3]).numpy().tolist() for _ in range(2)]
    assert again[0] != again[1]


@pytest.mark.parametrize(
    ("seed", "salt", "expected"), [(0, "salt", 1185174420), (42, "salt", 776072436), (None, "salt", None)]
)
def test_seeds_of_seeds(seed, salt, expected):
    assert conversion.gen_new_seed(seed, salt) == expected
