"""Ops that select by conditions: `tf.where`, masks."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import range as numbers
from tapeflow.array.gathers import gather
from tapeflow.array.identities import cast_to
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape_op, size_op
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.array.unranked import joined_dims
from tapeflow.core.autodiff.gradients import is_unranked, shape_of, sum_to_shape
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import detours, listeners, state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import select
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import broadcast_all, leave_to_kernel, text
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, bool_, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, dtype_error, invalid
from tapeflow.math.comparison import less
from tapeflow.math.extrema import maximum


def _where_rule(x: TensorShape) -> TensorShape:
    if x.rank == 0:
        leave_to_kernel("WhereOp : Unhandled input dimensions: 0")
    return TensorShape([None, x.rank])


@op("Where", shape=_where_rule)
def where_op(input: torch.Tensor) -> torch.Tensor:
    """Returns the indices of the elements that are true or not zero."""
    if not input.ndim:
        raise invalid("WhereOp : Unhandled input dimensions: 0")
    return torch.nonzero(input)


not_differentiable(where_op)


def _select_rule(condition: TensorShape, x: TensorShape, y: TensorShape) -> TensorShape:
    try:
        return broadcast_all(condition, x, y)
    except (InvalidArgumentError, ValueError):  # the message is this op's
        shapes = f"condition {text(condition)}, then {text(x)}, and else {text(y)}"
        raise invalid(f"{shapes} must be broadcastable") from None


def _select_strings(condition: torch.Tensor, x: StringArray, y: StringArray) -> Any:
    if not isinstance(x, StringArray):
        return np.where(condition.cpu().numpy(), x, y)  # of a quantized dtype
    shape = tuple(_select_rule(*[TensorShape(v.shape) for v in (condition, x, y)]))
    return x.broadcast_to(shape).select(condition.cpu().expand(shape).numpy(), y.broadcast_to(shape))


# Returns `x` where the condition is true, and `y` elsewhere.
select_v2 = defined_op(
    "SelectV2",
    select,
    strings=_select_strings,
    shape=_select_rule,
    moves=True,
    element=lambda b, condition, x, y: b.select(condition, x, y),
    allocates=True,
)


@select_v2.gradient(needs="input0 shapes")
def _(call: Call, dy: Tensor) -> Any:
    condition = call.inputs[0]
    zero = convert(0, dy.dtype)
    _, want_x, want_y = call.wanted
    return (
        None,
        sum_to_shape(select_v2(condition, dy, zero), call.shape(1)) if want_x else None,
        sum_to_shape(select_v2(condition, zero, dy), call.shape(2)) if want_y else None,
    )


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Selects elements by a condition, or returns the places where it holds.

    Args:
        condition: a bool tensor of any shape. With `condition` alone, it may be numeric; nonzero elements count as
            True.
        x: a tensor, or left out with `y`; all three broadcast.
        y: a tensor of the dtype of `x`, of a shape that broadcasts with its shape.

    Returns:
        A tensor with `x` where the condition holds and `y` elsewhere; with `condition` alone an int64 tensor of shape
        `[n, rank]` with the indices of the n places where it holds.

    Raises:
        ValueError: `x` was passed without `y`, or `y` without `x`.
        InvalidArgumentError: the shapes do not broadcast, or the dtypes differ.

    Example:
        >>> tf.where([True, False], [1, 2], 0).numpy().tolist()
        [1, 0]
        >>> tf.where([True, False, True]).numpy().tolist()
        [[0], [2]]
    """
    if x is None and y is None:
        if not isinstance(condition, Tensor) and not hasattr(type(condition), "__tf_dispatch__"):
            condition = convert(condition, None, bool_)
        return where_op(condition, name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if type(x) is EagerTensor:
        if type(y) is float or type(y) is int:
            y = operand(y, x.dtype)
    elif type(y) is EagerTensor and (type(x) is float or type(x) is int) and state.graph is None:
        x = operand(x, y.dtype)
    return select_v2(condition, x, y, name)


def boolean_mask(tensor: TensorLike, mask: TensorLike, axis: int | None = None, name: str = "boolean_mask") -> Tensor:
    """Returns the elements, or slices, of a tensor where a mask is true.

    Args:
        tensor: a tensor of any dtype. Its shape begins with `mask.shape`, from `axis` on.
        mask: a bool tensor of shape `tensor.shape[axis:axis + k]`, of rank k > 0.
        axis: an int, the first of the dimensions that the mask is about; 0 by default.

    Returns:
        A tensor of shape `tensor.shape[:axis] + [n] + tensor.shape[axis + k:]`, for n true elements.

    Raises:
        ValueError: the mask is a scalar, or its shape does not fit.

    Example:
        >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()
        [1, 3]
    """
    x, condition = convert(tensor), convert(mask)
    if axis is None and not listeners and not detours and type(x.value) is torch.Tensor and condition.dtype.is_bool:
        where_true = condition.value  # a tape needs the gather
        if where_true.ndim and where_true.shape == x.value.shape[: where_true.ndim]:
            try:
                return EagerTensor(x.value[where_true], x.dtype)
            except RuntimeError:  # a dtype that torch can't index
                pass
    if isinstance(axis, Tensor) and axis.dtype not in (int32, int64):
        allowed = "is not in the list of allowed values: int32, int64 [Op:GatherV2]"
        raise dtype_error(f"Value for attr 'Taxis' of {axis.dtype.name} {allowed}")
    if isinstance(axis, SymbolicTensor):
        static = host_static(axis)
        axis = axis if isinstance(static, SymbolicTensor) else static
    axis = 0 if axis is None else axis if isinstance(axis, SymbolicTensor) else operator.index(axis)
    shape, masked = x.shape, condition.shape
    rank = masked.rank
    if rank is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None.  "
            "E.g. shape=[None] is ok, but shape=None is not."
        )
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    dims = shape_of(x)
    flat_shape: Any
    if isinstance(axis, SymbolicTensor) or is_unranked(dims):
        dims = shape_op(x)
        if isinstance(axis, SymbolicTensor):
            axis = cast_to(axis, int32)
            axis = select_v2(less(axis, 0), axis + rank_op(x), axis)
        elif axis < 0:
            axis += size_op(dims)
        flat_shape = joined_dims(dims[:axis], [ops.Prod(dims[axis : axis + rank], 0)], dims[axis + rank :])
    else:
        axis = axis + len(shape) if axis < 0 else axis
        shape[axis : axis + rank].assert_is_compatible_with(masked)
        flat_shape = (*dims[:axis], math.prod(dims[axis : axis + rank]), *dims[axis + rank :])
    true_places = reshape(where_op(reshape(cast_to(condition, bool_), (-1,))), (-1,))
    return gather(reshape(x, flat_shape), true_places, axis=axis)


