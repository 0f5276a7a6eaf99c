"""Fourier transforms of real numbers, with lengths, norms and shifts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tapeflow as tf
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.types.dtypes import DType, complex64, complex128, float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.signal import fourier_ops as ops
from tapeflow.signal.fourier_ops import length_of


def _real_input(x: Any, name: str, rank: int) -> Any:
    x = convert(x, hint=float32)
    if x.dtype not in (float32, float64):
        raise ValueError(f"{name} requires tf.float32 or tf.float64 inputs, got: {x}")
    x.shape.with_rank_at_least(rank)
    return x


def _complex_input(x: Any, name: str, rank: int) -> Any:
    x = convert(x, hint=complex64)
    if x.dtype not in (complex64, complex128):
        raise ValueError(f"{name} requires tf.complex64 or tf.complex128 inputs, got: {x}")
    x.shape.with_rank_at_least(rank)
    return x


def _complex_of(dtype: DType) -> DType:
    return complex128 if dtype is float64 else complex64


def _whole(half: Any) -> Any:
    """The length of a real signal, of whose transform there are so many elements."""
    return max(0, 2 * (half - 1)) if isinstance(half, int) else tf.maximum(0, 2 * (half - 1))


def _rfft(x: Any, fft_length: Any, rank: int, name: str, op_name: str | None) -> Any:
    x = _real_input(x, name, rank)
    whole = fft_length is None
    if whole:
        fft_length = [length_of(x, a) for a in range(-rank, 0)]
    if not isinstance(x, SymbolicTensor):
        return ops.RFFT[rank](x, fft_length, _complex_of(x.dtype), op_name)
    with tf.name_scope(op_name or name.lower()) as scope:
        given = x if whole else _long_enough(x, fft_length, rank)
        return ops.RFFT[rank](given, fft_length, _complex_of(x.dtype), scope)


def _irfft(x: Any, fft_length: Any, rank: int, name: str, op_name: str | None) -> Any:
    x = _complex_input(x, name, rank)
    if fft_length is None:
        fft_length = [length_of(x, a) for a in range(-rank, 0)]
        fft_length[-1] = _whole(fft_length[-1])
    if not isinstance(x, SymbolicTensor):
        return ops.IRFFT[rank](x, fft_length, x.dtype.real_dtype, op_name)
    with tf.name_scope(op_name or name.lower()) as scope:
        given = _long_enough(x, fft_length, rank, half=True)
        return ops.IRFFT[rank](given, fft_length, x.dtype.real_dtype, scope)


def _long_enough(x: Any, fft_length: Any, rank: int, half: bool = False) -> Any:
    """The input with zeros after it as far as a transform of these lengths needs them.

    TensorFlow's kernels take no shorter input, so that a graph has to have the padding; ours need none.
    """
    known = isinstance(fft_length, (list, tuple)) and not any(isinstance(n, Tensor) for n in fft_length)
    lengths = [int(n) for n in fft_length] if known else tf.unstack(tf.convert_to_tensor(fft_length), rank)
    if half:
        lengths[-1] = lengths[-1] // 2 + 1
    given = [length_of(x, a) for a in range(-rank, 0)]
    missing = [_missing(n, d) for n, d in zip(lengths, given, strict=True)]
    if not any(isinstance(m, Tensor) for m in missing) and x.shape.rank is not None:
        return tf.pad(x, [[0, 0]] * (x.shape.rank - rank) + [[0, m] for m in missing]) if any(missing) else x
    after = tf.stack([[0, m] for m in missing])
    outer = tf.rank(x) - rank if x.shape.rank is None else x.shape.rank - rank
    return tf.pad(x, tf.concat([tf.zeros(tf.stack([outer, 2]), tf.int32), after], 0))


def _missing(wanted: Any, length: Any) -> Any:
    if isinstance(wanted, int) and isinstance(length, int):
        return max(0, wanted - length)
    return tf.maximum(0, wanted - length)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The discrete Fourier transform of real numbers, over the last dimension.

    Args:
        input_tensor: float32 or float64, of shape `[..., n]`.
        fft_length: the length to which it is cut off or continued with zeros, as a list of one number.

    Returns:
        A complex tensor of shape `[..., fft_length // 2 + 1]`; the other elements would be conjugates of these.

    Raises:
        ValueError: the input is a scalar, or of another dtype.
        InvalidArgumentError: `fft_length` is not of shape `[1]`.

    Example:
        >>> tf.signal.rfft([1.0, 0.0, 0.0, 0.0]).numpy().tolist()
        [(1+0j), (1+0j), (1+0j)]
    """
    return _rfft(input_tensor, fft_length, 1, "RFFT", name)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The same as `tf.signal.rfft` over the last two dimensions; `fft_length` is a list of two numbers.

    Args:
        input_tensor: real, of rank 2 or more.
        fft_length: the lengths that the dimensions are cut off or continued with zeros to; by default as they are.

    Returns:
        A complex tensor.

    Raises:
        ValueError: the rank is less, or the dtype another.
        InvalidArgumentError: `fft_length` is not of shape `[2]`.

    Example:
        >>> np.allclose(tf.signal.rfft2d(tf.ones([2, 2])), np.fft.rfft2(np.ones([2, 2])))
        True
    """
    return _rfft(input_tensor, fft_length, 2, "RFFT2D", name)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The same as `tf.signal.rfft` over the last three dimensions; `fft_length` is a list of three numbers.

    Args:
        input_tensor: real, of rank 3 or more.
        fft_length: the lengths that the dimensions are cut off or continued with zeros to; by default as they are.

    Returns:
        A complex tensor.

    Raises:
        ValueError: the rank is less, or the dtype another.
        InvalidArgumentError: `fft_length` is not of shape `[3]`.

    Example:
        >>> np.allclose(tf.signal.rfft3d(tf.ones([2, 2, 2])), np.fft.rfftn(np.ones([2, 2, 2])))
        True
    """
    return _rfft(input_tensor, fft_length, 3, "RFFT3D", name)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The inverse of `tf.signal.rfft`.

    Args:
        input_tensor: complex, of shape `[..., m]`.
        fft_length: the length of the result, as a list of one number; `2 * (m - 1)` by default. The input is cut off or
            continued with zeros to `fft_length // 2 + 1` elements.

    Returns:
        A real tensor of shape `[..., fft_length]`.

    Raises:
        ValueError: the input is a scalar, or of another dtype.
        InvalidArgumentError: `fft_length` is not of shape `[1]`.

    Example:
        >>> tf.signal.irfft([1 + 0j, 1, 1]).numpy().tolist()
        [1.0, 0.0, 0.0, 0.0]
    """
    return _irfft(input_tensor, fft_length, 1, "IRFFT", name)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The inverse of `tf.signal.rfft2d`; `fft_length` is a list of two numbers.

    Args:
        input_tensor: complex, of rank 2 or more.
        fft_length: the lengths that the dimensions of the result have; by default as they are, the last one even.

    Returns:
        A real tensor.

    Raises:
        ValueError: the rank is less, or the dtype another.
        InvalidArgumentError: `fft_length` is not of shape `[2]`.

    Example:
        >>> np.allclose(tf.signal.irfft2d(tf.ones([2, 2], tf.complex64)), np.fft.irfft2(np.ones([2, 2])))
        True
    """
    return _irfft(input_tensor, fft_length, 2, "IRFFT2D", name)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """The inverse of `tf.signal.rfft3d`; `fft_length` is a list of three numbers.

    Args:
        input_tensor: complex, of rank 3 or more.
        fft_length: the lengths that the dimensions of the result have; by default as they are, the last one even.

    Returns:
        A real tensor.

    Raises:
        ValueError: the rank is less, or the dtype another.
        InvalidArgumentError: `fft_length` is not of shape `[3]`.

    Example:
        >>> np.allclose(tf.signal.irfft3d(tf.ones([2, 2, 2], tf.complex64)), np.fft.irfftn(np.ones([2, 2, 2])))
        True
    """
    return _irfft(input_tensor, fft_length, 3, "IRFFT3D", name)


