"""Reordering, reshaping, joining, slicing and filling of sparse tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat as concat_dense
from tapeflow.array.concat_and_split import stack
from tapeflow.array.creation import ones, zeros_like
from tapeflow.array.creation import range as range_op
from tapeflow.array.gathers import gather
from tapeflow.array.identities import less_static
from tapeflow.array.legacy_ops import list_diff
from tapeflow.array.masks import boolean_mask, where
from tapeflow.array.properties import shape as shape_op
from tapeflow.array.properties import size as size_dense
from tapeflow.array.reshapes import expand_dims as expand_dims_dense
from tapeflow.array.reshapes import reshape as reshape_dense
from tapeflow.array.slicing import slice as slice_dense
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.attr_values import attr_value
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import check_ranks_first, check_sizes, check_sparse, text, with_rank
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.aliases import AxisLike, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, bool_, float32, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, dtype_error, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.math.arithmetic import multiply, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal
from tapeflow.math.extrema import minimum
from tapeflow.math.reduction import reduce_max, reduce_sum
from tapeflow.sparse import index_order
from tapeflow.sparse.dense import as_sparse
from tapeflow.sparse.elementwise_merge import sparse_add_grad
from tapeflow.sparse.tensor import SparseLike, SparseTensor


def _shape_tensor(shape: Sequence[Any]) -> Any:
    """Converts a shape to an int64 tensor; in a graph dimensions may be symbolic."""
    return convert([cast(d, int64) if isinstance(d, Tensor) else d for d in shape], int64)


def _sparse_dims(sp: SparseTensor) -> list[Any]:
    """Returns the dimensions of a sparse tensor: ints, and scalar tensors for those that are not static."""
    return [sp.dense_shape[i] if d is None else d for i, d in enumerate(sp.shape)]


# ---- order -----------------------------------------------------------------------------------------------------------


@op(
    "SparseReorder",
    host=("input_shape",),
    moves=True,
    shape=check_ranks_first(lambda at, values, _: [with_rank(at, 2), with_rank(values, 1)], 2, 1, 1),
)
def _sparse_reorder(
    input_indices: torch.Tensor, input_values: torch.Tensor, input_shape: tuple[int, ...]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sorts the entries by their indices, those outside of the shape among them."""
    if input_indices.ndim != 2 or input_values.shape != input_indices.shape[:1]:
        raise invalid(
            f"Sparse indices must be a matrix and values a vector of as many rows, got {list(input_indices.shape)} and "
            f"{list(input_values.shape)}"
        )
    if len(input_shape) != input_indices.shape[1]:
        raise invalid(f"Index rank ({input_indices.shape[1]}) and shape rank ({len(input_shape)}) do not match")
    at = index_order.order(input_indices, input_shape)
    return input_indices[at], input_values[at]


@_sparse_reorder.gradient(needs="input0")
def _(call: Call, d_indices: Tensor, d_values: Tensor) -> Any:
    indices = call.inputs[0]
    order = _sparse_reorder(indices, range_op(shape_op(indices)[0]), call.attrs[0])[1]
    return None, gather(d_values, ops.InvertPermutation(order))


def reorder(sp_input: SparseLike, name: str | None = None) -> SparseTensor:
    """Sorts the entries of a sparse tensor in row-major order.

    Args:
        sp_input: a `SparseTensor`.

    Returns:
        The sparse tensor with sorted indices.

    Raises:
        TypeError: `sp_input` is no `SparseTensor`.

    Example:
        >>> tf.sparse.reorder(tf.SparseTensor([[1], [0]], [5, 7], [2])).values.numpy().tolist()
        [7, 5]
    """
    sp = as_sparse(sp_input)
    indices, values = _sparse_reorder(sp.indices, sp.values, sp.dense_shape)
    return SparseTensor(indices, values, sp.dense_shape)


