"""Lengths, case, and parts of strings."""

from __future__ import annotations

from itertools import accumulate
from operator import methodcaller
from typing import Any

import numpy as np
import torch

from tapeflow.core.loops import Bytes, Int32s, Int64s, loop, simd_range
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.ops.shape_rules import text as shape_text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray, gather_ranges
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import count_characters, each, each_text, string_op, text


def _length_kernel(input: StringArray, unit: str) -> torch.Tensor:
    if unit == "BYTE":
        if input.few is not None:
            return torch.from_numpy(np.array(list(map(bytes.__len__, input.few)), np.int32).reshape(input.shape))
        lengths = np.empty(input.size, np.int32)
        _write_lengths(input.offsets, lengths, input.size)
        return torch.from_numpy(lengths.reshape(input.shape))
    return torch.from_numpy(count_characters(input).reshape(input.shape))


@loop
def _write_lengths(offsets: Int64s, lengths: Int32s, count: int) -> None:
    for i in simd_range(count):
        lengths[i] = offsets[i + 1] - offsets[i]


@string_op("StringLength", _length_kernel, shape=same, elementwise=True)
def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Computes the length of each string.

    Args:
        input: a string tensor of any shape.
        unit: "BYTE", or "UTF8_CHAR" to count characters; "BYTE" by default.

    Returns:
        int32, of the shape of `input`.

    Raises:
        InvalidArgumentError: there is no such `unit`.

    Example:
        >>> tf.strings.length(["hello", "é"], unit="UTF8_CHAR").numpy().tolist()
        [5, 1]
    """


def _change_case(input: StringArray, encoding: str, method: str) -> StringArray:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    cased = methodcaller(method)
    if input.few is not None and not encoding:
        return each(cased, input)
    whole, offsets = input.packed()
    if not encoding or whole.isascii():
        return StringArray(cased(whole), offsets, input.shape)
    return each_text(cased, input, "replace")


@string_op("StringLower", lambda input, encoding: _change_case(input, encoding, "lower"), shape=same, elementwise=True)
def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Changes letters to lower case: ASCII letters, or with `encoding="utf-8"` all.

    Args:
        input: a string tensor of any shape.
        encoding: "", or "utf-8", which replaces bytes that are not UTF-8 by U+FFFD.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: there is no such `encoding`.

    Example:
        >>> tf.strings.lower("ABC").numpy()
        b'abc'
    """


@string_op("StringUpper", lambda input, encoding: _change_case(input, encoding, "upper"), shape=same, elementwise=True)
def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Changes letters to upper case: ASCII letters, or with `encoding="utf-8"` all.

    Args:
        input: a string tensor of any shape.
        encoding: "", or "utf-8", which replaces bytes that are not UTF-8 by U+FFFD.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: there is no such `encoding`.

    Example:
        >>> tf.strings.upper("abc").numpy()
        b'ABC'
    """


def _strip_kernel(input: StringArray) -> StringArray:
    if input.few is not None:
        return each(bytes.strip, input)
    starts, lengths = np.empty(input.size, np.int64), np.empty(input.size, np.int64)
    _strip_loop(input.data, input.offsets, starts, lengths, input.size)
    return gather_ranges(input.data, starts, lengths, input.shape)


@loop
def _strip_loop(data: Bytes, offsets: Int64s, starts: Int64s, lengths: Int64s, count: int) -> None:
    for i in range(count):
        start, end = offsets[i], offsets[i + 1]
        while start < end and (data[start] == 32 or 9 <= data[start] <= 13):
            start += 1
        while start < end and (data[end - 1] == 32 or 9 <= data[end - 1] <= 13):
            end -= 1
        starts[i], lengths[i] = start, end - start


@string_op("StringStrip", _strip_kernel, shape=same, elementwise=True)
def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Removes the white space at both ends of each string.

    Args:
        input: a string tensor of any shape.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: `input` is not a string tensor.

    Example:
        >>> tf.strings.strip(" a b\\n").numpy()
        b'a b'
    """


