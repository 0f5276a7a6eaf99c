"""Both gradients of a convolution in one call, if its shapes are static.

Between large kernels, caches hold no code. A call of ATen and the Python before it then take as long as a convolution
of a small image.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.types.dtypes import DType, float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.nn.conv_layout import Layout, convolution_layout
from tapeflow.nn.window_products import FEW_CHANNELS, LARGE

_backward = torch.ops.aten.convolution_backward.default._op
_MANY_WEIGHTS = 2**15  # a transposed matrix is copied faster than a permuted tensor, by one more call


def static_layout(
    op: str, dtype: DType, images: TensorShape, filters: TensorShape, attrs: Sequence[Any]
) -> Layout | None:
    """Returns the layout of a convolution that `gradients_kernel` takes, or None.

    Args:
        op: the op's name.
        dtype: the dtype of all tensors.
        images: the shape of the images.
        filters: the shape of the filters.
        attrs: strides, padding, explicit paddings, data format, dilations.
    """
    if dtype is not float32 or attrs[3] != "NHWC" or not (images.is_fully_defined() and filters.is_fully_defined()):
        return None
    if filters.num_elements() >= LARGE:
        return None
    layout = convolution_layout(op, tuple(images), tuple(filters), *attrs)
    return None if layout.empty or layout.pointwise else layout


def gradients_kernel(layout: Layout, filters: Sequence[int]) -> Callable[..., tuple[torch.Tensor, torch.Tensor]] | None:
    """Returns a function of images, filters and the gradient of the result. It returns the gradients of the former.

    Returns None if the paddings before and after an image differ.
    """
    if not layout.geometry.symmetric or filters[2] <= FEW_CHANNELS:
        return None
    to_first, from_first, strides, border = layout.to_first, layout.from_first, layout.geometry.strides, layout.border
    rates, zeros, groups = layout.rates, layout.zeros, layout.groups
    arrange, restore = _filter_arrangement(layout, filters), _filter_restoration(layout, filters)
    both = (True, True, False)

    def kernel(x: torch.Tensor, filters: torch.Tensor, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        dx, dfilters, _ = _backward(
            dy.permute(to_first), x.permute(to_first), arrange(filters), None, strides, border, rates, False, zeros,
            groups, both,
        )  # fmt: skip
        return dx.permute(from_first).contiguous(), restore(dfilters)

    return kernel


def _filter_arrangement(layout: Layout, filters: Sequence[int]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns the function that brings filters into ATen's order of dimensions."""
    *sizes, channels, results = filters
    order, to_first = layout.filter_to_first, layout.to_first
    if math.prod(filters) < _MANY_WEIGHTS or layout.groups > 1:
        return lambda filters: filters.permute(order)
    return lambda filters: (
        filters.reshape(-1, results).t().contiguous().view(results, *sizes, channels).permute(to_first)
    )


def _filter_restoration(layout: Layout, filters: Sequence[int]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns the function that brings gradients of filters into TensorFlow's order of dimensions."""
    sizes, results = tuple(filters), filters[-1]
    order, from_first = layout.filter_from_first, layout.from_first
    if math.prod(filters) < _MANY_WEIGHTS or layout.groups > 1:
        return lambda gradient: gradient.permute(order).contiguous()
    return lambda gradient: gradient.permute(from_first).reshape(results, -1).t().contiguous().view(sizes)
