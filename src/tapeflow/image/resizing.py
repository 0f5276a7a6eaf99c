"""Images at another size: `resize` and its kin, cropping and padding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape
from tapeflow.array.shaping import expand_dims, squeeze
from tapeflow.core.types.dtypes import float32
from tapeflow.image import resampling
from tapeflow.math.casting import cast


class ResizeMethod:
    """The names of the ways to resize.

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
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Images at another size.

    Args:
        images: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        size: the new height and width.
        method: one of `tf.image.ResizeMethod`.
        preserve_aspect_ratio: whether `size` is only what the images must fit into.
        antialias: whether pixels are blended where images shrink.

    Returns:
        float32 images; of the images' own dtype for the nearest neighbor, and where the size stays as it is.

    Raises:
        ValueError: `images` has not three or four dimensions, `size` not two elements, or the method is unknown.

    Example:
        >>> tf.image.resize([[[0.0], [4.0]]], [1, 4])[0, :, 0].numpy().tolist()
        [0.0, 1.0, 3.0, 4.0]
    """
    return resized_by(lambda b, s: _resized(b, s, method, antialias), images, size, preserve_aspect_ratio)


def resized_by(resizer: Callable[[Any, Any], Any], images: Any, size: Any, preserve_aspect_ratio: bool = False) -> Any:
    """What a function of a batch of images and a size makes of images, see `resize`.

    Raises:
        ValueError: `images` has not three or four dimensions, or `size` not two elements.
    """
    images = convert_to_tensor(images)
    rank = images.shape.rank
    if rank is None:
        raise ValueError("'images' contains no shape.")
    if rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    batch = images if rank == 4 else expand_dims(images, 0)
    resized = resizer(batch, _size(batch, size, preserve_aspect_ratio))
    return resized if rank == 4 else squeeze(resized, [0])


def _size(batch: Any, size: Any, preserve_aspect_ratio: bool) -> Any:
    from tapeflow.math import minimum
    from tapeflow.math.rounding import rint

    size = convert_to_tensor(size, "int32", name="size")
    if not size.shape.is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if not preserve_aspect_ratio:
        return size
    old = cast(shape(batch)[1:3], float32)
    scales = cast(size, float32) / old
    return cast(rint(minimum(scales[0], scales[1]) * old), "int32")


def _resized(batch: Any, size: Any, method: str, antialias: bool) -> Any:
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return resampling.resize_nearest_neighbor(batch, size, half_pixel_centers=True)
    if method == ResizeMethod.AREA:
        return resampling.resize_area(batch, size)
    if method == ResizeMethod.BILINEAR and not antialias:
        return resampling.resize_bilinear(batch, size, half_pixel_centers=True)
    if method == ResizeMethod.BICUBIC and not antialias:
        return resampling.resize_bicubic(batch, size, half_pixel_centers=True)
    kernel = _FILTERS.get(method, method)
    if kernel not in ("triangle", "keyscubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
        raise ValueError(f"Resize method is not implemented: {method}")
    scale = cast(size, float32) / cast(shape(batch)[1:3], float32)
    return resampling.scale_and_translate(batch, size, scale, [0.0, 0.0], kernel_type=kernel, antialias=antialias)


def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: str = ResizeMethod.BILINEAR, antialias: bool = False
) -> Any:
    """Images that keep their proportions, at the largest size that fits, with zeros around them.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        target_height, target_width: the size of the result.

    Example:
        >>> tf.image.resize_with_pad(tf.ones([2, 4, 1]), 4, 4)[:, 0, 0].numpy().tolist()
        [0.0, 1.0, 1.0, 0.0]
    """
    return fitted_with_pad(lambda b, s: _resized(b, s, method, antialias), image, target_height, target_width)


def fitted_with_pad(resizer: Callable[[Any, Any], Any], image: Any, target_height: Any, target_width: Any) -> Any:
    """What a function of a batch of images and a size makes of images that keep their proportions."""
    image = convert_to_tensor(image)
    batched = image.shape.rank == 4
    batch = image if batched else expand_dims(image, 0)
    height, width = (_known(batch, axis) for axis in (1, 2))
    ratio = _larger(width / target_width, height / target_height)
    new_height, new_width = (_floored(n / ratio) for n in (height, width))
    top, left = (_floored((t - n / ratio) / 2) for t, n in ((target_height, height), (target_width, width)))
    resized = resizer(batch, convert_to_tensor([new_height, new_width], "int32"))
    padded = pad_to_bounding_box(resized, _positive(top), _positive(left), target_height, target_width)
    return padded if batched else squeeze(padded, [0])


def _known(batch: Any, axis: int) -> Any:
    """A dimension, as a Python number where it is known."""
    static = batch.shape[axis]
    return static if static is not None else cast(shape(batch)[axis], "float64")


def _larger(a: Any, b: Any) -> Any:
    return _choose(max, "maximum", a, b)


def _positive(a: Any) -> Any:
    return _choose(max, "maximum", a, 0)


def _choose(of_numbers: Callable[..., Any], of_tensors: str, a: Any, b: Any) -> Any:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return of_numbers(a, b)
    from tapeflow import math

    return getattr(math, of_tensors)(a, b)


def _floored(value: Any) -> Any:
    return int(value // 1) if isinstance(value, (int, float)) else cast(value // 1, "int32")


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Images with zeros around them.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        offset_height, offset_width: how many zeros there are above and to the left.
        target_height, target_width: the size of the result.

    Raises:
        ValueError: the image does not fit there.

    Example:
        >>> tf.image.pad_to_bounding_box(tf.ones([1, 1, 1]), 1, 0, 2, 2)[..., 0].numpy().tolist()
        [[0.0, 0.0], [1.0, 0.0]]
    """
    image = convert_to_tensor(image)
    axis = image.shape.rank - 3
    height, width = (_dim(image, axis + i) for i in (0, 1))
    below, right = target_height - offset_height - height, target_width - offset_width - width
    if any(isinstance(n, int) and n < 0 for n in (offset_height, offset_width, below, right)):
        raise ValueError(
            f"offset_height, offset_width must be >= 0, and the image of {height}x{width} must fit "
            f"{target_height}x{target_width} from ({offset_height}, {offset_width})"
        )
    paddings = [[0, 0]] * axis + [[offset_height, below], [offset_width, right], [0, 0]]
    padded = pad(image, convert_to_tensor(paddings, "int32"))
    known = [n if isinstance(n, int) else None for n in (target_height, target_width)]
    padded.set_shape([*image.shape[:axis], *known, image.shape[-1]])
    return padded


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """A part of images.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        offset_height, offset_width: where the part begins.
        target_height, target_width: its size.

    Raises:
        ValueError: the part is not inside the image.

    Example:
        >>> tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2)[..., 0].numpy().tolist()
        [[2, 3]]
    """
    image = convert_to_tensor(image)
    axis = image.shape.rank - 3
    ends = [(offset_height, target_height, _dim(image, axis)), (offset_width, target_width, _dim(image, axis + 1))]
    for offset, target, length in ends:
        if all(isinstance(n, int) for n in (offset, target, length)) and not 0 <= offset <= offset + target <= length:
            raise ValueError(f"The part from {offset} of length {target} is not inside the image's {length} pixels.")
    rows, columns = (slice(offset, offset + target) for offset, target, _ in ends)
    return image[..., rows, columns, :]


