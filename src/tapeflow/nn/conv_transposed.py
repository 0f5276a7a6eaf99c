"""Transposed convolutions: the gradients of convolutions by their inputs, as layers that enlarge."""

from __future__ import annotations

from typing import Any

from tapeflow.array.joining import concat
from tapeflow.array.passing import less_static
from tapeflow.array.shaping import expand_dims, squeeze
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.static import static_shape
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.nn.conv import conv2d, conv2d_backprop_input, conv3d_backprop_input
from tapeflow.nn.windows import FORMATS, Ints, Padding, flat, padding_attrs, per_dimension


def conv2d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Ints,
    padding: Padding = "SAME",
    data_format: str = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the transpose of `conv2d`, which is its gradient by images.

    Args:
        input: `[batch, height, width, in_channels]`, or `[batch, in_channels, height, width]` for "NCHW".
        filters: `[height, width, out_channels, in_channels]`: those of the convolution that leads back.
        output_shape: the shape of the result, or its height and width.
        strides: an int, or a list for the spatial dimensions or for all.
        padding: "SAME", "VALID", or for each dimension a pair of the padding before and after.
        data_format: "NHWC" or "NCHW".
        dilations: the steps between the elements of a window; like `strides`.

    Returns:
        A tensor of shape `output_shape`.

    Raises:
        ValueError: a list has the wrong length.
        InvalidArgumentError: a convolution of `output_shape` would not give the shape of `input`.

    Example:
        >>> y = tf.nn.conv2d_transpose(tf.ones([1, 1, 1, 1]), tf.ones([2, 2, 1, 1]), [1, 2, 2, 1], 2)
        >>> y[0, :, :, 0].numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    last = data_format == "NHWC"
    steps, rates = per_dimension(strides, 2, last, "strides"), per_dimension(dilations, 2, last, "dilations")
    kind, explicit = padding_attrs(padding)
    return conv2d_backprop_input(output_shape, filters, input, steps, kind, explicit, data_format, rates, name)


