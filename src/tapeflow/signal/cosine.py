"""Discrete cosine transforms, by Fourier transforms (J. Makhoul, 1980)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import constant, zeros_like
from tapeflow.array.creation import range as range_of
from tapeflow.array.masks import where
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, complex64, complex128, float16, float32, float64
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal
from tapeflow.math.complex import complex as complex_of
from tapeflow.math.complex import real
from tapeflow.math.elementwise import exp, sqrt
from tapeflow.signal.fourier import irfft, rfft
from tapeflow.signal.fourier_ops import length_of, resize_axes


def _check_transform(type: int, n: int | None, axis: int, norm: str | None) -> None:
    """Checks the arguments of `dct` and `idct`."""
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def dct(
    input: TensorLike,
    type: int = 2,
    n: TensorLike | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the discrete cosine transform over the last dimension, of N elements `x`.

    Type 1 is `x[0] + (-1)^k x[N-1] + 2 sum(x[n] cos(pi k n / (N - 1)))`, type 2 `2 sum(x[n] cos(pi k (2n + 1) / 2N))`,
    type 3 `x[0] + 2 sum(x[n] cos(pi (2k + 1) n / 2N))`, and type 4 `2 sum(x[n] cos(pi (2k + 1) (2n + 1) / 4N))`.

    Args:
        input: a float32 or float64 tensor [..., n].
        type: 1, 2, 3 or 4; 2 by default.
        n: an int. The last dimension is truncated or padded with zeros to this length; by default, it keeps its length.
        axis: must be -1, the default.
        norm: None, or "ortho" for an orthonormal transform, which type 1 does not have.

    Returns:
        A tensor of the same dtype and shape, with `n` elements in the last dimension.

    Raises:
        ValueError: the type or the norm is unknown, or the dimension is too short.
        NotImplementedError: `axis` is not -1.
        TypeError: the input has another dtype.

    Example:
        >>> np.allclose(tf.signal.dct([1.0, 1.0], norm="ortho"), [2**0.5, 0.0], atol=1e-6)
        True
    """
    length = host_value(n)
    _check_transform(type, length, axis, norm)
    x = convert(input)
    if x.dtype not in (float32, float64):
        wrong = f"dct requires tf.float32 or tf.float64 inputs, got: {x.dtype!r}"
        if x.dtype is float16 and (type == 1 or state.graph is not None):  # Range refuses float16 in graphs
            raise ValueError(wrong)
        raise TypeError(wrong)
    if length is not None:
        x = resize_axes(x, [len(x.shape) - 1], [length])  # the rank must be static here
    if type == 4 and x.shape.rank is None:
        raise ValueError("Cannot take the length of shape with unknown rank.")
    count = length_of(x, -1)
    if type == 1:
        if x.shape[-1] in (0, 1):
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
        return real(rfft(concat([x, x[..., -2:0:-1]], -1)))
    if type == 2:
        return _second_type(x, count, norm)
    if type == 3:
        return _third_type(x, count, norm)
    y = _second_type(resize_axes(x, [-1], [2 * count]), 2 * count, None)[..., 1::2]
    return y * root_of_part(0.5, count, x.dtype) if norm == "ortho" else y


# Below, a count is an int, or a scalar tensor if it is not static.


def root_of_part(part: float, count: Tensor | int, dtype: DType) -> Any:
    """Computes `sqrt(part / count)`."""
    if isinstance(count, Tensor):
        return sqrt(part / cast(count, dtype))
    return math.sqrt(part / count) if count else math.inf


def _first_and_others(first: TensorLike, others: TensorLike, count: Tensor | int, dtype: DType) -> Any:
    """Returns a vector of `count` numbers: the first one, and others that are equal.

    Raises:
        InvalidArgumentError: there is no first one.
    """
    if isinstance(count, Tensor):
        return where(equal(range_of(count), 0), first, others)
    if not count:
        raise invalid("Paddings must be non-negative: 0 -1 [Op:PadV2] name: ")
    factors = np.full(count, others)
    factors[:1] = first
    return constant(factors, dtype)


def _half_turns(count: Tensor | int, sign: int, dtype: DType) -> Any:
    """Returns twice the numbers `exp(sign * 1j * pi * k / 2N)`."""
    complex_dtype = complex64 if dtype is float32 else complex128
    if isinstance(count, Tensor):
        symbolic = sign * 0.5 * np.pi * cast(range_of(count), float64) / cast(count, float64)
        return cast(2.0 * exp(complex_of(zeros_like(symbolic), symbolic)), complex_dtype)
    angles = sign * 0.5 * np.pi * np.arange(count) / count
    return constant(2.0 * np.exp(1j * angles), complex_dtype)


def _second_type(x: Tensor, count: Tensor | int, norm: str | None) -> Any:
    """Computes the transform of type 2."""
    y = real(rfft(x, [2 * count])[..., :count] * _half_turns(count, -1, x.dtype))
    if norm == "ortho":
        y *= _first_and_others(root_of_part(0.25, count, x.dtype), root_of_part(0.5, count, x.dtype), count, x.dtype)
    return y


def _third_type(x: Tensor, count: Tensor | int, norm: str | None) -> Any:
    """Computes the transform of type 3."""
    if norm == "ortho":
        size = cast(count, x.dtype) if isinstance(count, Tensor) else float(count)
        x *= _first_and_others(size**0.5, (0.5 * size) ** 0.5, count, x.dtype)
    else:
        x *= cast(count, x.dtype)
    return irfft(_half_turns(count, 1, x.dtype) * complex_of(x, zeros_like(x)), [2 * count])[..., :count]


def idct(
    input: TensorLike,
    type: int = 2,
    n: TensorLike | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the inverse discrete cosine transform over the last dimension.

    Types 1 and 4 are their own inverses, and types 2 and 3 are inverse to each other. Without a norm, the result is the
    original times `2N` (type 1: times `2 (N - 1)`).

    Args:
        input: a float32 or float64 tensor [..., n].
        type: 1, 2, 3 or 4, the type of the transform to invert; 2 by default.
        n: an int. The last dimension is truncated or padded with zeros to this length; by default, it keeps its length.
        axis: must be -1, the default.
        norm: None, or "ortho" for an orthonormal transform, which type 1 does not have.

    Returns:
        A tensor of the same dtype and shape, with `n` elements in the last dimension.

    Raises:
        ValueError: the type or the norm is unknown, or the dimension is too short.
        NotImplementedError: `axis` is not -1.
        TypeError: the input has another dtype.

    Example:
        >>> np.allclose(tf.signal.idct(tf.signal.dct([1.0, 3.0], norm="ortho"), norm="ortho"), [1.0, 3.0])
        True
    """
    _check_transform(type, host_value(n), axis, norm)
    return dct(input, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, axis, norm, name)
