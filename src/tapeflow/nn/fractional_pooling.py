"""Pooling that shrinks images by fractions (Graham, Fractional Max-Pooling, 2014): windows of sizes mixed at random."""

from __future__ import annotations

import collections
import functools
from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.loops import Int64s, Words, loop
from tapeflow.core.ops.convert import host_value
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import listed_shape, same
from tapeflow.core.rng.philox import from_seeds
from tapeflow.core.rng.seeds import op_seeds, reserve
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.draws import draw_uniform, draw_word, state_of
from tapeflow.nn.pool_maxima import without_nan
from tapeflow.nn.pooling import combine_windows

FractionalMaxPool = collections.namedtuple(
    "FractionalMaxPool", ["output", "row_pooling_sequence", "col_pooling_sequence"]
)
FractionalAvgPool = collections.namedtuple(
    "FractionalAvgPool", ["output", "row_pooling_sequence", "col_pooling_sequence"]
)


@loop
def _draw_starts(state: Words, length: int, count: int, pseudo_random: int, starts: Int64s) -> None:
    """Draws the starts of `count` windows over `length` elements, followed by the end of the last one."""
    starts[0], starts[count] = 0, length
    if pseudo_random:
        alpha = length / count
        k = length // count
        most, most2 = (k + 2) / alpha - 1.0, (length + 1 - k) / alpha - (count - 1)
        start = draw_uniform(state) * (most2 if most2 < most else most)
        for i in range(1, count):
            end = int(alpha * (i + start))
            starts[i] = end - (end >= alpha * (i + start))
        return
    for i in range(count):
        starts[i + 1] = length // count + (i < length % count)
    for i in range(1, count):  # Fisher and Yates' shuffle of the sizes
        j = i + draw_word(state) % (count - i + 1)
        starts[i], starts[j] = starts[j], starts[i]
    for i in range(count):
        starts[i + 1] += starts[i]


