"""Operators defined by their size and at most one number: the identity, multiples of it, and zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import convert_to_tensor, fill, ones, zeros
from tapeflow.array.identities import identity
from tapeflow.array.properties import get_static_value, shape_op
from tapeflow.array.ranges import eye
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.shapes import assert_rank
from tapeflow.debugging.values import assert_equal, assert_non_negative, assert_positive
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import DiagonalOperator, LinearOperator, UnitaryOperator
from tapeflow.linalg.operators.operator_slices import slice_batch
from tapeflow.linalg.operators.shapes import assert_real, broadcast_dynamic, broadcast_static, parameter
from tapeflow.math.casting import cast
from tapeflow.math.complex import real
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import log, sqrt
from tapeflow.math.reduction import reduce_min


def _size_tensor(value: TensorLike, name: str, rank: int) -> Any:
    """Returns a parameter for dimensions as an integer tensor of a rank.

    Raises:
        TypeError: it is a variable, or not of integers.
        ValueError: it is of another rank, or negative.
    """
    if isinstance(value, Variable):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}.")
    empty = isinstance(value, (list, tuple)) and not value
    tensor: Any = convert_to_tensor(value, int32 if empty else None)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {tensor}")
    static = get_static_value(tensor)
    if static is not None:
        if np.ndim(static) != rank:
            raise ValueError(f"Argument {name} must be a {rank}-D Tensor.  Found: {static}")
        if np.any(np.asarray(static) < 0):
            raise ValueError(f"Argument {name} must be non-negative.  Found: {static}")
    return tensor


def _assert_size(tensor: Tensor, name: str, rank: int) -> None:
    """Asserts, when a graph runs, the conditions that `_size_tensor` checks of static values."""
    assert_rank(tensor, rank, message=f"Argument {name} must be a {rank}-D Tensor.")
    assert_non_negative(tensor, message=f"Argument {name} must be non-negative.")


def _static_dimension(tensor: Tensor) -> int | None:
    static = get_static_value(tensor)
    return None if static is None else int(static)


class _UniformOperator(DiagonalOperator):
    """An operator with one number everywhere on its diagonal."""

    def _min_matrix_dim(self) -> int | None:
        """Returns the static length of the diagonal."""
        rows, columns = self.range_dimension, self.domain_dimension
        return None if rows is None or columns is None else min(rows, columns)

    def _min_matrix_dim_tensor(self) -> Any:
        """Returns the length of the diagonal."""
        return reduce_min(self.shape_tensor()[-2:])

    def _ones_diag(self) -> Any:
        return self._diagonal(1.0)

    def _zeros_diag(self) -> Any:
        return self._diagonal(0.0)

    def _diagonal(self, value: float) -> Any:
        """Returns the main diagonal, with one value everywhere."""
        return fill(concat([self.batch_shape_tensor(), [self._min_matrix_dim_tensor()]], 0), cast(value, self.dtype))


class _SizedOperator(_UniformOperator):
    """An operator that its numbers of rows and columns, and the shape of its batch, define."""

    _num_rows: Any
    _num_columns: Any
    _batch_shape_arg: Any

    def _set_size(
        self, num_rows: TensorLike, num_columns: TensorLike | None, batch_shape: Any, assert_proper_shapes: bool
    ) -> None:
        self._num_rows = _size_tensor(num_rows, "num_rows", 0)
        self._num_columns = self._num_rows if num_columns is None else _size_tensor(num_columns, "num_columns", 0)
        self._batch_shape_arg = None if batch_shape is None else _size_tensor(batch_shape, "batch_shape", 1)
        self._assert_proper_shapes = assert_proper_shapes
        if assert_proper_shapes:
            _assert_size(self._num_rows, "num_rows", 0)
            _assert_size(self._num_columns, "num_columns", 0)
            if batch_shape is not None:
                _assert_size(self._batch_shape_arg, "batch_shape", 1)
        self._static_shape = self._static_batch() + [
            _static_dimension(self._num_rows),
            _static_dimension(self._num_columns),
        ]

    def _static_batch(self) -> TensorShape:
        if self._batch_shape_arg is None:
            return TensorShape([])
        static = get_static_value(self._batch_shape_arg)
        return TensorShape([None] * self._batch_shape_arg.shape[0] if static is None else [int(d) for d in static])

    def _shape(self) -> TensorShape:
        return self._static_shape

    def _shape_tensor(self) -> Any:
        matrix = cast(stack([self._num_rows, self._num_columns]), int32)
        if self._batch_shape_arg is None:
            return matrix
        return concat([cast(self._batch_shape_arg, int32), matrix], 0)

    def _checked(self, x: Tensor, adjoint: bool, adjoint_arg: bool) -> Any:
        """Returns the argument of a product with the flag applied; checks its shape if the operator is to do so."""
        x = conjugate_transpose(x) if adjoint_arg else x
        if self._assert_proper_shapes:
            expected = self.range_dimension_tensor() if adjoint else self.domain_dimension_tensor()
            assert_equal(shape_op(x)[-2], expected, message="Dimensions are not compatible.")
        return x

    def _possibly_broadcast_batch_shape(self, x: Tensor, inner: int = 2) -> Any:
        """Broadcasts `x` to the operator's batch."""
        if self._batch_shape_arg is None:
            return x
        ones = [1] * inner
        batch = self.batch_shape + ones
        if batch.is_fully_defined() and x.shape.is_fully_defined():
            shape: Any = broadcast_static(batch, x.shape)
            return x if shape == x.shape else broadcast_to(x, shape)
        return broadcast_to(x, broadcast_dynamic(concat([self.batch_shape_tensor(), ones], 0), shape_op(x)))

    def _sliced(self, entries: tuple[Any, ...], batch_shape: TensorShape) -> LinearOperator:
        if self._batch_shape_arg is None:
            return self
        batch = slice_batch(zeros(self.batch_shape), 0, entries, batch_shape).shape
        return type(self)(**{**self.parameters, "batch_shape": batch.as_list()})


