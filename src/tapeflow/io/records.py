"""TFRecord files, and the checksums that they share with checkpoints and event files.

A record is its length (8 bytes, little-endian), the masked CRC-32C of these 8 bytes, the data, and the masked CRC-32C
of the data. Source: tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details". A file may be compressed
as a whole.
"""

from __future__ import annotations

import dataclasses
import io
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, ClassVar

import google_crc32c
import numpy as np

from tapeflow.core import errors
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.os_errors import translate_os_errors
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.io.gfile.files import FilePath, GFile, local_path

_MASK = 0xA282EAD8
_HEAD, _TAIL = 12, 4
_WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}  # of zlib: 16 more for a gzip header
_CHUNK = 1 << 16
_LARGEST_PIECE = 1 << 24
_MOST_SIZES = 1 << 12
_UINT32 = struct.Struct("<I")


# ---- checksums -------------------------------------------------------------------------------------------------------


def crc32c(data: Any, crc: int = 0) -> int:
    """Returns the CRC-32C of bytes, or of another contiguous buffer, continued from `crc`."""
    if type(data) is not bytes:
        data = np.frombuffer(data, np.uint8)  # the C library refuses a memoryview
    return google_crc32c.extend(crc, data)


def mask_checksum(crc: int) -> int:
    """Returns the stored form of a checksum: a checksum of data that contain their own checksum would be weak."""
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


# ---- reading ---------------------------------------------------------------------------------------------------------


class _Inflated(io.RawIOBase):
    """The decompressed bytes of a file."""

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
            match = re.fullmatch(r"Error (-?\d+) while decompressing data: (.*)", str(error))
            reason = f"error {match[1]}: {match[2]}" if match else str(error)
            raise errors.DataLossError.of(f"inflate() failed with {reason}") from None

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def open_records(path: FilePath, compression_type: str = "", buffer_size: int | None = None) -> Iterator[Any]:
    """Opens a context: inside, the decompressed bytes of a file can be read.

    Args:
        path: the path of the file.
        compression_type: "", "GZIP" or "ZLIB".
        buffer_size: the number of bytes to read at once.

    Yields:
        A binary file.

    Raises:
        NotFoundError, FailedPreconditionError, ...: the file can't be opened or read.
        InvalidArgumentError: the compression is unknown.
        DataLossError: while reading, if the file is not compressed in this way.
    """
    if compression_type and compression_type not in _WINDOW_BITS:
        raise invalid(f"Unsupported compression_type: {compression_type!r}.")
    with translate_os_errors(path), open(local_path(path), "rb", buffering=max(buffer_size or _CHUNK, 2)) as file:
        if not compression_type:
            yield file
            return
        with io.BufferedReader(_Inflated(file, _WINDOW_BITS[compression_type]), _CHUNK) as contents:
            yield contents


def read_records(path: FilePath, compression_type: str = "", buffer_size: int | None = None) -> Iterator[bytes]:
    """Yields the records of a file. A last record of fewer than 12 bytes is ignored.

    Raises:
        NotFoundError: the file does not exist.
        DataLossError: a record is truncated or damaged, after all records before it.
    """
    chunk = max(buffer_size or _CHUNK, 2)
    # The next record begins in the buffer, at the place `at`; `passed` bytes of the file lie before the buffer.
    buffer, at, passed = b"", 0, 0
    sizes: dict[bytes, int] = {}  # by the heads that have been checked
    with open_records(path, compression_type, chunk) as file:
        while True:
            head = buffer[at : at + _HEAD]
            if len(head) < _HEAD:
                passed += at
                buffer, at = _read_more(file, buffer[at:], _HEAD, chunk), 0
                head = buffer[:_HEAD]
                if len(head) < _HEAD:
                    return
            size = sizes.get(head)
            if size is None:
                size = _checked_size(head, passed + at)
                if len(sizes) < _MOST_SIZES:
                    sizes[head] = size
            if len(buffer) < at + _HEAD + size + _TAIL:
                passed += at
                buffer, at = _read_more(file, buffer[at:], _HEAD + size + _TAIL, chunk), 0
                if len(buffer) < _HEAD + size + _TAIL:
                    why = "EOF reached" if compression_type else "Read less bytes than requested"
                    raise errors.DataLossError.of(f"truncated record at {passed}' failed with {why}")
            end = at + _HEAD + size
            data = buffer[at + _HEAD : end]
            crc = google_crc32c.extend(0, data)
            if _UINT32.unpack_from(buffer, end)[0] != ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF:
                raise errors.DataLossError.of(f"corrupted record at {passed + at + _HEAD}")
            yield data
            at = end + _TAIL


def _checked_size(head: bytes, offset: int) -> int:
    """Returns the size of the data of the record that begins with a head."""
    size, stored = struct.unpack("<QI", head)
    if stored != mask_checksum(crc32c(head[:8])):
        hint = "" if offset else " (Is this even a TFRecord file?)"
        raise errors.DataLossError.of(f"corrupted record at {offset}{hint}")
    return size


def _read_more(file: Any, start: bytes, size: int, chunk: int) -> bytes:
    """Returns bytes followed by more of a file, so that there are `size` of them; less at the end of the file. Many are
    read in pieces: a length in a damaged file may be huge.
    """
    pieces, length = [start], len(start)
    while length < size and (piece := file.read1(max(chunk, min(size - length, _LARGEST_PIECE)))):
        pieces.append(piece)
        length += len(piece)
    return b"".join(pieces)


