"""Local response normalization (Krizhevsky et al., ImageNet classification with deep convolutional networks, 2012)."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.batched import joined_batches
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import merge_shapes, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor, invalid


def _window_sums(x: torch.Tensor, radius: int, factor: float = 1.0) -> torch.Tensor:
    """Sums, for each element of the last dimension, those at most `radius` away, times a factor."""
    channels = x.shape[-1]
    radius = min(radius, channels)
    return x @ x.new_full((channels, channels), factor).tril_(radius).triu_(-radius)


def _divisor_base(x: torch.Tensor, radius: int, bias: float, alpha: float) -> torch.Tensor:
    """Returns the base of the divisor's power. It is infinity above the largest float32, as in TensorFlow."""
    return _window_sums(x * x, radius, alpha).float().to(x.dtype).add_(bias)


def _lrn_kernel(
    input: torch.Tensor, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> torch.Tensor:
    if input.dim() != 4:
        raise invalid("in must be 4-dimensional")
    if depth_radius < 0:
        raise invalid(f"depth_radius = {depth_radius} must not be negative")
    if depth_radius >= 2**31 - 1:
        raise invalid(f"depth_radius = {depth_radius} larger than int max")
    wide = input.float()
    return (_divisor_base(wide, depth_radius, bias, alpha).pow_(-beta).mul_(wide)).to(input.dtype)


@op("LRN", kernel=_lrn_kernel, shape=lambda x, *_: x.with_rank(4), batching=joined_batches)
def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Divides each element by a power of the sum of squares of its neighbours among the channels.

    The result is `input / (bias + alpha * sums) ** beta`. The sums run over the channels at most `depth_radius` away.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`; half, bfloat16 or float32.
        depth_radius: an int, the largest distance of a neighbour; 5 by default.
        bias: a positive number. It avoids division by 0. The default is 1.0.
        alpha: a float, the factor of the sums; 1.0 by default.
        beta: a float, the power; 0.5 by default.

    Returns:
        A tensor of the shape and dtype of `input`.

    Raises:
        InvalidArgumentError: the input has not four dimensions.

    Example:
        >>> tf.nn.local_response_normalization([[[[2.0]]]], bias=0.0).numpy().item()
        1.0
    """


@local_response_normalization.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    return lrn_grad(dy, call.inputs[0], call.outputs[0], *call.attrs)


@op("LRNGrad", shape=lambda *args: merge_shapes(*[with_rank(shape, 4) for shape in args[:3]]), batching=joined_batches)
def lrn_grad(
    input_grads: torch.Tensor,
    input_image: torch.Tensor,
    output_image: torch.Tensor,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> torch.Tensor:
    """Computes the gradient of `local_response_normalization`."""
    wide, gradients = input_image.double(), input_grads.double()
    scale = _divisor_base(wide, depth_radius, bias, alpha)
    shared = _window_sums(gradients * wide * scale.pow(-beta - 1), depth_radius)
    return (gradients * scale.pow(-beta) - 2 * alpha * beta * wide * shared).to(input_image.dtype)


lrn = local_response_normalization
