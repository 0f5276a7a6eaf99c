"""Operations on the bits of integers, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.elements import Element, ElementBuilder
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor, flat_bytes


@op("BitwiseAnd", kernel=torch.bitwise_and, shape=broadcast, element=lambda b, x, y: b.bit_and(x, y))
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns the bits set in both arguments, with broadcasting.

    Args:
        x: an integer tensor of any shape.
        y: integers of the same dtype, of a shape that broadcasts with `x.shape`.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.bitwise_and([12, 10], 6).numpy().tolist()
        [4, 2]
    """


@op("BitwiseOr", kernel=torch.bitwise_or, shape=broadcast, element=lambda b, x, y: b.bit_or(x, y))
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the bitwise OR of integers, with broadcasting.

    Args:
        x: an integer tensor of any shape.
        y: integers of the same dtype, of a shape that broadcasts with `x.shape`.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.bitwise_or([12, 10], 6).numpy().tolist()
        [14, 14]
    """


@op("BitwiseXor", kernel=torch.bitwise_xor, shape=broadcast, element=lambda b, x, y: b.bit_xor(x, y))
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the bitwise XOR of integers, with broadcasting.

    Args:
        x: an integer tensor of any shape.
        y: integers of the same dtype, of a shape that broadcasts with `x.shape`.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.bitwise_xor([12, 10], 6).numpy().tolist()
        [10, 12]
    """


@op("Invert", kernel=torch.bitwise_not, shape=same, element=lambda b, x: b.bit_xor(x, -1))
def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """Flips all bits: `-x - 1` for signed integers.

    Args:
        x: an integer tensor of any shape.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        InvalidArgumentError: they are no integers.

    Example:
        >>> tf.bitwise.invert([0, 5, -1]).numpy().tolist()
        [-1, -6, 0]
    """


def _shift_kernel(function: Callable[..., torch.Tensor], by_numpy: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """Returns the kernel of a shift. As in TensorFlow, the distance is clipped to the range from 0 to the number of
    bits minus 1.
    """

    def kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        largest = 8 * x.itemsize - 1
        if x.dtype in (torch.uint16, torch.uint32, torch.uint64):  # a wider type would have more bits
            torch.broadcast_tensors(x, y)  # raises NumPy's error for shapes
            result = by_numpy(x.cpu().numpy(), np.minimum(y.cpu().numpy(), y.cpu().numpy().dtype.type(largest)))
            return torch.from_numpy(np.asarray(result)).to(x.device)
        return function(x, torch.clamp(y, 0, largest))

    return kernel


def _shift_places(b: ElementBuilder, y: Element) -> Element:
    """Returns the places that elements are shifted by."""
    return b.minimum(b.maximum(y, 0), 8 * y.dtype.size - 1)


@op(
    "LeftShift",
    kernel=_shift_kernel(torch.bitwise_left_shift, np.left_shift),
    shape=broadcast,
    element=lambda b, x, y: b.shift_left(x, _shift_places(b, y)),
)
def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Shifts the bits of `x` up by `y` places, with broadcasting.

    Args:
        x: an integer tensor of any shape.
        y: integers of the same dtype, of a shape that broadcasts with `x.shape`; below 0 they count as 0, above the
            last bit as the last.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.left_shift([1, 3], [2, 1]).numpy().tolist()
        [4, 6]
    """


@op(
    "RightShift",
    kernel=_shift_kernel(torch.bitwise_right_shift, np.right_shift),
    shape=broadcast,
    element=lambda b, x, y: b.shift_right(x, _shift_places(b, y)),
)
def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Shifts the bits of `x` down by `y` places, with broadcasting; signed integers keep their sign.

    Args:
        x: an integer tensor of any shape.
        y: integers of the same dtype, of a shape that broadcasts with `x.shape`; below 0 they count as 0, above the
            last bit as the last.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.right_shift([-8, 9], 2).numpy().tolist()
        [-2, 2]
    """


_BITS = torch.tensor([bin(byte).count("1") for byte in range(256)], dtype=torch.uint8)


@op("PopulationCount", shape=same, elementwise=True)
def _population_count(x: torch.Tensor) -> torch.Tensor:
    """Counts the bits that are set in each integer: `tf.raw_ops.PopulationCount`.

    Args:
        x: an integer tensor; negative ones in two's complement.

    Returns:
        A tensor of dtype uint8, of the shape of `x`.

    Raises:
        InvalidArgumentError: they are no integers.

    Example:
        >>> tf.raw_ops.PopulationCount(x=[5, -1]).numpy().tolist()
        [2, 32]
    """
    return _BITS.to(x.device)[flat_bytes(x).long()].view(*x.shape, x.itemsize).sum(-1, dtype=torch.uint8)


not_differentiable(bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift, _population_count)
