"""Datasets of the contents of files: lines of text, TFRecords, records of fixed length, fields of CSV."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow.array.properties import size
from tapeflow.array.shaping import reshape
from tapeflow.core.errors import DataLossError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.boxed_objects import boxed
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.data.batches import runs
from tapeflow.data.dataset import Dataset
from tapeflow.data.maps import FlatMapDataset, LegacyInterleaveDataset, ParallelInterleaveDataset, function_of, in_turn
from tapeflow.data.node import Fields, Node, VariantDataset, add_operation, dataset_op, integer, text
from tapeflow.data.nodes import TensorSliceDataset
from tapeflow.data.parts import register
from tapeflow.data.structure import Element
from tapeflow.data.threads import AUTOTUNE, cores
from tapeflow.io.csv import CsvParser, defaults_of
from tapeflow.io.files import matching_files
from tapeflow.io.records import opened, read_records
from tapeflow.math.extrema import maximum

_BUFFER = 256 * 1024  # the bytes that are read at once


def _dataset_of(filenames: Any) -> Dataset:
    """Returns file names as a dataset.

    Raises:
        TypeError: they are no strings.
    """
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        dtype = getattr(spec, "dtype", None)
        if dtype is not string:
            raise TypeError(
                f"The `filenames` argument must contain `tf.string` elements. Got a dataset of `{dtype!r}` elements."
            )
        if not spec.shape.is_compatible_with(TensorShape([])):
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a "
                f"dataset of element shape {spec.shape!r}."
            )
        return filenames
    names = filenames if isinstance(filenames, Tensor) else convert(_plain(filenames))
    empty = names.shape.num_elements() == 0
    if names.dtype is not string and not empty:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got `{names.dtype!r}` elements.")
    return TensorSliceDataset(convert([], string) if empty else reshape(names, [-1]), is_files=True)


def _plain(filenames: Any) -> Any:
    """Returns names with `os.PathLike` ones as text."""
    if isinstance(filenames, (list, tuple)):
        return [_plain(f) for f in filenames]
    return filenames.__fspath__() if hasattr(filenames, "__fspath__") else filenames


class OfFiles(Node):
    """A node over names of files. Its operation reads one file; an operation around it opens one after the other."""

    _is_slow = True
    _parallel = 0  # how many files are read in turn; 0 for one after the other

    def _operation(self) -> Any:
        fields, names = Fields(self), self._input_dataset

        def read(name: Any) -> Dataset:
            files = reshape(name, [1])
            variant = add_operation(self._op, lambda n, d: files if n == "filenames" else fields(n, d))
            return VariantDataset(variant, self._spec)

        if not self._parallel:
            return FlatMapDataset(names, function_of(names, read, "flat_map"))._variant_tensor
        function = function_of(names, read, "interleave")
        if self._parallel == AUTOTUNE:
            return ParallelInterleaveDataset(names, function, AUTOTUNE, 1, AUTOTUNE)._variant_tensor
        return LegacyInterleaveDataset(names, function, self._parallel, 1)._variant_tensor

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self._spec}>"


class FileDataset(OfFiles):
    """The contents of files, one after the other or several in turn.

    Args:
        filenames: a string tensor, or a dataset of string scalars.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes that are read at once.
        num_parallel_reads: the number of files that are read in turn; one file after the other for None.
    """

    def __init__(self, filenames: Any, compression_type: Any, buffer_size: Any, num_parallel_reads: Any = None) -> None:
        self._compression_type = text(compression_type or "")
        self._buffer_size = _BUFFER if buffer_size is None else integer(buffer_size)
        self._parallel = 0 if num_parallel_reads is None else integer(num_parallel_reads)
        if num_parallel_reads is not None and self._parallel < 1 and self._parallel != AUTOTUNE:
            raise invalid("`cycle_length` must be > 0 [Op:LegacyParallelInterleaveDatasetV2] name: ")
        super().__init__(TensorSpec([], string), _dataset_of(filenames))

    @classmethod
    def _of_op(cls, filenames: Any, compression_type: bytes, buffer_size: int) -> Any:
        return cls(filenames, compression_type, buffer_size)

    def _iterate(self) -> Iterator[Element]:
        files = map(self._contents, self._input_dataset._iterate())
        if self._parallel:
            contents = in_turn(files, cores() if self._parallel == AUTOTUNE else self._parallel, 1)
        else:
            contents = itertools.chain.from_iterable(files)
        return zip(map(boxed, contents), strict=False)

    def _contents(self, name: Element) -> Iterator[bytes]:
        return self._contents_of(name[0].item())

    def _contents_of(self, path: bytes) -> Iterator[bytes]:
        """Yields the contents of a file, element by element."""
        raise NotImplementedError


@dataset_op("TextLineDataset")
class TextLineDatasetV2(FileDataset):
    """The lines of text files, as string scalars without their ends.

    Args:
        filenames: a string tensor, or a dataset of string scalars.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes that are read at once.
        num_parallel_reads: the number of files that are read in turn; one file after the other for None.

    Raises:
        TypeError: `filenames` are no strings.
        NotFoundError: at an iterator, if there is no such file.
        DataLossError: at an iterator, if a file is not compressed so.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "text")
        >>> tf.io.write_file(path, "one\\ntwo\\n")
        >>> [line.numpy() for line in tf.data.TextLineDataset(path)]
        [b'one', b'two']
    """

    def __init__(
        self, filenames: TensorLike | os.PathLike[str] | Dataset, compression_type: str | None = None,
        buffer_size: int | None = None, num_parallel_reads: TensorLike | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(filenames, compression_type, buffer_size, num_parallel_reads)

    def _contents_of(self, path: bytes) -> Iterator[bytes]:
        with opened(path, self._compression_type, self._buffer_size) as file:
            for line in file:
                yield line.removesuffix(b"\n").removesuffix(b"\r")


@dataset_op("TFRecordDataset", "TFRecordDatasetV2")
class TFRecordDatasetV2(FileDataset):
    """The records of TFRecord files, as string scalars.

    Args:
        filenames: a string tensor, or a dataset of string scalars.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes that are read at once.
        num_parallel_reads: the number of files that are read in turn; one file after the other for None.

    Raises:
        TypeError: `filenames` are no strings.
        NotFoundError: at an iterator, if there is no such file.
        DataLossError: at an iterator, if a record is cut off or damaged.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file.tfrecord")
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"record")
        >>> [r.numpy() for r in tf.data.TFRecordDataset([path, path])]
        [b'record', b'record']
    """

    def __init__(
        self, filenames: TensorLike | os.PathLike[str] | Dataset, compression_type: str | None = None,
        buffer_size: int | None = None, num_parallel_reads: TensorLike | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(filenames, compression_type, buffer_size, num_parallel_reads)

    def _contents_of(self, path: bytes) -> Iterator[bytes]:
        return read_records(path, self._compression_type, self._buffer_size)


@dataset_op("FixedLengthRecordDatasetV2", "FixedLengthRecordDataset")
class FixedLengthRecordDatasetV2(FileDataset):
    """Records of a fixed length of binary files, as string scalars.

    Args:
        filenames: a string tensor, or a dataset of string scalars.
        record_bytes: the length of a record.
        header_bytes, footer_bytes: the numbers of bytes that are left out at the start and the end of each file.
        buffer_size: the number of bytes that are read at once.
        compression_type: "", "ZLIB" or "GZIP".
        num_parallel_reads: the number of files that are read in turn; one file after the other for None.

    Raises:
        TypeError: `filenames` are no strings.
        InvalidArgumentError: at an iterator, if a length is not positive, or a file's is no multiple of it.
        DataLossError: at an iterator, if what is compressed is no multiple of it.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file")
        >>> tf.io.write_file(path, "-aabb")
        >>> [r.numpy() for r in tf.data.FixedLengthRecordDataset(path, 2, header_bytes=1)]
        [b'aa', b'bb']
    """

    def __init__(
        self, filenames: TensorLike | os.PathLike[str] | Dataset, record_bytes: TensorLike,
        header_bytes: TensorLike | None = None, footer_bytes: TensorLike | None = None, buffer_size: int | None = None,
        compression_type: str | None = None, num_parallel_reads: TensorLike | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        lengths = [0 if n is None else integer(n) for n in (record_bytes, header_bytes, footer_bytes)]
        self._record_bytes, self._header_bytes, self._footer_bytes = lengths
        super().__init__(filenames, compression_type, buffer_size, num_parallel_reads)

    @classmethod
    def _of_op(  # type: ignore[override]
        cls, filenames: Any, header_bytes: int, record_bytes: int, footer_bytes: int, buffer_size: int,
        compression_type: bytes = b"",
    ) -> Any:  # fmt: skip
        return cls(filenames, record_bytes, header_bytes, footer_bytes, buffer_size, compression_type.decode())

    def _contents_of(self, path: bytes) -> Iterator[bytes]:
        length, header, footer = self._record_bytes, self._header_bytes, self._footer_bytes
        if length <= 0:
            raise invalid("`record_bytes` must be > 0 [Op:FixedLengthRecordDatasetV2]")
        for number, what in ((header, "header"), (footer, "footer")):
            if number < 0:
                raise invalid(f"`{what}_bytes` must be >= 0 [Op:FixedLengthRecordDatasetV2]")
        with opened(path, self._compression_type, self._buffer_size) as file:
            body = file.read()[header:]
        body = body[: len(body) - footer] if footer <= len(body) else b""
        if len(body) % length:
            message = (
                f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
                f'"{path.decode()}" has body '
                f"length {len(body)} bytes, which is not an exact multiple of the record length ({length} bytes)."
            )
            raise DataLossError(None, None, message) if self._compression_type else invalid(message)
        for start in range(0, len(body), length):
            yield body[start : start + length]


@dataset_op("CSVDatasetV2", "CSVDataset")
class CsvDatasetV2(OfFiles):
    """The rows of CSV files, a scalar for each column. Public as `tf.data.experimental.CsvDataset`.

    Args:
        filenames: a string tensor, or a dataset of string scalars.
        record_defaults: for each column that is read, a dtype, where a field is required, or its default.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes that are read at once.
        header: whether the first line of each file is left out.
        field_delim: the character that separates fields.
        use_quote_delim: whether quotation marks hold fields together.
        na_value: text that stands for a missing field, beside "".
        select_cols: the numbers of the columns that are read, in ascending order.
        exclude_cols: the numbers of those that are not; one of the two at most.

    Raises:
        InvalidArgumentError: both are specified; at an iterator, if a field is missing or does not convert.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file.csv")
        >>> tf.io.write_file(path, "a,b\\n1,2.5\\n3,\\n")
        >>> ds = tf.data.experimental.CsvDataset(path, [tf.int32, [0.5]], header=True)
        >>> [(a.item(), b.item()) for a, b in ds.as_numpy_iterator()]
        [(1, 2.5), (3, 0.5)]
    """

    def __init__(
        self, filenames: TensorLike | os.PathLike[str] | Dataset, record_defaults: Sequence[Any],
        compression_type: str | None = None, buffer_size: int | None = None, header: bool = False,
        field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "",
        select_cols: Sequence[int] | None = None, exclude_cols: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        if select_cols is not None and exclude_cols is not None:
            raise invalid("Either select_cols or exclude_cols should be empty [Op:CSVDatasetV2] name: ")
        columns = defaults_of(record_defaults, "CSVDatasetV2")
        self._parser = CsvParser(
            columns, field_delim, use_quote_delim, na_value, select_cols, exclude_cols, "IteratorGetNext"
        )
        self._columns, self._field_delim, self._use_quote_delim = columns, field_delim, use_quote_delim
        self._na_value, self._select_cols, self._exclude_cols = na_value, select_cols or [], exclude_cols or []
        self._header, self._compression_type = bool(header), text(compression_type or "")
        self._buffer_size = _BUFFER if buffer_size is None else integer(buffer_size)
        super().__init__(tuple([TensorSpec([], dtype) for dtype, _ in columns]), _dataset_of(filenames))

    @classmethod
    def _of_op(
        cls, filenames: Any, compression_type: bytes, buffer_size: int, header: bool, field_delim: bytes,
        use_quote_delim: bool, na_value: bytes, select_cols: list[int], record_defaults: list[Any],
        exclude_cols: Sequence[int] = (),
    ) -> Any:  # fmt: skip
        defaults = [d if d.shape.num_elements() else d.dtype for d in record_defaults]
        return cls(
            filenames, defaults, compression_type.decode() or None, buffer_size, header, field_delim.decode(),
            use_quote_delim, na_value.decode(), select_cols or None, exclude_cols or None,
        )  # fmt: skip

    @property
    def _record_defaults(self) -> list[Tensor]:
        return [convert([] if default is None else [default], dtype) for dtype, default in self._columns]

    def _from_inputs(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return map(self._parser.scalars, self._values(inputs[0]))

    def _batches(self, size: int, drop_remainder: bool) -> Iterator[Element]:
        return map(self._parser.vectors, runs(self._values(self._input_dataset._iterate()), size, drop_remainder))

    def _values(self, filenames: Iterator[Element]) -> Iterator[list[Any]]:
        """Returns an iterator over the records' values."""
        records = itertools.chain.from_iterable(map(self._records, filenames))
        return map(functools.partial(self._parser.values, which="record"), records)

    def _records(self, filename: Element) -> Iterator[bytes]:
        with opened(filename[0].item(), self._compression_type, self._buffer_size) as file:
            yield from itertools.islice(self._parser.records(file), int(self._header), None)


def list_files(file_pattern: TensorLike | os.PathLike[str], shuffle: bool, seed: TensorLike | None) -> Dataset:
    """Implements `Dataset.list_files`."""
    pattern = convert(_plain(file_pattern), string)
    names: Any = matching_files(pattern)
    if isinstance(names, EagerTensor) and not names.shape[0]:
        shown = ", ".join(p.decode(errors="replace") for p in pattern.value.ravel().tolist())
        raise invalid(f"No files matched pattern: {shown}")
    files = Dataset.from_tensor_slices(names)
    if not shuffle:
        return files
    return files.shuffle(names.shape[0] or maximum(size(names, int64), 1), seed)


register(list_files)
