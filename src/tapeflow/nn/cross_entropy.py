"""Cross-entropy losses and their relatives, from logits."""

from __future__ import annotations

import math
from typing import Any

import torch

from tapeflow.array.batched import joined_batches
from tapeflow.array.creation import zeros_like
from tapeflow.array.masks import where
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import expand_dims, reshape, transpose
from tapeflow.array.unranked import around_axis, joined_dims
from tapeflow.core import aten
from tapeflow.core.autodiff.gradients import shape_argument, shape_of, size_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.composites import composite
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.elementwise_kernels import CompiledKernel
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import broadcast, text, with_rank
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, float32, float64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid, is_traced
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import greater_equal, less_equal, logical_and
from tapeflow.math.division import realdiv
from tapeflow.math.elementwise import abs, exp, log, log1p
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_max, reduce_sum
from tapeflow.math.sigmoid import softplus
from tapeflow.nn.activations import relu
from tapeflow.nn.softmaxes import log_softmax, softmax

_PRECISE = (float32, float64)

# ---- softmax cross-entropy, from probabilities -----------------------------------------------------------------------


def _xent_rule(features: TensorShape, labels: TensorShape) -> list[TensorShape]:
    both = TensorShape([None, None])
    if features.is_compatible_with(both) and labels.is_compatible_with(features):
        both = both.merge_with(features).merge_with(labels)
    elif features.rank is not None and labels.rank is not None:
        try:
            both = broadcast(features, labels)
        except InvalidArgumentError:
            raise invalid(
                f"logits and labels must be broadcastable: logits_size={text(features)} labels_size={text(labels)}"
            ) from None
        if both.rank != 2:
            raise invalid(f"Shape must be broadcasted with rank 2, but is rank {both.rank}")
    return [both[:1], both]


