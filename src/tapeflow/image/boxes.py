"""Bounding boxes: draws them into images, and samples boxes that keep objects visible."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core import errors
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import leave_to_kernel, text, with_dimension, with_rank
from tapeflow.core.rng.philox import Philox, from_seed
from tapeflow.core.rng.seeds import op_seeds, reserve
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.draws import draw_below, draw_uniform32, state_of

SampleDistortedBoundingBoxV2 = namedtuple("SampleDistortedBoundingBoxV2", ["begin", "size", "bboxes"])
StatelessSampleDistortedBoundingBox = namedtuple("StatelessSampleDistortedBoundingBox", ["begin", "size", "bboxes"])

# ---- drawing ---------------------------------------------------------------------------------------------------------

# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia; all of them opaque.
_COLORS = (
    (1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1),
    (0.5, 0.5, 0, 1), (0.5, 0, 0, 1), (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1),
)  # fmt: skip


def _colors_for(images: torch.Tensor, colors: torch.Tensor) -> torch.Tensor:
    """Returns the palette `[colors, channels]` for images: the default one where `colors` is empty."""
    channels = images.shape[3]
    if colors.ndim != 2:
        raise invalid(f"colors must be a 2-D matrix, not of shape {text(colors.shape)}")
    if not colors.shape[0]:
        table = images.new_tensor(_COLORS)
        return torch.ones_like(table) if channels == 1 else table
    if colors.shape[1] < channels:
        raise invalid(f"colors must have equal or more channels than the image provided: {text(colors.shape)}")
    return colors.to(images.dtype)


def _check_boxes(images: torch.Tensor, boxes: torch.Tensor) -> None:
    """Checks the shapes of images and boxes."""
    if images.ndim != 4:
        raise invalid("The rank of the images should be 4")
    if boxes.ndim != 3:
        raise invalid("The rank of the boxes tensor should be 3")
    if images.shape[0] != boxes.shape[0]:
        raise invalid("The batch sizes should be the same")
    if images.shape[3] not in (1, 3, 4):
        raise invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    if boxes.shape[2] != 4:
        raise invalid(f"The size of the third dimension of the box must be 4. Received: {boxes.shape[2]}")


def _drawn_rule(images: TensorShape, boxes: TensorShape, colors: TensorShape) -> TensorShape:
    """Infers the shape of the images, and checks their static dimensions."""
    with_rank(images, -3)
    if colors.is_compatible_with([0, 4]) and colors.is_fully_defined():  # TensorFlow's first op, without a palette
        with_dimension(with_rank(boxes, 3), 2, 4)
        if with_rank(images, 4)[3] not in (None, 1, 3, 4):
            raise invalid("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    elif images.rank == 4 and images[3] not in (None, 1, 3, 4):
        leave_to_kernel("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    return images


def _whole_number(corner: float) -> int:
    """Returns a coordinate as an integer of 64 bits: the least one for NaN and whatever is too large."""
    return math.trunc(corner) if abs(corner) < 2**63 else -(2**63)


@op("DrawBoundingBoxesV2", shape=_drawn_rule)
def _draw_bounding_boxes_v2(images: torch.Tensor, boxes: torch.Tensor, colors: torch.Tensor) -> torch.Tensor:
    """Draws boxes into images."""
    _check_boxes(images, boxes)
    table = _colors_for(images, colors)[:, : images.shape[3]].cpu().numpy()
    out = images.clone(memory_format=torch.contiguous_format).cpu()
    height, width = images.shape[1:3]
    scale = boxes.new_tensor([height - 1, width - 1, height - 1, width - 1])
    for image, corners in zip(out.numpy(), (boxes * scale).tolist(), strict=True):
        for number, box in enumerate(corners):
            top, left, bottom, right = map(_whole_number, box)
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            color = table[number % len(table)]
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            for row in (top, bottom):
                if 0 <= row < height:
                    image[row, columns] = color
            for column in (left, right):
                if 0 <= column < width:
                    image[rows, column] = color
    return out.to(images.device)


not_differentiable(_draw_bounding_boxes_v2)


def generate_bounding_box_proposals(
    scores: TensorLike,
    bbox_deltas: TensorLike,
    image_info: TensorLike,
    anchors: TensorLike,
    nms_threshold: TensorLike = 0.7,
    pre_nms_topn: TensorLike = 6000,
    min_size: TensorLike = 16,
    post_nms_topn: TensorLike = 300,
    name: str | None = None,
) -> Any:
    """Raises NotFoundError, as TensorFlow does on CPUs: it has a kernel for GPUs alone.

    Args:
        scores: of the anchors, float32 of shape `[images, height, width, anchors]`.
        bbox_deltas: a float32 tensor of shape `[images, height, width, 4 * anchors]`.
        image_info: a float32 tensor of shape `[images, 5]`.
        anchors: a float32 tensor of shape `[anchors, 4]`.
        nms_threshold: a scalar, the overlap of boxes above which only the better one remains; 0.7 by default.
        pre_nms_topn: a scalar, the number of boxes that are compared; 6000 by default.
        min_size: a scalar, the smallest size of a box; 16 by default.
        post_nms_topn: a scalar, the number of boxes that are returned; 300 by default.

    Returns:
        Nothing.

    Raises:
        NotFoundError: always.

    Example:
        >>> try:
        ...     tf.image.generate_bounding_box_proposals([], [], [], [])
        ... except tf.errors.NotFoundError as error:
        ...     print(error.message)
        No OpKernel was registered to support Op 'GenerateBoundingBoxProposals' [Op:GenerateBoundingBoxProposals]
    """
    raise errors.NotFoundError.of(
        "No OpKernel was registered to support Op 'GenerateBoundingBoxProposals' [Op:GenerateBoundingBoxProposals]"
    )


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, colors: TensorLike | None, name: str | None = None
) -> Tensor:
    """Draws boxes into images, as lines of one pixel.

    Args:
        images: a float16 or float32 tensor of shape `[batch, height, width, channels]`, with 1, 3 or 4 channels.
        boxes: a float32 tensor of shape `[batch, boxes, 4]`, with rows `[y1, x1, y2, x2]`. 0 is the first pixel, 1 the
            last one. Lines outside of the image are not drawn.
        colors: `[colors, channels]`, used for the boxes in turn; None for a palette of ten colors.

    Returns:
        Images of the same shape and dtype.

    Raises:
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> drawn = tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]], [[5.0]])
        >>> drawn[0, :, :, 0].numpy().tolist()
        [[5.0, 5.0, 5.0], [5.0, 0.0, 5.0], [5.0, 5.0, 5.0]]
    """
    palette = np.zeros((0, 4), np.float32) if colors is None else colors
    return _draw_bounding_boxes_v2(images, boxes, palette, name)


# ---- sampling --------------------------------------------------------------------------------------------------------


class _Rectangle(NamedTuple):
    """A rectangle of pixels: its first row and column, and the first row and column after it."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        return max(self.bottom - self.top, 0) * max(self.right - self.left, 0)

    def covers(self, part: np.float32, objects: list[_Rectangle]) -> bool:
        """Returns True if at least one object has at least this part of its area inside."""
        for other in objects:
            shared = _Rectangle(*map(max, self[:2], other[:2]), *map(min, self[2:], other[2:]))
            if other.area >= 1 and np.float32(shared.area / other.area) >= part:
                return True
        return False


