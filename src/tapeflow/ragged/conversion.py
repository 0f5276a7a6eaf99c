"""Conversions between ragged tensors and dense tensors, sparse tensors and nested lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import constant as constant_dense
from tapeflow.array.creation import range as range_op
from tapeflow.array.creation import zeros
from tapeflow.array.gathers import gather
from tapeflow.array.masks import boolean_mask, where
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.sequences import MIXED
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_NUMPY, DType, as_dtype, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.math.casting import cast
from tapeflow.math.comparison import not_equal
from tapeflow.math.extrema import clip_by_value, maximum
from tapeflow.math.reduction import reduce_any, reduce_max
from tapeflow.ragged.kernels import ragged_to_sparse, ragged_to_tensor
from tapeflow.ragged.row_partition import RowPartition, array_of, tensor_of, up_to
from tapeflow.ragged.tensor import RaggedTensor, checked_axis, methods
from tapeflow.sparse.tensor import SparseTensor

# ---- dense tensors ---------------------------------------------------------------------------------------------------


def from_tensor(tensor: Any, lengths: Any, padding: Any, ragged_rank: int, dtype: DType) -> RaggedTensor:
    """Converts a dense tensor, see `RaggedTensor.from_tensor`."""
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    tensor = convert(tensor)
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("tensor.shape.ndims must be statically known: specify it with set_shape or tf.ensure_shape")
    if rank < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
            f"Received argument `tensor` with rank {rank}."
        )
    if lengths is not None and isinstance(lengths, (list, tuple)) and any(hasattr(n, "__len__") for n in lengths):
        return _with_nested_lengths(tensor, lengths, dtype)
    if rank < ragged_rank + 1:
        raise ValueError(f"Shape {tensor.shape} must have rank at least {ragged_rank + 1}")
    if ragged_rank > 1:
        return _convert_deeper(tensor, lengths, padding, ragged_rank, dtype)
    rows, columns = tuple(shape_of(tensor))[:2]
    flat = with_leading_merged(tensor, 2)
    if lengths is None and padding is None:
        partition = RowPartition.from_uniform_row_length(tensor_of(columns, dtype), nrows=rows)
        return RaggedTensor._from_row_partition(flat, partition, validate=False)
    if padding is not None:
        row_lengths = _unpadded_lengths(tensor, padding, dtype)
    else:
        row_lengths = cast(convert(lengths), dtype)
        if not row_lengths.shape.is_compatible_with(tensor.shape[:1]):
            raise ValueError(f"lengths must have shape ({rows},), not {row_lengths.shape}")
        row_lengths = clip_by_value(row_lengths, 0, tensor_of(columns, dtype))
    values = boolean_mask(tensor, up_to(tensor_of(columns, dtype)) < expand_dims(row_lengths, 1))
    return RaggedTensor.from_row_lengths(values, row_lengths, validate=False)


def with_leading_merged(tensor: Tensor, count: int) -> Any:
    """Returns the tensor with its first dimensions merged."""
    dims = tuple(shape_of(tensor))
    return tensor if count == 1 else reshape(tensor, [math.prod(dims[:count]), *dims[count:]])


def _unpadded_lengths(tensor: Tensor, padding: str, dtype: DType) -> Any:
    """Returns the length of each row without the padding at its end."""
    pad = convert(padding, tensor.dtype)
    if not pad.shape.is_compatible_with(tensor.shape[2:]):
        raise ValueError(f"Shapes {pad.shape} and {tensor.shape[2:]} are incompatible: `padding` is one value")
    real = reduce_any(not_equal(tensor, pad), list(range(2, tensor.shape.rank)))
    ends = range_op(tensor_of(1, dtype), tensor_of(shape_of(tensor)[1], dtype) + 1)
    lengths = reduce_max(where(real, ends, tensor_of(0, dtype)), 1)
    return maximum(lengths, 0)  # not negative, even without columns


def _with_nested_lengths(tensor: Tensor, lengths: Sequence[Any], dtype: DType) -> RaggedTensor:
    """Converts a tensor by row lengths for several ragged dimensions, outermost first."""
    first, *rest = lengths
    outer = from_tensor(tensor, convert(first), None, 1, dtype)
    if not rest:
        return outer
    inner = outer.values
    if len(rest) == 1 and not convert(rest[0]).shape.is_compatible_with(inner.shape[:1]):
        raise ValueError(f"Shapes {(inner.shape[0],)} and {tuple(convert(rest[0]).shape)} are incompatible")
    return outer.with_values(_with_nested_lengths(inner, rest, dtype))


def _convert_deeper(tensor: Tensor, lengths: Any, padding: str, ragged_rank: int, dtype: DType) -> RaggedTensor:
    """Converts a tensor to several ragged dimensions. Only the innermost dimension loses its padding."""
    dims = tuple(shape_of(tensor))
    result = from_tensor(with_leading_merged(tensor, ragged_rank), lengths, padding, 1, dtype)
    for i in range(ragged_rank - 1, 0, -1):
        partition = RowPartition.from_uniform_row_length(tensor_of(dims[i], dtype), nrows=math.prod(dims[:i]))
        result = RaggedTensor._from_row_partition(result, partition, validate=False)
    return result


def to_tensor(rt: RaggedTensor, default_value: TensorLike | None, shape: ShapeLike) -> Any:
    """Converts a ragged tensor to a dense one, see `RaggedTensor.to_tensor`."""
    flat = rt.flat_values
    default = zeros([], rt.dtype) if default_value is None else convert(default_value, rt.dtype)
    inner = flat.shape[1:]
    if len(default.shape) > len(inner) or any(
        d not in (1, n) and None not in (d, n)
        for d, n in zip(reversed(default.shape.as_list()), reversed(inner.as_list()), strict=False)
    ):
        raise invalid(f"default_value.shape={default.shape.as_list()} and rt_input.flat_values.shape="
                      f"{flat.shape.as_list()} are incompatible [Op:RaggedTensorToTensor]")  # fmt: skip
    target: Any = -1
    if isinstance(shape, Tensor):
        target = shape
    elif isinstance(shape, (list, tuple)) and None not in shape and any(isinstance(d, Tensor) for d in shape):
        target = convert(shape)
    elif shape is not None and TensorShape(shape).rank is not None:
        target = tuple([-1 if d is None else d for d in TensorShape(shape)])
    splits = list(rt.nested_row_splits)
    result = ragged_to_tensor(target, flat, default, splits, ["ROW_SPLITS"] * len(splits))
    if isinstance(result, SymbolicTensor) and type(target) is int:
        result.set_shape(rt.shape)
    return result


# ---- merging dimensions ----------------------------------------------------------------------------------------------


def merge_dimensions(value: Tensor | RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """Merges dimensions of a ragged tensor or a tensor, see `RaggedTensor.merge_dims`."""
    rank = len(value.shape)
    outer, inner = checked_axis(outer_axis, rank, "outer_axis"), checked_axis(inner_axis, rank, "inner_axis")
    if not outer <= inner:
        raise ValueError(f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis}).")
    if outer == inner:
        return value
    if not isinstance(value, RaggedTensor):
        dims = tuple(shape_of(value))
        return reshape(value, [*dims[:outer], math.prod(dims[outer : inner + 1]), *dims[inner + 1 :]])
    if outer == 0:
        return value.values if inner == 1 else merge_dimensions(value.values, 0, inner - 1)
    if outer > 1:
        return value.with_values(merge_dimensions(value.values, outer - 1, inner - 1))
    # Rows of rows become rows: the splits of the outer ones, counted in the elements of the inner ones.
    splits = value.row_splits
    inside = value.values
    for _ in range(inner - 1):
        if isinstance(inside, RaggedTensor):
            splits, inside = gather(inside.row_splits, splits), inside.values
        else:
            splits = splits * tensor_of(shape_of(inside)[1], splits.dtype)
            inside = with_leading_merged(inside, 2)
    return RaggedTensor.from_row_splits(inside, splits, validate=False)


# ---- sparse tensors --------------------------------------------------------------------------------------------------


def to_sparse(rt: RaggedTensor) -> SparseTensor:
    """Converts a ragged tensor to a sparse one, see `RaggedTensor.to_sparse`."""
    indices, values, shape = ragged_to_sparse(list(rt.nested_row_splits), rt.flat_values)
    return SparseTensor(indices, values, shape)


def from_sparse(st_input: SparseTensor, dtype: DType) -> RaggedTensor:
    """Converts a sparse tensor, see `RaggedTensor.from_sparse`."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}.")
    if st_input.shape.rank is not None and st_input.shape.rank != 2:
        raise ValueError("rank(st_input) must be 2.")

    def check(indices: Tensor) -> None:
        rows, columns = array_of(indices).reshape(-1, 2).T
        same_row = np.concatenate([[False], rows[1:] == rows[:-1]])[: len(rows)]
        after = np.concatenate([[0], columns[:-1] + 1])[: len(rows)]
        if not np.where(same_row, columns == after, columns == 0).all():
            raise invalid(
                "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
                "b'SparseTensor is not right-ragged'"
            )

    check_or_defer(check, st_input.indices)
    rows = cast(st_input.indices[:, 0], dtype)
    return RaggedTensor.from_value_rowids(st_input.values, rows, cast(st_input.dense_shape[0], dtype), validate=False)


