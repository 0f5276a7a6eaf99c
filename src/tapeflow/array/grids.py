"""Tensors of a regular pattern: identity matrices, evenly spaced numbers, grids, one-hot rows."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import _range, _shape_argument, fill, range
from tapeflow.array.joining import concat
from tapeflow.array.shaping import broadcast_to, expand_dims, reshape
from tapeflow.core import device as devices
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.context import detours
from tapeflow.core.ops.bulk import MANY, by_value
from tapeflow.core.ops.convert import convert, datatype_name, operand
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import DType, as_dtype, float32, float64, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid, traced


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
    if (
        type(num_rows) is int and type(columns) is int and num_rows >= 0 and columns >= 0 and batch_shape is None
        and type(dtype) is DType and dtype.torch is not None and not detours
    ):  # fmt: skip
        ones = torch.eye(num_rows, columns, dtype=dtype.torch, device=devices.current_or_default())
        return EagerTensor(ones, dtype)
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


# ---- along axes ------------------------------------------------------------------------------------------------------


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
    from tapeflow.math.arithmetic import add, multiply, subtract
    from tapeflow.math.casting import cast
    from tapeflow.math.division import divide
    from tapeflow.math.extrema import maximum

    if type(start) is float and type(stop) is float and type(num) is int and num > 1 and axis == 0 and not detours:
        return EagerTensor(_between(start, stop, num), float32)
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
    along = reshape(cast(inner, number), [-1 if i == where else 1 for i, _ in enumerate(start.shape)])
    rows = concat([start, add(start, multiply(step, along)), stop], where)
    if type(count) is EagerTensor and int(count) < 0:
        raise invalid(f"Requires start <= limit when delta > 0: 1/{int(count)} [Op:Range] name: ")
    size = [-1] * len(start.shape)
    size[where] = count
    return slice(rows, [0] * len(start.shape), size)


def _between(start: float, stop: float, num: int) -> torch.Tensor:
    """The numbers of a linspace of two floats, computed in float32 as by the ops."""
    device = devices.current_or_default()
    first, last = torch.tensor((start, stop), dtype=torch.float32, device=device).unbind()
    numbers = torch.arange(num, dtype=torch.float32, device=device).mul_((last - first) / (num - 1)).add_(first)
    numbers[-1] = last
    return numbers


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """The coordinates of the points of a grid, along each of its axes.

    Args:
        *args: n tensors of one dtype, the coordinates along each axis; flattened.
        indexing: "xy" (the default) for matrices with rows along y, "ij" for the axes in the order of the arguments.

    Returns:
        A list of n tensors of rank n.

    Raises:
        ValueError: there is no such indexing.
        TypeError: there is another keyword argument.

    Example:
        >>> x, y = tf.meshgrid([1, 2], [3, 4, 5])
        >>> x.numpy().tolist(), y.numpy().tolist()
        ([[1, 2], [1, 2], [1, 2]], [[3, 3], [4, 4], [5, 5]])
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    for key in kwargs:
        raise TypeError(f"'{key}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    rank = len(args)
    columns = [reshape(convert(v), (-1,)) for v in args]
    for column in columns[1:]:
        if column.dtype is not columns[0].dtype:
            raise invalid(
                f"cannot compute Mul as input #1(zero-based) was expected to be a {datatype_name(column.dtype)} tensor "
                f"but is a {datatype_name(columns[0].dtype)} tensor [Op:Mul] name: "
            )
    axes = [*enumerate(columns)]
    if indexing == "xy" and rank > 1:
        axes[0], axes[1] = (1, columns[0]), (0, columns[1])
    shape: list[Any] = [None] * rank
    for axis, column in axes:
        shape[axis] = shape_of(column)[0]
    return [broadcast_to(reshape(c, [-1 if i == axis else 1 for i, _ in enumerate(args)]), shape) for axis, c in axes]


# ---- one hot ---------------------------------------------------------------------------------------------------------


def _one_hot_rule(indices: TensorShape, depth: Any, on: TensorShape, off: TensorShape, axis: int) -> TensorShape:
    if isinstance(depth, tuple):
        raise invalid(f"depth must be a scalar, but got: {text(TensorShape(np.shape(depth)))}")
    if isinstance(depth, Tensor):  # not known
        depth = None
    elif depth < 0:
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


_MOST_KEPT = 4096  # numbers


@functools.lru_cache(64)
def _count(depth: int, device: torch.device) -> torch.Tensor:
    """The numbers below `depth`, which nobody changes."""
    return torch.arange(depth, device=device)


def _hot(indices: torch.Tensor, depth: int, on: torch.Tensor, off: torch.Tensor, axis: int = -1) -> torch.Tensor:
    rank = indices.ndim
    if axis < -1 or depth < 0 or on.ndim or off.ndim:
        raise TypeError("the shape rule says what is wrong")
    if axis in (-1, rank) and by_value(indices) and indices.numel() * depth >= MANY:
        return _hot_rows(indices, depth, on, off)
    column = indices.unsqueeze(axis)
    kept = depth <= _MOST_KEPT and not traced(indices)
    places = _count(depth, indices.device) if kept else torch.arange(depth, device=indices.device)
    if axis not in (-1, rank):
        places = places.view((-1,) + (1,) * (rank - axis))
    return torch.where(column == places, on, off)


def _hot_rows(indices: torch.Tensor, depth: int, on: torch.Tensor, off: torch.Tensor) -> torch.Tensor:
    """The rows, of which one element is written after the others. Indices outside write what is there."""
    places = indices.reshape(-1, 1).long()
    inside = (places >= 0) & (places < depth)
    rows = off.expand(places.shape[0], depth).scatter(1, places.clamp(0, depth - 1), torch.where(inside, on, off))
    return rows.reshape(*indices.shape, depth)


@op("OneHot", kernel=_hot, host=("depth",), shape=_one_hot_rule, moves=True, node_name="one_hot")
def _one_hot(indices: Any, depth: Any, on_value: Any, off_value: Any, axis: int = -1, name: str | None = None) -> Any:
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
