"""Ops that make tensors from values, shapes and ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tapeflow.array.joining import concat
from tapeflow.array.passing import identity
from tapeflow.array.shaping import broadcast_to, expand_dims, reshape
from tapeflow.core import device as devices
from tapeflow.core.context import detours
from tapeflow.core.convert import convert, operand
from tapeflow.core.dtypes import DType, as_dtype, bfloat16, float32, float64, int32, int64, string
from tapeflow.core.op import not_differentiable, op
from tapeflow.core.shape import TensorShape
from tapeflow.core.shape_rules import text
from tapeflow.core.tape import Call
from tapeflow.core.tensor import EagerTensor, Tensor, invalid


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """The tensor of a value.

    Python ints become int32 (int64 where they don't fit), floats float32, arrays keep their dtype; tensors in a list are
    stacked, so that gradients pass.

    Args:
        value: a number, a text, a nested list of them or of tensors, a NumPy array, a `torch.Tensor`, a variable, or an
            object with `__array__` or `__dlpack__`.
        dtype: the dtype it must have.
        dtype_hint: the dtype it gets where that is possible.

    Raises:
        TypeError: Python values do not fit `dtype`.
        ValueError: it is a tensor of another dtype, or nothing that converts.

    Example:
        >>> tf.convert_to_tensor([1, 2], tf.float32)
        <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    if dtype is not None and type(dtype) is not DType:
        dtype = as_dtype(dtype).base_dtype
    if dtype_hint is not None:
        dtype_hint = as_dtype(dtype_hint).base_dtype
    return convert(value, dtype, dtype_hint)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A new tensor of a value.

    Args:
        value: what `tf.convert_to_tensor` takes.
        dtype: the dtype it must have.
        shape: the shape it gets: a single value is repeated to fill it, others are rearranged.

    Raises:
        TypeError: the values do not fit `dtype`, or their number does not fit `shape`.
        ValueError: it is nothing that converts.

    Example:
        >>> tf.constant(5, shape=[2, 2]).numpy().tolist()
        [[5, 5], [5, 5]]
    """
    if dtype is not None and type(dtype) is not DType:
        dtype = as_dtype(dtype).base_dtype
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise TypeError(f"Expected tensor {value.numpy()} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
        tensor = identity(value)
    elif isinstance(dtype, DType) and hasattr(type(value), "__tf_tensor__") and hasattr(value, "dtype"):
        from tapeflow.math.casting import cast

        tensor = cast(value, dtype)
    else:
        tensor = convert(value, dtype)
        if type(tensor) is EagerTensor:  # scalars come from a cache; a constant is nobody else's
            tensor = EagerTensor(tensor.value, tensor.dtype)
    return tensor if shape is None else _with_shape(tensor, shape, value)


def _with_shape(tensor: EagerTensor, shape: Any, value: Any) -> Any:
    wanted = TensorShape(_shape_argument(shape).numpy().tolist())
    given, count = tensor.shape.num_elements(), wanted.num_elements()
    if given == count:
        return reshape(tensor, wanted.as_list())
    if given == 1:
        return fill(wanted.as_list(), reshape(tensor, ()))
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {tensor.numpy()} (converted from {value!r}) has "
        f"{given} elements, but got `shape` {wanted} with {count} elements)."
    )


# ---- filled with one value -------------------------------------------------------------------------------------------


def _fill_rule(dims: Any, value: TensorShape) -> TensorShape:
    if not isinstance(dims, tuple):
        dims = (dims,)
    if any(isinstance(d, tuple) for d in dims):
        raise invalid(f"dims must represent a vector, got shape {text(TensorShape(np.shape(dims)))}")
    for d in dims:
        if d is not None and d < 0:
            raise invalid(f"Dimension {d} must be >= 0")
    if value.rank:
        raise invalid(f"value must represent a scalar, got shape {text(value)}")
    return TensorShape(dims)


def _full(dims: Any, value: torch.Tensor, device: torch.device | None = None) -> torch.Tensor:
    if value.ndim or (type(dims) is not int and dims and min(dims) < 0):
        raise TypeError("the shape rule says what is wrong")
    return value.expand(dims).to(device or devices.current_or_default()).contiguous()


@op("Fill", kernel=_full, host=("dims",), shape=_fill_rule, moves=True, creates=True)
def _fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """A tensor of one value."""


@_fill.gradient()
def _(call: Call, dy: Any) -> Any:
    from tapeflow.math.reduction import reduce_sum

    return reduce_sum(dy)


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """A tensor filled with one value.

    Args:
        dims: its shape, int32 or int64.
        value: a scalar of any dtype.

    Raises:
        InvalidArgumentError: a dimension is negative, or `value` is no scalar.

    Example:
        >>> tf.fill([2, 2], 7).numpy().tolist()
        [[7, 7], [7, 7]]
    """
    return _fill(dims, value, name)


def _shape_argument(shape: Any) -> Any:
    """A shape as a tensor, of int32 where its dimensions fit.

    Raises:
        TypeError, ValueError: it is no shape.
    """
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape) or hasattr(shape, "dtype"):
        return convert(shape)
    return convert([] if isinstance(shape, (list, tuple)) and not shape else shape, int32 if _small(shape) else int64)


def _small(shape: Any) -> bool:
    dims = shape if isinstance(shape, (list, tuple)) else (shape,)
    return all(not isinstance(d, int) or d < 2**31 for d in dims)


def _filled(shape: Any, number: int, dtype: Any, name: str | None) -> Any:
    dtype = as_dtype(dtype).base_dtype
    value: Any = bool(number) if dtype.is_bool else "" if dtype is string and not number else number
    return _fill(_shape_argument(shape), convert(value, dtype), name)


def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of zeros (of empty strings, for strings; of False, for bools).

    Args:
        shape: its shape: ints, a `tf.TensorShape`, or an int32 or int64 tensor.
        dtype: any dtype.

    Raises:
        InvalidArgumentError: a dimension is negative.

    Example:
        >>> tf.zeros([2, 3], tf.int32).numpy().tolist()
        [[0, 0, 0], [0, 0, 0]]
    """
    if not detours and type(dtype) is DType and dtype.torch is not None:
        if type(shape) is TensorShape:
            shape = shape._dims
        try:
            return EagerTensor(torch.zeros(shape, dtype=dtype.torch, device=devices.current_or_default()), dtype)
        except (TypeError, RuntimeError):
            pass
    return _filled(shape, 0, dtype, name)


def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """A tensor of ones (of True, for bools).

    Args:
        shape: its shape: ints, a `tf.TensorShape`, or an int32 or int64 tensor.
        dtype: any numeric dtype, or bool.

    Raises:
        InvalidArgumentError: a dimension is negative.
        TypeError: `dtype` has no one.

    Example:
        >>> tf.ones([3]).numpy().tolist()
        [1.0, 1.0, 1.0]
    """
    if not detours and type(dtype) is DType and dtype.torch is not None:
        if type(shape) is TensorShape:
            shape = shape._dims
        try:
            return EagerTensor(torch.ones(shape, dtype=dtype.torch, device=devices.current_or_default()), dtype)
        except (TypeError, RuntimeError):
            pass
    return _filled(shape, 1, dtype, name)


def _empty_texts(x: np.ndarray) -> np.ndarray:
    return np.full(x.shape, b"" if x.dtype == object else 0, x.dtype)


@op("ZerosLike", kernel=torch.zeros_like, strings=_empty_texts)
def _zeros_like(x: Any, name: str | None = None) -> Any:
    """Zeros of the dtype and shape of another tensor."""


@op("OnesLike", kernel=torch.ones_like)
def _ones_like(x: Any, name: str | None = None) -> Any:
    """Ones of the dtype and shape of another tensor."""


not_differentiable(_zeros_like, _ones_like)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Zeros of the shape of another tensor.

    Args:
        input: of any dtype and shape.
        dtype: the dtype of the result; that of `input` by default.

    Example:
        >>> tf.zeros_like([1.5, 2.5]).numpy().tolist()
        [0.0, 0.0]
    """
    if dtype is None or (type(input) is EagerTensor and input.dtype is dtype):
        return _zeros_like(input, name)
    return zeros(_shape_of(input), dtype, name)


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Ones of the shape of another tensor.

    Args:
        input: of any dtype and shape.
        dtype: the dtype of the result; that of `input` by default, which must be numeric or bool then.

    Raises:
        InvalidArgumentError: the dtype has no one.

    Example:
        >>> tf.ones_like([1.5, 2.5], dtype=tf.int32).numpy().tolist()
        [1, 1]
    """
    if dtype is None or (type(input) is EagerTensor and input.dtype is dtype):
        return _ones_like(input, name)
    return ones(_shape_of(input), dtype, name)


def _shape_of(value: Any) -> Any:
    from tapeflow.array.properties import shape

    value = convert(value)
    return tuple(value.value.shape) if type(value) is EagerTensor else shape(value)


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32, name: str | None = None
) -> Any:
    """An identity matrix, or a batch of them.

    Args:
        num_rows: the number of rows.
        num_columns: the number of columns; by default that of the rows.
        batch_shape: leading dimensions of the result.
        dtype: a numeric dtype, or bool.

    Returns:
        A tensor of shape `batch_shape + [num_rows, num_columns]`, with ones on the main diagonal.

    Raises:
        TypeError: the numbers are no integers.
        InvalidArgumentError: a number is negative.

    Example:
        >>> tf.eye(2).numpy().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    columns = num_rows if num_columns is None else num_columns
    for n in (num_rows, columns):
        if not isinstance(n, (int, np.integer)) and not (isinstance(n, Tensor) and n.dtype.is_integer):
            raise TypeError(
                "Arguments `num_rows` and `num_columns` must be positive integer values. "
                f"Received: num_rows={num_rows}, num_columns={columns}"
            )
    dtype = as_dtype(dtype).base_dtype
    one, zero = (True, False) if dtype.is_bool else (1, 0)
    rows = fill((num_rows,), 0) if type(num_rows) is int and num_rows < 0 else range(num_rows)
    matrix = one_hot(rows, _counted(columns), convert(one, dtype), convert(zero, dtype), dtype=dtype)
    if batch_shape is None:
        return matrix
    return broadcast_to(matrix, concat([_shape_argument(batch_shape), [_as_int(num_rows), _as_int(columns)]], 0))


def _counted(columns: Any) -> Any:
    if isinstance(columns, (int, np.integer)) and columns < 0:
        raise invalid(f"Dimension {columns} must be >= 0 [Op:Fill] name: ")
    return columns


def _as_int(n: Any) -> Any:
    from tapeflow.math.casting import cast

    return cast(n, int32) if isinstance(n, Tensor) else int(n)


# ---- ranges ------------------------------------------------------------------------------------------------------------

_RANGE_DTYPES = (int32, int64, float32, float64)


def _range_rule(start: TensorShape, limit: TensorShape, delta: TensorShape) -> TensorShape:
    for name, shape in (("start", start), ("limit", limit), ("delta", delta)):
        if shape.rank:
            raise invalid(f"{name} must be a scalar, not shape {text(shape)}")
    return TensorShape([None])


def _arange(start: torch.Tensor, limit: torch.Tensor, delta: torch.Tensor, device: Any = None) -> torch.Tensor:
    if start.ndim or limit.ndim or delta.ndim:
        raise TypeError("the shape rule says what is wrong")
    return _count_up(start.item(), limit.item(), delta.item(), start.dtype, device)


def _count_up(start: Any, limit: Any, delta: Any, dtype: torch.dtype, device: Any = None) -> torch.Tensor:
    """The numbers `start + i * delta` below the limit; floats are added up as TensorFlow does it."""
    if delta == 0:
        raise invalid(f"Requires delta != 0: {delta}")
    if (delta > 0 and start > limit) or (delta < 0 and start < limit):
        sign = "<=" if delta > 0 else ">="
        raise invalid(f"Requires start {sign} limit when delta {'>' if delta > 0 else '<'} 0: {start:g}/{limit:g}")
    device = device or devices.current_or_default()
    if not dtype.is_floating_point:
        if dtype in (torch.uint16, torch.uint32, torch.uint64):
            return torch.arange(start, limit, delta, device=device).to(dtype)
        return torch.arange(start, limit, delta, dtype=dtype, device=device)
    count = math.ceil(abs((limit - start) / delta))
    if delta == 1 and start == 0:
        return torch.arange(count, dtype=dtype, device=device)
    # Each number is start + i * delta, in the dtype itself.
    steps = torch.arange(count, device=device).to(dtype)
    return torch.add(torch.mul(steps, torch.tensor(delta, dtype=dtype)), torch.tensor(start, dtype=dtype))


@op("Range", kernel=_arange, shape=_range_rule, creates=True)
def _range(start: Any, limit: Any, delta: Any, name: str | None = None) -> Any:
    """The numbers from `start` on, by `delta`, below `limit`."""


not_differentiable(_range)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range") -> Any:
    """The numbers `start`, `start + delta`, `start + 2 * delta`, ... below `limit`.

    Args:
        start: the first number; with `limit` left out, the limit, and the first number is 0.
        limit: not in the result.
        delta: the difference of neighbours.
        dtype: the dtype of the result; by default the widest one among the arguments.

    Raises:
        InvalidArgumentError: `delta` is 0 or leads away from `limit`.

    Example:
        >>> tf.range(3, 10, 3).numpy().tolist()
        [3, 6, 9]
    """
    if limit is None:
        start, limit = 0, start
    if dtype is None and not detours and type(start) is int and type(limit) is int and type(delta) is int:
        dtype = int32 if -(2**31) <= min(start, limit, delta) and max(start, limit, delta) < 2**31 else int64
        return EagerTensor(_count_up_here(start, limit, delta, dtype), dtype)
    if dtype is not None:
        dtype = as_dtype(dtype).base_dtype
    numbers = [v if isinstance(v, Tensor) else convert(v, None if hasattr(v, "dtype") else dtype)
               for v in (start, limit, delta)]  # fmt: skip
    if dtype is None:
        for number in numbers:
            if number.dtype not in _RANGE_DTYPES and number.dtype is not bfloat16:
                if all(n.dtype is number.dtype for n in numbers):
                    break
                raise AssertionError(f"tf.range can't mix {', '.join(n.dtype.name for n in numbers)}: give a dtype")
        known = [n.dtype for n in numbers if n.dtype in _RANGE_DTYPES]
        dtype = max(known, key=_RANGE_DTYPES.index) if known else numbers[0].dtype
    from tapeflow.math.casting import cast

    return _range(*[cast(n, dtype) for n in numbers], name)


def _count_up_here(start: int, limit: int, delta: int, dtype: DType) -> torch.Tensor:
    try:
        return _count_up(start, limit, delta, dtype.torch)
    except Exception:
        return _range(*[convert(v, dtype) for v in (start, limit, delta)]).value


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: Any = 0) -> Any:
    """Evenly spaced numbers from `start` to `stop`, both included.

    Args:
        start, stop: floating or complex (integers become float64), of shapes that broadcast.
        num: how many; an integer.
        axis: where the new dimension goes.

    Returns:
        A tensor of the broadcast shape of `start` and `stop`, with a new dimension of length `num` at `axis`.

    Raises:
        TypeError: `num` is no integer.
        InvalidArgumentError: `num` is negative.

    Example:
        >>> tf.linspace(0.0, 1.0, 5).numpy().tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    from tapeflow.array.properties import shape
    from tapeflow.array.slicing import slice
    from tapeflow.math import add, divide, maximum, multiply, subtract
    from tapeflow.math.casting import cast

    start = convert(start)
    stop = convert(stop, start.dtype)
    if start.dtype.is_integer:
        start, stop = cast(start, float64), cast(stop, float64)
    count = convert(num)
    if not count.dtype.is_integer:
        raise TypeError(
            f"Argument `tensor` (name: num) must be of type integer. Received `tensor` = {num} of dtype: {count.dtype}"
        )
    count = reshape(cast(count, int32), ())
    where = axis if axis >= 0 else axis + max(len(start.shape), len(stop.shape)) + 1
    ends = broadcast_to(start, shape(add(start, stop))), broadcast_to(stop, shape(add(start, stop)))
    start, stop = expand_dims(ends[0], axis), expand_dims(ends[1], axis)
    number = start.dtype
    steps = cast(maximum(subtract(count, 1), 1), number)
    step = divide(subtract(stop, start), steps)
    inner = _range(convert(1), maximum(subtract(count, 1), 1), convert(1))
    along = reshape(cast(inner, number), [-1 if i == where else 1 for i in builtins_range(len(start.shape))])
    rows = concat([start, add(start, multiply(step, along)), stop], where)
    if type(count) is EagerTensor and int(count) < 0:
        raise invalid(f"Requires start <= limit when delta > 0: 1/{int(count)} [Op:Range] name: ")
    size = [-1] * len(start.shape)
    size[where] = count
    return slice(rows, [0] * len(start.shape), size)


