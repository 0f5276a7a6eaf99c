"""Sums a tensor to a shape that is not static, to undo broadcasting: an op that TensorFlow lacks."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.legacy_ops import broadcast_gradient_args
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.autodiff.gradients import sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.values.tensor import Tensor


@op(
    "SumToShape",
    signature="dy:T, like:U -> output:T; attr=T:type; attr=U:type",
    shape=lambda dy, like: like,
    identity_if_same_shape=True,
    in_loops=lambda b, dy, like: b.sum_to_shape(dy),
)
def sum_to_shape(dy: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Sums `dy` over the dimensions that a tensor of the shape of `like` was stretched along."""
    return dy if dy.shape == like.shape else dy.sum_to_size(like.shape)


@sum_to_shape.gradient(needs="shapes")
def _(call: Call, ddy: Tensor) -> Any:
    return broadcast_to(ddy, call.shape(0)), None


@sum_to_shape.decomposition
def _(dy: Tensor, like: Tensor) -> Any:
    to = shape_op(like)
    axes, _ = broadcast_gradient_args(to, shape_op(dy))
    return reshape(ops.Sum(dy, axes, False), to)


@sum_to_shape.batching
def _(batch: Batch, dy: Slices, like: Slices) -> Any:
    whole, dims = batch.stack(like), batch.dims(like)
    missing = dy.rank - len(dims)
    if missing:
        whole = batch.reshape(whole, [1] * missing + dims)
    total = sum_like(batch.stack(dy), whole)
    return batch.reshape(total, dims) if missing else total
