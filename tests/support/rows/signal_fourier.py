"""Rows of `tapeflow/signal/fourier.py`, `fourier_ops.py` and `cosine.py`."""

import numpy as np
import scipy.fft

import tapeflow as tf
from op_table import COMPLEX, NUMBERS, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError
SINGLE = {"float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5)}  # sums of many terms that cancel


def transforms(name, rank, function):
    """The row of a transform of complex numbers over the last dimensions."""
    axes = tuple(range(-rank, 0))
    short = tuple(range(2, 1 + rank))
    return Row(
        f"signal.{name}",
        [sample(rand(*(4, 3, 5)[:rank])), sample(rand(2, *(3, 4, 2)[:rank])), sample(rand(2, *(3, 0, 2)[-rank:]))],
        lambda x: function(x, axes=axes) if x.size else x, COMPLEX, gradient=False, tolerance=SINGLE,
        bad=[(sample(np.ones(short, np.complex64)), Invalid, f"Input must have rank of at least {rank} but got"),
             (sample(tf.ones([2, 2, 2], tf.float64)), Invalid, "Value for attr 'Tcomplex' of double")],
    )  # fmt: skip


def real_transforms(rank):
    lengths = [sample(rand(2, *shape), list(n)) for shape, n in (((3, 4, 5), (3, 6, 4)), ((4, 3, 2), (2, 3, 3)))]
    return [sample(rand(*(4, 3, 5)[:rank])), sample(rand(2, *(3, 4, 6)[:rank])), *[
        (( np.ascontiguousarray(x[(slice(None),) + (0,) * (3 - rank)]), n[3 - rank:]), kw) for (x, n), kw in lengths
    ]]  # fmt: skip


def rfft(rank):
    axes = tuple(range(-rank, 0))
    return lambda x, n=None: np.fft.rfftn(x, n, axes)


def real_row(name, rank):
    wrong = [(sample(tf.ones([4, 4, 4], tf.complex64)), ValueError, "requires tf.float32 or tf.float64 inputs"),
             (sample(1.0), ValueError, f"Shape () must have rank at least {rank}"),
             (sample(np.ones([4, 4, 4]), [4] * (rank + 1)), Invalid, f"fft_length must have shape [{rank}]"),
             (sample(np.ones([4, 4, 4]), [-1] * rank), Invalid, "fft_length must be non-negative")]  # fmt: skip
    return Row(f"signal.{name}", real_transforms(rank), rfft(rank), ("float64",), result="complex128",
               gradient=False, bad=wrong)  # fmt: skip


def inverse_row(name, rank):
    axes = tuple(range(-rank, 0))
    wrong = [
        (sample(tf.ones([4, 4, 4])), ValueError, "requires tf.complex64 or tf.complex128 inputs"),
        (sample(1 + 0j), ValueError, f"Shape () must have rank at least {rank}"),
        (sample(np.ones([4, 4, 4], np.complex64), [4] * (rank + 1)), Invalid, "fft_length must have shape"),
    ]
    return Row(f"signal.{name}", real_transforms(rank), lambda x, n=None: np.fft.irfftn(x, n, axes), ("complex128",),
               result="float64", gradient=False, bad=wrong)  # fmt: skip


def dct(x, type=2, n=None, norm=None):
    if type == 1 or norm is None:
        return scipy.fft.dct(x, type, n)
    return scipy.fft.dct(x, type, n, norm="ortho")


def idct(x, type=2, n=None, norm=None):
    return dct(x, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, norm)


COSINES = [sample(rand(*shape), type=t) for t in (1, 2, 3, 4) for shape in ((5,), (2, 4))]
COSINES += [sample(rand(2, 5), type=t, norm="ortho") for t in (2, 3, 4)]
COSINES += [sample(rand(5), type=t, n=n) for t in (1, 2, 3, 4) for n in (3, 8)]
NO_COSINE = [
    (sample([1.0, 2.0], type=5), ValueError, "Types I, II, III and IV (I)DCT are supported."),
    (sample([1.0, 2.0], type=1, norm="ortho"), ValueError, "Normalization is not supported for the Type-I DCT."),
    (sample([1.0, 2.0], norm="other"), ValueError, "Unknown normalization. Expected None or 'ortho', got: other"),
    (sample([1.0], type=1), ValueError, "Type-I DCT requires the dimension to be greater than one."),
    (sample([1.0, 2.0], n=0), ValueError, "n should be a positive integer or None"),
    (sample([1.0, 2.0], axis=0), NotImplementedError, "axis must be -1. Got: 0"),
    (sample([1, 2]), TypeError, "requires tf.float32 or tf.float64 inputs"),
]

ROWS = [
    transforms("fft", 1, np.fft.fftn),
    transforms("ifft", 1, np.fft.ifftn),
    transforms("fft2d", 2, np.fft.fftn),
    transforms("ifft2d", 2, np.fft.ifftn),
    transforms("fft3d", 3, np.fft.fftn),
    transforms("ifft3d", 3, np.fft.ifftn),
    real_row("rfft", 1),
    real_row("rfft2d", 2),
    real_row("rfft3d", 3),
    inverse_row("irfft", 1),
    inverse_row("irfft2d", 2),
    inverse_row("irfft3d", 3),
    Row("signal.fftnd", [
        sample(rand(2, 3, 4)), sample(rand(2, 3, 4), axes=[0, 2]), sample(rand(2, 3, 4), fft_length=[4, 2]),
        sample(rand(2, 3, 4), fft_length=[4, 2], axes=[2, 0]), sample(rand(2, 3), norm="ortho"),
        sample(rand(2, 3), norm="forward"), sample(rand(2, 3), norm="backward"),
    ], lambda x, fft_length=None, axes=None, norm=None: np.fft.fftn(x, fft_length, axes or (
        range(-len(fft_length), 0) if fft_length else None), norm), COMPLEX, gradient=False, tolerance=SINGLE, bad=[
        (sample(np.ones([2, 2], np.complex64), axes=[5]), IndexError, "out of range"),
        (sample(np.ones([2, 2], np.complex64), [2], axes=[5]), Invalid, "Input must have the dimensions (5,)"),
        (sample(np.ones([2, 2], np.complex64), axes=[0, 0]), Invalid, "axes must be unique"),
        (sample(np.ones([2, 2], np.complex64), [2], axes=[0, 1]), Invalid, "fft_length must have shape [2]"),
        (sample(np.ones([2, 2], np.complex64), norm="other"), ValueError, "Unknown normalization"),
    ]),
    Row("signal.ifftnd", [sample(rand(2, 3, 4)), sample(rand(2, 3, 4), axes=[0, 2]), sample(rand(2, 3), norm="ortho"),
                          sample(rand(2, 3), norm="forward")],
        lambda x, axes=None, norm=None: np.fft.ifftn(x, None, axes, norm), COMPLEX, gradient=False, tolerance=SINGLE),
    Row("signal.rfftnd", [sample(rand(2, 3, 4)), sample(rand(2, 3, 4), axes=[2, 0]), sample(rand(2, 3), norm="ortho"),
                          sample(rand(2, 3), norm="forward")],
        lambda x, axes=None, norm=None: np.fft.rfftn(x, None, axes, norm), ("float64",), result="complex128",
        gradient=False),
    Row("signal.irfftnd", [sample(rand(2, 3, 4)), sample(rand(2, 3, 4), axes=[2, 0]), sample(rand(2, 3), norm="ortho"),
                           sample(rand(2, 3), norm="forward"), sample(rand(2, 3), fft_length=[2, 5], axes=[0, 1])],
        lambda x, fft_length=None, axes=None, norm=None: np.fft.irfftn(x, fft_length, axes, norm), ("complex128",),
        result="float64", gradient=False),
    Row("signal.fftshift", [sample(rand(5)), sample(rand(2, 3, 4)), sample(rand(2, 3), axes=1),
                            sample(rand(2, 3), axes=[0, -1])],
        np.fft.fftshift, NUMBERS, bad=[(sample([1, 2], axes=5), Invalid, "there is no dimension 5")]),
    Row("signal.ifftshift", [sample(rand(5)), sample(rand(2, 3, 4)), sample(rand(2, 3), axes=1)],
        np.fft.ifftshift, NUMBERS, bad=[(sample([1, 2], axes=5), Invalid, "there is no dimension 5")]),
    Row("signal.dct", COSINES, dct, WIDE_FLOATS, tolerance={"float32": (1e-5, 2e-5)}, bad=NO_COSINE),
    Row("signal.idct", COSINES, idct, WIDE_FLOATS, tolerance={"float32": (1e-5, 2e-5)}, bad=NO_COSINE),
    Row("fftnd", [sample(rand(2, 3, 4), [3, 4], [1, 2])], lambda x, n, axes: np.fft.fftn(x, n, axes), COMPLEX,
        gradient=False, tolerance=SINGLE),
    Row("ifftnd", [sample(rand(2, 3, 4), [3, 4], [1, 2])], lambda x, n, axes: np.fft.ifftn(x, n, axes), COMPLEX,
        gradient=False, tolerance=SINGLE),
    Row("rfftnd", [sample(rand(2, 3, 4), [3, 4], [1, 2], tf.complex128)],
        lambda x, n, axes, _: np.fft.rfftn(x, n, axes), ("float64",), result="complex128", gradient=False),
    Row("irfftnd", [sample(rand(2, 3, 4), [3, 6], [1, 2], tf.float64)], lambda x, n, axes, _: np.fft.irfftn(x, n, axes),
        ("complex128",), result="float64", gradient=False),
]  # fmt: skip
