"""The largest elements of rows, and membership among them."""

from __future__ import annotations

import collections
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import joined_batches
from tapeflow.array.creation import range_op
from tapeflow.array.reshapes import reshape, transpose_op
from tapeflow.core.autodiff.gradients import DynamicShape, is_unranked, shape_argument, shape_of, size_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import host_value
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import leave_to_kernel, text, with_rank
from tapeflow.core.ops.static import Unknown
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid, is_traced
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.casting import cast
from tapeflow.math.reduction import position_in_rows
from tapeflow.math.segment import unsorted_segment_sum

TopKV2 = collections.namedtuple("TopKV2", ["values", "indices"])
ApproxTopK = collections.namedtuple("ApproxTopK", ["values", "indices"])


def _check_k(x: TensorShape, k: int | Sequence[int]) -> None:
    if not isinstance(k, int):
        raise invalid(f"k must be scalar, got {k!r}")
    if x.rank == 0:
        raise invalid("input must be >= 1-D, got shape []")
    if k < 0:
        raise invalid(f"Need k >= 0, got {k}")
    if x.rank is not None and x[-1] is not None and x[-1] < k:
        raise invalid(f"input must have at least k columns. Had {x[-1]}, needed {k}")


def _sort_keys(x: torch.Tensor) -> torch.Tensor:
    """Returns numbers in the order of `x` that ATen can sort, with NaN last."""
    if x.is_floating_point():
        return torch.nan_to_num(x, -math.inf, math.inf, -math.inf)
    if x.dtype == torch.uint64:
        return x.view(torch.int64) ^ -(2**63)
    return x.to(torch.int64) if x.dtype in (torch.uint16, torch.uint32) else x


def _largest_positions(keys: torch.Tensor, k: int) -> torch.Tensor:
    """Finds the positions of the k largest of each row, in order; of equal ones, those with the lower index first."""
    if k == 1:
        return position_in_rows(torch.argmax, keys).unsqueeze(-1)
    if 0 < 4 * k < keys.shape[-1]:
        # One more than k shows whether there are equal elements. torch.topk takes any of these.
        values, places = torch.topk(keys, k + 1)
        tied = (values[..., 1:] == values[..., :-1]).any(-1)
        if not bool(tied.any()):
            return places[..., :k]
        if by_value(keys) and keys.shape[-1] >= _LONG:
            places = places[..., :k].reshape(-1, k)
            rows = keys.float() if keys.dtype is torch.bfloat16 else keys
            rows = rows.reshape(len(places), -1)
            for row in torch.nonzero(tied.reshape(-1)).flatten().tolist():
                places[row] = _largest_of_row(rows[row], int(places[row, -1]))[:k]
            return places.view(*keys.shape[:-1], k)
    return torch.sort(keys, dim=-1, descending=True, stable=True).indices[..., :k]


_LONG = 1 << 10  # elements: a few calls for a row take less time than sorting it


def _largest_of_row(row: torch.Tensor, least: int) -> torch.Tensor:
    """Returns the positions of the largest elements of a row, down to that at `least`, in order; of equal ones, those
    with the lower index first. NumPy finds them faster than ATen."""
    array = row.numpy()
    above = torch.from_numpy(np.flatnonzero(array > array[least]))
    above = above[torch.sort(row[above], descending=True, stable=True).indices]
    return torch.cat([above, torch.from_numpy(np.flatnonzero(array == array[least]))])


def _gather_along(x: torch.Tensor, axis: int, places: torch.Tensor) -> torch.Tensor:
    """Gathers elements as `torch.gather` does, for every dtype."""
    if x.dtype not in (torch.uint16, torch.uint32, torch.uint64):
        return torch.gather(x, axis, places)
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.itemsize]
    return torch.gather(x.view(bits), axis, places).view(x.dtype)


def _top_k_rule(x: TensorShape, k: Any, *_: Any) -> list[TensorShape]:
    if isinstance(k, Unknown) or (isinstance(k, tuple) and None in k):
        with_rank(x, -1)
        k = None
    else:
        _check_k(x, k)
    return [TensorShape(None) if x.rank is None else TensorShape([*x.as_list()[:-1], k])] * 2


