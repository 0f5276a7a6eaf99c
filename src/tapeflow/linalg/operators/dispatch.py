"""Operations on pairs of operators, implemented by rules for pairs of classes.

The base class calls them. The rules stand in modules that build on the base class, and fill the tables when they load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.aliases import TensorLike
from tapeflow.linalg.diagonals import adjoint as conjugate_transpose

if TYPE_CHECKING:
    from tapeflow.linalg.operators.base import LinearOperator

# A rule returns an operator, or None if it does not apply to the two operators.
Rule = Callable[[Any, Any], Any]
Rules = dict[tuple[type, type], Rule]

products: Rules = {}
solutions: Rules = {}

# The classes of general results: "adjoint", "inverse" and "lower triangular".
general: dict[str, Callable[..., Any]] = {}


def rule(rules: Rules, *pairs: tuple[type, type]) -> Callable[[Rule], Rule]:
    """Declares the rule for pairs of classes and their subclasses."""

    def declare(rule: Rule) -> Rule:
        rules.update(dict.fromkeys(pairs, rule))
        return rule

    return declare


def product(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """Returns `left @ right`, as simple as the rules allow."""
    return _by_rule(products, left, right)


def solution(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """Returns `left^-1 @ right`, as simple as the rules allow."""
    return _by_rule(solutions, left, right)


def _by_rule(rules: Rules, left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """Returns the result of the rule for the closest classes of two operators that holds for them."""
    candidates = [rules.get((a, b)) for a in type(left).__mro__ for b in type(right).__mro__]
    return next(result for rule in candidates if rule is not None and (result := rule(left, right)) is not None)


def matmul(
    operator: LinearOperator,
    a: LinearOperator | TensorLike,
    b: LinearOperator | TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    sparse: bool = False,
) -> Any:
    """Computes `tf.matmul(a, b)` with `operator` as `a` or `b`.

    Raises:
        ValueError: a flag is set that operators do not support.
    """
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if a is operator:
        return operator.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    return conjugate_transpose(operator.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


def apply(name: str, operator: LinearOperator, args: tuple[Any, ...]) -> Any:
    """Computes the op `name` for arguments with an operator in the place of a matrix.

    Returns:
        A tensor or an operator; NotImplemented if operators do not have that op.

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
