"""The parts that all metrics share: variables, weights and collections."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.creation import ones_like, zeros
from tapeflow.array.properties import rank
from tapeflow.array.reshapes import expand_dims, squeeze
from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.variable import Variable, VariableAggregation, VariableSynchronization
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, logical_and
from tapeflow.math.division import divide_no_nan
from tapeflow.math.extrema import maximum
from tapeflow_compat.compat.v1.losses import check_weights
from tapeflow_compat.compat.v1.variable_scopes import in_collections
from tapeflow_compat.compat.v1.variables import GraphKeys


def metric(compute: Callable[..., tuple[Any, Any]], before: str = "name") -> Callable[..., tuple[Any, Any]]:
    """Makes a metric from a function that computes a value and its update.

    It has two parameters more, `metrics_collections` and `updates_collections`: the graph's collections that the value
    and the update are added to. In eager mode it raises.

    Args:
        compute: the function.
        before: its parameter that the two stand before.
    """
    signature = inspect.signature(compute)
    parameters = [*signature.parameters.values()]
    at = [*signature.parameters].index(before)
    collections = [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="Any")
        for key in ("metrics_collections", "updates_collections")
    ]
    signature = signature.replace(parameters=[*parameters[:at], *collections, *parameters[at:]])

    @functools.wraps(compute)
    def measured(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if state.graph is None:
            raise RuntimeError(f"tf.metrics.{compute.__name__} is not supported when eager execution is enabled.")
        arguments = signature.bind(*args, **kwargs).arguments
        keys = [arguments.pop(parameter.name, None) for parameter in collections]
        pair = compute(**arguments)
        for names, item in zip(keys, pair, strict=True):
            if names:
                state.graph.add_to_collections(names, item)
        return pair

    measured.__signature__ = signature  # type: ignore[attr-defined]
    return measured


def metric_variable(shape: ShapeLike, dtype: DTypeLike, name: str) -> Any:
    """Returns a local variable that begins with zeros."""
    variable = Variable(
        lambda: zeros(shape, dtype),
        trainable=False,
        name=name,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
    )
    return in_collections(variable, [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def results(compute: Callable[..., Any], totals: Sequence[Any], updates: Sequence[Any]) -> tuple[Any, Any]:
    """Returns the value so far and the one with a batch.

    Args:
        compute: makes the value; its last argument is the name of the operation.
        totals: its arguments: the variables' values.
        updates: the same, with the batch.
    """
    with control_dependencies(None):
        value = compute(*totals, "value")
    return value, compute(*updates, "update_op")


def ratio(numerator: Any, denominator: Any, name: str) -> Any:
    """Returns the quotient, or 0 where the denominator is not positive."""
    return divide_no_nan(numerator, maximum(denominator, 0), name=name)


# ---- shapes ----------------------------------------------------------------------------------------------------------


def aligned(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Returns the three, without a last dimension of length 1 that one has more than the other, or with one if weights
    lack it.

    Raises:
        ValueError: labels and predictions are of different shapes.
    """
    predictions = convert(predictions)
    if labels is not None:
        labels, predictions = same_rank(convert(labels), predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert(weights)
    if weights.shape.rank == 0:
        return predictions, labels, weights
    if None not in (weights.shape.rank, predictions.shape.rank):
        more = weights.shape.rank - predictions.shape.rank
        if more == 1:
            weights = squeeze(weights, [-1])
        elif more == -1:
            weights = expand_dims(weights, -1)
        return predictions, labels, weights
    more = rank(weights) - rank(predictions)
    weights = _squeeze_if(equal(more, 1), weights)
    lacks_one = logical_and(equal(more, -1), greater(rank(weights), 0))
    return predictions, labels, cond(lacks_one, lambda: expand_dims(weights, -1), lambda: weights)


def same_rank(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Returns the two, without a last dimension of length 1 that one has more than the other."""
    if None in (labels.shape.rank, predictions.shape.rank):
        more = rank(predictions) - rank(labels)
        return _squeeze_if(equal(more, -1), labels), _squeeze_if(equal(more, 1), predictions)
    more = predictions.shape.rank - labels.shape.rank
    if more == 1 and predictions.shape[-1] in (1, None):
        predictions = squeeze(predictions, [-1])
    elif more == -1 and labels.shape[-1] in (1, None):
        labels = squeeze(labels, [-1])
    return labels, predictions


def _squeeze_if(condition: Any, tensor: Any) -> Any:
    """Returns a tensor, without its last dimension where that holds."""
    if tensor.shape.rank == 0 or (tensor.shape.rank is not None and tensor.shape[-1] not in (1, None)):
        return tensor
    return cond(condition, lambda: squeeze(tensor, [-1]), lambda: tensor)


def broadcast_weights(weights: TensorLike, values: Any, dtype: DTypeLike = float32) -> Any:
    """Weights in the shape of the values.

    Raises:
        ValueError: they are no scalar, and not of the rank of the values with each dimension the same or 1.
    """
    weights = cast(convert(weights), dtype)
    check_weights(weights, values)
    return weights * ones_like(values, dtype)
