"""Fake quantization: rounds floats to the few values that quantized integers have, during training.

The ranges and their rounding follow Jacob et al., "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference", 2017, section 3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid


def _nudged(
    low: torch.Tensor, high: torch.Tensor, num_bits: int, narrow_range: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Moves a range until zero is one of its steps. Returns the ends of the range, and the length of a step."""
    if not 2 <= num_bits <= 16:
        raise invalid("num_bits must be between 2 and 16, inclusive")
    first, last = float(narrow_range), float(2**num_bits - 1)
    step = (high - low) / (last - first)
    zero = torch.floor((first - low / step).clamp(first, last) + 0.5).nan_to_num()
    return (first - zero) * step, (last - zero) * step, step


def _rounded(x: torch.Tensor, low: torch.Tensor, high: torch.Tensor, num_bits: int, narrow_range: bool) -> torch.Tensor:
    """Rounds to the nearest steps of a range."""
    start, end, step = _nudged(low, high, num_bits, narrow_range)
    offset, per_step = torch.maximum(torch.minimum(x, end), start) - start, 1.0 / step
    zero = torch.floor(0.5 - start * per_step)
    rounded = torch.floor(offset * per_step - zero + 0.5) * step
    return torch.where((low == 0) & (high == 0), 0.0, rounded)


