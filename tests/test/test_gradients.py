"""`tf.test.compute_gradient`: dtypes, steps and shapes of Jacobians."""

import numpy as np
import pytest

import tapeflow as tf


def test_the_step_of_the_differences():
    def cube(x):
        return x**3

    x = tf.constant([2.0], tf.float64)
    [by_gradient], [by_difference] = tf.test.compute_gradient(cube, [x])
    assert by_gradient.tolist() == [[12.0]]
    np.testing.assert_allclose(by_difference, [[12.0 + 2.0**-20]], rtol=0, atol=1e-9)  # 3 x^2 + delta^2
    [_], [by_difference] = tf.test.compute_gradient(cube, [x], delta=0.5)
    np.testing.assert_allclose(by_difference, [[12.25]], rtol=1e-12)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_dtypes(dtype):
    [by_gradient], [by_difference] = tf.test.compute_gradient(lambda x: 2 * x, [tf.constant([1.0, 4.0], dtype)])
    wide = np.float64 if dtype == tf.float64 else np.float32
    assert by_gradient.dtype == by_difference.dtype == wide
    assert by_gradient.tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_a_complex_number_counts_twice():
    [by_gradient], [by_difference] = tf.test.compute_gradient(tf.math.real, [tf.constant([1 + 2j, 3j], tf.complex128)])
    assert by_gradient.tolist() == [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]] and by_gradient.dtype == np.float64
    np.testing.assert_allclose(by_difference, by_gradient, atol=1e-9)


def test_shapes_of_jacobians():
    matrix, vector = tf.reshape(tf.range(6.0), [2, 3]), tf.constant([1.0, -1.0, 2.0])
    by_gradient, by_difference = tf.test.compute_gradient(tf.linalg.matvec, (matrix, vector))
    assert [m.shape for m in by_gradient] == [(2, 6), (2, 3)] == [m.shape for m in by_difference]
    assert by_gradient[1].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert by_gradient[0].tolist() == [[1.0, -1.0, 2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, -1.0, 2.0]]
    assert isinstance(by_gradient, tuple) and isinstance(by_difference, tuple)


def test_an_argument_without_elements():
    by_gradient, by_difference = tf.test.compute_gradient(
        lambda x, y: tf.reduce_sum(x) * y, [tf.zeros([0]), tf.constant([1.0, 2.0])]
    )
    assert [m.shape for m in (*by_gradient, *by_difference)] == [(2, 0), (2, 2), (2, 0), (2, 2)]


def test_an_argument_without_effect():
    by_gradient, by_difference = tf.test.compute_gradient(lambda x, y: y, [tf.ones([2]), tf.ones([1])])
    assert by_gradient[0].tolist() == [[0.0, 0.0]] == by_difference[0].tolist()


def test_a_result_of_integers():
    with pytest.raises(AssertionError, match="unsupported type int32 of y"):
        tf.test.compute_gradient(lambda x: tf.cast(x, tf.int32), [tf.ones([1])])
