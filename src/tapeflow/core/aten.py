"""The private names of torch that TapeFlow uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_count: Callable[[int], int] | None = None  # None before the first call of `users`
_count_of_one = 0  # of memory that one tensor uses


def users(tensor: torch.Tensor) -> int:
    """Returns the number of other tensors that use a tensor's memory; 1 if torch can't tell."""
    if _count is None:
        _find_count()
    return _count(tensor.untyped_storage()._cdata) - _count_of_one  # type: ignore[misc]


def _find_count() -> None:
    """Finds the function that counts the tensors that use memory, and tries it."""
    global _count, _count_of_one
    count: Any = getattr(torch._C, "_storage_Use_Count", None)
    try:
        tensor = torch.empty(2)
        counts = [count(tensor.untyped_storage()._cdata)]
        view = tensor[:1]
        counts.append(count(tensor.untyped_storage()._cdata))
        del view
        counts.append(count(tensor.untyped_storage()._cdata))
        works = counts == [counts[0], counts[0] + 1, counts[0]]
    except (AttributeError, TypeError):
        works = False
    _count_of_one, _count = (counts[0], count) if works else (0, lambda memory: 1)
