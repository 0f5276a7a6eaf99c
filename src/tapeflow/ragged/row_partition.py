"""How a sequence of values is cut into rows: `tf.experimental.RowPartition`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.composite import CompositeTensor
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import DType, as_dtype, int32, int64
from tapeflow.core.spec import TensorSpec, TypeSpec
from tapeflow.core.tensor import EagerTensor, Tensor, invalid


def integers(value: Any, what: str, dtype: Any = None) -> Tensor:
    """A tensor of int32 or int64: as given, or else int64.

    Raises:
        ValueError: it is of another dtype.
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
        raise ValueError(f"{what} must have dtype int32 or int64")
    return tensor


def tensor_of(array: Any, dtype: DType) -> EagerTensor:
    """An int32 or int64 tensor of numbers."""
    return convert(np.asarray(array, dtype=dtype.as_numpy_dtype))


def array_of(tensor: Any) -> np.ndarray:
    """The numbers of an integer tensor."""
    return np.asarray(tensor._numpy())


class RowPartition(CompositeTensor):
    """How a sequence of values is cut into rows; made by one of the `from_` methods.

    Example:
        >>> from tapeflow.ragged.row_partition import RowPartition
        >>> RowPartition.from_row_lengths([2, 0, 1]).row_splits().numpy().tolist()
        [0, 2, 2, 3]
    """

    __slots__ = ("_row_splits", "_uniform_row_length")

    def __init__(
        self, row_splits: Any, row_lengths: Any = None, value_rowids: Any = None, nrows: Any = None,
        uniform_row_length: Any = None, nvals: Any = None, internal: Any = False,
    ) -> None:  # fmt: skip
        if internal is not _INTERNAL:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead (e.g., "
                "RowPartition.from_row_lengths())"
            )
        self._row_splits = row_splits
        self._uniform_row_length = uniform_row_length

    # ---- making one --------------------------------------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, row_splits: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Rows from each split to the next; the first split is 0.

        Raises:
            ValueError: there is no split.
            InvalidArgumentError: the first is not 0, or they decrease.
        """
        splits = integers(row_splits, "row_splits", dtype)
        splits.shape.assert_has_rank(1)
        if splits.shape[0] == 0:
            raise ValueError("row_splits tensor may not be empty.")
        if validate:
            numbers = array_of(splits)
            if numbers[0] != 0:
                raise _not_valid("from_row_splits", "zero", f"the first row split is {numbers[0]}, not 0")
            if (np.diff(numbers) < 0).any():
                raise _not_valid("from_row_splits", "monotonic", f"row splits decrease: {numbers.tolist()}")
        return cls(splits, internal=_INTERNAL)

    @classmethod
    def from_row_lengths(cls, row_lengths: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Rows of the given lengths.

        Raises:
            InvalidArgumentError: a length is negative.
        """
        lengths = integers(row_lengths, "row_lengths", dtype)
        lengths.shape.assert_has_rank(1)
        numbers = array_of(lengths)
        if validate and (numbers < 0).any():
            raise _not_valid("from_row_lengths", "", f"row lengths are negative: {numbers.tolist()}")
        return cls(tensor_of(np.concatenate([[0], np.cumsum(numbers)]), lengths.dtype), internal=_INTERNAL)

    @classmethod
    def from_row_starts(cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Rows that begin at the given positions, the last going up to `nvals`."""
        starts = integers(row_starts, "row_starts", dtype)
        starts.shape.assert_has_rank(1)
        splits = np.concatenate([array_of(starts), [int(nvals)]])
        return cls.from_row_splits(tensor_of(splits, starts.dtype), validate)

    @classmethod
    def from_row_limits(cls, row_limits: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
        """Rows that end before the given positions."""
        limits = integers(row_limits, "row_limits", dtype)
        limits.shape.assert_has_rank(1)
        return cls.from_row_splits(tensor_of(np.concatenate([[0], array_of(limits)]), limits.dtype), validate)

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None
    ) -> RowPartition:
        """Rows by the row of each value, in order.

        Raises:
            ValueError: there are not enough rows.
            InvalidArgumentError: the rows decrease or are negative.
        """
        rowids = integers(value_rowids, "value_rowids", dtype)
        rowids.shape.assert_has_rank(1)
        numbers = array_of(rowids)
        needed = int(numbers[-1]) + 1 if len(numbers) else 0
        count = needed if nrows is None else int(nrows)
        if count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        if validate:
            if nrows is not None and count < needed:
                raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={needed - 1}")
            if len(numbers) and (numbers[0] < 0 or (np.diff(numbers) < 0).any()):
                raise _not_valid("from_value_rowids", "", f"rows of values decrease or are negative: {numbers.tolist()}")
        lengths = np.bincount(numbers, minlength=count)
        return cls(tensor_of(np.concatenate([[0], np.cumsum(lengths)]), rowids.dtype), internal=_INTERNAL)

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length: Any, nvals: Any = None, nrows: Any = None, validate: bool = True, dtype: Any = None,
        dtype_hint: Any = int64,
    ) -> RowPartition:  # fmt: skip
        """Rows of one length.

        Raises:
            ValueError: the length is negative, or does not divide the values.
        """
        if nvals is None and nrows is None:
            raise ValueError("At least one of nvals and nrows must be specified.")
        length_tensor = integers(uniform_row_length, "uniform_row_length", dtype)
        length = int(length_tensor)
        if length < 0:
            raise ValueError("uniform_row_length must be >= 0.")
        if nrows is None:
            count = int(nvals) // length if length else 0
        else:
            count = int(nrows)
        if validate and nvals is not None and count * length != int(nvals):
            raise ValueError(f"uniform_row_length={length} times nrows={count} must equal nvals={int(nvals)}")
        splits = tensor_of(np.arange(count + 1) * length, length_tensor.dtype)
        return cls(splits, uniform_row_length=length_tensor, internal=_INTERNAL)

    # ---- looking at it -----------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """int32 or int64: the dtype of the splits."""
        return self._row_splits.dtype

    def row_splits(self) -> Tensor:
        """Where each row begins, and at the end where the last one ends."""
        return self._row_splits

    def row_lengths(self) -> Tensor:
        """The length of each row."""
        return tensor_of(self.lengths(), self.dtype)

    def row_starts(self) -> Tensor:
        """Where each row begins."""
        return tensor_of(self.splits()[:-1], self.dtype)

    def row_limits(self) -> Tensor:
        """Where each row ends."""
        return tensor_of(self.splits()[1:], self.dtype)

    def value_rowids(self) -> Tensor:
        """The row of each value."""
        return tensor_of(self.rowids(), self.dtype)

    def offsets_in_rows(self) -> Tensor:
        """The position of each value in its row."""
        return tensor_of(self.offsets(), self.dtype)

    def nrows(self) -> Tensor:
        """How many rows there are."""
        return tensor_of(self.static_nrows, self.dtype)

    def nvals(self) -> Tensor:
        """How many values there are."""
        return tensor_of(self.static_nvals, self.dtype)

    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, if they are known to be equally long."""
        return self._uniform_row_length

    def is_uniform(self) -> bool:
        """Whether the rows are known to be equally long."""
        return self._uniform_row_length is not None

    @property
    def static_nrows(self) -> int:
        """How many rows there are."""
        return self._row_splits.shape[0] - 1

    @property
    def static_nvals(self) -> int:
        """How many values there are."""
        return int(self.splits()[-1])

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of all rows, if they are known to be equally long."""
        return None if self._uniform_row_length is None else int(self._uniform_row_length)

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same partition with splits of another dtype."""
        to = as_dtype(dtype)
        if to not in (int32, int64):
            raise ValueError(f"Argument dtype must be int32 or int64. Received {to}.")
        if to is self.dtype:
            return self
        uniform = self._uniform_row_length
        return RowPartition(
            tensor_of(self.splits(), to),
            uniform_row_length=None if uniform is None else tensor_of(int(uniform), to),
            internal=_INTERNAL,
        )

    # The same as NumPy arrays, for what computes with them.

    def splits(self) -> np.ndarray:
        return array_of(self._row_splits)

    def lengths(self) -> np.ndarray:
        return np.diff(self.splits())

    def rowids(self) -> np.ndarray:
        return np.repeat(np.arange(self.static_nrows), self.lengths())

    def offsets(self) -> np.ndarray:
        return offsets_in_rows(self.lengths())

    def same_as(self, other: RowPartition) -> bool:
        """Whether another partition has the same rows."""
        return self._row_splits is other._row_splits or np.array_equal(self.splits(), other.splits())

    @property
    def _type_spec(self) -> RowPartitionSpec:
        return RowPartitionSpec(self.static_nrows, self.static_nvals, self.static_uniform_row_length, self.dtype)

    def __repr__(self) -> str:
        if self._uniform_row_length is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={int(self._uniform_row_length)})"
        return f"tf.RowPartition(row_splits={self.splits()})"


