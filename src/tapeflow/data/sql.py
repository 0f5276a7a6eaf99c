"""`tf.data.experimental.SqlDataset`: the rows of a query of a SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import torch

from tapeflow.core.errors import UnknownError
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import as_dtype, bool_, float64, int8, int16, int32, int64, string, uint8, uint16
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.boxed_objects import boxed
from tapeflow.core.values.tensor import invalid
from tapeflow.data import structure
from tapeflow.data.node import Node, dataset_op, text
from tapeflow.data.structure import Element

_DTYPES = (string, int8, int16, int32, int64, uint8, uint16, bool_, float64)


@dataset_op("SqlDataset")
class SqlDatasetV2(Node):
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
        self._driver_name, self._data_source_name, self._query = map(text, (driver_name, data_source_name, query))
        if self._driver_name != "sqlite":
            raise invalid(
                f"The database type, {self._driver_name}, is not supported by SqlDataset. The set of supported "
                "databases is: {'sqlite'}. [Op:SqlDataset] name: "
            )
        spec = structure.map_specs(lambda dtype: TensorSpec([], as_dtype(dtype)), output_types)
        self._dtypes = [s.dtype for s in structure.flatten(spec)]
        if any(d not in _DTYPES for d in self._dtypes):
            names = ", ".join(d.name for d in _DTYPES)
            raise invalid(f"Each element of `output_types_` must be one of: {names} [Op:SqlDataset] name: ")
        super().__init__(spec)

    @classmethod
    def _of_op(cls, driver_name: Any, data_source_name: Any, query: Any, output_types: Any) -> SqlDatasetV2:
        return cls(driver_name, data_source_name, query, tuple(output_types))

    def _iterate(self) -> Iterator[Element]:
        try:
            with closing(
                sqlite3.connect(f"file:{self._data_source_name}?mode=ro", uri=True, check_same_thread=False)
            ) as database:
                for row in database.execute(self._query):
                    if len(row) != len(self._dtypes):
                        raise invalid(
                            f"The number of columns in query ({len(row)}) must match the number of elements in "
                            f"output_types ({len(self._dtypes)}). [Op:IteratorGetNext]"
                        )
                    yield tuple([_scalar(v, d) for v, d in zip(row, self._dtypes, strict=True)])
        except sqlite3.Error as error:
            raise UnknownError(None, None, f"Prepare() failed: {error}: {self._query} [Op:IteratorGetNext]") from error

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self._spec}>"


def _scalar(value: Any, dtype: Any) -> Any:
    """Returns a column's value as a bare scalar; 0 or "" for NULL."""
    if dtype is string:
        text = b"" if value is None else value if isinstance(value, bytes) else str(value).encode()
        return boxed(text)
    return torch.scalar_tensor(0 if value is None else value, dtype=dtype.torch)
