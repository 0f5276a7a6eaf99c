"""`tf.experimental.DynamicRaggedShape`: the shape of a ragged tensor, with the lengths of its rows."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import stack
from tapeflow.array.creation import fill, fill_op
from tapeflow.array.properties import shape as shape_op
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import Op
from tapeflow.core.ops.static import static_shape
from tapeflow.core.types import spec_registry
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.type_spec import TypeSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, logical_and
from tapeflow.math.reduction import reduce_all
from tapeflow.ragged import broadcasting
from tapeflow.ragged.row_partition import RowPartition, RowPartitionSpec, tensor_of
from tapeflow.ragged.tensor import RaggedTensor, as_values


class DynamicRaggedShape(CompositeTensor):
    """The lengths of all dimensions of a tensor, some of them ragged: the result of `tf.shape` for a ragged tensor.

    Args:
        row_partitions: the partitions of values into rows, outermost first.
        inner_shape: the shape of the innermost values, whose first dimension counts all of them.
        dtype: int32 or int64.

    Example:
        >>> shape = tf.shape(tf.ragged.constant([[1, 2], [], [3]]))
        >>> shape
        <DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>
        >>> shape[0].numpy().item(), shape.rank, shape.is_uniform(1)
        (3, 2, False)
    """

    Spec: type[DynamicRaggedShapeSpec]

    def __init__(
        self,
        row_partitions: Sequence[RowPartition],
        inner_shape: TensorLike,
        dtype: DTypeLike = None,
        validate: bool = False,
        static_inner_shape: ShapeLike = None,
    ) -> None:
        kind = int64 if dtype is None else as_dtype(dtype)
        self._row_partitions = tuple([p.with_dtype(kind) for p in row_partitions])
        self._inner_shape = cast(convert(inner_shape), kind)
        static = static_shape(self._inner_shape)
        self._static_inner_shape = static if static_inner_shape is None else static.merge_with(static_inner_shape)

    @classmethod
    def from_tensor(cls, t: TensorLike, dtype: DTypeLike = None) -> DynamicRaggedShape:
        """Returns the shape of a tensor or ragged tensor.

        Args:
            t: a tensor or ragged tensor.
            dtype: int32 or int64; by default the dtype of the row splits, and int32 for a tensor.

        Example:
            >>> tf.experimental.DynamicRaggedShape.from_tensor(tf.ones([2, 3]))
            <DynamicRaggedShape lengths=[2, 3] num_row_partitions=0>
        """
        value = as_values(t)
        ragged = isinstance(value, RaggedTensor)
        kind = (value.row_splits.dtype if ragged else int32) if dtype is None else as_dtype(dtype)
        flat = value.flat_values if ragged else value
        partitions = value._nested_row_partitions if ragged else ()
        return cls(partitions, shape_op(flat, kind), kind, static_inner_shape=flat.shape)

    @classmethod
    def from_row_partitions(cls, row_partitions: Sequence[RowPartition], dtype: DTypeLike = None) -> DynamicRaggedShape:
        """Returns the shape of rows of scalars.

        Args:
            row_partitions: the partitions into rows, outermost first.
            dtype: int32 or int64; by default the dtype of the last partition.

        Raises:
            ValueError: there is no partition.
        """
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, reshape(row_partitions[-1].nvals(), [1]), dtype or row_partitions[-1].dtype)

    @classmethod
    def from_lengths(
        cls, lengths: Sequence[int | Sequence[int]], num_row_partitions: int | None = None, dtype: DTypeLike = int64
    ) -> DynamicRaggedShape:
        """Returns the shape with these lengths.

        Args:
            lengths: an int for each uniform dimension, a list of row lengths for each ragged one.
            num_row_partitions: an int, the number of dimensions that are partitioned; by default up to the last ragged
                one.
            dtype: int32 or int64; int64 by default.

        Raises:
            ValueError: there are fewer partitions than the ragged dimensions need.

        Example:
            >>> tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2)])
            <DynamicRaggedShape lengths=[2, (1, 2)] num_row_partitions=1>
        """
        ragged = [i for i, n in enumerate(lengths) if not isinstance(n, int)]
        least = max(ragged, default=0)
        count = least if num_row_partitions is None else num_row_partitions
        if count < least:
            raise ValueError(f"num_row_partitions={count} must be at least {least}: dimension {least} is ragged")
        partitions = []
        rows: Any = lengths[0]
        for length in lengths[1 : count + 1]:
            if isinstance(length, int):
                partition = RowPartition.from_uniform_row_length(length, nrows=rows, dtype=as_dtype(dtype))
                rows *= length
            else:
                partition = RowPartition.from_row_lengths(list(length), dtype=as_dtype(dtype))
                if len(length) != rows:
                    raise ValueError(f"There are {len(length)} lengths for {rows} rows: {lengths}")
                rows = sum(length)
            partitions.append(partition)
        return cls(partitions, convert([rows, *lengths[count + 1 :]], int64), dtype)

    # ---- components --------------------------------------------------------------------------------------------------

    @property
    def _type_spec(self) -> DynamicRaggedShapeSpec:
        partitions = tuple([p._type_spec for p in self._row_partitions])
        return DynamicRaggedShapeSpec(partitions, self._static_inner_shape, self.dtype)

    @property
    def dtype(self) -> DType:
        """int32 or int64."""
        return self._inner_shape.dtype

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of values into rows, outermost first."""
        return self._row_partitions

    @property
    def num_row_partitions(self) -> int:
        """The number of partitions."""
        return len(self._row_partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the innermost values."""
        return self._inner_shape

    @property
    def inner_rank(self) -> int | None:
        """The rank of the innermost values."""
        rank = self._static_inner_shape.rank
        return self._inner_shape.shape[0] if rank is None else rank

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        inner = self.inner_rank
        return None if inner is None else len(self._row_partitions) + inner

    def with_dtype(self, dtype: DTypeLike) -> DynamicRaggedShape:
        """Returns the shape in another dtype.

        Args:
            dtype: int32 or int64.
        """
        return DynamicRaggedShape(self._row_partitions, self._inner_shape, dtype)

    def is_uniform(self, axis: int) -> bool:
        """Returns True if all slices of a dimension have one length, which is static.

        Args:
            axis: the dimension.

        Raises:
            IndexError: there is no such dimension.
        """
        partition = self._partition_of(self._checked(axis))
        return partition is None or partition.is_uniform()

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Returns the lengths as Python numbers: None if they are not static, tuples for ragged dimensions.

        Args:
            ragged_lengths: False for None in the place of the tuples.

        Returns:
            A list with an item for each dimension; it ends with `...` if the rank is not static.

        Example:
            >>> tf.shape(tf.ragged.constant([[1, 2], [3]])).static_lengths()
            [2, (2, 1)]
        """
        inner = self._static_inner_shape
        if not self._row_partitions:
            return [Ellipsis] if inner.rank is None else inner.as_list()
        lengths: list[Any] = [self._row_partitions[0].static_nrows]
        for partition in self._row_partitions:
            symbolic = isinstance(partition.row_splits(), SymbolicTensor)
            if partition.is_uniform():
                lengths.append(partition.static_uniform_row_length)
            else:
                lengths.append(None if symbolic or not ragged_lengths else tuple(np.diff(partition.splits()).tolist()))
        return [*lengths, Ellipsis] if inner.rank is None else [*lengths, *inner.as_list()[1:]]

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _checked(self, axis: int) -> int:
        rank = self.rank
        if axis < 0 and rank is not None:
            axis += rank
        if axis < 0 or (rank is not None and axis >= rank):
            raise IndexError(f"dimension {axis} is out of range for a shape of rank {rank}")
        return axis

    def _partition_of(self, axis: int) -> RowPartition | None:
        """Returns the partition with the lengths of a dimension, or None for a dimension without one."""
        return self._row_partitions[axis - 1] if 0 < axis <= len(self._row_partitions) else None

    def _length(self, axis: int) -> Any:
        if axis == 0:
            return self._row_partitions[0].nrows() if self._row_partitions else self._inner_shape[0]
        partition = self._partition_of(axis)
        if partition is None:
            return self._inner_shape[axis - len(self._row_partitions)]
        if not partition.is_uniform():
            raise ValueError(f"Index {axis} is not uniform")
        return partition.uniform_row_length()

    def __getitem__(self, index: Any) -> Any:
        """Returns the length of a uniform dimension, or the shape of some dimensions.

        Raises:
            ValueError: the dimension is ragged.
            IndexError: there is no such dimension.
        """
        if not isinstance(index, builtins.slice):
            return self._length(self._checked(int(index)))
        axes = range(self.rank or 0)[index]
        if axes.step != 1:
            raise IndexError(f"A slice of a shape takes dimensions one after the other, not every {axes.step}")
        if axes.start == 0 and len(axes) > 1:
            return self._prefix(len(axes))
        if any(not self.is_uniform(a) for a in axes):
            raise ValueError("All relevant dimensions must be uniform")
        lengths = [self._length(a) for a in axes]
        return DynamicRaggedShape((), stack(lengths) if lengths else tensor_of([], self.dtype), self.dtype)

    def _prefix(self, count: int) -> DynamicRaggedShape:
        partitions = self._row_partitions
        if count > len(partitions):
            return DynamicRaggedShape(partitions, self._inner_shape[: count - len(partitions)], self.dtype)
        outer = partitions[: count - 1]
        return DynamicRaggedShape(outer, reshape(outer[-1].nvals(), [1]), self.dtype)

    def _parts(self) -> list[Tensor]:
        return [*[p.row_splits() for p in self._row_partitions], self._inner_shape]

    # ---- as an argument ----------------------------------------------------------------------------------------------

    def _with_values(self, flat_values: Any) -> Any:
        """Returns the ragged tensor of this shape with these innermost values."""
        result = flat_values
        for partition in reversed(self._row_partitions):
            result = RaggedTensor._from_row_partition(result, partition, validate=False)
        return result

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Returns the result of an op that takes this in the place of a shape, or NotImplemented."""
        position, handler = _HANDLERS.get(function.op, (0, None))
        return NotImplemented if handler is None or args[position] is not self else handler(*args)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, DynamicRaggedShape):
            return NotImplemented
        if (self.rank, self.num_row_partitions, self.dtype) != (other.rank, other.num_row_partitions, other.dtype):
            return convert(False)
        same = convert(True)
        for mine, theirs in zip(self._parts(), other._parts(), strict=True):
            lengths = equal(shape_op(mine), shape_op(theirs))
            if not isinstance(lengths, SymbolicTensor) and not bool(lengths):
                return convert(False)
            same = logical_and(same, reduce_all(equal(mine, theirs)))
        return same

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        shown = ", ".join("..." if n is Ellipsis else str(n) for n in self.static_lengths())
        return f"<DynamicRaggedShape lengths=[{shown}] num_row_partitions={self.num_row_partitions}>"


def _stretch_to(tensor: TensorLike, shape: DynamicRaggedShape, *_: Any) -> Any:
    if not shape.row_partitions:
        return broadcast_to(tensor, shape.inner_shape)
    like = shape._with_values(fill(shape.inner_shape, 0))
    return broadcasting.apply(lambda values, zeros: broadcast_to(values, shape_op(zeros)), [as_values(tensor), like])


# The ops that take such a shape: the position of that argument, and the function that computes the op.
_HANDLERS: dict[Op, tuple[int, Callable[..., Any]]] = {
    broadcast_to.op: (1, _stretch_to),
    fill_op.op: (0, lambda dims, value, *_: dims._with_values(fill(dims.inner_shape, value))),
    reshape.op: (1, lambda x, dims, *_: dims._with_values(reshape(getattr(x, "flat_values", x), dims.inner_shape))),
}


@spec_registry.register("tf.DynamicRaggedShape.Spec")
class DynamicRaggedShapeSpec(TypeSpec):
    """The spec of a `DynamicRaggedShape`: the specs of its partitions, and the static shape of the values."""

    __slots__ = ("_dtype", "_row_partitions", "_static_inner_shape")

    def __init__(
        self, row_partitions: tuple[RowPartitionSpec, ...], static_inner_shape: ShapeLike, dtype: DTypeLike
    ) -> None:
        self._row_partitions = row_partitions
        self._static_inner_shape = TensorShape(static_inner_shape)
        self._dtype = as_dtype(dtype)

    @property
    def value_type(self) -> type:
        """`DynamicRaggedShape`."""
        return DynamicRaggedShape

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([self._static_inner_shape.rank], self._dtype), *self._row_partitions]

    def _to_components(self, value: DynamicRaggedShape) -> Any:
        return [value.inner_shape, *value.row_partitions]

    def _from_components(self, components: Sequence[Any]) -> DynamicRaggedShape:
        inner_shape, *partitions = components
        return DynamicRaggedShape(partitions, inner_shape, self._dtype, False, self._static_inner_shape)

    def _serialize(self) -> tuple[Any, ...]:
        inner_shape = TensorSpec([self._static_inner_shape.rank], self._dtype)
        parts = {
            "_row_partitions": self._row_partitions, "_inner_shape": inner_shape,
            "_static_inner_shape": self._static_inner_shape,
        }  # fmt: skip
        return tuple(parts.items())  # SavedModels have this form, because it is an extension type in TensorFlow

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        parts = dict(serialization)
        return cls(parts["_row_partitions"], parts["_static_inner_shape"], parts["_inner_shape"].dtype)

    def __repr__(self) -> str:
        return (
            f"DynamicRaggedShape.Spec(row_partitions={self._row_partitions}, "
            f"static_inner_shape={self._static_inner_shape!r}, dtype={self._dtype!r})"
        )


DynamicRaggedShape.Spec = DynamicRaggedShapeSpec
