"""`tf.RaggedTensor`: a tensor with rows of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import stack
from tapeflow.array.creation import fill
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.errors import OperatorNotAllowedInGraphError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import AxisLike, DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.ragged.row_partition import RowPartition, integers, length_of, tensor_of
from tapeflow.sparse.tensor import SparseTensor

_INTERNAL = object()


class _Methods:
    """The methods of `RaggedTensor` that need the modules above this one, which register them here when they load."""

    dispatch: Callable[..., Any]
    from_sparse: Callable[..., RaggedTensor]
    from_tensor: Callable[..., RaggedTensor]
    getitem: Callable[..., Any]
    merge_dims: Callable[..., Any]
    spec_of: Callable[..., Any]
    to_sparse: Callable[..., SparseTensor]
    to_tensor: Callable[..., Tensor]


methods = _Methods()


class RaggedTensor(CompositeTensor):
    """A tensor with one or more dimensions whose slices have different lengths, as a `from_` method or
    `tf.ragged.constant` creates it.

    It holds its values, all rows joined, and a partition of them into rows. With several ragged dimensions the
    values are ragged themselves.

    Example:
        >>> rt = tf.RaggedTensor.from_row_splits([3, 1, 4, 1], [0, 2, 2, 4])
        >>> rt
        <tf.RaggedTensor [[3, 1], [], [4, 1]]>
        >>> rt + 10
        <tf.RaggedTensor [[13, 11], [], [14, 11]]>
    """

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"  # Keras and others recognize the class by this name
    __slots__ = ("__dict__", "_row_partition", "_values")
    _is_tensor = True
    __array_priority__ = 100

    def __init__(self, values: Any, row_partition: RowPartition, internal: object = False) -> None:
        if internal is not _INTERNAL:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        self._values = values
        self._row_partition = row_partition

    # ---- creation ----------------------------------------------------------------------------------------------------

    @classmethod
    def _from_row_partition(cls, values: Any, row_partition: RowPartition, validate: bool = True) -> RaggedTensor:
        values = as_values(values)
        if values.shape.rank == 0:
            raise invalid("The values of a RaggedTensor must have rank 1 or more, not 0.")

        def check(expected: Tensor, count: Tensor) -> None:
            if int(expected) != int(count):
                raise invalid(
                    "Arguments to _from_row_partition do not form a valid RaggedTensor\nCondition x == y did not "
                    "hold.\n"
                    f"First 1 elements of x:\n[{int(expected)}]\nFirst 1 elements of y:\n[{int(count)}]"
                )

        if validate:
            check_or_defer(check, row_partition.nvals(), tensor_of(length_of(values), int64))
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not row_partition.dtype:
            values, row_partition = values.with_row_splits_dtype(int64), row_partition.with_dtype(int64)
        return cls(values, row_partition, internal=_INTERNAL)

    @classmethod
    def from_row_splits(
        cls, values: TensorLike, row_splits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Returns the rows `values[row_splits[i]:row_splits[i + 1]]`.

        Args:
            values: a tensor or ragged tensor of rank 1 or more.
            row_splits: integers that begin with 0, do not decrease, and end with the number of values.
            validate: checks that; True by default.

        Returns:
            A ragged tensor of one row less than there are splits.

        Raises:
            ValueError: there are no splits.
            InvalidArgumentError: they do not fit.

        Example:
            >>> tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3])
            <tf.RaggedTensor [[1, 2], [3]]>
        """
        return cls._from_row_partition(values, RowPartition.from_row_splits(row_splits, validate), validate)

    @classmethod
    def from_row_lengths(
        cls, values: TensorLike, row_lengths: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Returns rows of these lengths. See `from_row_splits`.

        Args:
            values: a tensor or ragged tensor of rank 1 or more.
            row_lengths: integers that are not negative, and whose sum is the number of values.
            validate: checks that; True by default.

        Raises:
            InvalidArgumentError: the lengths do not fit.

        Example:
            >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 0, 2])
            <tf.RaggedTensor [[1], [], [2, 3]]>
        """
        return cls._from_row_partition(values, RowPartition.from_row_lengths(row_lengths, validate), validate)

    @classmethod
    def from_row_starts(
        cls, values: TensorLike, row_starts: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Returns rows that begin at these positions. See `from_row_splits`.

        Args:
            values: a tensor or ragged tensor of rank 1 or more.
            row_starts: integers that begin with 0 and do not decrease.
            validate: checks that; True by default.

        Example:
            >>> tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 2])
            <tf.RaggedTensor [[1, 2], [3]]>
        """
        items = as_values(values)
        partition = RowPartition.from_row_starts(row_starts, length_of(items), validate)
        return cls._from_row_partition(items, partition, validate)

    @classmethod
    def from_row_limits(
        cls, values: TensorLike, row_limits: TensorLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Returns rows that end before these positions. See `from_row_splits`.

        Args:
            values: a tensor or ragged tensor of rank 1 or more.
            row_limits: integers that do not decrease and end with the number of values.
            validate: checks that; True by default.

        Example:
            >>> tf.RaggedTensor.from_row_limits([1, 2, 3], [2, 3])
            <tf.RaggedTensor [[1, 2], [3]]>
        """
        return cls._from_row_partition(values, RowPartition.from_row_limits(row_limits, validate), validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: TensorLike,
        value_rowids: TensorLike,
        nrows: TensorLike | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Returns rows by the row of each value.

        Args:
            values: a tensor or ragged tensor of rank 1 or more.
            value_rowids: the row of each value; they do not decrease.
            nrows: the number of rows; by default one more than the last row of a value.
            validate: checks that; True by default.

        Raises:
            ValueError: there are not enough rows, or not as many row ids as values.
            InvalidArgumentError: the rows decrease.

        Example:
            >>> tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2])
            <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        items = as_values(values)
        rowids = integers(value_rowids, "value_rowids")
        items.shape[:1].assert_is_compatible_with(rowids.shape[:1])
        count = None if nrows is None else convert(nrows, rowids.dtype)
        return cls._from_row_partition(items, RowPartition.from_value_rowids(rowids, count, validate), validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: TensorLike,
        uniform_row_length: TensorLike,
        nrows: TensorLike | None = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Returns rows of one length; the dimension is static.

        Args:
            values: a tensor or ragged tensor of rank 1 or more.
            uniform_row_length: the length of each row.
            nrows: the number of rows; only needed if the length is 0.
            validate: checks that the lengths add up to the number of values; True by default.

        Raises:
            ValueError: the length is negative, or does not divide the values.

        Example:
            >>> tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).shape
            TensorShape([2, 2])
        """
        items = as_values(values)
        length = integers(uniform_row_length, "uniform_row_length")
        count = None if nrows is None else convert(nrows, length.dtype)
        partition = RowPartition.from_uniform_row_length(length, length_of(items), count, validate)
        return cls._from_row_partition(items, partition, validate)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: TensorLike,
        nested_row_splits: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Returns a ragged tensor with a dimension for each of the row splits.

        Args:
            flat_values: the innermost values.
            nested_row_splits: a list of row splits, outermost first.
            validate: checks that they fit; True by default.

        Example:
            >>> tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2], [0, 1, 3]])
            <tf.RaggedTensor [[[1], [2, 3]]]>
        """
        return cls._nested(flat_values, nested_row_splits, lambda v, s: cls.from_row_splits(v, s, validate=validate))

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: TensorLike,
        nested_row_lengths: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Returns a ragged tensor with a dimension for each of the row lengths.

        Args:
            flat_values: the innermost values.
            nested_row_lengths: a list of row lengths, outermost first.
            validate: checks that they fit; True by default.

        Example:
            >>> tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[2], [1, 2]])
            <tf.RaggedTensor [[[1], [2, 3]]]>
        """
        return cls._nested(flat_values, nested_row_lengths, lambda v, s: cls.from_row_lengths(v, s, validate=validate))

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values: TensorLike, nested_value_rowids: Sequence[TensorLike],
        nested_nrows: Sequence[TensorLike] | None = None, name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:  # fmt: skip
        """Returns a ragged tensor with a dimension for each of the vectors of row ids.

        Args:
            flat_values: the innermost values.
            nested_value_rowids: a list of the rows of values, outermost first.
            nested_nrows: a list of the numbers of rows; by default one more than the last row of a value.
            validate: checks that they fit; True by default.

        Raises:
            ValueError: the two lists differ in length.

        Example:
            >>> tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]])
            <tf.RaggedTensor [[[1], [2, 3]]]>
        """
        if isinstance(nested_value_rowids, Tensor):
            raise TypeError(f"Argument must be a list of Tensors. Received {nested_value_rowids}.")
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError("Argument `nested_nrows` must have the same length as argument `nested_value_rowids`.")
        pairs = list(zip(nested_value_rowids, counts, strict=True))
        return cls._nested(flat_values, pairs, lambda v, p: cls.from_value_rowids(v, p[0], p[1], validate=validate))

    @classmethod
    def _nested(cls, flat_values: TensorLike, parts: Sequence[Any], create: Callable[[Any, Any], Any]) -> Any:
        if isinstance(parts, Tensor):
            raise TypeError(f"Argument must be a list of Tensors. Received {parts}.")
        result = flat_values
        for part in reversed(list(parts)):
            result = create(result, part)
        return result

    @classmethod
    def from_tensor(
        cls, tensor: TensorLike, lengths: TensorLike | None = None, padding: TensorLike | None = None,
        ragged_rank: int = 1, name: str | None = None, row_splits_dtype: DTypeLike = int64,
    ) -> RaggedTensor:  # fmt: skip
        """Returns a dense tensor as a ragged one, without its padding.

        Args:
            tensor: a tensor of rank 2 or more.
            lengths: of the rows, which are cut off there; or a list of lengths for several ragged dimensions.
            padding: the value at the end of rows that is padding.
            ragged_rank: an int, the number of dimensions that become ragged; 1 by default.
            row_splits_dtype: int32 or int64; int64 by default.

        Raises:
            ValueError: the rank is too small, or there are both lengths and padding.

        Example:
            >>> tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
            <tf.RaggedTensor [[1, 2], [3]]>
        """
        return methods.from_tensor(tensor, lengths, padding, ragged_rank, as_dtype(row_splits_dtype))

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = int64
    ) -> RaggedTensor:
        """Returns a sparse matrix whose rows are filled from the left as a ragged tensor.

        Args:
            st_input: a `SparseTensor` of rank 2.
            row_splits_dtype: int32 or int64; int64 by default.

        Raises:
            ValueError: it is no matrix.
            InvalidArgumentError: there is a gap in a row.

        Example:
            >>> tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [2, 0]], [5, 7], [3, 2]))
            <tf.RaggedTensor [[5], [], [7]]>
        """
        return methods.from_sparse(st_input, as_dtype(row_splits_dtype))

    # ---- components --------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape; None for the ragged dimensions."""
        partition = self._row_partition
        rows = TensorShape._of((partition.static_nrows, partition.static_uniform_row_length))
        return rows.concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        """Returns the shape, see `shape`."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of dimensions that are partitioned."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def values(self) -> Any:
        """All rows joined: a tensor, or a ragged one if there are more ragged dimensions."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, without any ragged dimension."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def row_splits(self) -> Tensor:
        """The positions in `values` where rows begin, and the end of the last row: int32 or int64."""
        return self._row_partition.row_splits()

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows if it is static, or None."""
        return self._row_partition.uniform_row_length()

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged dimensions, outermost first."""
        return tuple(p.row_splits() for p in self._nested_row_partitions)

    @property
    def _nested_row_partitions(self) -> tuple[RowPartition, ...]:
        partitions, value = [], self
        while isinstance(value, RaggedTensor):
            partitions.append(value._row_partition)
            value = value._values
        return tuple(partitions)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Returns the lengths of the rows in dimension `axis`.

        Args:
            axis: 0 for the number of rows, 1 for the row lengths, 2 or more for the lengths of inner rows.

        Returns:
            Integers with the dtype of the row splits; a ragged tensor of them for an `axis` above 1.

        Raises:
            ValueError: there is no such dimension.

        Example:
            >>> tf.ragged.constant([[1, 2], [], [3]]).row_lengths().numpy().tolist()
            [2, 0, 1]
        """
        axis = checked_axis(axis, self.shape.rank, "axis")
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_partition.row_lengths()
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = tuple(shape_of(self._values))
        return self.with_values(fill(shape[: axis - 1], tensor_of(shape[axis - 1], self.row_splits.dtype)))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Returns the lengths of the rows of all ragged dimensions, outermost first."""
        return tuple(p.row_lengths() for p in self._nested_row_partitions)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Returns the position in `values` where each row begins."""
        return self._row_partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """Returns the position in `values` where each row ends."""
        return self._row_partition.row_limits()

    def value_rowids(self, name: str | None = None) -> Tensor:
        """Returns the row of each value.

        Example:
            >>> tf.ragged.constant([[1, 2], [], [3]]).value_rowids().numpy().tolist()
            [0, 0, 2]
        """
        return self._row_partition.value_rowids()

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """Returns the rows of the values of all ragged dimensions, outermost first."""
        return tuple(p.value_rowids() for p in self._nested_row_partitions)

    def nrows(self, out_type: DTypeLike = None, name: str | None = None) -> Tensor:
        """Returns the number of rows, a scalar.

        Args:
            out_type: int32 or int64; by default the dtype of the row splits.
        """
        return tensor_of(self._row_partition.nrows(), self.row_splits.dtype if out_type is None else as_dtype(out_type))

    def bounding_shape(self, axis: AxisLike = None, name: str | None = None, out_type: DTypeLike = None) -> Tensor:
        """Returns the least shape of a dense tensor that all rows fit in.

        Args:
            axis: an int or a list of ints, the dimension or dimensions to return; all by default.
            out_type: int32 or int64; by default the dtype of the row splits.

        Example:
            >>> tf.ragged.constant([[1, 2, 3], [4]]).bounding_shape().numpy().tolist()
            [2, 3]
        """
        dtype = self.row_splits.dtype if out_type is None else as_dtype(out_type)
        sizes = [self._row_partition.nrows(), *[p.longest() for p in self._nested_row_partitions]]
        sizes = [tensor_of(s, dtype) for s in (*sizes, *shape_of(self.flat_values)[1:])]
        if axis is None:
            return stack(sizes)
        return sizes[axis] if isinstance(axis, int) else stack([sizes[int(a)] for a in axis])

    def consumers(self) -> list[Any]:
        """Returns an empty list: operations of a graph consume the components."""
        return []

    # ---- other components --------------------------------------------------------------------------------------------

    def with_values(self, new_values: TensorLike) -> RaggedTensor:
        """Returns other values in the same rows.

        Args:
            new_values: a tensor or ragged tensor with as many rows as `values`.

        Raises:
            ValueError: there are more or fewer values.

        Example:
            >>> tf.ragged.constant([[1, 2], [3]]).with_values(["a", "b", "c"])
            <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
        """
        values = as_values(new_values)
        values.shape[:1].assert_is_compatible_with(self._values.shape[:1])
        return RaggedTensor._from_row_partition(values, self._row_partition, validate=False)

    def with_flat_values(self, new_values: TensorLike) -> RaggedTensor:
        """Returns other innermost values in the same rows.

        Args:
            new_values: a tensor with as many rows as `flat_values`.

        Raises:
            ValueError: there are more or fewer values.

        Example:
            >>> tf.ragged.constant([[[1], [2]], [[3]]]).with_flat_values([4, 5, 6])
            <tf.RaggedTensor [[[4], [5]], [[6]]]>
        """
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """Returns the ragged tensor with row splits of another dtype.

        Args:
            dtype: int32 or int64.
        """
        if as_dtype(dtype) is self.row_splits.dtype:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(values, self._row_partition.with_dtype(dtype), internal=_INTERNAL)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merges neighbouring dimensions into one.

        Args:
            outer_axis, inner_axis: ints, the first and the last of them.

        Returns:
            A ragged tensor; a tensor if no ragged dimension is left.

        Raises:
            ValueError: there is no such dimension.

        Example:
            >>> tf.ragged.constant([[[1], [2, 3]], [[4]]]).merge_dims(1, 2)
            <tf.RaggedTensor [[1, 2, 3], [4]]>
        """
        return methods.merge_dims(self, outer_axis, inner_axis)

    # ---- conversion --------------------------------------------------------------------------------------------------

    def to_tensor(
        self, default_value: TensorLike | None = None, name: str | None = None, shape: ShapeLike = None
    ) -> Tensor:
        """Returns the rows in a dense tensor, padded to one length.

        Args:
            default_value: the padding; by default zero, or an empty string.
            shape: the shape of the result; longer rows are cut off, shorter ones padded. None in it stands for the
                longest row.

        Raises:
            InvalidArgumentError: the shape or the default value does not fit.

        Example:
            >>> tf.ragged.constant([[1, 2], [3]]).to_tensor().numpy().tolist()
            [[1, 2], [3, 0]]
        """
        return methods.to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Returns the values as a `SparseTensor`, with each row filled from the left.

        Example:
            >>> tf.ragged.constant([[1, 2], [3]]).to_sparse().indices.numpy().tolist()
            [[0, 0], [0, 1], [1, 0]]
        """
        return methods.to_sparse(self)

    def to_list(self) -> list[Any]:
        """Returns the values as nested lists.

        Raises:
            ValueError: it is a graph's, without a value.
        """
        if isinstance(self.flat_values, SymbolicTensor):
            raise ValueError("values must be convertible to a list")
        values = self._values
        items = values.to_list() if isinstance(values, RaggedTensor) else values.numpy().tolist()
        splits = self._row_partition.splits().tolist()
        return [items[i:j] for i, j in zip(splits[:-1], splits[1:], strict=True)]

    def numpy(self) -> np.ndarray:
        """Returns an array of the rows: of objects if their lengths differ.

        Raises:
            ValueError: it is a graph's, without a value.
        """
        if isinstance(self.flat_values, SymbolicTensor):
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values = np.asarray(self._values.numpy())
        rows = np.split(values, self._row_partition.splits()[1:-1])
        if self._row_partition.static_nrows == 0:
            return np.empty((0, *values.shape), values.dtype)
        if all(len(row) == len(rows[0]) for row in rows):
            return np.stack(rows)
        array = np.empty(len(rows), object)
        array[:] = rows
        return array

    # ---- Python's protocols ------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        return methods.getitem(self, key)

    def __iter__(self) -> Iterator[Any]:
        count = self._row_partition.static_nrows
        if count is None:
            raise OperatorNotAllowedInGraphError(
                "Iterating over a symbolic `tf.RaggedTensor` of an unknown number of rows is not allowed: loop over "
                "them in a function that AutoGraph converts, or use tf.map_fn."
            )
        for i in range(count):
            yield self[i]

    def __tf_autograph_for__(self, loop: Any) -> None:
        """Loops over the rows in a graph."""
        count = self.nrows()
        loop.over((tensor_of(0, count.dtype),), lambda i: i < count, lambda i: (self[i], (i + 1,)))

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        values = self.flat_values
        if isinstance(values, SymbolicTensor) and not values.op.graph.building_function:
            return id(self)  # a key of a session's feeds
        raise TypeError("RaggedTensor is unhashable.")

    def __tf_dispatch__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Returns the result of an op for ragged tensors, or NotImplemented."""
        return methods.dispatch(function, args)

    @property
    def _type_spec(self) -> Any:
        return methods.spec_of(self)

    def __repr__(self) -> str:
        if isinstance(self.row_splits, SymbolicTensor) or isinstance(self.flat_values, SymbolicTensor):
            return f"tf.RaggedTensor(values={self._values!r}, row_splits={self.row_splits!r})"
        return f"<tf.RaggedTensor {_array_text(self.numpy())}>"


def _array_text(value: object) -> str:
    """Returns an array of arrays as text, with commas."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if not value.size:
        return str(value.tolist())
    return np.array2string(value, separator=", ", formatter={"all": _array_text})


def as_values(value: TensorLike) -> Any:
    """Converts a value to a tensor, unless it is a tensor or a ragged tensor."""
    return value if isinstance(value, (Tensor, RaggedTensor)) else convert(value)


def checked_axis(axis: int, rank: int | None, name: str) -> int:
    """Returns a dimension, counted from the front.

    Raises:
        TypeError: it is no Python int.
        ValueError: there is no such dimension, or it is counted from the back of an unknown number of dimensions.
    """
    if not isinstance(axis, int):
        raise TypeError(f"{name} must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError(f"{name}={axis} may only be negative if rank(self) is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return axis % rank
