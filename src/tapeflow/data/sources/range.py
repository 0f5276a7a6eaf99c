"""`Dataset.range`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from tapeflow.core.types.aliases import DTypeLike
from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import invalid
from tapeflow.data.elements import Element
from tapeflow.data.node import INFINITE, Node, Rows, dataset_op, integer, pieces


@dataset_op("RangeDataset")
class Range(Node):
    """Numbers with a step between them, of the only dtype in `output_types`."""

    start: int
    stop: int
    step: int
    output_types: Sequence[Any]

    @classmethod
    def of(cls, args: Sequence[Any], output_type: DTypeLike) -> Range:
        """Returns the node for the arguments of the builtin `range`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        numbers = [integer(a) for a in args]
        start, stop, step = (0, *numbers, 1) if len(args) == 1 else (*numbers, 1) if len(args) == 2 else numbers
        return cls(start, stop, step, [as_dtype(output_type)])

    def element_spec(self) -> Any:
        if self.step == 0:
            raise invalid("step must be a non-zero integer. [Op:RangeDataset] name: ")
        self.range = range(self.start, self.stop, self.step)
        self._dtype = self.output_types[0].torch
        return TensorSpec([], self.output_types[0])

    def cardinality(self) -> int:
        return INFINITE if self.stop >= sys.maxsize else self._count()

    def _count(self) -> int:
        try:
            return len(self.range)
        except OverflowError:  # longer than sys.maxsize
            return sys.maxsize

    def iterate(self) -> Iterator[Element]:
        between = self.rows().between
        for start, stop in pieces(self._count()):
            yield from zip(between(start, stop)[0].unbind(0), strict=False)

    def rows(self) -> Rows:
        start, step, dtype = self.range.start, self.range.step, self._dtype

        def between(first: int, last: int) -> Element:
            return (torch.arange(start + first * step, start + last * step, step, dtype=dtype),)

        return Rows(self._count(), lambda numbers: ((numbers * step + start).to(dtype),), between)
