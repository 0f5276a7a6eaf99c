"""Fourier transforms of real numbers, over any dimensions, with lengths, norms and shifts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat, stack, unstack
from tapeflow.array.creation import convert_to_tensor, zeros
from tapeflow.array.gathers import gather
from tapeflow.array.masks import where
from tapeflow.array.padding import pad, roll
from tapeflow.array.properties import rank as rank_of
from tapeflow.array.properties import shape as shape_of
from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import AxisLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, complex64, complex128, float32, float64, int32
from tapeflow.core.types.shape import listed_shape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, dtype_error, invalid
from tapeflow.math.casting import cast
from tapeflow.math.comparison import less
from tapeflow.math.extrema import maximum
from tapeflow.signal import fourier_ops
from tapeflow.signal.fourier_ops import length_of


def _real_input(x: TensorLike, name: str, rank: int) -> Any:
    """Converts the input of a real transform over `rank` dimensions to a tensor."""
    return _check_signal(x, name, rank, float32, float64)


def _complex_input(x: TensorLike, name: str, rank: int) -> Any:
    """Converts the input of a complex transform over `rank` dimensions to a tensor."""
    return _check_signal(x, name, rank, complex64, complex128)


def _check_signal(x: TensorLike, name: str, rank: int, *dtypes: DType) -> Any:
    tensor = convert(x, hint=dtypes[0])
    if tensor.dtype not in dtypes:
        raise ValueError(f"{name} requires {' or '.join(f'tf.{d.name}' for d in dtypes)} inputs, got: {tensor}")
    tensor.shape.with_rank_at_least(rank)
    return tensor


def _nd_input(x: TensorLike, fft_length: Any, axes: AxisLike) -> Any:
    """Converts the input of a complex transform over any dimensions to a tensor.

    Raises:
        IndexError: the axes are a scalar.
        ValueError: it has fewer dimensions than there are axes.
        InvalidArgumentError: it is not of complex numbers.
    """
    tensor = convert(x, hint=complex64)
    if axes is not None or tensor.dtype.is_complex:
        tensor.shape.with_rank_at_least(_rank_over(axes))
    if not tensor.dtype.is_complex:
        if fft_length is not None:
            convert(fft_length, int32)
        if state.graph is not None and tensor.shape.rank is not None:
            raise TypeError(
                f"Value passed to parameter 'input' has DataType {tensor.dtype.name} not in list of allowed values: "
                "complex64, complex128"
            )
        if state.graph is None:
            fourier_ops.fftnd.op.check_types({"Tcomplex": tensor.dtype})
    return tensor


def _rank_over(axes: AxisLike) -> Any:
    """Returns the number of dimensions that a transform over axes takes at least."""
    return 1 if axes is None else convert(axes, int32).shape.as_list()[0]


def _complex_of(dtype: DType) -> DType:
    return complex128 if dtype is float64 else complex64


def _whole_length(half: Tensor | int) -> Any:
    """Returns the even length of a real signal whose transform has `half` elements."""
    return max(0, 2 * (half - 1)) if isinstance(half, int) else maximum(2 * (half - 1), 0)


def _transform_lengths(fft_length: Any) -> Any:
    """Returns the lengths of a transform, as a list of integers or a tensor.

    Raises:
        TypeError, ValueError: they are no vector of integers, a tensor of another dtype, or one is negative.
    """
    if type(fft_length) is list and set(map(type, fft_length)) == {int} and min(fft_length) >= 0:
        return fft_length
    lengths = convert(fft_length, int32)
    if state.graph is not None and lengths.shape.rank == 0:
        raise ValueError(f"The lengths of a transform must be a vector. Received: fft_length={fft_length}")
    if isinstance(lengths, EagerTensor):
        listed_shape(lengths.numpy())
    return lengths


def _transform_last(x: Any, fft_length: Any, rank: int, name: str, op_name: str | None, inverse: bool = False) -> Any:
    """Computes a transform of real numbers over the last `rank` dimensions, or its inverse."""
    x = (_complex_input if inverse else _real_input)(x, name, rank)
    whole = fft_length is None
    if whole:
        fft_length = [length_of(x, a) for a in range(-rank, 0)]
        if inverse:
            fft_length[-1] = _whole_length(fft_length[-1])
    else:
        fft_length = _transform_lengths(fft_length)
    transform = (fourier_ops.IRFFT if inverse else fourier_ops.RFFT)[rank]
    dtype = x.dtype.real_dtype if inverse else _complex_of(x.dtype)
    if not isinstance(x, SymbolicTensor):
        return transform(x, fft_length, dtype, op_name)
    with name_scope(op_name or name.lower()) as scope:
        padded = x if whole and not inverse else _long_enough(x, fft_length, rank, half=inverse)
        return transform(padded, fft_length, dtype, scope)


def _long_enough(x: Tensor, fft_length: Any, rank: int, half: bool) -> Any:
    """Pads the input of a transform with zeros to the lengths of the transform.

    TensorFlow's kernels accept no shorter input, so a graph must contain the padding. Eager kernels need none.
    """
    static = isinstance(fft_length, (list, tuple)) and not any(isinstance(n, Tensor) for n in fft_length)
    lengths: list[Any] = [int(n) for n in fft_length] if static else unstack(convert_to_tensor(fft_length), rank)
    if x.shape.rank is not None and 0 in x.shape.as_list():
        return x  # like TensorFlow: its kernels then require as many elements
    if half:
        lengths[-1] = lengths[-1] // 2 + 1
    missing = [_missing_length(n, length_of(x, a)) for a, n in zip(range(-rank, 0), lengths, strict=True)]
    if not any(isinstance(m, Tensor) for m in missing) and x.shape.rank is not None:
        return pad(x, [[0, 0]] * (x.shape.rank - rank) + [[0, m] for m in missing]) if any(missing) else x
    after = stack([[0, m] for m in missing])
    outer = rank_of(x) - rank if x.shape.rank is None else x.shape.rank - rank
    return pad(x, concat([zeros(stack([outer, 2]), int32), after], 0))


def _missing_length(required: Any, length: Any) -> Any:
    if isinstance(required, int) and isinstance(length, int):
        return max(0, required - length)
    return maximum(required - length, 0)


def rfft(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of real numbers over the last dimension.

    Args:
        input_tensor: a float32 or float64 tensor of shape `[..., n]`.
        fft_length: a list of one int. The last dimension is truncated or padded with zeros to this length; by default,
            it keeps its length.

    Returns:
        A tensor of shape `[..., fft_length // 2 + 1]`, complex64 for float32 and complex128 for float64; the omitted
        elements are conjugates of these.

    Raises:
        ValueError: the input is a scalar, or has another dtype.
        InvalidArgumentError: `fft_length` is not of shape `[1]`.

    Example:
        >>> tf.signal.rfft([1.0, 0.0, 0.0, 0.0]).numpy().tolist()
        [(1+0j), (1+0j), (1+0j)]
    """
    return _transform_last(input_tensor, fft_length, 1, "RFFT", name)


