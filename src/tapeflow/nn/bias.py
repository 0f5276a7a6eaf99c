"""Adding a bias to each channel."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.creation import fill_op
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.autodiff.gradients import is_unranked, shape_argument
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text, unequal, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import add


def _bias_rule(value: TensorShape, bias: TensorShape, data_format: str = "NHWC") -> TensorShape:
    """Infers the shape of the result, and checks that there is a bias for each channel."""
    if value.rank is not None and value.rank < 2:
        raise invalid(f"Input tensor must be at least 2D: {text(value)}")
    with_rank(value, -3 if data_format == "NCHW" else -2)
    if bias.rank not in (1, None):
        raise invalid(f"Biases must be 1D: {text(bias)}")
    if value.rank is None or bias.rank is None:
        return value
    channel = 1 if data_format == "NCHW" else -1
    if not TensorShape(value[channel]).is_compatible_with(TensorShape(bias[0])):
        kind = "channel dimension" if channel == 1 else "last dimension"
        wrong = f"Must provide as many biases as the {kind} of the input tensor: {text(bias)} vs. {text(value)}"
        raise unequal(wrong, value[channel], bias[0])
    dims = value.as_list()
    dims[channel] = bias[0] if dims[channel] is None else dims[channel]
    return TensorShape(dims)


@op("BiasAdd", shape=_bias_rule, allocates=True, in_loops=lambda b, *args: b.add_bias(*args))
def bias_add_op(value: torch.Tensor, bias: torch.Tensor, data_format: str = "NHWC") -> torch.Tensor:
    """Adds `bias` along the channels of `value`."""
    shape, channels = value.shape, bias.shape
    rank = len(shape)
    if rank < 2 or len(channels) != 1 or shape[-1 if data_format == "NHWC" else 1] != channels[0]:
        _bias_rule(TensorShape(shape), TensorShape(channels), data_format)
    if data_format == "NHWC" or rank == 2:
        return torch.add(value, bias)
    return torch.add(value, bias.view(-1, *[1] * (rank - 2)))


@bias_add_op.inline
def _(value: Tensor, bias: Tensor, data_format: str = "NHWC") -> Any:
    rank = value.shape.rank
    if data_format != "NHWC" or not rank or rank < 2 or bias.shape.rank != 1 or None in (value.shape[-1], *bias.shape):
        return None
    return torch.add, "{kernel}({0}, {1})"


@bias_add_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    want_value, want_bias = call.wanted
    return dy if want_value else None, bias_add_grad(dy, call.attrs[0]) if want_bias else None


@bias_add_op.batching
def _(batch: Batch, x: Slices, bias: Slices, data_format: str) -> Any:
    if data_format != "NHWC":
        raise NoRule
    if not bias.stacked:
        return batch.run(x.value, bias.value, data_format)
    return add(x.value, batch.lift(bias, x.rank))


def _sum_rule(out_backprop: TensorShape, data_format: str = "NHWC") -> TensorShape:
    if out_backprop.rank is None:
        return TensorShape([None])
    if out_backprop.rank < 2:
        raise invalid(f"Input tensor must be at least 2D: {text(out_backprop)}")
    return TensorShape([out_backprop[1 if data_format == "NCHW" else -1]])


@op("BiasAddGrad", shape=_sum_rule, keeps_nothing=True, in_loops=lambda b, *args: b.sum_channels(*args))
def bias_add_grad(out_backprop: torch.Tensor, data_format: str = "NHWC") -> torch.Tensor:
    """Sums `out_backprop` over all dimensions but the channels: the gradient of `bias_add` by the bias."""
    rank = out_backprop.dim()
    if rank < 2:
        _sum_rule(TensorShape(out_backprop.shape))
    channel = rank - 1 if data_format == "NHWC" else 1
    if rank == 4 and channel == 3:
        return torch.sum(out_backprop, (0, 1, 2), dtype=out_backprop.dtype)
    return torch.sum(out_backprop, [i for i in range(rank) if i != channel], dtype=out_backprop.dtype)


@bias_add_grad.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    shape = call.shape(0)
    if call.attrs[0] == "NCHW" and is_unranked(shape):
        return bias_add_op(fill_op(shape_argument(shape), operand(0, dy.dtype)), dy, "NCHW")
    if call.attrs[0] == "NCHW":
        dy = reshape(dy, (-1, *[1] * (len(shape) - 2)))
    return broadcast_to(dy, shape)


@bias_add_grad.batching
def _(batch: Batch, dy: Slices, data_format: str) -> Any:
    if data_format != "NHWC":
        raise NoRule
    return ops.Sum(dy.value, tuple(range(1, dy.rank)), False)


@bias_add_grad.summed
def _(batch: Batch, dy: Slices, data_format: str) -> Any:
    if not dy.stacked or dy.rank < 1:
        raise NoRule
    return bias_add_grad(batch.flat(dy), data_format)


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Adds a bias to each channel.

    Args:
        value: a numeric tensor with at least two dimensions.
        bias: a tensor of shape `[channels]`, the dtype of `value`.
        data_format: "N...C" (such as "NHWC", the default) for channels last, or "NC..." for channels second.

    Returns:
        A tensor of the shape and dtype of `value`.

    Raises:
        ValueError: the data format is neither.
        InvalidArgumentError: there are not as many biases as channels.

    Example:
        >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy().tolist()
        [[11.0, 22.0]]
    """
    if state.graph is not None and isinstance(bias, Tensor):
        value = value if isinstance(value, Tensor) else convert(value)
        bias = convert(bias, value.dtype)  # the op itself would raise another error
    if data_format is None:
        return bias_add_op(value, bias, "NHWC", name)
    if data_format.startswith("NC"):
        return bias_add_op(value, bias, "NCHW", name)
    if data_format.startswith("N") and data_format.endswith("C"):
        return bias_add_op(value, bias, "NHWC", name)
    raise ValueError(f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}")
