"""The ops of discrete Fourier transforms.

The transform is `y[k] = sum(x[n] * exp(-2j * pi * k * n / N))`; its inverse has the other sign and the factor `1 / N`.
Up to that factor each is the adjoint of the other, and so its gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import tapeflow as tf
from tapeflow.core.autodiff.gradients import shape_of, size_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.definition import registry
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import complex64, float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid


def _at_least(rank: int) -> Callable[..., TensorShape]:
    """The shape rule of a transform over the last `rank` dimensions."""

    def rule(x: TensorShape) -> TensorShape:
        if x.rank is not None and x.rank < rank:
            raise invalid(f"Input must have rank of at least {rank} but got: {text(x)}")
        return x

    return rule


def _transform(rank: int, inverse: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    """The kernel of a transform over the last `rank` dimensions."""
    axes = tuple(range(-rank, 0))
    over_axes = torch.fft.ifftn if inverse else torch.fft.fftn

    def kernel(x: torch.Tensor) -> torch.Tensor:
        return over_axes(x, dim=axes) if x.numel() else x.clone()

    return kernel


def _count(x: Any, axes: Sequence[int]) -> Any:
    """How many elements a transform of `x` over `axes` takes together, as a number of its dtype."""
    lengths = [shape_of(x)[a] for a in axes]
    if None in lengths:
        return tf.cast(tf.reduce_prod(tf.gather(tf.shape(x), [a % len(shape_of(x)) for a in axes])), x.dtype)
    return float(math.prod(lengths))


@op("FFT", kernel=_transform(1, inverse=False), shape=_at_least(1))
def fft(input: Any, name: str | None = None) -> Any:
    """The discrete Fourier transform of the last dimension.

    Args:
        input: complex64 or complex128.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: it is a scalar, or not complex.

    Example:
        >>> tf.signal.fft([1 + 0j, 0, 0, 0]).numpy().tolist()
        [(1+0j), (1+0j), (1+0j), (1+0j)]
    """


@op("IFFT", kernel=_transform(1, inverse=True), shape=_at_least(1))
def ifft(input: Any, name: str | None = None) -> Any:
    """The inverse discrete Fourier transform of the last dimension. See `tf.signal.fft`.

    Args:
        input: complex64 or complex128, of rank 1 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> tf.signal.ifft([4 + 0j, 0, 0, 0]).numpy().tolist()
        [(1+0j), (1+0j), (1+0j), (1+0j)]
    """


@op("FFT2D", kernel=_transform(2, inverse=False), shape=_at_least(2))
def fft2d(input: Any, name: str | None = None) -> Any:
    """The discrete Fourier transform of the last two dimensions. See `tf.signal.fft`.

    Args:
        input: complex64 or complex128, of rank 2 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.fft2d(tf.ones([2, 2], tf.complex64)), np.fft.fft2(np.ones([2, 2])))
        True
    """


@op("IFFT2D", kernel=_transform(2, inverse=True), shape=_at_least(2))
def ifft2d(input: Any, name: str | None = None) -> Any:
    """The inverse discrete Fourier transform of the last two dimensions. See `tf.signal.fft`.

    Args:
        input: complex64 or complex128, of rank 2 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.ifft2d(tf.ones([2, 2], tf.complex64)), np.fft.ifft2(np.ones([2, 2])))
        True
    """


@op("FFT3D", kernel=_transform(3, inverse=False), shape=_at_least(3))
def fft3d(input: Any, name: str | None = None) -> Any:
    """The discrete Fourier transform of the last three dimensions. See `tf.signal.fft`.

    Args:
        input: complex64 or complex128, of rank 3 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.fft3d(tf.ones([2, 2, 2], tf.complex64)), np.fft.fftn(np.ones([2, 2, 2])))
        True
    """


@op("IFFT3D", kernel=_transform(3, inverse=True), shape=_at_least(3))
def ifft3d(input: Any, name: str | None = None) -> Any:
    """The inverse discrete Fourier transform of the last three dimensions. See `tf.signal.fft`.

    Args:
        input: complex64 or complex128, of rank 3 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.ifft3d(tf.ones([2, 2, 2], tf.complex64)), np.fft.ifftn(np.ones([2, 2, 2])))
        True
    """


def _are_adjoint(forward: Any, backward: Any, rank: int) -> None:
    axes = tuple(range(-rank, 0))

    @forward.gradient()
    def _(call: Call, dy: Any) -> Any:
        return backward(dy) * _count(dy, axes)

    @backward.gradient()
    def _(call: Call, dy: Any) -> Any:
        return forward(dy) / _count(dy, axes)


_are_adjoint(fft, ifft, 1)
_are_adjoint(fft2d, ifft2d, 2)
_are_adjoint(fft3d, ifft3d, 3)

# ---- over any dimensions, with lengths -------------------------------------------------------------------------------


def _check_lengths(x: TensorShape, fft_length: Any, axes: Any) -> None:
    if len(fft_length) != len(axes):
        raise invalid(f"fft_length must have shape [{len(axes)}], a length for each dimension, not {fft_length}")
    if any(n is not None and n < 0 for n in fft_length):
        raise invalid(f"fft_length must be non-negative, not {fft_length}")
    if x.rank is not None:
        if any(not -x.rank <= a < x.rank for a in axes):
            raise invalid(f"Input must have the dimensions {axes} but got: {text(x)}")
        if len({a % x.rank for a in axes}) != len(axes):
            raise invalid(f"axes must be unique, not {axes}")


def _nd_rule(x: TensorShape, fft_length: Any, axes: Any, last: Callable[[Any], Any] = lambda n: n) -> TensorShape:
    if isinstance(fft_length, Tensor):  # not known while a graph is built
        fft_length = (None,) * len(axes)
    elif not isinstance(fft_length, tuple) or None not in fft_length:
        _check_lengths(x, fft_length, axes)
    if x.rank is None:
        return x
    shape = x.as_list()
    for a, n in zip(axes, fft_length, strict=True):
        shape[a] = n
    shape[axes[-1]] = last(fft_length[-1])
    return TensorShape(shape)


def _half(n: int | None) -> int | None:
    """How many of a real transform's elements are not the conjugate of another."""
    return n // 2 + 1 if n else n