def rfft2d(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of real numbers over the last two dimensions. See `tf.signal.rfft`.

    Args:
        input_tensor: a float32 or float64 tensor of rank 2 or more.
        fft_length: a list of two ints. The last two dimensions are truncated or padded with zeros to these lengths; by
            default, they keep their lengths.

    Returns:
        A complex64 or complex128 tensor of the same rank; the last dimension has `fft_length[-1] // 2 + 1` elements.

    Raises:
        ValueError: the rank is less, or the dtype is another one.
        InvalidArgumentError: `fft_length` is not of shape `[2]`.

    Example:
        >>> np.allclose(tf.signal.rfft2d(tf.ones([2, 2])), np.fft.rfft2(np.ones([2, 2])))
        True
    """
    return _transform_last(input_tensor, fft_length, 2, "RFFT2D", name)


def rfft3d(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of real numbers over the last three dimensions. See `tf.signal.rfft`.

    Args:
        input_tensor: a float32 or float64 tensor of rank 3 or more.
        fft_length: a list of three ints. The last three dimensions are truncated or padded with zeros to these lengths;
            by default, they keep their lengths.

    Returns:
        A complex64 or complex128 tensor of the same rank; the last dimension has `fft_length[-1] // 2 + 1` elements.

    Raises:
        ValueError: the rank is less, or the dtype is another one.
        InvalidArgumentError: `fft_length` is not of shape `[3]`.

    Example:
        >>> np.allclose(tf.signal.rfft3d(tf.ones([2, 2, 2])), np.fft.rfftn(np.ones([2, 2, 2])))
        True
    """
    return _transform_last(input_tensor, fft_length, 3, "RFFT3D", name)


def irfft(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
    """Computes the inverse of `tf.signal.rfft`.

    Args:
        input_tensor: a complex64 or complex128 tensor of shape `[..., m]`.
        fft_length: the length of the result, as a list of one number; `2 * (m - 1)` by default. The input is truncated
            or padded with zeros to `fft_length // 2 + 1` elements.

    Returns:
        A tensor of shape `[..., fft_length]`, float32 for complex64 and float64 for complex128.

    Raises:
        ValueError: the input is a scalar, or has another dtype.
        InvalidArgumentError: `fft_length` is not of shape `[1]`.

    Example:
        >>> tf.signal.irfft([1 + 0j, 1, 1]).numpy().tolist()
        [1.0, 0.0, 0.0, 0.0]
    """
    return _transform_last(input_tensor, fft_length, 1, "IRFFT", name, inverse=True)


def irfft2d(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
    """Computes the inverse of `tf.signal.rfft2d`.

    Args:
        input_tensor: a complex64 or complex128 tensor of rank 2 or more.
        fft_length: the two lengths of the result; by default the input's lengths, and `2 * (n - 1)` for the last one.

    Returns:
        A float32 or float64 tensor of the same rank, with the lengths `fft_length` in the last two dimensions.

    Raises:
        ValueError: the rank is less, or the dtype is another one.
        InvalidArgumentError: `fft_length` is not of shape `[2]`.

    Example:
        >>> np.allclose(tf.signal.irfft2d(tf.ones([2, 2], tf.complex64)), np.fft.irfft2(np.ones([2, 2])))
        True
    """
    return _transform_last(input_tensor, fft_length, 2, "IRFFT2D", name, inverse=True)


def irfft3d(input_tensor: TensorLike, fft_length: ShapeLike = None, name: str | None = None) -> Tensor:
    """Computes the inverse of `tf.signal.rfft3d`.

    Args:
        input_tensor: a complex64 or complex128 tensor of rank 3 or more.
        fft_length: the three lengths of the result; by default the input's lengths, and `2 * (n - 1)` for the last one.

    Returns:
        A float32 or float64 tensor of the same rank, with the lengths `fft_length` in the last three dimensions.

    Raises:
        ValueError: the rank is less, or the dtype is another one.
        InvalidArgumentError: `fft_length` is not of shape `[3]`.

    Example:
        >>> np.allclose(tf.signal.irfft3d(tf.ones([2, 2, 2], tf.complex64)), np.fft.irfftn(np.ones([2, 2, 2])))
        True
    """
    return _transform_last(input_tensor, fft_length, 3, "IRFFT3D", name, inverse=True)


# ---- over any dimensions ---------------------------------------------------------------------------------------------


def _lengths_and_axes(x: Tensor, fft_length: Any, axes: AxisLike, is_half: bool) -> tuple[list[Any], list[int]]:
    """Returns the lengths of the dimensions to transform, and the dimensions.

    Args:
        x: the tensor to transform.
        fft_length: the lengths; None for the lengths of `x`.
        axes: the dimensions; None for the last ones.
        is_half: True if `x` is the result of a real transform, with about half of the elements in its last dimension.

    Returns:
        Two lists of ints. A length that is not static is a scalar tensor.
    """
    lengths = None if fft_length is None else host_value(_transform_lengths(fft_length))
    if isinstance(lengths, Tensor):
        lengths = unstack(lengths)
    if axes is None:
        axes = range(-len(x.shape if lengths is None else lengths), 0)
    dims = host_value(convert(axes, int32))
    if not isinstance(dims, tuple):
        raise IndexError("tuple index out of range")  # of the shape of the axes
    dims = list(dims)
    if lengths is None:
        outside = [a for a in dims if not -len(x.shape) <= a < len(x.shape)]
        if outside:
            raise IndexError(f"dimension {outside[0]} is out of range for a tensor of rank {len(x.shape)}")
        lengths = [length_of(x, a) for a in dims]
        if is_half:
            lengths[-1] = _whole_length(lengths[-1])
    return [n if isinstance(n, Tensor) else int(n) for n in lengths], dims


def _norm_factor(norm: str | None, lengths: Sequence[Any], inverse: bool) -> Any:
    """Returns the factor of a norm; without it, the inverse transform divides by the number of elements."""
    if norm in ("ortho", "forward"):
        count: Any = math.prod(lengths)
        count = cast(count, float64) if isinstance(count, Tensor) else float(count)
        divisor = count**0.5 if norm == "ortho" else count
        return divisor if inverse else 1.0 / divisor
    if norm not in (None, "backward"):
        raise ValueError(f"Unknown normalization. Expected None, 'backward', 'ortho' or 'forward', got: {norm}")
    return 1.0


def _scale_result(x: Tensor, norm: str | None, lengths: Sequence[Any], inverse: bool) -> Any:
    factor = _norm_factor(norm, lengths, inverse)
    if isinstance(factor, Tensor):
        return x * cast(factor, x.dtype)
    return x if factor == 1.0 else x * factor


def fftnd(
    input_tensor: TensorLike,
    fft_length: ShapeLike = None,
    axes: AxisLike = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the discrete Fourier transform over some dimensions.

    Args:
        input_tensor: a complex64 or complex128 tensor with at least one dimension.
        fft_length: a list of ints. The dimensions `axes` are truncated or padded with zeros to these lengths; by
            default, they keep their lengths.
        axes: the dimensions; by default all, or as many of the last ones as `fft_length` has lengths.
        norm: "backward" (or None) divides the inverse transform by the number of elements, "forward" divides this one,
            and "ortho" divides both by the square root of that number.

    Returns:
        A tensor of the same dtype, with the lengths `fft_length` in the dimensions `axes`.

    Raises:
        IndexError: a dimension does not exist.
        InvalidArgumentError: a dimension is repeated.
        ValueError: the norm is unknown, or the dtype is another one.

    Example:
        >>> tf.signal.fftnd(tf.constant([[1 + 0j, 1], [1, 1]])).numpy().tolist()
        [[(4+0j), 0j], [0j, 0j]]
    """
    x = _nd_input(input_tensor, fft_length, axes)
    lengths, dims = _lengths_and_axes(x, fft_length, axes, is_half=False)
    return _scale_result(fourier_ops.fftnd(x, lengths, dims, name), norm, lengths, inverse=False)


def ifftnd(
    input_tensor: TensorLike,
    fft_length: ShapeLike = None,
    axes: AxisLike = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the inverse of `tf.signal.fftnd`.

    Args:
        input_tensor: a complex64 or complex128 tensor with at least one dimension.
        fft_length: a list of ints. The dimensions `axes` are truncated or padded with zeros to these lengths; by
            default, they keep their lengths.
        axes: the dimensions; by default all, or as many of the last ones as `fft_length` has lengths.
        norm: "backward" (or None) divides the result by the number of elements, "forward" does not divide it, and
            "ortho" divides it by the square root of that number.

    Returns:
        A tensor of the same dtype, with the lengths `fft_length` in the dimensions `axes`.

    Raises:
        IndexError: a dimension does not exist.
        InvalidArgumentError: a dimension is repeated.
        ValueError: the norm is unknown, or the dtype is another one.

    Example:
        >>> tf.signal.ifftnd(tf.constant([[4 + 0j, 0], [0, 0]])).numpy().tolist()
        [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    x = _nd_input(input_tensor, fft_length, axes)
    lengths, dims = _lengths_and_axes(x, fft_length, axes, is_half=False)
    return _scale_result(fourier_ops.ifftnd(x, lengths, dims, name), norm, lengths, inverse=True)


def rfftnd(
    input_tensor: TensorLike,
    fft_length: ShapeLike = None,
    axes: AxisLike = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the discrete Fourier transform of real numbers over some dimensions.

    Args:
        input_tensor: a float32 or float64 tensor with at least one dimension.
        fft_length: a list of ints. The dimensions `axes` are truncated or padded with zeros to these lengths; by
            default, they keep their lengths.
        axes: the dimensions; by default all, or as many of the last ones as `fft_length` has lengths.
        norm: "backward" (or None) does not divide the result, "forward" divides it by the number of elements, and
            "ortho" divides it by the square root of that number.

    Returns:
        A complex64 or complex128 tensor, with the lengths `fft_length` in the dimensions `axes`, but
        `length // 2 + 1` in the last dimension of `axes`.

    Raises:
        IndexError: a dimension does not exist.
        InvalidArgumentError: a dimension is repeated.
        ValueError: the norm is unknown, or the dtype is another one.

    Example:
        >>> tf.signal.rfftnd(tf.constant([[1.0, 1.0], [1.0, 1.0]])).numpy().tolist()
        [[(4+0j), 0j], [0j, 0j]]
    """
    x = _real_input(input_tensor, "RFFTND", _rank_over(axes))
    lengths, dims = _lengths_and_axes(x, fft_length, axes, is_half=False)
    x.shape.with_rank_at_least(len(lengths))
    y = fourier_ops.rfftnd(x, lengths, dims, _complex_of(x.dtype), name)
    return _scale_result(y, norm, lengths, inverse=False)


def irfftnd(
    input_tensor: TensorLike,
    fft_length: ShapeLike = None,
    axes: AxisLike = None,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the inverse of `tf.signal.rfftnd`.

    Args:
        input_tensor: a complex64 or complex128 tensor with at least one dimension.
        fft_length: a list of ints, the lengths of the result; by default the input's lengths, and `2 * (n - 1)` for the
            last one.
        axes: the dimensions; by default all, or as many of the last ones as `fft_length` has lengths.
        norm: "backward" (or None) divides the result by the number of elements, "forward" does not divide it, and
            "ortho" divides it by the square root of that number.

    Returns:
        A float32 or float64 tensor, with the lengths `fft_length` in the dimensions `axes`.

    Raises:
        IndexError: a dimension does not exist.
        InvalidArgumentError: a dimension is repeated.
        ValueError: the norm is unknown, or the dtype is another one.

    Example:
        >>> tf.signal.irfftnd(tf.constant([[4 + 0j, 0], [0, 0]])).numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    x = _complex_input(input_tensor, "IRFFTND", _rank_over(axes))
    lengths, dims = _lengths_and_axes(x, fft_length, axes, is_half=True)
    y = fourier_ops.irfftnd(x, lengths, dims, x.dtype.real_dtype, name)
    return _scale_result(y, norm, lengths, inverse=True)


# ---- shifts ----------------------------------------------------------------------------------------------------------


def _shift_halves(x: TensorLike, axes: AxisLike, sign: int) -> Any:
    """Shifts dimensions by half of their lengths, forwards or backwards."""
    tensor = convert(x)
    rank = tensor.shape.rank
    if isinstance(axes, Tensor) and axes.dtype is not int32:  # TensorFlow adds the int32 rank
        raise dtype_error(
            f"cannot compute AddV2 as input #1(zero-based) was expected to be int32 but is {axes.dtype.name}"
        )
    if axes is None and not rank:
        if rank is None:
            raise TypeError("the dimensions of a tensor of unknown rank are not static: name the axes")
        raise dtype_error("Value passed to parameter 'axis' has DataType float32 not in list of allowed values")
    axes = range(len(tensor.shape)) if axes is None else host_value(axes)
    if isinstance(axes, Tensor):  # not static
        places = where(less(axes, 0), axes + rank_of(tensor), axes)
        return roll(tensor, sign * (gather(shape_of(tensor), places) // 2), axes)
    dims = [axes] if isinstance(axes, int) else list(axes)
    for a in dims if rank is not None else ():
        if not -rank <= a < rank:  # of several, TensorFlow gathers the lengths when it runs
            error = invalid if isinstance(axes, int) or not rank else InvalidArgumentError.of
            raise error(f"there is no dimension {a} in a tensor of rank {rank}")
    lengths = tensor.shape.as_list() if tensor.shape.is_fully_defined() else shape_of(tensor)
    shifts = [lengths[a] // 2 if sign > 0 else -(lengths[a] // 2) for a in dims]
    return roll(tensor, shifts, dims)


def fftshift(x: TensorLike, axes: AxisLike = None, name: str | None = None) -> Tensor:
    """Moves the zero frequency to the center.

    Args:
        x: a tensor of any numeric dtype, with at least one dimension.
        axes: the dimensions; all by default.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: a dimension does not exist.

    Example:
        >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy().tolist()
        [-2, -1, 0, 1, 2]
    """
    return _shift_halves(x, axes, 1)


def ifftshift(x: TensorLike, axes: AxisLike = None, name: str | None = None) -> Tensor:
    """Computes the inverse of `tf.signal.fftshift`; for odd lengths that is another shift.

    Args:
        x: a tensor of any numeric dtype, with at least one dimension.
        axes: the dimensions; all by default.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: a dimension does not exist.

    Example:
        >>> tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy().tolist()
        [0, 1, 2, -2, -1]
    """
    return _shift_halves(x, axes, -1)
