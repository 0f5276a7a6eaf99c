"""Random numbers for ops that draw them one by one, as TensorFlow's kernels do: the Philox 4x32-10 generator.

Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, 2011. The same seeds give the numbers TensorFlow draws.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any

_WORD = 0xFFFFFFFF
_DEFAULT_SEED = 87654321  # TensorFlow's for the graph, where only the op has a seed


class Philox:
    """A stream of 32 bit numbers that two 64 bit seeds and a position decide.

    Args:
        seed: the key.
        seed2: the upper half of the counter.
        skip: how many blocks of four numbers to leave out at the beginning.
    """

    def __init__(self, seed: int, seed2: int, skip: int = 0) -> None:
        self._key = seed & _WORD, seed >> 32 & _WORD
        self._counter = (seed2 % 2**64 << 64) + skip
        self._numbers = self._stream()

    def _stream(self) -> Iterator[int]:
        while True:
            yield from self._block()
            self._counter += 1

    def _block(self) -> tuple[int, ...]:
        """Four numbers: ten rounds over the counter, each with another key."""
        c0, c1, c2, c3 = (self._counter >> shift & _WORD for shift in (0, 32, 64, 96))
        k0, k1 = self._key
        for _ in range(10):
            low, high = 0xD2511F53 * c0, 0xCD9E8D57 * c2
            c0, c1, c2, c3 = (high >> 32) ^ c1 ^ k0, high & _WORD, (low >> 32) ^ c3 ^ k1, low & _WORD
            k0, k1 = k0 + 0x9E3779B9 & _WORD, k1 + 0xBB67AE85 & _WORD
        return c0, c1, c2, c3

    def bits32(self) -> int:
        """A number below 2**32."""
        return next(self._numbers)

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


_lock = threading.Lock()
_positions: dict[Any, int] = {}  # how far the stream of each op with seeds has been read


def stream(op: Any, seed: int, seed2: int, count: int) -> Philox:
    """The numbers for a call of an op: from where its last call with the same attrs stopped.

    Args:
        op: the op's name and attrs.
        seed: the first seed attr.
        seed2: the second; if both are 0, the numbers are other ones each time.
        count: how many 32 bit numbers the call reserves.
    """
    if not seed and not seed2:
        return Philox(secrets.randbits(64), secrets.randbits(64))
    key = (op, seed, seed2)
    with _lock:
        position = _positions.get(key, 0)
        _positions[key] = position + (count + 3) // 4
    return Philox(seed, seed2, position)


def forget_positions() -> None:
    """All streams begin anew, as they do after `tf.random.set_seed`."""
    with _lock:
        _positions.clear()


def seed_attrs(seed: int | None) -> tuple[int, int]:
    """The two seed attrs of an op, of its public `seed` argument."""
    return (0, 0) if seed is None else (_DEFAULT_SEED, seed)
