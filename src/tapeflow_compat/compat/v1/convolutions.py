"""Convolutions and pooling with the parameters of TensorFlow 1, which `tf.compat.v1.nn` has."""

from __future__ import annotations

from typing import Any

from tapeflow.core.types.dtypes import int64
from tapeflow.nn import (
    avg_pooling,
    conv,
    conv_transposed,
    depthwise,
    dilated,
    fractional_pooling,
    max_pooling,
    morphology,
)
from tapeflow.nn.max_pooling import max_pool2d
from tapeflow_compat import raw_ops
from tapeflow_compat.compat.v1.renamed import either


def conv2d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None, filters: Any = None,
) -> Any:  # fmt: skip
    """Computes a convolution of images, see `tf.nn.conv2d`.

    Args:
        input: floating, of shape [batch, height, width, channels].
        filters, filter: of shape [height, width, in_channels, out_channels], by either name.
        strides: an int, or a list of 1, 2 or 4.
        padding: "SAME", "VALID", or the zeros at either end of each dimension.
        data_format: "NHWC", or "NCHW" for channels before height.
        dilations: how far apart the filter's elements are, as `strides`.
        use_cudnn_on_gpu: accepted, and without effect.

    Raises:
        ValueError: the filter was passed under both names, or the shapes do not fit.

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> sums = tf.compat.v1.nn.conv2d(images, filter=tf.ones([2, 2, 1, 1]), strides=[1, 1, 1, 1], padding="VALID")
        >>> sums.numpy().tolist()
        [[[[6.0]]]]
    """
    kernel = either("filters", filters, "filter", filter)
    return conv.conv2d(input, kernel, strides, padding, data_format, dilations, name)