def _decompress_kernel(texts: StringArray, compression_type: str = "") -> StringArray:
    if compression_type and compression_type not in _WINDOW_BITS:
        raise invalid("Only ZLIB, GZIP or NONE are supported compressions")
    if not compression_type:
        return texts
    bits = _WINDOW_BITS[compression_type]
    return StringArray.of([_Inflated(io.BytesIO(text), bits).readall() for text in texts.flat], texts.shape)


@op("DecodeCompressed", kernel=_decompress_kernel, strings=_decompress_kernel, shape=same, elementwise=True)
def decode_compressed(bytes: TensorLike, compression_type: str = "", name: str | None = None) -> Tensor:
    """Decompresses strings.

    Args:
        bytes: a string tensor of any shape.
        compression_type: "", "ZLIB" or "GZIP".

    Returns:
        A string tensor of the same shape.

    Raises:
        InvalidArgumentError: the compression is unknown.
        DataLossError: a string is not compressed in this way.

    Example:
        >>> import zlib
        >>> tf.io.decode_compressed(zlib.compress(b"text"), "ZLIB").numpy()
        b'text'
    """


not_differentiable(decode_compressed)


# ---- writing ---------------------------------------------------------------------------------------------------------


def frame_record(data: bytes) -> bytes:
    """Returns the stored form of a record."""
    length = struct.pack("<Q", len(data))
    checksums = [_UINT32.pack(mask_checksum(crc32c(part))) for part in (length, data)]
    return b"".join([length, checksums[0], data, checksums[1]])


@dataclasses.dataclass(eq=False)
class TFRecordOptions:
    """The compression of a TFRecord file.

    Args:
        compression_type: "GZIP", "ZLIB", "" or None.
        flush_mode, input_buffer_size, output_buffer_size: without effect.
        window_bits, compression_level, compression_method, mem_level, compression_strategy: ints, the parameters of
            zlib; None for its defaults.

    Raises:
        ValueError: the compression is unknown.

    Example:
        >>> tf.io.TFRecordOptions("GZIP", compression_level=9).compression_type
        'GZIP'
    """

    compression_type_map: ClassVar[dict[int, str]] = {0: "", 1: "ZLIB", 2: "GZIP"}

    compression_type: str | None = None
    flush_mode: int | None = None
    input_buffer_size: int | None = None
    output_buffer_size: int | None = None
    window_bits: int | None = None
    compression_level: int | None = None
    compression_method: int | None = None
    mem_level: int | None = None
    compression_strategy: int | None = None

    def __post_init__(self) -> None:
        self.get_compression_type_string(self.compression_type)

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Returns the name of a compression, "" for none.

        Args:
            options: `TFRecordOptions`, the name or the number of a compression, or None.

        Raises:
            ValueError: the compression is unknown.
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
        """Returns a new compressor of zlib, or None for no compression."""
        kind = self.get_compression_type_string(self)
        if not kind:
            return None
        options: dict[str, Any] = {
            "level": self.compression_level, "method": self.compression_method, "memLevel": self.mem_level,
            "strategy": self.compression_strategy,
            "wbits": _WINDOW_BITS[kind] if self.window_bits is None else self.window_bits,
        }  # fmt: skip
        return zlib.compressobj(**{name: value for name, value in options.items() if value is not None})


class TFRecordWriter:
    """Writes records to a TFRecord file.

    Args:
        path: the path of the file, which is overwritten.
        options: a `TFRecordOptions`, or the name of a compression.

    Raises:
        NotFoundError: the folder does not exist.
        ValueError: the compression is unknown.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file.tfrecord")
        >>> with tf.io.TFRecordWriter(path, "GZIP") as writer:
        ...     writer.write(b"one")
        ...     writer.write(b"two")
        >>> [r.numpy() for r in tf.data.TFRecordDataset(path, compression_type="GZIP")]
        [b'one', b'two']
    """

    def __init__(self, path: FilePath, options: TFRecordOptions | str | None = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._compressor = options._compressor()
        self._file: GFile | None = GFile(path, "wb")
        self._file.write(b"")

    def write(self, record: bytes | str) -> None:
        """Writes a record.

        Args:
            record: bytes, or text, which is encoded as UTF-8.

        Raises:
            FailedPreconditionError: the writer is closed.
            TypeError: the record is neither bytes nor text.
        """
        if not isinstance(record, (bytes, str)):
            raise TypeError(f"A record is bytes, not {record!r}.")
        self._put(frame_record(record.encode() if isinstance(record, str) else record))

    def flush(self) -> None:
        """Hands the written records to the operating system.

        Raises:
            FailedPreconditionError: the writer is closed.
        """
        self._put(b"" if self._compressor is None else self._compressor.flush(zlib.Z_SYNC_FLUSH), compressed=True)
        if self._file is not None:
            self._file.flush()

    def _put(self, data: bytes, compressed: bool = False) -> None:
        """Writes bytes to the file, and compresses them unless they are."""
        if self._file is None:
            raise errors.FailedPreconditionError.of("Writer is closed.")
        self._file.write(data if compressed or self._compressor is None else self._compressor.compress(data))

    def close(self) -> None:
        """Writes buffered records, and closes the file. Closing it again has no effect."""
        file, self._file = self._file, None
        if file is not None:
            with file:
                if self._compressor is not None:
                    file.write(self._compressor.flush())

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            with suppress(errors.OpError):  # nobody can catch it here
                self.close()