def offsets_in_rows(lengths: np.ndarray) -> np.ndarray:
    """0, 1, 2, ... in each row of those lengths."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(starts, lengths)


_INTERNAL = object()


def _not_valid(maker: str, what: str, said: str) -> Exception:
    of = "RaggedTensor" if maker in ("from_row_splits", "from_row_starts") else "RowPartition"
    return invalid(f"Arguments to {maker} do not form a valid {of}{':' + what if what else ''}: {said}")


class RowPartitionSpec(TypeSpec):
    """The spec of a `RowPartition`: how many rows and values, and of what length."""

    __slots__ = ("_dtype", "_nrows", "_nvals", "_uniform_row_length")

    def __init__(
        self, nrows: int | None = None, nvals: int | None = None, uniform_row_length: int | None = None,
        dtype: Any = int64,
    ) -> None:  # fmt: skip
        self._nrows, self._nvals, self._uniform_row_length = nrows, nvals, uniform_row_length
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: RowPartition) -> RowPartitionSpec:
        """The spec of a partition."""
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

    def _from_components(self, components: Any) -> RowPartition:
        uniform = self._uniform_row_length
        return RowPartition(
            components,
            uniform_row_length=None if uniform is None else tensor_of(uniform, self._dtype),
            internal=_INTERNAL,
        )

    def _serialize(self) -> tuple[Any, ...]:
        return self._nrows, self._nvals, self._uniform_row_length, self._dtype
