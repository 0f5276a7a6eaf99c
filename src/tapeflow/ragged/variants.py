"""Ragged tensors in variants, as the elements of datasets and of `tf.map_fn` hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.ops.shape_rules import with_rank
from tapeflow.core.types.dtypes import FROM_TORCH, DType, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid


def _variant_rule(splits: Sequence[Any], values: TensorShape, batched_input: bool) -> TensorShape:
    counts = [with_rank(part, 1)[0] for part in splits]
    if not batched_input:
        return TensorShape([])
    if counts and counts[0] == 0:
        raise invalid("Negative dimension size caused by subtracting 1 from 0")
    rows = (values[0] if values.rank else None) if not counts else counts[0] and counts[0] - 1
    return TensorShape([rows])


@kernel_of("RaggedTensorToVariant", shape=_variant_rule)
def _ragged_to_variant(splits: Sequence[Any], values: StringArray | torch.Tensor, batched_input: bool) -> Any:
    if not batched_input:
        return box_object((tuple(splits), values))
    if not splits:
        slices = map(values.take, values.places()) if isinstance(values, StringArray) else values.unbind()
        rows = [((), part) for part in slices]
    else:
        rows = []
        for start, stop in zip(splits[0].tolist(), splits[0].tolist()[1:], strict=False):
            inner = []
            for level in splits[1:]:
                inner.append(level[start : stop + 1] - level[start])
                start, stop = int(level[start]), int(level[stop])
            rows.append((tuple(inner), values[start:stop]))
    array = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        array[i] = row
    return array


@kernel_of("RaggedTensorFromVariant")
def _ragged_from_variant(encoded: Any, input_rank: int, output_rank: int, dtype: DType, split_dtype: DType) -> Any:
    def joined(rows: Sequence[Any]) -> Any:
        levels = [torch.tensor([0, *np.cumsum([_encoded_rows(r) for r in rows])], dtype=split_dtype.torch)]
        for depth in range(len(rows[0][0]) if rows else 0):
            parts = [r[0][depth] for r in rows]
            ends = np.cumsum([0, *[int(p[-1]) for p in parts]])
            shifted = [p[1:] + int(e) for p, e in zip(parts, ends, strict=False)]
            levels.append(torch.cat([torch.zeros(1, dtype=split_dtype.torch), *shifted]))
        values = [r[1] for r in rows]
        join = StringArray.concatenate if isinstance(values[0], StringArray) else torch.cat
        return tuple(levels), join(values)

    def of(array: np.ndarray) -> Any:
        if array.ndim == 0:
            return array[()]
        return joined([of(np.asarray(a, object) if not isinstance(a, tuple) else box_object(a)) for a in array])

    splits, values = of(encoded)
    if len(splits) != output_rank:
        raise invalid(f"output_ragged_rank must be {len(splits)}, as the variant holds, but is {output_rank}")
    held = string if isinstance(values, StringArray) else FROM_TORCH[values.dtype]
    if held is not dtype:
        raise invalid(f"Expected values Tensor dtype: {dtype.name}, found: {held.name}")
    return *splits, values


def _encoded_rows(row: tuple[Any, Any]) -> int:
    """Returns the number of rows of an encoded ragged tensor."""
    splits, values = row
    return len(splits[0]) - 1 if splits else len(values)
