"""CRC-32C, and the masked form in which TensorFlow's files store it."""

from __future__ import annotations

from typing import Any

import google_crc32c
import numpy as np

_MASK = 0xA282EAD8


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
