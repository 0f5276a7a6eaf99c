"""The ops that compute an image at other points: resized, or seen through a projective transform.

Every resizing but the plainest is two products with small matrices of weights, one for rows and one for columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.properties import shape
from tapeflow.core import aten
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import Batch, Slices, static
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import with_rank
from tapeflow.core.types.dtypes import DType, bfloat16, float16, float32, float64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.image.banded_weights import FEW_CHANNELS, Weights, product, weights
from tapeflow.image.blends import FILL_MODES, project_images
from tapeflow.math.casting import cast_op


def _resized_shape(images: TensorShape, size: Any, *_: Any) -> TensorShape:
    if images.rank not in (None, 4):
        raise invalid(f"input must be 4-dimensional, got {images}")
    if with_rank(size, 1)[0] not in (2, None):
        raise invalid(f"Dimension must be 2 but is {len(size)}")
    dims = size if type(size) is tuple else (None, None)
    height, width = (n if type(n) is int and n != -1 else None for n in dims)
    batch, channels = (images[0], images[3]) if images.rank == 4 else (None, None)
    return TensorShape([batch, height, width, channels])


def _join_slices(batch: Batch, images: Slices, size: Any, *attrs: Any) -> Any:
    """Resizes the images of all slices as one long batch of images."""
    return batch.unflat(batch.run(batch.flat(images), static(size), *attrs), batch.outputs[0], images)


def _check_resizable(images: torch.Tensor, size: tuple[int, ...]) -> None:
    """Checks that images can be resized."""
    if images.ndim != 4:
        raise invalid(f"input must be 4-dimensional, got {list(images.shape)}")
    if len(size) != 2 or min(size) <= 0:
        raise invalid(f"output dimensions must be positive, got {size}")
    if 0 in images.shape[1:3]:
        raise invalid(f"input image must be of non-zero size, got {list(images.shape)}")
    if not images.shape[3]:
        raise invalid(f"image must have at least one channel, got {list(images.shape)}")
    check_memory([images.shape[0], *size, images.shape[3]])
    check_memory([max(size)], _BYTES_OF_PLACE)


_BYTES_OF_PLACE = 64  # of a row or column: its place, the pixels around it and their weights


def _resize_by_weights(images: torch.Tensor, size: Any, kind: Callable[..., Weights], *options: bool) -> torch.Tensor:
    """Resizes images by the matrices `kind(new, old, *options)`."""
    _check_resizable(images, size)
    rows, columns = (kind(new, old, *options) for new, old in zip(size, images.shape[1:3], strict=True))
    return _by_weights(_widen_images(images), rows, columns).float()


def _weighted_gradient(
    grads: torch.Tensor, images: torch.Tensor, kind: Callable[..., Weights], *options: bool
) -> torch.Tensor:
    """Multiplies cotangents of resized images by the transposed matrices of `_resize_by_weights`."""
    for name, x in (("grads", grads), ("original_image", images)):
        if x.ndim != 4 or 0 in x.shape[1:3]:
            raise invalid(f"{name} must be 4-dimensional and of non-zero size, got {list(x.shape)}")
    sizes = zip(grads.shape[1:3], images.shape[1:3], strict=True)
    rows, columns = (kind(new, old, *options).transposed() for new, old in sizes)
    return _by_weights(grads.to(_widen_images(images[:0]).dtype), rows, columns).to(images.dtype)


def _channels_first(images: torch.Tensor) -> torch.Tensor:
    return images.permute(0, 3, 1, 2)


def _widen_images(images: torch.Tensor) -> torch.Tensor:
    """Returns images in the dtype that they are computed in."""
    return images if images.dtype in (torch.float32, torch.float64) else images.float()


def _by_weights(images: torch.Tensor, rows: Weights, columns: Weights) -> torch.Tensor:
    """Multiplies images by a matrix `[new, old]` from the left and one from the right."""
    if not by_value(images):
        matrices = [w.matrix(images.dtype, images.device) for w in (rows, columns)]
        return (matrices[0] @ _channels_first(images) @ matrices[1].T).permute(0, 2, 3, 1)
    return product(rows, images, columns)


def _pixel_positions(new: int, old: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Returns the positions of the new pixels, in units of the old ones; `[new]`."""
    if align_corners and new > 1:
        return np.arange(new) * ((old - 1) / (new - 1))
    if half_pixel_centers:  # in float32, as in TensorFlow
        return (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new) - np.float32(0.5)
    return np.arange(new) * (old / new)


