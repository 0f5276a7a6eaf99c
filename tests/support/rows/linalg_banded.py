"""Rows of `tapeflow/linalg/banded.py`."""

import numpy as np

import tapeflow as tf
from op_table import COMPLEX, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError
ALL = WIDE_FLOATS + COMPLEX
ROUNDING = {"float32": (5e-4, 5e-4), "complex64": (5e-4, 5e-4), "float64": (1e-8, 1e-9), "complex128": (1e-8, 1e-9)}


def dense(diagonals):
    above, main, below = np.moveaxis(diagonals, -2, 0)
    out = np.zeros((*main.shape, main.shape[-1]), main.dtype)
    for i in range(main.shape[-1]):
        out[..., i, i] = main[..., i]
        if i + 1 < main.shape[-1]:
            out[..., i, i + 1] = above[..., i]
            out[..., i + 1, i] = below[..., i + 1]
    return out


def band(matrix):
    return np.triu(np.tril(matrix, 1), -1)


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, **_):
    matrix = band(diagonals) if diagonals_format == "matrix" else dense(diagonals)
    rhs = rhs.conj() if conjugate_rhs else rhs
    rhs = np.swapaxes(rhs, -1, -2) if transpose_rhs else rhs
    if rhs.ndim < matrix.ndim:
        return np.linalg.solve(matrix, rhs[..., None])[..., 0]
    return np.linalg.solve(matrix, rhs)


def banded(bands, rhs, lower=True, adjoint=False):
    count, n = bands.shape[-2:]
    matrix = np.zeros((*bands.shape[:-2], n, n), bands.dtype)
    for k in range(min(count, n)):
        for i in range(n - k):
            if lower:
                matrix[..., i + k, i] = bands[..., k, i + k]
            else:
                matrix[..., i, i + k] = bands[..., count - 1 - k, i]
    return np.linalg.solve(np.swapaxes(matrix.conj(), -1, -2) if adjoint else matrix, rhs)


def diagonals(*shape, main=4.0):
    return rand(*shape[:-1], 3, shape[-1]) + main * np.array([0.0, 1.0, 0.0])[:, None]


MATRIX = dense(diagonals(4))

ROWS = [
    Row("linalg.tridiagonal_solve", [
        sample(diagonals(4), rand(4)), sample(diagonals(4), rand(4, 2)), sample(diagonals(2, 5), rand(2, 5, 1)),
        sample(diagonals(2, 5), rand(2, 5)), sample(diagonals(6, main=0.0), rand(6, 2)), sample(diagonals(1), rand(1)),
        sample(diagonals(4), rand(2, 4), transpose_rhs=True), sample(diagonals(4), rand(4), conjugate_rhs=True),
        sample(diagonals(4), rand(4), partial_pivoting=False), sample(MATRIX, rand(4), diagonals_format="matrix"),
    ], tridiagonal_solve, ALL, tolerance=ROUNDING, bad=[
        (sample(np.ones([3, 3]), np.ones([2])), ValueError, "to be equal, got 3 and 2"),
        (sample(np.ones([2, 3]), np.ones([3])), ValueError, "Expected 3 diagonals got 2"),
        (sample(np.ones([2, 3, 3]), np.ones([1, 3])), ValueError, "Batch shapes (2,) and (1,) are incompatible"),
        (sample(np.ones([2, 3]), np.ones([2]), diagonals_format="matrix"), ValueError, "to be same, got 2 and 3"),
        (sample(np.ones([3, 3]), np.ones([3]), diagonals_format="other"), ValueError, "Unrecognized diagonals_format"),
    ]),
    Row("linalg.tridiagonal_matmul", [
        sample(diagonals(4), rand(4, 2)), sample(diagonals(2, 3), rand(2, 3, 1)), sample(diagonals(1), rand(1, 1)),
        sample(MATRIX, rand(4, 2), diagonals_format="matrix"),
    ], lambda d, rhs, diagonals_format="compact": (band(d) if diagonals_format == "matrix" else dense(d)) @ rhs, ALL,
        tolerance=ROUNDING, bad=[
        (sample(np.ones([3, 3]), np.ones([3])), Invalid, "All input tensors must have the same rank."),
        (sample(np.ones([3, 3]), np.ones([2, 1])), Invalid, "Invalid superdiagonal shape."),
        (sample(np.ones([3, 3]), np.ones([3, 1]), diagonals_format="other"), ValueError, "Unrecognized"),
    ]),
    Row("linalg.banded_triangular_solve", [
        sample(rand(2, 4, low=1.0), rand(4, 2)), sample(rand(2, 4, low=1.0), rand(4, 2), lower=False),
        sample(rand(3, 4, low=1.0), rand(4, 1), adjoint=True),
        sample(rand(3, 4, low=1.0), rand(4, 1), lower=False, adjoint=True),
        sample(rand(5, 2, 3, low=1.0), rand(3, 1)), sample(rand(4, 2, low=1.0), rand(2, 1)),
    ], banded, ALL, tolerance=ROUNDING, bad=[
        (sample([[0.0, 1.0]], [[1.0], [1.0]]), Invalid, "Input matrix is not invertible."),
        (sample([[1.0, 1.0]], [[1.0]]), Invalid, "In[0] mismatch In[1] shape: 2 vs. 1"),
        (sample([1.0, 1.0], [[1.0]]), Invalid, "In[0] ndims must be >= 2: 1"),
    ]),
    Row("linalg.eigh_tridiagonal", [
        sample(rand(4), rand(3)), sample(rand(1), rand(0)), sample(rand(4), rand(3), select="i", select_range=(1, 2)),
    ], lambda a, b, select="a", select_range=(0, 9): np.linalg.eigvalsh(np.diag(a) + np.diag(b, -1))[
        slice(select_range[0], select_range[1] + 1)], tolerance=ROUNDING, bad=[
        (sample([1.0, 2.0], [1.0], select="x"), ValueError, "'select must have a value in"),
        (sample([1.0, 2.0], [1.0, 2.0]), Invalid, "Incompatible shapes: [2] for alpha and [2] for beta"),
        (sample([1.0, 2.0], [1.0], select="i", select_range=(1, 0)), Invalid, "Got empty index range in select_range"),
        (sample([1.0, 2.0], [1.0], select="v", select_range=(1.0, 0.0)), Invalid, "Got empty interval in select_range"),
    ]),
]  # fmt: skip
