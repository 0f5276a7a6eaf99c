"""The public `tf.compat.v1.losses` namespace: losses that a graph collects."""

from __future__ import annotations

from typing import Any

from tapeflow.array.creation import constant, ones_like, zeros_like
from tapeflow.array.masks import where
from tapeflow.array.properties import shape, size
from tapeflow.array.reshapes import squeeze
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.math import elementwise
from tapeflow.math.arithmetic import add_n, squared_difference
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, not_equal
from tapeflow.math.division import divide_no_nan
from tapeflow.math.elementwise import log, square
from tapeflow.math.extrema import minimum
from tapeflow.math.reduction import reduce_sum
from tapeflow.nn.activations import relu
from tapeflow_compat.compat.v1 import nn
from tapeflow_compat.compat.v1.aliases import either
from tapeflow_compat.compat.v1.variables import GraphKeys, add_to_collection, get_collection


class Reduction:
    """The ways to reduce the losses of a batch to one.

    Example:
        >>> losses = tf.compat.v1.losses
        >>> losses.compute_weighted_loss([1.0, 3.0], reduction=losses.Reduction.SUM).numpy().item()
        4.0
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Returns all of them."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """Checks that a value is a constant of this class.

        Raises:
            ValueError: that.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


# ---- the collection --------------------------------------------------------------------------------------------------


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection of the default graph; eagerly there is none, and nothing to do.

    Example:
        >>> with tf.Graph().as_default():
        ...     tf.compat.v1.losses.add_loss(tf.constant(1.0))
        ...     print(len(tf.compat.v1.losses.get_losses()))
        1
    """
    if loss_collection and state.graph is not None:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """Returns the losses of the default graph whose names begin with `scope`.

    Example:
        >>> with tf.Graph().as_default():
        ...     with tf.compat.v1.name_scope("a"):
        ...         loss = tf.compat.v1.losses.mean_squared_error([1.0], [3.0])
        ...     print(len(tf.compat.v1.losses.get_losses("a")), len(tf.compat.v1.losses.get_losses("b")))
        1 0
    """
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Returns the regularization losses of variables.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.compat.v1.get_variable("v", [2], regularizer=tf.nn.l2_loss)
        ...     print(len(tf.compat.v1.losses.get_regularization_losses()))
        1
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Any:
    """Computes the sum of the regularization losses; 0 if there are none.

    Example:
        >>> tf.compat.v1.losses.get_regularization_loss().numpy().item()
        0.0
    """
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Any:
    """Computes the sum of the losses of the default graph.

    Raises:
        ValueError: there are none.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     _ = tf.compat.v1.losses.mean_squared_error([1.0], [3.0])
        ...     print(sess.run(tf.compat.v1.losses.get_total_loss()))
        4.0
    """
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    if not losses:
        raise ValueError(
            "`inputs` must be an iterable of at least one Tensor with the same dtype and shape: there are no losses."
        )
    return add_n(losses, name=name)


# ---- weighting -------------------------------------------------------------------------------------------------------


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Losses times weights, as one number.

    Args:
        losses: a tensor of shape [batch, ...].
        weights: a scalar, or a tensor of the rank of `losses`; each dimension is equal or 1. 1.0 by default.
        scope: a string, the name scope.
        loss_collection: the key of the collection that the loss is added to; None for none.
        reduction: a constant of `Reduction`. By default, the sum is divided by the number of losses with a weight other
            than 0.

    Returns:
        A scalar; with `Reduction.NONE` a tensor of the shape of `losses`.

    Raises:
        ValueError: `reduction` is no such thing, or the shapes do not fit.

    Example:
        >>> tf.compat.v1.losses.compute_weighted_loss([1.0, 3.0, 8.0], [1.0, 1.0, 0.0]).numpy().item()
        2.0
    """
    Reduction.validate(reduction)
    losses = convert(losses)
    with name_scope(scope or "weighted_loss"):
        dtype = losses.dtype
        values, factors = cast(losses, float32), cast(convert(weights), float32)
        check_weights(factors, values)
        weighted = values * factors
        if reduction == Reduction.NONE:
            loss = weighted
        else:
            loss = reduce_sum(weighted)
            if reduction == Reduction.MEAN:
                loss = divide_no_nan(loss, reduce_sum(ones_like(values) * factors))
            elif reduction in (Reduction.SUM_OVER_NONZERO_WEIGHTS, Reduction.SUM_BY_NONZERO_WEIGHTS):
                present = where(equal(factors, 0.0), zeros_like(factors), ones_like(factors))
                loss = divide_no_nan(loss, reduce_sum(present * ones_like(values)))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = divide_no_nan(loss, cast(size(values), float32))
        loss = cast(loss, dtype)
    add_loss(loss, loss_collection)
    return loss


