"""Counts of values, and tests of whole tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tapeflow.array.concat_and_split import pack_op
from tapeflow.array.properties import size_op
from tapeflow.array.reshapes import broadcast_to, reshape, squeeze_op, transpose
from tapeflow.array.scatters import scatter_nd_op
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, static
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import unknown, with_rank
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, bool_, int32, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import add, multiply
from tapeflow.math.casting import cast
from tapeflow.math.comparison import greater, greater_equal, less
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_all, reduce_max

# ---- bincount --------------------------------------------------------------------------------------------------------


def _count_values(
    values: torch.Tensor, rows: torch.Tensor | None, count: int | None, size: int, weights: torch.Tensor, binary: bool
) -> torch.Tensor:
    """Counts values in their rows.

    Args:
        values: `[n]`.
        rows: the row of each value, or None for a single row.
        count: the number of rows; None for a result without rows.
        size: the number of distinct values to count, 0 to `size - 1`; larger ones are left out.
        weights: `[n]`, or empty for ones.
        binary_output: writes 1 for values that occur, instead of their number.
    """
    if size < 0:
        raise invalid(f"size ({size}) must be non-negative")
    least, largest = (int(end) for end in values.aminmax()) if values.numel() else (0, -1)
    if least < 0:
        raise invalid("Input arr must be non-negative!")
    if weights.numel() and weights.numel() != values.numel():
        raise invalid(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights "
            f"equal to 1. Received {list(weights.shape)}"
        )
    places, amounts = values if rows is None else rows * size + values, weights.reshape(-1)
    if largest >= size:
        counted = values < size
        places, amounts = places[counted], amounts[counted] if weights.numel() else amounts
    check_memory([1 if count is None else count, size], 8, UNFILLED)
    out = torch.zeros(size if count is None else count * size, dtype=weights.dtype, device=values.device)
    if binary:
        out.index_fill_(0, places.long(), 1)
    elif weights.numel():
        out.index_add_(0, places, amounts)
    elif out.numel():
        out = torch.bincount(places, minlength=out.numel()).to(weights.dtype)
    return out if count is None else out.reshape(count, size)


def _dense_bincount_rule(input: TensorShape, size: TensorLike, *_: Any) -> TensorShape:
    if input.rank is not None and input.rank > 2:
        raise invalid(f"Shape must be at most rank 2 but is rank {input.rank}")
    with_rank(size, 0)
    if not isinstance(size, int):  # not static
        return TensorShape(None if input.rank is None else [None] * input.rank)
    return TensorShape([*input.as_list()[:-1], size] if input.rank else None)


@op("DenseBincount", host=("size",), shape=_dense_bincount_rule)
def dense_bincount(input: torch.Tensor, size: int, weights: torch.Tensor, binary_output: bool = False) -> torch.Tensor:
    """Counts the values of a tensor, or of each of its rows."""
    if input.ndim > 2:
        raise invalid(f"Shape must be at most rank 2 but is rank {input.ndim}")
    rows, count = None, None
    if input.ndim == 2:
        count = len(input)
        rows = torch.arange(count, device=input.device).repeat_interleave(input.shape[1])
    return _count_values(input.reshape(-1), rows, count, size, weights, binary_output)


@op("RaggedBincount", host=("size",), shape=unknown)
def _rows_bincount(
    splits: torch.Tensor, values: torch.Tensor, size: int, weights: torch.Tensor, binary_output: bool = False
) -> torch.Tensor:
    """Counts the values of each row of a ragged tensor."""
    lengths = splits[1:] - splits[:-1]
    rows = torch.arange(len(lengths), device=values.device).repeat_interleave(lengths)
    return _count_values(values, rows, len(lengths), size, weights, binary_output)


@op("SparseBincount", host=("size",), shape=unknown)
def _indexed_bincount(
    indices: torch.Tensor,
    values: torch.Tensor,
    dense_shape: torch.Tensor,
    size: Any,
    weights: torch.Tensor,
    binary_output: bool = False,
) -> torch.Tensor:
    """Counts the values of each row of a sparse tensor."""
    if len(dense_shape) == 1:
        return _count_values(values, None, None, size, weights, binary_output)
    return _count_values(values, indices[:, 0], int(dense_shape[0]), size, weights, binary_output)


@dense_bincount.batching
def _(batch: Batch, x: Slices, size: Any, weights: Slices, binary_output: bool) -> Any:
    if x.rank != 1:
        raise NoRule
    unweighted = weights.slice.shape.num_elements() == 0 and not weights.stacked
    return batch.run(batch.stack(x), static(size), weights.value if unweighted else batch.stack(weights), binary_output)


not_differentiable(dense_bincount, _rows_bincount, _indexed_bincount)


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """Counts how often each integer occurs.

    Args:
        arr: int32 or int64, not negative, of any shape: a tensor, `RaggedTensor` or `SparseTensor`. Floats are cut off.
        weights: a tensor of the kind and shape of `arr`. Each occurrence counts as much as its weight.
        minlength: a scalar, the least length of the result.
        maxlength: a scalar, the greatest length of the result; values from there on are not counted.
        dtype: the dtype of the result without weights: int32, int64, float32 or float64. The default is int32.
        axis: None or 0 counts all values. -1 counts the values of each row of a matrix.
        binary_output: returns 1 for each integer that occurs and 0 for others, instead of counts.

    Returns:
        The counts of 0, 1, 2, ..., up to the largest value: a vector, or with `axis=-1` of a matrix a matrix with a row
        for each of its rows. Of the dtype of `weights`, or else of `dtype`.

    Raises:
        InvalidArgumentError: a value is negative, or `weights` and `arr` differ in shape.
        ValueError: `axis` is another, both `weights` and `binary_output` are specified, or `weights` is not of the kind
            of `arr`.

    Example:
        >>> tf.math.bincount([1, 1, 2, 5]).numpy().tolist()
        [0, 2, 1, 0, 0, 1]
        >>> tf.math.bincount([[1, 1], [2, 0]], axis=-1).numpy().tolist()
        [[0, 2, 0], [1, 0, 1]]
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if weights is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
    composite: Any = arr
    factors: Any = weights
    sparse, ragged = hasattr(arr, "dense_shape"), hasattr(arr, "row_splits")
    kind = "dense_shape" if sparse else "row_splits" if ragged else None
    if kind is not None and weights is not None and not hasattr(weights, kind):
        of = "a SparseTensor" if sparse else "a RaggedTensor"
        raise ValueError(f"`weights` must be {of} if `values` is {of}. Received argument weights={factors}.")
    values = _dense_values(arr)
    # Without weights, an empty vector says which dtype the counts have.
    amounts = broadcast_to(convert(0, as_dtype(dtype)), (0,)) if weights is None else _dense_values(weights)
    if not values.dtype.is_integer:
        values = cast(values, int32)
    size = _bin_count(values, minlength, maxlength)
    if axis == -1 and sparse:
        indices, shape = composite.indices, composite.dense_shape
        return _indexed_bincount(indices, values, shape, size, amounts, binary_output, name)
    if axis == -1 and ragged:
        return _rows_bincount(cast(composite.row_splits, int64), values, size, amounts, binary_output, name)
    if axis is None or axis == 0:
        values = reshape(values, (-1,))
        amounts = reshape(amounts, (-1,))
    return dense_bincount(values, size, amounts, binary_output, name)


