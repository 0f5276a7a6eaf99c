"""Convolution of each channel by its own filters, and ops built on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.context import state
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import listed_shape
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.nn.batched_channels import convolutions
from tapeflow.nn.conv import conv2d, conv_rule, convolve, convolve_back_filter, convolve_back_input, declare_backward
from tapeflow.nn.packed_filters import layer_of_convolution
from tapeflow.nn.windows import Ints, Padding, channels_last, padding_attrs, per_dimension

# Filters [height, width, channels, multiplier] have the same memory as filters [height, width, 1, channels *
# multiplier] of a convolution with one group per channel.


def _grouped_filters(op: str, channels: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the shape of the filters as filters of groups."""
    if len(shape) != 4:
        raise invalid(f"filter must be 4-dimensional: {list(shape)}")
    if shape[2] != channels:
        raise invalid(f"{op}: input depth must be evenly divisible by filter depth: {channels} vs {shape[2]}")
    return (shape[0], shape[1], 1, shape[2] * shape[3])


def _input_channels(op: str, image: Any, data_format: str) -> int:
    if len(image) != 4:
        raise invalid(f"{op}: input must be 4-dimensional: {list(image)}")
    return image[-1 if channels_last(data_format) else 1]


def _depthwise_shape(x: torch.Tensor, filters: torch.Tensor, *attrs: Any) -> torch.Tensor:
    op = "DepthwiseConv2dNative"
    shape = _grouped_filters(op, _input_channels(op, x.shape, attrs[3]), filters.shape)
    return convolve(op, x, filters.reshape(shape), *attrs)


def _depthwise_rule(x: TensorShape, filters: TensorShape, *attrs: Any) -> TensorShape:
    name = "DepthwiseConv2dNative"
    channels = None if x.rank is None else _input_channels(name, x.as_list(), attrs[3])
    sizes = filters.with_rank(4).as_list()
    if state.graph is None and channels is not None:  # a kernel failed, and its checks say why
        return conv_rule(x, TensorShape(_grouped_filters(name, channels, sizes)), *attrs)
    depth = channels if sizes[2] is None else sizes[2]
    if channels not in (None, depth):
        raise invalid(f"Dimensions must be equal, but are {channels} and {depth}")
    out = None if depth is None or sizes[3] is None else depth * sizes[3]
    return conv_rule(x, TensorShape([*sizes[:2], None, out]), *attrs)


# Computes a depthwise 2-D convolution.
depthwise_conv2d_op = defined_op(
    "DepthwiseConv2dNative", _depthwise_shape, shape=_depthwise_rule, batching=convolutions
)


depthwise_conv2d_op.layer(layer_of_convolution("DepthwiseConv2dNative"))


def _sizes_rule(sizes: ShapeLike) -> TensorShape:
    return listed_shape(sizes).with_rank(4)


def _depthwise_back_input(sizes: tuple[int, ...], filters: torch.Tensor, dy: torch.Tensor, *attrs: Any) -> torch.Tensor:
    op = "DepthwiseConv2dNativeBackpropInput"
    shape = _grouped_filters(op, _input_channels(op, sizes, attrs[3]), filters.shape)
    return convolve_back_input(op, sizes, filters.reshape(shape), dy, *attrs)


def _depthwise_back_filter(x: torch.Tensor, sizes: Sequence[int], dy: torch.Tensor, *attrs: Any) -> torch.Tensor:
    op = "DepthwiseConv2dNativeBackpropFilter"
    shape = _grouped_filters(op, _input_channels(op, x.shape, attrs[3]), sizes)
    return convolve_back_filter(op, x, shape, dy, *attrs).view(tuple(sizes))


_back_input, _back_filter = declare_backward(
    depthwise_conv2d_op,
    ("DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"),
    (_depthwise_back_input, _depthwise_back_filter),
    (lambda sizes, *_: _sizes_rule(sizes), lambda x, sizes, *_: _sizes_rule(sizes)),
    always=True,
)


# ---- public functions ------------------------------------------------------------------------------------------------


