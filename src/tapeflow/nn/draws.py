"""Random numbers drawn one by one, as TensorFlow's kernels draw them, from an op's stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from tapeflow.core.rng.philox import Philox
from tapeflow.core.rng.seeds import reserve

_FIRST, _MOST = 4, 256  # blocks of four words that are computed at once: a few, and more if they are not enough


class Draws:
    """Numbers from the words of a stream, in order.

    Args:
        stream: the stream.
    """

    def __init__(self, stream: Philox) -> None:
        self._words = self._read(stream)

    def _read(self, stream: Philox) -> Iterator[int]:
        host, blocks = torch.device("cpu"), _FIRST
        while True:
            for word in stream.words(blocks, host).reshape(-1).tolist():
                yield word & 0xFFFFFFFF
            stream, blocks = stream.skipped(blocks), min(4 * blocks, _MOST)

    def bits32(self) -> int:
        """Draws an int below 2**32."""
        return next(self._words)

    def bits64(self) -> int:
        """Draws an int below 2**64."""
        low = self.bits32()
        return low | self.bits32() << 32

    def below(self, n: int, bits: int = 32) -> int:
        """Draws an int below `n` uniformly, from numbers of `bits` bits; of 64 if there are more than 2**32."""
        bits = bits if n <= 2**32 else 64
        draw = self.bits32 if bits == 32 else self.bits64
        if n & (n - 1) == 0:
            return draw() & (n - 1)
        uneven = (2**bits - 1) % n + 1
        number = draw()
        while number < uneven:
            number = draw()
        return number % n

    def uniform(self) -> float:
        """Draws a float in [0, 1) with the precision of float64."""
        high = self.bits32() & 0xFFFFF
        return (high << 32 | self.bits32()) / 2**52

    def uniform32(self) -> float:
        """Draws a float in [0, 1) with the precision of float32."""
        return (self.bits32() & 0x7FFFFF) / 2**23


def draws(op: Any, seed: int, seed2: int, count: int) -> Draws:
    """Returns the numbers for a call of an op: they follow the numbers of its last call with the same attrs and seeds.

    Args:
        op: the op's name and attrs.
        seed, seed2: its seed attrs; if both are 0, each call draws other numbers.
        count: the number of words that the call reserves.
    """
    return Draws(reserve(op, seed, seed2, -(-count // 4)))