def _dense_values(x: Any) -> Any:
    """Returns the values of a `SparseTensor` or `RaggedTensor`, and other values as a tensor."""
    return x.values if hasattr(x, "dense_shape") else x.flat_values if hasattr(x, "row_splits") else convert(x)


def _bin_count(values: Tensor, minlength: Any, maxlength: Any) -> Any:
    """Computes the number of distinct values to count."""
    count = values.shape.num_elements()
    size = convert(0, values.dtype) if count == 0 else add(reduce_max(values), convert(1, values.dtype))
    if count is None:  # dynamic: there may be no values
        size = multiply(cast(greater(size_op(values), 0), values.dtype), size)
    if minlength is not None:
        size = maximum(convert(minlength, values.dtype), size)
    if maxlength is not None:
        size = minimum(convert(maxlength, values.dtype), size)
    return host_value(size)


# ---- confusion matrix ------------------------------------------------------------------------------------------------


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Counts the pairs of classes: `result[i, j]` is how often class `i` was predicted to be `j`.

    Args:
        labels: the true classes, `[n]`, integers from 0 on.
        predictions: the predicted ones, `[n]`.
        num_classes: a scalar, the number of classes; by default the largest class plus 1.
        weights: `[n]`: each prediction counts as much as its weight.
        dtype: the dtype of the result; int32 by default.

    Returns:
        A tensor of shape `[num_classes, num_classes]` and of `dtype`.

    Raises:
        InvalidArgumentError: a class is negative or not less than `num_classes`, or the shapes do not match.
        ValueError: `weights` has another shape than `predictions`.

    Example:
        >>> tf.math.confusion_matrix([0, 1, 1], [1, 1, 1]).numpy().tolist()
        [[0, 1], [0, 2]]
    """
    from tapeflow.debugging.values import assert_less, assert_non_negative

    dtype = as_dtype(dtype)
    labels, predictions = _without_last_dimension(convert(labels), convert(predictions))
    labels, predictions = cast(labels, int64), cast(predictions, int64)
    assert_non_negative(labels, "`labels` contains negative values")
    assert_non_negative(predictions, "`predictions` contains negative values")
    if num_classes is None:
        largest = maximum(reduce_max(predictions), reduce_max(labels))
        num_classes = add(largest, convert(1, int64))
    else:
        num_classes = cast(convert(num_classes), int64)
        assert_less(labels, num_classes, "`labels` out of bound")
        assert_less(predictions, num_classes, "`predictions` out of bound")
    if weights is None:
        amounts = broadcast_to(convert(1, dtype), shape_of(predictions))
    else:
        amounts = convert(weights)
        predictions.shape.assert_is_compatible_with(amounts.shape)
        amounts = cast(amounts, dtype)
    pairs = transpose(pack_op([labels, predictions], 0))
    classes = host_value(num_classes)
    if isinstance(classes, int) and classes < 0:
        raise invalid("There are no labels to tell the number of classes from: give num_classes [Op:ScatterNd] name: ")
    return scatter_nd_op(pairs, amounts, (classes, classes))


def _without_last_dimension(labels: Tensor, predictions: Tensor) -> tuple[Any, Any]:
    """Removes a last dimension of length 1 that only one of the two tensors has."""
    if predictions.shape.rank is None or labels.shape.rank is None:
        return labels, predictions
    more = len(predictions.shape) - len(labels.shape)
    if more == 1 and predictions.shape[-1] in (1, None):
        predictions = squeeze_op(predictions, (-1,))
    elif more == -1 and labels.shape[-1] in (1, None):
        labels = squeeze_op(labels, (-1,))
    return labels, predictions


# ---- tests of whole tensors ------------------------------------------------------------------------------------------


def _test_neighbors(x: Any, test: Callable[[Tensor, Tensor], Any]) -> Any:
    """Tests all elements in a row: each, and the one after it."""
    x = reshape(x, (-1,))
    if x.dtype is string or x.dtype is bool_:
        raise TypeError(f"Expected x to be numeric, instead found: {x!s}")
    before, after = x[:-1], x[1:]
    return reduce_all(test(before, after)) if before.shape != [0] else convert(True)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether no element is less than the one before it, over all elements in row-major order.

    Args:
        x: a numeric tensor of any shape, which is flattened.

    Returns:
        A scalar bool; true of less than two elements.

    Raises:
        TypeError: `x` is not numeric.

    Example:
        >>> bool(tf.math.is_non_decreasing([1, 1, 3]))
        True
    """
    return _test_neighbors(x, lambda before, after: greater_equal(after, before))


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether each element is greater than the one before it, over all elements in row-major order.

    Args:
        x: a numeric tensor of any shape, which is flattened.

    Returns:
        A scalar bool; true of less than two elements.

    Raises:
        TypeError: `x` is not numeric.

    Example:
        >>> bool(tf.math.is_strictly_increasing([1, 1, 3]))
        False
    """
    return _test_neighbors(x, less)
