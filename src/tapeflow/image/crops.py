"""Parts of images: in boxes, around points, and at random positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import convert_to_tensor, range_op
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.array.slicing import slice as slice_of
from tapeflow.core.context import state
from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.batch_rules import Batch, Slices, static
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import check_ranks_first, text, wholly_static, with_dimension, with_rank
from tapeflow.core.rng.seeds import torch_generator
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.image.blends import crop_boxes
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.casting import cast_op
from tapeflow.math.comparison import greater_equal
from tapeflow.math.reduction import reduce_all
from tapeflow.random.stateful import uniform
from tapeflow.random.stateless import stateless_uniform

# ---- boxes -----------------------------------------------------------------------------------------------------------


def _check_crops(image: torch.Tensor, boxes: torch.Tensor, box_indices: torch.Tensor, crop_size: Any) -> None:
    """Checks the arguments of `crop_and_resize`."""
    if image.ndim != 4:
        raise invalid(f"input image must be 4-D{text(image.shape)}")
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid(f"boxes must have 4 columns, but is of shape {text(boxes.shape)}")
    if box_indices.shape != boxes.shape[:1]:
        raise invalid(f"box_index has incompatible shape {text(box_indices.shape)}")
    if type(crop_size) is not tuple or len(crop_size) != 2:
        raise invalid(f"crop_size must have two elements, not {crop_size}")
    if min(crop_size) <= 0:
        raise invalid("crop dimensions must be positive")
    if ((box_indices < 0) | (box_indices >= image.shape[0])).any():
        raise OutOfRangeError.of("box_index has values outside [0, batch_size)")
    if not boxes.isfinite().all():
        raise invalid("Boxes contains at least one element that is not finite")


_BYTES_OF_PLACE = 64  # of a row or column of a crop: its place, the pixels around it and their weights


def _crop_positions(begin: torch.Tensor, end: torch.Tensor, count: int, length: int) -> torch.Tensor:
    """Computes the positions of the crops' pixels along one dimension of the images.

    Args:
        begin, end: the bounds of the boxes, `[boxes]`. 0 is the first pixel of an image, 1 the last one.
        count: the number of pixels of a crop.
        length: the number of pixels of an image.

    Returns:
        Positions in pixels of the images, `[boxes, count]`.
    """
    if count == 1:
        return (0.5 * (begin + end) * (length - 1))[:, None]
    step = (end - begin) * (length - 1) / (count - 1)
    return begin[:, None] * (length - 1) + torch.arange(count, device=begin.device) * step[:, None]


def _crop_and_resize_kernel(
    image: torch.Tensor,
    boxes: torch.Tensor,
    box_indices: torch.Tensor,
    crop_size: tuple[int, ...],
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> torch.Tensor:
    _check_crops(image, boxes, box_indices, crop_size)
    height, width = image.shape[1:3]
    check_memory([len(boxes), *crop_size, image.shape[3]])
    check_memory([len(boxes), max(crop_size)], _BYTES_OF_PLACE)
    if by_value(image) and by_value(boxes):
        channels = image.shape[3]
        crops = image.new_empty(len(boxes), *crop_size, channels, dtype=torch.float32)
        crop_boxes(
            image.float().contiguous(), height, width, channels, boxes.contiguous(), box_indices.contiguous(),
            len(boxes), *crop_size, method == "nearest", extrapolation_value, crops,
        )  # fmt: skip
        return crops
    ys = _crop_positions(boxes[:, 0], boxes[:, 2], crop_size[0], height)[:, :, None]
    xs = _crop_positions(boxes[:, 1], boxes[:, 3], crop_size[1], width)[:, None, :]
    rows_inside, columns_inside = (ys >= 0) & (ys <= height - 1), (xs >= 0) & (xs <= width - 1)
    crops = _followed_crops(image, boxes, ys, xs, box_indices, method == "nearest")
    if bool(rows_inside.all()) and bool(columns_inside.all()):
        return crops
    inside = (rows_inside & columns_inside)[..., None]
    return torch.where(inside, crops, crops.new_tensor(extrapolation_value))


def _followed_crops(
    image: torch.Tensor, boxes: torch.Tensor, ys: torch.Tensor, xs: torch.Tensor, box_indices: torch.Tensor,
    nearest: bool,
) -> torch.Tensor:  # fmt: skip
    """Reads the crops' pixels at positions `[boxes, height, 1]` and `[boxes, 1, width]`, for torch's autograd."""
    height, width = image.shape[1:3]
    pixels, indices = image.float(), box_indices.long()[:, None, None]

    def read(row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
        return pixels[indices, row.long().clamp(0, height - 1), column.long().clamp(0, width - 1)]

    if nearest:
        crops = read(torch.floor(ys + 0.5), torch.floor(xs + 0.5))
        if boxes.requires_grad:  # by the boxes, it has the gradient of "bilinear"
            smooth = _followed_crops(image.detach(), boxes, ys, xs, box_indices, False)
            crops = crops + (smooth - smooth.detach())
        return crops
    top, left = ys.detach().floor(), xs.detach().floor()
    down, right = (ys - top)[..., None], (xs - left)[..., None]
    # the pixels on both sides: one where the position is that of a pixel, so that no other one counts
    low, far = (ys + (ys != top)).detach().floor(), (xs + (xs != left)).detach().floor()
    upper = read(top, left) + (read(top, far) - read(top, left)) * right
    lower = read(low, left) + (read(low, far) - read(low, left)) * right
    return upper + (lower - upper) * down


def _static_size(size: Any) -> tuple[int | None, int | None]:
    """Returns the static height and width of a size argument, or None for each that is not static."""
    if type(size) is not tuple or len(size) != 2 or not wholly_static(size):
        return None, None
    height, width = (n if type(n) is int and n != -1 else None for n in size)  # -1 is for the kernel to refuse
    return height, width


def _crops_shape(
    image: TensorShape, boxes: TensorShape, box_indices: TensorShape, crop_size: Any, *_: Any
) -> TensorShape:
    if boxes.rank == 2 and boxes[1] not in (4, None):
        raise invalid(f"boxes must have 4 columns, but is of shape {text(boxes)}")
    count = boxes.with_rank(2)[:1].merge_with(box_indices)[0]
    if state.graph is not None:
        with_dimension(with_rank(crop_size, 1), 0, 2)
    size = _static_size(crop_size)
    return TensorShape([count, *((None, None) if None in size else size), image.with_rank(4)[3]])


@op("CropAndResize", kernel=_crop_and_resize_kernel, host=("crop_size",), shape=_crops_shape)
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: ShapeLike,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cuts boxes out of images, and resizes all of them to one size. The corners of a box become the crop's corners.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` and an integer or floating dtype.
        boxes: a float32 tensor of shape `[boxes, 4]`, with rows `[y1, x1, y2, x2]`. 0 is the first pixel of the image,
            1 the last one. If `y1 > y2`, the crop is upside down.
        box_indices: an int32 tensor of shape `[boxes]`: the index of the image of each box.
        crop_size: the height and width of the crops.
        method: "bilinear" or "nearest"; "bilinear" by default.
        extrapolation_value: a float, the value of pixels outside of the image; 0.0 by default.

    Returns:
        A float32 tensor of shape `[boxes, crop_height, crop_width, channels]`. It is differentiable with respect to
        images and boxes.

    Raises:
        InvalidArgumentError: the shapes do not match, or a box is not finite.
        OutOfRangeError: an index is negative, or not less than the number of images.

    Example:
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.image.crop_and_resize(image, [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2])[0, :, :, 0].numpy().tolist()
        [[0.0, 1.0], [3.0, 4.0]]
    """


