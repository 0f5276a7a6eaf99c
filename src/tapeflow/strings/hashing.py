"""Hash buckets: numbers for strings that stay the same from run to run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.byte_words import MASK, OneString, hash_many
from tapeflow.core.farmhash import fingerprints64
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import string_op

# ---- MurmurHash64A, with TensorFlow's seed ---------------------------------------------------------------------------

_M = 0xC6A4A7935BD1E995


def _mixed(value: Any) -> Any:
    value &= MASK
    return value ^ (value >> 47)


def murmur(data: bytes) -> int:
    """Computes the 64-bit hash of bytes."""
    return _murmur(OneString(data), len(data), _blocks(len(data)))


def _murmur(data: Any, size: Any, blocks: int) -> Any:
    h = 0xDECAFCAFFE ^ (size * _M & MASK)
    for at in range(0, 8 * blocks, 8):
        h = (h ^ (_mixed(data.word(at) * _M) * _M & MASK)) * _M & MASK
    with_rest = (h ^ _rest(data, size, blocks)) * _M & MASK
    some = size % 8 > 0
    h = np.where(some, with_rest, h) if isinstance(size, np.ndarray) else with_rest if some else h
    return _mixed(_mixed(h) * _M)


def _blocks(size: int) -> int:
    return size // 8


def _rest(data: Any, size: Any, blocks: int) -> Any:
    """Returns the word of the bytes after the last whole block; 0 if there are none."""
    bits = size % 8 * 8
    return data.word(8 * blocks) & ((bits * 0 + 1 << bits) - 1)


# ---- SipHash-2-4 (Aumasson and Bernstein, 2012) ----------------------------------------------------------------------


def _siphash(data: Any, size: Any, blocks: int, key: Sequence[int]) -> Any:
    k0, k1 = (k & MASK for k in key)
    start = size * 0  # an integer, or an array
    v = [
        start + constant
        for constant in (
            k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
        )
    ]  # fmt: skip

    def left(value: Any, by: int) -> Any:
        return (value << by | value >> (64 - by)) & MASK

    def rounds(count: int) -> None:
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[2] = (v[2] + v[3]) & MASK
            v[1], v[3] = left(v[1], 13) ^ v[0], left(v[3], 16) ^ v[2]
            v[0] = left(v[0], 32)
            v[2] = (v[2] + v[1]) & MASK
            v[0] = (v[0] + v[3]) & MASK
            v[1], v[3] = left(v[1], 17) ^ v[2], left(v[3], 21) ^ v[0]
            v[2] = left(v[2], 32)

    words = [data.word(8 * i) for i in range(blocks)]
    words.append(_rest(data, size, blocks) | (size & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


# ---- the ops ---------------------------------------------------------------------------------------------------------


def _buckets(hashes: Callable[[list[bytes]], np.ndarray], strings: np.ndarray, count: int) -> torch.Tensor:
    if count < 1:
        raise invalid(f"Value for attr 'num_buckets' of {count} must be at least minimum 1")
    buckets = hashes(strings.reshape(-1).tolist()) % count
    return torch.from_numpy(buckets.astype(np.int64)).reshape(strings.shape)


def _murmurs(strings: list[bytes]) -> np.ndarray:
    return hash_many(strings, _blocks, _murmur)


def _strong_buckets(strings: Any, count: int, key: Sequence[int]) -> Any:
    if len(key) != 2:
        raise invalid("Key must have 2 elements")
    siphash = functools.partial(_siphash, key=key)
    return _buckets(lambda texts: hash_many(texts, _blocks, siphash), strings, count)


@string_op("StringToHashBucketFast", lambda s, count: _buckets(fingerprints64, s, count), shape=same, elementwise=True)
def to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a fast hash (FarmHash) whose collisions anyone can compute.

    Args:
        input: a string tensor.
        num_buckets: an int, the number of buckets.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket_fast(["a", "b"], 10).numpy().tolist()
        [9, 2]
    """


@string_op("StringToHashBucket", lambda s, count: _buckets(_murmurs, s, count), shape=same, elementwise=True)
def to_hash_bucket(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by TensorFlow's oldest hash. Prefer `to_hash_bucket_fast`.

    Args:
        input: a string tensor.
        num_buckets: an int, the number of buckets.

    Returns:
        int64 in `[0, num_buckets)`, of the shape of `input`.

    Raises:
        InvalidArgumentError: `num_buckets` is less than 1.

    Example:
        >>> tf.strings.to_hash_bucket(["a", "hello"], 1000).numpy().tolist()
        [868, 938]
    """


@string_op("StringToHashBucketStrong", _strong_buckets, shape=same, elementwise=True)
def _to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a keyed hash."""


def to_hash_bucket_strong(input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None) -> Tensor:
    """Computes the bucket of each string, by a hash (SipHash) whose collisions are hard to compute without its key.

    Args:
        input: a string tensor.
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
