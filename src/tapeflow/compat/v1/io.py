"""`tf.compat.v1.io`: reading TFRecord files one record after the other, as TensorBoard does."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google_crc32c

from tapeflow import errors

_MASK = 0xA282EAD8


def _masked(data: bytes) -> int:
    crc = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a TFRecord file that is not compressed.

    Args:
        path: the file.
        options: None: compressed files are not read.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: the file is cut off or damaged; all records before have been given.
    """
    if options is not None:
        raise errors.UnimplementedError(None, None, f"tf_record_iterator reads no compressed files, and got {options!r}")
    try:
        file = Path(path).open("rb")  # noqa: SIM115 (closed below, as the records are read)
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
    with file:
        while head := file.read(12):
            if len(head) < 12 or struct.unpack("<I", head[8:])[0] != _masked(head[:8]):
                raise errors.DataLossError(None, None, f"corrupted record in {path} at {file.tell() - len(head)}")
            size = struct.unpack("<Q", head[:8])[0]
            data, tail = file.read(size), file.read(4)
            if len(data) < size or len(tail) < 4 or struct.unpack("<I", tail)[0] != _masked(data):
                raise errors.DataLossError(None, None, f"truncated or corrupted record in {path} at {file.tell()}")
            yield data
