"""Comma-separated values: `decode_csv`, and the parser that CSV datasets use too (RFC 4180)."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.loops import Bytes, Int64s, loop
from tapeflow.core.ops.batch_rules import leading_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, float32, float64, int32, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray, gather_ranges
from tapeflow.core.values.tensor import EagerTensor, Tensor, dtype_error, invalid
from tapeflow.strings.formatting import parse_number, read_numbers
from tapeflow.strings.kernels import raw_value

Column = tuple[DType, Any]  # the dtype, and the default; None where a field is required
_NUMBERS = (int32, int64, float32, float64)
_LINES = 256  # to read at once
_FEW = 8  # records: up to here, Python is faster than a loop


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

    def records(self, file: Iterator[bytes]) -> Iterator[bytes]:
        """Yields the records of a file; a line that ends within quotation marks continues in the next one."""
        whole, failure = b"", None
        while failure is None:
            lines: list[bytes] = []
            try:
                lines.extend(itertools.islice(file, _LINES))
            except Exception as error:
                failure = error
            if not lines:
                break
            if self._quotes and (whole or b'"' in b"".join(lines)):
                records = []
                for line in lines:
                    whole = whole + line if whole else line
                    if whole.count(b'"') % 2 == 0:
                        records.append(whole)
                        whole = b""
            else:
                records = lines
            yield from filter(None, [record.removesuffix(b"\n").removesuffix(b"\r") for record in records])
        if failure is not None:
            raise failure
        if whole:
            raise self._error("Reached end of file without closing quoted field in record")

    def parse(self, records: StringArray, which: str) -> tuple[tuple[Any, ...], int, Exception | None]:
        """Parses records.

        Args:
            records: the records.
            which: the name of a record in error messages, such as "record {}" for "record 3".

        Returns:
            A raw vector for each column, or an array of the shape of a few records; the number of records in them; and
            the error of the record behind these, or None if all are parsed.
        """
        if records.size > _FEW:
            columns, count = self._parse_many(records)
        else:
            rows: list[Any] = []
            columns, count = (), 0
            with contextlib.suppress(InvalidArgumentError):
                for record in records.flat:
                    rows.append(self._values(record, which))
            count = len(rows)
            lists = zip(*rows, strict=True) if rows else [()] * len(self._columns)
            shape = records.shape if count == records.size else (count,)
            columns = tuple([
                raw_value(values, dtype, shape) for (dtype, _), values in zip(self._columns, lists, strict=True)
            ])  # fmt: skip
        if count == records.size:
            return columns, count, None
        try:
            self._values(records.reshape(-1)[count], which.format(count))
        except InvalidArgumentError as error:
            return columns, count, error
        raise AssertionError(f"{records.reshape(-1)[count]!r} was refused")

    def _parse_many(self, records: StringArray) -> tuple[tuple[Any, ...], int]:
        """Parses records by a loop. Returns the columns, and the number of good records before the first bad one."""
        whole, offsets = records.packed()
        count, width, quotes = records.size, len(self._columns), self._quotes and b'"' in whole
        data = np.array(np.frombuffer(whole, np.uint8)) if quotes else whole  # the loop writes to it
        starts, lengths = np.empty((width, count), np.int64), np.empty((width, count), np.int64)
        skipped, skips_rest = self._skipped
        good = _find_fields(
            data, offsets, count, self._delim[0], quotes, skipped, len(skipped), skips_rest, width, starts.reshape(-1),
            lengths.reshape(-1),
        )  # fmt: skip
        columns: list[Any] = []
        for i, (dtype, default) in enumerate(self._columns):
            column = gather_ranges(data, starts[i, :good], lengths[i, :good])
            missing = lengths[i, :good] == 0
            if self._missing[1]:
                missing |= column.equals(StringArray.scalar(self._missing[1]))
            if missing.any() and default is None:
                good = int(missing.argmax())
                column, missing = column[:good], missing[:good]
            if dtype is string:
                columns.append(column.select(~missing, StringArray.full((good,), default)) if missing.any() else column)
                continue
            if missing.any():
                there = np.flatnonzero(~missing)
                numbers, wrong = read_numbers(column.take(there), dtype)
                values = np.full(good, default, numbers.dtype)
                values[there] = numbers
                wrong = int(there[wrong]) if wrong >= 0 else -1
            else:
                values, wrong = read_numbers(column, dtype)
            good = wrong if wrong >= 0 else good
            columns.append(torch.from_numpy(values))
        return tuple(columns if good == count else [column[:good] for column in columns]), good

    @cached_property
    def _skipped(self) -> tuple[bytes, bool]:
        """A flag for each of the first fields of a record, 1 to skip it, and whether to skip all others."""
        if self._selected is None:
            most = max(self._excluded, default=-1) + 1
            return bytes(i in self._excluded for i in range(most)), False
        return bytes(i not in self._selected for i in range(self._selected[-1] + 1 if self._selected else 0)), True

    def _values(self, record: bytes, which: str) -> list[Any]:
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
                found = sum(c < len(fields) for c in self._selected)
                raise self._error(f"Expect {count} fields but have {found} in {which}")
            fields = [fields[c] for c in self._selected]
        elif self._excluded:
            fields = [f for i, f in enumerate(fields) if i not in self._excluded]
        if len(fields) != count:
            actual = "more" if which == "record" and len(fields) > count else len(fields)
            raise self._error(f"Expect {count} fields but have {actual} in {which}")
        pairs = enumerate(zip(fields, self._columns, strict=True))
        return [self._value(i, field, *column, which) for i, (field, column) in pairs]

    def _value(self, i: int, field: bytes, dtype: DType, default: Any, which: str) -> Any:
        """Returns the value of a field of column `i`."""
        if field in self._missing:
            if default is None:
                raise self._error(f"Field {i} is required but missing in {which}!")
            return default
        if dtype is string:
            return field
        try:
            return parse_number(field, dtype)
        except ValueError:
            kind = {float32: "float", float64: "double"}.get(dtype, dtype.name)
            shown = field.decode(errors="replace")
            raise self._error(f"Field {i} in {which} is not a valid {kind}: {shown}") from None

    def split(self, record: bytes) -> list[bytes]:
        """Splits a record into its fields.

        Raises:
            InvalidArgumentError: a quotation mark is misplaced.
        """
        if b"\n" not in record and b"\r" not in record and (not self._quotes or b'"' not in record):
            return record.split(self._delim) if record else []  # no fields
        fields, start, size = [], 0, len(record)
        while start <= size:
            if self._quotes and record[start : start + 1] == b'"':
                field, start = self._quoted(record, start + 1)
            else:
                end = record.find(self._delim, start)
                end = size if end < 0 else end
                field, start = record[start:end], end
                if b"\n" in field or b"\r" in field or (self._quotes and b'"' in field):
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


@loop
def _find_fields(
    data: Bytes, offsets: Int64s, count: int, delim: int, quotes: int, skipped: Bytes, skipped_count: int,
    skips_rest: int, columns: int, starts: Int64s, lengths: Int64s,
) -> int:  # fmt: skip
    """Finds the fields of records. Fields in quotation marks are written anew, at the same place.

    Args:
        data: the records.
        offsets: their offsets.
        count: their number.
        delim: the delimiter of fields.
        quotes: whether fields may be in quotation marks.
        skipped: a flag for each of a record's first fields, 1 to skip it.
        skipped_count: the number of these fields.
        skips_rest: whether all other fields are skipped.
        columns: the number of fields that are not.
        starts: for each column and record, the start of the field.
        lengths: for each column and record, its length.

    Returns:
        The number of well-formed records before one that is not.
    """
    for i in range(count):
        at, end, field, taken = offsets[i], offsets[i + 1], 0, 0
        more = at < end
        while more:
            start, stop = at, at
            if quotes and at < end and data[at] == 34:
                at += 1
                start, stop, closed = at, at, 0
                while at < end and not closed:
                    if data[at] == 34:
                        at += 1
                        closed = at == end or data[at] != 34
                    if not closed:
                        data[stop] = data[at]
                        stop += 1
                        at += 1
                if not closed or (at < end and data[at] != delim):
                    return i
            else:
                while at < end and data[at] != delim:
                    if (quotes and data[at] == 34) or data[at] == 10 or data[at] == 13:
                        return i
                    at += 1
                stop = at
            skip = skips_rest
            if field < skipped_count:
                skip = skipped[field]
            if not skip:
                if taken == columns:
                    return i
                starts[taken * count + i], lengths[taken * count + i] = start, stop - start
                taken += 1
            field += 1
            more = at < end
            at += 1
        if taken != columns:
            return i
    return count


def _check_default(default: Tensor) -> None:
    """Checks the dtype and the static shape of a record's default."""
    if default.dtype not in _NUMBERS and default.dtype is not string:
        raise dtype_error(f"A field can be float32, float64, int32, int64 or string, but not {default.dtype.name}.")
    rank = default.shape.rank
    if rank is not None and rank > 1:
        raise invalid("Each record default should be at most rank 1 [Op:DecodeCSV]")
    if rank == 1 and default.shape[0] not in (0, 1, None):
        raise invalid("Shape of a default must be a length-0 or length-1 vector, or a scalar. [Op:DecodeCSV]")


