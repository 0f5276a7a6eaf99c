"""Images changed at random, to show a model more than there are: each change as a random op and as one of a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.masks import where
from tapeflow.array.padding import reverse
from tapeflow.array.properties import shape
from tapeflow.array.shaping import reshape
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.image.adjusting import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_jpeg_quality,
    adjust_saturation,
)
from tapeflow.math import greater, less
from tapeflow.random.stateful import uniform
from tapeflow.random.stateless import stateless_uniform

Draw = Callable[..., Any]


def _drawn(seed: Any) -> Draw:
    return lambda dims, low, high, dtype=float32: uniform(dims, low, high, dtype, seed)


def _drawn_of(seed: Any) -> Draw:
    return lambda dims, low, high, dtype=float32: stateless_uniform(dims, seed, low, high, dtype)


# ---- colours ---------------------------------------------------------------------------------------------------------


def _delta(max_delta: float, draw: Draw) -> Any:
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return draw([], -max_delta, max_delta)


def _factor(lower: float, upper: float, draw: Draw) -> Any:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return draw([], lower, upper)


def _hue_delta(max_delta: float, draw: Draw) -> Any:
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return _delta(max_delta, draw)


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> Any:
    """Images with a random number added, one for all pixels.

    Args:
        image: images of any shape.
        max_delta: the number is in `[-max_delta, max_delta)`.
        seed: makes the numbers the same in each run, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is negative.

    Example:
        >>> float(tf.reduce_max(tf.abs(tf.image.random_brightness(tf.zeros([2, 2, 3]), 0.1)))) <= 0.1
        True
    """
    return adjust_brightness(image, _delta(max_delta, _drawn(seed)))


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Any:
    """Images with a number added that a seed decides, one for all pixels.

    Args:
        image: images of any shape.
        max_delta: the number is in `[-max_delta, max_delta)`.
        seed: two integers.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is negative.

    Example:
        >>> tf.image.stateless_random_brightness([[[1.0]]], 0.5, seed=[1, 2]).numpy().round(3).tolist()
        [[[1.343999981880188]]]
    """
    return adjust_brightness(image, _delta(max_delta, _drawn_of(seed)))


def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """Images with a random contrast, see `tf.image.adjust_contrast`.

    Args:
        image: of shape `[..., height, width, channels]`.
        lower, upper: the factor is in `[lower, upper)`.
        seed: makes the factors the same in each run, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.random_contrast(tf.ones([2, 2, 1]), 0.5, 1.5)[..., 0].numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    return adjust_contrast(image, _factor(lower, upper, _drawn(seed)))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Any:
    """Images with a contrast that a seed decides, see `tf.image.adjust_contrast`.

    Args:
        image: of shape `[..., height, width, channels]`.
        lower, upper: the factor is in `[lower, upper)`.
        seed: two integers.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.stateless_random_contrast([[[0.0], [2.0]]], 0.5, 1.5, seed=[1, 2]).numpy().round(3).tolist()
        [[[-0.3440000116825104], [2.3440001010894775]]]
    """
    return adjust_contrast(image, _factor(lower, upper, _drawn_of(seed)))


def random_hue(image: Any, max_delta: float, seed: Any = None) -> Any:
    """RGB images with a random turn of their hue, see `tf.image.adjust_hue`.

    Args:
        image: of shape `[..., height, width, 3]`.
        max_delta: the turn is in `[-max_delta, max_delta)`; in [0, 0.5].
        seed: makes the turns the same in each run, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is not in [0, 0.5].

    Example:
        >>> tf.image.random_hue(tf.ones([1, 1, 3]), 0.5).numpy().tolist()
        [[[1.0, 1.0, 1.0]]]
    """
    return adjust_hue(image, _hue_delta(max_delta, _drawn(seed)))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Any:
    """RGB images with a turn of their hue that a seed decides, see `tf.image.adjust_hue`.

    Args:
        image: of shape `[..., height, width, 3]`.
        max_delta: the turn is in `[-max_delta, max_delta)`; in [0, 0.5].
        seed: two integers.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `max_delta` is not in [0, 0.5].

    Example:
        >>> tf.image.stateless_random_hue([[[1.0, 0.0, 0.0]]], 0.2, seed=[1, 2]).numpy().round(3).tolist()
        [[[1.0, 0.8259999752044678, 0.0]]]
    """
    return adjust_hue(image, _hue_delta(max_delta, _drawn_of(seed)))


