"""Sums and shares of losses."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.reshapes import expand_dims, squeeze
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import scalar
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.math.arithmetic import multiply
from tapeflow.math.casting import cast
from tapeflow.math.division import divide_no_nan, truediv
from tapeflow.math.elementwise import square
from tapeflow.math.reduction import reduce_sum


def _half_square_norm(t: torch.Tensor) -> torch.Tensor:
    flat = t.reshape(-1)
    if t.dtype.itemsize < 4:  # the sum of the squares may overflow, although half of it does not
        return flat.square().mul_(0.5).sum()
    return torch.dot(flat, flat).mul_(0.5)


@op("L2Loss", kernel=_half_square_norm, shape=scalar, keeps_nothing=True)
def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Computes half the sum of the squares.

    Args:
        t: a floating tensor of any shape.

    Returns:
        A scalar of the same dtype.

    Raises:
        InvalidArgumentError: `t` is not floating.

    Example:
        >>> tf.nn.l2_loss([3.0, 4.0]).numpy().item()
        12.5
    """


@l2_loss.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return multiply(dy, call.inputs[0])


@l2_loss.batching
def _(batch: Batch, x: Slices) -> Any:
    halves = multiply(square(x.value), convert(0.5, x.slice.dtype))
    return ops.Sum(halves, tuple(range(1, x.rank + 1)), False)


def compute_average_loss(
    per_example_loss: TensorLike, sample_weight: TensorLike | None = None, global_batch_size: TensorLike | None = None
) -> Tensor:
    """Divides the sum of the examples' losses by the number of examples on all replicas.

    Args:
        per_example_loss: floating, `[batch, ...]`.
        sample_weight: weights, which broadcast against the losses; or None.
        global_batch_size: the number of examples, an integer; by default the length of the first dimension, times the
            number of replicas.

    Returns:
        A scalar of the dtype of the losses.

    Raises:
        ValueError: the batch size is no scalar, or the shape of the weights does not fit.
        TypeError: the batch size is no integer.

    Example:
        >>> tf.nn.compute_average_loss([1.0, 2.0, 3.0]).numpy().item()
        2.0
    """
    losses = convert(per_example_loss)
    dtype = losses.dtype
    if losses.shape.rank == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. Received "
            f"per_example_loss={losses} with rank 0"
        )
    if sample_weight is not None:
        losses = _weight_losses(losses, convert(sample_weight, hint=float32))
    batch_size: Any = global_batch_size
    if batch_size is None:
        batch_size = hooks.replicas() * shape_of(losses)[0]
    size = convert(batch_size)
    if size.shape.rank != 0:
        raise ValueError(f"`global_batch_size` must be a scalar. Received: global_batch_size={batch_size}")
    if not size.dtype.is_integer:
        raise TypeError(f"`global_batch_size` must be an int. Received: global_batch_size={batch_size}")
    if type(size) is EagerTensor and int(size) < 0:
        raise invalid(f"global_batch_size must be non-negative. Received: global_batch_size={batch_size}")
    total = reduce_sum(cast(losses, dtype))
    return divide_no_nan(total, cast(size, dtype))


def _weight_losses(losses: Tensor, weights: Tensor) -> Any:
    """Multiplies the losses by their weights; a last dimension of length 1 may be missing from either."""
    if weights.dtype is not losses.dtype:
        losses, weights = cast(losses, float32), cast(weights, float32)
    rank, of_weights = losses.shape.rank, weights.shape.rank
    if of_weights and rank is not None:
        if of_weights - rank == 1:
            weights = squeeze(weights, (-1,))
        elif rank - of_weights == 1:
            if losses.shape[-1] == 1:
                losses = squeeze(losses, (-1,))
            weights = expand_dims(weights, -1) if losses.shape.rank != of_weights else weights
        elif of_weights != rank:
            raise ValueError(
                f"`sample_weight` of shape {weights.shape} can not be broadcast to losses of shape {losses.shape}"
            )
    return multiply(losses, weights)


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """Divides the sum of regularization losses by the number of replicas, whose gradients will be summed.

    Args:
        regularization_loss: a tensor of numbers, of any shape.

    Returns:
        A scalar; for integers of the dtype of `tf.math.truediv`, float32 or float64.

    Raises:
        InvalidArgumentError: the losses are not numeric.

    Example:
        >>> tf.nn.scale_regularization_loss([1.0, 3.0]).numpy().item()
        4.0
    """
    return truediv(reduce_sum(regularization_loss), hooks.replicas())