builtins_range = __builtins__["range"] if isinstance(__builtins__, dict) else __builtins__.range


# ---- one hot -----------------------------------------------------------------------------------------------------------


def _one_hot_rule(indices: TensorShape, depth: Any, on: TensorShape, off: TensorShape, axis: int) -> TensorShape:
    if isinstance(depth, tuple):
        raise invalid(f"depth must be a scalar, but got: {text(TensorShape(np.shape(depth)))}")
    if depth < 0:
        raise invalid(f"depth must be non-negative, got: {depth}")
    if on.rank or off.rank:
        raise invalid(f"on_value and off_value must be scalars, but got: {text(on)} and {text(off)}")
    rank = indices.rank
    if rank is None:
        return TensorShape(None)
    if not -1 <= axis <= rank:
        raise invalid(f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}")
    dims = indices.as_list()
    dims.insert(rank if axis == -1 else axis, depth)
    return TensorShape(dims)


def _hot(indices: torch.Tensor, depth: int, on: torch.Tensor, off: torch.Tensor, axis: int = -1) -> torch.Tensor:
    rank = indices.ndim
    if axis < -1 or depth < 0 or on.ndim or off.ndim:
        raise TypeError("the shape rule says what is wrong")
    column = indices.unsqueeze(axis)
    places = torch.arange(depth, device=indices.device)
    if axis not in (-1, rank):
        places = places.view((-1,) + (1,) * (rank - axis))
    return torch.where(column == places, on, off)


