"""Ops that write slices at places that indices name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import with_slice_numbers
from tapeflow.array.creation import zeros
from tapeflow.array.gathers import drops_bad_indices, flat_places, gather_nd
from tapeflow.array.identities import cast_to
from tapeflow.core.autodiff.gradients import shape_argument
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.loops import Bytes, Int64s, copy, loop
from tapeflow.core.ops.batch_rules import Batch, Slices, vector
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import by_value, may_have_nan
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import leave_to_kernel, listed_shape, text
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.string_joins import join_segments
from tapeflow.core.values.strings import StringArray, offsets_of
from tapeflow.core.values.tensor import Tensor, flat_bytes, invalid


def _scatter_rule(indices: TensorShape, updates: TensorShape, shape: ShapeLike, _: str = "") -> TensorShape:
    target = listed_shape(shape)
    if indices.rank is None or updates.rank is None:
        return target
    outer = indices.rank - 1
    if outer < 0:
        raise invalid("Indices shape must have rank at least one. Found:[]")
    _check_filled(target, indices, updates)
    depth = indices[-1]
    if depth is None:  # nothing else is looked at
        return target
    if updates.rank < outer:
        raise invalid(f"Shape must be at least rank {outer} but is rank {updates.rank}")
    if not indices[:-1].is_compatible_with(updates[:outer]):
        raise invalid(
            f"Dimensions [0,{outer}) of indices[shape={text(indices)}] must match dimensions [0,{outer}) of "
            f"updates[shape={text(updates)}]"
        )
    if target.rank is None:  # not static
        return target
    message = (
        f"Dimensions [{depth},{target.rank}) of input[shape={text(target)}] must match dimensions "
        f"[{outer},{updates.rank}) of updates[shape={text(updates)}]"
    )
    if depth is not None and not target[depth:].is_compatible_with(updates[outer:]):
        raise invalid(message)
    if depth is not None and depth > target.rank:
        leave_to_kernel(message)
    return target


def _check_filled(target: TensorShape, indices: TensorShape, updates: TensorShape) -> None:
    if target.num_elements() == 0 and (indices.num_elements() or updates.num_elements()):
        raise invalid("Indices and updates specified for empty input")


def _misfit_message(target: TensorShape, indices: TensorShape, updates: TensorShape) -> str:
    return f"Updates of shape {text(updates)} do not fit indices of shape {text(indices)} into {text(target)}"


def _scatter_places(
    indices: torch.Tensor, updates: torch.Tensor, shape: Sequence[int], policy: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the places of the updates in the flattened leading dimensions of a shape, and the updates in as many
    rows.
    """
    if not indices.ndim or indices.shape[-1] > len(shape):
        raise TypeError("the shape rule says what is wrong")
    depth, outer = indices.shape[-1], indices.shape[:-1]
    inner = torch.Size(shape[depth:])
    if updates.shape != outer + inner:
        raise TypeError("the shape rule says what is wrong")
    updates = updates.reshape((math.prod(outer), *inner))
    if drops_bad_indices(indices, policy):
        rows = indices.reshape(updates.shape[0], depth).to(torch.int64)
        good = ((rows >= 0) & (rows < torch.tensor(shape[:depth], device=rows.device))).all(1)
        indices, updates = rows[good], updates[good]
    return flat_places(indices, shape, "shape")[0], updates


def _flatten_leading(tensor: torch.Tensor, depth: int) -> torch.Tensor:
    return tensor.reshape((math.prod(tensor.shape[:depth]), *tensor.shape[depth:]))


def _scatter_strings(indices: torch.Tensor, updates: StringArray, shape: tuple[int, ...], policy: str) -> Any:
    """Scatters strings, joining all at one place; or integers of a quantized dtype."""
    order = torch.arange(updates.size).view(updates.shape)
    places, rows = _scatter_places(indices, order, shape, policy)
    width, total = math.prod(shape[indices.shape[-1] :]), math.prod(shape)
    targets = (places.numpy()[:, None] * width + np.arange(width)).reshape(-1)
    sources = rows.numpy().reshape(-1)
    if not isinstance(updates, StringArray):
        out = np.zeros(total, updates.dtype)
        np.add.at(out, targets, updates.reshape(-1)[sources])
        return out.reshape(tuple(shape))
    check_memory([total], 8, UNFILLED)
    in_order = sources[np.argsort(targets, kind="stable")]
    return join_segments(updates, in_order, offsets_of(np.bincount(targets, minlength=total)), b"", shape)


@op("ScatterNd", host=("shape",), shape=_scatter_rule, strings=_scatter_strings)
def scatter_nd_op(
    indices: torch.Tensor, updates: torch.Tensor, shape: Sequence[int], bad_indices_policy: str = ""
) -> torch.Tensor:
    """Returns zeros of a shape, with updates added at places."""
    places, rows = _scatter_places(indices, updates, shape, bad_indices_policy)
    out = _flatten_leading(updates.new_zeros(shape), indices.shape[-1])
    if rows.dtype == torch.bool:  # adding up is `or`
        out[places[rows]] = True
        return out.view(shape)
    return out.index_add_(0, places, rows).view(shape)