def _round_to_int(value: Any) -> int:
    return int(np.rint(value))


def _draw_rectangle(
    height: int, width: int, areas: tuple[np.float32, np.float32], aspect: np.float32, draws: np.ndarray
) -> _Rectangle | None:
    """Draws a rectangle inside of an image.

    The arithmetic is float32, and the draws are in TensorFlow's order. A seed therefore gives TensorFlow's boxes.

    Args:
        height, width: the size of the image.
        areas: the smallest and the largest area.
        aspect: width divided by height.
        draws: the state of random numbers, see `nn/draws.py`.

    Returns:
        The rectangle, or None if none fits that has this aspect ratio and area.
    """
    smallest, largest = areas
    if largest <= 0 or aspect <= 0 or height <= 0 or width <= 0 or smallest > largest:
        return None
    low, high = _round_to_int(np.sqrt(smallest / aspect)), _round_to_int(np.sqrt(largest / aspect))
    if _round_to_int(np.float32(high) * aspect) > width:
        high = int(np.float32(width + 0.5 - 1e-7) / aspect)
        high -= _round_to_int(np.float32(high) * aspect) > width
    high = min(high, height)
    rows = min(low, high)
    if rows < high:
        rows += draw_below(draws, high - rows + 1, 32)
    columns = _round_to_int(np.float32(rows) * aspect)
    for step, outside in ((1, lambda area: area < smallest), (-1, lambda area: area > largest)):
        if outside(np.float32(rows * columns)):
            rows += step
            columns = _round_to_int(np.float32(rows) * aspect)
    if not (smallest <= np.float32(rows * columns) <= largest and 0 < rows <= height and 0 < columns <= width):
        return None
    top = draw_below(draws, height - rows, 32) if rows < height else 0
    left = draw_below(draws, width - columns, 32) if columns < width else 0
    return _Rectangle(top, left, top + rows, left + columns)


