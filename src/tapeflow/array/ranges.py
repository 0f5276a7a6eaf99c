"""Tensors of a regular pattern: identity matrices, evenly spaced numbers, grids, one-hot rows."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat, pack_op
from tapeflow.array.creation import _shape_argument, fill, ones_like_op, range, range_op, zeros_like_op
from tapeflow.array.identities import cast_to
from tapeflow.array.properties import ensure_shape, shape_op, size_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, reshape
from tapeflow.array.unranked import joined_dims
from tapeflow.core import device as devices
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.context import detours, state
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, behind, static
from tapeflow.core.ops.convert import convert, datatype_name, operand
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import MANY, by_value
from tapeflow.core.ops.memory import check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import argument_shape, leave_to_kernel, text
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, float64, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, dtype_error, invalid, is_traced


def eye(
    num_rows: Tensor | int,
    num_columns: Tensor | int | None = None,
    batch_shape: ShapeLike = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:
    """Creates an identity matrix, or a batch of them.

    Args:
        num_rows: an int or integer scalar, the number of rows.
        num_columns: a scalar, the number of columns; `num_rows` by default.
        batch_shape: leading dimensions of the result; none by default.
        dtype: the dtype of the result: a numeric dtype, or bool. The default is float32.

    Returns:
        A tensor of shape `batch_shape + [num_rows, num_columns]`, with ones on the main diagonal.

    Raises:
        TypeError: the numbers are no integers.
        InvalidArgumentError: a number is negative, or there are more than 2**63 - 1 elements.
        ResourceExhaustedError: there is not enough memory.

    Example:
        >>> tf.eye(2).numpy().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    columns = num_rows if num_columns is None else num_columns
    sizes: list[Any] = [num_rows, columns]
    static = type(num_rows) is int and type(columns) is int and num_rows >= 0 and columns >= 0
    if static and batch_shape is None and type(dtype) is DType and dtype.torch is not None and not detours:
        try:
            ones = torch.eye(*sizes, dtype=dtype.torch, device=devices.current_or_default(dtype.torch))
            return EagerTensor(ones, dtype)
        except RuntimeError:  # too large, or a dtype that ATen lacks here
            pass
    for n in sizes:
        if not isinstance(n, (int, np.integer)) and not isinstance(n, Tensor):
            raise TypeError(
                "Arguments `num_rows` and `num_columns` must be positive integer values. "
                f"Received: num_rows={num_rows}, num_columns={columns}"
            )
    if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
        ops.Minimum(num_rows, columns)  # raises for arguments that are not numbers
        batch_shape = None if batch_shape is None else convert(batch_shape, int32)
    dtype = as_dtype(dtype).base_dtype
    if static:
        for dims in ([min(sizes)], sizes):  # the diagonal first, as TensorFlow
            check_memory(dims, dtype.size)
    one, zero = (True, False) if dtype.is_bool else (1, 0)
    rows = fill((num_rows,), 0) if type(num_rows) is int and num_rows < 0 else range(_as_int(num_rows))
    matrix = one_hot(rows, _check_columns(columns), convert(one, dtype), convert(zero, dtype), dtype=dtype)
    if batch_shape is None:
        return matrix
    return broadcast_to(matrix, concat([_shape_argument(batch_shape), [_as_int(num_rows), _as_int(columns)]], 0))


def _check_columns(columns: Tensor | int) -> Any:
    if isinstance(columns, (int, np.integer)) and columns < 0:
        raise invalid(f"Dimension {columns} must be >= 0 [Op:Fill] name: ")
    return _as_int(columns)


def _as_int(n: Tensor | int) -> Any:
    return cast_to(n, int32) if isinstance(n, Tensor) else int(n)


# ---- along axes ------------------------------------------------------------------------------------------------------