def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = bool_, name: str | None = None
) -> Tensor:
    """Returns masks that are true for the first `lengths[i]` places of each row.

    Args:
        lengths: an integer tensor of any shape.
        maxlen: a scalar, the length of a row; the greatest of `lengths` by default.
        dtype: the dtype of the result.

    Returns:
        A tensor of shape `lengths.shape + [maxlen]`.

    Raises:
        ValueError: `maxlen` is no scalar.

    Example:
        >>> tf.sequence_mask([1, 3]).numpy().tolist()
        [[True, False, False], [True, True, True]]
    """
    counts = convert(lengths)
    if maxlen is not None:
        limit = convert(maxlen)
    elif counts.shape.rank is not None and 0 in counts.shape:
        limit = convert(0)
    else:
        limit = maximum(ops.Max(counts), cast_to(0, counts.dtype))
    if limit.shape.rank not in (0, None):
        raise ValueError(
            f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {limit.numpy()} "
            f"with shape '{limit.shape}' instead"
        )
    counted_as = int64 if limit.dtype is int64 else int32 if limit.dtype.is_integer else limit.dtype
    row = numbers(cast_to(0, counted_as), cast_to(limit, counted_as), cast_to(1, counted_as))
    mask = less(row, cast_to(expand_dims(counts, -1), counted_as))
    return cast_to(mask, as_dtype(dtype).base_dtype)
