"""Batch normalization in one kernel: the op that layers call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices
from tapeflow.core.ops.op import OpFunction, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.batched_channels import Channels, apart, side_by_side
from tapeflow.nn.windows import TO_FIRST, TO_LAST

aten = torch.ops.aten


def _to_first(x: torch.Tensor, data_format: str) -> torch.Tensor:
    """Returns a view of an image in ATen's layout, with the channels first."""
    return x.permute(TO_FIRST[x.dim()]) if data_format[-1] == "C" else x


def _from_first(x: torch.Tensor, data_format: str) -> torch.Tensor:
    """Returns a view of ATen's result in the op's layout."""
    return x.permute(TO_LAST[x.dim()]) if data_format[-1] == "C" else x


def _check_channels(x: torch.Tensor, data_format: str, **vectors: torch.Tensor) -> int:
    """Checks the shapes and returns the number of channels.

    Raises:
        InvalidArgumentError: it differs from the length of the vectors.
    """
    if x.dim() not in (4, 5):
        raise invalid(f"input must be 4 or 5-dimensional{list(x.shape)}")
    channels = x.shape[-1 if data_format[-1] == "C" else 1]
    for name, vector in vectors.items():
        if vector.dim() != 1:
            raise invalid(f"{name} must be 1-dimensional{list(vector.shape)}")
        if vector.shape[0] != channels:
            raise invalid(
                f"{name} must have the same number of elements as the channels of x, got {vector.shape[0]} and "
                f"{channels}"
            )
    return channels


