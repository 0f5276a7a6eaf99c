"""The residuals of loops: lists of values, one for each iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.array.list_values import as_variant


class Record:
    """The residuals of a running loop.

    Attributes:
        rows: for each iteration, the values of the residuals that it computes.
        ahead: the values of the hoisted residuals.
    """

    __slots__ = ("ahead", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.ahead: tuple[Any, ...] = ()


def returned_values(trips: int, lists: Sequence[Any]) -> list[Any]:
    """Returns a loop's raw results after its loop variables: the trip count and the lists of residuals."""
    return [torch.tensor(trips, dtype=torch.int32), *map(as_variant, lists)]
