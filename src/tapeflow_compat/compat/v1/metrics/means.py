"""Metrics that are means: accuracy, errors, distances."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import ones_like, zeros_like
from tapeflow.array.masks import where
from tapeflow.array.properties import size
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.tensor import Tensor
from tapeflow.math import elementwise
from tapeflow.math.arithmetic import squared_difference
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, less
from tapeflow.math.division import divide
from tapeflow.math.elementwise import sqrt
from tapeflow.math.reduction import reduce_sum
from tapeflow_compat.compat.v1.metrics.streaming import (
    aligned,
    broadcast_weights,
    metric,
    metric_variable,
    ratio,
    results,
    same_rank,
)
from tapeflow_compat.compat.v1.variable_scopes import variable_scope


@metric
def mean(values: Any, weights: Any = None, name: str | None = None) -> Any:
    """Computes the mean of all elements of all batches.

    Args:
        values: numbers of any shape.
        weights: a scalar, or a tensor of the rank of `values`; each dimension is equal or 1.
        metrics_collections: the graph's collections to add the value to.
        updates_collections: the graph's collections to add the update to.
        name: a string, the variable scope of its variables, `total` and `count`.

    Returns:
        Two float32 scalars: the mean so far, and the one with this batch, which it takes in when it runs.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.placeholder(tf.float32, [None])
        ...     value, update = tf.compat.v1.metrics.mean(x)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print([sess.run(update, {x: batch}) for batch in ([1.0, 2.0], [6.0])], sess.run(value))
        [np.float32(1.5), np.float32(3.0)] 3.0
    """
    with variable_scope(name, "mean"):
        values = cast(values, float32)
        total, count = metric_variable([], float32, "total"), metric_variable([], float32, "count")
        if weights is None:
            amount = cast(size(values), float32)
        else:
            values, _, weights = aligned(values, None, weights)
            weights = broadcast_weights(weights, values)
            values = values * weights
            amount = reduce_sum(weights)
        updates = [total.assign_add(reduce_sum(values))]
        with control_dependencies([values]):
            updates.append(count.assign_add(amount))
        return results(ratio, [total, count], updates)


@metric
def mean_tensor(values: Any, weights: Tensor | None = None, name: str | None = None) -> Any:
    """Computes the mean of all batches, element by element.

    Args:
        values: numbers of a static shape.
        weights, metrics_collections, updates_collections, name: see `mean`.

    Returns:
        Two float32 tensors of the shape of `values`, see `mean`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.placeholder(tf.float32, [2])
        ...     value, update = tf.compat.v1.metrics.mean_tensor(x)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print([sess.run(update, {x: batch}).tolist() for batch in ([1.0, 2.0], [3.0, 6.0])])
        [[1.0, 2.0], [2.0, 4.0]]
    """
    with variable_scope(name, "mean"):
        values = cast(values, float32)
        total = metric_variable(values.shape, float32, "total_tensor")
        count = metric_variable(values.shape, float32, "count_tensor")
        amounts = ones_like(values)
        if weights is not None:
            values, _, weights = aligned(values, None, weights)
            weights = broadcast_weights(weights, values)
            values, amounts = values * weights, amounts * weights
        updates = [total.assign_add(values)]
        with control_dependencies([values]):
            updates.append(count.assign_add(amounts))
        return results(ratio, [total, count], updates)


@metric
def accuracy(labels: Any, predictions: Any, weights: Any = None, name: str | None = None) -> Any:
    """Computes the fraction of the predictions that equal the labels.

    Args:
        labels, predictions: tensors of one shape; one may have a last dimension of length 1 more.
        weights, metrics_collections, updates_collections, name: see `mean`.

    Returns:
        Two float32 scalars, see `mean`.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.accuracy([1, 2, 3, 4], [1, 2, 0, 4])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.75
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    if labels.dtype is not predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    right = cast(equal(predictions, labels), float32)
    return mean(right, weights, name=name or "accuracy")


@metric
def mean_absolute_error(labels: Any, predictions: Any, weights: Any = None, name: str | None = None) -> Any:
    """Computes the mean distance of predictions from labels.

    Args:
        labels, predictions, weights, metrics_collections, updates_collections, name: see `accuracy`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.mean_absolute_error([1.0, 2.0], [2.0, 5.0])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        2.0
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = elementwise.abs(predictions - labels)
    return mean(errors, weights, name=name or "mean_absolute_error")


@metric
def mean_squared_error(
    labels: Tensor, predictions: Tensor, weights: Tensor | None = None, name: str | None = None
) -> Any:
    """Computes the mean square of the difference of predictions and labels.

    Args:
        labels, predictions, weights, metrics_collections, updates_collections, name: see `accuracy`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.mean_squared_error([1.0, 2.0], [2.0, 5.0])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        5.0
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    errors = squared_difference(labels, predictions)
    return mean(errors, weights, name=name or "mean_squared_error")


@metric
def root_mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, name: str | None = None
) -> Any:
    """Computes the square root of `mean_squared_error`.

    Args:
        labels, predictions, weights, metrics_collections, updates_collections, name: see `accuracy`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.root_mean_squared_error([1.0, 2.0], [4.0, 5.0])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        3.0
    """
    mean = mean_squared_error(labels, predictions, weights, name=name or "root_mean_squared_error")
    return sqrt(mean[0]), sqrt(mean[1])


@metric
def mean_relative_error(
    labels: Any, predictions: Any, normalizer: Any, weights: Any = None, name: str | None = None
) -> Any:
    """Computes the mean distance of predictions from labels, each divided by its normalizer; 0 where that is 0.

    Args:
        normalizer: a tensor of the shape of `predictions`.
        labels, predictions, weights, metrics_collections, updates_collections, name: see `accuracy`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.mean_relative_error([1.0, 2.0], [2.0, 5.0], [1.0, 2.0])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        1.25
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions, normalizer = same_rank(predictions, convert(normalizer))
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = where(
        equal(normalizer, 0.0), zeros_like(labels), divide(elementwise.abs(labels - predictions), normalizer)
    )
    return mean(errors, weights, name=name or "mean_relative_error")


@metric
def mean_cosine_distance(labels: Any, predictions: Any, dim: int, weights: Any = None, name: str | None = None) -> Any:
    """1 minus the mean scalar product of labels and predictions, which are vectors of length 1.

    Args:
        dim: an int, the dimension of the vectors.
        labels, predictions, weights, metrics_collections, updates_collections, name: see `accuracy`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.mean_cosine_distance([[1.0, 0.0]], [[0.6, 0.8]], dim=1)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).round(4))
        0.4
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    products = reduce_sum(predictions * labels, [dim], keepdims=True)
    value, update = mean(products, weights, name=name or "mean_cosine_distance")
    return 1.0 - value, 1.0 - update


@metric
def percentage_below(values: Any, threshold: float, weights: TensorLike | None = None, name: str | None = None) -> Any:
    """Computes the fraction of the values that are below a threshold.

    Args:
        values: numbers of any shape.
        threshold: a number; the metric counts the values below it.
        weights, metrics_collections, updates_collections, name: see `mean`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], 1.5)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.25
    """
    below = cast(less(values, threshold), float32)
    return mean(below, weights, name=name or "percentage_below_threshold")
