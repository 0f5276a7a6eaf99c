"""`tf.data.experimental.assert_cardinality`."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from types import MappingProxyType
from typing import Any

from tapeflow.core.errors import FailedPreconditionError
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, Unary, dataset_op
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
            if 0 <= self.expected < count:
                raise self._error(f"at least {count}")
            yield element
        if count < self.expected:
            raise self._error(f"only {count}")

    def _error(self, count: str) -> FailedPreconditionError:
        return FailedPreconditionError.of(
            f"Input dataset was expected to contain {self.expected} elements but contained {count} elements."
        )
