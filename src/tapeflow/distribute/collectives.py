"""Collectives as ops, so that they stand in graphs, in their order: reductions and concatenations over all workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.op import op
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor
from tapeflow.distribute.reducing import ReduceOp
from tapeflow.distribute.workers import WorkerGroup, groups


def _all_reduce_kernel(values: list[torch.Tensor], divisor: int, group_key: int) -> list[torch.Tensor]:
    return groups[group_key].all_reduce(values, divisor)


@op(
    "AllReduceOfWorkers",
    kernel=_all_reduce_kernel,
    signature="values:N*T -> totals:N*T; attr=N:int; attr=T:type; attr=divisor:int; attr=group_key:int; "
    "is_stateful=true; is_distributed_communication=true",
    shape=lambda values, *_: values,
    allocates=True,
)
def _all_reduce(values: Any, divisor: int, group_key: int, name: str | None = None) -> Any:
    """Returns the sums of tensors over all workers, divided."""


def _all_gather_kernel(value: torch.Tensor, axis: int, group_key: int) -> torch.Tensor:
    return groups[group_key].all_gather(value, axis)


def _gathered(value: TensorShape, axis: int, group_key: int) -> TensorShape:
    if value.rank is None:
        return value
    dims = value.as_list()
    dims[axis] = None
    return TensorShape(dims)


@op(
    "AllGatherOfWorkers",
    kernel=_all_gather_kernel,
    signature="value:T -> joined:T; attr=T:type; attr=axis:int; attr=group_key:int; is_stateful=true; "
    "is_distributed_communication=true",
    shape=_gathered,
    allocates=True,
)
def _all_gather(value: Any, axis: int, group_key: int, name: str | None = None) -> Any:
    """Returns the values of all workers concatenated along an axis."""


def all_reduce(group: WorkerGroup, reduce_op: ReduceOp, values: Sequence[Any], replicas: int) -> list[Any]:
    """Returns the sums or means over all workers.

    Args:
        group: the workers.
        reduce_op: a `tf.distribute.ReduceOp`.
        values: tensors and `tf.IndexedSlices`, the sums over this worker's replicas.
        replicas: the number of replicas, by which means divide.

    Returns:
        A list of the totals.
    """
    parts = replicas if reduce_op is ReduceOp.MEAN else 1
    totals: list[Any] = [None] * len(values)
    by_dtype: dict[Any, list[int]] = {}
    for i, value in enumerate(values):
        if isinstance(value, IndexedSlices):
            rows = all_gather(group, value.values, 0)
            totals[i] = IndexedSlices(
                rows if parts == 1 else rows / parts, all_gather(group, value.indices, 0), value.dense_shape
            )
        else:
            by_dtype.setdefault(value.dtype, []).append(i)
    for dtype, indices in by_dtype.items():
        exact = dtype.is_integer  # means of integers are floats
        sums = _all_reduce([values[i] for i in indices], 1 if exact else parts, group.key)
        for i, total in zip(indices, sums, strict=True):
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
