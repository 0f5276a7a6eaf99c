"""Reductions over dimensions."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.op import op
from tapeflow.core.shape_rules import reduction
from tapeflow.core.tape import Call


def _sum(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    if axis is None:
        return torch.sum(x, dtype=x.dtype)
    if axis == () or axis == []:  # torch would reduce everything
        return x.clone()
    return torch.sum(x, axis, keepdims, dtype=x.dtype)


@op("Sum", kernel=_sum, host=("axis",), rename={"keepdims": "keep_dims"}, shape=reduction)
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Sums over dimensions.

    Args:
        input_tensor: numeric.
        axis: the dimension or dimensions to sum over; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
        [4, 6]
    """


@reduce_sum.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return _spread(dy, call.shape(0), *call.attrs)


def _spread(dy: Any, shape: tuple[int, ...], axis: Any, keepdims: bool) -> Any:
    """What was reduced from `shape`, stretched back to it."""
    from tapeflow.array.shaping import broadcast_to, reshape

    if not keepdims and axis is not None:
        axes = {axis % len(shape)} if isinstance(axis, int) else {a % len(shape) for a in axis}
        dy = reshape(dy, tuple([1 if i in axes else d for i, d in enumerate(shape)]))
    return broadcast_to(dy, shape)
