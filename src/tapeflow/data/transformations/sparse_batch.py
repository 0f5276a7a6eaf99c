"""`Dataset.sparse_batch`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.errors import DataLossError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, Unary, dataset_op, structure_node
from tapeflow.sparse.tensor import SparseTensor, SparseTensorSpec


@dataset_op("DenseToSparseBatchDataset")
class SparseBatch(Unary):
    """Batches of tensors of different shapes as sparse tensors.

    A row of the result has the shape `row_shape`, which is at least as large as all elements; -1 stands for the longest
    of the batch.
    """

    batch_size: int
    row_shape: Sequence[int]

    @classmethod
    def of_op(cls, input_dataset: Node, batch_size: int, row_shape: list[int]) -> SparseBatch:
        return cls(structure_node(input_dataset, input_dataset.spec[0]), batch_size, row_shape)

    def element_spec(self) -> Any:
        spec = self.input_dataset.spec
        if type(spec) is not TensorSpec:
            kinds = elements.map_specs(lambda s: getattr(s, "dtype", s), spec)
            raise TypeError(
                "`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but the "
                f"given dataset has the following component types: {kinds}."
            )
        row = [None if d == -1 else d for d in self.row_shape]
        return SparseTensorSpec(TensorShape([None, *row]), spec.dtype)

    def cardinality(self) -> int:
        size = self.input_dataset.cardinality()
        return size if size < 0 else -(-size // self.batch_size)

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        runs = iter(lambda: [v for (v,) in itertools.islice(inputs[0], self.batch_size)], [])
        return zip(map(self._joined, runs), strict=False)

    def _joined(self, run: list[Any]) -> SparseTensor:
        rank = len(self.row_shape)
        longest = np.max([v.shape for v in run], axis=0).tolist() if rank else []
        if any(v.ndim != rank for v in run):
            raise invalid(
                f"Input element has another rank than the row shape, {self.spec.shape[1:]}. [Op:IteratorGetNext]"
            )
        dims = [n if d == -1 else d for n, d in zip(longest, self.row_shape, strict=True)]
        if any(n > d for n, d in zip(longest, dims, strict=True)):
            raise DataLossError.of(
                f"Input element had shape ({longest}) that is larger than the row shape ({dims}). [Op:IteratorGetNext] "
                "name: "
            )
        places = [(i, *at) for i, v in enumerate(run) for at in np.ndindex(*v.shape)]
        indices = torch.tensor(places, dtype=torch.int64).reshape(-1, rank + 1)
        flat: list[Any] = [v.reshape(-1) for v in run]
        whole = torch.cat(flat) if isinstance(run[0], torch.Tensor) else StringArray.concatenate(flat)
        values = EagerTensor(whole, self.spec.dtype)
        return SparseTensor(EagerTensor(indices, int64), values, convert([len(run), *dims], int64))
