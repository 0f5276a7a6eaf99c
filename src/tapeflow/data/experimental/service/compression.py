"""Compression of elements on their way: by Snappy where cramjam is installed, else by zlib.

The first byte names the algorithm: workers and consumers may have different packages.
"""

from __future__ import annotations

import importlib
import importlib.util
import zlib
from typing import Any

from tapeflow.train import snappy

# Of the extra `parameter-servers`.
fast: Any = importlib.import_module("cramjam").snappy if importlib.util.find_spec("cramjam") else None
_SNAPPY, _ZLIB = b"s", b"z"


def compress(data: bytes) -> bytes:
    """Returns data compressed."""
    return _ZLIB + zlib.compress(data, 1) if fast is None else _SNAPPY + bytes(fast.compress_raw(data))


def decompress(data: bytes) -> bytes:
    """Returns the bytes before compression."""
    if data[:1] == _ZLIB:
        return zlib.decompress(data[1:])
    return snappy.decompress(data[1:]) if fast is None else bytes(fast.decompress_raw(data[1:]))
