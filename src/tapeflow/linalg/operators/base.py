"""`LinearOperator`: the base of all operators, with algorithms that work for any of them."""

from __future__ import annotations

import inspect
from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np

from tapeflow.array.creation import constant, fill
from tapeflow.array.grids import eye
from tapeflow.array.properties import is_tensor, size
from tapeflow.array.shaping import expand_dims, squeeze
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.dtypes import DType, as_dtype, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.debugging.values import assert_equal, assert_less, assert_positive
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.diagonals import diag_part
from tapeflow.linalg.factorizations import cholesky
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.shapes import check_same_dimension, solve_dense
from tapeflow.linalg.solvers import cholesky_solve, det, slogdet
from tapeflow.linalg.spectral import eigvalsh, svd
from tapeflow.math.casting import cast
from tapeflow.math.complex import real
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import exp, log
from tapeflow.math.reduction import reduce_max, reduce_min, reduce_sum
from tapeflow.module import Module


class LinearOperator(Module, CompositeTensor, metaclass=ABCMeta):
    """A matrix, or a batch of matrices, that multiplies and solves without having to be written out.

    An operator of shape `[..., m, n]` stands for matrices of m rows and n columns. Its leading dimensions broadcast
    against those of what it is applied to. A subclass gives `_shape` and `_matmul`, and overrides whatever else
    (`_solve`, `_determinant`, `_to_dense`, ...) it can do better than by writing the matrix out; in a graph with
    unknown dimensions also `_shape_tensor`.

    The hints promise properties, and choose algorithms by them; nothing checks them but the `assert_...` methods.

    Args:
        dtype: of the elements.
        graph_parents: tensors that the operator depends on; kept, and not used.
        is_non_singular: whether the matrices are invertible; None if that is not known.
        is_self_adjoint: whether they equal their conjugate transposes.
        is_positive_definite: whether `x^H A x` has a positive real part for all x but zero.
        is_square: whether there are as many rows as columns; by default as the shape says.
        name: by default that of the class.
        parameters: the arguments of the subclass; by default those that it was called with.

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

    # What the operator was called with is in the other attributes, too.
    _TF_MODULE_IGNORED_PROPERTIES = Module._TF_MODULE_IGNORED_PROPERTIES | {"_arguments", "_parameters"}

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> LinearOperator:
        self = super().__new__(cls)
        self._arguments = args, kwargs
        return self

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        is_non_singular = hints.implied(
            bool(is_positive_definite), is_non_singular, "A positive definite matrix is always non-singular."
        )
        is_square = hints.implied(bool(is_non_singular), is_square, "A non-singular matrix is always square.")
        is_square = hints.implied(bool(is_self_adjoint), is_square, "A self-adjoint matrix is always square.")
        for i, parent in enumerate(graph_parents or ()):
            if not is_tensor(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._graph_parents = list(graph_parents or ())
        self._dtype = as_dtype(dtype).base_dtype if dtype else dtype
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_hint = is_square
        self._parameters = parameters
        self._name = name or type(self).__name__

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that the operator was made with, by name."""
        if self._parameters is None:
            args, kwargs = self._arguments
            bound = inspect.signature(type(self)).bind(*args, **kwargs)
            bound.apply_defaults()
            self._parameters = dict(bound.arguments)
        return dict(self._parameters)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements, and of what the operator takes and gives."""
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
        """The tensors given as `graph_parents`."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether the matrices are invertible, or None."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether the matrices equal their conjugate transposes, or None."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether the matrices are positive definite, or None."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the matrices have as many rows as columns, or None.

        Raises:
            ValueError: the hint says that they have not, and they have.
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
        """The static shape."""

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

    def shape_tensor(self, name: str | None = "shape_tensor") -> Any:
        """The shape as an int32 tensor, for graphs whose shapes are not known when they are made."""
        return self._as_tensor(self.shape) if self.shape.is_fully_defined() else self._shape_tensor()

    def batch_shape_tensor(self, name: str | None = "batch_shape_tensor") -> Any:
        """The shape without the last two dimensions, as an int32 tensor."""
        batch = self.batch_shape
        return self._as_tensor(batch) if batch.is_fully_defined() else self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str | None = "tensor_rank_tensor") -> Any:
        """The number of dimensions, as an int32 tensor."""
        rank = self.tensor_rank
        return size(self.shape_tensor()) if rank is None else constant(rank)

    def domain_dimension_tensor(self, name: str | None = "domain_dimension_tensor") -> Any:
        """The number of columns, as an int32 tensor."""
        columns = self.domain_dimension
        return self.shape_tensor()[-1] if columns is None else constant(columns)

    def range_dimension_tensor(self, name: str | None = "range_dimension_tensor") -> Any:
        """The number of rows, as an int32 tensor."""
        rows = self.range_dimension
        return self.shape_tensor()[-2] if rows is None else constant(rows)

    @staticmethod
    def _as_tensor(shape: TensorShape) -> Any:
        return constant(shape.as_list(), int32)

    def _filled(self, value: float, dtype: DType | None = None) -> Any:
        """A tensor of the batch's shape with one value everywhere."""
        batch = self.batch_shape
        shape = batch if batch.is_fully_defined() else self.batch_shape_tensor()
        return fill(shape, cast(value, dtype or self.dtype))

    # ---- products ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """The product with a tensor that has passed the checks of `matmul`."""

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "matmul") -> Any:
        """The product `A @ x`, also written so.

        Args:
            x: a tensor of shape `[..., n, k]` and the operator's dtype, or an operator.
            adjoint: multiplies by the adjoint of this operator.
            adjoint_arg: multiplies by the adjoint of `x`.

        Returns:
            A tensor of shape `[..., m, k]`; for an operator an operator, of the simplest kind that is known for the
            two.

        Raises:
            TypeError: `x` is of another dtype.
            ValueError: the dimensions do not fit.
            IndexError: `x` has less than two.
        """
        if isinstance(x, LinearOperator):
            return self._linop_matmul(*self._matching(x, adjoint, adjoint_arg, "x"))
        x = self._argument(x, -2 if adjoint else -1, -1 if adjoint_arg else -2)
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._matmul_of(other, self)

    def _matmul_of(self, a: Any, b: Any, *flags: bool) -> Any:
        from tapeflow.linalg.operators.algebra import matmul

        return matmul(a, b, *flags)

    def matvec(self, x: Any, adjoint: bool = False, name: str | None = "matvec") -> Any:
        """The product with vectors.

        Args:
            x: a tensor of shape `[..., n]` and the operator's dtype.
            adjoint: multiplies by the adjoint of this operator.

        Returns:
            A tensor of shape `[..., m]`.

        Raises:
            TypeError: `x` is of another dtype.
            ValueError: the dimensions do not fit.
        """
        return self._matvec(self._argument(x, -2 if adjoint else -1, -1), adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return squeeze(self.matmul(expand_dims(x, -1), adjoint=adjoint), -1)

    def _argument(self, x: Any, own: int, its: int) -> Any:
        """The tensor of an argument whose dimension `its` meets the operator's dimension `own`."""
        x = self._of_dtype(x)
        shape = x.shape
        if shape.rank is not None and shape.rank < -its:
            raise IndexError(f"Expected an argument of rank {-its} at least, and got one of shape {shape}.")
        check_same_dimension(self.shape[own], shape[its])
        return x

    def _of_dtype(self, x: Any) -> Any:
        """The tensor of an argument, which must have the operator's dtype."""
        x = x if isinstance(x, Tensor) else convert(x)
        if x.dtype is not self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}. Found: {x.dtype} in tensor {x}")
        return x

    def _matching(
        self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, what: str
    ) -> tuple[LinearOperator, LinearOperator]:
        """This operator and another, as the flags want them, with dimensions that fit."""
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        wanted, found = left.domain_dimension, right.range_dimension
        if wanted is not None and found is not None and wanted != found:
            raise ValueError(
                f"Operators are incompatible. Expected `{what}` to have dimension {wanted} but got {found}."
            )
        return left, right

    def _linop_matmul(self, left_operator: LinearOperator, right_operator: LinearOperator) -> LinearOperator:
        from tapeflow.linalg.operators.algebra import product

        return product(left_operator, right_operator)

    # ---- equations ---------------------------------------------------------------------------------------------------

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "solve") -> Any:
        """Solves `A @ x = rhs` exactly.

        Args:
            rhs: a tensor of shape `[..., n, k]` and the operator's dtype, or an operator.
            adjoint: solves with the adjoint of this operator.
            adjoint_arg: takes the adjoint of `rhs`.

        Returns:
            A tensor of shape `[..., n, k]`; for an operator an operator.

        Raises:
            NotImplementedError: the operator is known to be singular, or not square.
            TypeError: `rhs` is of another dtype.
            ValueError: the dimensions do not fit.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            return self._linop_solve(*self._matching(rhs, adjoint, adjoint_arg, "rhs"))
        rhs = self._argument(rhs, -1 if adjoint else -2, -1 if adjoint_arg else -2)
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _check_solvable(self) -> None:
        for lacking, what in ((self.is_non_singular, "be singular"), (self.is_square, "not be square")):
            if lacking is False:
                raise NotImplementedError(f"Exact solve not implemented for an operator that is expected to {what}.")

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return cholesky_solve(cholesky(self.to_dense()), rhs)
        return solve_dense(self.to_dense(), rhs, adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str | None = "solve") -> Any:
        """Solves `A @ x = rhs` for vectors; see `solve`.

        Args:
            rhs: a tensor of shape `[..., n]` and the operator's dtype.
            adjoint: solves with the adjoint of this operator.

        Returns:
            A tensor of shape `[..., n]`.
        """
        return self._solvevec(self._argument(rhs, -1 if adjoint else -2, -1), adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return squeeze(self.solve(expand_dims(rhs, -1), adjoint=adjoint), -1)

    def _linop_solve(self, left_operator: LinearOperator, right_operator: LinearOperator) -> LinearOperator:
        from tapeflow.linalg.operators.algebra import solution

        return solution(left_operator, right_operator)

    # ---- other operators ---------------------------------------------------------------------------------------------

    def adjoint(self, name: str | None = "adjoint") -> LinearOperator:
        """The conjugate transpose, as an operator; also `A.H`."""
        return self if self.is_self_adjoint is True else self._linop_adjoint()

    def _linop_adjoint(self) -> LinearOperator:
        from tapeflow.linalg.operators.derived import LinearOperatorAdjoint

        return LinearOperatorAdjoint(self, **hints.of(self))

    H = property(adjoint)

    def inverse(self, name: str | None = "inverse") -> LinearOperator:
        """The inverse, as an operator.

        Raises:
            ValueError: the operator is known to be singular, or not square.
        """
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._linop_inverse()

    def _linop_inverse(self) -> LinearOperator:
        from tapeflow.linalg.operators.derived import LinearOperatorInversion

        return LinearOperatorInversion(self, **hints.of(self))

    def cholesky(self, name: str | None = "cholesky") -> LinearOperator:
        """The lower triangular factor L of Cholesky's factorization `A = L @ L.H`, as an operator.

        Raises:
            ValueError: the operator is not known to be self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._linop_cholesky()

    def _linop_cholesky(self) -> LinearOperator:
        from tapeflow.linalg.operators.dense import LinearOperatorLowerTriangular

        factor = cholesky(self.to_dense())
        return LinearOperatorLowerTriangular(factor, is_non_singular=True, is_self_adjoint=False, is_square=True)

    # ---- numbers -----------------------------------------------------------------------------------------------------

    def _check_has_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")

    def determinant(self, name: str | None = "det") -> Any:
        """The determinants, of shape `[...]`.

        Raises:
            NotImplementedError: the operator is not square.
        """
        self._check_has_determinant()
        return self._determinant()

    def _determinant(self) -> Any:
        if self._can_use_cholesky():
            return exp(self.log_abs_determinant())
        return det(self.to_dense())

    def log_abs_determinant(self, name: str | None = "log_abs_det") -> Any:
        """The logarithms of the absolute values of the determinants, of shape `[...]`.

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

    def trace(self, name: str | None = "trace") -> Any:
        """The sums of the main diagonals, of shape `[...]`."""
        return self._trace()

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), -1)

    def eigvals(self, name: str | None = "eigvals") -> Any:
        """The eigenvalues, of shape `[..., n]`.

        Raises:
            NotImplementedError: the operator is not known to be self-adjoint.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense())

    def cond(self, name: str | None = "cond") -> Any:
        """The condition numbers, of shape `[...]`: the largest singular value by the smallest."""
        return self._cond()

    def _cond(self) -> Any:
        values = abs_op(self._eigvals()) if self.is_self_adjoint else svd(self.to_dense(), compute_uv=False)
        return reduce_max(values, -1) / reduce_min(values, -1)

    # ---- elements ----------------------------------------------------------------------------------------------------

    def to_dense(self, name: str | None = "to_dense") -> Any:
        """The matrices, written out."""
        return self._to_dense()

    def _to_dense(self) -> Any:
        batch, columns = self.batch_shape, self.domain_dimension
        batch_shape = batch if batch.is_fully_defined() else self.batch_shape_tensor()
        rows = self.domain_dimension_tensor() if columns is None else columns
        return self.matmul(eye(rows, batch_shape=batch_shape, dtype=self.dtype))

    def diag_part(self, name: str | None = "diag_part") -> Any:
        """The main diagonals, of shape `[..., min(m, n)]`."""
        return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def add_to_tensor(self, x: Any, name: str | None = "add_to_tensor") -> Any:
        """The sum of the matrices and a tensor.

        Args:
            x: a tensor of shape `[..., m, n]` and the operator's dtype.

        Raises:
            TypeError: `x` is of another dtype.
        """
        return self._add_to_tensor(self._of_dtype(x))

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    # ---- assertions --------------------------------------------------------------------------------------------------

    def assert_non_singular(self, name: str | None = "assert_non_singular") -> None:
        """Asserts that the matrices are invertible, and well enough conditioned for the dtype.

        Raises:
            InvalidArgumentError: they are not.
        """
        return self._assert_non_singular()

    def _assert_non_singular(self) -> None:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        cond = reduce_max(values, -1) / reduce_min(values, -1)
        size = reduce_max([constant(100), self.range_dimension_tensor(), self.domain_dimension_tensor()])
        eps = float(np.finfo(self.dtype.as_numpy_dtype).eps)
        limit = 1.0 / (cast(size, cond.dtype) * eps)
        return assert_less(cond, limit, message="Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name: str | None = "assert_positive_definite") -> None:
        """Asserts that the matrices are positive definite.

        Raises:
            InvalidArgumentError: they are not.
            NotImplementedError: the operator is not known to be self-adjoint, and there is no other way to tell.
        """
        return self._assert_positive_definite()

    def _assert_positive_definite(self) -> None:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = real(diag_part(cholesky(self.to_dense())))
        return assert_positive(diagonal, message="Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str | None = "assert_self_adjoint") -> None:
        """Asserts that the matrices equal their conjugate transposes.

        Raises:
            InvalidArgumentError: they do not.
        """
        return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> None:
        dense = self.to_dense()
        return assert_equal(dense, conjugate_transpose(dense), message="Matrix was not equal to its adjoint.")

    # ---- as a composite value ----------------------------------------------------------------------------------------

    # The parameters that make up the operator beside its hints, as its spec knows them, and how many trailing
    # dimensions of each the matrix takes: what is left is the batch. None: the parameter has no batch.
    _matrix_dimensions: dict[str, int | None] = {}  # noqa: RUF012

    @property
    def _type_spec(self) -> Any:
        from tapeflow.linalg.operators.spec import spec_of

        return spec_of(self)

    def __getitem__(self, slices: Any) -> LinearOperator:
        """The operator of a part of the batch; `slices` index the leading dimensions as they do those of a tensor."""
        from tapeflow.linalg.operators.slicing import batch_slice

        return batch_slice(self, slices)

    def _sliced(self, entries: tuple[Any, ...], batch_shape: TensorShape) -> LinearOperator:
        """The operator with its parameters sliced; see `batch_slice`."""
        from tapeflow.linalg.operators.slicing import slice_parameters

        return slice_parameters(self, entries, batch_shape)

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """What the functions of `tf.linalg` give for an operator in the place of a matrix, or NotImplemented."""
        from tapeflow.linalg.operators.algebra import apply

        return apply(function.op.name, self, args)
