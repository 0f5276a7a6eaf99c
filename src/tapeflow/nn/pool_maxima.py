"""The kernels of max pooling, and their treatment of NaN.

As in TensorFlow, NaN is no maximum. The maximum is the largest number, or the least value of the dtype if a window has
no number. The ops that return the index of the maximum start from the first element of a window, and so return NaN if
the first element is NaN. ATen's kernels let every NaN through. If their result is not finite, they run again with NaN
replaced. If values cannot be inspected (in compilers, and on other devices than the CPU), only the first rule holds.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.values.tensor import invalid, is_traced
from tapeflow.nn.pooling import PoolLayout, pool_layout, pooled_depth
from tapeflow.nn.windows import channels_last, pad_image, spatial, unpad_image

_MAX_POOL = {2: torch.max_pool2d, 3: torch.max_pool3d}
_MAX_POOL_WITH_INDICES = {
    2: torch.ops.aten.max_pool2d_with_indices.default,
    3: torch.ops.aten.max_pool3d_with_indices.default,
}


def _least_value(dtype: torch.dtype) -> float | int:
    """Returns the least value of a dtype."""
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def without_nan(x: torch.Tensor) -> torch.Tensor:
    """Replaces NaN and minus infinity by the least number. Maxima are then numbers."""
    if not x.is_floating_point():
        return x
    least = -torch.inf if x.dtype is torch.bfloat16 else torch.finfo(x.dtype).min  # as Eigen has it
    return x.nan_to_num(nan=least, posinf=torch.inf, neginf=least)


def _can_inspect(x: torch.Tensor) -> bool:
    """Tells whether the values of `x` can be inspected, cheaply, and may include NaN."""
    return x.is_floating_point() and x.is_cpu and not is_traced(x)


def _are_finite(maxima: torch.Tensor) -> bool:
    """Tells whether maxima include neither NaN, which ATen lets through, nor minus infinity."""
    if maxima.requires_grad:  # in a module of torch
        maxima = maxima.detach()
    return math.isfinite(maxima.min() if maxima.numel() < 1 << 12 else maxima.amin())  # the faster one


def image_of(x: torch.Tensor, layout: PoolLayout) -> torch.Tensor:
    """Returns the image in ATen's layout, with the padding that ATen can't add."""
    image = x.permute(layout.to_first)
    return pad_image(image, layout.geometry, _least_value(x.dtype)) if layout.padded else image


def max_of_windows(op: str, x: torch.Tensor, *attrs: Any) -> torch.Tensor:
    """Computes MaxPool and MaxPool3D; `attrs`: see `pool_layout`."""
    ksize, strides, _, _, data_format = attrs
    if pooled_depth(ksize, data_format) != 1:
        return _max_of_channels(x, ksize, strides, data_format)
    layout = pool_layout(op, x.shape, *attrs)
    if layout.empty:
        return x.new_zeros(layout.output)
    if _can_inspect(x) and _are_finite(maxima := _window_maxima(x, layout)):
        return maxima
    return _window_maxima(without_nan(x), layout)


def _window_maxima(x: torch.Tensor, layout: PoolLayout) -> torch.Tensor:
    if layout.by_dimensions and x.is_cpu and not is_traced(x):
        for dim in range(len(layout.window)):
            x = _max_along(x, dim, layout)
        return x.contiguous()
    pool = _MAX_POOL[len(layout.window)]
    return pool(image_of(x, layout), layout.window, layout.geometry.strides, layout.border).permute(layout.from_first)


def _max_along(x: torch.Tensor, dim: int, layout: PoolLayout) -> torch.Tensor:
    """Computes the maxima of windows along one spatial dimension, which is vectorized as ATen's pooling is not.

    Each place in the windows is a slice of the elements there. At the border some windows have no element there.
    """
    geometry = layout.geometry
    stride, before, count, length = geometry.strides[dim], geometry.before[dim], geometry.out[dim], x.shape[dim + 1]
    parts = []
    for place in range(layout.window[dim]):
        first, last = max(0, -((place - before) // stride)), min(count, (length - 1 + before - place) // stride + 1)
        if first < last:
            at = first * stride + place - before
            index = (slice(None),) * (dim + 1) + (slice(at, at + (last - first - 1) * stride + 1, stride),)
            parts.append((first, last - first, x[index]))
    whole = [part for _, size, part in parts if size == count]
    out = functools.reduce(torch.maximum, whole) if whole else x.new_full((), _least_value(x.dtype))
    if len(whole) < 2 and len(whole) < len(parts):  # others are written to it
        out = out.expand(*x.shape[: dim + 1], count, *x.shape[dim + 2 :]).clone(memory_format=torch.contiguous_format)
    for first, size, part in parts:
        if size < count:
            target = out.narrow(dim + 1, first, size)
            torch.maximum(target, part, out=target)
    return out


def _max_of_channels(
    x: torch.Tensor, ksize: tuple[int, ...], strides: tuple[int, ...], data_format: str
) -> torch.Tensor:
    """Pools across channels, which must be divided evenly, as in TensorFlow."""
    depth = pooled_depth(ksize, data_format)
    channel = x.dim() - 1 if channels_last(data_format) else 1
    if any(k != 1 for k in spatial(ksize, data_format)) or ksize[0] != 1:
        raise UnimplementedError.of(
            "MaxPooling supports exactly one of pooling across depth or pooling across width/height."
        )
    if x.shape[channel] % depth:
        raise UnimplementedError.of("Depthwise max pooling requires the depth window to evenly divide the input depth.")
    if strides[channel] != depth:
        raise UnimplementedError.of("Depthwise max pooling requires the depth window to equal the depth stride.")
    groups = x.unflatten(channel, (-1, depth))
    maxima = groups.amax(channel + 1)
    if not _can_inspect(x) or _are_finite(maxima):
        return maxima
    first = groups.select(channel + 1, 0)
    return torch.where(first.isnan(), first, groups.masked_fill(groups.isnan(), -torch.inf).amax(channel + 1))


def _maxima_places(image: torch.Tensor, layout: PoolLayout) -> tuple[torch.Tensor, torch.Tensor]:
    return _MAX_POOL_WITH_INDICES[len(layout.window)](image, layout.window, layout.geometry.strides, layout.border)


def places_of_maxima(image: torch.Tensor, layout: PoolLayout) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the maximum of each window, and its index in the image that ATen pools."""
    values, indices = _maxima_places(image, layout)
    if not _can_inspect(image) or _are_finite(values):
        return values, indices
    values, indices = _maxima_places(image.masked_fill(image.isnan(), -torch.inf), layout)
    firsts = _first_places(image, layout)
    first = image.flatten(2)[:, :, firsts.flatten()].view_as(values)
    use_first = first.isnan() | (values == -torch.inf)
    return torch.where(use_first, first, values), torch.where(use_first, firsts, indices)


