"""The mel scale of pitch, and features for speech recognition."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import constant, zeros
from tapeflow.array.padding import pad
from tapeflow.array.ranges import linspace
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.math.elementwise import log
from tapeflow.math.extrema import maximum, minimum
from tapeflow.signal.cosine import dct, root_of_part
from tapeflow.signal.fourier_ops import length_of

# D. O'Shaughnessy, "Speech communication" (1987): mel(f) = 1127 log(1 + f / 700).
_MEL_BREAK_HERTZ = 700.0
_MEL_FACTOR = 1127.0


def _hertz_to_mel(hertz: Any) -> Any:
    """Converts frequencies in hertz to the mel scale."""
    return _MEL_FACTOR * log(1.0 + hertz / _MEL_BREAK_HERTZ)


def _check_mel_arguments(num_mel_bins: int, sample_rate: Any, lower: float, upper: float, dtype: DType) -> None:
    """Checks the arguments of `linear_to_mel_weight_matrix`."""
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
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Returns a matrix that converts spectrograms to the mel scale: `spectrograms @ matrix`.

    Each column is a triangle, as wide as two bands of equal width on the mel scale.

    Args:
        num_mel_bins: an int, the number of bands; 20 by default.
        num_spectrogram_bins: the number of frequencies of a spectrogram, from 0 to half the sample rate; a scalar. The
            default is 129.
        sample_rate: samples per second, a scalar; 8000 by default.
        lower_edge_hertz, upper_edge_hertz: floats, the range of the bands, in hertz.
        dtype: a floating dtype; float32 by default.

    Returns:
        A tensor of shape `[num_spectrogram_bins, num_mel_bins]` and dtype `dtype`.

    Raises:
        ValueError: the range is empty or goes beyond half the sample rate, or a number is not positive.

    Example:
        >>> tf.signal.linear_to_mel_weight_matrix(num_mel_bins=40).shape
        TensorShape([129, 40])
    """
    dtype = as_dtype(dtype)
    _check_mel_arguments(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
    half_rate = cast(sample_rate, dtype) / 2.0
    bins = expand_dims(_hertz_to_mel(linspace(zeros([], dtype), half_rate, num_spectrogram_bins)[1:]), 1)
    edges = linspace(
        _hertz_to_mel(constant(lower_edge_hertz, dtype)),
        _hertz_to_mel(constant(upper_edge_hertz, dtype)),
        num_mel_bins + 2,
    )
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (bins - lower) / (center - lower), (upper - bins) / (upper - center)
    weights = maximum(zeros([], dtype), minimum(rising, falling))
    return pad(weights, [[1, 0], [0, 0]])  # frequency 0 belongs to no band


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """Computes mel frequency cepstral coefficients as HTK does: by a scaled cosine transform.

    Args:
        log_mel_spectrograms: a float32 or float64 tensor of shape `[..., num_mel_bins]`.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: there are no bins.
        InvalidArgumentError: the input is a scalar.

    Example:
        >>> np.allclose(tf.signal.mfccs_from_log_mel_spectrograms([1.0, 1.0]), [2.0, 0.0], atol=1e-6)
        True
    """
    spectrograms: Any = log_mel_spectrograms
    x = convert(spectrograms)
    if x.shape.rank == 0:
        raise invalid("log_mel_spectrograms must have one dimension at least")
    if x.shape[-1] == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {spectrograms}")
    return dct(x, type=2) * root_of_part(0.5, length_of(x, -1), x.dtype)
