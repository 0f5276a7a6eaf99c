"""Casts from dtype to dtype, by value and by bits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert, datatype_name, from_array, storage_type
from tapeflow.core.ops.definition import NotStatic, ops
from tapeflow.core.ops.elementwise_kernels import as_bytes
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same, text
from tapeflow.core.ops.static import elements
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import (
    FROM_NUMPY,
    FROM_TORCH,
    DType,
    as_dtype,
    int8,
    int16,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, as_numpy, flat_bytes, invalid
from tapeflow.core.values.variable import Variable
from tapeflow.math.extrema import clip_by_value_op


def _refuse_cast(source: DType, to: DType) -> UnimplementedError:
    return UnimplementedError.of(f"Cast {datatype_name(source)} to {datatype_name(to)} is not supported")


def _array_to(x: StringArray, DstT: DType) -> Any:
    """Casts values that are held as arrays: strings, which are refused, and numbers that ATen has no storage for."""
    if isinstance(x, StringArray):
        raise _refuse_cast(as_dtype("string"), DstT)
    if not DstT.is_numpy_compatible or DstT.name == "string":
        raise _refuse_cast(FROM_NUMPY[x.dtype.type], DstT)
    return from_array(x, DstT).value


# TensorFlow casts full vectors of floats to 8 and 16-bit integers by way of int32, and they saturate. The rest of a
# tensor that does not fill a vector wraps around. These are the vector lengths.
_AT_ONCE = {torch.float16: 16, torch.bfloat16: 8, torch.float32: 32, torch.float64: 16}


def _narrow_floats(x: torch.Tensor, to: DType) -> torch.Tensor:
    """Casts floats to a small integer dtype, those beyond its range as TensorFlow's vectors do."""
    numbers = x.to(torch.int32).reshape(-1)
    whole = numbers[: len(numbers) - len(numbers) % _AT_ONCE[x.dtype]]
    whole.clamp_(to.min, to.max)
    return numbers.to(to.torch).reshape(x.shape)


def _to_uint32(x: torch.Tensor) -> torch.Tensor:
    """Casts floats to uint32. In TensorFlow's full vectors of 8, numbers out of the ranges of int32 and uint32 become
    `2 ** 31`. The rest of the tensor keeps the low bits of the int64."""
    numbers = x.reshape(-1).double()
    low = numbers.to(torch.int64) & 0xFFFFFFFF
    inside = (numbers > -(2.0**31) - 1) & (numbers < 2.0**32)
    whole = len(low) - len(low) % 8
    low[:whole].masked_fill_(~inside[:whole], 2**31)
    return low.to(torch.uint32).reshape(x.shape)


def _to_uint64(x: torch.Tensor) -> torch.Tensor:
    """Casts floats to uint64. NaN and values that are too large become `2 ** 63`."""
    bits = x.type(torch.uint64).view(torch.int64)
    return torch.where(x.double() >= 2.0**64, torch.iinfo(torch.int64).min, bits).view(torch.uint64)


# The casts of floats to dtypes with a smaller range.
_FROM_FLOATS: dict[DType, Callable[[torch.Tensor], torch.Tensor]] = {
    **{to: functools.partial(_narrow_floats, to=to) for to in (int8, uint8, int16, uint16)},
    uint32: _to_uint32,
    uint64: _to_uint64,
}


@op(
    "Cast",
    shape=same,
    strings=_array_to,
    element=lambda b, x, DstT: b.convert(x, DstT),
    identity_if_same_shape=True,
    takes_sparse=True,
)
def cast_op(x: torch.Tensor, DstT: DType) -> Any:
    """Casts to a dtype."""
    kind = x.dtype
    if kind.is_complex and not DstT.is_complex:
        x = x.real
    elif kind in _AT_ONCE and DstT in _FROM_FLOATS:
        return _FROM_FLOATS[DstT](x)
    if DstT.torch is not None:
        return (as_bytes(x) if kind is torch.bool else x).type(DstT.torch)  # takes two thirds of the time of `to`
    if not DstT.is_numpy_compatible or DstT.name == "string":
        raise _refuse_cast(FROM_TORCH[x.dtype], DstT)
    return as_numpy(x, FROM_TORCH[x.dtype]).astype(storage_type(DstT))


@cast_op.static_value
def _(x: Tensor, to: DType) -> Any:
    if not x.dtype.is_integer:
        raise NotStatic
    return elements(x)


@cast_op.gradient(needs="dtypes")
def _(call: Call, dy: Tensor) -> Any:
    to = call.dtype(0)
    return cast(dy, to) if to.is_floating or to.is_complex else None


