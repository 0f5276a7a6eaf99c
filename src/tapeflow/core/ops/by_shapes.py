"""A cache for values that follow from shapes. Compilers may trace it with symbolic sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def by_shapes(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns a decorator that caches a function of shapes and attrs.

    Sizes that stand for any number, while `torch.export` traces a kernel, have no hash: then the function is called.

    Args:
        size: the most results that are cached.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = functools.lru_cache(size)(function)

        @functools.wraps(function)
        def call(*args: Any) -> Any:
            try:
                return cached(*args)
            except TypeError:
                if not _has_symbols(args):
                    raise
            return function(*args)  # type: ignore[call-arg]

        return call  # type: ignore[return-value]

    return decorate


def _has_symbols(value: int | str | Sequence[Any] | None) -> bool:
    return isinstance(value, torch.SymInt) or (isinstance(value, tuple) and any(map(_has_symbols, value)))