def random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """RGB images with a random saturation, see `tf.image.adjust_saturation`.

    Args:
        image: of shape `[..., height, width, 3]`.
        lower, upper: the factor is in `[lower, upper)`.
        seed: makes the factors the same in each run, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.random_saturation(tf.ones([1, 1, 3]), 0.5, 1.5).numpy().tolist()
        [[[1.0, 1.0, 1.0]]]
    """
    return adjust_saturation(image, _factor(lower, upper, _drawn(seed)))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Any:
    """RGB images with a saturation that a seed decides, see `tf.image.adjust_saturation`.

    Args:
        image: of shape `[..., height, width, 3]`.
        lower, upper: the factor is in `[lower, upper)`.
        seed: two integers.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `upper <= lower`, or `lower` is negative.

    Example:
        >>> tf.image.stateless_random_saturation([[[1.0, 0.5, 0.5]]], 0.0, 1.0, seed=[1, 2]).numpy().round(3).tolist()
        [[[1.0, 0.578000009059906, 0.578000009059906]]]
    """
    return adjust_saturation(image, _factor(lower, upper, _drawn_of(seed)))


# ---- quality ---------------------------------------------------------------------------------------------------------


def _quality(lowest: int, highest: int, draw: Draw) -> Any:
    if not (0 <= lowest <= 100 and 0 <= highest <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if lowest >= highest:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return draw([], lowest, highest, int32)


def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None) -> Any:
    """An image as it is after it was a JPEG file of a random quality.

    Args:
        image: of shape `[height, width, channels]`, with 1 or 3 channels.
        min_jpeg_quality, max_jpeg_quality: the quality is at least the one and less than the other, in [0, 100].
        seed: makes the qualities the same in each run, see `tf.random.set_seed`.

    Returns:
        An image of the same shape and dtype.

    Raises:
        ValueError: the bounds are no such numbers, or not in order.

    Example:
        >>> tf.image.random_jpeg_quality(tf.zeros([8, 8, 3]), 50, 90).shape
        TensorShape([8, 8, 3])
    """
    return adjust_jpeg_quality(image, _quality(min_jpeg_quality, max_jpeg_quality, _drawn(seed)))


def stateless_random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any) -> Any:
    """An image as it is after it was a JPEG file of a quality that a seed decides.

    Args:
        image: of shape `[height, width, channels]`, with 1 or 3 channels.
        min_jpeg_quality, max_jpeg_quality: the quality is at least the one and less than the other, in [0, 100].
        seed: two integers.

    Returns:
        An image of the same shape and dtype.

    Raises:
        ValueError: the bounds are no such numbers, or not in order.

    Example:
        >>> tf.image.stateless_random_jpeg_quality(tf.zeros([8, 8, 3]), 50, 90, seed=[1, 2]).shape
        TensorShape([8, 8, 3])
    """
    return adjust_jpeg_quality(image, _quality(min_jpeg_quality, max_jpeg_quality, _drawn_of(seed)))


# ---- flips -----------------------------------------------------------------------------------------------------------


def _flipped_or_not(image: Any, axis: int, draw: Draw) -> Any:
    """Each image reversed along an axis with a probability of one half."""
    image = convert_to_tensor(image)
    rank = image.shape.rank
    if rank is not None and rank < 3:
        raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    if rank not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    flipped = reverse(image, [axis])
    if rank == 3:
        return where(less(draw([], 0, 1.0), 0.5), flipped, image)
    count = image.shape[0] if image.shape[0] is not None else shape(image)[0]
    return where(reshape(greater(draw([count], 0, 1.0), 0.5), [-1, 1, 1, 1]), flipped, image)


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Images, each with left and right exchanged with a probability of one half.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: makes the choices the same in each run, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have not three or four dimensions.

    Example:
        >>> tf.image.random_flip_left_right([[[1], [2]]])[0, :, 0].numpy().tolist() in ([1, 2], [2, 1])
        True
    """
    return _flipped_or_not(image, -2, _drawn(seed))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Images, each with left and right exchanged if a seed decides so.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: two integers.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have not three or four dimensions.

    Example:
        >>> tf.image.stateless_random_flip_left_right([[[1], [2]]], seed=[1, 2])[0, :, 0].numpy().tolist()
        [1, 2]
    """
    return _flipped_or_not(image, -2, _drawn_of(seed))


def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """Images, each with top and bottom exchanged with a probability of one half.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: makes the choices the same in each run, see `tf.random.set_seed`.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have not three or four dimensions.

    Example:
        >>> tf.image.random_flip_up_down([[[1]], [[2]]])[:, 0, 0].numpy().tolist() in ([1, 2], [2, 1])
        True
    """
    return _flipped_or_not(image, -3, _drawn(seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Images, each with top and bottom exchanged if a seed decides so.

    Args:
        image: of shape `[batch, height, width, channels]` or `[height, width, channels]`.
        seed: two integers.

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: the images have not three or four dimensions.

    Example:
        >>> tf.image.stateless_random_flip_up_down([[[1]], [[2]]], seed=[1, 2])[:, 0, 0].numpy().tolist()
        [1, 2]
    """
    return _flipped_or_not(image, -3, _drawn_of(seed))
