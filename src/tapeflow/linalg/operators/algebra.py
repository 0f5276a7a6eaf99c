"""Rules for products and solutions of two operators, by their classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.array.reshapes import expand_dims
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.adjoint_and_inverse import LinearOperatorInversion
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.blocks import LinearOperatorBlockDiag
from tapeflow.linalg.operators.circulant import CirculantOperator, to_complex
from tapeflow.linalg.operators.composition import LinearOperatorComposition
from tapeflow.linalg.operators.dense import LinearOperatorLowerTriangular
from tapeflow.linalg.operators.diagonal import LinearOperatorDiag
from tapeflow.linalg.operators.dispatch import products, rule, solutions
from tapeflow.linalg.operators.identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
    product_with_zeros,
)

if TYPE_CHECKING:
    from tapeflow.core.values.tensor import Tensor

# ---- any two ---------------------------------------------------------------------------------------------------------


@rule(products, (LinearOperator, LinearOperator))
def _(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return LinearOperatorComposition([left, right], **hints.of_product(left, right))


@rule(solutions, (LinearOperator, LinearOperator))
def _(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return LinearOperatorComposition([LinearOperatorInversion(left), right], **hints.of_product(left, right))


# ---- identity and zero -----------------------------------------------------------------------------------------------


@rule(products, (LinearOperatorIdentity, LinearOperator))
@rule(solutions, (LinearOperatorIdentity, LinearOperator))
def _right_operand(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return right


@rule(products, (LinearOperator, LinearOperatorIdentity))
def _left_operand(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return left


@rule(solutions, (LinearOperator, LinearOperatorIdentity))
def _left_inverse(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return left.inverse()


@rule(products, (LinearOperator, LinearOperatorZeros))
def _(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    return product_with_zeros(left, right, right)


@rule(solutions, (LinearOperatorInversion, LinearOperator))
def _(left: LinearOperatorInversion, right: LinearOperator) -> LinearOperator:
    return left.operator.matmul(right)


# ---- diagonals -------------------------------------------------------------------------------------------------------

_DIAGONALS = (LinearOperatorDiag, LinearOperatorScaledIdentity)
_Combination = Callable[[Any, Any], Any]  # of the eigenvalues of two operators


def _diagonal_entries(operator: Any) -> Any:
    """Returns the diagonal, or the one number that it repeats."""
    if isinstance(operator, LinearOperatorDiag):
        return operator.diag
    return expand_dims(operator.multiplier, -1)


def _diagonal_product(combine: _Combination, left: LinearOperator, right: LinearOperator) -> LinearOperator:
    entries = combine(_diagonal_entries(left), _diagonal_entries(right))
    return LinearOperatorDiag(entries, **hints.of_commuting_product(left, right))


def _scaled_product(combine: _Combination, left: Any, right: Any) -> LinearOperator:
    multiplier = combine(left.multiplier, right.multiplier)
    rows = left.domain_dimension_tensor()
    return LinearOperatorScaledIdentity(rows, multiplier, **hints.of_commuting_product(left, right))


def _triangular_product(left: LinearOperator, right: LinearOperator, tril: Tensor) -> LinearOperator:
    properties = hints.of_commuting_product(left, right)
    return LinearOperatorLowerTriangular(tril, **{**properties, "is_positive_definite": None})


@rule(products, (LinearOperatorDiag, LinearOperatorLowerTriangular))
def _(left: LinearOperatorDiag, right: LinearOperatorLowerTriangular) -> LinearOperator:
    return _triangular_product(left, right, expand_dims(left.diag, -1) * right.to_dense())


@rule(products, (LinearOperatorLowerTriangular, LinearOperatorDiag))
def _(left: LinearOperatorLowerTriangular, right: LinearOperatorDiag) -> LinearOperator:
    return _triangular_product(left, right, left.to_dense() * expand_dims(right.diag, -2))


@rule(solutions, (LinearOperatorDiag, LinearOperatorLowerTriangular))
def _(left: LinearOperatorDiag, right: LinearOperatorLowerTriangular) -> LinearOperator:
    return _triangular_product(left, right, right.to_dense() / expand_dims(left.diag, -1))


# ---- circulants and blocks -------------------------------------------------------------------------------------------


def _circulant_product(combine: _Combination, left: Any, right: Any) -> LinearOperator | None:
    if type(left) is not type(right) or left.block_shape != right.block_shape or left.dtype is not right.dtype:
        return None
    a, b = left.spectrum, right.spectrum
    if a.dtype is not b.dtype:
        a, b = to_complex(a), to_complex(b)
        if a.dtype is not b.dtype:
            return None
    return type(left)(combine(a, b), left.dtype, **hints.of_commuting_product(left, right))


def _blockwise_product(method: str, left: Any, right: Any) -> LinearOperator | None:
    pairs = list(zip(left.operators, right.operators, strict=False))
    if len(left.operators) != len(right.operators) or any(a.domain_dimension != b.range_dimension for a, b in pairs):
        return None
    square = all(a.is_square and b.is_square for a, b in pairs)
    return LinearOperatorBlockDiag(
        [getattr(a, method)(b) for a, b in pairs],
        is_non_singular=hints.product_is_non_singular(left, right) if square else None,
        is_square=True if square else None,
    )


# ---- products and solutions of the same form -------------------------------------------------------------------------

_MIXED = [(a, b) for a in _DIAGONALS for b in _DIAGONALS if LinearOperatorDiag in (a, b)]

for _rules, _combine, _method in ((products, lambda a, b: a * b, "matmul"), (solutions, lambda a, b: b / a, "solve")):
    rule(_rules, *_MIXED)(functools.partial(_diagonal_product, _combine))
    rule(_rules, (LinearOperatorScaledIdentity,) * 2)(functools.partial(_scaled_product, _combine))
    rule(_rules, (CirculantOperator,) * 2)(functools.partial(_circulant_product, _combine))
    rule(_rules, (LinearOperatorBlockDiag,) * 2)(functools.partial(_blockwise_product, _method))
