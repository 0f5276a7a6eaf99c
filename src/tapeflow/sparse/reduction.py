"""Sums, maxima, softmax and counts of sparse tensors, and sums of gathered rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import ones_like, range_op
from tapeflow.array.gathers import gather, gather_nd
from tapeflow.array.identities import less_static
from tapeflow.array.properties import ensure_shape, size_op
from tapeflow.array.reshapes import broadcast_to, expand_dims
from tapeflow.array.reshapes import reshape as reshape_dense
from tapeflow.array.scatters import scatter_nd
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.errors import InternalError
from tapeflow.core.ops.convert import as_operand, convert, host_value
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_ranks_first, check_sizes, leave_to_kernel, with_rank
from tapeflow.core.ops.static import static_shape
from tapeflow.core.types.aliases import AxisLike, DTypeLike, TensorLike
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, dtype_error, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.linalg.products import matmul
from tapeflow.math.arithmetic import add, multiply, negative
from tapeflow.math.casting import cast
from tapeflow.math.comparison import greater
from tapeflow.math.segment import unsorted_segment_mean, unsorted_segment_sqrt_n, unsorted_segment_sum
from tapeflow.sparse import index_order
from tapeflow.sparse.dense import add_dense, as_sparse
from tapeflow.sparse.tensor import SparseLike, SparseTensor, SparseTensorValue


def _reduced_axes(axes: tuple[int, ...] | int | None, rank: int) -> list[int]:
    """Returns the dimensions to reduce, sorted."""
    dims = range(rank) if axes is None else (axes,) if isinstance(axes, int) else axes
    for a in dims:
        if not -rank <= a < rank:
            leave_to_kernel(f"Invalid reduction dimension {a}, for input with {rank} dimensions.")
    return sorted({a % rank for a in dims if rank})


def _entry_groups(
    indices: torch.Tensor, shape: tuple[int, ...], axes: tuple[int, ...] | int | None
) -> tuple[torch.Tensor, list[int], list[int]]:
    """Returns the index in the result for each entry, the shape of the result, and its shape with reduced dimensions of
    length 1. As in TensorFlow, indices are not checked against the shape."""
    check_sizes(shape)
    reduced = _reduced_axes(axes, len(shape))
    others = [d for d in range(len(shape)) if d not in reduced]
    return indices[:, others], [shape[d] for d in others], [1 if d in reduced else n for d, n in enumerate(shape)]


def _distinct_rows(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the different rows, sorted, and the position among them of each row."""
    if not rows.numel():  # one row of no indices, if any
        return rows[:1], rows.new_zeros(len(rows))
    bounds = [int(high) + 1 for high in rows.amax(0)]
    if math.prod(bounds) >= 2**62 or not index_order.are_inside(rows, bounds):  # no row is one number
        return torch.unique(rows, sorted=True, return_inverse=True, dim=0)
    numbers = index_order.flat(rows, bounds)
    ordered = bool((numbers[1:] >= numbers[:-1]).all())
    distinct, at = (torch.unique_consecutive if ordered else torch.unique)(numbers, return_inverse=True)
    return index_order.unflat(distinct, bounds), at


def _dense_kernel(reduce: str) -> Callable[..., torch.Tensor]:
    def kernel(
        indices: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...], axes: tuple[int, ...] | int | None,
        keep_dims: bool,
    ) -> torch.Tensor:  # fmt: skip
        rows, out, with_ones = _entry_groups(indices, shape, axes)
        group, size = index_order.flat(rows, out), math.prod(out)
        outside = (group < 0) | (group >= size)
        if bool(outside.any()):
            raise InternalError.of(f"Obtained a write index of {int(group[outside][0])} outside of [0, {size})")
        result = values.new_zeros(size).scatter_reduce(0, group, values, reduce, include_self=reduce == "sum")
        return result.reshape(with_ones if keep_dims else out)

    return kernel


