"""Metrics of probabilities, which count the predictions above many thresholds: AUC, precision at thresholds, ..."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.creation import constant, convert_to_tensor, ones_like
from tapeflow.array.identities import identity
from tapeflow.array.masks import where
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bool as boolean
from tapeflow.core.types.dtypes import float32, int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.math import elementwise
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, logical_and
from tapeflow.math.cumulative import cumsum
from tapeflow.math.division import divide, divide_no_nan
from tapeflow.math.elementwise import log
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import argmax, argmin, reduce_min, reduce_sum
from tapeflow_compat.compat.v1.aliases import member
from tapeflow_compat.compat.v1.checks import assert_greater_equal, assert_less_equal
from tapeflow_compat.compat.v1.metrics.counts import KINDS, are_of_kind
from tapeflow_compat.compat.v1.metrics.streaming import aligned, broadcast_weights, metric, metric_variable, results
from tapeflow_compat.compat.v1.variable_scopes import variable_scope

_MARGIN = 1e-7  # the distance of the outermost thresholds from [0, 1]


def _counts(
    kinds: Sequence[str], labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any
) -> tuple[list[Any], list[Any]]:
    """Returns variables that count, for each threshold, the elements of a kind, and their updates."""
    predictions = convert(predictions)
    within = "predictions must be in [0, 1]"
    checks = [
        assert_greater_equal(predictions, convert(0, predictions.dtype), message=within),
        assert_less_equal(predictions, convert(1, predictions.dtype), message=within),
    ]
    with control_dependencies(checks):
        predictions = cast(identity(predictions), float32)
    predictions, labels, weights = aligned(predictions, cast(labels, boolean), weights)
    above = greater(reshape(predictions, [1, -1]), constant(list(thresholds), float32, [len(thresholds), 1]))
    labels = broadcast_to(reshape(labels, [1, -1]), shape(above))
    if weights is not None:
        weights = reshape(broadcast_weights(weights, predictions), [1, -1])
    variables, updates = [], []
    for kind in kinds:
        variables.append(metric_variable([len(thresholds)], float32, kind))
        matches = cast(are_of_kind(kind, labels, above), float32)
        updates.append(variables[-1].assign_add(reduce_sum(matches if weights is None else matches * weights, 1)))
    return variables, updates


def _spread(count: int, last: float = 1.0 + _MARGIN) -> list[float]:
    """So many thresholds at equal distances, the outermost ones a little outside."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [-_MARGIN, *inner, last]


# ---- counts ----------------------------------------------------------------------------------------------------------


def _metric(kind: str, example: list[float]) -> Callable[..., Any]:
    @metric
    @member(f"{kind}_at_thresholds", kind=kind.replace("_", " "), example=str(example))
    def count(
        labels: TensorLike,
        predictions: Tensor,
        thresholds: Sequence[float],
        weights: Tensor | None = None,
        name: str | None = None,
    ) -> Any:
        """Counts the {kind} for each threshold.

        Args:
            labels: a tensor, cast to booleans.
            predictions: floats in `[0, 1]` of the shape of `labels`. A prediction above a threshold counts as true.
            thresholds: a list of floats.
            weights: a scalar, or a tensor of the rank of `predictions`; each dimension is equal or 1.
            metrics_collections: the graph's collections to add the value to.
            updates_collections: the graph's collections to add the update to.
            name: a string, the variable scope of its variable.

        Returns:
            Two float32 vectors: the numbers so far, and those with this batch, which it takes in when it runs.

        Raises:
            ValueError: the shapes do not fit.
            InvalidArgumentError: when it runs: a prediction is not in `[0, 1]`.
            RuntimeError: no graph is being built.

        Example:
            >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            ...     value, update = tf.compat.v1.metrics.{name}(
            ...         [0, 0, 1, 1, 1], [0.1, 0.6, 0.3, 0.7, 0.9], thresholds=[0.2, 0.8])
            ...     sess.run(tf.compat.v1.local_variables_initializer())
            ...     print(sess.run(update).tolist())
            {example}
        """
        with variable_scope(name, kind):
            (value,), (update,) = _counts([kind], labels, predictions, thresholds, weights)
            return convert_to_tensor(value), convert_to_tensor(update)

    return count


true_positives_at_thresholds = _metric("true_positives", [3.0, 1.0])
false_positives_at_thresholds = _metric("false_positives", [1.0, 0.0])
true_negatives_at_thresholds = _metric("true_negatives", [1.0, 2.0])
false_negatives_at_thresholds = _metric("false_negatives", [0.0, 2.0])


