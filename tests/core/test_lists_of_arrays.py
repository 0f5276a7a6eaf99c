"""Lists with NumPy's arrays and numbers in them, at every place that converts Python values. Expected: TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
KINDS = ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?"]


def first(dataset):
    return next(iter(dataset))


def same_dtype(tensor, array):
    assert tensor.dtype.as_numpy_dtype == array.dtype
    np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [lambda a: [a], lambda a: [a, a], lambda a: [[a]], lambda a: [a, [*a]][:1]])
def test_datasets_keep_the_dtype_of_arrays_in_lists(kind, form):
    array = np.array([1, 0]).astype(kind)
    value, expected = form(array), np.array(form(array))
    same_dtype(first(Dataset.from_tensors(value)), expected)
    same_dtype(first(Dataset.from_tensor_slices(value)), expected[0])
    same_dtype(first(Dataset.from_tensor_slices({"x": value}))["x"], expected[0])
    same_dtype(first(Dataset.from_tensor_slices((value, value)))[1], expected[0])
    same_dtype(first(Dataset.range(1).scan(value, lambda s, i: (s, s))), expected)
    same_dtype(Dataset.range(1).reduce(value, lambda s, i: s), expected)
    same_dtype(first(Dataset.from_generator(lambda x: iter([x]), tf.as_dtype(array.dtype), args=(array,))), array)
    same_dtype(tf.experimental.Optional.from_value(value).get_value(), expected)
    assert tf.type_spec_from_value(value) == tf.TensorSpec(expected.shape, array.dtype)


def test_images_in_a_list_stay_images():
    images = [np.full((2, 2, 3), 255, np.uint8)] * 2
    dataset = Dataset.from_tensor_slices(images).map(lambda x: tf.image.convert_image_dtype(x, tf.float32))
    assert first(dataset).numpy().max() == 1


def test_large_numbers_stay():
    assert first(Dataset.from_tensor_slices([np.array([2**40, 1])])).numpy().tolist() == [2**40, 1]


def test_lists_of_arrays_of_different_dtypes_convert_as_lists_do():
    mixed = [np.array([1, 2], "u1"), np.array([3, 4], "i8")]
    assert first(Dataset.from_tensors(mixed)).dtype is tf.int32
    assert first(Dataset.from_tensors([np.uint8(1)])).dtype is tf.int32  # numbers are no arrays
    assert tf.constant([np.array([1], "u1")]).dtype is tf.int32
    assert tf.constant([np.array([1], "f2")]).dtype is tf.float16


@pytest.mark.parametrize(
    ("kind", "eager", "graph"),
    [
        ("u1", tf.int32, tf.uint8),
        ("i8", tf.int32, tf.int32),
        ("u8", tf.int32, tf.uint64),
        ("f2", tf.float16, tf.float16),
        ("f8", tf.float64, tf.float32),
        ("c8", tf.complex128, tf.complex64),
        ("c16", tf.complex128, tf.complex128),
        ("?", tf.bool, tf.bool),
    ],
)
def test_numbers_in_lists(kind, eager, graph):
    numbers = [np.dtype(kind).type(1), np.dtype(kind).type(0)]
    assert tf.constant(numbers).dtype is eager
    assert tf.function(lambda: tf.constant(numbers))().dtype is graph
    assert first(Dataset.range(1).map(lambda _: tf.convert_to_tensor(numbers))).dtype is graph
    assert first(Dataset.from_tensors(numbers)).dtype is eager


def test_requested_dtypes():
    assert tf.constant([np.array([1, 2], "i8")], tf.uint8).dtype is tf.uint8
    for mixed in ([True, np.bool_(1)], [[True], np.array([True])]):
        with pytest.raises(TypeError):
            tf.constant(mixed, tf.int32)


def test_ragged_constants():
    assert tf.ragged.constant(np.array([1, 2], "u1")).dtype is tf.uint8
    assert tf.ragged.constant([np.array([1, 2], "u1"), np.array([3], "u1")]).dtype is tf.int32
    assert tf.ragged.constant([np.array([], "f8"), np.array([3], "f2")]).dtype is tf.float16
    assert tf.ragged.constant([np.array([1, 2], "f8"), [3]]).dtype is tf.float64
    assert tf.ragged.constant([[1.0], np.array([1, 2], "f8")]).dtype is tf.float32
    assert tf.ragged.constant([np.array(1.0), np.array(2.0)]).dtype is tf.float64
