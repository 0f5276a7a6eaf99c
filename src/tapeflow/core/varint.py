"""Integers of variable length: seven bits a byte, the lowest first."""

from __future__ import annotations


def varint(value: int) -> bytes:
    """Returns the bytes of a non-negative integer."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Returns the integer at a position, and the position after it.

    Raises:
        ValueError: there is none of at most 64 bits.
    """
    value = shift = 0
    while shift < 70:
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("a length is cut short")
