"""Measures of the quality of images: PSNR and SSIM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat, stack, tile
from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.creation import range as range_of
from tapeflow.array.identities import less_static
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import reshape
from tapeflow.core.hooks import hooks
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.values.tensor import Tensor, dtype_error
from tapeflow.image.conversion import convert_image_dtype
from tapeflow.math.arithmetic import squared_difference
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater_equal
from tapeflow.math.elementwise import log, pow, square
from tapeflow.math.reduction import reduce_all, reduce_mean, reduce_prod
from tapeflow.nn.activations import relu
from tapeflow.nn.avg_pooling import avg_pool2d
from tapeflow.nn.depthwise import depthwise_conv2d
from tapeflow.nn.softmaxes import softmax


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """Computes the peak signal-to-noise ratio of images.

    It is `10 * log10(max_val ** 2 / mean((a - b) ** 2))`, in decibels.

    Args:
        a, b: images of the same shape `[..., height, width, channels]` and dtype.
        max_val: a scalar, the difference between the largest and the smallest value that a pixel can have.

    Returns:
        A float32 tensor of shape `[...]`.

    Raises:
        InvalidArgumentError: the shapes differ, or have fewer than three dimensions.

    Example:
        >>> float(tf.image.psnr(tf.zeros([4, 4, 3]), tf.fill([4, 4, 3], 0.1), max_val=1.0))
        20.0
    """
    first, second = convert_to_tensor(a), convert_to_tensor(b)
    peak = convert_image_dtype(cast(max_val, first.dtype), float32)
    difference = squared_difference(convert_image_dtype(first, float32), convert_image_dtype(second, float32))
    error = reduce_mean(difference, [-3, -2, -1])
    _check_image_pair(first, second)
    return (20 / math.log(10)) * log(peak) - (10 / math.log(10)) * log(error)


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """Computes the structural similarity of images: 1 for equal images, less for others.

    Source: Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural
    similarity", IEEE Transactions on Image Processing 13 (2004).

    Args:
        img1, img2: images of the same shape `[..., height, width, channels]` and dtype.
        max_val: a scalar, the difference between the largest and the smallest value that a pixel can have.
        filter_size, filter_sigma: the size and the standard deviation of the Gaussian window.
        k1, k2: constants that keep the divisors away from zero.
        return_index_map: returns the similarity at each position of the window instead of its mean.

    Returns:
        A float32 tensor of shape `[...]`, or `[..., height - filter_size + 1, width - filter_size + 1]`.

    Raises:
        ValueError: the images have fewer than three dimensions, or their shapes differ.
        InvalidArgumentError: the images are smaller than the window, or their dtypes differ.

    Example:
        >>> x = tf.random.uniform([16, 16, 3])
        >>> float(tf.image.ssim(x, x, max_val=1.0))
        1.0
    """
    first, second, peak = _prepare_images(img1, img2, max_val)
    similarity, _ = _per_channel(first, second, peak, filter_size, filter_sigma, k1, k2, return_index_map)
    return reduce_mean(similarity, [-1])


_POWER_FACTORS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] | TensorLike = _POWER_FACTORS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Computes the structural similarity of images at several scales, each half of the previous one.

    Source: Wang, Simoncelli and Bovik, "Multi-scale structural similarity for image quality assessment", Asilomar
    Conference on Signals, Systems and Computers (2003).

    Args:
        img1, img2: images of the same shape `[..., height, width, channels]` and dtype.
        max_val: a scalar, the difference between the largest and the smallest value that a pixel can have.
        power_factors: a vector with the weight of each scale, the original one first.
        filter_size, filter_sigma: the size and the standard deviation of the Gaussian window.
        k1, k2: constants that keep the divisors away from zero.

    Returns:
        A float32 tensor of shape `[...]`.

    Raises:
        ValueError: the images have fewer than three dimensions, or their shapes differ.
        InvalidArgumentError: the images are smaller than the window at some scale.

    Example:
        >>> x = tf.random.uniform([32, 32, 3])
        >>> float(tf.image.ssim_multiscale(x, x, max_val=1.0, power_factors=[0.5, 0.5]))
        1.0
    """
    first, second, peak = _prepare_images(img1, img2, max_val)
    factors: Any = power_factors
    contrasts = []
    similarity: Any = None
    for scale, _ in enumerate(factors):
        if scale:
            # TensorFlow does not know the size of images that it may have padded.
            first, second = (
                less_static(
                    _halve_images(x), None if x.shape.rank is None else [*x.shape[:-3], None, None, x.shape[-1]]
                )
                for x in (first, second)
            )
        similarity, contrast = _per_channel(first, second, peak, filter_size, filter_sigma, k1, k2)
        contrasts.append(relu(contrast))
    similarities = stack([*contrasts[:-1], relu(similarity)], -1)
    return reduce_mean(reduce_prod(pow(similarities, factors), [-1]), [-1])