# ---- nested lists ----------------------------------------------------------------------------------------------------


def _has_scalar_tensor(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_scalar_tensor, value))
    return type(value) is EagerTensor and value.shape.rank == 0


def constant(
    pylist: TensorLike,
    dtype: DTypeLike = None,
    ragged_rank: int | None = None,
    inner_shape: ShapeLike = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = int64,
) -> RaggedTensor | Tensor:
    """Converts a nested list to a ragged tensor.

    Args:
        pylist: lists, tuples and arrays, with all scalars at one depth.
        dtype: the dtype of the values.
        ragged_rank: an int, the number of ragged dimensions; by default all but the first one and the ones in
            `inner_shape`.
        inner_shape: the shape of the innermost values, which are not ragged.
        row_splits_dtype: int32 or int64; int64 by default.

    Returns:
        A `RaggedTensor`; a tensor, if nothing is ragged.

    Raises:
        ValueError: scalars are at different depths, or the shapes do not fit.

    Example:
        >>> tf.ragged.constant([[1, 2], [], [3]])
        <tf.RaggedTensor [[1, 2], [], [3]]>
    """
    splits_dtype = as_dtype(row_splits_dtype)
    of_values: Any = inner_shape
    is_vector = isinstance(pylist, (np.ndarray, EagerTensor)) and len(pylist.shape) == 1
    if is_vector and not ragged_rank and inner_shape is None:
        return convert(pylist, None if dtype is None else as_dtype(dtype))
    if dtype is None:
        dtype = _first_float_dtype(pylist)
    if isinstance(pylist, np.ndarray) and pylist.ndim:
        pylist = pylist.tolist()
    if isinstance(pylist, SymbolicTensor) and pylist.shape.rank != 0:
        iter(pylist)  # raises the error of iterating over a symbolic tensor
    if isinstance(pylist, Tensor) and pylist.shape.rank:
        raise ValueError("TypeError: Scalar tensor has no `len()`")
    if not isinstance(pylist, (list, tuple)):
        if ragged_rank is not None and ragged_rank != 0:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if of_values:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(of_values)}")
        return convert(pylist, None if dtype is None else as_dtype(dtype))
    if _has_scalar_tensor(pylist):
        raise ValueError(MIXED)
    depth, most = _scalar_depth(pylist), _max_depth(pylist)
    if depth is not None and most > depth:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(of_values) + 1
        if (expected < most) if depth is None else (expected != depth):
            wrong = f"incompatible with ragged_rank={ragged_rank} and dim(inner_shape)={len(of_values)}"
            raise ValueError(f"Invalid pylist={pylist!r}: {wrong}")
    inner: Any = None if inner_shape is None else tuple(TensorShape(of_values).as_list())
    if inner is not None and most > 1 and most - len(of_values) > 1 and not isinstance(of_values, _SHAPES):
        raise TypeError(f'can only concatenate tuple (not "{type(of_values).__name__}") to tuple')
    ragged_rank = _ragged_rank(pylist, depth, most, ragged_rank, inner)
    if not ragged_rank and inner_shape is not None:
        return constant_dense(pylist, dtype, inner_shape)
    values, nested_splits = list(pylist), []
    for level in range(ragged_rank):
        splits = [0]
        joined: list[Any] = []
        for row in values:
            row = row.tolist() if isinstance(row, np.ndarray) else row
            if not isinstance(row, (list, tuple)):
                raise ValueError(f"Invalid pylist={pylist!r}: scalar at depth {level}")
            joined.extend(row)
            splits.append(len(joined))
        nested_splits.append(splits)
        values = joined
    inner = _inner_shape(values) if inner is None else inner
    lists = [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
    flat = convert(lists, None if dtype is None else as_dtype(dtype))
    if flat.shape.num_elements() != len(values) * math.prod(inner):
        raise TypeError(f"Invalid pylist={pylist!r}: incompatible with inner_shape={inner}")
    if not values or tuple(flat.shape[1:]) != inner:
        flat = reshape(flat, [len(values), *inner])
    splits = [tensor_of(s, splits_dtype) for s in nested_splits]
    return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)


