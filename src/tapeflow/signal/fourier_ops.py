"""The ops of discrete Fourier transforms.

The transform is `y[k] = sum(x[n] * exp(-2j * pi * k * n / N))`; its inverse has the other sign and the factor `1 / N`.
Up to that factor each is the adjoint of the other, and so its gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import constant
from tapeflow.array.creation import range as range_of
from tapeflow.array.padding import pad
from tapeflow.array.properties import shape as dynamic_shape
from tapeflow.array.reshapes import reshape
from tapeflow.core.autodiff.gradients import shape_of, size_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.batch_rules import Batch, Slices, behind, leading_dimensions, static
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import stated_dims, text, wholly_static, with_dimension, with_rank
from tapeflow.core.types.aliases import AxisLike, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, complex64, float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, logical_or
from tapeflow.math.complex import real
from tapeflow.math.extrema import maximum


def _rank_rule(rank: int) -> Callable[..., TensorShape]:
    """Returns the shape rule of a transform over the last `rank` dimensions."""

    def rule(x: TensorShape) -> TensorShape:
        if x.rank is not None and x.rank < rank:
            raise invalid(f"Input must have rank of at least {rank} but got: {text(x)}")
        return x

    return rule


def _transform_kernel(rank: int, inverse: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns the kernel of a transform over the last `rank` dimensions."""
    axes = tuple(range(-rank, 0))
    over_axes = torch.fft.ifftn if inverse else torch.fft.fftn

    def kernel(x: torch.Tensor) -> torch.Tensor:
        if x.ndim < rank:
            raise TypeError("the shape rule says what is wrong")
        return over_axes(x, dim=axes) if x.numel() else x.clone()

    return kernel


def _length_product(lengths: Iterable[Any], dtype: DType) -> Any:
    """Returns the product of lengths as a float. If a length is a tensor, it is a tensor of the dtype."""
    count = size_of(lengths)
    return cast(count, dtype) if isinstance(count, Tensor) else float(count)


@op("FFT", kernel=_transform_kernel(1, inverse=False), shape=_rank_rule(1), batching=leading_dimensions)
def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform over the last dimension.

    Args:
        input: a complex64 or complex128 tensor of rank 1 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the input is a scalar, or not complex.

    Example:
        >>> tf.signal.fft([1 + 0j, 0, 0, 0]).numpy().tolist()
        [(1+0j), (1+0j), (1+0j), (1+0j)]
    """


@op("IFFT", kernel=_transform_kernel(1, inverse=True), shape=_rank_rule(1), batching=leading_dimensions)
def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse discrete Fourier transform over the last dimension. See `tf.signal.fft`.

    Args:
        input: a complex64 or complex128 tensor of rank 1 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> tf.signal.ifft([4 + 0j, 0, 0, 0]).numpy().tolist()
        [(1+0j), (1+0j), (1+0j), (1+0j)]
    """


@op("FFT2D", kernel=_transform_kernel(2, inverse=False), shape=_rank_rule(2), batching=leading_dimensions)
def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform over the last two dimensions. See `tf.signal.fft`.

    Args:
        input: a complex64 or complex128 tensor of rank 2 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.fft2d(tf.ones([2, 2], tf.complex64)), np.fft.fft2(np.ones([2, 2])))
        True
    """


@op("IFFT2D", kernel=_transform_kernel(2, inverse=True), shape=_rank_rule(2), batching=leading_dimensions)
def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse discrete Fourier transform over the last two dimensions. See `tf.signal.fft`.

    Args:
        input: a complex64 or complex128 tensor of rank 2 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.ifft2d(tf.ones([2, 2], tf.complex64)), np.fft.ifft2(np.ones([2, 2])))
        True
    """


@op("FFT3D", kernel=_transform_kernel(3, inverse=False), shape=_rank_rule(3), batching=leading_dimensions)
def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform over the last three dimensions. See `tf.signal.fft`.

    Args:
        input: a complex64 or complex128 tensor of rank 3 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.fft3d(tf.ones([2, 2, 2], tf.complex64)), np.fft.fftn(np.ones([2, 2, 2])))
        True
    """


@op("IFFT3D", kernel=_transform_kernel(3, inverse=True), shape=_rank_rule(3), batching=leading_dimensions)
def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse discrete Fourier transform over the last three dimensions. See `tf.signal.fft`.

    Args:
        input: a complex64 or complex128 tensor of rank 3 or more.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: the rank is less, or the input is not complex.

    Example:
        >>> np.allclose(tf.signal.ifft3d(tf.ones([2, 2, 2], tf.complex64)), np.fft.ifftn(np.ones([2, 2, 2])))
        True
    """


