"""Determinants, inverses and the solutions of linear equations."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import torch

from tapeflow.array.concat_and_split import unstack
from tapeflow.array.creation import constant
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.autodiff.gradients import sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.arguments import is_tensor_like
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import check_rank, check_ranks_first, text, unequal, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid, is_traced
from tapeflow.linalg.diagonals import band_part, diag_part, identity_like, set_diag
from tapeflow.linalg.products import matmul
from tapeflow.linalg.rules import batch_of_both, check_square, one_each, solve_slices, square_matrices
from tapeflow.math.complex import real
from tapeflow.math.elementwise import log
from tapeflow.math.reduction import reduce_sum

# ---- determinants ----------------------------------------------------------------------------------------------------


def _determinant_kernel(input: torch.Tensor) -> torch.Tensor:
    result = torch.linalg.det(input)
    if input.is_cpu and not is_traced(input) and not bool(torch.isfinite(result).all()):
        sign, log = _slogdet_kernel(input)
        result = torch.where(torch.isfinite(result), result, sign * torch.exp(log))
    return result


@op("MatrixDeterminant", kernel=_determinant_kernel, shape=one_each, batching=leading_dimensions)
def det(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the determinants of matrices.

    Args:
        input: a tensor of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A tensor of shape `[...]` and that dtype. Its gradient exists if the matrices are invertible.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> tf.linalg.det([[2.0, 0.0], [1.0, 3.0]]).numpy().item()
        6.0
    """


@det.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    return _scale_matrices(inv(call.inputs[0], adjoint=True), dy * call.outputs[0])  # not conjugated, as in TensorFlow


def _scale_matrices(matrices: Tensor, scalars: Tensor) -> Any:
    """Multiplies each matrix by its scalar."""
    return matrices * expand_dims(expand_dims(scalars, -1), -1)


LogMatrixDeterminant = namedtuple("LogMatrixDeterminant", ["sign", "log_abs_determinant"])


@op("LogMatrixDeterminant", shape=lambda x: (one_each(x), one_each(x)), batching=leading_dimensions)
def _log_matrix_determinant(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes signs and logarithms of determinants."""
    return _slogdet_kernel(input)


def _slogdet_kernel(input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    sign, log = torch.linalg.slogdet(input)
    if input.is_cpu and not is_traced(input) and not bool(torch.isfinite(log).all()):
        unknown = torch.isnan(log) | torch.isposinf(log)  # it is -inf for singular matrices
        for place in torch.nonzero(unknown).tolist():
            sign[tuple(place)], log[tuple(place)] = _log_determinant(input[tuple(place)])
    return sign, log.to(sign.dtype)


def _log_determinant(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the sign and the logarithm of the determinant of a matrix with infinities or NaN by elimination, step by
    step as TensorFlow does. LAPACK leaves out multiplications by zero, and would give other results."""
    rows, sign = matrix.detach().clone(), matrix.new_ones(())
    for i in range(len(rows)):
        sizes = torch.abs(rows[i:, i])
        # The first of the largest, as comparisons that fail for NaN find it.
        largest = 0 if bool(torch.isnan(sizes[0])) else int(torch.argmax(torch.nan_to_num(sizes, -1.0, math.inf)))
        if largest:
            rows[[i, i + largest]] = rows[[i + largest, i]]
            sign = -sign
        rows[i + 1 :, i] /= rows[i, i]
        rows[i + 1 :, i + 1 :] -= rows[i + 1 :, i : i + 1] * rows[i : i + 1, i + 1 :]
    pivots = rows.diagonal()
    log = torch.log(torch.abs(pivots)).sum()
    signs = pivots / torch.abs(pivots) if matrix.is_complex() else torch.sign(pivots)
    return torch.where(torch.isnan(log), math.nan, sign * signs.prod()), log


def slogdet(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """Computes the signs of determinants, and the logarithms of their absolute values.

    Args:
        input: a tensor of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A named tuple `(sign, log_abs_determinant)` of tensors of shape `[...]` and that dtype; 0 and -inf for singular
        matrices.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> sign, log = tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]])
        >>> sign.numpy().item(), log.numpy().item()
        (-1.0, 0.0)
    """
    return LogMatrixDeterminant(*_log_matrix_determinant(input, name))


@_log_matrix_determinant.gradient(needs="inputs")
def _(call: Call, _: Tensor, dlog: Tensor) -> Any:
    return _scale_matrices(inv(call.inputs[0], adjoint=True), dlog)


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Computes the logarithms of the determinants of matrices that are Hermitian and positive definite.

    Args:
        matrix: a tensor of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A tensor of shape `[...]` and the real dtype; NaN if a matrix is not positive definite.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]).numpy().item()
        0.0
    """
    factor = ops.Cholesky(matrix)
    return 2.0 * reduce_sum(log(real(diag_part(factor))), -1)


# ---- inverses and equations ------------------------------------------------------------------------------------------


_MANY = 32  # columns: from here on, LAPACK solves faster from the right, as it keeps matrices by columns


def _inverse_kernel(input: torch.Tensor, adjoint: bool) -> torch.Tensor:
    check_square(input)
    matrix = input.mH if adjoint else input
    if _is_large(matrix, matrix):
        factors, permutation, info = _factor_matrix(matrix)
        inverse = torch.eye(matrix.shape[-1]).expand(matrix.shape)
        inverse = torch.linalg.solve_triangular(factors, inverse, upper=True, left=False)
        inverse = torch.linalg.solve_triangular(factors, inverse, upper=False, left=False, unitriangular=True)
        inverse = inverse @ permutation.mT
    else:
        inverse, info = torch.linalg.inv_ex(matrix)
    if bool(info.any()) or bool(torch.isnan(input[..., :1, :1]).any()):
        raise invalid("Input is not invertible.")
    return inverse


def _is_large(matrix: torch.Tensor, rhs: torch.Tensor) -> bool:
    """Returns True if triangular equations from the right take less time than LAPACK's functions for all in one."""
    return matrix.dtype is torch.float32 and min(rhs.shape[-2:]) >= _MANY and by_value(matrix) and by_value(rhs)