def _by_aten(features: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    log_probabilities = torch.log_softmax(features, 1)
    loss = torch.rsub((labels * log_probabilities).sum(1), 0)
    return loss, log_probabilities.exp_().sub_(labels)


def _softmax_in_parts(logits: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the logits less the largest one of their row, their exponentials, the sums of these, and its
    logarithms."""
    below = subtract(logits, reduce_max(logits, -1, True))
    exponentials = exp(below)
    total = reduce_sum(exponentials, -1, True)
    return below, exponentials, total, log(total)


def _by_rows(features: Any, labels: Any) -> tuple[Any, Any]:
    below, exponentials, total, log_total = _softmax_in_parts(features)
    losses = multiply(labels, subtract(log_total, below))
    return reduce_sum(losses, -1, False), subtract(realdiv(exponentials, total), labels)


_compiled_losses = CompiledKernel("SoftmaxCrossEntropy", _by_rows, _by_aten, 2, 2)


@op("SoftmaxCrossEntropyWithLogits", shape=_xent_rule, batching=joined_batches, autograd=False)
def _softmax_cross_entropy(features: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the cross-entropy of each row, and its gradient by `features`."""
    if features.dim() != 2 or features.shape != labels.shape:
        _xent_rule(TensorShape(features.shape), TensorShape(labels.shape))
        features, labels = torch.broadcast_tensors(features, labels)
    return _compiled_losses(features, labels)


@_softmax_cross_entropy.gradient(needs="input0 outputs", none_for_zero=True)
def _(call: Call, dy: Tensor | None, d_backprop: Tensor | None) -> Any:
    want_features, want_labels = call.wanted
    features = call.inputs[0]
    return (
        _by_logits(dy, d_backprop, features, call.outputs[1]) if want_features else None,
        _by_labels(dy, d_backprop, features) if want_labels else None,
    )


def _by_logits(dy: Tensor | None, d_backprop: Tensor | None, logits: Tensor, backprop: Tensor) -> Any:
    """Computes the gradient by the logits from those by the loss and by the op's second output, softmax - labels."""
    by_loss = None if dy is None else multiply(expand_dims(dy, -1), backprop)
    if d_backprop is None:
        return by_loss
    p = softmax(logits)
    mean = reduce_sum(multiply(d_backprop, p), -1, True)
    by_backprop = multiply(subtract(d_backprop, mean), p)
    return by_backprop if by_loss is None else add(by_loss, by_backprop)


def _by_labels(dy: Tensor | None, d_backprop: Any, logits: Tensor) -> Any:
    """Computes the gradient by the labels from those by the loss and by the op's second output, softmax - labels."""
    by_loss = None if dy is None else multiply(expand_dims(dy, -1), negative(log_softmax(logits)))
    if d_backprop is None:
        return by_loss
    return negative(d_backprop) if by_loss is None else subtract(by_loss, d_backprop)


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1, name: str | None = None
) -> Tensor:
    """Computes the cross-entropy between label probabilities and the softmax of logits.

    Args:
        labels: a tensor of shape `[..., classes]`, the dtype of `logits`; each row a probability distribution.
        logits: a tensor of shape `[..., classes]`, floating, unscaled log-probabilities.
        axis: an int, the dimension of the classes; -1 by default.

    Returns:
        The losses, of the shape of `labels` without `axis`. Gradients pass to both arguments.

    Raises:
        ValueError: an argument is None.
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> tf.nn.softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]]).numpy().tolist()
        [0.6931471824645996]
    """
    _check_provided(labels, logits)
    features = convert(logits)
    dtype = features.dtype
    targets = convert(labels, hint=dtype)
    low = dtype.is_floating and dtype not in _PRECISE
    if low:
        features = cast(features, float32)
    if targets.dtype is not features.dtype:
        targets = cast(targets, features.dtype)
    rank = features.shape.rank
    if rank is None or targets.shape.rank is None:
        return _unranked_cross_entropy(targets, features, axis, dtype, name)
    alike = targets.shape.rank in (1, None) or targets.shape.is_compatible_with(features.shape)
    if rank == 2 and axis in (-1, 1) and alike:
        loss = _softmax_cross_entropy(features, targets, name)[0]
    else:
        for x in (features, targets):
            if x.shape.rank is not None and not -x.shape.rank <= axis < x.shape.rank:
                raise invalid(f"axis {axis} is out of range for a tensor of {x.shape.rank} dimensions")
        features, targets = _class_last(features, axis), _class_last(targets, axis)
        loss = _softmax_cross_entropy(_in_rows(features), _in_rows(targets), name)[0]
        loss = reshape(loss, tuple(shape_of(features)[:-1]))
    return cast(loss, dtype) if low else loss


def _in_rows(x: Tensor) -> Any:
    """Returns the last dimension of a tensor as the rows of a matrix."""
    shape = shape_of(x)
    if type(shape[-1]) is not int or not shape[-1]:  # of 0 elements, -1 could be any number of rows
        return reshape(x, (math.prod(shape[:-1]), shape[-1]))
    return reshape(x, (-1, shape[-1]))


def _unranked_cross_entropy(labels: Tensor, logits: Tensor, axis: int, dtype: DType, name: str | None) -> Any:
    """Computes the losses of logits of a rank that is not static, in `dtype`."""
    (features, before, after), (targets, _, _) = (around_axis(x, axis) for x in (logits, labels))
    rows = [reshape(transpose(x, (0, 2, 1)), (-1, shape_op(x)[1])) for x in (features, targets)]
    loss = reshape(_softmax_cross_entropy(*rows, name)[0], joined_dims(before, after))
    return loss if loss.dtype is dtype else cast(loss, dtype)


def _class_last(x: Tensor, axis: int) -> Any:
    """Moves a dimension to the end."""
    rank = x.shape.rank
    axis %= rank
    if axis == rank - 1:
        return x
    return transpose(x, [*(i for i in range(rank) if i != axis), axis])


def _check_provided(labels: TensorLike | None, logits: TensorLike | None) -> None:
    for name, value in (("labels", labels), ("logits", logits)):
        if value is None:
            raise ValueError(f"Both `labels` and `logits` must be provided. Received: {name}=None")


# ---- softmax cross-entropy, from class indices -----------------------------------------------------------------------


_NO_LABEL = -1 << 63  # the label that it would ignore


def _sparse_mismatch(features: Any, labels: Any) -> str:
    if len(features) != 2:
        return f"logits must be 2-D, but got shape {list(features)}"
    if len(labels) != 1:
        return f"labels must be 1-D, but got shape {list(labels)}"
    return (
        "logits and labels must have the same first dimension, "
        f"got logits shape {text(TensorShape(features))} and labels shape {text(TensorShape(labels))}"
    )


def _wrong_label(labels: torch.Tensor, classes: int) -> str:
    values = labels.tolist()
    wrong = next((v for v in values if not 0 <= v < classes), None)
    return (
        f"Received a label value of {wrong} which is outside the valid range of [0, {classes}).  "
        f"Label values: {' '.join(map(str, values))}"
    )


def _sparse_xent_rule(features: TensorShape, labels: TensorShape) -> list[TensorShape]:
    features, labels = with_rank(features, 2), with_rank(labels, 1)
    if not features[:1].is_compatible_with(labels):
        raise invalid(_sparse_mismatch(features, labels))
    rows = features[:1].merge_with(labels)
    return [rows, rows + features[1:]]


def _probabilities(features: Any) -> tuple[Any, Any]:
    below, exponentials, total, log_total = _softmax_in_parts(features)
    return subtract(below, log_total), realdiv(exponentials, total)


def _probabilities_by_aten(features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    log_probabilities = torch.log_softmax(features, 1)
    return log_probabilities, log_probabilities.exp()


_compiled_probabilities = CompiledKernel("SparseSoftmaxCrossEntropy", _probabilities, _probabilities_by_aten, 1, 2)


@op("SparseSoftmaxCrossEntropyWithLogits", shape=_sparse_xent_rule, batching=joined_batches, autograd=False)
def _sparse_softmax_cross_entropy(features: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the cross-entropy of each row, and its gradient by `features`."""
    if features.dim() != 2 or features.shape[:1] != labels.shape:
        raise invalid(_sparse_mismatch(features.shape, labels.shape))
    if not features.shape[1]:
        raise invalid("Must have at least one class, but got logits shape " + str(list(features.shape)))
    chosen = labels.long()
    classes = features.shape[1]
    log_probabilities, probabilities = _compiled_probabilities(features)
    if not features.is_cpu or is_traced(features):  # a wrong label gives NaN there, as the device could only abort
        wrong = (chosen < 0) | (chosen >= classes)
        chosen = chosen.clamp(0, classes - 1)
        loss = aten.nll_loss_nd(log_probabilities, chosen, None, 0, _NO_LABEL).masked_fill_(wrong, torch.nan)
    else:
        try:
            loss = aten.nll_loss_nd(log_probabilities, chosen, None, 0, _NO_LABEL)
        except IndexError:
            raise invalid(_wrong_label(labels, classes)) from None
    return loss, probabilities.scatter_(1, chosen.unsqueeze(1), -1.0, reduce="add")


@_sparse_softmax_cross_entropy.gradient(needs="input0 outputs", none_for_zero=True)
def _(call: Call, dy: Tensor | None, d_backprop: Tensor | None) -> Any:
    return _by_logits(dy, d_backprop, call.inputs[0], call.outputs[1]), None


def sparse_softmax_cross_entropy_with_logits(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """Computes the cross-entropy between class indices and the softmax of logits.

    Args:
        labels: a tensor of shape `[...]`, int32 or int64, each in `[0, classes)`.
        logits: a tensor of shape `[..., classes]`, floating, unscaled log-probabilities.

    Returns:
        The losses, of the shape of `labels` and the dtype of `logits`.

    Raises:
        ValueError: an argument is None, or the shapes do not match.
        InvalidArgumentError: a label is out of range. (On a GPU its loss is NaN.)

    Example:
        >>> tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]]).numpy().tolist()
        [0.6931471824645996]
    """
    if not (
        type(logits) is EagerTensor
        and type(labels) is EagerTensor
        and logits.dtype in _PRECISE
        and len(logits.value.shape) == 2
        and logits.value.shape[:1] == labels.value.shape
    ):
        _check_provided(labels, logits)
        return _sparse_of_any(convert(labels), convert(logits), name)
    return _sparse_softmax_cross_entropy(logits, labels, name)[0]


def _sparse_of_any(labels: Tensor, logits: Tensor, name: str | None) -> Any:
    """Computes the losses of logits of low precision, in float32, and of other ranks."""
    _check_sparse(labels.shape, logits.shape)
    low = logits.dtype.is_floating and logits.dtype not in _PRECISE
    features = cast(logits, float32) if low else logits
    if features.shape.rank == 2:
        loss = _sparse_softmax_cross_entropy(features, labels, name)[0]
    else:
        shape = shape_of(labels)
        rows = reshape(features, (size_of(shape), shape_of(features)[-1]))
        loss = _sparse_softmax_cross_entropy(rows, reshape(labels, (-1,)), name)[0]
        loss = reshape(loss, shape_argument(shape))
    return cast(loss, logits.dtype) if low else loss


def _check_sparse(labels: TensorShape, logits: TensorShape) -> None:
    if logits.rank == 0:
        raise ValueError(f"`logits` cannot be a scalar. Received logits of shape {logits}")
    if labels.rank is None or logits.rank is None:
        return
    if labels.rank != logits.rank - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={labels} of rank {labels.rank} and logits.shape={logits} of rank {logits.rank}"
        )
    if not labels.is_compatible_with(logits[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={labels} and logits.shape={logits}"
        )


# ---- independent classes, and counts ---------------------------------------------------------------------------------


def _check_same_shape(labels: Tensor, logits: Tensor, first: str = "logits", second: str = "labels") -> None:
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(
            f"`{first}` and `{second}` must have the same shape, received ({logits.shape} vs {labels.shape})."
        )


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Computes the cross-entropy of independent binary labels against the sigmoid of logits.

    With `x` for logits and `z` for labels it is `max(x, 0) - x * z + log(1 + exp(-abs(x)))`, which never overflows.

    Args:
        labels: probabilities, the shape and dtype of `logits`.
        logits: a floating tensor of any shape.

    Returns:
        The losses, element by element.

    Raises:
        ValueError: the shapes differ, or an argument is None.

    Example:
        >>> tf.nn.sigmoid_cross_entropy_with_logits(labels=[0.0, 1.0], logits=[0.0, 0.0]).numpy().tolist()
        [0.6931471824645996, 0.6931471824645996]
    """
    _check_provided(labels, logits)
    x, z = convert(logits), convert(labels)
    _check_same_shape(z, x)
    return _sigmoid_cross_entropy(x, z, name)


