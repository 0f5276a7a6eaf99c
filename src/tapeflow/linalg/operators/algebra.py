"""Products and solutions of two operators, the simplest for their types; and what `tf.linalg` gives for operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.shaping import expand_dims
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose
from tapeflow.linalg.operators import hints
from tapeflow.linalg.operators.base import LinearOperator
from tapeflow.linalg.operators.blocks import LinearOperatorBlockDiag
from tapeflow.linalg.operators.circulant import _CirculantOperator, to_complex
from tapeflow.linalg.operators.composition import LinearOperatorComposition
from tapeflow.linalg.operators.dense import LinearOperatorLowerTriangular
from tapeflow.linalg.operators.derived import LinearOperatorInversion
from tapeflow.linalg.operators.diagonal import LinearOperatorDiag
from tapeflow.linalg.operators.identity import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)

# A rule gives an operator, or None where it does not hold for these two after all.
Rule = Callable[[Any, Any], LinearOperator | None]

_products: dict[tuple[type, type], Rule] = {}
_solutions: dict[tuple[type, type], Rule] = {}


def product(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """`left @ right`."""
    found = _by_rule(_products, left, right)
    if found is None:
        found = LinearOperatorComposition([left, right], **hints.of_product(left, right))
    return found


def solution(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """`left^-1 @ right`."""
    found = _by_rule(_solutions, left, right)
    if found is None:
        found = LinearOperatorComposition([LinearOperatorInversion(left), right], **hints.of_product(left, right))
    return found


def _by_rule(
    rules: dict[tuple[type, type], Rule], left: LinearOperator, right: LinearOperator
) -> LinearOperator | None:
    """What the rule for the closest classes of two operators gives; None if there is none."""
    for a in type(left).__mro__:
        for b in type(right).__mro__:
            rule = rules.get((a, b))
            if rule is not None:
                return rule(left, right)
    return None


def _rule(rules: dict[tuple[type, type], Rule], *pairs: tuple[type, type]) -> Callable[[Rule], Rule]:
    """Declares the rule for pairs of classes and their subclasses."""

    def declare(rule: Rule) -> Rule:
        rules.update(dict.fromkeys(pairs, rule))
        return rule

    return declare


# ---- identity and zero -----------------------------------------------------------------------------------------------


@_rule(_products, (LinearOperatorIdentity, LinearOperator))
@_rule(_solutions, (LinearOperatorIdentity, LinearOperator))
def _right(left: Any, right: Any) -> LinearOperator:
    return right


@_rule(_products, (LinearOperator, LinearOperatorIdentity))
def _left(left: Any, right: Any) -> LinearOperator:
    return left


@_rule(_solutions, (LinearOperator, LinearOperatorIdentity))
def _inverse(left: Any, right: Any) -> LinearOperator:
    return left.inverse()


def product_with_zeros(left: LinearOperator, right: LinearOperator, zeros: LinearOperator) -> LinearOperator:
    """The product with square zeros, on either side.

    Raises:
        ValueError: one of the two is not square.
    """
    if not left.is_square or not right.is_square:
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time."
        )
    return zeros


@_rule(_products, (LinearOperator, LinearOperatorZeros))
def _(left: Any, right: Any) -> LinearOperator:
    return product_with_zeros(left, right, right)


@_rule(_solutions, (LinearOperatorInversion, LinearOperator))
def _(left: Any, right: Any) -> LinearOperator:
    return left.operator.matmul(right)


# ---- diagonals -------------------------------------------------------------------------------------------------------

_DIAGONALS = (LinearOperatorDiag, LinearOperatorScaledIdentity)


def _entries(operator: Any) -> Any:
    """The diagonal, as one number where it has only one."""
    if isinstance(operator, LinearOperatorDiag):
        return operator.diag
    return expand_dims(operator.multiplier, -1)


def _diagonal(left: Any, right: Any, entries: Any) -> LinearOperator:
    return LinearOperatorDiag(entries, **hints.of_commuting_product(left, right))


def _scaled(left: Any, right: Any, multiplier: Any) -> LinearOperator:
    rows = left.domain_dimension_tensor()
    return LinearOperatorScaledIdentity(rows, multiplier, **hints.of_commuting_product(left, right))


_MIXED = [(a, b) for a in _DIAGONALS for b in _DIAGONALS if LinearOperatorDiag in (a, b)]


@_rule(_products, *_MIXED)
def _(left: Any, right: Any) -> LinearOperator:
    return _diagonal(left, right, _entries(left) * _entries(right))


@_rule(_solutions, *_MIXED)
def _(left: Any, right: Any) -> LinearOperator:
    return _diagonal(left, right, _entries(right) / _entries(left))


@_rule(_products, (LinearOperatorScaledIdentity, LinearOperatorScaledIdentity))
def _(left: Any, right: Any) -> LinearOperator:
    return _scaled(left, right, left.multiplier * right.multiplier)


@_rule(_solutions, (LinearOperatorScaledIdentity, LinearOperatorScaledIdentity))
def _(left: Any, right: Any) -> LinearOperator:
    return _scaled(left, right, right.multiplier / left.multiplier)


def _triangular(left: Any, right: Any, tril: Any) -> LinearOperator:
    found = hints.of_commuting_product(left, right)
    return LinearOperatorLowerTriangular(tril, **{**found, "is_positive_definite": None})


@_rule(_products, (LinearOperatorDiag, LinearOperatorLowerTriangular))
def _(left: Any, right: Any) -> LinearOperator:
    return _triangular(left, right, expand_dims(left.diag, -1) * right.to_dense())


@_rule(_products, (LinearOperatorLowerTriangular, LinearOperatorDiag))
def _(left: Any, right: Any) -> LinearOperator:
    return _triangular(left, right, left.to_dense() * expand_dims(right.diag, -2))


@_rule(_solutions, (LinearOperatorDiag, LinearOperatorLowerTriangular))
def _(left: Any, right: Any) -> LinearOperator:
    return _triangular(left, right, right.to_dense() / expand_dims(left.diag, -1))


# ---- circulants and blocks -------------------------------------------------------------------------------------------


def _circulant(left: Any, right: Any, spectrum: Callable[[Any, Any], Any]) -> LinearOperator | None:
    if type(left) is not type(right) or left.block_shape != right.block_shape or left.dtype is not right.dtype:
        return None
    a, b = left.spectrum, right.spectrum
    if a.dtype is not b.dtype:
        a, b = to_complex(a), to_complex(b)
        if a.dtype is not b.dtype:
            return None
    return type(left)(spectrum(a, b), left.dtype, **hints.of_commuting_product(left, right))


@_rule(_products, (_CirculantOperator, _CirculantOperator))
def _(left: Any, right: Any) -> LinearOperator | None:
    return _circulant(left, right, lambda a, b: a * b)


@_rule(_solutions, (_CirculantOperator, _CirculantOperator))
def _(left: Any, right: Any) -> LinearOperator | None:
    return _circulant(left, right, lambda a, b: b / a)


def _blockwise(left: Any, right: Any, method: str) -> LinearOperator | None:
    pairs = list(zip(left.operators, right.operators, strict=False))
    if len(left.operators) != len(right.operators) or any(a.domain_dimension != b.range_dimension for a, b in pairs):
        return None
    square = all(a.is_square and b.is_square for a, b in pairs)
    return LinearOperatorBlockDiag(
        [getattr(a, method)(b) for a, b in pairs],
        is_non_singular=hints.product_is_non_singular(left, right) if square else None,
        is_square=True if square else None,
    )


@_rule(_products, (LinearOperatorBlockDiag, LinearOperatorBlockDiag))
def _(left: Any, right: Any) -> LinearOperator | None:
    return _blockwise(left, right, "matmul")


@_rule(_solutions, (LinearOperatorBlockDiag, LinearOperatorBlockDiag))
def _(left: Any, right: Any) -> LinearOperator | None:
    return _blockwise(left, right, "solve")


# ---- the functions of tf.linalg --------------------------------------------------------------------------------------


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    sparse: bool = False,
) -> Any:
    """What `tf.matmul` gives where one of the two is an operator.

    Raises:
        ValueError: a flag is set that operators do not know.
    """
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    return conjugate_transpose(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


def apply(name: str, operator: LinearOperator, args: tuple[Any, ...]) -> Any:
    """What the op `name` gives for arguments with an operator in the place of a matrix, or NotImplemented.

    Raises:
        ValueError: the operator is the right side of equations with a dense matrix.
    """
    if name == "MatrixSolve":
        if args[0] is not operator:
            raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
        return operator.solve(args[1], adjoint=args[2])
    if name == "MatrixInverse":
        return operator.inverse().adjoint() if args[1] else operator.inverse()
    methods = {
        "Cholesky": operator.cholesky,
        "MatrixDeterminant": operator.determinant,
        "MatrixDiagPartV3": operator.diag_part,
    }
    return methods[name]() if name in methods else NotImplemented
