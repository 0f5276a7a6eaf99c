"""Windows: the weights of the samples of a frame."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import constant, ones
from tapeflow.array.creation import range as range_of
from tapeflow.array.masks import where
from tapeflow.array.padding import reverse
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, float32, int32
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal
from tapeflow.math.cumulative import cumsum
from tapeflow.math.elementwise import exp, sqrt, square
from tapeflow.math.extrema import maximum
from tapeflow.math.special import bessel_i0e
from tapeflow.math.trigonometric import cos, sin


def _window_arguments(window_length: TensorLike, dtype: DTypeLike) -> tuple[Any, DType]:
    """Returns the length as an int (in a graph as a tensor), and the dtype."""
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}")
    length = convert(window_length, int32)
    length.shape.assert_has_rank(0)
    return int(length) if isinstance(length, EagerTensor) else length, dtype


def _raised_cosine(window_length: TensorLike, periodic: Any, dtype: DTypeLike, mean: float, amplitude: float) -> Any:
    """Returns the window `mean - amplitude * cos(2 pi n / N)`."""
    length, dtype = _window_arguments(window_length, dtype)
    if isinstance(length, int) and length == 1:
        return ones([1], dtype)
    periodic = convert(periodic, bool_)
    periodic.shape.assert_has_rank(0)
    whole: Any = cast(periodic, int32)
    if isinstance(whole, EagerTensor):
        whole = int(whole)
    # A periodic window is the symmetric window with one more sample. For odd lengths, TensorFlow ignores `periodic`.
    steps = length + whole * (1 - length % 2) - 1
    positions = cast(range_of(length), dtype)
    angles = constant(2 * math.pi, dtype) * positions / cast(steps, dtype)
    window = constant(mean, dtype) - constant(amplitude, dtype) * cos(angles)
    return window if isinstance(length, int) else where(equal(length, 1), constant(1, dtype), window)


def hann_window(
    window_length: TensorLike, periodic: TensorLike = True, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """Returns the Hann window: `0.5 - 0.5 cos(2 pi n / N)`.

    Args:
        window_length: the number of samples, a scalar integer.
        periodic: a scalar: True for a period of a periodic function (N is the length), False for a symmetric window (N
            is one less). Windows of odd lengths are always symmetric.
        dtype: a floating dtype; float32 by default.

    Returns:
        A tensor of shape `[window_length]` and dtype `dtype`.

    Raises:
        ValueError: `dtype` is not a floating dtype, or `window_length` is not a scalar.
        TypeError: `window_length` is not an integer.

    Example:
        >>> np.allclose(tf.signal.hann_window(4), [0.0, 0.5, 1.0, 0.5])
        True
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: TensorLike, periodic: TensorLike = True, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """Returns the Hamming window: `0.54 - 0.46 cos(2 pi n / N)`. See `tf.signal.hann_window`.

    Args:
        window_length: the number of samples, a scalar integer.
        periodic: a scalar: True for a period of a periodic function, False for a symmetric window.
        dtype: a floating dtype; float32 by default.

    Returns:
        A tensor of shape `[window_length]` and dtype `dtype`.

    Raises:
        ValueError: `dtype` is not a floating dtype, or `window_length` is not a scalar.
        TypeError: `window_length` is not an integer.

    Example:
        >>> tf.signal.hamming_window(4).numpy().round(2).tolist()
        [0.07999999821186066, 0.5400000214576721, 1.0, 0.5400000214576721]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def kaiser_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """Returns the Kaiser window: `I0(beta sqrt(1 - x^2)) / I0(beta)` for x from -1 to 1, with the Bessel function `I0`.

    Args:
        window_length: the number of samples, a scalar integer.
        beta: the shape parameter, a scalar; larger ones make the window narrower. The default is 12.0.
        dtype: a floating dtype; float32 by default.

    Returns:
        A tensor of shape `[window_length]` and dtype `dtype`.

    Raises:
        ValueError: `dtype` is not a floating dtype, or `window_length` is not a scalar.
        TypeError: `window_length` is not an integer.

    Example:
        >>> float(tf.signal.kaiser_window(5)[2])
        1.0
    """
    length, dtype = _window_arguments(window_length, dtype)
    if isinstance(length, int) and length == 1:
        return ones([1], dtype)
    half = cast(length - 1, dtype) / 2.0
    x = (cast(range_of(length), dtype) - half) / half
    peak = cast(beta, dtype)
    root = peak * sqrt(maximum(constant(0.0, dtype), 1.0 - square(x)))
    # The scaled Bessel function does not overflow.
    return exp(root - peak) * bessel_i0e(root) / bessel_i0e(peak)


def kaiser_bessel_derived_window(
    window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """Returns the Kaiser-Bessel derived window. The squares of its overlapping halves add up to 1.

    Args:
        window_length: the number of samples, a scalar integer; odd ones are rounded down to even ones.
        beta: the shape parameter, a scalar; larger ones make the window narrower. The default is 12.0.
        dtype: a floating dtype; float32 by default.

    Returns:
        A tensor of shape `[window_length]` and dtype `dtype`.

    Raises:
        ValueError: `dtype` is not a floating dtype, or `window_length` is not a scalar.
        TypeError: `window_length` is not an integer.

    Example:
        >>> window = tf.signal.kaiser_bessel_derived_window(4)
        >>> np.allclose(window[:2] ** 2 + window[2:] ** 2, 1.0)
        True
    """
    length, dtype = _window_arguments(window_length, dtype)
    sums = cumsum(kaiser_window(length // 2 + 1, beta, dtype))
    half = sqrt(sums[:-1] / sums[-1])
    return concat([half, reverse(half, [0])], 0)


def vorbis_window(window_length: TensorLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Returns the power complementary window of Vorbis: `sin(pi / 2 sin^2(pi (n + 1/2) / N))`.

    Args:
        window_length: the number of samples, a scalar integer.
        dtype: a floating dtype; float32 by default.

    Returns:
        A tensor of shape `[window_length]` and dtype `dtype`.

    Raises:
        ValueError: `dtype` is not a floating dtype, or `window_length` is not a scalar.
        TypeError: `window_length` is not an integer.

    Example:
        >>> window = tf.signal.vorbis_window(4)
        >>> np.allclose(window[:2] ** 2 + window[2:] ** 2, 1.0)
        True
    """
    length, dtype = _window_arguments(window_length, dtype)
    positions = cast(range_of(length), dtype) + 0.5
    angles = constant(math.pi, dtype) * positions / cast(length, dtype)
    return sin(constant(math.pi / 2, dtype) * square(sin(angles)))