def transpose(sp_input: SparseLike, perm: AxisLike = None, name: str | None = None) -> SparseTensor:
    """Permutes the dimensions of a sparse tensor.

    Args:
        sp_input: a `SparseTensor`.
        perm: a permutation of the dimensions: dimension `i` of the result is dimension `perm[i]` of `sp_input`. By
            default, the dimensions are reversed.

    Returns:
        A sparse tensor with sorted indices.

    Raises:
        ValueError: there are more or fewer dimensions in `perm`.

    Example:
        >>> tf.sparse.transpose(tf.SparseTensor([[0, 2]], [5], [2, 3])).indices.numpy().tolist()
        [[2, 0]]
    """
    sp = as_sparse(sp_input)
    axes = convert(range_op(shape_op(sp.dense_shape)[0])[::-1] if perm is None else perm)
    indices = gather(sp.indices, axes, axis=1)
    count, rank = axes.shape[0], sp.shape.rank
    order = value_of(axes) if isinstance(axes, SymbolicTensor) else axes.numpy()
    if order is None or not sp.shape.is_fully_defined():
        return reorder(SparseTensor(indices, sp.values, gather(sp.dense_shape, axes)))
    if count not in (rank, None):
        raise ValueError(f"Dimensions {count} and {rank} are not compatible")
    turned = reorder(SparseTensor(indices, sp.values, gather(sp.dense_shape, axes)))
    turned.set_shape([sp.shape[a] for a in order.tolist()])
    return turned


# ---- shape -----------------------------------------------------------------------------------------------------------


def _new_shape(shape: Sequence[int], new: tuple[int, ...] | int) -> tuple[int, ...]:
    """Returns the new shape, with its -1 replaced."""
    dims = list(new if isinstance(new, tuple) else (new,))
    inferred = [i for i, d in enumerate(dims) if d == -1]
    if len(inferred) > 1:
        raise invalid(f"only one output dimension may be -1, not both {inferred[0]} and {inferred[1]}")
    count, others = math.prod(shape), math.prod(d for d in dims if d != -1)
    if inferred and others and count % others == 0:
        dims[inferred[0]] = count // others
    elif inferred:
        raise invalid(
            f"Input to reshape is a SparseTensor with {count} dense values, but the requested shape requires a "
            f"multiple of {others}. input_shape={text(shape)} output_shape={text(dims)}"
        )
    if math.prod(dims) != count:
        raise invalid(
            f"Input to reshape is a tensor with {count} dense values, but the requested shape has {math.prod(dims)}. "
            f"input_shape={text(shape)} output_shape={text(dims)}"
        )
    return tuple(dims)


