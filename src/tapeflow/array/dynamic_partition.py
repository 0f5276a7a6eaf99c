"""Ops that distribute the slices of a tensor among several tensors, and put them together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import range_op
from tapeflow.array.gathers import check_indices, gather
from tapeflow.array.properties import size_op
from tapeflow.array.reshapes import reshape
from tapeflow.core.autodiff.gradients import shape_argument, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import op, widen
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid


def _partition_rule(data: TensorShape, partitions: TensorShape, num_partitions: int) -> list[TensorShape]:
    if data.rank is None or partitions.rank is None:
        return [TensorShape(None)] * num_partitions
    if not data[: partitions.rank].is_compatible_with(partitions):
        raise invalid(
            f"data.shape must start with partitions.shape, got data.shape = {text(data)}, "
            f"partitions.shape = {text(partitions)}"
        )
    return [TensorShape([None, *data.as_list()[partitions.rank :]])] * num_partitions


def _partition_kernel(data: torch.Tensor, partitions: torch.Tensor, num_partitions: int) -> tuple[torch.Tensor, ...]:
    rank = partitions.ndim
    if data.shape[:rank] != partitions.shape:
        raise TypeError("the shape rule says what is wrong")
    low, high = (int(end) for end in partitions.aminmax()) if partitions.numel() else (0, 0)
    if low < 0 or high >= num_partitions:
        check_indices(partitions, num_partitions, "partitions")
    which = partitions.reshape(-1)
    rows = data.reshape((which.numel(), *data.shape[rank:]))
    order = _stable_order(which.to(torch.uint8) if num_partitions <= 256 else which)  # bytes are faster
    counts = torch.bincount(which, minlength=num_partitions).tolist()
    return torch.split_with_sizes(torch.index_select(rows, 0, order), counts)


def _stable_order(x: torch.Tensor) -> torch.Tensor:
    """Returns the order of integers. NumPy counts small ones, ATen compares."""
    return torch.from_numpy(np.argsort(x.numpy(), kind="stable")) if by_value(x) else torch.argsort(x, stable=True)


@op("DynamicPartition", kernel=_partition_kernel, shape=_partition_rule, moves=True)
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """Distributes the slices of a tensor among several tensors.

    Args:
        data: a tensor of any dtype. Its shape begins with `partitions.shape`.
        partitions: an int32 tensor of a shape that `data.shape` starts with: for each slice the number of its tensor.
        num_partitions: an int, the number of tensors.

    Returns:
        A list of tensors; each has its slices in the order they have in `data`.

    Raises:
        InvalidArgumentError: a number is out of range, or the shapes do not go together.

    Example:
        >>> [t.numpy().tolist() for t in tf.dynamic_partition([10, 20, 30], [1, 0, 1], 2)]
        [[20], [10, 30]]
    """


@dynamic_partition.gradient(needs="input1 shapes")
def _(call: Call, *dys: Any) -> Any:
    partitions = call.inputs[1]
    places = reshape(range_op(0, size_op(partitions), 1), shape_argument(shape_of(partitions)))
    stitched = dynamic_stitch(dynamic_partition(places, partitions, call.attrs[0]), list(dys))
    return reshape(stitched, shape_argument(call.shape(0))), None


def _stitch_rule(indices: list[TensorShape], data: list[TensorShape]) -> TensorShape:
    if not indices or len(indices) != len(data):
        raise invalid(f"Value for attr 'N' of {len(indices)} must be at least minimum 1, and as many data: {len(data)}")
    inner: TensorShape | None = None
    for i, (index, values) in enumerate(zip(indices, data, strict=True)):
        if index.rank is None or values.rank is None:
            continue
        if not values[: index.rank].is_compatible_with(index):
            raise invalid(f"data[{i}].shape = {text(values)} does not start with indices[{i}].shape = {text(index)}")
        rest = values[index.rank :]
        if inner is not None and not rest.is_compatible_with(inner):
            raise invalid(
                f"Need data[0].shape[{indices[0].rank}:] = data[{i}].shape[{index.rank}:], got data[0].shape = "
                f"{text(data[0])}, data[{i}].shape = {text(values)}"
            )
        inner = rest if inner is None else inner.merge_with(rest)
    return TensorShape(None) if inner is None else TensorShape([None]).concatenate(inner)


@op("DynamicStitch", shape=_stitch_rule, moves=True)
def _dynamic_stitch(indices: list[torch.Tensor], data: list[torch.Tensor]) -> torch.Tensor:
    """Puts the slices of several tensors at the places that indices name."""
    _stitch_rule([TensorShape(i.shape) for i in indices], [TensorShape(d.shape) for d in data])
    size = 0
    for i, index in enumerate(indices):
        if index.numel():
            if int(index.min()) < 0:
                raise invalid(f"indices[{i}] is out of range")
            size = max(size, int(index.max()) + 1)
    shape = (size, *data[0].shape[indices[0].ndim :])
    check_memory(shape, data[0].itemsize, UNFILLED)
    out = data[0].new_zeros(shape)
    for index, values in zip(indices, data, strict=True):  # the last of several equal indices wins
        out[index.reshape(-1).to(torch.int64)] = values.reshape((index.numel(), *out.shape[1:]))
    return out


def _stitch_slowly(args: tuple[Any, ...], name: str | None = None) -> Any:
    """Stitches off the fast path: static indices tell the length of the result of a graph."""
    result = _dynamic_stitch.op.run(args, name)
    if isinstance(result, SymbolicTensor) and result.shape.rank:
        places = [value_of(t) for t in result.op.args[0]]
        if all(p is not None for p in places):
            result.set_shape([max([0, *(int(p.max()) + 1 for p in places if p.numel())]), *result.shape[1:]])
    return result


@widen(_dynamic_stitch, _stitch_slowly)
def dynamic_stitch(indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Puts the slices of several tensors at the places that indices name.

    Args:
        indices: a list of int32 tensors of any shapes.
        data: as many tensors of one dtype; `data[i].shape` starts with `indices[i].shape`.

    Returns:
        A tensor whose slice `indices[i][j]` is `data[i][j]`. Of several for one place the last one counts.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is negative.

    Example:
        >>> tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy().tolist()
        [10, 20, 30]
    """


@_dynamic_stitch.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    count = len(call.inputs) // 2
    wanted = call.wanted[count:]
    grads = [gather(dy, index) if w else None for index, w in zip(call.inputs[:count], wanted, strict=True)]
    return [None] * count + grads
