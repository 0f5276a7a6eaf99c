"""Philox 4x32-10, TensorFlow's counter-based random number generator, and the conversion of its bits to numbers.

Block `i` of a stream is four 32-bit words. They depend only on the stream's key and its counter plus `i`, so all blocks
of a tensor are computed at once. Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.

Bits are held in int32 tensors, whose sign is of no meaning.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.rng.box_muller import normal_pairs, wide_normal_pairs

MASK = 0xFFFFFFFF
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
KEY_STEPS = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10
SCRAMBLER = 0x02461E293EC8F720  # the key for scrambling seeds
_FEW = 4  # blocks that are faster one at a time than all at once
_CHUNK = 1 << 13  # words computed at once, few enough for the cache
_BLOCKS_AT_ONCE = 1 << 14  # converted at once on a processor: fresh memory for more takes longer than the numbers


class Philox(NamedTuple):
    """The position of a stream.

    Attributes:
        key: 64 bits.
        counter: 128 bits, the number of the next block.
    """

    key: int
    counter: int

    def skipped(self, blocks: int) -> Philox:
        """Returns the stream after some blocks."""
        return Philox(self.key, (self.counter + blocks) % (1 << 128))

    def words(self, blocks: int, device: torch.device) -> torch.Tensor:
        """Returns the next blocks: int32 of shape `[blocks, 4]`."""
        if blocks <= _FEW:
            rows = [_compute_block(self.counter + i, self.key) for i in range(blocks)]
            words = np.array(rows, np.uint32).reshape(blocks, 4)
            return torch.from_numpy(words.view(np.int32)).to(device)
        if device.type == "cpu":
            draw = _draws_from(self)
            out = np.empty(blocks * 4, np.uint32)
            for start in range(0, len(out), _CHUNK):
                part = out[start : start + _CHUNK]
                part[:] = draw(len(part))  # of 64 bits each
            return torch.from_numpy(out.view(np.int32)).view(blocks, 4)
        return _tensor_blocks(self, torch.arange(blocks, device=device))

    def words_at(self, offsets: np.ndarray) -> np.ndarray:
        """Returns the blocks at int64 offsets: uint32 of shape `[len(offsets), 4]`."""
        out = np.empty((len(offsets), 4), np.uint32)
        _array_blocks(self, offsets.astype(np.uint64), out)
        return out


_own = threading.local()  # of each thread, a generator and its state: setting that takes less time than a new one


def _draws_from(stream: Philox) -> Callable[[int], np.ndarray]:
    """Returns the function that draws a number of words, one after the other from the beginning of a stream."""
    if not hasattr(_own, "generator"):
        from randomgen import Philox as Generator  # heavy: loaded when it is first used

        _own.generator = Generator(key=0, counter=0, number=4, width=32)
        _own.state = _own.generator.state
    before = stream.skipped(-1).counter  # the generator steps first
    position = _own.state["state"]
    position["counter"][:] = [before >> shift & MASK for shift in (0, 32, 64, 96)]
    position["key"][:] = stream.key & MASK, stream.key >> 32
    _own.generator.state = _own.state
    return _own.generator.random_raw


def from_seeds(seed: int, seed2: int) -> Philox:
    """Returns the stream of an op with two seeds."""
    return Philox(seed % (1 << 64), (seed2 % (1 << 64)) << 64)


def from_seed(seed: Sequence[int]) -> Philox:
    """Returns the stream of a stateless op's seed: two integers. They are scrambled, so any seed is a good one."""
    first, second = (int(s) % (1 << 64) for s in seed)
    mixed = _compute_block(first | second << 64, SCRAMBLER)
    return Philox(mixed[0] | mixed[1] << 32, (mixed[2] | mixed[3] << 32) << 64)


def first_blocks(seeds: np.ndarray) -> np.ndarray:
    """Returns the first block of the stream of each of many stateless seeds: uint32 of shape `[n, 4]`.

    Args:
        seeds: int64 of shape `[n, 2]`.
    """
    words = np.ascontiguousarray(seeds).view(np.uint32).astype(np.uint64)
    k0, k1, c2, c3 = _apply_rounds(words[:, 0], words[:, 1], words[:, 2], words[:, 3], SCRAMBLER)
    none = np.zeros_like(c2)
    return np.stack(_apply_rounds(none, none, c2, c3, k0 | k1 << np.uint64(32)), 1).astype(np.uint32)