@op(
    "SparseReshape",
    host=("input_shape", "new_shape"),
    shape=check_ranks_first(
        lambda at, old, new: index_order.components(index_order.rank_of(new), at[0] if at.rank else None)[::2], 2, 1, 1
    ),
)
def _sparse_reshape(
    input_indices: torch.Tensor, input_shape: tuple[int, ...], new_shape: tuple[int, ...] | int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the indices of the entries in another shape."""
    check_sizes(input_shape)
    dims = _new_shape(input_shape, new_shape)
    return index_order.unflat(index_order.flat(input_indices, input_shape), dims), torch.tensor(dims, dtype=torch.int64)


not_differentiable(_sparse_reshape)


def reshape(sp_input: SparseLike, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """Reshapes a sparse tensor; its elements stay in the same order.

    Args:
        sp_input: a `SparseTensor`.
        shape: the new shape; one dimension may be -1.

    Returns:
        A sparse tensor with the same values.

    Raises:
        InvalidArgumentError: the number of elements differs.

    Example:
        >>> tf.sparse.reshape(tf.SparseTensor([[1, 0]], [5], [2, 3]), [-1]).indices.numpy().tolist()
        [[3]]
    """
    sp = as_sparse(sp_input)
    new = cast(convert(shape), int64)
    static = value_of(new) if state.graph is not None and isinstance(new, SymbolicTensor) else None
    dims = None
    if static is not None and sp.shape.is_fully_defined():
        dims = _new_shape(sp.shape.as_list(), tuple(static.tolist()))  # fails while the graph is built
    indices, new_shape = _sparse_reshape(sp.indices, sp.dense_shape, new)
    reshaped = SparseTensor(indices, sp.values, new_shape)
    if dims is not None:
        reshaped.set_shape(dims)
    return reshaped


def expand_dims(sp_input: SparseLike, axis: int | None = None, name: str | None = None) -> SparseTensor:
    """Inserts a dimension of length 1.

    Args:
        sp_input: a `SparseTensor`.
        axis: an int, the position of the new dimension; by default the last.

    Returns:
        A sparse tensor with the same values, of one rank more.

    Raises:
        InvalidArgumentError: there is no such position.

    Example:
        >>> tf.sparse.expand_dims(tf.SparseTensor([[1]], [5], [3]), 0).shape
        TensorShape([1, 3])
    """
    sp = as_sparse(sp_input)
    if axis is not None and not _is_integer(axis):
        raise TypeError("axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]")
    at: Any = -1 if axis is None else axis
    if sp.shape.rank is None or isinstance(at, SymbolicTensor):
        whole, at = sp.dense_shape, cast(at, int32)
        place = reshape_dense(where(at >= 0, at, at + size_dense(whole) + 1), [1])
        before, behind = (slice_dense(whole, *part) for part in (([0], place), (place, [-1])))
        return reshape(sp, concat_dense([before, convert([1], int64), behind], 0))
    dims, at = _sparse_dims(sp), int(at)
    rank = len(dims)
    if not -rank - 1 <= at <= rank:
        raise invalid(f"axis = {at} is not in [{-rank - 1}, {rank}], the places in a tensor of {rank} dimensions")
    at %= rank + 1
    before, behind = sp.indices[:, :at], sp.indices[:, at:]
    indices = concat_dense([before, multiply(sp.indices[:, :1], 0), behind], 1)
    return SparseTensor(indices, sp.values, _shape_tensor([*dims[:at], 1, *dims[at:]]))


def reset_shape(sp_input: SparseLike, new_shape: ShapeLike = None) -> SparseTensor:
    """Returns the entries of a sparse tensor in another shape.

    Args:
        sp_input: a `SparseTensor`.
        new_shape: no smaller in any dimension; by default the least that holds all entries.

    Returns:
        A sparse tensor with the same indices and values.

    Raises:
        ValueError: it is smaller, or of another rank.

    Example:
        >>> tf.sparse.reset_shape(tf.SparseTensor([[1]], [5], [9])).shape
        TensorShape([2])
    """
    sp = as_sparse(sp_input)
    if new_shape is None:
        none = zeros_like(expand_dims_dense(sp.dense_shape, 0))
        return SparseTensor(sp.indices, sp.values, reduce_max(concat_dense([none, sp.indices + 1], 0), 0))
    shape = cast(convert(new_shape), int64)
    sp.dense_shape.shape.assert_is_compatible_with(shape.shape)
    static = sp.shape.is_fully_defined() and (not isinstance(shape, SymbolicTensor) or value_of(shape) is not None)
    error: Any = ValueError if static else InvalidArgumentError.of

    def check(old: Tensor, new: Tensor) -> None:
        if new._array().shape != old._array().shape:
            raise error(f"new_shape has another rank than sp_input: {new._array().tolist()}")
        if (new._array() < old._array()).any():
            raise error(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                f"({new._array().tolist()}), sp_input.shape ({old._array().tolist()})."
            )

    check_or_defer(check, sp.dense_shape, shape)
    return SparseTensor(sp.indices, sp.values, shape)


# ---- joining and slicing ---------------------------------------------------------------------------------------------


def _axis_step(rank: int, axis: int, by: int, like: torch.Tensor) -> torch.Tensor:
    return torch.tensor([by if d == axis else 0 for d in range(rank)], dtype=torch.int64, device=like.device)


def _total_count(counts: Sequence[int | None]) -> int | None:
    """Returns the sum of counts, or None if one is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


@op(
    "SparseConcat",
    host=("shapes",),
    moves=True,
    shape=lambda at, values, shapes, _: index_order.components(
        at[0].rank and at[0][1], _total_count([v.rank and v[0] for v in values])
    ),
)
def _sparse_concat(indices: list[Any], values: list[Any], shapes: Any, concat_dim: int) -> Any:
    """Joins sparse tensors along a dimension."""
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis, start, moved = concat_dim % rank, 0, []
    for i, (index, shape) in enumerate(zip(indices, shapes, strict=True)):
        for d, (m, n) in enumerate(zip(shapes[0], shape, strict=True)):
            if d != axis and m != n:
                raise invalid(f"Input shapes must match: expected {m} for dimension {d} but got {n} at position {i}")
        moved.append(index + _axis_step(rank, axis, start, index))
        start += shape[axis]
    joined = torch.cat(moved)
    shape = [start if d == axis else n for d, n in enumerate(shapes[0])]
    at = index_order.order(joined, shape)
    return joined[at], torch.cat(values)[at], torch.tensor(shape, dtype=torch.int64)


@_sparse_concat.gradient(needs="inputs outputs")
def _(call: Call, d_indices: Tensor, d_values: Tensor, d_shape: Tensor) -> Any:
    shapes, axis = call.attrs
    d_inputs: list[Any] = []
    start, rank = 0, len(shapes[0])
    for index, shape in zip(call.inputs, shapes, strict=False):  # the indices come first among the inputs
        moved = index + _shape_tensor([start if d == axis % rank else 0 for d in range(rank)])
        d_inputs.append(sparse_add_grad(d_values, moved, moved, call.outputs[0])[0])
        start += shape[axis]
    return [None] * len(shapes) + d_inputs


def concat(
    axis: int, sp_inputs: Sequence[SparseLike], expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Joins sparse tensors along a dimension.

    Args:
        axis: an int, the dimension.
        sp_inputs: a list of `SparseTensor`s, equal in all other dimensions.
        expand_nonconcat_dims: extends smaller ones to the largest size in the other dimensions.

    Returns:
        A sparse tensor with sorted indices.

    Raises:
        TypeError: `sp_inputs` is no list.
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> a = tf.SparseTensor([[0]], [5], [2])
        >>> tf.sparse.concat(0, [a, a]).indices.numpy().tolist()
        [[0], [2]]
    """
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    parts = [as_sparse(p) for p in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    axis = attr_value(_sparse_concat.op, _sparse_concat.op.opdef.attrs["concat_dim"], axis)
    if not parts:
        raise invalid("sparse.concat needs at least one SparseTensor [Op:SparseConcat]")
    shapes: list[Any] = [p.dense_shape for p in parts]
    if expand_nonconcat_dims:
        largest = reduce_max(stack(shapes), 0)
        along = _axis_flags(parts[0], axis)
        shapes = [where(along, s, largest) for s in shapes]
    joined = SparseTensor(*_sparse_concat([p.indices for p in parts], [p.values for p in parts], shapes, axis))
    if state.graph is not None:
        joined.set_shape(_concat_shape([p.shape for p in parts], axis, expand_nonconcat_dims))
    return joined


def _concat_shape(shapes: Sequence[TensorShape], axis: int, expands: bool) -> TensorShape:
    """Infers the static shape of tensors of these shapes, joined along a dimension."""
    if any(shape.rank != shapes[0].rank for shape in shapes) or not shapes[0].rank:
        return TensorShape(None)
    columns = list(zip(*[shape.as_list() for shape in shapes], strict=True))
    dims = [None if None in column else max(column) for column in columns] if expands else shapes[0].as_list()
    dims[axis] = None if None in columns[axis] else sum(columns[axis])
    return TensorShape(dims)


def _axis_flags(sp: SparseTensor, axis: int) -> Any:
    """Returns a vector of bools with an element per dimension. Only the element of `axis` is True."""
    rank = sp.shape.rank
    if rank is not None:
        return convert([d == axis % rank for d in range(rank)])
    count = size_dense(sp.dense_shape)
    return equal(range_op(count), axis if axis >= 0 else count + axis)


def _check_dim(axis: object) -> None:
    """Raises TensorFlow's error for a tensor that is no int64 one, in the place of a dimension."""
    if isinstance(axis, Tensor) and axis.dtype is not int64:
        wrong = f"was expected to be a int64 tensor but is a {axis.dtype.name} tensor"
        raise dtype_error(f"cannot compute SparseSplit as input #0(zero-based) {wrong} [Op:SparseSplit]")


def split(
    sp_input: SparseLike | None = None, num_split: int | None = None, axis: int | None = None, name: str | None = None
) -> list[SparseTensor]:
    """Splits a sparse tensor into parts along a dimension. If they can't be equal, the first ones are longer by one.

    Args:
        sp_input: a `SparseTensor`.
        num_split: an int, the number of parts.
        axis: an int, the dimension.

    Returns:
        A list of sparse tensors.

    Raises:
        ValueError: `num_split` or `axis` is missing.
        InvalidArgumentError: there is no such dimension, or it is shorter than `num_split`.

    Example:
        >>> [p.shape.as_list() for p in tf.sparse.split(tf.SparseTensor([[0]], [5], [5]), 2, 0)]
        [[3], [2]]
    """
    if num_split is None or axis is None:
        raise ValueError("num_split and axis are required")
    sp = as_sparse(sp_input)
    if state.graph is not None:
        _check_dim(axis)
    components = 3 * num_split
    if not -(2**31) <= components < 2**31:
        raise ValueError(f"Number of outputs is too big: {components}")
    if state.graph is not None and num_split < 1:
        raise ValueError(f"Attr 'num_split' of 'SparseSplit' Op passed {num_split} less than minimum 1.")
    _check_dim(axis)
    rank, dim = sp.shape.rank, convert(int(axis) if isinstance(axis, bool) else axis, int64)
    if num_split < 1 or dim.shape.rank:
        wrong = "num_split should be positive" if num_split < 1 else "axis should be a scalar"
        raise InvalidArgumentError.of(f"Input {wrong} [Op:SparseSplit]")
    axis = int(dim)
    if rank is not None and not -rank <= axis < rank:
        raise InvalidArgumentError.of(f"Input axis should be in range [{-rank}, {rank}), got {axis} [Op:SparseSplit]")

    def check(length: Tensor) -> None:
        if not 1 <= num_split <= int(length):
            raise invalid(
                f"Input num_split should be between 1 and the splitting dimension size ({int(length)}), got "
                f"{num_split} [Op:SparseSplit]"
            )

    def check_places(indices: Tensor, shape: Tensor) -> None:
        index_order.check(indices.value, shape.numpy().tolist(), sorted_once=False)

    check_or_defer(check, sp.dense_shape[axis])
    check_or_defer(check_places, sp.indices, sp.dense_shape)
    if rank is None:
        return _split_unranked(sp, num_split, axis)
    dims = _sparse_dims(sp)
    axis %= rank
    each, longer = dims[axis] // num_split, dims[axis] % num_split
    parts, start = [], 0
    for i in range(num_split):
        length = each + (int(i < longer) if isinstance(longer, int) else cast(i < longer, int64))
        begin = [start if d == axis else 0 for d in range(rank)]
        end = [length if d == axis else n for d, n in enumerate(dims)]
        parts.append(slice(sp, _shape_tensor(begin), _shape_tensor(end)))
        start = start + length
    return parts


def _split_unranked(sp: SparseTensor, num_split: int, axis: int) -> list[SparseTensor]:
    """Computes `split` of a tensor whose rank is not static."""
    dims, along = sp.dense_shape, _axis_flags(sp, axis)
    each, longer = dims[axis] // num_split, dims[axis] % num_split
    starts = [each * i + minimum(longer, i) for i in range(num_split + 1)]
    none = zeros_like(dims)
    return [
        slice(sp, where(along, start, none), where(along, end - start, dims))
        for start, end in itertools.pairwise(starts)
    ]


@op(
    "SparseSlice",
    host=("shape", "start", "size"),
    moves=True,
    shape=lambda at, values, shape, start, size: index_order.components(index_order.rank_of(shape)),
)
def _sparse_slice(
    indices: torch.Tensor, values: torch.Tensor, shape: tuple[int, ...], start: tuple[int, ...], size: tuple[int, ...]
) -> Any:
    """Returns the entries inside of a box."""
    check_sizes(shape)
    rank = len(shape)
    for name, vector in (("start", start), ("size", size)):
        if not isinstance(vector, tuple) or len(vector) != rank:
            got = len(vector) if isinstance(vector, tuple) else 0
            raise invalid(f"Expected {name} to be a vector of length {rank} but got length {got}")
    if min(size, default=0) < 0:
        raise invalid(f"Expected a non-negative size, got {min(size)}")
    end = [min(b + n, m) for b, n, m in zip(start, size, shape, strict=True)]
    kept, moved = index_order.rows_in_box(indices, start, end)
    new = [max(min(n, m - b), 0) if b >= 0 else n for m, b, n in zip(shape, start, size, strict=True)]
    return moved, values[kept], torch.tensor(new, dtype=torch.int64)


@_sparse_slice.gradient(needs="input0 outputs")
def _(call: Call, d_indices: Tensor, d_values: Tensor, d_shape: Tensor) -> Any:
    indices = call.inputs[0]
    moved = call.outputs[0] + _shape_tensor(call.attrs[1])
    return None, sparse_add_grad(d_values, indices, indices, moved)[0]


def slice(sp_input: SparseLike, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """Returns a part of a sparse tensor.

    Args:
        sp_input: a `SparseTensor`.
        start: the index in each dimension where the part begins.
        size: the length in each dimension, which the end of the tensor limits.

    Returns:
        A sparse tensor with the entries in that part.

    Raises:
        InvalidArgumentError: `start` or `size` is not of length rank.

    Example:
        >>> tf.sparse.slice(tf.SparseTensor([[0], [2]], [5, 7], [4]), [1], [9]).indices.numpy().tolist()
        [[1]]
    """
    sp = as_sparse(sp_input)
    starts, sizes = convert(start, int64), convert(size, int64)
    return SparseTensor(*_sparse_slice(sp.indices, sp.values, sp.dense_shape, starts, sizes))


def retain(sp_input: SparseLike, to_retain: TensorLike) -> SparseTensor:
    """Returns the entries selected by a mask.

    Args:
        sp_input: a `SparseTensor`.
        to_retain: a vector with a boolean for each entry.

    Returns:
        A sparse tensor of the same shape.

    Raises:
        ValueError: there are more or fewer booleans than entries, or they are no vector.

    Example:
        >>> tf.sparse.retain(tf.SparseTensor([[0], [2]], [5, 7], [4]), [False, True]).values.numpy().tolist()
        [7]
    """
    sp = as_sparse(sp_input)
    mask = cast(to_retain, bool_)
    mask = reshape_dense(mask, [-1]) if mask.shape.rank is None else mask
    mask.shape.assert_has_rank(1)
    if None not in (mask.shape[0], sp.values.shape[0]) and mask.shape[0] != sp.values.shape[0]:
        raise ValueError(f"Dimensions {sp.values.shape[0]} and {mask.shape[0]} are not compatible")
    return SparseTensor(boolean_mask(sp.indices, mask), boolean_mask(sp.values, mask), sp.dense_shape)


def mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Returns `IndexedSlices` without the rows at `mask_indices`.

    Args:
        a: the slices.
        mask_indices: a vector of integers: the indices to leave out.

    Returns:
        The other slices.

    Raises:
        InvalidArgumentError: `mask_indices` is not a vector.
        AttributeError: `a` is not `IndexedSlices`.

    Example:
        >>> s = tf.IndexedSlices(tf.constant([[1], [2]]), tf.constant([4, 7]))
        >>> tf.sparse.mask(s, [4]).indices.numpy().tolist()
        [7]
    """
    indices = convert(a.indices)
    others, at = list_diff(indices, convert(mask_indices, indices.dtype))
    return IndexedSlices(gather(a.values, at), others, a.dense_shape)


# ---- new entries -----------------------------------------------------------------------------------------------------


def _filled_shapes(indices: TensorShape, values: TensorShape, shape: Any, default: TensorShape) -> list[TensorShape]:
    check_sparse(indices, values, shape)
    with_rank(default, 0)
    if with_rank(shape, 1)[0] == 0:
        raise invalid("Dense shape cannot be empty.")
    rows = shape[0] if isinstance(shape, tuple) else None
    entries = with_rank(indices, 2)[:1].merge_with(with_rank(values, 1))
    return [*index_order.components(index_order.rank_of(shape))[:2], TensorShape([rows]), entries]


@op("SparseFillEmptyRows", host=("dense_shape",), moves=True, shape=_filled_shapes)
def _fill_empty_rows(
    indices: torch.Tensor, values: torch.Tensor, dense_shape: tuple[int, ...], default_value: torch.Tensor
) -> Any:
    """Adds an entry for each empty row."""
    if not len(dense_shape):
        raise invalid("Dense shape cannot be empty.")
    if default_value.ndim:
        raise invalid(f"Default value must be a scalar, saw: {text(default_value.shape)}")
    rows = indices[:, 0]
    if not index_order.are_inside(indices[:, :1], dense_shape[:1]):
        i = int(((rows < 0) | (rows >= dense_shape[0])).nonzero()[0])
        raise invalid(f"indices({i}, 0) is invalid: {int(rows[i])} >= {dense_shape[0]}")
    empty = torch.bincount(rows, minlength=dense_shape[0]) == 0
    missing = empty.nonzero()[:, 0]
    if not len(missing) and bool((rows[1:] >= rows[:-1]).all()):
        return indices, values, empty, torch.arange(len(rows), device=rows.device)
    new = indices.new_zeros((len(missing), indices.shape[1]))
    new[:, 0] = missing
    joined = torch.cat([indices, new])
    at = torch.argsort(joined[:, 0], stable=True)
    position = torch.empty_like(at)
    position[at] = torch.arange(len(at), device=at.device)
    return joined[at], torch.cat([values, default_value.expand(len(new))])[at], empty, position[: len(indices)]


@_fill_empty_rows.gradient(needs="outputs")
def _(call: Call, d_indices: Tensor, d_values: Tensor, d_empty: Tensor, d_map: Tensor) -> Any:
    d_old = gather(d_values, call.outputs[3])
    return None, d_old, subtract(reduce_sum(d_values), reduce_sum(d_old))


def fill_empty_rows(
    sp_input: SparseLike, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Adds an entry in the first column of every row without one.

    Args:
        sp_input: a `SparseTensor`.
        default_value: a scalar, the value of the new entries.

    Returns:
        The sparse tensor, and a boolean vector that is true for the rows that were empty.

    Raises:
        TypeError: `sp_input` is not a sparse tensor, or `default_value` not of its dtype.

    Example:
        >>> filled, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[1, 1]], [5], [2, 2]), 0)
        >>> filled.indices.numpy().tolist(), empty.numpy().tolist()
        ([[0, 0], [1, 1]], [True, False])
    """
    sp = as_sparse(sp_input)
    default = convert(default_value, sp.dtype)
    indices, values, empty, _ = _fill_empty_rows(sp.indices, sp.values, sp.dense_shape, default)
    return SparseTensor(indices, values, sp.dense_shape), empty


def _length_tensor(number: TensorLike, name: str) -> Tensor:
    """Returns the number of rows or columns as a tensor.

    Raises:
        TypeError: it is no integer.
    """
    if not _is_integer(number):
        raise TypeError(f"{name} must be an integer value")
    return cast(number, int64)


def _is_integer(value: object) -> bool:
    return value.dtype.is_integer if isinstance(value, Tensor) else isinstance(value, (int, np.integer))


def eye(
    num_rows: int, num_columns: int | None = None, dtype: DTypeLike = float32, name: str | None = None
) -> SparseTensor:
    """Returns a sparse matrix with ones on the diagonal.

    Args:
        num_rows: an int, the number of rows.
        num_columns: an int, the number of columns; `num_rows` by default.
        dtype: the dtype of the values; float32 by default.

    Returns:
        A sparse tensor of rank 2.

    Raises:
        TypeError: a number is no integer.

    Example:
        >>> tf.sparse.eye(2).values.numpy().tolist()
        [1.0, 1.0]
    """
    rows = _length_tensor(num_rows, "num_rows")
    columns = rows if num_columns is None else _length_tensor(num_columns, "num_columns")
    diagonal = range_op(minimum(rows, columns))
    values = ones(shape_op(diagonal), as_dtype(dtype))
    if any(isinstance(n, SymbolicTensor) and n.shape.rank is None for n in (num_rows, num_columns)):
        values = less_static(values, None)  # TensorFlow fills a vector of `num_rows` elements, not always a scalar
    return SparseTensor(stack([diagonal, diagonal], 1), values, stack([rows, columns]))


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Calls a function on the values of sparse tensors.

    Args:
        op: takes values in the place of each `SparseTensor`, and returns as many.
        *args, **kwargs: arguments of `op`; all `SparseTensor`s among them have the same indices.

    Returns:
        A sparse tensor with the values that `op` returns.

    Raises:
        ValueError: there is no `SparseTensor`.
        InvalidArgumentError: their indices differ.

    Example:
        >>> s = tf.SparseTensor([[0], [2]], [5, 7], [4])
        >>> tf.sparse.map_values(tf.add, s, 1).values.numpy().tolist()
        [6, 8]
    """
    sparse = [a for a in (*args, *kwargs.values()) if isinstance(a, SparseTensor)]
    if not sparse:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = sparse[0]

    def check(indices: Tensor, shape: Tensor, *others: Any) -> None:
        for i, other in enumerate(others):
            if not np.array_equal((shape if i % 2 else indices)._array(), other._array()):
                raise invalid("map_values: the SparseTensors must have the same indices and shape")

    check_or_defer(check, *[part for s in sparse for part in (s.indices, s.dense_shape)])

    def values(a: Tensor | SparseTensor) -> Any:
        return a.values if isinstance(a, SparseTensor) else a

    result = op(*[values(a) for a in args], **{k: values(a) for k, a in kwargs.items()})
    return first.with_values(result)
