"""Operators that hold a dense matrix: any, and a lower triangular one."""

from __future__ import annotations

from typing import Any

from tapeflow.array.identities import identity
from tapeflow.array.properties import shape_op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.diagonals import band_part, diag_part
from tapeflow.linalg.operators import dispatch, hints
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.shapes import assert_nonzero, check_rank, parameter
from tapeflow.linalg.products import matmul
from tapeflow.linalg.solvers import triangular_solve
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import log
from tapeflow.math.reduction import reduce_prod, reduce_sum

_MATRIX_DTYPES = ("float16", "float32", "float64", "complex64", "complex128")


class LinearOperatorFullMatrix(LinearOperator):
    """Matrices without any structure that would help.

    Args:
        matrix: a tensor of shape `[..., m, n]`, of a float or complex dtype.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
            Matrices that are self-adjoint and positive definite solve by Cholesky's factorization.
        name: the name of the operator.

    Raises:
        TypeError: `matrix` is of another dtype.
        ValueError: it has less than two dimensions, or the hints contradict each other.

    Example:
        >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> operator.matvec([1.0, 1.0]).numpy().tolist()
        [3.0, 7.0]
        >>> np.allclose(operator.solvevec([3.0, 7.0]), [1.0, 1.0])
        True
    """

    _matrix_dimensions = {"matrix": 2}  # noqa: RUF012

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorFullMatrix",
    ) -> None:
        self._matrix = parameter(matrix)
        if self._matrix.dtype.name not in _MATRIX_DTYPES:
            raise TypeError(f"Argument `matrix` must have dtype in {_MATRIX_DTYPES}. Received: {self._matrix.dtype}.")
        check_rank(self._matrix, 2, "`matrix`")
        super().__init__(
            self._matrix.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def matrix(self) -> Tensor | Variable:
        """The matrices, of shape `[..., m, n]`."""
        return self._matrix

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return shape_op(self._matrix)

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return identity(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices, which solve by substitution.

    Args:
        tril: a tensor of shape `[..., n, n]`; the elements above the diagonal are not read.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: the name of the operator.

    Raises:
        ValueError: `tril` has less than two dimensions, or the hints contradict each other.

    Example:
        >>> operator = tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [3.0, 4.0]])
        >>> operator.to_dense().numpy().tolist(), float(operator.determinant())
        ([[2.0, 0.0], [3.0, 4.0]], 8.0)
        >>> operator.solvevec([2.0, 7.0]).numpy().tolist()
        [1.0, 1.0]
    """

    _matrix_dimensions = {"tril": 2}  # noqa: RUF012

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorLowerTriangular",
    ) -> None:
        is_square = hints.implied_hint(
            True, is_square, "Only square lower triangular operators supported at this time."
        )
        self._tril = parameter(tril)
        check_rank(self._tril, 2, "tril")
        super().__init__(
            self._tril.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def tril(self) -> Tensor | Variable:
        """The matrices, of shape `[..., n, n]`, with any elements above the diagonal."""
        return self._tril

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return shape_op(self._tril)

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        return triangular_solve(self._tril, rhs, lower=True, adjoint=adjoint)

    def _determinant(self) -> Any:
        return reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(log(abs_op(self._diag_part())), -1)

    def _to_dense(self) -> Any:
        return self._get_tril()

    def _diag_part(self) -> Any:
        return self._get_diag()

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _get_tril(self) -> Any:
        """Returns the matrices with zeros above the diagonal."""
        return band_part(self._tril, -1, 0)

    def _get_diag(self) -> Any:
        """Returns the diagonals."""
        return diag_part(self._tril)

    def _assert_non_singular(self) -> Any:
        return assert_nonzero(self._diag_part(), "Singular operator:  Diagonal contained zero values.")


dispatch.general["lower triangular"] = LinearOperatorLowerTriangular
