"""Eigenvalues and singular values.

The gradients are those of M. B. Giles, "An extended collection of matrix derivative results for forward and reverse
mode algorithmic differentiation" (2008), and of Z.-Q. Wan and S.-X. Zhang, "Automatic differentiation for complex
valued SVD" (2019). They hold where the values are distinct; where two are equal, what the vectors contribute is left
out.
"""

from __future__ import annotations

from typing import Any

import torch

import tapeflow as tf
from tapeflow.core.autodiff.gradients import conj, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.dtypes import DType, complex64, complex128, float64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.diagonals import adjoint, band_part, diag, diag_part, set_diag
from tapeflow.linalg.products import matmul
from tapeflow.linalg.rules import check_square, matrices, square_matrices
from tapeflow.linalg.solvers import solve

# What an eigenvalue decomposition raises where LAPACK does not converge, as for NaN.
_FAILED = "{} was not successful. The input might not be valid."


def _reciprocal_differences(x: Any) -> Any:
    """The matrix of `1 / (x[j] - x[i])`, and 0 where that is on the diagonal or 1 / 0."""
    differences = tf.expand_dims(x, -2) - tf.expand_dims(x, -1)
    inverse = differences / (differences * differences + tf.constant(1e-20, differences.dtype))
    return set_diag(inverse, tf.zeros_like(x))


# ---- self-adjoint matrices -------------------------------------------------------------------------------------------


def _values_and_vectors_rule(input: TensorShape, compute_v: bool = True, *_: Any) -> tuple[TensorShape, TensorShape]:
    square_matrices(input)
    values = input[:-1] if input.rank is not None else input
    return values, input if compute_v else TensorShape([0])


def _eigh(input: torch.Tensor, compute_v: bool) -> tuple[torch.Tensor, torch.Tensor]:
    check_square(input)
    if not bool(input.tril().isfinite().all()):  # LAPACK gives some answer or other
        raise invalid(_FAILED.format("Self-adjoint eigen decomposition"))
    if compute_v:
        values, vectors = torch.linalg.eigh(input)
    else:
        values, vectors = torch.linalg.eigvalsh(input), input.new_empty(0)
    return values.to(input.dtype), vectors


@op("SelfAdjointEigV2", kernel=_eigh, shape=_values_and_vectors_rule)
def _self_adjoint_eig(input: Any, compute_v: bool = True, name: str | None = None) -> Any:
    """Eigenvalues, and eigenvectors, of self-adjoint matrices."""


@_self_adjoint_eig.gradient(needs="inputs outputs")
def _(call: Call, dvalues: Any, dvectors: Any) -> Any:
    values, vectors = call.outputs
    (compute_v,) = call.attrs
    if compute_v:
        inner = _reciprocal_differences(values) * matmul(vectors, dvectors, adjoint_a=True) + diag(dvalues)
    else:
        _, vectors = _self_adjoint_eig(call.inputs[0], True)
        inner = diag(dvalues)
    grad = matmul(vectors, matmul(inner, vectors, adjoint_b=True))
    # Only the lower triangle was read.
    grad = band_part(grad + adjoint(grad), -1, 0)
    return set_diag(grad, diag_part(grad) * tf.constant(0.5, grad.dtype))


def eigh(tensor: Any, name: str | None = None) -> tuple[Any, Any]:
    """The eigenvalues and eigenvectors of self-adjoint matrices.

    Args:
        tensor: of shape `[..., n, n]`, of a float or complex dtype; only the lower triangle is read.

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


def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of self-adjoint matrices.

    Args:
        tensor: of shape `[..., n, n]`, of a float or complex dtype; only the lower triangle is read.

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


def _eig(input: torch.Tensor, Tout: DType, compute_v: bool) -> tuple[torch.Tensor, torch.Tensor]:
    check_square(input)
    try:
        if compute_v:
            values, vectors = torch.linalg.eig(input)
        else:
            values = torch.linalg.eigvals(input)
            vectors = values.new_empty(0)
    except RuntimeError as error:  # LinAlgError, or a plain one for NaN
        if isinstance(error, torch.linalg.LinAlgError) or "NaN" in str(error):
            raise invalid(_FAILED.format("Eigen decomposition")) from None
        raise
    return values.to(Tout.torch), vectors.to(Tout.torch)


@op("Eig", kernel=_eig, shape=lambda x, Tout, compute_v=True: _values_and_vectors_rule(x, compute_v))
def _general_eig(input: Any, Tout: Any, compute_v: bool = True, name: str | None = None) -> Any:
    """Eigenvalues, and eigenvectors, of square matrices."""


@_general_eig.gradient(needs="inputs outputs")
def _(call: Call, dvalues: Any, dvectors: Any) -> Any:
    values, vectors = call.outputs
    dtype, compute_v = call.attrs
    if compute_v:
        along = matmul(vectors, dvectors, adjoint_a=True)
        # The vectors have unit length: what would change that does not count.
        lengths = diag(tf.cast(tf.math.real(diag_part(along)), along.dtype))
        inner = along - matmul(matmul(vectors, vectors, adjoint_a=True), lengths)
        inner = conj(_reciprocal_differences(values)) * inner + diag(dvalues)
    else:
        _, vectors = _general_eig(call.inputs[0], dtype, True)
        inner = diag(dvalues)
    transposed = adjoint(vectors)
    return tf.cast(solve(transposed, matmul(inner, transposed)), call.inputs[0].dtype)


def _complex_of(tensor: Any) -> tuple[Any, DType]:
    tensor = tensor if isinstance(tensor, Tensor) else convert(tensor)
    dtype = tensor.dtype
    return tensor, dtype if dtype.is_complex else complex128 if dtype is float64 else complex64


def eig(tensor: Any, name: str | None = None) -> tuple[Any, Any]:
    """The eigenvalues and eigenvectors of square matrices.

    Args:
        tensor: of shape `[..., n, n]`, of dtype float32, float64 or complex.

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
    tensor, dtype = _complex_of(tensor)
    values, vectors = _general_eig(tensor, dtype, True, name)
    return values, vectors


