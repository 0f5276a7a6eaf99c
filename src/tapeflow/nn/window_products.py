"""Convolutions as products of matrices, on CPUs: a row for each window, a column for each filter.

The second matrix is TensorFlow's filters in their own memory layout. oneDNN has to convert them to its layout. With few
windows and large filters, the conversion takes longer than the computation. Windows of one pixel are rows of the
images themselves.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.values.tensor import is_traced
from tapeflow.linalg.large_products import product as matrix_product
from tapeflow.nn.conv_layout import Layout
from tapeflow.nn.windows import pad_image, padded_sizes, unpad_image

LARGE = 2**18  # elements of filters that do not stay in a core's cache
_WINDOWS = 2  # for each filter: with more of them, copying the windows costs more than copying the filters
_CHANNELS = 2  # of images: oneDNN computes the gradient by so few as if there were a vector register full of them
_MATRICES = frozenset({torch.float32, torch.float64})


def is_product(layout: Layout, x: torch.Tensor, filters: tuple[int, ...]) -> bool:
    """Returns True if to compute a convolution, or its gradient, as a product of matrices.

    Args:
        layout: the convolution.
        x: the images, or the gradient of the result.
        filters: the shape of the filters.
    """
    if not x.is_cpu or x.dtype not in _MATRICES:
        return False
    if layout.pointwise:
        return True
    return (
        layout.channels_last
        and layout.groups == 1
        and math.prod(filters) >= LARGE
        and (by_value(x) or _is_followed(x))
        and math.prod(layout.output[:-1]) <= _WINDOWS * filters[-1]
    )


def has_few_channels(layout: Layout, dy: torch.Tensor, filters: tuple[int, ...]) -> bool:
    """Returns True if to compute the gradient by images with few channels as a product, and sums of its elements."""
    return (
        dy.is_cpu
        and dy.dtype in _MATRICES
        and len(filters) == 4
        and filters[2] <= _CHANNELS
        and layout.channels_last
        and layout.groups == 1
        and (by_value(dy) or _is_followed(dy))
    )


def _is_followed(x: torch.Tensor) -> bool:
    """Returns True if torch's autograd follows a tensor that has values to look at, outside torch's transformations."""
    return x.requires_grad and not is_traced(x) and aten.maybe_current_level() is None


def product(layout: Layout, x: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
    """Computes a convolution."""
    windows = _window_rows if layout.pointwise or not _is_followed(x) else _Windows.apply
    rows, matrix = windows(layout, x, filters.shape), filters.reshape(-1, filters.shape[-1])
    return matrix_product(rows, matrix).view(layout.output)


def product_back_filter(layout: Layout, x: torch.Tensor, sizes: tuple[int, ...], dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of a convolution by its filters, whose shape is `sizes`."""
    return matrix_product(_window_rows(layout, x, sizes).t(), dy.reshape(-1, dy.shape[-1])).view(tuple(sizes))


def product_back_input(layout: Layout, sizes: tuple[int, ...], filters: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of a convolution by its images, whose shape is `sizes`."""
    windows = matrix_product(dy.reshape(-1, dy.shape[-1]), filters.reshape(-1, filters.shape[-1]).t())
    if layout.pointwise:
        return windows.view(tuple(sizes))
    return _sum_windows(layout, sizes, windows, filters.shape)


def few_channels_back_input(
    layout: Layout, sizes: tuple[int, ...], filters: torch.Tensor, dy: torch.Tensor
) -> torch.Tensor:
    """Computes the gradient of a convolution by its images, whose shape is `sizes`, for few channels."""
    geometry = layout.geometry
    height, width, _, results = filters.shape
    batch, *spatial, _ = padded_sizes(sizes, layout.rest, True)
    matrix = filters.permute(2, 0, 1, 3).reshape(-1, results)
    windows = torch.bmm(matrix.expand(batch, *matrix.shape), dy.reshape(batch, -1, results).mT)
    dx = torch.ops.aten.col2im(windows, spatial, (height, width), layout.rates, layout.border, geometry.strides)
    if not geometry.symmetric:
        dx = unpad_image(dx, layout.rest, sizes[1:-1])
    return dx.permute(layout.from_first).contiguous()


def _sum_windows(
    layout: Layout, sizes: tuple[int, ...], windows: torch.Tensor, filters: tuple[int, ...]
) -> torch.Tensor:
    """Adds up windows to images: each pixel is the sum of its elements in all windows."""
    windows = windows.view(*layout.output[:-1], *filters[:-1])
    geometry = layout.geometry
    dx = windows.new_zeros(padded_sizes(sizes, geometry, True))
    for place in itertools.product(*map(range, filters[:-2])):  # in a window
        seen: Any = [
            slice(i * rate, i * rate + (n - 1) * stride + 1, stride)
            for i, rate, n, stride in zip(place, layout.rates, geometry.out, geometry.strides, strict=True)
        ]
        under: Any = (..., *place, slice(None))
        dx[(slice(None), *seen)] += windows[under]
    return unpad_image(dx.permute(layout.to_first), geometry, sizes[1:-1]).permute(layout.from_first)


def _window_rows(layout: Layout, x: torch.Tensor, filters: tuple[int, ...]) -> torch.Tensor:
    """Returns the elements under each window as a row: `[windows, elements of a filter]`."""
    if layout.pointwise:
        return x.reshape(-1, x.shape[-1])
    geometry = layout.geometry
    if any(geometry.before) or any(geometry.after):
        x = pad_image(x.permute(layout.to_first), geometry).permute(layout.from_first)
    batch, *steps, channel = x.stride()
    between = [step * stride for step, stride in zip(steps, geometry.strides, strict=True)]
    inside = [step * rate for step, rate in zip(steps, layout.rates, strict=True)]
    windows = x.as_strided((*layout.output[:-1], *filters[:-1]), (batch, *between, *inside, channel))
    return windows.reshape(-1, math.prod(filters[:-1]))


class _Windows(torch.autograd.Function):
    """The windows, for torch's autograd."""

    @staticmethod
    def forward(ctx: Any, layout: Layout, x: torch.Tensor, filters: tuple[int, ...]) -> torch.Tensor:
        ctx.layout, ctx.sizes, ctx.filters = layout, tuple(x.shape), filters
        return _window_rows(layout, x, filters)

    @staticmethod
    def backward(ctx: Any, *dys: torch.Tensor) -> Any:
        return None, _sum_windows(ctx.layout, ctx.sizes, dys[0], ctx.filters), None
