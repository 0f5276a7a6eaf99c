"""Decompression of Snappy blocks, as in the index of some checkpoints. The format: google/snappy,
format_description.txt."""

from __future__ import annotations

from tapeflow.core.varint import read_varint


def decompress(data: bytes) -> bytes:
    """Returns the bytes of a Snappy block.

    Raises:
        ValueError: the block is damaged.
    """
    length, position = read_varint(data, 0)
    if length > 64 * len(data):  # a copy of 64 bytes takes two
        raise ValueError("a Snappy block claims more than it can hold")
    out = bytearray()
    while position < len(data):
        tag = data[position]
        position += 1
        kind, count = tag & 3, tag >> 2
        if kind == 0:  # a literal
            if count >= 60:
                size = count - 59
                count = int.from_bytes(data[position : position + size], "little")
                position += size
            count += 1
            out += data[position : position + count]
            position += count
        else:  # a copy of earlier bytes
            if kind == 1:
                if position >= len(data):
                    raise ValueError("a Snappy block is cut short")
                offset, count, position = (tag >> 5) << 8 | data[position], (count & 7) + 4, position + 1
            else:
                end = position + (2 if kind == 2 else 4)
                offset, count, position = int.from_bytes(data[position:end], "little"), count + 1, end
            start = len(out) - offset
            if offset == 0 or start < 0:
                raise ValueError("a Snappy block copies from before its start")
            piece = bytes(out[start : start + count])
            out += (piece * (count // len(piece) + 1))[:count]
        if position > len(data) or len(out) > length:
            raise ValueError("a Snappy block is damaged")
    if len(out) != length:
        raise ValueError("a Snappy block is cut short")
    return bytes(out)
