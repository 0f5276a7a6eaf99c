"""Assertions with the parameters of TensorFlow 1: `data` and `summarize` stand before the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import debugging
from tapeflow.compat.v1.renamed import either


def _of_two(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    def check(
        x: Any,
        y: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        return function(x, y, message=message, summarize=summarize, name=name)

    return _described(check, function, f"x {what} y, element by element")


def _of_one(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    def check(
        x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
    ) -> Any:
        return function(x, message=message, summarize=summarize, name=name)

    return _described(check, function, f"every element of x is {what}")


def _of_rank(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    def check(
        x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        return function(x, rank, message=message, name=name)

    return _described(check, function, f"the rank of x is {what}")


def _described(check: Callable[..., Any], function: Callable[..., Any], what: str) -> Callable[..., Any]:
    check.__name__ = check.__qualname__ = function.__name__
    check.__doc__ = f"""Checks that {what}, see `tf.debugging.{function.__name__}`.

    Args:
        data: accepted; the message shows the values anyway.
        summarize: how many elements of each tensor to show.
        message: what to say first.

    Returns:
        In a graph, the operation that checks; eagerly None.

    Raises:
        InvalidArgumentError: it is not so; in a graph, when the operation runs.
    """
    return check


assert_equal = _of_two(debugging.assert_equal, "==")
assert_none_equal = _of_two(debugging.assert_none_equal, "!=")
assert_greater = _of_two(debugging.assert_greater, ">")
assert_greater_equal = _of_two(debugging.assert_greater_equal, ">=")
assert_less = _of_two(debugging.assert_less, "<")
assert_less_equal = _of_two(debugging.assert_less_equal, "<=")
assert_positive = _of_one(debugging.assert_positive, "> 0")
assert_negative = _of_one(debugging.assert_negative, "< 0")
assert_non_negative = _of_one(debugging.assert_non_negative, ">= 0")
assert_non_positive = _of_one(debugging.assert_non_positive, "<= 0")
assert_rank = _of_rank(debugging.assert_rank, "that")
assert_rank_at_least = _of_rank(debugging.assert_rank_at_least, "at least that")


def assert_rank_in(
    x: Any,
    ranks: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Checks that the rank of `x` is one of several, see `tf.debugging.assert_rank_in`."""
    return debugging.assert_rank_in(x, ranks, message=message, name=name)


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, data: Any = None, summarize: int | None = None,
    message: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Checks that `x` and `y` are close, see `tf.debugging.assert_near`."""
    return debugging.assert_near(x, y, rtol, atol, message=message, summarize=summarize, name=name)


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Checks that `x` is of an integer dtype, see `tf.debugging.assert_integer`."""
    return debugging.assert_integer(x, message=message, name=name)


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Checks that a tensor is of a dtype, see `tf.debugging.assert_type`."""
    return debugging.assert_type(tensor, tf_type, message=message, name=name)


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Any:
    """Checks that a tensor is a scalar, see `tf.debugging.assert_scalar`."""
    return debugging.assert_scalar(tensor, message, name)


def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None, message: str | None = None
) -> Any:
    """Checks that all elements are finite, see `tf.debugging.assert_all_finite`; `t` and `msg` are the old names."""
    return debugging.assert_all_finite(either("x", x, "t", t), either("message", message, "msg", msg) or "", name)