@crop_and_resize.batching
def _(batch: Batch, image: Slices, boxes: Slices, box_indices: Slices, crop_size: Any, *attrs: Any) -> Any:
    """Joins the boxes of all slices; the index of an image is then counted from the first image of its slice."""
    images_per_slice = convert(batch.dims(image)[0])
    firsts = multiply(range_op(convert(0), convert(batch.count), convert(1)), images_per_slice)
    indices = add(batch.stack(box_indices), expand_dims(cast_op(firsts, box_indices.slice.dtype), 1))
    indices = reshape(indices, (-1,))
    crops = batch.run(batch.flat(image), batch.flat(boxes), indices, static(crop_size), *attrs)
    return batch.unflat(crops, batch.outputs[0], boxes)


# ---- glimpses --------------------------------------------------------------------------------------------------------


def _draw_noise(image: torch.Tensor, count: int, noise: str) -> torch.Tensor:
    """Draws pixels of noise, with the range or the mean and deviation of the image; zeros for the noise "zero"."""
    pixels = image.new_zeros((count, image.shape[2]))
    generator = torch_generator(image.device)
    if noise == "uniform" and image.numel():
        low, high = image.aminmax()
        return pixels.uniform_(generator=generator).mul_(high - low).add_(low)
    if noise == "gaussian" and image.numel():
        return pixels.normal_(generator=generator) * image.std(correction=0) + image.mean()
    return pixels


