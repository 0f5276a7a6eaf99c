"""Moving elements between the channels of images and their height and width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.array.batched import joined_batches
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import divide_size
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.windows import channels_last


def _image_sizes(op: str, x: torch.Tensor, data_format: str) -> tuple[int, ...]:
    """Returns batch, height, width and channels of images, and checks them."""
    if data_format not in ("NHWC", "NCHW"):
        raise invalid(
            f'Value for attr \'data_format\' of "{data_format}" is not in the list of allowed values: "NHWC", "NCHW"'
        )
    if x.dim() != 4:
        raise invalid(f"{op}: Input rank should be: 4 instead of: {x.dim()}")
    return tuple(x.shape if channels_last(data_format) else (x.shape[i] for i in (0, 2, 3, 1)))


def _depth_to_space(input: torch.Tensor, block_size: int, data_format: str = "NHWC") -> torch.Tensor:
    b, (n, height, width, channels) = block_size, _image_sizes("DepthToSpace", input, data_format)
    if channels % (b * b):
        raise invalid(f"Input depth dimension {channels} should be divisible by: {b * b}")
    c = channels // (b * b)
    if channels_last(data_format):
        blocks = input.reshape(n, height, width, b, b, c).permute(0, 1, 3, 2, 4, 5)
        return blocks.reshape(n, height * b, width * b, c)
    return input.reshape(n, b, b, c, height, width).permute(0, 3, 4, 1, 5, 2).reshape(n, c, height * b, width * b)


def _space_to_depth(input: torch.Tensor, block_size: int, data_format: str = "NHWC") -> torch.Tensor:
    b, (n, height, width, c) = block_size, _image_sizes("SpaceToDepth", input, data_format)
    if height % b or width % b:
        raise invalid(f"Image width {width} and height {height} should be divisible by block_size: {b}")
    h, w = height // b, width // b
    if channels_last(data_format):
        return input.reshape(n, h, b, w, b, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, b * b * c)
    return input.reshape(n, c, h, b, w, b).permute(0, 3, 5, 1, 2, 4).reshape(n, b * b * c, h, w)


def _depth_shape(
    x: TensorShape, channels: Callable[..., Any], sides: Callable[..., Any], data_format: str
) -> TensorShape:
    x = x.with_rank(4)
    last = channels_last(data_format)
    n, height, width, c = x if last else (x[i] for i in (0, 2, 3, 1))
    height, width = (None if d is None else sides(d) for d in (height, width))
    c = None if c is None else channels(c)
    return TensorShape([n, height, width, c] if last else [n, c, height, width])


def _depth_to_space_rule(x: TensorShape, b: int, data_format: str = "NHWC") -> TensorShape:
    return _depth_shape(x, lambda c: divide_size(c, b * b), lambda d: d * b, data_format)


def _space_to_depth_rule(x: TensorShape, b: int, data_format: str = "NHWC") -> TensorShape:
    return _depth_shape(x, lambda c: c * b * b, lambda d: divide_size(d, b), data_format)


@op("DepthToSpace", kernel=_depth_to_space, shape=_depth_to_space_rule, batching=joined_batches, moves=True)
def depth_to_space(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Spreads the channels of each point over a block of points.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`, or `[batch, channels, height, width]` for "NCHW";
            of any dtype.
        block_size: an int, the height and width of the block, at least 2.
        data_format: "NHWC" or "NCHW"; "NHWC" by default.

    Returns:
        `[batch, height * block_size, width * block_size, channels / block_size ** 2]`.

    Raises:
        InvalidArgumentError: the channels do not fill a block.

    Example:
        >>> tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2)[0, :, :, 0].numpy().tolist()
        [[1, 2], [3, 4]]
    """


@depth_to_space.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return space_to_depth(dy, *call.attrs)


@op("SpaceToDepth", kernel=_space_to_depth, shape=_space_to_depth_rule, batching=joined_batches, moves=True)
def space_to_depth(input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Gathers each block of points into the channels of one.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`, or `[batch, channels, height, width]` for "NCHW";
            of any dtype.
        block_size: an int, the height and width of the block, at least 2.
        data_format: "NHWC" or "NCHW"; "NHWC" by default.

    Returns:
        `[batch, height / block_size, width / block_size, channels * block_size ** 2]`.

    Raises:
        InvalidArgumentError: the blocks do not fill the image.

    Example:
        >>> tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy().tolist()
        [[[[1, 2, 3, 4]]]]
    """


@space_to_depth.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return depth_to_space(dy, *call.attrs)
