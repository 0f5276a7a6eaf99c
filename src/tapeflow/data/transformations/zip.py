"""`Dataset.zip`."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import INFINITE, UNKNOWN, Node, Rows, dataset_op
from tapeflow.data.threads import Failure, raises_failures, with_failures


@dataset_op("ZipDataset")
class Zip(Node):
    """The elements of several nodes side by side."""

    input_datasets: Sequence[Node]
    spec: Any

    passes_elements = True

    @classmethod
    def of_op(cls, input_datasets: list[Any]) -> Zip:
        return cls(input_datasets, tuple([part for node in input_datasets for part in elements.flatten(node.spec)]))

    def cardinality(self) -> int:
        sizes = [node.cardinality() for node in self.inputs]
        if UNKNOWN in sizes:
            return UNKNOWN
        finite = [s for s in sizes if s != INFINITE]
        return min(finite) if finite else INFINITE

    @raises_failures
    def generate(self, *inputs: Iterator[Element]) -> Generator[Any]:
        for column in zip(*map(with_failures, inputs), strict=False):
            failures = [e for e in column if type(e) is Failure]
            yield failures[0] if failures else tuple(itertools.chain.from_iterable(column))

    def rows(self) -> Rows | None:
        rows = [r for node in self.inputs if (r := node.rows()) is not None]
        if len(rows) < len(self.inputs):
            return None
        return Rows(
            min(r.count for r in rows),
            lambda numbers: tuple(itertools.chain.from_iterable(r.take(numbers) for r in rows)),
            lambda start, stop: tuple(itertools.chain.from_iterable(r.between(start, stop) for r in rows)),
        )
