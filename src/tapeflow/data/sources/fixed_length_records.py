"""`tf.data.FixedLengthRecordDataset`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.core.errors import DataLossError
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import invalid
from tapeflow.data.node import dataset_op
from tapeflow.data.sources.files import Contents
from tapeflow.io.records import open_records


@dataset_op("FixedLengthRecordDatasetV2", "FixedLengthRecordDataset")
class FixedLengthRecords(Contents):
    """Records of a fixed length of binary files, without a header and a footer of some bytes."""

    record_bytes: int = 1
    header_bytes: int = 0
    footer_bytes: int = 0

    @classmethod
    def of_op(  # type: ignore[override]
        cls, filenames: TensorLike, header_bytes: int, record_bytes: int, footer_bytes: int, buffer_size: int,
        compression_type: bytes = b"",
    ) -> Any:  # fmt: skip
        return cls.of(filenames, compression_type, buffer_size, None, record_bytes, header_bytes, footer_bytes)

    def contents_of(self, path: bytes) -> Iterator[bytes]:
        length, header, footer = self.record_bytes, self.header_bytes, self.footer_bytes
        if length <= 0:
            raise invalid("`record_bytes` must be > 0 [Op:FixedLengthRecordDatasetV2]")
        for number, part in ((header, "header"), (footer, "footer")):
            if number < 0:
                raise invalid(f"`{part}_bytes` must be >= 0 [Op:FixedLengthRecordDatasetV2]")
        with open_records(path, self.compression_type, self.buffer_size) as file:
            body = file.read()[header:]
        body = body[: len(body) - footer] if footer <= len(body) else b""
        whole = len(body) // length * length
        message = (
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
            f'"{path.decode()}" has body '
            f"length {len(body)} bytes, which is not an exact multiple of the record length ({length} bytes)."
        )
        if whole < len(body) and not self.compression_type:
            raise invalid(message)
        for start in range(0, whole, length):
            yield body[start : start + length]
        if whole < len(body):  # as in TensorFlow, the size of a compressed file is known at its end
            raise DataLossError.of(message)