def _factor_matrix(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns `l` and `u` in one matrix, `p`, and LAPACK's info, with `p @ l @ u = matrix`."""
    factors, pivots, info = torch.linalg.lu_factor_ex(matrix)
    return factors, torch.lu_unpack(factors, pivots, unpack_data=False)[0], info


@op("MatrixInverse", kernel=_inverse_kernel, shape=square_matrices, batching=leading_dimensions)
def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Computes the inverses of matrices.

    Args:
        input: a tensor of shape `[..., n, n]`, of a float or complex dtype.
        adjoint: inverts the conjugate transposes of the matrices.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the matrices are not square, or not invertible.

    Example:
        >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """


@inv.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    (adjoint,) = call.attrs
    inverse = call.outputs[0]
    inner = matmul(dy, inverse, adjoint_a=adjoint, adjoint_b=not adjoint)
    return -matmul(inverse, inner, adjoint_a=not adjoint)


def _solve_rule(matrix: TensorShape, rhs: TensorShape, adjoint: bool = False, *_: Any) -> TensorShape:
    if matrix.rank is None:
        return rhs
    if rhs.rank is None:
        return square_matrices(matrix)[:-1].concatenate([None])
    if matrix.rank < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {matrix.rank}")
    if matrix.rank != rhs.rank:
        raise invalid(f"All input tensors must have the same rank. They have {text(matrix)} and {text(rhs)}.")
    if not matrix[-1:].is_compatible_with(matrix[-2:-1]):
        raise invalid(f"First input (lhs) must be a square matrix. It has the shape {text(matrix)}.")
    rows = square_matrices(matrix)[:-1]
    if not rows.is_compatible_with(rhs[:-1]):
        pairs = ((a, b) for a, b in zip(rows, rhs, strict=False) if a != b and None not in (a, b))
        raise unequal(f"Input matrix and rhs are incompatible. They have {text(matrix)} and {text(rhs)}.", *next(pairs))
    return rows.merge_with(rhs[:-1]) + rhs[-1:]


def _solve_kernel(matrix: torch.Tensor, rhs: torch.Tensor, adjoint: bool) -> torch.Tensor:
    if matrix.ndim < 2 or matrix.ndim != rhs.ndim or matrix.shape[:-1] != rhs.shape[:-1]:  # torch would broadcast
        _solve_rule(TensorShape(matrix.shape), TensorShape(rhs.shape))
    if not rhs.numel():
        return rhs.clone()
    if adjoint:
        matrix = matrix.mH
    if _is_large(matrix, rhs):
        factors, permutation, info = _factor_matrix(matrix)
        result = rhs.mT @ permutation
        result = torch.linalg.solve_triangular(factors.mT, result, upper=True, left=False, unitriangular=True)
        result = torch.linalg.solve_triangular(factors.mT, result, upper=False, left=False).mT
    else:
        result, info = torch.linalg.solve_ex(matrix, rhs)
    if bool(info.any()) or bool(torch.isnan(matrix[..., :1, :1]).any()):
        raise invalid("Input matrix is not invertible.")
    return result


@op("MatrixSolve", kernel=_solve_kernel, shape=check_ranks_first(_solve_rule, -2, -2), batching=solve_slices)
def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves `matrix @ x = rhs` for `x`.

    Args:
        matrix: a tensor of shape `[..., n, n]`, of a float or complex dtype.
        rhs: a tensor of shape `[..., n, k]`, with the same leading dimensions.
        adjoint: solves with the conjugate transpose of `matrix`.

    Returns:
        A tensor of the shape and dtype of `rhs`.

    Raises:
        InvalidArgumentError: the shapes do not fit, or a matrix is not invertible.

    Example:
        >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist()
        [[1.0], [0.5]]
    """


@solve.gradient(needs="input0 outputs")
def _(call: Call, dy: Tensor) -> Any:
    matrix, x = call.inputs[0], call.outputs[0]
    (adjoint,) = call.attrs
    drhs = solve(matrix, dy, not adjoint)
    if not call.wanted[0]:
        return None, drhs
    return -(matmul(x, drhs, adjoint_b=True) if adjoint else matmul(drhs, x, adjoint_b=True)), drhs


def _triangular_rule(matrix: TensorShape, rhs: TensorShape, *_: Any) -> TensorShape:
    if matrix.rank is None or rhs.rank is None:
        with_rank(matrix, -2), with_rank(rhs, -2)
        return TensorShape(None)
    batch = batch_of_both(matrix, rhs)
    if not matrix[-1:].is_compatible_with(matrix[-2:-1]):
        raise invalid(f"In[0] matrices in the last dimensions must be square ({matrix[-1]} =/= {matrix[-2]})")
    side = square_matrices(matrix)[-1:]
    if not side.is_compatible_with(rhs[-2:-1]):
        raise invalid(f"In[0] mismatch In[1] shape: {matrix[-1]} vs. {rhs[-2]}: {text(matrix)} {text(rhs)}")
    return batch + side.merge_with(rhs[-2:-1]) + rhs[-1:]


def _solve_triangular(matrix: torch.Tensor, rhs: torch.Tensor, lower: bool, adjoint: bool) -> torch.Tensor:
    matrix, upper = matrix.mH if adjoint else matrix, lower == adjoint
    if rhs.shape[-1] >= _MANY:
        return torch.linalg.solve_triangular(matrix.mT, rhs.mT, upper=not upper, left=False).mT
    return torch.linalg.solve_triangular(matrix, rhs, upper=upper)


@op("MatrixTriangularSolve", kernel=_solve_triangular, shape=_triangular_rule, batching=solve_slices)
def triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves `matrix @ x = rhs` for `x` with triangular matrices, by substitution.

    Args:
        matrix: a tensor of shape `[..., n, n]`; only one triangle is read.
        rhs: a tensor of shape `[..., n, k]`; leading dimensions broadcast.
        lower: reads the lower triangle; otherwise the upper one.
        adjoint: solves with the conjugate transpose of `matrix`.

    Returns:
        A tensor of shape `[..., n, k]` and the dtype of `rhs`; infinite or NaN if there is a zero on the diagonal.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    Example:
        >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]).numpy().tolist()
        [[1.0], [2.0]]
    """


@triangular_solve.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    matrix, rhs = call.inputs
    lower, adjoint = call.attrs
    x = call.outputs[0]
    drhs = triangular_solve(matrix, dy, lower, not adjoint)
    dmatrix = None
    if call.wanted[0]:
        dmatrix = -(matmul(x, drhs, adjoint_b=True) if adjoint else matmul(drhs, x, adjoint_b=True))
        dmatrix = sum_like(band_part(dmatrix, -1, 0) if lower else band_part(dmatrix, 0, -1), matrix)
    return dmatrix, sum_like(drhs, rhs)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solves `a @ x = rhs` for `x` with matrices that `tf.linalg.cholesky` has factored.

    Args:
        chol: the factors, of shape `[..., n, n]`.
        rhs: a tensor of shape `[..., n, k]`; leading dimensions broadcast.

    Returns:
        A tensor of shape `[..., n, k]` and the dtype of `rhs`.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    Example:
        >>> tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy().tolist()
        [[1.0], [3.0]]
    """
    operands: list[Any] = [chol, rhs]
    given = next((t.dtype for t in operands if is_tensor_like(t)), None)
    # As of other ops, only eager calls convert lists to the dtype of a tensor that follows.
    factor = chol if isinstance(chol, Tensor) else convert(chol, given if state.graph is None else None)
    return triangular_solve(factor, triangular_solve(factor, rhs), True, True, name)


