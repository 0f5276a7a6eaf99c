"""Sums and shares of losses."""

from __future__ import annotations

from typing import Any

import torch

import tapeflow as tf
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.dtypes import float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.math.arithmetic import multiply
from tapeflow.math.division import realdiv


def _half_square_norm(t: torch.Tensor) -> torch.Tensor:
    flat = t.reshape(-1)
    return torch.dot(flat, flat).mul_(0.5)


def _scalar(*_: Any) -> TensorShape:
    return TensorShape([])


@op("L2Loss", kernel=_half_square_norm, shape=_scalar, keeps_nothing=True)
def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half the sum of the squares.

    Args:
        t: floating, of any shape.

    Returns:
        A scalar of the same dtype.

    Example:
        >>> tf.nn.l2_loss([3.0, 4.0]).numpy().item()
        12.5
    """


@l2_loss.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    return multiply(dy, call.inputs[0])


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """The sum of the examples' losses over the number of examples on all replicas.

    Args:
        per_example_loss: floating, `[batch, ...]`.
        sample_weight: weights, which broadcast against the losses; or None.
        global_batch_size: how many examples there are; by default the length of the first dimension, times the number
            of replicas.

    Returns:
        A scalar of the dtype of the losses.

    Raises:
        ValueError: the batch size is not an integer, or the weights have a shape that does not fit.

    Example:
        >>> tf.nn.compute_average_loss([1.0, 2.0, 3.0]).numpy().item()
        2.0
    """
    losses = convert(per_example_loss)
    dtype = losses.dtype
    if sample_weight is not None:
        losses = _weighted(losses, convert(sample_weight, hint=float32))
    if global_batch_size is None:
        global_batch_size = _replicas() * (losses.shape[0] if losses.shape.rank else 1)
    size = convert(global_batch_size)
    if size.shape.rank:
        raise ValueError(f"`global_batch_size` must be a scalar. Received: global_batch_size={global_batch_size}")
    if not size.dtype.is_integer:
        raise TypeError(f"`global_batch_size` must be an int. Received: global_batch_size={global_batch_size}")
    total = tf.reduce_sum(tf.cast(losses, dtype))
    return tf.math.divide_no_nan(total, tf.cast(size, dtype))


def _weighted(losses: Any, weights: Any) -> Any:
    """The losses times their weights; a last dimension of length 1 may be missing from either."""
    if weights.dtype is not losses.dtype:
        losses, weights = tf.cast(losses, float32), tf.cast(weights, float32)
    rank, of_weights = losses.shape.rank, weights.shape.rank
    if of_weights:
        if of_weights - rank == 1:
            weights = tf.squeeze(weights, (-1,))
        elif rank - of_weights == 1:
            if losses.shape[-1] == 1:
                losses = tf.squeeze(losses, (-1,))
            weights = tf.expand_dims(weights, -1) if losses.shape.rank != of_weights else weights
        elif of_weights != rank:
            raise ValueError(
                f"`sample_weight` of shape {weights.shape} can not be broadcast to losses of shape {losses.shape}"
            )
    return multiply(losses, weights)


def _replicas() -> int:
    """How many replicas take part in the step."""
    distribute = getattr(tf, "distribute", None)
    return distribute.get_strategy().num_replicas_in_sync if distribute is not None else 1


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of regularization losses over the number of replicas, whose gradients will be summed.

    Args:
        regularization_loss: floating.

    Returns:
        A scalar.

    Example:
        >>> tf.nn.scale_regularization_loss([1.0, 3.0]).numpy().item()
        4.0
    """
    total = tf.reduce_sum(regularization_loss)
    return realdiv(total, tf.cast(float(_replicas()), total.dtype))
