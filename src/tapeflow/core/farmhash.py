"""FarmHash's Fingerprint64, the hash that TensorFlow fingerprints and hashes strings with; the same on every machine.

The algorithm is `farmhashna::Hash64` of https://github.com/google/farmhash. It is written once, for Python integers and
for arrays of uint64, which are the words of many strings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.byte_words import MASK, ManyStrings, OneString, hash_many

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _rotate(value: Any, by: int) -> Any:
    value &= MASK
    return (value >> by) | (value << (64 - by)) & MASK


def _mix(value: Any) -> Any:
    value &= MASK
    return value ^ (value >> 47)


def _pair(u: Any, v: Any, mul: Any) -> Any:
    """Hashes two words to one."""
    a = _mix((u ^ v) * mul)
    b = _mix(((v & MASK) ^ a) * mul)
    return b * mul & MASK


def fingerprint64(data: bytes) -> int:
    """Returns the 64-bit fingerprint of bytes, as an unsigned integer."""
    size = len(data)
    return _hash(OneString(data), size, _kind(size))


def fingerprints64(strings: list[bytes]) -> np.ndarray:
    """Returns the 64-bit fingerprints of strings, uint64."""
    return hash_many(strings, _kind, _hash)


def joined_fingerprint(a: int, b: int) -> int:
    """Joins two fingerprints, by the mixing step of MurmurHash64A (TensorFlow's `FingerprintCat64`)."""
    factor = 0xC6A4A7935BD1E995
    return _mix(_mix((a ^ factor ^ (_mix(b * factor) * factor & MASK)) * factor) * factor)


def _kind(size: int) -> int:
    """Returns a number for each way to hash: 0 to 5 for short strings, and from 64 on where the last block begins."""
    if size <= 64:
        return sum(size > end for end in (0, 3, 7, 16, 32))
    return (size - 1) // 64 * 64


def _hash(data: OneString | ManyStrings, size: Any, kind: int) -> Any:
    if kind >= 64:
        return _long(data, size, kind)
    return (_empty, _up_to_3, _up_to_7, _up_to_16, _up_to_32, _up_to_64)[kind](data, size)


def _empty(data: Any, size: Any) -> Any:
    return size + _K2


def _up_to_3(data: Any, size: Any) -> Any:
    y, z = data.word(0, 1) + (data.word(size >> 1, 1) << 8), size + (data.word(size - 1, 1) << 2)
    return _mix(y * _K2 ^ z * _K0) * _K2 & MASK


def _up_to_7(data: Any, size: Any) -> Any:
    a, b = data.word(0, 4), data.word(size - 4, 4)
    return _pair(size + (a << 3), b, _K2 + size * 2)


def _up_to_16(data: Any, size: Any) -> Any:
    mul = _K2 + size * 2
    a, b = data.word(0) + _K2, data.word(size - 8)
    return _pair(_rotate(b, 37) * mul + a & MASK, (_rotate(a, 25) + b) * mul & MASK, mul)


def _up_to_32(data: Any, size: Any) -> Any:
    mul = _K2 + size * 2
    a, b = data.word(0) * _K1, data.word(8)
    c, d = data.word(size - 8) * mul, data.word(size - 16) * _K2
    return _pair(_rotate(a + b, 43) + _rotate(c, 30) + d & MASK, a + _rotate(b + _K2, 18) + c & MASK, mul)


def _up_to_64(data: Any, size: Any) -> Any:
    mul = _K2 + size * 2
    a, b = data.word(0) * _K2, data.word(8)
    c, d = data.word(size - 8) * mul, data.word(size - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d & MASK
    z = _pair(y, a + _rotate(b + _K2, 18) + c & MASK, mul)
    e, f = data.word(16) * mul, data.word(24)
    g, h = (y + data.word(size - 32)) * mul, (z + data.word(size - 24)) * mul
    return _pair(_rotate(e + f, 43) + _rotate(g, 30) + h & MASK, e + _rotate(f + a, 18) + g & MASK, mul)


def _block(words: list[Any], a: Any, b: Any) -> tuple[Any, Any]:
    """Hashes four words with two seeds to two words."""
    w, x, y, z = words
    start = a + w
    b = _rotate(b + start + z, 21)
    a = start + x + y
    b = b + _rotate(a, 44)
    return a + z & MASK, b + start & MASK


def _long(data: Any, size: Any, end: int) -> Any:
    x = size * 0 + 81  # an integer, or an array
    y = x * _K1 + 113 & MASK
    z = _mix(y * _K2 + 113) * _K2 & MASK
    x = x * _K2 + data.word(0) & MASK
    v = w = (0, 0)
    for at in range(0, end, 64):
        x, y, z, v, w = _round([data.word(at + 8 * i) for i in range(8)], x, y, z, v, w, _K1, 1)
    mul = _K1 + ((z & 0xFF) << 1)
    tail = (size - 1) & 63
    w = (w[0] + tail, w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x, y, z, v, w = _round([data.word(size - 64 + 8 * i) for i in range(8)], x, y, z, v, w, mul, 9)
    return _pair(_pair(v[0], w[0], mul) + _mix(y) * _K0 + z & MASK, _pair(v[1], w[1], mul) + x & MASK, mul)


def _round(
    s: list[Any], x: Any, y: Any, z: Any, v: tuple[Any, Any], w: tuple[Any, Any], mul: Any, times: int
) -> tuple[Any, Any, Any, tuple[Any, Any], tuple[Any, Any]]:
    """Takes 64 bytes, eight words, into the state. The last round counts some words nine times."""
    x = _rotate(x + y + v[0] + s[1], 37) * mul & MASK
    y = _rotate(y + v[1] + s[6], 42) * mul & MASK
    x = (x ^ (w[1] * times)) & MASK
    y = y + v[0] * times + s[5] & MASK
    z = _rotate(z + w[0], 33) * mul & MASK
    v = _block(s[:4], v[1] * mul, x + w[0])
    w = _block(s[4:], z + w[1], y + s[2])
    return z, y, x, v, w