def _depthwise_attrs(
    strides: int | Sequence[int], padding: Any, data_format: str | None, dilations: Any
) -> tuple[Any, ...]:
    """Converts the public functions' arguments to the ops' attrs."""
    if not isinstance(strides, (list, tuple)):
        raise TypeError(f"Expected list for 'strides' argument to 'depthwise_conv2d_native' Op, not {strides!r}.")
    data_format = data_format or "NHWC"
    padding, explicit = padding_attrs(padding)
    rates = per_dimension(dilations, 2, data_format != "NCHW", "dilations")
    if min(rates) < 1:
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rates}")
    return tuple(strides), padding, explicit, data_format, rates


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Slides filters over each channel of images by itself.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`, or `[batch, channels, height, width]` for "NCHW".
        filter: a tensor of shape `[height, width, channels, multiplier]`, the dtype of `input`.
        strides: a list of 4 ints. The entries for the batch and the channels are 1.
        padding: "SAME", "VALID", or for each dimension a pair of the padding before and after.
        data_format: "NHWC" (the default) or "NCHW".
        dilations: two ints: the steps between the elements of a window.

    Returns:
        `[batch, new_height, new_width, channels * multiplier]`. The results of the first channel come first.

    Raises:
        InvalidArgumentError: the shapes do not go together, or an option is not one.

    Example:
        >>> image = tf.constant([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> tf.nn.depthwise_conv2d(image, tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().tolist()
        [[[[4.0, 6.0]]]]
    """
    x = convert_to_tensor(input) if not isinstance(input, Tensor) else input
    if x.shape.rank is not None and x.shape.rank < 3:
        raise ValueError(
            f"`input.shape.rank` must be at least 3. Received: input.shape={x.shape} with rank {x.shape.rank}"
        )
    if isinstance(dilations, int):
        raise TypeError(f"`dilations` must be two ints. Received: dilations={dilations}")
    return depthwise_conv2d_op(x, filter, *_depthwise_attrs(strides, padding, data_format, dilations), name=name)


def depthwise_conv2d_backprop_input(
    input_sizes: ShapeLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Ints | None = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of `depthwise_conv2d` by its input.

    Args:
        input_sizes: the shape of the input, a vector of 4 integers.
        filter: a tensor of shape `[height, width, channels, multiplier]`.
        out_backprop: the gradient of the output, of its shape.
        strides: the convolution's strides, a list of 4 ints.
        padding: "SAME", "VALID", or for each dimension a pair of the padding before and after.
        data_format: "NHWC" (the default) or "NCHW".
        dilations: a list of 4 ints, the dilations of the convolution for all four dimensions.

    Returns:
        A tensor of shape `input_sizes`.

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> dy = tf.ones([1, 1, 1, 1])
        >>> filters = tf.constant([[[[2.0]], [[3.0]]]])
        >>> tf.nn.depthwise_conv2d_backprop_input([1, 1, 2, 1], filters, dy, [1] * 4, "VALID").numpy().ravel().tolist()
        [2.0, 3.0]
    """
    return _back_input(
        input_sizes, filter, out_backprop, *_depthwise_attrs(strides, padding, data_format, dilations), name=name
    )


def depthwise_conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: ShapeLike,
    out_backprop: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    data_format: str = "NHWC",
    dilations: Ints | None = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """Computes the gradient of `depthwise_conv2d` by its filters.

    Args:
        input: the images, `[batch, height, width, channels]` for "NHWC".
        filter_sizes: the shape of the filters, a vector of 4 integers.
        out_backprop: the gradient of the output, of its shape.
        strides: the convolution's strides, a list of 4 ints.
        padding: "SAME", "VALID", or for each dimension a pair of the padding before and after.
        data_format: "NHWC" (the default) or "NCHW".
        dilations: a list of 4 ints, the dilations of the convolution for all four dimensions.

    Returns:
        A tensor of shape `filter_sizes`.

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> x, dy = tf.constant([[[[2.0], [3.0]]]]), tf.ones([1, 1, 1, 1])
        >>> tf.nn.depthwise_conv2d_backprop_filter(x, [1, 2, 1, 1], dy, [1] * 4, "VALID").numpy().ravel().tolist()
        [2.0, 3.0]
    """
    return _back_filter(
        input, filter_sizes, out_backprop, *_depthwise_attrs(strides, padding, data_format, dilations), name=name
    )


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Sequence[int],
    padding: Padding,
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes a depthwise convolution, followed by one that mixes the channels at each point.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`, or `[batch, channels, height, width]` for "NCHW".
        depthwise_filter: a tensor of shape `[height, width, channels, multiplier]`.
        pointwise_filter: `[1, 1, channels * multiplier, out_channels]`.
        strides: a list of 4 ints. The entries for the batch and the channels are 1.
        padding: "SAME", "VALID", or for each dimension a pair of the padding before and after.
        data_format: "NHWC" (the default) or "NCHW".
        dilations: two ints: the steps between the elements of a window.

    Returns:
        `[batch, new_height, new_width, out_channels]`.

    Raises:
        ValueError: the pointwise filter reaches beyond a point.
        InvalidArgumentError: the shapes do not go together, or an option is not one.

    Example:
        >>> x = tf.ones([1, 2, 2, 3])
        >>> tf.nn.separable_conv2d(x, tf.ones([2, 2, 3, 1]), tf.ones([1, 1, 3, 1]), [1] * 4, "VALID").numpy().item()
        12.0
    """
    pointwise = convert_to_tensor(pointwise_filter)
    pointwise.shape.with_rank(4)
    for length in pointwise.shape[:2]:
        if length not in (1, None):
            raise ValueError(
                f"Dimensions {length} and 1 are not compatible: a pointwise filter is [1, 1, channels, ...]"
            )
    if isinstance(dilations, int):
        raise ValueError(f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={dilations} of rank 0")
    x = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(x, pointwise, 1, "VALID", data_format or "NHWC", name=name)