def _sparse_kernel(reduce: str) -> Callable[..., Any]:
    def kernel(
        indices: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...], axes: tuple[int, ...] | int | None,
        keep_dims: bool,
    ) -> Any:  # fmt: skip
        rows, out, with_ones = _entry_groups(indices, shape, axes)
        present, at = _distinct_rows(rows)
        result = values.new_zeros(len(present)).scatter_reduce(0, at, values, reduce, include_self=reduce == "sum")
        if keep_dims:
            reduced = _reduced_axes(axes, len(shape))
            columns = iter(present.unbind(1))
            zero = present.new_zeros(len(present))
            present = torch.stack([zero if d in reduced else next(columns) for d in range(len(shape))], 1)
        return present, result, torch.tensor(with_ones if keep_dims else out, dtype=torch.int64)

    return kernel


_HOST = ("input_shape", "reduction_axes")


def _reduced_shape(
    indices: TensorShape, values: TensorShape, shape: tuple[int | None, ...], axes: int | tuple[int, ...],
    keep_dims: bool,
) -> TensorShape:  # fmt: skip
    if not _is_static(shape) or not _is_static(axes):
        return TensorShape(None)
    reduced = _reduced_axes(axes, len(shape))
    return TensorShape([1 if i in reduced else d for i, d in enumerate(shape) if keep_dims or i not in reduced])


def _is_static(value: object) -> bool:
    return not isinstance(value, Tensor) and not (isinstance(value, tuple) and None in value)


_sum_entries = defined_op("SparseReduceSum", _dense_kernel("sum"), host=_HOST, shape=_reduced_shape)
_max_entries = defined_op("SparseReduceMax", _dense_kernel("amax"), host=_HOST, shape=_reduced_shape)
_sum_sparse = defined_op("SparseReduceSumSparse", _sparse_kernel("sum"), host=_HOST, shape=lambda *_: [None] * 3)
_max_sparse = defined_op("SparseReduceMaxSparse", _sparse_kernel("amax"), host=_HOST, shape=lambda *_: [None] * 3)


@_sum_entries.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    shape, axes, _ = call.attrs
    indices = call.inputs[0]
    reduced = _reduced_axes(axes, len(shape))
    others = [d for d in range(len(shape)) if d not in reduced]
    if not others:
        return None, broadcast_to(reshape_dense(dy, [1]), [indices.shape[0]])
    return None, gather_nd(reshape_dense(dy, [shape[d] for d in others]), gather(indices, others, axis=1))


def _reduce_sparse(
    densely: Callable[..., Any], sparsely: Callable[..., Any], sp_input: SparseLike, axis: AxisLike,
    keepdims: bool | None, output_is_sparse: bool,
) -> Any:  # fmt: skip
    sp = as_sparse(sp_input)
    axes = host_value(axis)
    if axis is None:
        rank = sp.shape.rank
        axes = range_op(0, size_op(sp.dense_shape), 1) if rank is None else tuple(range(rank))
    function = sparsely if output_is_sparse else densely
    result = function(sp.indices, sp.values, sp.dense_shape, axes, False if keepdims is None else keepdims)
    return SparseTensor(*result) if output_is_sparse else result


