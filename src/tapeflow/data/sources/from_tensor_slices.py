"""`Dataset.from_tensor_slices`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import UNKNOWN, Node, Rows, dataset_op, slices_of


@dataset_op("TensorSliceDataset")
class FromTensorSlices(Node):
    """The slices of tensors along their first dimension; `is_files` says whether they are names of files."""

    value: Any
    is_files: bool = False

    name = "_TensorSliceDataset"

    @classmethod
    def of_op(cls, components: list[Any], is_files: bool) -> FromTensorSlices:
        return cls(tuple(components), bool(is_files))

    def element_spec(self) -> Any:
        value, spec = elements.normalize_value(self.value)
        flat = elements.flatten(value)
        if not [v for v in flat if v is not None]:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        slices = elements.map_specs(lambda s: s._unbatch(), spec)
        sizes = [elements.rows_of(v) for v in flat if v is not None]
        for size in sizes[1:]:
            if size != sizes[0] and None not in (size, sizes[0]):
                raise ValueError(f"Dimensions {sizes[0]} and {size} are not compatible")
        self._count: int = sizes[0]
        self._columns = elements.to_element(value)
        return slices

    @property
    def components(self) -> list[Tensor]:
        """The tensors that are sliced."""
        return elements.encoded_batch(self._columns, elements.flatten(self.spec))

    def cardinality(self) -> int:
        return UNKNOWN if self._count is None else self._count

    def iterate(self) -> Iterator[Element]:
        return zip(*[slices_of(value, self._count) for value in self._columns], strict=False)

    def rows(self) -> Rows | None:
        columns = self._columns
        if not all(isinstance(v, (torch.Tensor, StringArray, np.ndarray)) for v in columns):
            return None
        takers = [_slice_taker(v) for v in columns]
        return Rows(
            self._count,
            lambda numbers: tuple([t(numbers) for t in takers]),
            lambda start, stop: tuple([v[start:stop] for v in columns]),
        )


def _slice_taker(value: torch.Tensor | StringArray | np.ndarray) -> Callable[[torch.Tensor], Any]:
    if isinstance(value, torch.Tensor):
        return lambda numbers: value.index_select(0, numbers)
    return lambda numbers: value[numbers.numpy()]