# ---- blocks ----------------------------------------------------------------------------------------------------------


def _apply_rounds(c0: Any, c1: Any, c2: Any, c3: Any, key: int | np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Applies ten rounds to the four words of counters: Python ints, int64 tensors or, as the key, uint64 arrays."""
    k0, k1 = key & MASK, key >> 32
    for _ in range(ROUNDS):
        p0, p1 = c0 * MULTIPLIERS[0], c2 * MULTIPLIERS[1]
        c0, c1, c2, c3 = (p1 >> 32 & MASK) ^ c1 ^ k0, p1 & MASK, (p0 >> 32 & MASK) ^ c3 ^ k1, p0 & MASK
        k0, k1 = k0 + KEY_STEPS[0] & MASK, k1 + KEY_STEPS[1] & MASK
    return c0, c1, c2, c3


def _compute_block(counter: int, key: int) -> tuple[int, int, int, int]:
    """Computes one block, in Python ints."""
    return _apply_rounds(counter & MASK, counter >> 32 & MASK, counter >> 64 & MASK, counter >> 96 & MASK, key)


def _tensor_blocks(stream: Philox, offsets: torch.Tensor) -> torch.Tensor:
    """Computes the blocks at offsets, on any device."""
    counter = stream.counter
    low = (counter & MASK) + (offsets & MASK)
    high = (counter >> 32 & MASK) + (offsets >> 32) + (low >> 32)
    c2 = (counter >> 64 & MASK) + (high >> 32)
    c3 = (counter >> 96 & MASK) + (c2 >> 32)
    return torch.stack(_apply_rounds(low & MASK, high & MASK, c2 & MASK, c3 & MASK, stream.key), 1).to(torch.int32)


def _array_blocks(stream: Philox, offsets: np.ndarray, out: np.ndarray) -> None:
    """Writes the blocks at uint64 offsets to `out`: `_apply_rounds` without shifts and masks."""
    count = len(offsets)
    counters = np.empty((count, 2), np.uint64)
    low = np.uint64(stream.counter & (1 << 64) - 1)
    np.add(offsets, low, out=counters[:, 0])
    counters[:, 1] = np.uint64(stream.counter >> 64)
    counters[:, 1] += counters[:, 0] < offsets
    c0, c1, c2, c3 = counters.view(np.uint32).T
    k0, k1 = stream.key & MASK, stream.key >> 32
    p0, p1 = np.empty(count, np.uint64), np.empty(count, np.uint64)
    (low0, high0), (low1, high1) = p0.view(np.uint32).reshape(-1, 2).T, p1.view(np.uint32).reshape(-1, 2).T
    m0, m1 = (np.uint64(m) for m in MULTIPLIERS)
    for _ in range(ROUNDS):
        np.multiply(c0, m0, out=p0)
        np.multiply(c2, m1, out=p1)
        c0 = high1 ^ c1
        c0 ^= np.uint32(k0)
        c2 = high0 ^ c3
        c2 ^= np.uint32(k1)
        c1, c3 = low1.copy(), low0.copy()
        k0, k1 = k0 + KEY_STEPS[0] & MASK, k1 + KEY_STEPS[1] & MASK
    for i, word in enumerate((c0, c1, c2, c3)):
        out[:, i] = word


# ---- numbers of bits -------------------------------------------------------------------------------------------------

# By dtype: an integer type of its size, how many bits its mantissa has, and the bits of 1.0.
_LAYOUT = {
    torch.float16: (torch.int16, 10, 0x3C00),
    torch.bfloat16: (torch.int16, 7, 0x3F80),
    torch.float32: (torch.int32, 23, 0x3F800000),
}


def to_uniform(words: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Converts random bits to numbers in [0, 1): as the mantissa of a number in [1, 2), minus 1.

    Args:
        words: int32, of any shape.
        dtype: a floating type; float64 takes two words for a number.

    Returns:
        A vector of that dtype.
    """
    words = words.reshape(-1)
    if dtype == torch.float64:
        bits = (words[0::2].long() & 0xFFFFF) << 32 | words[1::2].long() & MASK | 0x3FF << 52
        return bits.view(torch.float64) - 1.0
    integer, mantissa, one = _LAYOUT[dtype]
    if words.is_cpu and dtype == torch.float32:  # NumPy's calls take less time than ATen's
        array = words.numpy() & np.int32((1 << mantissa) - 1)
        array |= np.int32(one)
        numbers = array.view(np.float32)
        numbers -= np.float32(1.0)
        return torch.from_numpy(numbers)
    bits = (words & (1 << mantissa) - 1).bitwise_or_(one)
    return bits.to(integer).view(dtype).sub_(1.0)


def to_normal(words: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Converts random bits to normally distributed numbers; the narrow types are rounded from float32.

    Args:
        words, dtype: see `to_uniform`.
    """
    if dtype == torch.float64:
        return wide_normal_pairs(to_uniform(words, dtype))
    return normal_pairs(to_uniform(words, torch.float32)).to(dtype)


def to_integers(words: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Converts random bits to integers of 32 or 64 bits.

    Args:
        words: see `to_uniform`.
        dtype: an integer type.
    """
    words = words.reshape(-1)
    return words.view(dtype) if dtype.itemsize == 4 else words.view(torch.int64).view(dtype)


def to_range(words: torch.Tensor, dtype: torch.dtype, low: int, high: int) -> torch.Tensor:
    """Converts random bits to integers in [low, high), by the remainder.

    Args:
        words: see `to_uniform`.
        dtype: an integer type.
        low, high: the bounds.
    """
    if dtype.itemsize == 4:
        rest = (words.reshape(-1).long() & MASK) % (high - low)
        return (rest + low).to(dtype)
    bits = to_integers(words, dtype).cpu().numpy().view(np.uint64)  # torch has no remainder of uint64
    rest = torch.from_numpy((bits % np.uint64(high - low)).view(np.int64))
    return (rest + low).to(words.device)


def fill(
    stream: Philox, count: int, dtype: torch.dtype, device: torch.device, convert: Callable[..., Any], *args: Any
) -> torch.Tensor:
    """Returns the next `count` numbers of a stream, `convert(words, dtype, *args)`."""
    size = 4 if dtype.itemsize <= 4 else 2
    blocks = -(-count // size)
    if device.type != "cpu" or blocks <= _BLOCKS_AT_ONCE:
        return convert(stream.words(blocks, device), dtype, *args)[:count]
    out = torch.empty((blocks, size), dtype=dtype)
    for start, part in zip(range(0, blocks, _BLOCKS_AT_ONCE), out.split(_BLOCKS_AT_ONCE), strict=True):
        part.copy_(convert(stream.skipped(start).words(len(part), device), dtype, *args).view_as(part))
    return out.view(-1)[:count]


def truncated_normal(stream: Philox, count: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Returns the next `count` normally distributed numbers less than 2 from 0; others are rejected.

    As the number of rejections is unpredictable, each group of results (of one block's size) has 256 words a result.
    """
    size = 2 if dtype == torch.float64 else 4
    groups = -(-count // size)
    out = torch.empty((groups, size), dtype=dtype)
    filled = torch.zeros(groups, dtype=torch.int64)
    active, block = torch.arange(groups), 0
    while len(active):
        words = stream.words_at(active.numpy() * (256 * size // 4) + block)
        numbers = to_normal(torch.from_numpy(words.view(np.int32)), torch.float64 if size == 2 else torch.float32)
        numbers = numbers.reshape(len(active), size)
        good = numbers.abs() < 2
        places = filled[active].unsqueeze(1) + torch.cumsum(good, 1) - 1
        good &= places < size
        row = active.unsqueeze(1).expand_as(places)
        out[row[good], places[good]] = numbers[good].to(dtype)
        filled[active] = torch.clamp(filled[active] + good.sum(1), max=size)
        active, block = active[filled[active] < size], block + 1
    return out.reshape(-1)[:count].to(device)
