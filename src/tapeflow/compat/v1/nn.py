"""The public `tf.compat.v1.nn` namespace: neural networks with the parameters of TensorFlow 1."""
# ruff: noqa: F401 (what is imported here is public)

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow.compat.v1 import names
from tapeflow.compat.v1.arrays import depth_to_space, space_to_depth
from tapeflow.compat.v1.convolutions import (
    avg_pool,
    avg_pool2d,
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    convolution,
    depthwise_conv2d,
    max_pool,
    pool,
    separable_conv2d,
)
from tapeflow.compat.v1.renamed import either
from tapeflow.core.convert import convert

# ---- activations and losses ------------------------------------------------------------------------------------------


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Exponentials that add up to 1 along a dimension, see `tf.nn.softmax`.

    Args:
        logits: floating.
        axis, dim: the dimension, by either name; by default the last.

    Raises:
        ValueError: the dimension was given by both names.

    Example:
        >>> tf.compat.v1.nn.softmax([[0.0, 0.0]], dim=1).numpy().tolist()
        [[0.5, 0.5]]
    """
    along = either("axis", axis, "dim", dim)
    return tf.nn.softmax(logits, -1 if along is None else along, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """The logarithm of `softmax`, with its arguments and errors: see `tf.nn.log_softmax`.

    Example:
        >>> tf.compat.v1.nn.log_softmax([[5.0], [5.0]], dim=1).numpy().tolist()
        [[0.0], [0.0]]
    """
    along = either("axis", axis, "dim", dim)
    return tf.nn.log_softmax(logits, -1 if along is None else along, name)


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """`x` where it is positive, and `alpha * x` elsewhere, see `tf.nn.leaky_relu`.

    Example:
        >>> tf.compat.v1.nn.leaky_relu([-2.0, 3.0], 0.5).numpy().tolist()
        [-1.0, 3.0]
    """
    return tf.nn.leaky_relu(features, alpha, name)


def crelu(features: Any, name: str | None = None, axis: Any = -1) -> Any:
    """`relu` of a tensor and of its negative, joined along `axis`, see `tf.nn.crelu`.

    Example:
        >>> tf.compat.v1.nn.crelu([-2.0, 3.0]).numpy().tolist()
        [0.0, 3.0, 2.0, 0.0]
    """
    return tf.nn.crelu(features, axis, name)


def dropout(
    x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None, name: str | None = None, rate: Any = None
) -> Any:
    """Elements at random set to 0, and the others made larger by as much, see `tf.nn.dropout`.

    Args:
        x: floating.
        keep_prob: the probability that an element stays, 1 - `rate`.
        rate: the probability that it becomes 0.
        noise_shape: a shape that broadcasts to that of `x`: along its ones, elements stay together.
        seed: of this operation.

    Raises:
        ValueError: neither is given, or both.

    Example:
        >>> tf.compat.v1.nn.dropout([1.0, 2.0], keep_prob=1.0).numpy().tolist()
        [1.0, 2.0]
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
    if rate is None and keep_prob is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    if rate is None:
        rate = 1.0 - keep_prob
    return tf.nn.dropout(x, rate, noise_shape, seed, name)


def _labels_and_logits(function: str, labels: Any, logits: Any) -> tuple[Any, Any]:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided for {function}, by keyword. Received: labels={labels} and "
            f"logits={logits}"
        )
    return labels, logits


