"""TFRecord files: records, each with its length and checksums; and the checksums, which checkpoints and event files use
too.

A record is its length (8 bytes, little-endian), the masked CRC-32C of these 8 bytes, the data, and the masked CRC-32C
of the data. Source: tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details". A file may be compressed
as a whole.
"""

from __future__ import annotations

import io
import os
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

import google_crc32c
import numpy as np

from tapeflow.core import errors
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.io.gfile import local_path, tensorflows_errors

_MASK = 0xA282EAD8
_HEAD, _TAIL = 12, 4
_WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}  # as zlib wants them: 16 more for a gzip header
_CHUNK = 1 << 16


# ---- checksums -------------------------------------------------------------------------------------------------------


def crc32c(data: Any, crc: int = 0) -> int:
    """The CRC-32C of bytes, or of any contiguous buffer; goes on from `crc`."""
    if type(data) is not bytes:
        data = np.frombuffer(data, np.uint8)  # the C library takes no memoryview
    return google_crc32c.extend(crc, data)


def masked(crc: int) -> int:
    """A checksum as it is stored: a checksum over data that contain their own checksum would be a weak one."""
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


def unmasked(stored: int) -> int:
    """The inverse of `masked`."""
    rotated = (stored - _MASK) & 0xFFFFFFFF
    return (rotated >> 17 | rotated << 15) & 0xFFFFFFFF


# ---- reading ---------------------------------------------------------------------------------------------------------


class _Inflated(io.RawIOBase):
    """The bytes of a compressed file."""

    def __init__(self, file: BinaryIO, window_bits: int) -> None:
        self._file, self._window_bits = file, window_bits
        self._zlib = zlib.decompressobj(window_bits)
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._zlib.eof:  # a file may hold several compressed ones, one after the other
                self._left = self._zlib.unused_data or self._file.read(_CHUNK)
                if not self._left:
                    return 0
                self._zlib = zlib.decompressobj(self._window_bits)
            compressed = self._left or self._file.read(_CHUNK)
            data = self._inflated(compressed, len(buffer))
            self._left = self._zlib.unconsumed_tail
            if data or not compressed:
                buffer[: len(data)] = data
                return len(data)

    def _inflated(self, data: bytes, most: int) -> bytes:
        try:
            return self._zlib.decompress(data, most)
        except zlib.error as error:
            found = re.fullmatch(r"Error (-?\d+) while decompressing data: (.*)", str(error))
            said = f"error {found[1]}: {found[2]}" if found else str(error)
            raise errors.DataLossError(None, None, f"inflate() failed with {said}") from None

    def close(self) -> None:
        self._file.close()
        super().close()


def opened(path: Any, compression_type: str = "", buffer_size: int | None = None) -> Any:
    """A file for reading, decompressed on the way.

    Args:
        path: of the file.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: how many bytes are read at once.

    Raises:
        NotFoundError, FailedPreconditionError, ...: it can't be opened.
        InvalidArgumentError: there is no such compression.
        DataLossError: while reading, if the file is not compressed so.
    """
    if compression_type and compression_type not in _WINDOW_BITS:
        raise errors.InvalidArgumentError(None, None, f"Unsupported compression_type: {compression_type!r}.")
    with tensorflows_errors(os.fsdecode(path)):
        size = max(buffer_size or _CHUNK, 2)
        file = open(local_path(path), "rb", buffering=size)  # noqa: SIM115 (the caller closes it)
    if compression_type:
        return io.BufferedReader(_Inflated(file, _WINDOW_BITS[compression_type]), _CHUNK)
    return file


def read_records(path: Any, compression_type: str = "", buffer_size: int | None = None) -> Iterator[bytes]:
    """The records of a file, one after the other. A file that ends within a record's first 12 bytes ends before it.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: a record is cut off or damaged; all before it have been given.
    """
    offset = 0
    with opened(path, compression_type, buffer_size) as file:
        while len(head := file.read(_HEAD)) == _HEAD:
            size, stored = struct.unpack("<QI", head)
            if stored != masked(crc32c(head[:8])):
                hint = "" if offset else " (Is this even a TFRecord file?)"
                raise errors.DataLossError(None, None, f"corrupted record at {offset}{hint}")
            data, tail = file.read(size), file.read(_TAIL)
            if len(tail) < _TAIL:
                why = "EOF reached" if compression_type else "Read less bytes than requested"
                raise errors.DataLossError(None, None, f"truncated record at {offset}' failed with {why}")
            if struct.unpack("<I", tail)[0] != masked(crc32c(data)):
                raise errors.DataLossError(None, None, f"corrupted record at {offset + _HEAD}")
            yield data
            offset += _HEAD + size + _TAIL


