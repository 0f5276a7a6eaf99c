"""Comma-separated values: `decode_csv`, and the parser that CSV datasets use too (RFC 4180)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, float32, float64, int32, int64, string
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.graph.ir.python_op import python_op

Column = tuple[DType, Any]  # the dtype, and the default or None where a field is required
_NUMBERS: dict[DType, Callable[[bytes], Any]] = {int32: int, int64: int, float32: float, float64: float}
_LIMITS = {int32: (int32.min, int32.max), int64: (int64.min, int64.max)}
_LIMITS |= dict.fromkeys((float32, float64), (-np.inf, np.inf))


def defaults_of(record_defaults: Sequence[Any], op: str) -> list[Column]:
    """The columns that defaults tell of: dtypes, values, or tensors of one value or none.

    Raises:
        InvalidArgumentError: there are none, or one has a dtype that no field can have.
    """
    columns: list[Column] = []
    for given in record_defaults:
        if isinstance(given, DType):
            columns.append((given, None))
            continue
        tensor = convert(given)
        values = tensor.value.reshape(-1).tolist()
        if len(values) > 1:
            raise invalid(
                f"There should only be 1 default per field but field {len(columns)} has {len(values)} [Op:{op}]"
            )
        columns.append((tensor.dtype, values[0] if values else None))
    if not columns:
        raise invalid(f"`record_defaults` must have at least one entry. [Op:{op}]")
    for dtype, _ in columns:
        if dtype not in _NUMBERS and dtype is not string:
            raise invalid(f"A field can be float32, float64, int32, int64 or string, but not {dtype.name}. [Op:{op}]")
    return columns


class CsvParser:
    """Takes records apart.

    Args:
        columns: what is taken.
        field_delim: one character.
        use_quote_delim: whether quotation marks hold fields together.
        na_value: text that stands for a missing field, beside "".
        select_cols, exclude_cols: numbers of columns.
        op: for messages.
    """

    def __init__(
        self, columns: Sequence[Column], field_delim: str, use_quote_delim: bool, na_value: str, select_cols: Any,
        exclude_cols: Any, op: str,
    ) -> None:  # fmt: skip
        self._columns, self._op = columns, op
        self._delim, self._quotes, self._missing = field_delim.encode(), use_quote_delim, (b"", na_value.encode())
        if len(self._delim) != 1:
            raise invalid(f"field_delim should be only 1 char [Op:{op}]")
        self._selected = None if select_cols is None else [int(c) for c in select_cols]
        self._excluded = frozenset(() if exclude_cols is None else map(int, exclude_cols))
        if self._selected is not None:
            if len(self._selected) != len(columns):
                raise invalid(
                    f"select_cols should match output size: {len(self._selected)} != {len(columns)} [Op:{op}]"
                )
            if self._selected != sorted(set(self._selected)) or (self._selected and self._selected[0] < 0):
                raise invalid(f"select_cols should be strictly increasing indices: {self._selected} [Op:{op}]")

    def records(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The records of a file's lines: one that ends within quotation marks goes on with the next."""
        whole = b""
        for line in lines:
            whole = whole + line if whole else line
            if self._quotes and whole.count(b'"') % 2:
                continue
            record, whole = whole.removesuffix(b"\n").removesuffix(b"\r"), b""
            if record:
                yield record
        if whole:
            raise self._error("Reached end of file without closing quoted field in record")

    def scalars(self, record: bytes) -> tuple[Any, ...]:
        """The fields of a record as bare scalars."""
        made: list[Any] = []
        for (dtype, _), value in zip(self._columns, self.values(record, "record"), strict=True):
            if dtype is string:
                made.append(np.array(value, object))
            else:
                made.append(torch.scalar_tensor(value, dtype=dtype.torch))
        return tuple(made)

    def values(self, record: bytes, which: str) -> list[Any]:
        """The fields of a record that are taken, as Python values.

        Raises:
            InvalidArgumentError: there are too few or too many, one is missing or does not convert.
        """
        fields = self.split(record)
        count = len(self._columns)
        if self._selected is not None:
            if self._selected and self._selected[-1] >= len(fields):
                raise self._error(
                    f"Expect {count} fields but have {sum(c < len(fields) for c in self._selected)} in {which}"
                )
            fields = [fields[c] for c in self._selected]
        elif self._excluded:
            fields = [f for i, f in enumerate(fields) if i not in self._excluded]
        if len(fields) != count:
            found = "more" if which == "record" and len(fields) > count else len(fields)
            raise self._error(f"Expect {count} fields but have {found} in {which}")
        return [
            self._value(i, field, *column, which)
            for i, (field, column) in enumerate(zip(fields, self._columns, strict=True))
        ]

    def _value(self, i: int, field: bytes, dtype: DType, default: Any, which: str) -> Any:
        if field in self._missing:
            if default is None:
                raise self._error(f"Field {i} is required but missing in {which}!")
            return default
        if dtype is string:
            return field
        least, greatest = _LIMITS[dtype]
        try:
            value = _NUMBERS[dtype](field)
        except ValueError:
            raise self._not_valid(i, field, dtype, which) from None
        if b"_" in field or value < least or value > greatest:  # Python's numbers may have a "_"
            raise self._not_valid(i, field, dtype, which)
        return value

    def _not_valid(self, i: int, field: bytes, dtype: DType, which: str) -> Exception:
        kind = {float32: "float", float64: "double"}.get(dtype, dtype.name)
        return self._error(f"Field {i} in {which} is not a valid {kind}: {field.decode(errors='replace')}")

    def split(self, record: bytes) -> list[bytes]:
        """The fields of a record.

        Raises:
            InvalidArgumentError: quotation marks are where none can be.
        """
        if not self._quotes or b'"' not in record:
            return record.split(self._delim)
        fields, start, size = [], 0, len(record)
        while start <= size:
            if record[start : start + 1] == b'"':
                field, start = self._quoted(record, start + 1)
            else:
                end = record.find(self._delim, start)
                end = size if end < 0 else end
                field, start = record[start:end], end
                if b'"' in field:
                    raise self._error("Unquoted fields cannot have quotes/CRLFs inside")
            fields.append(field)
            start += 1
        return fields

    def _quoted(self, record: bytes, start: int) -> tuple[bytes, int]:
        """A field in quotation marks, and where it ends."""
        parts = []
        while (end := record.find(b'"', start)) >= 0:
            parts.append(record[start:end])
            if record[end + 1 : end + 2] != b'"':
                if record[end + 1 : end + 2] not in (b"", self._delim):
                    raise self._error("Quote inside a string has to be escaped by another quote")
                return b'"'.join(parts), end + 1
            start = end + 2
        raise self._error("Quoted field has to end with quote followed by delim or end")

    def _error(self, message: str) -> Exception:
        return invalid(f"{message} [Op:{self._op}]")


