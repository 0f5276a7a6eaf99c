"""`Dataset.choose_from_datasets` and `Dataset.sample_from_datasets`."""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import INFINITE, UNKNOWN, Node, dataset_op
from tapeflow.data.threads import Failure, raises_failures, with_failures


@dataset_op("DirectedInterleaveDataset")
class DirectedInterleave(Node):
    """The elements of several nodes, in the order of the numbers that the selector yields."""

    selector_input_dataset: Node
    data_input_datasets: Sequence[Node]
    stop_on_empty_dataset: bool

    def element_spec(self) -> Any:
        return functools.reduce(elements.common_spec, [node.spec for node in self.data_input_datasets])

    def cardinality(self) -> int:
        sizes = [node.cardinality() for node in self.data_input_datasets]
        return INFINITE if INFINITE in sizes else UNKNOWN

    @raises_failures
    def generate(self, *inputs: Iterator[Element]) -> Generator[Any]:
        selector, *rest = map(with_failures, inputs)
        sources: list[Any] = list(rest)
        for chosen in selector:
            if type(chosen) is Failure:
                yield chosen
                continue
            index = int(chosen[0])
            if not 0 <= index < len(sources):
                yield Failure(invalid(f"Selector index out of range: {index} >= {len(sources)}"))
                continue
            element = None if sources[index] is None else next(sources[index], None)
            if element is not None:
                yield element
            elif self.stop_on_empty_dataset:
                return
            else:
                sources[index] = None
                if not any(s is not None for s in sources):
                    return


def check_compatible(nodes: Sequence[Node]) -> None:
    """Refuses nodes without a spec in common.

    Raises:
        TypeError: they have none.
        ValueError: there is no node.
    """
    if not nodes:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for i, node in enumerate(nodes[1:], 1):
        try:
            elements.common_spec(nodes[0].spec, node.spec)
        except TypeError as e:
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 element_spec="
                f"{nodes[0].spec}.\nDataset {i} element_spec={node.spec}."
            ) from e
