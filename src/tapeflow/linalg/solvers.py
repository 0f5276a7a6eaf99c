"""Determinants, inverses and the solutions of linear equations."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import torch

import tapeflow as tf
from tapeflow.core.autodiff.gradients import conj, sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import broadcast, text
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.diagonals import band_part, diag_part, set_diag
from tapeflow.linalg.products import matmul
from tapeflow.linalg.rules import check_square, one_each, square_matrices

# ---- determinants ----------------------------------------------------------------------------------------------------


@op("MatrixDeterminant", kernel=torch.linalg.det, shape=one_each)
def det(input: Any, name: str | None = None) -> Any:
    """The determinants of matrices.

    Args:
        input: of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A tensor of shape `[...]`. Its gradient exists where the matrices are invertible.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> tf.linalg.det([[2.0, 0.0], [1.0, 3.0]]).numpy().item()
        6.0
    """


@det.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    return _scaled(inv(call.inputs[0], adjoint=True), dy * conj(call.outputs[0]))


def _scaled(matrices: Any, by: Any) -> Any:
    """Each matrix times its scalar."""
    return matrices * tf.expand_dims(tf.expand_dims(by, -1), -1)


LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


def _slogdet_kernel(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    sign, log = torch.linalg.slogdet(input)
    return sign, log.to(sign.dtype)


@op("LogMatrixDeterminant", kernel=_slogdet_kernel, shape=lambda x: (one_each(x), one_each(x)))
def _slogdet(input: Any, name: str | None = None) -> Any:
    """Sign and logarithm of determinants."""


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """The signs of determinants, and the logarithms of their absolute values.

    Args:
        input: of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A named tuple `(sign, log_abs_determinant)` of tensors of shape `[...]`; 0 and -inf for singular matrices.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> sign, log = tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]])
        >>> sign.numpy().item(), log.numpy().item()
        (-1.0, 0.0)
    """
    return LogMatrixDeterminant(*_slogdet(input, name))


@_slogdet.gradient(needs="inputs")
def _(call: Call, _: Any, dlog: Any) -> Any:
    return _scaled(inv(call.inputs[0], adjoint=True), dlog)


def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithms of the determinants of matrices that are Hermitian and positive definite.

    Args:
        matrix: of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A tensor of shape `[...]` and the real dtype; NaN where a matrix is not positive definite.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]).numpy().item()
        0.0
    """
    factor = tf.linalg.cholesky(matrix)
    return 2.0 * tf.reduce_sum(tf.math.log(tf.math.real(diag_part(factor))), -1)


# ---- inverses and equations ------------------------------------------------------------------------------------------


def _inverse(input: torch.Tensor, adjoint: bool) -> torch.Tensor:
    check_square(input)
    inverse, info = torch.linalg.inv_ex(input.mH if adjoint else input)
    if bool(info.any()):
        raise invalid("Input is not invertible.")
    return inverse


