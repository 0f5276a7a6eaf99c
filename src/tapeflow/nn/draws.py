"""Random numbers drawn one by one, as TensorFlow's kernels draw them, from an op's stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

_AT_ONCE = 4  # blocks of four words


class Draws:
    """Numbers from the words of a stream, in order.

    Args:
        stream: a `tapeflow.random.philox.Philox`.
    """

    def __init__(self, stream: Any) -> None:
        self._words = self._read(stream)

    def _read(self, stream: Any) -> Iterator[int]:
        host = torch.device("cpu")
        while True:
            for word in stream.words(_AT_ONCE, host).reshape(-1).tolist():
                yield word & 0xFFFFFFFF
            stream = stream.skipped(_AT_ONCE)

    def bits32(self) -> int:
        """A number below 2**32."""
        return next(self._words)

    def bits64(self) -> int:
        """A number below 2**64."""
        low = self.bits32()
        return low | self.bits32() << 32

    def below(self, n: int, bits: int = 32) -> int:
        """A number below `n`, each as likely, out of numbers of so many bits."""
        draw = self.bits32 if bits == 32 else self.bits64
        if n & (n - 1) == 0:
            return draw() & (n - 1)
        uneven = (2**bits - 1) % n + 1
        number = draw()
        while number < uneven:
            number = draw()
        return number % n

    def uniform(self) -> float:
        """A double in [0, 1)."""
        high = self.bits32() & 0xFFFFF
        return (high << 32 | self.bits32()) / 2**52

    def uniform32(self) -> float:
        """A single in [0, 1)."""
        return (self.bits32() & 0x7FFFFF) / 2**23


def draws(op: Any, seed: int, seed2: int, count: int) -> Draws:
    """The numbers for a call of an op: from where its last call with the same attrs and seeds stopped.

    Args:
        op: the op's name and attrs.
        seed, seed2: its seed attrs; if both are 0, the numbers are other ones each time.
        count: how many words the call reserves.
    """
    from tapeflow.random import seeds  # tf.random itself offers samplers of this package

    return Draws(seeds.reserve(op, seed, seed2, -(-count // 4)))


def seed_attrs(seed: int | None) -> tuple[int, int]:
    """The two seed attrs of an op, of its public `seed` argument and the global seed."""
    from tapeflow.random import seeds

    return seeds.op_seeds(seed)
