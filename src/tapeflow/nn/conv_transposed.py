"""Transposed convolutions: the gradients of convolutions by their inputs, as layers that enlarge."""

from __future__ import annotations

from typing import Any

from tapeflow.array.blocks import batch_to_space, space_to_batch
from tapeflow.array.concat_and_split import concat
from tapeflow.array.reshapes import expand_dims, squeeze
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.nn.conv import conv2d_backprop_input, conv3d_backprop_input, convolution
from tapeflow.nn.windows import FORMATS, Ints, Padding, channels_last_of_sequences, flat, padding_attrs, per_dimension


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
        input: a tensor of shape `[batch, height, width, in_channels]`, or `[batch, in_channels, height, width]` for
            "NCHW".
        filters: a tensor of shape `[height, width, out_channels, in_channels]`: the filters of the convolution that
            this op transposes.
        output_shape: the shape of the result, or its height and width.
        strides: an int, or a list for the spatial dimensions or for all.
        padding: "SAME", "VALID", or for each dimension a pair of the padding before and after; "SAME" by default.
        data_format: "NHWC" or "NCHW"; "NHWC" by default.
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
        input: a tensor of shape `[batch, width, in_channels]`, or `[batch, in_channels, width]` for "NCW".
        filters: a tensor of shape `[width, out_channels, in_channels]`.
        output_shape: the shape of the result.
        strides: an int, or a list of one or three.
        padding: "SAME" or "VALID"; "SAME" by default.
        data_format: "NWC" or "NCW"; "NWC" by default.
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
    last = channels_last_of_sequences("NWC" if data_format is None else data_format)
    steps = flat(per_dimension(strides, 1, last, "strides"), last)
    rates = flat(per_dimension(dilations, 1, last, "dilations"), last)
    height = 1 if last else 2
    sizes: Any = output_shape
    if type(sizes) in (list, tuple) and float in map(type, sizes):
        sizes = convert(sizes)
    if not isinstance(sizes, Tensor) or sizes.dtype is int32:
        sizes = host_value(sizes)
    if isinstance(sizes, Tensor):  # symbolic, or of a dtype that the op refuses
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
        input: a tensor of shape `[batch, depth, height, width, in_channels]`, or "NCDHW".
        filters: a tensor of shape `[depth, height, width, out_channels, in_channels]`.
        output_shape: the shape of the result.
        strides: an int, or a list for the spatial dimensions or for all.
        padding: "SAME" or "VALID"; "SAME" by default.
        data_format: "NDHWC" or "NCDHW"; "NDHWC" by default.
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
        input: a tensor of shape `[batch, spatial..., in_channels]`, with one to three spatial dimensions, or
            `[batch, in_channels, spatial...]`.
        filters: a tensor of shape `[spatial..., out_channels, in_channels]`.
        output_shape: the shape of the result.
        strides: an int, or a list for the spatial dimensions or for all.
        padding: "SAME" or "VALID"; "SAME" by default.
        data_format: "NWC", "NHWC", "NDHWC" or None for channels last, or "NCW", "NCHW", "NCDHW".
        dilations: an int, or a list like `strides`, the steps between the elements of a window; 1 by default.

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
    sizes = host_value(output_shape)
    dims = (sizes.shape[0] if isinstance(sizes, Tensor) else len(sizes)) - 2
    if not 1 <= dims <= 3:
        raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape}")
    function: Any = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[dims - 1]
    return function(x, filters, output_shape, strides, padding, data_format or FORMATS[dims][0], dilations, name)


def atrous_conv2d(value: TensorLike, filters: TensorLike, rate: int, padding: str, name: str | None = None) -> Tensor:
    """Computes `conv2d` with the elements of a window `rate` apart.

    Args:
        value: a tensor of shape `[batch, height, width, channels]`.
        filters: a tensor of shape `[height, width, channels, out_channels]`, the dtype of `value`.
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
    step = host_value(rate)
    return convolution(value, filters, 1, padding, dilations=(step, step), name=name)


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """Computes the transpose of `atrous_conv2d`.

    Args:
        value: a tensor of shape `[batch, height, width, in_channels]`.
        filters: a tensor of shape `[height, width, out_channels, in_channels]`, the dtype of `value`.
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
    images, kernels = convert(value), convert(filters)
    step = host_value(rate)
    _check_transposed(images.shape, kernels.shape, output_shape, step, padding)
    if step == 1:
        return conv2d_transpose(images, kernels, output_shape, 1, padding, name=name)
    sizes = host_value(output_shape)
    before: tuple[Any, ...] = (0, 0)
    border: tuple[Any, ...] = (0, 0)
    if padding == "SAME":
        windows = [shape_of(kernels)[i] if n is None else n for i, n in enumerate(_first_two(kernels.shape))]
        border = tuple((n - 1) * step for n in windows)
        before = tuple(b // 2 for b in border)
    outer = [sizes[1 + i] + b for i, b in enumerate(border)]
    more = [-n % step for n in outer]
    parts = space_to_batch(images, (step, step), [(0, m) for m in more])
    shape = (step * step * sizes[0], *((n + m) // step for n, m in zip(outer, more, strict=True)), sizes[3])
    crops = [(b, w - b + m) for b, w, m in zip(before, border, more, strict=True)]
    result = conv2d_backprop_input(shape, kernels, parts, (1, 1, 1, 1), "VALID", (), "NHWC", (1, 1, 1, 1), name)
    return batch_to_space(result, (step, step), crops)


def _first_two(shape: TensorShape) -> list[int | None]:
    return [None, None] if shape.rank is None else shape.as_list()[:2]


def _check_transposed(images: TensorShape, kernels: TensorShape, output_shape: Any, rate: int, padding: str) -> None:
    """Raises ValueError for arguments of `atrous_conv2d_transpose` that do not go together."""
    few = any(shape.rank is not None and shape.rank < 4 for shape in (images, kernels))
    if few or (None not in (images.rank, kernels.rank) and not images[3:4].is_compatible_with(kernels[3:4])):
        raise ValueError(f"`value` and `filters` must have as many channels. Received: {images} and {kernels}")
    if rate < 1:
        raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
    if rate == 1:
        return
    if not convert(output_shape, hint=int32).shape.is_compatible_with([4]):
        raise ValueError(f"`output_shape` must have shape (4,). Received: output_shape={output_shape}")
    if not isinstance(output_shape, Tensor) and not kernels[2:3].is_compatible_with([host_value(output_shape)[3]]):
        raise ValueError(f"`output_shape` and `filters` must have as many channels: {output_shape} and {kernels}")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be either 'VALID' or 'SAME'. Received: padding={padding}")