# ---- over any dimensions ---------------------------------------------------------------------------------------------


def _lengths_and_axes(x: Any, fft_length: Any, axes: Any, is_half: bool) -> tuple[list[Any], list[int]]:
    """The dimensions to transform (the last ones by default), and their lengths (as they are by default).

    What is not known while a graph is built is a scalar tensor.
    """
    rank = len(x.shape)
    fft_length = host_value(fft_length)
    if isinstance(fft_length, tf.Tensor):
        fft_length = tf.unstack(fft_length)
    if axes is None:
        axes = range(-len(fft_length), 0) if fft_length is not None else range(-rank, 0)
    axes = [int(a) for a in host_value(axes)]
    if fft_length is None:
        fft_length = [length_of(x, a) for a in axes]
        if is_half:
            fft_length[-1] = _whole(fft_length[-1])
    return [n if isinstance(n, tf.Tensor) else int(n) for n in fft_length], axes


def _factor(norm: str | None, lengths: Sequence[Any], inverse: bool) -> Any:
    """What to multiply by, as the transforms divide by the number of elements in the inverse."""
    if norm in ("ortho", "forward"):
        count: Any = math.prod(lengths)
        count = tf.cast(count, float64) if isinstance(count, tf.Tensor) else float(count)
        by = count**0.5 if norm == "ortho" else count
        return by if inverse else 1.0 / by
    if norm not in (None, "backward"):
        raise ValueError(f"Unknown normalization. Expected None, 'backward', 'ortho' or 'forward', got: {norm}")
    return 1.0


