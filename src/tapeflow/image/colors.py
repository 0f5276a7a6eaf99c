"""Colour spaces, and arithmetic on colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import tapeflow as tf
from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same, text
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid


def check_scalar(value: torch.Tensor, name: str) -> None:
    """Refuses what is no scalar.

    Raises:
        InvalidArgumentError: it has dimensions.
    """
    if value.ndim:
        raise invalid(f"{name} must be scalar: {text(TensorShape(value.shape))}")


def _check_channels(images: torch.Tensor) -> None:
    if not images.ndim or images.shape[-1] != 3:
        raise invalid(f"input must have 3 channels, got shape {list(images.shape)}")


def _to_hsv(images: torch.Tensor) -> torch.Tensor:
    _check_channels(images)
    r, g, b = images.unbind(-1)
    value = images.amax(-1)
    spread = value - images.amin(-1)
    safe = torch.where(spread > 0, spread, torch.ones_like(spread))
    hue = torch.where(r == value, (g - b) / safe, torch.where(g == value, (b - r) / safe + 2, (r - g) / safe + 4)) / 6
    hue = torch.where(spread > 0, torch.where(hue < 0, hue + 1, hue), torch.zeros_like(hue))
    lit = value > 0
    saturation = torch.where(lit, spread / torch.where(lit, value, torch.ones_like(value)), torch.zeros_like(value))
    return torch.stack([hue, saturation, value], -1)


def _to_rgb(images: torch.Tensor) -> torch.Tensor:
    _check_channels(images)
    hue, saturation, value = images.unbind(-1)
    return torch.stack([((s - 1) * saturation + 1) * value for s in _shares(hue)], -1)


def _shares(hue: torch.Tensor) -> list[torch.Tensor]:
    """How far up from the darkest of the channels to the brightest red, green and blue are, for hues in [0, 1]."""
    sector = hue * 6
    return [s.clamp(0, 1) for s in ((sector - 3).abs() - 1, 2 - (sector - 2).abs(), 2 - (sector - 4).abs())]


@op("RGBToHSV", kernel=_to_hsv, shape=same)
def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Hue, saturation and value of RGB images.

    Args:
        images: floats in [0, 1], with three channels in the last dimension.

    Raises:
        InvalidArgumentError: there are not three channels.

    Example:
        >>> tf.image.rgb_to_hsv([[0.0, 0.5, 0.0]])[0, 1:].numpy().tolist()
        [1.0, 0.5]
    """


@rgb_to_hsv.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    """The hue is that of the highest channel, and `(next - last) / (6 * spread)` of the two after it."""
    colors, (dhue, dsaturation, dvalue) = tf.unstack(call.inputs[0], 3, -1), tf.unstack(dy, 3, -1)
    highest, lowest = _one_of(colors, tf.maximum), _one_of(colors, tf.minimum)
    value, low = (sum(c * m for c, m in zip(colors, of, strict=True)) for of in (highest, lowest))
    spread, lit = value - low, tf.maximum(value, 0.0)
    turn = tf.math.divide_no_nan(dhue, 6.0 * spread)
    between = sum(m * (colors[(k + 1) % 3] - colors[(k + 2) % 3]) for k, m in enumerate(highest))
    dspread = tf.math.divide_no_nan(dsaturation, lit) - turn * tf.math.divide_no_nan(between, spread)
    dvalue += dspread - tf.math.divide_no_nan(dsaturation * spread, lit * lit)
    return tf.stack(
        [
            highest[k] * dvalue - lowest[k] * dspread + turn * (highest[(k + 2) % 3] - highest[(k + 1) % 3])
            for k in range(3)
        ],
        -1,
    )


def _one_of(colors: list[Any], chosen: Any) -> list[Any]:
    """For each channel a mask of where it is the highest or the lowest of the three, and the first such."""
    r, g, b = colors
    most = chosen(chosen(r, g), b)
    first = tf.equal(r, most)
    second = tf.logical_and(tf.equal(g, most), tf.logical_not(first))
    return [tf.cast(mask, r.dtype) for mask in (first, second, tf.logical_not(tf.logical_or(first, second)))]


@op("HSVToRGB", kernel=_to_rgb, shape=same)
def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """RGB images of hue, saturation and value.

    Args:
        images: floats in [0, 1], with three channels in the last dimension.

    Raises:
        InvalidArgumentError: there are not three channels.

    Example:
        >>> tf.image.hsv_to_rgb([[0.0, 1.0, 0.5]]).numpy().tolist()
        [[0.5, 0.0, 0.0]]
    """