def _first_places(image: torch.Tensor, layout: PoolLayout) -> torch.Tensor:
    """Computes the index of the first element of each window that is not padding, in the shape of the windows."""
    indices = torch.zeros((), dtype=torch.long)
    geometry = layout.geometry
    for n, out, stride, before in zip(image.shape[2:], geometry.out, geometry.strides, geometry.before, strict=True):
        starts = torch.arange(out) * stride
        starts = starts.clamp(min=before) if layout.padded else (starts - before).clamp(min=0)
        indices = indices.unsqueeze(-1) * n + starts
    return indices


def _places_of_numbers(image: torch.Tensor, layout: PoolLayout) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Computes the index of the largest number of each window, and these numbers if they are not all finite."""
    values, indices = _maxima_places(image, layout)
    if not _can_inspect(image) or (_are_finite(values) and math.isfinite(values.max())):
        return indices, None
    values, indices = _maxima_places(image.masked_fill(image.isnan(), -torch.inf), layout)
    return indices, values


def max_of_windows_back(op: str, x: torch.Tensor, _: torch.Tensor, dy: torch.Tensor, *attrs: Any) -> torch.Tensor:
    """Computes MaxPoolGrad, whose gradients go to their window's first maximum, and MaxPool3DGrad."""
    ksize, data_format = attrs[0], attrs[-1]
    if pooled_depth(ksize, data_format) != 1:
        raise UnimplementedError.of("The gradient of pooling across depth is not supported")
    layout = pool_layout(op, x.shape, *attrs)
    layout.check_gradient(dy.shape)
    if layout.empty:
        return torch.zeros_like(x)
    if layout.in_blocks and math.prod(layout.window) == 2 and x.is_floating_point() and by_value(x) and by_value(dy):
        return _to_larger_of_pairs(x, dy, layout.window)
    dy = dy.permute(layout.to_first)
    if len(layout.window) == 3:
        return _to_all_maxima(x.permute(layout.to_first), dy, layout).permute(layout.from_first)
    image = image_of(x, layout)
    indices = places_of_maxima(image, layout)[1]
    dx = torch.ops.aten.max_pool2d_with_indices_backward.default(
        dy, image, layout.window, layout.geometry.strides, layout.border, (1, 1), False, indices
    )
    if layout.padded:
        dx = unpad_image(dx, layout.geometry, spatial(x.shape, data_format))
    return dx.permute(layout.from_first)


