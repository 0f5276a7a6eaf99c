"""`Dataset.take`."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.data.node import INFINITE, UNKNOWN, Unary, dataset_op
from tapeflow.data.threads import Failure, raises_failures


@dataset_op("TakeDataset")
class Take(Unary):
    """The first elements."""

    count: int

    passes_elements = chooses = True

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        if self.count < 0:
            return size
        if size == INFINITE:
            return self.count
        return UNKNOWN if size == UNKNOWN and self.count else min(size, self.count)

    def iterate(self) -> Iterator[Any]:
        elements = self.input_dataset.iterate()
        return elements if self.count < 0 else self.generate(elements)

    @raises_failures
    def generate(self, *inputs: Iterator[Any]) -> Generator[Any]:
        left = self.count
        while left:
            try:
                for element in itertools.islice(inputs[0], left):
                    left -= 1
                    yield element
                return
            except Exception as error:
                yield Failure(error)
