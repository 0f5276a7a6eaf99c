"""The public `tf.compat.v1.nn` namespace: neural networks with the parameters of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow.compat.v1 import names
from tapeflow.compat.v1.renamed import either, required
from tapeflow.core.convert import convert

# ---- activations and losses ------------------------------------------------------------------------------------------


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Exponentials that add up to 1, see `tf.nn.softmax`; `dim` is the old name of `axis`.

    Example:
        >>> tf.compat.v1.nn.softmax([[0.0, 0.0]], dim=1).numpy().tolist()
        [[0.5, 0.5]]
    """
    along = either("axis", axis, "dim", dim)
    return tf.nn.softmax(logits, -1 if along is None else along, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """The logarithm of `softmax`, see `tf.nn.log_softmax`; `dim` is the old name of `axis`."""
    along = either("axis", axis, "dim", dim)
    return tf.nn.log_softmax(logits, -1 if along is None else along, name)


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """`x` where it is positive, and `alpha * x` elsewhere, see `tf.nn.leaky_relu`."""
    return tf.nn.leaky_relu(features, alpha, name)


def crelu(features: Any, name: str | None = None, axis: Any = -1) -> Any:
    """`relu` of a tensor and of its negative, joined, see `tf.nn.crelu`."""
    return tf.nn.crelu(features, axis, name)


def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None, name: str | None = None, rate: Any = None
) -> Any:
    """Elements at random set to 0, and the others made larger by as much, see `tf.nn.dropout`.

    Args:
        keep_prob: the probability that an element stays, 1 - `rate`.
        rate: the probability that it becomes 0.

    Raises:
        ValueError: neither is given, or both.

    Example:
        >>> tf.compat.v1.nn.dropout([1.0, 2.0], keep_prob=1.0).numpy().tolist()
        [1.0, 2.0]
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'rate' and 'keep_prob'.")
    if rate is None:
        if keep_prob is None:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). You must provide a rate to dropout."
            )
        rate = 1.0 - keep_prob
    return tf.nn.dropout(x, rate, noise_shape, seed, name)


def _labels_and_logits(function: str, labels: Any, logits: Any) -> tuple[Any, Any]:
    if labels is None or logits is None:
        raise ValueError(f"Both labels and logits must be provided to {function}, by keyword.")
    return labels, logits


def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, dim: int = -1, name: str | None = None, axis: Any = None
) -> Any:
    """The cross-entropy of labels that are distributions, see `tf.nn.softmax_cross_entropy_with_logits`; no gradient
    goes
    to the labels.

    Raises:
        ValueError: labels or logits are missing.
    """
    labels, logits = _labels_and_logits("softmax_cross_entropy_with_logits", labels, logits)
    along = dim if axis is None else axis
    return tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(convert(labels)), logits, along, name)


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Any:
    """The cross-entropy of labels that are distributions, see `tf.nn.softmax_cross_entropy_with_logits`."""
    along = either("axis", axis, "dim", dim)
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, -1 if along is None else along, name)


def sparse_softmax_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross-entropy of labels that are numbers, see `tf.nn.sparse_softmax_cross_entropy_with_logits`.

    Raises:
        ValueError: labels or logits are missing.
    """
    labels, logits = _labels_and_logits("sparse_softmax_cross_entropy_with_logits", labels, logits)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross-entropy of labels that do not exclude each other, see `tf.nn.sigmoid_cross_entropy_with_logits`.

    Raises:
        ValueError: labels or logits are missing.
    """
    labels, logits = _labels_and_logits("sigmoid_cross_entropy_with_logits", labels, logits)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits, name)


def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None
) -> Any:
    """`sigmoid_cross_entropy_with_logits` with a weight on the positive labels; `targets` is the old name of
    `labels`."""
    labels = either("labels", labels, "targets", targets)
    return tf.nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Any:
    """Whether the targets are among the `k` best predictions, see `tf.math.in_top_k`."""
    return tf.math.in_top_k(targets, predictions, k, name)


# ---- layers ----------------------------------------------------------------------------------------------------------


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """`matmul(x, weights) + biases`.

    Example:
        >>> tf.compat.v1.nn.xw_plus_b([[1.0, 2.0]], [[3.0], [4.0]], [0.5]).numpy().tolist()
        [[11.5]]
    """
    with tf.name_scope(name or "xw_plus_b"):
        return tf.nn.bias_add(tf.matmul(x, weights), biases)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """`relu(matmul(x, weights) + biases)`.

    Example:
        >>> tf.compat.v1.nn.relu_layer([[1.0, 2.0]], [[-3.0], [1.0]], [0.5]).numpy().tolist()
        [[0.0]]
    """
    with tf.name_scope(name or "relu_layer"):
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), biases))


def conv2d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None, filters: Any = None,
) -> Any:  # fmt: skip
    """A convolution of images, see `tf.nn.conv2d`; `filter` is the old name of `filters`."""
    kernel = either("filters", filters, "filter", filter)
    return tf.nn.conv2d(input, kernel, strides, padding, data_format, list(dilations), name)


def conv1d(
    value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None, use_cudnn_on_gpu: Any = None,
    data_format: str | None = None, name: str | None = None, input: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """A convolution of sequences, see `tf.nn.conv1d`; `value` is the old name of `input`."""
    given = either("input", input, "value", value)
    return tf.nn.conv1d(given, filters, stride, padding, data_format or "NWC", dilations, name)


def conv3d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None, data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1), name: str | None = None, filters: Any = None,
) -> Any:  # fmt: skip
    """A convolution of volumes, see `tf.nn.conv3d`; `filter` is the old name of `filters`."""
    kernel = either("filters", filters, "filter", filter)
    return tf.nn.conv3d(input, kernel, strides, padding, data_format, list(dilations), name)


def conv2d_transpose(
    value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None, padding: str = "SAME",
    data_format: str = "NHWC", name: str | None = None, input: Any = None, filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """The transpose of a convolution of images, see `tf.nn.conv2d_transpose`."""
    given, kernel = either("input", input, "value", value), either("filters", filters, "filter", filter)
    return tf.nn.conv2d_transpose(given, kernel, output_shape, strides, padding, data_format, dilations, name)


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: str | None = None,
    data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """A convolution of each channel, see `tf.nn.depthwise_conv2d`; `rate` is the old name of `dilations`."""
    return tf.nn.depthwise_conv2d(
        input, filter, strides, padding, data_format, either("dilations", dilations, "rate", rate), name
    )


def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any, rate: Any = None,
    name: str | None = None, data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """A depthwise convolution, then one of single pixels, see `tf.nn.separable_conv2d`."""
    spread = either("dilations", dilations, "rate", rate)
    return tf.nn.separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, data_format, spread, name
    )


def convolution(
    input: Any, filter: Any, padding: Any, strides: Any = None, dilation_rate: Any = None, name: str | None = None,
    data_format: str | None = None, filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """A convolution over any number of dimensions, see `tf.nn.convolution`."""
    spread = either("dilations", dilations, "dilation_rate", dilation_rate)
    kernel = filter if filters is None else filters
    return tf.nn.convolution(input, kernel, strides, padding, data_format, spread, name)


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Any:
    """The largest element of each window, see `tf.nn.max_pool2d`; `input` is another name of `value`."""
    return tf.nn.max_pool2d(value if input is None else input, ksize, strides, padding, data_format, name)


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Any:
    """The mean of each window, see `tf.nn.avg_pool2d`; `input` is another name of `value`."""
    return tf.nn.avg_pool2d(value if input is None else input, ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool


def pool(
    input: Any, window_shape: Any, pooling_type: str, padding: Any, dilation_rate: Any = None, strides: Any = None,
    name: str | None = None, data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """The largest element or the mean of each window of any rank, see `tf.nn.pool`."""
    spread = either("dilations", dilations, "dilation_rate", dilation_rate)
    return tf.nn.pool(input, window_shape, pooling_type, strides, padding, data_format, spread, name)


def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Blocks of space into depth, see `tf.nn.space_to_depth`."""
    return tf.nn.space_to_depth(input, block_size, data_format, name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Depth into blocks of space, see `tf.nn.depth_to_space`."""
    return tf.nn.depth_to_space(input, block_size, data_format, name)


# ---- statistics ------------------------------------------------------------------------------------------------------


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Any:
    """The mean and the variance, see `tf.nn.moments`.

    Example:
        >>> [t.numpy().item() for t in tf.compat.v1.nn.moments(tf.constant([1.0, 3.0]), [0], keep_dims=False)]
        [2.0, 1.0]
    """
    return tf.nn.moments(x, axes, shift, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Any:  # fmt: skip
    """The mean and the variance, weighted by how often each element counts, see `tf.nn.weighted_moments`."""
    kept = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    return tf.nn.weighted_moments(x, axes, frequency_weights, kept, name)


def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> Any:
    """What the mean and the variance are computed from, see `tf.nn.sufficient_statistics`."""
    return tf.nn.sufficient_statistics(x, axes, shift, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)


def embedding_lookup(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None, validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:  # fmt: skip
    """Rows of a table by their numbers, see `tf.nn.embedding_lookup`.

    Args:
        params: the table, or a list of one.
        partition_strategy: means nothing for a table in one piece.

    Raises:
        UnimplementedError: the table is in several pieces.
    """
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise tf.errors.UnimplementedError(
                None, None, f"embedding_lookup: a table in {len(params)} pieces; tf.concat them"
            )
        params = params[0]
    return tf.nn.embedding_lookup(required("params", params), ids, max_norm, name)


_find = names.finder("nn")


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("nn")})
