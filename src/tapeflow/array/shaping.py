"""Ops that change shapes and leave the elements as they are."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.op import op
from tapeflow.core.shape import TensorShape
from tapeflow.core.tape import Call
from tapeflow.core.tensor import invalid
from tapeflow.math.gradients import sum_to_shape


def _reshape_rule(x: TensorShape, shape: Any) -> TensorShape:
    """Says what is wrong with the new shape; a -1 takes what is left."""
    wanted = [shape] if isinstance(shape, int) else list(shape)
    count = x.num_elements()
    if wanted.count(-1) > 1:
        raise invalid(f"Only one input size may be -1, not both {wanted.index(-1)} and {len(wanted) - 1 - wanted[::-1].index(-1)}")
    for i, d in enumerate(wanted):
        if d < -1:
            raise invalid(f"Size {i} must be non-negative, not {d}")
    known = 1
    for d in wanted:
        known *= d if d != -1 else 1
    if -1 in wanted and known and count is not None and count % known:
        raise invalid(
            f"Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {known}"
        )
    if -1 not in wanted and count is not None and count != known:
        raise invalid(f"Input to reshape is a tensor with {count} values, but the requested shape has {known}")
    return TensorShape([None if d == -1 else d for d in wanted])


@op("Reshape", kernel=torch.reshape, host=("shape",), shape=_reshape_rule, moves=True)
def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Gives a tensor another shape, with the same elements in the same order.

    Args:
        tensor: of any dtype.
        shape: the new shape; one dimension may be -1 and takes what is left.

    Raises:
        InvalidArgumentError: the number of elements differs.

    Example:
        >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
        [[1, 2], [3, 4]]
    """


@reshape.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return reshape(dy, call.shape(0))


@op("BroadcastTo", kernel=torch.broadcast_to, host=("shape",), moves=True)
def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeats a tensor along dimensions of length 1, and new leading ones, to the given shape.

    Raises:
        InvalidArgumentError: the shape is not one the tensor broadcasts to.

    Example:
        >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
        [[1, 2], [1, 2]]
    """


@broadcast_to.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return sum_to_shape(dy, call.shape(0))
