"""Metrics that count: true and false positives and negatives, precision and recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.creation import convert_to_tensor
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bool as boolean
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast
from tapeflow.math.comparison import logical_and, logical_not
from tapeflow.math.division import divide_no_nan
from tapeflow.math.reduction import reduce_sum
from tapeflow_compat.compat.v1.aliases import member
from tapeflow_compat.compat.v1.metrics.streaming import aligned, metric, metric_variable, results
from tapeflow_compat.compat.v1.variable_scopes import variable_scope

# From each kind to the values of label and prediction.
KINDS = {
    "true_positives": (True, True),
    "false_positives": (False, True),
    "true_negatives": (False, False),
    "false_negatives": (True, False),
}


def are_of_kind(kind: str, labels: TensorLike, predictions: TensorLike) -> Any:
    """Marks the true or false positives or negatives among boolean labels and predictions."""
    label, prediction = KINDS[kind]
    first = labels if label else logical_not(labels)
    return logical_and(first, predictions if prediction else logical_not(predictions))


def _count(kind: str, labels: TensorLike, predictions: TensorLike, weights: TensorLike) -> tuple[Any, Any]:
    """Returns the variable that counts a kind, in a scope of its own, and its update."""
    with variable_scope(None, kind):
        return _count_matches(kind, labels, predictions, weights)


def _count_matches(kind: str, labels: TensorLike, predictions: TensorLike, weights: TensorLike) -> tuple[Any, Any]:
    count = metric_variable([], float32, "count")
    matches = cast(are_of_kind(kind, labels, predictions), float32)
    if weights is not None:
        matches = matches * cast(weights, float32)
    return count, count.assign_add(reduce_sum(matches))


def _booleans(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Returns labels, predictions and weights of fitting shapes, the first two as booleans.

    Raises:
        ValueError: the shapes do not fit.
    """
    predictions, labels, weights = aligned(cast(convert(predictions), boolean), cast(convert(labels), boolean), weights)
    ranks = (0 if weights is None else weights.shape.rank), predictions.shape.rank
    if None not in ranks and ranks[0] not in (0, ranks[1]):
        raise ValueError(f"weights must be a scalar or of rank {ranks[1]}, as the predictions are, not {ranks[0]}.")
    return labels, predictions, weights


def _metric(kind: str, example: float) -> Callable[..., Any]:
    @metric
    @member(kind, kind=kind.replace("_", " "), example=str(example))
    def count(labels: Any, predictions: Tensor, weights: Tensor | None = None, name: str | None = None) -> Any:
        """Counts the {kind}.

        Args:
            labels, predictions: tensors of one shape, cast to booleans.
            weights: a scalar, or a tensor of the rank of `predictions`; an element counts as much as its weight.
            metrics_collections: the graph's collections to add the value to.
            updates_collections: the graph's collections to add the update to.
            name: a string, the variable scope of its variable, `count`.

        Returns:
            Two float32 scalars: the number so far, and the one with this batch, which it takes in when it runs.

        Raises:
            ValueError: the shapes do not fit.
            RuntimeError: no graph is being built.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            ...     value, update = tf.compat.v1.metrics.{name}([1, 1, 1, 0, 0], [1, 1, 0, 1, 0])
            ...     sess.run(tf.compat.v1.local_variables_initializer())
            ...     print(sess.run(update))
            {example}
        """
        with variable_scope(name, kind):
            pair = _count_matches(kind, *_booleans(labels, predictions, weights))
            return convert_to_tensor(pair[0]), convert_to_tensor(pair[1])

    return count


true_positives = _metric("true_positives", 2.0)
false_positives = _metric("false_positives", 1.0)
true_negatives = _metric("true_negatives", 1.0)
false_negatives = _metric("false_negatives", 1.0)


def _fraction(
    scope: str, kinds: Sequence[str], labels: TensorLike, predictions: TensorLike, weights: Any, name: str | None
) -> Any:
    """Computes the fraction of the first of two counts in their sum; 0 if both are 0."""

    def fraction(first: Any, second: Any, name: str) -> Any:
        return divide_no_nan(first, first + second, name=name)

    with variable_scope(name, scope):
        labels, predictions, weights = _booleans(labels, predictions, weights)
        counts = [_count(kind, labels, predictions, weights) for kind in kinds]
        totals, updates = zip(*counts, strict=True)
        return results(fraction, totals, updates)


@metric
def precision(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, name: str | None = None
) -> Any:
    """Computes the fraction of the positive predictions that are right; 0 if there are none.

    Args:
        labels, predictions: tensors of one shape, cast to booleans.
        weights, metrics_collections, updates_collections, name: see `true_positives`.

    Returns:
        Two float32 scalars, see `true_positives`.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.precision([1, 1, 0, 0], [1, 0, 1, 0])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.5
    """
    kinds = ("true_positives", "false_positives")
    return _fraction("precision", kinds, labels, predictions, weights, name)


@metric
def recall(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, name: str | None = None
) -> Any:
    """Computes the fraction of the positive labels that were predicted; 0 if there are none.

    Args:
        labels, predictions, weights, metrics_collections, updates_collections, name: see `precision`.

    Returns:
        Two float32 scalars, see `true_positives`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.recall([1, 1, 1, 1, 0], [1, 0, 0, 0, 1])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update))
        0.25
    """
    kinds = ("true_positives", "false_negatives")
    return _fraction("recall", kinds, labels, predictions, weights, name)