def _nd_kernel(over_axes: Any, last: Callable[[Any], Any] = lambda n: n) -> Any:
    def kernel(x: torch.Tensor, fft_length: Any, axes: Any, dtype: Any = None) -> torch.Tensor:
        if len(fft_length) == len(axes) and min(fft_length) > 0 and x.numel():
            return over_axes(x, s=fft_length, dim=axes)
        shape = _nd_rule(TensorShape(x.shape), fft_length, axes, last).as_list()
        return x.new_zeros([int(d or 0) for d in shape], dtype=x.dtype if dtype is None else dtype.torch)

    return kernel


def length_of(x: Any, axis: int) -> Any:
    """The length of a dimension: a number, or a scalar tensor where it is not known while a graph is built."""
    length = x.shape[axis]
    return tf.shape(x)[axis] if length is None else length


def resized(x: Any, axes: Sequence[int], lengths: Sequence[Any]) -> Any:
    """The tensor cut off, or continued with zeros, to new lengths of some dimensions."""
    shape = tuple(shape_of(x))
    key, paddings = [slice(None)] * len(shape), [[0, 0] for _ in shape]
    for a, n in zip(axes, lengths, strict=True):
        if isinstance(n, Tensor) or isinstance(shape[a], Tensor):
            key[a] = slice(0, n)
            paddings[a][1] = tf.maximum(0, n - shape[a])
            continue
        if n < shape[a]:
            key[a] = slice(0, n)
        paddings[a][1] = max(0, n - shape[a])
    if any(k.start is not None for k in key):
        x = x[tuple(key)]
    return tf.pad(x, paddings) if any(isinstance(after, Tensor) or after for _, after in paddings) else x


