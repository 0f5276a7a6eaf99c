"""Eigenvalues and singular values.

The gradients follow M. B. Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), and Z.-Q. Wan and S.-X. Zhang, "Automatic differentiation for complex valued SVD"
(2019). They hold for distinct values. For two equal values, the vectors' contribution is left out.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import torch

from tapeflow.array.creation import constant, convert_to_tensor, zeros, zeros_like
from tapeflow.array.masks import where
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.autodiff.gradients import conj, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, complex64, complex128, float32, float64, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.diagonals import adjoint, band_part, diag, diag_part, set_diag
from tapeflow.linalg.products import matmul
from tapeflow.linalg.rules import check_square, matrices, square_matrices
from tapeflow.linalg.solvers import solve
from tapeflow.math.casting import cast
from tapeflow.math.complex import real
from tapeflow.math.reduction import reduce_max, reduce_sum

# The error of an eigenvalue decomposition if LAPACK does not converge, as for NaN.
_FAILED = "{} was not successful. The input might not be valid."


def _reciprocal_differences(x: Tensor) -> Any:
    """Returns the matrix of `1 / (x[j] - x[i])`, and 0 on the diagonal and where that is 1 / 0."""
    differences = expand_dims(x, -2) - expand_dims(x, -1)
    inverse = differences / (differences * differences + constant(1e-20, differences.dtype))
    return set_diag(inverse, zeros_like(x))


# ---- self-adjoint matrices -------------------------------------------------------------------------------------------


def _values_and_vectors_rule(input: TensorShape, compute_v: bool = True, *_: Any) -> tuple[TensorShape, TensorShape]:
    vectors = square_matrices(input)
    values = vectors[:-1] if input.rank is not None else input
    return values, vectors if compute_v else TensorShape([0])


@op("SelfAdjointEigV2", shape=_values_and_vectors_rule, batching=leading_dimensions)
def _self_adjoint_eig(input: torch.Tensor, compute_v: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes eigenvalues, and eigenvectors, of self-adjoint matrices."""
    check_square(input)
    if input.shape[-1] == 1:  # whatever the number
        values = input[..., 0].real if input.is_complex() else input[..., 0]
        return values.to(input.dtype, copy=True), torch.ones_like(input) if compute_v else input.new_empty(0)
    if not bool(input.tril().isfinite().all()):  # LAPACK would return arbitrary numbers
        raise invalid(_FAILED.format("Self-adjoint eigen decomposition"))
    if compute_v:
        values, vectors = torch.linalg.eigh(input)
    else:
        values, vectors = torch.linalg.eigvalsh(input), input.new_empty(0)
    return values.to(input.dtype), vectors


@_self_adjoint_eig.gradient(needs="inputs outputs")
def _(call: Call, dvalues: Tensor, dvectors: Tensor) -> Any:
    values, vectors = call.outputs
    (compute_v,) = call.attrs
    if compute_v:
        inner = _reciprocal_differences(values) * matmul(vectors, dvectors, adjoint_a=True) + diag(dvalues)
    else:
        _, vectors = _self_adjoint_eig(call.inputs[0], True)
        inner = diag(dvalues)
    grad = matmul(vectors, matmul(inner, vectors, adjoint_b=True))
    # The op reads the lower triangle alone.
    grad = band_part(grad + adjoint(grad), -1, 0)
    return set_diag(grad, diag_part(grad) * constant(0.5, grad.dtype))


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the eigenvalues and eigenvectors of self-adjoint matrices.

    Args:
        tensor: a tensor of shape `[..., n, n]`, of a float or complex dtype; only the lower triangle is read.

    Returns:
        The eigenvalues in ascending order, of shape `[..., n]` and the dtype of `tensor`, and the eigenvectors, of unit
        length, in the columns of a tensor of shape `[..., n, n]`.

    Raises:
        InvalidArgumentError: the matrices are not square, or hold NaN.

    Example:
        >>> values, vectors = tf.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
        >>> np.allclose(values, [1.0, 3.0])
        True
    """
    values, vectors = _self_adjoint_eig(tensor, True, name)
    return values, vectors


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Computes the eigenvalues of self-adjoint matrices.

    Args:
        tensor: a tensor of shape `[..., n, n]`, of a float or complex dtype; only the lower triangle is read.

    Returns:
        The eigenvalues in ascending order, of shape `[..., n]` and the dtype of `tensor`.

    Raises:
        InvalidArgumentError: the matrices are not square, or hold NaN.

    Example:
        >>> np.allclose(tf.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]), [1.0, 3.0])
        True
    """
    return _self_adjoint_eig(tensor, False, name)[0]


