"""`tensorflow.python.util.deprecation`: here none of the decorators warns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext as silence
from typing import Any

__all__ = ["silence"]


def _unchanged(function: Callable[..., Any]) -> Any:
    return function


def deprecated(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Returns a decorator that returns its function unchanged."""
    return _unchanged


deprecated_args = deprecated_arg_values = deprecated_endpoints = deprecated


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True) -> Any:
    """Returns the function or class unchanged."""
    return func_or_class
