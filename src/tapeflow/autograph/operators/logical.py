"""The operators for `and`, `or`, `not` and chained comparisons: of tensors where an operand is staged."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.autograph.operators.staged_values import is_staged
from tapeflow.control.conditions_and_loops import cond
from tapeflow.math.comparison import logical_and, logical_not

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "is": operator.is_, "is not": operator.is_not, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


def and_(value: Any, *others: Callable[[], Any]) -> Any:
    """Returns `value and other and ...`; an operand after a tensor is evaluated only where the tensor is true."""
    return _evaluate_while(True, value, others)


def or_(value: Any, *others: Callable[[], Any]) -> Any:
    """Returns `value or other or ...`; an operand after a tensor is evaluated only where the tensor is false."""
    return _evaluate_while(False, value, others)


def _evaluate_while(truth: bool, value: Any, others: Sequence[Callable[[], Any]]) -> Any:
    """Returns the first operand without this truth, or else the last one."""
    for other in others:
        if is_staged(value):
            branches = other, lambda value=value: value
            value = cond(value, *(branches if truth else branches[::-1]))
        elif bool(value) is not truth:
            return value
        else:
            value = other()
    return value


def not_(value: Any) -> Any:
    """Returns `not value`."""
    return logical_not(value) if is_staged(value) else not value


def compare(left: Any, *parts: Any) -> Any:
    """Returns `left < middle < right`: `parts` are operators, each followed by a function that returns the operand."""
    result: Any = True
    for k in range(0, len(parts), 2):
        right = parts[k + 1]()
        one = _OPERATORS[parts[k]](left, right)
        left = right
        result = logical_and(result, one) if is_staged(result) or (is_staged(one) and k) else one
        if not is_staged(result) and not result:
            return result
    return result
