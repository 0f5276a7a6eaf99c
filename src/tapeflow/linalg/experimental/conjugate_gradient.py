"""The conjugate gradient method."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from tapeflow.array.creation import constant, zeros_like
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.linalg.norms import norm
from tapeflow.math.comparison import logical_and
from tapeflow.math.complex import conj, real
from tapeflow.math.reduction import reduce_any, reduce_sum

if TYPE_CHECKING:
    from tapeflow.linalg.operators.base import LinearOperator

CGState = namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(
    operator: LinearOperator,
    rhs: TensorLike,
    preconditioner: LinearOperator | None = None,
    x: TensorLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str | None = "conjugate_gradient",
) -> CGState:
    """Solves `operator @ x = rhs` by the method of conjugate gradients (Hestenes and Stiefel, 1952).

    Args:
        operator: a `tf.linalg.LinearOperator` that says that it is self-adjoint and positive definite.
        rhs: a tensor of shape `[..., n]` and the dtype of `operator`.
        preconditioner: an operator close to the inverse of `operator`.
        x: the first approximation, of shape `[..., n]`; zeros by default.
        tol: iteration stops when the norm of the residual is at most `tol` times the norm of `rhs`; 1e-05 by default.
        max_iter: an int, the largest number of iterations; 20 by default.

    Returns:
        A named tuple: `i`, the number of iterations; `x`, the solution; `r`, the residual; `p`, the last direction; and
        `gamma`, the square of the residual's norm (with a preconditioner, its product with the preconditioned
        residual).

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
    target: Any = convert(rhs)
    tolerance = tol * norm(target, axis=-1)
    start: Any = zeros_like(target) if x is None else convert(x, target.dtype)
    residual = target if x is None else target - operator.matvec(start)

    def preconditioned(r: Any) -> Any:
        return r if preconditioner is None else preconditioner.matvec(r)

    def unfinished(state: CGState) -> Any:
        large = real(norm(state.r, axis=-1)) > real(tolerance)
        return logical_and(state.i < max_iter, reduce_any(large))

    def step(state: CGState) -> list[CGState]:
        z = operator.matvec(state.p)
        alpha = expand_dims(state.gamma / _inner_product(state.p, z), -1)
        r = state.r - alpha * z
        q = preconditioned(r)
        gamma = _inner_product(r, q)
        p = q + expand_dims(gamma / state.gamma, -1) * state.p
        return [CGState(state.i + 1, state.x + alpha * state.p, r, p, gamma)]

    direction = preconditioned(residual)
    state = CGState(constant(0), start, residual, direction, _inner_product(residual, direction))
    (state,) = hooks.while_loop(unfinished, step, [state])
    return state


def _inner_product(x: Any, y: Any) -> Any:
    return reduce_sum(conj(x) * y, -1)
