"""Numbers as integers of 8, 16 or 32 bits with a range, and back.

TensorFlow's `QuantizeV2` defines the modes. "MIN_COMBINED" spreads the integers over the range. "MIN_FIRST" does the
same, with zero as one of the steps. "SCALED" is symmetric about zero.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.convert import storage_type
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import with_rank
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid

QuantizeV2 = namedtuple("QuantizeV2", ["output", "output_min", "output_max"])
QuantizedConcat = namedtuple("QuantizedConcat", ["output", "output_min", "output_max"])

_LARGEST = float(torch.finfo(torch.float32).max)


def _ends(kind: Any, narrow_range: bool = False) -> tuple[int, int]:
    """Returns the least and the greatest integer of a dtype of NumPy."""
    info = np.iinfo(kind)
    return int(info.min) + narrow_range, int(info.max)


def _numbers(q: np.ndarray) -> torch.Tensor:
    """Converts the integers of an array, as which quantized tensors are held: ATen has no storage for all of them."""
    return torch.from_numpy(q.astype(np.float64))


def _away_from_zero(x: torch.Tensor) -> torch.Tensor:
    """Rounds to the nearest integers; halves away from zero."""
    return torch.sign(x) * torch.floor(torch.abs(x) + 0.5)


def _along(bound: torch.Tensor, x: torch.Tensor, axis: int, name: str) -> torch.Tensor:
    """Reshapes a bound for all of `x`, or for each slice of an axis, to broadcast against `x`."""
    if axis == -1:
        if bound.numel() != 1:
            raise invalid(f"{name} must be a scalar without an axis: it has {bound.numel()} elements")
        return bound.reshape(())
    if not 0 <= axis < x.dim():
        raise invalid(f"Axis must be less than input dimension({x.dim()}), was {axis}")
    if bound.shape != (x.shape[axis],):
        raise invalid(f"{name} must have one element for each of the {x.shape[axis]} slices of axis {axis}")
    return bound.reshape([-1 if i == axis else 1 for i in range(x.dim())])


def _cast(x: torch.Tensor, kind: str) -> np.ndarray:
    """Casts whole numbers to integers; those beyond the ends become the ends."""
    return x.double().clamp(*_ends(kind)).cpu().numpy().astype(kind)


# ---- the steps of a range --------------------------------------------------------------------------------------------


def _steps(low: torch.Tensor, high: torch.Tensor, kind: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes for "MIN_FIRST" the length of a step, and the end of the range as a number of steps from zero."""
    count = 2.0 ** np.iinfo(kind).bits
    length = (high.double() - low.double()) * (count / (count - 1)) / count
    return length, _away_from_zero(low.double() / length)


def _to_steps(x: torch.Tensor, low: torch.Tensor, high: torch.Tensor, kind: str) -> np.ndarray:
    length, first = _steps(low, high, kind)
    return _cast(_away_from_zero(x.double() / length) - first + _ends(kind)[0], kind)