def _declare_adjoint(forward: Any, backward: Any, rank: int) -> None:
    """Declares the gradients of a transform over the last `rank` dimensions and of its inverse."""

    def count(x: Tensor) -> Any:
        return _length_product([shape_of(x)[a] for a in range(-rank, 0)], x.dtype)

    forward.gradient()(lambda call, dy: backward(dy) * count(dy))
    backward.gradient()(lambda call, dy: forward(dy) / count(dy))


_INVERSES = {1: ifft, 2: ifft2d, 3: ifft3d}  # by their ranks
for _rank, _forward in ((1, fft), (2, fft2d), (3, fft3d)):
    _declare_adjoint(_forward, _INVERSES[_rank], _rank)

# ---- over any dimensions, with lengths -------------------------------------------------------------------------------


def _check_lengths(x: TensorShape, fft_length: Sequence[int], axes: Sequence[int]) -> None:
    """Checks the lengths and dimensions of a transform; those over any dimensions have no static shape where they are
    wrong."""
    if len(fft_length) != len(axes):
        raise invalid(f"fft_length must have shape [{len(axes)}], a length for each dimension, not {fft_length}")
    wrong = ""
    if any(n is not None and n < 0 for n in fft_length):
        wrong = f"fft_length must be non-negative, not {fft_length}"
    elif x.rank is not None and any(not -x.rank <= a < x.rank for a in axes):
        wrong = f"Input must have the dimensions {axes} but got: {text(x)}"
    elif x.rank is not None and len({a % x.rank for a in axes}) != len(axes):
        wrong = f"axes must be unique, not {axes}"
    if wrong:
        raise invalid(wrong) if state.graph is None else NotStatic(wrong)


def _are_ints(values: object) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(v, int) for v in values)


def _nd_rule(x: TensorShape, fft_length: Any, axes: Any, last: Callable[[Any], Any] = lambda n: n) -> TensorShape:
    """Returns the shape of a transform over `axes`; `last` gives the last of its lengths."""
    with_rank(x, -1)
    if not _are_ints(axes):
        return TensorShape(None if x.rank is None else [None] * x.rank)
    if fft_length is None or isinstance(fft_length, Tensor):
        fft_length = (None,) * len(axes)
    elif _are_ints(fft_length):
        _check_lengths(x, fft_length, axes)
    elif isinstance(fft_length, (list, tuple)):
        fft_length = tuple([n if isinstance(n, int) else None for n in fft_length])
    else:
        raise invalid(f"fft_length must have shape [{len(axes)}], not {fft_length}")
    if x.rank is None or not axes:
        return x
    shape = x.as_list()
    for a, n in zip(axes, fft_length, strict=True):
        if not -x.rank <= a < x.rank:
            raise invalid(f"axis {a} is out of range for a tensor of rank {x.rank}")
        shape[a] = n
    shape[axes[-1]] = last(fft_length[-1])
    return TensorShape(shape)


def _half_length(n: int | None) -> int | None:
    """Returns the number of elements of a real transform that are not the conjugate of another."""
    return int(n / 2) + 1 if n else n


def _over_last(rank: int, last: Callable[[Any], Any]) -> Callable[..., TensorShape]:
    """Returns the shape rule of a transform over the last dimensions; `last` gives the last of its lengths."""

    def rule(x: TensorShape, fft_length: Any, *_: Any) -> TensorShape:
        if state.graph is None:
            return _nd_rule(x, fft_length, tuple(range(-rank, 0)), last)
        x = with_rank(x, -rank)
        with_dimension(with_rank(fft_length, 1), 0, rank)
        if x.rank is None:
            return x
        lengths = [*fft_length[:-1], last(fft_length[-1])] if wholly_static(fft_length) else [-1] * rank
        return x[:-rank].concatenate(stated_dims(lengths))

    return rule


