"""`tf.data.experimental.SqlDataset`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import torch

from tapeflow.core.errors import UnknownError
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, float64, int8, int16, int32, int64, string, uint8, uint16
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.node import Node, dataset_op, text

_DTYPES = (string, int8, int16, int32, int64, uint8, uint16, bool_, float64)


@dataset_op("SqlDataset")
class Sql(Node):
    """The rows of a query of a SQLite database, a scalar for each column. `types` has their dtypes."""

    driver_name: str
    data_source_name: str
    query: str
    types: Any

    @classmethod
    def of_op(cls, driver_name: bytes, data_source_name: bytes, query: bytes, output_types: Sequence[DType]) -> Sql:
        return cls(text(driver_name), text(data_source_name), text(query), tuple(output_types))

    def element_spec(self) -> Any:
        if self.driver_name != "sqlite":
            raise invalid(
                f"The database type, {self.driver_name}, is not supported by SqlDataset. The set of supported "
                "databases is: {'sqlite'}. [Op:SqlDataset] name: "
            )
        spec = elements.map_specs(lambda dtype: TensorSpec([], as_dtype(dtype)), self.types)
        self._dtypes = [s.dtype for s in elements.flatten(spec)]
        if any(d not in _DTYPES for d in self._dtypes):
            names = ", ".join(d.name for d in _DTYPES)
            raise invalid(f"Each element of `output_types_` must be one of: {names} [Op:SqlDataset] name: ")
        return spec

    def iterate(self) -> Iterator[Element]:
        try:
            source = f"file:{self.data_source_name}?mode=ro"
            with closing(sqlite3.connect(source, uri=True, check_same_thread=False)) as database:
                for row in database.execute(self.query):
                    if len(row) != len(self._dtypes):
                        raise invalid(
                            f"The number of columns in query ({len(row)}) must match the number of elements in "
                            f"output_types ({len(self._dtypes)}). [Op:IteratorGetNext]"
                        )
                    yield tuple([_column_scalar(v, d) for v, d in zip(row, self._dtypes, strict=True)])
        except sqlite3.Error as error:
            raise UnknownError.of(f"Prepare() failed: {error}: {self.query} [Op:IteratorGetNext]") from error


def _column_scalar(value: Any, dtype: Any) -> Any:
    """Returns a column's value as a bare scalar; 0 or "" for NULL."""
    if dtype is string:
        return StringArray.scalar(b"" if value is None else value if isinstance(value, bytes) else str(value).encode())
    return torch.scalar_tensor(0 if value is None else value, dtype=dtype.torch)