@op("MatrixInverse", kernel=_inverse, shape=square_matrices)
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverses of matrices.

    Args:
        input: of shape `[..., n, n]`, of a float or complex dtype.
        adjoint: gives the inverse of the adjoint.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the matrices are not square, or not invertible.

    Example:
        >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """


@inv.gradient(needs="outputs")
def _(call: Call, dy: Any) -> Any:
    (adjoint,) = call.attrs
    inverse = call.outputs[0]
    inner = matmul(dy, inverse, adjoint_a=adjoint, adjoint_b=not adjoint)
    return -matmul(inverse, inner, adjoint_a=not adjoint)


def _solve_rule(matrix: TensorShape, rhs: TensorShape, adjoint: bool = False, *_: Any) -> TensorShape:
    if matrix.rank is None or rhs.rank is None:
        return rhs
    if matrix.rank < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {matrix.rank}")
    if matrix.rank != rhs.rank:
        raise invalid(f"All input tensors must have the same rank. They have {text(matrix)} and {text(rhs)}.")
    if not TensorShape(matrix[-1:]).is_compatible_with(matrix[-2:-1]):
        raise invalid(f"First input (lhs) must be a square matrix. It has the shape {text(matrix)}.")
    if not matrix[:-1].is_compatible_with(rhs[:-1]):
        raise invalid(f"Input matrix and rhs are incompatible. They have {text(matrix)} and {text(rhs)}.")
    return rhs


def _solve(matrix: torch.Tensor, rhs: torch.Tensor, adjoint: bool) -> torch.Tensor:
    if matrix.ndim < 2 or matrix.ndim != rhs.ndim or matrix.shape[:-1] != rhs.shape[:-1]:  # torch would broadcast
        _solve_rule(TensorShape(matrix.shape), TensorShape(rhs.shape))
    result, info = torch.linalg.solve_ex(matrix.mH if adjoint else matrix, rhs)
    if bool(info.any()):
        raise invalid("Input matrix is not invertible.")
    return result


@op("MatrixSolve", kernel=_solve, shape=_solve_rule)
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """Solves `x` in `matrix @ x = rhs`.

    Args:
        matrix: of shape `[..., n, n]`, of a float or complex dtype.
        rhs: of shape `[..., n, k]`, with the same leading dimensions.
        adjoint: solves with the adjoint of `matrix`.

    Returns:
        A tensor of the shape of `rhs`.

    Raises:
        InvalidArgumentError: the shapes do not fit, or a matrix is not invertible.

    Example:
        >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
        [[1.0], [0.5]]
    """


@solve.gradient(needs="input0 outputs")
def _(call: Call, dy: Any) -> Any:
    matrix, x = call.inputs[0], call.outputs[0]
    (adjoint,) = call.attrs
    drhs = solve(matrix, dy, not adjoint)
    if not call.wanted[0]:
        return None, drhs
    return -(matmul(x, drhs, adjoint_b=True) if adjoint else matmul(drhs, x, adjoint_b=True)), drhs


def _triangular_rule(matrix: TensorShape, rhs: TensorShape, *_: Any) -> TensorShape:
    if matrix.rank is None or rhs.rank is None:
        return TensorShape(None)
    for i, x in enumerate((matrix, rhs)):
        if x.rank < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {x.rank}")
    try:
        batch = broadcast(matrix[:-2], rhs[:-2])
    except tf.errors.InvalidArgumentError:
        raise invalid(
            f"In[0] and In[1] must have compatible batch dimensions: {text(matrix)} vs. {text(rhs)}"
        ) from None
    if not TensorShape(matrix[-1:]).is_compatible_with(matrix[-2:-1]):
        raise invalid(f"In[0] matrices in the last dimensions must be square ({matrix[-1]} =/= {matrix[-2]})")
    if not TensorShape(matrix[-1:]).is_compatible_with(rhs[-2:-1]):
        raise invalid(f"In[0] mismatch In[1] shape: {matrix[-1]} vs. {rhs[-2]}: {text(matrix)} {text(rhs)}")
    return batch.concatenate(rhs[-2:])


def _solve_triangular(matrix: torch.Tensor, rhs: torch.Tensor, lower: bool, adjoint: bool) -> torch.Tensor:
    return torch.linalg.solve_triangular(matrix.mH if adjoint else matrix, rhs, upper=lower == adjoint)


@op("MatrixTriangularSolve", kernel=_solve_triangular, shape=_triangular_rule)
def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Any:
    """Solves `x` in `matrix @ x = rhs` for triangular matrices, by substitution.

    Args:
        matrix: of shape `[..., n, n]`; only one triangle is read.
        rhs: of shape `[..., n, k]`; leading dimensions broadcast.
        lower: whether that is the lower triangle.
        adjoint: solves with the adjoint of `matrix`.

    Returns:
        A tensor of shape `[..., n, k]`; infinite or NaN where there is a zero on the diagonal.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    Example:
        >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]).numpy().tolist()
        [[1.0], [2.0]]
    """


@triangular_solve.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    matrix, rhs = call.inputs
    lower, adjoint = call.attrs
    x = call.outputs[0]
    drhs = triangular_solve(matrix, dy, lower, not adjoint)
    dmatrix = None
    if call.wanted[0]:
        dmatrix = -(matmul(x, drhs, adjoint_b=True) if adjoint else matmul(drhs, x, adjoint_b=True))
        dmatrix = sum_like(band_part(dmatrix, -1, 0) if lower else band_part(dmatrix, 0, -1), matrix)
    return dmatrix, sum_like(drhs, rhs)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """Solves `x` in `a @ x = rhs` for matrices that `tf.linalg.cholesky` has factored.

    Args:
        chol: the factors, of shape `[..., n, n]`.
        rhs: of shape `[..., n, k]`; leading dimensions broadcast.

    Returns:
        A tensor of shape `[..., n, k]`.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    Example:
        >>> tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy().tolist()
        [[1.0], [3.0]]
    """
    chol = chol if isinstance(chol, Tensor) else convert(chol)
    return triangular_solve(chol, triangular_solve(chol, rhs), True, True, name)


# ---- least squares ---------------------------------------------------------------------------------------------------


def _least_squares(matrix: torch.Tensor, rhs: torch.Tensor, l2_regularizer: float, fast: bool) -> torch.Tensor:
    if not matrix.numel():
        batch = torch.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
        return rhs.new_zeros(*batch, matrix.shape[-1], rhs.shape[-1])
    if matrix.is_cuda:
        return torch.linalg.pinv(matrix) @ rhs
    return torch.linalg.lstsq(matrix, rhs, driver="gelsy").solution


@op("MatrixSolveLs", kernel=_least_squares, host=("l2_regularizer",))
def _matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: Any, fast: bool = True, name: str | None = None) -> Any:
    """Least squares by an orthogonal factorization."""


@_matrix_solve_ls.gradient(needs="inputs outputs")
def _(call: Call, dx: Any) -> Any:
    """G. H. Golub and V. Pereyra, "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose
    Variables Separate" (1973), for matrices whose rank stays."""
    (matrix, rhs), x = call.inputs, call.outputs[0]
    rows = matmul(matrix, matrix, adjoint_b=True)
    identity = set_diag(tf.zeros_like(rows), tf.ones_like(diag_part(rows)))
    inverse = _matrix_solve_ls(matrix, identity, *call.attrs)
    drhs = matmul(inverse, dx, adjoint_a=True)
    dmatrix = None
    if call.wanted[0]:
        error = rhs - matmul(matrix, x)
        outside = dx - matmul(inverse, matmul(matrix, dx))
        dmatrix = (
            matmul(error, matmul(inverse, drhs), adjoint_b=True)
            + matmul(matmul(inverse, x, adjoint_a=True), outside, adjoint_b=True)
            - matmul(drhs, x, adjoint_b=True)
        )
        dmatrix = sum_like(dmatrix, matrix)
    return dmatrix, sum_like(drhs, rhs)