_BYTES_OF_POINT = 32  # padded, as a complex number, and transformed


def _nd_kernel(over_axes: Callable[..., Any], last: Callable[[Any], Any] = lambda n: n) -> Any:
    """Returns the kernel of a transform with lengths; without any elements, the result is zeros."""

    def kernel(
        x: torch.Tensor, fft_length: Sequence[int], axes: Sequence[int], dtype: DType | None = None
    ) -> torch.Tensor:
        if len(fft_length) == len(axes) and min(fft_length) > 0 and x.numel():
            rest = x.numel() // max(math.prod(x.shape[a] for a in axes), 1)
            check_memory([rest, *fft_length], _BYTES_OF_POINT)
            return over_axes(x, s=fft_length, dim=axes)
        shape = _nd_rule(TensorShape(x.shape), fft_length, axes, last).as_list()
        return x.new_zeros([int(d or 0) for d in shape], dtype=x.dtype if dtype is None else dtype.torch)

    return kernel


def length_of(x: Tensor, axis: int) -> Any:
    """Returns the length of a dimension: an int, or a scalar tensor if it is not static."""
    length = x.shape[axis]
    return dynamic_shape(x)[axis] if length is None else length


def resize_axes(x: Tensor, axes: Sequence[int], lengths: Sequence[Any]) -> Any:
    """Truncates a tensor, or pads it with zeros, to new lengths of some dimensions."""
    shape = tuple(shape_of(x))
    key: list[Any] = [slice(None)] * len(shape)
    paddings: list[Any] = [[0, 0] for _ in shape]
    for a, n in zip(axes, lengths, strict=True):
        if isinstance(n, Tensor) or isinstance(shape[a], Tensor):
            key[a] = slice(0, n)
            paddings[a][1] = maximum(n - shape[a], 0)
            continue
        if n < shape[a]:
            key[a] = slice(0, n)
        paddings[a][1] = max(0, n - shape[a])
    if any(k.start is not None for k in key):
        x = x[tuple(key)]
    return pad(x, paddings) if any(isinstance(after, Tensor) or after for _, after in paddings) else x


