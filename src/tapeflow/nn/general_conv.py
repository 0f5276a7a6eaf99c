"""Convolution in any number of dimensions, and gradients of 2-d convolutions: top-level functions of TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.array.properties import shape
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.decompositions import unregistered_op
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import leave_to_kernel
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.conv import conv_rule, convolve

_FORMATS = {"CHANNELS_LAST": ("NHWC", "NDHWC"), "CHANNELS_FIRST": ("NCHW", "NCDHW")}  # for two and three dimensions


def _conv_attrs(
    dims: int, strides: Sequence[int], padding: str, explicit: Sequence[int], data_format: str, dilations: Sequence[int]
) -> tuple[Any, ...]:
    """Converts the attrs to the attrs of Conv2D and Conv3D."""
    rates = tuple(dilations) or (1,) * (dims + 2)
    return tuple(strides), padding, tuple(explicit), _FORMATS[data_format][dims - 2], rates


def _check_conv(x: TensorShape, filters: TensorShape, *attrs: Any) -> None:
    strides, _, _, data_format, dilations, batch_dims, groups = attrs
    if groups != 1:
        leave_to_kernel("Grouped/Depthwise Convolutions are not supported yet.", UnimplementedError)
    if x.rank is None or filters.rank is None:
        return
    dims = x.rank - batch_dims - 1
    if dims not in (2, 3):
        raise invalid(f"The input must have 2 or 3 spatial dimensions but got {dims}")
    if filters.rank != dims + 2:
        raise invalid(f"filter must be {dims + 2}-dimensional: {filters.as_list()}")
    if len(strides) != dims + 2:
        raise invalid(f"Sliding window strides field must specify {dims + 2} dimensions")
    for kind, steps in (("strides", strides), ("dilation rates", dilations)):
        if len(steps) == dims + 2 and (steps[0], steps[-1 if data_format == "CHANNELS_LAST" else 1]) != (1, 1):
            wrong = f"Current implementation does not support {kind} in the batch and depth dimensions."
            leave_to_kernel(wrong)
    depth = x[-1 if data_format == "CHANNELS_LAST" else batch_dims]
    if groups < 1:
        raise invalid(f"Groups attribute should be a positive integer: {groups}")
    if depth is not None and depth % groups:
        raise invalid("Number of groups should divide input depth")
    if filters[-1] is not None and filters[-1] % groups:
        raise invalid("Number of groups should divide output depth")
    if None not in (depth, filters[-2]) and depth != filters[-2] * groups:
        of = "" if groups == 1 else f" times {groups} groups"
        raise invalid(f"Input depth must be equal to filter depth{of}: {depth} vs {filters[-2]}")


def _conv_kernel(input: torch.Tensor, filter: torch.Tensor, *attrs: Any) -> torch.Tensor:
    _check_conv(TensorShape(input.shape), TensorShape(filter.shape), *attrs)
    dims, (*options, batch_dims, _) = filter.dim() - 2, attrs
    images, filters = input.reshape(-1, *input.shape[batch_dims:]), filter
    if not input.is_floating_point():  # ATen convolves floats; sums of integers are exact in float64
        images, filters = images.double(), filters.double()
    y = convolve(f"Conv{dims}D", images, filters, *_conv_attrs(dims, *options)).to(input.dtype)
    return y.reshape(*input.shape[:batch_dims], *y.shape[1:])


def _conv_shape(x: TensorShape, filters: TensorShape, *attrs: Any) -> TensorShape:
    _check_conv(x, filters, *attrs)
    if x.rank is None or filters.rank is None:
        return TensorShape(None)
    *options, batch_dims, _ = attrs
    images = TensorShape([1]).concatenate(x[batch_dims:])
    result = conv_rule(images, filters, *_conv_attrs(filters.rank - 2, *options))
    return x[:batch_dims].concatenate(result[1:])


@op("Conv", kernel=_conv_kernel, shape=_conv_shape)
def conv(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Sequence[int] = (),
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """Convolves images or volumes with filters.

    Args:
        input: a tensor of shape `[batch..., height, width, channels]`, or `[batch..., depth, height, width, channels]`;
            floating or int32.
        filter: a tensor of shape `[height, width, channels, out_channels]`, or `[depth, height, width, channels,
            out_channels]`.
        strides: a list of 4 ints (5 for volumes). The first and last are 1.
        padding: "SAME", "VALID", or "EXPLICIT" for the paddings in `explicit_paddings`.
        explicit_paddings: for each of the 4 (or 5) dimensions the padding before and after, in one list.
        data_format: "CHANNELS_LAST", or "CHANNELS_FIRST" for channels after the batch; "CHANNELS_LAST" by default.
        dilations: the steps between the elements of a window; like `strides`.
        batch_dims: an int: how many leading dimensions are the batch; 1 by default.
        groups: must be 1; 1 by default.

    Returns:
        A tensor like `input`, of the new size and with `out_channels` channels.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an option is not one.
        UnimplementedError: `groups` is not 1.

    Example:
        >>> tf.conv(tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID")[0, :, :, 0].numpy().tolist()
        [[8.0, 8.0], [8.0, 8.0]]
    """


def conv2d_backprop_input_v2(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of `tf.nn.conv2d` by its input.

    Args:
        input: the convolution's input, `[batch, height, width, channels]` for "NHWC". Only its shape matters.
        filter: the convolution's filters, `[height, width, channels, out_channels]`.
        out_backprop: the gradient of the convolution's result, of its shape.
        strides: the convolution's strides, a list of 4 ints.
        padding: "SAME", "VALID", or "EXPLICIT" for the paddings in `explicit_paddings`.
        explicit_paddings: for each dimension the padding before and after, in one list of 8 ints.
        data_format: "NHWC" (the default) or "NCHW".
        dilations: the convolution's dilations, a list of 4 ints; 1 by default.
        use_cudnn_on_gpu: without effect.

    Returns:
        A tensor of the shape of `input`.

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> x, filters = tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1])
        >>> tf.conv2d_backprop_input_v2(x, filters, [[[[3.0]]]], [1, 1, 1, 1], "VALID")[0, :, :, 0].numpy().tolist()
        [[3.0, 3.0], [3.0, 3.0]]
    """
    attrs = strides, use_cudnn_on_gpu, padding, explicit_paddings, data_format, dilations
    x, filters, dy, *options = _convert_arguments("Conv2DBackpropInputV2", input, filter, out_backprop, *attrs)
    return ops.Conv2DBackpropInput(shape(x), filters, dy, *options, name=name)


def conv2d_backprop_filter_v2(
    input: TensorLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of `tf.nn.conv2d` by its filters.

    Args:
        input: the convolution's input, `[batch, height, width, channels]` for "NHWC".
        filter: the convolution's filters, `[height, width, channels, out_channels]`. Only their shape matters.
        out_backprop: the gradient of the convolution's result, of its shape.
        strides: the convolution's strides, a list of 4 ints.
        padding: "SAME", "VALID", or "EXPLICIT" for the paddings in `explicit_paddings`.
        explicit_paddings: for each dimension the padding before and after, in one list of 8 ints.
        data_format: "NHWC" (the default) or "NCHW".
        dilations: the convolution's dilations, a list of 4 ints; 1 by default.
        use_cudnn_on_gpu: without effect.

    Returns:
        A tensor of the shape of `filter`.

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> x, filters = tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1])
        >>> tf.conv2d_backprop_filter_v2(x, filters, [[[[3.0]]]], [1, 1, 1, 1], "VALID")[:, :, 0, 0].numpy().tolist()
        [[3.0, 3.0], [3.0, 3.0]]
    """
    attrs = strides, use_cudnn_on_gpu, padding, explicit_paddings, data_format, dilations
    x, filters, dy, *options = _convert_arguments("Conv2DBackpropFilterV2", input, filter, out_backprop, *attrs)
    return ops.Conv2DBackpropFilter(x, shape(filters), dy, *options, name=name)


def _convert_arguments(op: str, *args: Any) -> list[Any]:
    """Converts the arguments of an op that takes a tensor for its shape, and drops `use_cudnn_on_gpu`."""
    converted, _ = unregistered_op(op).convert_arguments(args)
    return [*converted[:4], *converted[5:]]
