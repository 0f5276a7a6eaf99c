"""Collectives as ops: reductions and concatenations over all workers. As ops they keep their order in graphs.

Values are summed in packs, from the last one to the first: the order in which a backward pass computes gradients. A
pack travels while a function computes the next one: `StartAllReduce` runs as soon as its inputs exist, and
`FinishAllReduce` at the first use of the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.op import op
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor
from tapeflow.distribute.replica_reductions import ReduceOp
from tapeflow.distribute.workers import WorkerGroup, groups

# As torch's DistributedDataParallel: long enough for the bandwidth; a short one first, which is soon on its way.
_FIRST_PACK, _PACK = 1 << 20, 25 << 20


@op(
    "StartAllReduce",
    signature="values:N*T -> number:int64; attr=N:int; attr=T:type; attr=group_key:int; is_stateful=true; "
    "is_distributed_communication=true",
    shape=lambda values, group_key: TensorShape([]),
    early=True,
)
def _start_all_reduce(values: list[torch.Tensor], group_key: int) -> torch.Tensor:
    """Starts to sum tensors over all workers, and returns the number of the sums."""
    return torch.tensor(groups[group_key].start(values))


@op(
    "FinishAllReduce",
    signature="number:int64, values:N*T -> totals:N*T; attr=N:int; attr=T:type; attr=divisor:int; attr=group_key:int; "
    "is_stateful=true; is_distributed_communication=true",
    shape=lambda number, values, *_: values,
    allocates=True,
)
def _finish_all_reduce(
    number: torch.Tensor, values: list[torch.Tensor], divisor: int, group_key: int
) -> list[torch.Tensor]:
    """Returns the sums of tensors over all workers, divided."""
    return groups[group_key].finish(int(number), values, divisor)


def _pack_indices(values: Sequence[Any], size: int) -> list[list[int]]:
    """Returns the indices of tensors in packs of so many bytes at most, but for a tensor that is larger by itself.

    The last tensors come first. The bytes of a tensor whose shape is not static count as none.

    Args:
        values: the tensors.
        size: the number of bytes; 0 leaves it open.
    """
    packs: list[list[int]] = [[]]
    total, limit = 0, size or _FIRST_PACK
    for i in reversed(range(len(values))):
        tensor = values[i]
        count = (tensor.shape.num_elements() or 0) * tensor.dtype.size
        if packs[-1] and total + count > limit:
            packs.append([])
            total, limit = 0, size or _PACK
        packs[-1].append(i)
        total += count
    return packs


def _gather_value(value: TensorShape, axis: int, group_key: int) -> TensorShape:
    if value.rank is None:
        return value
    dims = value.as_list()
    dims[axis] = None
    return TensorShape(dims)


@op(
    "AllGatherOfWorkers",
    signature="value:T -> joined:T; attr=T:type; attr=axis:int; attr=group_key:int; is_stateful=true; "
    "is_distributed_communication=true",
    shape=_gather_value,
    allocates=True,
)
def _all_gather(value: torch.Tensor, axis: int, group_key: int) -> torch.Tensor:
    """Returns the values of all workers concatenated along an axis."""
    return groups[group_key].all_gather(value, axis)


def all_reduce(group: WorkerGroup, reduce_op: ReduceOp, values: Sequence[Any], replicas: int) -> list[Any]:
    """Returns the sums or means over all workers.

    Args:
        group: the workers.
        reduce_op: a `tf.distribute.ReduceOp`.
        values: tensors and `tf.IndexedSlices`, the sums over this worker's replicas.
        replicas: the number of replicas, the divisor of means.

    Returns:
        A list of the totals.
    """
    parts = replicas if reduce_op is ReduceOp.MEAN else 1
    totals: list[Any] = [None] * len(values)
    by_dtype: dict[Any, list[int]] = {}
    for i, value in enumerate(values):
        if isinstance(value, IndexedSlices):
            rows, places = (all_gather(group, part, 0) for part in (value.values, value.indices))
            totals[i] = IndexedSlices(rows if parts == 1 else rows / parts, places, value.dense_shape)
        else:
            by_dtype.setdefault(value.dtype, []).append(i)
    for dtype, indices in by_dtype.items():
        exact = dtype.is_integer  # means of integers are floats
        chosen = _pack_indices([values[i] for i in indices], group.bytes_per_pack)
        packs = [[indices[i] for i in pack] for pack in chosen]
        numbers = [_start_all_reduce([values[i] for i in pack], group.key) for pack in packs]
        for pack, number in zip(packs, numbers, strict=True):
            sums = _finish_all_reduce(number, [values[i] for i in pack], 1 if exact else parts, group.key)
            for i, total in zip(pack, sums, strict=True):
                totals[i] = total / parts if exact and parts > 1 else total
    return totals


def all_gather(group: WorkerGroup, value: Tensor, axis: int) -> Tensor:
    """Returns the values of all workers concatenated along an axis.

    Args:
        group: the workers.
        value: a tensor, of the same shape in all workers but for `axis`.
        axis: the axis of the concatenation.
    """
    return _all_gather(value, axis, group.key)