def _fractions(first: Any, second: Any, name: str) -> Any:
    return divide(first, _MARGIN + first + second, name=name)


@metric
def precision_at_thresholds(
    labels: Tensor,
    predictions: Tensor,
    thresholds: Sequence[float],
    weights: Tensor | None = None,
    name: str | None = None,
) -> Any:
    """Computes, for each threshold, the fraction of the predictions above it whose labels are true.

    Args:
        labels, predictions, thresholds, weights, metrics_collections, updates_collections, name: see
            `true_positives_at_thresholds`.

    Returns:
        Two float32 vectors, see `true_positives_at_thresholds`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.precision_at_thresholds([0, 1, 1], [0.6, 0.3, 0.9], [0.2, 0.5])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).round(3).tolist())
        [0.6669999957084656, 0.5]
    """
    with variable_scope(name, "precision_at_thresholds"):
        counts = _counts(["true_positives", "false_positives"], labels, predictions, thresholds, weights)
        return results(_fractions, *counts)


@metric
def recall_at_thresholds(
    labels: Tensor,
    predictions: Tensor,
    thresholds: Sequence[float],
    weights: Tensor | None = None,
    name: str | None = None,
) -> Any:
    """Computes, for each threshold, the fraction of the true labels with predictions above it.

    Args:
        labels, predictions, thresholds, weights, metrics_collections, updates_collections, name: see
            `true_positives_at_thresholds`.

    Returns:
        Two float32 vectors, see `true_positives_at_thresholds`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.recall_at_thresholds([0, 1, 1], [0.6, 0.3, 0.9], [0.2, 0.5])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).round(3).tolist())
        [1.0, 0.5]
    """
    with variable_scope(name, "recall_at_thresholds"):
        counts = _counts(["true_positives", "false_negatives"], labels, predictions, thresholds, weights)
        return results(_fractions, *counts)


# ---- areas under curves ----------------------------------------------------------------------------------------------

_STABLE = 1e-6
_HEIGHTS: dict[str, Callable[[Any, Any], Any]] = {
    "trapezoidal": lambda a, b: (a + b) / 2.0,
    "careful_interpolation": lambda a, b: (a + b) / 2.0,
    "minoring": minimum,
    "majoring": maximum,
}


def _interpolated_area(tp: Any, fp: Any, fn: Any, name: str) -> Any:
    """Computes the area under precision over recall. True positives are interpolated linearly in all positives.

    See J. Davis and M. Goadrich, "The Relationship Between Precision-Recall and ROC Curves" (ICML 2006).
    """
    positives = tp + fp
    steps = tp[:-1] - tp[1:]
    slope = divide_no_nan(steps, maximum(positives[:-1] - positives[1:], 0))
    intercept = tp[1:] - slope * positives[1:]
    both = logical_and(positives[:-1] > 0, positives[1:] > 0)
    growth = where(both, divide_no_nan(positives[:-1], maximum(positives[1:], 0)), ones_like(positives[1:]))
    gains = slope * (steps + intercept * log(growth))
    return reduce_sum(divide_no_nan(gains, maximum(tp[1:] + fn[1:], 0)), name=name)


