"""`Dataset.repeat`."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.data.node import INFINITE, Unary, dataset_op
from tapeflow.data.threads import raises_failures, with_failures


@dataset_op("RepeatDataset")
class Repeat(Unary):
    """The elements several times over; without an end if the count is negative."""

    count: int

    passes_elements = chooses = True

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        if self.count < 0:
            return INFINITE if size else 0
        return 0 if self.count == 0 else size if size < 0 else size * self.count

    @raises_failures
    def generate(self, *inputs: Iterator[Any]) -> Generator[Any]:
        for number in itertools.count() if self.count < 0 else range(self.count):
            empty = True
            for element in with_failures(self.input_dataset.iterate() if number else inputs[0]):
                empty = False
                yield element
            if empty and self.count < 0:
                return