def lstsq(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None) -> Any:
    """Solves linear equations in the least squares sense.

    Where there are more equations than unknowns, the squares of the errors (and `l2_regularizer` times those of `x`)
    are made least; where there are less, `x` itself is.

    Args:
        matrix: of shape `[..., m, n]`, of a float or complex dtype.
        rhs: of shape `[..., m, k]`.
        l2_regularizer: how much large solutions are held back.
        fast: solves the normal equations by Cholesky's factorization, which needs a matrix of full rank and well
            conditioned; otherwise an orthogonal factorization is used, which needs neither and ignores the
            regularizer.

    Returns:
        A tensor of shape `[..., n, k]`.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    Example:
        >>> x = tf.linalg.lstsq([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [[1.0], [2.0], [5.0]])
        >>> x.numpy().tolist()
        [[1.0], [1.0]]
    """
    matrix = matrix if isinstance(matrix, Tensor) else convert(matrix)
    rhs = rhs if isinstance(rhs, Tensor) else convert(rhs, hint=matrix.dtype)
    if not fast or matrix.shape.num_elements() == 0:
        return _matrix_solve_ls(matrix, rhs, l2_regularizer, fast, name)
    rows, columns = matrix.shape[-2:]
    if rows is None or columns is None:
        rows, columns = tf.unstack(tf.shape(matrix)[-2:], 2)
        return tf.cond(
            rows >= columns,
            lambda: _normal_equations(matrix, rhs, l2_regularizer, True),
            lambda: _normal_equations(matrix, rhs, l2_regularizer, False),
        )
    return _normal_equations(matrix, rhs, l2_regularizer, rows >= columns)


