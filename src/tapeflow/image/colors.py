"""Color spaces, and arithmetic on colors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.joining import concat, stack, unstack
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.batching import equal_shapes, leading_dimensions
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import by_value, comparison, select
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import ranked, same, text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.image.conversion import convert_image_dtype
from tapeflow.linalg.contraction import tensordot
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, logical_and, logical_not, logical_or
from tapeflow.math.division import divide_no_nan
from tapeflow.math.elementwise import abs as absolute
from tapeflow.math.elementwise import sign
from tapeflow.math.extrema import clip_by_value, maximum, minimum


def check_scalar(value: torch.Tensor, name: str) -> None:
    """Checks that a value is a scalar.

    Args:
        value: the value.
        name: its name in the error message.

    Raises:
        InvalidArgumentError: it has dimensions.
    """
    if value.ndim:
        raise invalid(f"{name} must be scalar: {text(TensorShape(value.shape))}")


def _check_channels(images: torch.Tensor) -> None:
    """Checks that the last dimension of images is 3."""
    if not images.ndim:
        raise invalid("input must be at least 1D")
    if images.shape[-1] != 3:
        raise FailedPreconditionError.of(f"input must have 3 channels but input only has {images.shape[-1]} channels.")


# A mask that the processor can't predict makes `torch.where` seven times slower than these.
_less, _equal = comparison(torch.lt, np.less), comparison(torch.eq, np.equal)


def _where(mask: torch.Tensor, x: torch.Tensor, other: torch.Tensor | float) -> torch.Tensor:
    """Returns `x` where the mask is true, and another number or tensor elsewhere."""
    return select(mask, x, other if isinstance(other, torch.Tensor) else x.new_tensor(other))


def _planes(images: torch.Tensor) -> Sequence[torch.Tensor]:
    """Returns the channels of images, each with memory of its own, where NumPy copies faster than torch."""
    if not by_value(images) or images.dtype is torch.bfloat16:
        return images.unbind(-1)
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(images.numpy(), -1, 0))).unbind(0)


def _image_of(planes: Sequence[torch.Tensor]) -> torch.Tensor:
    """Returns images with these channels."""
    if not all(map(by_value, planes)) or planes[0].dtype is torch.bfloat16:
        return torch.stack([*planes], -1)
    out = torch.empty((*planes[0].shape, len(planes)), dtype=planes[0].dtype)
    for i, plane in enumerate(planes):
        out.numpy()[..., i] = plane.numpy()
    return out


def _larger(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Returns the larger of two numbers, the first one if one of them is NaN."""
    return select(_less(first, second), second, first)