def _glimpse_start(offset: float, length: int, size: int, centered: bool, normalized: bool) -> int:
    """Computes the first pixel of a glimpse along one dimension."""
    start = offset * length if normalized else offset
    if centered:
        start = start / 2 + length / 2 - size / 2 if normalized else start + length / 2
    return int(start)


def _glimpses_shape(input: TensorShape, size: Any, offsets: TensorShape, *_: Any) -> TensorShape:
    if input.rank not in (4, None):
        raise invalid("input must be 4-dimensional (batch_size, height, width, depth)" + text(input))
    with_dimension(with_rank(size, 1), 0, 2)
    if offsets.rank is not None:
        with_dimension(offsets, 1, 2)
    channels = input[3] if input.rank == 4 else None
    batch = input[:1].merge_with(offsets.with_rank(2)[:1])[0] if input.rank else offsets.with_rank(2)[0]
    return TensorShape([batch, *_static_size(size), channels])


@op("ExtractGlimpseV2", host=("size",), shape=check_ranks_first(_glimpses_shape, 4, None, 2))
def _extract_glimpse(
    input: torch.Tensor,
    size: tuple[int, ...],
    offsets: torch.Tensor,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    noise: str = "uniform",
) -> torch.Tensor:
    """Cuts windows out of images."""
    if input.ndim != 4:
        raise TypeError("the shape rule says what is wrong")
    if type(size) is not tuple or len(size) != 2:
        raise invalid(f"size must be a vector of size 2 (height, width), not {size}")
    if min(size) < 0:
        raise invalid(f"Expected a non-negative size, got {min(size)}")
    if offsets.shape != (input.shape[0], 2):
        raise invalid(f"offsets must be of shape [{input.shape[0]}, 2], not {list(offsets.shape)}")
    if noise not in ("uniform", "gaussian", "zero"):
        raise invalid(f"The noise could only be uniform, gaussian, or zero, got {noise}")
    length = input.shape[1:3]
    glimpses = []
    for image, offset in zip(input, offsets.tolist(), strict=True):
        starts = [_glimpse_start(o, n, s, centered, normalized) for o, n, s in zip(offset, length, size, strict=True)]
        rows, columns = (slice(max(b, 0), max(min(b + s, n), 0)) for b, s, n in zip(starts, size, length, strict=True))
        glimpse = visible = image[rows, columns]
        if visible.shape[:2] != size:
            glimpse, outside = image.new_empty((*size, image.shape[2])), np.ones(size, np.bool_)
            if visible.numel():
                place = tuple(slice(s.start - b, s.stop - b) for s, b in zip((rows, columns), starts, strict=True))
                glimpse[place], outside[place] = visible, False
            places = torch.from_numpy(np.flatnonzero(outside)).to(image.device)
            glimpse.view(-1, image.shape[2]).index_copy_(0, places, _draw_noise(image, len(places), noise))
        glimpses.append(glimpse)
    return torch.stack(glimpses) if glimpses else input.new_zeros((0, *size, input.shape[3]))


