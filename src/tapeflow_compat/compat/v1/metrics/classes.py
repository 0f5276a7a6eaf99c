"""Metrics of classes: accuracy and intersection over union, per class."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import convert_to_tensor, ones, ones_like
from tapeflow.array.masks import where
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import reshape
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, float64, int64
from tapeflow.linalg.diagonals import diag_part
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, not_equal
from tapeflow.math.counts import confusion_matrix
from tapeflow.math.division import divide
from tapeflow.math.reduction import reduce_mean, reduce_sum
from tapeflow_compat.compat.v1.metrics.streaming import metric, metric_variable, ratio
from tapeflow_compat.compat.v1.scatter_updates import scatter_add
from tapeflow_compat.compat.v1.variable_scopes import variable_scope


def _flat(tensor: Any) -> Any:
    return reshape(tensor, [-1]) if tensor.shape.rank is None or tensor.shape.rank > 1 else tensor


def _mean_of_quotients(totals: Any, name: str) -> Any:
    """Computes the mean intersection over union by a confusion matrix, over the classes that occur."""
    right = cast(diag_part(totals), float32)
    either = cast(reduce_sum(totals, 0), float32) + cast(reduce_sum(totals, 1), float32) - right
    present = reduce_sum(cast(not_equal(either, 0), float32))
    quotients = divide(right, where(greater(either, 0), either, ones_like(either)))
    return where(greater(present, 0), reduce_sum(quotients, name=name) / present, 0.0)


@metric
def mean_iou(
    labels: Any, predictions: Any, num_classes: int, weights: TensorLike | None = None, name: str | None = None
) -> Any:
    """Computes the mean of the intersection over union of all classes.

    The intersection has the elements whose label and prediction are the class, the union all with either of them.

    Args:
        labels, predictions: integers in `[0, num_classes)`, of one shape.
        num_classes: an int, the number of classes.
        weights: a tensor of the shape of `predictions`.
        metrics_collections, updates_collections, name: see `mean`.

    Returns:
        A float32 scalar, the mean so far, and the operation that takes in a batch and gives the confusion matrix,
        float64 of shape `[num_classes, num_classes]`.

    Raises:
        ValueError: the shapes do not fit.
        InvalidArgumentError: when it runs: there is no such class.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.mean_iou([0, 0, 1, 1], [0, 1, 1, 1], 2)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).tolist(), sess.run(value).round(4))
        [[1.0, 1.0], [0.0, 2.0]] 0.5833
    """
    with variable_scope(name, "mean_iou"):
        labels, predictions = convert(labels), convert(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        totals = metric_variable([num_classes, num_classes], float64, "total_confusion_matrix")
        labels, predictions = _flat(cast(labels, int64)), _flat(cast(predictions, int64))
        weights = None if weights is None else _flat(convert(weights))
        current = confusion_matrix(labels, predictions, num_classes, weights, float64)
        update = totals.assign_add(current)
        with control_dependencies(None):
            value = _mean_of_quotients(totals, "mean_iou")
        return value, convert_to_tensor(update)


@metric
def mean_per_class_accuracy(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None, name: str | None = None
) -> Any:
    """Computes the mean over the classes of the fraction of a class that is predicted as it.

    Args:
        labels: integers in `[0, num_classes)`.
        predictions: a tensor of the shape of `labels`.
        num_classes: an int, the number of classes.
        weights: a tensor of the shape of `labels`.
        metrics_collections, updates_collections, name: see `mean`.

    Returns:
        A float32 scalar, the mean so far, and the operation that takes in a batch and gives the fraction of each class.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.mean_per_class_accuracy([0, 0, 1, 1], [0, 1, 1, 1], 2)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).tolist(), sess.run(value))
        [0.5, 1.0] 0.75
    """
    with variable_scope(name, "mean_accuracy"):
        labels, predictions = _flat(cast(labels, int64)), _flat(convert(predictions))
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], float32, "total")
        count = metric_variable([num_classes], float32, "count")
        amounts = ones(shape(labels), float32)
        right = cast(equal(cast(predictions, labels.dtype), labels), float32)
        if weights is not None:
            weights = cast(_flat(convert(weights)), float32)
            right, amounts = right * weights, amounts * weights
        updates = [scatter_add(count, labels, right), scatter_add(total, labels, amounts)]
        with control_dependencies(None):
            value = reduce_mean(ratio(count, total, "fractions"), name="mean_accuracy")
        update = ratio(updates[0], updates[1], "update_op")
        return value, update
