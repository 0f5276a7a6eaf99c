"""Color spaces, and arithmetic on colors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat, stack, unstack
from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape_op
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.hooks import hooks
from tapeflow.core.loops import Loop, Numbers, loop, simd_range
from tapeflow.core.ops.batch_rules import equal_shapes, leading_dimensions
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import check_ranks_first, same, text, with_rank
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
        raise invalid(f"{name} must be scalar: {text(value.shape)}")


def _check_channels(images: torch.Tensor) -> None:
    """Checks that the last dimension of images is 3."""
    if not images.ndim:
        raise invalid("input must be at least 1D")
    if images.shape[-1] != 3:
        raise FailedPreconditionError.of(f"input must have 3 channels but input only has {images.shape[-1]} channels.")


_SIXTH, _THIRD, _TWO_THIRDS = 1 / 6, 2 / 6, 4 / 6


@loop
def _write_hsv(images: Numbers, size: int, results: Numbers) -> None:
    for i in simd_range(size):
        r, g, b = images[3 * i], images[3 * i + 1], images[3 * i + 2]
        larger, smaller = r if g < r else g, r if r < g else g
        value, low = larger if b < larger else b, smaller if smaller < b else b
        spread = value - low
        scale = 1.0 / spread * _SIXTH
        hue = scale * (b - r) + _THIRD if g == value else scale * (r - g) + _TWO_THIRDS
        hue = scale * (g - b) if r == value else hue
        hue = hue + 1.0 if hue < 0.0 else hue
        results[3 * i] = hue if spread > 0.0 else 0.0
        results[3 * i + 1] = spread / value if value > 0.0 else 0.0
        results[3 * i + 2] = value


@loop
def _share_of_color(distance: float) -> float:
    """Returns the way from the darkest channel to the brightest one, by the distance of two hues in sixths."""
    share = abs(distance) - 1.0
    share = 0.0 if share < 0.0 else share
    return 1.0 if share > 1.0 else share


@loop
def _write_rgb(images: Numbers, size: int, results: Numbers) -> None:
    for i in simd_range(size):
        sector, saturation, value = images[3 * i] * 6.0, images[3 * i + 1], images[3 * i + 2]
        rest = 1.0 - saturation
        results[3 * i] = (rest + saturation * _share_of_color(sector - 3.0)) * value
        results[3 * i + 1] = (rest + saturation * (1.0 - _share_of_color(sector - 2.0))) * value
        results[3 * i + 2] = (rest + saturation * (1.0 - _share_of_color(sector - 4.0))) * value


@loop
def _turn_hues(images: Numbers, size: int, turn: float, results: Numbers) -> None:
    """Adds `turn` sixths of the color circle to hues."""
    for i in simd_range(size):
        r, g, b = images[3 * i], images[3 * i + 1], images[3 * i + 2]
        less_red = r < g
        larger, smaller = g if less_red else r, r if less_red else g
        above, below = larger < b, b < smaller
        high, low = b if above else larger, b if below else smaller
        middle = larger if above else b
        middle = smaller if below else middle
        # The sixths of the color circle by the order of the colors: 0 for red, green, blue; 5 for red, blue, green.
        redder = 0.0 if below else 5.0
        redder = 4.0 if above else redder
        greener = 1.0 if below else 2.0
        greener = 3.0 if above else greener
        gray = high == low
        spread = high - low
        ratio = (middle - low) / (1.0 if gray else spread)
        hue = (greener if less_red else redder) + (ratio if less_red ^ above ^ below else 1.0 - ratio)
        hue = (0.0 if gray else hue) + turn
        hue = hue + 6.0 if hue < 0.0 else hue
        hue = hue - 6.0 if hue >= 6.0 else hue
        sector = 4.0 if hue < 5.0 else 5.0  # of NaN, too
        sector = 3.0 if hue < 4.0 else sector
        sector = 2.0 if hue < 3.0 else sector
        sector = 1.0 if hue < 2.0 else sector
        sector = 0.0 if hue < 1.0 else sector
        ratio = hue - sector
        middle = low + (ratio if (sector == 0.0) | (sector == 2.0) | (sector == 4.0) else 1.0 - ratio) * spread
        red = low if (sector == 2.0) | (sector == 3.0) else high
        green = high if (sector == 1.0) | (sector == 2.0) else low
        blue = high if (sector == 3.0) | (sector == 4.0) else middle
        results[3 * i] = middle if (sector == 1.0) | (sector == 4.0) else red
        results[3 * i + 1] = middle if (sector == 0.0) | (sector == 3.0) else green
        results[3 * i + 2] = low if sector < 2.0 else blue


@loop
def _scale_saturations(images: Numbers, size: int, scale: float, results: Numbers) -> None:
    for i in simd_range(size):
        r, g, b = images[3 * i], images[3 * i + 1], images[3 * i + 2]
        larger, smaller = b if g < b else g, b if b < g else g
        value, low = larger if r < larger else r, smaller if smaller < r else r
        spread = value - low
        gray = spread <= 0.0
        sixth = 1.0 / (6.0 * (1.0 if gray else spread))
        hue = sixth * (b - r) + _THIRD if g == value else sixth * (r - g) + _TWO_THIRDS
        hue = sixth * (g - b) if r == value else hue
        hue = hue + 1.0 if hue < 0.0 else hue
        saturation = (spread / value if value > 0.0 else 0.0) * scale
        saturation = saturation if saturation > 0.0 else 0.0
        chroma = (saturation if saturation < 1.0 else 1.0) * value
        darkest = value - chroma
        colored = (hue < 1.0) & (spread > 0.0)  # TensorFlow has no color for a hue that was rounded to 1
        sector = 6.0 * hue if colored else 0.0
        red = _share_of_color(sector - 3.0)
        green, blue = 1.0 - _share_of_color(sector - 2.0), 1.0 - _share_of_color(sector - 4.0)
        results[3 * i] = (red * chroma if colored & (red > 0.0) else 0.0) + darkest
        results[3 * i + 1] = (green * chroma if colored & (green > 0.0) else 0.0) + darkest
        results[3 * i + 2] = (blue * chroma if colored & (blue > 0.0) else 0.0) + darkest


def _map_pixels(function: Loop, images: torch.Tensor, *numbers: float) -> torch.Tensor:
    """Returns the results of a loop over pixels of three channels; it computes in float32, or in float64 if these are
    the images' numbers."""
    dtype = images.dtype if images.dtype is torch.float64 else torch.float32
    pixels = images.detach().to("cpu", dtype).contiguous()
    results = torch.empty_like(pixels)
    function(pixels, pixels.numel() // 3, *numbers, results)
    return results.to(images)


def _convert_colors(function: Loop, images: torch.Tensor) -> torch.Tensor:
    _check_channels(images)
    return _map_pixels(function, images)


def _three_channels(images: TensorShape) -> TensorShape:
    with_rank(images, -1)
    return images[:-1] + images[-1:].merge_with([3]) if images.rank else images


_to_hsv, _to_rgb = (functools.partial(_convert_colors, function) for function in (_write_hsv, _write_rgb))


@op("RGBToHSV", kernel=_to_hsv, shape=_three_channels, batching=equal_shapes, autograd=False)
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
def _(call: Call, dy: Tensor) -> Any:
    """Differentiates `hue = k / 3 + (next - last) / (6 * spread)`, of the highest channel `k` and the two after it.

    As in TensorFlow, saturation does not depend on a channel that is 0.
    """
    colors, (dhue, dsaturation, dvalue) = unstack(call.inputs[0], 3, -1), unstack(dy, 3, -1)
    highest, lowest = _extremum_masks(colors, maximum), _extremum_masks(colors[::-1], minimum)[::-1]
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


def _extremum_masks(colors: list[Any], extremum: Callable[..., Any]) -> list[Any]:
    """Returns a mask for each channel: 1 where it is the first of the three that attains their extremum."""
    first_color, second_color, third_color = colors
    extreme = extremum(extremum(first_color, second_color), third_color)
    first = equal(first_color, extreme)
    second = logical_and(equal(second_color, extreme), logical_not(first))
    third = logical_not(logical_or(first, second))
    return [cast(mask, extreme.dtype) for mask in (first, second, third)]


@op("HSVToRGB", kernel=_to_rgb, shape=_three_channels, batching=equal_shapes, autograd=False)
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
def _(call: Call, dy: Tensor) -> Any:
    """Differentiates `((share - 1) * saturation + 1) * value`, with the shares of `_share_of_color`."""
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
        raise invalid(f"input must be at least 3-D, got shape{text(images.shape)}")
    if images.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


@op("AdjustHue", shape=check_ranks_first(same, -3), batching=leading_dimensions)
def turn_hue(images: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """Adds `delta` turns of the color circle to the hue of RGB images."""
    _check_image(images)
    check_scalar(delta, "delta")
    turn = 6 * float(delta)
    return _map_pixels(_turn_hues, images, turn if abs(turn) <= 6 else turn % 6)


@op("AdjustSaturation", shape=check_ranks_first(same, -3), batching=leading_dimensions)
def scale_saturation(images: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Multiplies the saturation of RGB images, and clips it to [0, 1]."""
    _check_image(images)
    check_scalar(scale, "scale")
    return _map_pixels(_scale_saturations, images, float(scale))


@turn_hue.gradient()
@scale_saturation.gradient()
def _(call: Call, dy: Tensor) -> Any:
    raise LookupError(f"gradient registry has no entry for: {call.op.name}")


_YIQ = np.array([[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]])
_YUV = np.array([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]])

_FROM_YIQ = np.array([[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]])
_FROM_YUV = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def _multiply_colors(images: TensorLike, matrix: np.ndarray) -> Any:
    """Multiplies the colors of images, rows of three numbers, by a matrix."""
    tensor = convert_to_tensor(images)
    return tensordot(tensor, convert_to_tensor(matrix.tolist(), tensor.dtype), [[tensor.shape.rank - 1], [0]])


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Converts RGB images to YIQ, the color space of NTSC television.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: `images` is not floating.
        InvalidArgumentError: the last dimension is not 3.

    Example:
        >>> float(tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]])[0, 0])
        1.0
    """
    return _multiply_colors(images, _YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """Converts YIQ images to RGB.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: `images` is not floating.
        InvalidArgumentError: the last dimension is not 3.

    Example:
        >>> tf.image.yiq_to_rgb([[0.0, 0.0, 0.0]]).numpy().tolist()
        [[0.0, 0.0, 0.0]]
    """
    return _multiply_colors(images, _FROM_YIQ)


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Converts RGB images to YUV, the color space of PAL television.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: `images` is not floating.
        InvalidArgumentError: the last dimension is not 3.

    Example:
        >>> float(tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]])[0, 0])
        1.0
    """
    return _multiply_colors(images, _YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """Converts YUV images to RGB.

    Args:
        images: a float tensor of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: `images` is not floating.
        InvalidArgumentError: the last dimension is not 3.

    Example:
        >>> tf.image.yuv_to_rgb([[0.0, 0.0, 0.0]]).numpy().tolist()
        [[0.0, 0.0, 0.0]]
    """
    return _multiply_colors(images, _FROM_YUV)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Computes the brightness of RGB images, as one channel.

    Args:
        images: integers or floats of shape `[..., 3]`.

    Returns:
        A tensor of shape `[..., 1]` and the same dtype: `0.2989 r + 0.587 g + 0.114 b`.

    Raises:
        AttributeError: `images` is neither floating nor integers.
        InvalidArgumentError: the last dimension is not 3.

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
        hooks.check(equal(shape_op(tensor)[-1], 1), [wrong])
        hooks.check(greater(rank_op(tensor), 2), ["A grayscale image must be at least two-dimensional."])
    colors = concat([tensor] * 3, -1)
    colors.set_shape(tensor.shape[:-1] + [3])
    return colors
