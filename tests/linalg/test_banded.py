"""Tridiagonal and banded equations, beside dense ones in NumPy."""

import numpy as np
import pytest

import tapeflow as tf

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def _random(rng, dtype, *shape):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def _assert_solves(matrix, x, rhs):
    error = abs(matrix @ x - rhs).max(initial=0)
    assert error <= 1000 * np.finfo(x.dtype).eps * (1 + abs(matrix).max() * abs(x).max(initial=0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_tridiagonal_solve_against_a_dense_matrix(dtype):
    rng = np.random.default_rng(0)
    for batch, n, k in [((), 2, 1), ((2,), 2, 3), ((2, 3), 5, 1), ((), 40, 50)]:
        bands, rhs = _random(rng, dtype, *batch, 3, n), _random(rng, dtype, *batch, n, k)
        bands[..., 1, ::2] *= 0.01  # pivoting exchanges rows
        matrix = np.zeros((*batch, n, n), dtype)
        for i in range(n):
            matrix[..., i, i] = bands[..., 1, i]
            if i + 1 < n:
                matrix[..., i, i + 1], matrix[..., i + 1, i] = bands[..., 0, i], bands[..., 2, i + 1]
        for diagonals, form in ((bands, "compact"), (matrix, "matrix"), (list(np.moveaxis(bands, -2, 0)), "sequence")):
            x = tf.linalg.tridiagonal_solve(diagonals, rhs, form)
            _assert_solves(matrix, x.numpy(), rhs)
        bands[..., 1, :] += 4
        matrix += 4 * np.eye(n, dtype=dtype)
        _assert_solves(matrix, tf.linalg.tridiagonal_solve(bands, rhs, partial_pivoting=False).numpy(), rhs)


def test_tridiagonal_solve_of_matrices_that_are_singular_or_not_finite():
    bands = np.array([[[1, 1, 0], [1, 1, 2], [0, 1, 0]], [[0, 0, 0], [2, 2, 2], [0, 0, 0]]], np.float32)
    x = tf.linalg.tridiagonal_solve(bands, np.ones((2, 3, 1), np.float32)).numpy()
    assert np.isnan(x[0]).all()  # of the whole matrix
    assert x[1].ravel().tolist() == [0.5, 0.5, 0.5]
    bands[1, 1, 0] = np.nan
    x = tf.linalg.tridiagonal_solve(bands, np.ones((2, 3, 1), np.float32)).numpy()
    assert np.isnan(x[1]).all()
    perturbed = tf.linalg.tridiagonal_solve(bands[:1], np.ones((1, 3, 1), np.float32), perturb_singular=True)
    assert np.isfinite(perturbed.numpy()).all()
    assert tf.linalg.tridiagonal_solve(bands, np.ones((2, 3, 0), np.float32)).shape == [2, 3, 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_banded_triangular_solve_against_a_dense_matrix(dtype, lower, adjoint):
    rng = np.random.default_rng(0)
    for batch, count, n, k in [((), 1, 1, 1), ((2,), 2, 4, 3), ((2, 1), 5, 5, 1), ((), 6, 4, 2), ((), 3, 40, 50)]:
        bands, rhs = _random(rng, dtype, *batch, count, n), _random(rng, dtype, *batch[::-1], n, k)
        bands[..., 0 if lower else -1, :] += 4
        matrix = np.zeros((*batch, n, n), dtype)
        for d in range(min(count, n)):
            for i in range(n - d):
                if lower:
                    matrix[..., i + d, i] = bands[..., d, i + d]
                else:
                    matrix[..., i, i + d] = bands[..., count - 1 - d, i]
        matrix = matrix.conj().swapaxes(-1, -2) if adjoint else matrix
        x = tf.linalg.banded_triangular_solve(bands, rhs, lower=lower, adjoint=adjoint).numpy()
        _assert_solves(matrix, x, np.broadcast_to(rhs, x.shape))