def _passed(
    dy: torch.Tensor, x: torch.Tensor, low: torch.Tensor, high: torch.Tensor, num_bits: int, narrow_range: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the gradient of elements in the range, below it and above it; rounding counts as the identity."""
    if dy.shape != x.shape:
        raise invalid("gradient and input must be the same size")
    start, end, _ = _nudged(low, high, num_bits, narrow_range)
    nowhere = (low == 0) & (high == 0)
    inside, below, above = nowhere | ((x >= start) & (x <= end)), ~nowhere & (x < start), ~nowhere & (x > end)
    return dy * inside, dy * below, dy * above  # products, no choices: an infinite gradient is NaN elsewhere


# ---- a range of Python numbers ---------------------------------------------------------------------------------------


def _range_of(min: float, max: float, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if min >= max:
        raise invalid(f"min has to be smaller than max, was: {min:g} >= {max:g}")
    return like.new_tensor(min), like.new_tensor(max)


def _args_kernel(
    inputs: torch.Tensor, min: float, max: float, num_bits: int = 8, narrow_range: bool = False
) -> torch.Tensor:
    return _rounded(inputs, *_range_of(min, max, inputs), num_bits, narrow_range)


@op("FakeQuantWithMinMaxArgs", kernel=_args_kernel, shape=same, elementwise=True)
def fake_quant_with_min_max_args(
    inputs: TensorLike, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Rounds to one of `2 ** num_bits` equally spaced numbers between `min` and `max`. Zero is one of the numbers.

    Args:
        inputs: a float32 tensor of any shape.
        min, max: floats, the range. It is moved by less than a step to contain zero.
        num_bits: an int from 2 to 16; 8 by default.
        narrow_range: uses one number less, which allows a symmetric range.

    Returns:
        A float32 tensor of the shape of `inputs`. Its gradient passes inside of the range, and is zero elsewhere.

    Raises:
        InvalidArgumentError: `min` is not smaller than `max`, or `num_bits` is out of range.

    Example:
        >>> tf.quantization.fake_quant_with_min_max_args([-1.0, 0.3, 9.0], min=0.0, max=3.0, num_bits=2).numpy()
        array([0., 0., 3.], dtype=float32)
    """


@fake_quant_with_min_max_args.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return fake_quant_with_min_max_args_gradient(dy, call.inputs[0], *call.attrs)


def _args_gradient_kernel(
    gradients: torch.Tensor, inputs: torch.Tensor, min: float, max: float, num_bits: int = 8, narrow_range: bool = False
) -> torch.Tensor:
    return _passed(gradients, inputs, *_range_of(min, max, inputs), num_bits, narrow_range)[0]


@op("FakeQuantWithMinMaxArgsGradient", kernel=_args_gradient_kernel, shape=same, elementwise=True)
def fake_quant_with_min_max_args_gradient(
    gradients: TensorLike, inputs: TensorLike, min: float = -6, max: float = 6, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Computes the gradient of `fake_quant_with_min_max_args`.

    Args:
        gradients: the gradient of the result, float32, of the shape of `inputs`.
        inputs, min, max, num_bits, narrow_range: the arguments of the forward function, with their shapes.

    Returns:
        The gradient of `inputs`: a float32 tensor of their shape.

    Raises:
        InvalidArgumentError: the shapes differ.

    Example:
        >>> tf.quantization.fake_quant_with_min_max_args_gradient([1.0, 1.0], [5.0, 7.0]).numpy()
        array([1., 0.], dtype=float32)
    """


# ---- a range of two scalars ------------------------------------------------------------------------------------------


def _vars_rule(x: TensorShape, low: TensorShape, high: TensorShape, *_: Any) -> TensorShape:
    for name, end in (("min", low), ("max", high)):
        if end.rank not in (0, None):
            raise invalid(f"`{name}` must be rank 0 but is rank {end.rank}")
    return x


def _require_scalars(low: torch.Tensor, high: torch.Tensor) -> None:
    if low.ndim or high.ndim:
        raise TypeError("the shape rule says what is wrong")


def _vars_kernel(
    inputs: torch.Tensor, min: torch.Tensor, max: torch.Tensor, num_bits: int = 8, narrow_range: bool = False
) -> torch.Tensor:
    _require_scalars(min, max)
    return _rounded(inputs, min, max, num_bits, narrow_range)


@op("FakeQuantWithMinMaxVars", kernel=_vars_kernel, shape=_vars_rule)
def fake_quant_with_min_max_vars(
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Rounds as `fake_quant_with_min_max_args` does, for a range that is learned.

    Args:
        inputs: a float32 tensor of any shape.
        min, max: float32 scalars.
        num_bits: an int from 2 to 16; 8 by default.
        narrow_range: uses one number less, which allows a symmetric range.

    Returns:
        A float32 tensor of the shape of `inputs`. The gradients of elements below the range go to `min`, and of
        elements above the range to `max`.

    Raises:
        InvalidArgumentError: `min` or `max` is no scalar, or `num_bits` is out of range.

    Example:
        >>> tf.quantization.fake_quant_with_min_max_vars([-1.0, 0.3, 9.0], 0.0, 3.0, num_bits=2).numpy()
        array([0., 0., 3.], dtype=float32)
    """


@fake_quant_with_min_max_vars.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return tuple(fake_quant_with_min_max_vars_gradient(dy, *call.inputs, *call.attrs))


def _vars_gradient_kernel(
    gradients: torch.Tensor, inputs: torch.Tensor, min: torch.Tensor, max: torch.Tensor, num_bits: int = 8,
    narrow_range: bool = False,
) -> Any:  # fmt: skip
    _require_scalars(min, max)
    inside, below, above = _passed(gradients, inputs, min, max, num_bits, narrow_range)
    return inside, below.sum(), above.sum()


@op(
    "FakeQuantWithMinMaxVarsGradient",
    kernel=_vars_gradient_kernel,
    shape=lambda dy, x, low, high, *_: [_vars_rule(x.merge_with(dy), low, high), *[TensorShape([])] * 2],
)
def _vars_gradient(
    gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Computes the gradients of a rounding to quantized numbers."""


not_differentiable(_vars_gradient)


class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    """The results of `tf.quantization.fake_quant_with_min_max_vars_gradient`."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


def fake_quant_with_min_max_vars_gradient(
    gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> FakeQuantWithMinMaxVarsGradient:  # fmt: skip
    """Computes the gradients of `fake_quant_with_min_max_vars`.

    Args:
        gradients: the gradient of the result, float32, of the shape of `inputs`.
        inputs, min, max, num_bits, narrow_range: the arguments of the forward function, with their shapes.

    Returns:
        The gradients of `inputs`, `min` and `max`: float32 tensors of their shapes.

    Raises:
        InvalidArgumentError: the shapes differ, or `min` or `max` is no scalar.

    Example:
        >>> _, low, high = tf.quantization.fake_quant_with_min_max_vars_gradient([1.0, 2.0], [-5.0, 7.0], 0.0, 6.0)
        >>> low.numpy().item(), high.numpy().item()
        (1.0, 2.0)
    """
    return FakeQuantWithMinMaxVarsGradient(*_vars_gradient(gradients, inputs, min, max, num_bits, narrow_range, name))


# ---- a range for each channel ----------------------------------------------------------------------------------------


def _require_channels(inputs: torch.Tensor, **ends: torch.Tensor) -> None:
    if not inputs.ndim:
        raise invalid("`inputs` must have a last dimension, of channels, and is a scalar")
    for name, end in ends.items():
        if end.ndim != 1:
            raise invalid(f"`{name}` must be rank 1 but is rank {end.ndim}")
        if len(end) != inputs.shape[-1]:
            raise invalid(f"{name} has incorrect size, expected {inputs.shape[-1]} was {len(end)}")


def _channels_kernel(
    inputs: torch.Tensor, min: torch.Tensor, max: torch.Tensor, num_bits: int = 8, narrow_range: bool = False
) -> torch.Tensor:
    _require_channels(inputs, min=min, max=max)
    return _rounded(inputs, min, max, num_bits, narrow_range)


def _channels_rule(x: TensorShape, low: TensorShape, high: TensorShape, *_: Any) -> TensorShape:
    channels = low.with_rank(1).merge_with(high)
    if x.rank is not None:
        x[-1:].assert_is_compatible_with(channels)
    return x


@op("FakeQuantWithMinMaxVarsPerChannel", kernel=_channels_kernel, shape=_channels_rule)
def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Rounds as `fake_quant_with_min_max_vars` does, with a range for each channel.

    Args:
        inputs: a float32 tensor of shape `[..., channels]`.
        min, max: tensors of shape `[channels]`.
        num_bits: an int from 2 to 16; 8 by default.
        narrow_range: uses one number less, which allows a symmetric range.

    Returns:
        A float32 tensor of the shape of `inputs`.

    Raises:
        InvalidArgumentError: `min` or `max` is of another shape, or `num_bits` is out of range.

    Example:
        >>> tf.quantization.fake_quant_with_min_max_vars_per_channel([[1.3, 1.3]], [0.0, 0.0], [3.0, 6.0], 2).numpy()
        array([[1., 2.]], dtype=float32)
    """


@fake_quant_with_min_max_vars_per_channel.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return tuple(fake_quant_with_min_max_vars_per_channel_gradient(dy, *call.inputs, *call.attrs))


def _channels_gradient_kernel(
    gradients: torch.Tensor, inputs: torch.Tensor, min: torch.Tensor, max: torch.Tensor, num_bits: int = 8,
    narrow_range: bool = False,
) -> Any:  # fmt: skip
    _require_channels(inputs, min=min, max=max)
    inside, below, above = _passed(gradients, inputs, min, max, num_bits, narrow_range)
    rows = (inputs.shape[:-1].numel(), inputs.shape[-1])
    return inside, below.reshape(rows).sum(0), above.reshape(rows).sum(0)


def _channels_gradient_rule(dy: TensorShape, x: TensorShape, low: TensorShape, high: TensorShape, *_: Any) -> Any:
    """Infers the shapes of the gradients. The gradients of the limits have one element per channel."""
    values = x.merge_with(dy)
    channels = low.with_rank(1).merge_with(high)
    channels = channels if values.rank is None else channels.merge_with(values[-1:])
    return [values, channels, channels]


@op("FakeQuantWithMinMaxVarsPerChannelGradient", kernel=_channels_gradient_kernel,
    shape=_channels_gradient_rule)  # fmt: skip
def _channels_gradient(
    gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Computes the gradients of a rounding to quantized numbers."""


not_differentiable(_channels_gradient)


class FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    """The results of `tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient`."""

    backprops_wrt_input: Tensor
    backprop_wrt_min: Tensor
    backprop_wrt_max: Tensor


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: TensorLike, inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8,
    narrow_range: bool = False, name: str | None = None,
) -> FakeQuantWithMinMaxVarsPerChannelGradient:  # fmt: skip
    """Computes the gradients of `fake_quant_with_min_max_vars_per_channel`.

    Args:
        gradients: the gradient of the result, float32, of the shape of `inputs`.
        inputs, min, max, num_bits, narrow_range: the arguments of the forward function, with their shapes.

    Returns:
        The gradients of `inputs`, `min` and `max`: float32 tensors of their shapes.

    Raises:
        InvalidArgumentError: the shapes differ.

    Example:
        >>> parts = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(
        ...     [[1.0, 2.0]], [[-5.0, 7.0]], [0.0, 0.0], [6.0, 6.0])
        >>> [part.numpy().tolist() for part in parts]
        [[[0.0, 0.0]], [1.0, 0.0], [0.0, 2.0]]
    """
    return FakeQuantWithMinMaxVarsPerChannelGradient(
        *_channels_gradient(gradients, inputs, min, max, num_bits, narrow_range, name)
    )


not_differentiable(fake_quant_with_min_max_args_gradient)
