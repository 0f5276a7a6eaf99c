"""Datasets of batches read from files: `make_csv_dataset` and `make_batched_features_dataset`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, float32, float64, int32, int64, string
from tapeflow.core.values.tensor import Tensor
from tapeflow.data.dataset import Dataset
from tapeflow.data.files import CsvDatasetV2, TFRecordDatasetV2
from tapeflow.data.options import Options
from tapeflow.data.threads import AUTOTUNE
from tapeflow.io import gfile
from tapeflow.io.csv import CsvParser
from tapeflow.io.example_parser import parse_example
from tapeflow.io.records import open_records


def _match_files(file_pattern: Any) -> list[str]:
    """Returns the files that match patterns, in order.

    Raises:
        ValueError: there is none.
    """
    patterns = [file_pattern] if isinstance(file_pattern, str) else file_pattern
    names = sorted(name for pattern in patterns for name in gfile.glob(pattern))
    if not names:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return names


def _read_in_turn(
    names: Sequence[str], read: Callable[..., Dataset], cycle: int, sloppy: bool, num_epochs: int | None, shuffle: bool,
    buffer_size: int, seed: int | None,
) -> Dataset:  # fmt: skip
    """Returns the elements of the datasets of files, several in turn, `num_epochs` times over."""
    files = Dataset.from_tensor_slices(names)
    if shuffle:
        files = files.shuffle(len(names), seed)
    dataset = files.interleave(read, AUTOTUNE if cycle < 0 else cycle)
    if sloppy:
        options = Options()
        options.deterministic = False
        dataset = dataset.with_options(options)
    if shuffle:
        dataset = dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


# ---- CSV -------------------------------------------------------------------------------------------------------------


def make_csv_dataset(
    file_pattern: str | Sequence[str], batch_size: int, column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None, label_name: str | None = None,
    select_columns: Sequence[Any] | None = None, field_delim: str = ",", use_quote_delim: bool = True,
    na_value: str = "", header: bool = True, num_epochs: int | None = None, shuffle: bool = True,
    shuffle_buffer_size: int = 10000, shuffle_seed: int | None = None, prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None, sloppy: bool = False, num_rows_for_inference: int | None = 100,
    compression_type: str | None = None, ignore_errors: bool = False, encoding: str = "utf-8",
) -> Dataset:  # fmt: skip
    """Reads the rows of CSV files in batches.

    Args:
        file_pattern: one or several patterns of file names.
        batch_size: the number of rows in a batch.
        column_names: the names of all columns; None to read them from the first line.
        column_defaults: for each column that is read, its default, or the dtype of required fields. None infers
            the dtypes from the first rows: int32, int64, float32, float64 or string, and a missing field is 0 or "".
        label_name: the column of the labels.
        select_columns: the columns that are read, by names or numbers; None for all.
        field_delim, use_quote_delim, na_value: as for `tf.io.decode_csv`.
        header: whether each file begins with a line of names.
        num_epochs: how often the files are read; None for without an end.
        shuffle, shuffle_buffer_size, shuffle_seed: whether and how rows are shuffled.
        prefetch_buffer_size: how many batches are computed ahead; by default a number chosen automatically.
        num_parallel_reads: how many files are read in turn.
        sloppy: whether the order may depend on which elements are ready first.
        num_rows_for_inference: from how many rows dtypes are inferred; None for all.
        compression_type: "", "ZLIB" or "GZIP".
        ignore_errors: whether rows that can't be read are left out.
        encoding: the encoding of the first lines.

    Returns:
        A dataset of `OrderedDict`s from names to columns `[batch_size]`; with `label_name`, of pairs of such a dict and
        the labels.

    Raises:
        ValueError: no file matches, columns are named twice, first lines differ, or a column does not exist.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file.csv")
        >>> tf.io.write_file(path, "a,b\\n1,x\\n2,y\\n")
        >>> ds = tf.data.experimental.make_csv_dataset(path, 2, label_name="b", num_epochs=1, shuffle=False)
        >>> features, labels = next(iter(ds))
        >>> features["a"].numpy().tolist(), labels.numpy().tolist()
        ([1, 2], [b'x', b'y'])
    """
    names = _match_files(file_pattern)
    read = _Rows(names, field_delim, use_quote_delim, compression_type or "", encoding)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = read.common_header()
    if len(column_names) != len(set(column_names)):
        raise ValueError(f"`column_names` cannot contain duplicate column names. Received: {list(column_names)}.")
    selected = None if select_columns is None else _column_numbers(select_columns, column_names)
    if column_defaults is not None:
        defaults = [d if isinstance(d, DType) else convert(d) for d in column_defaults]
    else:
        numbers = range(len(column_names)) if selected is None else selected
        defaults = read.inferred_defaults(len(column_names), numbers, na_value, header, num_rows_for_inference)
    if selected is not None:
        column_names = [column_names[i] for i in selected]
    if label_name is not None and label_name not in column_names:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {list(column_names)}. Received: {label_name}."
        )

    def rows(filename: str) -> Dataset:
        dataset: Dataset = CsvDatasetV2(
            filename, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, selected
        )
        return dataset.ignore_errors() if ignore_errors else dataset

    def by_name(*columns: Any) -> Any:
        features = OrderedDict(zip(column_names, columns, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    order = num_epochs, shuffle, shuffle_buffer_size, shuffle_seed
    dataset = _read_in_turn(names, rows, num_parallel_reads or 1, sloppy, *order)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(by_name)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _column_numbers(columns: Sequence[Any], names: Sequence[str]) -> list[int]:
    numbers = set()
    for c in columns:
        if isinstance(c, int):
            if not 0 <= c < len(names):
                raise ValueError(f"Column number {c} of `select_columns` is not one of the {len(names)} columns.")
            numbers.add(c)
        elif c in names:
            numbers.add(names.index(c))
        else:
            raise ValueError(f"Column {c!r} of `select_columns` is not one of the columns: {list(names)}.")
    if len(numbers) != len(columns):
        raise ValueError(f"`select_columns` cannot contain duplicates. Received: {list(columns)}.")
    return sorted(numbers)


_KINDS = (int32, int64, float32, float64, string)  # the dtypes of fields; the first that fits all is inferred


class _Rows:
    """The rows of files, as text."""

    def __init__(self, names: list[str], delim: str, quotes: bool, compression: str, encoding: str) -> None:
        self._names, self._compression, self._encoding = names, compression, encoding
        self._parser = CsvParser([(string, b"")], delim, quotes, "", None, None, "make_csv_dataset")

    def _of(self, name: str) -> Iterator[list[str]]:
        with open_records(name, self._compression) as file:
            for record in self._parser.records(file):
                yield [field.decode(self._encoding) for field in self._parser.split(record)]

    def common_header(self) -> list[str]:
        """Returns the first row, which must be the same in all files."""
        first = next(self._of(self._names[0]))
        for name in self._names[1:]:
            if next(self._of(name)) != first:
                raise ValueError("All input CSV files should have the same column names in the header row. "
                                 f"File {name} has different column names.")  # fmt: skip
        return first

    def inferred_defaults(
        self, count: int, numbers: Sequence[int], na_value: str, header: bool, most: int | None
    ) -> list[Any]:
        """Returns a default for each column, of the first dtype that fits the first rows; "" if they have no value."""
        kinds = [-1] * len(numbers)
        seen = 0
        for name in self._names:
            rows = self._of(name)
            if header:
                next(rows, None)
            for row in rows:
                if most is not None and seen >= most:
                    break
                seen += 1
                if len(row) != count:
                    raise ValueError(
                        f"Problem inferring types: CSV row {row} has {len(row)} number of fields. Expected: {count}."
                    )
                for i, number in enumerate(numbers):
                    if row[number] not in ("", na_value):
                        kinds[i] = max(kinds[i], 0)
                        while not _text_fits(row[number], _KINDS[kinds[i]]):
                            kinds[i] += 1
        return [convert(["" if _KINDS[k] is string else 0], _KINDS[k]) for k in kinds]


def _text_fits(text: str, dtype: DType) -> bool:
    if dtype is string:
        return True
    try:
        if dtype.is_integer:
            return dtype.min <= int(text) <= dtype.max
        return float(text) < float(np.finfo(dtype.as_numpy_dtype).max)
    except ValueError:
        return False


# ---- examples --------------------------------------------------------------------------------------------------------


def make_batched_features_dataset(
    file_pattern: str | Sequence[str], batch_size: int, features: dict[str, Any],
    reader: Callable[..., Any] | None = None, label_key: str | None = None, reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None, shuffle: bool = True, shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None, prefetch_buffer_size: int | None = None, reader_num_threads: int | None = None,
    parser_num_threads: int | None = None, sloppy_ordering: bool = False, drop_final_batch: bool = False,
) -> Dataset:  # fmt: skip
    """Reads and parses the `tf.train.Example`s of files in batches.

    Args:
        file_pattern: one or several patterns of file names.
        batch_size: the number of examples in a batch.
        features: the features, as for `tf.io.parse_example`.
        reader: returns the dataset of a file; `tf.data.TFRecordDataset` by default.
        label_key: the feature of the labels.
        reader_args: further arguments of `reader`.
        num_epochs: how often the files are read; None for without an end.
        shuffle, shuffle_buffer_size, shuffle_seed: whether and how examples are shuffled.
        prefetch_buffer_size: how many batches are computed ahead; by default a number chosen automatically.
        reader_num_threads: how many files are read in turn.
        parser_num_threads: how many threads parse.
        sloppy_ordering: whether the order may depend on which elements are ready first.
        drop_final_batch: whether to leave out a smaller last batch.

    Returns:
        A dataset of dicts of features; with `label_key`, of pairs of such a dict and the labels.

    Raises:
        ValueError: no file matches, or there is no feature `label_key`.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file.tfrecord")
        >>> example = tf.train.Example()
        >>> example.features.feature["a"].int64_list.value.append(3)
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(example.SerializeToString())
        >>> features = {"a": tf.io.FixedLenFeature([], tf.int64)}
        >>> ds = tf.data.experimental.make_batched_features_dataset(path, 2, features, num_epochs=1)
        >>> next(iter(ds))["a"].numpy().tolist()
        [3]
    """
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key}) must be one of the `features` keys: {features.keys()}."
        )
    names = _match_files(file_pattern)
    read, more = reader or TFRecordDatasetV2, tuple(reader_args or ())

    def values(name: Tensor) -> Dataset:
        dataset: Dataset = read(name, *more)
        return dataset.map(lambda _, value: value) if isinstance(dataset.element_spec, tuple) else dataset

    order = num_epochs, shuffle, shuffle_buffer_size, shuffle_seed
    dataset = _read_in_turn(names, values, reader_num_threads or 1, sloppy_ordering, *order)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.map(lambda texts: parse_example(texts, features), num_parallel_calls=parser_num_threads or 2)
    if label_key is not None:
        dataset = dataset.map(lambda parsed: ({k: v for k, v in parsed.items() if k != label_key}, parsed[label_key]))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
