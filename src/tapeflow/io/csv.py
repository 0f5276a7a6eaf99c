"""Comma-separated values: `decode_csv`, and the parser that CSV datasets use too (RFC 4180)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import constant
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, float32, float64, int32, int64, string
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid, mistyped
from tapeflow.graph.ir.python_op import python_op
from tapeflow.strings.kernels import raw_value

Column = tuple[DType, Any]  # the dtype, and the default; None where a field is required
_NUMBERS: dict[DType, Callable[[bytes], Any]] = {int32: int, int64: int, float32: float, float64: float}
_LIMITS = {int32: (int32.min, int32.max), int64: (int64.min, int64.max)}
_LIMITS |= dict.fromkeys((float32, float64), (-np.inf, np.inf))


def defaults_of(record_defaults: Sequence[Any], op: str) -> list[Column]:
    """Returns the columns that defaults describe.

    Args:
        record_defaults: for each column its dtype, or its default as a value or tensor, which is empty for a required
            field.
        op: the name of the op, for error messages.

    Raises:
        InvalidArgumentError: there are no columns, or one has a dtype that no field can have.
    """
    columns: list[Column] = []
    for default in record_defaults:
        if isinstance(default, DType):
            columns.append((default, None))
            continue
        tensor = convert(default)
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
    """Parses records into values.

    Args:
        columns: the columns to parse.
        field_delim: the delimiter of fields, one character.
        use_quote_delim: accepts fields in quotation marks, which may contain delimiters and newlines.
        na_value: the text of a missing field, in addition to "".
        select_cols: the indices of the columns to parse, in ascending order; None for all.
        exclude_cols: the indices of the columns to skip, or None.
        op: the name of the op, for error messages.

    Raises:
        InvalidArgumentError: the delimiter is longer than a character, or the indices are not valid.
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
        """Yields the records of a file's lines; a line that ends within quotation marks continues in the next one."""
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

    def scalars(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the values of a record as raw scalars."""
        return tuple([
            StringArray.scalar(value) if dtype is string else torch.scalar_tensor(value, dtype=dtype.torch)
            for (dtype, _), value in zip(self._columns, values, strict=True)
        ])  # fmt: skip

    def vectors(self, records: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """Returns the values of records as a raw vector for each column."""
        columns = zip(*records, strict=True) if records else [()] * len(self._columns)
        return tuple([raw_value(values, dtype) for (dtype, _), values in zip(self._columns, columns, strict=True)])

    def values(self, record: bytes, which: str) -> list[Any]:
        """Returns the parsed fields of a record as Python values.

        Args:
            record: the record.
            which: its name in error messages, such as "record 3".

        Raises:
            InvalidArgumentError: there are too few or too many fields, or one is missing or does not convert.
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
            actual = "more" if which == "record" and len(fields) > count else len(fields)
            raise self._error(f"Expect {count} fields but have {actual} in {which}")
        return [
            self._value(i, field, *column, which)
            for i, (field, column) in enumerate(zip(fields, self._columns, strict=True))
        ]

    def _value(self, i: int, field: bytes, dtype: DType, default: Any, which: str) -> Any:
        """Returns the value of a field of column `i`."""
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
        if b"_" in field or value < least or value > greatest:  # Python's numbers may contain a "_"
            raise self._not_valid(i, field, dtype, which)
        return value

    def _not_valid(self, i: int, field: bytes, dtype: DType, which: str) -> Exception:
        kind = {float32: "float", float64: "double"}.get(dtype, dtype.name)
        return self._error(f"Field {i} in {which} is not a valid {kind}: {field.decode(errors='replace')}")

    def split(self, record: bytes) -> list[bytes]:
        """Splits a record into its fields.

        Raises:
            InvalidArgumentError: a quotation mark is misplaced.
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
        """Returns a field in quotation marks that begins at `start`, and the index after it."""
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


def _check_default(default: Tensor) -> None:
    """Checks the dtype and the static shape of a record's default."""
    if default.dtype not in _NUMBERS and default.dtype is not string:
        raise mistyped(f"A field can be float32, float64, int32, int64 or string, but not {default.dtype.name}.")
    rank = default.shape.rank
    if rank is not None and rank > 1:
        raise invalid("Each record default should be at most rank 1 [Op:DecodeCSV]")
    if rank == 1 and default.shape[0] not in (0, 1, None):
        raise invalid("Shape of a default must be a length-0 or length-1 vector, or a scalar. [Op:DecodeCSV]")


def decode_csv(
    records: TensorLike, record_defaults: Sequence[TensorLike], field_delim: str = ",", use_quote_delim: bool = True,
    na_value: str = "", select_cols: Sequence[int] | None = None, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Parses CSV records (RFC 4180), into a tensor for each column.

    Args:
        records: a string tensor, each string a record.
        record_defaults: for each column a tensor of its dtype (float32, float64, int32, int64 or string): the default,
            or an empty tensor for a required field.
        field_delim: the delimiter of fields, one character; "," by default.
        use_quote_delim: accepts fields in quotation marks, which may contain delimiters and newlines; True by default.
        na_value: the text of a missing field, in addition to "".
        select_cols: the indices of the columns to parse, in ascending order; None for all.

    Returns:
        A list of tensors of the shape of `records` and the dtypes of `record_defaults`.

    Raises:
        InvalidArgumentError: a record has too few or too many fields, or one is missing or does not convert.

    Example:
        >>> [t.numpy().tolist() for t in tf.io.decode_csv(["1,x", ",y"], [[7], [""]])]
        [[1, 7], [b'x', b'y']]
    """
    if state.graph is not None and not isinstance(record_defaults, (list, tuple)):
        raise TypeError(f"Expected list for 'record_defaults' argument to 'DecodeCSV' Op, not {record_defaults!r}.")
    defaults = [d if isinstance(d, DType) else convert(d) for d in record_defaults]
    for default in defaults:
        if isinstance(default, Tensor):
            _check_default(default)
    symbolic = any(isinstance(d, SymbolicTensor) for d in defaults)
    static = [d.dtype if isinstance(d, SymbolicTensor) else d for d in defaults]
    texts = convert(records, string)
    for name_of_attr, value in (("field_delim", field_delim), ("na_value", na_value)):
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"Expected string for argument '{name_of_attr}' not {value!r}.")

    def parser(values_now: Sequence[EagerTensor] = ()) -> CsvParser:
        columns = defaults_of(values_now or static, "DecodeCSV")
        return CsvParser(columns, field_delim, use_quote_delim, na_value, select_cols, None, "DecodeCSV")

    late = state.graph is not None and len(field_delim) != 1  # an error when it runs
    parser_of_graph = None if symbolic or late else parser()

    def decode(texts: EagerTensor, *values_now: EagerTensor) -> list[Any]:
        own = parser_of_graph or parser(values_now)
        raw = texts.value
        if raw.ndim:
            rows = [own.values(r, f"record {i}") for i, r in enumerate(raw.reshape(-1).tolist())]
            values = tuple([v.reshape(raw.shape) for v in own.vectors(rows)])
        else:
            values = own.scalars(own.values(raw.item(), "record 0"))
        return [EagerTensor(v, d.dtype if isinstance(d, Tensor) else d) for v, d in zip(values, static, strict=True)]

    if state.graph is None:
        return decode(texts)
    specs = [(d.dtype if isinstance(d, Tensor) else d, texts.shape) for d in static]
    attrs = {
        "OUT_TYPE": tuple([dtype for dtype, _ in specs]), "field_delim": field_delim,
        "use_quote_delim": use_quote_delim, "na_value": na_value, "select_cols": tuple(select_cols or ()),
    }  # fmt: skip
    inputs = [texts, *[constant([], d) if isinstance(d, DType) else d for d in defaults]]
    return list(python_op("DecodeCSV", decode, inputs, specs, stateful=False, attrs=attrs).outputs)
