"""Ops that choose by conditions: `tf.where`, masks."""

from __future__ import annotations

import math
from typing import Any

import torch

from tapeflow.array.gathering import gather
from tapeflow.array.shaping import expand_dims, reshape
from tapeflow.core.autodiff.gradients import shape_of, sum_to_shape
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import detours, listeners
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.bulk import select
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.scalars import ScalarForm
from tapeflow.core.ops.shape_rules import broadcast_all, text
from tapeflow.core.types.dtypes import as_dtype, bool_, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid


def _true_places(input: torch.Tensor) -> torch.Tensor:
    if not input.ndim:
        raise invalid("WhereOp : Unhandled input dimensions: 0")
    return torch.nonzero(input)


@op("Where", kernel=_true_places, shape=lambda x: TensorShape([None, x.rank]))
def _where(input: Any, name: str | None = None) -> Any:
    """The indices of what is true or not zero."""


not_differentiable(_where)


def _select_rule(condition: TensorShape, x: TensorShape, y: TensorShape) -> TensorShape:
    try:
        return broadcast_all(condition, x, y)
    except InvalidArgumentError:
        shapes = f"condition {text(condition)}, then {text(x)}, and else {text(y)}"
        raise invalid(f"{shapes} must be broadcastable") from None


@op(
    "SelectV2",
    kernel=select,
    shape=_select_rule,
    moves=True,
    elementwise=True,
    scalar=ScalarForm("{1} if {0} else {2}", bounded=True),
)
def _select(condition: Any, x: Any, y: Any, name: str | None = None) -> Any:
    """`x` where the condition is true, and `y` elsewhere."""


@_select.gradient(needs="input0 shapes")
def _(call: Call, dy: Any) -> Any:
    condition = call.inputs[0]
    zero = convert(0, dy.dtype)
    _, want_x, want_y = call.wanted
    return (
        None,
        sum_to_shape(_select(condition, dy, zero), call.shape(1)) if want_x else None,
        sum_to_shape(_select(condition, zero, dy), call.shape(2)) if want_y else None,
    )


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Chooses elements by a condition, or says where it holds.

    Args:
        condition: a bool tensor; with `condition` alone also a numeric one, which holds where it is not 0.
        x, y: tensors of one dtype, or both left out; all three broadcast.

    Returns:
        A tensor with `x` where the condition holds and `y` elsewhere; with `condition` alone an int64 tensor of shape
        `[n, rank]` with the indices of the n places where it holds.

    Raises:
        ValueError: one of `x` and `y` is left out.
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
        return _where(condition, name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if type(x) is EagerTensor:
        if type(y) is float or type(y) is int:
            y = operand(y, x.dtype)
    elif type(y) is EagerTensor and (type(x) is float or type(x) is int):
        x = operand(x, y.dtype)
    return _select(condition, x, y, name)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """The elements, or slices, of a tensor where a mask is true.

    Args:
        tensor: of any dtype.
        mask: a bool tensor of shape `tensor.shape[axis:axis + k]`, of rank k > 0.
        axis: the first dimension that the mask speaks of, 0 by default.

    Returns:
        A tensor of shape `tensor.shape[:axis] + [n] + tensor.shape[axis + k:]`, for n true elements.

    Raises:
        ValueError: the mask is a scalar, or its shape does not fit.

    Example:
        >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()
        [1, 3]
    """
    tensor = convert(tensor)
    mask = convert(mask)
    if axis is None and not listeners and not detours and type(tensor.value) is torch.Tensor and mask.dtype.is_bool:
        where_true = mask.value  # a tape needs the gather
        if where_true.ndim and where_true.shape == tensor.value.shape[: where_true.ndim]:
            try:
                return EagerTensor(tensor.value[where_true], tensor.dtype)
            except RuntimeError:  # a dtype that torch can't index
                pass
    axis = 0 if axis is None else int(axis)
    shape, masked = tensor.shape, mask.shape
    rank = masked.rank
    if rank is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None.  "
            "E.g. shape=[None] is ok, but shape=None is not."
        )
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    axis = axis + len(shape) if axis < 0 else axis
    shape[axis : axis + rank].assert_is_compatible_with(masked)
    dims = shape_of(tensor)
    flat = reshape(tensor, (*dims[:axis], math.prod(dims[axis : axis + rank]), *dims[axis + rank :]))
    if not mask.dtype.is_bool:
        from tapeflow.math.casting import cast

        mask = cast(mask, bool_)
    places = reshape(_where(reshape(mask, (-1,))), (-1,))
    return gather(flat, places, axis=axis)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None) -> Any:
    """Masks that are true for the first `lengths[i]` places of each row.

    Args:
        lengths: integers, of any shape.
        maxlen: the length of a row; the greatest of `lengths` by default.
        dtype: of the result.

    Returns:
        A tensor of shape `lengths.shape + [maxlen]`.

    Raises:
        ValueError: `maxlen` is no scalar.

    Example:
        >>> tf.sequence_mask([1, 3]).numpy().tolist()
        [[True, False, False], [True, True, True]]
    """
    from tapeflow.array.creation import range as numbers
    from tapeflow.math.casting import cast
    from tapeflow.math.comparison import less
    from tapeflow.math.extrema import maximum
    from tapeflow.math.reduction import reduce_max

    lengths = convert(lengths)
    if maxlen is None:
        maxlen = maximum(reduce_max(lengths), cast(0, lengths.dtype)) if 0 not in lengths.shape else cast(0, int32)
    else:
        maxlen = convert(maxlen)
    if maxlen.shape.rank not in (0, None):
        raise ValueError(
            f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {maxlen.numpy()} "
            f"with shape '{maxlen.shape}' instead"
        )
    kind = int64 if maxlen.dtype is int64 else int32 if maxlen.dtype.is_integer else maxlen.dtype
    row = numbers(cast(0, kind), cast(maxlen, kind), cast(1, kind))
    mask = less(row, cast(expand_dims(lengths, -1), kind))
    dtype = as_dtype(dtype).base_dtype
    return mask if dtype is bool_ else cast(mask, dtype)
