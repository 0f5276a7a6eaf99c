"""Windows: how much each sample of a frame counts."""

from __future__ import annotations

import math
from typing import Any

import tapeflow as tf
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, as_dtype, float32
from tapeflow.core.values.tensor import EagerTensor


def _arguments(window_length: Any, dtype: Any) -> tuple[Any, DType]:
    """The length as a number (in a graph, a tensor), and the dtype."""
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}")
    length = convert(window_length)
    if not length.dtype.is_integer:
        raise TypeError(f"window_length must be an integer, not {window_length!r}")
    length.shape.assert_has_rank(0)
    return int(length) if isinstance(length, EagerTensor) else length, dtype


def _raised_cosine(window_length: Any, periodic: Any, dtype: Any, mean: float, amplitude: float) -> Any:
    length, dtype = _arguments(window_length, dtype)
    if isinstance(length, int) and length == 1:
        return tf.ones([1], dtype)
    # A periodic window is the symmetric one of a sample more; of odd lengths TensorFlow makes no difference.
    steps = length + int(bool(periodic)) * (1 - length % 2) - 1
    positions = tf.cast(tf.range(length), dtype)
    angles = tf.constant(2 * math.pi, dtype) * positions / tf.cast(steps, dtype)
    return tf.constant(mean, dtype) - tf.constant(amplitude, dtype) * tf.cos(angles)


def hann_window(window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None) -> Any:
    """The Hann window: `0.5 - 0.5 cos(2 pi n / N)`.

    Args:
        window_length: how many samples.
        periodic: whether it continues as a period (N is the length) or is symmetric (N is one less). Without effect on
            odd lengths, which are symmetric always.
        dtype: a float dtype.

    Returns:
        A tensor of shape `[window_length]`.

    Raises:
        ValueError: `dtype` is not a float dtype, or `window_length` no scalar.

    Example:
        >>> np.allclose(tf.signal.hann_window(4), [0.0, 0.5, 1.0, 0.5])
        True
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None) -> Any:
    """The Hamming window: `0.54 - 0.46 cos(2 pi n / N)`. See `tf.signal.hann_window`.

    Args:
        window_length: how many samples.
        periodic: whether it continues as a period, or is symmetric.
        dtype: a float dtype.

    Returns:
        A tensor of shape `[window_length]`.

    Raises:
        ValueError: `dtype` is not a float dtype, or `window_length` no scalar.

    Example:
        >>> tf.signal.hamming_window(4).numpy().round(2).tolist()
        [0.07999999821186066, 0.5400000214576721, 1.0, 0.5400000214576721]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def kaiser_window(window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None) -> Any:
    """The Kaiser window: `I0(beta sqrt(1 - x^2)) / I0(beta)` for x from -1 to 1, with the Bessel function `I0`.

    Args:
        window_length: how many samples.
        beta: how narrow it is.
        dtype: a float dtype.

    Returns:
        A tensor of shape `[window_length]`.

    Raises:
        ValueError: `dtype` is not a float dtype, or `window_length` no scalar.

    Example:
        >>> float(tf.signal.kaiser_window(5)[2])
        1.0
    """
    length, dtype = _arguments(window_length, dtype)
    if isinstance(length, int) and length == 1:
        return tf.ones([1], dtype)
    half = tf.cast(length - 1, dtype) / 2.0
    x = (tf.cast(tf.range(length), dtype) - half) / half
    beta = tf.cast(beta, dtype)
    root = beta * tf.sqrt(tf.maximum(tf.constant(0.0, dtype), 1.0 - tf.square(x)))
    # The scaled Bessel function does not overflow.
    return tf.exp(root - beta) * tf.math.bessel_i0e(root) / tf.math.bessel_i0e(beta)


def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None
) -> Any:
    """The Kaiser-Bessel derived window, whose squares in halves that overlap add up to 1, as the MDCT needs.

    Args:
        window_length: how many samples; the last one of an odd number is left out.
        beta: how narrow it is.
        dtype: a float dtype.

    Returns:
        A tensor of shape `[window_length]`.

    Raises:
        ValueError: `dtype` is not a float dtype, or `window_length` no scalar.

    Example:
        >>> window = tf.signal.kaiser_bessel_derived_window(4)
        >>> np.allclose(window[:2] ** 2 + window[2:] ** 2, 1.0)
        True
    """
    length, dtype = _arguments(window_length, dtype)
    sums = tf.cumsum(kaiser_window(length // 2 + 1, beta, dtype))
    half = tf.sqrt(sums[:-1] / sums[-1])
    return tf.concat([half, tf.reverse(half, [0])], 0)


def vorbis_window(window_length: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """Vorbis' power complementary window: `sin(pi / 2 sin^2(pi (n + 1/2) / N))`.

    Args:
        window_length: how many samples.
        dtype: a float dtype.

    Returns:
        A tensor of shape `[window_length]`.

    Raises:
        ValueError: `dtype` is not a float dtype, or `window_length` no scalar.

    Example:
        >>> window = tf.signal.vorbis_window(4)
        >>> np.allclose(window[:2] ** 2 + window[2:] ** 2, 1.0)
        True
    """
    length, dtype = _arguments(window_length, dtype)
    positions = tf.cast(tf.range(length), dtype) + 0.5
    angles = tf.constant(math.pi, dtype) * positions / tf.cast(length, dtype)
    return tf.sin(tf.constant(math.pi / 2, dtype) * tf.square(tf.sin(angles)))
