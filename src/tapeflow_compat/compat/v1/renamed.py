"""Shares what functions of TensorFlow 1 have in common: old and new names of parameters, and docstrings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def either(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Returns the argument that was passed under the new name or under the old one.

    Raises:
        ValueError: both were passed.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old_value


def member(name: str, **words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a function one of a family: gives it a name of its own, and its docstring the name and its own words.

    Args:
        name: replaces `{name}` in the docstring.
        **words: replace what stands in braces there.
    """

    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = (function.__doc__ or "").format(name=name, **words)
        return function

    return named
