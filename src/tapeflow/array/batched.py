"""Code that the batching rules of several array ops share; see `core/ops/batch_rules.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.creation import range_op
from tapeflow.array.reshapes import broadcast_to
from tapeflow.core.ops.batch_rules import Batch, NoRule, Rule, Slices, static, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import DType


def with_entry_for_batch(entry: int | tuple[int, ...]) -> Rule:
    """Returns the rule of ops that take a host argument with one entry per dimension, as `Pad` and `Tile` do.

    Args:
        entry: the entry that keeps the batch dimension unchanged.
    """

    def rule(batch: Batch, x: Slices, entries: Any, *rest: Any) -> Any:
        if any(isinstance(r, Slices) and r.stacked for r in rest):
            raise NoRule
        others = [r.value if isinstance(r, Slices) else r for r in rest]
        return batch.run(x.value, (entry, *vector(entries)), *others)

    return rule


def joined_batches(batch: Batch, *args: Any) -> Any:
    """Computes ops whose tensors and results are all batches themselves, by joining the batches of all slices."""
    outputs = batch.run(*batch.op.map(batch.flat, args, host=static))
    first = batch.op.tensors(args)[0]
    results = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    return [batch.unflat(r, t, first) for r, t in zip(results, batch.outputs, strict=True)]


def slice_numbers(batch: Batch, dtype: DType, dims: Sequence[Any]) -> Any:
    """Returns the numbers of the slices, each repeated to a shape: `[count, *dims]`."""
    count = ops.Cast(convert(batch.count), dtype)
    numbers = range_op(convert(0, dtype), count, convert(1, dtype))
    return broadcast_to(batch.reshape(numbers, [1] * len(dims)), (batch.count, *dims))


def with_slice_numbers(batch: Batch, indices: Slices) -> Any:
    """Returns indices `[count, ..., k + 1]` into a batch: those into a slice, behind the number of the slice."""
    stacked = batch.stack(indices)
    return ops.ConcatV2([slice_numbers(batch, stacked.dtype, [*batch.dims(indices)[:-1], 1]), stacked], -1)
