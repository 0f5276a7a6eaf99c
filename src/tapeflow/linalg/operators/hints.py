"""Properties of composed operators, derived from the properties of their parts.

A property is True, False, or None if it is unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapeflow.linalg.operators.base import LinearOperator

NAMES = ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")


def shared_hint(operator: LinearOperator, hint: str, value: bool | None, relation: str) -> bool | None:
    """Returns a property that an operator and one derived from it (its adjoint, its inverse) have or lack together.

    Args:
        operator: the operator.
        hint: the property's name.
        value: the hint for the derived operator.
        relation: the name of the derived operator's relation to `operator`, such as "adjoint".

    Raises:
        ValueError: the two hints contradict each other.
    """
    own = getattr(operator, hint)
    if own is not None and value is not None and bool(own) != bool(value):
        text = hint.removeprefix("is_").replace("_", "-")
        raise ValueError(f"An operator is {text} if and only if its {relation} is {text}.")
    return value if own is None else own


def implied_hint(follows: bool, hint: bool | None, message: str) -> bool | None:
    """Returns a hint, or True if the property follows from others.

    Raises:
        ValueError: the hint is False although the property follows.
    """
    if not follows:
        return hint
    if hint is False:
        raise ValueError(message)
    return True


def product_is_square(left: LinearOperator, right: LinearOperator) -> bool | None:
    """Returns whether the product of two operators is square."""
    if left.is_square and right.is_square:
        return True
    if left.is_square is False and right.is_square is False:
        rows, columns = left.range_dimension, right.domain_dimension
        return rows == columns if rows is not None and columns is not None else None
    return None if left.is_square is None or right.is_square is None else False


def product_is_non_singular(left: LinearOperator, right: LinearOperator) -> bool | None:
    """Returns whether the product of two square operators is invertible."""
    if left.is_non_singular is False or right.is_non_singular is False:
        return False
    return left.is_non_singular and right.is_non_singular


def of_product(left: LinearOperator, right: LinearOperator) -> dict[str, Any]:
    """Returns the properties of the product of two operators."""
    is_square = product_is_square(left, right)
    if is_square is False:
        return dict.fromkeys(NAMES, False)
    return {"is_non_singular": product_is_non_singular(left, right) if is_square else None, "is_square": is_square}


def of_commuting_product(left: LinearOperator, right: LinearOperator) -> dict[str, Any]:
    """Returns the properties of the product of two square operators that commute."""
    both = left.is_self_adjoint, right.is_self_adjoint
    definite = all(both) and left.is_positive_definite and right.is_positive_definite
    return {
        "is_non_singular": product_is_non_singular(left, right),
        "is_self_adjoint": True if all(both) else False if True in both and False in both else None,
        "is_positive_definite": True if definite else None,
        "is_square": True,
    }


def of(operator: LinearOperator) -> dict[str, Any]:
    """Returns the properties of an operator, for another that shares them all."""
    return {name: getattr(operator, name) for name in NAMES}
