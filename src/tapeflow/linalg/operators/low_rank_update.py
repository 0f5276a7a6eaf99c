"""An operator plus a matrix of low rank."""

from __future__ import annotations

from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.array.identities import identity
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.linalg.diagonals import diag_part
from tapeflow.linalg.factorizations import cholesky
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.composition import sum_of_logs
from tapeflow.linalg.operators.diagonal import LinearOperatorDiag
from tapeflow.linalg.operators.identity import LinearOperatorIdentity
from tapeflow.linalg.operators.shapes import (
    broadcast_dynamic,
    broadcast_static,
    check_same_dimension,
    dimensions,
    parameter,
    solve_dense,
)
from tapeflow.linalg.products import matmul
from tapeflow.linalg.solvers import cholesky_solve, det, slogdet
from tapeflow.math.elementwise import exp, log
from tapeflow.math.reduction import reduce_sum


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator plus a matrix of low rank: `L + U D V^H`.

    Where L is cheap to solve with, so is the sum: by the Sherman-Morrison-Woodbury formula, and its determinant by the
    matrix determinant lemma (G. H. Golub and C. F. Van Loan, "Matrix Computations", section 2.1).

    Args:
        base_operator: L, an operator of shape `[..., n, n]`.
        u: U, of shape `[..., n, r]`.
        diag_update: the diagonals of D, of shape `[..., r]`; ones by default.
        v: V, of shape `[..., n, r]`; U by default.
        is_diag_update_positive: all elements of `diag_update` are positive; None if that is unknown. With a base that
            is self-adjoint and positive definite, and no `v`, the sum is then, too.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. Some
            follow from the hints of `base_operator`.
        name: the name of the operator.

    Raises:
        ValueError: the shapes do not fit, or a hint can't be true.

    Example:
        >>> base = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, u=[[1.0], [2.0]])
        >>> operator.to_dense().numpy().tolist()
        [[2.0, 2.0], [2.0, 6.0]]
    """

    _matrix_dimensions = {  # noqa: RUF012
        "base_operator": 0, "u": 2, "diag_update": 1, "v": 2, "is_diag_update_positive": None,
    }  # fmt: skip

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorLowRankUpdate",
    ) -> None:
        base = base_operator
        if diag_update is None:
            is_diag_update_positive = hints.implied_hint(
                True,
                is_diag_update_positive,
                "Default diagonal is the identity, which is positive.  However, user set 'is_diag_update_positive' to "
                "False.",
            )
        is_self_adjoint = hints.implied_hint(
            bool(base.is_self_adjoint) and v is None and not base.dtype.is_complex,
            is_self_adjoint,
            "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a "
            "self-adjoint operator.",
        )
        self._use_cholesky = base._can_use_cholesky() and bool(is_diag_update_positive) and v is None
        if self._use_cholesky:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        self._base_operator = base
        self._u = parameter(u)
        self._v = self._u if v is None else parameter(v)
        self._diag_update = None if diag_update is None else parameter(diag_update)
        self._is_diag_update_positive = is_diag_update_positive
        super().__init__(base.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        self._check_shapes()
        self._diag_operator = self._make_diag_operator()

    def _check_shapes(self) -> None:
        update = broadcast_static(self._u.shape, self._v.shape)
        batch = broadcast_static(self._base_operator.batch_shape, update[:-2])
        check_same_dimension(self._base_operator.domain_dimension, update[-2])
        if self._diag_update is not None:
            check_same_dimension(update[-1], self._diag_update.shape[-1])
            broadcast_static(batch, self._diag_update.shape[:-1])

    def _make_diag_operator(self) -> LinearOperator:
        if self._diag_update is None:
            return LinearOperatorIdentity(dimensions(self._u)[-1], dtype=self.dtype)
        return LinearOperatorDiag(self._diag_update, is_positive_definite=self._is_diag_update_positive)

    @property
    def base_operator(self) -> LinearOperator:
        """L, the operator that is updated."""
        return self._base_operator

    @property
    def u(self) -> Tensor | Variable:
        """U, of shape `[..., n, r]`."""
        return self._u

    @property
    def v(self) -> Tensor | Variable:
        """V, of shape `[..., n, r]`."""
        return self._v

    @property
    def diag_update(self) -> Tensor | Variable | None:
        """The diagonals of D, of shape `[..., r]`, or None."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """D as an operator."""
        return self._diag_operator

    @property
    def is_diag_update_positive(self) -> bool | None:
        """True if all elements of `diag_update` are positive, False if not, None if that is unknown."""
        return self._is_diag_update_positive

    def _shape(self) -> TensorShape:
        batch = broadcast_static(
            self._base_operator.batch_shape, self._diag_operator.batch_shape, self._u.shape[:-2], self._v.shape[:-2]
        )
        return batch + self._base_operator.shape[-2:]

    def _shape_tensor(self) -> Any:
        base = self._base_operator.shape_tensor()
        batch = broadcast_dynamic(
            base[:-2], self._diag_operator.batch_shape_tensor(), shape_op(self._u)[:-2], shape_op(self._v)[:-2]
        )
        return concat([batch, base[-2:]], 0)

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        u, v = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self._diag_operator.matmul(matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg), adjoint=adjoint)
        return self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + matmul(u, inner)

    def _capacitance(self) -> Any:
        """Computes `D^-1 + V^H L^-1 U`, the small matrix in the formulas for updated inverses and determinants."""
        inner = matmul(self._v, self._base_operator.solve(self._u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self._base_operator.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        u, v = (self._v, self._u) if adjoint else (self._u, self._v)
        base = self._base_operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = matmul(v, base, adjoint_a=True)
        if self._use_cholesky:
            inner = cholesky_solve(cholesky(self._capacitance()), inner)
        else:
            inner = solve_dense(self._capacitance(), inner, adjoint)
        return base - self._base_operator.solve(matmul(u, inner), adjoint=adjoint)

    def _determinant(self) -> Any:
        if self.is_positive_definite:
            return exp(self.log_abs_determinant())
        return det(self._capacitance()) * self._diag_operator.determinant() * self._base_operator.determinant()

    def _log_abs_determinant(self) -> Any:
        capacitance = self._capacitance()
        if self._use_cholesky:
            diagonal = diag_part(cholesky(capacitance))
            log_det = 2 * reduce_sum(log(diagonal), -1)
        else:
            log_det = slogdet(capacitance).log_abs_determinant
        parts = [log_det, self._diag_operator.log_abs_determinant(), self._base_operator.log_abs_determinant()]
        return sum_of_logs(parts, self.dtype)

    def _diag_part(self) -> Any:
        product = self._u * conj(identity(self._v))
        if self._diag_update is not None:
            product = product * expand_dims(self._diag_update, -2)
        return reduce_sum(product, -1) + self._base_operator.diag_part()

    def _assert_self_adjoint(self) -> Any:
        if self._u is self._v and self._diag_update is None:
            return self._base_operator.assert_self_adjoint()
        return super()._assert_self_adjoint()
