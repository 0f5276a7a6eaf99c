"""`tensorflow.python.util.deprecation`: here none of the decorators warns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext as silence
from typing import Any

__all__ = ["silence"]


def _unchanged(function: Any) -> Any:
    return function


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """Returns a decorator that returns its function unchanged."""
    return _unchanged


def deprecated_args(date: str | None, instructions: str, *names: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Returns a decorator that returns its function unchanged."""
    return _unchanged


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True, **values: Any) -> Any:
    """Returns a decorator that returns its function unchanged."""
    return _unchanged


def deprecated_endpoints(*names: str) -> Callable[[Any], Any]:
    """Returns a decorator that returns its function unchanged."""
    return _unchanged


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """Returns the function or class unchanged."""
    return func_or_class