def _from_steps(q: np.ndarray, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    length, first = _steps(low, high, q.dtype)
    return ((first + _numbers(q) - _ends(q.dtype)[0]) * length).float()


def _scales(low: torch.Tensor, high: torch.Tensor, ends: tuple[int, int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes for "SCALED" the number of integers per unit. The range then fits into the integers at either end."""
    from_low = torch.where(low * ends[0] > 0, ends[0] / low, _LARGEST)
    from_high = torch.where(high * ends[1] > 0, ends[1] / high, _LARGEST)
    return from_low, from_high


def _larger(a: torch.Tensor | float, b: torch.Tensor | float) -> torch.Tensor:
    """Returns the larger of two numbers: the first one if the second is NaN."""
    return torch.where(torch.as_tensor(a < b), b, a)


# ---- ops -------------------------------------------------------------------------------------------------------------


def _range_rule(x: TensorShape, low: TensorShape, high: TensorShape, *attrs: Any) -> list[TensorShape]:
    axis = attrs[4]
    if axis < -1:
        raise invalid(f"axis should be at least -1, got {axis}")
    if axis == -1:
        return [x, with_rank(low, 0), with_rank(high, 0)]
    ends = with_rank(low, 1).merge_with(with_rank(high, 1))
    depth = with_rank(x, -axis - 1)
    return [x, *[ends if depth.rank is None else ends.merge_with(depth[axis : axis + 1])] * 2]


@op("QuantizeV2", shape=_range_rule)
def _quantize(
    input: torch.Tensor,
    min_range: torch.Tensor,
    max_range: torch.Tensor,
    T: DType,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int = -1,
    ensure_minimum_range: float = 0.01,
) -> tuple[np.ndarray, torch.Tensor, torch.Tensor]:
    """Quantizes a tensor."""
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise invalid(f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'.")
    min_range, max_range = _along(min_range, input, axis, "min_range"), _along(max_range, input, axis, "max_range")
    if bool((max_range < min_range).any()):
        raise invalid("input_max_range must be larger than input_min_range.")
    width = _larger(1.0, _larger(min_range.abs(), max_range.abs())) * ensure_minimum_range
    min_range = torch.where(min_range < 0, min_range, 0.0)
    max_range = _larger(0.0, _larger(max_range, min_range + width))
    kind = storage_type(T)
    if mode == "MIN_FIRST":
        integers = _to_steps(input, min_range, max_range, kind)
    elif mode == "SCALED":
        ends = _ends(kind, narrow_range)
        scale = torch.minimum(*_scales(min_range, max_range, ends))
        min_range, max_range = ends[0] / scale, ends[1] / scale
        nearest = torch.round if round_mode == "HALF_TO_EVEN" else _away_from_zero
        integers = _cast(nearest(torch.maximum(torch.minimum(input, max_range), min_range) * scale), kind)
    else:
        least, greatest = _ends(kind)
        scale = (greatest - least) / (max_range - min_range)
        inside = torch.maximum(torch.minimum(input, max_range), min_range) - min_range
        integers = _cast(_away_from_zero(inside * scale + least), kind)
    shape = () if axis == -1 else (-1,)
    return integers, min_range.reshape(shape), max_range.reshape(shape)


not_differentiable(_quantize)


def quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> QuantizeV2:
    """Quantizes numbers: writes them as integers of few bits.

    Args:
        input: a float32 tensor of any shape.
        min_range, max_range: the numbers that the least and the greatest integer stand for: scalars, or with an axis
            one for each of its slices. The range is widened to hold zero.
        T: `tf.qint8`, `tf.quint8`, `tf.qint16`, `tf.quint16` or `tf.qint32`.
        mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED"; see the module. The default is "MIN_COMBINED".
        round_mode: "HALF_AWAY_FROM_ZERO", or for "SCALED" also "HALF_TO_EVEN"; "HALF_AWAY_FROM_ZERO" by default.
        narrow_range: leaves out the least integer ("SCALED").
        axis: an int, the axis whose slices have separate ranges.
        ensure_minimum_range: a float, the least width of the range, as a share of its larger end (or of 1); 0.01 by
            default.

    Returns:
        A named tuple of three tensors: the integers, of dtype `T` and the shape of `input`, and the ends of their
        range, float32.

    Raises:
        InvalidArgumentError: `min_range` is greater than `max_range`, or an argument has a value that is not listed.

    Example:
        >>> q, low, high = tf.quantization.quantize([-1.0, 0.0, 2.0], -1.0, 2.0, tf.quint8)
        >>> q.numpy().tolist(), low.numpy().item(), high.numpy().item()
        ([0, 85, 255], -1.0, 2.0)
    """
    attrs = mode, round_mode, narrow_range, -1 if axis is None else axis, ensure_minimum_range
    return QuantizeV2(*_quantize(input, min_range, max_range, as_dtype(T), *attrs, name))


@op("Dequantize", strings=True, shape=lambda q, *_: q)
def _dequantize(
    input: Any,
    min_range: torch.Tensor,
    max_range: torch.Tensor,
    mode: str = "MIN_COMBINED",
    narrow_range: bool = False,
    axis: int = -1,
    dtype: Any = None,
) -> torch.Tensor:
    """Dequantizes a tensor."""
    numbers = _numbers(input)
    min_range, max_range = _along(min_range, numbers, axis, "min_range"), _along(max_range, numbers, axis, "max_range")
    least, greatest = _ends(input.dtype, narrow_range)
    if mode == "MIN_FIRST":
        result = _from_steps(input, min_range, max_range)
    elif mode == "SCALED":
        from_high = max_range / greatest
        result = numbers.float() * (torch.maximum(min_range / least, from_high) if least else from_high)
    else:
        ends = _ends(input.dtype)
        result = (numbers.float() - ends[0]) * ((max_range - min_range) / (ends[1] - ends[0])) + min_range
    return result.to(dtype.torch)


not_differentiable(_dequantize)


def dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = float32,
) -> Tensor:
    """Computes the numbers that integers of few bits stand for; see `tf.quantization.quantize`.

    Args:
        input: a tensor of a quantized dtype, of any shape.
        min_range, max_range: scalars, or vectors with an element for each index of `axis`: the numbers that the least
            and the greatest integer stand for.
        mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED"; see `quantize`. The default is "MIN_COMBINED".
        axis: an int, the axis whose slices have separate ranges; None for one range.
        narrow_range: True if the integers leave out the least one ("SCALED").
        dtype: the dtype of the result: float32 or bfloat16. The default is float32.

    Returns:
        A tensor of the shape of `input` and of `dtype`.

    Raises:
        InvalidArgumentError: the dtype is not quantized, or the ranges do not fit the shape of `input`.

    Example:
        >>> q, low, high = tf.quantization.quantize([-1.0, 0.0, 2.0], -1.0, 2.0, tf.quint8)
        >>> tf.quantization.dequantize(q, low, high).numpy().tolist()
        [-1.0, 0.0, 2.0]
    """
    return _dequantize(input, min_range, max_range, mode, narrow_range, -1 if axis is None else axis, dtype, name)


def _concatenated(
    axis: int, values: Sequence[Any], lows: Sequence[torch.Tensor], highs: Sequence[torch.Tensor]
) -> tuple[np.ndarray, torch.Tensor, torch.Tensor]:
    low, high = torch.stack(list(lows)).min().clamp_max(0.0), torch.stack(list(highs)).max()
    kind = values[0].dtype
    if _ends(kind)[0] < 0:  # the joint range of signed integers is symmetric
        high = torch.maximum(low.abs(), high.abs())
        low = -high
    parts = [_to_steps(_from_steps(q, a, b), low, high, kind) for q, a, b in zip(values, lows, highs, strict=True)]
    return np.concatenate(parts, axis), low, high


def _concat_rule(axis: TensorLike, values: Sequence[TensorShape], *_: Any) -> list[TensorShape]:
    scalar = TensorShape([])
    if not isinstance(axis, int) or any(v.rank is None for v in values):
        return [TensorShape(None), scalar, scalar]
    dims = [list(v) for v in values]
    lengths = [d[axis] for d in dims]
    dims[0][axis] = None if None in lengths else sum(lengths)
    return [TensorShape(dims[0]), scalar, scalar]


@op("QuantizedConcat", kernel=_concatenated, strings=_concatenated, host=("concat_dim",), shape=_concat_rule)
def _quantized_concat(
    concat_dim: TensorLike,
    values: Sequence[TensorLike],
    input_mins: Sequence[TensorLike],
    input_maxes: Sequence[TensorLike],
    name: str | None = None,
) -> Any:
    """Concatenates tensors of integers with separate ranges."""


not_differentiable(_quantized_concat)


def quantized_concat(
    concat_dim: Tensor | int, values: Sequence[TensorLike], input_mins: Sequence[TensorLike],
    input_maxes: Sequence[TensorLike], name: str | None = None,
) -> QuantizedConcat:  # fmt: skip
    """Concatenates tensors of integers with separate ranges, in a range that holds all of them.

    Args:
        concat_dim: a scalar, the axis.
        values: at least two tensors of a quantized dtype, whose shapes are alike but for that axis.
        input_mins, input_maxes: their ranges, as lists of scalars.

    Returns:
        A named tuple of three tensors: the integers, and the ends of their range, float32 scalars.

    Raises:
        InvalidArgumentError: there are no tensors, or one has no range.
        ValueError: their shapes do not fit.

    Example:
        >>> a, b = (tf.quantization.quantize([x], 0.0, x, tf.quint8) for x in (1.0, 2.0))
        >>> q, low, high = tf.quantization.quantized_concat(0, [a[0], b[0]], [a[1], b[1]], [a[2], b[2]])
        >>> q.numpy().tolist(), high.numpy().item()
        ([128, 255], 2.0)
    """
    return QuantizedConcat(*_quantized_concat(concat_dim, values, input_mins, input_maxes, name))