def conv1d(
    value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None, use_cudnn_on_gpu: Any = None,
    data_format: str | None = None, name: str | None = None, input: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes a convolution of sequences, see `tf.nn.conv1d`.

    Args:
        input, value: floating, of shape [batch, width, channels], by either name.
        filters: of shape [width, in_channels, out_channels].
        stride: an int.
        padding, data_format, dilations, use_cudnn_on_gpu: as of `conv2d`.

    Raises:
        ValueError: the input was passed under both names, or the shapes do not fit.

    Example:
        >>> sequences = tf.constant([[[1.0], [2.0], [3.0]]])
        >>> tf.compat.v1.nn.conv1d(sequences, tf.ones([2, 1, 1]), 1, "VALID").numpy().tolist()
        [[[3.0], [5.0]]]
    """
    images = either("input", input, "value", value)
    return conv.conv1d(images, filters, stride, padding, data_format or "NWC", dilations, name)


def conv3d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None, data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1), name: str | None = None, filters: Any = None,
) -> Any:  # fmt: skip
    """Computes a convolution of volumes, see `tf.nn.conv3d`.

    Args:
        input: floating, of shape [batch, depth, height, width, channels].
        filters, filter: of shape [depth, height, width, in_channels, out_channels], by either name.
        strides, padding, data_format, dilations: as of `conv2d`, with a dimension more.

    Raises:
        ValueError: the filter was passed under both names, or the shapes do not fit.

    Example:
        >>> volumes = tf.ones([1, 2, 2, 2, 1])
        >>> tf.compat.v1.nn.conv3d(volumes, tf.ones([2, 2, 2, 1, 1]), [1] * 5, "VALID").numpy().item()
        8.0
    """
    kernel = either("filters", filters, "filter", filter)
    return conv.conv3d(input, kernel, strides, padding, data_format, list(dilations), name)


def conv2d_transpose(
    value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None, padding: str = "SAME",
    data_format: str = "NHWC", name: str | None = None, input: Any = None, filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes the transpose of a convolution of images, see `tf.nn.conv2d_transpose`.

    Args:
        input, value: floating, of shape [batch, height, width, in_channels], by either name.
        filters, filter: of shape [height, width, out_channels, in_channels], by either name.
        output_shape: the shape of the result.
        strides, padding, data_format, dilations: as of `conv2d`.

    Raises:
        ValueError: the input or the filter was passed under both names, or the shapes do not fit.

    Example:
        >>> image = tf.ones([1, 1, 1, 1])
        >>> tf.compat.v1.nn.conv2d_transpose(image, tf.ones([2, 2, 1, 1]), [1, 2, 2, 1], 2)[0, :, :, 0].numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    images, kernel = either("input", input, "value", value), either("filters", filters, "filter", filter)
    return conv_transposed.conv2d_transpose(
        images, kernel, output_shape, strides, padding, data_format, dilations, name
    )


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: str | None = None,
    data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes a convolution of each channel by itself, see `tf.nn.depthwise_conv2d`.

    Args:
        input: floating, of shape [batch, height, width, channels].
        filter: of shape [height, width, channels, multiplier].
        strides: a list of 4.
        dilations, rate: how far apart the filter's elements are in height and width, by either name.
        padding, data_format: as of `conv2d`.

    Returns:
        A tensor with channels * multiplier channels.

    Raises:
        ValueError: the dilations were passed under both names, or the shapes do not fit.

    Example:
        >>> image = tf.reshape(tf.range(4.0), [1, 1, 2, 2])
        >>> filter = tf.constant([[[[1.0], [10.0]]]])
        >>> tf.compat.v1.nn.depthwise_conv2d(image, filter, [1, 1, 1, 1], "SAME").numpy().tolist()
        [[[[0.0, 10.0], [2.0, 30.0]]]]
    """
    return depthwise.depthwise_conv2d(
        input, filter, strides, padding, data_format, either("dilations", dilations, "rate", rate), name
    )


def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any, rate: Any = None,
    name: str | None = None, data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes a depthwise convolution, then one of single pixels, see `tf.nn.separable_conv2d`.

    Args:
        depthwise_filter: of shape [height, width, channels, multiplier].
        pointwise_filter: of shape [1, 1, channels * multiplier, out_channels].
        input, strides, padding, dilations, rate, data_format: as of `depthwise_conv2d`.

    Raises:
        ValueError: the dilations were passed under both names, or the shapes do not fit.

    Example:
        >>> image, depthwise, pointwise = tf.ones([1, 1, 1, 2]), tf.ones([1, 1, 2, 1]), tf.ones([1, 1, 2, 1])
        >>> tf.compat.v1.nn.separable_conv2d(image, depthwise, pointwise, [1, 1, 1, 1], "SAME").numpy().item()
        2.0
    """
    spread = either("dilations", dilations, "rate", rate)
    return depthwise.separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, data_format, spread, name
    )


def convolution(
    input: Any, filter: Any, padding: Any, strides: Any = None, dilation_rate: Any = None, name: str | None = None,
    data_format: str | None = None, filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes a convolution over 1, 2 or 3 dimensions, see `tf.nn.convolution`.

    Args:
        input: floating, of shape [batch, *dimensions, channels].
        filters, filter: of shape [*dimensions, in_channels, out_channels], by either name.
        padding: "SAME" or "VALID".
        strides: a number for each dimension; by default 1.
        dilations, dilation_rate: the same, by either name.
        data_format: by default channels are last.

    Raises:
        ValueError: an argument was passed under both names, or the shapes do not fit.

    Example:
        >>> sequences = tf.constant([[[1.0], [2.0], [3.0]]])
        >>> tf.compat.v1.nn.convolution(sequences, tf.ones([2, 1, 1]), "VALID").numpy().tolist()
        [[[3.0], [5.0]]]
    """
    spread = either("dilations", dilations, "dilation_rate", dilation_rate)
    kernel = either("filters", filters, "filter", filter)
    return conv.convolution(input, kernel, strides, padding, data_format, spread, name)


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Any:
    """Computes the largest element of each window of images, see `tf.nn.max_pool2d`.

    Args:
        value, input: of shape [batch, height, width, channels], by either name.
        ksize, strides: an int, or a list of 1, 2 or 4.
        padding, data_format: as of `conv2d`.

    Raises:
        ValueError: the images were passed under both names.

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> tf.compat.v1.nn.max_pool(images, [1, 2, 2, 1], [1, 2, 2, 1], "VALID").numpy().item()
        3.0
    """
    return max_pool2d(either("input", input, "value", value), ksize, strides, padding, data_format, name)


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Any:
    """Computes the mean of each window of images, see `tf.nn.avg_pool2d`.

    Args:
        value, input: of shape [batch, height, width, channels], by either name.
        ksize, strides: an int, or a list of 1, 2 or 4.
        padding, data_format: as of `conv2d`.

    Raises:
        ValueError: the images were passed under both names.

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> tf.compat.v1.nn.avg_pool(images, [1, 2, 2, 1], [1, 2, 2, 1], "VALID").numpy().item()
        1.5
    """
    return avg_pooling.avg_pool2d(either("input", input, "value", value), ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool


def pool(
    input: Any, window_shape: Any, pooling_type: str, padding: Any, dilation_rate: Any = None, strides: Any = None,
    name: str | None = None, data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes the largest element or the mean of each window over 1, 2 or 3 dimensions, see `tf.nn.pool`.

    Args:
        input: of shape [batch, *dimensions, channels].
        window_shape: a number for each dimension.
        pooling_type: "MAX" or "AVG".
        padding, strides, dilations, dilation_rate, data_format: as of `convolution`.

    Raises:
        ValueError: the dilations were passed under both names, or there is no such `pooling_type`.

    Example:
        >>> tf.compat.v1.nn.pool([[[1.0], [5.0], [3.0]]], [2], "MAX", "VALID").numpy().tolist()
        [[[5.0], [5.0]]]
    """
    spread = either("dilations", dilations, "dilation_rate", dilation_rate)
    return dilated.pool(input, window_shape, pooling_type, strides, padding, data_format, spread, name)


# ---- transposes and gradients ----------------------------------------------------------------------------------------


def conv3d_transpose(
    value: Any, filter: Any = None, output_shape: Any = None, strides: Any = None, padding: str = "SAME",
    data_format: str = "NDHWC", name: str | None = None, input: Any = None, filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes the transpose of a convolution of volumes, see `tf.nn.conv3d_transpose`.

    Args:
        input, value: floating, of shape [batch, depth, height, width, in_channels], by either name.
        filters, filter: of shape [depth, height, width, out_channels, in_channels], by either name.
        output_shape: the shape of the result.
        strides, padding, data_format, dilations: as of `conv3d`.

    Raises:
        ValueError: the input or the filter was passed under both names, or the shapes do not fit.

    Example:
        >>> filters = tf.ones([2, 2, 2, 1, 1])
        >>> tf.compat.v1.nn.conv3d_transpose(tf.ones([1, 1, 1, 1, 1]), filters, [1, 2, 2, 2, 1], 2).shape
        TensorShape([1, 2, 2, 2, 1])
    """
    volumes, kernel = either("input", input, "value", value), either("filters", filters, "filter", filter)
    return conv_transposed.conv3d_transpose(
        volumes, kernel, output_shape, strides, padding, data_format, dilations, name
    )


def conv2d_backprop_input(
    input_sizes: Any, filter: Any = None, out_backprop: Any = None, strides: Any = None, padding: Any = None,
    use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
    filters: Any = None,
) -> Any:  # fmt: skip
    """Computes the gradient of a convolution of images with respect to the images.

    Args:
        input_sizes: the shape of the images.
        filters, filter: as of `conv2d`, by either name.
        out_backprop: the gradient of the result.
        strides, padding, data_format, dilations, use_cudnn_on_gpu: as of `conv2d`.

    Raises:
        ValueError: the filter was passed under both names.

    Example:
        >>> gradient = tf.compat.v1.nn.conv2d_backprop_input(
        ...     [1, 2, 2, 1], tf.ones([2, 2, 1, 1]), tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "VALID")
        >>> gradient[0, :, :, 0].numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    kernel = either("filters", filters, "filter", filter)
    padding, explicit = _paddings(padding)
    return raw_ops.Conv2DBackpropInput(
        input_sizes=input_sizes, filter=kernel, out_backprop=out_backprop, strides=strides, padding=padding,
        explicit_paddings=explicit, data_format=data_format, dilations=list(dilations), name=name,
    )  # fmt: skip


def conv2d_backprop_filter(
    input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any, use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the gradient of a convolution of images with respect to the filter.

    Args:
        input, strides, padding, data_format, dilations, use_cudnn_on_gpu: as of `conv2d`.
        filter_sizes: the shape of the filter.
        out_backprop: the gradient of the result.

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> gradient = tf.compat.v1.nn.conv2d_backprop_filter(
        ...     images, [2, 2, 1, 1], tf.ones([1, 1, 1, 1]), [1, 1, 1, 1], "VALID")
        >>> gradient[:, :, 0, 0].numpy().tolist()
        [[0.0, 1.0], [2.0, 3.0]]
    """
    padding, explicit = _paddings(padding)
    return raw_ops.Conv2DBackpropFilter(
        input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, strides=strides, padding=padding,
        explicit_paddings=explicit, data_format=data_format, dilations=list(dilations), name=name,
    )  # fmt: skip


def _paddings(padding: Any) -> tuple[str, list[int]]:
    """Returns a padding as ops expect it: its name and, for "EXPLICIT", the numbers."""
    return (padding, []) if isinstance(padding, str) else ("EXPLICIT", [int(n) for pair in padding for n in pair])


def conv3d_backprop_filter(
    input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: str, data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1), name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the gradient of a convolution of volumes with respect to the filter.

    Args:
        input, strides, padding, data_format, dilations: as of `conv3d`.
        filter_sizes: the shape of the filter.
        out_backprop: the gradient of the result.

    Example:
        >>> gradient = tf.compat.v1.nn.conv3d_backprop_filter(
        ...     tf.ones([1, 2, 2, 2, 1]), [1, 1, 1, 1, 1], tf.ones([1, 2, 2, 2, 1]), [1] * 5, "VALID")
        >>> gradient.numpy().item()
        8.0
    """
    return raw_ops.Conv3DBackpropFilterV2(
        input=input, filter_sizes=filter_sizes, out_backprop=out_backprop, strides=strides, padding=padding,
        data_format=data_format, dilations=list(dilations), name=name,
    )  # fmt: skip


conv3d_backprop_filter_v2 = conv3d_backprop_filter


def depthwise_conv2d_native(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:  # fmt: skip
    """`depthwise_conv2d` with the op's arguments: strides and dilations are lists of 4.

    Example:
        >>> image, filters = tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1])
        >>> tf.compat.v1.nn.depthwise_conv2d_native(image, filters, [1, 1, 1, 1], "VALID").numpy().item()
        4.0
    """
    padding, explicit = _paddings(padding)
    return raw_ops.DepthwiseConv2dNative(
        input=input, filter=filter, strides=strides, padding=padding, explicit_paddings=explicit,
        data_format=data_format, dilations=list(dilations), name=name,
    )  # fmt: skip


# ---- morphology and other pooling ------------------------------------------------------------------------------------


def dilation2d(
    input: Any, filter: Any = None, strides: Any = None, rates: Any = None, padding: str | None = None,
    name: str | None = None, filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Computes the grayscale dilation of images: the largest sum of a pixel and the filter, see `tf.nn.dilation2d`.

    Args:
        input: of shape [batch, height, width, channels].
        filters, filter: of shape [height, width, channels], by either name.
        strides: a list of 4.
        dilations, rates: the same, by either name: how far apart the filter's elements are.
        padding: "SAME" or "VALID".

    Raises:
        ValueError: an argument was passed under both names.

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> one = [1, 1, 1, 1]
        >>> tf.compat.v1.nn.dilation2d(images, tf.zeros([2, 2, 1]), one, one, "VALID").numpy().item()
        3.0
    """
    kernel = either("filters", filters, "filter", filter)
    return raw_ops.Dilation2D(
        input=input, filter=kernel, strides=strides, rates=either("dilations", dilations, "rates", rates),
        padding=padding, name=name,
    )  # fmt: skip


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Any:
    """Computes the grayscale erosion of images: the smallest difference of a pixel and the kernel, see
    `tf.nn.erosion2d`.

    Args:
        value: of shape [batch, height, width, channels].
        kernel: of shape [height, width, channels].
        strides, rates: lists of 4.
        padding: "SAME" or "VALID".

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> one = [1, 1, 1, 1]
        >>> abs(tf.compat.v1.nn.erosion2d(images, tf.zeros([2, 2, 1]), one, one, "VALID").numpy().item())
        0.0
    """
    return morphology.erosion2d(value, kernel, strides, padding, "NHWC", rates, name)


def max_pool_with_argmax(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", Targmax: Any = None,
    name: str | None = None, output_dtype: Any = None, include_batch_in_index: bool = False,
) -> Any:  # fmt: skip
    """Computes the largest element of each window and its position, see `tf.nn.max_pool_with_argmax`.

    Args:
        input: of shape [batch, height, width, channels].
        ksize, strides: an int, or a list of 1, 2 or 4.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        output_dtype, Targmax: int64 (the default) or int32, by either name.
        include_batch_in_index: counts from the first image on, and not in each anew.

    Raises:
        ValueError: the format is another, or the dtype was passed under both names.

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> [t.numpy().item() for t in tf.compat.v1.nn.max_pool_with_argmax(images, 2, 2, "VALID")]
        [3.0, 3]
    """
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other than 'NHWC' are not supported. Received: data_format=" + data_format
        )
    dtype = either("output_dtype", output_dtype, "Targmax", Targmax)
    return max_pooling.max_pool_with_argmax(
        input, ksize, strides, padding, data_format, int64 if dtype is None else dtype, include_batch_in_index, name
    )


