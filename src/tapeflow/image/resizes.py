"""Changes of the size of images: resizing, cropping and padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.concat_and_split import stack
from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.padding import pad
from tapeflow.array.properties import ensure_shape, shape
from tapeflow.array.reshapes import expand_dims, reshape, squeeze
from tapeflow.array.slicing import slice
from tapeflow.core.context import state
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import float32, float64, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor, invalid
from tapeflow.image import interpolation
from tapeflow.image.image_checks import check_image_or_batch, require
from tapeflow.math.casting import cast
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.rounding import rint

Resizer = Callable[[Any, Any], Any]  # `resizer(batch, size)` resizes a batch of images


class ResizeMethod:
    """The names of the methods of `tf.image.resize`.

    Example:
        >>> tf.image.resize(tf.ones([2, 2, 1]), [4, 4], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR).shape
        TensorShape([4, 4, 1])
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_FILTERS = {"bilinear": "triangle", "bicubic": "keyscubic"}


def resize(
    images: TensorLike,
    size: ShapeLike,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resizes images.

    Args:
        images: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        size: two int32 numbers, the new height and width.
        method: a `tf.image.ResizeMethod`, or its string.
        preserve_aspect_ratio: keeps the proportions of the images; `size` is then an upper bound.
        antialias: blends pixels when images shrink.

    Returns:
        float32 images of shape `[batch, *size, channels]` or `[*size, channels]`; of the dtype of `images` for the
        nearest neighbor.

    Raises:
        ValueError: `images` has neither three nor four dimensions, `size` does not have two elements, or the method is
            unknown.

    Example:
        >>> tf.image.resize([[[0.0], [4.0]]], [1, 4])[0, :, 0].numpy().tolist()
        [0.0, 1.0, 3.0, 4.0]
    """
    return resized_by(lambda b, s: _resize_batch(b, s, method, antialias), images, size, preserve_aspect_ratio)


def resized_by(resizer: Resizer, images: TensorLike, size: ShapeLike, preserve_aspect_ratio: bool) -> Any:
    """Resizes a batch of images, or one image, by a function; see `resize`.

    Raises:
        ValueError: `images` has neither three nor four dimensions, or `size` does not have two elements.
    """
    tensor = convert_to_tensor(images)
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("'images' contains no shape.")
    if rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    if state.graph is None and tensor.shape[-1] == 0:
        raise invalid("image must have at least one channel")
    batch = tensor if rank == 4 else expand_dims(tensor, 0)
    resized = resizer(batch, _new_size(batch, size, preserve_aspect_ratio))
    return resized if rank == 4 else squeeze(resized, [0])


def _new_size(batch: Tensor, size: Any, preserve_aspect_ratio: bool) -> Any:
    """Returns the new size of a batch of images as a tensor; see `resize`."""
    try:
        new = convert_to_tensor(size, int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if not new.shape.is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if not preserve_aspect_ratio:
        if isinstance(new, EagerTensor):
            TensorShape(new)  # which no dimension below zero may be in
        return new
    old = cast(shape(batch)[1:3], float32)
    scales = cast(new, float32) / old
    return cast(rint(minimum(scales[0], scales[1]) * old), int32)


def _resize_batch(batch: Tensor, size: Tensor, method: str, antialias: bool) -> Any:
    """Resizes a batch of images by a method of `ResizeMethod`."""
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return interpolation.resize_nearest_neighbor(batch, size, half_pixel_centers=True)
    if method == ResizeMethod.AREA:
        return interpolation.resize_area(batch, size)
    if method == ResizeMethod.BILINEAR and not antialias:
        return interpolation.resize_bilinear(batch, size, half_pixel_centers=True)
    if method == ResizeMethod.BICUBIC and not antialias:
        return interpolation.resize_bicubic(batch, size, half_pixel_centers=True)
    kernel = _FILTERS.get(method, method)
    if kernel not in ("triangle", "keyscubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
        raise ValueError(f"Resize method is not implemented: {method}")
    scale = cast(size, float32) / cast(shape(batch)[1:3], float32)
    return interpolation.scale_and_translate(batch, size, scale, [0.0, 0.0], kernel_type=kernel, antialias=antialias)


def resize_with_pad(
    image: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Resizes images to the largest size that fits and keeps their proportions, and pads them with zeros.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        target_height, target_width: scalars, the size of the result.
        method: a `tf.image.ResizeMethod`, or its string.
        antialias: blends pixels when images shrink.

    Returns:
        float32 images of the target size; of the dtype of `image` for the nearest neighbor.

    Raises:
        ValueError: the method is unknown.

    Example:
        >>> tf.image.resize_with_pad(tf.ones([2, 4, 1]), 4, 4)[:, 0, 0].numpy().tolist()
        [0.0, 1.0, 1.0, 0.0]
    """
    return fitted_with_pad(lambda b, s: _resize_batch(b, s, method, antialias), image, target_height, target_width)


def fitted_with_pad(resizer: Resizer, image: TensorLike, target_height: Any, target_width: Any) -> Any:
    """Resizes images by a function, keeps their proportions, and pads them; see `resize_with_pad`."""
    tensor = convert_to_tensor(image)
    check_image_or_batch(tensor)
    batched = tensor.shape.rank == 4
    batch = tensor if batched else expand_dims(tensor, 0)
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    sizes, targets = (list(map(_as_number, pair)) for pair in (_image_size(batch), (target_height, target_width)))
    ratio = _larger_length(sizes[1] / targets[1], sizes[0] / targets[0])
    new_height, new_width = (_floor_length(n / ratio) for n in sizes)
    top, left = (_floor_length((t - n / ratio) / 2) for t, n in zip(targets, sizes, strict=True))
    resized = resizer(batch, convert_to_tensor([new_height, new_width], int32))
    padded = pad_to_bounding_box(resized, _larger_length(top, 0), _larger_length(left, 0), target_height, target_width)
    return padded if batched else squeeze(padded, [0])


# ---- numbers that are Python's where they are static, and scalar tensors otherwise -----------------------------------


def _image_size(images: Tensor) -> list[Any]:
    """Returns the height and the width."""
    return [shape(images)[axis] if images.shape[axis] is None else images.shape[axis] for axis in (-3, -2)]


def _as_number(dim: TensorLike) -> Any:
    return dim if isinstance(dim, int) else cast(dim, float64)


def _are_numbers(*values: Any) -> bool:
    return not any(isinstance(v, (Tensor, ReadAsTensor)) for v in values)


def _tensor_first(a: TensorLike, b: TensorLike) -> tuple[Any, Any]:
    """Returns two operands, a number behind the tensor whose dtype it takes."""
    return (a, b) if isinstance(a, Tensor) else (b, a)


def _larger_length(a: Any, b: Any) -> Any:
    return max(a, b) if _are_numbers(a, b) else maximum(*_tensor_first(a, b))


def _smaller_length(a: Any, b: Any) -> Any:
    return min(a, b) if _are_numbers(a, b) else minimum(*_tensor_first(a, b))


def _floor_length(value: Any) -> Any:
    return int(value // 1) if _are_numbers(value) else cast(value // 1, int32)


def _image_batch(value: TensorLike) -> Any:
    """Returns images as a tensor of static rank. A tensor of unknown rank is a single image, as in TensorFlow.

    Raises:
        ValueError: it has neither three nor four dimensions, or one of the last three is empty.
    """
    images = convert_to_tensor(value)
    check_image_or_batch(images)
    return ensure_shape(images, [None] * 3) if images.shape.rank is None else images


def _with_size(result: Any, images: Tensor, size: Any) -> Any:
    """Returns images that were computed from others, with the static shape for their height and width."""
    result.set_shape([*images.shape[:-3], *(n if _are_numbers(n) else None for n in size), images.shape[-1]])
    return result


def _cut_images(images: Tensor, offsets: Any, size: Any, channels: TensorLike = -1) -> Any:
    """Cuts a part of a height and width out of images."""
    outer = images.shape.rank - 3
    part = slice(images, stack([0] * outer + [*offsets, 0]), stack([-1] * outer + [*size, channels]))
    return _with_size(part, images, size)


# ---- cropping and padding --------------------------------------------------------------------------------------------


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """Pads images with zeros.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        offset_height, offset_width: scalars, the number of zeros above and to the left.
        target_height, target_width: scalars, the size of the result.

    Returns:
        Images of the target size and of the same dtype.

    Raises:
        ValueError: the image does not fit into the target size at this offset.

    Example:
        >>> tf.image.pad_to_bounding_box(tf.ones([1, 1, 1]), 1, 0, 2, 2)[..., 0].numpy().tolist()
        [[0.0, 0.0], [1.0, 0.0]]
    """
    tensor = _image_batch(image)
    height, width = _image_size(tensor)
    offsets: Any = offset_height, offset_width
    targets: Any = target_height, target_width
    right, below = targets[1] - offsets[1] - width, targets[0] - offsets[0] - height
    require(offsets[0] >= 0, "offset_height must be >= 0")
    require(offsets[1] >= 0, "offset_width must be >= 0")
    require(right >= 0, "width must be <= target - offset")
    require(below >= 0, "height must be <= target - offset")
    paddings = stack([0, 0] * (tensor.shape.rank - 3) + [offsets[0], below, offsets[1], right, 0, 0])
    return _with_size(pad(tensor, reshape(paddings, [-1, 2])), tensor, targets)


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: TensorLike,
    offset_width: TensorLike,
    target_height: TensorLike,
    target_width: TensorLike,
) -> Tensor:
    """Cuts a part out of images.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        offset_height, offset_width: scalars, the first row and column of the part.
        target_height, target_width: scalars, the size of the part.

    Returns:
        Images of the target size and of the same dtype.

    Raises:
        ValueError: the part is not inside the image.

    Example:
        >>> tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2)[..., 0].numpy().tolist()
        [[2, 3]]
    """
    tensor = _image_batch(image)
    height, width = _image_size(tensor)
    offsets: Any = offset_height, offset_width
    targets: Any = target_height, target_width
    require(offsets[1] >= 0, "offset_width must be >= 0.")
    require(offsets[0] >= 0, "offset_height must be >= 0.")
    require(targets[1] > 0, "target_width must be > 0.")
    require(targets[0] > 0, "target_height must be > 0.")
    require(width >= targets[1] + offsets[1], "width must be >= target + offset.")
    require(height >= targets[0] + offsets[0], "height must be >= target + offset.")
    return _cut_images(tensor, offsets, targets, shape(tensor)[-1])  # int32, as targets must be


def resize_with_crop_or_pad(image: TensorLike, target_height: int, target_width: int) -> Tensor:
    """Cuts images, or pads them with zeros, to a size; their center stays the center.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        target_height, target_width: ints, the size of the result.

    Returns:
        Images of the target size and of the same dtype.

    Raises:
        ValueError: `image` has neither three nor four dimensions, or a target is not positive.

    Example:
        >>> tf.image.resize_with_crop_or_pad([[[1], [2], [3]]], 1, 1).numpy().tolist()
        [[[2]]]
    """
    tensor = _image_batch(image)
    targets: Any = target_height, target_width
    require(targets[1] > 0, "target_width must be > 0.")
    require(targets[0] > 0, "target_height must be > 0.")
    sizes = list(zip(_image_size(tensor), targets, strict=True))
    cuts = [_larger_length((old - new) // 2, 0) for old, new in sizes]
    cropped = crop_to_bounding_box(tensor, *cuts, *[_smaller_length(old, new) for old, new in sizes])
    offsets = [_larger_length((new - old) // 2, 0) for old, new in sizes]
    return pad_to_bounding_box(cropped, *offsets, *targets)


def central_crop(image: TensorLike, central_fraction: TensorLike) -> Tensor:
    """Cuts the center out of images.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        central_fraction: a scalar, the fraction of height and width to keep, in (0, 1].

    Returns:
        Images of the same dtype.

    Raises:
        ValueError: the fraction is not in (0, 1].

    Example:
        >>> tf.image.central_crop([[[1], [2], [3], [4]]] * 4, 0.5).shape
        TensorShape([2, 2, 1])
    """
    tensor = convert_to_tensor(image)
    fraction: Any = central_fraction
    if isinstance(fraction, SymbolicTensor):
        fraction = cast(fraction, float64)
    elif not 0 < fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    elif fraction == 1:
        return tensor
    check_image_or_batch(tensor)
    if tensor.shape.rank is None:
        raise ValueError("`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = None.")
    lengths = _image_size(tensor)
    offsets = [_floor_length(_as_number(length) * (1 - fraction) / 2) for length in lengths]
    sizes = [length - 2 * offset for length, offset in zip(lengths, offsets, strict=True)]
    return _cut_images(tensor, offsets, sizes)