@op("FFTND", kernel=_nd_kernel(torch.fft.fftn), host=("fft_length", "axes"), shape=_nd_rule)
def fftnd(input: TensorLike, fft_length: ShapeLike, axes: AxisLike, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform over some dimensions, after truncating or padding them to lengths.

    Args:
        input: a complex64 or complex128 tensor with at least one dimension.
        fft_length: integers, the length of each dimension of `axes`.
        axes: integers, the dimensions.

    Returns:
        A tensor of the same dtype, with the lengths `fft_length` in the dimensions `axes`.

    Raises:
        InvalidArgumentError: a dimension does not exist or is repeated, or the lengths are not valid.

    Example:
        >>> tf.fftnd(tf.constant([[1 + 0j, 0], [0, 0]]), [2, 2], [0, 1]).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """


@fftnd.batching
def _transform_slices(batch: Batch, x: Slices, fft_length: Any, axes: Any, *attrs: Any) -> Any:
    return batch.run(x.value, static(fft_length), behind(static(axes)), *attrs)


@op("IFFTND", _nd_kernel(torch.fft.ifftn), host=("fft_length", "axes"), shape=_nd_rule, batching=_transform_slices)
def ifftnd(input: TensorLike, fft_length: ShapeLike, axes: AxisLike, name: str | None = None) -> Tensor:
    """Computes the inverse of `tf.fftnd`.

    Args:
        input: a complex64 or complex128 tensor with at least one dimension.
        fft_length: integers, the length of each dimension of `axes`.
        axes: integers, the dimensions.

    Returns:
        A tensor of the same dtype, with the lengths `fft_length` in the dimensions `axes`.

    Raises:
        InvalidArgumentError: a dimension does not exist or is repeated, or the lengths are not valid.

    Example:
        >>> tf.ifftnd(tf.constant([[4 + 0j, 0], [0, 0]]), [2, 2], [0, 1]).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """


@fftnd.gradient(needs="shapes")
@ifftnd.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    fft_length, axes = call.attrs
    count = _length_product(_axis_lengths(fft_length, axes), dy.dtype)
    is_forward = call.op is fftnd.op
    dx = ifftnd(dy, fft_length, axes) * count if is_forward else fftnd(dy, fft_length, axes) / count
    return _resized_to_input(dx, call, axes)


def _rfft_gradient(call: Call, dy: Any, fft_length: Any, axes: Any) -> Any:
    """Computes the gradient of a real transform by the gradient of the full transform, with zeros for omitted parts."""
    full = resize_axes(dy, [axes[-1]], [fft_length[-1]])
    dx = real(_inverse_transform(full, fft_length, axes)) * cast(
        size_of(_axis_lengths(fft_length, axes)), call.dtype(0)
    )
    return _resized_to_input(dx, call, axes)


def _inverse_transform(x: Tensor, fft_length: TensorLike, axes: Tensor | Sequence[int]) -> Any:
    """Computes the inverse transform; over the last dimensions by an op that TensorFlow has on CPUs."""
    return _INVERSES[len(axes)](x) if _are_last(axes, len(shape_of(x))) else ifftnd(x, fft_length, axes)


def _real_part_transform(x: Tensor, fft_length: TensorLike, axes: Tensor | Sequence[int], dtype: DType) -> Any:
    """Computes the transform of real numbers; over the last dimensions by an op that TensorFlow has on CPUs."""
    if not _are_last(axes, len(shape_of(x))):
        return rfftnd(x, fft_length, axes, dtype)
    return RFFT[len(axes)](x, fft_length, dtype)


def _are_last(axes: Tensor | Sequence[int], rank: int) -> bool:
    return len(axes) <= 3 and [a % rank for a in axes] == list(range(rank - len(axes), rank))


def _axis_lengths(fft_length: Any, axes: Tensor | Sequence[int]) -> list[Any]:
    """Returns the lengths of the dimensions as ints, or as scalar tensors if they are not static.

    Raises:
        NotStatic: the dimensions are not static.
    """
    if isinstance(axes, Tensor):
        raise NotStatic
    return [fft_length[i] for i in range(len(axes))]


def _resized_to_input(dx: Tensor, call: Call, axes: Any) -> Any:
    """Undoes the truncation and padding of the dimensions of a call's input."""
    return resize_axes(dx, axes, [call.shape(0)[a] for a in axes])


def _irfft_gradient(call: Call, dy: Tensor, fft_length: TensorLike, axes: Any) -> Any:
    """Computes the gradient of an inverse real transform: elements that also stand for their conjugates count twice."""
    dtype = call.dtype(0)
    lengths = _axis_lengths(fft_length, axes)
    n = lengths[-1]
    if any(isinstance(length, Tensor) for length in lengths):
        k = range_of(n // 2 + 1)
        once = cast(logical_or(equal(k, 0), equal(2 * k, n)), dtype.real_dtype)
        factors = (2.0 - once) / cast(size_of(lengths), dtype.real_dtype)
        rank = len(call.shape(0))
        weights = reshape(cast(factors, dtype), [-1] + [1] * (rank - 1 - axes[-1] % rank))
        return _resized_to_input(_real_part_transform(dy, fft_length, axes, dtype) * weights, call, axes)
    twice = np.full(n // 2 + 1 if n else 0, 2.0)
    twice[:1] = 1.0
    if n % 2 == 0:
        twice[-1:] = 1.0
    shape = [1] * len(call.shape(0))
    shape[axes[-1]] = len(twice)
    weights = constant((twice / math.prod(lengths)).reshape(shape), dtype)
    return _resized_to_input(_real_part_transform(dy, fft_length, axes, dtype) * weights, call, axes)


@op("RFFTND", kernel=_nd_kernel(torch.fft.rfftn, _half_length), host=("fft_length", "axes"),
    shape=lambda x, n, axes, *_: _nd_rule(x, n, axes, _half_length), batching=_transform_slices)  # fmt: skip
def rfftnd(
    input: TensorLike, fft_length: ShapeLike, axes: AxisLike, Tcomplex: DTypeLike = complex64, name: str | None = None
) -> Tensor:
    """Computes the discrete Fourier transform of real numbers over some dimensions.

    Args:
        input: a float32 or float64 tensor with at least one dimension.
        fft_length: integers. Each dimension in `axes` is truncated or padded with zeros to its length here.
        axes: integers, the dimensions.
        Tcomplex: the dtype of the result, complex64 or complex128; complex64 by default.

    Returns:
        A tensor of dtype `Tcomplex`, with the lengths `fft_length` in the dimensions `axes`, but `length // 2 + 1` in
        the last dimension of `axes`.

    Raises:
        InvalidArgumentError: a dimension does not exist or is repeated, or the lengths are not valid.

    Example:
        >>> tf.rfftnd([[1.0, 0.0], [0.0, 0.0]], [2, 2], [0, 1]).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """


@rfftnd.gradient(needs="shapes dtypes")
def _(call: Call, dy: Tensor) -> Any:
    return _rfft_gradient(call, dy, *call.attrs[:2])


@op("IRFFTND", kernel=_nd_kernel(torch.fft.irfftn), host=("fft_length", "axes"),
    shape=lambda x, n, axes, *_: _nd_rule(x, n, axes), batching=_transform_slices)  # fmt: skip
def irfftnd(
    input: TensorLike, fft_length: ShapeLike, axes: AxisLike, Treal: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """Computes the inverse of `tf.rfftnd`.

    Args:
        input: a complex64 or complex128 tensor with at least one dimension.
        fft_length: integers, the length of each dimension of `axes` of the result.
        axes: integers, the dimensions.
        Treal: the dtype of the result, float32 or float64; float32 by default.

    Returns:
        A tensor of dtype `Treal`, with the lengths `fft_length` in the dimensions `axes`.

    Raises:
        InvalidArgumentError: a dimension does not exist or is repeated, or the lengths are not valid.

    Example:
        >>> tf.irfftnd(tf.constant([[4 + 0j, 0], [0, 0]]), [2, 2], [0, 1]).numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """


@irfftnd.gradient(needs="shapes dtypes")
def _(call: Call, dy: Tensor) -> Any:
    return _irfft_gradient(call, dy, *call.attrs[:2])


# ---- of real numbers, over the last dimensions -----------------------------------------------------------------------


def _declare_over_last(
    name: str, rank: int, over_axes: Callable[..., Any], gradient: Callable[..., Any],
    output_length: Callable[[Any], Any] = lambda n: n, input_length: Callable[[Any], Any] = lambda n: n,
) -> Any:  # fmt: skip
    """Declares a transform from or to real numbers over the last dimensions.

    Args:
        name: the name of the op.
        rank: the number of dimensions.
        over_axes: torch's function.
        gradient: `gradient(call, dy, fft_length, axes)`.
        output_length, input_length: compute the last dimension from the last of the lengths.
    """
    axes = tuple(range(-rank, 0))
    transform = _nd_kernel(over_axes, output_length)

    def kernel(x: torch.Tensor, fft_length: Sequence[int], dtype: DType) -> torch.Tensor:
        if not x.numel() and x.ndim >= rank == len(fft_length):  # nobody pads empty inputs
            for axis, n in zip(axes, (*fft_length[:-1], input_length(fft_length[-1])), strict=True):
                if 0 < x.shape[axis] < n:
                    place = x.ndim + axis
                    raise invalid(f"Input dimension {place} must have length of at least {n} but got: {x.shape[axis]}")
        return transform(x, fft_length, axes, dtype)

    rule = _over_last(rank, output_length)
    function = defined_op(name, kernel, host=("fft_length",), shape=rule, batching=leading_dimensions)
    function.gradient(needs="shapes dtypes")(lambda call, dy: gradient(call, dy, call.attrs[0], axes))
    return function


_NAMES = {1: "FFT", 2: "FFT2D", 3: "FFT3D"}
RFFT = {
    rank: _declare_over_last(f"R{name}", rank, torch.fft.rfftn, _rfft_gradient, output_length=_half_length)
    for rank, name in _NAMES.items()
}
IRFFT = {
    rank: _declare_over_last(f"IR{name}", rank, torch.fft.irfftn, _irfft_gradient, input_length=_half_length)
    for rank, name in _NAMES.items()
}