def cast(x: TensorLike | IndexedSlices, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Casts a tensor to a dtype.

    Floats are cut off towards zero when they become integers; complex numbers lose their imaginary part.

    Args:
        x: a tensor of any shape, or a value that converts to one; `IndexedSlices` stay sparse.
        dtype: the dtype of the result, a `tf.DType` or its name.

    Returns:
        A tensor of the same shape and of that dtype; `x` itself if it already has this dtype.

    Raises:
        UnimplementedError: it is a cast from or to strings.

    Example:
        >>> tf.cast([1.8, 2.2], tf.int32).numpy().tolist()
        [1, 2]
    """
    if type(dtype) is not DType:
        dtype = as_dtype(dtype)
    if dtype._is_ref_dtype:
        dtype = dtype.base_dtype
    tensor: Any = x
    if not isinstance(x, (Tensor, Variable)):
        if isinstance(x, IndexedSlices):
            rows: Any = IndexedSlices(cast(x.values, dtype), x.indices, x.dense_shape)
            return rows
        if hasattr(type(x), "__tf_dispatch__"):
            return cast_op(x, dtype, name)
        tensor = convert(x)
    return tensor if tensor.dtype is dtype else cast_op(tensor, dtype, name)


# ---- saturating ------------------------------------------------------------------------------------------------------


@functools.cache
def _cast_limits(source: DType, to: DType) -> tuple[Any, Any] | None:
    """Returns the values of `source` nearest to the smallest and largest of `to`, or None if all of them fit."""
    if source.min >= to.min and source.max <= to.max:
        return None
    if source.is_integer:
        return max(source.min, to.min), min(source.max, to.max)
    kind = source.as_numpy_dtype
    low, high = (max(float(source.min), float(to.min)), min(float(source.max), float(to.max)))
    smallest, largest = kind(low), kind(high)
    # Rounding to `source` may have gone past the limit, as 2**31 - 1 becomes 2**31 in float32.
    if float(smallest) < low:
        smallest = np.nextafter(smallest, kind(0))
    if _exact_number(largest) > _exact_number(to.max):
        largest = np.nextafter(largest, kind(0))
    return float(smallest), float(largest)


def _exact_number(value: int | np.generic) -> Any:
    """Returns the number as Python's own, which compares integers of any size with floats exactly."""
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Casts a tensor to a dtype, with values beyond its range replaced by its smallest or largest value.

    Args:
        value: a tensor of a numeric dtype and any shape. Complex numbers lose their imaginary part if `dtype` is real;
            else both parts saturate.
        dtype: the dtype of the result, a `tf.DType` or its name.

    Returns:
        A tensor of the shape of `value` and of `dtype`.

    Raises:
        TypeError: the dtype of `value`, or `dtype`, has no range.

    Example:
        >>> tf.saturate_cast([300.0, -5.0, 7.9], tf.uint8).numpy().tolist()
        [255, 0, 7]
    """
    tensor, to = convert(value), as_dtype(dtype).base_dtype
    source = tensor.dtype
    limits: Any = _cast_limits(source.real_dtype, to.real_dtype)
    if source.is_complex and (limits is not None or not to.is_complex):
        part = ops.Real(tensor, source.real_dtype)
        if to.is_complex:
            other = clip_by_value_op(ops.Imag(tensor, source.real_dtype), *limits)
            return cast(ops.Complex(clip_by_value_op(part, *limits), other, source), to, name)
        tensor = part
    return cast(tensor if limits is None else clip_by_value_op(tensor, *limits), to, name)


# ---- by bits ---------------------------------------------------------------------------------------------------------


def _as_bits(input: Any, type: DType) -> Any:
    if isinstance(input, torch.Tensor):
        source = input.itemsize
        if type.torch is not None and type.torch.itemsize == source:
            return input.resolve_conj().view(type.torch)
    else:
        source, input = input.itemsize, torch.from_numpy(np.ascontiguousarray(input).view(f"i{input.itemsize}"))
    size = np.dtype(storage_type(type)).itemsize
    if size > source:
        if input.ndim == 0 or input.shape[-1] != size // source:
            raise invalid(
                f"Cannot bitcast shape {text(input.shape)} from {source} to {size} bytes an element "
                f"({type.name}): the last dimension must be {size // source}"
            )
        shape = input.shape[:-1]
    else:
        shape = input.shape if size == source else (*input.shape, source // size)
    return _bitcast_kernel(input.contiguous(), type).reshape(shape)


def _bitcast_kernel(input: torch.Tensor, type: DType) -> Any:
    octets = flat_bytes(input)
    if type.torch is not None:
        return octets.view(type.torch).clone()
    return octets.cpu().numpy().view(storage_type(type)).copy()


def _bits_rule(input: TensorShape, type: DType, source: DType) -> TensorShape:
    if not source.size:
        raise invalid(f"Cannot bitcast from {source.name} to {type.name}")
    if type.size <= source.size:
        return input if type.size == source.size else input.concatenate([source.size // type.size])
    if input.rank is None:
        return input
    if not input.rank or not TensorShape(input[-1]).is_compatible_with(TensorShape(type.size // source.size)):
        raise invalid(f"Cannot bitcast from {source.name} to {type.name} due to shape {text(input)}")
    return input[:-1]


@op("Bitcast", kernel=_as_bits, strings=_as_bits, shape=_bits_rule, shape_types=("T",), batching=leading_dimensions)
def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """Interprets the bits of each element as another dtype.

    Args:
        input: a tensor of a numeric dtype, of shape `[...]`.
        type: the dtype of the result. If its elements are smaller by a factor `n`, the result has a new last dimension
            of length `n`. If they are larger, the last dimension of `input` must be `n`, and is removed.

    Returns:
        A tensor of dtype `type`. If both dtypes have the same size, it has the shape of `input`.

    Raises:
        InvalidArgumentError: the last dimension does not fit, or a dtype is `tf.string`.

    Example:
        >>> tf.bitcast(1.0, tf.int32).numpy().item()
        1065353216
        >>> tf.bitcast(tf.constant([1, 1], tf.uint8), tf.uint16).numpy().item()
        257
    """


@bitcast.gradient()
def _(call: Call, dy: Tensor) -> Any:
    raise LookupError("gradient registry has no entry for: Bitcast")
