"""Functions of matrices: exponential, logarithm, square root."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import constant, zeros, zeros_like
from tapeflow.array.masks import where
from tapeflow.array.properties import shape_op
from tapeflow.array.ranges import eye
from tapeflow.array.reshapes import reshape
from tapeflow.core.autodiff.gradients import is_unranked, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bfloat16
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.linalg.contraction import einsum
from tapeflow.linalg.diagonals import adjoint, identity_like, matrix_transpose
from tapeflow.linalg.rules import check_square, square_matrices
from tapeflow.linalg.solvers import solve
from tapeflow.math.casting import cast
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import log
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_max, reduce_sum
from tapeflow.math.rounding import ceil


@op("MatrixExponential", shape=square_matrices, batching=leading_dimensions)
def _matrix_exponential(input: torch.Tensor) -> torch.Tensor:
    """Computes the exponentials of matrices."""
    check_square(input)
    return torch.linalg.matrix_exp(input)


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the exponentials of matrices: `1 + x + x @ x / 2 + x @ x @ x / 6 + ...`.

    Args:
        input: a tensor of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the matrices are not square.
        ValueError: they are neither of a float nor of a complex dtype.

    Example:
        >>> tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy().tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    tensor: Any = input if isinstance(input, Tensor) else convert(input)
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex) or tensor.dtype is bfloat16:
        reduce_max(abs_op(tensor), -1)  # TensorFlow computes a norm first, which refuses some dtypes and shapes
        raise ValueError(f"tf.linalg.expm does not support matrices of type {tensor.dtype!r}")
    return _matrix_exponential(tensor, name)


def _block_gradient(function: Callable[..., Any], x: Tensor, dy: Tensor) -> Any:
    """Computes the gradient of a function of matrices: the upper right block of `function([[x^H, dy], [0, x^H]])`.

    N. J. Higham, "Functions of Matrices" (2008), theorem 3.6.
    """
    n = shape_of(x)[-1]
    x = adjoint(x)
    blocks = concat([concat([x, dy], -1), concat([zeros_like(x), x], -1)], -2)
    return function(blocks)[..., :n, n:]


@_matrix_exponential.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return _block_gradient(_matrix_exponential, call.inputs[0], dy)


_PADE = [64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
         10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0,
         1.0]  # fmt: skip
_LARGEST_NORM = 5.371920351148152  # up to this norm, the approximant of degree 13 is exact to float64


@_matrix_exponential.decomposition
def _(input: Tensor) -> Any:
    """Computes a Pade approximant of degree 13, of matrices scaled down by powers of two, and squares it.

    N. J. Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited" (2005), algorithm 2.3.
    """
    real = input.dtype.real_dtype
    largest = reduce_max(reduce_sum(abs_op(input), -2), -1)
    halvings = ceil(log(maximum(largest / _LARGEST_NORM, 1.0)) / math.log(2.0))[..., None, None]
    a = input * cast(2.0**-halvings, input.dtype)
    b = [constant(c / _PADE[0], input.dtype) for c in _PADE]
    identity = identity_like(a)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * identity)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * identity

    def squared(i: Any, x: Tensor) -> Any:
        return i + 1.0, where(i < halvings, x @ x, x)

    most = reduce_max(concat([reshape(halvings, [-1]), zeros([1], real)], 0))
    start = zeros([], real), solve(even - odd, even + odd)
    shapes = TensorShape([]), input.shape
    return hooks.while_loop(lambda i, x: i < most, squared, start, shapes)[1]


# ---- by eigenvalues, or, if a matrix has too few eigenvectors, by iteration ------------------------------------------


def _by_eigenvalues(
    x: torch.Tensor, function: Callable[..., Any], iterate: Callable[..., torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes a function of matrices, complex: `V function(values) V^-1` if the eigenvectors are accurate enough.

    Args:
        x: float64 or complex128 matrices.
        function: a function of complex numbers.
        iterate: `iterate(rotated, rotation)` computes the function for other matrices; see `_rotate_eigenvalues`.

    Returns:
        The result, and the eigenvalues.
    """
    if torch.equal(x, x.mH):
        real_values, orthogonal = torch.linalg.eigh(x)
        values, vectors = real_values.to(torch.complex128), orthogonal.to(torch.complex128)
        inverse, accurate = vectors.mH, torch.ones_like(values[..., 0], dtype=torch.bool)
    else:
        values, vectors = torch.linalg.eig(x)
        inverse, info = torch.linalg.inv_ex(vectors)
        product = (vectors * values.unsqueeze(-2)) @ inverse
        scale = torch.linalg.matrix_norm(x)
        accurate = (info == 0) & (torch.linalg.matrix_norm(product - x) <= 1e-11 * scale)
        accurate &= torch.linalg.matrix_norm(vectors) * torch.linalg.matrix_norm(inverse) < 1e7
    result = (vectors * function(values).unsqueeze(-2)) @ inverse
    if bool(accurate.all()):
        return result, values
    return torch.where(accurate[..., None, None], result, iterate(*_rotate_eigenvalues(x, values))), values


