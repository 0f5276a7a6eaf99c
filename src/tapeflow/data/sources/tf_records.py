"""`tf.data.TFRecordDataset`."""

from __future__ import annotations

from collections.abc import Iterator

from tapeflow.data.node import dataset_op
from tapeflow.data.sources.files import Contents
from tapeflow.io.records import read_records


@dataset_op("TFRecordDataset", "TFRecordDatasetV2")
class TFRecords(Contents):
    """The records of TFRecord files."""

    def contents_of(self, path: bytes) -> Iterator[bytes]:
        return read_records(path, self.compression_type, self.buffer_size)