@composite
def _sigmoid_cross_entropy(x: Tensor, z: Tensor, name: str | None) -> Any:
    # The gradients of maximum and minimum go to the first of two equals: at 0 the derivative is 1 - z - 1/2.
    return add(subtract(maximum(x, 0), multiply(x, z)), softplus(minimum(negative(x), x)), name=name)


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """Computes sigmoid cross-entropy with the positive labels' part multiplied by `pos_weight`.

    With `x` for logits, `z` for labels, `q` for the weight and `l = 1 + (q - 1) * z`, it is
    `(1 - z) * x + l * (log(1 + exp(-abs(x))) + max(-x, 0))`.

    Args:
        labels: probabilities, the shape and dtype of `logits`.
        logits: a floating tensor of any shape.
        pos_weight: a number or tensor whose shape broadcasts; above 1 it raises recall, below 1 precision.

    Returns:
        The losses, element by element.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 2.0).numpy().tolist()
        [1.3862943649291992, 0.6931471824645996]
    """
    x, z = convert(logits), convert(labels)
    _check_same_shape(z, x)
    return _weighted_cross_entropy(x, z, pos_weight, name)


@composite
def _weighted_cross_entropy(x: Tensor, z: Tensor, factor: Tensor | float, name: str | None) -> Any:
    weight = (factor - 1) * z + 1
    positive = add(log1p(exp(negative(abs(x)))), relu(negative(x)))
    return add(multiply(1 - z, x), multiply(weight, positive), name=name)


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Computes the negative log-likelihood of counts under a Poisson distribution from the logarithm of its mean.

    It is `exp(log_input) - targets * log_input`, less the logarithm of the targets' factorial.

    Args:
        targets: counts, the shape and dtype of `log_input`.
        log_input: a floating tensor of any shape.
        compute_full_loss: adds Stirling's approximation of the factorial's logarithm for targets above 1.

    Returns:
        The losses, element by element.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> tf.nn.log_poisson_loss([1.0], [0.0]).numpy().tolist()
        [1.0]
    """
    x = convert(log_input)
    z = convert(targets, hint=x.dtype)
    _check_same_shape(z, x, "log_input", "targets")
    return _log_poisson_loss(x, z, bool(compute_full_loss), name)


@composite
def _log_poisson_loss(x: Tensor, z: Tensor, is_full: bool, name: str | None) -> Any:
    loss = subtract(exp(x), multiply(x, z))
    if is_full:
        factorial = add(subtract(multiply(z, log(z)), z), multiply(log(multiply(z, 6.283185307179586)), 0.5))
        small = logical_and(greater_equal(z, 0), less_equal(z, 1))
        loss = add(loss, where(small, zeros_like(z), factorial))
    return loss
