"""Random numbers drawn one by one, as TensorFlow's kernels draw them, from an op's stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.loops import MASK, Words, loop
from tapeflow.core.rng.philox import Philox
from tapeflow.core.rng.seeds import reserve

_WORD = (1 << 32) - 1


def start_draws(op: tuple[Any, ...], seed: int, seed2: int, count: int) -> np.ndarray:
    """Returns the state of the numbers for a call of an op: they follow those of its last call with the same attrs and
    seeds. The state is the counter, the key, the number of words that are used of a block, and the block.

    Args:
        op: the op's name and attrs.
        seed, seed2: its seed attrs; if both are 0, each call draws other numbers.
        count: the number of words that the call reserves.
    """
    return state_of(reserve(op, seed, seed2, -(-count // 4)))


def state_of(stream: Philox) -> np.ndarray:
    """Returns the state of the numbers from where a stream is, as `start_draws` does."""
    key, counter = stream
    return np.array([counter & MASK, counter >> 64, key, 4, 0, 0, 0, 0], np.uint64)


@loop
def draw_word(state: Words) -> int:
    """Draws an int below 2**32: a word of the Philox generator, see `core/rng/philox.py`."""
    used = state[3]
    if used == 4:
        c0, c1, c2, c3 = state[0] & _WORD, state[0] >> 32, state[1] & _WORD, state[1] >> 32
        k0, k1 = state[2] & _WORD, state[2] >> 32
        for _ in range(10):
            p0, p1 = c0 * 0xD2511F53 & MASK, c2 * 0xCD9E8D57 & MASK
            c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 & _WORD, p0 >> 32 ^ c3 ^ k1, p0 & _WORD
            k0, k1 = k0 + 0x9E3779B9 & _WORD, k1 + 0xBB67AE85 & _WORD
        state[4], state[5], state[6], state[7] = c0, c1, c2, c3
        state[0] = state[0] + 1 & MASK
        if state[0] == 0:
            state[1] = state[1] + 1 & MASK
        used = 0
    state[3] = used + 1
    return state[4 + used]


@loop
def draw_below(state: Words, n: int, bits: int) -> int:
    """Draws an int below `n` uniformly, from numbers of `bits` bits; of 64 if there are more than 2**32."""
    wide = bits == 64 or n > 4294967296
    uneven = (MASK if wide else _WORD) % n + 1
    if n & n - 1 == 0:
        uneven = 0
    while True:
        number = draw_word(state)
        if wide:
            number = number | draw_word(state) << 32 & MASK
        if number >> 40 or number >= uneven:
            return number % n


@loop
def draw_uniform(state: Words) -> float:
    """Draws a float in [0, 1) with the precision of float64."""
    high = draw_word(state) & 0xFFFFF
    return (high << 32 | draw_word(state)) / 4503599627370496.0


@loop
def draw_uniform32(state: Words) -> float:
    """Draws a float in [0, 1) with the precision of float32."""
    return (draw_word(state) & 0x7FFFFF) / 8388608.0
