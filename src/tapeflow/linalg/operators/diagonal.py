"""Diagonal operators."""

from __future__ import annotations

from typing import Any

from tapeflow.array.identities import identity
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.values import assert_positive
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.diagonals import diag
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import DiagonalOperator
from tapeflow.linalg.operators.shapes import (
    assert_nonzero,
    assert_real,
    check_rank,
    parameter,
    square_dynamic,
    square_static,
)
from tapeflow.math.casting import cast
from tapeflow.math.complex import real
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import log, sqrt
from tapeflow.math.reduction import reduce_max, reduce_min, reduce_prod, reduce_sum


class LinearOperatorDiag(DiagonalOperator):
    """Diagonal matrices, which hold their diagonals alone.

    Args:
        diag: the diagonals, of shape `[..., n]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. Real
            diagonals are always self-adjoint.
        name: the name of the operator.

    Raises:
        ValueError: `diag` is a scalar, or a hint can't be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorDiag([1.0, -2.0])
        >>> operator.matvec([3.0, 4.0]).numpy().tolist()
        [3.0, -8.0]
        >>> float(operator.determinant())
        -2.0
    """

    _matrix_dimensions = {"diag": 1}  # noqa: RUF012

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorDiag",
    ) -> None:
        self._diag = parameter(diag)
        check_rank(self._diag, 1, "diag")
        if not self._diag.dtype.is_complex:
            is_self_adjoint = hints.implied_hint(
                True, is_self_adjoint, "A real diagonal operator is always self adjoint."
            )
        is_square = hints.implied_hint(True, is_square, "Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def diag(self) -> Tensor | Variable:
        """The diagonals, of shape `[..., n]`."""
        return self._diag

    def _shape(self) -> TensorShape:
        return square_static(self._diag)

    def _shape_tensor(self) -> Any:
        return square_dynamic(self._diag)

    def _entries(self, adjoint: bool) -> Any:
        return conj(identity(self._diag)) if adjoint else self._diag

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = conjugate_transpose(x) if adjoint_arg else x
        return expand_dims(self._entries(adjoint), -1) * x

    def _matvec(self, x: TensorLike, adjoint: bool = False) -> Any:
        return self._entries(adjoint) * x

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        return rhs / expand_dims(self._entries(adjoint), -1)

    def _solvevec(self, rhs: TensorLike, adjoint: bool = False) -> Any:
        self._check_solvable()
        return rhs / self._entries(adjoint)

    def _determinant(self) -> Any:
        return reduce_prod(self._diag, -1)

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(abs_op(self._diag)), -1), self.dtype)

    def _to_dense(self) -> Any:
        return diag(self._diag)

    def _diag_part(self) -> Any:
        return identity(self._diag)

    def _cond(self) -> Any:
        size = abs_op(self._diag)
        return reduce_max(size, -1) / reduce_min(size, -1)

    def _assert_non_singular(self) -> Any:
        return assert_nonzero(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(
            real(self._diag),
            message="Diagonal operator had diagonal entries with non-positive real part, thus was not positive "
            "definite."
            if self.dtype.is_complex
            else "Real diagonal operator had non-positive diagonal entries, thus was not positive definite.",
        )

    def _assert_self_adjoint(self) -> Any:
        return assert_real(
            self._diag, "This diagonal operator contained non-zero imaginary values.  Thus it was not self-adjoint."
        )

    def _linop_adjoint(self) -> LinearOperatorDiag:
        return LinearOperatorDiag(conj(identity(self._diag)), **hints.of(self))

    def _linop_inverse(self) -> LinearOperatorDiag:
        return LinearOperatorDiag(1.0 / self._diag, **hints.of(self))

    def _linop_cholesky(self) -> LinearOperatorDiag:
        return LinearOperatorDiag(
            sqrt(self._diag), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True
        )
