"""Datasets seen from outside: one element by its number, a list's elements, a fingerprint."""

from __future__ import annotations

import itertools
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.errors import OutOfRangeError, UnimplementedError
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import invalid
from tapeflow.data import structure
from tapeflow.data.dataset import UNKNOWN, Dataset
from tapeflow.data.graph_iterators import element_attrs
from tapeflow.data.node import integer, rewritten
from tapeflow.data.nodes import Elements
from tapeflow.data.parts import register
from tapeflow.data.structure import Element


def at(dataset: Dataset, index: TensorLike) -> Any:
    """Implements `tf.data.experimental.at`."""
    spec = dataset.element_spec
    if state.graph is None:
        return structure.Packer(spec)(element_at(dataset, index))
    outputs = ops.GetElementAtIndex(dataset._variant_tensor, index, *element_attrs(spec))
    return structure.pack(spec, structure.decoded_values(outputs, structure.flatten(spec)))


def element_at(dataset: Any, index: TensorLike) -> Element:
    """Returns the element of a number."""
    size, number = dataset._size(), integer(index)
    if size == UNKNOWN:
        kind = type(dataset).__name__
        raise UnimplementedError(
            None, None, f"Random access is not implemented for dataset {kind} [Op:GetElementAtIndex] name: "
        )
    if number < 0 or 0 <= size <= number:
        raise OutOfRangeError(None, None, f"Index out of range [0, {size}):{number} [Op:GetElementAtIndex] name: ")
    rows = dataset._rows()
    if rows is not None:
        return tuple([structure.slice_row(v, 0) for v in rows.between(number, number + 1)])
    return next(itertools.islice(rewritten(dataset)._iterate(), number, None))


def only_element(dataset: Any) -> Element:
    """Returns the only element of a dataset.

    Raises:
        InvalidArgumentError: there is none, or more than one.
    """
    elements = list(itertools.islice(rewritten(dataset)._iterate(), 2))
    if len(elements) != 1:
        problem = "had more than one element" if elements else "was empty"
        raise invalid(f"Dataset {problem}. [Op:DatasetToSingleElement] name: ")
    return elements[0]


def single_element(dataset: Any) -> Any:
    """Implements `Dataset.get_single_element`."""
    spec = dataset.element_spec
    if state.graph is None:
        return structure.Packer(spec)(only_element(dataset))
    outputs = ops.DatasetToSingleElement(dataset._variant_tensor, *element_attrs(spec), "")
    return structure.pack(spec, structure.decoded_values(outputs, structure.flatten(spec)))


class ListDataset(Elements):
    """The elements of a list, which may differ in their shapes."""

    def __init__(self, elements: Any) -> None:
        if not isinstance(elements, list):
            raise ValueError("Invalid `elements`. `elements` must be a list.")
        if not elements:
            raise ValueError(
                "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
                "`tf.data.Dataset.range(0)`."
            )
        values, specs = zip(*map(structure.normalized, elements), strict=True)
        spec = specs[0]
        for other in specs[1:]:
            spec = structure.common_spec(spec, other)
        super().__init__([structure.to_element(v) for v in values], spec)

    def __repr__(self) -> str:
        return f"<_{type(self).__name__} element_spec={self._spec}>"


register(single_element)
