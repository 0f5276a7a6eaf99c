"""Rounding, element by element. None of these ops has a gradient: their results are steps."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.autodiff.gradients import sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import NotFoundError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op, widen
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import multiply


@op("Floor", kernel=torch.floor, shape=same, element=lambda b, x: b.floor(x))
def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """Rounds each element down to an integer, in the dtype of `x`.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.floor([1.7, -1.2]).numpy().tolist()
        [1.0, -2.0]
    """


@op("Ceil", kernel=torch.ceil, shape=same, element=lambda b, x: b.ceil(x))
def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """Rounds each element up to an integer, in the dtype of `x`.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.ceil([1.7, -1.2]).numpy().tolist()
        [2.0, -1.0]
    """


@op("Rint", kernel=torch.round, shape=same, element=lambda b, x: b.rint(x))
def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """Rounds each element to the nearest integer, in the dtype of `x`; halves go to the even one.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.rint([0.5, 1.5, -1.7]).numpy().tolist()
        [0.0, 2.0, -2.0]
    """


@op("Round", shape=same, element=lambda b, x: x if x.dtype.is_integer else b.rint(x))
def _round_op(x: torch.Tensor) -> torch.Tensor:
    """Rounds to the nearest integer; halves go to the even one."""
    if x.is_complex():
        raise NotFoundError.of("Round has no kernel for complex numbers: round real and imaginary parts")
    return torch.round(x)


def _round_number(args: tuple[Any], name: str | None = None) -> Any:
    x: Any = args[0] if isinstance(args[0], CompositeTensor) else convert(args[0])
    return x if x.dtype.is_integer else _round_op.op.run((x,), name)


@widen(_round_op, _round_number)
def round(x: TensorLike, name: str | None = None) -> Tensor:
    """Rounds each element to the nearest integer, in the dtype of `x`; halves go to the even one, as in Python.

    Args:
        x: floating, or integers; of any shape. Integers are returned unchanged.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError, NotFoundError: `x` is neither real nor an integer.

    Example:
        >>> tf.round([0.5, 1.5, 2.4, -1.7]).numpy().tolist()
        [0.0, 2.0, 2.0, -2.0]
    """


not_differentiable(floor, ceil, rint, _round_op)


@op("NextAfter", kernel=torch.nextafter, shape=broadcast, element=lambda b, x, y: b.next_after(x, y))
def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """Returns the next float after `x1` in the direction of `x2`, element by element, with broadcasting.

    Args:
        x1, x2: float32 or float64 tensors, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.nextafter(1.0, 2.0).numpy().item()
        1.0000001192092896
    """


@nextafter.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    x1, x2 = call.inputs
    return sum_like(dy, x1), multiply(sum_like(dy, x2), 0.0)
