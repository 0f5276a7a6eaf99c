"""The larger and the smaller of two elements, and clipping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.autodiff.gradients import sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op, widen
from tapeflow.core.ops.shape_rules import argument_shape, broadcast, certainly_broadcasts
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.comparison import greater, greater_equal, less_equal, logical_and


@op("Maximum", torch.maximum, shape=broadcast, orders=True, element=lambda b, x, y: b.maximum(x, y), allocates=True)
def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns the larger of two elements, with broadcasting; NaN if either is NaN.

    Where both are equal, the gradient goes to `x`.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.maximum([1, 5], 3).numpy().tolist()
        [3, 5]
    """


@maximum.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return _chosen_gradient(call, dy, greater_equal)


@op("Minimum", torch.minimum, shape=broadcast, orders=True, element=lambda b, x, y: b.minimum(x, y), allocates=True)
def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns the smaller of two elements, with broadcasting; NaN if either is NaN.

    Where both are equal, the gradient goes to `x`.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.minimum([1, 5], 3).numpy().tolist()
        [1, 3]
    """


@minimum.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    return _chosen_gradient(call, dy, less_equal)


def _chosen_gradient(call: Call, dy: Tensor, chooses_x: Callable[..., Any]) -> Any:
    """Passes the gradient to the operand that was chosen."""
    x, y = call.inputs
    want_x, want_y = call.wanted
    of_x, zero = chooses_x(x, y), convert(0.0, dy.dtype)
    return (
        sum_like(ops.SelectV2(of_x, dy, zero), x) if want_x else None,
        sum_like(ops.SelectV2(of_x, zero, dy), y) if want_y else None,
    )


def _clip_rule(t: TensorShape, clip_value_min: TensorShape, clip_value_max: TensorShape) -> TensorShape:
    for bound in (clip_value_max, clip_value_min):
        t.assert_is_compatible_with(broadcast(t, bound))
    return t


@op("ClipByValue", shape=_clip_rule, orders=True, element=lambda b, t, low, high: b.maximum(b.minimum(t, high), low))
def clip_by_value_op(t: torch.Tensor, clip_value_min: torch.Tensor, clip_value_max: torch.Tensor) -> torch.Tensor:
    """Clips elements to bounds."""
    if t.is_complex():
        raise invalid("ClipByValue has no kernel for complex numbers, which have no order")
    clipped = torch.maximum(torch.minimum(t, clip_value_max), clip_value_min)
    if clipped.shape != t.shape:
        raise ValueError(f"Shapes {TensorShape(t.shape)} and {TensorShape(clipped.shape)} are incompatible")
    return clipped


@clip_by_value_op.decomposition
def _(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    return maximum(minimum(t, clip_value_max), clip_value_min)  # TensorFlow's op takes no bounds that broadcast


@clip_by_value_op.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    t, low, high = call.inputs
    want_t, want_low, want_high = call.wanted
    # The gradient of maximum(minimum(t, high), low). The gradient at a NaN goes to `low`.
    zero = convert(0.0, dy.dtype)
    inside = logical_and(less_equal(t, high), greater_equal(t, low)) if want_t else None
    to_high = logical_and(greater(t, high), greater_equal(high, low)) if want_high else None
    return (
        ops.SelectV2(inside, dy, zero) if want_t else None,
        sum_like(ops.SelectV2(greater_equal(minimum(t, high), low), zero, dy), low) if want_low else None,
        sum_like(ops.SelectV2(to_high, dy, zero), high) if want_high else None,
    )


@clip_by_value_op.batching
def _(batch: Batch, t: Slices, low: Slices, high: Slices) -> Any:
    return batch.run(batch.stack(t), batch.lift(low, t.rank), batch.lift(high, t.rank))


def _clip_tensor_or_slices(args: tuple[Any, Any, Any], name: str | None = None) -> Any:
    t, low, high = args
    if isinstance(t, IndexedSlices):
        return IndexedSlices(clip_by_value(t.values, low, high, name), t.indices, t.dense_shape)
    values = convert(t)
    if state.graph is not None:
        bounds = [TensorShape(b.shape) if hasattr(b, "shape") else argument_shape(b) for b in (low, high)]
        static = values.shape.is_fully_defined() or all(certainly_broadcasts(b, values.shape) for b in bounds)
        if not static or values.dtype.is_complex:  # TensorFlow compares static shapes alone
            below = minimum(values, high)
            clipped = maximum(below, low)
            for shape in (below.shape, clipped.shape):
                values.shape.assert_is_compatible_with(shape)
            return clipped
    else:
        for bound, compared in ((high, minimum), (low, maximum)):
            if isinstance(bound, Tensor) and bound.dtype is not values.dtype:
                raise compared.op.mismatch(values.dtype, bound.dtype, 1)
    return clip_by_value_op.op.run((values, low, high), name)


@widen(clip_by_value_op, _clip_tensor_or_slices)
def clip_by_value(
    t: TensorLike | IndexedSlices, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor:
    """Clips elements to `[clip_value_min, clip_value_max]`.

    The gradient passes where nothing was clipped. If the bounds cross, `clip_value_min` wins.

    Args:
        t: a tensor of a real dtype and any shape, or `IndexedSlices`, whose rows are clipped.
        clip_value_min: a tensor of the same dtype. Its shape broadcasts to the shape of `t`.
        clip_value_max: a tensor like `clip_value_min`, of a shape that broadcasts.

    Returns:
        A tensor of the shape and dtype of `t`, or `IndexedSlices` if `t` is one.

    Raises:
        InvalidArgumentError: the shapes do not broadcast, or the dtypes differ.
        ValueError: broadcasting would change the shape of `t`.
        TypeError: a Python number does not fit the dtype of `t`.

    Example:
        >>> tf.clip_by_value([-5.0, 0.5, 5.0], 0.0, 1.0).numpy().tolist()
        [0.0, 0.5, 1.0]
    """