def fractional_max_pool(
    value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False,
    seed: int = 0, seed2: int = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the largest elements of windows whose sizes are drawn, see `tf.nn.fractional_max_pool`.

    Args:
        value: of shape [batch, height, width, channels].
        pooling_ratio: 4 numbers, of which the first and last are 1.0.
        pseudo_random: draws the windows so that their sizes alternate more.
        overlapping: has neighbors share a row or column.
        deterministic: draws the same windows at each call, for tests.
        seed, seed2: of that draw; only the first that is not 0 matters.

    Returns:
        The pooled images, and where their rows and columns begin.

    Example:
        >>> pooled = tf.compat.v1.nn.fractional_max_pool(tf.ones([1, 6, 6, 1]), [1.0, 1.5, 1.5, 1.0])
        >>> pooled[0].shape
        TensorShape([1, 4, 4, 1])

    References: Graham 2015 (https://arxiv.org/abs/1412.6071).
    """
    draw = _seed_of_windows(deterministic, seed, seed2)
    return fractional_pooling.fractional_max_pool(value, pooling_ratio, pseudo_random, overlapping, draw, name)


def _seed_of_windows(deterministic: bool, seed: int, seed2: int) -> int:
    """Returns the seed of `tf.nn.fractional_max_pool`, where 0 means other windows at each call."""
    return (seed or seed2 or 1) if deterministic else 0


def fractional_avg_pool(
    value: Any, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False,
    seed: int = 0, seed2: int = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the means of windows whose sizes are drawn, with the arguments of `fractional_max_pool`.

    Example:
        >>> pooled = tf.compat.v1.nn.fractional_avg_pool(tf.ones([1, 6, 6, 1]), [1.0, 1.5, 1.5, 1.0])
        >>> pooled[0].shape
        TensorShape([1, 4, 4, 1])
    """
    draw = _seed_of_windows(deterministic, seed, seed2)
    return fractional_pooling.fractional_avg_pool(value, pooling_ratio, pseudo_random, overlapping, draw, name)
