"""Convolutions of images on CPUs with filters that are packed once, for functions that are called again with the same.

oneDNN computes with filters in blocks. Packing TensorFlow's costs more than a convolution of small images.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.kernels import direct
from tapeflow.core.ops.layer import Activation, Layer
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import float32
from tapeflow.nn.conv_layout import Layout, convolution_layout
from tapeflow.nn.windows import padded

_AVAILABLE = torch.backends.mkldnn.is_available()
_USUAL_BATCH = 8  # to choose blocks by where the size of batches is not static: they fit other sizes too


def layer_of_convolution(op: str) -> Callable[..., Layer | None]:
    """Returns the rule of a two-dimensional convolution for `@f.layer`; `op` is its name."""

    def rule(step: Any, producer: Callable[..., Any]) -> Layer | None:
        image, filters, *attrs = step.args
        if not _AVAILABLE or image.dtype is not float32 or not filters.shape.is_fully_defined():
            return None
        image, attrs, steps = _without_padding(image, attrs, producer)
        shape = image.shape
        if attrs[3] != "NHWC" or shape.rank != 4 or None in shape[1:]:
            return None
        height, width, depth, multiplier = filters.shape.as_list()
        of_groups = (1, depth * multiplier) if op.startswith("Depthwise") else (depth, multiplier)
        grouped = (height, width, *of_groups)
        layout = convolution_layout(op, (shape[0] or _USUAL_BATCH, *shape[1:]), grouped, *attrs)
        if layout.empty:
            return None
        packing = _packing(layout, grouped, shape)
        return Layer(image, filters, grouped[-1], packing, lambda activation: _kernel(layout, activation), steps)

    return rule


def _without_padding(
    image: Any, attrs: list[Any], producer: Callable[..., Any]
) -> tuple[Any, list[Any], tuple[Any, ...]]:
    """Returns the image before it is padded on all sides alike, and the attrs with which the convolution pads it."""
    strides, padding, _, data_format, dilations = attrs
    pad = producer(image, ops.Pad.op)
    amounts = host_static(pad.args[1]) if pad is not None and padding == "VALID" and data_format == "NHWC" else None
    explicit = tuple([n for row in amounts for n in row]) if isinstance(amounts, tuple) else (None,)
    if None in explicit or explicit[::2] != explicit[1::2] or explicit[0] or explicit[-1]:
        return image, attrs, ()
    return pad.args[0], [strides, "EXPLICIT", explicit, data_format, dilations], (pad,)


def _packing(layout: Layout, shape: tuple[int, ...], image: Any) -> Callable[..., torch.Tensor]:
    """Returns the function that scales and packs filters.

    Args:
        layout: that of the convolution.
        shape: the shape of the filters as filters of groups.
        image: the static shape of the images.
    """
    geometry = layout.geometry
    added = [0, 0] if geometry.symmetric else [b + a for b, a in zip(geometry.before, geometry.after, strict=True)]
    batch, height, width, channels = image
    sizes = (batch or _USUAL_BATCH, channels, height + added[0], width + added[1])
    pack = torch.ops.mkldnn._reorder_convolution_weight

    def prepare(filters: torch.Tensor, factors: torch.Tensor | None) -> torch.Tensor:
        filters = filters.reshape(shape)
        if factors is not None:
            filters = filters * factors
        weight = filters.permute(layout.filter_to_first).contiguous(memory_format=torch.channels_last)
        return pack(weight, layout.border, geometry.strides, layout.rates, layout.groups, sizes)

    return prepare


def _kernel(layout: Layout, activation: Activation) -> Callable[..., torch.Tensor]:
    """Returns the convolution with packed filters, a bias and an activation."""
    convolve = direct(torch.ops.mkldnn._convolution_pointwise.default)
    geometry, (name, parameters) = layout.geometry, activation
    attrs = layout.border, geometry.strides, layout.rates, layout.groups, name, list(parameters), ""

    def kernel(x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        if not x.shape[0]:
            return x.new_empty((0, *layout.output[1:]))
        image = x.permute(layout.to_first)
        if not geometry.symmetric:
            image = padded(image, geometry)
        return convolve(image, filters, bias, *attrs).permute(layout.from_first)

    return kernel
