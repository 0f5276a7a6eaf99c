"""Hash buckets: numbers for strings that stay the same from run to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.farmhash import fingerprints64
from tapeflow.core.loops import MASK, Bytes, Int64s, Words, loop, word
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import string_op

# ---- MurmurHash64A, with TensorFlow's seed ---------------------------------------------------------------------------

_M = 0xC6A4A7935BD1E995


def murmurs(strings: StringArray, modulus: int = 0) -> np.ndarray:
    """Returns the 64-bit hashes of strings, or their remainders if there is a modulus, a vector of uint64."""
    out = np.empty(strings.size, np.uint64)
    _murmur_loop(strings.data, strings.offsets, out, strings.size)
    return out % np.uint64(modulus) if modulus else out


@loop
def _murmur_loop(data: Bytes, offsets: Int64s, out: Words, count: int) -> None:
    for i in range(count):
        at, size = offsets[i], offsets[i + 1] - offsets[i]
        h = 0xDECAFCAFFE ^ (size * _M & MASK)
        for block in range(size >> 3):
            k = word(data, at + 8 * block, 8) * _M & MASK
            k = (k ^ (k >> 47)) * _M & MASK
            h = (h ^ k) * _M & MASK
        if size & 7:
            h = (h ^ _last_word(data, at, size)) * _M & MASK
        h = (h ^ (h >> 47)) * _M & MASK
        out[i] = h ^ (h >> 47)


@loop
def _last_word(data: Bytes, at: int, size: int) -> int:
    """Returns the word of the bytes after the last whole block of eight."""
    out = 0
    for i in range(size & 7):
        out |= data[at + size - (size & 7) + i] << (8 * i)
    return out


# ---- SipHash-2-4 (Aumasson and Bernstein, 2012) ----------------------------------------------------------------------


@loop
def _siphash_loop(data: Bytes, offsets: Int64s, out: Words, count: int, k0: int, k1: int) -> None:
    for i in range(count):
        at, size = offsets[i], offsets[i + 1] - offsets[i]
        blocks = size >> 3
        a, b = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
        c, d = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
        for step in range(blocks + 3):  # the blocks, the rest with the length, and two steps to finish
            last = 0
            if step < blocks:
                last = word(data, at + 8 * step, 8)
            elif step == blocks:
                last = _last_word(data, at, size) | (size & 0xFF) << 56
            if step == blocks + 1:
                c ^= 0xFF
            d ^= last
            for _ in range(2):
                a = (a + b) & MASK
                c = (c + d) & MASK
                b, d = _turn_left(b, 13) ^ a, _turn_left(d, 16) ^ c
                a = _turn_left(a, 32)
                c = (c + b) & MASK
                a = (a + d) & MASK
                b, d = _turn_left(b, 17) ^ c, _turn_left(d, 21) ^ a
                c = _turn_left(c, 32)
            a ^= last
        out[i] = a ^ b ^ c ^ d


@loop
def _turn_left(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & MASK


# ---- the ops ---------------------------------------------------------------------------------------------------------


def _bucket_numbers(hashes: Callable[[StringArray, int], np.ndarray], strings: StringArray, count: int) -> torch.Tensor:
    return torch.from_numpy(hashes(strings, count).view(np.int64).reshape(strings.shape))


@string_op(
    "StringToHashBucketFast", lambda s, count: _bucket_numbers(fingerprints64, s, count), shape=same, elementwise=True
)
def to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a fast hash (FarmHash) whose collisions anyone can compute.

    Args:
        input: a string tensor of any shape.
        num_buckets: an int, the number of buckets.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket_fast(["a", "b"], 10).numpy().tolist()
        [9, 2]
    """


@string_op("StringToHashBucket", lambda s, count: _bucket_numbers(murmurs, s, count), shape=same, elementwise=True)
def to_hash_bucket(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by TensorFlow's oldest hash. Prefer `to_hash_bucket_fast`.

    Args:
        input: a string tensor of any shape.
        num_buckets: an int, the number of buckets.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket(["a", "hello"], 1000).numpy().tolist()
        [868, 938]
    """


@string_op("StringToHashBucketStrong", shape=same, elementwise=True)
def _to_hash_bucket_strong(input: StringArray, num_buckets: int, key: Sequence[int]) -> Any:
    """Computes the bucket of each string, by a keyed hash."""
    if len(key) != 2:
        raise invalid("Key must have 2 elements")

    def siphashes(strings: StringArray, modulus: int) -> np.ndarray:
        out = np.empty(strings.size, np.uint64)
        _siphash_loop(strings.data, strings.offsets, out, strings.size, key[0] & MASK, key[1] & MASK)
        return out % np.uint64(modulus)

    return _bucket_numbers(siphashes, input, num_buckets)


def to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a hash (SipHash) whose collisions are hard to compute without its key.

    Args:
        input: a string tensor of any shape.
        num_buckets: an int, the number of buckets.
        key: two integers.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: the key is not two integers, or `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket_strong("a", 10, [1, 2]).numpy().item()
        6
    """
    return _to_hash_bucket_strong(input, num_buckets, key, name)
