"""FarmHash's Fingerprint64, the hash that TensorFlow fingerprints and hashes strings with; the same on every machine.

The algorithm is `farmhashna::Hash64` of https://github.com/google/farmhash.
"""

from __future__ import annotations

import numpy as np

from tapeflow.core.loops import MASK, Bytes, Int64s, Words, loop, word
from tapeflow.core.values.strings import StringArray

_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def fingerprint64(data: bytes) -> int:
    """Returns the 64-bit fingerprint of bytes, as an unsigned integer."""
    return int(fingerprints64(StringArray.scalar(data))[0])


def fingerprints64(strings: StringArray, modulus: int = 0) -> np.ndarray:
    """Returns the 64-bit fingerprints of strings, or their remainders if there is a modulus, a vector of uint64."""
    out = np.empty(strings.size, np.uint64)
    _hash_strings(strings.data, strings.offsets, modulus, out, strings.size)
    return out


def joined_fingerprint(a: int, b: int) -> int:
    """Joins two fingerprints, by the mixing step of MurmurHash64A (TensorFlow's `FingerprintCat64`)."""
    factor = 0xC6A4A7935BD1E995
    mixed = _shift_mix(b * factor & MASK) * factor & MASK
    joined: int = _shift_mix(_shift_mix((a ^ factor ^ mixed) * factor & MASK) * factor & MASK)
    return joined


@loop
def _hash_strings(data: Bytes, offsets: Int64s, modulus: int, out: Words, count: int) -> None:
    for i in range(count):
        fingerprint = hash_range(data, offsets[i], offsets[i + 1] - offsets[i])
        out[i] = fingerprint % modulus if modulus else fingerprint


@loop
def hash_range(data: Bytes, at: int, size: int) -> int:
    """Returns the fingerprint of bytes of a buffer."""
    if size <= 16:
        return _up_to_16(data, at, size)
    if size <= 32:
        return _up_to_32(data, at, size)
    if size <= 64:
        return _up_to_64(data, at, size)
    return _hash_long(data, at, size)


@loop
def _rotate_right(value: int, by: int) -> int:
    return (value >> by | value << (64 - by)) & MASK


@loop
def _shift_mix(value: int) -> int:
    return value ^ (value >> 47)


@loop
def _hash_pair(u: int, v: int, mul: int) -> int:
    """Hashes two words to one."""
    a = _shift_mix(((u ^ v) * mul) & MASK)
    return _shift_mix(((v ^ a) * mul) & MASK) * mul & MASK


@loop
def _up_to_16(data: Bytes, at: int, size: int) -> int:
    mul = (_K2 + size * 2) & MASK
    if size >= 8:
        a, b = (word(data, at, 8) + _K2) & MASK, word(data, at + size - 8, 8)
        c, d = (_rotate_right(b, 37) * mul + a) & MASK, ((_rotate_right(a, 25) + b) & MASK) * mul & MASK
        return _hash_pair(c, d, mul)
    if size >= 4:
        return _hash_pair(size + (word(data, at, 4) << 3), word(data, at + size - 4, 4), mul)
    if size > 0:
        y = data[at] + (data[at + (size >> 1)] << 8)
        z = size + (data[at + size - 1] << 2)
        return _shift_mix(((y * _K2) ^ (z * _K0)) & MASK) * _K2 & MASK
    return _K2


@loop
def _up_to_32(data: Bytes, at: int, size: int) -> int:
    mul = (_K2 + size * 2) & MASK
    end = at + size
    a, b = word(data, at, 8) * _K1 & MASK, word(data, at + 8, 8)
    c, d = word(data, end - 8, 8) * mul & MASK, word(data, end - 16, 8) * _K2 & MASK
    y = _rotate_right((a + b) & MASK, 43) + _rotate_right(c, 30) + d & MASK
    return _hash_pair(y, a + _rotate_right((b + _K2) & MASK, 18) + c & MASK, mul)


@loop
def _up_to_64(data: Bytes, at: int, size: int) -> int:
    mul = (_K2 + size * 2) & MASK
    end = at + size
    a, b = word(data, at, 8) * _K2 & MASK, word(data, at + 8, 8)
    c, d = word(data, end - 8, 8) * mul & MASK, word(data, end - 16, 8) * _K2 & MASK
    y = _rotate_right((a + b) & MASK, 43) + _rotate_right(c, 30) + d & MASK
    z = _hash_pair(y, a + _rotate_right((b + _K2) & MASK, 18) + c & MASK, mul)
    e, f = word(data, at + 16, 8) * mul & MASK, word(data, at + 24, 8)
    g, h = (y + word(data, end - 32, 8)) * mul & MASK, (z + word(data, end - 24, 8)) * mul & MASK
    y = _rotate_right((e + f) & MASK, 43) + _rotate_right(g, 30) + h & MASK
    return _hash_pair(y, e + _rotate_right((f + a) & MASK, 18) + g & MASK, mul)


@loop
def _hash_long(data: Bytes, at: int, size: int) -> int:
    x, y = (81 * _K2 + word(data, at, 8)) & MASK, (81 * _K1 + 113) & MASK
    z = _shift_mix((y * _K2 + 113) & MASK) * _K2 & MASK
    v0, v1, w0, w1 = 0, 0, 0, 0
    last = at + size - 64
    mul, times, p = _K1, 1, at
    while True:
        if p >= last:  # the last 64 bytes, of which some may have been taken; some words count nine times
            p, times = last, 9
            mul = _K1 + ((z & 0xFF) << 1) & MASK
            w0 = w0 + (size - 1 & 63) & MASK
            v0 = v0 + w0 & MASK
            w0 = w0 + v0 & MASK
        x = _rotate_right(x + y + v0 + word(data, p + 8, 8) & MASK, 37) * mul & MASK
        y = _rotate_right(y + v1 + word(data, p + 48, 8) & MASK, 42) * mul & MASK
        x = x ^ (w1 * times & MASK)
        y = y + v0 * times + word(data, p + 40, 8) & MASK
        z = _rotate_right(z + w0 & MASK, 33) * mul & MASK
        a, b = v1 * mul + word(data, p, 8) & MASK, x + w0 & MASK
        fourth = word(data, p + 24, 8)
        b = _rotate_right(b + a + fourth & MASK, 21)
        start = a
        a = a + word(data, p + 8, 8) + word(data, p + 16, 8) & MASK
        b = b + _rotate_right(a, 44) & MASK
        v0, v1 = a + fourth & MASK, b + start & MASK
        a, b = z + w1 + word(data, p + 32, 8) & MASK, y + word(data, p + 16, 8) & MASK
        fourth = word(data, p + 56, 8)
        b = _rotate_right(b + a + fourth & MASK, 21)
        start = a
        a = a + word(data, p + 40, 8) + word(data, p + 48, 8) & MASK
        b = b + _rotate_right(a, 44) & MASK
        w0, w1 = a + fourth & MASK, b + start & MASK
        x, z = z, x
        if times == 9:
            break
        p += 64
    left = _hash_pair(v0, w0, mul) + _shift_mix(y) * _K0 + z & MASK
    return _hash_pair(left, _hash_pair(v1, w1, mul) + x & MASK, mul)
