"""`Dataset.concatenate`."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import INFINITE, UNKNOWN, Node, dataset_op
from tapeflow.data.threads import raises_failures, with_failures


@dataset_op("ConcatenateDataset")
class Concatenate(Node):
    """The elements of one node, then those of another."""

    input_dataset: Node
    another_dataset: Node

    passes_elements = True

    def element_spec(self) -> Any:
        return elements.common_spec(self.input_dataset.spec, self.another_dataset.spec)

    def cardinality(self) -> int:
        sizes = [node.cardinality() for node in self.inputs]
        return INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)

    def iterate(self) -> Iterator[Element]:
        return self.generate(self.input_dataset.iterate())

    @raises_failures
    def generate(self, *inputs: Iterator[Element]) -> Generator[Any]:
        yield from with_failures(inputs[0])
        yield from with_failures(self.another_dataset.iterate())
