"""The elements of a list: `tf.data.experimental.from_list`, windows, and groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow.core.values.tensor import Tensor
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, op_kernel


class Elements(Node):
    """The elements of a list, such as a window's."""

    items: Sequence[Any]
    spec: Any

    op = "ListDataset"
    name = "_VariantDataset"

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors that the elements consist of."""
        specs = elements.flatten(self.spec)
        return [t for element in self.items for t in elements.encode_values(element, specs)]

    def cardinality(self) -> int:
        return len(self.items)

    def iterate(self) -> Iterator[Element]:
        return iter(self.items)


class FromList(Elements):
    """The elements of a user's list, which may differ in their shapes."""

    name = "_ListDataset"

    @classmethod
    def of(cls, values: Sequence[Any]) -> FromList:
        """Returns the node of a list of structures of tensors."""
        if not isinstance(values, list):
            raise ValueError("Invalid `elements`. `elements` must be a list.")
        if not values:
            raise ValueError(
                "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
                "`tf.data.Dataset.range(0)`."
            )
        components, specs = zip(*map(elements.normalize_value, values), strict=True)
        spec = specs[0]
        for other in specs[1:]:
            spec = elements.common_spec(spec, other)
        return cls([elements.to_element(c) for c in components], spec)


@op_kernel("ListDataset")
def _list_dataset(tensors: list[Any], spec: Sequence[Any]) -> Node:
    width = len(spec)
    return Elements([tuple([t.value for t in tensors[i : i + width]]) for i in range(0, len(tensors), width)], spec)