_SHAPES = (tuple, TensorShape)  # TensorFlow accepts these types as inner shapes of ragged values


def _first_float_dtype(value: Any) -> DType | None:
    """Returns the dtype of the first scalar if it is one of NumPy's that are no integers. As in a list, it decides."""
    first = _first_leaf(value)
    decides = isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind in "fc"
    return FROM_NUMPY.get(first.dtype.type) if decides else None


def _first_leaf(value: object) -> Any:
    """Returns the first scalar of nested lists, or the array that it is in; None if there are no scalars."""
    if isinstance(value, (list, tuple)):
        return next((leaf for v in value if (leaf := _first_leaf(v)) is not None), None)
    return value if not isinstance(value, np.ndarray) or value.size else None


def _scalar_depth(value: object) -> int | None:
    """Returns the depth of the scalars in nested lists, or None if there are none."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return 0
    depths = {d for v in value if (d := _scalar_depth(v)) is not None}
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return depths.pop() + 1 if depths else None


def _max_depth(value: object) -> int:
    """Returns the depth of nested lists."""
    if isinstance(value, np.ndarray):
        return value.ndim
    return max([_max_depth(v) for v in value], default=0) + 1 if isinstance(value, (list, tuple)) else 0


def _ragged_rank(
    pylist: Sequence[Any], depth: int | None, most: int, ragged_rank: int | None, inner: tuple[int, ...] | None
) -> int:
    """Returns the number of ragged dimensions of a nested list."""
    inner_rank = 0 if inner is None else len(inner)
    if ragged_rank is None:
        return max(1, most - 1) - inner_rank if depth is None and most > 1 else max(0, most - 1 - inner_rank)
    if depth is not None and depth <= ragged_rank:
        raise ValueError(
            f"Invalid pylist={pylist!r}: pylist has scalar values depth {depth}, but ragged_rank={ragged_rank} "
            f"requires scalar value depth greater than {ragged_rank}"
        )
    return ragged_rank


def _inner_shape(values: list[Any]) -> tuple[int, ...]:
    """Returns the shape of each of the innermost values."""
    if not values:
        return ()
    shapes = set()
    for v in values:
        try:
            shapes.add(np.asarray(v).shape if not isinstance(v, (str, bytes)) else ())
        except ValueError:
            raise ValueError("inner values have inconsistent shape") from None
    if len(shapes) > 1:
        raise ValueError("inner values have inconsistent shape")
    return shapes.pop()


methods.from_sparse = from_sparse
methods.from_tensor = from_tensor
methods.merge_dims = merge_dimensions
methods.to_sparse = to_sparse
methods.to_tensor = to_tensor
