"""Ops that move blocks of space into the batch and back, and ops that take patches out of images and volumes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import joined_batches
from tapeflow.array.concat_and_split import stack
from tapeflow.array.creation import range_op, zeros
from tapeflow.array.properties import get_static_value, shape_op
from tapeflow.array.reshapes import reshape, transpose, transpose_op
from tapeflow.core.autodiff.gradients import declare_adjoint, shape_of, size_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import OutOfRangeError, UnimplementedError
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, static, times
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import (
    argument_shape,
    check_rank,
    divide_size,
    leave_to_kernel,
    text,
    wholly_static,
    with_rank,
)
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.segment import unsorted_segment_sum

# ---- space to batch --------------------------------------------------------------------------------------------------


def _check_blocks(rank: int | None, block_shape: Sequence[int], paddings: Sequence[Any], name: str) -> None:
    """Checks the host arguments of both ops. None in them stands for a number that is not static."""
    if not isinstance(block_shape, (list, tuple)):
        raise invalid("block_shape rank should be 1 instead of 0")
    if rank is not None and rank < len(block_shape) + 1:
        raise invalid(f"input rank should be >= {len(block_shape) + 1} instead of {rank}")
    if np.shape(paddings) != (len(block_shape), 2) and (len(block_shape) or np.size(paddings)):
        actual = text(np.shape(paddings))
        raise invalid(f"{name} should have shape [{len(block_shape)}, 2] instead of {actual}")
    for i, b in enumerate(block_shape):
        if b is not None and b < 1:
            raise invalid(f"All values in block_shape must be positive, got value, {b} at index {i}.")
    if any(p is not None and p < 0 for pair in paddings for p in pair):
        raise invalid(f"{name.capitalize()} must be non-negative")


def _to_batch(x: torch.Tensor, block_shape: Sequence[int], paddings: Sequence[Any]) -> torch.Tensor:
    _check_blocks(x.ndim, block_shape, paddings, "paddings")
    m = len(block_shape)
    padding: list[int] = []
    for before, after in reversed(paddings):
        padding += (before, after)
    x = torch.constant_pad_nd(x, [0, 0] * (x.ndim - m - 1) + padding)
    dims: list[int] = [x.shape[0]]
    for i, b in enumerate(block_shape):
        if x.shape[i + 1] % b:
            raise invalid(f"padded_shape[{i}]={x.shape[i + 1]} is not divisible by block_shape[{i}]={b}")
        dims += (x.shape[i + 1] // b, b)
    inner = list(x.shape[m + 1 :])
    x = x.reshape(dims + inner)
    order = [2 * i + 2 for i in range(m)] + [0] + [2 * i + 1 for i in range(m)] + list(range(2 * m + 1, x.ndim))
    return x.permute(order).reshape([math.prod(block_shape) * dims[0], *dims[1::2], *inner])


def _static_blocks(x: TensorShape, block_shape: Any, paddings: Any, name: str) -> list[tuple[int | None, ...]] | None:
    """Returns the length, the block size and both paddings for each spatial dimension. Numbers that are not static are
    None. If the rank of `x` is unknown, the result is None."""
    check_rank(block_shape, 1)
    check_rank(paddings, 2)
    count = argument_shape(block_shape)[0]
    if count is None:
        raise invalid("block_shape must have known size.")
    with_rank(x, -count - 1)
    if not argument_shape(paddings).is_compatible_with([count, 2]):
        raise invalid(f"{name} should have shape [{count}, 2]")
    if not wholly_static(block_shape):
        if wholly_static(paddings) and np.min(paddings, initial=0) < 0:
            raise invalid(f"{name} cannot be negative")
        return None if x.rank is None else [(None,) * 4] * min(count, x.rank - 1)
    pairs = paddings if wholly_static(paddings) else [(None, None)] * np.size(block_shape)
    _check_blocks(x.rank, block_shape, pairs, name)
    if x.rank is None:
        return None
    return [(d, b, before, after) for d, b, (before, after) in zip(x[1:], block_shape, pairs, strict=False)]


def _block_shape(
    x: TensorShape, blocks: list[Any] | None, batch: Callable[..., int], space: Callable[..., int]
) -> TensorShape:
    """Returns the static shape after space moved into the batch, or back.

    Args:
        x: the shape of the input.
        blocks: as `_static_blocks` returns them.
        batch: computes the new size of the batch from the size before and the number of places in a block.
        space: computes a new spatial dimension from its entry in `blocks`.
    """
    if blocks is None:
        return TensorShape(None if x.rank is None else [None] * x.rank)
    sizes = [b for _, b, _, _ in blocks]
    first = None if None in (x[0], *sizes) else batch(x[0], math.prod(sizes))
    return TensorShape([first, *(None if None in b else space(*b) for b in blocks), *x[len(blocks) + 1 :]])


def _to_batch_rule(x: TensorShape, block_shape: ShapeLike, paddings: TensorLike) -> TensorShape:
    blocks = _static_blocks(x, block_shape, paddings, "paddings")
    return _block_shape(
        x, blocks, lambda n, places: n * places, lambda d, b, before, after: divide_size(d + before + after, b)
    )


def _to_space_rule(x: TensorShape, block_shape: tuple[int | None, ...], crops: TensorLike) -> TensorShape:
    blocks = _static_blocks(x, block_shape, crops, "crops")
    return _block_shape(x, blocks, divide_size, lambda d, b, before, after: d * b - before - after)


@op("SpaceToBatchND", kernel=_to_batch, host=("block_shape", "paddings"), shape=_to_batch_rule, moves=True)
def space_to_batch_nd(
    input: TensorLike, block_shape: ShapeLike, paddings: ShapeLike, name: str | None = None
) -> Tensor:
    """Cuts space into blocks and moves the places within a block into the batch.

    Args:
        input: a tensor of shape `[batch] + space + rest`, with m dimensions of space.
        block_shape: m integers, the size of a block.
        paddings: of shape `[m, 2]`: zeros to put before and after; the padded space is a multiple of the block.

    Returns:
        A tensor of shape `[batch * prod(block_shape)] + padded / block_shape + rest`.

    Raises:
        InvalidArgumentError: the sizes do not go together.

    Example:
        >>> tf.space_to_batch_nd([[[1], [2], [3], [4]]], [2], [[0, 0]]).numpy().tolist()
        [[[1], [3]], [[2], [4]]]
    """


@space_to_batch_nd.batching
def _(batch: Batch, x: Slices, block_shape: tuple[int, ...], paddings: tuple[Any, ...]) -> Any:
    moved = batch.run(batch.flat(x), static(block_shape), static(paddings))
    return _regroup_slices(batch, moved, batch.dims(x)[0], batch.outputs[0].shape.as_list()[1:])


def _regroup_slices(batch: Batch, value: Tensor, length: int, dims: Sequence[Any]) -> Any:
    """Returns the slices of a batch of batches `[places, slices, length]`: each place of a block is a separate batch,
    in front of the slices."""
    if None in dims:
        shape = shape_op(value)
        dims = [shape[i] if d is None else d for i, d in enumerate(dims, 1)]
    if not all(isinstance(n, int) for n in (batch.count, length)):
        raise NoRule
    parts = reshape(value, (-1, batch.count, length, *dims))
    moved = transpose_op(parts, (1, 0, *range(2, 3 + len(dims))))
    return reshape(moved, (batch.count, -1, *dims))


@op("BatchToSpaceND", host=("block_shape", "crops"), shape=_to_space_rule, moves=True)
def batch_to_space_nd(input: torch.Tensor, block_shape: Sequence[int], crops: Sequence[Any]) -> torch.Tensor:
    """Undoes `tf.space_to_batch`, with crops for its paddings."""
    _check_blocks(input.ndim, block_shape, crops, "crops")
    m, count = len(block_shape), math.prod(block_shape)
    if input.shape[0] % count:
        raise invalid(f"Input batch dimension ({input.shape[0]}) is not divisible by product of block sizes ({count})")
    inner = list(input.shape[m + 1 :])
    space = list(input.shape[1 : m + 1])
    batch = input.shape[0] // count
    input = input.reshape([*block_shape, batch, *space, *inner])
    order = [m]
    for i in range(m):
        order += (m + 1 + i, i)
    input = input.permute(order + list(range(2 * m + 1, input.ndim)))
    input = input.reshape([batch, *[s * b for s, b in zip(space, block_shape, strict=True)], *inner])
    for i, (before, after) in enumerate(crops):
        length = input.shape[i + 1] - before - after
        if length < 0:
            raise invalid(f"cropped_shape[{i}]={length} must be non-negative")
        input = input.narrow(i + 1, before, length)
    return input


declare_adjoint(space_to_batch_nd, batch_to_space_nd)
declare_adjoint(batch_to_space_nd, space_to_batch_nd)


@batch_to_space_nd.batching
def _(batch: Batch, x: Slices, block_shape: tuple[int, ...], crops: Any) -> Any:
    sizes = static(block_shape)
    length, *rest = batch.dims(x)
    places = math.prod(sizes)
    if not isinstance(length, int) or length % places:
        raise NoRule
    parts = batch.reshape(x.value, [places, length // places, *rest])
    moved = transpose_op(parts, (1, 0, *range(2, 3 + len(rest))))
    joined = batch.run(reshape(moved, (times(batch.count, length), *rest)), sizes, static(crops))
    return batch.unflat(joined, batch.outputs[0], Slices(ops.Sum(parts, 1), batch.outputs[0], True))


def batch_to_space(input: TensorLike, block_shape: ShapeLike, crops: ShapeLike, name: str | None = None) -> Tensor:
    """Moves parts of the batch to the places within blocks of space: the inverse of `tf.space_to_batch`.

    Args:
        input: a tensor of shape `[batch] + space + rest`, with m dimensions of space.
        block_shape: m integers, the size of a block; one integer stands for `[n, n]`.
        crops: of shape `[m, 2]`: how much to cut off before and after.

    Returns:
        A tensor of shape `[batch / prod(block_shape)] + cropped + rest`.

    Raises:
        InvalidArgumentError: the sizes do not go together.

    Example:
        >>> tf.batch_to_space([[[1], [3]], [[2], [4]]], [2], [[0, 0]]).numpy().tolist()
        [[[1], [2], [3], [4]]]
    """
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return batch_to_space_nd(input, block_shape, crops, name)


def space_to_batch(input: TensorLike, block_shape: ShapeLike, paddings: ShapeLike, name: str | None = None) -> Tensor:
    """Cuts space into blocks and moves the places within a block into the batch: `tf.space_to_batch_nd`.

    Args:
        input: a tensor of shape `[batch] + space + rest`, with m dimensions of space.
        block_shape: m integers, the size of a block.
        paddings: of shape `[m, 2]`: zeros to put before and after.

    Returns:
        A tensor of shape `[batch * prod(block_shape)] + padded / block_shape + rest`.

    Raises:
        InvalidArgumentError: the sizes do not go together.

    Example:
        >>> tf.space_to_batch([[[[1], [2]]]], [1, 2], [[0, 0], [0, 0]])[:, 0, 0, 0].numpy().tolist()
        [1, 2]
    """
    return space_to_batch_nd(input, block_shape, paddings, name)


def required_space_to_batch_paddings(
    input_shape: TensorLike, block_shape: TensorLike, base_paddings: TensorLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Returns the least paddings that make space a multiple of the block, and the crops that undo them.

    Args:
        input_shape: an int32 tensor of shape `[m]`, the size of space.
        block_shape: an int32 tensor of shape `[m]`, the size of a block.
        base_paddings: an int32 tensor of shape `[m, 2]`, the least padding to use; none by default.

    Returns:
        Paddings and crops, both int32 of shape `[m, 2]`.

    Raises:
        ValueError: the shapes do not go together.

    Example:
        >>> paddings, crops = tf.required_space_to_batch_paddings([5], [2])
        >>> paddings.numpy().tolist(), crops.numpy().tolist()
        ([[0, 1]], [[0, 1]])
    """
    space, block = convert(input_shape, int32), convert(block_shape, int32)
    block.shape.assert_is_fully_defined()
    block.shape.assert_has_rank(1)
    dims = block.shape[0]
    if not dims:
        return zeros([0, 2], int32), zeros([0, 2], int32)
    space.shape.assert_is_compatible_with([dims])
    base = zeros([dims, 2], int32) if base_paddings is None else convert(base_paddings, int32)
    base.shape.assert_is_compatible_with([dims, 2])
    static = [get_static_value(t) for t in (space, block, base)]
    if all(array is not None for array in static):
        space, block, base = static
    with np.errstate(divide="ignore"):  # NumPy's remainder of a division by zero is zero
        before, after = base[:, 0], base[:, 1]
        full = space + before + after
        extra = (block - full % block) % block
        end = after + extra
    rows = range(dims)
    return stack([[before[i], end[i]] for i in rows]), stack([[0, extra[i]] for i in rows])


