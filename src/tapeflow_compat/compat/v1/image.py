"""The public `tf.compat.v1.image` namespace: images with the parameters of TensorFlow 1, and its ways to resize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.properties import get_static_value, shape
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.image import crops, interpolation
from tapeflow.image.boxes import sample_distorted_bounding_box as sample_distorted_bounding_box_v2
from tapeflow.image.resizes import fitted_with_pad, resized_by
from tapeflow.math.casting import cast
from tapeflow_compat.compat.v1 import names
from tapeflow_compat.compat.v1.aliases import member

# ---- resizing --------------------------------------------------------------------------------------------------------


class ResizeMethod:
    """The numbers of the ways to resize.

    Example:
        >>> tf.compat.v1.image.ResizeMethod.BICUBIC
        2
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def resize_images(
    images: TensorLike, size: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns images at another size, as TensorFlow 1 has it: pixels are points at their upper left corners.

    Args:
        images: a tensor of shape [batch, height, width, channels] or [height, width, channels].
        size: int32 of shape [2], the new height and width.
        method: a constant of `ResizeMethod`, or TensorFlow 2's name for it.
        align_corners: whether the centers of the corner pixels coincide; False by default.
        preserve_aspect_ratio: whether to keep the images' aspect ratio; they then fit into `size`. False by default.

    Returns:
        float32 images; in the images' own dtype for the nearest neighbor, and if the size does not change.

    Raises:
        ValueError: `images` has not three or four dimensions, `size` not two elements, or the method is unknown.

    Example:
        >>> tf.compat.v1.image.resize_images([[[0.0], [4.0]]], [1, 4])[0, :, 0].numpy().tolist()
        [0.0, 2.0, 4.0, 4.0]
    """
    return resized_by(_sized_by(method, align_corners), images, size, preserve_aspect_ratio)


resize = resize_images


def resize_image_with_pad(
    image: TensorLike,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Any:
    """Returns images that keep their proportions, at the largest size that fits, with zeros around them.

    Args:
        image: a tensor of shape [batch, height, width, channels] or [height, width, channels].
        target_height, target_width: ints or integer scalars, the size of the result.
        method, align_corners: see `resize_images`.

    Raises:
        ValueError: the method is unknown.

    Example:
        >>> tf.compat.v1.image.resize_image_with_pad(tf.ones([2, 4, 1]), 4, 4)[:, 0, 0].numpy().tolist()
        [0.0, 1.0, 1.0, 0.0]
    """
    return fitted_with_pad(_sized_by(method, align_corners), image, target_height, target_width)


def _sized_by(method: Any, align_corners: bool) -> Callable[[Any, Any], Any]:
    """Returns a function that resizes a batch to a size. If the batch has that size already, it stays unchanged."""
    kernels: dict[Any, Callable[..., Any]] = {
        ResizeMethod.BILINEAR: resize_bilinear,
        ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
        ResizeMethod.BICUBIC: resize_bicubic,
        ResizeMethod.AREA: resize_area,
    }
    newer = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}
    kernel = kernels.get(newer.get(method, method))
    if kernel is None:
        raise ValueError(f"Resize method is not implemented: {method}")

    def resizer(batch: Any, size: Any) -> Any:
        new = get_static_value(size)
        same = new is not None and batch.shape[1:3].as_list() == new.tolist()
        return batch if same else kernel(batch, size, align_corners)

    return resizer


def _resizer(name: str, kernel: Callable[..., Any], summary: str, example: str) -> Callable[..., Any]:
    @member(name, summary=summary, example=example)
    def resize(
        images: TensorLike,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Any:
        """Resizes images, {summary}.

        Args:
            images: a tensor of shape [batch, height, width, channels].
            size: the new height and width, int32.
            align_corners: whether the centers of the corner pixels coincide; False by default.
            half_pixel_centers: whether positions count from the centers of pixels, as in TensorFlow 2; not with
                `align_corners`. False by default.

        Raises:
            InvalidArgumentError: the images have not four dimensions, or the size is not positive.

        Example:
            >>> tf.compat.v1.image.{name}([[[[0.0], [4.0]]]], [1, 4])[0, 0, :, 0].numpy().tolist()
            {example}
        """
        return kernel(images, size, align_corners, half_pixel_centers, name)

    return resize


resize_bilinear = _resizer(
    "resize_bilinear", interpolation.resize_bilinear, "by straight lines between pixels", "[0.0, 2.0, 4.0, 4.0]"
)
resize_bicubic = _resizer(
    "resize_bicubic", interpolation.resize_bicubic, "by cubic curves through pixels", "[0.0, 2.0, 4.0, 4.375]"
)
resize_nearest_neighbor = _resizer(
    "resize_nearest_neighbor", interpolation.resize_nearest_neighbor, "each pixel one of the old ones",
    "[0.0, 0.0, 4.0, 4.0]",
)  # fmt: skip


def resize_area(images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None) -> Any:
    """Returns images at another size, each pixel the mean of the area that it covers, with the arguments of
    `resize_bilinear`.

    Example:
        >>> tf.compat.v1.image.resize_area([[[[0.0], [4.0]]]], [1, 1]).numpy().item()
        2.0
    """
    return interpolation.resize_area(images, size, align_corners, name)


# ---- parts and boxes -------------------------------------------------------------------------------------------------


def extract_glimpse(
    input: TensorLike, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
    uniform_noise: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns a window of each image, with noise where it is outside.

    The window's center is where the offset says, but `centered` halves offsets that are not `normalized`. TensorFlow 2
    has that right: see `tf.image.extract_glimpse`.

    Args:
        input: float32, of shape [batch, height, width, channels].
        size: int32 of shape [2], the height and width of the window.
        offsets: float32 of shape [batch, 2], y and x of the centers.
        centered: whether offsets count from the centers of the images instead of the upper left corners; True by
            default.
        normalized: whether offsets are relative to height and width instead of pixels: from -1 to 1 if they are
            centered. True by default.
        uniform_noise: whether the noise outside is uniform instead of normal; True by default.

    Returns:
        The windows, of shape [batch, *size, channels].

    Example:
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.compat.v1.image.extract_glimpse(image, [1, 1], [[0.0, 0.0]]).numpy().item()
        4.0
    """
    input, offsets = convert(input), convert(offsets, float32)
    sides = cast(shape(input)[1:3], float32)
    centers = offsets * sides if normalized else offsets
    if centered:
        centers = centers / 2.0 + sides / 2.0
    corners = cast(cast(centers - cast(size, float32) / 2.0, int32), float32)
    noise = "uniform" if uniform_noise else "gaussian"
    return crops.extract_glimpse(input, size, corners, False, False, noise, name)


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None,
    min_object_covered: Any = 0.1, aspect_ratio_range: Any = None, area_range: Any = None,
    max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns a random part of an image that contains enough of a box, see `tf.image.sample_distorted_bounding_box`.

    Args:
        image_size: the height, width and number of channels, integers of shape [3].
        bounding_boxes: float32 of shape [batch, count, 4]: y1, x1, y2, x2, relative to the height and width.
        seed, seed2: ints, the seeds of the random numbers.
        min_object_covered: a float, the smallest share of a box that the part must contain.
        aspect_ratio_range: the range of width to height; by default from 0.75 to 1.33.
        area_range: the range of the part's area to the image's; by default from 0.05 to 1.
        max_attempts: the number of attempts, by default 100; after these it is the whole image.
        use_image_if_no_bounding_boxes: whether the whole image counts as a box if there is none.

    Returns:
        Where the part begins and its size, both for `tf.slice`, and its box for `draw_bounding_boxes`.

    Example:
        >>> box = tf.compat.v1.image.sample_distorted_bounding_box([9, 9, 3], [[[0.0, 0.0, 1.0, 1.0]]])
        >>> tf.slice(tf.zeros([9, 9, 3]), box.begin, box.size).shape[2]
        3
    """
    drawn = (seed or 0) if not seed2 else (seed or 0) * 1_000_003 + seed2
    return sample_distorted_bounding_box_v2(
        image_size, bounding_boxes, drawn, min_object_covered, aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, name,
    )  # fmt: skip


__getattr__ = names.finder("image")