@op("TopKV2", host=("k",), shape=_top_k_rule, batching=leading_dimensions)
def top_k_op(
    input: torch.Tensor, k: int, sorted: bool = True, index_type: DType = int32
) -> tuple[torch.Tensor, torch.Tensor]:
    """Finds the k largest elements of the last dimension, and their positions."""
    _check_k(TensorShape(input.shape), k)
    places = _insertion_order(input) if _sorts_around_nans(input, k) else _largest_positions(_sort_keys(input), k)
    return _gather_along(input, -1, places), places.to(index_type.torch)


def _sorts_around_nans(x: torch.Tensor, k: int) -> bool:
    """Tests whether all of a few elements are asked for, and some are NaN, around which TensorFlow sorts the others."""
    few = x.is_floating_point() and k == x.shape[-1] <= _FEW
    return few and x.is_cpu and not is_traced(x) and bool(torch.isnan(x).any())


_FEW = 16  # up to this number of elements, C++'s `std::sort` is an insertion sort


def _insertion_order(x: torch.Tensor) -> torch.Tensor:
    """Sorts rows by insertion, the largest first, with comparisons that fail for NaN. An element that is larger than
    the first one goes before it. Any other element moves forward past smaller ones."""
    rows = x.reshape(-1, x.shape[-1])
    order = torch.arange(rows.shape[1]).repeat(len(rows), 1)
    for i in range(1, rows.shape[1]):
        number = rows[:, i : i + 1]
        is_largest = number > rows.gather(1, order[:, :1])
        passes = torch.ones_like(is_largest)
        for j in range(i, 0, -1):
            before = order[:, j - 1 : j]
            passes = passes & (is_largest | (rows.gather(1, before) < number))
            order[:, j - 1 : j + 1] = torch.where(passes, order[:, j - 1 : j + 1].flip(1), order[:, j - 1 : j + 1])
    return order.reshape(x.shape)


@top_k_op.gradient(needs="shapes outputs", none_for_zero=True)
def _(call: Call, dy: Tensor, _: Tensor) -> Any:
    return None if dy is None else _put_back(dy, call.outputs[1], call.shape(0), -1)


def _put_back(dy: Tensor, places: Tensor, shape: DynamicShape | tuple[int, ...], axis: int) -> Any:
    """Returns zeros of a shape with `dy` at positions along a dimension, which it moves to the end and back."""
    if is_unranked(shape):  # the dimension is the last one
        whole, length = shape_argument(shape), shape[-1]
        dy, places = (reshape(t, (-1, shape_of(t)[-1])) for t in (dy, places))
        return reshape(_put_into_rows(dy, places, ops.Prod(whole, 0), length), whole)
    rank = len(shape)
    order = [*(i for i in range(rank) if i != axis % rank), axis % rank]
    last_first = [order.index(i) for i in range(rank)]
    dims = tuple([shape[i] for i in order])
    rows, length = size_of(dims[:-1]), dims[-1]
    is_last = order == sorted(order)
    if not is_last:
        dy, places = (transpose_op(t, order) for t in (dy, places))
    places = reshape(places, (rows, shape_of(places)[-1]))
    result = reshape(_put_into_rows(dy, places, rows * length, length), dims)
    return result if is_last else transpose_op(result, last_first)


def _put_into_rows(dy: Tensor, places: Tensor, count: Any, length: Any) -> Any:
    """Returns `count` zeros, in rows of a length, with `dy` at the positions of a table with a row for each; flat."""
    rows = shape_of(places)[0]
    starts = multiply(cast(range_op(0, rows, 1), int64), cast(length, int64))
    flat = add(cast(places, int64), reshape(starts, (rows, 1)))
    return unsorted_segment_sum(reshape(dy, (-1,)), reshape(flat, (-1,)), count)


def top_k(
    input: TensorLike, k: TensorLike = 1, sorted: bool = True, index_type: DTypeLike = int32, name: str | None = None
) -> TopKV2:
    """Finds the k largest elements of each row, and their positions.

    Args:
        input: a real tensor of shape `[..., n]`.
        k: a scalar integer, the number of elements, at most `n`; 1 by default.
        sorted: requires sorted results, the largest first. They are always sorted. The default is True.
        index_type: the dtype of the indices: int16, int32 or int64. The default is int32.

    Returns:
        A named tuple of `values`, of the dtype of `input`, and `indices`, both of shape `[..., k]`. Of equal elements
        those with the lower index come first.

    Raises:
        InvalidArgumentError: a row has fewer than k elements.

    Example:
        >>> values, indices = tf.math.top_k([1.0, 5.0, 3.0], k=2)
        >>> values.numpy().tolist(), indices.numpy().tolist()
        ([5.0, 3.0], [1, 2])
    """
    return TopKV2(*top_k_op(input, k, sorted, as_dtype(index_type), name))


