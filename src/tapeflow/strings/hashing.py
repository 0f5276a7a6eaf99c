"""Hash buckets: numbers for strings that stay the same from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.farmhash import fingerprint64
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import numbers, string_op

_MASK = (1 << 64) - 1


def _word(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _mixed(value: int) -> int:
    value &= _MASK
    return value ^ (value >> 47)


# ---- MurmurHash64A, with TensorFlow's seed ---------------------------------------------------------------------------


def murmur(data: bytes) -> int:
    """Computes the 64-bit hash of bytes."""
    m, n = 0xC6A4A7935BD1E995, len(data)
    h = 0xDECAFCAFFE ^ (n * m & _MASK)
    whole = n - n % 8
    for at in range(0, whole, 8):
        h = (h ^ (_mixed(_word(data, at) * m) * m & _MASK)) * m & _MASK
    if n % 8:
        h = (h ^ _word(data, whole, n % 8)) * m & _MASK
    return _mixed(_mixed(h) * m)


# ---- SipHash-2-4 (Aumasson and Bernstein, 2012) ----------------------------------------------------------------------


def _siphash(data: bytes, key: Sequence[int]) -> int:
    k0, k1 = (k & _MASK for k in key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def left(value: int, by: int) -> int:
        return ((value << by) | (value >> (64 - by))) & _MASK

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & _MASK
            v[2] = (v[2] + v[3]) & _MASK
            v[1], v[3] = left(v[1], 13) ^ v[0], left(v[3], 16) ^ v[2]
            v[0] = left(v[0], 32)
            v[2] = (v[2] + v[1]) & _MASK
            v[0] = (v[0] + v[3]) & _MASK
            v[1], v[3] = left(v[1], 17) ^ v[2], left(v[3], 21) ^ v[0]
            v[2] = left(v[2], 32)

    whole = len(data) - len(data) % 8
    words = [_word(data, at) for at in range(0, whole, 8)]
    words.append(_word(data, whole, len(data) - whole) | (len(data) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


# ---- the ops ---------------------------------------------------------------------------------------------------------


def _buckets(function: Any, strings: np.ndarray, count: int) -> torch.Tensor:
    if count < 1:
        raise invalid(f"Value for attr 'num_buckets' of {count} must be at least minimum 1")
    return numbers(lambda v: function(v) % count, strings, torch.int64)


@string_op("StringToHashBucketFast", lambda s, count: _buckets(fingerprint64, s, count), shape=same, elementwise=True)
def to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a fast hash (FarmHash) whose collisions anyone can compute.

    Args:
        input: strings.
        num_buckets: the number of buckets.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket_fast(["a", "b"], 10).numpy().tolist()
        [9, 2]
    """


@string_op("StringToHashBucket", lambda s, count: _buckets(murmur, s, count), shape=same, elementwise=True)
def to_hash_bucket(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by TensorFlow's oldest hash. Prefer `to_hash_bucket_fast`.

    Args:
        input: strings.
        num_buckets: the number of buckets.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket(["a", "hello"], 1000).numpy().tolist()
        [868, 938]
    """


@string_op(
    "StringToHashBucketStrong",
    lambda s, count, key: _buckets(lambda v: _siphash(v, key), s, count),
    shape=same,
    elementwise=True,
)
def _to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a keyed hash."""


def to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a hash (SipHash) whose collisions are hard to compute without its key.

    Args:
        input: strings.
        num_buckets: the number of buckets.
        key: two integers.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: the key is not two integers, or `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket_strong("a", 10, [1, 2]).numpy().item()
        6
    """
    if len(key) != 2:
        raise invalid("Key must have 2 elements")
    return _to_hash_bucket_strong(input, num_buckets, tuple(key), name)
