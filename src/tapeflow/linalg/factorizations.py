"""Factorizations of matrices: Cholesky, LU and QR.

The gradients follow S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2010), and
I. Murray, "Differentiation of the Cholesky decomposition" (2016), extended to complex matrices.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import constant, ones_like, zeros_like
from tapeflow.array.creation import range as range_op
from tapeflow.array.gathers import gather
from tapeflow.array.properties import broadcast_dynamic_shape, shape_op
from tapeflow.array.reshapes import broadcast_to
from tapeflow.array.sorting import argsort, invert_permutation, sort
from tapeflow.array.unranked import around_axis, joined_dims, with_joined_batch
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.diagonals import adjoint, band_part, diag_part, identity_like, set_diag
from tapeflow.linalg.products import matmul
from tapeflow.linalg.rules import check_square, is_singular, matrices, square_matrices
from tapeflow.linalg.solvers import triangular_solve
from tapeflow.math.casting import cast
from tapeflow.math.complex import real
from tapeflow.math.reduction import reduce_all

# ---- Cholesky --------------------------------------------------------------------------------------------------------


def _cholesky_kernel(input: torch.Tensor) -> torch.Tensor:
    check_square(input)
    factor, info = torch.linalg.cholesky_ex(input)
    if bool(info.any()):
        failed = (info != 0)[..., None, None]
        factor = torch.where(failed, torch.full_like(factor, torch.nan).tril(), factor)
    return factor


@op("Cholesky", kernel=_cholesky_kernel, shape=square_matrices, batching=leading_dimensions)
def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """Factors matrices that are Hermitian and positive definite into `L @ adjoint(L)`, with a lower triangular `L`.

    Args:
        input: a tensor of shape `[..., n, n]`, of a float or complex dtype; only its lower triangle is read.

    Returns:
        `L`, a tensor of the same shape and dtype. If a matrix is not positive definite, its lower triangle is NaN.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy().tolist()
        [[2.0, 0.0], [1.0, 2.0]]
    """


@cholesky.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    lower = call.outputs[0]
    middle = matmul(lower, dy, adjoint_a=True)
    middle = band_part(set_diag(middle, diag_part(middle) * constant(0.5, dy.dtype)), -1, 0)
    inverse = triangular_solve(lower, identity_like(lower))
    grad = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    return (grad + adjoint(grad)) * constant(0.5, dy.dtype)


# ---- QR --------------------------------------------------------------------------------------------------------------

Qr = namedtuple("Qr", ["q", "r"])


def _qr_rule(input: TensorShape, full_matrices: bool = False) -> tuple[TensorShape, TensorShape]:
    matrices(input)
    if input.rank is None:
        return input, input
    rows, columns = input[-2:]
    least = rows if full_matrices else None if rows is None or columns is None else min(rows, columns)
    return input[:-2].concatenate([rows, least]), input[:-2].concatenate([least, columns])


@op("Qr", kernel=lambda x, full: tuple(torch.linalg.qr(x, "complete" if full else "reduced")), shape=_qr_rule,
    batching=leading_dimensions)  # fmt: skip
def _qr_op(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> list[Tensor]:
    """Factors matrices into a unitary and an upper triangular one."""


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Factors matrices into a unitary `q` and an upper triangular `r`, with `q @ r = input`.

    Args:
        input: a tensor of shape `[..., m, n]`, of a float or complex dtype.
        full_matrices: computes a square `q`; otherwise it has `min(m, n)` columns.

    Returns:
        A named tuple `(q, r)` of tensors of that dtype.

    Raises:
        InvalidArgumentError: `input` has less than two dimensions.

    Example:
        >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
        >>> np.allclose(q @ r, [[3.0, 1.0], [4.0, 2.0]])
        True
    """
    return Qr(*_qr_op(input, full_matrices, name))


