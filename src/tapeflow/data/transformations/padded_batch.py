"""`Dataset.padded_batch`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import stack
from tapeflow.core.errors import DataLossError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import static_shape
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, int64, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, UnknownInteger, dataset_op, integer
from tapeflow.data.spec import DatasetSpec
from tapeflow.data.transformations.batch import Batching
from tapeflow.math.casting import cast


@dataset_op("PaddedBatchDatasetV2", "PaddedBatchDataset")
class PaddedBatch(Batching):
    """Elements padded to a common shape and stacked into batches.

    `shapes` and `values` have the structure of an element. None stands for the shape of the component, and for 0 or "".
    """

    shapes: Any = None
    values: Any = None

    @classmethod
    def of_op(
        cls, input_dataset: Node, batch_size: int, padded_shapes: Sequence[Any], padding_values: Sequence[Any],
        drop_remainder: bool = False,
    ) -> PaddedBatch:  # fmt: skip
        return cls(input_dataset, batch_size, drop_remainder, tuple(padded_shapes), tuple(padding_values))

    def spec_of_batches(self, size: int | None) -> Any:
        spec = self.input_dataset.spec
        specs = self._component_specs = elements.flatten(spec)
        for i, s in enumerate(specs):
            if isinstance(s, DatasetSpec):
                raise TypeError("`padded_batch` is not supported for datasets of datasets")
            if type(s) is not TensorSpec:
                raise TypeError(
                    "`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                    f"elements in the input dataset is not a subclass of TensorSpec: `{s}`."
                )
            if self.shapes is None and s.shape.rank is None:
                raise ValueError(f"You must provide `padded_shapes` argument because component {i} has unknown rank.")
        targets = [s.shape for s in specs] if self.shapes is None else elements.flatten_up_to(spec, self.shapes)
        shapes = [_padded_shape(t, s.shape) for t, s in zip(targets, specs, strict=True)]
        if elements.is_structure(self.values):
            values = elements.flatten_up_to(spec, self.values)
        else:
            values = [self.values] * len(specs)
        self._targets = targets
        self._shapes = [None if s.rank is None else tuple(s.as_list()) for s in shapes]
        self._fills = [_padding_value(v, s.dtype) for v, s in zip(values, specs, strict=True)]
        first = TensorShape([size])
        padded = [TensorSpec(first.concatenate(p), s.dtype) for p, s in zip(shapes, specs, strict=True)]
        return elements.pack(spec, padded)

    @property
    def padded_shapes(self) -> list[Any]:
        """The padded shapes as vectors, with -1 for unknown sizes."""
        return [_sizes_field(t, s) for t, s in zip(self._targets, self._shapes, strict=True)]

    @property
    def padding_values(self) -> list[Any]:
        """The values that fill, as tensors."""
        return [convert(v, s.dtype) for v, s in zip(self._fills, self._component_specs, strict=True)]

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        runs = iter(lambda: list(itertools.islice(inputs[0], self.batch_size)), [])  # an error ends one, nothing else
        if self.drop_remainder:
            runs = filter(lambda run: len(run) == self.batch_size, runs)
        return map(self._stacked, runs)

    def _stacked(self, run: list[Element]) -> Element:
        return tuple(map(_pad_component, zip(*run, strict=True), self._shapes, self._fills, itertools.count()))


def _sizes_field(target: Any, shape: Any) -> Any:
    if isinstance(target, SymbolicTensor):
        return target
    if isinstance(target, (list, tuple)) and any(isinstance(d, SymbolicTensor) for d in target):
        return stack([cast(convert(-1 if d is None else d), int64) for d in target])
    return convert([-1 if d is None else d for d in shape], int64)


def _padded_shape(shape: Any, component: TensorShape) -> TensorShape:
    if isinstance(shape, SymbolicTensor):
        shape = static_shape(shape)
    if not isinstance(shape, TensorShape):
        dims = [integer(d) if d is not None else None for d in shape]
        shape = TensorShape([None if d == -1 or type(d) is UnknownInteger else d for d in dims])
    fits = component.rank is None or (
        shape.rank == component.rank
        and all(p is None or d is None or p >= d for p, d in zip(shape.as_list(), component.as_list(), strict=True))
    )
    if not fits:
        raise ValueError(
            f"The padded shape {shape} is not compatible with the shape {component} of the corresponding input "
            "component."
        )
    return shape


def _padding_value(value: TensorLike | None, dtype: DType) -> Any:
    """Returns the number that fills, as a Python value."""
    if value is None:
        if dtype is variant:
            raise TypeError("Unable to create default padding value for a component of type 'variant'.")
        return b"" if dtype is string else 0
    fill = convert(value)
    if fill.shape.rank != 0:
        raise ValueError(f"Invalid `padding_values`. `padding_values` values should be scalars, but got {fill.shape}.")
    if fill.dtype is not dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {fill.dtype!s} does not match type {dtype!s} of "
            "the corresponding input component."
        )
    return fill if isinstance(fill, SymbolicTensor) else fill.value.item()


def _pad_component(values: Sequence[Any], shape: Any, fill: Any, index: int) -> Any:
    """Returns the values of the component number `index` in one batch, filled up to one shape."""
    rank = len(shape)
    wrong = [v.ndim for v in values if v.ndim != rank]
    if wrong:
        raise invalid(
            "All elements in a batch must have the same rank as the padded shape for component"
            f"{index}: expected rank {rank} but got element with rank {wrong[0]} [Op:IteratorGetNext] name: "
        )
    longest = [max(dims) for dims in zip(*[v.shape for v in values], strict=True)]
    sizes = [n if d is None else d for n, d in zip(longest, shape, strict=True)]
    if any(n > s for n, s in zip(longest, sizes, strict=True)):
        raise DataLossError.of("Attempted to pad to a smaller size than the input element. [Op:IteratorGetNext] name: ")
    full = [len(values), *sizes]
    if isinstance(values[0], StringArray):
        places, first = np.zeros(full, np.int64), 1
        for i, v in enumerate(values):
            where: Any = (i, *map(slice, v.shape))
            places[where] = first + v.places()
            first += v.size
        return StringArray.concatenate([StringArray.of([fill]), *[v.reshape(-1) for v in values]]).take(places)
    out = torch.full(full, fill, dtype=values[0].dtype)
    for i, v in enumerate(values):
        at: Any = (i, *map(slice, v.shape))
        out[at] = v
    return out
