"""Brightness, contrast, colours and quality, and the dtypes of images."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same, text
from tapeflow.core.types.dtypes import as_dtype, float16, float32, uint8
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.image.colors import check_scalar, scale_saturation, turn_hue
from tapeflow.math import add, maximum, multiply, reduce_mean
from tapeflow.math.casting import cast, saturate_cast


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Any:
    """Images in another dtype, with the whole range of the one (for floats [0, 1]) becoming that of the other.

    Args:
        image: of any integer or floating dtype.
        dtype: the dtype to convert to.
        saturate: whether values outside of the range are clipped.

    Raises:
        AttributeError: either dtype is neither integer nor floating.

    Example:
        >>> tf.image.convert_image_dtype([0.5], tf.uint8).numpy().tolist()
        [127]
    """
    image, dtype = convert_to_tensor(image), as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if not (image.dtype.is_floating or image.dtype.is_integer):
        raise AttributeError("image dtype must be either floating point or integer")
    if dtype is image.dtype:
        return image
    as_new = saturate_cast if saturate else cast
    if image.dtype.is_integer and dtype.is_integer:
        old, new = image.dtype.max, dtype.max
        if old > new:
            scaled = image // ((old + 1) // (new + 1))
            return as_new(scaled, dtype)
        return multiply(as_new(image, dtype), convert_to_tensor((new + 1) // (old + 1), dtype))
    if dtype.is_integer:
        return as_new(multiply(image, convert_to_tensor(dtype.max + 0.5, image.dtype)), dtype)
    if image.dtype.is_integer:
        return multiply(cast(image, dtype), convert_to_tensor(1.0 / image.dtype.max, dtype))
    return cast(image, dtype)


def _as_floats(images: Any) -> Any:
    """The images as the ops on colours take them: float16 or float32."""
    return images if images.dtype in (float16, float32) else convert_image_dtype(images, float32)


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Images with `delta` added, in the range of floats [0, 1].

    Args:
        image: images of any shape; integers are taken over their whole range.
        delta: a scalar.

    Returns:
        Images of the same shape and dtype; integers are clipped to their range.

    Example:
        >>> tf.image.adjust_brightness([[[1.0]]], 0.5).numpy().tolist()
        [[[1.5]]]
    """
    image = convert_to_tensor(image)
    floats = _as_floats(image)
    return convert_image_dtype(add(floats, cast(delta, floats.dtype)), image.dtype, saturate=True)


def _with_contrast(images: torch.Tensor, contrast_factor: torch.Tensor) -> torch.Tensor:
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{text(TensorShape(images.shape))}")
    check_scalar(contrast_factor, "contrast_factor")
    mean = images.float().mean((-3, -2), keepdim=True)
    return ((images - mean) * contrast_factor + mean).to(images.dtype)


@op("AdjustContrastv2", kernel=_with_contrast, shape=same)
def _scale_contrast(images: Any, contrast_factor: Any, name: str | None = None) -> Any:
    """Images with each channel's distance from its mean multiplied."""


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Images with each channel's distance from its mean multiplied.

    Args:
        images: of shape `[..., height, width, channels]`.
        contrast_factor: the factor, a scalar.

    Returns:
        Images of the same shape and dtype.

    Raises:
        InvalidArgumentError: the images have less than three dimensions, or the factor has some.

    Example:
        >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().tolist()
        [[[0.0], [4.0]]]
    """
    images = convert_to_tensor(images)
    return convert_image_dtype(_scale_contrast(_as_floats(images), contrast_factor), images.dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """RGB images with their hue turned.

    Args:
        image: of shape `[..., height, width, 3]`.
        delta: the part of a turn of the colour circle, a scalar in [-1, 1].

    Returns:
        Images of the same shape and dtype.

    Raises:
        ValueError: `delta` is a Python number outside of [-1, 1].
        InvalidArgumentError: the images have less than three dimensions, or not three channels.

    Example:
        >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist()
        [[[0.0, 1.0, 1.0]]]
    """
    if not isinstance(delta, Tensor) and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    image = convert_to_tensor(image)
    return convert_image_dtype(turn_hue(_as_floats(image), delta, name), image.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """RGB images with their saturation multiplied.

    Args:
        image: of shape `[..., height, width, 3]`.
        saturation_factor: the factor, a scalar.

    Returns:
        Images of the same shape and dtype.

    Raises:
        InvalidArgumentError: the images have less than three dimensions, or not three channels.

    Example:
        >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().tolist()
        [[[1.0, 1.0, 1.0]]]
    """
    image = convert_to_tensor(image)
    return convert_image_dtype(scale_saturation(_as_floats(image), saturation_factor, name), image.dtype)


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None) -> Any:
    """An image as it is after it was a JPEG file.

    Args:
        image: of shape `[height, width, channels]`, with 1 or 3 channels.
        jpeg_quality: from 0 to 100, a scalar.
        dct_method: see `tf.io.decode_jpeg`.

    Returns:
        An image of the same shape and dtype.

    Raises:
        InvalidArgumentError: the image has another shape, or the quality is no such number.

    Example:
        >>> tf.image.adjust_jpeg_quality(tf.fill([8, 8, 1], 0.6), 50)[0, 0].numpy().round(2).tolist()
        [0.6000000238418579]
    """
    from tapeflow.io.images import decode_jpeg, encode_jpeg_variable_quality

    image = convert_to_tensor(image)
    file = encode_jpeg_variable_quality(convert_image_dtype(image, uint8, saturate=True), jpeg_quality, name)
    read = decode_jpeg(file, channels=image.shape[-1] or 0, dct_method=dct_method)
    return convert_image_dtype(read, image.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """`gain * image ** gamma`, in the range of floats [0, 1].

    Raises:
        ValueError: gamma is negative.

    Args:
        image: images of any shape; integers are taken over their whole range.
        gamma: the exponent, not negative.
        gain: the factor.

    Returns:
        Images of the same shape and dtype; integers are clipped to their range.

    Example:
        >>> tf.image.adjust_gamma([[[0.5]]], 2.0).numpy().tolist()
        [[[0.25]]]
    """
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    image = convert_to_tensor(image)
    floats = _as_floats(image)
    return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


def per_image_standardization(image: Any) -> Any:
    """Images with mean 0 and variance 1, each by itself.

    Args:
        image: of shape `[..., height, width, channels]`.

    Returns:
        float32 images (float16 for float16 ones). The deviation divided by is at least `1 / sqrt(elements)`.

    Example:
        >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().tolist()
        [[[-1.0], [1.0]]]
    """
    from tapeflow.array.properties import shape
    from tapeflow.math import reduce_std, rsqrt
    from tapeflow.math.reduction import reduce_prod

    image = convert_to_tensor(image)
    image = image if image.dtype.name in ("float16", "float32") else cast(image, float32)
    count = cast(reduce_prod(shape(image)[-3:]), float32)
    deviation = maximum(reduce_std(image, [-3, -2, -1], keepdims=True), cast(rsqrt(count), image.dtype))
    return (image - reduce_mean(image, [-3, -2, -1], keepdims=True)) / deviation
