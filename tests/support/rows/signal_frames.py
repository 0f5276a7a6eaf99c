"""Rows of `tapeflow/signal/frames.py`, `windows.py`, `spectral.py` and `mel.py`."""

import numpy as np
import scipy.signal.windows as windows

import tapeflow as tf
from op_table import FLOATS, NUMBERS, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError


def frame(x, length, step, pad_end=False, pad_value=0, axis=-1):
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    count = -(-n // step) if pad_end else max(0, 1 + (n - length) // step)
    x = np.concatenate([x, np.full((*x.shape[:-1], length + step * count), pad_value, x.dtype)], -1)
    out = np.stack([x[..., i * step : i * step + length] for i in range(count)], -2) if count else (
        np.zeros((*x.shape[:-1], 0, length), x.dtype))  # fmt: skip
    axis %= x.ndim
    return np.moveaxis(out, [-2, -1], [axis, axis + 1])


def overlap_and_add(x, step):
    count, length = x.shape[-2:]
    out = np.zeros((*x.shape[:-2], (count - 1) * step + length), x.dtype)
    for i in range(count):
        out[..., i * step : i * step + length] += x[..., i, :]
    return out


def raised_cosine(function):
    def window(length, periodic=True):
        return function(length, sym=not periodic or length % 2 == 1)

    return window


def vorbis(length):
    return np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(length) + 0.5) / length) ** 2)