def eigvals(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of square matrices.

    Args:
        tensor: of shape `[..., n, n]`, of dtype float32, float64 or complex.

    Returns:
        A complex tensor of shape `[..., n]`, in no special order.

    Raises:
        InvalidArgumentError: the matrices are not square, or hold NaN.

    Example:
        >>> sorted(np.round(np.imag(tf.linalg.eigvals([[0.0, 2.0], [-2.0, 0.0]]))).tolist())
        [-2.0, 2.0]
    """
    tensor, dtype = _complex_of(tensor)
    return _general_eig(tensor, dtype, False, name)[0]


# ---- singular values -------------------------------------------------------------------------------------------------


def _svd_rule(input: TensorShape, compute_uv: bool = True, full_matrices: bool = False) -> tuple[TensorShape, ...]:
    matrices(input)
    if input.rank is None:
        return input, input, input
    batch, (m, n) = input[:-2], input[-2:]
    least = None if m is None or n is None else min(m, n)
    values = batch.concatenate([least])
    if not compute_uv:
        return values, TensorShape([0]), TensorShape([0])
    width = (m, n) if full_matrices else (least, least)
    return values, batch.concatenate([m, width[0]]), batch.concatenate([n, width[1]])


def _svd_kernel(input: torch.Tensor, compute_uv: bool, full_matrices: bool) -> tuple[torch.Tensor, ...]:
    if not bool(torch.isfinite(input).all()):  # LAPACK gives no answer
        shapes = [s.as_list() for s in _svd_rule(TensorShape(input.shape), compute_uv, full_matrices)]
        return tuple([input.new_full([int(d or 0) for d in s], torch.nan) for s in shapes])
    if compute_uv:
        u, s, vh = torch.linalg.svd(input, full_matrices)
        return s.to(input.dtype), u, vh.mH
    return torch.linalg.svdvals(input).to(input.dtype), input.new_empty(0), input.new_empty(0)


@op("Svd", kernel=_svd_kernel, shape=_svd_rule)
def _svd(input: Any, compute_uv: bool = True, full_matrices: bool = False, name: str | None = None) -> Any:
    """Singular values, and singular vectors."""


@_svd.gradient(needs="inputs outputs")
def _(call: Call, ds: Any, du: Any, dv: Any) -> Any:
    compute_uv, _ = call.attrs
    if not compute_uv:
        _, u, v = _svd(call.inputs[0], True, False)
        return matmul(u * tf.expand_dims(ds, -2), v, adjoint_b=True)
    s, u, v = call.outputs
    count = shape_of(s)[-1]
    null_u, null_v, dnull_u, dnull_v = [x[..., count:] for x in (u, v, du, dv)]
    u, v, du, dv = [x[..., :count] for x in (u, v, du, dv)]
    u_du, v_dv = matmul(u, du, adjoint_a=True), matmul(v, dv, adjoint_a=True)
    rows, columns = tf.expand_dims(s, -1), tf.expand_dims(s, -2)
    inverse = columns / (columns * columns + tf.constant(1e-20, s.dtype))
    # With `f[i, j] = 1 / (s[j]^2 - s[i]^2)`: (u^H du skewed * f) s + s (v^H dv skewed * f) + ds on the diagonal.
    f = _reciprocal_differences(s * s)
    inner = f * (u_du - adjoint(u_du)) * columns + rows * (f * (v_dv - adjoint(v_dv))) + diag(ds)
    if s.dtype.is_complex:  # the phase that u and v share
        inner += diag((diag_part(u_du) - conj(diag_part(u_du))) * inverse[..., 0, :] * tf.constant(0.5, s.dtype))
    # What is orthogonal to the first singular vectors, or, in full matrices, belongs to the other ones.
    left = du - matmul(u, u_du) - matmul(null_u, matmul(dnull_u, u, adjoint_a=True))
    right = dv - matmul(v, v_dv) - matmul(null_v, matmul(dnull_v, v, adjoint_a=True))
    grad = matmul(matmul(u, inner) + left * inverse, v, adjoint_b=True)
    return grad + matmul(u * inverse, right, adjoint_b=True)


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """The singular values and singular vectors of matrices: `tensor = u @ diag(s) @ adjoint(v)`.

    Args:
        tensor: of shape `[..., m, n]`, of a float or complex dtype.
        full_matrices: whether `u` and `v` are square; otherwise they have `p = min(m, n)` columns.
        compute_uv: whether the vectors are computed.

    Returns:
        `(s, u, v)`: the singular values in descending order, of shape `[..., p]` and the real dtype, and the vectors in
        the columns of tensors of shapes `[..., m, p]` and `[..., n, p]`; without `compute_uv`, `s` alone. All NaN
        where `tensor` is not finite.

    Raises:
        InvalidArgumentError: it has less than two dimensions.

    Example:
        >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, 2.0]])
        >>> np.allclose(s, [3.0, 2.0])
        True
    """
    s, u, v = _svd(tensor, compute_uv, full_matrices, name)
    s = tf.math.real(s)
    return (s, u, v) if compute_uv else s