def _decompressed(texts: np.ndarray, compression_type: str = "") -> np.ndarray:
    if compression_type and compression_type not in _WINDOW_BITS:
        raise errors.InvalidArgumentError(None, None, "Only ZLIB, GZIP or NONE are supported compressions")
    if not compression_type:
        return texts
    made = np.empty(texts.size, object)
    made[:] = [
        _Inflated(io.BytesIO(t), _WINDOW_BITS[compression_type]).readall() for t in texts.reshape(-1).tolist()
    ]  # fmt: skip
    return made.reshape(texts.shape)


@op("DecodeCompressed", kernel=_decompressed, strings=_decompressed, shape=same, elementwise=True)
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Any:
    """Decompresses strings.

    Args:
        bytes: a string tensor.
        compression_type: "", "ZLIB" or "GZIP".

    Returns:
        A string tensor of the same shape.

    Raises:
        InvalidArgumentError: there is no such compression.
        DataLossError: a string is not compressed so.

    Example:
        >>> import zlib
        >>> tf.io.decode_compressed(zlib.compress(b"text"), "ZLIB").numpy()
        b'text'
    """


not_differentiable(decode_compressed)


# ---- writing ---------------------------------------------------------------------------------------------------------


def framed(data: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(data))
    return b"".join([length, struct.pack("<I", masked(crc32c(length))), data, struct.pack("<I", masked(crc32c(data)))])


class TFRecordOptions:
    """How a TFRecord file is compressed.

    Args:
        compression_type: "GZIP", "ZLIB", "" or None.
        flush_mode, input_buffer_size, output_buffer_size: taken as TensorFlow does; they change nothing.
        window_bits, compression_level, compression_method, mem_level, compression_strategy: zlib's parameters; None for
        its
            defaults.

    Raises:
        ValueError: there is no such compression.

    Example:
        >>> tf.io.TFRecordOptions("GZIP", compression_level=9).compression_type
        'GZIP'
    """

    compression_type_map: ClassVar[dict[int, str]] = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of the compression of options, or of a name, a number of it or None: "" for none.

        Raises:
            ValueError: there is no such compression.
        """
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        name: Any = cls.compression_type_map.get(options) if isinstance(options, int) else options
        if name not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return name

    def _compressor(self) -> Any:
        kind = self.get_compression_type_string(self)
        if not kind:
            return None

        def given(value: int | None, default: int) -> int:
            return default if value is None else value

        bits = given(self.window_bits, 15) + _WINDOW_BITS[kind] - 15
        return zlib.compressobj(
            given(self.compression_level, zlib.Z_DEFAULT_COMPRESSION),
            given(self.compression_method, zlib.DEFLATED),
            bits,
            given(self.mem_level, zlib.DEF_MEM_LEVEL),
            given(self.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
        )


class TFRecordWriter:
    """Writes records to a TFRecord file.

    Args:
        path: of the file, which is written anew.
        options: a `TFRecordOptions`, or the name of a compression.

    Raises:
        NotFoundError: the folder is missing.
        ValueError: there is no such compression.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file.tfrecord")
        >>> with tf.io.TFRecordWriter(path, "GZIP") as writer:
        ...     writer.write(b"one")
        ...     writer.write(b"two")
        >>> [r.numpy() for r in tf.data.TFRecordDataset(path, compression_type="GZIP")]
        [b'one', b'two']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._compressor = options._compressor()
        with tensorflows_errors(path):
            self._file = open(local_path(path), "wb")  # noqa: SIM115 (closed by `close`)

    def write(self, record: Any) -> None:
        """Adds a record: bytes, or text, which is encoded in UTF-8.

        Raises:
            FailedPreconditionError: the writer is closed.
            TypeError: it is something else.
        """
        if not isinstance(record, (bytes, str)):
            raise TypeError(f"A record is bytes, not {record!r}.")
        self._put(framed(record.encode() if isinstance(record, str) else record))

    def flush(self) -> None:
        """Hands what was written to the operating system.

        Raises:
            FailedPreconditionError: the writer is closed.
        """
        self._put(b"" if self._compressor is None else self._compressor.flush(zlib.Z_SYNC_FLUSH), compressed=True)
        self._file.flush()

    def _put(self, data: bytes, compressed: bool = False) -> None:
        if self._file.closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        with tensorflows_errors(self._file.name):
            self._file.write(data if compressed or self._compressor is None else self._compressor.compress(data))

    def close(self) -> None:
        """Writes what is left, and closes the file. Closing it again does nothing."""
        if not self._file.closed:
            if self._compressor is not None:
                self._put(self._compressor.flush(), compressed=True)
            self._file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()