# ---- membership ------------------------------------------------------------------------------------------------------


def _in_top_k_rule(predictions: TensorShape, targets: TensorShape, k: int | tuple[int, ...]) -> TensorShape:
    if predictions.rank not in (None, 2):
        raise invalid("predictions must be 2-dimensional")
    if targets.rank not in (None, 1):
        raise invalid("targets must be 1-dimensional")
    if not isinstance(k, (int, Unknown)):
        leave_to_kernel(f"k must be 0-D, got {k!r}")
    targets = targets.with_rank(1)
    if not predictions[:1].is_compatible_with(targets):
        raise invalid(f"First dimension of predictions {predictions[0]} must match length of targets {targets[0]}")
    return predictions[:1].merge_with(targets)


@op("InTopKV2", host=("k",), shape=_in_top_k_rule, batching=joined_batches)
def _in_top_k(predictions: torch.Tensor, targets: torch.Tensor, k: int) -> torch.Tensor:
    """Tests whether each target is among the k largest predictions."""
    _in_top_k_rule(TensorShape(predictions.shape), TensorShape(targets.shape), k)
    classes = predictions.shape[1]
    if not classes:
        return torch.zeros_like(targets, dtype=torch.bool)
    inside = targets.clamp(0, classes - 1)
    valid, chosen = inside == targets, predictions.gather(1, inside.long().unsqueeze(1))
    if classes <= _FIRST or not predictions.is_cpu or is_traced(predictions):
        finite = (predictions - predictions).sum(1) == 0
        return valid.logical_and_(finite).logical_and_((predictions > chosen).sum(1) < k)
    # Most of the targets that are not among the k largest show it in the first columns.
    left = torch.nonzero(valid.logical_and_(_count_larger(predictions[:, :_FIRST], chosen) < k)).squeeze(1)
    if len(left) < len(valid):
        predictions, chosen = predictions[left], chosen[left]
    finite = predictions.sum(1).isfinite()
    if not finite.all():  # finite numbers may have an infinite sum
        finite = predictions.isfinite().all(1)
    return valid.index_put_((left,), finite & (_count_larger(predictions, chosen) < k))


_FIRST = 256  # columns


