"""The largest elements of long rows, where only some rows have ties."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "int8", "uint16"])
def test_of_equal_elements_of_a_long_row_the_first_come_first(dtype):
    rng = np.random.default_rng(0)
    rows = np.stack([rng.permutation(3000) % 100, np.full(3000, 7), np.arange(3000) % 2])
    values, indices = tf.math.top_k(tf.cast(rows, dtype), 40)
    expected = np.argsort(-rows, 1, kind="stable")[:, :40]
    assert np.array_equal(indices, expected)
    assert np.array_equal(tf.cast(values, tf.int64), np.take_along_axis(rows, expected, 1))


def test_membership_in_long_rows():
    predictions = np.tile(np.arange(1000, dtype=np.float32), (7, 1))
    predictions[2, 990] = np.inf
    predictions[3, 5] = np.nan
    predictions[4] = 3e38  # finite, with an infinite sum
    predictions[5, :300] = 2000
    targets = [998, 997, 998, 999, 17, 299, 1000]
    assert tf.math.in_top_k(targets, predictions, 2).numpy().tolist() == [True, False, False, False, True, True, False]


def test_distinct_values_are_numbered_by_their_first_appearance():
    y, where, count = tf.unique_with_counts([0.0, 5.0, -0.0, 5.0, np.nan, np.nan, -3.0])
    assert np.array_equal(y, [0.0, 5.0, np.nan, np.nan, -3.0], equal_nan=True)
    assert where.numpy().tolist() == [0, 1, 0, 1, 2, 3, 4] and count.numpy().tolist() == [2, 2, 1, 1, 1]
    for numbers in ([2**62, -1, 2**62, 0], [3, 1, 3, 1]):
        before = tf.constant(numbers, tf.int64)
        assert tf.unique(before).idx.numpy().tolist() == [0, 1, 0, 2 if numbers[3] == 0 else 1]
        assert before.numpy().tolist() == numbers


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gradients_return_to_the_places_of_any_dimension(axis):
    x = tf.constant(np.random.default_rng(0).permutation(60).reshape(3, 4, 5).astype(np.float32))

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            largest = tf.math.approx_max_k(x, 2, reduction_dimension=axis)[0]
        return tape.gradient(largest, x)

    expected = (x.numpy() >= np.sort(x.numpy(), axis).take([-2], axis)).astype(np.float32)
    np.testing.assert_array_equal(gradient(x), expected)
    dims = [None] * 3
    dims[axis] = x.shape[axis]
    dynamic = tf.function(gradient, input_signature=[tf.TensorSpec(dims)])
    np.testing.assert_array_equal(dynamic(x), expected)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_approximate_extremes_are_the_exact_ones(axis):
    """TensorFlow has no kernel for CPUs but for the largest of the last dimension."""
    x = np.random.default_rng(0).permutation(60).reshape(3, 4, 5).astype(np.float32)
    order = np.argsort(x, axis)
    length = x.shape[axis]
    for function, places in (
        (tf.math.approx_min_k, order.take(range(2), axis)),
        (tf.math.approx_max_k, order.take(range(length - 1, length - 3, -1), axis)),
    ):
        values, indices = function(x, 2, reduction_dimension=axis)
        assert indices.dtype == tf.int32 and np.array_equal(indices, places)
        assert np.array_equal(values, np.take_along_axis(x, places, axis))
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least k columns"):
        tf.math.approx_min_k(x, length + 1, reduction_dimension=axis)


def test_the_dimension_of_approximate_extremes_exists():
    for axis in (3, -4):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{axis} is not one of shape"):
            tf.math.approx_max_k(tf.ones([3, 4, 5]), 2, reduction_dimension=axis)


def test_static_shapes_of_approximate_extremes():
    run = tf.function(lambda x: tf.math.approx_min_k(x, 2, 1))
    assert run.get_concrete_function(tf.TensorSpec([None, 4, 5])).output_shapes[0].as_list() == [None, 2, 5]
    for shape in ([3, None, 5], [3, 1, 5], None):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            run.get_concrete_function(tf.TensorSpec(shape))
