"""Sums, maxima, softmax and counts of sparse tensors, and sums of gathered rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.array.creation import ones_like
from tapeflow.array.gathering import gather, gather_nd
from tapeflow.array.joining import concat
from tapeflow.array.scattering import scatter_nd
from tapeflow.array.shaping import broadcast_to, expand_dims
from tapeflow.array.shaping import reshape as reshape_dense
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.types.dtypes import int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.checks import checked
from tapeflow.linalg import matmul
from tapeflow.math.arithmetic import add, multiply, negative
from tapeflow.math.casting import cast
from tapeflow.math.comparison import greater
from tapeflow.sparse import places
from tapeflow.sparse.dense import as_sparse, plus_dense
from tapeflow.sparse.tensor import SparseTensor, SparseTensorValue


def _reduced(axes: Any, rank: int) -> list[int]:
    """The dimensions to reduce, sorted."""
    wanted = range(rank) if axes is None else (axes,) if isinstance(axes, int) else axes
    for a in wanted:
        if not -rank <= a < rank:
            raise invalid(f"Invalid reduction dimension {a}, for input with {rank} dimensions.")
    return sorted({a % rank for a in wanted})


def _groups(indices: torch.Tensor, shape: Any, axes: Any) -> tuple[torch.Tensor, list[int], list[int]]:
    """Which element of the result each entry belongs to, the result's shape, and the shape with kept dimensions."""
    places.check(indices, shape, sorted_once=False)
    gone = _reduced(axes, len(shape))
    kept = [d for d in range(len(shape)) if d not in gone]
    out = [shape[d] for d in kept]
    return places.flat(indices[:, kept], out), out, [1 if d in gone else n for d, n in enumerate(shape)]


def _densely(reduce: str) -> Callable[..., torch.Tensor]:
    def kernel(indices: Any, values: Any, shape: Any, axes: Any, keep_dims: bool) -> torch.Tensor:
        group, out, with_ones = _groups(indices, shape, axes)
        result = values.new_zeros(math.prod(out)).scatter_reduce(0, group, values, reduce, include_self=reduce == "sum")
        return result.reshape(with_ones if keep_dims else out)

    return kernel


def _sparsely(reduce: str) -> Callable[..., Any]:
    def kernel(indices: Any, values: Any, shape: Any, axes: Any, keep_dims: bool) -> Any:
        group, out, with_ones = _groups(indices, shape, axes)
        present, at = torch.unique(group, sorted=True, return_inverse=True)
        result = values.new_zeros(len(present)).scatter_reduce(0, at, values, reduce, include_self=reduce == "sum")
        out = with_ones if keep_dims else out
        return places.unflat(present, out), result, torch.tensor(out, dtype=torch.int64)

    return kernel


_HOST = ("input_shape", "reduction_axes")


def _reduced_shape(indices: TensorShape, values: TensorShape, shape: Any, axes: Any, keep_dims: bool) -> TensorShape:
    rank = places.rank_of(shape)
    if rank is None or isinstance(axes, Tensor):
        return TensorShape(None)
    gone = _reduced(axes, rank)
    dims = shape if isinstance(shape, tuple) else [None] * rank
    return TensorShape([1 if i in gone else d for i, d in enumerate(dims) if keep_dims or i not in gone])


def _reduced_shapes(*args: Any) -> list[TensorShape]:
    return places.components(_reduced_shape(*args).rank)


@op("SparseReduceSum", kernel=_densely("sum"), host=_HOST, shape=_reduced_shape)
def _sum(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, keep_dims: bool = False,
         name: str | None = None) -> Any:  # fmt: skip
    """Sums over dimensions of a sparse tensor."""


@_sum.gradient(needs="input0")
def _(call: Call, dy: Any) -> Any:
    shape, axes, _ = call.attrs
    indices = call.inputs[0]
    gone = _reduced(axes, len(shape))
    kept = [d for d in range(len(shape)) if d not in gone]
    if not kept:
        return None, broadcast_to(reshape_dense(dy, [1]), [indices.shape[0]])
    return None, gather_nd(reshape_dense(dy, [shape[d] for d in kept]), gather(indices, kept, axis=1))


@op("SparseReduceMax", kernel=_densely("amax"), host=_HOST, shape=_reduced_shape)
def _max(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, keep_dims: bool = False,
         name: str | None = None) -> Any:  # fmt: skip
    """The greatest values over dimensions of a sparse tensor."""


@op("SparseReduceSumSparse", kernel=_sparsely("sum"), host=_HOST, shape=_reduced_shapes)
def _sum_sparse(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, keep_dims: bool = False,
                name: str | None = None) -> Any:  # fmt: skip
    """Sums over dimensions of a sparse tensor, sparse again."""


