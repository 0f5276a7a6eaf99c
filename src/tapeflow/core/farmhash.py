"""FarmHash's Fingerprint64, the hash that TensorFlow fingerprints and hashes strings with; the same on every machine.

The algorithm is `farmhashna::Hash64` of https://github.com/google/farmhash.
"""

from __future__ import annotations

import struct

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _rotate(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by) | (value << (64 - by)) & _MASK


def _mix(value: int) -> int:
    value &= _MASK
    return value ^ (value >> 47)


def _pair(u: int, v: int, mul: int) -> int:
    """Hashes two words to one."""
    a = _mix((u ^ v) * mul)
    b = _mix(((v & _MASK) ^ a) * mul)
    return b * mul & _MASK


def fingerprint64(data: bytes) -> int:
    """Returns the 64-bit fingerprint of bytes, as an unsigned integer."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data, size)
    if size <= 32:
        return _up_to_32(data, size)
    if size <= 64:
        return _up_to_64(data, size)
    return _long(data, size)


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _up_to_16(data: bytes, size: int) -> int:
    mul = _K2 + size * 2
    if size >= 8:
        a, b = _word(data, 0) + _K2, _word(data, size - 8)
        return _pair(_rotate(b, 37) * mul + a & _MASK, (_rotate(a, 25) + b) * mul & _MASK, mul)
    if size >= 4:
        a, b = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
        return _pair(size + (a << 3), b, mul)
    if size:
        y, z = data[0] + (data[size >> 1] << 8), size + (data[-1] << 2)
        return _mix(y * _K2 ^ z * _K0) * _K2 & _MASK
    return _K2


def _up_to_32(data: bytes, size: int) -> int:
    mul = _K2 + size * 2
    a, b = _word(data, 0) * _K1, _word(data, 8)
    c, d = _word(data, size - 8) * mul, _word(data, size - 16) * _K2
    return _pair(_rotate(a + b, 43) + _rotate(c, 30) + d & _MASK, a + _rotate(b + _K2, 18) + c & _MASK, mul)


def _up_to_64(data: bytes, size: int) -> int:
    mul = _K2 + size * 2
    a, b = _word(data, 0) * _K2, _word(data, 8)
    c, d = _word(data, size - 8) * mul, _word(data, size - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d & _MASK
    z = _pair(y, a + _rotate(b + _K2, 18) + c & _MASK, mul)
    e, f = _word(data, 16) * mul, _word(data, 24)
    g, h = (y + _word(data, size - 32)) * mul, (z + _word(data, size - 24)) * mul
    return _pair(_rotate(e + f, 43) + _rotate(g, 30) + h & _MASK, e + _rotate(f + a, 18) + g & _MASK, mul)


def _block(words: tuple[int, ...], a: int, b: int) -> tuple[int, int]:
    """Hashes four words with two seeds to two words."""
    w, x, y, z = words
    a += w
    b = _rotate(b + a + z, 21)
    c = a
    a += x + y
    b += _rotate(a, 44)
    return a + z & _MASK, b + c & _MASK


def _long(data: bytes, size: int) -> int:
    x = 81
    y = x * _K1 + 113 & _MASK
    z = _mix(y * _K2 + 113) * _K2 & _MASK
    v = w = (0, 0)
    x = x * _K2 + _word(data, 0) & _MASK
    end = (size - 1) // 64 * 64
    for at in range(0, end, 64):
        x, y, z, v, w = _round(struct.unpack_from("<8Q", data, at), x, y, z, v, w, _K1, 1)
    mul = _K1 + ((z & 0xFF) << 1)
    tail = (size - 1) & 63
    w = (w[0] + tail, w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _round(struct.unpack_from("<8Q", data, end + tail - 63), x, y, z, v, w, mul, 9)
    return _pair(_pair(v[0], w[0], mul) + _mix(y) * _K0 + z & _MASK, _pair(v[1], w[1], mul) + x & _MASK, mul)


def _round(
    s: tuple[int, ...], x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int], mul: int, times: int
) -> tuple[int, int, int, tuple[int, int], tuple[int, int]]:
    """Takes 64 bytes, eight words, into the state. The last round counts some words nine times."""
    x = _rotate(x + y + v[0] + s[1], 37) * mul & _MASK
    y = _rotate(y + v[1] + s[6], 42) * mul & _MASK
    x = (x ^ (w[1] * times)) & _MASK
    y = y + v[0] * times + s[5] & _MASK
    z = _rotate(z + w[0], 33) * mul & _MASK
    v = _block(s[:4], v[1] * mul, x + w[0])
    w = _block(s[4:], z + w[1], y + s[2])
    return z, y, x, v, w
