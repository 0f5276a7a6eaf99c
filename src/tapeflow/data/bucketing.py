"""Batches of elements of like length, batches of other sizes, sparse batches, and padding a dataset itself."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import zeros
from tapeflow.array.gathering import gather
from tapeflow.array.joining import stack
from tapeflow.array.passing import identity
from tapeflow.core.errors import DataLossError
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.dtypes import bool_, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.data import structure
from tapeflow.data.dataset import Dataset
from tapeflow.data.grouping import grouped_by_window
from tapeflow.data.node import Node, dataset_op, integer, structured
from tapeflow.data.parts import register
from tapeflow.data.structure import Element, flatten
from tapeflow.data.threads import Failure, raises_failures
from tapeflow.debugging.values import assert_less
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_sum
from tapeflow.sparse.tensor import SparseTensor, SparseTensorSpec


def bucket_by_sequence_length(
    dataset: Any,
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any,
    padding_values: Any,
    pad_to_bucket_boundary: bool,
    no_padding: bool,
    drop_remainder: bool,
) -> Dataset:
    """Implements `Dataset.bucket_by_sequence_length`, with windows of elements whose lengths fall into one bucket."""
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
            f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
        )
    boundaries, sizes = convert(list(bucket_boundaries), int64), convert(list(bucket_batch_sizes), int64)

    def bucket(*element: Any) -> Any:
        length = cast(element_length_func(*element), int64)
        return reduce_sum(cast(length >= boundaries, int64))

    def batch(key: Any, window: Dataset) -> Dataset:
        size = gather(sizes, key)
        if no_padding:
            return window.batch(size, drop_remainder)
        shapes = padded_shapes
        if shapes is None:
            shapes = structure.map_specs(lambda s: s.shape, dataset.element_spec)
        if pad_to_bucket_boundary:
            checked = window.map(lambda *e: _below_last(e, element_length_func, bucket_boundaries))
            longest = gather(boundaries, key) - 1
            flat = structure.flatten_up_to(dataset.element_spec, shapes)
            shapes = structure.pack(dataset.element_spec, [_filled(s, longest) for s in flat])
            return checked.padded_batch(size, shapes, padding_values, drop_remainder)
        return window.padded_batch(size, shapes, padding_values, drop_remainder)

    return grouped_by_window(dataset, bucket, batch, lambda key: gather(sizes, key))


def _below_last(element: Any, length_of: Callable[..., Any], boundaries: Sequence[int]) -> Any:
    """Returns the element, after a check that its length is below the last boundary."""

    check = assert_less(
        length_of(*element),
        convert(boundaries[-1]),
        message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).",
    )
    with control_dependencies([check] if check is not None else []):
        checked = structure.pack(element, [identity(t) for t in flatten(element)])
    return checked if len(element) > 1 else checked[0]


def _filled(shape: Any, longest: Any) -> Any:
    """Returns a shape as a vector, with a number for unknown dimensions."""
    dims = TensorShape(shape).as_list()
    return stack([longest if d is None else convert(d, int64) for d in dims]) if dims else convert([], int64)


# ---- other sizes -----------------------------------------------------------------------------------------------------


@dataset_op("RebatchDatasetV2")
class RebatchDataset(Node):
    """Batches cut and joined to others.

    Args:
        input_dataset: a dataset of batches.
        batch_sizes: a size, or several in turn.
        drop_remainder: whether a last smaller batch is left out.
    """

    def __init__(self, input_dataset: Any, batch_sizes: Any, drop_remainder: Any) -> None:
        self._batch_sizes = [integer(n) for n in np.ravel(np.asarray(batch_sizes)).tolist()]
        self._drop_remainder = bool(drop_remainder)
        if any(n <= 0 for n in self._batch_sizes):
            raise invalid("Batch size must be greater than zero. [Op:RebatchDatasetV2] name: ")
        size = self._batch_sizes[0] if self._drop_remainder and len(set(self._batch_sizes)) == 1 else None

        def other(spec: Any) -> Any:
            if spec.shape.rank == 0:
                raise ValueError(
                    "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar "
                    "elements. Fix the issue by adding the `batch` transformation to the dataset."
                )
            return spec._unbatch()._batch(size)

        super().__init__(structure.map_specs(other, input_dataset.element_spec), input_dataset)

    def _iterate(self) -> Iterator[Element]:
        rows = self._input_dataset.unbatch()
        return self._rebatched(rows._iterate(), flatten(rows.element_spec))

    @raises_failures
    def _rebatched(self, elements: Iterator[Element], specs: Any) -> Generator[Any]:
        sizes = itertools.cycle(self._batch_sizes)
        size = next(sizes)
        while True:
            try:
                run = list(itertools.islice(elements, size))
            except Exception as error:
                yield Failure(error)
                continue
            if not run or (self._drop_remainder and len(run) < size):
                return
            yield structure.batched(run, specs)
            size = next(sizes)


@dataset_op("DenseToSparseBatchDataset")
class SparseBatchDataset(Node):
    """Batches of tensors of different shapes as sparse tensors.

    Args:
        input_dataset: a dataset of tensors.
        batch_size: the number of elements in a batch.
        row_shape: the shape of a row of the result; at least as large as all elements.
    """

    def __init__(self, input_dataset: Any, batch_size: Any, row_shape: Any) -> None:
        spec = input_dataset.element_spec
        if type(spec) is not TensorSpec:
            kinds = structure.map_specs(lambda s: getattr(s, "dtype", s), spec)
            raise TypeError(
                "`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but the "
                f"given dataset has the following component types: {kinds}."
            )
        self._batch_size = integer(batch_size)
        self._row = TensorShape(row_shape)
        super().__init__(SparseTensorSpec(TensorShape([None]).concatenate(self._row), spec.dtype), input_dataset)

    @classmethod
    def _of_op(cls, input_dataset: Any, batch_size: int, row_shape: list[int]) -> SparseBatchDataset:
        shape = [None if d == -1 else d for d in row_shape]
        return cls(structured(input_dataset, input_dataset.element_spec[0]), batch_size, shape)

    @property
    def _row_shape(self) -> list[int]:
        return [-1 if d is None else d for d in self._row.as_list()]

    def _size(self) -> int:
        size = self._input_dataset._size()
        return size if size < 0 else -(-size // self._batch_size)

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        dtype = self._input_dataset.element_spec.dtype
        runs = iter(lambda: [v for (v,) in itertools.islice(inputs[0], self._batch_size)], [])
        return zip(map(functools.partial(self._joined, dtype=dtype), runs), strict=False)

    def _joined(self, run: list[Any], dtype: Any) -> SparseTensor:
        rank = self._row.rank
        longest = np.max([v.shape for v in run], axis=0).tolist() if rank else []
        if any(v.ndim != rank for v in run):
            raise invalid(f"Input element has another rank than the row shape, {self._row}. [Op:IteratorGetNext]")
        dims = [n if d is None else d for n, d in zip(longest, self._row.as_list(), strict=True)]
        if any(n > d for n, d in zip(longest, dims, strict=True)):
            raise DataLossError(
                None, None, f"Input element had shape {longest} that is incompatible with the row shape {dims}."
            )
        places = [(i, *at) for i, v in enumerate(run) for at in np.ndindex(*v.shape)]
        indices = torch.tensor(places, dtype=torch.int64).reshape(-1, rank + 1)
        flat: list[Any] = [v.reshape(-1) for v in run]
        values = torch.cat(flat) if isinstance(run[0], torch.Tensor) else np.concatenate(flat)
        return SparseTensor(EagerTensor(indices, int64), EagerTensor(values, dtype), convert([len(run), *dims], int64))


def pad_to_cardinality(dataset: Dataset, cardinality: int, mask_key: str) -> Dataset:
    """Implements `tf.data.experimental.pad_to_cardinality`."""
    spec = dataset.element_spec
    if not isinstance(spec, dict):
        raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
    size = dataset._size()
    if size < 0:
        raise ValueError(
            f"The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardinality {size}"
        )
    if size > cardinality:
        raise ValueError(
            "The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target cardinality "
            f"({cardinality}), but has cardinality {size}"
        )

    def nothing(_: Any) -> Any:
        return {**structure.map_specs(lambda s: zeros(s.shape, s.dtype), spec), mask_key: convert(False, bool_)}

    valid = dataset.map(lambda x: {**x, mask_key: convert(True, bool_)})
    return valid.concatenate(Dataset.range(cardinality - size).map(nothing))


register(RebatchDataset, SparseBatchDataset, bucket_by_sequence_length)
