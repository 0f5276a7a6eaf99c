"""Philox and its numbers in the primitives of element forms (see `core/ops/elements.py`), for compiled loops.

A word has 32 bits, and is held as a uint64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.ops.elements import Element, Unsupported
from tapeflow.core.rng.box_muller import LEAST
from tapeflow.core.rng.philox import KEY_STEPS, MASK, MULTIPLIERS, ROUNDS, SCRAMBLER
from tapeflow.core.types.dtypes import DType, float32, float64, int32, int64, uint64


def _split_words(b: Any, x: Element) -> list[Element]:
    """Returns the low and the high word of 64 bits."""
    return [b.bit_and(x, MASK), b.shift_right(x, 32)]


def join_words(b: Any, low: Element, high: Element) -> Element:
    """Returns the 64 bits of a low and a high word."""
    return b.bit_or(low, b.shift_left(high, 32))


def _element_block(b: Any, counter: Sequence[Element], key: Sequence[Element]) -> list[Element]:
    """Returns the four words of a block, from the words of its number and of the key."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(ROUNDS):
        p0, p1 = b.mul(c0, MULTIPLIERS[0]), b.mul(c2, MULTIPLIERS[1])
        c0, c2 = (b.bit_xor(b.bit_xor(b.shift_right(p, 32), c), k) for p, c, k in ((p1, c1, k0), (p0, c3, k1)))
        c1, c3 = b.bit_and(p1, MASK), b.bit_and(p0, MASK)
        k0, k1 = (b.bit_and(b.add(k, step), MASK) for k, step in zip((k0, k1), KEY_STEPS, strict=True))
    return [c0, c1, c2, c3]


def block_at(b: Any, stream: Sequence[Element], offset: Any) -> list[Element]:
    """Returns the four words of a block of a stream.

    Args:
        b: the builder.
        stream: the key, and the low and the high half of the counter.
        offset: the number of the block, counted from the stream's counter.
    """
    key, low, high = stream
    place = b.add(low, offset)
    carried = b.select(b.less(place, low), b.add(high, 1), high)
    return _element_block(b, [*_split_words(b, place), *_split_words(b, carried)], _split_words(b, key))


def key_and_counter(b: Any, seed: Sequence[Element]) -> tuple[Element, Element, Element]:
    """Derives the key and the two halves of the counter of a seed of two integers."""
    halves = [b.convert(b.convert(s, int64), uint64) for s in seed]
    key = [b.number(word, uint64) for word in (SCRAMBLER & MASK, SCRAMBLER >> 32)]
    mixed = _element_block(b, [word for half in halves for word in _split_words(b, half)], key)
    return join_words(b, *mixed[:2]), b.number(0, uint64), join_words(b, *mixed[2:])


def draw_numbers(
    b: Any, convert: Callable[..., list[Element]], count: int, stream: Sequence[Element], dtype: DType
) -> list[Element]:
    """Returns the next numbers of a stream.

    Args:
        b: the builder.
        convert: `uniform` or `normal`.
        count: the number of numbers.
        stream: the key, and the low and the high half of the counter.
        dtype: float32 or float64.

    Raises:
        Unsupported: the dtype is another one.
    """
    if dtype not in (float32, float64):
        raise Unsupported(f"random numbers of {dtype.name} are not compiled")
    blocks = -(-count // (4 if dtype is float32 else 2))
    words = [word for i in range(blocks) for word in block_at(b, stream, i)]
    return convert(b, words, dtype)[:count]


def uniform(b: Any, words: Sequence[Element], dtype: DType) -> list[Element]:
    """Returns numbers in [0, 1): words as the mantissa of a number in [1, 2), minus 1."""
    if dtype is float32:
        bits = [b.convert(b.bit_or(b.bit_and(w, 0x7FFFFF), 0x3F800000), int32) for w in words]
    else:
        pairs = zip(words[::2], words[1::2], strict=True)
        wide = (b.bit_or(join_words(b, low, b.bit_and(high, 0xFFFFF)), 0x3FF << 52) for high, low in pairs)
        bits = [b.convert(x, int64) for x in wide]
    return [b.sub(b.float_of_bits(x), 1.0) for x in bits]


def normal(b: Any, words: Sequence[Element], dtype: DType) -> list[Element]:
    """Returns normally distributed numbers, by the Box-Muller transform with functions of float64."""
    numbers = uniform(b, words, dtype)
    results: list[Element] = []
    for u, v in zip(numbers[::2], numbers[1::2], strict=True):
        log = b.convert(b.log(b.convert(b.maximum(u, LEAST), float64)), dtype)
        angle = b.convert(b.convert(b.mul(b.convert(v, float64), 2 * math.pi), dtype), float64)
        radius = b.sqrt(b.mul(log, -2.0))
        results += [b.mul(b.convert(function(angle), dtype), radius) for function in (b.sin, b.cos)]
    return results