def _to_larger_of_pairs(x: torch.Tensor, dy: torch.Tensor, window: Sequence[int]) -> torch.Tensor:
    """Computes MaxPoolGrad for windows of two elements. The second element is the maximum if it is larger.

    Everything is vectorized; for windows of four, ATen's one pass over indices takes less time.
    """
    dim = 1 + window.index(2)
    first, second = x.unflatten(dim, (-1, 2)).unbind(dim + 1)
    dx = x.new_empty(x.shape)
    of_first, of_second = dx.unflatten(dim, (-1, 2)).unbind(dim + 1)
    is_second = torch.gt(second, first, out=x.new_empty(dy.shape))
    # This gives the gradient where a tensor is greater, and 0 elsewhere.
    aten.threshold_backward_into(dy, is_second, 0, grad_input=of_second)
    aten.threshold_backward_into(dy, is_second.neg_(), -0.5, grad_input=of_first)
    return dx


_AS_LARGE = 1e-5


def _to_all_maxima(volume: torch.Tensor, dy: torch.Tensor, layout: PoolLayout) -> torch.Tensor:
    """Adds the gradient of each window of a volume to all of its elements that are less than 1e-5 below its maximum.

    TensorFlow compares by subtraction. An infinite maximum therefore has no gradient.
    """
    image = pad_image(volume, layout.geometry, _least_value(volume.dtype))
    steps = layout.geometry.strides
    largest = torch.max_pool3d(without_nan(image), layout.window, steps)
    dx = torch.zeros_like(image)
    for offsets in itertools.product(*map(range, layout.window)):
        ends = zip(offsets, dy.shape[2:], steps, strict=True)
        place: Any = (..., *[slice(o, o + (n - 1) * s + 1, s) for o, n, s in ends])
        dx[place] += dy.where((largest - image[place]).abs() < _AS_LARGE, 0)
    return unpad_image(dx, layout.geometry, volume.shape[2:])


def max_of_windows_back_back(op: str, x: torch.Tensor, _: torch.Tensor, ddx: torch.Tensor, *attrs: Any) -> torch.Tensor:
    """Computes MaxPoolGradGrad and MaxPool3DGradGrad: picks the elements at the indices of the maxima."""
    layout = pool_layout(op, x.shape, *attrs)
    if ddx.shape != x.shape:
        raise invalid(f"Expected grad shape to be {list(x.shape)}, but got {list(ddx.shape)}")
    if layout.empty:
        return x.new_zeros(layout.output)
    indices, largest = _places_of_numbers(image_of(x, layout), layout)
    values = ddx.permute(layout.to_first)
    if layout.padded:
        values = pad_image(values, layout.geometry)
    picked = values.flatten(2).gather(2, indices.flatten(2)).view(indices.shape)
    if largest is not None:
        picked = picked * (largest != -torch.inf)
    return picked.permute(layout.from_first).contiguous()