@op("SparseReduceMaxSparse", kernel=_sparsely("amax"), host=_HOST, shape=_reduced_shapes)
def _max_sparse(input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, keep_dims: bool = False,
                name: str | None = None) -> Any:  # fmt: skip
    """The greatest values over dimensions of a sparse tensor, sparse again."""


def _reduce(densely: Any, sparsely: Any, sp_input: Any, axis: Any, keepdims: Any, output_is_sparse: bool) -> Any:
    sp = as_sparse(sp_input)
    axes = tuple(range(len(sp.shape))) if axis is None else host_value(axis)
    function = sparsely if output_is_sparse else densely
    result = function(sp.indices, sp.values, sp.dense_shape, axes, bool(keepdims))
    return SparseTensor(*result) if output_is_sparse else result


def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Sums a sparse tensor over dimensions.

    Args:
        sp_input: a `SparseTensor`.
        axis: the dimension or dimensions; all by default.
        keepdims: keeps the reduced dimensions, with length 1.
        output_is_sparse: gives a `SparseTensor`, of the elements that entries contributed to.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [1, 1]], [2, 3], [2, 2]), 0).numpy().tolist()
        [0, 5]
    """
    return _reduce(_sum, _sum_sparse, sp_input, axis, keepdims, output_is_sparse)


def reduce_max(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The greatest entries of a sparse tensor over dimensions; zero where there are none. See `reduce_sum`.

    Example:
        >>> tf.sparse.reduce_max(tf.SparseTensor([[0, 1], [1, 1]], [-2, -3], [2, 2]), 0).numpy().tolist()
        [0, -2]
    """
    return _reduce(_max, _max_sparse, sp_input, axis, keepdims, output_is_sparse)


# ---- softmax ---------------------------------------------------------------------------------------------------------


def _softmax(indices: Any, values: Any, shape: Any) -> torch.Tensor:
    if len(shape) < 2:
        raise invalid(f"Input should have rank >= 2, but received shape: {', '.join(map(str, shape))}")
    group, out, _ = _groups(indices, shape, -1)
    count = math.prod(out)
    most = values.new_zeros(count).scatter_reduce(0, group, values, "amax", include_self=False)
    powers = torch.exp(values - most[group])
    return powers / powers.new_zeros(count).index_add(0, group, powers)[group]


@op("SparseSoftmax", kernel=_softmax, host=("sp_shape",), shape=lambda at, values, _: values)
def _sparse_softmax(sp_indices: Any, sp_values: Any, sp_shape: Any, name: str | None = None) -> Any:
    """Softmax over the entries of each row."""


