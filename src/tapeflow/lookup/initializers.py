"""Initializers, which fill static tables: with tensors, the lines of a text file, or a dataset."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, float64, int32, int64, string
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.core.values.trackable import Trackable
from tapeflow.graph.ir.python_op import python_op
from tapeflow.io.gfile import GFile
from tapeflow.lookup.storage import storage_of, text_of
from tapeflow.strings.kernels import lines_of, raw_value


class TableInitializer(Trackable):
    """Fills a table with keys of one dtype and values of another."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    def initialize(self, table: Any) -> Any:
        """Fills a table.

        Args:
            table: a `tf.lookup.StaticHashTable`.
        """
        raise NotImplementedError


class KeyValueTensorInitializer(TableInitializer):
    """Fills a table with the pairs of two vectors.

    Args:
        keys, values: vectors of one length.
        key_dtype, value_dtype: the dtypes of keys and values; inferred by default. Tensors must have these dtypes.

    Example:
        >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["b", "c"])).numpy().tolist()
        [2, -1]
    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike = None,
        value_dtype: DTypeLike = None,
        name: str | None = None,
    ) -> None:
        self._keys = convert(keys, None if key_dtype is None else as_dtype(key_dtype))
        self._values = convert(values, None if value_dtype is None else as_dtype(value_dtype))
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Any:
        """Fills a table: at once, or when the graph that is being built runs.

        Args:
            table: a `tf.lookup.StaticHashTable`.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            InvalidArgumentError: there are not as many values as keys.
            FailedPreconditionError: a key has two values.
        """
        table.check_dtypes(self._key_dtype, self._value_dtype)
        return _fill_table("LookupTableImportV2", table, [self._keys, self._values], lambda *pairs: pairs)


def _fill_table(
    op: str, table: Any, inputs: list[Any], pairs: Callable[..., Any], attrs: dict[str, Any] | None = None
) -> Any:
    """Fills a table: at once, or when the graph that is being built runs.

    Args:
        op: the op's name.
        table: the table.
        inputs: the tensors that the op takes beside the table's handle.
        pairs: takes them as eager tensors, and returns a tensor of keys and one of values.
        attrs: the attrs of the op.

    Returns:
        The operation, in a graph; eagerly None.
    """

    def fill(handle: Tensor, *tensors: EagerTensor) -> None:
        storage_of(handle).fill(*pairs(*tensors))

    inputs = [table.resource_handle, *inputs]
    if any(isinstance(t, SymbolicTensor) for t in inputs):
        return python_op(op, fill, inputs, attrs=attrs)
    return fill(*inputs)


class TextFileIndex:
    """The parts of a line that become a key or value, beside the number of a column.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkstemp()[1]
        >>> tf.io.write_file(path, "a\\nb\\n")
        >>> whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        >>> lines = tf.lookup.TextFileInitializer(path, tf.string, whole, tf.int64, number)
        >>> tf.lookup.StaticHashTable(lines, -1).lookup(tf.constant(["b"])).numpy().tolist()
        [1]
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


_NUMBERS: dict[DType, Callable[[bytes], Any]] = {int32: int, int64: int, float32: float, float64: float, string: bytes}