# ---- least squares ---------------------------------------------------------------------------------------------------


def _least_squares_rule(matrix: TensorShape, rhs: TensorShape, l2_regularizer: Any, *_: Any) -> TensorShape:
    check_rank(l2_regularizer, 0)
    if matrix.rank is None or rhs.rank is None:
        return TensorShape(None)
    if matrix.rank != rhs.rank:
        raise invalid(f"All input tensors must have the same rank: {text(matrix)} vs. {text(rhs)}")
    with_rank(matrix, -2)[-2:-1].assert_is_compatible_with(rhs[-2:-1])
    return matrix[:-2].merge_with(rhs[:-2]).concatenate([matrix[-1], rhs[-1]])


@op("MatrixSolveLs", host=("l2_regularizer",), shape=_least_squares_rule)
def _matrix_solve_ls(matrix: torch.Tensor, rhs: torch.Tensor, l2_regularizer: float, fast: bool = True) -> torch.Tensor:
    """Solves least squares problems by an orthogonal factorization."""
    if matrix.shape[:-2] != rhs.shape[:-2] or matrix.shape[-2] != rhs.shape[-2]:
        raise invalid(f"Input matrix and rhs are incompatible: {[*matrix.shape]} vs. {[*rhs.shape]}")
    if not matrix.numel():
        return rhs.new_zeros(*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1])
    if not matrix.is_cpu:
        return torch.linalg.pinv(matrix) @ rhs
    return torch.linalg.lstsq(matrix, rhs, driver="gelsy").solution