@functools.partial(metric, before="curve")
def auc(
    labels: TensorLike,
    predictions: Tensor,
    weights: Tensor | None = None,
    num_thresholds: int = 200,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Any:
    """Computes the area under a curve, from the counts of true and false positives at many thresholds.

    Args:
        labels: a tensor, cast to booleans.
        predictions: floats in `[0, 1]` of the shape of `labels`.
        weights, metrics_collections, updates_collections, name: see `true_positives_at_thresholds`.
        num_thresholds: an int, the number of evenly spaced thresholds; 200 by default.
        curve: "ROC" for true over false positives, "PR" for precision over recall.
        summation_method: "trapezoidal"; "minoring" and "majoring" for a lower and an upper bound;
            "careful_interpolation" between the points of a PR curve.
        thresholds: a list of floats in `[0, 1]`, instead of evenly spaced ones; two outside are added.

    Returns:
        Two float32 scalars: the area so far, and the one with this batch, which it takes in when it runs.

    Raises:
        ValueError: there is no such curve or method, or the shapes do not fit.
        InvalidArgumentError: when it runs: a prediction is not in `[0, 1]`.
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.auc([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).round(3))
        0.75
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
    if summation_method not in _HEIGHTS:
        raise ValueError(
            f"Invalid summation_method: {summation_method} summation_method should be one of {[*_HEIGHTS]}."
        )
    if curve == "PR" and summation_method == "trapezoidal":
        get_logger().warning('The trapezoidal rule gives wrong areas under PR curves: use "careful_interpolation".')

    def area(tp: Any, fp: Any, tn: Any, fn: Any, name: str) -> Any:
        tp, fp, tn, fn = map(convert_to_tensor, (tp, fp, tn, fn))
        if curve == "PR" and summation_method == "careful_interpolation":
            return _interpolated_area(tp, fp, fn, name)
        recall = divide(tp + _STABLE, tp + fn + _STABLE)
        if curve == "ROC":
            x, y = divide(fp, fp + tn + _STABLE), recall
        else:
            x, y = recall, divide(tp + _STABLE, tp + fp + _STABLE)
        return reduce_sum((x[:-1] - x[1:]) * _HEIGHTS[summation_method](y[:-1], y[1:]), name=name)

    with variable_scope(name, "auc"):
        points = _spread(num_thresholds) if thresholds is None else [-_MARGIN, *sorted(thresholds), 1.0 + _MARGIN]
        counts = _counts([*KINDS], labels, predictions, points, weights)
        return results(area, *counts)


# ---- one at the other ------------------------------------------------------------------------------------------------


@metric
def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    name: str | None = None,
) -> Any:
    """Computes the sensitivity at the threshold whose specificity is nearest to the one specified.

    Args:
        specificity: a float in `[0, 1]`, the required share of false labels below the threshold.
        num_thresholds: an int, the number of evenly spaced thresholds to choose from; 200 by default.
        labels, predictions, weights, metrics_collections, updates_collections, name: see `auc`.

    Returns:
        Two float32 scalars, see `auc`.

    Raises:
        ValueError: `specificity` is not in `[0, 1]`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.sensitivity_at_specificity(
        ...         [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8], specificity=0.5)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).round(3))
        1.0
    """
    _check_fraction("specificity", specificity)

    def sensitivity(tp: Any, fp: Any, tn: Any, fn: Any, name: str) -> Any:
        tp, fp, tn, fn = map(convert_to_tensor, (tp, fp, tn, fn))
        far = elementwise.abs(divide(tn, tn + fp + _MARGIN) - specificity)
        at = cast(argmin(far, 0), int32)
        return divide(tp[at], tp[at] + fn[at] + _MARGIN, name=name)

    with variable_scope(name, "sensitivity_at_specificity"):
        counts = _counts([*KINDS], labels, predictions, _spread(num_thresholds), weights)
        return results(sensitivity, *counts)


@metric
def specificity_at_sensitivity(
    labels: Tensor,
    predictions: Tensor,
    sensitivity: float,
    weights: Tensor | None = None,
    num_thresholds: int = 200,
    name: str | None = None,
) -> Any:
    """Computes the specificity at the highest threshold whose sensitivity reaches the one specified.

    Args:
        sensitivity: a float in `[0, 1]`, the required share of true labels above the threshold.
        num_thresholds: an int, the number of evenly spaced thresholds to choose from; 200 by default.
        labels, predictions, weights, metrics_collections, updates_collections, name: see `auc`.

    Returns:
        Two float32 scalars, see `auc`.

    Raises:
        ValueError: `sensitivity` is not in `[0, 1]`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     value, update = tf.compat.v1.metrics.specificity_at_sensitivity(
        ...         [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8], sensitivity=0.5)
        ...     sess.run(tf.compat.v1.local_variables_initializer())
        ...     print(sess.run(update).round(3))
        1.0
    """
    _check_fraction("sensitivity", sensitivity)

    def specificity(tp: Any, fp: Any, tn: Any, fn: Any, name: str) -> Any:
        tp, fp, tn, fn = map(convert_to_tensor, (tp, fp, tn, fn))
        far = elementwise.abs(divide(tp, tp + fn + _MARGIN) - sensitivity)
        nearest = cast(equal(far, reduce_min(far)), int32)
        at = cast(argmax(cumsum(nearest), 0), int32)  # the last of them
        return divide(tn[at], tn[at] + fp[at] + _MARGIN, name=name)

    with variable_scope(name, "specificity_at_sensitivity"):
        points = _spread(num_thresholds, last=1.0 - _MARGIN)
        counts = _counts([*KINDS], labels, predictions, points, weights)
        return results(specificity, *counts)


def _check_fraction(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1]. Currently, `{name}` got {value}.")