def _scaled(x: Any, by: Any) -> Any:
    if isinstance(by, tf.Tensor):
        return x * tf.cast(by, x.dtype)
    return x if by == 1.0 else x * by


def fftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Any:
    """The discrete Fourier transform of some dimensions.

    Args:
        input_tensor: complex.
        fft_length: a length for each of these dimensions, to which it is cut off or continued with zeros.
        axes: the dimensions; by default all, or the last ones, as many as `fft_length` has lengths.
        norm: what is divided: "backward" (or None) the inverse transform by the number of elements, "forward" this one,
            "ortho" both by its square root.

    Returns:
        A complex tensor.

    Raises:
        InvalidArgumentError: there are no such dimensions.
        ValueError: there is no such norm.

    Example:
        >>> tf.signal.fftnd(tf.constant([[1 + 0j, 1], [1, 1]])).numpy().tolist()
        [[(4+0j), 0j], [0j, 0j]]
    """
    x = _complex_input(input_tensor, "FFTND", 1)
    lengths, axes = _lengths_and_axes(x, fft_length, axes, is_half=False)
    return _scaled(ops.fftnd(x, lengths, axes, name), _factor(norm, lengths, inverse=False))


def ifftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Any:
    """The inverse of `tf.signal.fftnd`.

    Args:
        input_tensor: complex.
        fft_length, axes, norm: as for `tf.signal.fftnd`.

    Raises:
        InvalidArgumentError: there are no such dimensions.
        ValueError: there is no such norm, or the dtype is another.

    Example:
        >>> tf.signal.ifftnd(tf.constant([[4 + 0j, 0], [0, 0]])).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    x = _complex_input(input_tensor, "IFFTND", 1)
    lengths, axes = _lengths_and_axes(x, fft_length, axes, is_half=False)
    return _scaled(ops.ifftnd(x, lengths, axes, name), _factor(norm, lengths, inverse=True))


def rfftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Any:
    """The same as `tf.signal.fftnd` of real numbers; the last dimension of `axes` has `length // 2 + 1` elements.

    Args:
        input_tensor: real.
        fft_length, axes, norm: as for `tf.signal.fftnd`.

    Raises:
        InvalidArgumentError: there are no such dimensions.
        ValueError: there is no such norm, or the dtype is another.

    Example:
        >>> tf.signal.rfftnd(tf.constant([[1.0, 1.0], [1.0, 1.0]])).numpy().tolist()
        [[(4+0j), 0j], [0j, 0j]]
    """
    x = _real_input(input_tensor, "RFFTND", 1)
    lengths, axes = _lengths_and_axes(x, fft_length, axes, is_half=False)
    return _scaled(ops.rfftnd(x, lengths, axes, _complex_of(x.dtype), name), _factor(norm, lengths, inverse=False))


def irfftnd(
    input_tensor: Any, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Any:
    """The inverse of `tf.signal.rfftnd`; `fft_length` has the lengths of the result.

    Args:
        input_tensor: complex.
        fft_length, axes, norm: as for `tf.signal.fftnd`.

    Raises:
        InvalidArgumentError: there are no such dimensions.
        ValueError: there is no such norm, or the dtype is another.

    Example:
        >>> tf.signal.irfftnd(tf.constant([[4 + 0j, 0], [0, 0]])).numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    x = _complex_input(input_tensor, "IRFFTND", 1)
    lengths, axes = _lengths_and_axes(x, fft_length, axes, is_half=True)
    return _scaled(ops.irfftnd(x, lengths, axes, x.dtype.real_dtype, name), _factor(norm, lengths, inverse=True))


# ---- shifts ----------------------------------------------------------------------------------------------------------


def _shift(x: Any, axes: Any, sign: int) -> Any:
    x = convert(x)
    rank = len(x.shape)
    axes = range(rank) if axes is None else host_value(axes)
    axes = [axes] if isinstance(axes, int) else list(axes)
    for a in axes:
        if not -rank <= a < rank:
            raise tf.errors.InvalidArgumentError(None, None, f"there is no dimension {a} in a tensor of rank {rank}")
    lengths = tf.shape(x) if None in x.shape.as_list() else x.shape.as_list()
    shifts = [lengths[a] // 2 if sign > 0 else -(lengths[a] // 2) for a in axes]
    return tf.roll(x, shifts, axes)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Moves the zero frequency to the middle.

    Args:
        x: of any numeric dtype.
        axes: the dimensions; all by default.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy().tolist()
        [-2, -1, 0, 1, 2]
    """
    return _shift(x, axes, 1)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """The inverse of `tf.signal.fftshift`; of odd lengths it is another shift.

    Example:
        >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy().tolist()
        [0, 1, 2, -2, -1]
    """
    return _shift(x, axes, -1)
