"""`tf.data.experimental.CsvDataset`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.data.elements import Element
from tapeflow.data.node import dataset_op
from tapeflow.data.sources.files import OfFiles, names_of, reading
from tapeflow.data.transformations.batch import runs
from tapeflow.io.csv import CsvParser, defaults_of
from tapeflow.io.records import opened


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
        field_delim: str, use_quote_delim: bool, na_value: str, select_cols: Any, exclude_cols: Any,
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
        cls, filenames: Any, compression_type: bytes, buffer_size: int, header: bool, field_delim: bytes,
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
        return map(self._parser.scalars, self._values(inputs[0]))

    def batches(self, size: int, drop_remainder: bool) -> Iterator[Element]:
        return map(self._parser.vectors, runs(self._values(self.input_dataset.iterate()), size, drop_remainder))

    def _values(self, filenames: Iterator[Element]) -> Iterator[list[Any]]:
        """Returns an iterator over the records' values."""
        records = itertools.chain.from_iterable(map(self._records, filenames))
        return map(functools.partial(self._parser.values, which="record"), records)

    def _records(self, filename: Element) -> Iterator[bytes]:
        with opened(filename[0].item(), self.compression_type, self.buffer_size) as file:
            yield from itertools.islice(self._parser.records(file), int(self.header), None)
