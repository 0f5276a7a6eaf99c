"""Ops that pick elements and slices by their indices."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import with_slice_numbers
from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import range_op
from tapeflow.array.identities import cast_to
from tapeflow.array.reshapes import broadcast_to, inverse_permutation, reshape, squeeze, transpose, transpose_op
from tapeflow.core.autodiff.gradients import is_unranked, shape_argument, shape_of, size_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.hooks import hooks
from tapeflow.core.loops import Int64s, loop
from tapeflow.core.ops.batch_rules import Batch, Slices, static
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import NotStatic, ops
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import argument_shape, leave_to_kernel, text, with_rank
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor, invalid, is_traced

# ---- gather ----------------------------------------------------------------------------------------------------------


def _gather_rule(params: TensorShape, indices: TensorShape, axis: int, batch_dims: int = 0) -> TensorShape:
    if params.rank == 0:
        raise invalid("params must be at least 1 dimensional")
    if argument_shape(axis).rank not in (0, None):
        raise invalid("axis must be scalar")
    rank = params.rank
    if rank is None or indices.rank is None:
        return TensorShape(None)
    if isinstance(axis, Tensor):  # not static
        return TensorShape([None] * (rank - 1 + indices.rank - batch_dims)) if batch_dims >= 0 else TensorShape(None)
    if not -rank <= axis < rank:
        least = axis + 1 if axis >= 0 else -axis
        raise invalid(f"Shape must be at least rank {least} but is rank {rank}")
    axis %= rank
    if not -indices.rank <= batch_dims <= indices.rank:
        raise invalid(f"Expected batch_dims in the range [{-indices.rank}, {indices.rank}], but got {batch_dims}")
    batch_dims = batch_dims + indices.rank if batch_dims < 0 else batch_dims
    if batch_dims > axis:
        leave_to_kernel(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis}).")
    for i in range(min(batch_dims, rank)):
        if None not in (params[i], indices[i]) and params[i] != indices[i]:
            leave_to_kernel(f"params.shape[{i}]: {params[i]} should be equal to indices.shape[{i}]: {indices[i]}")
    return TensorShape(params.as_list()[:axis] + indices.as_list()[batch_dims:] + params.as_list()[axis + 1 :])


def _taken_at(params: torch.Tensor, indices: torch.Tensor, axis: int) -> torch.Tensor:
    if indices.ndim == 1:
        return torch.index_select(params, axis, indices)
    if indices.dtype == torch.int16:
        indices = indices.to(torch.int32)
    out = torch.index_select(params, axis, indices.reshape(-1))
    axis %= params.ndim
    shape = params.shape
    return out.view(shape[:axis] + indices.shape + shape[axis + 1 :])


def _clip_indices(indices: torch.Tensor, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    outside = (indices < 0) | (indices >= length)
    return torch.where(outside, 0, indices), outside


def check_indices(indices: torch.Tensor, length: int, name: str = "indices") -> None:
    """Raises InvalidArgumentError for the first index that is out of range."""
    for place in torch.nonzero((indices < 0) | (indices >= length)).tolist()[:1]:
        at = f"[{','.join(map(str, place))}]" if place else ""
        raise invalid(f"{name}{at} = {indices[tuple(place)].item()} is not in [0, {length})")


def _taken_in_batches(params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int) -> torch.Tensor:
    rank = params.ndim
    if not rank or not -rank <= axis < rank or not -indices.ndim <= batch_dims <= indices.ndim:
        raise TypeError("the shape rule says what is wrong")
    axis %= rank
    batch_dims = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    batch = params.shape[:batch_dims]
    if batch_dims > axis or indices.shape[:batch_dims] != batch:
        raise TypeError("the shape rule says what is wrong")
    # All batches in a row: [batch, outer, n, inner] indexed by [batch, m].
    outer, inner = params.shape[batch_dims:axis], params.shape[axis + 1 :]
    # An exported program has no values yet.
    if not torch.compiler.is_exporting() and math.prod((*batch, *outer, *inner)):
        check_indices(indices, params.shape[axis])
    rows = params.reshape((math.prod(batch), math.prod(outer), params.shape[axis], math.prod(inner)))
    places = indices.reshape((rows.shape[0], 1, -1, 1)).to(torch.int64)
    size = (rows.shape[0], rows.shape[1], places.shape[2], rows.shape[3])
    out = torch.gather(rows, 2, places.expand(size))
    return out.reshape(batch + outer + indices.shape[batch_dims:] + inner)


@op("GatherV2", host=("axis",), shape=_gather_rule, moves=True, in_loops=lambda b, *args: b.gather(*args))
def gather_v2(params: torch.Tensor, indices: torch.Tensor, axis: int, batch_dims: int = 0) -> torch.Tensor:
    """Picks slices of a tensor along a dimension."""
    if batch_dims or not params.ndim:
        return _taken_in_batches(params, indices, axis, batch_dims)
    if not indices.is_cpu:
        indices, outside = _clip_indices(indices, params.shape[axis])
        out = _taken_at(params, indices, axis)
        if is_traced(outside) or outside.any():  # TensorFlow returns zeros here, since a GPU kernel can't raise
            axis %= params.ndim
            out = out.masked_fill(outside.reshape((1,) * axis + outside.shape + (1,) * (params.ndim - axis - 1)), 0)
        return out
    if is_traced(indices):  # compiled code raises for large indices, and counts negative ones from the end
        return _taken_at(params, torch.where(indices < 0, params.shape[axis], indices), axis)
    try:
        return _taken_at(params, indices, axis)
    except (IndexError, RuntimeError):
        if -params.ndim <= axis < params.ndim:
            axis %= params.ndim
            sizes = (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :])
            if not math.prod(sizes):  # of slices without elements, TensorFlow takes any
                return params.new_empty(sizes)
            check_indices(indices, params.shape[axis])
        if indices.dtype == torch.int16:  # ATen has no such kernel
            return _taken_at(params, indices.to(torch.int32), axis)
        raise


@gather_v2.gradient(needs="input1 shapes")
def _(call: Call, dy: Tensor) -> Any:
    axis, batch_dims = call.attrs
    whole: Any = call.shape(0)
    if is_unranked(whole) and axis == 0 and batch_dims == 0:
        return _rows_of_any_rank(dy, call.inputs[1], whole.__tf_tensor__()), None
    if isinstance(axis, Tensor) or is_unranked(whole):
        raise NotStatic
    shape, indices = tuple(whole), call.inputs[1]
    axis = int(axis) % len(shape)
    if axis == 0 and batch_dims == 0:
        if type(indices) is not EagerTensor or indices.value.ndim != 1:
            fits = all(type(d) is int and d for d in shape[1:])  # then the number of rows follows
            dy = reshape(dy, (-1, *shape[1:]) if fits else (size_of(shape_of(indices)), *shape[1:]))
            indices = reshape(indices, (-1,))
        return IndexedSlices(dy, indices, convert(list(shape), int32)), None
    if batch_dims < 0:
        batch_dims += len(shape_of(indices))
    return _scattered_back(dy, indices, shape, axis, batch_dims), None


@gather_v2.batching
def _(batch: Batch, params: Slices, indices: Slices, axis: int, batch_dims: int) -> Any:
    axis = static(axis) % (params.rank or 1)
    batch_dims = batch_dims + indices.rank if batch_dims < 0 else batch_dims
    if batch_dims or (params.stacked and indices.stacked):
        return batch.run(batch.stack(params), batch.stack(indices), axis + 1, batch_dims + 1)
    if params.stacked:
        return batch.run(params.value, indices.value, axis + 1, 0)
    gathered = batch.run(params.value, indices.value, axis, 0)  # the slices lie along the axis
    rank = params.rank + indices.rank
    return gathered if not axis else transpose_op(gathered, (axis, *range(axis), *range(axis + 1, rank)))


def _rows_of_any_rank(dy: Tensor, indices: Tensor, shape: Tensor) -> IndexedSlices:
    """Returns the gradient of gathering rows of a tensor whose rank is not static."""
    rows = concat([reshape(size_of(shape_of(indices)), [1]), shape[1:]], 0)
    return IndexedSlices(reshape(dy, rows), reshape(indices, (-1,)), shape)


def _scattered_back(dy: Tensor, indices: Tensor, shape: tuple[int, ...], axis: int, batch_dims: int) -> Any:
    """Returns, for each slice of the gathered tensor, the sum of the gradients of all its copies."""
    places = shape_of(indices)
    picked = len(places) - batch_dims  # as many dimensions stand in the place of `axis`
    rank = len(shape_of(dy))
    outer = list(range(batch_dims, axis))
    order = [*range(batch_dims), *range(axis, axis + picked), *outer, *range(axis + picked, rank)]
    dims = shape_of(dy)
    inner = [dims[i] for i in order[batch_dims + picked :]]
    batches, of_each = size_of(shape[:batch_dims]), size_of(places[batch_dims:])
    count = batches * of_each
    rows = reshape(transpose(dy, order), [count, *inner])
    ids = reshape(indices, [batches, of_each])
    if batch_dims:
        # Each batch has its own segments.
        starts = ops.Mul(cast_to(range_op(0, batches, 1), int64), cast_to(shape[axis], int64))
        ids = ops.AddV2(cast_to(ids, int64), reshape(starts, [batches, 1]))
    summed = ops.UnsortedSegmentSum(rows, reshape(ids, [count]), batches * shape[axis])
    summed = reshape(summed, [*shape[:batch_dims], shape[axis], *inner])
    where_now = [*range(batch_dims), axis, *outer, *range(axis + 1, len(shape))]
    return transpose(summed, inverse_permutation(where_now))


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    axis: AxisLike = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """Picks slices of a tensor along a dimension.

    Args:
        params: a tensor of any dtype, with at least one dimension.
        indices: an int16, int32 or int64 tensor of any shape.
        validate_indices: ignored.
        axis: an int, the dimension; `batch_dims` by default.
        batch_dims: an int, the number of leading dimensions that `params` and `indices` have in common; 0 by default.

    Returns:
        A tensor of shape `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`. On a GPU, slices
        at indices out of range are 0.

    Raises:
        InvalidArgumentError: an index is out of range, or there is no such dimension.

    Example:
        >>> tf.gather([10, 20, 30], [2, 0]).numpy().tolist()
        [30, 10]
    """
    if axis is None:
        axis = batch_dims
    elif type(axis) is int and axis == 0:  # as in TensorFlow, there are no batches then
        batch_dims = 0
    return gather_v2(params, indices, axis, batch_dims, name)


# ---- gather_nd -------------------------------------------------------------------------------------------------------


@loop
def _flatten_rows(rows: Int64s, count: int, depth: int, lengths: Int64s, places: Int64s) -> int:
    """Writes the places of indices, and returns the number of the first one out of range, or -1."""
    for i in range(count):
        place = 0
        for d in range(depth):
            index = rows[i * depth + d]
            if not 0 <= index < lengths[d]:
                return i
            place = place * lengths[d] + index
        places[i] = place
    return -1


@functools.lru_cache(1024)
def _lengths_of(*shape: int) -> torch.Tensor:
    """Returns the dimensions of a shape as a tensor, which nothing may change."""
    return torch.tensor(shape, dtype=torch.int64)


def flat_places(
    indices: torch.Tensor, shape: Sequence[int], name: str, ending: str = ""
) -> tuple[torch.Tensor, torch.Size]:
    """Returns the rows of indices `[..., k]` as places in the first k dimensions of a shape, flattened.

    Args:
        indices: integers.
        shape: the shape of the indexed tensor.
        name: its name in the error message.
        ending: the end of the error message.

    Returns:
        The places, as a vector, and the shape of the slice at each.

    Raises:
        InvalidArgumentError: an index is out of range.
    """
    indices = indices.to(torch.int64)
    depth = indices.shape[-1]
    rows = indices.reshape(-1, depth) if depth else indices.new_zeros((math.prod(indices.shape[:-1]), 0))
    if depth > len(shape):
        raise TypeError("the shape rule says what is wrong")
    if by_value(indices):
        flat = torch.empty(rows.shape[0], dtype=torch.int64)
        first = _flatten_rows(rows.contiguous(), rows.shape[0], depth, _lengths_of(*shape[:depth]), flat)
    else:
        lengths = torch.tensor(shape[:depth], dtype=torch.int64, device=indices.device)
        outside = ((rows < 0) | (rows >= lengths)).any(1)
        first = int(outside.nonzero()[0]) if outside.any() else -1
        strides = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
        flat = (rows * torch.tensor(strides, dtype=torch.int64, device=indices.device)).sum(1)
    if first >= 0:
        place = np.unravel_index(first, indices.shape[:-1]) if indices.ndim > 1 else ()
        at = f"[{','.join(map(str, place))}]" if place else ""
        raise invalid(
            f"indices{at} = [{', '.join(map(str, rows[first].tolist()))}] does not index into {name} "
            f"{text(TensorShape(shape))}{ending}"
        )
    return flat, torch.Size(shape[depth:])


def _gather_nd_rule(params: TensorShape, indices: TensorShape, _: str = "") -> TensorShape:
    if indices.rank == 0:
        leave_to_kernel("indices must be at least a vector")
    with_rank(indices, -1)
    if params.rank is None or indices.rank is None:
        return TensorShape(None)
    depth = indices[-1]
    if depth is None:
        return TensorShape(None)
    if depth > params.rank:
        raise invalid(f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.rank}")
    return TensorShape(indices.as_list()[:-1] + params.as_list()[depth:])


def drops_bad_indices(indices: torch.Tensor, policy: str) -> bool:
    """Returns True if indices out of range are no error: by the policy, or on an accelerator.

    Raises:
        InvalidArgumentError: there is no such policy.
    """
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise invalid(f"Unknown bad indices handling attribute: {policy}")
    return policy == "IGNORE" or not indices.is_cpu


def _gather_in_loops(b: Any, x: Tensor, indices: Tensor, policy: str) -> Any:
    if policy not in ("", "DEFAULT", "ERROR"):
        raise Unsupported("slices at indices out of range")
    return b.gather_nd(x, indices)


@op("GatherNd", shape=_gather_nd_rule, moves=True, in_loops=_gather_in_loops)
def gather_nd_op(params: torch.Tensor, indices: torch.Tensor, bad_indices_policy: str = "") -> torch.Tensor:
    """Picks slices of a tensor at places in its leading dimensions."""
    if not indices.ndim or indices.shape[-1] > params.ndim:
        raise TypeError("the shape rule says what is wrong")
    depth = indices.shape[-1]
    if not params.numel() and indices.shape[:-1].numel():
        raise invalid(f"Requested more than 0 entries, but params is empty. Params shape: {list(params.shape)}")
    outside = None
    if drops_bad_indices(indices, bad_indices_policy):
        lengths = torch.tensor(params.shape[:depth], device=indices.device)
        outside = ((indices < 0) | (indices >= lengths)).any(-1)
        indices = torch.where(outside[..., None], 0, indices)
    elif depth and indices.dtype in (torch.int32, torch.int64) and not (indices.numel() and int(indices.min()) < 0):
        try:
            return params[indices.unbind(-1)]
        except (IndexError, RuntimeError):  # out of range, or a dtype that torch can't index
            pass
    flat, inner = flat_places(indices, params.shape, "param shape", ", node name: GatherNd")
    rows = params.reshape((math.prod(params.shape[:depth]), *inner))
    out = torch.index_select(rows, 0, flat).view(indices.shape[:-1] + inner)
    return out if outside is None else out.masked_fill(outside.reshape(outside.shape + (1,) * len(inner)), 0)


@gather_nd_op.gradient(needs="input1 shapes")
def _(call: Call, dy: Tensor) -> Any:
    indices, shape = call.inputs[1], shape_argument(call.shape(0))
    if indices.shape.rank == 2 and indices.shape[-1] == 1:  # whole slices of the first dimension, like `gather`
        return IndexedSlices(dy, squeeze(indices, [-1]), cast_to(convert(shape), indices.dtype)), None
    if indices.shape.rank == 1:  # one index alone: TensorFlow scatters rows of them
        indices, dy = indices[None], dy[None]
    if isinstance(shape, Tensor):
        shape = cast_to(shape, indices.dtype)
    return ops.ScatterNd(indices, dy, shape, call.attrs[0]), None


@gather_nd_op.batching
def _(batch: Batch, params: Slices, indices: Slices, bad_indices_policy: str) -> Any:
    if not params.stacked:
        return batch.run(params.value, indices.value, bad_indices_policy)
    return batch.run(params.value, with_slice_numbers(batch, indices), bad_indices_policy)


def gather_nd(
    params: TensorLike, indices: TensorLike, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Tensor:
    """Picks slices of a tensor by their places in its leading dimensions.

    Args:
        params: a tensor of any dtype, with at least one dimension.
        indices: an int16, int32 or int64 tensor of shape `[..., k]`: each row is an index into the first k dimensions
            (after the batch dimensions).
        batch_dims: an int, the number of leading dimensions that `params` and `indices` have in common; 0 by default.
        bad_indices_policy: "ERROR", or "IGNORE": slices at indices out of range are 0. By default an error on the CPU.

    Returns:
        A tensor of shape `indices.shape[:-1] + params.shape[batch_dims + k:]`.

    Raises:
        InvalidArgumentError: an index is out of range, or k is too large.

    Example:
        >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
        [2, 3]
    """
    if batch_dims == 0:
        return gather_nd_op(params, indices, bad_indices_policy, name)
    if not isinstance(params, (Tensor, ReadAsTensor)):
        params = convert(params)
    indices = convert(indices)
    return gather_nd_op(params, _with_batch(params, indices, batch_dims), bad_indices_policy, name)


def _with_batch(params: Any, indices: Any, batch_dims: int) -> Any:
    """Prepends the batch indices to each index."""
    dims = list(shape_of(indices))
    if not 0 <= batch_dims < len(dims):
        raise ValueError(f"Argument `batch_dims` = {batch_dims} must be less than rank(`indices`) = {len(dims)}")
    if batch_dims >= len(shape_of(params)):
        rank = len(shape_of(params))
        raise ValueError(f"Argument `batch_dims` = {batch_dims} must be less than rank(`params`) = {rank}")
    batch = list(shape_of(params)[:batch_dims])
    if any(type(a) is int and type(b) is int and a != b for a, b in zip(dims, batch, strict=False)):
        raise invalid(f"the batch dimensions of params {batch} and of indices {dims[:batch_dims]} differ")
    leading = []
    for i in range(batch_dims):
        places = reshape(
            cast_to(range_op(0, dims[i], 1), indices.dtype), [-1 if j == i else 1 for j in range(len(dims) - 1)]
        )
        leading.append(broadcast_to(places, dims[:-1]))
    return concat([stack(leading, axis=-1), indices], -1)


hooks.gather, hooks.gather_nd = gather, gather_nd
