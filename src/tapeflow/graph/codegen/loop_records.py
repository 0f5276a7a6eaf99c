"""The residuals of loops: lists of the values that tensors have in all iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.array.list_values import as_variant


class Record:
    """Holds the residuals of a loop that is running.

    Attributes:
        rows: for each iteration, the values of the residuals that it computes.
        ahead: the values of those that were computed before the loop.
    """

    __slots__ = ("ahead", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.ahead: tuple[Any, ...] = ()


def returned(trips: int, lists: Sequence[Any]) -> list[Any]:
    """Returns the raw values that a loop returns after its variables: the trip count, and the lists of residuals."""
    return [torch.tensor(trips, dtype=torch.int32), *map(as_variant, lists)]