@_sparse_softmax.gradient(needs="input0 outputs")
def _(call: Call, dy: Any) -> Any:
    indices, y, shape = call.inputs[0], call.outputs[0], call.attrs[0]
    weighted = _sum(indices, multiply(dy, y), shape, -1, True)
    centred = plus_dense(SparseTensor(indices, dy, convert(shape, int64)), negative(weighted))
    return None, multiply(centred.values, y)


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the entries of each row: those that are not given count as minus infinity.

    Args:
        sp_input: a floating `SparseTensor` of rank 2 or more.

    Example:
        >>> s = tf.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])
        >>> tf.sparse.softmax(s).values.numpy().tolist()
        [0.5, 0.5]
    """
    sp = as_sparse(sp_input)
    return sp.with_values(_sparse_softmax(sp.indices, sp.values, sp.dense_shape))


# ---- counts ----------------------------------------------------------------------------------------------------------


def to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Any:
    """A dense boolean tensor that is true at the ids which are the values of a sparse one.

    Args:
        sp_input: an integer `SparseTensor`: ids in its last dimension.
        vocab_size: the length of the result's last dimension; ids are less.

    Raises:
        InvalidArgumentError: an id is out of range.

    Example:
        >>> tf.sparse.to_indicator(tf.SparseTensor([[0, 0]], [2], [1, 1]), 3).numpy().tolist()
        [[False, False, True]]
    """
    sp = as_sparse(sp_input)
    ids = expand_dims(cast(sp.values, int64), 1)
    indices = concat([sp.indices[:, :-1], ids], 1)
    shape = concat([sp.dense_shape[:-1], reshape_dense(cast(vocab_size, int64), [1])], 0)
    return greater(scatter_nd(indices, ones_like(sp.values, int32), shape), 0)


def _counted(rows: Any, values: Any, batch: Any, weights: Any, minlength: int, maxlength: int, binary: bool) -> Any:
    """How often each value occurs in each row (or in all, for no rows): indices, counts and shape."""
    if len(values) and int(values.min()) < 0:
        raise invalid("Input values must all be non-negative")
    kept = values < maxlength if maxlength >= 0 else values >= 0
    length = int(values[kept].max()) + 1 if bool(kept.any()) else 0
    length = max(length, minlength) if maxlength < 0 else max(min(length, maxlength), minlength)
    shape = (length,) if batch is None else (batch, length)
    keys = values[kept] if batch is None else rows[kept] * length + values[kept]
    present, at = torch.unique(keys, sorted=True, return_inverse=True)
    amounts = torch.ones_like(keys, dtype=torch.int32) if weights is None else weights[kept]
    counts = amounts.new_zeros(len(present)).index_add(0, at, amounts)
    return places.unflat(present, shape), torch.ones_like(counts) if binary else counts, torch.tensor(shape)


def _optional(weights: torch.Tensor) -> Any:
    return weights if weights.numel() else None


def _dense_counts(values: Any, weights: Any, minlength: int, maxlength: int, binary: bool) -> Any:
    rows = None
    batch = values.shape[0] if values.ndim == 2 else None
    if batch is not None:
        rows = torch.arange(batch).repeat_interleave(values.shape[1])
    weights = _optional(weights)
    if weights is not None and weights.shape != values.shape:
        raise invalid("Weights and values must have the same shape")
    flat_weights = None if weights is None else weights.reshape(-1)
    if flat_weights is None:
        flat_weights = torch.ones(values.numel(), dtype=torch.int32)
    return _counted(rows, values.reshape(-1).long(), batch, flat_weights, minlength, maxlength, binary)


@op("DenseCountSparseOutput", kernel=_dense_counts, shape=lambda values, *_: places.components(values.rank))
def _count_dense(values: Any, weights: Any, minlength: int = -1, maxlength: int = -1, binary_output: bool = False,
                 name: str | None = None) -> Any:  # fmt: skip
    """How often each value occurs in a vector, or in each row of a matrix."""


def _sparse_counts(
    indices: Any, values: Any, shape: Any, weights: Any, minlength: int, maxlength: int, binary: bool
) -> Any:
    rows, batch = (indices[:, 0], shape[0]) if len(shape) == 2 else (None, None)
    weights = _optional(weights)
    weights = torch.ones(len(values), dtype=torch.int32) if weights is None else weights
    return _counted(rows, values.long(), batch, weights, minlength, maxlength, binary)


@op("SparseCountSparseOutput", kernel=_sparse_counts, host=("dense_shape",),
    shape=lambda at, values, shape, *_: places.components(places.rank_of(shape)))  # fmt: skip
def _count_sparse(indices: Any, values: Any, dense_shape: Any, weights: Any, minlength: int = -1, maxlength: int = -1,
                  binary_output: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """How often each value occurs in a sparse vector, or in each row of a sparse matrix."""


def _ragged_counts(splits: Any, values: Any, weights: Any, minlength: int, maxlength: int, binary: bool) -> Any:
    rows = torch.arange(len(splits) - 1).repeat_interleave(splits.diff())
    weights = _optional(weights)
    weights = torch.ones(len(values), dtype=torch.int32) if weights is None else weights
    return _counted(rows, values.long(), len(splits) - 1, weights, minlength, maxlength, binary)


@op("RaggedCountSparseOutput", kernel=_ragged_counts, shape=lambda *_: places.components(2))
def _count_ragged(splits: Any, values: Any, weights: Any, minlength: int = -1, maxlength: int = -1,
                  binary_output: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """How often each value occurs in each row of a ragged matrix."""


not_differentiable(_count_dense, _count_sparse, _count_ragged)


def bincount(
    values: Any,
    weights: Any = None,
    axis: int = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each integer occurs, as a sparse tensor.

    Args:
        values: a dense, sparse or ragged tensor of non-negative integers, of rank 1 or 2.
        weights: what each value counts, in the shape of `values`; by default one.
        axis: 0 counts all values together, -1 counts in each row.
        minlength: the least length of the result's last dimension.
        maxlength: values from there on are left out.
        binary_output: gives one in the place of the count.

    Raises:
        ValueError: another axis.
        InvalidArgumentError: a value is negative.

    Example:
        >>> tf.sparse.bincount([1, 1, 3]).values.numpy().tolist()
        [2, 1]
    """
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    least = -1 if minlength is None else int(minlength)
    most = -1 if maxlength is None else int(maxlength)
    if isinstance(values, (SparseTensor, SparseTensorValue)):
        sp = as_sparse(values)
        amounts = convert([], int32) if weights is None else as_sparse(weights).values
        if axis == -1:
            return SparseTensor(
                *_count_sparse(sp.indices, sp.values, sp.dense_shape, amounts, least, most, binary_output)
            )
        values, weights = sp.values, None if weights is None else amounts
    elif hasattr(type(values), "flat_values"):  # ragged
        amounts = convert([], int32) if weights is None else weights.flat_values
        if axis == -1:
            splits = cast(values.row_splits, int64)
            return SparseTensor(*_count_ragged(splits, values.values, amounts, least, most, binary_output))
        values, weights = values.flat_values, None if weights is None else amounts
    values = convert(values)
    amounts = convert([], int32) if weights is None else convert(weights)
    if axis == 0:
        values = reshape_dense(values, [-1])
        amounts = reshape_dense(amounts, [-1])
    return SparseTensor(*_count_dense(values, amounts, least, most, binary_output))


