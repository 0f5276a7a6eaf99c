"""Random changes of images, to augment training data: each as a stateful op, and as one that a seed determines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.masks import where
from tapeflow.array.padding import reverse
from tapeflow.array.properties import ensure_shape, shape
from tapeflow.array.properties import rank as rank_of
from tapeflow.array.reshapes import reshape
from tapeflow.core.hooks import hooks
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.image.adjustments import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_jpeg_quality,
    adjust_saturation,
)
from tapeflow.image.image_checks import check_image_or_batch
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, less
from tapeflow.random.stateful import uniform
from tapeflow.random.stateless import stateless_uniform

Draw = Callable[..., Any]


def _stateful_draw(seed: int | None) -> Draw:
    """Returns `draw(shape, low, high, dtype)`, uniform numbers from the global generator."""
    return lambda dims, low, high, dtype=float32: uniform(dims, low, high, dtype, seed)


def _stateless_draw(seed: Any) -> Draw:
    """Returns `draw(shape, low, high, dtype)`, uniform numbers that a seed determines."""
    return lambda dims, low, high, dtype=float32: stateless_uniform(dims, seed, low, high, dtype)


# ---- colors ----------------------------------------------------------------------------------------------------------


def _draw_delta(max_delta: float, draw: Draw) -> Any:
    """Draws a number in `[-max_delta, max_delta)`."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return draw([], -max_delta, max_delta)


def _draw_factor(lower: float, upper: float, draw: Draw) -> Any:
    """Draws a number in `[lower, upper)`."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return draw([], lower, upper)


def _hue_delta(max_delta: float, draw: Draw) -> Any:
    """Draws a rotation of the hue."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return _draw_delta(max_delta, draw)


