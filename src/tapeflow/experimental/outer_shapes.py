"""The outer dimensions of tensors, ragged tensors and structures, which the fields of a `StructuredTensor` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.array import properties
from tapeflow.array.creation import fill
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import DType, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.ragged.dynamic_shape import DynamicRaggedShape, DynamicRaggedShapeSpec
from tapeflow.ragged.row_partition import RowPartition, RowPartitionSpec, tensor_of
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.ragged.tensor import RaggedTensor


def of_rows(partitions: Sequence[RowPartition], nrows: Any, dtype: DType) -> DynamicRaggedShape:
    """Returns the shape with these partitions into rows, or of one dimension where there are none."""
    if partitions:
        return DynamicRaggedShape.from_row_partitions(partitions, dtype)
    return DynamicRaggedShape((), tensor_of([nrows], dtype), dtype)


def of_dims(dims: Any, rank: int, dtype: DType) -> DynamicRaggedShape:
    """Returns the shape of the first dimensions of a tensor, by rows of one length.

    Args:
        dims: the shape of the tensor, as a list of integers or a tensor.
        rank: the number of dimensions.
        dtype: int32 or int64.
    """
    if rank == 0:
        return DynamicRaggedShape((), tensor_of([], dtype), dtype)
    if isinstance(dims, SymbolicTensor):
        static = host_static(dims)
        lengths = static if isinstance(static, tuple) else (None,) * rank
        dims = [dims[i] if length is None else length for i, length in enumerate(lengths[:rank])]
    partitions = []
    count = dims[0]
    for length in dims[1:rank]:
        partitions.append(RowPartition.from_uniform_row_length(tensor_of(length, dtype), nrows=count, dtype=dtype))
        count = count * length
    return of_rows(partitions, dims[0], dtype)


def of_value(value: Any, rank: int, dtype: DType) -> DynamicRaggedShape:
    """Returns the shape of the first dimensions of a field.

    Args:
        value: a tensor, a ragged one, or anything that `tf.shape` takes.
        rank: the number of dimensions.
        dtype: int32 or int64.

    Raises:
        ValueError: the field has fewer dimensions.
    """
    if value.shape.rank is not None and value.shape.rank < rank:
        raise ValueError("num_row_partitions must be less than rank")
    if isinstance(value, Tensor):
        static = value.shape.is_fully_defined()
        return of_dims(value.shape.as_list() if static else properties.shape(value, dtype), rank, dtype)
    shape = properties.shape(value, dtype)
    return of_shape(shape, rank) if isinstance(shape, DynamicRaggedShape) else of_dims(shape, rank, dtype)


def of_shape(shape: DynamicRaggedShape, rank: int) -> DynamicRaggedShape:
    """Returns the shape of the first dimensions, all of them by partitions into rows."""
    dtype = shape.dtype
    if rank == 0:
        return of_dims([], 0, dtype)
    partitions = list(shape.row_partitions[: rank - 1])
    inner = rank - 1 - len(partitions)
    if inner:  # dimensions of the innermost values, whose first one counts their rows
        partitions.extend(of_dims(shape.inner_shape, inner + 1, dtype).row_partitions)
    return of_rows(partitions, shape[0], dtype)


def merge_knowledge(a: DynamicRaggedShape | None, b: DynamicRaggedShape | None) -> DynamicRaggedShape | None:
    """Returns the combined knowledge of two shapes that must be equal.

    Raises:
        ValueError: the numbers of rows differ.
        InvalidArgumentError: the lengths of rows do.
    """
    if a is None or b is None:
        return b if a is None else a
    mine, theirs = tensor_shape(a), tensor_shape(b)
    if not mine.is_compatible_with(theirs):
        if not a.row_partitions:
            raise ValueError(f"Shapes {mine} and {theirs} are not compatible")
        raise invalid("partitions have incompatible row_splits")
    if not a.row_partitions:
        return b if mine[:1].as_list() == [None] else a
    return DynamicRaggedShape.from_row_partitions(
        [_same_rows(p, q) for p, q in zip(a.row_partitions, b.row_partitions, strict=True)]
    )


def _same_rows(a: RowPartition, b: RowPartition) -> RowPartition:
    symbolic = isinstance(a.row_splits(), SymbolicTensor) or isinstance(b.row_splits(), SymbolicTensor)
    if not symbolic and not a.same_as(b):
        raise invalid("partitions have incompatible row_splits")
    return b if b.is_uniform() and not a.is_uniform() else a


def of_fields(fields: Mapping[str, Any], rank: int, dtype: DType) -> DynamicRaggedShape | None:
    """Returns the shape that fields share; None without fields.

    Raises:
        ValueError: they have different shapes.
    """
    shape = None
    for name, value in fields.items():
        try:
            shape = merge_knowledge(shape, of_value(value, rank, dtype))
        except (ValueError, InvalidArgumentError) as error:
            raise ValueError(f"Error in shape of {name}") from error
    return shape


def dtype_of(values: Sequence[Any]) -> DType:
    """Returns the dtype of shapes: int32 where ragged fields and partitions have it alone."""
    kinds = [v.row_splits.dtype if isinstance(v, RaggedTensor) else v.dtype for v in values]
    return int32 if int32 in kinds and int64 not in kinds else int64


def tensor_shape(shape: DynamicRaggedShape) -> TensorShape:
    """Returns the static shape, with None for ragged and unknown dimensions."""
    return TensorShape([length if isinstance(length, int) else None for length in shape.static_lengths(False)])


def filled_rows(shape: DynamicRaggedShape) -> Any:
    """Returns a tensor of a shape, filled with zeros. Ops on it show their effect on the shape."""
    return shape._with_values(fill(shape.inner_shape, 0))


# ---- specs -----------------------------------------------------------------------------------------------------------


def spec_of_dims(dims: Sequence[int | None], dtype: DType) -> DynamicRaggedShapeSpec:
    """Returns the spec of a shape with these lengths; None for ragged dimensions."""
    if len(dims) < 2:
        return DynamicRaggedShapeSpec((), TensorShape(dims), dtype)
    partitions = []
    rows = dims[0]
    for length in dims[1:]:
        values = None if rows is None or length is None else rows * length
        partitions.append(RowPartitionSpec(rows, values, length, dtype))
        rows = values
    return DynamicRaggedShapeSpec(tuple(partitions), TensorShape([rows]), dtype)


def dims_of_spec(spec: DynamicRaggedShapeSpec) -> list[int | None]:
    """Returns the static lengths of a spec."""
    partitions = spec._row_partitions
    inner = spec._static_inner_shape.as_list()
    return [partitions[0]._nrows, *(p._uniform_row_length for p in partitions), *inner[1:]] if partitions else inner


def spec_of_zeros(spec: DynamicRaggedShapeSpec) -> TypeSpec:
    """Returns the spec of `zeros_of` for shapes of a spec; ragged where rows of different lengths may be stacked."""
    dims = dims_of_spec(spec)
    if len(dims) > 1 or None in dims:
        return RaggedTensorSpec(dims, int32, max(len(dims) - 1, 0), spec._dtype)
    return TensorSpec(dims, int32)


def spec_of_fields(fields: Mapping[str, Any], rank: int) -> DynamicRaggedShapeSpec:
    """Returns the spec of the first dimensions that fields share, by their specs.

    Raises:
        ValueError: a field has fewer dimensions, or fields have different shapes.
    """
    shape, dtype = TensorShape([None] * rank), int64
    for name, spec in fields.items():
        own = spec.shape if isinstance(spec, TensorSpec) or hasattr(spec, "_ragged_shape") else spec._shape
        if own.rank is not None and own.rank < rank:
            raise ValueError(f"Rank of field {name} is {own.rank}, but must be at least {rank}.")
        shape = shape.merge_with(own[:rank] if own.rank is not None else TensorShape(None))
    if all(isinstance(spec, TensorSpec) for spec in fields.values()):
        return DynamicRaggedShapeSpec((), shape, dtype)
    return spec_of_dims(shape.as_list(), dtype)