def check_weights(weights: Any, values: Any) -> None:
    """Refuses weights that are no scalar, and not of the rank of the values with each dimension the same or 1."""
    w, v = weights.shape, values.shape
    if w.rank in (0, None) or v.rank is None:
        return
    if w.rank != v.rank:
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={v.rank}. weights.rank={w.rank}. values.shape={v}. "
            f"weights.shape={w}."
        )
    if any(a not in (1, b) and None not in (a, b) for a, b in zip(w, v, strict=True)):
        raise ValueError(f"weights can not be broadcast to values. values.shape={v}. weights.shape={w}.")


def _check_specified(**arguments: Any) -> None:
    """Checks that no argument is None.

    Raises:
        ValueError: one is.
    """
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"Argument `{name}` must not be None.")


def _pair(labels: TensorLike, predictions: TensorLike, label: str = "predictions") -> tuple[Any, Any]:
    """Returns labels and predictions, both float32 and of one shape.

    Raises:
        ValueError: one is missing, or the shapes differ.
    """
    _check_specified(**{"labels": labels, label: predictions})
    labels, predictions = cast(convert(labels), float32), cast(convert(predictions), float32)
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible")
    return labels, predictions


# ---- losses ----------------------------------------------------------------------------------------------------------


def absolute_difference(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes the absolute differences, see `compute_weighted_loss` for the other arguments.

    Example:
        >>> tf.compat.v1.losses.absolute_difference([1.0, 2.0], [2.0, 4.0]).numpy().item()
        1.5
    """
    labels, predictions = _pair(labels, predictions)
    losses = elementwise.abs(predictions - labels)
    return compute_weighted_loss(losses, weights, scope or "absolute_difference", loss_collection, reduction)


def mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes the squares of the differences, see `compute_weighted_loss` for the other arguments.

    Example:
        >>> tf.compat.v1.losses.mean_squared_error([1.0, 2.0], [2.0, 4.0]).numpy().item()
        2.5
    """
    labels, predictions = _pair(labels, predictions)
    losses = squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, scope or "mean_squared_error", loss_collection, reduction)


