"""Rows of `tapeflow/linalg/solvers.py`, `factorizations.py`, `matrix_functions.py` and parts of `spectral.py`."""

import numpy as np
import scipy.linalg

import tapeflow as tf
from op_table import COMPLEX, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError
ALL = WIDE_FLOATS + COMPLEX


def regular(*shape, seed=0):
    """Matrices that are well conditioned."""
    return rand(*shape, seed=seed) + 3.0 * np.eye(shape[-2], shape[-1])


def adjoint(x):
    return np.swapaxes(x.conj(), -1, -2)


def triangular_solve(matrix, rhs, lower=True, adjoint=False):
    matrix = np.tril(matrix) if lower else np.triu(matrix)
    return np.linalg.solve(np.swapaxes(matrix.conj(), -1, -2) if adjoint else matrix, rhs)


def lu(x):
    p, lower, upper = scipy.linalg.lu(x)
    return np.tril(lower, -1) + upper, np.argmax(p, 0)


def hermitian_part(x):
    lower = np.tril(x, -1)
    return lower + adjoint(lower) + np.real(np.einsum("...ii->...i", x))[..., None] * np.eye(x.shape[-1])


def batched(function):
    return lambda x, **kw: np.stack([function(m, **kw) for m in x]) if x.ndim > 2 else function(x, **kw)


ROUNDING = {"float32": (2e-4, 2e-4), "complex64": (2e-4, 2e-4), "float64": (1e-8, 1e-9), "complex128": (1e-8, 1e-9)}
SQUARE = [sample(regular(3, 3)), sample(regular(2, 4, 4)), sample(regular(1, 1)), sample(rand(2, 0, 0))]
NOT_SQUARE = (sample(np.ones([2, 3])), Invalid, "Input matrix must be square.")
VECTOR = (sample(np.ones([3])), Invalid, "Input tensor 0 must have rank >= 2, got 1")
INTEGERS = (sample(np.ones([2, 2], np.int32)), Invalid, "Value for attr 'T' of int32")
BAD = [NOT_SQUARE, VECTOR, INTEGERS]