def _normal_equations(matrix: Any, rhs: Any, l2_regularizer: float, tall: bool) -> Any:
    """Least squares by the Cholesky factor of the smaller Gram matrix."""
    gram = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if l2_regularizer:
        gram = set_diag(gram, diag_part(gram) + tf.constant(l2_regularizer, gram.dtype))
    factor = tf.linalg.cholesky(gram)
    if tall:
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _float_matrices(a: Any) -> Any:
    a = a if isinstance(a, Tensor) else convert(a)
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.rank is not None and a.shape.rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.rank}).")
    return a


def _larger_side(a: Any) -> Any:
    """The larger dimension of the matrices: a number, or a tensor of their dtype where it is not known yet."""
    sides = a.shape[-2:]
    return max(sides) if sides.is_fully_defined() else tf.cast(tf.reduce_max(tf.shape(a)[-2:]), a.dtype)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverses of Moore and Penrose, by singular values.

    Args:
        a: of shape `[..., m, n]`, of a float dtype.
        rcond: singular values below this part of the largest one count as zero; of shape `[...]`. By default
            `10 * max(m, n)` times the dtype's precision.
        validate_args: has no effect, as arguments are always checked.

    Returns:
        A tensor of shape `[..., n, m]`.

    Raises:
        TypeError: `a` is not of a float dtype.
        ValueError: it has less than two dimensions.

    Example:
        >>> np.allclose(tf.linalg.pinv([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), [[1, 0, 0], [0, 0.5, 0]])
        True
    """
    a = _float_matrices(a)
    if rcond is None:
        rcond = 10.0 * _larger_side(a) * np.finfo(a.dtype.as_numpy_dtype).eps
    rcond = tf.convert_to_tensor(rcond, a.dtype)
    s, u, v = tf.linalg.svd(a)
    cutoff = rcond * tf.reduce_max(s, -1) if s.shape[-1] != 0 else rcond
    # Dividing by infinity leaves a singular value out, and its gradient too.
    s = tf.where(s > tf.expand_dims(cutoff, -1), s, tf.constant(np.inf, s.dtype))
    inverse = matmul(v / tf.expand_dims(s, -2), u, adjoint_b=True)
    inverse.shape.assert_is_compatible_with(a.shape[:-2].concatenate(a.shape[-2:][::-1]))
    return inverse


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The ranks of matrices: how many singular values are larger than `tol`.

    Args:
        a: of shape `[..., m, n]`, of a float dtype.
        tol: of shape `[...]`; by default `max(m, n)` times the largest singular value times the dtype's precision.
        validate_args: has no effect, as arguments are always checked.

    Returns:
        An int32 tensor of shape `[...]`.

    Raises:
        TypeError: `a` is not of a float dtype.
        ValueError: it has less than two dimensions.

    Example:
        >>> tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy().item()
        1
    """
    a = _float_matrices(a)
    s = tf.linalg.svd(a, compute_uv=False)
    if tol is None:
        eps = float(np.finfo(a.dtype.as_numpy_dtype).eps)
        largest = tf.reduce_max(s, -1, True) if s.shape[-1] != 0 else tf.zeros([], s.dtype)
        limit = eps * _larger_side(a) * largest
    else:
        limit = tf.expand_dims(tf.convert_to_tensor(tol, s.dtype), -1)
    return tf.reduce_sum(tf.cast(s > limit, tf.int32), -1)