def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Ints,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the transpose of `conv1d`, which is its gradient by sequences.

    Args:
        input: `[batch, width, in_channels]`, or `[batch, in_channels, width]` for "NCW".
        filters: `[width, out_channels, in_channels]`.
        output_shape: the shape of the result.
        strides: an int, or a list of one or three.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        dilations: the step between the elements of a window; like `strides`.

    Returns:
        A tensor of shape `output_shape`.

    Raises:
        ValueError: the data format is neither, or a list has the wrong length.
        InvalidArgumentError: a convolution of `output_shape` would not give the shape of `input`.

    Example:
        >>> tf.nn.conv1d_transpose(tf.ones([1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2)[0, :, 0].numpy().tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    last = data_format in (None, "NWC", "NHWC")
    if not last and data_format not in ("NCW", "NCHW"):
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
    steps = flat(per_dimension(strides, 1, last, "strides"), last)
    rates = flat(per_dimension(dilations, 1, last, "dilations"), last)
    height = 1 if last else 2
    sizes = host_value(output_shape)
    if isinstance(sizes, Tensor):  # symbolic
        sizes = concat([sizes[:height], [1], sizes[height:]], 0)
    else:
        sizes = (*sizes[:height], 1, *sizes[height:])
    x, kernels = expand_dims(input, height), expand_dims(filters, 0)
    y = conv2d_backprop_input(sizes, kernels, x, steps, padding, (), "NHWC" if last else "NCHW", rates, name)
    return squeeze(y, (height,))


def conv3d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Ints,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the transpose of `conv3d`, which is its gradient by volumes.

    Args:
        input: `[batch, depth, height, width, in_channels]`, or "NCDHW".
        filters: `[depth, height, width, out_channels, in_channels]`.
        output_shape: the shape of the result.
        strides: an int, or a list for the spatial dimensions or for all.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: the steps between the elements of a window; like `strides`.

    Returns:
        A tensor of shape `output_shape`.

    Raises:
        ValueError: a list has the wrong length.
        InvalidArgumentError: a convolution of `output_shape` would not give the shape of `input`.

    Example:
        >>> x, filters = tf.ones([1, 1, 1, 1, 1]), tf.ones([2, 2, 2, 1, 1])
        >>> tf.nn.conv3d_transpose(x, filters, [1, 2, 2, 2, 1], 2).shape
        TensorShape([1, 2, 2, 2, 1])
    """
    last = data_format == "NDHWC"
    steps, rates = per_dimension(strides, 3, last, "strides"), per_dimension(dilations, 3, last, "dilations")
    return conv3d_backprop_input(output_shape, filters, input, steps, padding, data_format, rates, name)


def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    strides: Ints,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the transpose of `convolution`, in one to three spatial dimensions.

    Args:
        input: of rank 3, 4 or 5; see `conv1d_transpose`, `conv2d_transpose` and `conv3d_transpose`.
        filters: `[spatial..., out_channels, in_channels]`.
        output_shape: the shape of the result.
        strides, padding, dilations: as there.
        data_format: as there; None for channels last.

    Returns:
        A tensor of shape `output_shape`.

    Raises:
        ValueError: the rank is another, or a list has the wrong length.
        InvalidArgumentError: a convolution of `output_shape` would not give the shape of `input`.

    Example:
        >>> tf.nn.conv_transpose(tf.ones([1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2)[0, :, 0].numpy().tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    x = convert(input)
    rank = x.shape.rank
    if rank is None:
        rank = len(output_shape) if isinstance(output_shape, (list, tuple)) else convert(output_shape).shape[0]
    dims = rank - 2
    if not 1 <= dims <= 3:
        raise ValueError(f"`output_shape` and `input` must have 3, 4 or 5 dimensions. Received: input.shape={x.shape}")
    sizes = host_value(output_shape)
    if isinstance(sizes, tuple) and not 3 <= len(sizes) <= 5:
        raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape}")
    function: Any = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[dims - 1]
    return function(x, filters, output_shape, strides, padding, data_format or FORMATS[dims][0], dilations, name)


def atrous_conv2d(value: TensorLike, filters: TensorLike, rate: int, padding: str, name: str | None = None) -> Tensor:
    """Computes `conv2d` with the elements of a window `rate` apart.

    Args:
        value: `[batch, height, width, channels]`.
        filters: `[height, width, channels, out_channels]`, the dtype of `value`.
        rate: a positive int.
        padding: "SAME" or "VALID".

    Returns:
        `[batch, new_height, new_width, out_channels]`.

    Raises:
        ValueError: the rate is not positive, or the padding is neither.
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> tf.nn.atrous_conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 2, "VALID").numpy().item()
        4.0
    """
    step = _checked_rate(rate, padding)
    x, weights = convert(value), convert(filters)
    if x.shape.rank is None and weights.shape.rank is None:
        raise ValueError("One of `input.shape.rank` or `filters.shape.rank` must be static.")
    return conv2d(x, weights, 1, padding, dilations=(1, step, step, 1), name=name)


def _checked_rate(rate: Any, padding: Any) -> int:
    rate = host_value(rate)
    if rate < 1:
        raise ValueError(f"all values of `dilation_rate` must be positive. Received: dilation_rate=[{rate} {rate}]")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    return rate


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """Computes the transpose of `atrous_conv2d`.

    Args:
        value: `[batch, height, width, in_channels]`.
        filters: `[height, width, out_channels, in_channels]`, the dtype of `value`.
        output_shape: the shape of the result.
        rate: a positive int.
        padding: "SAME" or "VALID".

    Returns:
        A tensor of shape `output_shape`.

    Raises:
        ValueError: the rate is not positive, or the padding is neither.
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> x, filters = tf.ones([1, 1, 1, 1]), tf.ones([2, 2, 1, 1])
        >>> tf.nn.atrous_conv2d_transpose(x, filters, [1, 3, 3, 1], 2, "VALID")[0, :, :, 0].numpy().tolist()
        [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """
    step = _checked_rate(rate, padding)
    images, kernels = convert(value), convert(filters)
    result = conv2d_transpose(images, kernels, output_shape, 1, padding, dilations=(1, step, step, 1), name=name)
    if state.graph is None or not images.shape.rank == kernels.shape.rank == 4:
        return result
    sizes = static_shape(convert(output_shape, hint=int32)).with_rank(4)
    space = [None, None] if padding == "SAME" and None in kernels.shape[:2] else sizes[1:3]
    return less_static(result, [images.shape[0], *space, sizes[3]])