def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: int = 0) -> Tensor:
    """Creates evenly spaced numbers from `start` to `stop`, both included.

    Args:
        start: a floating or complex tensor of any shape. Integers of up to 16 bits become float32, larger ones float64.
        stop: of the same dtype. Its shape broadcasts with the shape of `start`.
        num: an integer scalar, the number of values.
        axis: an int, the position of the new dimension, 0 by default.

    Returns:
        A tensor of the broadcast shape of `start` and `stop`, with a new dimension of length `num` at `axis`.

    Raises:
        TypeError: `num` is no integer.
        InvalidArgumentError: `num` is negative.

    Example:
        >>> tf.linspace(0.0, 1.0, 5).numpy().tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if type(start) is float and type(stop) is float and type(num) is int and num > 1 and axis == 0 and not detours:
        return EagerTensor(_linspace_values(start, stop, num), float32)
    if isinstance(axis, (list, tuple, EagerTensor)):
        axes = np.ravel(axis)
        if len(axes) != 1:
            raise invalid("'dim' must be a tensor with a single value [Op:ExpandDims]")
        axis = int(axes[0])
    first: Any = convert(start)
    last: Any = convert(stop, first.dtype)
    if first.dtype.is_integer:
        narrow = first.dtype.size < int32.size
        first, last = (cast_to(end, float32 if narrow else float64) for end in (first, last))
    count = convert(int(num) if type(num) is bool else num)
    if not count.dtype.is_integer:
        raise TypeError(
            f"Argument `tensor` (name: num) must be of type integer. Received `tensor` = {num!r} of dtype: "
            f"{count.dtype}"
        )
    if state.graph is None:
        count = reshape(count, ())  # in a graph, the range of a vector is an error
    count = ensure_shape(cast_to(count, int32), ())
    shape = shape_op(ops.AddV2(first, last))
    rank = shape.shape[0]
    position = axis if axis >= 0 else axis + (size_op(shape) if rank is None else rank) + 1
    first, last = (expand_dims(broadcast_to(end, shape), axis) for end in (first, last))
    gaps = ops.Maximum(ops.Sub(count, 1), 1)
    step = ops.RealDiv(ops.Sub(last, first), cast_to(gaps, first.dtype))
    end = gaps if type(count) is EagerTensor else ops.SelectV2(ops.Less(count, 0), -1, gaps)
    inner = range_op(convert(1), end, convert(1))
    size: Any
    if rank is None:
        beside = joined_dims([-1], ones_like_op(shape[position:]))
        size = joined_dims(shape[:position], [count], shape[position:])
        begin = zeros_like_op(size)
    else:
        beside = [-1] + [1] * (rank - position)
        size = [-1 if d is None else d for d in first.shape]
        size[position] = count
        begin = [0] * (rank + 1)
    along = reshape(cast_to(inner, first.dtype), beside)
    rows = concat([first, ops.AddV2(first, ops.Mul(step, along)), last], position)
    static = int(count) if type(count) is EagerTensor else num if type(num) is int else 0
    if static < 0:
        message = f"Requires start <= limit when delta > 0: 1/{static} [Op:Range] name: "
        raise invalid(message) if state.graph is None else ValueError(message)
    return ops.Slice(rows, begin, size)


def _linspace_values(start: float, stop: float, num: int) -> torch.Tensor:
    """Returns the numbers of a linspace of two floats, computed in float32 as the ops do."""
    device = devices.current_or_default()
    first, last = torch.tensor((start, stop), dtype=torch.float32, device=device).unbind()
    numbers = torch.arange(num, dtype=torch.float32, device=device).mul_((last - first) / (num - 1)).add_(first)
    numbers[-1] = last
    return numbers


def meshgrid(*args: TensorLike, **kwargs: Any) -> list[Tensor]:
    """Returns the coordinates of the points of a grid, along each of its axes.

    Args:
        *args: n tensors of one dtype and of any shapes, the coordinates along each axis; flattened.
        **kwargs: `indexing`, "xy" (the default) for matrices with rows along y, "ij" for the axes in the order of the
            arguments; and `name`.

    Returns:
        A list of n tensors of rank n.

    Raises:
        ValueError: there is no such indexing.
        TypeError: there is another keyword argument.
        InvalidArgumentError: the dtypes differ.

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
    columns = [reshape(_as_column(v), (-1,)) for v in args]
    for column in columns[1:]:
        if column.dtype is not columns[0].dtype:
            raise dtype_error(
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


def _as_column(value: Any) -> Tensor:
    """Returns the tensor of a value, or of a list of tensors that don't go together the error of `tf.stack`."""
    try:
        return convert(value)
    except (TypeError, ValueError):
        return pack_op(list(value), 0, name="stack")


# ---- one hot ---------------------------------------------------------------------------------------------------------


def _one_hot_rule(indices: TensorShape, depth: int, on: TensorShape, off: TensorShape, axis: int) -> TensorShape:
    if isinstance(depth, tuple):
        if None not in depth:
            raise invalid(f"depth must be a scalar, but got: {text(argument_shape(depth))}")
        leave_to_kernel(f"depth must be a scalar, but got: {text(argument_shape(depth))}")
    if isinstance(depth, (Tensor, tuple)):  # not static
        depth = None
    elif depth < 0:
        raise invalid(f"depth must be non-negative, got: {depth}")
    if on.rank or off.rank:
        leave_to_kernel(f"on_value and off_value must be scalars, but got: {text(on)} and {text(off)}")
    if axis < -1:
        raise invalid(f"axis must be >= -1, not {axis}")
    rank = indices.rank
    if rank is None:
        return TensorShape(None)
    if not -1 <= axis <= rank:
        leave_to_kernel(f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}")
    dims = indices.as_list()
    dims.insert(rank if axis == -1 else axis, depth)
    return TensorShape(dims)


_MOST_CACHED = 4096  # numbers


@functools.lru_cache(64)
def _count_below(depth: int, device: torch.device) -> torch.Tensor:
    """Returns the numbers below `depth`, in memory that nobody writes to."""
    return torch.arange(depth, device=device)


def _hot_rows(indices: torch.Tensor, depth: int, on: torch.Tensor, off: torch.Tensor) -> torch.Tensor:
    """Returns the rows, filled with `off` before one element of each is written. An index out of range writes `off`
    again.
    """
    places = indices.reshape(-1, 1).long()
    inside = (places >= 0) & (places < depth)
    rows = off.expand(places.shape[0], depth).scatter(1, places.clamp(0, depth - 1), torch.where(inside, on, off))
    return rows.reshape(*indices.shape, depth)


@op(
    "OneHot", host=("depth",), shape=_one_hot_rule, moves=True, node_name="one_hot",
    in_loops=lambda b, *args: b.one_hot(*args),
)  # fmt: skip
def one_hot_op(
    indices: torch.Tensor, depth: int, on_value: torch.Tensor, off_value: torch.Tensor, axis: int = -1
) -> torch.Tensor:
    """Returns one value at each index of a new dimension, and another elsewhere."""
    rank = indices.ndim
    if axis < -1 or depth < 0 or on_value.ndim or off_value.ndim:
        raise TypeError("the shape rule says what is wrong")
    if axis in (-1, rank) and by_value(indices) and indices.numel() * depth >= MANY:
        return _hot_rows(indices, depth, on_value, off_value)
    column = indices.unsqueeze(axis)
    if not column.numel():  # numbers up to the depth may not fit in memory
        sizes = list(column.shape)
        sizes[axis] = depth
        return off_value.expand(sizes)
    cached = depth <= _MOST_CACHED and not is_traced(indices)
    places = _count_below(depth, indices.device) if cached else torch.arange(depth, device=indices.device)
    if axis not in (-1, rank):
        places = places.view((-1,) + (1,) * (rank - axis))
    return torch.where(column == places, on_value, off_value)


not_differentiable(one_hot_op)


@one_hot_op.batching
def _(batch: Batch, indices: Slices, depth: int, on: Slices, off: Slices, axis: int) -> Any:
    if on.stacked or off.stacked:
        raise NoRule
    return batch.run(indices.value, static(depth), on.value, off.value, behind(axis))


def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike = None,
    name: str | None = None,
) -> Tensor:
    """Gives each index a row with `on_value` at the index and `off_value` elsewhere.

    Args:
        indices: uint8, int8, int32 or int64, of any shape; an index out of range has a row of `off_value`s.
        depth: an integer scalar, the length of a row.
        on_value: a scalar, 1 by default.
        off_value: a scalar of the same dtype, 0 by default.
        axis: an int, the position of the new dimension; last by default.
        dtype: the dtype of the result; by default the dtype of `on_value` and `off_value`, or float32 without them.

    Returns:
        A tensor of the shape of `indices` with a new dimension of length `depth` at `axis`.

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
    return one_hot_op(indices, depth, on_value, off_value, -1 if axis is None else axis, name)


def _hot_values(on_value: TensorLike | None, off_value: TensorLike | None, dtype: Any) -> tuple[Any, Any]:
    if dtype is not None:
        dtype = as_dtype(dtype).base_dtype
    dtypes = {}
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if value is not None:
            dtypes[name] = convert(value, None, dtype).dtype
            if dtype is not None and dtypes[name] is not dtype:
                raise TypeError(f"dtype {dtypes[name]} of {name} does not match dtype parameter {dtype}")
    if len(set(dtypes.values())) == 2:
        on, off = dtypes["on_value"], dtypes["off_value"]
        raise TypeError(f"dtype {on} of on_value does not match dtype {off} of off_value")
    dtype = dtype or next(iter(dtypes.values()))
    return convert(1 if on_value is None else on_value, dtype), convert(0 if off_value is None else off_value, dtype)
