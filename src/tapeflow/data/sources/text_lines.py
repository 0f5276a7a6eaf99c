"""`tf.data.TextLineDataset`."""

from __future__ import annotations

from collections.abc import Iterator

from tapeflow.data.node import dataset_op
from tapeflow.data.sources.files import Contents
from tapeflow.io.records import open_records


@dataset_op("TextLineDataset")
class TextLines(Contents):
    """The lines of text files, without their ends."""

    def contents_of(self, path: bytes) -> Iterator[bytes]:
        with open_records(path, self.compression_type, self.buffer_size) as file:
            for line in file:
                yield line.removesuffix(b"\n").removesuffix(b"\r")