not_differentiable(_extract_glimpse)


def extract_glimpse(
    input: TensorLike,
    size: ShapeLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """Cuts a window out of each image. The part of a window outside of the image is filled with noise.

    Args:
        input: float32 images `[batch, height, width, channels]`.
        size: the height and width of the windows.
        offsets: a float32 tensor of shape `[batch, 2]`: y and x of each window.
        centered: True for offsets from the center of the image, False for offsets from its upper left corner.
        normalized: True for offsets that are fractions of the image's size. If they are centered, -1 and 1 are the
            borders of the image, and an offset refers to the window's center. False for offsets in pixels, which refer
            to the window's upper left corner.
        noise: "uniform", "gaussian" or "zero"; "uniform" by default.

    Returns:
        A float32 tensor of shape `[batch, *size, channels]`. It is not differentiable.

    Raises:
        InvalidArgumentError: the shapes do not match, or `noise` is unknown.

    Example:
        >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> glimpse = tf.image.extract_glimpse(x, [2, 2], [[1.0, 1.0]], centered=False, normalized=False)
        >>> glimpse[0, :, :, 0].numpy().tolist()
        [[4.0, 5.0], [7.0, 8.0]]
    """
    return _extract_glimpse(input, size, offsets, centered, normalized, False, noise, name)


# ---- at random -------------------------------------------------------------------------------------------------------


def random_crop(value: TensorLike, size: ShapeLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Cuts a part out of a tensor, at a random position.

    Args:
        value: a tensor of any rank.
        size: the shape of the part.
        seed: an integer that makes the positions reproducible, see `tf.random.set_seed`.

    Returns:
        A tensor of shape `size` and the dtype of `value`.

    Raises:
        InvalidArgumentError: `size` is larger than the tensor in some dimension.

    Example:
        >>> tf.image.random_crop(tf.ones([8, 8, 3]), [4, 5, 3]).shape
        TensorShape([4, 5, 3])
    """
    tensor, dims, positions = _positions_of_part(value, size)
    begin = uniform(shape_of(positions), maxval=int32.max, dtype=int32, seed=seed) % positions
    return slice_of(tensor, begin, dims, name)


def stateless_random_crop(value: TensorLike, size: ShapeLike, seed: TensorLike, name: str | None = None) -> Tensor:
    """Cuts a part out of a tensor, at a position that a seed determines.

    Args:
        value: a tensor of any rank.
        size: the shape of the part.
        seed: two integers, of shape `[2]`.

    Returns:
        A tensor of shape `size` and the dtype of `value`.

    Raises:
        InvalidArgumentError: `size` is larger than the tensor in some dimension.

    Example:
        >>> tf.image.stateless_random_crop([[1, 2, 3], [4, 5, 6]], [2, 2], seed=[1, 2]).numpy().tolist()
        [[2, 3], [5, 6]]
    """
    tensor, dims, positions = _positions_of_part(value, size)
    begin = stateless_uniform(shape_of(positions), seed, 0, int32.max, int32) % positions
    return slice_of(tensor, begin, dims, name)


def _positions_of_part(value: Any, size: Any) -> tuple[Any, Any, Any]:
    """Returns the tensor, the shape of its part, and the number of positions for the part in each dimension."""
    tensor, dims = convert_to_tensor(value), convert_to_tensor(size, int32)
    whole = shape_of(tensor)
    hooks.check(reduce_all(greater_equal(whole, dims)), ["Need value.shape >= size, got ", whole, dims], summarize=1000)
    return tensor, dims, whole - dims + 1
