"""Transforms of frames: the short-time Fourier transform and the modified cosine transform."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.types.dtypes import float32
from tapeflow.signal.cosine import dct
from tapeflow.signal.fourier import irfft, rfft
from tapeflow.signal.framing import frame, overlap_and_add
from tapeflow.signal.windows import hann_window, vorbis_window


def _enclosing_power_of_two(value: int) -> int:
    return 1 << max(0, value - 1).bit_length()


def _scalar(value: Any) -> int:
    """The number in a scalar.

    Raises:
        ValueError: it is none.
    """
    number = convert(value)
    number.shape.assert_has_rank(0)
    return host_value(number)


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """The short-time Fourier transform: that of frames, each times a window.

    Args:
        signals: float32 or float64, of shape `[..., samples]`.
        frame_length: the length of a frame.
        frame_step: from the beginning of a frame to that of the next.
        fft_length: the length of the transforms; by default the next power of two.
        window_fn: `window_fn(frame_length, dtype=...)` gives the window; None for none.
        pad_end: whether the last frames go beyond the end; see `tf.signal.frame`.

    Returns:
        A complex tensor of shape `[..., frames, fft_length // 2 + 1]`.

    Raises:
        ValueError: `signals` is a scalar, or of another dtype.

    Example:
        >>> tf.signal.stft(tf.ones([16]), frame_length=8, frame_step=4).shape
        TensorShape([3, 5])
    """
    signals = convert(signals)
    signals.shape.with_rank_at_least(1)
    frame_length, frame_step = _scalar(frame_length), _scalar(frame_step)
    fft_length = _enclosing_power_of_two(frame_length) if fft_length is None else _scalar(fft_length)
    frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        frames *= window_fn(frame_length, dtype=frames.dtype)
    return rfft(frames, [fft_length])


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Any]:
    """The window with which `tf.signal.inverse_stft` undoes a `tf.signal.stft`.

    It is the forward window divided by the sum of the squares of all that overlap there (D. Griffin and J. Lim, 1984).

    Args:
        frame_step: that of the transform.
        forward_window_fn: the window of the transform.

    Returns:
        A function `window_fn(frame_length, dtype)`.

    Example:
        >>> window = tf.signal.inverse_stft_window_fn(2)(4, tf.float32)
        >>> np.allclose(window, [0.0, 1.0, 1.0, 1.0])
        True
    """

    def inverse_window_fn(frame_length: Any, dtype: Any = float32) -> Any:
        length, step = _scalar(frame_length), _scalar(frame_step)
        window = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = tf.pad(tf.square(window), [[0, overlaps * step - length]])
        sums = tf.reduce_sum(tf.reshape(squares, [overlaps, step]), 0)
        return window / tf.tile(sums, [overlaps])[:length]

    return inverse_window_fn


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Any:
    """The inverse short-time Fourier transform, by adding up overlapping frames.

    Args:
        stfts: complex, of shape `[..., frames, fft_length // 2 + 1]`.
        frame_length, frame_step, fft_length: those of the transform.
        window_fn: the window to multiply frames by; `tf.signal.inverse_stft_window_fn` gives the one that undoes a
            transform.

    Returns:
        A real tensor of shape `[..., samples]`.

    Raises:
        ValueError: `stfts` has less than two dimensions, or is not complex.

    Example:
        >>> x = tf.ones([16])
        >>> y = tf.signal.inverse_stft(tf.signal.stft(x, 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
        >>> np.allclose(x[4:-4], y[4:-4])
        True
    """
    stfts = convert(stfts)
    stfts.shape.with_rank_at_least(2)
    frame_length, frame_step = _scalar(frame_length), _scalar(frame_step)
    fft_length = _enclosing_power_of_two(frame_length) if fft_length is None else _scalar(fft_length)
    frames = irfft(stfts, [fft_length])
    if fft_length > frame_length:
        frames = frames[..., :frame_length]
    elif fft_length < frame_length:
        frames = tf.pad(frames, [[0, 0]] * (len(frames.shape) - 1) + [[0, frame_length - fft_length]])
    if window_fn is not None:
        frames *= window_fn(frame_length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The modified discrete cosine transform of frames that overlap by half (J. Princen and A. Bradley, 1986).

    Args:
        signals: float32 or float64, of shape `[..., samples]`.
        frame_length: the length of a frame, a multiple of 4.
        window_fn: `window_fn(frame_length, dtype=...)` gives the window; None for the constant `sqrt(1/2)`.
        pad_end: whether the last frames go beyond the end; see `tf.signal.frame`.
        norm: None, or "ortho" for an orthonormal transform.

    Returns:
        A tensor of shape `[..., frames, frame_length // 2]`.

    Raises:
        ValueError: the frame length is no multiple of 4, or `signals` is a scalar.

    Example:
        >>> tf.signal.mdct(tf.ones([16]), frame_length=8).shape
        TensorShape([3, 4])
    """
    signals = convert(signals)
    signals.shape.with_rank_at_least(1)
    frame_length = _scalar(frame_length)
    if frame_length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    frames = frame(signals, frame_length, frame_length // 2, pad_end=pad_end)
    frames *= _window(window_fn, frame_length, frames.dtype)
    a, b, c, d = tf.split(frames, 4, axis=-1)
    folded = tf.concat([-tf.reverse(c, [-1]) - d, a - tf.reverse(b, [-1])], -1)
    return dct(folded, type=4, norm=norm)


def _window(window_fn: Callable[..., Any] | None, length: int, dtype: Any) -> Any:
    return tf.constant(math.sqrt(0.5), dtype) if window_fn is None else window_fn(length, dtype=dtype)


def inverse_mdct(
    mdcts: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The inverse of `tf.signal.mdct`; the first and last half frame are not restored.

    Args:
        mdcts: of shape `[..., frames, frame_length // 2]`.
        window_fn, norm: those of the transform.

    Returns:
        A tensor of shape `[..., samples]`.

    Raises:
        ValueError: `mdcts` has less than two dimensions.

    Example:
        >>> x = tf.range(16.0)
        >>> np.allclose(x[4:-4], tf.signal.inverse_mdct(tf.signal.mdct(x, 8))[4:-4], atol=1e-4)
        True
    """
    mdcts = convert(mdcts)
    mdcts.shape.with_rank_at_least(2)
    half = mdcts.shape[-1]
    unfolded = dct(mdcts, type=4, norm=norm)
    if norm is None:
        unfolded *= 0.5 / half
    first, second = tf.split(unfolded, 2, axis=-1)
    frames = tf.concat([second, -tf.reverse(second, [-1]), -tf.reverse(first, [-1]), -first], -1)
    return overlap_and_add(frames * _window(window_fn, 2 * half, frames.dtype), half)
