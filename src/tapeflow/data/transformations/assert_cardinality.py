"""`tf.data.experimental.assert_cardinality`."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from types import MappingProxyType
from typing import Any

from tapeflow.core.errors import FailedPreconditionError
from tapeflow.data.elements import Element
from tapeflow.data.node import INFINITE, Node, Unary, dataset_op
from tapeflow.data.threads import Failure, raises_failures, with_failures


@dataset_op("AssertCardinalityDataset")
class AssertCardinality(Unary):
    """The same elements, whose number is checked."""

    expected: int

    renamed = MappingProxyType({"cardinality": "expected"})
    passes_elements = True

    @classmethod
    def of_op(cls, input_dataset: Node, cardinality: int) -> AssertCardinality:
        return cls(input_dataset, cardinality)

    def cardinality(self) -> int:
        return self.expected

    @raises_failures
    def generate(self, *inputs: Iterator[Element]) -> Generator[Any]:
        count = 0
        for element in with_failures(inputs[0]):
            count += type(element) is not Failure
            if self.expected != INFINITE and count > self.expected:
                raise self._error(f"at least {_number_text(count)}")
            yield element
        if count != self.expected:
            raise self._error(f"only {_number_text(count)}")

    def _error(self, contents: str) -> FailedPreconditionError:
        return FailedPreconditionError.of(
            f"Input dataset was expected to contain {_number_text(self.expected)} but contained {contents}."
        )


def _number_text(count: int) -> str:
    if count == INFINITE:
        return "an infinite number of elements"
    return f"{count} element{'' if count == 1 else 's'}"
