"""`Dataset.concatenate`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import INFINITE, UNKNOWN, Node, dataset_op
from tapeflow.data.threads import Chained


@dataset_op("ConcatenateDataset")
class Concatenate(Node):
    """The elements of one node, then the elements of another."""

    input_dataset: Node
    another_dataset: Node

    passes_elements = True

    def element_spec(self) -> Any:
        return elements.common_spec(self.input_dataset.spec, self.another_dataset.spec)

    def cardinality(self) -> int:
        sizes = [node.cardinality() for node in self.inputs]
        return INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)

    def iterate(self) -> Iterator[Element]:
        first = self.input_dataset.iterate()
        rest = (node.iterate() for node in self.inputs[1:])  # begins when the first has ended
        return Chained(itertools.chain([first], rest))
