"""Brightness, contrast, and the dtypes of images."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.dtypes import as_dtype, float32
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


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Images with `delta` added, in the range of floats [0, 1].

    Example:
        >>> tf.image.adjust_brightness([[[1.0]]], 0.5).numpy().tolist()
        [[[1.5]]]
    """
    image = convert_to_tensor(image)
    floats = image if image.dtype.is_floating else convert_image_dtype(image, float32)
    return convert_image_dtype(add(floats, cast(delta, floats.dtype)), image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Images with each channel's distance from its mean multiplied.

    Args:
        images: of shape `[..., height, width, channels]`.
        contrast_factor: the factor.

    Example:
        >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().tolist()
        [[[0.0], [4.0]]]
    """
    images = convert_to_tensor(images)
    floats = images if images.dtype.is_floating else convert_image_dtype(images, float32)
    mean = reduce_mean(floats, [-3, -2], keepdims=True)
    changed = (floats - mean) * cast(contrast_factor, floats.dtype) + mean
    return convert_image_dtype(changed, images.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """`gain * image ** gamma`, in the range of floats [0, 1].

    Raises:
        ValueError: gamma is negative.

    Example:
        >>> tf.image.adjust_gamma([[[0.5]]], 2.0).numpy().tolist()
        [[[0.25]]]
    """
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    image = convert_to_tensor(image)
    floats = image if image.dtype.is_floating else convert_image_dtype(image, float32)
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
