"""Variables in several parts, as `get_variable` makes them where a partitioner says so."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow.array.concat_and_split import concat, split
from tapeflow.array.identities import identity
from tapeflow.array.slicing import slice as slice_
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.save_slice_info import SaveSliceInfo
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.python_op import executing_eagerly


class PartitionInfo(NamedTuple):
    """The shape of a whole variable and the offset of the part that an initializer creates.

    Attributes:
        full_shape: a list of ints, the shape of the whole variable.
        var_offset: a list of ints, the index of the part's first element in the variable.
    """

    full_shape: list[int]
    var_offset: list[int]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """Returns the dimension that is cut, for a part of that shape; None if it is the whole."""
        cut = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape, strict=True)) if part != whole]
        return cut[0] if cut else None

    def single_offset(self, shape: Sequence[int]) -> int:
        """Returns the offset of the part of that shape, along the dimension that is cut."""
        at = self.single_slice_dim(shape)
        return 0 if at is None else self.var_offset[at]


class PartitionedVariable:
    """Variables that are one variable, cut along one dimension. It converts to a tensor of the whole.

    Args:
        name: of the whole.
        shape: of the whole.
        dtype: of the parts.
        variable_list: the parts, in order.
        partitions: the number of parts of each dimension.

    Example:
        >>> with tf.Graph().as_default():
        ...     cut = tf.compat.v1.fixed_size_partitioner(2)
        ...     v = tf.compat.v1.get_variable("v", [3, 2], partitioner=cut)
        ...     print([(part.name, part.shape.as_list()) for part in v])
        ...     print(tf.reduce_sum(v, axis=1).shape)
        [('v/part_0:0', [2, 2]), ('v/part_1:0', [1, 2])]
        (3,)
    """

    def __init__(
        self, name: str, shape: ShapeLike, dtype: DType, variable_list: Sequence[Variable], partitions: Sequence[int]
    ) -> None:
        self._name, self._shape, self._dtype = name, TensorShape(shape), dtype
        self._parts, self._partitions = list(variable_list), list(partitions)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def name(self) -> str:
        """The name of the whole, without `:0`."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Returns the shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Variable]:
        return self._parts

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """Returns the dimension that is cut; the first one if none is."""
        return [i for i, n in enumerate(self._partitions) if n > 1] or [0]

    @property
    def axis(self) -> int:
        """The dimension that is cut."""
        return self._partition_axes()[0]

    def as_tensor(self) -> Tensor:
        """Returns the whole, as a tensor."""
        with name_scope(f"{self._name}/ConcatPartitions/"):
            whole = self._parts[0] if len(self._parts) == 1 else concat(self._parts, self.axis)
        with name_scope(""):
            return identity(whole, name=self._name)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        if dtype is not None and dtype is not self._dtype:
            raise ValueError(f"A partitioned variable of {self._dtype.name} can't be converted to {dtype.name}.")
        return self.as_tensor()

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Assigns a value to the whole. Returns the results of assigning to each part, in a list."""
        return self._each("assign", value, name, read_value)

    def assign_add(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Adds to the whole, see `assign`."""
        return self._each("assign_add", value, name, read_value)

    def assign_sub(
        self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Subtracts from the whole, see `assign`."""
        return self._each("assign_sub", value, name, read_value)

    def _each(self, method: str, value: Any, name: str | None, read_value: bool) -> list[Any]:
        sizes = [part.shape[self.axis] for part in self._parts]
        pieces = split(value, sizes, self.axis)
        return [
            getattr(part, method)(piece, name=name, read_value=read_value)
            for part, piece in zip(self._parts, pieces, strict=True)
        ]


# ---- making them -----------------------------------------------------------------------------------------------------


def cuts(partitioner: Callable[..., Any], shape: TensorShape, dtype: DType) -> list[int]:
    """Returns the number of parts into which a partitioner cuts each dimension.

    Raises:
        ValueError: the shape is not static, or the partitioner's result is not valid.
    """
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.")
    counts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(counts, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {counts}")
    if len(counts) != shape.rank:
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {counts} vs. {shape}"
        )
    if any(n < 1 for n in counts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {counts}")
    if sum(n > 1 for n in counts) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {counts}")
    return list(counts)


def places(shape: TensorShape, parts: Sequence[int]) -> list[SaveSliceInfo]:
    """Returns the places of the parts; the first ones are one larger where the length does not divide evenly."""
    dims = shape.as_list()
    axis = next((i for i, n in enumerate(parts) if n > 1), 0)
    count = parts[axis]
    slices, begin = [], 0
    for i in range(count):
        length = dims[axis] // count + (i < dims[axis] % count)
        offset = [begin if d == axis else 0 for d in range(len(dims))]
        slices.append(SaveSliceInfo("", dims, offset, [length if d == axis else n for d, n in enumerate(dims)]))
        begin += length
    return slices


def create_in_parts(
    name: str,
    shape: ShapeLike,
    dtype: DType,
    initializer: Callable[..., Any],
    partitioner: Any,
    make: Callable[..., Variable],
) -> PartitionedVariable:
    """Returns a new variable in several parts.

    Args:
        name: of the whole.
        shape: of the whole, or None.
        dtype: the dtype.
        initializer: a value of the whole, or a function of a part's shape.
        partitioner: returns the number of parts of each dimension.
        make: makes a part, of its name, shape and initializer.

    Raises:
        ValueError: its shape is not static, or the partitioner's result is not valid.
    """
    value = None if callable(initializer) else convert(initializer)
    whole = TensorShape(shape) if value is None else value.shape
    parts = cuts(partitioner, whole, dtype)
    first: Any = initializer() if inspect.isclass(initializer) else initializer
    needs_partition_info = value is None and "partition_info" in inspect.signature(first).parameters
    variables = []
    part: Any
    for i, place in enumerate(places(whole, parts)):
        if value is not None:
            part = make(f"{name}/part_{i}", None, slice_(value, place.var_offset, place.var_shape))
        else:
            info = PartitionInfo(place.full_shape, place.var_offset)
            begin = functools.partial(first, partition_info=info) if needs_partition_info else first
            part = make(f"{name}/part_{i}", TensorShape(place.var_shape), begin)
        part._save_slice_info = place._replace(full_name=name)
        variables.append(part)
    return PartitionedVariable(name, whole, variables[0].dtype, variables, parts)


def check_parts(
    existing: PartitionedVariable, shape: ShapeLike, dtype: DType, partitioner: Callable[..., Any] | None
) -> None:
    """Checks that a shared variable has the partitions that the partitioner specifies.

    Raises:
        ValueError: it has others.
    """
    if partitioner is None:
        return
    parts = cuts(partitioner, TensorShape(shape), dtype)
    if parts != existing._get_partitions():
        raise ValueError(
            f"Trying to reuse partitioned variable {existing.name}, but specified partitions {parts} and found "
            f"partitions {existing._get_partitions()}."
        )


def joined_parts(variables: Sequence[Any]) -> list[Any]:
    """Variables, with those that are parts of one as a `PartitionedVariable`."""
    joined: list[Any] = []
    wholes: dict[str, list[Any]] = {}
    for variable in variables:
        info = getattr(variable, "_save_slice_info", None)
        if info is None:
            joined.append(variable)
        else:
            wholes.setdefault(info.full_name, []).append(variable)
    for name, parts in wholes.items():
        parts.sort(key=lambda part: part._save_slice_info.var_offset)
        info = parts[0]._save_slice_info
        partitions = [len(parts) if a != b else 1 for a, b in zip(info.var_shape, info.full_shape, strict=True)]
        joined.append(PartitionedVariable(name, info.full_shape, parts[0].dtype, parts, partitions))
    return joined


def pieces_of(variable: Variable) -> list[Any]:
    """Returns the parts of a variable: itself, if it has none."""
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def whole_value(variable: Variable, values: Sequence[Any]) -> Any:
    """Returns the value of a variable from the values of its parts, as arrays."""
    return np.concatenate(values, variable.axis) if isinstance(variable, PartitionedVariable) else values[0]


def part_values(variable: Variable, value: Any) -> list[Any]:
    """Returns the values of the parts of a variable, from its whole value, a tensor."""
    if not isinstance(variable, PartitionedVariable):
        return [value]
    with executing_eagerly():
        return split(value, [part.shape[variable.axis] for part in variable], variable.axis)
