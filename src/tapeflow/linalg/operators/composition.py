"""Products of operators: one after another, and Kronecker's."""

from __future__ import annotations

import functools
import math
import operator as python
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.debugging.types import assert_proper_iterable
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.diagonals import matrix_transpose
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.adjoint_and_inverse import LinearOperatorAdjoint
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.dense import LinearOperatorLowerTriangular
from tapeflow.linalg.operators.shapes import broadcast_dynamic, broadcast_static, check_same_dimension, dimensions
from tapeflow.math.casting import cast
from tapeflow.math.elementwise import sign

if TYPE_CHECKING:
    from tapeflow.core.types.dtypes import DType


def checked_operators(operators: Any) -> list[LinearOperator]:
    """Returns operators as a list.

    Raises:
        TypeError: they are of different dtypes, or not iterable.
        ValueError: there are none.
    """
    assert_proper_iterable(operators)
    operators = list(operators)
    if not operators:
        raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
    if any(o.dtype is not operators[0].dtype for o in operators):
        dtypes = "   ".join(str((o.name, o.dtype)) for o in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {dtypes}")
    return operators


def inherit_hints(operators: Sequence[LinearOperator], combination: str, *arguments: bool | None) -> dict[str, Any]:
    """Returns the hints of a product or sum, which has the properties that all operators have.

    Args:
        operators: the operators.
        combination: the kind of product or sum, for messages.
        *arguments: its own hints, in the order of `hints.NAMES`.

    Raises:
        ValueError: a hint is False although all operators have the property.
    """
    return {
        hint: hints.implied_hint(
            all(getattr(o, hint) for o in operators),
            value,
            f"The {combination} of {(text := hint.removeprefix('is_').replace('_', '-'))} operators is always {text}.",
        )
        for hint, value in zip(hints.NAMES, arguments, strict=False)
    }


def sum_of_logs(parts: Sequence[Any], dtype: DType) -> Any:
    """Sums logarithms of determinants; of complex matrices, some operators compute them as real numbers."""
    return functools.reduce(python.add, [cast(part, dtype) for part in parts])


def _adjoint_pair(x: LinearOperator, y: LinearOperator) -> bool:
    """Returns True if two operators are certainly the adjoints of each other."""
    if x is y and x.is_self_adjoint is not None:
        return x.is_self_adjoint
    return any(isinstance(a, LinearOperatorAdjoint) and a.operator is b for a, b in ((x, y), (y, x)))


def _is_symmetric_product(operators: Sequence[LinearOperator]) -> bool:
    """Returns True if the operators are `A, B, ..., B.H, A.H`. Their product is then `M @ M.H`."""
    count = len(operators)
    return count % 2 == 0 and all(_adjoint_pair(operators[i], operators[-1 - i]) for i in range(count // 2))


def if_parts_are_square(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method for parts that are all square. For others the method of `LinearOperator` computes it."""
    general = getattr(LinearOperator, method.__name__)

    @functools.wraps(method)
    def choose(self: ComposedOperator, *args: Any, **kwargs: Any) -> Any:
        return (method if self._all_square() else general)(self, *args, **kwargs)

    return choose


class ComposedOperator(LinearOperator):
    """An operator that is composed of others."""

    _matrix_dimensions = {"operators": 0}  # noqa: RUF012
    _operators: Any

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators that this one is composed of, in order."""
        return self._operators

    def _all_square(self) -> bool:
        """Returns True if determinants and solutions can be computed from the parts."""
        return all(o.is_square for o in self._operators)


class LinearOperatorComposition(ComposedOperator):
    """The product of operators, which are applied one after another, the last one first.

    Args:
        operators: a list of operators, each with as many columns as the next one has rows.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. Some
            follow from the hints of the operators.
        name: by default the operators' names with `_o_` between them.

    Raises:
        TypeError: the operators are of different dtypes.
        ValueError: there are none, their shapes do not fit, or a hint can't be true.

    Example:
        >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> b = tf.linalg.LinearOperatorDiag([1.0, 10.0])
        >>> product = tf.linalg.LinearOperatorComposition([a, b])  # the same as a @ b
        >>> product.matvec([1.0, 1.0]).numpy().tolist()
        [21.0, 43.0]
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = operators = checked_operators(operators)
        for left, right in zip(operators, operators[1:], strict=False):
            check_same_dimension(left.domain_dimension, right.range_dimension)
        is_non_singular = inherit_hints(operators, "composition", is_non_singular)["is_non_singular"]
        symmetric = _is_symmetric_product(operators)
        alone = len(operators) == 1 and bool(operators[0].is_self_adjoint)
        super().__init__(
            operators[0].dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=hints.implied_hint(
                symmetric or alone,
                is_self_adjoint,
                "The composition was determined to be self-adjoint but user provided incorrect `False` hint.",
            ),
            is_positive_definite=hints.implied_hint(
                symmetric and bool(is_non_singular),
                is_positive_definite,
                "The composition was determined to be non-singular and have the form A @ A.H, hence it must be "
                "positive-definite. The user provided an incorrect `False` hint.",
            ),
            is_square=hints.implied_hint(
                symmetric,
                is_square,
                "The composition was determined have the form A @ A.H, hence it must be square. The user provided an "
                "incorrect `False` hint.",
            ),
            name=name or "_o_".join(o.name for o in operators),
        )

    def _shape(self) -> TensorShape:
        batch = broadcast_static(*[o.batch_shape for o in self._operators])
        return batch + [self._operators[0].range_dimension, self._operators[-1].domain_dimension]

    def _shape_tensor(self) -> Any:
        batch = broadcast_dynamic(*[o.batch_shape_tensor() for o in self._operators])
        rows, columns = self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor()
        return concat([batch, stack([rows, columns])], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        for operator in self._operators if adjoint else self._operators[::-1]:
            x = operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return x

    @if_parts_are_square
    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        for operator in self._operators[::-1] if adjoint else self._operators:
            rhs = operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return rhs

    def _to_dense(self) -> Any:
        dense = self._operators[-1].to_dense()
        for operator in self._operators[-2::-1]:
            dense = operator.matmul(dense)
        return dense

    @if_parts_are_square
    def _determinant(self) -> Any:
        return functools.reduce(python.mul, [o.determinant() for o in self._operators])

    @if_parts_are_square
    def _log_abs_determinant(self) -> Any:
        return sum_of_logs([o.log_abs_determinant() for o in self._operators], self.dtype)

    @if_parts_are_square
    def _assert_non_singular(self) -> Any:
        return [operator.assert_non_singular() for operator in self._operators]

    def _linop_cholesky(self) -> LinearOperator:
        left = self._operators[0]
        if not (
            len(self._operators) == 2
            and _is_symmetric_product(self._operators)
            and isinstance(left, LinearOperatorLowerTriangular)
        ):
            return super()._linop_cholesky()
        if left.is_positive_definite:
            return left
        # Up to the signs of its diagonal, it is the factor.
        signs = expand_dims(sign(left.diag_part()), -2)
        return LinearOperatorLowerTriangular(
            left.tril / signs, is_non_singular=left.is_non_singular, is_self_adjoint=left.is_self_adjoint
        )


class LinearOperatorKronecker(ComposedOperator):
    """The Kronecker product of operators: block (i, j) is `a[i, j]` times the product of the others.

    Args:
        operators: a list of operators.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints; see `tf.linalg.LinearOperator`. Some
            follow from the hints of the operators.
        name: by default the operators' names with `_x_` between them.

    Raises:
        TypeError: the operators are of different dtypes.
        ValueError: there are none, or a hint can't be true.

    Example:
        >>> a = tf.linalg.LinearOperatorDiag([1.0, 10.0])
        >>> b = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> tf.linalg.LinearOperatorKronecker([a, b]).matvec([1.0, 1.0, 1.0, 1.0]).numpy().tolist()
        [3.0, 7.0, 30.0, 70.0]
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = operators = checked_operators(operators)
        properties = inherit_hints(
            operators, "Kronecker product", is_non_singular, is_self_adjoint, is_positive_definite
        )
        super().__init__(
            operators[0].dtype, is_square=is_square, name=name or "_x_".join(o.name for o in operators), **properties
        )

    def _shape(self) -> TensorShape:
        sides = zip(*[(o.range_dimension, o.domain_dimension) for o in self._operators], strict=True)
        matrix = [None if None in side else math.prod(side) for side in sides]
        return broadcast_static(*[o.batch_shape for o in self._operators]) + matrix

    def _shape_tensor(self) -> Any:
        batch = broadcast_dynamic(*[o.batch_shape_tensor() for o in self._operators])
        rows = functools.reduce(python.mul, [o.range_dimension_tensor() for o in self._operators])
        columns = functools.reduce(python.mul, [o.domain_dimension_tensor() for o in self._operators])
        return concat([batch, stack([rows, columns])], 0)

    def _apply(self, x: Tensor, method: str, adjoint: bool) -> Any:
        """Applies each factor along its own axis.

        The rows of `x` are an array with one axis per factor. Each step applies a factor to the first axis and moves
        the result to the end, and the next axis becomes the first. After all steps, the columns come first (C. F. Van
        Loan, "The ubiquitous Kronecker product", 2000).

        Args:
            x: of shape `[..., n, k]`.
            method: the factors' method: "matmul" or "solve".
            adjoint: applies the factors' adjoints.
        """
        columns = dimensions(x)[-1]
        for o in self._operators:
            static, dynamic = o.domain_dimension, o.domain_dimension_tensor
            if adjoint and method == "matmul":  # only then the two differ, as solvable matrices are square
                static, dynamic = o.range_dimension, o.range_dimension_tensor
            rows: Any = dynamic() if static is None else static
            shape = dimensions(x)
            rest = 0 if static == 0 else shape[-2] * shape[-1] // rows
            x = getattr(o, method)(reshape(x, [*shape[:-2], rows, rest]), adjoint=adjoint)
            x = matrix_transpose(x)
        own = self.domain_dimension if adjoint else self.range_dimension
        return matrix_transpose(reshape(x, [*dimensions(x)[:-2], columns, -1 if own is None else own]))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = conjugate_transpose(x) if adjoint_arg else x
        return self._apply(x, "matmul", adjoint)

    @if_parts_are_square
    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        return self._apply(rhs, "solve", adjoint)

    @if_parts_are_square
    def _determinant(self) -> Any:
        return functools.reduce(python.mul, [o.determinant() ** self._exponent(o) for o in self._operators])

    @if_parts_are_square
    def _log_abs_determinant(self) -> Any:
        parts = [(o.log_abs_determinant(), self._exponent(o)) for o in self._operators]
        return sum_of_logs([part * cast(count, part.dtype) for part, count in parts], self.dtype)

    def _exponent(self, operator: LinearOperator) -> Any:
        """Returns the exponent of a factor's determinant: the product of the sizes of the others."""
        return cast(self.domain_dimension_tensor() // operator.domain_dimension_tensor(), self.dtype)

    @if_parts_are_square
    def _trace(self) -> Any:
        return functools.reduce(python.mul, [o.trace() for o in self._operators])

    @if_parts_are_square
    def _diag_part(self) -> Any:
        return functools.reduce(_outer_product, [o.diag_part() for o in self._operators])

    def _eigvals(self) -> Any:
        return functools.reduce(_outer_product, [o.eigvals() for o in self._operators])

    def _to_dense(self) -> Any:
        product = self._operators[0].to_dense()
        for o in self._operators[1:]:
            dense = o.to_dense()
            product = product[..., :, None, :, None] * dense[..., None, :, None, :]
            *batch, a, b, c, d = dimensions(product)
            product = reshape(product, [*batch, a * b, c * d])
        return product

    def _check_factors(self) -> None:
        """Raises InvalidArgumentError if a factor is not square."""
        if not self._all_square():
            raise invalid("All Kronecker factors must be square for the product to be invertible.")

    def _assert_non_singular(self) -> Any:
        self._check_factors()
        return [operator.assert_non_singular() for operator in self._operators]

    def _assert_self_adjoint(self) -> Any:
        self._check_factors()
        return [operator.assert_self_adjoint() for operator in self._operators]

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([o.adjoint() for o in self._operators], **hints.of(self))

    @if_parts_are_square
    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([o.inverse() for o in self._operators], **hints.of(self))

    def _linop_cholesky(self) -> LinearOperator:
        if not all(o._can_use_cholesky() for o in self._operators):
            return super()._linop_cholesky()
        return LinearOperatorKronecker([o.cholesky() for o in self._operators], is_non_singular=True, is_square=True)


def _outer_product(x: Tensor, y: Tensor) -> Any:
    """Multiplies each element of `x` by each element of `y`, and joins the products in one dimension."""
    product = expand_dims(x, -1) * expand_dims(y, -2)
    *batch, m, n = dimensions(product)
    return reshape(product, [*batch, m * n])
