"""Brightness, contrast, colors and JPEG quality of images."""

from __future__ import annotations

import math
from typing import Any

import torch

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.properties import shape
from tapeflow.core.context import state
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float16, float32, uint8
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.image.colors import check_scalar, scale_saturation, turn_hue
from tapeflow.image.conversion import convert_image_dtype
from tapeflow.image.files import decode_jpeg, encode_jpeg_variable_quality
from tapeflow.image.image_checks import check_image
from tapeflow.math.arithmetic import add
from tapeflow.math.casting import cast
from tapeflow.math.elementwise import rsqrt
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_mean, reduce_prod, reduce_std


def _as_floats(images: Tensor) -> Any:
    """Returns the images in a dtype that the ops on colors accept: float16 or float32."""
    return images if images.dtype in (float16, float32) else convert_image_dtype(images, float32)


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Adds `delta` to images, as floats in the range [0, 1].

    Args:
        image: images of any shape; integers are converted over their whole range.
        delta: a scalar, the number to add.

    Returns:
        Images of the same shape and dtype; integers are clipped to their range.

    Raises:
        AttributeError: `image` is neither floating nor integers.
        UnimplementedError: `delta` is a string.

    Example:
        >>> tf.image.adjust_brightness([[[1.0]]], 0.5).numpy().tolist()
        [[[1.5]]]
    """
    images = convert_to_tensor(image)
    floats = _as_floats(images)
    return convert_image_dtype(add(floats, cast(delta, floats.dtype)), images.dtype, saturate=True)


def _contrast_rule(images: TensorShape, contrast_factor: TensorShape) -> TensorShape:
    contrast_factor.with_rank(0)
    return images.with_rank_at_least(3)


@op("AdjustContrastv2", shape=_contrast_rule, batching=leading_dimensions)
def _scale_contrast(images: torch.Tensor, contrast_factor: torch.Tensor) -> torch.Tensor:
    """Multiplies the distance of each channel from its mean."""
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{text(images.shape)}")
    check_scalar(contrast_factor, "contrast_factor")
    channels = images.shape[-1]
    # Neighboring pixels are one row: loops over the channels alone are short.
    together = math.gcd(images.shape[-3] * images.shape[-2], 32)
    count = images.shape[-3] * images.shape[-2] // max(together, 1)
    rows = images.reshape(*images.shape[:-3], count, together * channels)
    mean = rows.float().mean(-2, keepdim=True).unflatten(-1, (together, channels)).mean(-2)
    mean = mean.repeat(*[1] * (mean.ndim - 1), together)
    return (rows - mean).mul_(contrast_factor).add_(mean).to(images.dtype).reshape(images.shape)


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Multiplies the distance of each channel of images from its mean.

    Args:
        images: a tensor of shape `[..., height, width, channels]`.
        contrast_factor: the factor, a scalar.

    Returns:
        Images of the same shape and dtype.

    Raises:
        InvalidArgumentError: the images have fewer than three dimensions, or the factor is not a scalar.

    Example:
        >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().tolist()
        [[[0.0], [4.0]]]
    """
    tensor = convert_to_tensor(images)
    return convert_image_dtype(_scale_contrast(_as_floats(tensor), contrast_factor), tensor.dtype, saturate=True)


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Rotates the hue of RGB images.

    Args:
        image: a tensor of shape `[..., height, width, 3]`.
        delta: the rotation as a fraction of the color circle, a scalar in [-1, 1].

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `delta` is outside of [-1, 1], eagerly.
        InvalidArgumentError: the images have fewer than three dimensions, or not three channels.

    Example:
        >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist()
        [[[0.0, 1.0, 1.0]]]
    """
    turn: Any = delta
    if state.graph is None and (turn < -1 or turn > 1):
        raise ValueError("delta must be in the interval [-1, 1]")
    images = convert_to_tensor(image)
    return convert_image_dtype(turn_hue(_as_floats(images), turn, name), images.dtype)


def adjust_saturation(image: TensorLike, saturation_factor: TensorLike, name: str | None = None) -> Tensor:
    """Multiplies the saturation of RGB images.

    Args:
        image: a tensor of shape `[..., height, width, 3]`.
        saturation_factor: the factor, a scalar.

    Returns:
        Images of the same shape and dtype.

    Raises:
        InvalidArgumentError: the images have fewer than three dimensions, or not three channels.

    Example:
        >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().tolist()
        [[[1.0, 1.0, 1.0]]]
    """
    images = convert_to_tensor(image)
    return convert_image_dtype(scale_saturation(_as_floats(images), saturation_factor, name), images.dtype)


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, dct_method: str = "", name: str | None = None
) -> Tensor:
    """Encodes an image as a JPEG file of a quality, and decodes it again.

    Args:
        image: a tensor of shape `[height, width, channels]`, with 1 or 3 channels.
        jpeg_quality: a scalar from 0 to 100.
        dct_method: "INTEGER_ACCURATE", or "INTEGER_FAST" or "" for the fast method, which is a few levels off.

    Returns:
        An image of the same shape and dtype.

    Raises:
        InvalidArgumentError: the image has another shape, or the quality is not in [0, 100].

    Example:
        >>> tf.image.adjust_jpeg_quality(tf.fill([8, 8, 1], 0.6), 50)[0, 0].numpy().round(2).tolist()
        [0.6000000238418579]
    """
    tensor = convert_to_tensor(image)
    file = encode_jpeg_variable_quality(convert_image_dtype(tensor, uint8, saturate=True), jpeg_quality, name)
    decoded = decode_jpeg(file, channels=tensor.shape[-1] or 0, dct_method=dct_method)
    return convert_image_dtype(decoded, tensor.dtype, saturate=True)


_BAD_GAMMA = "Gamma should be a non-negative real number."


def _check_gamma(allowed: Tensor) -> None:
    if not allowed:
        raise invalid(_BAD_GAMMA)


def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """Computes `gain * image ** gamma`, for floats in the range [0, 1].

    Args:
        image: images of any shape; integers are converted over their whole range.
        gamma: the exponent, a scalar that is not negative; 1 by default.
        gain: the factor, a scalar; 1 by default.

    Returns:
        Images of the same shape and dtype; integers are clipped to their range.

    Raises:
        ValueError: gamma is a negative number.
        InvalidArgumentError: gamma is a tensor with a negative value.

    Example:
        >>> tf.image.adjust_gamma([[[0.5]]], 2.0).numpy().tolist()
        [[[0.25]]]
    """
    allowed: Any = gamma >= 0  # type: ignore[operator]
    if isinstance(allowed, Tensor):
        check_or_defer(_check_gamma, allowed)
    elif not allowed:
        raise ValueError(_BAD_GAMMA)
    images = convert_to_tensor(image)
    return convert_image_dtype(gain * _as_floats(images) ** gamma, images.dtype, saturate=True)


def per_image_standardization(image: TensorLike) -> Tensor:
    """Scales each image to mean 0 and variance 1.

    Args:
        image: a tensor of shape `[..., height, width, channels]`.

    Returns:
        float32 images of the same shape. The standard deviation that they are divided by is at least
        `1 / sqrt(elements)`.

    Raises:
        ValueError: `image` has fewer than three dimensions.
        UnimplementedError: `image` is a string tensor.

    Example:
        >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().tolist()
        [[[-1.0], [1.0]]]
    """
    tensor = convert(image)
    check_image(tensor)
    images = cast(tensor, float32)
    count = cast(reduce_prod(shape(images)[-3:]), float32)
    deviation = maximum(reduce_std(images, [-3, -2, -1], keepdims=True), rsqrt(count))
    return (images - reduce_mean(images, [-3, -2, -1], keepdims=True)) / deviation
