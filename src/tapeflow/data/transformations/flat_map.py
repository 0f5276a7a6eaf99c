"""`Dataset.flat_map`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.data.elements import Element
from tapeflow.data.functions import MappedFunction, nested_operations
from tapeflow.data.node import CLASSES, Unary, dataset_op
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.threads import Chained


@dataset_op("FlatMapDataset")
class FlatMap(Unary):
    """The elements of the datasets that a function returns, one dataset after the other."""

    f: MappedFunction

    names_errors = True

    def element_spec(self) -> Any:
        self.f = self.f.typed(self.input_dataset.spec, lambda f: DatasetSpec(f.declared))
        spec = self.f.output_spec
        if not isinstance(spec, DatasetSpec):
            kind = getattr(spec, "value_type", type(spec))
            raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {kind!r}.")
        return spec.element_spec

    def reads_files(self) -> bool:
        operations = nested_operations(self.f._body.graph)
        return any(o.type in CLASSES and CLASSES[o.type].names_files for o in operations)

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return Chained(map(elements_of, map(self.f.caller(), inputs[0])))


def elements_of(result: Element) -> Iterator[Element]:
    """Returns an iterator over the dataset that a function returned."""
    return result[0]._node.rewritten().iterate()
