"""`Dataset.skip`."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.data.node import Unary, dataset_op
from tapeflow.data.threads import END, Failure, raises_failures, with_failures


@dataset_op("SkipDataset")
class Skip(Unary):
    """All but the first elements."""

    count: int

    passes_elements = chooses = True

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        return size if size < 0 else 0 if self.count < 0 else max(size - self.count, 0)

    def iterate(self) -> Iterator[Any]:
        return iter(()) if self.count < 0 else super().iterate()

    @raises_failures
    def generate(self, *inputs: Iterator[Any]) -> Generator[Any]:
        while True:  # as in TensorFlow, an error among the skipped elements restarts the count
            try:
                first = next(itertools.islice(inputs[0], self.count, None), END)
                break
            except Exception as error:
                yield Failure(error)
        if first is not END:
            yield first
            yield from with_failures(inputs[0])
