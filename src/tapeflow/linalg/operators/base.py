"""`LinearOperator`: the base of all operators, with algorithms that work for any of them."""

from __future__ import annotations

import inspect
from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import constant, fill
from tapeflow.array.identities import group
from tapeflow.array.properties import is_tensor, size
from tapeflow.array.ranges import eye
from tapeflow.array.reshapes import expand_dims, squeeze
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor, without_variables
from tapeflow.core.values.tensor import ReadAsTensor, Tensor
from tapeflow.debugging.values import assert_equal, assert_less, assert_positive
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.diagonals import diag, diag_part
from tapeflow.linalg.factorizations import cholesky
from tapeflow.linalg.operators import dispatch, hints
from tapeflow.linalg.operators.operator_slices import batch_slice, slice_parameters
from tapeflow.linalg.operators.shapes import add_to_diagonal, check_same_dimension, solve_dense
from tapeflow.linalg.operators.spec import spec_of
from tapeflow.linalg.solvers import cholesky_solve, det, slogdet
from tapeflow.linalg.spectral import eigvalsh, svd
from tapeflow.math.casting import cast
from tapeflow.math.complex import real
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import exp, log
from tapeflow.math.reduction import reduce_max, reduce_min, reduce_sum
from tapeflow.tracking.module import Module


