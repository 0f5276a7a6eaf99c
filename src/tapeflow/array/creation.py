"""Ops that create tensors from values, shapes and ranges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.identities import cast_to, identity
from tapeflow.array.list_values import ListVariant, zeros_of_list
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core import device as devices
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import detours, override, state
from tapeflow.core.device import CPU, default
from tapeflow.core.errors import ResourceExhaustedError
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.batch_rules import Batch, Slices, vector
from tapeflow.core.ops.convert import convert, operand, place_tensor, scalars
from tapeflow.core.ops.convert import register as register_conversion
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import not_differentiable
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_rank, same, text
from tapeflow.core.ops.static import array_of
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
    string,
    variant,
)
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor, invalid


def convert_to_tensor(
    value: TensorLike, dtype: DTypeLike = None, dtype_hint: DTypeLike = None, name: str | None = None
) -> Tensor:
    """Converts a value to a tensor.

    Python ints become int32 (int64 if they don't fit), and floats become float32. Arrays keep their dtype. Tensors in a
    list are stacked, and gradients flow to them.

    Args:
        value: a value of any shape: a number, a text, a nested list of them or of tensors, a NumPy array, a
            `torch.Tensor`, a variable, or an object with `__array__` or `__dlpack__`.
        dtype: the dtype of the result. Values that it cannot hold are an error.
        dtype_hint: the preferred dtype of the result; ignored if the value does not convert to it.

    Returns:
        A tensor of the value; if the value is a tensor, the same object.

    Raises:
        TypeError: Python values do not fit `dtype`.
        ValueError: the value is a tensor of another dtype, or does not convert.

    Example:
        >>> tf.convert_to_tensor([1, 2], tf.float32)
        <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    if dtype is not None and type(dtype) is not DType:
        dtype = as_dtype(dtype).base_dtype
    if dtype_hint is not None:
        dtype_hint = as_dtype(dtype_hint).base_dtype
    if detours and state.graph is not None:
        return graph_tensor(convert(value, dtype, dtype_hint), name)
    return convert(value, dtype, dtype_hint)


def graph_tensor(tensor: Tensor, name: str | None) -> Any:
    """Returns a tensor of the graph under construction. An eager tensor becomes a new constant."""
    if not isinstance(tensor, EagerTensor):
        return tensor
    small = tensor.dtype.torch is None or tensor.value.numel() <= _MOST_CONSTANT
    return state.graph.constant(tensor, name or "Const") if small else state.graph.capture(tensor)


_MOST_CONSTANT = 1 << 14  # elements; larger tensors are not copied into the graph


_NOT_REGISTRABLE = (int, float, complex, str, bytes, np.ndarray, np.generic)


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Registers a function that converts objects of a type to tensors. Types with a built-in conversion ignore it.

    Args:
        base_type: the type, or a tuple of types. Subclasses count, too.
        conversion_func: `conversion_func(value, dtype=None, name=None, as_ref=False)`. It returns a tensor (of dtype
            `dtype`, unless that is None) or `NotImplemented`.
        priority: an int, 100 by default. Functions of lower priority are tried first.

    Returns:
        None.

    Raises:
        TypeError: `base_type` is not a type, or is a number type of Python or NumPy, or the function is not callable.

    Example:
        >>> class Meters:
        ...     def __init__(self, value):
        ...         self.value = value
        >>> tf.register_tensor_conversion_function(
        ...     Meters, lambda v, dtype=None, name=None, as_ref=False: tf.constant(v.value, dtype))
        >>> float(tf.constant(1.0) + Meters(2.0))
        3.0
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(t, type) for t in types):
        raise TypeError("Argument `base_type` must be a type or a tuple of types.")
    if any(issubclass(t, _NOT_REGISTRABLE) for t in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("Argument `conversion_func` must be callable.")
    register_conversion(base_type, conversion_func, priority)
    for kind in types:
        if issubclass(kind, ReadAsTensor) and not kind.__module__.startswith(("tapeflow", "tensorflow")):
            variable: Any = kind  # a program's own
            variable._read = lambda self: conversion_func(self, dtype=None, name=None, as_ref=False)


def constant(value: TensorLike, dtype: DTypeLike = None, shape: ShapeLike = None, name: str = "Const") -> Tensor:
    """Creates a tensor of a value.

    Args:
        value: a value of any shape that `tf.convert_to_tensor` takes.
        dtype: the dtype of the result; by default it follows from the value.
        shape: the shape of the result: a single value is repeated to fill it, others are rearranged.

    Returns:
        A new tensor; of shape `shape` if that is specified, else of the shape of the value.

    Raises:
        TypeError: the values do not fit `dtype`, or their number does not fit `shape`.
        ValueError: the value does not convert.

    Example:
        >>> tf.constant(5, shape=[2, 2]).numpy().tolist()
        [[5, 5], [5, 5]]
    """
    if dtype is None and shape is None and (type(value) is float or type(value) is int) and value and not detours:
        cached = scalars.get((value, type(value), None))
        if cached is not None and default() is CPU:
            return EagerTensor(cached.value, cached.dtype)  # a new object on the cached one's memory
    if dtype is not None and type(dtype) is not DType:
        dtype = as_dtype(dtype).base_dtype
    if isinstance(value, SymbolicTensor):
        raise TypeError("Expected any non-tensor type, but got a tensor instead.")
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            values = value.numpy() if isinstance(value, EagerTensor) else value
            raise TypeError(f"Expected tensor {values} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
        tensor = identity(value)
    elif isinstance(dtype, DType) and hasattr(type(value), "__tf_tensor__") and hasattr(value, "dtype"):
        tensor = cast_to(value, dtype)
    else:
        tensor = convert(value if type(value) is not TensorShape else value.as_list(), dtype)
        if type(tensor) is EagerTensor:
            tensor = place_tensor(tensor)  # scalars are on the CPU
    if detours and state.graph is not None:
        if shape is not None:
            with override(state, graph=None):
                tensor = _with_shape(tensor, shape, value)
        return graph_tensor(tensor, name)
    return tensor if shape is None else _with_shape(tensor, shape, value)


def _with_shape(tensor: EagerTensor, shape: ShapeLike, value: TensorLike) -> Any:
    new_shape = TensorShape(shape)
    elements, size = tensor.shape.num_elements(), new_shape.num_elements()
    if elements == size:
        return reshape(tensor, new_shape.as_list())
    if elements == 1:
        return fill(new_shape.as_list(), reshape(tensor, ()))
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {tensor.numpy()} (converted from {value!r}) "
        f"has {elements} elements, but got `shape` {new_shape} with {size} elements)."
    )


# ---- filled with one value -------------------------------------------------------------------------------------------


def _fill_rule(dims: ShapeLike, value: TensorShape) -> TensorShape:
    check_rank(dims, 1)
    if value.rank and not (state.graph is None and value.rank == 1 and value[0] == 1):  # eagerly, `[x]` is valid
        raise invalid(f"value must represent a scalar, got shape {text(value)}")
    if isinstance(dims, Tensor):  # not static
        return TensorShape(None)
    if not isinstance(dims, tuple):
        dims = (dims,)
    if any(isinstance(d, tuple) for d in dims):
        raise invalid(f"dims must represent a vector, got shape {text(np.shape(dims))}")
    for d in dims:
        if d is not None and d < 0:
            raise invalid(f"Dimension {d} must be >= 0")
    return TensorShape(dims)


def _full_kernel(dims: Any, value: torch.Tensor, device: torch.device | None = None) -> torch.Tensor:
    if value.numel() != 1 or value.ndim > 1 or (type(dims) is not int and dims and min(dims) < 0):
        raise TypeError("the shape rule says what is wrong")
    return value.reshape(()).expand(dims).to(device or devices.current_or_default(value.dtype)).contiguous()


# Returns a tensor of one value.
fill_op = defined_op("Fill", _full_kernel, host=("dims",), shape=_fill_rule, moves=True, creates=True)


@fill_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return ops.Sum(dy)


@fill_op.batching
def _(batch: Batch, dims: tuple[int, ...], value: Slices) -> Any:
    shape = vector(dims)
    return broadcast_to(batch.lift(value, len(shape)), (batch.count, *shape))


def fill(dims: ShapeLike, value: TensorLike, name: str | None = None, layout: object = None) -> Tensor:
    """Creates a tensor filled with one value.

    Args:
        dims: an int32 or int64 vector, the shape of the result.
        value: a scalar of any dtype.
        layout: ignored.

    Returns:
        A tensor of shape `dims` and of the dtype of `value`.

    Raises:
        InvalidArgumentError: a dimension is negative, or `value` is no scalar.

    Example:
        >>> tf.fill([2, 2], 7).numpy().tolist()
        [[7, 7], [7, 7]]
    """
    if type(value) is float or type(value) is int:
        value = operand(value, None)
    return fill_op(dims, value, name)


def _shape_argument(shape: ShapeLike) -> Any:
    """Returns a shape as a tensor, of int32 if its dimensions fit.

    Raises:
        TypeError, ValueError: it is no shape.
    """
    if isinstance(shape, Tensor) or hasattr(type(shape), "__tf_dispatch__"):
        return shape
    try:
        return convert(TensorShape(shape))
    except (TypeError, ValueError):  # one with symbolic tensors among its dimensions, or none at all
        return convert(shape, int32)


def _constant_fill(kernel: Callable[..., Any], number: int, shape: Any, dtype: DTypeLike, name: str | None) -> Any:
    """Creates a tensor of zeros or ones. Eagerly, torch's kernel creates it if it accepts the shape and the dtype."""
    if not detours and type(dtype) is DType and dtype.torch is not None:
        kind, accepted = type(shape), True
        dims = shape._dims if kind is TensorShape else shape
        if kind is list or kind is tuple:
            for dim in dims:
                if type(dim) is not int:
                    accepted = False
        elif kind is EagerTensor:
            accepted = dims.dtype is int32 or dims.dtype is int64
        try:
            if accepted:
                return EagerTensor(
                    kernel(dims, dtype=dtype.torch, device=devices.current_or_default(dtype.torch)), dtype
                )
        except (TypeError, RuntimeError):
            pass
    dtype = as_dtype(dtype).base_dtype
    value: Any = bool(number) if dtype.is_bool else "" if dtype is string and not number else number
    if detours and state.graph is not None:
        return _filled_in_graph(shape, convert(value, dtype), name or ("ones" if number else "zeros"))
    return fill_op(_shape_argument(shape), convert(value, dtype), name)


def _filled_in_graph(shape: ShapeLike, value: EagerTensor, name: str) -> Any:
    """Returns a constant if the tensor is certainly small, else the operation that fills it, with TensorFlow's
    names.
    """
    with name_scope(name) as scope:
        dims = _shape_argument(shape)
        if isinstance(shape, Tensor) or not isinstance(dims, EagerTensor):
            if isinstance(dims, Tensor) and not dims.shape.rank:  # a scalar, or of unknown rank
                dims = reshape(dims, [-1])
            return fill_op(dims, state.graph.constant(value), scope)
        static_dims = np.atleast_1d(dims.numpy()).tolist()
        if min(static_dims, default=0) >= 0 and math.prod(static_dims) < _MOST_FILLED:
            return state.graph.constant(place_tensor(_eagerly_filled(static_dims, value)), scope)
        dims = state.graph.constant(dims, "shape_as_tensor")
        return fill_op(dims, state.graph.constant(value), scope)


_MOST_FILLED = 1000  # TensorFlow's: tensors of one value are constants up to this size


def _eagerly_filled(dims: list[int], value: EagerTensor) -> EagerTensor:
    raw = value.value
    whole = StringArray.full(dims, raw.item()) if isinstance(raw, StringArray) else raw.expand(dims).contiguous()
    return EagerTensor(whole, value.dtype)


def zeros(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: object = None) -> Tensor:
    """Creates a tensor of zeros (of empty strings, for strings; of False, for bools).

    Args:
        shape: its shape: ints, a `tf.TensorShape`, or an int32 or int64 tensor.
        dtype: any dtype; float32 by default.
        layout: ignored.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        InvalidArgumentError: a dimension is negative.

    Example:
        >>> tf.zeros([2, 3], tf.int32).numpy().tolist()
        [[0, 0, 0], [0, 0, 0]]
    """
    return _constant_fill(torch.zeros, 0, shape, dtype, name)


def ones(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: object = None) -> Tensor:
    """Creates a tensor of ones (of True, for bools).

    Args:
        shape: its shape: ints, a `tf.TensorShape`, or an int32 or int64 tensor.
        dtype: any numeric dtype, or bool; float32 by default.
        layout: ignored.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        InvalidArgumentError: a dimension is negative.
        TypeError: `dtype` has no value 1.

    Example:
        >>> tf.ones([3]).numpy().tolist()
        [1.0, 1.0, 1.0]
    """
    return _constant_fill(torch.ones, 1, shape, dtype, name)


def _zeros_of_array(x: ListVariant | StringArray) -> Any:
    if isinstance(x, StringArray):
        return StringArray.full(x.shape, b"")
    return zeros_of_list(x) if x.dtype == object else np.zeros_like(x)


# Returns zeros of the dtype and shape of another tensor.
zeros_like_op = defined_op(
    "ZerosLike",
    torch.zeros_like,
    strings=_zeros_of_array,
    shape=same,
    element=lambda b, x: b.number(0, x.dtype),
    fills=0,
)


# Returns a tensor of ones with the dtype and shape of another tensor.
ones_like_op = defined_op("OnesLike", torch.ones_like, shape=same, element=lambda b, x: b.number(1, x.dtype), fills=1)


not_differentiable(zeros_like_op, ones_like_op)


def zeros_like(input: TensorLike, dtype: DTypeLike = None, name: str | None = None, layout: object = None) -> Tensor:
    """Creates a tensor of zeros of the shape of another tensor.

    Args:
        input: a tensor of any dtype and shape.
        dtype: the dtype of the result; the dtype of `input` by default.
        layout: ignored.

    Returns:
        A tensor of the shape of `input`.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> tf.zeros_like([1.5, 2.5]).numpy().tolist()
        [0.0, 0.0]
    """
    if detours and state.graph is not None:
        return _like_in_graph(input, dtype, zeros_like_op, zeros, name or "zeros_like")
    if dtype is None or (type(input) is EagerTensor and input.dtype is dtype):
        return zeros_like_op(input, name)
    if hasattr(type(input), "__tf_dispatch__"):  # for example, a ragged tensor keeps its rows
        return _like_composite(input, dtype, zeros_like_op, zeros_like)
    return zeros(_shape_of(input), dtype, name)


def ones_like(input: TensorLike, dtype: DTypeLike = None, name: str | None = None, layout: object = None) -> Tensor:
    """Creates a tensor of ones with the shape of another tensor.

    Args:
        input: a tensor of any dtype and shape.
        dtype: a numeric dtype or bool, the dtype of the result; the dtype of `input` by default.
        layout: ignored.

    Returns:
        A tensor of the shape of `input`.

    Raises:
        InvalidArgumentError: the dtype has no value 1.

    Example:
        >>> tf.ones_like([1.5, 2.5], dtype=tf.int32).numpy().tolist()
        [1, 1]
    """
    if detours and state.graph is not None:
        return _like_in_graph(input, dtype, ones_like_op, ones, name or "ones_like")
    if dtype is None or (type(input) is EagerTensor and input.dtype is dtype):
        return ones_like_op(input, name)
    if hasattr(type(input), "__tf_dispatch__"):
        return _like_composite(input, dtype, ones_like_op, ones_like)
    return ones(_shape_of(input), dtype, name)


def _like_composite(value: Any, dtype: Any, like: Callable[..., Any], of_values: Callable[..., Any]) -> Any:
    """Computes `zeros_like` or `ones_like` with another dtype, of ragged tensors by their flat values."""
    if hasattr(value, "with_flat_values"):
        return value.with_flat_values(of_values(value.flat_values, dtype))
    return ops.Cast(like(value), as_dtype(dtype))


def _like_in_graph(
    input: Any, dtype: DTypeLike, like: Callable[..., Any], filled: Callable[..., Any], name: str
) -> Any:
    """Computes `zeros_like` or `ones_like` in graphs as TensorFlow does. If the shape is static or the dtype changes,
    the result depends on the shape alone.
    """
    if hasattr(type(input), "__tf_dispatch__"):
        if hasattr(input, "dense_shape") and input.shape.is_fully_defined():  # of a sparse tensor, its shape is enough
            return filled(input.shape, input.dtype if dtype is None else dtype, name)
        if hasattr(input, "dense_shape"):
            same = dtype is None or as_dtype(dtype) is input.dtype
            return like(input, name) if same else filled(input.dense_shape, dtype, name)
        if dtype is None:
            return like(input, name)
        return _like_composite(input, dtype, like, lambda x, d: _like_in_graph(x, d, like, filled, name))
    with name_scope(name) as scope:
        x = convert(input)
        dtype = x.dtype if dtype is None else as_dtype(dtype).base_dtype
        if x.shape.is_fully_defined() and x.dtype is not variant:
            return filled(x.shape, dtype, scope)
        return like(x, scope) if dtype is x.dtype else filled(shape_op(x), dtype, scope)


def _shape_of(value: TensorLike) -> Any:
    return tuple(value.value.shape) if type(value) is EagerTensor else shape_op(value)


# ---- ranges ----------------------------------------------------------------------------------------------------------

_RANGE_DTYPES = (int32, int64, float16, bfloat16, float32, float64)


def _range_rule(*bounds: Any) -> TensorShape:
    for name, bound in zip(("start", "limit", "delta"), bounds, strict=True):
        shape = bound.shape
        if shape.rank and (state.graph is not None or shape != [1]):  # at once, one number in a vector will do
            raise invalid(f"{name} must be a scalar, not shape {text(shape)}")
    values = [_static_bound(b) for b in bounds]
    if None in values:
        return TensorShape([None])
    start, limit, delta = values
    try:
        return TensorShape([_count_steps(start, limit, delta, bounds[0].dtype.torch)])
    except ResourceExhaustedError:  # an error of the run
        return TensorShape([None])


def _static_bound(bound: Tensor) -> Any:
    """Returns the static value of a bound as a Python number; None if it has none. `range` casts all bounds."""
    if not isinstance(bound, SymbolicTensor):
        return None
    value = array_of(bound.op.args[0] if bound.op.op is ops.Cast.op else bound)
    return None if value is None else value.item()


def _arange_kernel(
    start: torch.Tensor, limit: torch.Tensor, delta: torch.Tensor, device: torch.device | None = None
) -> torch.Tensor:
    if any(bound.ndim > 1 or bound.numel() != 1 for bound in (start, limit, delta)):
        raise TypeError("the shape rule says what is wrong")
    return _count_up(start.item(), limit.item(), delta.item(), start.dtype, device)


_MOST = 1 << 59  # torch can't count the bytes of so many numbers


def _count_steps(start: float, limit: float, delta: float, dtype: torch.dtype) -> int:
    """Returns how many numbers `start + i * delta` are below the limit; floats are divided in their own dtype."""
    if delta == 0:
        raise invalid(f"Requires delta != 0: {delta}")
    if not (start <= limit if delta > 0 else start >= limit):
        sign = "<=" if delta > 0 else ">="
        raise invalid(f"Requires start {sign} limit when delta {'>' if delta > 0 else '<'} 0: {start:g}/{limit:g}")
    if dtype.is_floating_point:
        last, first, step = (torch.tensor(v, dtype=dtype) for v in (limit, start, delta))
        return math.ceil(abs(torch.div(torch.sub(last, first), step).item()))
    count = math.ceil(-((start - limit) // delta))
    if count >= _MOST:
        raise ResourceExhaustedError.of(f"OOM when allocating tensor with shape[{count}]")
    return count


def _count_up(start: float, limit: float, delta: float, dtype: Any, device: torch.device | None = None) -> torch.Tensor:
    """Returns the numbers `start + i * delta` below the limit; floats are added up as in TensorFlow."""
    count = _count_steps(start, limit, delta, dtype)
    device = device or devices.current_or_default(dtype)
    if dtype in (torch.uint16, torch.uint32, torch.uint64):
        return torch.arange(start, limit, delta, device=device).to(dtype)
    if not dtype.is_floating_point:
        return torch.arange(start, limit, delta, dtype=dtype, device=device)
    first, step = (torch.tensor(v, dtype=dtype) for v in (start, delta))  # all in the dtype, to its rounding errors
    return torch.add(torch.mul(torch.arange(count, device=device).to(dtype), step), first)


# Returns the numbers from `start` on, by `delta`, below `limit`.
range_op = defined_op("Range", _arange_kernel, shape=_range_rule, creates=True, node_name="range")


range_op.op.input_shape = lambda bound: bound  # the rule reads static values, like TensorFlow's
not_differentiable(range_op)


def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike = None,
    name: str | None = "range",
) -> Tensor:
    """Creates the numbers `start`, `start + delta`, `start + 2 * delta`, ... below `limit`.

    Args:
        start: a scalar, the first number; with `limit` left out, the limit, and the first number is 0.
        limit: a scalar, the end of the range. It is not in the result.
        delta: a scalar, the difference between neighbours; 1 by default.
        dtype: the dtype of the result; by default the widest one among the arguments.

    Returns:
        A vector of these numbers.

    Raises:
        InvalidArgumentError: `delta` is 0 or leads away from `limit`.
        AssertionError: the dtypes differ, and at least one is not int32, int64 or floating.

    Example:
        >>> tf.range(3, 10, 3).numpy().tolist()
        [3, 6, 9]
    """
    if limit is None:
        start, limit = 0, start
    if dtype is None and not detours and type(start) is int and type(limit) is int and type(delta) is int:
        dtype = int32 if min(start, limit, delta) >= -(2**31) and max(start, limit, delta) < 2**31 else int64
        return EagerTensor(_count_up_here(start, limit, delta, dtype), dtype)
    if dtype is not None:
        dtype = as_dtype(dtype).base_dtype
    numbers = [v if isinstance(v, Tensor) else convert(v, None if hasattr(v, "dtype") else dtype)
               for v in (start, limit, delta)]  # fmt: skip
    if dtype is None:
        dtypes = {n.dtype for n in numbers}
        if len(dtypes) > 1 and not dtypes.issubset(_RANGE_DTYPES):
            raise AssertionError(f"tf.range can't mix {', '.join(n.dtype.name for n in numbers)}: give a dtype")
        dtype = max(dtypes, key=_RANGE_DTYPES.index) if len(dtypes) > 1 else numbers[0].dtype
    start, limit, delta = [cast_to(n, dtype) for n in numbers]
    return range_op(start, limit, delta, name)


def _count_up_here(start: int, limit: int, delta: int, dtype: DType) -> torch.Tensor:
    try:
        return _count_up(start, limit, delta, dtype.torch)
    except Exception:
        return range_op(*[convert(v, dtype) for v in (start, limit, delta)]).value


hooks.zeros = zeros