@_qr_op.gradient(needs="outputs")
def _(call: Call, dq: Tensor, dr: Tensor) -> Any:
    q, r = call.outputs
    rows, columns = shape_of(r)[-2], shape_of(r)[-1]
    static = isinstance(rows, int) and isinstance(columns, int)
    if static and rows > columns:
        raise NotImplementedError(
            "QrGrad not implemented when nrows > ncols and full_matrices is true. Received "
            f"r.shape={tuple(shape_of(r))} with nrows={rows}and ncols={columns}."
        )
    if static and rows == columns:
        return _qr_gradient(q, r, dq, dr)
    # Of a wide matrix the first columns are factored; the rest, Y = q @ V, is multiplied by adjoint(q).
    u, v = r[..., :rows], r[..., rows:]
    du, dv = dr[..., :rows], dr[..., rows:]
    right = matmul(q, dv)
    y = matmul(q, v)
    left = _qr_gradient(q, u, dq + matmul(y, dv, adjoint_b=True), du)
    return concat([left, right], -1)


def _qr_gradient(q: Tensor, r: Tensor, dq: Tensor, dr: Tensor) -> Any:
    """Computes the gradient for a square `r`: `(dq + q @ hermitian(lower(r dr^H - dq^H q))) @ r^-H`."""
    middle = matmul(r, dr, adjoint_b=True) - matmul(dq, q, adjoint_a=True)
    lower = band_part(middle, -1, 0)
    diagonal = diag_part(middle)
    if diagonal.dtype.is_complex:
        diagonal = cast(real(diagonal), diagonal.dtype)
    hermitian = set_diag(lower + adjoint(lower), diagonal)
    return adjoint(triangular_solve(r, adjoint(dq + matmul(q, hermitian)), lower=False))


# ---- LU --------------------------------------------------------------------------------------------------------------

Lu = namedtuple("Lu", ["lu", "p"])


def _lu_rule(input: TensorShape, *_: Any) -> tuple[TensorShape, TensorShape]:
    factors = square_matrices(input)
    return factors, factors[:-1] if input.rank is not None else input


@op("Lu", shape=_lu_rule, batching=leading_dimensions)
def _lu_op(input: torch.Tensor, output_idx_type: DType = int32) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors matrices into a lower and an upper triangular one."""
    check_square(input)
    if input.is_complex() and input.numel():
        factors, order = _factored_by_modulus(input)
    else:
        factors, pivots, _ = torch.linalg.lu_factor_ex(input)
        permutations = torch.lu_unpack(factors, pivots, unpack_data=False)[0]
        order = torch.arange(input.shape[-1], dtype=input.real.dtype, device=input.device) @ permutations.real
    if is_singular(factors.diagonal(dim1=-2, dim2=-1)):
        raise invalid("Input is not invertible.")
    return factors, order.to(output_idx_type.torch)


def _factored_by_modulus(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors matrices with at least as many rows as columns, and returns the order of the rows, too.

    The pivots are the elements of the greatest modulus, as in TensorFlow. LAPACK's have the greatest sum of the real
    and the imaginary part's absolute values. The recursion follows S. Toledo, "Locality of reference in LU
    decomposition with partial pivoting" (1997).
    """
    half = x.shape[-1] // 2
    if not half:
        pivot = x.abs().argmax(-2)
        order = torch.arange(x.shape[-2], device=x.device).expand(x.shape[:-1])
        order = order.scatter(-1, pivot, 0).index_copy(-1, pivot.new_zeros(1), pivot)
        x = _with_rows(x, order)
        return torch.cat([x[..., :1, :], x[..., 1:, :] / x[..., :1, :]], -2), order
    left, order = _factored_by_modulus(x[..., :half])
    right = _with_rows(x[..., half:], order)
    upper, lower = left[..., :half, :], left[..., half:, :]
    above = torch.linalg.solve_triangular(upper, right[..., :half, :], upper=False, unitriangular=True)
    below, next_order = _factored_by_modulus(right[..., half:, :] - lower @ above)
    left = torch.cat([upper, _with_rows(lower, next_order)], -2)
    order = torch.cat([order[..., :half], order[..., half:].gather(-1, next_order)], -1)
    return torch.cat([left, torch.cat([above, below], -2)], -1), order