class LinearOperator(Module, CompositeTensor, metaclass=ABCMeta):
    """A matrix, or a batch of matrices, that multiplies and solves without having to be written out.

    An operator of shape `[..., m, n]` stands for matrices of m rows and n columns. Its leading dimensions broadcast
    against the leading dimensions of its arguments. A subclass defines `_shape` and `_matmul`, and for graphs with
    unknown dimensions also `_shape_tensor`. It overrides the methods (`_solve`, `_determinant`, `_to_dense`, ...) that
    it can compute better than from the dense matrix.

    The hints promise properties, and choose algorithms by them; nothing checks them but the `assert_...` methods.

    Args:
        dtype: the dtype of the elements.
        graph_parents: tensors that the operator depends on; only the property of that name uses them.
        is_non_singular: the matrices are invertible; None if that is unknown.
        is_self_adjoint: the matrices equal their conjugate transposes.
        is_positive_definite: `x^H A x` has a positive real part for all x but zero.
        is_square: there are as many rows as columns; by default as the shape says.
        name: the name of the operator; the name of the class by default.
        parameters: a dict of the subclass's arguments; by default the arguments of its constructor's call.

    Raises:
        ValueError: the hints contradict each other.

    Example:
        >>> class Twice(tf.linalg.LinearOperator):
        ...     def _shape(self):
        ...         return tf.TensorShape([2, 2])
        ...     def _matmul(self, x, adjoint=False, adjoint_arg=False):
        ...         return 2.0 * (tf.linalg.adjoint(x) if adjoint_arg else x)
        >>> twice = Twice(tf.float32)
        >>> twice.matvec([1.0, 3.0]).numpy().tolist(), float(twice.determinant())
        ([2.0, 6.0], 4.0)
    """

    # The other attributes hold the constructor's arguments, too.
    _TF_MODULE_IGNORED_PROPERTIES = Module._TF_MODULE_IGNORED_PROPERTIES | {"_arguments", "_parameters"}

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> LinearOperator:
        self = super().__new__(cls)
        self._arguments = args, kwargs
        return self

    def __init__(
        self,
        dtype: DTypeLike,
        graph_parents: Sequence[Any] | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        is_non_singular = hints.implied_hint(
            bool(is_positive_definite), is_non_singular, "A positive definite matrix is always non-singular."
        )
        is_square = hints.implied_hint(bool(is_non_singular), is_square, "A non-singular matrix is always square.")
        is_square = hints.implied_hint(bool(is_self_adjoint), is_square, "A self-adjoint matrix is always square.")
        self._set_graph_parents(graph_parents)
        self._dtype: Any = as_dtype(dtype).base_dtype if dtype else dtype
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_hint = is_square
        self._parameters = parameters
        self._name = name or type(self).__name__

    def _set_graph_parents(self, graph_parents: Sequence[Any] | None) -> None:
        """Sets the tensors of the property `graph_parents`."""
        for i, parent in enumerate(graph_parents or ()):
            if not is_tensor(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._graph_parents = list(graph_parents or ())

    # ---- properties --------------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        if self._parameters is None:
            args, kwargs = self._arguments
            bound = inspect.signature(type(self)).bind(*args, **kwargs)
            bound.apply_defaults()
            self._parameters = dict(bound.arguments)
        return dict(self._parameters)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements, of arguments and of results."""
        return self._dtype

    @property
    def name(self) -> str:
        """The operator's name."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """A name scope of the operator's name."""
        return name_scope(self._name)

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors in `graph_parents`."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """True if the matrices are invertible, False if not, None if that is unknown."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """True if the matrices equal their conjugate transposes, False if not, None if that is unknown."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """True if the matrices are positive definite, False if not, None if that is unknown."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """True if the matrices have as many rows as columns, False if not, None if that is unknown.

        Raises:
            ValueError: they have as many, and the hint says that they have not.
        """
        hint = self._is_square_hint
        if hint:
            return True
        rows, columns = self.range_dimension, self.domain_dimension
        square = None if rows is None or columns is None else rows == columns
        if hint is False and square:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return square if hint is None else hint

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    # ---- shapes ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def _shape(self) -> TensorShape:
        """Returns the static shape."""

    def _shape_tensor(self) -> Any:
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The static shape, `[..., m, n]`."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape without the last two dimensions."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of dimensions, 2 for a single matrix."""
        return self.shape.rank

    @property
    def domain_dimension(self) -> int | None:
        """The number of columns."""
        return self.shape[-1]

    @property
    def range_dimension(self) -> int | None:
        """The number of rows."""
        return self.shape[-2]

    def shape_tensor(self, name: str | None = "shape_tensor") -> Tensor:
        """Returns the shape as an int32 tensor, for graphs whose shapes are not static."""
        return self._as_tensor(self.shape) if self.shape.is_fully_defined() else self._shape_tensor()

    def batch_shape_tensor(self, name: str | None = "batch_shape_tensor") -> Tensor:
        """Returns the shape without the last two dimensions, as an int32 tensor."""
        batch = self.batch_shape
        return self._as_tensor(batch) if batch.is_fully_defined() else self._batch_shape_tensor()

    def _batch_shape_tensor(self, shape: Tensor | None = None) -> Any:
        return (self.shape_tensor() if shape is None else shape)[:-2]

    def tensor_rank_tensor(self, name: str | None = "tensor_rank_tensor") -> Tensor:
        """Returns the number of dimensions, as an int32 tensor."""
        rank = self.tensor_rank
        return self._tensor_rank_tensor() if rank is None else constant(rank)

    def _tensor_rank_tensor(self, shape: Tensor | None = None) -> Any:
        return size(self.shape_tensor() if shape is None else shape)

    def domain_dimension_tensor(self, name: str | None = "domain_dimension_tensor") -> Tensor:
        """Returns the number of columns, as an int32 tensor."""
        columns = self.domain_dimension
        return self._domain_dimension_tensor() if columns is None else constant(columns)

    def _domain_dimension_tensor(self, shape: Tensor | None = None) -> Any:
        return (self.shape_tensor() if shape is None else shape)[-1]

    def range_dimension_tensor(self, name: str | None = "range_dimension_tensor") -> Tensor:
        """Returns the number of rows, as an int32 tensor."""
        rows = self.range_dimension
        return self._range_dimension_tensor() if rows is None else constant(rows)

    def _range_dimension_tensor(self, shape: Tensor | None = None) -> Any:
        return (self.shape_tensor() if shape is None else shape)[-2]

    @staticmethod
    def _as_tensor(shape: TensorShape) -> Any:
        return constant(shape.as_list(), int32)

    def _filled(self, value: float) -> Any:
        """Returns a tensor of the batch's shape with one value everywhere."""
        batch = self.batch_shape
        shape = batch if batch.is_fully_defined() else self.batch_shape_tensor()
        return fill(shape, cast(value, self.dtype))

    # ---- products ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """Computes the product with a tensor that has passed the checks of `matmul`."""

    def matmul(
        self,
        x: TensorLike | LinearOperator,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str | None = "matmul",
    ) -> Any:
        """Computes the product `A @ x`, also written so.

        Args:
            x: a tensor of shape `[..., n, k]` and the operator's dtype, or an operator.
            adjoint: multiplies by the adjoint of this operator.
            adjoint_arg: multiplies by the adjoint of `x`.

        Returns:
            A tensor of shape `[..., m, k]` and the operator's dtype; for an operator an operator, of the simplest class
            for the two.

        Raises:
            TypeError: `x` is of another dtype.
            ValueError: the dimensions do not fit.
            IndexError: `x` has less than two.
        """
        if isinstance(x, LinearOperator):
            return self._linop_matmul(*self._matching(x, adjoint, adjoint_arg, "x"))
        x = self._argument(x, -2 if adjoint else -1, -1 if adjoint_arg else -2)
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other: LinearOperator | TensorLike) -> Any:
        return self.matmul(other)

    def __rmatmul__(self, other: LinearOperator | TensorLike) -> Any:
        return self._matmul_of(other, self)

    def _matmul_of(self, a: LinearOperator | TensorLike, b: LinearOperator | TensorLike, *flags: bool) -> Any:
        """Computes `tf.matmul(a, b)` with this operator as `a` or `b`."""
        return dispatch.matmul(self, a, b, *flags)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str | None = "matvec") -> Any:
        """Computes the product with vectors.

        Args:
            x: a tensor of shape `[..., n]` and the operator's dtype.
            adjoint: multiplies by the adjoint of this operator.

        Returns:
            A tensor of shape `[..., m]` and the operator's dtype.

        Raises:
            TypeError: `x` is of another dtype.
            ValueError: the dimensions do not fit.
        """
        return self._matvec(self._argument(x, -2 if adjoint else -1, -1), adjoint=adjoint)

    def _matvec(self, x: TensorLike, adjoint: bool = False) -> Any:
        return squeeze(self.matmul(expand_dims(x, -1), adjoint=adjoint), -1)

    def _argument(self, x: TensorLike, own: int, its: int) -> Any:
        """Returns an argument as a tensor, whose dimension `its` must equal the operator's dimension `own`."""
        tensor = self._of_dtype(x)
        shape = tensor.shape
        if shape.rank is not None and shape.rank < -its:
            raise IndexError(f"Expected an argument of rank {-its} at least, and got one of shape {shape}.")
        check_same_dimension(self.shape[own], shape[its])
        return tensor

    def _of_dtype(self, x: TensorLike) -> Any:
        """Returns an argument as a tensor, which must have the operator's dtype."""
        tensor = x if isinstance(x, Tensor) else convert(x)
        self._check_input_dtype(tensor)
        return tensor

    def _check_input_dtype(self, arg: Tensor) -> None:
        if arg.dtype is not self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}. Found: {arg.dtype} in tensor {arg}")

    def _matching(
        self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, argument: str
    ) -> tuple[LinearOperator, LinearOperator]:
        """Applies the flags to this operator and another, whose dimensions must fit then."""
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        columns, rows = left.domain_dimension, right.range_dimension
        if columns is not None and rows is not None and columns != rows:
            raise ValueError(
                f"Operators are incompatible. Expected `{argument}` to have dimension {columns} but got {rows}."
            )
        return left, right

    def _linop_matmul(self, left_operator: LinearOperator, right_operator: LinearOperator) -> LinearOperator:
        return dispatch.product(left_operator, right_operator)

    # ---- equations ---------------------------------------------------------------------------------------------------

    def solve(
        self,
        rhs: TensorLike | LinearOperator,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str | None = "solve",
    ) -> Any:
        """Solves `A @ x = rhs` exactly.

        Args:
            rhs: a tensor of shape `[..., n, k]` and the operator's dtype, or an operator.
            adjoint: solves with the adjoint of this operator.
            adjoint_arg: takes the adjoint of `rhs`.

        Returns:
            A tensor of shape `[..., n, k]` and the operator's dtype; for an operator an operator.

        Raises:
            NotImplementedError: the operator is singular or not square, by its hints or its shape.
            TypeError: `rhs` is of another dtype.
            ValueError: the dimensions do not fit.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            return self._linop_solve(*self._matching(rhs, adjoint, adjoint_arg, "rhs"))
        rhs = self._argument(rhs, -1 if adjoint else -2, -1 if adjoint_arg else -2)
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _check_solvable(self) -> None:
        for hint, text in ((self.is_non_singular, "be singular"), (self.is_square, "not be square")):
            if hint is False:
                raise NotImplementedError(f"Exact solve not implemented for an operator that is expected to {text}.")

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _dense_solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """Solves with the dense matrix."""
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return cholesky_solve(cholesky(self.to_dense()), rhs)
        return solve_dense(self.to_dense(), rhs, adjoint)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str | None = "solve") -> Any:
        """Solves `A @ x = rhs` for vectors.

        Args:
            rhs: a tensor of shape `[..., n]` and the operator's dtype.
            adjoint: solves with the adjoint of this operator.

        Returns:
            A tensor of shape `[..., n]` and the operator's dtype.

        Raises:
            NotImplementedError: the operator is singular or not square, by its hints or its shape.
            TypeError: `rhs` is of another dtype.
            ValueError: the dimensions do not fit.
        """
        return self._solvevec(self._argument(rhs, -1 if adjoint else -2, -1), adjoint=adjoint)

    def _solvevec(self, rhs: TensorLike, adjoint: bool = False) -> Any:
        return squeeze(self.solve(expand_dims(rhs, -1), adjoint=adjoint), -1)

    def _linop_solve(self, left_operator: LinearOperator, right_operator: LinearOperator) -> LinearOperator:
        return dispatch.solution(left_operator, right_operator)

    # ---- other operators ---------------------------------------------------------------------------------------------

    def adjoint(self, name: str | None = "adjoint") -> LinearOperator:
        """Returns the conjugate transpose, as an operator; also `A.H`."""
        return self if self.is_self_adjoint is True else self._linop_adjoint()

    def _linop_adjoint(self) -> LinearOperator:
        return dispatch.general["adjoint"](self, **hints.of(self))

    H = property(adjoint)

    def inverse(self, name: str | None = "inverse") -> LinearOperator:
        """Returns the inverse, as an operator.

        Raises:
            ValueError: the operator is singular or not square, by its hints or its shape.
        """
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._linop_inverse()

    def _linop_inverse(self) -> LinearOperator:
        return dispatch.general["inverse"](self, **hints.of(self))

    def cholesky(self, name: str | None = "cholesky") -> LinearOperator:
        """Computes the lower triangular factor L of Cholesky's factorization `A = L @ L.H`, as an operator.

        Raises:
            ValueError: the operator's hints do not say that it is self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._linop_cholesky()

    def _linop_cholesky(self) -> LinearOperator:
        factor = cholesky(self.to_dense())
        lower_triangular = dispatch.general["lower triangular"]
        return lower_triangular(factor, is_non_singular=True, is_self_adjoint=False, is_square=True)

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def _check_has_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")

    def determinant(self, name: str | None = "det") -> Tensor:
        """Computes the determinants, of shape `[...]`.

        Raises:
            NotImplementedError: the operator is not square.
        """
        self._check_has_determinant()
        return self._determinant()

    def _determinant(self) -> Any:
        if self._can_use_cholesky():
            return exp(self.log_abs_determinant())
        return det(self.to_dense())

    def log_abs_determinant(self, name: str | None = "log_abs_det") -> Tensor:
        """Computes the logarithms of the absolute values of the determinants, of shape `[...]`.

        Raises:
            NotImplementedError: the operator is not square.
        """
        self._check_has_determinant()
        return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            diagonal = diag_part(cholesky(self.to_dense()))
            return 2 * reduce_sum(log(diagonal), -1)
        return slogdet(self.to_dense()).log_abs_determinant

    def trace(self, name: str | None = "trace") -> Tensor:
        """Computes the sums of the main diagonals, of shape `[...]`."""
        return self._trace()

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), -1)

    def eigvals(self, name: str | None = "eigvals") -> Tensor:
        """Computes the eigenvalues, of shape `[..., n]`.

        Raises:
            NotImplementedError: the operator's hints do not say that it is self-adjoint.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense())

    def cond(self, name: str | None = "cond") -> Tensor:
        """Computes the condition numbers, of shape `[...]`: the largest singular value by the smallest."""
        return self._cond()

    def _cond(self) -> Any:
        values: Any = abs_op(self._eigvals()) if self.is_self_adjoint else svd(self.to_dense(), compute_uv=False)
        return reduce_max(values, -1) / reduce_min(values, -1)

    # ---- elements ----------------------------------------------------------------------------------------------------

    def to_dense(self, name: str | None = "to_dense") -> Tensor:
        """Returns the matrices, of shape `[..., m, n]`."""
        return self._to_dense()

    def _to_dense(self) -> Any:
        batch, columns = self.batch_shape, self.domain_dimension
        batch_shape = batch if batch.is_fully_defined() else self.batch_shape_tensor()
        rows = self.domain_dimension_tensor() if columns is None else columns
        return self.matmul(eye(rows, batch_shape=batch_shape, dtype=self.dtype))

    def diag_part(self, name: str | None = "diag_part") -> Tensor:
        """Returns the main diagonals, of shape `[..., min(m, n)]`."""
        return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def add_to_tensor(self, x: TensorLike, name: str | None = "add_to_tensor") -> Tensor:
        """Adds the matrices to a tensor.

        Args:
            x: a tensor of shape `[..., m, n]` and the operator's dtype.

        Returns:
            A tensor of that shape and dtype.

        Raises:
            TypeError: `x` is of another dtype.
        """
        return self._add_to_tensor(self._of_dtype(x))

    def _add_to_tensor(self, x: TensorLike) -> Any:
        return self.to_dense() + x

    # ---- assertions --------------------------------------------------------------------------------------------------

    def assert_non_singular(self, name: str | None = "assert_non_singular") -> Any:
        """Asserts that the matrices are invertible, and well enough conditioned for the dtype.

        Raises:
            InvalidArgumentError: they are not.
        """
        return _join_checks(self._assert_non_singular())

    def _assert_non_singular(self) -> Any:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        cond = reduce_max(values, -1) / reduce_min(values, -1)
        limit = cast(self._max_condition_number_to_be_non_singular(), cond.dtype)
        return assert_less(cond, limit, message="Singular matrix up to precision epsilon.")

    def _max_condition_number_to_be_non_singular(self) -> Any:
        """Returns the least condition number of singular matrices, in the operator's real dtype."""
        dtype = self.dtype.real_dtype
        size = reduce_max([constant(100), self.range_dimension_tensor(), self.domain_dimension_tensor()])
        return 1.0 / (cast(size, dtype) * float(np.finfo(dtype.as_numpy_dtype).eps))

    def assert_positive_definite(self, name: str | None = "assert_positive_definite") -> Any:
        """Asserts that the matrices are positive definite.

        Raises:
            InvalidArgumentError: they are not.
            NotImplementedError: the hints do not say that the operator is self-adjoint, and there is no other test.
        """
        return _join_checks(self._assert_positive_definite())

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = real(diag_part(cholesky(self.to_dense())))
        return assert_positive(diagonal, message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str | None = "assert_self_adjoint") -> Any:
        """Asserts that the matrices equal their conjugate transposes.

        Raises:
            InvalidArgumentError: they do not.
        """
        return _join_checks(self._assert_self_adjoint())

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assert_equal(dense, conjugate_transpose(dense), message="Matrix was not equal to its adjoint.")

    # ---- as a composite value ----------------------------------------------------------------------------------------

    # The parameters that define the operator beside its hints, by the names that its spec uses, and for each the number
    # of its trailing dimensions that are no batch dimensions. None: the parameter has no batch.
    _matrix_dimensions: dict[str, int | None] = {}  # noqa: RUF012

    @property
    def _type_spec(self) -> Any:
        return spec_of(self)

    def _convert_variables_to_tensors(self) -> Any:
        spec = self._type_spec
        parts = nest.map_structure(
            lambda part: convert(part) if isinstance(part, ReadAsTensor) else without_variables(part),
            spec._to_components(self),
        )
        return spec._from_components(parts)

    def __getitem__(self, slices: Any) -> LinearOperator:
        """Slices the batch: `slices` index the leading dimensions, like the dimensions of a tensor."""
        return batch_slice(self, slices)

    def _sliced(self, entries: tuple[Any, ...], batch_shape: TensorShape) -> LinearOperator:
        """Returns the operator with its parameters sliced; see `slice_parameters`."""
        return slice_parameters(self, entries, batch_shape)

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Computes a function of `tf.linalg` for this operator in the place of a matrix; see `dispatch.apply`."""
        return dispatch.apply(function.op.name, self, args)


class DiagonalOperator(LinearOperator):
    """An operator with zeros everywhere but on its diagonal."""

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _to_dense(self) -> Any:
        return diag(self._diag_part())

    def _add_to_tensor(self, x: TensorLike) -> Any:
        return add_to_diagonal(x, self._diag_part())


class UnitaryOperator(LinearOperator):
    """An operator that keeps the lengths of vectors. Its inverse is its adjoint."""

    def _solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _log_abs_determinant(self) -> Any:
        return self._filled(0)

    def _cond(self) -> Any:
        return self._filled(1)

    def _assert_non_singular(self) -> Any:
        return None


def _join_checks(checks: Any) -> Any:
    """Returns an operation that runs all checks, which are operations, None, or lists of these; None if they ran."""
    if state.graph is None or state.graph.building_function:
        return None
    return group(*[check for check in nest.flatten(checks) if check is not None])