# ---- rows of dense tensors -------------------------------------------------------------------------------------------


def _segments(how: str, data: Any, indices: Any, segment_ids: Any, num_segments: Any) -> Any:
    """Rows of `data` at `indices`, combined by their sorted segment."""
    from tapeflow import math

    ids = convert(segment_ids)
    count = num_segments

    def check(ids: Any, most: Any = None) -> None:
        numbers = ids._numpy()
        if (numbers[1:] < numbers[:-1]).any():
            raise invalid(f"segment ids are not increasing [Op:SparseSegment{how}]")
        if most is not None and len(numbers) and int(most) <= numbers[-1]:
            raise invalid(f"segment ids must be < num_segments: {numbers[-1]} >= {int(most)}")

    checked(check, *([ids] if count is None else [ids, convert(count)]))
    if count is None:
        count = concat([convert([-1], ids.dtype), ids], 0)[-1] + 1
    function: Any = {
        "Sum": math.unsorted_segment_sum,
        "Mean": math.unsorted_segment_mean,
        "SqrtN": math.unsorted_segment_sqrt_n,
    }[how]
    return function(gather(data, indices), ids, count)


def segment_sum(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """Sums the rows of `data` at `indices` that belong to one segment.

    Args:
        data: of rank 1 or more.
        indices: which rows.
        segment_ids: the segment of each of them, sorted.
        num_segments: how many segments there are; by default as many as the last id says.
        sparse_gradient: means nothing here: the gradient is sparse anyway.

    Raises:
        InvalidArgumentError: an index is out of range, or the segments are not sorted.

    Example:
        >>> tf.sparse.segment_sum([1.0, 2.0, 4.0], indices=[0, 2], segment_ids=[0, 0]).numpy().tolist()
        [5.0]
    """
    return _segments("Sum", data, indices, segment_ids, num_segments)


def segment_mean(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """The mean of the rows of `data` at `indices` that belong to one segment. See `segment_sum`.

    Example:
        >>> tf.sparse.segment_mean([1.0, 2.0, 4.0], indices=[0, 2], segment_ids=[0, 0]).numpy().tolist()
        [2.5]
    """
    return _segments("Mean", data, indices, segment_ids, num_segments)


def segment_sqrt_n(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """Sums like `segment_sum`, divided by the square root of the number of rows of each segment.

    Example:
        >>> tf.sparse.segment_sqrt_n([1.0, 2.0], indices=[0, 0, 0, 0], segment_ids=[0, 0, 0, 0]).numpy().tolist()
        [2.0]
    """
    return _segments("SqrtN", data, indices, segment_ids, num_segments)


def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = None,
) -> tuple[Any, Any, Any]:
    """The elements of a product of matrices in the places of a sparse matrix: `alpha * mat1 @ mat2 + beta * sparse`.

    Args:
        indices: integers of shape `[..., n, 2]`.
        values: of shape `[..., n]`.
        dense_shape: the shape of the sparse matrix.
        mat1, mat2: of shapes `[..., m, k]` and `[..., k, p]`.
        beta, alpha: factors.
        output_type: the dtype of the product; by default that of `values`.

    Returns:
        The indices, the new values and the shape.

    Example:
        >>> indices, values, shape = tf.sparse.sampled_addmm([[0, 1]], [1.0], [1, 2], [[2.0]], [[3.0, 4.0]])
        >>> values.numpy().tolist()
        [9.0]
    """
    indices, values = convert(indices), convert(values)
    dtype = values.dtype if output_type is None else output_type
    product = matmul(cast(mat1, dtype), cast(mat2, dtype))
    taken = gather_nd(product, indices, batch_dims=len(values.shape) - 1)
    scaled = multiply(cast(convert(alpha), dtype), taken)
    result = add(scaled, multiply(cast(convert(beta), dtype), cast(values, dtype)))
    return indices, result, convert(dense_shape)