@op("FFTND", kernel=_nd_kernel(torch.fft.fftn), host=("fft_length", "axes"), shape=_nd_rule)
def fftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Any:
    """The discrete Fourier transform of some dimensions, which are cut off or continued with zeros to given lengths.

    Args:
        input: complex64 or complex128.
        fft_length: a length for each dimension of `axes`.
        axes: the dimensions.

    Raises:
        InvalidArgumentError: there are no such dimensions.

    Example:
        >>> tf.fftnd(tf.constant([[1 + 0j, 0], [0, 0]]), [2, 2], [0, 1]).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """


@fftnd.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    fft_length, axes = call.attrs
    dx = ifftnd(dy, fft_length, axes) * float(math.prod(fft_length))
    return resized(dx, axes, [call.shape(0)[a] for a in axes])


@op("IFFTND", kernel=_nd_kernel(torch.fft.ifftn), host=("fft_length", "axes"), shape=_nd_rule)
def ifftnd(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Any:
    """The inverse of `tf.fftnd`.

    Args:
        input: complex64 or complex128.
        fft_length: a length for each dimension of `axes`.
        axes: the dimensions.

    Raises:
        InvalidArgumentError: there are no such dimensions.

    Example:
        >>> tf.ifftnd(tf.constant([[4 + 0j, 0], [0, 0]]), [2, 2], [0, 1]).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """


@ifftnd.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    fft_length, axes = call.attrs
    dx = fftnd(dy, fft_length, axes) / float(math.prod(fft_length))
    return resized(dx, axes, [call.shape(0)[a] for a in axes])


def _rfft_gradient(call: Call, dy: Any, fft_length: Any, axes: Any) -> Any:
    """Of a real transform: that of the full one, where the elements left out get zeros."""
    full = resized(dy, [axes[-1]], [fft_length[-1]])
    dx = tf.math.real(_inverse(full, fft_length, axes)) * tf.cast(size_of(_lengths(fft_length, axes)), call.dtype(0))
    return resized(dx, axes, [call.shape(0)[a] for a in axes])


def _inverse(x: Any, fft_length: Any, axes: Any) -> Any:
    """The inverse transform of dimensions of these lengths, of the last ones by an op that TensorFlow has on CPUs."""
    if not _are_last(axes, len(shape_of(x))):
        return ifftnd(x, fft_length, axes)
    return registry[f"IFFT{len(axes)}D" if len(axes) > 1 else "IFFT"].function(x)


def _real(x: Any, fft_length: Any, axes: Any, dtype: Any) -> Any:
    """The transform of real numbers, likewise."""
    if not _are_last(axes, len(shape_of(x))):
        return rfftnd(x, fft_length, axes, dtype)
    return RFFT[len(axes)](x, fft_length, dtype)


def _are_last(axes: Any, rank: int) -> bool:
    return len(axes) <= 3 and [a % rank for a in axes] == list(range(rank - len(axes), rank))


def _lengths(fft_length: Any, axes: Any) -> list[Any]:
    return [fft_length[i] for i in range(len(axes))]


def _irfft_gradient(call: Call, dy: Any, fft_length: Any, axes: Any) -> Any:
    """Of the inverse: elements that stand for their conjugates, too, count twice."""
    dtype = call.dtype(0)
    n = fft_length[-1]
    if isinstance(fft_length, Tensor):
        k = tf.range(n // 2 + 1)
        once = tf.cast(tf.logical_or(tf.equal(k, 0), tf.equal(2 * k, n)), dtype.real_dtype)
        twice = (2.0 - once) / tf.cast(size_of(_lengths(fft_length, axes)), dtype.real_dtype)
        rank = len(call.shape(0))
        weights = tf.reshape(tf.cast(twice, dtype), [-1] + [1] * (rank - 1 - axes[-1] % rank))
        return resized(_real(dy, fft_length, axes, dtype) * weights, axes, [call.shape(0)[a] for a in axes])
    twice = np.full(n // 2 + 1 if n else 0, 2.0)
    twice[:1] = 1.0
    if n % 2 == 0:
        twice[-1:] = 1.0
    shape = [1] * len(call.shape(0))
    shape[axes[-1]] = len(twice)
    weights = tf.constant((twice / math.prod(fft_length)).reshape(shape), dtype)
    dx = _real(dy, fft_length, axes, dtype) * weights
    return resized(dx, axes, [call.shape(0)[a] for a in axes])


@op("RFFTND", kernel=_nd_kernel(torch.fft.rfftn, _half), host=("fft_length", "axes"),
    shape=lambda x, n, axes, *_: _nd_rule(x, n, axes, _half))  # fmt: skip
def rfftnd(input: Any, fft_length: Any, axes: Any, Tcomplex: Any = complex64, name: str | None = None) -> Any:
    """The discrete Fourier transform of real numbers over some dimensions.

    Args:
        input: float32 or float64.
        fft_length: a length for each dimension of `axes`, to which it is cut off or continued with zeros.
        axes: the dimensions. Of the last one, the result has only the first `length // 2 + 1` elements.
        Tcomplex: the dtype of the result.

    Raises:
        InvalidArgumentError: there are no such dimensions.

    Example:
        >>> tf.rfftnd([[1.0, 0.0], [0.0, 0.0]], [2, 2], [0, 1]).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """


@rfftnd.gradient(needs="shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    return _rfft_gradient(call, dy, *call.attrs[:2])


@op("IRFFTND", kernel=_nd_kernel(torch.fft.irfftn), host=("fft_length", "axes"), shape=lambda *a: _nd_rule(*a[:3]))
def irfftnd(input: Any, fft_length: Any, axes: Any, Treal: Any = float32, name: str | None = None) -> Any:
    """The inverse of `tf.rfftnd`; `Treal` is the dtype of the result.

    Args:
        input: complex64 or complex128.
        fft_length: a length for each dimension of `axes` of the result.
        axes: the dimensions.
        Treal: float32 or float64.

    Raises:
        InvalidArgumentError: there are no such dimensions.

    Example:
        >>> tf.irfftnd(tf.constant([[4 + 0j, 0], [0, 0]]), [2, 2], [0, 1]).numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """


@irfftnd.gradient(needs="shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    return _irfft_gradient(call, dy, *call.attrs[:2])


# ---- of real numbers, over the last dimensions -----------------------------------------------------------------------


def _real_transform(name: str, rank: int) -> Any:
    """The op RFFT, RFFT2D or RFFT3D."""
    axes = tuple(range(-rank, 0))
    kernel = _nd_kernel(torch.fft.rfftn, _half)

    @op(name, kernel=lambda x, n, dtype: kernel(x, n, axes, dtype), host=("fft_length",),
        shape=lambda x, n, *_: _nd_rule(x, n, axes, _half))  # fmt: skip
    def rfft(input: Any, fft_length: Any, Tcomplex: Any = complex64, name: str | None = None) -> Any:
        """The transform of real numbers over the last dimensions."""

    @rfft.gradient(needs="shapes dtypes")
    def _(call: Call, dy: Any) -> Any:
        return _rfft_gradient(call, dy, call.attrs[0], axes)

    return rfft


def _inverse_real_transform(name: str, rank: int) -> Any:
    """The op IRFFT, IRFFT2D or IRFFT3D."""
    axes = tuple(range(-rank, 0))
    kernel = _nd_kernel(torch.fft.irfftn)

    @op(name, kernel=lambda x, n, dtype: kernel(x, n, axes, dtype), host=("fft_length",),
        shape=lambda x, n, *_: _nd_rule(x, n, axes))  # fmt: skip
    def irfft(input: Any, fft_length: Any, Treal: Any = float32, name: str | None = None) -> Any:
        """The inverse transform to real numbers over the last dimensions."""

    @irfft.gradient(needs="shapes dtypes")
    def _(call: Call, dy: Any) -> Any:
        return _irfft_gradient(call, dy, call.attrs[0], axes)

    return irfft


RFFT = {1: _real_transform("RFFT", 1), 2: _real_transform("RFFT2D", 2), 3: _real_transform("RFFT3D", 3)}
IRFFT = {
    1: _inverse_real_transform("IRFFT", 1),
    2: _inverse_real_transform("IRFFT2D", 2),
    3: _inverse_real_transform("IRFFT3D", 3),
}
