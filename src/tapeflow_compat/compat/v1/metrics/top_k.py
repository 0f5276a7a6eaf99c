"""Metrics of rankings: the fraction of labels among the classes predicted first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import sets
from tapeflow.array import creation, properties
from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import constant, fill, ones_like
from tapeflow.array.masks import where
from tapeflow.array.reshapes import expand_dims
from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float64, int64
from tapeflow.math.arithmetic import add
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater_equal
from tapeflow.math.cumulative import cumsum
from tapeflow.math.division import divide, divide_no_nan
from tapeflow.math.extrema import minimum
from tapeflow.math.reduction import reduce_any, reduce_sum
from tapeflow.math.topk import top_k
from tapeflow.sparse import concat_and_slice
from tapeflow.sparse.concat_and_slice import reshape, retain
from tapeflow.sparse.tensor import SparseTensor, SparseTensorValue
from tapeflow_compat.compat.v1.losses import check_weights
from tapeflow_compat.compat.v1.metrics.streaming import broadcast_weights, metric, metric_variable, results
from tapeflow_compat.compat.v1.scopes import name_scope
from tapeflow_compat.sets import difference, intersection


def _scope_name(name: str, k: int | None, class_id: int | None = None) -> str:
    name = f"{name}_at_{'k' if k is None else k}"
    return name if class_id is None else f"{name}_class{class_id}"


# ---- labels ----------------------------------------------------------------------------------------------------------


def _labels(labels: Any, predictions: Any) -> Any:
    """Returns labels with a last dimension for the labels of an example; it is added if missing.

    Raises:
        ValueError: they are of another rank than the predictions, or that less one.
    """
    if isinstance(labels, (SparseTensor, SparseTensorValue)):
        labels = SparseTensor.from_value(labels)
        rank = labels.dense_shape.shape[0]
        if rank is not None and rank + 1 == predictions.shape.rank:
            return reshape(labels, concat([labels.dense_shape, [1]], 0))
        return labels
    labels = convert(labels)
    ranks = labels.shape.rank, predictions.shape.rank
    if None in ranks:
        lacks_one = equal(properties.rank(predictions), properties.rank(labels) + 1)
        return cond(lacks_one, lambda: expand_dims(labels, -1), lambda: labels)
    if ranks[1] == ranks[0] + 1:
        return expand_dims(labels, -1)
    if ranks[1] != ranks[0]:
        raise ValueError(
            f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}: they must be of "
            "one rank, or the labels of one less."
        )
    return labels


def _only(ids: TensorLike, class_id: int | None) -> Any:
    """Returns a set of classes, restricted to this one."""
    if class_id is None:
        return ids
    if isinstance(ids, SparseTensor):
        return retain(ids, equal(ids.values, class_id))
    shape = properties.shape(ids, out_type=int64)
    classes = fill(concat([shape[:-1], [1]], 0), constant(class_id, int64))
    common = intersection(classes, ids)
    return SparseTensor(common.indices, common.values, shape)


def _in_both(a: Any, b: Any) -> Any:
    return sets.size(intersection(a, b))


def _only_first(a: Any, b: Any) -> Any:
    return sets.size(difference(a, b))


# ---- precision and recall --------------------------------------------------------------------------------------------


def _count(
    kind: str, size: Callable[[Any, Any], Any], a: Any, b: Any, k: int | None, class_id: int | None, weights: TensorLike
) -> tuple[Any, Any]:
    """Returns a variable for the sum of the sizes of sets, and its update with the sizes of a batch."""
    with name_scope(_scope_name(kind, k, class_id)) as scope:
        sizes = cast(size(_only(a, class_id), _only(b, class_id)), float64)
        if weights is not None:
            weights = convert(weights)
            check_weights(weights, sizes)
            sizes = sizes * cast(weights, float64)
        total = metric_variable([], float64, scope)
        return total, total.assign_add(reduce_sum(sizes))


def _quotient(first: Any, second: Any, name: str) -> Any:
    return divide(first, add(first, second), name=name)


def _at_top_k(
    metric: str,
    labels: TensorLike,
    predictions_idx: Any,
    k: int | None,
    class_id: int | None,
    weights: Any,
    name: str | None,
) -> Any:
    with name_scope(name, _scope_name(metric, k, class_id)):
        predicted = cast(predictions_idx, int64)
        labels = _labels(labels, predicted)
        right = _count("true_positive", _in_both, predicted, labels, k, class_id, weights)
        if metric == "precision":
            wrong = _count("false_positive", _only_first, predicted, labels, k, class_id, weights)
        else:
            wrong = _count("false_negative", _only_first, labels, predicted, k, class_id, weights)
        totals, updates = zip(right, wrong, strict=True)
        return results(_quotient, totals, updates)


@metric
def precision_at_top_k(
    labels: TensorLike,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Computes the fraction of the predicted classes that are labels, over all examples of all batches.

    Args:
        labels: int64 of shape `[..., number of labels]`, with -1 for no label; a `tf.SparseTensor` of such a shape; or
            of shape `[...]` for one label an example.
        predictions_idx: integers of shape `[..., k]`, the predicted classes of an example.
        k: an int, the number of predicted classes, only used in names.
        class_id: an int, restricts the metric to this class.
        weights: a scalar, or of shape `[...]` with each dimension the same or 1.
        metrics_collections: the graph's collections that the value is added to.
        updates_collections: those that the operation of the update is added to.
        name: the name scope of its variables.

    Returns:
        Two float64 scalars: the fraction so far, NaN where there is nothing, and the one with this batch, which it
        takes in when it runs.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     labels = tf.constant([[0, 1], [2, 3]], tf.int64)
        ...     value, update = tf.compat.v1.metrics.precision_at_top_k(labels, [[1, 2], [4, 5]])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.25
    """
    return _at_top_k("precision", labels, predictions_idx, k, class_id, weights, name)


