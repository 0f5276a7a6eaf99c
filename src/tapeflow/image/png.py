"""Reading of PNG files of 16 bits a channel, which Pillow lacks, and writing of PNG files.

Source: the PNG specification (W3C, third edition), sections 5 (chunks), 8 (interlacing) and 9 (filters).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by color type
_COLOR_TYPES = {channels: kind for kind, channels in _CHANNELS.items()}
# The passes of an interlaced image: first row, first column, and the steps between them.
_PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def has_16_bits(data: bytes) -> bool:
    """Returns True if the channels of a file have 16 bits."""
    return data[24:25] == b"\x10"


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_16_bits(data: bytes) -> tuple[np.ndarray, tuple[int, ...] | None]:
    """Decodes a file of 16 bits a channel.

    Returns:
        uint16 pixels `[height, width, channels]`, and the transparent color, if there is one.

    Raises:
        ValueError, zlib.error, struct.error: the file is damaged.
    """
    chunks: dict[bytes, bytes] = {}
    for name, body in _read_chunks(data):
        chunks[name] = chunks.get(name, b"") + body
    width, height, _, color_type, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    channels = _CHANNELS[color_type]
    raw = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8)
    out = np.empty((height, width, channels), np.uint16)
    start = 0
    for row, column, down, right in _PASSES if interlaced else ((0, 0, 1, 1),):
        part = out[row::down, column::right]
        if part.size:
            length = part.shape[0] * (1 + 2 * channels * part.shape[1])
            lines = raw[start : start + length].reshape(part.shape[0], -1)
            part[...] = _undo_filters(lines, 2 * channels).view(">u2").reshape(part.shape)
            start += length
    transparent = chunks.get(b"tRNS")
    return out, struct.unpack(f">{channels}H", transparent) if transparent else None


def _read_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields the names and the data of the chunks of a file."""
    position = len(_SIGNATURE)
    while position < len(data):
        length, name = struct.unpack_from(">I4s", data, position)
        body = data[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, position + 8 + length)
        if zlib.crc32(name + body) != checksum:
            raise ValueError(f"the checksum of the chunk {name!r} is wrong")
        yield name, body
        position += length + 12


def _undo_filters(lines: np.ndarray, pixel: int) -> np.ndarray:
    """Decodes lines that each begin with the number of their filter; a pixel has `pixel` bytes."""
    above = np.zeros(lines.shape[1] - 1, np.uint8)
    out = np.empty((len(lines), len(above)), np.uint8)
    for line, result in zip(lines, out, strict=True):
        kind, filtered = line[0], line[1:]
        if kind == 0:
            result[:] = filtered
        elif kind == 1:
            result[:] = np.add.accumulate(filtered.reshape(-1, pixel), 0, np.uint8).reshape(-1)
        elif kind == 2:
            result[:] = filtered + above
        elif kind in (3, 4):
            result[:] = _undo_prediction(
                filtered.tolist(), above.tolist(), pixel, _mean_predictor if kind == 3 else _paeth_predictor
            )
        else:
            raise ValueError(f"there is no filter {kind}")
        above = result
    return out


def _undo_prediction(
    line: list[int], above: list[int], pixel: int, predict: Callable[[int, int, int], int]
) -> list[int]:
    """Decodes a line of differences from predictions by the bytes to the left, above, and above to the left."""
    left, up = [0] * pixel + line, [0] * pixel + above
    for i in range(pixel, len(left)):
        left[i] = (left[i] + predict(left[i - pixel], up[i], up[i - pixel])) & 255
    return left[pixel:]


def _mean_predictor(left: int, up: int, corner: int) -> int:
    return (left + up) // 2


def _paeth_predictor(left: int, up: int, corner: int) -> int:
    """Returns the neighbor that is nearest to `left + up - corner`."""
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


# ---- writing ---------------------------------------------------------------------------------------------------------


def write(image: np.ndarray, compression: int = -1) -> bytes:
    """Encodes uint8 or uint16 pixels `[height, width, channels]`, with a compression level of zlib."""
    height, width, channels = image.shape
    size = image.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, 8 * size, _COLOR_TYPES[channels], 0, 0, 0)
    lines = image.astype(image.dtype.newbyteorder(">")).reshape(height, -1).view(np.uint8)
    body = zlib.compress(_filter_lines(lines, size * channels).tobytes(), compression)
    return _SIGNATURE + _make_chunk(b"IHDR", header) + _make_chunk(b"IDAT", body) + _make_chunk(b"IEND", b"")


def _make_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _filter_lines(lines: np.ndarray, pixel: int) -> np.ndarray:
    """Encodes each line by the filter that leaves the smallest differences, as the specification recommends."""
    left, up, corner = np.zeros_like(lines), np.zeros_like(lines), np.zeros_like(lines)
    left[:, pixel:], up[1:], corner[1:, pixel:] = lines[:, :-pixel], lines[:-1], lines[:-1, :-pixel]
    a, b, c = (v.astype(np.int16) for v in (left, up, corner))
    to_left, to_up, to_corner = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    nearest = np.where((to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner))
    choices = np.stack([lines, lines - left, lines - up, lines - ((a + b) // 2).astype(np.uint8), lines - nearest])
    cost = np.abs(choices.view(np.int8).astype(np.int32)).sum(-1)
    best = cost.argmin(0)
    return np.concatenate([best[:, None].astype(np.uint8), choices[best, np.arange(len(lines))]], 1)