@op("OneHot", kernel=_hot, host=("depth",), shape=_one_hot_rule, moves=True)
def _one_hot(
    indices: Any, depth: Any, on_value: Any, off_value: Any, axis: int = -1, name: str | None = None
) -> Any:
    """One value at each index of a new dimension, and another elsewhere."""


not_differentiable(_one_hot)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Gives each index a row with `on_value` at the index and `off_value` elsewhere.

    Args:
        indices: uint8, int8, int32 or int64, of any shape; an index out of range gives a row of `off_value`s.
        depth: the length of a row.
        on_value, off_value: scalars of one dtype; 1 and 0 by default.
        axis: where the new dimension goes; last by default.
        dtype: of the result; by default that of the values, and float32 without them.

    Raises:
        TypeError: the dtypes do not match.
        InvalidArgumentError: `depth` is negative, or there is no such axis.

    Example:
        >>> tf.one_hot([0, 2], 3).numpy().tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if on_value is None and off_value is None:
        dtype = float32 if dtype is None else as_dtype(dtype).base_dtype
        on_value, off_value = operand(1, dtype) if not dtype.is_bool else convert(1, dtype), operand(0, dtype)
    else:
        on_value, off_value = _hot_values(on_value, off_value, dtype)
    return _one_hot(indices, depth, on_value, off_value, -1 if axis is None else axis, name)


def _hot_values(on_value: Any, off_value: Any, dtype: Any) -> tuple[Any, Any]:
    if dtype is not None:
        dtype = as_dtype(dtype).base_dtype
    given = {}
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if value is not None:
            given[name] = convert(value, None, dtype).dtype
            if dtype is not None and given[name] is not dtype:
                raise TypeError(f"dtype {given[name]} of {name} does not match dtype parameter {dtype}")
    found = next(iter(given.values()))
    if len(given) == 2 and given["off_value"] is not found:
        raise TypeError(f"dtype {given['on_value']} of on_value does not match dtype {given['off_value']} of off_value")
    dtype = dtype or found
    return convert(1 if on_value is None else on_value, dtype), convert(0 if off_value is None else off_value, dtype)


