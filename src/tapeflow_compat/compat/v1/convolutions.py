"""Convolutions and pooling with the parameters of TensorFlow 1, which `tf.compat.v1.nn` has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int64
from tapeflow.nn import max_pooling, morphology
from tapeflow_compat import raw_ops
from tapeflow_compat.compat.v1.aliases import either

# ---- transposes and gradients ----------------------------------------------------------------------------------------


def conv2d_backprop_input(
    input_sizes: ShapeLike, filter: TensorLike | None = None, out_backprop: Any = None,
    strides: Sequence[int] | None = None, padding: str | None = None,
    use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1),
    name: str | None = None, filters: TensorLike | None = None,
) -> Any:  # fmt: skip
    """Computes the gradient of a convolution of images with respect to the images.

    Args:
        input_sizes: the shape of the images.
        filters, filter: see `conv2d`, by either name.
        out_backprop: the gradient of the result.
        strides, padding, data_format, dilations, use_cudnn_on_gpu: see `conv2d`.

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
    input: TensorLike, filter_sizes: ShapeLike, out_backprop: Any, strides: Sequence[int], padding: str,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations: Sequence[int] = (1, 1, 1, 1), name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the gradient of a convolution of images with respect to the filter.

    Args:
        input, strides, padding, data_format, dilations, use_cudnn_on_gpu: see `conv2d`.
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
    input: TensorLike, filter_sizes: ShapeLike, out_backprop: Any, strides: Sequence[int], padding: str,
    data_format: str = "NDHWC", dilations: Sequence[int] = (1, 1, 1, 1, 1), name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the gradient of a convolution of volumes with respect to the filter.

    Args:
        input, strides, padding, data_format, dilations: see `conv3d`.
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
    input: TensorLike, filter: TensorLike, strides: Sequence[int], padding: str, data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1), name: str | None = None,
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
    input: TensorLike, filter: TensorLike | None = None, strides: Sequence[int] | None = None,
    rates: Sequence[int] | None = None,
    padding: str | None = None, name: str | None = None, filters: TensorLike | None = None,
    dilations: Sequence[int] | None = None,
) -> Any:  # fmt: skip
    """Computes the grayscale dilation of images: the largest sum of a pixel and the filter, see `tf.nn.dilation2d`.

    Args:
        input: a tensor of shape [batch, height, width, channels].
        filters, filter: a tensor of shape [height, width, channels], by either name.
        strides: a list of 4 ints.
        dilations, rates: a list of 4 ints, the distances between the filter's elements, by either name.
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


def erosion2d(
    value: TensorLike,
    kernel: TensorLike,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    name: str | None = None,
) -> Any:
    """Computes the grayscale erosion of images: the smallest difference of a pixel and the kernel, see
    `tf.nn.erosion2d`.

    Args:
        value: a tensor of shape [batch, height, width, channels].
        kernel: a tensor of shape [height, width, channels].
        strides, rates: lists of 4 ints.
        padding: "SAME" or "VALID".

    Example:
        >>> images = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> one = [1, 1, 1, 1]
        >>> abs(tf.compat.v1.nn.erosion2d(images, tf.zeros([2, 2, 1]), one, one, "VALID").numpy().item())
        0.0
    """
    return morphology.erosion2d(value, kernel, strides, padding, "NHWC", rates, name)


def max_pool_with_argmax(
    input: TensorLike, ksize: int, strides: int, padding: str, data_format: str = "NHWC", Targmax: Any = None,
    name: str | None = None, output_dtype: DTypeLike = None, include_batch_in_index: bool = False,
) -> Any:  # fmt: skip
    """Computes the largest element of each window and its position, see `tf.nn.max_pool_with_argmax`.

    Args:
        input: a tensor of shape [batch, height, width, channels].
        ksize, strides: an int, or a list of 1, 2 or 4.
        padding: "SAME" or "VALID".
        data_format: "NHWC".
        output_dtype, Targmax: int64 (the default) or int32, by either name.
        include_batch_in_index: whether indices count through the whole batch instead of each image; False by default.

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
    value: TensorLike, pooling_ratio: Any, pseudo_random: bool = False, overlapping: bool = False,
    deterministic: bool = False, seed: int = 0, seed2: int = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the largest elements of windows whose sizes are drawn, see `tf.nn.fractional_max_pool`.

    Args:
        value: a tensor of shape [batch, height, width, channels].
        pooling_ratio: 4 floats; the first and the last are 1.0.
        pseudo_random: draws the windows with sizes that alternate more.
        overlapping: whether neighboring windows share a row or column; False by default.
        deterministic: whether to draw the same windows at each call, for tests; False by default.
        seed, seed2: ints, the seeds of that draw.

    Returns:
        The pooled images, and where their rows and columns begin.

    Example:
        >>> pooled = tf.compat.v1.nn.fractional_max_pool(tf.ones([1, 6, 6, 1]), [1.0, 1.5, 1.5, 1.0])
        >>> pooled[0].shape
        TensorShape([1, 4, 4, 1])

    References: Graham 2015 (https://arxiv.org/abs/1412.6071).
    """
    return raw_ops.FractionalMaxPool(
        value=value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
        deterministic=deterministic, seed=seed, seed2=seed2, name=name,
    )  # fmt: skip


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
    return raw_ops.FractionalAvgPool(
        value=value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
        deterministic=deterministic, seed=seed, seed2=seed2, name=name,
    )  # fmt: skip