def _fused_batch_norm(
    x: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[torch.Tensor, ...]:
    channels = _check_channels(x, data_format, scale=scale, offset=offset)
    empty = scale.new_empty(0)
    if not is_training or exponential_avg_factor != 1.0:
        _check_channels(x, data_format, mean=mean, variance=variance)
    if not x.numel():
        unknown = scale.new_full((channels,), torch.nan)
        return x, unknown, unknown, unknown, unknown, empty
    if not is_training:
        y = aten.native_batch_norm(_to_first(x, data_format), scale, offset, mean, variance, False, 0.0, epsilon)[0]
        return _from_first(y, data_format), mean, variance, mean, variance, empty
    image = _to_first(x, data_format)
    y, batch_mean, inverse = aten.native_batch_norm(image, scale, offset, None, None, True, 0.0, epsilon)
    batch_variance = inverse.pow(-2).sub_(epsilon)
    count = x.numel() // channels
    running_mean, running_variance = batch_mean, batch_variance * (count / max(count - 1, 1))
    if exponential_avg_factor != 1.0:
        running_mean = torch.lerp(mean, running_mean, exponential_avg_factor)
        running_variance = torch.lerp(variance, running_variance, exponential_avg_factor)
    return _from_first(y, data_format), running_mean, running_variance, batch_mean, batch_variance, empty


def _norm_rule(x: TensorShape, scale: TensorShape, *rest: Any) -> list[TensorShape]:
    data_format = rest[-2]
    channels = x[-1 if data_format[-1] == "C" else 1] if x.rank in (4, 5) else None
    vector = scale if channels is None else TensorShape([channels])
    return [x, *[vector] * 4, TensorShape([0])]


@op("FusedBatchNormV3", kernel=_fused_batch_norm, shape=_norm_rule)
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> list[Tensor]:
    """Normalizes each channel of images by its mean and variance, then scales and shifts it.

    Args:
        x: `[batch, height, width, channels]` (or "NCHW", or of one dimension more); half, bfloat16 or float32.
        scale, offset: `[channels]`, float32.
        mean, variance: `[channels]`, float32: those to normalize by, or while training the running ones (which may be
            empty if the factor is 1).
        epsilon: added to the variance.
        exponential_avg_factor: the share of the batch in the new running mean and variance.
        data_format: "NHWC", "NCHW", "NDHWC" or "NCDHW".
        is_training: normalizes by the mean and variance of the batch.

    Returns:
        The result, of the shape and dtype of `x`; the new running mean and (unbiased) variance, `[channels]`; and three
        tensors for the gradient.

    Raises:
        InvalidArgumentError: the shapes do not go together.
    """


@fused_batch_norm.gradient(needs="input0 input1 outputs", none_for_zero=True)
def _norm_gradient(call: Call, dy: Tensor | None, *_: Any) -> Any:
    if dy is None:
        return (None,) * 5
    x, scale = call.inputs[:2]
    epsilon, _, data_format, is_training = call.attrs
    mean, variance, *third = call.outputs[3:]
    reserved = mean, variance, third[0] if third else mean
    gradients = fused_batch_norm_grad(dy, x, scale, *reserved, epsilon, data_format, is_training)
    return *gradients[:3], None, None


@fused_batch_norm.batching
def _(batch: Batch, x: Slices, *rest: Any) -> Any:
    vectors, attrs = rest[:4], rest[4:]
    if attrs[-1] or any(v.stacked for v in vectors):
        return _normalized_as_channels(batch, [x], *rest)
    y, *others = batch.run(batch.flat(x), *(v.value for v in vectors), *attrs)
    return [
        batch.unflat(y, batch.outputs[0], x),
        *(batch.stack(Slices(v, t, False)) for v, t in zip(others, batch.outputs[1:], strict=True)),
    ]


def _normalized_as_channels(batch: Batch, images: Sequence[Slices], *rest: Any) -> list[Any]:
    """Computes the op with the slices side by side, as additional channels.

    Args:
        batch: the batch.
        images: the first arguments.
        *rest: vectors with a number for each channel, then attrs. The op's outputs are images, then such vectors.
    """
    vectors = [v for v in rest if isinstance(v, Slices)]
    attrs = rest[len(vectors) :]
    channels = Channels(batch.op, attrs)
    sizes = [t.shape[0] for t in batch.outputs[1:]]
    if None in sizes:
        raise NoRule
    joined = [side_by_side(batch, x, channels.of_images, channels.images) for x in images]
    y, *others = batch.run(*joined, *(batch.flat(v) for v in vectors), *attrs)
    outputs = apart(batch, y, batch.dims(images[-1]), channels.of_images)
    return [outputs, *(batch.reshape(v, [n]) for v, n in zip(others, sizes, strict=True))]


def _norm_grad_rule(dy: TensorShape, x: TensorShape, *rest: Any) -> list[TensorShape]:
    dx, *vectors, empty = _norm_rule(x, *rest)
    return [dx, *vectors[:2], empty, empty]


@op("FusedBatchNormGradV3", shape=_norm_grad_rule)
def fused_batch_norm_grad(
    y_backprop: torch.Tensor,
    x: torch.Tensor,
    scale: torch.Tensor,
    reserve_space_1: torch.Tensor,
    reserve_space_2: torch.Tensor,
    reserve_space_3: torch.Tensor,
    epsilon: float = 0.0001,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[torch.Tensor, ...]:
    """Computes the gradients of `fused_batch_norm` by its input, scale and offset."""
    # ATen's kernel reads what it is given by the sizes of x alone.
    _check_channels(x, data_format, scale=scale, reserve_space_1=reserve_space_1, reserve_space_2=reserve_space_2)
    if y_backprop.shape != x.shape:
        raise invalid(
            f"x and y_backprop must have same shape, but x has shape {list(x.shape)} and y_backprop has shape "
            f"{list(y_backprop.shape)}"
        )
    empty = scale.new_empty(0)
    if not x.numel():
        return torch.zeros_like(x), torch.zeros_like(scale), torch.zeros_like(scale), empty, empty
    # ATen's second-order gradient accounts for the mean and variance, which come from x: they get none of their own.
    reserve_space_1, reserve_space_2 = reserve_space_1.detach(), reserve_space_2.detach()
    running = (None, None) if is_training else (reserve_space_1, reserve_space_2)
    saved = (reserve_space_1, torch.rsqrt(reserve_space_2 + epsilon)) if is_training else (None, None)
    dx, dscale, doffset = aten.native_batch_norm_backward(
        _to_first(y_backprop, data_format),
        _to_first(x, data_format),
        scale,
        *running,
        *saved,
        is_training,
        epsilon,
        (True,) * 3,
    )
    return _from_first(dx, data_format), dscale, doffset, empty, empty


@fused_batch_norm_grad.batching
def _(batch: Batch, dy: Slices, x: Slices, *rest: Any) -> Any:
    return _normalized_as_channels(batch, [dy, x], *rest)


def _declare_older(name: str) -> OpFunction[..., Any]:
    """Declares an earlier version of the op, with only two tensors for the gradient; only `tf.raw_ops` exports it."""
    older = defined_op(name, lambda *args: _fused_batch_norm(*args)[:5], shape=lambda *args: _norm_rule(*args)[:5])
    older.gradient(needs="input0 input1 outputs", none_for_zero=True)(_norm_gradient)
    return older


_fused_batch_norm_v1, _fused_batch_norm_v2 = _declare_older("FusedBatchNorm"), _declare_older("FusedBatchNormV2")