@weights
def _linear_weights(new: int, old: int, align_corners: bool, half_pixel_centers: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns the weights of linear interpolation."""
    points = _pixel_positions(new, old, align_corners, half_pixel_centers).astype(np.float32)
    low = np.floor(points)
    return np.stack([low, low + 1], -1), np.stack([1 - (points - low), points - low], -1)


def _interpolate_images(images: torch.Tensor, size: tuple[int, ...]) -> torch.Tensor:
    """Interpolates images. ATen's loop goes through the channels, which takes long where there are few."""
    if images.shape[3] > FEW_CHANNELS or not images.is_cpu:
        return aten.upsample_bilinear2d(_channels_first(images), size, False, None).permute(0, 2, 3, 1)
    rows, columns = (_linear_weights(new, old, False, True) for new, old in zip(size, images.shape[1:3], strict=True))
    return product(rows, images, columns)


def _interpolated_in_steps(images: torch.Tensor, size: tuple[int, ...]) -> torch.Tensor:
    """Interpolates images with infinities as TensorFlow does: adds a part of the difference of two neighbors to the
    first. The difference of two infinities is NaN."""
    for axis in (1, 2):
        old, new = images.shape[axis], size[axis - 1]
        points = torch.as_tensor(_pixel_positions(new, old, False, True).astype(np.float32))
        low = points.floor()
        upper = points.ceil().clamp(max=old - 1).long()
        first = images.index_select(axis, torch.minimum(low.clamp(min=0).long(), upper))
        part = (points - low).reshape([-1 if d == axis else 1 for d in range(4)])
        images = first + (images.index_select(axis, upper) - first) * part
    return images


@op("ResizeBilinear", host=("size",), shape=_resized_shape, batching=_join_slices, exact_in_batches=True)
def resize_bilinear(
    images: torch.Tensor, size: tuple[int, ...], align_corners: bool = False, half_pixel_centers: bool = False
) -> Any:
    """Resizes images `[batch, height, width, channels]`: each new pixel is interpolated from its four neighbors."""
    if half_pixel_centers and not align_corners:
        _check_resizable(images, size)
        wide = _widen_images(images)
        resized = _interpolate_images(wide, size).float()
        if not by_value(resized) or not images.is_floating_point():
            return resized
        fewer = images if images.numel() < resized.numel() else resized
        if math.isfinite(fewer.sum(dtype=wide.dtype)):
            return resized
        return _interpolated_in_steps(wide, size).float()
    return _resize_by_weights(images, size, _linear_weights, align_corners, half_pixel_centers)


def _declare_gradient(resize: Any, kind: Callable[..., Weights], dtypes: Sequence[DType]) -> None:
    """Declares the gradient of an op that resizes images of some dtypes by weights, and the second derivative."""

    @op(f"{resize.op.name}Grad", shape=lambda grads, original_image, *_: original_image)
    def gradient(
        grads: torch.Tensor, original_image: torch.Tensor, align_corners: bool = False, half_pixel_centers: bool = False
    ) -> Any:
        return _weighted_gradient(grads, original_image, kind, align_corners, half_pixel_centers)

    @resize.gradient(needs="input0")
    def _(call: Call, dy: Tensor) -> Any:
        images = call.inputs[0]
        return gradient(dy, images, *call.attrs[-2:]) if images.dtype in dtypes else None

    @gradient.gradient(needs="input0")
    def _(call: Call, dy: Tensor) -> Any:
        return resize(dy, shape(call.inputs[0])[1:3], *call.attrs), None


_declare_gradient(resize_bilinear, _linear_weights, (float16, bfloat16, float32, float64))


@op("ResizeNearestNeighbor", host=("size",), shape=_resized_shape, batching=_join_slices, exact_in_batches=True)
def resize_nearest_neighbor(
    images: torch.Tensor, size: tuple[int, ...], align_corners: bool = False, half_pixel_centers: bool = False
) -> Any:
    """Resizes images: each new pixel is the nearest old one."""
    _check_resizable(images, size)
    batch, height, width, channels = images.shape
    indices = []
    for new, old in zip(size, (height, width), strict=True):
        points = _pixel_positions(new, old, align_corners, half_pixel_centers)
        chosen = np.floor(points + 0.5 if align_corners or half_pixel_centers else points.astype(np.float32))
        indices.append(torch.as_tensor(np.clip(chosen, 0, old - 1).astype(np.int64), device=images.device))
    lines = images.index_select(1, indices[0])
    # ATen copies pixels several times faster along the second of three dimensions than along the third of four.
    pixels = lines.reshape(batch * size[0], width, channels).index_select(1, indices[1])
    return pixels.reshape(batch, *size, channels)


@weights
def _cubic_weights(new: int, old: int, align_corners: bool, half_pixel_centers: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns the weights of a cubic: Keys's (a = -0.5) for half-pixel centers, otherwise a = -0.75.

    As in TensorFlow, positions are rounded to a table of 1024 steps.
    """
    points = _pixel_positions(new, old, align_corners, half_pixel_centers)
    low = np.floor(points)
    step = np.rint((points - low) * 1024) / 1024
    a = -0.5 if half_pixel_centers else -0.75
    near = lambda t: ((a + 2) * t - (a + 3)) * t * t + 1  # noqa: E731
    far = lambda t: ((a * t - 5 * a) * t + 8 * a) * t - 4 * a  # noqa: E731
    columns = low[:, None] + np.arange(-1, 3)
    weights = np.stack([far(step + 1), near(step), near(1 - step), far(2 - step)], -1)
    if half_pixel_centers:
        weights = np.where((columns >= 0) & (columns < old), weights, 0.0)
        weights /= weights.sum(1, keepdims=True)
    return columns, weights


@op("ResizeBicubic", host=("size",), shape=_resized_shape, batching=_join_slices)
def resize_bicubic(
    images: torch.Tensor, size: tuple[int, ...], align_corners: bool = False, half_pixel_centers: bool = False
) -> Any:
    """Resizes images: each new pixel is interpolated from its sixteen neighbors."""
    return _resize_by_weights(images, size, _cubic_weights, align_corners, half_pixel_centers)


_declare_gradient(resize_bicubic, _cubic_weights, (float32, float64))


@weights
def _area_overlaps(new: int, old: int, align_corners: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns the fractions of the area of each new pixel that the old ones cover."""
    scale = (old - 1) / (new - 1) if align_corners and min(new, old) > 1 else old / new
    begin = np.arange(new)[:, None] * scale
    pixels = np.floor(begin) + np.arange(math.ceil(scale) + 1)
    ends = np.where(pixels == old - 1, np.inf, pixels + 1)  # the last pixel is repeated beyond the image
    overlaps = np.clip(np.minimum(begin + scale, ends) - np.maximum(begin, pixels), 0, None)
    return pixels, np.where(pixels < old, overlaps, 0.0) / scale


@op("ResizeArea", host=("size",), shape=_resized_shape, batching=_join_slices)
def resize_area(images: torch.Tensor, size: tuple[int, ...], align_corners: bool = False) -> torch.Tensor:
    """Resizes images: each new pixel is the mean of the area that it covers."""
    return _resize_by_weights(images, size, _area_overlaps, align_corners)


def _lanczos_kernel(radius: float) -> Any:
    return lambda t: np.where(np.abs(t) < radius, np.sinc(t) * np.sinc(t / radius), 0.0)


def _piecewise_cubic(b: float, c: float) -> Any:
    """Returns a cubic filter of Mitchell and Netravali (1988)."""

    def weight(t: np.ndarray) -> np.ndarray:
        t = np.abs(t)
        near = ((12 - 9 * b - 6 * c) * t + (-18 + 12 * b + 6 * c)) * t * t + 6 - 2 * b
        far = (((-b - 6 * c) * t + 6 * b + 30 * c) * t - 12 * b - 48 * c) * t + 8 * b + 24 * c
        return np.where(t < 1, near, np.where(t < 2, far, 0.0)) / 6

    return weight


_KERNELS: dict[str, tuple[float, Any]] = {
    "lanczos1": (1.0, _lanczos_kernel(1.0)),
    "lanczos3": (3.0, _lanczos_kernel(3.0)),
    "lanczos5": (5.0, _lanczos_kernel(5.0)),
    "gaussian": (1.5, lambda t: np.where(np.abs(t) < 1.5, np.exp(-(t**2) / (2 * 0.5**2)), 0.0)),
    "box": (1.0, lambda t: np.where(np.abs(t) < 0.5, 1.0, np.where(np.abs(t) == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda t: np.clip(1 - np.abs(t), 0, None)),
    "keyscubic": (2.0, _piecewise_cubic(0.0, 0.5)),
    "mitchellcubic": (2.0, _piecewise_cubic(1 / 3, 1 / 3)),
}


@weights
def _filter_weights(
    new: int, old: int, scale: float, translation: float, kernel: str, antialias: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the weights of a filter, for images scaled by `scale` and moved by `translation`."""
    radius, weight = _KERNELS[kernel]
    # In float32 as in TensorFlow, since at the end of a filter the last digit decides whether a pixel has any weight.
    inverse = np.float32(1.0 / scale)
    stretch = max(inverse, np.float32(1.0)) if antialias else np.float32(1.0)
    centers = (np.arange(new, dtype=np.float32)[:, None] + 0.5) * inverse - inverse * np.float32(translation)
    reach = radius * stretch
    first = np.clip(np.ceil(centers - reach - 0.5), 0, old - 1)
    last = np.clip(np.floor(centers + reach - 0.5), 0, old - 1)
    known = np.isfinite(last - first)
    first, last = np.where(known, first, 0), np.where(known, last, -1)
    taps = max(int((last - first).max()) + 1, 1)
    check_memory([new, taps], _BYTES_OF_PLACE)
    pixels = first + np.arange(taps, dtype=np.float32)
    weights = np.where(pixels <= last, weight((pixels + 0.5 - centers) * (1 / stretch)), 0.0)
    total = weights.sum(1, keepdims=True)
    sure = np.abs(total) > 1000 * np.finfo(np.float32).tiny
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=sure)
    weights[(centers[:, 0] < 0) | (centers[:, 0] > old)] = 0.0
    return pixels, weights


def _filter_matrices(
    new: Sequence[int], old: Sequence[int], scale: tuple[float, ...], translation: tuple[float, ...], kernel_type: str,
    antialias: bool,
) -> list[Weights]:  # fmt: skip
    """Returns the weights of rows and columns that scale and move images of a size."""
    if kernel_type not in _KERNELS:
        raise invalid(f"Unrecognized kernel type: {kernel_type}")
    if not all(factor > 0 for factor in scale):
        raise invalid(f"Scale must be greater than zero, got {scale}")
    numbers = np.array([scale, translation], np.float32).T.tolist()
    return [_filter_weights(new[i], old[i], *numbers[i], kernel_type, antialias) for i in (0, 1)]


@op("ScaleAndTranslate", host=("size", "scale", "translation"), shape=_resized_shape)
def scale_and_translate(
    images: torch.Tensor, size: tuple[int, ...], scale: tuple[float, ...], translation: tuple[float, ...],
    kernel_type: str = "lanczos3", antialias: bool = True,
) -> torch.Tensor:  # fmt: skip
    """Scales images by `scale`, and moves them by `translation`, through a filter."""
    _check_resizable(images, size)
    filters = _filter_matrices(size, images.shape[1:3], scale, translation, kernel_type, antialias)
    return _by_weights(_widen_images(images), *filters).float()


@op("ScaleAndTranslateGrad", host=("scale", "translation"), shape=lambda grads, original_image, *_: original_image)
def scale_and_translate_gradient(
    grads: torch.Tensor, original_image: torch.Tensor, scale: tuple[float, ...], translation: tuple[float, ...],
    kernel_type: str = "lanczos3", antialias: bool = True,
) -> torch.Tensor:  # fmt: skip
    """Multiplies cotangents by the transposed weights of `scale_and_translate`."""
    if grads.ndim != 4 or original_image.ndim != 4:
        raise invalid(f"grads and images must be 4-dimensional, got {list(grads.shape)}, {list(original_image.shape)}")
    if not (grads.numel() and original_image.numel()):
        return grads.new_zeros(len(grads), *original_image.shape[1:3], grads.shape[3])
    filters = _filter_matrices(grads.shape[1:3], original_image.shape[1:3], scale, translation, kernel_type, antialias)
    return _by_weights(grads, *[w.transposed() for w in filters])


@scale_and_translate.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    images = call.inputs[0]
    dx = scale_and_translate_gradient(dy, cast_op(images, float32), *call.attrs[1:])
    return cast_op(dx, images.dtype)


@scale_and_translate_gradient.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return scale_and_translate(dy, shape(call.inputs[0])[1:3], *call.attrs), None


# ---- projective transforms -------------------------------------------------------------------------------------------


def _map_inside(points: torch.Tensor, lengths: torch.Tensor, fill_mode: str) -> torch.Tensor:
    """Maps coordinates outside of the image to those inside whose pixels the fill mode uses for them.

    Args:
        points: the coordinates along both dimensions, `[2, ...]`.
        lengths: the numbers of pixels along them.
        fill_mode: "CONSTANT", "REFLECT", "WRAP" or "NEAREST".
    """
    if fill_mode == "CONSTANT":
        return points
    last = lengths - 1
    if fill_mode == "REFLECT":
        points = points.remainder(2 * lengths)
        points = torch.where(points > lengths - 0.5, 2 * lengths - 1 - points, points)
    elif fill_mode == "WRAP":
        steps = last + (lengths == 1)
        below = points + lengths * (torch.trunc(-points / steps) + 1)
        above = points - lengths * torch.trunc(points / steps)
        points = torch.where(points < 0, below, torch.where(points > last, above, points))
    return points.clamp(min=0).clamp_(max=last)


def _projected_shape(images: TensorShape, transforms: TensorShape, size: Any, *_: Any) -> TensorShape:
    return _resized_shape(images, size)


@op("ImageProjectiveTransformV3", host=("output_shape", "fill_value"), shape=_projected_shape)
def image_projective_transform_v3(
    images: torch.Tensor,
    transforms: torch.Tensor,
    output_shape: tuple[int, ...],
    fill_value: float,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> torch.Tensor:
    """Transforms images by projections `[a0, a1, a2, b0, b1, b2, c0, c1]` from output to input points."""
    if images.ndim != 4:
        raise invalid(f"images must be 4-dimensional, got {list(images.shape)}")
    if transforms.ndim != 2 or transforms.shape[1] != 8 or transforms.shape[0] not in (1, images.shape[0]):
        raise invalid(f"Input transform should be num_images x 8 or 1 x 8, got {list(transforms.shape)}")
    if len(output_shape) != 2 or min(output_shape) <= 0:
        raise invalid(f"output dimensions must be positive, got {list(output_shape)}")
    batch, height, width, channels = images.shape
    check_memory([batch, *output_shape, channels])
    check_memory([batch, *output_shape], _BYTES_OF_PLACE)
    if interpolation not in ("NEAREST", "BILINEAR"):
        raise invalid(f"Invalid interpolation {interpolation}: NEAREST or BILINEAR")
    is_nearest = interpolation == "NEAREST"
    if images.dtype is torch.float32 and by_value(images) and by_value(transforms):
        out = images.new_empty(batch, *output_shape, channels)
        step = 8 if len(transforms) > 1 else 0
        project_images(
            images.contiguous(), batch, height, width, channels, transforms.float().contiguous(), step, *output_shape,
            FILL_MODES.index(fill_mode), is_nearest, float(fill_value), out,
        )  # fmt: skip
        return out
    ys = torch.arange(output_shape[0], device=images.device, dtype=torch.float32)[:, None]
    xs = torch.arange(output_shape[1], device=images.device, dtype=torch.float32)
    lengths = torch.tensor([height, width], dtype=torch.float32, device=images.device).view(2, 1, 1, 1)
    columns = transforms.float().T[..., None, None]
    by_x, by_y, shift = columns[:6].view(2, 3, *columns.shape[1:]).flip(0).unbind(1)  # of y, and of x
    depth = columns[6] * xs + columns[7] * ys + 1
    visible, points = depth != 0, (by_x * xs + by_y * ys + shift) / depth
    if 1 in (height, width) and fill_mode in ("REFLECT", "WRAP"):  # all points are this one
        points = torch.where(lengths > 1, points, 0.0)
    y, x = _map_inside(points, lengths, fill_mode)
    indices = torch.arange(batch, device=images.device)[:, None, None]

    def read(row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
        inside = visible & (row >= 0) & (row < height) & (column >= 0) & (column < width)
        safe = [torch.nan_to_num(v).clamp(0, n - 1).long() for v, n in ((row, height), (column, width))]
        pixels = images[indices, *(i.expand(batch, -1, -1) for i in safe)]
        return torch.where(inside[..., None], pixels, images.new_tensor(fill_value))

    if is_nearest:
        rounded = [torch.where(v >= 0, torch.floor(v + 0.5), torch.ceil(v - 0.5)) for v in (y, x)]
        return read(*rounded)
    top, left = torch.floor(y), torch.floor(x)
    down, right = (y - top)[..., None], (x - left)[..., None]
    upper = (1 - right) * read(top, left) + right * read(top, left + 1)
    lower = (1 - right) * read(top + 1, left) + right * read(top + 1, left + 1)
    blended = (1 - down) * upper + down * lower
    filled = torch.as_tensor(fill_value, dtype=blended.dtype, device=images.device)
    return torch.where(visible[..., None], blended, filled).to(images.dtype)