def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, dim: int = -1, name: str | None = None, axis: Any = None
) -> Any:
    """The cross-entropy of labels that are distributions; no gradient goes to the labels.

    Args:
        labels: floating: along the dimension, probabilities that add up to 1.
        logits: of the shape and dtype of the labels.
        dim, axis: the dimension of the classes; by `axis` only where `dim` is None.

    Returns:
        A tensor of the shape of the labels without that dimension.

    Raises:
        ValueError: labels or logits are missing, or the dimension was given by both names.

    Example:
        >>> loss = tf.compat.v1.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[2.0, 2.0]])
        >>> print(loss.numpy().round(4))
        [0.6931]
    """
    labels, logits = _labels_and_logits("softmax_cross_entropy_with_logits", labels, logits)
    along = either("axis", axis, "dim", dim)
    return softmax_cross_entropy_with_logits_v2(tf.stop_gradient(convert(labels)), logits, along, name)


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Any:
    """The cross-entropy of labels that are distributions, see `tf.nn.softmax_cross_entropy_with_logits`.

    Args:
        labels: floating: along the dimension, probabilities that add up to 1.
        logits: of the shape and dtype of the labels.
        axis, dim: the dimension of the classes, by either name; by default the last.

    Raises:
        ValueError: the dimension was given by both names.

    Example:
        >>> loss = tf.compat.v1.nn.softmax_cross_entropy_with_logits_v2([[1.0, 0.0]], [[2.0, 2.0]])
        >>> print(loss.numpy().round(4))
        [0.6931]
    """
    along = either("axis", axis, "dim", dim)
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, -1 if along is None else along, name)


def sparse_softmax_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross-entropy of labels that are numbers, see `tf.nn.sparse_softmax_cross_entropy_with_logits`.

    Args:
        labels: int32 or int64: the numbers of the classes.
        logits: of the shape of the labels, and one dimension more for the classes.

    Raises:
        ValueError: labels or logits are missing, or of other shapes.

    Example:
        >>> loss = tf.compat.v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=[[2.0, 2.0]])
        >>> print(loss.numpy().round(4))
        [0.6931]
    """
    labels, logits = _labels_and_logits("sparse_softmax_cross_entropy_with_logits", labels, logits)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross-entropy of labels that do not exclude each other, see `tf.nn.sigmoid_cross_entropy_with_logits`.

    Args:
        labels: floating, each from 0 to 1.
        logits: of the shape and dtype of the labels.

    Raises:
        ValueError: labels or logits are missing, or of other shapes.

    Example:
        >>> loss = tf.compat.v1.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.5], logits=[0.0, 0.0])
        >>> print(loss.numpy().round(4))
        [0.6931 0.6931]
    """
    labels, logits = _labels_and_logits("sigmoid_cross_entropy_with_logits", labels, logits)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits, name)


def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None
) -> Any:
    """`sigmoid_cross_entropy_with_logits` with a weight on the positive labels.

    Args:
        labels, targets: floating, each from 0 to 1, by either name.
        logits: of the shape and dtype of the labels.
        pos_weight: what the positive labels' part is multiplied by.

    Raises:
        ValueError: the labels were given by both names, or are of another shape.

    Example:
        >>> loss = tf.compat.v1.nn.weighted_cross_entropy_with_logits(targets=[1.0], logits=[0.0], pos_weight=2.0)
        >>> print(loss.numpy().round(4))
        [1.3863]
    """
    labels = either("labels", labels, "targets", targets)
    return tf.nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Any:
    """Whether the targets are among the `k` best predictions, see `tf.math.in_top_k`.

    Args:
        predictions: float32, of shape [batch, classes].
        targets: int32 or int64, of shape [batch].
        k: how many count as best.

    Returns:
        Booleans of shape [batch].

    Raises:
        InvalidArgumentError: the shapes do not fit.

    Example:
        >>> tf.compat.v1.nn.in_top_k([[0.1, 0.9], [0.8, 0.2]], [1, 1], 1).numpy().tolist()
        [True, False]
    """
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


