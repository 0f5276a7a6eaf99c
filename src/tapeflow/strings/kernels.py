"""Functions that string kernels share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.loops import Bytes, Int32s, Int64s, loop
from tapeflow.core.ops.op import op
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.strings import StringArray, gather_ranges, offsets_of


def string_op(name: str, kernel: Callable[..., Any] | None = None, **options: Any) -> Callable[[Any], Any]:
    """Declares an op of strings, as `@op` does: it has one kernel for them and for tensors, and no gradient."""

    def decorate(declared: Any) -> Any:
        function = op(name, kernel, strings=True, **options)(declared)
        function.op.differentiable = False
        return function

    return decorate


def each(function: Callable[..., bytes], array: Any) -> StringArray:
    """Returns the strings that a function returns for each element of an array."""
    flat = array.flat if type(array) is StringArray else array.reshape(-1).tolist()
    return StringArray.of(list(map(function, flat)), array.shape)


def each_text(function: Callable[[str], str], array: StringArray, errors: str) -> StringArray:
    """Returns the texts that a function returns for each element; it may get many at once, with zeros between them.

    Args:
        function: changes characters, and no zeros.
        array: the elements.
        errors: how Python decodes bytes that are not UTF-8.
    """
    separated = array.separated() if array.few is None else None
    if separated is not None:
        texts = function(separated.decode("utf-8", errors)).encode("utf-8", errors)
        strings = StringArray.from_separated(texts, array.shape)
        if strings is not None:
            return strings
    return each(lambda v: function(v.decode("utf-8", errors)).encode("utf-8", errors), array)


def text(element: bytes) -> str:
    """Decodes an element; bytes that are not UTF-8 survive decoding and encoding."""
    return element.decode("utf-8", "surrogateescape")


def encode_text(element: str) -> bytes:
    """Encodes a text, as the inverse of `text`."""
    return element.encode("utf-8", "surrogateescape")


def raw_value(values: Sequence[Any], dtype: DType, shape: Sequence[int] = (-1,)) -> Any:
    """Returns Python values as the raw value of a tensor: a `torch.Tensor`, or a `StringArray`."""
    if dtype is string:
        return StringArray.of(values, shape)
    return torch.from_numpy(np.array(values, dtype.as_numpy_dtype).reshape(shape))


def lines_of(content: bytes) -> StringArray:
    """Returns the lines of a text, without the characters that end them."""
    data = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    if content[-1:] != b"\n":
        ends = np.append(ends, len(content))
    starts = np.append(0, ends[:-1] + 1)
    returns = (ends > starts) & (data[ends - 1] == ord("\r"))
    return gather_ranges(content, starts, ends - starts - returns)


def splits_of_rows(rows: Sequence[Sequence[Any]], dtype: DType) -> torch.Tensor:
    """Returns the row splits: the start of each row when all are joined, and the end of the last one."""
    return torch.from_numpy(starts_of(rows)).to(dtype.torch)


def starts_of(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    """Returns the start of each row when all are joined, and the end of the last one."""
    return offsets_of(np.fromiter(map(len, rows), np.int64, len(rows)))


def count_characters(strings: StringArray) -> np.ndarray:
    """Returns the numbers of UTF-8 characters in strings, an int32 vector."""
    counts = np.empty(strings.size, np.int32)
    _count_starts(strings.data, strings.offsets, counts, strings.size)
    return counts


@loop
def _count_starts(data: Bytes, offsets: Int64s, counts: Int32s, count: int) -> None:
    for i in range(count):
        characters = 0
        for at in range(offsets[i], offsets[i + 1]):
            characters += data[at] & 0xC0 != 0x80
        counts[i] = characters


@loop
def find_characters(data: Bytes, offsets: Int64s, counts: Int32s, starts: Int64s, count: int) -> None:
    """Finds where the characters of each string begin in it, and their numbers."""
    found = 0
    for i in range(count):
        before, begin = found, offsets[i]
        for at in range(begin, offsets[i + 1]):
            if data[at] & 0xC0 != 0x80:
                starts[found] = at - begin
                found += 1
        counts[i] = found - before


@loop
def character_at(data: Bytes, at: int, end: int) -> int:
    """Returns a character's code point times 8, plus its width in bytes. It is 0x110000 for a form that is too long or
    a number that is too large, and -7 stands for a byte that begins no character."""
    first = data[at]
    if first < 0x80:
        return 8 * first + 1
    width = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if first < 0xC2 or first > 0xF4 or at + width > end:
        return -7
    code = first & (0xFF >> (width + 1))
    for i in range(at + 1, at + width):
        if data[i] & 0xC0 != 0x80:
            return -7
        code = code << 6 | (data[i] & 0x3F)
    if code > 0x10FFFF or (width == 3 and code < 0x800) or (width == 4 and code < 0x10000):
        code = 0x110000
    return 8 * code + width
