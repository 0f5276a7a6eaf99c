"""`tf.data.experimental.CsvDataset`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data.elements import Element
from tapeflow.data.node import dataset_op, slices_of
from tapeflow.data.sources.files import OfFiles, names_of, reading
from tapeflow.data.threads import Chained
from tapeflow.data.transformations.batch import Runs
from tapeflow.io.csv import CsvParser, defaults_of
from tapeflow.io.records import open_records


@dataset_op("CSVDatasetV2", "CSVDataset")
class Csv(OfFiles):
    """The rows of CSV files, a scalar for each column.

    `columns` has the dtype of each column that is read, and its default or None.
    """

    columns: Sequence[tuple[Any, Any]]
    header: bool
    field_delim: str
    use_quote_delim: bool
    na_value: str
    select_cols: Sequence[int]
    exclude_cols: Sequence[int]

    @classmethod
    def of(
        cls, filenames: Any, record_defaults: Sequence[Any], compression_type: Any, buffer_size: Any, header: bool,
        field_delim: str, use_quote_delim: bool, na_value: str, select_cols: Sequence[int] | None,
        exclude_cols: Sequence[int] | None,
    ) -> Csv:  # fmt: skip
        """Returns the node for a user's arguments."""
        if select_cols is not None and exclude_cols is not None:
            raise invalid("Either select_cols or exclude_cols should be empty [Op:CSVDatasetV2] name: ")
        return cls(
            names_of(filenames), *reading(compression_type, buffer_size), defaults_of(record_defaults, "CSVDatasetV2"),
            bool(header), field_delim, use_quote_delim, na_value, select_cols or [], exclude_cols or [],
        )  # fmt: skip

    @classmethod
    def of_op(
        cls, filenames: TensorLike, compression_type: bytes, buffer_size: int, header: bool, field_delim: bytes,
        use_quote_delim: bool, na_value: bytes, select_cols: list[int], record_defaults: list[Any],
        exclude_cols: Sequence[int] = (),
    ) -> Csv:  # fmt: skip
        defaults = [d if d.shape.num_elements() else d.dtype for d in record_defaults]
        return cls.of(
            filenames, defaults, compression_type, buffer_size, header, field_delim.decode(), use_quote_delim,
            na_value.decode(), select_cols or None, exclude_cols or None,
        )  # fmt: skip

    def element_spec(self) -> Any:
        self._parser = CsvParser(
            self.columns, self.field_delim, self.use_quote_delim, self.na_value, self.select_cols or None,
            self.exclude_cols or None, "IteratorGetNext",
        )  # fmt: skip
        return tuple([TensorSpec([], dtype) for dtype, _ in self.columns])

    @property
    def record_defaults(self) -> list[Tensor]:
        """The defaults as tensors, empty ones for required fields."""
        return [convert([] if default is None else [default], dtype) for dtype, default in self.columns]

    def generate(self, *inputs: Iterator[Element]) -> Iterator[Element]:
        return Chained(_Blocks(self._every_record(inputs[0]), self._parser))

    def batches(self, size: int, drop_remainder: bool) -> Iterator[Element]:
        runs = Runs(self._every_record(self.input_dataset.iterate()), size, drop_remainder)

        def columns_of(records: list[bytes]) -> Element:
            columns, count, error = self._parser.parse(StringArray.of(records), "record")
            if error is not None:
                runs.put_back(records[count + 1 :])
                raise error
            return columns

        return map(columns_of, runs)

    def _every_record(self, filenames: Iterator[Element]) -> Iterator[bytes]:
        return itertools.chain.from_iterable(map(self._records, filenames))

    def _records(self, filename: Element) -> Iterator[bytes]:
        with open_records(filename[0].item(), self.compression_type, self.buffer_size) as file:
            yield from itertools.islice(self._parser.records(file), int(self.header), None)


class _Blocks:
    """The rows of blocks of records, which are parsed together. An error comes in the place of its record.

    Args:
        records: the records of all files.
        parser: their parser.
    """

    def __init__(self, records: Iterator[bytes], parser: CsvParser) -> None:
        self._records, self._parser = records, parser
        self._size = 8  # the first blocks are short, for a fast start
        self._left = StringArray.of([])  # records that are read, but not parsed
        self._wrong: Exception | None = None  # the error of the record before these
        self._failure: Exception | None = None  # the error of the file behind these

    def __iter__(self) -> Iterator[Iterator[Element]]:
        return self

    def __next__(self) -> Iterator[Element]:
        if self._wrong is not None:
            error, self._wrong = self._wrong, None
            raise error
        if not self._left.size:
            self._left = StringArray.of(self._read())
        columns, count, self._wrong = self._parser.parse(self._left, "record")
        self._left = self._left[count + 1 :]
        return zip(*[slices_of(column, count) for column in columns], strict=True)

    def _read(self) -> list[bytes]:
        block: list[bytes] = []
        if self._failure is None:
            try:
                block.extend(itertools.islice(self._records, self._size))
            except Exception as error:
                self._failure = error
        if not block:
            failure, self._failure = self._failure, None
            raise failure or StopIteration
        self._size = min(2 * self._size, 256)
        return block