def _check_sampling(
    image_size: torch.Tensor,
    bounding_boxes: torch.Tensor,
    covered: torch.Tensor,
    aspects: tuple[float, float],
    areas: tuple[float, float],
    max_attempts: int,
) -> None:
    """Checks the arguments of a sampling op."""
    if image_size.ndim != 1:
        raise invalid(f"image_size must be 1-dimensional: {text(image_size.shape)}")
    if image_size.shape[0] != 3:
        raise invalid(f"image_size must contain 3 elements{text(image_size.shape)}")
    if int(image_size.max()) >= 2**31:
        raise invalid(f"image_size must be below 2**31: {image_size.tolist()}")
    if bounding_boxes.ndim != 3:
        raise invalid(f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {text(bounding_boxes.shape)}")
    if bounding_boxes.shape[2] != 4:
        raise invalid(f"bounding boxes must have shape [4] but got {list(bounding_boxes.shape)}")
    if covered.ndim:
        raise invalid(f"min_object_covered must be 0-D, got shape {text(covered.shape)}")
    if float(covered) < 0:
        raise invalid(f"Min object covered must be non-negative: {float(covered):g}")
    for name, bounds in (("Aspect ratio", aspects), ("Area", areas)):
        if len(bounds) != 2 or min(bounds) <= 0:
            raise invalid(f"{name} range must be two positive numbers: {list(bounds)}")
    if max(areas) > 1:
        raise invalid(f"Area range must be less then or equal to 1.0: {list(areas)}")
    if max_attempts <= 0:
        raise invalid(f"Max attempts must be non-negative: {max_attempts}")


def _object_boxes(bounding_boxes: torch.Tensor, height: int, width: int, whole: bool) -> list[_Rectangle]:
    """Returns the boxes in pixels; the whole image if there are none and `whole` allows that."""
    objects = []
    for y1, x1, y2, x2 in bounding_boxes.reshape(-1, 4).numpy():
        for value in (y1, x1, y2, x2):
            if not 0 <= value <= 1:
                raise invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {value:g}")
        objects.append(_Rectangle(int(y1 * height), int(x1 * width), int(y2 * height), int(x2 * width)))
    if not objects and not whole:
        raise invalid(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not "
            "provide any bounding boxes."
        )
    return objects or [_Rectangle(0, 0, height, width)]


def _sample_box(
    image_size: torch.Tensor,
    bounding_boxes: torch.Tensor,
    min_object_covered: torch.Tensor,
    stream: Callable[[], Philox],
    aspects: tuple[float, float],
    areas: tuple[float, float],
    max_attempts: int,
    whole: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Samples a part of an image, with random words from `stream()`; see `tf.image.sample_distorted_bounding_box`."""
    _check_sampling(image_size, bounding_boxes, min_object_covered, aspects, areas, max_attempts)
    height, width, _ = image_size.tolist()
    objects = _object_boxes(bounding_boxes.cpu(), height, width, whole)
    low, high = (np.float32(a) for a in aspects)
    smallest, largest = (np.float32(a) * np.float32(width * height) for a in areas)
    covered = np.float32(min_object_covered.item())
    draws = state_of(stream())
    chosen = _Rectangle(0, 0, height, width)
    for _ in range(max_attempts if covered <= 1 else 0):  # no box covers more of an object than the whole
        aspect = np.float32(draw_uniform32(draws)) * (high - low) + low
        candidate = _draw_rectangle(height, width, (smallest, largest), aspect, draws)
        if candidate is not None and candidate.area >= 1 and candidate.covers(covered, objects):
            chosen = candidate
            break
    top, left, bottom, right = chosen
    dtype, device = image_size.dtype, image_size.device
    box = torch.tensor([top, left, bottom, right], dtype=torch.float32) / torch.tensor([height, width, height, width])
    size = torch.tensor([bottom - top, right - left, -1]).to(dtype)
    return torch.tensor([top, left, 0], dtype=dtype, device=device), size.to(device), box.reshape(1, 1, 4).to(device)


def _sample_shapes(image_size: TensorShape, boxes: TensorShape, *_: Any) -> list[TensorShape]:
    image_size.merge_with([3])
    if boxes.with_rank(3)[2] not in (None, 4):
        raise invalid(f"Dimension must be 4 but is {boxes[2]}")
    return [TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4])]


def _sample_kernel(
    image_size: torch.Tensor, boxes: torch.Tensor, covered: torch.Tensor, seed: int, seed2: int, *options: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _, _, max_attempts, _ = options
    op = "SampleDistortedBoundingBoxV2", image_size.dtype
    return _sample_box(image_size, boxes, covered, lambda: reserve(op, seed, seed2, max_attempts), *options)


def _stateless_sample_kernel(
    image_size: torch.Tensor, boxes: torch.Tensor, covered: torch.Tensor, seed: tuple[int, ...], *options: Any
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if type(seed) is not tuple or len(seed) != 2:
        raise invalid(f"seed must have shape [2], not {list(np.shape(seed))}")
    return _sample_box(image_size, boxes, covered, lambda: from_seed(seed), *options)


def _stateless_shapes(size: TensorShape, boxes: TensorShape, least: TensorShape, seed: Any, *_: Any) -> Any:
    least.assert_has_rank(0)
    with_dimension(with_rank(seed, 1), 0, 2)
    return _sample_shapes(size, boxes)


# Samples a part of an image.
_sample_distorted_bounding_box_v2 = defined_op("SampleDistortedBoundingBoxV2", _sample_kernel, shape=_sample_shapes)
# Samples a part of an image that a seed determines.
_stateless_sample = defined_op(
    "StatelessSampleDistortedBoundingBox", _stateless_sample_kernel, host=("seed",), shape=_stateless_shapes
)


not_differentiable(_sample_distorted_bounding_box_v2, _stateless_sample)


def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampleDistortedBoundingBoxV2:
    """Samples a part of an image, of another aspect ratio, that still shows an object.

    Args:
        image_size: integers `[height, width, channels]`.
        bounding_boxes: a float32 tensor of shape `[batch, boxes, 4]`: `[y1, x1, y2, x2]` of the objects, in [0, 1].
        seed: an integer that makes the parts reproducible, see `tf.random.set_seed`; 0 for none.
        min_object_covered: the smallest fraction of an object that the part must cover, a scalar; 0.1 by default.
        aspect_ratio_range: bounds of the part's width divided by its height, (0.75, 1.33) by default.
        area_range: bounds of the part's area divided by the image's, (0.05, 1) by default.
        max_attempts: an int, the number of attempts, after which the part is the whole image; 100 by default.
        use_image_if_no_bounding_boxes: regards the whole image as an object if there are no boxes.

    Returns:
        `(begin, size, bboxes)`: the arguments of `tf.slice` that cut the part out, of shape `[3]` and the dtype of
        `image_size`, and the part as float32 of shape `[1, 1, 4]`, for `tf.image.draw_bounding_boxes`.

    Raises:
        InvalidArgumentError: a shape or a bound is not valid, or there are no objects.

    Example:
        >>> begin, size, box = tf.image.sample_distorted_bounding_box([40, 60, 3], [[[0.1, 0.2, 0.6, 0.7]]])
        >>> tf.slice(tf.zeros([40, 60, 3]), begin, size).shape[2], box.shape
        (3, TensorShape([1, 1, 4]))
    """
    first, second = op_seeds(seed) if seed else (0, 0)
    options = _sampling_options(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    outputs: Any = _sample_distorted_bounding_box_v2(
        image_size, bounding_boxes, min_object_covered, first, second, *options, name
    )
    return SampleDistortedBoundingBoxV2(*outputs)


def stateless_sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: TensorLike,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> StatelessSampleDistortedBoundingBox:
    """Samples a part of an image that a seed determines, see `tf.image.sample_distorted_bounding_box`.

    Args:
        image_size: integers `[height, width, channels]`.
        bounding_boxes: a float32 tensor of shape `[batch, boxes, 4]`: `[y1, x1, y2, x2]` of the objects, in [0, 1].
        seed: two integers, of shape `[2]`.
        min_object_covered: the smallest fraction of an object that the part must cover, a scalar; 0.1 by default.
        aspect_ratio_range: bounds of the part's width divided by its height, (0.75, 1.33) by default.
        area_range: bounds of the part's area divided by the image's, (0.05, 1) by default.
        max_attempts: an int, the number of attempts, after which the part is the whole image; 100 by default.
        use_image_if_no_bounding_boxes: regards the whole image as an object if there are no boxes.

    Returns:
        `(begin, size, bboxes)`, as there.

    Raises:
        InvalidArgumentError: a shape or a bound is not valid, or there are no objects.

    Example:
        >>> boxes = [[[0.1, 0.2, 0.6, 0.7]]]
        >>> begin, size, _ = tf.image.stateless_sample_distorted_bounding_box([40, 60, 3], boxes, seed=[1, 2])
        >>> begin.numpy().tolist(), size.numpy().tolist()
        ([0, 3, 0], [39, 48, -1])
    """
    options = _sampling_options(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    outputs: Any = _stateless_sample(image_size, bounding_boxes, min_object_covered, seed, *options, name)
    return StatelessSampleDistortedBoundingBox(*outputs)


_ASPECTS, _AREAS = (0.75, 1.33), (0.05, 1.0)


def _sampling_options(
    aspects: Sequence[float] | None, areas: Sequence[float] | None, max_attempts: int | None, whole: bool | None
) -> tuple[tuple[float, ...], tuple[float, ...], int, bool]:
    """Returns the attrs of a sampling op, with the defaults in the place of None."""
    aspects = _ASPECTS if aspects is None else tuple(aspects)
    areas = _AREAS if areas is None else tuple(areas)
    return aspects, areas, 100 if max_attempts is None else max_attempts, bool(whole)
