"""The public classes of datasets that read files and databases, and `tf.data.experimental.RandomDataset`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tapeflow.core.types.aliases import TensorLike
from tapeflow.data.dataset import Dataset
from tapeflow.data.node import text
from tapeflow.data.sources.csv import Csv
from tapeflow.data.sources.fixed_length_records import FixedLengthRecords
from tapeflow.data.sources.random import Random
from tapeflow.data.sources.sql import Sql
from tapeflow.data.sources.text_lines import TextLines
from tapeflow.data.sources.tf_records import TFRecords


class TextLineDatasetV2(Dataset):
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
        super().__init__(TextLines.of(filenames, compression_type, buffer_size, num_parallel_reads))


class TFRecordDatasetV2(Dataset):
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
        super().__init__(TFRecords.of(filenames, compression_type, buffer_size, num_parallel_reads))


class FixedLengthRecordDatasetV2(Dataset):
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
        DataLossError: at an iterator, if the length of a compressed file is no multiple of it.

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
        super().__init__(
            FixedLengthRecords.of(
                filenames, compression_type, buffer_size, num_parallel_reads, record_bytes, header_bytes, footer_bytes
            )
        )


class CsvDatasetV2(Dataset):
    """The rows of CSV files, a scalar for each column. Public as `tf.data.experimental.CsvDataset`.

    Args:
        filenames: a string tensor, or a dataset of string scalars.
        record_defaults: for each column that is read, its default, or the dtype of required fields.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: the number of bytes that are read at once.
        header: whether the first line of each file is left out.
        field_delim: the character that separates fields.
        use_quote_delim: whether quotation marks hold fields together.
        na_value: text that stands for a missing field, beside "".
        select_cols: the numbers of the columns that are read, in ascending order.
        exclude_cols: the numbers of the other columns. Specify at most one of `select_cols` and `exclude_cols`.

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
        super().__init__(
            Csv.of(
                filenames, record_defaults, compression_type, buffer_size, header, field_delim, use_quote_delim,
                na_value, select_cols, exclude_cols,
            )
        )  # fmt: skip


class SqlDatasetV2(Dataset):
    """The rows of a query, a scalar for each column. Public as `tf.data.experimental.SqlDataset`.

    Args:
        driver_name: "sqlite".
        data_source_name: the database's file.
        query: the query, in SQL.
        output_types: the dtypes of the columns.

    Raises:
        InvalidArgumentError: there is no such driver, or a column can't have that dtype; at an iterator, if the query
            has another number of columns.
        UnknownError: at an iterator, if the query is refused.

    Example:
        >>> import os, sqlite3, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "db")
        >>> with sqlite3.connect(path) as db:
        ...     _ = db.execute("create table t (a text, b integer)")
        ...     _ = db.execute("insert into t values ('x', 3)")
        >>> ds = tf.data.experimental.SqlDataset("sqlite", path, "select a, b from t", (tf.string, tf.int32))
        >>> [(a, b.item()) for a, b in ds.as_numpy_iterator()]
        [(b'x', 3)]
    """

    def __init__(
        self, driver_name: TensorLike, data_source_name: TensorLike, query: TensorLike, output_types: Any
    ) -> None:
        super().__init__(Sql(text(driver_name), text(data_source_name), text(query), output_types))


class RandomDatasetV2(Dataset):
    """An infinite dataset of random integers in [0, 2**32): TensorFlow's for the seed.

    Args:
        seed: the seed of the numbers; None for a random one.
        rerandomize_each_iteration: whether each iterator has numbers of its own.

    Example:
        >>> [x.item() for x in tf.data.experimental.RandomDataset(seed=3).take(2).as_numpy_iterator()]
        [3534849767, 279844183]
    """

    def __init__(
        self, seed: TensorLike | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> None:
        super().__init__(Random.of(seed, rerandomize_each_iteration))
