"""Gradients of convolutions by images as transposed convolutions, on CPUs.

ATen's gradient pads both sides of an image alike. If the paddings differ, it computes pixels of the padding and cuts
them off again. oneDNN's transposed convolution takes a padding for each side.
"""

from __future__ import annotations

import torch

from tapeflow.core import aten
from tapeflow.core.ops.elementwise_kernels import MANY, by_value
from tapeflow.nn.conv_layout import Layout


def is_transposed(layout: Layout, filters: torch.Tensor, dy: torch.Tensor) -> bool:
    """Returns True if `image_gradient` computes the gradient of a convolution by its images.

    It does not for few elements: a call takes longer.
    """
    single = filters.dtype is torch.float32
    return aten.has_onednn() and layout.channels_last and single and by_value(filters) and by_value(dy, MANY)


def image_gradient(layout: Layout, sizes: tuple[int, ...], weight: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of a convolution by its images, whose shape is `sizes`; `weight` is in ATen's order."""
    geometry = layout.geometry
    places = zip(sizes[1:-1], geometry.out, geometry.strides, geometry.size, geometry.before, strict=True)
    # What ATen calls padding of the output is how much less is cut off at the end than at the beginning.
    less = [n - ((out - 1) * stride + size - 2 * before) for n, out, stride, size, before in places]
    dx = aten.onednn_convolve_transposed(
        dy.permute(layout.to_first), weight, None, geometry.before, less,
        geometry.strides, layout.rates, layout.groups, "none", [], "",
    )  # fmt: skip
    return dx.permute(layout.from_first).contiguous()  # ATen takes some images of few pixels for channels first
