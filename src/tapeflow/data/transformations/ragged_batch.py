"""`Dataset.ragged_batch`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import Unary
from tapeflow.data.transformations.map import Map
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.ragged.tensor import RaggedTensor

if TYPE_CHECKING:
    from tapeflow.core.types.type_spec import TypeSpec


class Ragged(Unary):
    """Elements whose tensors with unknown dimensions are ragged tensors, so they can be batched."""

    row_splits_dtype: DType

    same_size = True

    def element_spec(self) -> Any:
        def ragged(s: TypeSpec) -> Any:
            if type(s) is not TensorSpec or s.shape.rank is None or s.shape.is_fully_defined():
                return s
            rank = max(i for i, d in enumerate(s.shape.as_list()) if d is None)
            return RaggedTensorSpec(s.shape, s.dtype, rank, self.row_splits_dtype)

        return elements.map_specs(ragged, self.input_dataset.spec)

    def operation(self) -> Any:
        source = self.input_dataset

        def ragged(*components: Any) -> Any:
            element = components if len(components) > 1 or type(source.spec) is tuple else components[0]
            return elements.pack(self.spec, self._ragged(elements.flatten(element)))

        function = MappedFunction.for_node(source, ragged, "ragged_batch")
        function.output_spec = self.spec  # TensorFlow has variants of tensors with one ragged dimension, too
        return Map(source, function).variant

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        specs = elements.flatten(self.input_dataset.spec)

        def ragged(element: Element) -> Element:
            values = [v if type(s) is not TensorSpec else EagerTensor(v, s.dtype)
                      for v, s in zip(element, specs, strict=True)]  # fmt: skip
            return tuple(map(elements.bare, self._ragged(values)))

        return map(ragged, inputs[0])

    def _ragged(self, values: Sequence[Any]) -> list[Any]:
        """Returns the components of an element, with ragged tensors."""
        specs = zip(values, elements.flatten(self.input_dataset.spec), elements.flatten(self.spec), strict=True)
        return [
            RaggedTensor.from_tensor(v, ragged_rank=new.ragged_rank, row_splits_dtype=self.row_splits_dtype)
            if old != new and new.ragged_rank else v
            for v, old, new in specs
        ]  # fmt: skip
