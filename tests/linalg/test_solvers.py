"""Large matrices, which are inverted and solved in other ways than small ones."""

import numpy as np
import pytest

import tapeflow as tf

SIZE = 70


def _matrix(dtype):
    draws = np.random.default_rng(0)
    matrix = draws.standard_normal((SIZE, SIZE))
    return (matrix + 1j * draws.standard_normal((SIZE, SIZE)) if "complex" in dtype else matrix).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("adjoint", [False, True])
def test_the_inverse_of_a_large_matrix(dtype, adjoint):
    matrix = _matrix(dtype)
    inverse = tf.linalg.inv(matrix, adjoint=adjoint).numpy()
    product = inverse @ (matrix.conj().T if adjoint else matrix)
    np.testing.assert_allclose(product, np.eye(SIZE), atol=1e-10 if dtype == "float64" else 2e-3)


@pytest.mark.parametrize("matrix", [np.zeros, np.ones, lambda *args: np.full(*args[:1], np.nan, *args[1:])])
def test_a_large_matrix_without_an_inverse_is_refused(matrix):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible"):
        tf.linalg.inv(matrix((SIZE, SIZE), np.float32))


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_triangular_equations_with_many_right_hand_sides(dtype, lower, adjoint):
    matrix = _matrix(dtype) + SIZE * np.eye(SIZE, dtype=dtype)
    rhs = _matrix(dtype)
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    x = tf.linalg.triangular_solve(matrix, rhs, lower, adjoint).numpy()
    np.testing.assert_allclose((triangle.conj().T if adjoint else triangle) @ x, rhs, atol=1e-4)
    few = tf.linalg.triangular_solve(matrix, rhs[:, :3], lower, adjoint).numpy()
    np.testing.assert_allclose(x[:, :3], few, rtol=1e-3, atol=1e-5)
