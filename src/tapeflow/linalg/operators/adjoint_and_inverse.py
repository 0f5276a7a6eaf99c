"""Operators derived from another one: its adjoint and its inverse."""

from __future__ import annotations

from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.operators import dispatch, hints
from tapeflow.linalg.operators.base import LinearOperator


class _DerivedOperator(LinearOperator):
    """An operator that has or lacks each property together with the operator that it is derived from."""

    _matrix_dimensions = {"operator": 0}  # noqa: RUF012

    def _derive(self, operator: LinearOperator, relation: str, name: str, *arguments: bool | None) -> None:
        """Initializes the base class with the properties of `operator`, which is the `relation` of this one."""
        self._operator = operator
        pairs = zip(hints.NAMES, arguments, strict=True)
        shared: dict[str, Any] = {hint: hints.shared_hint(operator, hint, value, relation) for hint, value in pairs}
        LinearOperator.__init__(self, operator.dtype, name=name, **shared)

    @property
    def operator(self) -> LinearOperator:
        """The operator that this one is derived from."""
        return self._operator

    def _cond(self) -> Any:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()


class LinearOperatorAdjoint(_DerivedOperator):
    """The conjugate transpose of an operator.

    Args:
        operator: the operator.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; by default the hints of `operator`.
        name: the name of the operator; by default the name of `operator` with the suffix `_adjoint`.

    Raises:
        ValueError: a hint contradicts a hint of `operator`.

    Example:
        >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> adjoint = tf.linalg.LinearOperatorAdjoint(operator)  # the same as operator.H
        >>> adjoint.to_dense().numpy().tolist()
        [[1.0, 3.0], [2.0, 4.0]]
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        name = name or operator.name + "_adjoint"
        self._derive(operator, "adjoint", name, is_non_singular, is_self_adjoint, is_positive_definite, is_square)

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        return shape if shape.rank is None else shape[:-2] + shape[-2:][::-1]

    def _shape_tensor(self) -> Any:
        shape = self._operator.shape_tensor()
        return concat([shape[:-2], shape[-1:], shape[-2:-1]], 0)

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: TensorLike, adjoint: bool = False) -> Any:
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: TensorLike, adjoint: bool = False) -> Any:
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Any:
        return conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Any:
        return conj(self._operator.trace())

    def _to_dense(self) -> Any:
        return conjugate_transpose(self._operator.to_dense())

    def _diag_part(self) -> Any:
        return conj(self._operator.diag_part())

    def _eigvals(self) -> Any:
        return self._operator.eigvals()  # real, as only self-adjoint operators compute them

    def _linop_adjoint(self) -> LinearOperator:
        return self._operator


class LinearOperatorInversion(_DerivedOperator):
    """The inverse of an operator, which multiplies by solving and solves by multiplying.

    Args:
        operator: the operator.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; by default the hints of `operator`.
        name: the name of the operator; by default the name of `operator` with the suffix `_inv`.

    Raises:
        ValueError: a hint contradicts a hint of `operator`, or `operator` is singular or not square.

    Example:
        >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]])
        >>> inverse = tf.linalg.LinearOperatorInversion(operator)  # the same as operator.inverse()
        >>> inverse.to_dense().numpy().tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        for hint, value in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            own = getattr(operator, hint)
            if own is False or value is False:
                raise ValueError(
                    f"Argument `{hint}` or argument `operator` must have supplied hint `{hint}` equal to `True` or "
                    f"`None`. Found `operator.{hint}`: {own}, `{hint}`: {value}."
                )
        name = name or operator.name + "_inv"
        self._derive(operator, "inverse", name, is_non_singular, is_self_adjoint, is_positive_definite, is_square)

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Any:
        return self._operator.shape_tensor()

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: TensorLike, adjoint: bool = False) -> Any:
        return self._operator.solvevec(x, adjoint=adjoint)

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: TensorLike, adjoint: bool = False) -> Any:
        return self._operator.matvec(rhs, adjoint=adjoint)

    def _determinant(self) -> Any:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -self._operator.log_abs_determinant()

    def _eigvals(self) -> Any:
        return 1.0 / self._operator.eigvals()

    def _linop_inverse(self) -> LinearOperator:
        return self._operator


dispatch.general.update({"adjoint": LinearOperatorAdjoint, "inverse": LinearOperatorInversion})