def decode_csv(
    records: Any, record_defaults: Sequence[Any], field_delim: str = ",", use_quote_delim: bool = True,
    na_value: str = "", select_cols: Any = None, name: str | None = None,
) -> list[Any]:  # fmt: skip
    """The fields of CSV records, a tensor for each column.

    Args:
        records: a string tensor, one record each.
        record_defaults: for each column a tensor of its dtype: of the default, or empty where a field is required.
        field_delim: what separates fields.
        use_quote_delim: whether quotation marks hold fields together.
        na_value: text that stands for a missing field, beside "".
        select_cols: the numbers of the columns that are taken, in ascending order.

    Returns:
        A list of tensors of the shape of `records`.

    Raises:
        InvalidArgumentError: a record has too few or too many fields, one is missing or does not convert.

    Example:
        >>> [t.numpy().tolist() for t in tf.io.decode_csv(["1,x", ",y"], [[7], [""]])]
        [[1, 7], [b'x', b'y']]
    """
    columns = defaults_of(record_defaults, "DecodeCSV")
    parser = CsvParser(columns, field_delim, use_quote_delim, na_value, select_cols, None, "DecodeCSV")
    records = convert(records, string)

    def decode(texts: EagerTensor) -> list[Any]:
        rows = [parser.values(r, f"record {i}") for i, r in enumerate(texts.value.ravel().tolist())]
        made = []
        for i, (dtype, _) in enumerate(columns):
            column = [row[i] for row in rows]
            value: Any
            if dtype is string:
                value = np.empty(len(rows), object)
                value[:] = column
            else:
                value = torch.tensor(column, dtype=dtype.torch)
            made.append(EagerTensor(value.reshape(texts.value.shape), dtype))
        return made

    if state.graph is None:
        return decode(records)
    return python_op(
        "DecodeCSV", decode, [records], [(dtype, records.shape) for dtype, _ in columns], stateful=False
    ).outputs