def _check_image_pair(first: Tensor, second: Tensor) -> None:
    """Checks that two tensors are images of one size, in batches that broadcast.

    Raises:
        ValueError: they are not.
        InvalidArgumentError: it is seen when the graph runs.
    """
    one, other = first.shape.with_rank_at_least(3), second.shape.with_rank_at_least(3)
    one[-3:].assert_is_compatible_with(other[-3:])
    if one.rank is not None and other.rank is not None:
        for m, n in zip(one[:-3].as_list()[::-1], other[:-3].as_list()[::-1], strict=False):
            if 1 not in (m, n) and None not in (m, n) and m != n:
                raise ValueError(f"Two images are not compatible: {one} and {other}")
    if not (one[-3:].is_fully_defined() and other[-3:].is_fully_defined()):
        sizes = shape(first)[-3:], shape(second)[-3:]
        hooks.check(reduce_all(equal(*sizes)), [*sizes])


def _prepare_images(img1: TensorLike, img2: TensorLike, max_val: TensorLike) -> tuple[Any, Any, Any]:
    """Returns the images and the largest difference of pixels, as float32."""
    first, second = convert_to_tensor(img1), convert_to_tensor(img2)
    for image in (first, second):
        image.shape.with_rank_at_least(3)
    if first.dtype is not second.dtype:  # their shapes are compared first, as a list of one dtype
        raise dtype_error(f"the images must have one dtype, not {first.dtype.name} and {second.dtype.name}")
    _check_image_pair(first, second)
    peak = convert_image_dtype(cast(max_val, first.dtype), float32)
    return convert_image_dtype(first, float32), convert_image_dtype(second, float32), peak


def _per_channel(
    first: Tensor, second: Tensor, peak: Tensor, size: int, sigma: float, k1: float, k2: float, index_map: bool = False
) -> tuple[Any, Any]:
    """Computes the similarity of each channel, and its factor without luminance.

    Args:
        first, second: float32 images.
        peak: the largest difference of pixels.
        size, sigma: the size and the standard deviation of the Gaussian window.
        k1, k2: constants that keep the divisors away from zero.
        index_map: returns the similarity at each position of the window.

    Returns:
        Two tensors of shape `[..., channels]`; with `index_map` the first has a height and a width before that.
    """
    for image in (first, second):
        dims = shape(image)[-3:-1]
        hooks.check(reduce_all(greater_equal(dims, size)), [dims, size])
    window = tile(_gaussian_window(size, sigma), [1, 1, shape(first)[-1], 1])

    def smoothed(x: Tensor) -> Any:
        y = depthwise_conv2d(reshape(x, concat([[-1], shape(x)[-3:]], 0)), window, [1, 1, 1, 1], "VALID")
        return reshape(y, concat([shape(x)[:-3], shape(y)[1:]], 0))

    c1, c2 = square(k1 * peak), square(k2 * peak)
    means = smoothed(first), smoothed(second)
    product, squares = 2 * means[0] * means[1], square(means[0]) + square(means[1])
    luminance = (product + c1) / (squares + c1)
    mean_product, mean_squares = 2 * smoothed(first * second), smoothed(square(first) + square(second))
    contrast = (mean_product - product + c2) / (mean_squares - squares + c2)
    similarity = luminance * contrast
    return similarity if index_map else reduce_mean(similarity, [-3, -2]), reduce_mean(contrast, [-3, -2])


def _gaussian_window(size: int, sigma: float) -> Any:
    """Returns a normal distribution over a square of pixels, `[size, size, 1, 1]`."""
    positions = cast(range_of(size), float32) - cast(size - 1, float32) / 2
    exponent = square(positions) * (-0.5 / square(cast(sigma, float32)))
    both = reshape(exponent, [1, -1]) + reshape(exponent, [-1, 1])
    return reshape(softmax(reshape(both, [1, -1])), [size, size, 1, 1])


def _halve_images(images: Tensor) -> Any:
    """Returns images of half the size; the last row or column of an odd number is repeated before."""
    dims = shape(images)
    flat = reshape(images, concat([[-1], dims[-3:]], 0))
    odd = shape(flat)[1:3] % 2
    paddings = reshape(concat([[0, 0, 0], odd[:1], [0], odd[1:], [0, 0]], 0), [4, 2])
    halves = avg_pool2d(pad(flat, cast(paddings, int32), mode="SYMMETRIC"), 2, 2, "VALID")
    return reshape(halves, concat([dims[:-3], shape(halves)[1:]], 0))