def kaiser_bessel(length, beta=12.0):
    sums = np.cumsum(windows.kaiser(length // 2 + 1, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([half, half[::-1]])


def mdct(x, length, window_fn=None, pad_end=False, norm=None):
    window = vorbis(length) if window_fn is None else np.sqrt(0.5) * np.ones(length)
    frames = frame(x, length, length // 2, pad_end) * window
    half = length // 2
    n, k = np.arange(length), np.arange(half)[:, None]
    basis = 2 * np.cos(np.pi / half * (n + 0.5 + half / 2) * (k + 0.5))
    return frames @ basis.T * (np.sqrt(0.5 / half) if norm == "ortho" else 1.0)


def stft(x, length, step, fft_length=None, window_fn=windows.hann, pad_end=False):
    frames = frame(x, length, step, pad_end)
    frames = frames * raised_cosine(windows.hann)(length) if window_fn is windows.hann else frames
    return np.fft.rfft(frames, fft_length or 2 ** int(np.ceil(np.log2(length))))


LENGTHS = [sample(n) for n in (1, 2, 5, 8)]
NO_WINDOW = [
    (sample(4, dtype=tf.int32), ValueError, "dtype must be a floating point type. Found"),
    (sample([2, 3]), ValueError, "must have rank 0"),
    (sample("a"), TypeError, "Cannot convert 'a' to EagerTensor of dtype int32"),
]


def window_row(name, samples, reference):
    return Row(f"signal.{name}", samples, reference, ("float32",), gradient=False, bad=NO_WINDOW,
               tolerance={"float32": (1e-5, 1e-6)})  # fmt: skip


ROWS = [
    Row("signal.frame", [
        sample(rand(8), 4, 2), sample(rand(2, 7), 3, 2), sample(rand(2, 7), 3, 2, pad_end=True),
        sample(rand(2, 7), 2, 4),
        sample(rand(7), 3, 3, pad_end=True, pad_value=3), sample(rand(6, 2), 2, 1, axis=0),
        sample(rand(2, 6, 3), 4, 2, axis=-2), sample(rand(3), 5, 1),
        sample(rand(3), 5, 1, pad_end=True), sample(rand(3), 0, 1), sample(rand(0), 1, 1),
    ], frame, NUMBERS, bad=[
        (sample([1, 2, 3], 2, 0), Invalid, "Integer division by zero"),
        (sample([1, 2, 3], -1, 1), Invalid, "Requires start <= limit when delta > 0: 0/-1"),
        (sample([1, 2, 3], 2.5, 1), Invalid, "cannot compute FloorDiv as input #1"),
        (sample(5.0, 2, 1), ValueError, "must have rank at least 1"),
        (sample([1, 2, 3], 2, 1, axis=3), IndexError, "there is no dimension 3"),
    ]),
    Row("signal.overlap_and_add", [
        sample(rand(3, 4), 2), sample(rand(2, 3, 5), 2), sample(rand(3, 2), 3), sample(rand(4, 3), 1),
        sample(rand(0, 4), 2),
    ], overlap_and_add, FLOATS + ("complex64", "int32"),
    tolerance={"float16": (5e-3, 5e-3), "bfloat16": (5e-2, 5e-2)}, bad=[
        (sample([1.0, 2.0], 1), ValueError, "must have rank at least 2"),
        (sample([[1.0, 2.0]], 1.5), ValueError, "frame_step must be an integer. Got 1.5"),
        (sample([[1.0, 2.0]], [1]), ValueError, "frame_step must be an integer. Got [1]"),
        (sample([[1.0, 2.0]], 0), Invalid, "frame_step must be positive"),
    ]),
    window_row("hann_window", [*LENGTHS, sample(6, periodic=False), sample(0)], raised_cosine(windows.hann)),
    window_row("hamming_window", [*LENGTHS, sample(6, periodic=False)], raised_cosine(windows.hamming)),
    window_row("kaiser_window", [sample(1), sample(4), sample(7, 5.0)],
               lambda n, beta=12.0: windows.kaiser(n, beta)),
    window_row("kaiser_bessel_derived_window", [sample(2), sample(8), sample(6, 5.0), sample(5)], kaiser_bessel),
    window_row("vorbis_window", LENGTHS, vorbis),
    Row("signal.mdct", [
        sample(rand(8), 4), sample(rand(2, 19), 8), sample(rand(10), 4, pad_end=True), sample(rand(8), 4, norm="ortho"),
    ], mdct, WIDE_FLOATS, tolerance={"float32": (2e-5, 2e-5)}, bad=[
        (sample([1.0] * 8, 6), ValueError, "The frame length must be a multiple of 4."),
        (sample([1.0] * 8, 4, norm="other"), ValueError, "Unknown normalization"),
        (sample(5.0, 4), ValueError, "must have rank at least 1"),
    ]),
    Row("signal.stft", [
        sample(rand(16), 4, 2), sample(rand(2, 15), 6, 3), sample(rand(15), 6, 3, fft_length=6),
        sample(rand(15), 4, 3, pad_end=True), sample(rand(15), 4, 3, window_fn=None),
    ], stft, ("float64",), result="complex128", gradient=False, bad=[
        (sample(5.0, 4, 2), ValueError, "must have rank at least 1"),
        (sample([1, 2, 3, 4], 2, 1), ValueError, "dtype must be a floating point type"),
    ]),
    Row("signal.mfccs_from_log_mel_spectrograms", [sample(rand(4)), sample(rand(2, 3, 5))], lambda x: (
        2 * np.einsum("...n,nk->...k", x, np.cos(np.pi / x.shape[-1] * np.outer(
            np.arange(x.shape[-1]) + 0.5, np.arange(x.shape[-1])))) / np.sqrt(2 * x.shape[-1])), WIDE_FLOATS,
        tolerance={"float32": (1e-5, 1e-5)}, bad=[
        (sample(np.ones([2, 0])), ValueError, "num_mel_bins must be positive"),
        (sample(5.0), Invalid, "one dimension at least"),
        (sample([1, 2]), TypeError, "requires tf.float32 or tf.float64"),
    ]),
    Row("signal.linear_to_mel_weight_matrix", [], bad=[
        (sample(0), ValueError, "num_mel_bins must be positive. Got: 0"),
        (sample(sample_rate=-1), ValueError, "sample_rate must be positive. Got: -1"),
        (sample(lower_edge_hertz=-1.0), ValueError, "lower_edge_hertz must be non-negative. Got: -1.0"),
        (sample(lower_edge_hertz=5000.0), ValueError, "lower_edge_hertz 5000.0 >= upper_edge_hertz 3800.0"),
        (sample(upper_edge_hertz=9000.0), ValueError, "must not be larger than the Nyquist frequency"),
        (sample(dtype=tf.int32), ValueError, "dtype must be a floating point type. Got"),
    ]),
]  # fmt: skip
