"""How far images are from each other: PSNR and SSIM."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.creation import range as numbers
from tapeflow.array.joining import concat, stack, tile
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape
from tapeflow.array.shaping import reshape
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.values.tensor import invalid
from tapeflow.debugging import Assert
from tapeflow.image.adjusting import convert_image_dtype
from tapeflow.math import greater_equal, log, pow, reduce_all, reduce_mean, square, squared_difference
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_prod


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """The peak signal-to-noise ratio of images, in decibels: `10 * log10(max_val ** 2 / mean((a - b) ** 2))`.

    Args:
        a, b: of one shape `[..., height, width, channels]` and dtype.
        max_val: the difference between the largest and the smallest value that a pixel can have.

    Returns:
        A float32 tensor of shape `[...]`.

    Raises:
        InvalidArgumentError: the shapes differ, or have less than three dimensions.

    Example:
        >>> float(tf.image.psnr(tf.zeros([4, 4, 3]), tf.fill([4, 4, 3], 0.1), max_val=1.0))
        20.0
    """
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    most = convert_image_dtype(cast(max_val, a.dtype), float32)
    difference = squared_difference(convert_image_dtype(a, float32), convert_image_dtype(b, float32))
    error = reduce_mean(difference, [-3, -2, -1])
    return (20 / math.log(10)) * log(most) - (10 / math.log(10)) * log(error)


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Any:
    """The structural similarity of images: 1 for equal ones, less for others.

    Source: Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural
    similarity", IEEE Transactions on Image Processing 13 (2004).

    Args:
        img1, img2: of one shape `[..., height, width, channels]` and dtype.
        max_val: the difference between the largest and the smallest value that a pixel can have.
        filter_size, filter_sigma: the size and the deviation of the Gaussian window.
        k1, k2: constants that keep the quotients stable.
        return_index_map: whether the similarity at each place of the window is given, instead of its mean.

    Returns:
        A float32 tensor of shape `[...]`, or `[..., height - filter_size + 1, width - filter_size + 1]`.

    Raises:
        ValueError: the images have less than three dimensions, or their shapes differ.
        InvalidArgumentError: the images are smaller than the window, or have two dtypes.

    Example:
        >>> x = tf.random.uniform([16, 16, 3])
        >>> float(tf.image.ssim(x, x, max_val=1.0))
        1.0
    """
    first, second, most = _prepared(img1, img2, max_val)
    similarity, _ = _per_channel(first, second, most, filter_size, filter_sigma, k1, k2, return_index_map)
    return reduce_mean(similarity, [-1])


_POWER_FACTORS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _POWER_FACTORS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Any:
    """The structural similarity of images at several scales, each half of the one before.

    Source: Wang, Simoncelli and Bovik, "Multi-scale structural similarity for image quality assessment", Asilomar
    Conference on Signals, Systems and Computers (2003).

    Args:
        img1, img2: of one shape `[..., height, width, channels]` and dtype.
        max_val: the difference between the largest and the smallest value that a pixel can have.
        power_factors: the weight of each scale, the original one first.
        filter_size, filter_sigma: the size and the deviation of the Gaussian window.
        k1, k2: constants that keep the quotients stable.

    Returns:
        A float32 tensor of shape `[...]`.

    Raises:
        ValueError: the images have less than three dimensions, or their shapes differ.
        InvalidArgumentError: the images are smaller than the window at one of the scales.

    Example:
        >>> x = tf.random.uniform([32, 32, 3])
        >>> float(tf.image.ssim_multiscale(x, x, max_val=1.0, power_factors=[0.5, 0.5]))
        1.0
    """
    from tapeflow.nn import relu

    first, second, most = _prepared(img1, img2, max_val)
    contrasts = []
    similarity = None
    for scale, _ in enumerate(power_factors):
        if scale:
            first, second = _halved(first), _halved(second)
        similarity, contrast = _per_channel(first, second, most, filter_size, filter_sigma, k1, k2)
        contrasts.append(relu(contrast))
    factors = stack([*contrasts[:-1], relu(similarity)], -1)
    return reduce_mean(reduce_prod(pow(factors, power_factors), [-1]), [-1])


def _prepared(img1: Any, img2: Any, max_val: Any) -> tuple[Any, Any, Any]:
    """The images and the largest difference of pixels, as float32."""
    first, second = convert_to_tensor(img1), convert_to_tensor(img2)
    if first.dtype is not second.dtype:
        raise invalid(f"the images must have one dtype, not {first.dtype.name} and {second.dtype.name}")
    for image in (first, second):
        if image.shape.rank is not None and image.shape.rank < 3:
            raise ValueError(f"Shape {image.shape} must have rank at least 3")
    first.shape[-3:].assert_is_compatible_with(second.shape[-3:])
    most = convert_image_dtype(cast(max_val, first.dtype), float32)
    return convert_image_dtype(first, float32), convert_image_dtype(second, float32), most


def _per_channel(
    first: Any, second: Any, most: Any, size: int, sigma: float, k1: float, k2: float, at_each_place: bool = False
) -> tuple[Any, Any]:
    """The similarity and its part without luminance, `[..., channels]`; the first for each place where that's asked."""
    from tapeflow.nn import depthwise_conv2d

    for image in (first, second):
        dims = shape(image)[-3:-1]
        Assert(reduce_all(greater_equal(dims, size)), [dims, size])
    window = tile(_gaussian(size, sigma), [1, 1, shape(first)[-1], 1])

    def seen(x: Any) -> Any:
        y = depthwise_conv2d(reshape(x, concat([[-1], shape(x)[-3:]], 0)), window, [1, 1, 1, 1], "VALID")
        return reshape(y, concat([shape(x)[:-3], shape(y)[1:]], 0))

    c1, c2 = square(k1 * most), square(k2 * most)
    means = seen(first), seen(second)
    product, squares = 2 * means[0] * means[1], square(means[0]) + square(means[1])
    luminance = (product + c1) / (squares + c1)
    product_seen, squares_seen = 2 * seen(first * second), seen(square(first) + square(second))
    contrast = (product_seen - product + c2) / (squares_seen - squares + c2)
    similarity = luminance * contrast
    places = [-3, -2]
    return similarity if at_each_place else reduce_mean(similarity, places), reduce_mean(contrast, places)


def _gaussian(size: Any, sigma: float) -> Any:
    """A normal distribution over a square of pixels, `[size, size, 1, 1]`."""
    from tapeflow.nn import softmax

    place = cast(numbers(size), float32) - cast(size - 1, float32) / 2
    exponent = square(place) * (-0.5 / sigma**2)
    both = reshape(exponent, [1, -1]) + reshape(exponent, [-1, 1])
    return reshape(softmax(reshape(both, [1, -1])), [size, size, 1, 1])


def _halved(images: Any) -> Any:
    """Images of half the size; where that is odd, the last row or column is there twice."""
    from tapeflow.nn import avg_pool2d

    dims = shape(images)
    flat = reshape(images, concat([[-1], dims[-3:]], 0))
    odd = shape(flat)[1:3] % 2
    paddings = reshape(concat([[0, 0, 0], odd[:1], [0], odd[1:], [0, 0]], 0), [4, 2])
    halves = avg_pool2d(pad(flat, cast(paddings, int32), mode="SYMMETRIC"), 2, 2, "VALID")
    return reshape(halves, concat([dims[:-3], shape(halves)[1:]], 0))
