"""The records of loops: the residuals of their iterations, for the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop


class Record:
    """Holds the residuals of a loop's iterations, for the gradient.

    Attributes:
        loop: the loop that has written it.
        rows: for each iteration, the values of the residuals that it computes.
        ahead: the values of those that were computed before the loop.
        columns: the values of all residuals by the ids of their tensors, if machine code computed them; else None.
        trips: the number of iterations.

    Args:
        loop, columns: as the attributes.
        trips: the number of iterations, with `columns`.
    """

    __slots__ = ("_trips", "ahead", "columns", "loop", "rows")

    def __init__(self, loop: Loop, columns: dict[int, Column] | None = None, trips: int = 0) -> None:
        self.loop = loop
        self.rows: list[tuple[Any, ...]] = []
        self.ahead: tuple[Any, ...] = ()
        self.columns, self._trips = columns, trips

    @property
    def trips(self) -> int:
        return len(self.rows) if self.columns is None else self._trips


class Same(NamedTuple):
    """A value that a tensor has in all iterations."""

    value: Any


Column = Same | torch.Tensor | Sequence[Any]  # the values of a tensor in all iterations; a tensor holds them stacked