@scatter_nd_op.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return None, gather_nd(dy, call.inputs[0], bad_indices_policy=call.attrs[1])


@scatter_nd_op.batching
def _(batch: Batch, indices: Slices, updates: Slices, shape: Any, bad_indices_policy: str) -> Any:
    whole = (batch.count, *vector(shape))
    return batch.run(with_slice_numbers(batch, indices), batch.stack(updates), whole, bad_indices_policy)


def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: ShapeLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Adds updates to a tensor of zeros, at the places that indices name.

    Args:
        indices: an int16, int32 or int64 tensor of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: a tensor of shape `indices.shape[:-1] + shape[k:]`.
        shape: the shape of the result.
        bad_indices_policy: "ERROR", or "IGNORE": updates at indices out of range are left out. By default an error on
            the CPU.

    Returns:
        A tensor of shape `shape` and of the dtype of `updates`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.scatter_nd([[1], [1]], [3, 4], [3]).numpy().tolist()
        [0, 7, 0]
    """
    return scatter_nd_op(indices, updates, shape, bad_indices_policy, name)


# ---- into a tensor ---------------------------------------------------------------------------------------------------


def _into_rule(tensor: TensorShape, indices: TensorShape, updates: TensorShape, _: str = "") -> TensorShape:
    if indices.rank is None or updates.rank is None:
        return tensor
    if tensor.rank == 0:
        raise invalid("Shape must be at least rank 1 but is rank 0")
    if not indices.rank:
        raise invalid("Indices shape must have rank at least one. Found:[]")
    outer, depth = indices.rank - 1, indices[-1]
    _check_filled(tensor, indices, updates)
    if outer and not updates.rank:
        leave_to_kernel(_misfit_message(tensor, indices, updates))
        return tensor
    if not indices[:-1].is_compatible_with(updates[:outer]):
        raise invalid(
            "Outer dimensions of indices and update must match. "
            f"Indices shape: {text(indices)}, updates shape:{text(updates)}"
        )
    if tensor.rank is None:
        return tensor
    if depth is not None and not tensor[depth:].is_compatible_with(updates[outer:]):
        raise invalid(
            "Inner dimensions of output shape must match inner dimensions of updates shape. "
            f"Output: {text(tensor)} updates: {text(updates)}"
        )
    if depth is not None and depth > tensor.rank:
        leave_to_kernel(_misfit_message(tensor, indices, updates))
    return tensor


def _scatter_rows(tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, policy: str) -> Any:
    places, rows = _scatter_places(indices, updates, tensor.shape, policy)
    out = tensor.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return out, _flatten_leading(out, indices.shape[-1]), places, rows


def _accumulate_kernel(sign: int) -> Any:
    def kernel(tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, policy: str) -> torch.Tensor:
        out, target, places, rows = _scatter_rows(tensor, indices, updates, policy)
        target.index_add_(0, places, rows, alpha=sign)
        return out

    return kernel


def _extreme_kernel(reduction: str, least: float) -> Any:
    """Returns a kernel by a comparison, which no NaN among the updates passes and none in the tensor ends."""

    def kernel(tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, policy: str) -> torch.Tensor:
        out, target, places, rows = _scatter_rows(tensor, indices, updates, policy)
        if rows.is_floating_point() and may_have_nan(rows):
            rows = (torch.fmax if least < 0 else torch.fmin)(rows, rows.new_full((), least))
        where = places.reshape((-1,) + (1,) * (rows.ndim - 1)).expand_as(rows)
        target.scatter_reduce_(0, where, rows, reduction)
        return out

    return kernel


@loop
def _copy_rows(target: Bytes, places: Int64s, count: int, rows: Bytes, size: int) -> None:
    """Copies rows of `size` bytes to places, one after the other: of several for one place, the last one remains."""
    for i in range(count):
        copy(target, places[i] * size, rows, i * size, size)


@op("TensorScatterUpdate", shape=_into_rule, moves=True,
    in_loops=lambda b, x, indices, updates, _: b.update(x, indices, updates))  # fmt: skip
def tensor_scatter_update(
    tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, bad_indices_policy: str = ""
) -> torch.Tensor:
    """Replaces slices of a tensor at places."""
    out, target, places, rows = _scatter_rows(tensor, indices, updates, bad_indices_policy)
    if not by_value(rows):
        target[places] = rows
    elif rows.numel():
        data = flat_bytes(rows)
        count = places.numel()
        _copy_rows(flat_bytes(target), places, count, data, data.numel() // count)
    return out


@tensor_scatter_update.gradient(needs="input1 shapes")
def _(call: Call, dy: Tensor) -> Any:
    indices, policy = call.inputs[1], call.attrs[0]
    without = tensor_scatter_update(dy, indices, zeros(shape_argument(call.shape(2)), dy.dtype), policy)
    return without, None, gather_nd(dy, indices, bad_indices_policy=policy)


def _updated_batch(batch: Batch, tensor: Slices, indices: Slices, updates: Slices, bad_indices_policy: str) -> Any:
    places = with_slice_numbers(batch, indices)
    return batch.run(batch.stack(tensor), places, batch.stack(updates), bad_indices_policy)


tensor_scatter_update.batching(_updated_batch)


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """Replaces slices of a tensor at the places that indices name.

    Args:
        tensor: a tensor of any dtype, with at least one dimension.
        indices: an integer tensor of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: a tensor of shape `indices.shape[:-1] + tensor.shape[k:]`. Of several for one place, the last one
            counts.

    Returns:
        A tensor of the dtype and shape of `tensor`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]).numpy().tolist()
        [1, 9, 3]
    """
    return tensor_scatter_update(tensor, indices, updates, "", name)


@op("TensorScatterAdd", kernel=_accumulate_kernel(1), shape=_into_rule, batching=_updated_batch)
def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Adds updates to a tensor at the places that indices name.

    Args:
        tensor: a tensor of a numeric dtype, with at least one dimension.
        indices: an integer tensor of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: a tensor of shape `indices.shape[:-1] + tensor.shape[k:]`. Several for one place add up.
        bad_indices_policy: "ERROR", or "IGNORE": updates at indices out of range are left out. By default an error on
            the CPU.

    Returns:
        A tensor of the dtype and shape of `tensor`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.tensor_scatter_nd_add([1, 2, 3], [[1], [1]], [10, 20]).numpy().tolist()
        [1, 32, 3]
    """


