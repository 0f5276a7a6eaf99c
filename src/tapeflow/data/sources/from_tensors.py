"""`Dataset.from_tensors`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, dataset_op


@dataset_op("TensorDataset")
class FromTensors(Node):
    """One element, a structure of tensors."""

    value: Any

    name = "_TensorDataset"

    @classmethod
    def of_op(cls, components: list[Any]) -> FromTensors:
        return cls(tuple(components))

    def element_spec(self) -> Any:
        value, spec = elements.normalize_value(self.value)
        if not [s for s in elements.flatten(spec) if s.flatten()]:
            raise invalid("An element must have at least one tensor, but there is none. [Op:TensorDataset]")
        self.element = elements.to_element(value)
        return spec

    @property
    def components(self) -> list[Tensor]:
        """The tensors of the element."""
        return elements.encode_values(self.element, elements.flatten(self.spec))

    def cardinality(self) -> int:
        return 1

    def iterate(self) -> Iterator[Element]:
        return iter([self.element])
