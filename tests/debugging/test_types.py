"""Assertions about dtypes and types of values. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

debugging = tf.debugging


@pytest.mark.parametrize("value", [tf.constant([1.5]), tf.Variable(1.5), np.float32([1.5])])
def test_dtypes(value):
    for dtype in (tf.float32, "float32", np.float32):
        assert debugging.assert_type(value, dtype) is None
    for dtype in (tf.float64, tf.int32, tf.string):
        with pytest.raises(TypeError, match=r"^tensor must be of type"):
            debugging.assert_type(value, dtype)
        with pytest.raises(TypeError, match=r"^my words"):
            debugging.assert_type(value, dtype, message="my words")


@pytest.mark.parametrize("value", [1, [1, 2], np.int64(3), tf.constant(4, tf.uint8), tf.Variable([1])])
def test_integers(value):
    assert debugging.assert_integer(value) is None


@pytest.mark.parametrize("value", [1.0, [1.0, 2.0], True, "1", tf.constant(1.0), 1j])
def test_what_is_no_integer(value):
    with pytest.raises(TypeError, match=r"^Expected \"x\" to be integer type"):
        debugging.assert_integer(value)
    with pytest.raises(TypeError, match=r"^mine\. *Expected"):
        debugging.assert_integer(value, message="mine")


@pytest.mark.parametrize(
    ("tensors", "dtype", "expected"),
    [
        (None, None, tf.float32),
        ([], None, tf.float32),
        (None, tf.float64, tf.float64),
        ([tf.constant(1.0, tf.float16)], None, tf.float16),
        ([None, tf.constant(1.0, tf.float64), None, tf.Variable([1.0], dtype=tf.float64)], None, tf.float64),
        ([tf.constant(1.0)], tf.float32, tf.float32),
    ],
)
def test_floats_of_one_dtype(tensors, dtype, expected):
    assert debugging.assert_same_float_dtype(tensors, dtype) == expected


@pytest.mark.parametrize(
    ("tensors", "dtype", "message"),
    [
        ([tf.constant(1.0), tf.constant(1.0, tf.float64)], None, "must be of the same type"),
        ([tf.constant(1.0)], tf.float64, "must be of the same type"),
        ([tf.constant(1.0), None, tf.constant(1)], None, "must be of the same type"),
        ([tf.constant(1)], None, "Expected floating point type"),
        (None, tf.int32, "Expected floating point type"),
        ([tf.constant(1)], tf.int32, "Expected floating point type"),
    ],
)
def test_floats_of_other_dtypes(tensors, dtype, message):
    with pytest.raises(ValueError, match=message):
        debugging.assert_same_float_dtype(tensors, dtype)


@pytest.mark.parametrize("value", [[], [1], (1, 2), {"a": 1}, {1}, range(2), (i for i in ())])
def test_proper_iterables(value):
    assert debugging.assert_proper_iterable(value) is None


@pytest.mark.parametrize(
    "value", [tf.constant([1]), tf.SparseTensor([[0]], [1], [1]), np.ones(1), "ab", b"ab", 1, None]
)
def test_improper_iterables(value):
    with pytest.raises(TypeError, match=r"Expected argument \"values\" to be"):
        debugging.assert_proper_iterable(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (tf.constant(1), True),
        (tf.constant([1j]), True),
        (tf.Variable(1.0), False),
        (tf.constant(True), False),
        (tf.constant("a"), False),
        (tf.SparseTensor([[0]], [1], [1]), False),
        (1, False),
        (np.ones(1), False),
        (None, False),
    ],
)
def test_tensors_of_numbers(value, expected):
    assert debugging.is_numeric_tensor(value) is expected