# ---- statistics ------------------------------------------------------------------------------------------------------


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Any:
    """The mean and the variance over `axes`, see `tf.nn.moments`.

    Args:
        x: floating.
        axes: the dimensions to reduce.
        shift: accepted, and without effect.
        keep_dims, keepdims: keeps them with length 1, by either name.

    Raises:
        ValueError: that was given by both names.

    Example:
        >>> [t.numpy().item() for t in tf.compat.v1.nn.moments(tf.constant([1.0, 3.0]), [0], keep_dims=False)]
        [2.0, 1.0]
    """
    return tf.nn.moments(x, axes, shift, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Any:  # fmt: skip
    """The mean and the variance, weighted by how often each element counts, see `tf.nn.weighted_moments`.

    Args:
        frequency_weights: of a shape that broadcasts to that of `x`.
        x, axes, keep_dims, keepdims: as of `moments`.

    Example:
        >>> [t.numpy().item() for t in tf.compat.v1.nn.weighted_moments([1.0, 5.0], [0], [3.0, 1.0])]
        [2.0, 3.0]
    """
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
    """What the mean and the variance are computed from, see `tf.nn.sufficient_statistics`.

    Args:
        shift: what to subtract from the elements first, or None.
        x, axes, keep_dims, keepdims: as of `moments`.

    Returns:
        How many elements there are, their sum, the sum of their squares, and `shift`.

    Example:
        >>> count, total, squares, _ = tf.compat.v1.nn.sufficient_statistics(tf.constant([1.0, 5.0]), [0])
        >>> count.numpy().item(), total.numpy().item(), squares.numpy().item()
        (2.0, 6.0, 26.0)
    """
    return tf.nn.sufficient_statistics(x, axes, shift, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)


def embedding_lookup(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None, validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:  # fmt: skip
    """Rows of a table by their numbers, see `tf.nn.embedding_lookup`.

    Args:
        params: the table, or a list of the pieces that it is in.
        ids: int32 or int64, of any shape.
        partition_strategy: which rows are in a piece: "div" for rows that follow each other, or "mod" for every nth,
            where there are n pieces.
        max_norm: scales rows of a larger norm to this one.
        validate_indices: accepted, and without effect.

    Returns:
        A tensor of the shape of `ids` and then that of a row.

    Raises:
        ValueError: there is no table, or no such strategy.
        InvalidArgumentError: there is no row of a number.

    Example:
        >>> pieces = [tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [3.0]])]  # of even and of odd numbers
        >>> tf.compat.v1.nn.embedding_lookup(pieces, [3, 0]).numpy().tolist()
        [[3.0], [0.0]]
    """
    pieces = list(params) if isinstance(params, (list, tuple)) else [] if params is None else [params]
    if not pieces:
        raise ValueError("Need at least one param: `params` must be specified.")
    if len(pieces) == 1:
        return tf.nn.embedding_lookup(pieces[0], ids, max_norm, name)
    ids = convert(ids)
    flat = tf.reshape(ids, [-1])
    piece, row = _places(flat, pieces, partition_strategy)
    order = tf.dynamic_partition(tf.range(tf.size(flat)), piece, len(pieces))
    rows = tf.dynamic_partition(row, piece, len(pieces))
    found = [tf.nn.embedding_lookup(p, r, max_norm) for p, r in zip(pieces, rows, strict=True)]
    shape = tf.concat([tf.shape(ids), tf.shape(pieces[0])[1:]], 0)
    return tf.reshape(tf.dynamic_stitch(order, found), shape, name)


def _places(ids: Any, pieces: list[Any], strategy: str) -> tuple[Any, Any]:
    """In which piece of a table each row is, and where in it."""
    count = len(pieces)
    if strategy == "mod":
        return tf.cast(ids % count, tf.int32), ids // count
    if strategy != "div":
        raise ValueError(f'Unrecognized partition strategy: {strategy}. Must be one of either `"mod"` or `"div"`.')
    total = tf.add_n([tf.cast(tf.shape(p)[0], ids.dtype) for p in pieces])
    least, larger = total // count, total % count  # the first pieces have a row more
    piece = tf.maximum(ids // (least + 1), (ids - larger) // least)
    in_larger = piece < larger
    row = tf.where(in_larger, ids % (least + 1), (ids - larger) % least)
    return tf.cast(piece, tf.int32), row


_find = names.finder("nn")


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("nn")})
