"""The public `tf.bitwise` namespace: operations on the bits of integers, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import broadcast, same


@op("BitwiseAnd", kernel=torch.bitwise_and, shape=broadcast, elementwise=True)
def bitwise_and(x: Any, y: Any, name: str | None = None) -> Any:
    """The bits set in both, with broadcasting.

    Args:
        x, y: integers of one dtype.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.bitwise_and([12, 10], 6).numpy().tolist()
        [4, 2]
    """


@op("BitwiseOr", kernel=torch.bitwise_or, shape=broadcast, elementwise=True)
def bitwise_or(x: Any, y: Any, name: str | None = None) -> Any:
    """The bits set in at least one, with broadcasting.

    Args:
        x, y: integers of one dtype.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.bitwise_or([12, 10], 6).numpy().tolist()
        [14, 14]
    """


@op("BitwiseXor", kernel=torch.bitwise_xor, shape=broadcast, elementwise=True)
def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Any:
    """The bits set in exactly one, with broadcasting.

    Args:
        x, y: integers of one dtype.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.bitwise_xor([12, 10], 6).numpy().tolist()
        [10, 12]
    """


@op("Invert", kernel=torch.bitwise_not, shape=same, elementwise=True)
def invert(x: Any, name: str | None = None) -> Any:
    """Flips all bits: `-x - 1` for signed integers.

    Args:
        x: integers.

    Example:
        >>> tf.bitwise.invert([0, 5, -1]).numpy().tolist()
        [-1, -6, 0]
    """


def _shift(function: Callable[..., torch.Tensor], by_numpy: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """A shift by 0 to all but one of the bits: as in TensorFlow, what is below or above counts as the nearest."""

    def kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        most = 8 * x.itemsize - 1
        if x.dtype in (torch.uint16, torch.uint32, torch.uint64):  # a wider type would have more bits
            result = by_numpy(x.cpu().numpy(), np.minimum(y.cpu().numpy(), y.cpu().numpy().dtype.type(most)))
            return torch.from_numpy(np.asarray(result)).to(x.device)
        return function(x, torch.clamp(y, 0, most))

    return kernel


@op("LeftShift", kernel=_shift(torch.bitwise_left_shift, np.left_shift), shape=broadcast, elementwise=True)
def left_shift(x: Any, y: Any, name: str | None = None) -> Any:
    """Shifts the bits of `x` up by `y` places, with broadcasting.

    Args:
        x, y: integers of one dtype. `y` below 0 counts as 0, above the last bit as the last.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.left_shift([1, 3], [2, 1]).numpy().tolist()
        [4, 6]
    """


@op("RightShift", kernel=_shift(torch.bitwise_right_shift, np.right_shift), shape=broadcast, elementwise=True)
def right_shift(x: Any, y: Any, name: str | None = None) -> Any:
    """Shifts the bits of `x` down by `y` places, with broadcasting; signed integers keep their sign.

    Args:
        x, y: integers of one dtype. `y` below 0 counts as 0, above the last bit as the last.

    Raises:
        InvalidArgumentError: they are no integers, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.bitwise.right_shift([-8, 9], 2).numpy().tolist()
        [-2, 2]
    """


not_differentiable(bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift)
