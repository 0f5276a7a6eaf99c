"""`Dataset.unbatch`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import INFINITE, UNKNOWN, Unary, dataset_op, slices_of
from tapeflow.data.threads import Chained
from tapeflow.data.transformations.map import Map


@dataset_op("UnbatchDataset")
class Unbatch(Unary):
    """The slices of the elements."""

    def element_spec(self) -> Any:
        rows = None
        for s in elements.flatten(self.input_dataset.spec):
            shape = getattr(s, "shape", None)
            if shape is None or shape.rank is None:
                continue
            if shape.rank == 0:
                raise ValueError("Cannot unbatch an input with scalar components.")
            if None not in (rows, shape[0]) and rows != shape[0]:
                raise ValueError(
                    "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
                    f"dimension. Encountered both {rows} and {shape[0]}."
                )
            rows = shape[0] if rows is None else rows
        self._each = rows
        return elements.map_specs(lambda s: s._unbatch(), self.input_dataset.spec)

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        if size == INFINITE:
            return INFINITE
        return size * self._each if size >= 0 and self._each else UNKNOWN

    def operation(self) -> Any:
        """Adds an operation that slices variants of whole batches."""
        source, rows = self.input_dataset, elements.flatten(self.spec)
        if not any(map(elements.is_encoded, rows)):
            return super().operation()

        def encoded(*components: Any) -> Any:
            element = components if len(components) > 1 or type(source.spec) is tuple else components[0]
            return tuple(elements.encoded_batch(elements.flatten(element), rows))

        return Unbatch(Map(source, MappedFunction.for_node(source, encoded, "unbatch"))).variant

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return Chained(map(_element_slices, inputs[0]))


def _element_slices(element: Element) -> Iterator[Element]:
    sizes = {elements.rows_of(v) for v in element if v is not None}
    if len(sizes) > 1:
        raise invalid(f"Input element must have the same batch size in each component, not {sorted(sizes)}.")
    count = sizes.pop()
    return zip(*[slices_of(v, count) for v in element], strict=False)
