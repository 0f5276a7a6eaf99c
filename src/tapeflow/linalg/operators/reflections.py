"""Permutations and reflections."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import ones_like
from tapeflow.array.creation import range as range_op
from tapeflow.array.gathers import gather
from tapeflow.array.identities import identity
from tapeflow.array.properties import get_static_value
from tapeflow.array.reshapes import expand_dims, squeeze
from tapeflow.array.sorting import argsort
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.diagonals import diag_part, set_diag
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import UnitaryOperator
from tapeflow.linalg.operators.shapes import broadcast_batches, check_rank, parameter, square_dynamic, square_static
from tapeflow.linalg.products import matmul
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal
from tapeflow.math.normalize import l2_normalize


class LinearOperatorPermutation(UnitaryOperator):
    """Permutation matrices: element i of `A @ x` is element `perm[i]` of `x`.

    Args:
        perm: the integers from 0 to n - 1 in any order, of shape `[..., n]`.
        dtype: the dtype of the elements; float32 by default.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
        name: the name of the operator.

    Raises:
        TypeError: `perm` is not of integers.
        ValueError: it is no permutation, or a hint can't be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorPermutation([1, 2, 0])
        >>> operator.matvec([10.0, 20.0, 30.0]).numpy().tolist()
        [20.0, 30.0, 10.0]
    """

    _matrix_dimensions = {"perm": 1, "dtype": None}  # noqa: RUF012

    def __init__(
        self,
        perm: TensorLike,
        dtype: DTypeLike = float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorPermutation",
    ) -> None:
        self._perm = parameter(perm)
        check_rank(self._perm, 1, "`perm`")
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {self._perm}.")
        static: Any = get_static_value(self._perm)
        if static is not None and np.any(np.sort(static, -1) != np.arange(static.shape[-1])):
            raise ValueError(f"Argument `perm` must be a vector of unique integers from 0 to {static.shape[-1] - 1}.")
        hints.implied_hint(True, is_non_singular, "A Permutation operator is always non-singular.")
        is_square = hints.implied_hint(True, is_square, "A Permutation operator is always square.")
        super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def perm(self) -> Tensor | Variable:
        """The permutations, of shape `[..., n]`."""
        return self._perm

    def _shape(self) -> TensorShape:
        return square_static(self._perm)

    def _shape_tensor(self) -> Any:
        return square_dynamic(self._perm)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        perm = identity(self._perm)
        if adjoint and not self.is_self_adjoint:
            perm = argsort(perm)  # the inverse permutation
        x = conjugate_transpose(x) if adjoint_arg else x
        if perm.shape.rank == 1:
            return gather(x, perm, axis=-2)
        x, column = broadcast_batches([x, expand_dims(perm, -1)])
        return gather(x, squeeze(column, -1), axis=-2, batch_dims=x.shape.rank - 2)

    def _places(self) -> Any:
        """Returns the numbers from 0 to n - 1."""
        return range_op(cast(self.domain_dimension_tensor(), self._perm.dtype))

    def _to_dense(self) -> Any:
        return cast(equal(self._places(), expand_dims(self._perm, -1)), self.dtype)

    def _diag_part(self) -> Any:
        return cast(equal(self._places(), self._perm), self.dtype)


class LinearOperatorHouseholder(UnitaryOperator):
    """Reflections at the hyperplanes perpendicular to vectors: `1 - 2 v v^H / |v|^2`.

    Args:
        reflection_axis: the vectors v, of shape `[..., n]`; of any length but zero.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`.
            Reflections are self-adjoint, and not positive definite.
        name: the name of the operator.

    Raises:
        ValueError: `reflection_axis` is a scalar, or a hint can't be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorHouseholder([2.0, 0.0])
        >>> operator.matvec([3.0, 4.0]).numpy().tolist()
        [-3.0, 4.0]
        >>> float(operator.determinant())
        -1.0
    """

    _matrix_dimensions = {"reflection_axis": 1}  # noqa: RUF012

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorHouseholder",
    ) -> None:
        self._reflection_axis = parameter(reflection_axis)
        check_rank(self._reflection_axis, 1, "reflection_axis")
        is_self_adjoint = hints.implied_hint(True, is_self_adjoint, "A Householder operator is always self adjoint.")
        is_square = hints.implied_hint(True, is_square, "A Householder operator is always square.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        super().__init__(self._reflection_axis.dtype, None, is_non_singular, is_self_adjoint, False, is_square, name)

    @property
    def reflection_axis(self) -> Tensor | Variable:
        """The vectors that the reflections reverse, of shape `[..., n]`."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        return square_static(self._reflection_axis)

    def _shape_tensor(self) -> Any:
        return square_dynamic(self._reflection_axis)

    def _unit(self) -> Any:
        """Returns the vectors scaled to length 1."""
        return l2_normalize(self._reflection_axis, -1)

    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = conjugate_transpose(x) if adjoint_arg else x
        column = expand_dims(self._unit(), -1)
        return x - 2.0 * column * matmul(column, x, adjoint_a=True)

    def _determinant(self) -> Any:
        return self._filled(-1)

    def _trace(self) -> Any:
        return self._filled(1) * cast(self.domain_dimension_tensor() - 2, self.dtype)

    def _to_dense(self) -> Any:
        column = expand_dims(self._unit(), -1)
        matrix = -2.0 * matmul(column, column, adjoint_b=True)
        return set_diag(matrix, 1.0 + diag_part(matrix))

    def _diag_part(self) -> Any:
        unit = self._unit()
        return 1.0 - 2.0 * unit * conj(unit)

    def _eigvals(self) -> Any:
        axis = identity(self._reflection_axis)
        return concat([-ones_like(axis[..., :1]), ones_like(axis[..., 1:])], -1)

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError.of("Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return None

    def _linop_inverse(self) -> LinearOperatorHouseholder:
        return self