# ---- patches ---------------------------------------------------------------------------------------------------------


def _patch_kernel(
    rank: int, x: torch.Tensor, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> torch.Tensor:
    if x.ndim != rank:
        raise invalid(f"input must be {rank}-dimensional{text(x.shape)}")
    space = rank - 2
    pads: list[int] = []
    rule = _patches_rule(TensorShape(x.shape), ksizes, strides, rates, padding)
    for axis in range(1, space + 1):
        k = (ksizes[axis] - 1) * rates[axis] + 1
        size, stride = x.shape[axis], strides[axis]
        total = 0
        if padding == "SAME":
            total = max((-(-size // stride) - 1) * stride + k - size, 0)
        pads = [total // 2, total - total // 2, *pads]
    if 0 in rule:
        return x.new_empty(rule.as_list())
    x = torch.constant_pad_nd(x, [0, 0, *pads])
    for axis in range(1, space + 1):
        x = x.unfold(axis, (ksizes[axis] - 1) * rates[axis] + 1, strides[axis])[..., :: rates[axis]]
    # [batch, *places, depth, *patch] -> [batch, *places, *patch, depth]
    return x.movedim(space + 1, -1).flatten(space + 1)


def windows_along(size: int, ksize: int, stride: int, rate: int, padding: str) -> int:
    """Returns the number of patches along a dimension.

    Raises:
        InvalidArgumentError: the stride is not positive, or the patches are too large.
    """
    if stride < 1:
        raise invalid(f"Stride must be > 0, but got {stride}")
    reach = 1 if padding == "SAME" else (ksize - 1) * rate + 1
    places = int((size - reach + stride) / stride)  # towards zero
    if places < 0:
        raise invalid(f"Computed output size would be negative: {places} [input_size: {size}, filter: {reach}]")
    return places


def _patches_rule(
    x: TensorShape, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> TensorShape:
    rank = len(ksizes)
    if not x.is_compatible_with([None] * rank):
        raise invalid(f"input must be {rank}-dimensional{text(x)}")
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if values[0] != 1 or values[-1] != 1:
            leave_to_kernel(f"Only support {name} across space.", UnimplementedError)
        if min(values) < 1 or max(values) >= 2**31:
            leave_to_kernel(f"{name} is out of range.", OutOfRangeError)
    batch, *space, depth = x.with_rank(rank)
    elements = None if depth is None else math.prod(ksizes[1:-1]) * depth
    if None in space:  # all or nothing
        return TensorShape([batch, *[None] * len(space), elements])
    inner = zip(space, ksizes[1:], strides[1:], rates[1:], strict=False)
    return TensorShape([batch, *(windows_along(d, k, s, r, padding) for d, k, s, r in inner), elements])


@op("ExtractImagePatches", functools.partial(_patch_kernel, 4), shape=_patches_rule, moves=True,
    rename={"sizes": "ksizes"}, batching=joined_batches)  # fmt: skip
def extract_patches(
    images: TensorLike,
    sizes: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Tensor:
    """Extracts patches of images; the pixels of a patch lie along the last dimension.

    Args:
        images: a tensor of shape `[batch, rows, columns, depth]`.
        sizes: `[1, rows, columns, 1]`, the size of a patch.
        strides: `[1, rows, columns, 1]`, the distance between patches.
        rates: `[1, rows, columns, 1]`, the distance between the pixels of a patch.
        padding: "VALID" for patches within the image, "SAME" for zeros around it.

    Returns:
        A tensor of shape `[batch, out_rows, out_columns, sizes[1] * sizes[2] * depth]`.

    Raises:
        InvalidArgumentError: the arguments do not fit the images.

    Example:
        >>> x = tf.reshape(tf.range(16), [1, 4, 4, 1])
        >>> tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")[0, 0, 0].numpy().tolist()
        [0, 1, 4, 5]
    """


@op("ExtractVolumePatches", lambda x, ksizes, strides, padding: _patch_kernel(5, x, ksizes, strides, [1] * 5, padding),
    moves=True, batching=joined_batches,
    shape=lambda x, ksizes, strides, padding: _patches_rule(x, ksizes, strides, [1] * 5, padding))  # fmt: skip
def extract_volume_patches(
    input: TensorLike, ksizes: Sequence[int], strides: Sequence[int], padding: str, name: str | None = None
) -> Tensor:
    """Extracts patches of volumes; the voxels of a patch lie along the last dimension.

    Args:
        input: a tensor of shape `[batch, planes, rows, columns, depth]`.
        ksizes: `[1, planes, rows, columns, 1]`, the size of a patch.
        strides: `[1, planes, rows, columns, 1]`, the distance between patches.
        padding: "VALID" for patches within the volume, "SAME" for zeros around it.

    Returns:
        A tensor of shape `[batch, out_planes, out_rows, out_columns, prod(ksizes) * depth]`.

    Raises:
        InvalidArgumentError: the arguments do not fit the volumes.

    Example:
        >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
        >>> tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID").shape
        TensorShape([1, 1, 1, 1, 8])
    """


@extract_patches.gradient(needs="shapes")
@extract_volume_patches.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    """Returns the sum of the gradients of each pixel's copies, whose places are patches of the pixels' numbers."""
    batch, *space, depth = [call.shape(0)[i] for i in range(len(call.attrs[0]))]
    count = size_of(space)
    numbers = reshape(range_op(1, count + 1, 1), [1, *space, 1])  # 0 is the padding
    sources = reshape(call.op.function(numbers, *call.attrs), [-1])
    parts = transpose(reshape(dy, [batch, shape_of(sources)[0], depth]), [1, 0, 2])
    sums = unsorted_segment_sum(parts, sources, count + 1)[1:]
    return reshape(transpose(sums, [1, 0, 2]), [batch, *space, depth])