def _rotate_eigenvalues(x: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Multiplies matrices by numbers of absolute value 1, which take their eigenvalues away from the negative axis.

    Returns:
        The products, and the angles of rotation, `[..., 1, 1]`.
    """
    angles = torch.angle(values)
    angles = torch.where(angles < -math.pi + 1e-9, math.pi, angles)
    rotation = (angles.amin(-1)[..., None, None] + math.pi) / 2
    return x * torch.exp(-1j * rotation), rotation


def _square_root_by_iteration(x: torch.Tensor) -> torch.Tensor:
    """Computes the principal square root by the product form of the Denman-Beavers iteration (Higham, section 6.3)."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    m, root = x, x
    for _ in range(60):
        inverse = torch.linalg.inv_ex(m)[0]
        root = root @ (identity + inverse) / 2
        m = (2 * identity + m + inverse) / 4
        if bool((torch.linalg.matrix_norm(m - identity) < 1e-14 * x.shape[-1]).all()):
            break
    return root


def _square_root(input: torch.Tensor) -> torch.Tensor:
    check_square(input)
    if not input.numel():
        return input.clone()
    if not bool(torch.isfinite(input).all()):
        return torch.full_like(input, torch.nan)
    x = input.to(torch.complex128 if input.is_complex() else torch.float64)
    root, _ = _by_eigenvalues(
        x, torch.sqrt, lambda m, rotation: _square_root_by_iteration(m) * torch.exp(0.5j * rotation)
    )
    zero = torch.linalg.matrix_norm(x) == 0
    if not input.is_complex():
        scale = torch.linalg.matrix_norm(root.real).clamp_min(1e-300)
        zero |= torch.linalg.matrix_norm(root.imag) > 1e-7 * scale  # a negative eigenvalue: the root is not real
        root = root.real
    return torch.where(zero[..., None, None], torch.nan, root).to(input.dtype)


@op("MatrixSquareRoot", kernel=_square_root, shape=square_matrices, batching=leading_dimensions, autograd=False)
def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the principal square roots of matrices: `sqrtm(x) @ sqrtm(x) = x`.

    Args:
        input: a tensor of shape `[..., n, n]`, of a float or complex dtype.

    Returns:
        A tensor of the same shape and dtype; NaN if a real matrix has no real root.

    Raises:
        InvalidArgumentError: the matrices are not square.

    Example:
        >>> np.allclose(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]), [[2.0, 0.0], [0.0, 3.0]])
        True
    """


@sqrtm.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    # With r = sqrtm(x), the gradient g solves r^T g + g r^T = dy, which is linear in the elements of g. TensorFlow does
    # not conjugate r, here alone.
    root = matrix_transpose(call.outputs[0])
    n = shape_of(root)[-1]
    identity = eye(n, dtype=root.dtype)
    sums = einsum("...ik,jl->...ijkl", root, identity) + einsum("ik,...lj->...ijkl", identity, root)
    if is_unranked(shape_of(root)):
        batch = shape_op(root)[:-2]
        square, column, whole = (concat([batch, d], 0) for d in ([n * n, n * n], [n * n, 1], [n, n]))
    else:
        batch = tuple(shape_of(root))[:-2]
        square, column, whole = (*batch, n * n, n * n), (*batch, n * n, 1), (*batch, n, n)
    return reshape(solve(reshape(sums, square), reshape(dy, column)), whole)


def _logarithm_kernel(input: torch.Tensor) -> torch.Tensor:
    check_square(input)
    if not input.numel():
        return input.clone()
    x = input.to(torch.complex128)
    if not bool(torch.isfinite(torch.view_as_real(input)).all()):
        return torch.full_like(input, torch.nan)
    result, values = _by_eigenvalues(x, _principal_log, _logarithm_by_roots)
    singular = values.abs().amin(-1) == 0
    return torch.where(singular[..., None, None], torch.nan, result).to(input.dtype)


def _principal_log(values: torch.Tensor) -> torch.Tensor:
    """Computes logarithms with imaginary parts from -pi, left out, to pi."""
    result = torch.log(values)
    below = result.imag < -math.pi + 1e-12  # negative numbers, as rounding left them
    return torch.where(below, result + 2j * math.pi, result)


def _logarithm_by_roots(x: torch.Tensor, rotation: torch.Tensor) -> torch.Tensor:
    """Takes square roots until the matrix is close to 1, then uses Gauss' quadrature (Higham, section 11.5). Adds what
    the rotation of the eigenvalues has taken away."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    count = 0
    while count < 60 and bool((torch.linalg.matrix_norm(x - identity) > 0.25).any()):
        x, count = _square_root_by_iteration(x), count + 1
    difference = x - identity
    total = torch.zeros_like(x)
    nodes, weights = np.polynomial.legendre.leggauss(9)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        total += weight * torch.linalg.solve(identity + node * difference, difference)
    return total * 2**count + 1j * rotation * identity


@op("MatrixLogarithm", kernel=_logarithm_kernel, shape=square_matrices, batching=leading_dimensions)
def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the principal logarithms of matrices: `expm(logm(x)) = x`.

    Args:
        input: a tensor of shape `[..., n, n]` and a complex dtype.

    Returns:
        A tensor of the same shape and dtype; NaN if a matrix is singular.

    Raises:
        InvalidArgumentError: the matrices are not square, or not complex.

    Example:
        >>> np.allclose(tf.linalg.logm(tf.constant([[1, 1], [0, 1]], tf.complex64)), [[0, 1], [0, 0]], atol=1e-6)
        True
    """


@logm.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return _block_gradient(logm, call.inputs[0], dy)