class LinearOperatorIdentity(UnitaryOperator, _SizedOperator):
    """Identity matrices.

    Args:
        num_rows: an integer.
        batch_shape: the leading dimensions; by default there are none.
        dtype: the dtype of the elements, float32 by default.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; all True by default.
        assert_proper_shapes: also checks, when a graph runs, sizes that are not static.
        name: the name of the operator.

    Raises:
        TypeError: the sizes are not integers.
        ValueError: they are negative or of the wrong rank, or a hint can't be true.

    Example:
        >>> identity = tf.linalg.LinearOperatorIdentity(2)
        >>> identity.to_dense().numpy().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        >>> diag = tf.linalg.LinearOperatorDiag([1.0, 2.0])
        >>> identity @ diag is diag
        True
    """

    _matrix_dimensions = {  # noqa: RUF012
        "num_rows": None,
        "batch_shape": None,
        "dtype": None,
        "assert_proper_shapes": None,
    }

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: ShapeLike = None,
        dtype: DTypeLike = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorIdentity",
    ) -> None:
        for hint, text in (
            (is_self_adjoint, "self adjoint"),
            (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"),
            (is_square, "square"),
        ):
            if not hint:
                raise ValueError(f"An identity operator is always {text}.")
        super().__init__(
            as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
        self._set_size(num_rows, None, batch_shape, assert_proper_shapes)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._possibly_broadcast_batch_shape(self._checked(x, adjoint, adjoint_arg))

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._possibly_broadcast_batch_shape(x, 1)

    def _determinant(self) -> Any:
        return self._filled(1)

    def _trace(self) -> Any:
        return self._filled(1) * cast(self.domain_dimension_tensor(), self.dtype)

    def _diag_part(self) -> Any:
        return self._ones_diag()

    def _assert_positive_definite(self) -> Any:
        return None

    def _assert_self_adjoint(self) -> Any:
        return None

    def _to_dense(self) -> Any:
        return eye(self.domain_dimension_tensor(), batch_shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _linop_inverse(self) -> LinearOperatorIdentity:
        return self

    def _linop_cholesky(self) -> LinearOperatorIdentity:
        return self


class LinearOperatorScaledIdentity(_UniformOperator):
    """Multiples of identity matrices.

    Args:
        num_rows: an integer.
        multiplier: the numbers on the diagonals, of shape `[...]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. Real
            multiples are always self-adjoint.
        assert_proper_shapes: also checks, when a graph runs, sizes that are not static.
        name: the name of the operator.

    Raises:
        TypeError: `num_rows` is no integer.
        ValueError: it is negative or no scalar, or a hint can't be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0)
        >>> operator.to_dense().numpy().tolist(), float(operator.determinant())
        ([[3.0, 0.0], [0.0, 3.0]], 9.0)
    """

    _matrix_dimensions = {"num_rows": None, "multiplier": 0, "assert_proper_shapes": None}  # noqa: RUF012

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorScaledIdentity",
    ) -> None:
        self._multiplier = parameter(multiplier)
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = hints.implied_hint(
                True, is_self_adjoint, "A real diagonal operator is always self adjoint."
            )
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        super().__init__(
            self._multiplier.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
        self._num_rows = _size_tensor(num_rows, "num_rows", 0)
        self._static_rows = _static_dimension(self._num_rows)
        self._assert_proper_shapes = assert_proper_shapes
        if assert_proper_shapes:
            _assert_size(self._num_rows, "num_rows", 0)

    @property
    def multiplier(self) -> Tensor | Variable:
        """The numbers on the diagonals, of shape `[...]`."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self._multiplier.shape + [self._static_rows, self._static_rows]

    def _shape_tensor(self) -> Any:
        rows = cast(self._num_rows, int32)
        return concat([shape_op(self._multiplier), stack([rows, rows])], 0)

    def _scale(self, inner: int, adjoint: bool) -> Any:
        """Returns the multiplier, or its conjugate, with `inner` more dimensions."""
        scale = conj(identity(self._multiplier)) if adjoint else self._multiplier
        return reshape(scale, concat([shape_op(scale), [1] * inner], 0))

    def _make_multiplier_matrix(self, conjugate: bool = False) -> Any:
        return self._scale(2, conjugate)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (conjugate_transpose(x) if adjoint_arg else x) * self._make_multiplier_matrix(adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return x * self._scale(1, adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (conjugate_transpose(rhs) if adjoint_arg else rhs) / self._make_multiplier_matrix(adjoint)

    def _rows(self, dtype: DType) -> Any:
        return cast(self.domain_dimension_tensor(), dtype)

    def _determinant(self) -> Any:
        return self._multiplier ** self._rows(self.dtype)

    def _log_abs_determinant(self) -> Any:
        size = abs_op(self._multiplier)
        return self._rows(size.dtype) * log(size)

    def _trace(self) -> Any:
        return self._multiplier * self._rows(self.dtype)

    def _diag_part(self) -> Any:
        return self._scale(1, False) * ones(self.shape_tensor()[:-1], self.dtype)

    def _cond(self) -> Any:
        size = abs_op(self._multiplier)
        return cast(size / size, self.dtype)  # 1, and NaN for zero

    def _assert_non_singular(self) -> Any:
        return assert_positive(abs_op(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self._multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return assert_real(self._multiplier, "LinearOperator was not self-adjoint")

    def _linop_adjoint(self) -> LinearOperatorScaledIdentity:
        return LinearOperatorScaledIdentity(self._num_rows, conj(identity(self._multiplier)), **hints.of(self))

    def _linop_inverse(self) -> LinearOperatorScaledIdentity:
        return LinearOperatorScaledIdentity(self._num_rows, 1.0 / self._multiplier, **hints.of(self))

    def _linop_cholesky(self) -> LinearOperatorScaledIdentity:
        return LinearOperatorScaledIdentity(
            self._num_rows,
            sqrt(self._multiplier),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
        )


def product_with_zeros(left: LinearOperator, right: LinearOperator, zeros: LinearOperator) -> LinearOperator:
    """Returns the product with square zeros, on either side.

    Raises:
        ValueError: `left` or `right` is not square.
    """
    if not left.is_square or not right.is_square:
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time."
        )
    return zeros


class LinearOperatorZeros(_SizedOperator):
    """Matrices of zeros.

    Args:
        num_rows: an integer.
        num_columns: an integer, `num_rows` by default.
        batch_shape: the leading dimensions; by default there are none.
        dtype: the dtype of the elements, float32 by default.
        is_non_singular: False.
        is_self_adjoint: True if the matrices are square, and False otherwise; True by default.
        is_positive_definite: False.
        is_square: False if the matrices are not square.
        assert_proper_shapes: also checks, when a graph runs, sizes that are not static.
        name: the name of the operator.

    Raises:
        TypeError: the sizes are not integers.
        ValueError: they are negative or of the wrong rank, or a hint can't be true.

    Example:
        >>> zeros = tf.linalg.LinearOperatorZeros(2)
        >>> zeros.matvec([1.0, 2.0]).numpy().tolist()
        [0.0, 0.0]
    """

    _matrix_dimensions = {  # noqa: RUF012
        "num_rows": None, "num_columns": None, "batch_shape": None, "dtype": None, "assert_proper_shapes": None,
    }  # fmt: skip

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike | None = None,
        batch_shape: ShapeLike = None,
        dtype: DTypeLike = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str | None = "LinearOperatorZeros",
    ) -> None:
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        super().__init__(
            as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
        self._set_size(num_rows, num_columns, batch_shape, assert_proper_shapes)
        rows, columns = self.shape[-2:]
        if is_square and rows is not None and columns is not None and rows != columns:
            raise ValueError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({rows}) != num_columns({columns})"
            )

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = self._checked(x, adjoint, adjoint_arg)
        rows = self.domain_dimension_tensor() if adjoint else self.range_dimension_tensor()
        shape = shape_op(x)
        return self._possibly_broadcast_batch_shape(zeros(concat([shape[:-2], [rows], shape[-1:]], 0), self.dtype))

    def _linop_matmul(self, left_operator: LinearOperator, right_operator: LinearOperator) -> LinearOperator:
        return product_with_zeros(left_operator, right_operator, left_operator)

    def _determinant(self) -> Any:
        return self._filled(0)

    def _log_abs_determinant(self) -> Any:
        return self._filled(-np.inf)

    def _trace(self) -> Any:
        return self._filled(0)

    def _diag_part(self) -> Any:
        return self._zeros_diag()

    def _to_dense(self) -> Any:
        return zeros(self.shape_tensor(), self.dtype)

    def _add_to_tensor(self, x: Any) -> Any:
        return self._possibly_broadcast_batch_shape(x)

    def _assert_non_singular(self) -> Any:
        raise InvalidArgumentError.of("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError.of("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return None
