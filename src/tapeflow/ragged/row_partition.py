"""`tf.experimental.RowPartition`: the partition of a sequence of values into rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import range as range_op
from tapeflow.array.gathers import gather
from tapeflow.array.properties import shape as shape_op
from tapeflow.array.sorting import searchsorted
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.ops.static import host_static
from tapeflow.core.types import spec_registry
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec, TypeSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.math.casting import cast
from tapeflow.math.cumulative import cumsum
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_max

if TYPE_CHECKING:
    from tapeflow.ragged.tensor import RaggedTensor


def integers(value: TensorLike, argument: str, dtype: DTypeLike = None) -> Tensor:
    """Converts a value to a tensor of int32 or int64. It keeps the dtype of the value, or is int64 without a dtype.

    Args:
        value: a tensor, an array or a nest of integers.
        argument: the name of the argument in errors.
        dtype: int32 or int64, for a value without a dtype.

    Raises:
        ValueError: the value has another dtype.
    """
    if dtype is not None:
        dtype = as_dtype(dtype)
    elif not hasattr(value, "dtype") or (isinstance(value, np.ndarray) and value.dtype not in (np.int32, np.int64)):
        dtype = int64
    try:
        tensor = convert(value, None if isinstance(value, Tensor) else dtype)
    except TypeError:
        tensor = convert(value)
    if tensor.dtype is not int32 and tensor.dtype is not int64:
        raise ValueError(f"{argument} must have dtype int32 or int64")
    return tensor


def tensor_of(numbers: Any, dtype: DType) -> Any:
    """Converts numbers to an int32 or int64 tensor; in a graph some of them may be symbolic."""
    if type(numbers) is int:
        return operand(numbers, dtype)
    if isinstance(numbers, Tensor):
        return numbers if numbers.dtype is dtype else cast(numbers, dtype)
    if type(numbers) is list and any(isinstance(n, Tensor) for n in numbers):
        return stack([tensor_of(n, dtype) for n in numbers])
    return convert(np.asarray(numbers, dtype=dtype.as_numpy_dtype))


def array_of(tensor: Any) -> np.ndarray:
    """Returns the numbers of an integer tensor that has a value."""
    return np.asarray(tensor._array())


def length_of(value: RaggedTensor | Tensor) -> Any:
    """Returns the first dimension of a tensor or ragged tensor: an int, or a scalar tensor if it is not static."""
    static = value.shape[0]
    if static is not None:
        return static
    return value.nrows() if hasattr(value, "row_splits") else shape_op(value)[0]


def number_of(value: Any) -> Any:
    """Returns an int if the value is static, or else a scalar tensor."""
    if isinstance(value, SymbolicTensor):
        static = host_static(value)
        return static if isinstance(static, int) else value
    return int(value)


# The arithmetic of partitions: eagerly by functions of ATen, in graphs by TensorFlow's ops.


def up_to(count: Tensor | int) -> Any:
    """Returns 0, 1, 2, ... below a count, in its dtype."""
    if type(count) is EagerTensor:
        return EagerTensor(
            torch.arange(count.value.item(), dtype=count.value.dtype, device=count.value.device), count.dtype
        )
    return range_op(count)


def lengths_of(splits: Tensor) -> Any:
    """Returns the length of each row."""
    if type(splits) is EagerTensor:
        return EagerTensor(splits.value.diff(), splits.dtype)
    return splits[1:] - splits[:-1]


def splits_of(lengths: Tensor) -> Any:
    """Returns the positions where rows of these lengths begin, and the end of the last row."""
    if type(lengths) is EagerTensor:
        value = lengths.value
        splits = value.new_zeros(len(value) + 1)
        torch.cumsum(value, 0, out=splits[1:])
        return EagerTensor(splits, lengths.dtype)
    return concat([tensor_of([0], lengths.dtype), cumsum(lengths)], 0)


def splits_of_rowids(rowids: Tensor, count: Tensor | int) -> Any:
    """Returns the row splits of values by their sorted rows."""
    if type(rowids) is EagerTensor and not isinstance(count, SymbolicTensor):
        counts = torch.bincount(rowids.value, minlength=int(count))
        return splits_of(EagerTensor(counts.to(rowids.value.dtype), rowids.dtype))
    rows = range_op(tensor_of(count, rowids.dtype) + tensor_of(1, rowids.dtype))
    return searchsorted(rowids, rows, "left", rowids.dtype)


def rowids_of(splits: Tensor) -> Any:
    """Returns the row of each value. If rows begin at the same position, the last one has the values."""
    if type(splits) is EagerTensor:
        lengths = splits.value.diff()
        rows = torch.arange(len(lengths), dtype=lengths.dtype, device=lengths.device)
        return EagerTensor(rows.repeat_interleave(lengths), splits.dtype)
    return searchsorted(splits, range_op(splits[-1]), "right", splits.dtype) - tensor_of(1, splits.dtype)


def offsets_of(splits: Tensor) -> Any:
    """Returns the position of each value in its row."""
    return up_to(splits[-1]) - repeat_values(splits[:-1], splits)


def repeat_values(values: Tensor, splits: Tensor) -> Any:
    """Repeats each value as often as its row has elements."""
    if type(values) is EagerTensor and type(splits) is EagerTensor and values.dtype.is_integer:
        return EagerTensor(values.value.repeat_interleave(splits.value.diff().to(values.value.device), 0), values.dtype)
    return gather(values, rowids_of(splits))


class RowPartition(CompositeTensor):
    """A partition of a sequence of values into rows. The `from_` methods create it.

    Example:
        >>> from tapeflow.ragged.row_partition import RowPartition
        >>> RowPartition.from_row_lengths([2, 0, 1]).row_splits().numpy().tolist()
        [0, 2, 2, 3]
    """

    __slots__ = ("_row_splits", "_uniform_row_length")

    def __init__(
        self, row_splits: Tensor, row_lengths: Tensor | None = None, value_rowids: Tensor | None = None,
        nrows: Tensor | None = None, uniform_row_length: Tensor | None = None, nvals: Tensor | None = None,
        internal: object = False,
    ) -> None:  # fmt: skip
        if internal is not _INTERNAL:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead (e.g., "
                "RowPartition.from_row_lengths())"
            )
        self._row_splits = row_splits
        self._uniform_row_length = uniform_row_length

    # ---- creation ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls, row_splits: TensorLike, validate: bool = True, dtype: DTypeLike = None, dtype_hint: DTypeLike = None
    ) -> RowPartition:
        """Returns the rows from each split to the next.

        Args:
            row_splits: integers that begin with 0 and do not decrease.
            validate: checks that.
            dtype, dtype_hint: int32 or int64, for splits without a dtype.

        Raises:
            ValueError: there is no split.
            InvalidArgumentError: the first is not 0, or they decrease.
        """
        splits = integers(row_splits, "row_splits", dtype or dtype_hint)
        splits.shape.assert_has_rank(1)
        if splits.shape[0] == 0:
            raise ValueError("row_splits tensor may not be empty.")

        def check(splits: Tensor) -> None:
            numbers = array_of(splits)
            if numbers[0] != 0:
                raise _not_valid("from_row_splits", "zero", f"the first row split is {numbers[0]}, not 0")
            if (np.diff(numbers) < 0).any():
                raise _not_valid("from_row_splits", "monotonic", f"row splits decrease: {numbers.tolist()}")

        if validate:
            check_or_defer(check, splits)
        return cls(splits, internal=_INTERNAL)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: TensorLike, validate: bool = True, dtype: DTypeLike = None, dtype_hint: DTypeLike = None
    ) -> RowPartition:
        """Returns rows of these lengths.

        Args:
            row_lengths: integers that are not negative.
            validate: checks that.
            dtype, dtype_hint: int32 or int64, for lengths without a dtype.

        Raises:
            InvalidArgumentError: a length is negative.
        """
        lengths = integers(row_lengths, "row_lengths", dtype or dtype_hint)
        lengths.shape.assert_has_rank(1)

        def check(lengths: Tensor) -> None:
            numbers = array_of(lengths)
            if (numbers < 0).any():
                raise _not_valid("from_row_lengths", "", f"row lengths are negative: {numbers.tolist()}")

        if validate:
            check_or_defer(check, lengths)
        return cls(splits_of(lengths), internal=_INTERNAL)

    @classmethod
    def from_row_starts(
        cls, row_starts: TensorLike, nvals: TensorLike, validate: bool = True, dtype: DTypeLike = None,
        dtype_hint: DTypeLike = None,
    ) -> RowPartition:  # fmt: skip
        """Returns rows that begin at these positions; the last one goes up to `nvals`.

        Args:
            row_starts: integers that begin with 0 and do not decrease.
            nvals: the number of values.
            validate: checks that.
            dtype, dtype_hint: int32 or int64, for positions without a dtype.

        Raises:
            InvalidArgumentError: the positions do not begin with 0, or decrease.
        """
        starts = integers(row_starts, "row_starts", dtype or dtype_hint)
        starts.shape.assert_has_rank(1)
        return cls.from_row_splits(concat([starts, tensor_of([nvals], starts.dtype)], 0), validate)

    @classmethod
    def from_row_limits(
        cls, row_limits: TensorLike, validate: bool = True, dtype: DTypeLike = None, dtype_hint: DTypeLike = None
    ) -> RowPartition:
        """Returns rows that end before these positions.

        Args:
            row_limits: integers that do not decrease.
            validate: checks that.
            dtype, dtype_hint: int32 or int64, for positions without a dtype.

        Raises:
            InvalidArgumentError: the positions decrease.
        """
        limits = integers(row_limits, "row_limits", dtype or dtype_hint)
        limits.shape.assert_has_rank(1)
        return cls.from_row_splits(concat([tensor_of([0], limits.dtype), limits], 0), validate)

    @classmethod
    def from_value_rowids(
        cls, value_rowids: TensorLike, nrows: TensorLike | None = None, validate: bool = True,
        dtype: DTypeLike = None, dtype_hint: DTypeLike = None,
    ) -> RowPartition:  # fmt: skip
        """Returns rows by the row of each value.

        Args:
            value_rowids: the row of each value; they do not decrease.
            nrows: the number of rows; by default one more than the last row of a value.
            validate: checks that.
            dtype, dtype_hint: int32 or int64, for row ids without a dtype.

        Raises:
            ValueError: there are not enough rows.
            InvalidArgumentError: the rows decrease or are negative.
        """
        rowids = integers(value_rowids, "value_rowids", dtype or dtype_hint)
        rowids.shape.assert_has_rank(1)
        count = None if nrows is None else number_of(nrows)
        if isinstance(count, int) and count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")

        wrong = ValueError if state.graph is None else invalid

        def check(rowids: Tensor, rows: Tensor | None = None) -> None:
            numbers = array_of(rowids)
            if rows is not None and len(numbers) and int(rows) <= numbers[-1]:
                raise wrong(
                    f"Expected nrows >= value_rowids[-1] + 1; got nrows={int(rows)}, value_rowids[-1]={numbers[-1]}"
                )
            if len(numbers) and (numbers[0] < 0 or (np.diff(numbers) < 0).any()):
                raise _not_valid(
                    "from_value_rowids", "", f"rows of values decrease or are negative: {numbers.tolist()}"
                )

        if validate:
            check_or_defer(check, *([rowids] if count is None else [rowids, tensor_of(count, rowids.dtype)]))
        if count is None:
            count = concat([tensor_of([-1], rowids.dtype), rowids], 0)[-1] + tensor_of(1, rowids.dtype)
        return cls(splits_of_rowids(rowids, count), internal=_INTERNAL)

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length: TensorLike, nvals: TensorLike | None = None, nrows: TensorLike | None = None,
        validate: bool = True, dtype: DTypeLike = None, dtype_hint: DTypeLike = None,
    ) -> RowPartition:  # fmt: skip
        """Returns rows of one length.

        Args:
            uniform_row_length: the length of each row.
            nvals: the number of values.
            nrows: the number of rows. `nvals` or `nrows` is required.
            validate: checks that the lengths add up to the number of values.
            dtype, dtype_hint: int32 or int64, for a length without a dtype.

        Raises:
            ValueError: the length is negative, or does not divide the values.
        """
        if nvals is None and nrows is None:
            raise ValueError("At least one of nvals and nrows must be specified.")
        length_tensor = integers(uniform_row_length, "uniform_row_length", dtype or dtype_hint)
        length = number_of(length_tensor)
        if isinstance(length, int) and length < 0:
            raise ValueError("uniform_row_length must be >= 0.")
        values = None if nvals is None else number_of(nvals)
        if nrows is not None:
            count = number_of(nrows)
        elif isinstance(length, int) and isinstance(values, int):
            count = values // length if length else 0
        else:
            count = tensor_of(values, int64) // maximum(tensor_of(length, int64), 1)  # no values if the length is 0

        wrong = ValueError if state.graph is None else invalid

        def check(length: Tensor, rows: Tensor, total: Tensor) -> None:
            if int(length) * int(rows) != int(total):
                raise wrong(f"uniform_row_length={int(length)} times nrows={int(rows)} must equal nvals={int(total)}")

        if validate and values is not None:
            check_or_defer(check, length_tensor, tensor_of(count, int64), tensor_of(values, int64))
        if isinstance(length, int) and isinstance(count, int):
            splits = tensor_of(np.arange(count + 1) * length, length_tensor.dtype)
        else:
            one = tensor_of(1, length_tensor.dtype)
            splits = range_op(tensor_of(count, length_tensor.dtype) + one) * length_tensor
        return cls(splits, uniform_row_length=length_tensor, internal=_INTERNAL)

    # ---- components --------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """int32 or int64: the dtype of the splits."""
        return self._row_splits.dtype

    def row_splits(self) -> Tensor:
        """Returns the positions where rows begin, and the end of the last row."""
        return self._row_splits

    def row_lengths(self) -> Tensor:
        """Returns the length of each row."""
        return lengths_of(self._row_splits)

    def row_starts(self) -> Tensor:
        """Returns the position where each row begins."""
        return self._row_splits[:-1]

    def row_limits(self) -> Tensor:
        """Returns the position where each row ends."""
        return self._row_splits[1:]

    def value_rowids(self) -> Tensor:
        """Returns the row of each value, in the dtype of the splits."""
        return rowids_of(self._row_splits)

    def offsets_in_rows(self) -> Tensor:
        """Returns the position of each value in its row."""
        return offsets_of(self._row_splits)

    def longest(self) -> Tensor:
        """Returns the greatest length of a row, or 0."""
        lengths = self.row_lengths()
        if type(lengths) is EagerTensor:
            return tensor_of(max(lengths.value.tolist(), default=0), self.dtype)
        return reduce_max(concat([tensor_of([0], self.dtype), lengths], 0))

    def nrows(self) -> Any:
        """Returns the number of rows."""
        static = self.static_nrows
        if static is not None:
            return tensor_of(static, self.dtype)
        return shape_op(self._row_splits, self.dtype)[0] - tensor_of(1, self.dtype)

    def nvals(self) -> Tensor:
        """Returns the number of values."""
        return self._row_splits[-1]

    def uniform_row_length(self) -> Tensor | None:
        """Returns the length of all rows if it is static, or None."""
        return self._uniform_row_length

    def is_uniform(self) -> bool:
        """Returns True if the rows have one length, which is static."""
        return self._uniform_row_length is not None

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, or None if it is not static."""
        count = self._row_splits.shape[0]
        return None if count is None else count - 1

    @property
    def static_nvals(self) -> int | None:
        """The number of values, or None if it is not static."""
        rows, length = self.static_nrows, self.static_uniform_row_length
        if isinstance(self._row_splits, SymbolicTensor):
            return None if rows is None or length is None else rows * length
        return int(self.splits()[-1])

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of all rows, or None if it is not static."""
        length = None if self._uniform_row_length is None else number_of(self._uniform_row_length)
        return length if isinstance(length, int) else None

    def with_dtype(self, dtype: DTypeLike) -> RowPartition:
        """Returns the partition with splits of another dtype.

        Args:
            dtype: int32 or int64.

        Raises:
            ValueError: it is another dtype.
        """
        to = as_dtype(dtype)
        if to not in (int32, int64):
            raise ValueError(f"Argument dtype must be int32 or int64. Received {to}.")
        if to is self.dtype:
            return self
        uniform = self._uniform_row_length
        return RowPartition(
            tensor_of(self._row_splits, to),
            uniform_row_length=None if uniform is None else tensor_of(uniform, to),
            internal=_INTERNAL,
        )

    def with_uniform_row_length(self, length: Tensor | int) -> RowPartition:
        """Returns the partition with a static length of all rows.

        Args:
            length: the length, which is not checked.
        """
        return RowPartition(self._row_splits, uniform_row_length=tensor_of(length, self.dtype), internal=_INTERNAL)

    def splits(self) -> np.ndarray:
        """Returns the splits as an array, if they have values."""
        return array_of(self._row_splits)

    def same_as(self, other: RowPartition) -> bool:
        """Returns True if another partition has the same rows; False if the graph must run to decide it.

        Args:
            other: a partition.
        """
        mine, theirs = self._row_splits, other._row_splits
        if mine is theirs:
            return True
        if isinstance(mine, SymbolicTensor) or isinstance(theirs, SymbolicTensor):
            return False
        return np.array_equal(array_of(mine), array_of(theirs))

    def must_be(self, other: RowPartition, message: str) -> None:
        """Checks that another partition has the same rows; in a graph, when it runs.

        Args:
            other: a partition.
            message: the message of the error.

        Raises:
            InvalidArgumentError: the rows differ.
        """

        def check(mine: Tensor, theirs: Tensor) -> None:
            if not np.array_equal(array_of(mine), array_of(theirs)):
                raise invalid(message)

        if self._row_splits is not other._row_splits:
            check_or_defer(check, self._row_splits, other._row_splits)

    @property
    def _type_spec(self) -> RowPartitionSpec:
        return RowPartitionSpec(self.static_nrows, self.static_nvals, self.static_uniform_row_length, self.dtype)

    def __repr__(self) -> str:
        if self._uniform_row_length is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self.static_uniform_row_length})"
        symbolic = isinstance(self._row_splits, SymbolicTensor)
        return f"tf.RowPartition(row_splits={self._row_splits if symbolic else self.splits()})"


_INTERNAL = object()


def _not_valid(method: str, condition: str, reason: str) -> Exception:
    kind = "RaggedTensor" if method in ("from_row_splits", "from_row_starts") else "RowPartition"
    condition = f":{condition}" if condition else ""
    return invalid(f"Arguments to {method} do not form a valid {kind}{condition}: {reason}")


@spec_registry.register("tf.RowPartitionSpec")
class RowPartitionSpec(TypeSpec):
    """The spec of a `RowPartition`: the static numbers of rows and values, and length of the rows, or None."""

    __slots__ = ("_dtype", "_nrows", "_nvals", "_uniform_row_length")

    def __init__(
        self, nrows: int | None = None, nvals: int | None = None, uniform_row_length: int | None = None,
        dtype: DTypeLike = int64,
    ) -> None:  # fmt: skip
        self._nrows, self._nvals, self._uniform_row_length = nrows, nvals, uniform_row_length
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: RowPartition) -> RowPartitionSpec:
        """Returns the spec of a partition."""
        return value._type_spec

    @property
    def value_type(self) -> type:
        """`RowPartition`."""
        return RowPartition

    @property
    def _component_specs(self) -> Any:
        return TensorSpec([None if self._nrows is None else self._nrows + 1], self._dtype)

    def _to_components(self, value: RowPartition) -> Any:
        return value.row_splits()

    def _from_components(self, components: Tensor) -> RowPartition:
        partition = RowPartition(components, internal=_INTERNAL)
        uniform = self._uniform_row_length
        return partition if uniform is None else partition.with_uniform_row_length(uniform)

    def _serialize(self) -> tuple[Any, ...]:
        counts = (self._nrows, self._nvals, self._uniform_row_length)
        return *[TensorShape([count]) for count in counts], self._dtype  # as in TensorFlow's SavedModels

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> RowPartitionSpec:
        nrows, nvals, length, dtype = serialization
        return cls(nrows[0], nvals[0], length[0], dtype)

    def __repr__(self) -> str:
        return (
            f"RowPartitionSpec(nrows={self._nrows}, nvals={self._nvals}, "
            f"uniform_row_length={self._uniform_row_length}, dtype={self._dtype!r})"
        )