def huber_loss(
    labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes half the squares of small differences, and straight lines beyond `delta`, see `compute_weighted_loss`.

    Example:
        >>> tf.compat.v1.losses.huber_loss([0.0, 0.0], [1.0, 3.0]).numpy().item()
        1.5
    """
    labels, predictions = _pair(labels, predictions)
    error = elementwise.abs(predictions - labels)
    near = minimum(error, delta)
    losses = 0.5 * near * near + delta * (error - near)
    return compute_weighted_loss(losses, weights, scope or "huber_loss", loss_collection, reduction)


def log_loss(
    labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes the cross-entropy of probabilities, with `epsilon` added inside the logarithms, see
    `compute_weighted_loss`.

    Example:
        >>> round(tf.compat.v1.losses.log_loss([1.0], [0.5]).numpy().item(), 4)
        0.6931
    """
    labels, predictions = _pair(labels, predictions)
    losses = -labels * log(predictions + epsilon) - (1.0 - labels) * log(1.0 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, scope or "log_loss", loss_collection, reduction)


def hinge_loss(
    labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes `relu(1 - y * logits)`: `y` is 1 for label 1 and -1 for label 0, see `compute_weighted_loss`.

    Example:
        >>> tf.compat.v1.losses.hinge_loss([1.0, 0.0], [0.5, 0.5]).numpy().item()
        1.0
    """
    labels, logits = _pair(labels, logits, "logits")
    losses = relu(1.0 - (2.0 * labels - 1.0) * logits)
    return compute_weighted_loss(losses, weights, scope or "hinge_loss", loss_collection, reduction)


def cosine_distance(
    labels: Any, predictions: Any, axis: Any = None, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, dim: Any = None,
) -> Any:  # fmt: skip
    """1 minus the scalar product along a dimension, of vectors of length 1, see `compute_weighted_loss`.

    Example:
        >>> tf.compat.v1.losses.cosine_distance([[1.0, 0.0]], [[0.0, 1.0]], axis=1).numpy().item()
        1.0
    """
    along = either("axis", axis, "dim", dim)
    if along is None:
        raise ValueError("You must specify argument `axis`.")
    labels, predictions = _pair(labels, predictions)
    losses = 1.0 - reduce_sum(predictions * labels, along, keepdims=True)
    return compute_weighted_loss(losses, weights, scope or "cosine_distance_loss", loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Any:  # fmt: skip
    """Computes the squares of the differences between the errors of any two elements of an example, on the mean, added
    up over the batch.

    Args:
        labels, predictions: tensors of shape [batch, ...].
        weights: a scalar, or a tensor of the rank of the labels; each dimension is equal or 1. 1.0 by default.

    Example:
        >>> tf.compat.v1.losses.mean_pairwise_squared_error([[0.0, 0.0]], [[1.0, 3.0]]).numpy().item()
        4.0
    """
    labels, predictions = _pair(labels, predictions)
    with name_scope(scope or "mean_pairwise_squared_error"):
        weights = cast(convert(weights), float32)
        errors = predictions - labels
        check_weights(weights, errors)
        axes = list(range(1, errors.shape.rank))

        def total(value: Any) -> Any:
            return reduce_sum(value, axes, keepdims=True)

        count = total(cast(not_equal(weights, 0.0), float32) * ones_like(errors))
        squares = divide_no_nan(total(square(errors)), count - 1.0)
        products = divide_no_nan(square(total(errors)), count * (count - 1.0))
        loss = reduce_sum(2.0 * (squares - products) * weights)
    add_loss(loss, loss_collection)
    return loss


def _logits_and_labels(logits: Any, labels: Any) -> tuple[Any, Any]:
    logits = convert(logits)
    labels = cast(convert(labels), logits.dtype)
    if not logits.shape.is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {logits.shape} and {labels.shape} are incompatible")
    return logits, labels


def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: TensorLike, weights: TensorLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes the cross-entropy of labels that do not exclude each other, see `compute_weighted_loss`.

    Args:
        label_smoothing: a float from 0 to 1, the weight of 0.5 in the labels; 0 by default.

    Example:
        >>> round(tf.compat.v1.losses.sigmoid_cross_entropy([[1.0]], [[0.0]]).numpy().item(), 4)
        0.6931
    """
    _check_specified(multi_class_labels=multi_class_labels, logits=logits)
    logits, labels = _logits_and_labels(logits, multi_class_labels)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return compute_weighted_loss(losses, weights, scope or "sigmoid_cross_entropy_loss", loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes the cross-entropy of labels that are distributions, see `compute_weighted_loss`; no gradient goes to the
    labels.

    Args:
        label_smoothing: a float from 0 to 1, the weight of the uniform distribution in the labels; 0 by default.

    Example:
        >>> round(tf.compat.v1.losses.softmax_cross_entropy([[1.0, 0.0]], [[0.0, 0.0]]).numpy().item(), 4)
        0.6931
    """
    _check_specified(onehot_labels=onehot_labels, logits=logits)
    logits, labels = _logits_and_labels(logits, onehot_labels)
    if label_smoothing > 0:
        classes = cast(shape(labels)[-1], logits.dtype)
        labels = labels * (1 - label_smoothing) + label_smoothing / classes
    losses = nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return compute_weighted_loss(losses, weights, scope or "softmax_cross_entropy_loss", loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:  # fmt: skip
    """Computes the cross-entropy of labels that are numbers, see `compute_weighted_loss`.

    Example:
        >>> round(tf.compat.v1.losses.sparse_softmax_cross_entropy([0], [[0.0, 0.0]]).numpy().item(), 4)
        0.6931
    """
    _check_specified(labels=labels, logits=logits)
    labels, logits = convert(labels), convert(logits)
    if labels.shape.rank is not None and labels.shape.rank == logits.shape.rank:
        labels = squeeze(labels, [-1])
    losses = nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return compute_weighted_loss(
        losses, weights, scope or "sparse_softmax_cross_entropy_loss", loss_collection, reduction
    )