def reduce_sum(
    sp_input: SparseLike, axis: AxisLike = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor:  # fmt: skip
    """Sums a sparse tensor over dimensions.

    Args:
        sp_input: a `SparseTensor`.
        axis: an int or a list of ints, the dimension or dimensions; all by default.
        keepdims: retains the reduced dimensions, with length 1.
        output_is_sparse: returns a `SparseTensor`, of the elements that entries contributed to.

    Returns:
        A tensor of the same dtype, dense unless `output_is_sparse`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [1, 1]], [2, 3], [2, 2]), 0).numpy().tolist()
        [0, 5]
    """
    return _reduce_sparse(_sum_entries, _sum_sparse, sp_input, axis, keepdims, output_is_sparse)


def reduce_max(
    sp_input: SparseLike, axis: AxisLike = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor:  # fmt: skip
    """Computes the greatest entries of a sparse tensor over dimensions; zero if there are none.

    Args:
        sp_input: a `SparseTensor`.
        axis: an int or a list of ints, the dimension or dimensions; all by default.
        keepdims: retains the reduced dimensions, with length 1.
        output_is_sparse: returns a `SparseTensor`, of the elements that entries contributed to.

    Returns:
        A tensor of the same dtype, dense unless `output_is_sparse`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.sparse.reduce_max(tf.SparseTensor([[0, 1], [1, 1]], [-2, -3], [2, 2]), 0).numpy().tolist()
        [0, -2]
    """
    return _reduce_sparse(_max_entries, _max_sparse, sp_input, axis, keepdims, output_is_sparse)


# ---- softmax ---------------------------------------------------------------------------------------------------------


@op("SparseSoftmax", host=("sp_shape",), shape=check_ranks_first(lambda at, values, _: with_rank(values, 1), 2, 1, 1))
def _sparse_softmax(sp_indices: torch.Tensor, sp_values: torch.Tensor, sp_shape: tuple[int, ...]) -> torch.Tensor:
    """Computes softmax over the entries of each row."""
    if len(sp_shape) < 2:
        raise invalid(f"Input should have rank >= 2, but received shape: {', '.join(map(str, sp_shape))}")
    present, group = _distinct_rows(_entry_groups(sp_indices, sp_shape, -1)[0])
    count = len(present)
    most = sp_values.new_zeros(count).scatter_reduce(0, group, sp_values, "amax", include_self=False)
    powers = torch.exp(sp_values - most[group])
    return powers / powers.new_zeros(count).index_add(0, group, powers)[group]


@_sparse_softmax.gradient(needs="input0 outputs")
def _(call: Call, dy: Tensor) -> Any:
    indices, y, shape = call.inputs[0], call.outputs[0], call.attrs[0]
    weighted = _sum_entries(indices, multiply(dy, y), shape, -1, True)
    centred = add_dense(indices, dy, convert(shape, int64), negative(weighted))
    return None, multiply(centred, y)


def softmax(sp_input: SparseLike, name: str | None = None) -> SparseTensor:
    """Computes softmax over the entries of each row; elements without an entry count as minus infinity.

    Args:
        sp_input: a floating `SparseTensor` of rank 2 or more.

    Returns:
        A sparse tensor with the same indices.

    Raises:
        TypeError: `sp_input` is not a sparse tensor.
        InvalidArgumentError: it has fewer than two dimensions, or is not floating.

    Example:
        >>> s = tf.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])
        >>> tf.sparse.softmax(s).values.numpy().tolist()
        [0.5, 0.5]
    """
    sp = as_sparse(sp_input)
    return sp.with_values(_sparse_softmax(sp.indices, sp.values, sp.dense_shape))


# ---- counts ----------------------------------------------------------------------------------------------------------


def _check_count(size: Tensor) -> None:
    if int(size) < 0:
        raise invalid(f"Dimension {int(size)} must be >= 0")


def to_indicator(sp_input: SparseLike, vocab_size: int, name: str | None = None) -> Tensor:
    """Returns a dense boolean tensor that is true at the ids which are the values of a sparse one.

    Args:
        sp_input: an integer `SparseTensor`: ids in its last dimension.
        vocab_size: an int, the length of the result's last dimension; ids are less.

    Returns:
        A boolean tensor of shape `[*sp_input.shape[:-1], vocab_size]`.

    Raises:
        InvalidArgumentError: an id is out of range.

    Example:
        >>> tf.sparse.to_indicator(tf.SparseTensor([[0, 0]], [2], [1, 1]), 3).numpy().tolist()
        [[False, False, True]]
    """
    sp = as_sparse(sp_input)
    ids = expand_dims(cast(sp.values, int64), 1)
    indices = concat([sp.indices[:, :-1], ids], 1)
    size = cast(vocab_size, int64)
    if state.graph is not None:
        check_or_defer(_check_count, size)
    shape = concat([sp.dense_shape[:-1], reshape_dense(size, [1])], 0)
    return greater(scatter_nd(indices, ones_like(sp.values, int32), shape), 0)


def _count_rows(
    rows: Any, values: Any, batch: Any, weights: torch.Tensor, minlength: int, maxlength: int, binary: bool
) -> Any:
    """Counts each value in each row (or in all, for no rows): indices, counts and shape. Empty weights are ones."""
    least, largest = (int(end) for end in values.aminmax()) if len(values) else (0, 0)
    if least < 0:
        raise invalid("Input values must all be non-negative")
    length = maxlength if maxlength >= 0 else max(largest + 1, minlength)
    shape = (length,) if batch is None else (batch, length)
    keys = values if batch is None else rows * length + values
    amounts = weights.reshape(-1) if weights.numel() else torch.ones_like(keys, dtype=torch.int32)
    if largest >= length:
        counted = values < length
        keys, amounts = keys[counted], amounts[counted]
    if math.prod(shape) <= 4 * len(keys):
        present = torch.nonzero(torch.bincount(keys)).squeeze(1)
        counts = amounts.new_zeros(math.prod(shape)).index_add(0, keys, amounts)[present]
    else:
        present, at = torch.unique(keys, sorted=True, return_inverse=True)
        counts = amounts.new_zeros(len(present)).index_add(0, at, amounts)
    return index_order.unflat(present, shape), torch.ones_like(counts) if binary else counts, torch.tensor(shape)


def _counted_rule(values: TensorShape, weights: TensorShape, *_: Any) -> list[TensorShape]:
    if weights.num_elements() != 0:
        values.assert_is_compatible_with(weights)
    return index_order.components(values.rank)


@op("DenseCountSparseOutput", shape=_counted_rule)
def _count_dense(
    values: torch.Tensor, weights: torch.Tensor, minlength: int = -1, maxlength: int = -1, binary_output: bool = False
) -> Any:
    """Counts each value in a vector, or in each row of a matrix."""
    rows = None
    batch = values.shape[0] if values.ndim == 2 else None
    if batch is not None:
        rows = torch.arange(batch).repeat_interleave(values.shape[1])
    if weights.numel() and weights.shape != values.shape:
        raise invalid("Weights and values must have the same shape")
    return _count_rows(rows, values.reshape(-1).long(), batch, weights, minlength, maxlength, binary_output)


@op(
    "SparseCountSparseOutput",
    host=("dense_shape",),
    shape=lambda at, values, shape, *_: index_order.components(index_order.rank_of(shape)),
)
def _count_sparse(
    indices: torch.Tensor,
    values: torch.Tensor,
    dense_shape: tuple[int, ...],
    weights: torch.Tensor,
    minlength: int = -1,
    maxlength: int = -1,
    binary_output: bool = False,
) -> Any:
    """Counts each value in a sparse vector, or in each row of a sparse matrix."""
    rows, batch = (indices[:, 0], dense_shape[0]) if len(dense_shape) == 2 else (None, None)
    return _count_rows(rows, values.long(), batch, weights, minlength, maxlength, binary_output)


@op("RaggedCountSparseOutput", shape=lambda *_: index_order.components(2))
def _count_ragged(
    splits: Tensor, values: torch.Tensor, weights: torch.Tensor, minlength: int = -1, maxlength: int = -1,
    binary_output: bool = False,
) -> Any:  # fmt: skip
    """Counts each value in each row of a ragged matrix."""
    rows = torch.arange(len(splits) - 1).repeat_interleave(splits.diff())
    return _count_rows(rows, values.long(), len(splits) - 1, weights, minlength, maxlength, binary_output)


not_differentiable(_count_dense, _count_sparse, _count_ragged)


def bincount(
    values: TensorLike,
    weights: TensorLike | None = None,
    axis: int = 0,
    minlength: int | None = None,
    maxlength: int | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Counts each integer, in a sparse tensor.

    Args:
        values: a dense, sparse or ragged tensor of non-negative integers, of rank 1 or 2.
        weights: the weight of each value, in the shape of `values`; by default 1.
        axis: 0 counts in all values, -1 in each row; 0 by default.
        minlength: an int, the least length of the result's last dimension.
        maxlength: its length; values from there on are left out.
        binary_output: returns 1 in the place of each count.

    Returns:
        A sparse vector of counts by value, or a matrix with a row for each of `values`; of the dtype of the weights,
        or int32.

    Raises:
        ValueError: another axis.
        InvalidArgumentError: a value is negative.

    Example:
        >>> tf.sparse.bincount([1, 1, 3]).values.numpy().tolist()
        [2, 1]
    """
    axis = 0 if axis is None else axis
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    options = (-1 if minlength is None else minlength, -1 if maxlength is None else maxlength, binary_output)
    items: Any = as_operand(values)
    amounts: Any = convert([], items.dtype) if weights is None else weights
    if isinstance(items, (SparseTensor, SparseTensorValue)):
        sp = as_sparse(items)
        amounts = amounts if weights is None else as_sparse(amounts).values
        if axis == -1:
            return SparseTensor(*_count_sparse(sp.indices, sp.values, sp.dense_shape, amounts, *options))
        items = sp.values
    elif hasattr(type(items), "flat_values"):  # ragged
        amounts = amounts if weights is None else amounts.flat_values
        if axis == -1:
            return SparseTensor(*_count_ragged(cast(items.row_splits, int64), items.values, amounts, *options))
        items = items.flat_values
    items, amounts = convert(items), convert(amounts)
    if axis == 0:
        items, amounts = reshape_dense(items, [-1]), reshape_dense(amounts, [-1])
    return SparseTensor(*_count_dense(items, amounts, *options))


# ---- rows of dense tensors -------------------------------------------------------------------------------------------


def _index_tensor(value: TensorLike) -> Any:
    """Returns the tensor of indices. Other integers that are no tensor, and tensors of both dtypes, become int32."""
    try:
        tensor = convert(value)
    except TypeError:
        return convert(value, hint=int32)
    return tensor if tensor.dtype in (int32, int64) or isinstance(value, Tensor) else convert(value, hint=int32)


def _combine_segments(
    combine: Callable[..., Any], title: str, data: TensorLike, indices: TensorLike, segment_ids: TensorLike,
    num_segments: TensorLike | None,
) -> Any:  # fmt: skip
    """Combines the rows of `data` at `indices` by their sorted segment.

    Args:
        combine: the reduction of segments.
        title: the name of the op in errors.
    """
    table, rows, ids = convert(data), _index_tensor(indices), _index_tensor(segment_ids)
    count = num_segments
    for name, dtype in (("segment_ids", ids.dtype), ("indices", rows.dtype)):
        if dtype not in (int32, int64):
            allowed = "not in list of allowed values: int32, int64"
            raise dtype_error(f"Value passed to parameter '{name}' has DataType {dtype.name} {allowed}")
    if isinstance(count, int) and (count + 2**31) % 2**32 < 2**31:  # in 32 bits
        raise invalid("Cannot specify a negative value for num_segments")
    if count is not None and convert(count).shape.rank:
        raise invalid(f"num_segments should be a scalar, not shape {convert(count).shape} [Op:{title}]")
    if state.graph is not None:
        ids, rows = ensure_shape(ids, [None]), ensure_shape(rows, [None])
        ids.shape.assert_is_compatible_with(rows.shape)
    elif ids.shape.rank != 1 or rows.shape.rank != 1:
        raise invalid(f"{'segment_ids' if ids.shape.rank != 1 else 'indices'} should be a vector. [Op:{title}]")

    def check(ids: Tensor, most: Tensor | None = None) -> None:
        numbers = ids._array()
        if (numbers[1:] < numbers[:-1]).any():
            raise invalid(f"segment ids are not increasing [Op:{title}]")
        if len(numbers) and numbers[0] < 0:
            raise invalid(f"Segment id {numbers[0]} out of range, possibly because it is not sorted. [Op:{title}]")
        if most is not None and len(numbers) and int(most) <= numbers[-1]:
            raise invalid(f"segment ids must be < num_segments: {numbers[-1]} >= {int(most)}")

    check_or_defer(check, *([ids] if count is None else [ids, convert(count)]))
    if count is None and state.graph is None:
        count = int(ids.numpy()[-1]) + 1 if ids.shape[0] else 0
    elif count is None:
        count = concat([convert([-1], ids.dtype), ids], 0)[-1] + 1
    result = combine(gather(table, rows), ids, count)
    if state.graph is None or table.shape.rank is None:
        return result
    return less_static(result, [None if num_segments is None else result.shape[0], *table.shape[1:]])


def segment_sum(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Sums the rows of `data` at `indices` that belong to one segment.

    Args:
        data: a tensor of rank 1 or more.
        indices: a vector of integers, the rows to sum.
        segment_ids: a vector with the segment of each of these rows, sorted.
        num_segments: a scalar, the number of segments; by default one more than the last id.
        sparse_gradient: ignored: the gradient is sparse anyway.

    Returns:
        A tensor of shape `[num_segments, *data.shape[1:]]`.

    Raises:
        InvalidArgumentError: an index is out of range, or the segments are not sorted.

    Example:
        >>> tf.sparse.segment_sum([1.0, 2.0, 4.0], indices=[0, 2], segment_ids=[0, 0]).numpy().tolist()
        [5.0]
    """
    return _combine_segments(unsorted_segment_sum, "SparseSegmentSum", data, indices, segment_ids, num_segments)


def segment_mean(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Computes the mean of the rows of `data` at `indices` that belong to one segment.

    Args:
        data: a tensor of rank 1 or more.
        indices: a vector of integers, the rows to average.
        segment_ids: a vector with the segment of each of these rows, sorted.
        num_segments: a scalar, the number of segments; by default one more than the last id.
        sparse_gradient: ignored: the gradient is sparse anyway.

    Returns:
        A tensor of shape `[num_segments, *data.shape[1:]]`.

    Raises:
        InvalidArgumentError: an index is out of range, or the segments are not sorted.

    Example:
        >>> tf.sparse.segment_mean([1.0, 2.0, 4.0], indices=[0, 2], segment_ids=[0, 0]).numpy().tolist()
        [2.5]
    """
    return _combine_segments(unsorted_segment_mean, "SparseSegmentMean", data, indices, segment_ids, num_segments)


def segment_sqrt_n(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: TensorLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Sums rows like `segment_sum`, and divides by the square root of the number of rows of each segment.

    Args:
        data: a tensor of rank 1 or more.
        indices: a vector of integers, the rows to sum.
        segment_ids: a vector with the segment of each of these rows, sorted.
        num_segments: a scalar, the number of segments; by default one more than the last id.
        sparse_gradient: ignored: the gradient is sparse anyway.

    Returns:
        A tensor of shape `[num_segments, *data.shape[1:]]`.

    Raises:
        InvalidArgumentError: an index is out of range, or the segments are not sorted.

    Example:
        >>> tf.sparse.segment_sqrt_n([1.0, 2.0], indices=[0, 0, 0, 0], segment_ids=[0, 0, 0, 0]).numpy().tolist()
        [2.0]
    """
    return _combine_segments(unsorted_segment_sqrt_n, "SparseSegmentSqrtN", data, indices, segment_ids, num_segments)


def sampled_addmm(
    indices: TensorLike,
    values: TensorLike,
    dense_shape: TensorLike,
    mat1: TensorLike,
    mat2: TensorLike,
    beta: TensorLike = 1.0,
    alpha: TensorLike = 1.0,
    output_type: DTypeLike = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes `alpha * mat1 @ mat2 + beta * sparse` at the indices of the sparse matrix.

    Args:
        indices: an integer tensor of shape `[..., n, 2]`.
        values: a tensor of shape `[..., n]`.
        dense_shape: the shape of the sparse matrix.
        mat1, mat2: of shapes `[..., m, k]` and `[..., k, p]`.
        beta, alpha: scalar factors; 1.0 by default.
        output_type: the dtype of the product; by default the dtype of `values`.

    Returns:
        The indices, the new values and the shape.

    Raises:
        ValueError: the product has another static shape than `dense_shape`.

    Example:
        >>> indices, values, shape = tf.sparse.sampled_addmm([[0, 1]], [1.0], [1, 2], [[2.0]], [[3.0, 4.0]])
        >>> values.numpy().tolist()
        [9.0]
    """
    at, old = convert(indices), convert(values)
    dtype = old.dtype if output_type is None else output_type
    product = matmul(cast(mat1, dtype), cast(mat2, dtype))
    wanted, found = static_shape(convert(dense_shape)), product.shape[-2:]
    if wanted.rank is not None and not wanted[-2:].is_compatible_with(found):
        raise ValueError(f"Dense shape: {wanted.as_list()} does not match output shape: {found.as_list()}")
    elements = gather_nd(product, at, batch_dims=len(old.shape) - 1)
    scaled = multiply(cast(convert(alpha), dtype), elements)
    new = add(scaled, multiply(cast(convert(beta), dtype), cast(old, dtype)))
    return at, new, convert(dense_shape)
