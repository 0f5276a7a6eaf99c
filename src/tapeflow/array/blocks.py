"""Ops that move blocks of space into the batch and back, and ops that take patches out of images and volumes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tapeflow.array.shaping import reshape, transpose
from tapeflow.core.autodiff.gradients import shape_of, size_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid

# ---- space to batch --------------------------------------------------------------------------------------------------


def _check_blocks(shape: Any, block_shape: Any, paddings: Any, what: str) -> None:
    if not isinstance(block_shape, (list, tuple)):
        raise invalid("block_shape rank should be 1 instead of 0")
    if len(shape) < len(block_shape) + 1:
        raise invalid(f"input rank should be >= {len(block_shape) + 1} instead of {len(shape)}")
    if np.shape(paddings) != (len(block_shape), 2):
        given = text(TensorShape(np.shape(paddings)))
        raise invalid(f"{what} should have shape [{len(block_shape)}, 2] instead of {given}")
    for i, b in enumerate(block_shape):
        if b < 1:
            raise invalid(f"All values in block_shape must be positive, got value, {b} at index {i}.")
    if any(p < 0 for pair in paddings for p in pair):
        raise invalid(f"{what.capitalize()} must be non-negative")


def _to_batch(x: torch.Tensor, block_shape: Any, paddings: Any) -> torch.Tensor:
    _check_blocks(x.shape, block_shape, paddings, "paddings")
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


def _to_batch_rule(x: TensorShape, block_shape: Any, paddings: Any) -> TensorShape:
    dims = x.as_list()
    if isinstance(paddings, Tensor):
        paddings = [(None, None)] * len(block_shape)
    for i, (b, (before, after)) in enumerate(zip(block_shape, paddings, strict=True)):
        dims[0] = None if dims[0] is None else dims[0] * b
        dims[i + 1] = None if None in (dims[i + 1], before, after) else (dims[i + 1] + before + after) // b
    return TensorShape(dims)


def _to_space_rule(x: TensorShape, block_shape: Any, crops: Any) -> TensorShape:
    dims = x.as_list()
    if isinstance(crops, Tensor):
        crops = [(None, None)] * len(block_shape)
    for i, (b, (before, after)) in enumerate(zip(block_shape, crops, strict=True)):
        dims[0] = None if dims[0] is None else dims[0] // b
        dims[i + 1] = None if None in (dims[i + 1], before, after) else dims[i + 1] * b - before - after
    return TensorShape(dims)


@op("SpaceToBatchND", kernel=_to_batch, host=("block_shape", "paddings"), shape=_to_batch_rule, moves=True)
def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Cuts space into blocks and moves the places within a block into the batch.

    Args:
        input: of shape `[batch] + space + rest`, with m dimensions of space.
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


@space_to_batch_nd.gradient()
def _(call: Call, dy: Any) -> Any:
    return batch_to_space_nd(dy, *call.attrs)


def _to_space(x: torch.Tensor, block_shape: Any, crops: Any) -> torch.Tensor:
    _check_blocks(x.shape, block_shape, crops, "crops")
    m, count = len(block_shape), math.prod(block_shape)
    if x.shape[0] % count:
        raise invalid(f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes ({count})")
    inner = list(x.shape[m + 1 :])
    space = list(x.shape[1 : m + 1])
    batch = x.shape[0] // count
    x = x.reshape([*block_shape, batch, *space, *inner])
    order = [m]
    for i in range(m):
        order += (m + 1 + i, i)
    x = x.permute(order + list(range(2 * m + 1, x.ndim)))
    x = x.reshape([batch, *[s * b for s, b in zip(space, block_shape, strict=True)], *inner])
    for i, (before, after) in enumerate(crops):
        length = x.shape[i + 1] - before - after
        if length < 0:
            raise invalid(f"cropped_shape[{i}]={length} must be non-negative")
        x = x.narrow(i + 1, before, length)
    return x


@op("BatchToSpaceND", kernel=_to_space, host=("block_shape", "crops"), shape=_to_space_rule, moves=True)
def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """What undoes `tf.space_to_batch`, with crops for its paddings."""


@batch_to_space_nd.gradient()
def _(call: Call, dy: Any) -> Any:
    return space_to_batch_nd(dy, *call.attrs)


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Moves parts of the batch to the places within blocks of space: what undoes `tf.space_to_batch`.

    Args:
        input: of shape `[batch] + space + rest`, with m dimensions of space.
        block_shape: m integers, the size of a block; one integer stands for `[n, n]`.
        crops: of shape `[m, 2]`: what to cut off before and after.

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


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """The same as `tf.space_to_batch_nd`.

    Args:
        input, block_shape, paddings: as there.

    Example:
        >>> tf.space_to_batch([[[[1], [2]]]], [1, 2], [[0, 0], [0, 0]])[:, 0, 0, 0].numpy().tolist()
        [1, 2]
    """
    return space_to_batch_nd(input, block_shape, paddings, name)


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The least paddings that make space a multiple of the block, and the crops that undo them.

    Args:
        input_shape: int32, of shape `[m]`, the size of space.
        block_shape: int32, of shape `[m]`, the size of a block.
        base_paddings: int32, of shape `[m, 2]`, the least padding wanted; none by default.

    Returns:
        Paddings and crops, both int32 of shape `[m, 2]`.

    Raises:
        ValueError: the shapes do not go together.

    Example:
        >>> paddings, crops = tf.required_space_to_batch_paddings([5], [2])
        >>> paddings.numpy().tolist(), crops.numpy().tolist()
        ([[0, 1]], [[0, 1]])
    """
    from tapeflow.array.creation import zeros_like
    from tapeflow.array.joining import stack, unstack

    input_shape, block_shape = convert(input_shape), convert(block_shape)
    block_shape.shape.assert_has_rank(1)
    input_shape.shape.assert_is_compatible_with(block_shape.shape)
    if base_paddings is None:
        before = after = zeros_like(input_shape)
    else:
        base_paddings = convert(base_paddings)
        base_paddings.shape.assert_is_compatible_with([block_shape.shape[0], 2])
        before, after = unstack(base_paddings, axis=1)
    full = input_shape + before + after
    extra = (block_shape - full % block_shape) % block_shape
    return stack([before, after + extra], axis=1), stack([zeros_like(extra), extra], axis=1)