def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Adds a random number to images, the same for all pixels.

    Args:
        image: images of any shape.
        max_delta: a float: the number is in `[-max_delta, max_delta)`.
        seed: an integer that makes the numbers reproducible, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is negative.

    Example:
        >>> float(tf.reduce_max(tf.abs(tf.image.random_brightness(tf.zeros([2, 2, 3]), 0.1)))) <= 0.1
        True
    """
    return adjust_brightness(image, _draw_delta(max_delta, _stateful_draw(seed)))


def stateless_random_brightness(image: TensorLike, max_delta: float, seed: TensorLike) -> Tensor:
    """Adds a number that a seed determines to images, the same for all pixels.

    Args:
        image: images of any shape.
        max_delta: a float: the number is in `[-max_delta, max_delta)`.
        seed: two integers, of shape `[2]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is negative.

    Example:
        >>> tf.image.stateless_random_brightness([[[1.0]]], 0.5, seed=[1, 2]).numpy().round(3).tolist()
        [[[1.343999981880188]]]
    """
    return adjust_brightness(image, _draw_delta(max_delta, _stateless_draw(seed)))


def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiplies the contrast of images by a random factor, see `tf.image.adjust_contrast`.

    Args:
        image: a tensor of shape `[..., height, width, channels]`.
        lower, upper: floats: the factor is in `[lower, upper)`.
        seed: an integer that makes the factors reproducible, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.random_contrast(tf.ones([2, 2, 1]), 0.5, 1.5)[..., 0].numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return adjust_contrast(image, _draw_factor(lower, upper, _stateful_draw(seed)))


def stateless_random_contrast(image: TensorLike, lower: float, upper: float, seed: TensorLike) -> Tensor:
    """Multiplies the contrast of images by a factor that a seed determines, see `tf.image.adjust_contrast`.

    Args:
        image: a tensor of shape `[..., height, width, channels]`.
        lower, upper: floats: the factor is in `[lower, upper)`.
        seed: two integers, of shape `[2]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.stateless_random_contrast([[[0.0], [2.0]]], 0.5, 1.5, seed=[1, 2]).numpy().round(3).tolist()
        [[[-0.3440000116825104], [2.3440001010894775]]]
    """
    return adjust_contrast(image, _draw_factor(lower, upper, _stateless_draw(seed)))


def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """Rotates the hue of RGB images at random, see `tf.image.adjust_hue`.

    Args:
        image: a tensor of shape `[..., height, width, 3]`.
        max_delta: a float: the rotation is in `[-max_delta, max_delta)`; in [0, 0.5].
        seed: an integer that makes the turns reproducible, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is not in [0, 0.5].

    Example:
        >>> tf.image.random_hue(tf.ones([1, 1, 3]), 0.5).numpy().tolist()
        [[[1.0, 1.0, 1.0]]]
    """
    return adjust_hue(image, _hue_delta(max_delta, _stateful_draw(seed)))


def stateless_random_hue(image: TensorLike, max_delta: float, seed: TensorLike) -> Tensor:
    """Rotates the hue of RGB images as a seed determines, see `tf.image.adjust_hue`.

    Args:
        image: a tensor of shape `[..., height, width, 3]`.
        max_delta: a float: the rotation is in `[-max_delta, max_delta)`; in [0, 0.5].
        seed: two integers, of shape `[2]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is not in [0, 0.5].

    Example:
        >>> tf.image.stateless_random_hue([[[1.0, 0.0, 0.0]]], 0.2, seed=[1, 2]).numpy().round(3).tolist()
        [[[1.0, 0.8259999752044678, 0.0]]]
    """
    return adjust_hue(image, _hue_delta(max_delta, _stateless_draw(seed)))


def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Multiplies the saturation of RGB images by a random factor, see `tf.image.adjust_saturation`.

    Args:
        image: a tensor of shape `[..., height, width, 3]`.
        lower, upper: floats: the factor is in `[lower, upper)`.
        seed: an integer that makes the factors reproducible, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.random_saturation(tf.ones([1, 1, 3]), 0.5, 1.5).numpy().tolist()
        [[[1.0, 1.0, 1.0]]]
    """
    return adjust_saturation(image, _draw_factor(lower, upper, _stateful_draw(seed)))


def stateless_random_saturation(
    image: TensorLike, lower: float, upper: float, seed: TensorLike | None = None
) -> Tensor:
    """Multiplies the saturation of RGB images by a factor that a seed determines, see `tf.image.adjust_saturation`.

    Args:
        image: a tensor of shape `[..., height, width, 3]`.
        lower, upper: floats: the factor is in `[lower, upper)`.
        seed: two integers, of shape `[2]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.stateless_random_saturation([[[1.0, 0.5, 0.5]]], 0.0, 1.0, seed=[1, 2]).numpy().round(3).tolist()
        [[[1.0, 0.578000009059906, 0.578000009059906]]]
    """
    return adjust_saturation(image, _draw_factor(lower, upper, _stateless_draw(seed)))


# ---- quality ---------------------------------------------------------------------------------------------------------


def _draw_quality(lowest: int, highest: int, draw: Draw) -> Any:
    """Draws an integer in `[lowest, highest)`."""
    if not (0 <= lowest <= 100 and 0 <= highest <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if lowest >= highest:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return draw([], lowest, highest, int32)


def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """Encodes an image as a JPEG file of a random quality, and decodes it again.

    Args:
        image: a tensor of shape `[height, width, channels]`, with 1 or 3 channels.
        min_jpeg_quality, max_jpeg_quality: ints: the quality is in `[min_jpeg_quality, max_jpeg_quality)`, from 0 to
            100.
        seed: an integer that makes the qualities reproducible, see `tf.random.set_seed`.

    Returns:
        An image of the same shape and dtype.

    Raises:
        ValueError: a bound is not in [0, 100], or the first is not less than the second.

    Example:
        >>> tf.image.random_jpeg_quality(tf.zeros([8, 8, 3]), 50, 90).shape
        TensorShape([8, 8, 3])
    """
    return adjust_jpeg_quality(image, _draw_quality(min_jpeg_quality, max_jpeg_quality, _stateful_draw(seed)))


def stateless_random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: TensorLike
) -> Tensor:
    """Encodes an image as a JPEG file of a quality that a seed determines, and decodes it again.

    Args:
        image: a tensor of shape `[height, width, channels]`, with 1 or 3 channels.
        min_jpeg_quality, max_jpeg_quality: ints: the quality is in `[min_jpeg_quality, max_jpeg_quality)`, from 0 to
            100.
        seed: two integers, of shape `[2]`.

    Returns:
        An image of the same shape and dtype.

    Raises:
        ValueError: a bound is not in [0, 100], or the first is not less than the second.

    Example:
        >>> tf.image.stateless_random_jpeg_quality(tf.zeros([8, 8, 3]), 50, 90, seed=[1, 2]).shape
        TensorShape([8, 8, 3])
    """
    return adjust_jpeg_quality(image, _draw_quality(min_jpeg_quality, max_jpeg_quality, _stateless_draw(seed)))


# ---- flips -----------------------------------------------------------------------------------------------------------


def _randomly_reversed(image: TensorLike, axis: int, draw: Draw) -> Any:
    """Reverses each image along an axis with a probability of one half."""
    images = convert_to_tensor(image)
    rank = images.shape.rank
    if rank is None:
        of_rank = [lambda n=n: _randomly_reversed(ensure_shape(images, [None] * n), axis, draw) for n in (3, 4)]
        return hooks.cond(equal(rank_of(images), 3), *of_rank)
    check_image_or_batch(images)
    flipped = reverse(images, [axis])
    if rank == 3:
        return where(less(draw([], 0, 1.0), 0.5), flipped, images)
    count = images.shape[0] if images.shape[0] is not None else shape(images)[0]
    reversed_ones = cast(reshape(greater(draw([count], 0, 1.0), 0.5), [-1, 1, 1, 1]), images.dtype)
    return reversed_ones * flipped + (1 - reversed_ones) * images  # no choice: infinite pixels are NaN in TensorFlow


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Exchanges left and right of each image with a probability of one half.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: an integer that makes the choices reproducible, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have neither three nor four dimensions.

    Example:
        >>> tf.image.random_flip_left_right([[[1], [2]]])[0, :, 0].numpy().tolist() in ([1, 2], [2, 1])
        True
    """
    return _randomly_reversed(image, -2, _stateful_draw(seed))


def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """Exchanges left and right of some of the images, as a seed determines.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: two integers, of shape `[2]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have neither three nor four dimensions.

    Example:
        >>> tf.image.stateless_random_flip_left_right([[[1], [2]]], seed=[1, 2])[0, :, 0].numpy().tolist()
        [1, 2]
    """
    return _randomly_reversed(image, -2, _stateless_draw(seed))


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Exchanges top and bottom of each image with a probability of one half.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: an integer that makes the choices reproducible, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have neither three nor four dimensions.

    Example:
        >>> tf.image.random_flip_up_down([[[1]], [[2]]])[:, 0, 0].numpy().tolist() in ([1, 2], [2, 1])
        True
    """
    return _randomly_reversed(image, -3, _stateful_draw(seed))


def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """Exchanges top and bottom of some of the images, as a seed determines.

    Args:
        image: a tensor of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: two integers, of shape `[2]`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have neither three nor four dimensions.

    Example:
        >>> tf.image.stateless_random_flip_up_down([[[1]], [[2]]], seed=[1, 2])[:, 0, 0].numpy().tolist()
        [1, 2]
    """
    return _randomly_reversed(image, -3, _stateless_draw(seed))
