"""Transforms of frames: the short-time Fourier transform and the modified discrete cosine transform."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow.array.concat_and_split import concat, split, tile
from tapeflow.array.creation import constant
from tapeflow.array.padding import pad, reverse
from tapeflow.array.reshapes import reshape
from tapeflow.array.unranked import with_joined_batch
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, float32, int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast
from tapeflow.math.comparison import less
from tapeflow.math.division import divide_no_nan
from tapeflow.math.elementwise import square
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_sum
from tapeflow.signal.cosine import dct
from tapeflow.signal.fourier import irfft, rfft
from tapeflow.signal.fourier_ops import length_of
from tapeflow.signal.frames import frame, overlap_and_add
from tapeflow.signal.windows import hann_window, vorbis_window


def _scalar_tensor(value: TensorLike) -> Any:
    """Returns the tensor of a scalar.

    Raises:
        ValueError: the value is not a scalar.
    """
    number = convert(value)
    number.shape.assert_has_rank(0)
    return number


def _power_of_two(frame_length: Tensor) -> Any:
    """Returns the length of transforms of frames by default: the next power of two, 0 for empty
    frames.

    Raises:
        ValueError: the frames' length is negative.
        TypeError: it is a bool.
    """
    length = host_static(host_value(frame_length))
    if isinstance(length, bool):
        raise TypeError("Cannot convert 1 to EagerTensor of dtype bool")
    if isinstance(length, int):
        if length < 0:
            raise ValueError("cannot convert float NaN to integer")  # the logarithm
        return 1 << (length - 1).bit_length() if length else 0
    powers = constant([1 << i for i in range(31)])
    return powers[reduce_sum(cast(less(powers, length), int32))]


def stft(
    signals: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes the short-time Fourier transform: the transforms of frames, each multiplied by a window.

    Args:
        signals: a float32 or float64 tensor of shape `[..., samples]`.
        frame_length: the number of samples in a frame, a scalar integer.
        frame_step: a scalar integer, the number of samples between the beginnings of successive frames.
        fft_length: the length of the transforms, a scalar integer; by default the next power of two.
        window_fn: `window_fn(frame_length, dtype=...)` returns the window; None for no window.
        pad_end: pads the signal for frames that end after it; see `tf.signal.frame`.

    Returns:
        A complex64 or complex128 tensor of shape `[..., frames, fft_length // 2 + 1]`.

    Raises:
        ValueError: `signals` is a scalar, or has another dtype.

    Example:
        >>> tf.signal.stft(tf.ones([16]), frame_length=8, frame_step=4).shape
        TensorShape([3, 5])
    """
    x = convert(signals)
    x.shape.with_rank_at_least(1)
    length, step = _scalar_tensor(frame_length), _scalar_tensor(frame_step)
    transformed_length = _power_of_two(length) if fft_length is None else convert(fft_length)
    frames = frame(x, length, step, pad_end=pad_end)
    if window_fn is not None:
        frames *= window_fn(length, dtype=frames.dtype)
    return rfft(frames, [transformed_length])


def inverse_stft_window_fn(
    frame_step: TensorLike, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Any]:
    """Returns a function that computes the window of `tf.signal.inverse_stft` to invert a `tf.signal.stft`.

    The window is the forward window divided by the sum of the squares of all windows that overlap there (D. Griffin and
    J. Lim, 1984).

    Args:
        frame_step: the step of the transform, a scalar integer.
        forward_window_fn: the window function of the transform.

    Returns:
        A function `window_fn(frame_length, dtype)`, which returns a tensor of shape `[frame_length]`.

    Raises:
        ValueError: the returned function raises it if a length is not a scalar.

    Example:
        >>> window = tf.signal.inverse_stft_window_fn(2)(4, tf.float32)
        >>> np.allclose(window, [0.0, 1.0, 1.0, 1.0])
        True
    """

    def inverse_window_fn(frame_length: TensorLike, dtype: DTypeLike = float32) -> Any:
        length, step = (host_static(host_value(_scalar_tensor(n))) for n in (frame_length, frame_step))
        window = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = pad(square(window), [[0, overlaps * step - length]])
        sums = reduce_sum(reshape(squares, [overlaps, step]), 0)
        return divide_no_nan(window, tile(sums, [overlaps])[:length])

    return inverse_window_fn