def _smaller(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Returns the smaller of two numbers, the first one if one of them is NaN."""
    return select(_less(second, first), second, first)


def _extremes(colors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the largest and the smallest of three colors; which of them is NaN depends on their order."""
    first, second, third = colors
    return _larger(first, _larger(second, third)), _smaller(first, _smaller(second, third))


def _hue_and_saturation(
    colors: Sequence[torch.Tensor], value: torch.Tensor, spread: torch.Tensor, scale: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns hues, of any number where the colors do not differ, and saturations."""
    r, g, b = colors
    differences = select(_equal(g, value), scale * (b - r) + 2 / 6, scale * (r - g) + 4 / 6)
    hue = select(_equal(r, value), scale * (g - b), differences)
    hue = select(hue < 0, hue + 1, hue)
    lit = value > 0
    return hue, _where(lit, spread / _where(lit, value, 1), 0)


def _rgb_to_hsv_kernel(images: torch.Tensor) -> torch.Tensor:
    _check_channels(images)
    colors = _planes(images)
    value, low = _extremes(colors[::-1])
    spread = value - low
    hue, saturation = _hue_and_saturation(colors, value, spread, spread.reciprocal() * (1 / 6))
    return _image_of([_where(spread > 0, hue, 0), saturation, value])


def _hsv_to_rgb_kernel(images: torch.Tensor) -> torch.Tensor:
    _check_channels(images)
    hue, saturation, value = _planes(images)
    return _image_of([((1 - saturation) + saturation * share) * value for share in _shares(hue)])


def _shares(hue: torch.Tensor) -> list[torch.Tensor]:
    """Computes red, green and blue as fractions of the way from the darkest channel to the brightest one.

    Args:
        hue: hues in [0, 1].

    Returns:
        Three tensors of the shape of `hue`, with numbers in [0, 1].
    """
    sector = hue * 6
    red, green, blue = (sector - 3).abs() - 1, 2 - (sector - 2).abs(), 2 - (sector - 4).abs()
    return [channel.clamp(0, 1) for channel in (red, green, blue)]


def _three_channels(images: TensorShape) -> TensorShape:
    return images[:-1] + images[-1:].merge_with([3]) if images.rank else images


@op("RGBToHSV", kernel=_rgb_to_hsv_kernel, shape=ranked(_three_channels, -1), batching=equal_shapes)
def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts RGB images to hue, saturation and value.

    Args:
        images: floats in [0, 1] of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype, with numbers in [0, 1].

    Raises:
        FailedPreconditionError: the last dimension is not 3.

    Example:
        >>> tf.image.rgb_to_hsv([[0.0, 0.5, 0.0]])[0, 1:].numpy().tolist()
        [1.0, 0.5]
    """


@rgb_to_hsv.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    """Differentiates `hue = k / 3 + (next - last) / (6 * spread)`, of the highest channel `k` and the two after it.

    As in TensorFlow, saturation does not depend on a channel that is 0.
    """
    colors, (dhue, dsaturation, dvalue) = unstack(call.inputs[0], 3, -1), unstack(dy, 3, -1)
    highest, lowest = _masks(colors, maximum), _masks(colors[::-1], minimum)[::-1]
    value, low = (sum(c * m for c, m in zip(colors, masks, strict=True)) for masks in (highest, lowest))
    spread, lit = value - low, maximum(value, 0.0)
    turn = divide_no_nan(dhue, 6.0 * spread)
    between = sum(m * (colors[(k + 1) % 3] - colors[(k + 2) % 3]) for k, m in enumerate(highest))
    by_hue, by_saturation = turn * divide_no_nan(between, spread), divide_no_nan(dsaturation, lit)
    dvalue += by_saturation - by_hue - divide_no_nan(dsaturation * spread, lit * lit)
    dlow = by_hue - by_saturation * cast(low > 0.0, low.dtype)
    return stack(
        [
            highest[k] * dvalue + lowest[k] * dlow + turn * (highest[(k + 2) % 3] - highest[(k + 1) % 3])
            for k in range(3)
        ],
        -1,
    )


def _masks(colors: list[Any], extremum: Callable[..., Any]) -> list[Any]:
    """Returns a mask for each channel: 1 where it is the first of the three that attains their extremum."""
    first_color, second_color, third_color = colors
    extreme = extremum(extremum(first_color, second_color), third_color)
    first = equal(first_color, extreme)
    second = logical_and(equal(second_color, extreme), logical_not(first))
    third = logical_not(logical_or(first, second))
    return [cast(mask, extreme.dtype) for mask in (first, second, third)]


@op("HSVToRGB", kernel=_hsv_to_rgb_kernel, shape=ranked(_three_channels, -1), batching=equal_shapes)
def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Converts images of hue, saturation and value to RGB.

    Args:
        images: floats in [0, 1] of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype, with numbers in [0, 1].

    Raises:
        FailedPreconditionError: the last dimension is not 3.

    Example:
        >>> tf.image.hsv_to_rgb([[0.0, 1.0, 0.5]]).numpy().tolist()
        [[0.5, 0.0, 0.0]]
    """


@hsv_to_rgb.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    """Differentiates `((share - 1) * saturation + 1) * value`, with the shares of `_shares`."""
    hue, saturation, value = unstack(call.inputs[0], 3, -1)
    sector = hue * 6.0
    dhue, dsaturation, dvalue = [], [], []
    for dcolor, middle, direction in zip(unstack(dy, 3, -1), (3.0, 2.0, 4.0), (1.0, -1.0, -1.0), strict=True):
        unclipped = direction * absolute(sector - middle) - (1.0 if direction > 0 else -2.0)
        share = clip_by_value(unclipped, 0.0, 1.0)
        inside = cast(logical_and(unclipped > 0.0, unclipped < 1.0), hue.dtype)
        turns = inside * sign(sector - middle) * (6.0 * direction)
        dhue.append(dcolor * saturation * value * turns)
        dsaturation.append(dcolor * (share - 1.0) * value)
        dvalue.append(dcolor * ((share - 1.0) * saturation + 1.0))
    return stack([sum(dhue), sum(dsaturation), sum(dvalue)], -1)


def _check_image(images: torch.Tensor) -> None:
    """Checks that images have at least three dimensions, and three channels."""
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{text(TensorShape(images.shape))}")
    if images.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


@op("AdjustHue", shape=ranked(same, -3), batching=leading_dimensions)
def turn_hue(images: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """Adds `delta` turns of the color circle to the hue of RGB images."""
    _check_image(images)
    check_scalar(delta, "delta")
    red, green, blue = _planes(images)
    redder = ~_less(red, green)
    larger, smaller = select(redder, red, green), select(redder, green, red)
    above, below = _less(larger, blue), _less(blue, smaller)
    high, low = select(above, blue, larger), select(below, blue, smaller)
    middle = select(below, smaller, select(above, larger, blue))
    # The sixths of the color circle, by the order of the colors: 0 for red, green, blue, up to 5 for red, blue, green.
    highest, lowest = above.to(images.dtype), below.to(images.dtype)
    sector = select(redder, 5 - 5 * lowest - highest, 2 - lowest + highest)
    gray = _equal(high, low)
    ratio = (middle - low) / _where(~gray, high - low, 1)
    hue = _where(~gray, sector + select(redder ^ above ^ below, 1 - ratio, ratio), 0)
    hue = (hue + 6 * delta.to(images.dtype)).remainder(6)
    sector = hue.floor().clamp(0, 5)
    ratio = hue - sector
    sectors = [sector == i for i in range(5)]  # not in one of these is NaN, which goes the way of the last sixth
    zeroth, first, second, third, fourth = sectors
    middle = low + select(zeroth | second | fourth, ratio, 1 - ratio) * (high - low)
    red = select(first | fourth, middle, select(second | third, low, high))
    green = select(first | second, high, select(zeroth | third, middle, low))
    blue = select(zeroth | first, low, select(third | fourth, high, middle))
    return _image_of([red, green, blue])


@op("AdjustSaturation", shape=ranked(same, -3), batching=leading_dimensions)
def scale_saturation(images: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Multiplies the saturation of RGB images, and clips it to [0, 1]."""
    _check_image(images)
    check_scalar(scale, "scale")
    colors = _planes(images)
    value, low = _extremes(colors)
    spread = value - low
    gray = spread <= 0
    hue, saturation = _hue_and_saturation(colors, value, spread, 1 / (6 * _where(~gray, spread, 1)))
    zero = torch.zeros_like(value)
    chroma = _smaller(zero + 1, _larger(zero, saturation * scale.to(images.dtype))) * value
    darkest = value - chroma
    colored = ~gray & (hue < 1)  # TensorFlow has no color for a hue that was rounded to 1
    shares = _shares(_where(colored, hue, 0))
    return _image_of([_where(colored & (share > 0), share * chroma, 0) + darkest for share in shares])


_YIQ = np.array([[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]])
_YUV = np.array([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]])

_FROM_YIQ = np.array([[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]])
_FROM_YUV = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def _times(images: Any, matrix: np.ndarray) -> Any:
    """Multiplies the colors of images, rows of three numbers, by a matrix."""
    tensor = convert_to_tensor(images)
    return tensordot(tensor, convert_to_tensor(matrix.tolist(), tensor.dtype), [[tensor.shape.rank - 1], [0]])


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Converts RGB images to YIQ, the color space of NTSC television.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> float(tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]])[0, 0])
        1.0
    """
    return _times(images, _YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Converts YIQ images to RGB.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> tf.image.yiq_to_rgb([[0.0, 0.0, 0.0]]).numpy().tolist()
        [[0.0, 0.0, 0.0]]
    """
    return _times(images, _FROM_YIQ)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Converts RGB images to YUV, the color space of PAL television.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> float(tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]])[0, 0])
        1.0
    """
    return _times(images, _YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Converts YUV images to RGB.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> tf.image.yuv_to_rgb([[0.0, 0.0, 0.0]]).numpy().tolist()
        [[0.0, 0.0, 0.0]]
    """
    return _times(images, _FROM_YUV)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Computes the brightness of RGB images, as one channel.

    Args:
        images: integers or floats of shape `[..., 3]`.

    Returns:
        A tensor of shape `[..., 1]` and the same dtype: `0.2989 r + 0.587 g + 0.114 b`.

    Example:
        >>> tf.image.rgb_to_grayscale([[[255, 255, 255]]]).numpy().tolist()
        [[[254]]]
    """
    tensor = convert_to_tensor(images)
    weights = convert_to_tensor([0.2989, 0.5870, 0.1140])
    gray = tensordot(convert_image_dtype(tensor, float32), weights, [-1, -1])[..., None]
    return convert_image_dtype(gray, tensor.dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Repeats the channel of images three times.

    Args:
        images: a tensor of shape `[..., 1]`.

    Returns:
        A tensor of shape `[..., 3]` and the same dtype.

    Raises:
        ValueError: the images have fewer than two dimensions, or more than one channel.

    Example:
        >>> tf.image.grayscale_to_rgb([[[7]]]).numpy().tolist()
        [[[7, 7, 7]]]
    """
    tensor = convert_to_tensor(images)
    rank = tensor.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(f"A grayscale image (shape {tensor.shape}) must be at least two-dimensional.")
    wrong = "Last dimension of a grayscale image should be size 1."
    if rank is not None and tensor.shape[-1] not in (1, None):
        raise ValueError(wrong)
    if not tensor.shape.is_fully_defined():
        hooks.check(equal(ops.Shape(tensor)[-1], 1), [wrong])
        hooks.check(greater(ops.Rank(tensor), 2), ["A grayscale image must be at least two-dimensional."])
    colors = concat([tensor] * 3, -1)
    colors.set_shape(tensor.shape[:-1] + [3])
    return colors