@metric
def recall_at_top_k(
    labels: TensorLike,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Computes the fraction of the labels that were predicted, over all examples of all batches.

    Args:
        labels, predictions_idx, k, class_id, weights, metrics_collections, updates_collections, name: see
            `precision_at_top_k`.

    Returns:
        Two float64 scalars, see `precision_at_top_k`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     labels = tf.constant([[0], [2]], tf.int64)
        ...     value, update = tf.compat.v1.metrics.recall_at_top_k(labels, [[1, 2], [2, 5]])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.5
    """
    return _at_top_k("recall", labels, predictions_idx, k, class_id, weights, name)


@metric
def precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Computes the fraction of the `k` classes with the largest predictions that are labels.

    Args:
        predictions: floats of shape `[..., number of classes]`.
        k: the number of classes that count as predicted.
        labels, class_id, weights, metrics_collections, updates_collections, name: see `precision_at_top_k`.

    Returns:
        Two float64 scalars, see `precision_at_top_k`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     labels = tf.constant([[0], [2]], tf.int64)
        ...     value, update = tf.compat.v1.metrics.precision_at_k(labels, [[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], k=2)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.25
    """
    with name_scope(name, _scope_name("precision", k, class_id)) as scope:
        _, best = top_k(predictions, k)
        return precision_at_top_k(labels, best, k, class_id, weights, name=scope)


@metric
def recall_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Computes the fraction of the labels that are among the `k` classes with the largest predictions.

    Args:
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name: see
            `precision_at_k`.

    Returns:
        Two float64 scalars, see `precision_at_top_k`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     labels = tf.constant([[0], [2]], tf.int64)
        ...     value, update = tf.compat.v1.metrics.recall_at_k(labels, [[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], k=2)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.5
    """
    with name_scope(name, _scope_name("recall", k, class_id)) as scope:
        _, best = top_k(predictions, k)
        return recall_at_top_k(labels, best, k, class_id, weights, name=scope)


# ---- average precision -----------------------------------------------------------------------------------------------


def _average_precision(labels: TensorLike, best: Any) -> Any:
    """Computes the mean, over an example's labels, of the precision at the place where each one was predicted."""
    k = best.shape[-1]
    labels = _labels(labels, best)
    hits = cast(_hits(labels, best), float64)
    precision = cumsum(hits, axis=-1) / creation.range(1, k + 1, dtype=float64)
    if isinstance(labels, SparseTensor):
        count: Any = sets.size(labels)
    else:
        count = reduce_sum(cast(greater_equal(labels, 0), int64), axis=-1)
    return reduce_sum(precision * hits, axis=-1) / cast(minimum(cast(count, int64), k), float64)


def _hits(labels: TensorLike, best: Any) -> Any:
    """Marks each prediction of an example that is a label of it."""
    if not isinstance(labels, SparseTensor):
        matches = equal(expand_dims(best, -1), expand_dims(labels, -2))
        return reduce_any(matches, axis=-1)
    k = best.shape[-1]
    expanded = concat_and_slice.expand_dims(labels, -2)
    return _in_both(expand_dims(best, -1), concat_and_slice.concat(-2, [expanded] * k))


def _without_unknown(labels: TensorLike, classes: Any) -> Any:
    """Returns labels with -1 in place of those that are no class."""

    def clean(values: Any) -> Any:
        return where(greater_equal(values, cast(classes, values.dtype)), -ones_like(values), values)

    if isinstance(labels, (SparseTensor, SparseTensorValue)):
        labels = SparseTensor.from_value(labels)
        return SparseTensor(labels.indices, clean(labels.values), labels.dense_shape)
    return clean(convert(labels))


@metric
def average_precision_at_k(
    labels: TensorLike, predictions: TensorLike, k: int, weights: TensorLike | None = None, name: str | None = None
) -> Any:
    """Computes the mean over the examples of the average precision of the `k` classes with the largest predictions.

    An example's is the mean, over its labels (or `k` of them if there are more), of the fraction of labels among what
    was predicted up to and with each, and 0 for those that were not.

    Args:
        labels, predictions, k, weights, metrics_collections, updates_collections, name: see `precision_at_k`.

    Returns:
        Two float64 scalars, see `precision_at_top_k`.

    Raises:
        ValueError: `k` is less than 1.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     labels = tf.constant([[1], [0]], tf.int64)
        ...     value, update = tf.compat.v1.metrics.average_precision_at_k(
        ...         labels, [[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]], k=2)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.75
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}. `k` should be >= 1.")
    with name_scope(name, _scope_name("average_precision", k)):
        predictions = convert(predictions)
        _, best = top_k(predictions, k)
        best = cast(best, int64)
        precisions = _average_precision(_without_unknown(labels, properties.shape(predictions)[-1]), best)
        if weights is None:
            amount = cast(properties.size(precisions), float64)
        else:
            weights = broadcast_weights(weights, precisions, float64)
            precisions, amount = precisions * weights, reduce_sum(weights)
        with name_scope("max_1") as scope:  # as TensorFlow has it: another operation is called Max
            most = metric_variable([], float64, scope)
        with name_scope("total") as scope:
            total = metric_variable([], float64, scope)
        updates = [total.assign_add(reduce_sum(precisions)), most.assign_add(amount)]
        return results(divide_no_nan, [total, most], updates)


@metric
def sparse_average_precision_at_k(
    labels: TensorLike, predictions: TensorLike, k: int, weights: TensorLike | None = None, name: str | None = None
) -> Any:
    """Returns the same as `average_precision_at_k`, by its old name.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     labels, predictions = tf.constant([[2]], tf.int64), tf.constant([[0.1, 0.2, 0.7]])
        ...     _, update = tf.compat.v1.metrics.sparse_average_precision_at_k(labels, predictions, 1)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        1.0
    """
    return average_precision_at_k(labels, predictions, k, weights, name=name)


@metric
def sparse_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    name: str | None = None,
) -> Any:
    """Returns the same as `precision_at_k`, by its old name.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     labels, predictions = tf.constant([[2]], tf.int64), tf.constant([[0.1, 0.2, 0.7]])
        ...     _, update = tf.compat.v1.metrics.sparse_precision_at_k(labels, predictions, 2)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.5
    """
    return precision_at_k(labels, predictions, k, class_id, weights, name=name)
