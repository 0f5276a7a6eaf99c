"""The public `tf.linalg.experimental` namespace."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tapeflow as tf
from tapeflow.core.ops.convert import convert

CGState = namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str | None = "conjugate_gradient",
) -> CGState:
    """Solves `operator @ x = rhs` by the method of conjugate gradients (Hestenes and Stiefel, 1952).

    Args:
        operator: a `tf.linalg.LinearOperator` that says that it is self-adjoint and positive definite.
        rhs: of shape `[..., n]`.
        preconditioner: an operator close to the inverse of `operator`.
        x: where to begin; zeros by default.
        tol: iteration stops where the error's norm is at most this part of that of `rhs`.
        max_iter: the largest number of iterations.

    Returns:
        A named tuple: `i` the number of iterations, `x` the solution, `r` what is left of `rhs`, `p` the last
        direction, and `gamma` the square of the error's norm (with a preconditioner, its product with the
        preconditioned error).

    Raises:
        ValueError: `operator` or `preconditioner` does not say that it is self-adjoint and positive definite.

    Example:
        >>> a = tf.linalg.LinearOperatorFullMatrix(
        ...     [[4.0, 1.0], [1.0, 3.0]], is_self_adjoint=True, is_positive_definite=True)
        >>> state = tf.linalg.experimental.conjugate_gradient(a, tf.constant([5.0, 4.0]))
        >>> np.allclose(state.x, [1.0, 1.0])
        True
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    if preconditioner is not None and not (preconditioner.is_self_adjoint and preconditioner.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite preconditioner.")
    rhs = convert(rhs)
    smallest = tol * tf.norm(rhs, axis=-1)
    if x is None:
        x, residual = tf.zeros_like(rhs), rhs
    else:
        x = convert(x, rhs.dtype)
        residual = rhs - operator.matvec(x)

    def preconditioned(r: Any) -> Any:
        return r if preconditioner is None else preconditioner.matvec(r)

    def goes_on(state: CGState) -> Any:
        length = tf.norm(state.r, axis=-1)
        left = tf.math.real(length) > tf.math.real(smallest)
        return tf.logical_and(state.i < max_iter, tf.reduce_any(left))

    def step(state: CGState) -> list[CGState]:
        z = operator.matvec(state.p)
        alpha = tf.expand_dims(state.gamma / _dot(state.p, z), -1)
        r = state.r - alpha * z
        q = preconditioned(r)
        gamma = _dot(r, q)
        p = q + tf.expand_dims(gamma / state.gamma, -1) * state.p
        return [CGState(state.i + 1, state.x + alpha * state.p, r, p, gamma)]

    direction = preconditioned(residual)
    state = CGState(tf.constant(0), x, residual, direction, _dot(residual, direction))
    (state,) = tf.while_loop(goes_on, step, [state])
    return state


def _dot(x: Any, y: Any) -> Any:
    return tf.reduce_sum(tf.math.conj(x) * y, -1)
