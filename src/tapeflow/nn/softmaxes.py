"""Softmax and its logarithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.array.reshapes import transpose
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.batch_rules import equal_shapes
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import multiply, subtract
from tapeflow.math.elementwise import exp
from tapeflow.math.reduction import reduce_sum

if TYPE_CHECKING:
    from tapeflow.core.ops.elements import Element
    from tapeflow.graph.compiler.expressions import Recorder


def _needs_a_dimension(logits: TensorShape, *_: Any) -> TensorShape:
    if logits.rank == 0:
        raise invalid(f"logits must have >= 1 dimension, got {text(logits)}")
    return logits


def _softmax_row(b: Recorder, x: Element) -> Any:
    exponential = b.exp(b.sub(x, b.reduce("maximum", x)))
    return b.div(exponential, b.reduce("add", exponential))


@op("Softmax", shape=_needs_a_dimension, batching=equal_shapes, row=_softmax_row, allocates=True)
def softmax_op(logits: torch.Tensor) -> torch.Tensor:
    """Computes softmax over the last dimension."""
    if not logits.dim():
        raise invalid("logits must have >= 1 dimension, got []")
    return torch.softmax(logits, -1)


@softmax_op.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    y = call.outputs[0]
    return multiply(subtract(dy, reduce_sum(multiply(dy, y), -1, True)), y)


def _log_softmax_row(b: Recorder, x: Element) -> Any:
    below = b.sub(x, b.reduce("maximum", x))
    return b.sub(below, b.log(b.reduce("add", b.exp(below))))


@op("LogSoftmax", shape=_needs_a_dimension, batching=equal_shapes, row=_log_softmax_row)
def log_softmax_op(logits: torch.Tensor) -> torch.Tensor:
    """Computes the logarithm of softmax over the last dimension."""
    if not logits.dim():
        raise invalid("logits must have >= 1 dimension, got []")
    return torch.log_softmax(logits, -1)


@log_softmax_op.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return subtract(dy, multiply(reduce_sum(dy, -1, True), exp(call.outputs[0])))


def softmax(logits: TensorLike, axis: AxisLike = None, name: str | None = None) -> Tensor:
    """Computes `exp(logits) / reduce_sum(exp(logits), axis)`.

    Args:
        logits: a floating tensor with at least one dimension.
        axis: an int, the dimension whose elements sum to 1; None for the last.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.nn.softmax([[0.0, 0.0]]).numpy().tolist()
        [[0.5, 0.5]]
    """
    if axis is None or (type(axis) is int and axis == -1):
        return softmax_op(logits, name)
    return along(softmax_op, logits, axis, name)


def log_softmax(logits: TensorLike, axis: AxisLike = None, name: str | None = None) -> Tensor:
    """Computes `logits - log(reduce_sum(exp(logits), axis))`.

    Args:
        logits: a floating tensor with at least one dimension.
        axis: an int, the dimension to normalize over; None for the last.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.nn.log_softmax([0.0, -1e9]).numpy().tolist()
        [0.0, -1000000000.0]
    """
    if axis is None or (type(axis) is int and axis == -1):
        return log_softmax_op(logits, name)
    return along(log_softmax_op, logits, axis, name)


def check_dim(dim: int, rank: int) -> None:
    """Checks a `dim` argument.

    Raises:
        InvalidArgumentError: there is no such dimension.
    """
    if not -rank <= dim < rank:
        raise InvalidArgumentError.of(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions in the input. "
            f"Received: dim={dim}"
        )


def along(function: Callable[..., Any], x: Any, axis: Any, name: str | None) -> Any:
    """Applies an op of the last dimension along another one."""
    x = convert(x)
    axis = -1 if axis is None else host_value(axis)
    rank = x.shape.rank
    if axis == -1 or axis == rank - 1:
        return function(x, name=name)
    check_dim(axis, rank)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return transpose(function(transpose(x, order), name=name), order)
