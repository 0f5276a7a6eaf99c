"""Convolutions of images on CPUs with filters that are packed once, for functions that are called again with them.

oneDNN computes with filters in blocks. Packing TensorFlow's costs more than a convolution of small images.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.ops.layer import NO_ACTIVATION, Activation, WeightLayer
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.tensor import Tensor
from tapeflow.nn.conv_layout import Layout, convolution_layout
from tapeflow.nn.windows import pad_image, padded_sizes

_USUAL_BATCH = 8  # blocks are chosen for it if the batch size is not static; they fit other sizes too
_SHALLOW = 4  # filters of this depth cost the passes over memory, and not the arithmetic


def layer_of_convolution(op: str) -> Callable[..., WeightLayer | None]:
    """Returns the rule of a two-dimensional convolution for `@f.layer`; `op` is its name."""

    def rule(image: Tensor, filters: Tensor, *attrs: Any) -> WeightLayer | None:
        if not aten.has_onednn() or image.dtype is not float32 or not filters.shape.is_fully_defined():
            return None
        shape = image.shape
        if attrs[3] != "NHWC" or shape.rank != 4 or None in shape[1:]:
            return None
        height, width, depth, multiplier = filters.shape.as_list()
        of_groups = (1, depth * multiplier) if op.startswith("Depthwise") else (depth, multiplier)
        sizes = (shape[0] or _USUAL_BATCH, *shape[1:])
        layout = convolution_layout(op, sizes, (height, width, *of_groups), *attrs)
        if layout.empty:
            return None
        packed = _Packed(layout, (height, width, *of_groups), sizes)
        return WeightLayer(of_groups[1], packed.prepare, packed.kernel, packed.adding)

    return rule


class _Packed:
    """A convolution with packed filters.

    ATen pads an image on both sides alike. If it needs more padding at its end, either the image is copied, or the
    filters get zeros at their beginning. The zeros cancel the surplus padding.

    Args:
        layout: the convolution's layout.
        filters: the shape of the filters as filters of groups.
        images: the sizes of the images; the number of them is the one to choose blocks for.
    """

    def __init__(self, layout: Layout, filters: tuple[int, ...], images: tuple[int, ...]) -> None:
        geometry = layout.geometry
        more = [after - before for before, after in zip(geometry.before, geometry.after, strict=True)]
        widens = any(more) and min(more) >= 0 and filters[2] <= _SHALLOW and set(layout.rates) == {1}
        self._layout = layout
        self._filters = filters
        self._zeros = [more[1], 0, more[0], 0] if widens else None
        self._border = geometry.after if widens else layout.border
        self._copies = any(more) and not widens
        batch, height, width, channels = padded_sizes(images, layout.rest, True) if self._copies else images
        self._sizes = (batch, channels, height, width)
        self._attrs = (self._border, geometry.strides, layout.rates, layout.groups)

    def prepare(self, filters: torch.Tensor, factors: torch.Tensor | None) -> torch.Tensor:
        """Returns the filters, scaled and packed."""
        filters = filters.reshape(self._filters)
        if factors is not None:
            filters = filters * factors
        weight = filters.permute(self._layout.filter_to_first)
        if self._zeros is not None:
            weight = torch.constant_pad_nd(weight, self._zeros)
        weight = weight.contiguous(memory_format=torch.channels_last)
        border, strides, rates, groups = self._attrs
        return aten.onednn_packed_filters(weight, border, strides, rates, groups, self._sizes)

    def _image(self, x: torch.Tensor) -> torch.Tensor:
        """Returns images in ATen's order of dimensions, padded if ATen can't pad them."""
        image = x.permute(self._layout.to_first)
        return pad_image(image, self._layout.rest) if self._copies else image

    def kernel(self, activation: Activation) -> Callable[..., torch.Tensor]:
        """Returns the function of the image, the filters and the bias."""
        attrs: Any = *self._attrs, *activation.arguments
        image, layout = self._image, self._layout

        def kernel(x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            if not x.shape[0]:
                return x.new_empty((0, *layout.output[1:]))
            return aten.onednn_convolve(image(x), filters, bias, *attrs).permute(layout.from_first)

        return kernel

    def adding(self, activation: Activation) -> tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor]] | None:
        """Returns the functions of a summand, the image, the filters and the bias: a new result, and in place."""
        if activation.name not in ("none", "relu"):  # ATen has no others
            return None
        attrs: Any = *self._attrs, "add", 1.0, None if activation.name == "none" else activation.name, [], ""
        image, layout, plain = self._image, self._layout, self.kernel(NO_ACTIVATION)

        def kernel(other: torch.Tensor, x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            if other.shape[0] != x.shape[0] or not x.shape[0]:  # a batch is broadcast, or there is nothing to add
                total = plain(x, filters, bias) + other
                return total.relu_() if activation.name == "relu" else total
            other = other.permute(layout.to_first)
            return aten.onednn_convolve_and_add(image(x), other, filters, bias, *attrs).permute(layout.from_first)

        def in_place(
            other: torch.Tensor, x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor | None
        ) -> torch.Tensor:
            aten.onednn_convolve_and_add_(other.permute(layout.to_first), image(x), filters, bias, *attrs)
            return other

        return kernel, in_place