@hsv_to_rgb.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    """Of `((share - 1) * saturation + 1) * value`, where shares rise and fall in sectors of the hue, see `_shares`."""
    hue, saturation, value = tf.unstack(call.inputs[0], 3, -1)
    sector = hue * 6.0
    dhue, dsaturation, dvalue = [], [], []
    for dcolor, middle, sign in zip(tf.unstack(dy, 3, -1), (3.0, 2.0, 4.0), (1.0, -1.0, -1.0), strict=True):
        rising = sign * tf.abs(sector - middle) - (1.0 if sign > 0 else -2.0)
        share = tf.clip_by_value(rising, 0.0, 1.0)
        turns = tf.cast(tf.logical_and(rising > 0.0, rising < 1.0), hue.dtype) * tf.sign(sector - middle) * (6.0 * sign)
        dhue.append(dcolor * saturation * value * turns)
        dsaturation.append(dcolor * (share - 1.0) * value)
        dvalue.append(dcolor * ((share - 1.0) * saturation + 1.0))
    return tf.stack([sum(dhue), sum(dsaturation), sum(dvalue)], -1)


def _check_image(images: torch.Tensor) -> None:
    if images.ndim < 3:
        raise invalid(f"input must be at least 3-D, got shape{text(TensorShape(images.shape))}")
    if images.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


def _turned(images: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    _check_image(images)
    check_scalar(delta, "delta")
    hue = (_to_hsv(images)[..., 0] + delta.to(images.dtype)).remainder(1)
    low, high = images.amin(-1), images.amax(-1)
    return torch.stack([low + share * (high - low) for share in _shares(hue)], -1)


@op("AdjustHue", kernel=_turned, shape=same)
def turn_hue(images: Any, delta: Any, name: str | None = None) -> Any:
    """RGB images with `delta` turns of the colour circle added to their hue."""


def _saturated(images: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    _check_image(images)
    check_scalar(scale, "scale")
    hue, saturation, value = _to_hsv(images).unbind(-1)
    return _to_rgb(torch.stack([hue, (saturation * scale.to(images.dtype)).clamp(0, 1), value], -1))


@op("AdjustSaturation", kernel=_saturated, shape=same)
def scale_saturation(images: Any, scale: Any, name: str | None = None) -> Any:
    """RGB images with their saturation multiplied, and not more than 1."""


_YIQ = np.array([[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]])
_YUV = np.array([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]])

_FROM_YIQ = np.array([[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]])
_FROM_YUV = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def _times(images: Any, matrix: np.ndarray) -> Any:
    from tapeflow.linalg import tensordot

    images = convert_to_tensor(images)
    return tensordot(images, convert_to_tensor(matrix, images.dtype), [[images.shape.rank - 1], [0]])


def rgb_to_yiq(images: Any) -> Any:
    """RGB images in YIQ, the colours of NTSC television.

    Args:
        images: floats of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> float(tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]])[0, 0])
        1.0
    """
    return _times(images, _YIQ)


def yiq_to_rgb(images: Any) -> Any:
    """YIQ images in RGB.

    Args:
        images: floats of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> tf.image.yiq_to_rgb([[0.0, 0.0, 0.0]]).numpy().tolist()
        [[0.0, 0.0, 0.0]]
    """
    return _times(images, _FROM_YIQ)


def rgb_to_yuv(images: Any) -> Any:
    """RGB images in YUV, the colours of PAL television.

    Args:
        images: floats of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> float(tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]])[0, 0])
        1.0
    """
    return _times(images, _YUV)


def yuv_to_rgb(images: Any) -> Any:
    """YUV images in RGB.

    Args:
        images: floats of shape `[..., 3]`.

    Returns:
        A tensor of the same shape and dtype.

    Example:
        >>> tf.image.yuv_to_rgb([[0.0, 0.0, 0.0]]).numpy().tolist()
        [[0.0, 0.0, 0.0]]
    """
    return _times(images, _FROM_YUV)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """The brightness of RGB images, as one channel.

    Args:
        images: integers or floats of shape `[..., 3]`.

    Returns:
        A tensor of shape `[..., 1]` and the same dtype: `0.2989 r + 0.587 g + 0.114 b`.

    Example:
        >>> tf.image.rgb_to_grayscale([[[255, 255, 255]]]).numpy().tolist()
        [[[254]]]
    """
    from tapeflow.image.adjusting import convert_image_dtype
    from tapeflow.linalg import tensordot

    images = convert_to_tensor(images)
    floats = convert_image_dtype(images, "float32") if not images.dtype.is_floating else images
    weights = convert_to_tensor([0.2989, 0.5870, 0.1140], floats.dtype)
    gray = tensordot(floats, weights, [-1, -1])[..., None]
    return convert_image_dtype(gray, images.dtype)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Images of one channel, with three equal ones.

    Args:
        images: of shape `[..., 1]`.

    Returns:
        A tensor of shape `[..., 3]` and the same dtype.

    Example:
        >>> tf.image.grayscale_to_rgb([[[7]]]).numpy().tolist()
        [[[7, 7, 7]]]
    """
    from tapeflow.array.joining import concat

    images = convert_to_tensor(images)
    return concat([images] * 3, -1)