def _window_bounds(sequence: torch.Tensor, length: int, overlapping: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the starts and the ends of windows; overlapping ones share their border."""
    return sequence[:-1], (sequence[1:] + overlapping).clamp(max=length)


def _pooling_sequences(
    x: torch.Tensor, ratio: Sequence[float], pseudo_random: bool, deterministic: bool, seed: int, seed2: int
) -> list[torch.Tensor]:
    if (seed or seed2) and not deterministic:
        raise invalid("Both seed and seed2 should be 0 if deterministic is false.")
    if x.dim() != 4:
        raise invalid("tensor_in must be 4-dimensional")
    for i in (1, 2):
        if ratio[i] < 1.0:
            raise invalid(f"pooling_ratio cannot be smaller than 1, got: {ratio[i]}")
        if x.shape[i] < ratio[i]:
            raise invalid(
                f"Pooling ratio is higher than input dimension size for dimension {i}. "
                f"Input dim size: {x.shape[i]} pooling ratio: {ratio[i]}"
            )
    stream = from_seeds(seed, seed2) if seed or seed2 else reserve("FractionalPool", 0, 0, 0)
    sequences = []
    for length, own in zip(x.shape[1:3], ratio[1:3], strict=True):
        starts = torch.empty(int(length / own) + 1, dtype=torch.int64)
        _draw_starts(state_of(stream), length, len(starts) - 1, pseudo_random, starts)
        stream = stream.skipped(1 if pseudo_random else -(-(len(starts) - 1) // 4))
        sequences.append(starts)
    return sequences


def _pool_windows(
    means: bool, value: torch.Tensor, ratio: Sequence[float], pseudo_random: bool, overlapping: bool, *seeds: Any
) -> tuple[torch.Tensor, ...]:
    """Draws windows, and computes their maxima or means."""
    rows, columns = _pooling_sequences(value, ratio, pseudo_random, *seeds)
    batch, height, width, channels = value.shape
    x = value.detach().cpu().contiguous()
    x = x.double() if means and not x.is_floating_point() else x
    fill = 0 if means else torch.finfo(x.dtype).min if x.is_floating_point() else torch.iinfo(x.dtype).min
    out = torch.full((batch, len(rows) - 1, len(columns) - 1, channels), fill, dtype=x.dtype)
    combine_windows(
        x, batch, 1, height, width, channels, torch.arange(2), 1, rows, len(rows) - 1, columns, len(columns) - 1,
        overlapping, means, out,
    )  # fmt: skip
    return out.to(value), rows.to(value.device), columns.to(value.device)


def _windows_rule(x: TensorShape, ratio: Any, *_: Any) -> list[TensorShape]:
    dims = [None] * 4 if x.rank is None else [d and int(d / r) for d, r in zip(x, ratio, strict=True)]
    return [TensorShape(dims), *(TensorShape([d and d + 1]) for d in dims[1:3])]


_fractional_max_pool, _fractional_avg_pool = (
    defined_op(name, functools.partial(_pool_windows, means), shape=_windows_rule, autograd=False)
    for name, means in (("FractionalMaxPool", False), ("FractionalAvgPool", True))
)


# ---- the maximum -----------------------------------------------------------------------------------------------------


def _elements_of_windows(x: torch.Tensor, dim: int, starts: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Returns the elements of windows along a dimension, in two: the elements, and the windows. A window repeats its
    last element if others are longer."""
    most = int((ends - starts).max())
    places = torch.minimum(starts + torch.arange(most, device=x.device)[:, None], ends - 1)
    return x.index_select(dim, places.view(-1)).unflatten(dim, (most, len(starts)))


def _places_of_maxima(x: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, overlapping: bool) -> torch.Tensor:
    """Returns the index of the largest element of each window in its image, `row * width + column`."""
    height, width = x.shape[1:3]
    windows = _window_bounds(columns, width, overlapping)
    across = _elements_of_windows(x, 2, *windows).max(2)
    column_of = across.indices + windows[0].view(-1, 1)
    windows = _window_bounds(rows, height, overlapping)
    best = _elements_of_windows(across.values, 1, *windows).max(1).indices
    column_of = _elements_of_windows(column_of, 1, *windows).gather(1, best.unsqueeze(1)).squeeze(1)
    return (best + windows[0].view(-1, 1, 1)) * width + column_of


@_fractional_max_pool.gradient(needs="input0 outputs")
def _(call: Call, dy: Tensor, *_: Any) -> Any:
    y, rows, columns = call.outputs
    return fractional_max_pool_grad(call.inputs[0], y, dy, rows, columns, call.attrs[2])


@op("FractionalMaxPoolGrad", shape=same)
def fractional_max_pool_grad(
    orig_input: torch.Tensor,
    orig_output: torch.Tensor,
    out_backprop: torch.Tensor,
    row_pooling_sequence: torch.Tensor,
    col_pooling_sequence: torch.Tensor,
    overlapping: bool = False,
) -> torch.Tensor:
    """Computes the gradient of `fractional_max_pool`."""
    x = without_nan(orig_input.detach())
    places = _places_of_maxima(x, row_pooling_sequence, col_pooling_sequence, overlapping).flatten(1, 2)
    dx = out_backprop.new_zeros(orig_input.shape).flatten(1, 2).scatter_add(1, places, out_backprop.flatten(1, 2))
    return dx.view(orig_input.shape)


# ---- the mean --------------------------------------------------------------------------------------------------------


def _mean_weights(sequence: torch.Tensor, length: int, overlapping: bool, dtype: torch.dtype) -> torch.Tensor:
    """Returns a matrix `[windows, length]` whose product with a vector is the mean of each window."""
    starts, ends = (ends.unsqueeze(1) for ends in _window_bounds(sequence, length, overlapping))
    places = torch.arange(length, device=sequence.device)
    return ((places >= starts) & (places < ends)).to(dtype) * (1 / (ends - starts).to(dtype))


@_fractional_avg_pool.gradient(needs="shapes outputs")
def _(call: Call, dy: Tensor, *_: Any) -> Any:
    return fractional_avg_pool_grad(call.shape(0), dy, call.outputs[1], call.outputs[2], call.attrs[2])


@op("FractionalAvgPoolGrad", host=("orig_input_tensor_shape",), shape=listed_shape)
def fractional_avg_pool_grad(
    orig_input_tensor_shape: tuple[int, ...],
    out_backprop: torch.Tensor,
    row_pooling_sequence: torch.Tensor,
    col_pooling_sequence: torch.Tensor,
    overlapping: bool = False,
) -> torch.Tensor:
    """Computes the gradient of `fractional_avg_pool`."""
    _, height, width, _ = orig_input_tensor_shape
    check_memory(orig_input_tensor_shape, out_backprop.itemsize)
    for sequence, length in ((row_pooling_sequence, height), (col_pooling_sequence, width)):
        check_memory([max(len(sequence) - 1, 0), length], out_backprop.itemsize, UNFILLED)
    over_rows = _mean_weights(row_pooling_sequence, height, overlapping, out_backprop.dtype)
    over_columns = _mean_weights(col_pooling_sequence, width, overlapping, out_backprop.dtype)
    return over_columns.T @ (over_rows.T @ out_backprop.flatten(2)).unflatten(2, out_backprop.shape[2:])


# ---- public functions ------------------------------------------------------------------------------------------------


def _checked_ratio(ratio: Sequence[float], op: str) -> tuple[float, ...]:
    ratio = host_value(ratio)
    if not isinstance(ratio, tuple):
        raise TypeError(f"Expected list for 'pooling_ratio' argument to '{op}' Op, not {ratio!r}.")
    if len(ratio) != 4 or ratio[0] != 1.0 or ratio[-1] != 1.0:
        raise ValueError(
            f"`pooling_ratio` should have first and last elements with value 1.0. Received: pooling_ratio={list(ratio)}"
        )
    return tuple([float(r) for r in ratio])


def _seeds_of_call(seed: int) -> tuple[bool, int, int]:
    """Returns whether windows are the same in each call, and the seeds of their draw."""
    return (True, *op_seeds(seed)) if seed else (False, 0, 0)


def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalMaxPool:
    """Computes the maximum of each of a random set of windows: `floor(length / ratio)` of them along a dimension.

    Args:
        value: a tensor of shape `[batch, height, width, channels]`; float32, float64, int32 or int64.
        pooling_ratio: a number of at least 1, or four numbers. The first and last of four are 1.
        pseudo_random: chooses windows whose sizes alternate evenly, rather than any.
        overlapping: windows share the element at their border.
        seed: an int, the op's seed, for the same windows in each call; 0 for other ones.

    Returns:
        A named tuple of the maxima, of the dtype of `value`, and the starts of the windows along rows and columns
        (int64).

    Raises:
        TypeError: the ratio is no list.
        ValueError: the ratio has another length, is below 1, or is not 1 for the batch or the channels.
        InvalidArgumentError: the input has another rank, or is smaller than the ratio.

    Example:
        >>> tf.nn.fractional_max_pool(tf.ones([1, 6, 6, 1]), [1.0, 1.5, 1.5, 1.0]).output.shape
        TensorShape([1, 4, 4, 1])
    """
    if isinstance(pooling_ratio, (int, float)):
        if pooling_ratio < 1.0:
            raise ValueError(f"`pooling_ratio` should be >= 1.0. Received: pooling_ratio={pooling_ratio}")
        pooling_ratio = (1.0, pooling_ratio, pooling_ratio, 1.0)
    ratio = _checked_ratio(pooling_ratio, "fractional_max_pool")
    if any(r < 1.0 for r in ratio):
        raise ValueError(f"`pooling_ratio` elements should be >= 1.0. Received: pooling_ratio={list(ratio)}")
    return FractionalMaxPool(
        *_fractional_max_pool(value, ratio, pseudo_random, overlapping, *_seeds_of_call(seed), name)
    )


def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalAvgPool:
    """Computes the mean of each of a random set of windows: `floor(length / ratio)` of them along a dimension.

    Args:
        value: a tensor of shape `[batch, height, width, channels]`; float32, float64, int32 or int64.
        pooling_ratio: four numbers of at least 1. The first and last are 1.
        pseudo_random: chooses windows whose sizes alternate evenly, rather than any.
        overlapping: windows share the element at their border.
        seed: an int, the op's seed, for the same windows in each call; 0 for other ones.

    Returns:
        A named tuple of the means, of the dtype of `value`, and the starts of the windows along rows and columns
        (int64).

    Raises:
        TypeError: the ratio is no list.
        ValueError: the ratio has another length, is below 1, or is not 1 for the batch or the channels.
        InvalidArgumentError: the input has another rank, or is smaller than the ratio.

    Example:
        >>> tf.nn.fractional_avg_pool(tf.ones([1, 6, 6, 1]), [1.0, 1.5, 1.5, 1.0]).output.shape
        TensorShape([1, 4, 4, 1])
    """
    ratio = _checked_ratio(pooling_ratio, "fractional_avg_pool")
    return FractionalAvgPool(
        *_fractional_avg_pool(value, ratio, pseudo_random, overlapping, *_seeds_of_call(seed), name)
    )
