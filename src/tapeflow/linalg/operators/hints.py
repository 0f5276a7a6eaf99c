"""What the properties of operators say about those of what is made of them.

A property is True, False, or None where nothing is known.
"""

from __future__ import annotations

from typing import Any


def shared(operator: Any, hint: str, given: bool | None, what: str) -> bool | None:
    """A property that an operator and what is made of it (its adjoint, its inverse) have or lack together.

    Raises:
        ValueError: what is given contradicts what the operator says.
    """
    own = getattr(operator, hint)
    if own is not None and given is not None and bool(own) != bool(given):
        text = hint.removeprefix("is_").replace("_", "-")
        raise ValueError(f"An operator is {text} if and only if its {what} is {text}.")
    return given if own is None else own


def implied(follows: bool, given: bool | None, message: str) -> bool | None:
    """What is given, or True where it follows from other properties.

    Raises:
        ValueError: False is given although it follows.
    """
    if not follows:
        return given
    if given is False:
        raise ValueError(message)
    return True


def product_is_square(left: Any, right: Any) -> bool | None:
    """Whether the product of two operators is square."""
    if left.is_square and right.is_square:
        return True
    if left.is_square is False and right.is_square is False:
        rows, columns = left.range_dimension, right.domain_dimension
        return rows == columns if rows is not None and columns is not None else None
    return None if left.is_square is None or right.is_square is None else False


def product_is_non_singular(left: Any, right: Any) -> bool | None:
    """Whether the product of two square operators is invertible."""
    if left.is_non_singular is False or right.is_non_singular is False:
        return False
    return left.is_non_singular and right.is_non_singular


def of_product(left: Any, right: Any) -> dict[str, Any]:
    """The properties of the product of two operators."""
    is_square = product_is_square(left, right)
    if is_square is False:
        return dict.fromkeys(("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"), False)
    return {"is_non_singular": product_is_non_singular(left, right) if is_square else None, "is_square": is_square}


def of_commuting_product(left: Any, right: Any) -> dict[str, Any]:
    """The properties of the product of two square operators whose order does not matter."""
    both = left.is_self_adjoint, right.is_self_adjoint
    definite = all(both) and left.is_positive_definite and right.is_positive_definite
    return {
        "is_non_singular": product_is_non_singular(left, right),
        "is_self_adjoint": True if all(both) else False if True in both and False in both else None,
        "is_positive_definite": True if definite else None,
        "is_square": True,
    }


def of(operator: Any) -> dict[str, Any]:
    """The properties of an operator, for another that shares them all."""
    return {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
        "is_square": operator.is_square,
    }
