"""The mel scale of pitch, and what speech recognition makes of it."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import as_dtype, float32
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.signal.cosine import dct, root_of_part
from tapeflow.signal.fourier_ops import length_of

# D. O'Shaughnessy, "Speech communication" (1987): mel(f) = 1127 log(1 + f / 700).
_MEL_BREAK_HERTZ = 700.0
_MEL_FACTOR = 1127.0


def _mel(hertz: Any) -> Any:
    return _MEL_FACTOR * tf.math.log(1.0 + hertz / _MEL_BREAK_HERTZ)


def _check(num_mel_bins: int, sample_rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower} >= upper_edge_hertz {upper}")
    if not isinstance(sample_rate, Tensor):
        if sample_rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
        if upper > sample_rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
                f"{upper} for sample_rate: {sample_rate}"
            )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """A matrix that takes spectrograms to the mel scale: `spectrograms @ matrix`.

    Each column is a triangle, as wide as two bands of equal width on the mel scale.

    Args:
        num_mel_bins: how many bands.
        num_spectrogram_bins: how many frequencies a spectrogram has, from 0 to half the sample rate.
        sample_rate: samples in a second.
        lower_edge_hertz, upper_edge_hertz: the range of the bands.
        dtype: a float dtype.

    Returns:
        A tensor of shape `[num_spectrogram_bins, num_mel_bins]`.

    Raises:
        ValueError: the range is empty or goes beyond half the sample rate, or a number is not positive.

    Example:
        >>> tf.signal.linear_to_mel_weight_matrix(num_mel_bins=40).shape
        TensorShape([129, 40])
    """
    dtype = as_dtype(dtype)
    _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
    half_rate = tf.cast(sample_rate, dtype) / 2.0
    bins = tf.expand_dims(_mel(tf.linspace(tf.zeros([], dtype), half_rate, num_spectrogram_bins)[1:]), 1)
    edges = tf.linspace(
        _mel(tf.constant(lower_edge_hertz, dtype)), _mel(tf.constant(upper_edge_hertz, dtype)), num_mel_bins + 2
    )
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (bins - lower) / (center - lower), (upper - bins) / (upper - center)
    weights = tf.maximum(tf.zeros([], dtype), tf.minimum(rising, falling))
    return tf.pad(weights, [[1, 0], [0, 0]])  # frequency 0 belongs to no band


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Any:
    """Mel frequency cepstral coefficients, as HTK computes them: a scaled cosine transform.

    Args:
        log_mel_spectrograms: float32 or float64, of shape `[..., num_mel_bins]`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: there are no bins.
        InvalidArgumentError: it is a scalar.

    Example:
        >>> np.allclose(tf.signal.mfccs_from_log_mel_spectrograms([1.0, 1.0]), [2.0, 0.0], atol=1e-6)
        True
    """
    x = convert(log_mel_spectrograms)
    if x.shape.rank == 0:
        raise invalid("log_mel_spectrograms must have one dimension at least")
    if x.shape[-1] == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {log_mel_spectrograms}")
    return dct(x, type=2) * root_of_part(0.5, length_of(x, -1), x.dtype)
