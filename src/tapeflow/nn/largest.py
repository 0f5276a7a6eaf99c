"""The largest elements of rows, and what is among them."""

from __future__ import annotations

import collections
from typing import Any

import torch

import tapeflow as tf
from tapeflow.core.convert import host_value
from tapeflow.core.dtypes import DType, as_dtype, int32
from tapeflow.core.op import not_differentiable, op
from tapeflow.core.shape import TensorShape
from tapeflow.core.tape import Call
from tapeflow.core.tensor import invalid
from tapeflow.math.gradients import shape_of

TopKV2 = collections.namedtuple("TopKV2", ["values", "indices"])
ApproxTopK = collections.namedtuple("ApproxTopK", ["values", "indices"])


def _check_k(x: torch.Tensor, k: int) -> None:
    if not x.dim():
        raise invalid("input must be >= 1-D, got shape []")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}")
    if x.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")


def _largest(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The k largest of the last dimension, in order; of equal ones, those with the lower index; NaN last."""
    keys = torch.where(x.isnan(), -torch.inf, x) if x.is_floating_point() else x
    if k == 1:
        places = keys.argmax(-1, keepdim=True)
        return x.gather(-1, places), places
    if 4 * k < x.shape[-1]:
        # One more than is asked for shows whether there are equals, of which torch.topk takes any.
        values, places = keys.topk(k + 1)
        if not bool((values[..., 1:] == values[..., :-1]).any()):
            places = places[..., :k]
            return x.gather(-1, places), places
    places = keys.sort(dim=-1, descending=True, stable=True).indices[..., :k]
    return x.gather(-1, places), places


def _top_k_kernel(
    input: torch.Tensor, k: int, sorted: bool = True, index_type: DType = int32
) -> tuple[torch.Tensor, torch.Tensor]:
    _check_k(input, k)
    if input.dtype is torch.uint64:  # of which ATen has no order: flipping the highest bit makes it that of int64
        flipped = input.view(torch.int64) ^ torch.iinfo(torch.int64).min
        places = _largest(flipped, k)[1]
        values = input.view(torch.int64).gather(-1, places).view(torch.uint64)
    else:
        values, places = _largest(input, k)
    return values, places.to(index_type.torch)


def _top_k_rule(x: TensorShape, k: int, *_: Any) -> TensorShape:
    return x if x.rank is None else TensorShape([*x.as_list()[:-1], k])


@op("TopKV2", kernel=_top_k_kernel, host=("k",), shape=_top_k_rule)
def _top_k(input: Any, k: Any, sorted: bool = True, index_type: Any = int32, name: str | None = None) -> Any:
    """The k largest elements of the last dimension, and where they are."""


@_top_k.gradient(needs="shapes outputs", none_for_zero=True)
def _(call: Call, dy: Any, _: Any) -> Any:
    return None if dy is None else scatter_to_rows(dy, call.outputs[1], call.shape(0))


def scatter_to_rows(dy: Any, places: Any, shape: Any) -> Any:
    """Zeros of that shape with `dy` at the given places of the last dimension."""
    rows = 1
    for n in shape[:-1]:
        rows *= n
    starts = tf.expand_dims(tf.multiply(tf.range(rows), shape[-1]), 1)
    flat = tf.add(tf.cast(tf.reshape(places, (rows, shape_of(places)[-1])), int32), starts)
    flat = tf.reshape(flat, (-1, 1))
    return tf.reshape(tf.scatter_nd(flat, tf.reshape(dy, (-1,)), (rows * shape[-1],)), tuple(shape))


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = int32, name: str | None = None) -> TopKV2:
    """The k largest elements of each row, and where they are.

    Args:
        input: real, `[..., n]`.
        k: how many, at most `n`.
        sorted: whether they must be in order, largest first. (They always are.)
        index_type: of the indices: int16, int32 or int64.

    Returns:
        A named tuple of `values` and `indices`, `[..., k]`. Of equal elements those with the lower index come first.

    Raises:
        InvalidArgumentError: a row has fewer than k elements.

    Example:
        >>> values, indices = tf.math.top_k([1.0, 5.0, 3.0], k=2)
        >>> values.numpy().tolist(), indices.numpy().tolist()
        ([5.0, 3.0], [1, 2])
    """
    return TopKV2(*_top_k(input, host_value(k), sorted, as_dtype(index_type), name))


def _in_top_k_kernel(predictions: torch.Tensor, targets: torch.Tensor, k: int) -> torch.Tensor:
    if predictions.dim() != 2:
        raise invalid("predictions must be 2-dimensional")
    if targets.dim() != 1:
        raise invalid("targets must be 1-dimensional")
    if predictions.shape[0] != targets.shape[0]:
        raise invalid(
            f"First dimension of predictions {predictions.shape[0]} must match length of targets {targets.shape[0]}"
        )
    classes = predictions.shape[1]
    index = targets.long()
    known = (index >= 0) & (index < classes)
    if not classes:
        return known
    chosen = predictions.gather(1, index.clamp(0, classes - 1).unsqueeze(1))
    return known & ((predictions > chosen).sum(1) < k) & predictions.isfinite().all(1)


@op("InTopKV2", kernel=_in_top_k_kernel, host=("k",))
def _in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Any:
    """Whether each target is among the k largest predictions."""


not_differentiable(_in_top_k)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Any:
    """Whether each target is among the classes of the k largest predictions; classes that tie all count as among them.

    Args:
        targets: `[batch]`, int32 or int64: classes.
        predictions: `[batch, classes]`, float32.
        k: how many predictions count.

    Returns:
        `[batch]`, bool; False where the target is no class or a prediction is not finite.

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], k=1).numpy().tolist()
        [True, False]
    """
    return _in_top_k(predictions, targets, k, name)


def _approx_kernel(
    input: torch.Tensor,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    rows = input.movedim(reduction_dimension, -1)
    _check_k(rows, k)
    places = _largest(rows if is_max_k else -rows, k)[1].movedim(-1, reduction_dimension)
    return input.gather(reduction_dimension, places), places.int()


@op("ApproxTopK", kernel=_approx_kernel)
def _approx_top_k(
    input: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> Any:
    """The k largest or smallest elements of a dimension, and where they are."""


@_approx_top_k.gradient(needs="shapes outputs", none_for_zero=True)
def _(call: Call, dy: Any, _: Any) -> Any:
    if dy is None:
        return None
    places, shape, axis = call.outputs[1], call.shape(0), call.attrs[1]
    if axis in (-1, len(shape) - 1):
        return scatter_to_rows(dy, places, shape)
    order = list(range(len(shape)))
    order[axis], order[-1] = order[-1], order[axis]
    swapped = tuple([shape[i] for i in order])
    return tf.transpose(scatter_to_rows(tf.transpose(dy, order), tf.transpose(places, order), swapped), order)


def approx_max_k(
    operand: Any,
    k: Any,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The k largest elements of a dimension, and where they are: here always exactly.

    Args:
        operand: half, bfloat16 or float32.
        k: how many.
        reduction_dimension: the dimension to search.
        recall_target, reduction_input_size_override, aggregate_to_topk: for hardware that approximates; not used.

    Returns:
        A named tuple of `values` and `indices`, with k elements along the dimension, largest first.

    Raises:
        InvalidArgumentError: there are fewer than k elements.

    Example:
        >>> tf.nn.approx_max_k([1.0, 5.0, 3.0], k=2).values.numpy().tolist()
        [5.0, 3.0]
    """
    return _approximate(operand, k, reduction_dimension, recall_target, True, reduction_input_size_override,
                        aggregate_to_topk, name)  # fmt: skip


def approx_min_k(
    operand: Any,
    k: Any,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The k smallest elements of a dimension, and where they are: here always exactly.

    Args:
        operand: half, bfloat16 or float32.
        k: how many.
        reduction_dimension: the dimension to search.
        recall_target, reduction_input_size_override, aggregate_to_topk: for hardware that approximates; not used.

    Returns:
        A named tuple of `values` and `indices`, with k elements along the dimension, smallest first.

    Raises:
        InvalidArgumentError: there are fewer than k elements.

    Example:
        >>> tf.nn.approx_min_k([1.0, 5.0, 3.0], k=2).values.numpy().tolist()
        [1.0, 3.0]
    """
    return _approximate(operand, k, reduction_dimension, recall_target, False, reduction_input_size_override,
                        aggregate_to_topk, name)  # fmt: skip


def _approximate(operand: Any, k: Any, *attrs: Any) -> ApproxTopK:
    return ApproxTopK(*_approx_top_k(operand, host_value(k), *attrs))