ROWS = [
    Row("linalg.det", SQUARE, np.linalg.det, ALL, tolerance=ROUNDING, bad=BAD),
    Row("linalg.slogdet", SQUARE, lambda x: tuple(np.linalg.slogdet(x)), ALL, tolerance=ROUNDING, bad=BAD),
    Row("linalg.inv", [*SQUARE, sample(regular(3, 3), adjoint=True)],
        lambda x, adjoint=False: np.linalg.inv(np.swapaxes(x.conj(), -1, -2) if adjoint else x), ALL,
        tolerance=ROUNDING, bad=[*BAD, (sample(np.ones([2, 2])), Invalid, "Input is not invertible.")]),
    Row("linalg.solve", [
        sample(regular(3, 3), rand(3, 2)), sample(regular(2, 3, 3), rand(2, 3, 1)), sample(regular(3, 3), rand(3, 0)),
        sample(regular(3, 3), rand(3, 2), adjoint=True), sample(rand(0, 0), rand(0, 2)),
    ], lambda a, b, adjoint=False: np.linalg.solve(np.swapaxes(a.conj(), -1, -2) if adjoint else a, b), ALL,
        tolerance=ROUNDING, bad=[
        (sample(np.ones([2, 2]), np.ones([2, 1])), Invalid, "Input matrix is not invertible."),
        (sample(np.eye(2), np.ones([3, 1])), Invalid, "Input matrix and rhs are incompatible."),
        (sample(np.eye(2), np.ones([2])), Invalid, "All input tensors must have the same rank."),
        (sample(np.ones([2, 3]), np.ones([2, 1])), Invalid, "First input (lhs) must be a square matrix."),
        (sample(np.ones([3]), np.ones([3])), Invalid, "Input tensor 0 must have rank >= 2, got 1"),
    ]),
    Row("linalg.triangular_solve", [
        sample(regular(3, 3), rand(3, 2)), sample(regular(3, 3), rand(3, 2), lower=False),
        sample(regular(3, 3), rand(3, 2), adjoint=True), sample(regular(3, 3), rand(3, 2), lower=False, adjoint=True),
        sample(regular(4, 3, 3), rand(3, 2)), sample(regular(3, 3), rand(2, 4, 3, 1)), sample(rand(0, 0), rand(0, 1)),
    ], triangular_solve, ALL, tolerance=ROUNDING, bad=[
        (sample(np.eye(2), np.ones([3, 1])), Invalid, "In[0] mismatch In[1] shape: 2 vs. 3: [2,2] [3,1]"),
        (sample(np.eye(2), np.ones([2])), Invalid, "In[1] ndims must be >= 2: 1"),
        (sample(np.ones([2, 3]), np.ones([2, 1])), Invalid, "must be square (3 =/= 2)"),
        (sample(np.ones([3, 2, 2]), np.ones([4, 2, 1])), Invalid, "must have compatible batch dimensions"),
    ]),
    Row("linalg.cholesky", [sample(rand(4, 3, 3) @ np.swapaxes(rand(4, 3, 3), -1, -2) + np.eye(3)), sample(np.eye(2))],
        np.linalg.cholesky, ("float32", "float64"), gradient=False, tolerance=ROUNDING, bad=[
            (sample(np.ones([2, 3])), Invalid, "must be square"),
    ]),
    Row("linalg.cholesky_solve", [sample(regular(3, 3), rand(3, 2)), sample(regular(3, 3), rand(2, 3, 1))],
        lambda c, b: np.linalg.solve(np.tril(c) @ adjoint(np.tril(c)), b), ALL, tolerance=ROUNDING,
        bad=[(sample(np.eye(2), np.ones([2])), Invalid, "In[1] ndims must be >= 2: 1")]),
    Row("linalg.lstsq", [
        sample(regular(4, 2), rand(4, 3)), sample(regular(2, 4), rand(2, 3)), sample(regular(3, 3), rand(3, 1)),
        sample(regular(4, 2), rand(4, 1), fast=False), sample(regular(2, 4), rand(2, 1), fast=False),
    ], lambda a, b, fast=True: np.linalg.pinv(a) @ b, ALL, second_order=False,
        tolerance={**ROUNDING, "float32": (2e-3, 2e-3), "complex64": (2e-3, 2e-3)}, bad=[
        (sample(np.ones([3, 2]), np.ones([2, 1])), Invalid, "Matrix size-incompatible: In[0]: [3,2], In[1]: [2,1]"),
        (sample(np.ones([3, 2]), np.ones([3])), Invalid, "In[1] ndims must be >= 2"),
    ]),
    Row("linalg.pinv", [sample(rand(3, 2)), sample(rand(2, 3)), sample(rand(2, 4, 3)), sample(rand(0, 0))],
        np.linalg.pinv, tolerance=ROUNDING, bad=[
        (sample(np.ones([3])), ValueError, "Input `a` must have at least 2 dimensions (saw: 1)."),
        (sample(np.ones([2, 2], np.int32)), TypeError, "Input `a` must have `float`-like `dtype` (saw int32)."),
    ]),
    Row("linalg.matrix_rank", [
        sample(rand(3, 2)), sample(np.ones([2, 3, 3])), sample(np.zeros([2, 2])), sample(rand(3, 3), 100.0),
    ], np.linalg.matrix_rank, result="int32", gradient=False, bad=[
        (sample(np.ones([3])), ValueError, "Input `a` must have at least 2 dimensions (saw: 1)."),
        (sample(tf.ones([2, 2], tf.int32)), TypeError, "Input `a` must have `float`-like `dtype` (saw int32)."),
    ]),
    Row("linalg.lu", [sample(regular(3, 3)), sample(rand(4, 4))], lu, ALL, tolerance=ROUNDING,
        bad=[*BAD, (sample(np.ones([2, 2])), Invalid, "Input is not invertible.")]),
    Row("linalg.qr", [
        sample(rand(3, 3)), sample(rand(4, 2)), sample(rand(2, 4)), sample(rand(2, 4, 3)),
        sample(rand(2, 4), full_matrices=True),
    ], lambda x, full_matrices=False: tuple(np.linalg.qr(x, "complete" if full_matrices else "reduced")), ALL,
        tolerance=ROUNDING, bad=[VECTOR, INTEGERS]),
    Row("linalg.expm", [sample(rand(3, 3)), sample(rand(2, 2, 2)), sample(np.array([[0.0, 1.0], [0.0, 0.0]])),
                        sample(rand(2, 0, 0))], scipy.linalg.expm, ALL, tolerance=ROUNDING,
        bad=[NOT_SQUARE, VECTOR, (sample([[1]]), ValueError, "does not support matrices of type tf.int32")]),
    Row("linalg.sqrtm", [
        sample(regular(3, 3)), sample(regular(2, 2, 2)), sample(np.array([[1.0, 1.0], [0.0, 1.0]])),
        sample(rand(2, 0, 0)),
    ], batched(lambda x: scipy.linalg.sqrtm(x) if x.size else x), ALL, tolerance=ROUNDING, bad=BAD),
    Row("linalg.logm", [
        sample(regular(3, 3)), sample(regular(2, 2, 2)), sample(np.array([[1.0, 1.0], [0.0, 1.0]])),
        sample(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])), sample(rand(2, 0, 0)),
    ], batched(lambda x: scipy.linalg.logm(x) if x.size else x), COMPLEX, gradient=False, tolerance=ROUNDING,
        bad=[(sample(np.eye(2)), Invalid, "Value for attr 'T' of double"),
             (sample(np.ones([2, 3], np.complex64)), Invalid, "Input matrix must be square.")]),
    Row("linalg.eigvalsh", SQUARE, lambda x: np.linalg.eigvalsh(hermitian_part(x)), ALL, tolerance=ROUNDING,
        bad=[*BAD, (sample([[np.nan, 0.0], [0.0, 1.0]]), Invalid, "Self-adjoint eigen decomposition was not")]),
]  # fmt: skip
