"""Parts of images: at given boxes, around given points, and at random."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.slicing import slice as part_of
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid
from tapeflow.debugging import Assert
from tapeflow.math import greater_equal, reduce_all
from tapeflow.random.seeds import torch_generator
from tapeflow.random.stateful import uniform
from tapeflow.random.stateless import stateless_uniform

# ---- boxes -----------------------------------------------------------------------------------------------------------


def _check_crops(image: torch.Tensor, boxes: torch.Tensor, box_indices: torch.Tensor, crop_size: Any) -> None:
    if image.ndim != 4:
        raise invalid(f"input image must be 4-D{text(TensorShape(image.shape))}")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid(f"boxes must have 4 columns, but is of shape {text(TensorShape(boxes.shape))}")
    if box_indices.shape != boxes.shape[:1]:
        raise invalid(f"box_index has incompatible shape {text(TensorShape(box_indices.shape))}")
    if type(crop_size) is not tuple or len(crop_size) != 2:
        raise invalid(f"crop_size must have two elements, not {crop_size}")
    if min(crop_size) <= 0:
        raise invalid("crop dimensions must be positive")
    if not boxes.isfinite().all():
        raise invalid("Boxes contains at least one element that is not finite")
    if ((box_indices < 0) | (box_indices >= image.shape[0])).any():
        raise OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")


def _places(begin: torch.Tensor, end: torch.Tensor, count: int, length: int) -> torch.Tensor:
    """Where the pixels of the crops lie in images of this length: `[boxes, count]`."""
    if count == 1:
        return (0.5 * (begin + end) * (length - 1))[:, None]
    step = (end - begin) * (length - 1) / (count - 1)
    return begin[:, None] * (length - 1) + torch.arange(count, device=begin.device) * step[:, None]


def _crop(
    image: torch.Tensor,
    boxes: torch.Tensor,
    box_indices: torch.Tensor,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> torch.Tensor:
    _check_crops(image, boxes, box_indices, crop_size)
    height, width = image.shape[1:3]
    ys = _places(boxes[:, 0], boxes[:, 2], crop_size[0], height)[:, :, None]
    xs = _places(boxes[:, 1], boxes[:, 3], crop_size[1], width)[:, None, :]
    inside = (ys >= 0) & (ys <= height - 1) & (xs >= 0) & (xs <= width - 1)
    pixels, which = image.float(), box_indices.long()[:, None, None]

    def read(row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
        return pixels[which, row.long().clamp(0, height - 1), column.long().clamp(0, width - 1)]

    if method == "nearest":
        found = read(torch.floor(ys + 0.5), torch.floor(xs + 0.5))
    else:
        top, left = ys.detach().floor(), xs.detach().floor()
        down, right = (ys - top)[..., None], (xs - left)[..., None]
        upper = read(top, left) + (read(top, left + 1) - read(top, left)) * right
        lower = read(top + 1, left) + (read(top + 1, left + 1) - read(top + 1, left)) * right
        found = upper + (lower - upper) * down
    return torch.where(inside[..., None], found, found.new_tensor(extrapolation_value))


def _crops_shape(
    image: TensorShape, boxes: TensorShape, box_indices: TensorShape, crop_size: Any, *_: Any
) -> TensorShape:
    known = type(crop_size) is tuple and len(crop_size) == 2
    height, width = crop_size if known else (None, None)
    count = boxes[0] if boxes.rank else None
    return TensorShape([count, height, width, image[3] if image.rank == 4 else None])


@op("CropAndResize", kernel=_crop, host=("crop_size",), shape=_crops_shape)
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Any:
    """Parts of images, all resized to one size. The corners of a box become the corners of its crop.

    Args:
        image: of shape `[batch, height, width, channels]`, of any integer or floating dtype.
        boxes: float32 of shape `[boxes, 4]`: the rows `[y1, x1, y2, x2]`, where 0 is the first and 1 the last pixel of
            the image. Where `y1 > y2` the crop is upside down.
        box_indices: int32 of shape `[boxes]`: which image each box is of.
        crop_size: the height and width of the crops.
        method: "bilinear" or "nearest".
        extrapolation_value: what stands for pixels outside of the image.

    Returns:
        A float32 tensor of shape `[boxes, crop_height, crop_width, channels]`. Gradients pass to images and boxes.

    Raises:
        InvalidArgumentError: the shapes do not go together, or a box is not finite.
        OutOfRangeError: there is no image of that number.

    Example:
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.image.crop_and_resize(image, [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2])[0, :, :, 0].numpy().tolist()
        [[0.0, 1.0], [3.0, 4.0]]
    """


# ---- glimpses --------------------------------------------------------------------------------------------------------


def _noise(image: torch.Tensor, size: tuple[int, int], noise: str) -> torch.Tensor:
    """What surrounds an image: zeros, or random numbers distributed as widely as its own."""
    around = image.new_zeros((*size, image.shape[2]))
    generator = torch_generator(image.device)
    if noise == "uniform" and image.numel():
        low, high = image.aminmax()
        return around.uniform_(generator=generator) * (high - low) + low
    if noise == "gaussian" and image.numel():
        return around.normal_(generator=generator) * image.std(correction=0) + image.mean()
    return around


def _start(offset: float, length: int, size: int, centered: bool, normalized: bool) -> int:
    """Where a glimpse begins in one direction."""
    place = offset * length if normalized else offset
    if centered:
        place = place / 2 + length / 2 - size / 2 if normalized else place + length / 2
    return int(place)


def _glimpse(
    input: torch.Tensor,
    size: Any,
    offsets: torch.Tensor,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str = "uniform",
) -> torch.Tensor:
    if input.ndim != 4:
        raise invalid("input must be 4-dimensional (batch_size, height, width, depth)" + text(TensorShape(input.shape)))
    if type(size) is not tuple or len(size) != 2:
        raise invalid(f"size must be a vector of size 2 (height, width), not {size}")
    if offsets.shape != (input.shape[0], 2):
        raise invalid(f"offsets must be of shape [{input.shape[0]}, 2], not {list(offsets.shape)}")
    if noise not in ("uniform", "gaussian", "zero"):
        raise invalid(f"The noise could only be uniform, gaussian, or zero, got {noise}")
    length = input.shape[1:3]
    glimpses = []
    for image, offset in zip(input, offsets.tolist(), strict=True):
        glimpse = _noise(image, size, noise)
        starts = [_start(o, n, s, centered, normalized) for o, n, s in zip(offset, length, size, strict=True)]
        rows, columns = (slice(max(b, 0), max(min(b + s, n), 0)) for b, s, n in zip(starts, size, length, strict=True))
        seen = image[rows, columns]
        if seen.numel():
            top, left = rows.start - starts[0], columns.start - starts[1]
            glimpse[top : top + seen.shape[0], left : left + seen.shape[1]] = seen
        glimpses.append(glimpse)
    return torch.stack(glimpses) if glimpses else input.new_zeros((0, *size, input.shape[3]))


def _glimpses_shape(input: TensorShape, size: Any, *_: Any) -> TensorShape:
    height, width = size if type(size) is tuple and len(size) == 2 else (None, None)
    return TensorShape([input[0], height, width, input[3]] if input.rank == 4 else [None, height, width, None])


@op("ExtractGlimpseV2", kernel=_glimpse, host=("size",), shape=_glimpses_shape)
def _extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Any:
    """Windows of images."""


not_differentiable(_extract_glimpse)


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Any:
    """A window of each image; what of it lies outside of the image is filled with noise.

    Args:
        input: float32 images `[batch, height, width, channels]`.
        size: the height and width of the windows.
        offsets: `[batch, 2]`: y and x of each window.
        centered: whether offsets are measured from the middle of the image, otherwise from its upper left corner.
        normalized: whether offsets are shares of the image's size, where -1 and 1 are its borders if they are centered:
            the window's middle is then there. Otherwise they are pixels, and say where the window begins.
        noise: "uniform", "gaussian" or "zero".

    Returns:
        A float32 tensor of shape `[batch, *size, channels]`. No gradient passes.

    Raises:
        InvalidArgumentError: the shapes do not go together, or there is no such noise.

    Example:
        >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> glimpse = tf.image.extract_glimpse(x, [2, 2], [[1.0, 1.0]], centered=False, normalized=False)
        >>> glimpse[0, :, :, 0].numpy().tolist()
        [[4.0, 5.0], [7.0, 8.0]]
    """
    return _extract_glimpse(input, size, offsets, centered, normalized, False, noise, name)


# ---- at random -------------------------------------------------------------------------------------------------------


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """A part of a tensor, from a random place.

    Args:
        value: a tensor of any rank.
        size: the shape of the part.
        seed: makes the places the same in each run, see `tf.random.set_seed`.

    Returns:
        A tensor of shape `size`.

    Raises:
        InvalidArgumentError: `size` is larger than the tensor in some dimension.

    Example:
        >>> tf.image.random_crop(tf.ones([8, 8, 3]), [4, 5, 3]).shape
        TensorShape([4, 5, 3])
    """
    value, size, free = _free(value, size)
    place = uniform(shape_of(free), maxval=int32.max, dtype=int32, seed=seed) % free
    return part_of(value, place, size, name)


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """A part of a tensor, from a place that a seed decides.

    Args:
        value: a tensor of any rank.
        size: the shape of the part.
        seed: two integers.

    Returns:
        A tensor of shape `size`.

    Raises:
        InvalidArgumentError: `size` is larger than the tensor in some dimension.

    Example:
        >>> tf.image.stateless_random_crop([[1, 2, 3], [4, 5, 6]], [2, 2], seed=[1, 2]).numpy().tolist()
        [[2, 3], [5, 6]]
    """
    value, size, free = _free(value, size)
    place = stateless_uniform(shape_of(free), seed, 0, int32.max, int32) % free
    return part_of(value, place, size, name)


def _free(value: Any, size: Any) -> tuple[Any, Any, Any]:
    """The tensor, the size of its part, and how many places there are for it in each dimension."""
    value, size = convert_to_tensor(value), convert_to_tensor(size, int32)
    dims = shape_of(value)
    Assert(reduce_all(greater_equal(dims, size)), ["Need value.shape >= size, got ", dims, size], summarize=1000)
    return value, size, dims - size + 1
