"""Rounding to the steps that integers of few bits could hold, with gradients."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import check_ranks_first, merge_shapes, same, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow_compat.quantization.integers import _along, _scales


def _rounded(
    x: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
    axis: int,
) -> torch.Tensor:
    if not 1 <= num_bits < 63:
        raise invalid(f"num_bits is out of range: {num_bits} with signed_input_ {int(signed_input)}")
    if axis >= x.dim():
        raise invalid(f"Shape must be at least rank {axis + 1} but is rank {x.dim()}")
    if range_given:
        low, high = _along(low, x, axis, "input_min"), _along(high, x, axis, "input_max")
        if not bool((low <= high).all()):
            raise invalid(f"Invalid range: input_min {low.max().item():g} > input_max {high.min().item():g}")
    elif not x.numel():
        return x
    else:
        others = [i for i in range(x.dim()) if axis == -1 or i != axis]
        low, high = _ends_of(x, others) if others else (x, x)
    last = 2 ** (num_bits - signed_input) - 1
    first = -(2 ** (num_bits - 1)) + narrow_range if signed_input else 0
    from_low, from_high = _scales(low, high, (first, last))
    scale = torch.minimum(from_low, from_high).to(x.dtype)
    step = torch.where(from_low < from_high, low / first if first else 0.0, high / last)
    if range_given:
        x = torch.maximum(torch.minimum(x, last * step), first * step)
    nearest = torch.round(x * scale) if round_mode == "HALF_TO_EVEN" else torch.floor(x * scale + 0.5)
    return nearest * step


def _ends_of(x: torch.Tensor, dims: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the least and the greatest numbers over dimensions. TensorFlow compares one number after the other: it
    skips NaN if another number follows."""
    forgotten = x.isnan()
    forgotten[tuple(-1 if i in dims else slice(None) for i in range(x.dim()))] = False
    low, high = (torch.where(forgotten, end, x) for end in (torch.inf, -torch.inf))
    return torch.amin(low, dims, keepdim=True), torch.amax(high, dims, keepdim=True)


def _passed_rule(dy: TensorShape, x: TensorShape, low: TensorShape, high: TensorShape, axis: int) -> list[TensorShape]:
    x = merge_shapes(dy, x)
    ends = merge_shapes(*[with_rank(end, 0 if axis == -1 else 1) for end in (low, high)])
    if axis != -1:
        x = with_rank(x, -axis - 1)
        ends.assert_is_compatible_with([x[axis] if x.rank is not None else None])
    return [x, ends, ends]


@op("QuantizeAndDequantizeV4Grad", shape=_passed_rule)
def _rounded_gradient(
    gradients: torch.Tensor, input: torch.Tensor, input_min: torch.Tensor, input_max: torch.Tensor, axis: int = -1
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Passes the gradient between `input_min` and `input_max`, and 0 elsewhere."""
    if gradients.shape != input.shape:
        raise invalid("gradient and input must be the same size")
    least, greatest = _along(input_min, input, axis, "input_min"), _along(input_max, input, axis, "input_max")
    inside = (input >= least) & (input <= greatest)
    return torch.where(inside, gradients, 0.0), torch.zeros_like(input_min), torch.zeros_like(input_max)


not_differentiable(_rounded_gradient)


def _range_rule(x: TensorShape, low: TensorShape, high: TensorShape, *attrs: Any) -> TensorShape:
    axis = attrs[-1]
    x = check_ranks_first(same, *((None, 0, 0) if axis == -1 else (-axis - 1, 1, 1)))(x, low, high)
    if axis != -1 and state.graph is not None:  # kernels look at the range only if it is given
        merge_shapes(low, high).assert_is_compatible_with([x[axis] if x.rank is not None else None])
    return x


@op("QuantizeAndDequantizeV4", kernel=_rounded, shape=_range_rule)
def _round_in_range(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True, num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN", narrow_range: bool = False, axis: int = -1, name: str | None = None,
) -> Any:  # fmt: skip
    """Rounds, with a gradient that is 0 outside of the range."""


@_round_in_range.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return tuple(_rounded_gradient(dy, *call.inputs, call.attrs[-1]))


@op("QuantizeAndDequantizeV2", kernel=_rounded, shape=_range_rule)
def _round(
    input: TensorLike, input_min: TensorLike, input_max: TensorLike, signed_input: bool = True, num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN", narrow_range: bool = False, axis: int = -1, name: str | None = None,
) -> Any:  # fmt: skip
    """Rounds, with the gradient of the identity."""


@_round.gradient(needs="")
def _(call: Call, dy: Tensor) -> Any:
    return dy, None, None


def _with_axis(input: TensorLike, axis: int | None) -> tuple[Tensor, int]:
    """Returns the input as a tensor, and an axis counted from its front; -1 for None.

    Raises:
        ValueError: the axis is counted from the end of a tensor of unknown rank.
    """
    x = convert(input)
    if axis is None:
        return x, -1
    if axis < 0:
        if x.shape.rank is None:
            raise ValueError("input should have known rank to use negative axis.")
        axis %= x.shape.rank
    return x, axis


def quantize_and_dequantize_v2(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """Rounds numbers to the numbers that integers of `num_bits` bits, times a scale, can hold.

    The gradient passes unchanged where the input is between `input_min` and `input_max`, and is 0 elsewhere.

    Args:
        input: a floating tensor of any shape.
        input_min, input_max: the range: scalars, or with an axis one for each of its slices.
        signed_input: allows negative integers; True by default.
        num_bits: an int, the number of bits of the integers; 8 by default.
        range_given: False uses the least and the greatest element of the input as the range.
        round_mode: "HALF_TO_EVEN" or "HALF_UP"; "HALF_TO_EVEN" by default.
        narrow_range: leaves out the least integer.
        axis: an int, the axis whose slices have separate ranges.

    Returns:
        A tensor of the shape and dtype of `input`.

    Raises:
        InvalidArgumentError: `input_min` is greater than `input_max`, or there are too many bits.

    Example:
        >>> tf.quantization.quantize_and_dequantize_v2([-1.0, 0.4, 3.0], -2.0, 1.5, num_bits=3).numpy().tolist()
        [-1.0, 0.0, 3.0]
    """
    x, axis = _with_axis(input, axis)
    return _round_in_range(
        x, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis, name
    )


def quantize_and_dequantize(
    input: TensorLike,
    input_min: TensorLike,
    input_max: TensorLike,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
) -> Tensor:
    """Rounds as `quantize_and_dequantize_v2` does, with the gradient of the identity everywhere.

    Args:
        input: a floating tensor of any shape.
        input_min, input_max: the range: scalars, or with an axis one for each of its slices.
        signed_input: allows negative integers; True by default.
        num_bits: an int, the number of bits of the integers; 8 by default.
        range_given: False uses the least and the greatest element of the input as the range.
        round_mode: "HALF_TO_EVEN" or "HALF_UP"; "HALF_TO_EVEN" by default.
        narrow_range: leaves out the least integer.
        axis: an int, the axis whose slices have separate ranges; None for one range.

    Returns:
        A tensor of the shape and dtype of `input`.

    Raises:
        InvalidArgumentError: `input_min` is greater than `input_max`, or there are too many bits.

    Example:
        >>> rounded = tf.quantization.quantize_and_dequantize([1.0, 5.0], 0.0, 3.0, range_given=True, num_bits=3)
        >>> rounded.numpy().tolist()
        [1.0, 3.0]
    """
    x, axis = _with_axis(input, axis)
    return _round(x, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis, name)