def _with_rows(x: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    return x.gather(-2, order.unsqueeze(-1).expand_as(x))


def lu(input: TensorLike, output_idx_type: DTypeLike = int32, name: str | None = None) -> Lu:
    """Factors matrices into a lower and an upper triangular one, with exchanged rows.

    Args:
        input: a tensor of shape `[..., n, n]`, of a float or complex dtype.
        output_idx_type: the dtype of the permutation, int32 or int64; int32 by default.

    Returns:
        A named tuple `(lu, p)`: both triangles in one matrix of that dtype (the diagonal of the lower one is 1 and left
        out), and the order of the rows, of shape `[..., n]`: row `i` of the product is row `p[i]` of `input`.

    Raises:
        InvalidArgumentError: the matrices are not square, or not invertible.

    Example:
        >>> lu, p = tf.linalg.lu([[1.0, -9.0], [2.0, 4.0]])
        >>> lu.numpy().tolist(), p.numpy().tolist()
        ([[2.0, 4.0], [0.5, -11.0]], [1, 0])
    """
    return Lu(*_lu_op(input, as_dtype(output_idx_type), name))


@_lu_op.gradient(needs="outputs")
def _(call: Call, dlu: Tensor, _: Tensor) -> Any:
    factors, order = call.outputs
    lower = _unit_lower(factors)
    upper = band_part(factors, 0, -1)
    strict = set_diag(band_part(dlu, -1, 0), zeros_like(diag_part(dlu)))
    below = matmul(lower, strict, adjoint_a=True)
    below = set_diag(band_part(below, -1, 0), zeros_like(diag_part(below)))
    above = band_part(matmul(band_part(dlu, 0, -1), upper, adjoint_b=True), 0, -1)
    middle = triangular_solve(lower, below + above, lower=True, adjoint=True)
    grad = adjoint(triangular_solve(upper, adjoint(middle), lower=False))
    return _permute_rows(grad, argsort(order, -1))


def _permute_rows(x: Tensor, order: Tensor) -> Any:
    if order.shape.rank is None:
        rows = around_axis(order, -1)[0][:, :, 0]
        return with_joined_batch(lambda matrices: gather(matrices, rows, axis=1, batch_dims=1), x, 2)
    """Puts row `order[..., i]` of each matrix into row `i`."""
    if order.shape.rank == 1:
        return gather(x, order, axis=-2)
    return gather(x, order, axis=-2, batch_dims=order.shape.rank - 1)


def _lu_tensors(lower_upper: TensorLike, perm: TensorLike, validate_args: bool) -> tuple[Any, Any]:
    """Returns the two results of `tf.linalg.lu` as tensors.

    Raises:
        ValueError: they have too few dimensions, their ranks do not match, or the matrices are not square.
        InvalidArgumentError: with `validate_args`, `perm` holds no permutations, or the matrices are not square.
    """
    factors = lower_upper if isinstance(lower_upper, Tensor) else convert(lower_upper, hint=float32)
    order = perm if isinstance(perm, Tensor) else convert(perm, hint=int32)
    if factors.shape.rank is not None and factors.shape.rank < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if order.shape.rank is not None and order.shape.rank < 1:
        raise ValueError("Input `perm` must have at least 1 dimension.")
    if None not in (factors.shape.rank, order.shape.rank) and factors.shape.rank != order.shape.rank + 1:
        raise ValueError("`rank(lower_upper)` must equal `rank(perm) + 1`")
    if factors.shape.rank is not None and not factors.shape[-1:].is_compatible_with(factors.shape[-2:-1]):
        raise ValueError("`lower_upper` must be square.")
    if validate_args:
        size = shape_of(factors)[-1]
        if not bool(reduce_all(sort(order, -1) == range_op(size, dtype=order.dtype))):
            raise invalid("`perm` is not a permutation of the rows")
        if shape_of(factors)[-2] != size:
            raise invalid("Expected `lower_upper` to be square.")
    return factors, order


def _unit_lower(factors: Tensor) -> Any:
    """Returns the lower triangular factor, with ones on its diagonal."""
    return set_diag(band_part(factors, -1, 0), ones_like(diag_part(factors)))


def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Solves `a @ x = rhs` for `x` with matrices that `tf.linalg.lu` has factored.

    Args:
        lower_upper, perm: the results of `tf.linalg.lu`: of shape `[..., n, n]`, and integers of shape `[..., n]`.
        rhs: a tensor of shape `[..., n, k]`; leading dimensions broadcast.
        validate_args: checks that `perm` holds permutations.

    Returns:
        A tensor of shape `[..., n, k]` and the dtype of `rhs`.

    Raises:
        ValueError: `rhs` has less than two dimensions.
        InvalidArgumentError: the arguments do not fit.

    Example:
        >>> x = tf.linalg.lu_solve(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]]), [[2.0], [2.0]])
        >>> x.numpy().tolist()
        [[1.0], [0.5]]
    """
    factors, order = _lu_tensors(lower_upper, perm, validate_args)
    sides: Any = rhs if isinstance(rhs, Tensor) else convert(rhs, hint=factors.dtype)
    if sides.shape.rank is not None and sides.shape.rank < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    if not sides.shape[-2:-1].is_compatible_with(factors.shape[-1:]):
        raise ValueError("`lower_upper.shape[-1]` must equal `rhs.shape[-2]`.")
    if order.shape.rank != 1:
        batch = broadcast_dynamic_shape(shape_op(order)[:-1], shape_op(sides)[:-2])
        sides = broadcast_to(sides, joined_dims(batch, shape_op(sides)[-2:]))
        order = broadcast_to(order, joined_dims(batch, shape_op(order)[-1:]))
    sides = _permute_rows(sides, order)
    return triangular_solve(factors, triangular_solve(_unit_lower(factors), sides), lower=False)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Computes the inverses of matrices that `tf.linalg.lu` has factored.

    Args:
        lower_upper, perm: the results of `tf.linalg.lu`: of shape `[..., n, n]`, and integers of shape `[..., n]`.
        validate_args: checks that `perm` holds permutations.

    Returns:
        A tensor of the shape and dtype of `lower_upper`.

    Raises:
        ValueError: `lower_upper` or `perm` has too few dimensions.
        InvalidArgumentError: with `validate_args`, `perm` holds no permutations.

    Example:
        >>> tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])).numpy().tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    factors, order = _lu_tensors(lower_upper, perm, validate_args)
    return lu_solve(factors, order, identity_like(factors))


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Computes the matrices that `tf.linalg.lu` has factored.

    Args:
        lower_upper, perm: the results of `tf.linalg.lu`: of shape `[..., n, n]`, and integers of shape `[..., n]`.
        validate_args: checks that `perm` holds permutations.

    Returns:
        A tensor of the shape and dtype of `lower_upper`.

    Raises:
        ValueError: `lower_upper` or `perm` has too few dimensions.
        InvalidArgumentError: with `validate_args`, `perm` holds no permutations.

    Example:
        >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[1.0, 2.0], [3.0, 4.0]])).numpy().tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    factors, order = _lu_tensors(lower_upper, perm, validate_args)
    product = matmul(_unit_lower(factors), band_part(factors, 0, -1))
    inverse = invert_permutation(order) if order.shape.rank == 1 else argsort(order, -1)
    result = _permute_rows(product, inverse)
    result.set_shape(factors.shape)
    return result