# ---- patches ---------------------------------------------------------------------------------------------------------


def _patches(x: torch.Tensor, ksizes: Any, strides: Any, rates: Any, padding: str) -> torch.Tensor:
    space = x.ndim - 2
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if values[0] != 1 or values[-1] != 1:
            raise UnimplementedError(None, None, f"Only support {name} across space.")
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


def _image_patches(images: torch.Tensor, ksizes: Any, strides: Any, rates: Any, padding: str) -> torch.Tensor:
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional{text(TensorShape(images.shape))}")
    return _patches(images, ksizes, strides, rates, _padding("ExtractImagePatches", padding))


def _volume_patches(input: torch.Tensor, ksizes: Any, strides: Any, padding: str) -> torch.Tensor:
    if input.ndim != 5:
        raise invalid(f"input must be 5-dimensional{text(TensorShape(input.shape))}")
    return _patches(input, ksizes, strides, [1] * 5, _padding("ExtractVolumePatches", padding))


def _places(size: Any, ksize: int, stride: int, rate: int, padding: str) -> Any:
    """How many patches there are along a dimension; None where its size is not known."""
    if size is None:
        return None
    reach = 1 if padding == "SAME" else (ksize - 1) * rate + 1
    return max((size - reach) // stride + 1, 0)


def _patches_rule(x: TensorShape, ksizes: Any, strides: Any, rates: Any, padding: str) -> TensorShape:
    rank = len(ksizes)
    if not x.is_compatible_with([None] * rank):
        raise invalid(f"input must be {rank}-dimensional{text(x)}")
    batch, *space, depth = x.as_list() if x.rank is not None else [None] * rank
    inner = zip(space, ksizes[1:], strides[1:], rates[1:], strict=False)
    taken = None if depth is None else math.prod(ksizes) * depth
    return TensorShape([batch, *(_places(d, k, s, r, padding) for d, k, s, r in inner), taken])


def _padding(name: str, padding: str) -> str:
    if padding not in ("SAME", "VALID"):
        raise invalid(
            f'Value for attr \'padding\' of "{padding}" is not in the list of allowed values: "SAME", "VALID"'
        )
    return padding


@op("ExtractImagePatches", kernel=_image_patches, shape=_patches_rule, moves=True, rename={"sizes": "ksizes"})
def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Any:
    """Takes patches out of images; the pixels of a patch lie along the last dimension.

    Args:
        images: of shape `[batch, rows, columns, depth]`.
        sizes: `[1, rows, columns, 1]`, the size of a patch.
        strides: `[1, rows, columns, 1]`, how far the next patch is.
        rates: `[1, rows, columns, 1]`, how far the next pixel of a patch is.
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


@op("ExtractVolumePatches", kernel=_volume_patches, moves=True,
    shape=lambda x, ksizes, strides, padding: _patches_rule(x, ksizes, strides, [1] * 5, padding))  # fmt: skip
def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None) -> Any:
    """Takes patches out of volumes; the voxels of a patch lie along the last dimension.

    Args:
        input: of shape `[batch, planes, rows, columns, depth]`.
        ksizes: `[1, planes, rows, columns, 1]`, the size of a patch.
        strides: `[1, planes, rows, columns, 1]`, how far the next patch is.
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


def _patches_back(call: Call, dy: Any, extract: Any) -> Any:
    """Each pixel gets the sum of what its copies get: these are found by taking patches of the pixels' numbers."""
    from tapeflow.math.segment import unsorted_segment_sum

    batch, *space, depth = [call.shape(0)[i] for i in range(len(call.attrs[0]))]
    count = size_of(space)
    numbers = reshape(ops.Range(1, count + 1, 1), [1, *space, 1])  # 0 is what lies around
    taken = reshape(extract(numbers, *call.attrs), [-1])
    parts = transpose(reshape(dy, [batch, shape_of(taken)[0], depth]), [1, 0, 2])
    found = unsorted_segment_sum(parts, taken, count + 1)[1:]
    return reshape(transpose(found, [1, 0, 2]), [batch, *space, depth])


@extract_patches.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return _patches_back(call, dy, extract_patches)


@extract_volume_patches.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return _patches_back(call, dy, extract_volume_patches)
