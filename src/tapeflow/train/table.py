"""Sorted tables of byte strings, the format of a checkpoint's index file: LevelDB's, `doc/table_format.md` there.

Keys are sorted. A block holds entries. A key omits the prefix that it shares with the key before it, except for every
16th key. The block ends with the list of these whole keys. Each block has a checksum. An index block has the positions
of the other blocks, and the footer has the position of the index block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from tapeflow.core.varint import read_varint, varint
from tapeflow.io.records import crc32c, mask_checksum
from tapeflow.train.snappy import decompress

_MAGIC = 0xDB4775248B80FB57
_FOOTER_SIZE = 48
_BLOCK_SIZE = 1 << 18
_RESTART_INTERVAL = 16


class _Block:
    """Entries being put into one block."""

    def __init__(self, restart_interval: int) -> None:
        self._interval = restart_interval
        self.clear()

    def clear(self) -> None:
        self.data, self._restarts, self._count, self._last = bytearray(), [0], 0, b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._count < self._interval:
            shared = _shared_prefix(self._last, key)
        else:
            self._restarts.append(len(self.data))
            self._count = 0
        self.data += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        self._last = key
        self._count += 1

    def size(self) -> int:
        return len(self.data) + 4 * len(self._restarts) + 4

    def finish(self) -> bytes:
        return bytes(self.data) + struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))


def _shared_prefix(a: bytes, b: bytes) -> int:
    limit = min(len(a), len(b))
    return next((i for i in range(limit) if a[i] != b[i]), limit)


def _key_between(last: bytes, following: bytes) -> bytes:
    """Returns a short key that is not below `last` and below `following`."""
    i = _shared_prefix(last, following)
    if i < min(len(last), len(following)) and last[i] < 0xFF and last[i] + 1 < following[i]:
        return last[:i] + bytes([last[i] + 1])
    return last


def _key_after(last: bytes) -> bytes:
    """Returns a short key that is not below `last`."""
    for i, byte in enumerate(last):
        if byte != 0xFF:
            return last[:i] + bytes([byte + 1])
    return last


def table_bytes(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Returns a table with these keys and values; the keys are sorted."""
    out, index, block = bytearray(), _Block(1), _Block(_RESTART_INTERVAL)
    handle, last = b"", b""

    def written(contents: bytes) -> bytes:
        """Writes a block; returns its position."""
        where = varint(len(out)) + varint(len(contents))
        trailer = b"\0"
        out.extend(contents + trailer + struct.pack("<I", mask_checksum(crc32c(contents + trailer))))
        return where

    for key, value in entries:
        if handle:
            index.add(_key_between(last, key), handle)
            handle = b""
        block.add(key, value)
        last = key
        if block.size() >= _BLOCK_SIZE:
            handle = written(block.finish())
            block.clear()
    if block.data:
        handle = written(block.finish())
    metaindex = written(_Block(_RESTART_INTERVAL).finish())
    if handle:
        index.add(_key_after(last), handle)
    footer = metaindex + written(index.finish())
    return bytes(out) + footer.ljust(_FOOTER_SIZE - 8, b"\0") + struct.pack("<Q", _MAGIC)


def read_table(data: bytes) -> dict[bytes, bytes]:
    """Returns the keys and values of a table.

    Raises:
        ValueError: it is no table, or a damaged one.
    """
    return dict(table_entries(data))


def table_entries(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields the keys and values of a table, sorted by the keys.

    Raises:
        ValueError: it is no table, or a damaged one.
    """
    if len(data) < _FOOTER_SIZE:
        raise ValueError("the file is too short to be an sstable")
    footer = data[-_FOOTER_SIZE:]
    if struct.unpack("<Q", footer[-8:])[0] != _MAGIC:
        raise ValueError("not an sstable (bad magic number)")
    position = 0
    for _ in range(2):  # the index of other indices, which nobody uses, comes first
        _, position = read_varint(footer, position)
    last, budget = None, 16 * len(data) + (1 << 24)
    for _, handle in _block_entries(_read_block(data, footer[position:-8])):
        for key, value in _block_entries(_read_block(data, handle)):
            budget -= len(key) + len(value)
            if budget < 0 or (last is not None and key <= last):
                raise ValueError("the keys are out of order")
            yield key, value
            last = key


def _read_block(data: bytes, handle: bytes) -> bytes:
    offset, position = read_varint(handle, 0)
    size, _ = read_varint(handle, position)
    end = offset + size
    if end + 5 > len(data) - _FOOTER_SIZE:
        raise ValueError("truncated block read")
    contents, kind = data[offset:end], data[end]
    if mask_checksum(crc32c(data[offset : end + 1])) != struct.unpack("<I", data[end + 1 : end + 5])[0]:
        raise ValueError("block checksum mismatch")
    if kind == 0:
        return contents
    if kind == 1:
        return decompress(contents)
    raise ValueError(f"a block is compressed in an unknown way ({kind})")


def _block_entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    if len(block) < 4:
        raise ValueError("bad block contents")
    end = len(block) - 4 - 4 * struct.unpack("<I", block[-4:])[0]
    if end < 0:
        raise ValueError("bad block contents")
    key, position = b"", 0
    while position < end:
        shared, position = read_varint(block, position)
        fresh, position = read_varint(block, position)
        size, position = read_varint(block, position)
        if shared > len(key) or position + fresh + size > end:
            raise ValueError("bad entry in block")
        key = key[:shared] + block[position : position + fresh]
        position += fresh
        yield key, block[position : position + size]
        position += size