def inverse_stft(
    stfts: TensorLike,
    frame_length: TensorLike,
    frame_step: TensorLike,
    fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Computes the inverse short-time Fourier transform by adding overlapping frames.

    Args:
        stfts: a complex64 or complex128 tensor of shape `[..., frames, fft_length // 2 + 1]`.
        frame_length, frame_step, fft_length: scalars, the arguments of the transform to invert.
        window_fn: the function for the window to multiply frames by; `tf.signal.inverse_stft_window_fn` returns the one
            that inverts a transform. None for no window.

    Returns:
        A float32 or float64 tensor of shape `[..., samples]`.

    Raises:
        ValueError: `stfts` has fewer than two dimensions, or is not complex.

    Example:
        >>> x = tf.ones([16])
        >>> y = tf.signal.inverse_stft(tf.signal.stft(x, 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
        >>> np.allclose(x[4:-4], y[4:-4])
        True
    """
    x = convert(stfts)
    x.shape.with_rank_at_least(2)
    if x.shape.rank is None:
        return with_joined_batch(lambda y: inverse_stft(y, frame_length, frame_step, fft_length, window_fn), x, 2)
    scalar, step = _scalar_tensor(frame_length), _scalar_tensor(frame_step)
    transformed_length = _power_of_two(scalar) if fft_length is None else _scalar_tensor(fft_length)
    frames = irfft(x, [transformed_length])
    length = host_static(host_value(scalar))
    if isinstance(length, int) and length < 0:
        raise ValueError(f"Dimension {length} must be >= 0")
    missing = length - length_of(frames, -1)
    are_static = isinstance(missing, int)
    if not are_static or missing < 0:
        frames = frames[..., :length]
    if not are_static or missing > 0:
        frames = pad(frames, [[0, 0]] * (len(frames.shape) - 1) + [[0, missing if are_static else maximum(missing, 0)]])
    if window_fn is not None:
        frames *= window_fn(scalar, dtype=frames.dtype)
    return overlap_and_add(frames, step)


def mdct(
    signals: TensorLike,
    frame_length: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the modified discrete cosine transform of frames that overlap by half.

    Source: J. Princen and A. Bradley, "Analysis/synthesis filter bank design based on time domain aliasing
    cancellation", IEEE Transactions on Acoustics, Speech, and Signal Processing 34 (1986).

    Args:
        signals: a float32 or float64 tensor of shape `[..., samples]`.
        frame_length: a scalar, the number of samples in a frame, a multiple of 4.
        window_fn: `window_fn(frame_length, dtype=...)` returns the window; None for the constant `sqrt(1/2)`.
        pad_end: pads the signal for frames that end after it; see `tf.signal.frame`.
        norm: None, or "ortho" for an orthonormal transform.

    Returns:
        A tensor of shape `[..., frames, frame_length // 2]` and the same dtype.

    Raises:
        ValueError: the frame length is not a multiple of 4, or `signals` is a scalar.

    Example:
        >>> tf.signal.mdct(tf.ones([16]), frame_length=8).shape
        TensorShape([3, 4])
    """
    x = convert(signals)
    x.shape.with_rank_at_least(1)
    scalar = _scalar_tensor(frame_length)
    length = host_static(host_value(scalar))
    if length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    frames = frame(x, scalar, convert(length // 2, scalar.dtype), pad_end=pad_end)
    frames *= _mdct_window(window_fn, scalar, frames.dtype)
    a, b, c, d = split(frames, 4, axis=-1)
    folded = concat([-reverse(c, [-1]) - d, a - reverse(b, [-1])], -1)
    return dct(folded, type=4, norm=norm)


def _mdct_window(window_fn: Callable[..., Any] | None, length: Tensor, dtype: DType) -> Any:
    """Returns the window of the modified discrete cosine transform."""
    return constant(math.sqrt(0.5), dtype) if window_fn is None else window_fn(length, dtype=dtype)


def inverse_mdct(
    mdcts: TensorLike,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the inverse of `tf.signal.mdct`, except for the first and the last half frame.

    Args:
        mdcts: a float32 or float64 tensor of shape `[..., frames, frame_length // 2]`.
        window_fn, norm: the arguments of the transform to invert.

    Returns:
        A tensor of shape `[..., samples]` and the same dtype.

    Raises:
        ValueError: `mdcts` has fewer than two dimensions.

    Example:
        >>> x = tf.range(16.0)
        >>> np.allclose(x[4:-4], tf.signal.inverse_mdct(tf.signal.mdct(x, 8))[4:-4], atol=1e-4)
        True
    """
    x = convert(mdcts)
    x.shape.with_rank_at_least(2)
    half = x.shape[-1] if x.shape.rank else None
    if half is None:
        raise ValueError("None values not supported.")
    if half == 0:
        return reduce_sum(x, -2)
    unfolded = dct(x, type=4, norm=norm)
    if norm is None:
        unfolded *= 0.5 / half
    first, second = split(unfolded, 2, axis=-1)
    frames = concat([second, -reverse(second, [-1]), -reverse(first, [-1]), -first], -1)
    return overlap_and_add(frames * _mdct_window(window_fn, 2 * half, frames.dtype), half)