# ---- any square matrices ---------------------------------------------------------------------------------------------


@op("Eig", shape=lambda x, Tout, compute_v=True: _values_and_vectors_rule(x, compute_v))
def _general_eig(input: torch.Tensor, Tout: DType, compute_v: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes eigenvalues, and eigenvectors, of square matrices."""
    check_square(input)
    if not bool(input.isfinite().all()):  # LAPACK might end the process
        raise invalid(_FAILED.format("Eigen decomposition"))
    try:
        if compute_v:
            values, vectors = torch.linalg.eig(input)
        else:
            values = torch.linalg.eigvals(input)
            vectors = values.new_empty(0)
    except torch.linalg.LinAlgError:
        raise invalid(_FAILED.format("Eigen decomposition")) from None
    if input.is_complex():  # TensorFlow sorts complex values
        order = values.abs().argsort(dim=-1, stable=True)
        values = values.gather(-1, order)
        if compute_v:
            vectors = vectors.gather(-1, order.unsqueeze(-2).expand_as(vectors))
    return values.to(Tout.torch), vectors.to(Tout.torch)


@_general_eig.gradient(needs="inputs outputs")
def _(call: Call, dvalues: Tensor, dvectors: Tensor) -> Any:
    values, vectors = call.outputs
    dtype, compute_v = call.attrs
    if compute_v:
        along = matmul(vectors, dvectors, adjoint_a=True)
        # The vectors have unit length: only the part of the gradient that does not change it counts.
        lengths = diag(cast(real(diag_part(along)), along.dtype))
        inner = along - matmul(matmul(vectors, vectors, adjoint_a=True), lengths)
        inner = conj(_reciprocal_differences(values)) * inner + diag(dvalues)
    else:
        _, vectors = _general_eig(call.inputs[0], dtype, True)
        inner = diag(dvalues)
    transposed = adjoint(vectors)
    return cast(solve(transposed, matmul(inner, transposed)), call.inputs[0].dtype)


def _with_complex_dtype(value: TensorLike) -> tuple[Any, DType]:
    """Returns a tensor, and the complex dtype of its eigenvalues."""
    tensor: Any = value if isinstance(value, Tensor) else convert(value)
    dtype = tensor.dtype
    return tensor, dtype if dtype.is_complex else complex128 if dtype is float64 else complex64


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the eigenvalues and eigenvectors of square matrices.

    Args:
        tensor: a tensor of shape `[..., n, n]`, of dtype float32, float64 or complex.

    Returns:
        The eigenvalues in no special order, of shape `[..., n]`, and the eigenvectors, of unit length, in the columns
        of a tensor of shape `[..., n, n]`; both complex.

    Raises:
        InvalidArgumentError: the matrices are not square, or hold NaN.

    Example:
        >>> values, vectors = tf.linalg.eig([[0.0, 2.0], [-2.0, 0.0]])
        >>> sorted(np.round(np.imag(values)).tolist())
        [-2.0, 2.0]
    """
    matrix, dtype = _with_complex_dtype(tensor)
    values, vectors = _general_eig(matrix, dtype, True, name)
    return values, vectors


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Computes the eigenvalues of square matrices.

    Args:
        tensor: a tensor of shape `[..., n, n]`, of dtype float32, float64 or complex.

    Returns:
        A complex tensor of shape `[..., n]`, in no special order.

    Raises:
        InvalidArgumentError: the matrices are not square, or hold NaN.

    Example:
        >>> sorted(np.round(np.imag(tf.linalg.eigvals([[0.0, 2.0], [-2.0, 0.0]]))).tolist())
        [-2.0, 2.0]
    """
    matrix, dtype = _with_complex_dtype(tensor)
    return _general_eig(matrix, dtype, False, name)[0]


# ---- singular values -------------------------------------------------------------------------------------------------


def _svd_rule(input: TensorShape, compute_uv: bool = True, full_matrices: bool = False) -> tuple[TensorShape, ...]:
    matrices(input)
    if input.rank is None:
        return (input, input, input) if compute_uv else (input, TensorShape([0]), TensorShape([0]))
    batch, (m, n) = input[:-2], input[-2:]
    least = None if m is None or n is None else min(m, n)
    values = batch.concatenate([least])
    if not compute_uv:
        return values, TensorShape([0]), TensorShape([0])
    width = (m, n) if full_matrices else (least, least)
    return values, batch.concatenate([m, width[0]]), batch.concatenate([n, width[1]])


@op("Svd", shape=_svd_rule, batching=leading_dimensions)
def _svd_op(input: torch.Tensor, compute_uv: bool = True, full_matrices: bool = False) -> tuple[torch.Tensor, ...]:
    """Computes singular values, and singular vectors."""
    finite = torch.isfinite(input).flatten(-2).all(-1)
    if not bool(finite.all()):  # for others LAPACK may not return
        results = _svd_op.op.kernel(torch.where(finite[..., None, None], input, 0), compute_uv, full_matrices)
        return tuple([
            torch.where(finite.reshape(*finite.shape, *[1] * (r.ndim - finite.ndim)), r, torch.nan) if r.numel() else r
            for r in results
        ])  # fmt: skip
    if compute_uv:
        u, s, vh = torch.linalg.svd(input, full_matrices)
        return s.to(input.dtype), u, vh.mH
    return torch.linalg.svdvals(input).to(input.dtype), input.new_empty(0), input.new_empty(0)


@_svd_op.gradient(needs="inputs outputs")
def _(call: Call, ds: Tensor, du: Tensor, dv: Tensor) -> Any:
    compute_uv, _ = call.attrs
    if not compute_uv:
        _, u, v = _svd_op(call.inputs[0], True, False)
        return matmul(u * expand_dims(ds, -2), v, adjoint_b=True)
    s, u, v = call.outputs
    count = shape_of(s)[-1]
    null_u, null_v, dnull_u, dnull_v = [x[..., count:] for x in (u, v, du, dv)]
    u, v, du, dv = [x[..., :count] for x in (u, v, du, dv)]
    u_du, v_dv = matmul(u, du, adjoint_a=True), matmul(v, dv, adjoint_a=True)
    rows, columns = expand_dims(s, -1), expand_dims(s, -2)
    inverse = columns / (columns * columns + constant(1e-20, s.dtype))
    # With `f[i, j] = 1 / (s[j]^2 - s[i]^2)`: (u^H du skewed * f) s + s (v^H dv skewed * f) + ds on the diagonal.
    f = _reciprocal_differences(s * s)
    inner = f * (u_du - adjoint(u_du)) * columns + rows * (f * (v_dv - adjoint(v_dv))) + diag(ds)
    if s.dtype.is_complex:  # the phase that u and v share
        inner += diag((diag_part(u_du) - conj(diag_part(u_du))) * inverse[..., 0, :] * constant(0.5, s.dtype))
    # The parts that are orthogonal to the first singular vectors, and, in full matrices, to the others, too.
    left = du - matmul(u, u_du) - matmul(null_u, matmul(dnull_u, u, adjoint_a=True))
    right = dv - matmul(v, v_dv) - matmul(null_v, matmul(dnull_v, v, adjoint_a=True))
    grad = matmul(matmul(u, inner) + left * inverse, v, adjoint_b=True)
    return grad + matmul(u * inverse, right, adjoint_b=True)


@overload
def svd(
    tensor: TensorLike, full_matrices: bool = ..., compute_uv: Literal[True] = ..., name: str | None = ...
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svd(
    tensor: TensorLike, full_matrices: bool = ..., *, compute_uv: Literal[False], name: str | None = ...
) -> Tensor: ...
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor] | Tensor:
    """Computes the singular values and singular vectors of matrices: `tensor = u @ diag(s) @ adjoint(v)`.

    Args:
        tensor: a tensor of shape `[..., m, n]`, of a float or complex dtype.
        full_matrices: computes square `u` and `v`; otherwise they have `p = min(m, n)` columns.
        compute_uv: computes the vectors, too; True by default.

    Returns:
        `(s, u, v)`: the singular values in descending order, of shape `[..., p]` and the real dtype, and the vectors in
        the columns of tensors of shapes `[..., m, p]` and `[..., n, p]`; without `compute_uv`, `s` alone. All NaN
        if `tensor` is not finite.

    Raises:
        InvalidArgumentError: it has less than two dimensions.

    Example:
        >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, 2.0]])
        >>> np.allclose(s, [3.0, 2.0])
        True
    """
    s, u, v = _svd_op(tensor, compute_uv, full_matrices, name)
    s = real(s)
    return (s, u, v) if compute_uv else s


# ---- functions of singular values ------------------------------------------------------------------------------------


def _float_matrices(a: TensorLike, hint: DType | None = None) -> Any:
    """Returns an argument as a tensor of matrices, of the dtype `hint` if the argument is not a tensor.

    Raises:
        TypeError: it is not of a float dtype.
        ValueError: it has less than two dimensions.
    """
    matrix: Any = a if isinstance(a, Tensor) else convert(a, hint=hint)
    if not matrix.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {matrix.dtype.name}).")
    if matrix.shape.rank is not None and matrix.shape.rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {matrix.shape.rank}).")
    return matrix


def _larger_side(a: Tensor) -> Any:
    """Returns the larger dimension of the matrices: a number, or a tensor of their dtype if it is not static."""
    sides = a.shape[-2:]
    return max(sides) if sides.is_fully_defined() else cast(reduce_max(shape_op(a)[-2:]), a.dtype)


def pinv(
    a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Computes the pseudo-inverses of Moore and Penrose, by singular values.

    Args:
        a: a tensor of shape `[..., m, n]`, of a float dtype.
        rcond: singular values below this part of the largest one count as zero; of shape `[...]`. By default
            `10 * max(m, n)` times the dtype's precision.
        validate_args: has no effect, as arguments are always checked.

    Returns:
        A tensor of shape `[..., n, m]` and that dtype.

    Raises:
        TypeError: `a` is not of a float dtype.
        ValueError: it has less than two dimensions.

    Example:
        >>> np.allclose(tf.linalg.pinv([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), [[1, 0, 0], [0, 0.5, 0]])
        True
    """
    matrix = _float_matrices(a)
    if rcond is None:
        rcond = 10.0 * _larger_side(matrix) * np.finfo(matrix.dtype.as_numpy_dtype).eps
    tolerance: Any = convert_to_tensor(rcond, matrix.dtype)
    s, u, v = svd(matrix)
    cutoff = tolerance * reduce_max(s, -1) if s.shape[-1] != 0 else tolerance
    # Dividing by infinity leaves a singular value out, and its gradient too.
    s = where(s > expand_dims(cutoff, -1), s, constant(np.inf, s.dtype))
    inverse = matmul(v / expand_dims(s, -2), u, adjoint_b=True)
    m, n = matrix.shape[-2], matrix.shape[-1]
    inverse.shape.assert_is_compatible_with(matrix.shape[:-2] + [n, m])
    return inverse


def matrix_rank(
    a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """Computes the ranks of matrices: the numbers of singular values larger than `tol`.

    Args:
        a: a tensor of shape `[..., m, n]`, of a float dtype.
        tol: a tensor of shape `[...]`; by default `max(m, n)` times the largest singular value times the dtype's
            precision.
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
    matrix = _float_matrices(a, float32)
    s: Any = svd(matrix, compute_uv=False)
    if tol is None:
        eps = float(np.finfo(matrix.dtype.as_numpy_dtype).eps)
        largest: Any = reduce_max(s, -1, True) if s.shape[-1] != 0 else zeros([], s.dtype)
        limit = eps * _larger_side(matrix) * largest
    else:
        limit = tol
    return reduce_sum(cast(s > limit, int32), -1)