def _substr_kernel(input: StringArray, pos: torch.Tensor, len: torch.Tensor, unit: str) -> StringArray:
    if pos.shape != len.shape:
        raise invalid(f"pos and len should have the same shape, got: {list(pos.shape)} vs. {list(len.shape)}")
    shape = input.shape
    if pos.ndim and tuple(pos.shape) != shape:
        shape = tuple(broadcast(TensorShape(shape), TensorShape(pos.shape)))
    strings = input.broadcast_to(shape)
    find = _find_bytes if unit == "BYTE" else _find_characters
    same = pos.numel() == 1  # the same part of each string
    if not same:
        pos, len = pos.expand(shape), len.expand(shape)
    step, few = 0 if same else 1, strings.few
    first: Any
    most: Any
    starts: Any
    lengths: Any
    if few is not None:  # the loop as Python, on lists
        first, most = ([v.item()] if same else v.reshape(-1).tolist() for v in (pos, len))
        starts, lengths = [0] * strings.size, [0] * strings.size
        data, offsets = memoryview(b"".join(few)), [0, *accumulate(map(bytes.__len__, few))]
        wrong = find.function(data, offsets, first, most, step, starts, lengths, strings.size)
    else:
        first, most = (v.to(torch.int64).contiguous().view(-1).numpy() for v in (pos, len))
        starts, lengths = np.empty(strings.size, np.int64), np.empty(strings.size, np.int64)
        wrong = find(strings.data, strings.offsets, first, most, step, starts, lengths, strings.size)
    if wrong >= 0:
        shown, place = text(strings.reshape(-1)[wrong]), first[wrong * step]
        raise invalid(f"pos {place} out of range for string b'{shown}' at index {wrong}")
    if few is not None:
        return StringArray.of([bytes(data[i : i + n]) for i, n in zip(starts, lengths, strict=True)], shape)
    return gather_ranges(strings.data, starts, lengths, shape)


@loop
def _find_bytes(
    data: Bytes, offsets: Int64s, first: Int64s, most: Int64s, step: int, starts: Int64s, lengths: Int64s, count: int
) -> int:
    """Finds parts of strings by numbers of bytes. A negative place counts from the end; a negative number of bytes, as
    a number without a sign, is beyond any length. Returns the first string that is too short, or -1."""
    for i in range(count):
        size = offsets[i + 1] - offsets[i]
        start, length = first[i * step], most[i * step]
        if start < 0:
            start += size
        if start < 0 or start > size:
            return i
        starts[i] = offsets[i] + start
        lengths[i] = length if 0 <= length <= size - start else size - start
    return -1


@loop
def _find_characters(
    data: Bytes, offsets: Int64s, first: Int64s, most: Int64s, step: int, starts: Int64s, lengths: Int64s, count: int
) -> int:
    """Finds parts of strings by numbers of characters: a byte and the continuation bytes (10xxxxxx) behind it. A
    negative place counts from the end. Returns the first string that has too few characters, or -1."""
    for i in range(count):
        low, high = offsets[i], offsets[i + 1]
        place, length = first[i * step], most[i * step]
        if place >= 0:
            start = _go_forward(data, low, high, place)
            end = _go_forward(data, start, high, length) if start >= 0 else start
            if end < 0:
                end = high
        else:
            behind = max(-place - length, 0)  # the part
            end = _go_back(data, low, high, behind)
            start = _go_back(data, low, end, -place - behind) if end >= 0 else end
        if start < 0:
            return i
        starts[i], lengths[i] = start, end - start
    return -1


@loop
def _go_forward(data: Bytes, at: int, end: int, characters: int) -> int:
    """Returns the place that many characters further on, or -1 if there are fewer."""
    for _ in range(characters):
        if at >= end:
            return -1
        at += 1
        while at < end and data[at] & 0xC0 == 0x80:
            at += 1
    return at


@loop
def _go_back(data: Bytes, start: int, at: int, characters: int) -> int:
    """Returns the place that many characters before another, or -1 if there are fewer, or that is a negative number."""
    if characters < 0:
        return -1
    for _ in range(characters):
        if at <= start:
            return -1
        at -= 1
        while at > start and data[at] & 0xC0 == 0x80:
            at -= 1
    return at


def _substr_rule(input: TensorShape, pos: TensorShape, length: TensorShape, *_: Any) -> TensorShape:
    if None not in (pos.rank, length.rank) and pos.as_list() != length.as_list():
        raise invalid(f"pos and len shapes must match: {shape_text(pos)} vs. {shape_text(length)}")
    return broadcast(input, pos)


@string_op("Substr", _substr_kernel, shape=_substr_rule, elementwise=True)
def substr(input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Extracts the part of each string from `pos` on, of at most `len` units.

    Args:
        input: a string tensor of any shape.
        pos: an int32 or int64 tensor, the first byte or character; negative from the end. It broadcasts with `input`.
        len: a tensor of the shape and dtype of `pos`, the number of bytes or characters.
        unit: "BYTE" or "UTF8_CHAR"; "BYTE" by default.

    Returns:
        Strings, of the shape that `input` and `pos` broadcast to.

    Raises:
        InvalidArgumentError: a `pos` is outside of its string, or the shapes do not broadcast.

    Example:
        >>> tf.strings.substr(["hello", "world"], [1, -3], [3, 2]).numpy().tolist()
        [b'ell', b'rl']
    """