@functools.lru_cache(64)
def _parser_of(
    columns: tuple[Column, ...], field_delim: str, use_quote_delim: bool, na_value: str, select_cols: Any
) -> CsvParser:
    return CsvParser(columns, field_delim, use_quote_delim, na_value, select_cols, None, "DecodeCSV")


def _decoded_shapes(records: TensorShape, defaults: Sequence[TensorShape], *attrs: Any) -> list[TensorShape]:
    selected = attrs[-1]
    if selected and len(selected) != len(defaults):
        raise invalid(f"select_cols should match output size: {len(selected)} != {len(defaults)}")
    return [records] * len(defaults)


@op("DecodeCSV", strings=True, shape=_decoded_shapes, batching=leading_dimensions, exact_in_batches=True)
def _decode_csv(
    records: StringArray, record_defaults: Sequence[Any], field_delim: str = ",", use_quote_delim: bool = True,
    na_value: str = "", select_cols: Sequence[int] = (),
) -> tuple[Any, ...]:  # fmt: skip
    """Parses CSV records, into a tensor for each column."""
    defaults = [EagerTensor(d, string if isinstance(d, StringArray) else FROM_TORCH[d.dtype]) for d in record_defaults]
    options = field_delim, use_quote_delim, na_value, tuple(select_cols) or None
    columns, _, error = _parser_of(tuple(defaults_of(defaults, "DecodeCSV")), *options).parse(records, "record {}")
    if error is not None:
        raise error
    return tuple([column if column.shape == records.shape else column.reshape(records.shape) for column in columns])