def _dim(image: Any, axis: int) -> Any:
    static = image.shape[axis]
    return static if static is not None else shape(image)[axis]


def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Any:
    """Images cut or padded with zeros around their middle, to the given size.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        target_height, target_width: the size of the result.

    Example:
        >>> tf.image.resize_with_crop_or_pad([[[1], [2], [3]]], 1, 1).numpy().tolist()
        [[[2]]]
    """
    image = convert_to_tensor(image)
    axis = image.shape.rank - 3
    height, width = (_dim(image, axis + i) for i in (0, 1))
    cuts = [_choose(max, "maximum", (n - t) // 2, 0) for n, t in ((height, target_height), (width, target_width))]
    keeps = [_choose(min, "minimum", n, t) for n, t in ((height, target_height), (width, target_width))]
    image = crop_to_bounding_box(image, *cuts, *keeps)
    offsets = [_choose(max, "maximum", (t - n) // 2, 0) for n, t in ((height, target_height), (width, target_width))]
    return pad_to_bounding_box(image, offsets[0], offsets[1], target_height, target_width)


def central_crop(image: Any, central_fraction: float) -> Any:
    """The middle of images.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        central_fraction: the share of height and width to keep, in (0, 1].

    Raises:
        ValueError: the fraction is not in (0, 1].

    Example:
        >>> tf.image.central_crop([[[1], [2], [3], [4]]] * 4, 0.5).shape
        TensorShape([2, 2, 1])
    """
    image = convert_to_tensor(image)
    if not 0 < central_fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    axis = image.shape.rank - 3
    offsets, sizes = [], []
    for i in (0, 1):
        length = _dim(image, axis + i)
        offset = _floored((length if isinstance(length, int) else cast(length, "float64")) * (1 - central_fraction) / 2)
        offsets.append(offset)
        sizes.append(length - 2 * offset)
    return crop_to_bounding_box(image, *offsets, *sizes)