@_matrix_solve_ls.gradient(needs="inputs outputs")
def _(call: Call, dx: Tensor) -> Any:
    # G. H. Golub and V. Pereyra, "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose
    # Variables Separate" (1973), for matrices whose rank stays the same.
    (matrix, rhs), x = call.inputs, call.outputs[0]
    rows = matmul(matrix, matrix, adjoint_b=True)
    inverse = _matrix_solve_ls(matrix, identity_like(rows), *call.attrs)
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


def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """Solves linear equations in the least squares sense.

    If there are more equations than unknowns, the solution minimizes the sum of the squared errors and of
    `l2_regularizer` times the squared elements of `x`. With fewer equations, it is the solution of least norm.

    Args:
        matrix: a tensor of shape `[..., m, n]`, of a float or complex dtype.
        rhs: a tensor of shape `[..., m, k]` and the same dtype.
        l2_regularizer: a float, the weight of the squared elements of `x`; 0.0 by default.
        fast: solves the normal equations by Cholesky's factorization, which needs well conditioned matrices of full
            rank; otherwise an orthogonal factorization is used, which needs neither and ignores the regularizer.

    Returns:
        A tensor of shape `[..., n, k]` and the same dtype.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    Example:
        >>> x = tf.linalg.lstsq([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], [[1.0], [2.0], [5.0]])
        >>> x.numpy().tolist()
        [[1.0], [1.0]]
    """
    a: Any = matrix if isinstance(matrix, Tensor) else convert(matrix)
    b: Any = rhs if isinstance(rhs, Tensor) else convert(rhs, hint=a.dtype)
    if not fast or a.shape.num_elements() == 0:
        return _matrix_solve_ls(a, b, l2_regularizer, fast, name)
    rows, columns = a.shape[-2], a.shape[-1]
    if rows is None or columns is None:
        rows, columns = unstack(shape_op(a)[-2:], 2)
        return hooks.cond(
            rows >= columns,
            lambda: _normal_equations(a, b, l2_regularizer, True),
            lambda: _normal_equations(a, b, l2_regularizer, False),
        )
    return _normal_equations(a, b, l2_regularizer, rows >= columns)


def _normal_equations(matrix: Tensor, rhs: Tensor, l2_regularizer: float, tall: bool) -> Any:
    """Solves least squares problems by the Cholesky factor of the smaller Gram matrix."""
    gram = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if l2_regularizer:
        gram = set_diag(gram, diag_part(gram) + constant(l2_regularizer, gram.dtype))
    factor = ops.Cholesky(gram)
    if tall:
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)