_decode_csv.op.differentiable = False


def decode_csv(
    records: TensorLike, record_defaults: Sequence[TensorLike], field_delim: str = ",", use_quote_delim: bool = True,
    na_value: str = "", select_cols: Sequence[int] | None = None, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Parses CSV records (RFC 4180), into a tensor for each column.

    Args:
        records: a string tensor of any shape, each string a record.
        record_defaults: for each column a scalar or vector of its dtype (float32, float64, int32, int64 or string): the
            default, or an empty tensor for a required field.
        field_delim: the delimiter of fields, one character; "," by default.
        use_quote_delim: accepts fields in quotation marks, which may contain delimiters and newlines; True by default.
        na_value: the text of a missing field, in addition to "".
        select_cols: the indices of the columns to parse, in ascending order; None for all.

    Returns:
        A list of tensors of the shape of `records` and the dtypes of `record_defaults`.

    Raises:
        InvalidArgumentError: a record has too few or too many fields, or one is missing or does not convert.
        ValueError: `select_cols` are not in ascending order, or not as many as `record_defaults`.

    Example:
        >>> [t.numpy().tolist() for t in tf.io.decode_csv(["1,x", ",y"], [[7], [""]])]
        [[1, 7], [b'x', b'y']]
    """
    if state.graph is not None and not isinstance(record_defaults, (list, tuple)):
        raise TypeError(f"Expected list for 'record_defaults' argument to 'DecodeCSV' Op, not {record_defaults!r}.")
    defaults = [convert([], d) if isinstance(d, DType) else convert(d) for d in record_defaults]
    for default in defaults:
        _check_default(default)
    for name_of_attr, value in (("field_delim", field_delim), ("na_value", na_value)):
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"Expected string for argument '{name_of_attr}' not {value!r}.")
    selected = [*map(int, select_cols or ())]
    if selected != sorted({*selected}) or min(selected, default=0) < 0:
        raise ValueError(f"select_cols is not strictly increasing, or contains negative values: {selected}")
    if selected and len(selected) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    attrs = field_delim, use_quote_delim is not False, na_value, selected
    return list(_decode_csv(convert(records, string), defaults, *attrs, name))