def _count_larger(predictions: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Counts the larger predictions in each row. ATen adds ones of float32 faster than bools."""
    return torch.gt(predictions, chosen, out=torch.empty(0)).sum(1)


not_differentiable(_in_top_k)


def in_top_k(targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether each target is among the k largest predictions; classes that tie all count as among them.

    Args:
        targets: a tensor of shape `[batch]`, int32 or int64: classes.
        predictions: a tensor of shape `[batch, classes]`, float32.
        k: an integer scalar, the number of predictions that count.

    Returns:
        A bool tensor of shape `[batch]`; False if the target is not a class or a prediction is not finite.

    Raises:
        InvalidArgumentError: the shapes do not go together.

    Example:
        >>> tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.8]], k=1).numpy().tolist()
        [True, False]
    """
    return _in_top_k(predictions, targets, k, name)


# ---- approximately the largest ---------------------------------------------------------------------------------------


def _approx_kernel(
    input: torch.Tensor, k: int, reduction_dimension: int, recall_target: float, is_max_k: bool, *_: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    if -input.ndim <= reduction_dimension < input.ndim and input.shape[reduction_dimension] < k:
        raise invalid(f"input must have at least k columns. Had {input.shape[reduction_dimension]}, needed {k}")
    _approx_rule(TensorShape(input.shape), k, reduction_dimension)
    rows = input.movedim(reduction_dimension, -1)
    places = _largest_positions(_sort_keys(rows if is_max_k else -rows), k).movedim(-1, reduction_dimension)
    return torch.gather(input, reduction_dimension, places), places.int()


def _approx_rule(x: TensorShape, k: int, reduction_dimension: int, *_: Any) -> list[TensorShape]:
    if x.rank is None:
        raise invalid(f"Invalid reduction dimension: {reduction_dimension}. Must be within the range of [1, -2]")
    if not -x.rank <= reduction_dimension < x.rank:
        raise invalid(f"reduction_dimension {reduction_dimension} is not one of shape {text(x)}")
    dims = x.as_list()
    length = dims[reduction_dimension]
    if length is None or length < k:
        raise invalid(f"input must have last dimension >= k = {k} but was {-1 if length is None else length}")
    dims[reduction_dimension] = k
    return [TensorShape(dims)] * 2


# Finds the k largest or smallest elements of a dimension, and their positions.
_approx_top_k = defined_op("ApproxTopK", _approx_kernel, shape=_approx_rule)


@_approx_top_k.gradient(needs="shapes outputs", none_for_zero=True)
def _(call: Call, dy: Tensor, _: Tensor) -> Any:
    return None if dy is None else _put_back(dy, call.outputs[1], call.shape(0), call.attrs[1])


def approx_top_k(
    input: TensorLike,
    k: TensorLike,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """Finds the k largest or smallest elements of a dimension, and their positions: here always exactly.

    Args:
        input: a half, bfloat16 or float32 tensor with at least one dimension.
        k: a scalar int, the number of elements.
        reduction_dimension: an int, the dimension to search; -1 by default.
        is_max_k: True for the largest elements, False for the smallest; True by default.
        recall_target, reduction_input_size_override, aggregate_to_topk: for hardware that approximates; not used.

    Returns:
        A named tuple of `values`, of the dtype of `input`, and int32 `indices`, both with k elements along the
        dimension, the extreme one first.

    Raises:
        InvalidArgumentError: there are fewer than k elements, or no such dimension.

    Example:
        >>> tf.approx_top_k([1.0, 5.0, 3.0], k=2).values.numpy().tolist()
        [5.0, 3.0]
    """
    outputs = _approx_top_k(
        input, host_value(k), reduction_dimension, recall_target, is_max_k, reduction_input_size_override,
        aggregate_to_topk, name,
    )  # fmt: skip
    return ApproxTopK(*outputs)


def approx_max_k(
    operand: TensorLike,
    k: TensorLike,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """Finds the k largest elements of a dimension, and their positions. See `tf.approx_top_k`.

    Args:
        operand: a half, bfloat16 or float32 tensor with at least one dimension.
        k: a scalar int, the number of elements.
        reduction_dimension: an int, the dimension to search; -1 by default.
        recall_target, reduction_input_size_override, aggregate_to_topk: for hardware that approximates; not used.

    Returns:
        A named tuple of `values`, of the dtype of `operand`, and int32 `indices`, both with k elements along the
        dimension, largest first.

    Raises:
        InvalidArgumentError: there are fewer than k elements, or no such dimension.

    Example:
        >>> tf.math.approx_max_k([1.0, 5.0, 3.0], k=2).values.numpy().tolist()
        [5.0, 3.0]
    """
    return approx_top_k(
        operand, k, reduction_dimension, recall_target, True, reduction_input_size_override, aggregate_to_topk, name
    )


def approx_min_k(
    operand: TensorLike,
    k: TensorLike,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """Finds the k smallest elements of a dimension, and their positions. See `tf.approx_top_k`.

    Args:
        operand: a half, bfloat16 or float32 tensor with at least one dimension.
        k: a scalar int, the number of elements.
        reduction_dimension: an int, the dimension to search; -1 by default.
        recall_target, reduction_input_size_override, aggregate_to_topk: for hardware that approximates; not used.

    Returns:
        A named tuple of `values`, of the dtype of `operand`, and int32 `indices`, both with k elements along the
        dimension, smallest first.

    Raises:
        InvalidArgumentError: there are fewer than k elements, or no such dimension.

    Example:
        >>> tf.math.approx_min_k([1.0, 5.0, 3.0], k=2).values.numpy().tolist()
        [1.0, 3.0]
    """
    return approx_top_k(
        operand, k, reduction_dimension, recall_target, False, reduction_input_size_override, aggregate_to_topk, name
    )
