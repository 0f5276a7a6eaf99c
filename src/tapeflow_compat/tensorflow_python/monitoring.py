"""Counters of how a library is used: they count in this process, and nobody collects them."""

from __future__ import annotations

from typing import Any


class _Cell:
    """The value for one combination of labels."""

    def __init__(self) -> None:
        self._value: Any = 0

    def set(self, value: Any) -> None:
        """Replaces the value."""
        self._value = value

    def increase_by(self, value: int) -> None:
        """Adds to the value."""
        self._value += value

    add = increase_by

    def value(self) -> Any:
        """Returns the value."""
        return self._value


class _Metric:
    """Cells by their labels.

    Args:
        name: of the metric.
        *description: the buckets of a sampler, a description, and names of the labels: without effect.
    """

    def __init__(self, name: str, *description: Any) -> None:
        self.name = name
        self._cells: dict[tuple[Any, ...], _Cell] = {}

    def get_cell(self, *labels: Any) -> _Cell:
        """Returns the cell for some labels."""
        return self._cells.setdefault(labels, _Cell())


BoolGauge = Counter = IntGauge = Sampler = StringGauge = _Metric