class TextFileInitializer(TableInitializer):
    """Fills a table with the lines of a text file.

    Args:
        filename: the path of the file.
        key_dtype: the dtype of the keys.
        key_index: an int, the number of the column that holds keys, or a `tf.lookup.TextFileIndex`.
        value_dtype: the dtype of the values.
        value_index: an int, the number of the column that holds values, or a `tf.lookup.TextFileIndex`.
        vocab_size: an int, the number of lines to read; None for all.
        delimiter: the character between columns.
        value_index_offset: an int that is added to values that are line numbers; 0 by default.

    Raises:
        ValueError: an index does not go with its dtype.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "words")
        >>> tf.io.write_file(path, "one\\ntwo\\n")
        >>> index = tf.lookup.TextFileIndex
        >>> init = tf.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
        >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant("two")).numpy().item()
        1
    """

    def __init__(
        self,
        filename: str | bytes | Tensor,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        super().__init__(key_dtype, value_dtype)
        for role, index, dtype in (("key", key_index, self._key_dtype), ("value", value_index, self._value_dtype)):
            if index < -2:
                raise ValueError(f"`{role}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                raise ValueError(f"`{role}_dtype` must be int64 if `{role}_index` is -1, received: {dtype!s}")
            if index == TextFileIndex.WHOLE_LINE and not (dtype is string or dtype.is_integer):
                raise ValueError(
                    f"`{role}_dtype` should be either integer or string for `{role}_index` -2, received: {dtype!s}"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._filename = convert(filename, string)
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size, self._delimiter, self._offset = vocab_size, delimiter.encode(), value_index_offset

    def initialize(self, table: Any) -> Any:
        """Fills a table: at once, or when the graph that is being built runs.

        Args:
            table: a `tf.lookup.StaticHashTable`.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            NotFoundError: there is no such file.
            InvalidArgumentError: a line has too few columns, a field does not convert, or there are too few lines.
            OutOfRangeError: the file is empty.
            FailedPreconditionError: a key has two values.
        """
        table.check_dtypes(self._key_dtype, self._value_dtype)
        attrs = {
            "key_index": self._key_index,
            "value_index": self._value_index,
            "vocab_size": -1 if self._vocab_size is None else self._vocab_size,
            "delimiter": self._delimiter.decode(),
            "offset": self._offset,
        }
        return _fill_table("InitializeTableFromTextFileV2", table, [self._filename], self.pairs, attrs)

    def pairs(self, filename: EagerTensor) -> tuple[EagerTensor, EagerTensor]:
        """Returns the keys and values that the file holds."""
        path = filename.value.item()
        lines = self._lines(path)
        return (
            self._column(path, lines, self._key_index, self._key_dtype, 0),
            self._column(path, lines, self._value_index, self._value_dtype, self._offset),
        )

    def _lines(self, path: bytes) -> StringArray:
        if len(self._delimiter) != 1:
            raise invalid("delimiter should be only 1 char [Op:InitializeTableFromTextFileV2] name: ")
        with GFile(os.fsdecode(path), "rb") as file:
            content = file.read()
        if not content:
            raise OutOfRangeError.of(f"{text_of(path)} is empty [Op:InitializeTableFromTextFileV2] name: ")
        lines = lines_of(content)
        if self._vocab_size is not None:
            if len(lines) < self._vocab_size:
                raise invalid(
                    f"Invalid vocab_size in {text_of(path)}: expected {self._vocab_size} but got {len(lines)} "
                    "[Op:InitializeTableFromTextFileV2] name: "
                )
            lines = lines[: self._vocab_size]
        return lines

    def _column(self, path: bytes, lines: StringArray, index: int, dtype: DType, offset: int) -> EagerTensor:
        """Returns the keys or values in a column of all lines."""
        if index == TextFileIndex.LINE_NUMBER:
            return EagerTensor(torch.arange(offset, offset + len(lines)), int64)
        if index == TextFileIndex.WHOLE_LINE and dtype is string:
            return EagerTensor(lines, string)
        values = [self._field(path, line, i, index, dtype) for i, line in enumerate(lines)]
        return EagerTensor(raw_value(values, dtype), dtype)

    def _field(self, path: bytes, line: bytes, number: int, index: int, dtype: DType) -> Any:
        text = line
        if index != TextFileIndex.WHOLE_LINE:
            fields = line.split(self._delimiter)
            if index >= len(fields):
                raise invalid(
                    f"Invalid number of columns in {text_of(path)} line {number} ({text_of(line)}) : expected at least "
                    f"{index + 1} got {len(fields)} [Op:InitializeTableFromTextFileV2] name: "
                )
            text = fields[index]
        try:
            return _NUMBERS[dtype](text)
        except (KeyError, ValueError):
            raise invalid(
                f"Field {text_of(text)} in line {number} is not a valid {dtype.name}. "
                "[Op:InitializeTableFromTextFileV2] name: "
            ) from None


class DatasetInitializer(TableInitializer):
    """Fills a table with the elements of a dataset: pairs of a key and a value. Public in `tf.data.experimental`.

    Args:
        dataset: a dataset of pairs of scalars.

    Raises:
        ValueError: its elements are not such pairs.

    Example:
        >>> ds = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(["a", "b"]), tf.data.Dataset.range(2)))
        >>> init = tf.data.experimental.DatasetInitializer(ds)
        >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["b"])).numpy().tolist()
        [1]
    """

    def __init__(self, dataset: Any) -> None:
        spec = dataset.element_spec
        if not (type(spec) is tuple and len(spec) == 2 and all(hasattr(s, "dtype") for s in spec)):
            raise ValueError(
                f"Invalid `dataset`. Expected elements that are pairs of a key and a value, but got {spec}."
            )
        super().__init__(spec[0].dtype, spec[1].dtype)
        self._dataset = dataset

    def initialize(self, table: Any) -> Any:
        """Fills a table: at once, or when the graph that is being built runs.

        Args:
            table: a `tf.lookup.StaticHashTable`.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            OutOfRangeError: the dataset is empty.
            FailedPreconditionError: a key has two values.
        """
        table.check_dtypes(self._key_dtype, self._value_dtype)
        return ops.InitializeTableFromDataset(table.resource_handle, self._dataset._variant_tensor)