@tensor_scatter_nd_add.gradient(needs="input1")
def _(call: Call, dy: Tensor) -> Any:
    return dy, None, gather_nd(dy, call.inputs[1], bad_indices_policy=call.attrs[0])


@op("TensorScatterSub", kernel=_accumulate_kernel(-1), shape=_into_rule, batching=_updated_batch)
def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Subtracts updates from a tensor at the places that indices name.

    Args:
        tensor: a tensor of a numeric dtype, with at least one dimension.
        indices: an integer tensor of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: a tensor of shape `indices.shape[:-1] + tensor.shape[k:]`. Several for one place add up.
        bad_indices_policy: "ERROR", or "IGNORE": updates at indices out of range are left out. By default an error on
            the CPU.

    Returns:
        A tensor of the dtype and shape of `tensor`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.tensor_scatter_nd_sub([1, 2, 3], [[1]], [10]).numpy().tolist()
        [1, -8, 3]
    """


@tensor_scatter_nd_sub.gradient(needs="input1")
def _(call: Call, dy: Tensor) -> Any:
    return dy, None, -gather_nd(dy, call.inputs[1], bad_indices_policy=call.attrs[0])


@op("TensorScatterMax", kernel=_extreme_kernel("amax", -torch.inf), shape=_into_rule, batching=_updated_batch)
def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Takes the maximum of a tensor and of updates at the places that indices name.

    Args:
        tensor: a tensor of a real dtype, with at least one dimension.
        indices: an integer tensor of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: a tensor of shape `indices.shape[:-1] + tensor.shape[k:]`.
        bad_indices_policy: "ERROR", or "IGNORE": updates at indices out of range are left out. By default an error on
            the CPU.

    Returns:
        A tensor of the dtype and shape of `tensor`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.tensor_scatter_nd_max([1, 2, 3], [[1], [2]], [9, 0]).numpy().tolist()
        [1, 9, 3]
    """


@op("TensorScatterMin", kernel=_extreme_kernel("amin", torch.inf), shape=_into_rule, batching=_updated_batch)
def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Takes the minimum of a tensor and of updates at the places that indices name.

    Args:
        tensor: a tensor of a real dtype, with at least one dimension.
        indices: an integer tensor of shape `[..., k]`: each row is an index into the first k dimensions.
        updates: a tensor of shape `indices.shape[:-1] + tensor.shape[k:]`.
        bad_indices_policy: "ERROR", or "IGNORE": updates at indices out of range are left out. By default an error on
            the CPU.

    Returns:
        A tensor of the dtype and shape of `tensor`.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an index is out of range.

    Example:
        >>> tf.tensor_scatter_nd_min([1, 2, 3], [[1], [2]], [9, 0]).numpy().tolist()
        [1, 2, 0]
    """


def _extreme_gradient(call: Call, dy: Tensor) -> Any:
    """Shares the gradient between the tensor and the updates that are the extreme, as TensorFlow does."""
    tensor, indices, updates = call.inputs
    out = call.outputs[0]
    here = cast_to(ops.Equal(out, tensor), dy.dtype)
    there = cast_to(ops.Equal(gather_nd(out, indices), updates), dy.dtype)
    count = tensor_scatter_nd_add(here, indices, there)
    share = dy / count
    return ops.Mul(share, here), None, ops.Mul(gather_nd(share, indices), there)


tensor_scatter_nd_max.gradient(needs="inputs outputs")(_extreme_gradient)
tensor_scatter_nd_min.gradient(needs="inputs outputs")(_extreme_gradient)
