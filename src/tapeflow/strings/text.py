"""Lengths, case, and parts of strings."""

from __future__ import annotations

import sys
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.ops.shape_rules import text as shape_text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import characters, each, encoded, joined, numbers, starts_of, string_op, strings_of, text


def _length(input: np.ndarray, unit: str) -> torch.Tensor:
    if unit == "BYTE":
        return numbers(len, input, np.int32)
    strings = input.reshape(-1).tolist()
    counts = np.diff(np.searchsorted(characters(b"".join(strings)), starts_of(strings)))
    return torch.from_numpy(counts.astype(np.int32).reshape(input.shape))


@string_op("StringLength", _length, shape=same, elementwise=True)
def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Computes the length of each string.

    Args:
        input: a string tensor.
        unit: "BYTE", or "UTF8_CHAR" to count characters; "BYTE" by default.

    Returns:
        int32, of the shape of `input`.

    Raises:
        InvalidArgumentError: there is no such `unit`.

    Example:
        >>> tf.strings.length(["hello", "é"], unit="UTF8_CHAR").numpy().tolist()
        [5, 1]
    """


def _cased(input: np.ndarray, encoding: str, method: str) -> np.ndarray:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    if not encoding:
        return each(getattr(bytes, method), input)
    strings = input.reshape(-1).tolist()
    cased = methodcaller(method)
    whole = joined(strings)
    if whole is None:
        return each(lambda v: cased(v.decode("utf-8", "replace")).encode(), input)
    return strings_of(cased(whole.decode("utf-8", "replace")).encode().split(b"\0")).reshape(input.shape)


@string_op("StringLower", lambda input, encoding: _cased(input, encoding, "lower"), shape=same, elementwise=True)
def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Changes letters to lower case: ASCII letters, or with `encoding="utf-8"` all.

    Args:
        input: a string tensor.
        encoding: "", or "utf-8", which replaces bytes that are not UTF-8 by U+FFFD.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: there is no such `encoding`.

    Example:
        >>> tf.strings.lower("ABC").numpy()
        b'abc'
    """


@string_op("StringUpper", lambda input, encoding: _cased(input, encoding, "upper"), shape=same, elementwise=True)
def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    """Changes letters to upper case: ASCII letters, or with `encoding="utf-8"` all.

    Args:
        input: a string tensor.
        encoding: "", or "utf-8", which replaces bytes that are not UTF-8 by U+FFFD.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: there is no such `encoding`.

    Example:
        >>> tf.strings.upper("abc").numpy()
        b'ABC'
    """


@string_op("StringStrip", lambda input: each(bytes.strip, input), shape=same, elementwise=True)
def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Removes the white space at both ends of each string.

    Args:
        input: a string tensor.

    Returns:
        Strings, of the shape of `input`.

    Example:
        >>> tf.strings.strip(" a b\\n").numpy()
        b'a b'
    """


_BYTES = strings_of([bytes([byte]) for byte in range(256)])


def _substr(input: np.ndarray, pos: torch.Tensor, len: torch.Tensor, unit: str) -> np.ndarray:
    if pos.shape != len.shape:
        raise invalid(f"pos and len should have the same shape, got: {list(pos.shape)} vs. {list(len.shape)}")
    shape = tuple(broadcast(TensorShape(input.shape), TensorShape(pos.shape)))
    strings = np.broadcast_to(input, shape).reshape(-1).tolist()
    in_bytes = unit == "BYTE" or b"".join(strings).isascii()
    units: list[Any] = strings if in_bytes else list(map(text, strings))
    parts: Any = _same_slices(units, int(pos.item()), int(len.item()), unit) if pos.numel() == 1 else None
    if parts is None:
        first, count = (np.broadcast_to(v.numpy(), shape).reshape(-1).astype(np.int64) for v in (pos, len))
        starts = starts_of(units)
        sizes = np.diff(starts)
        outside = np.flatnonzero((first < -sizes) | (first > sizes))
        if outside.size:
            i = outside[0]
            raise invalid(f"pos {first[i]} out of range for string b'{text(strings[i])}' at index {i}")
        parts = _slices(units, starts, first, count, unit)
    return strings_of(list(parts if in_bytes else map(encoded, parts))).reshape(shape)


def _same_slices(units: list[Any], first: int, count: int, unit: str) -> Any:
    """Returns the slice of each string from the same place on; None where that is outside."""
    if min(map(len, units), default=0) < abs(first):
        return None
    count = max(count, 0) if count >= 0 or unit != "BYTE" else sys.maxsize  # see `_slices`
    stop = first + count if first + count < 0 or first >= 0 else None
    return map(itemgetter(slice(first, stop)), units)


def _slices(units: list[Any], starts: np.ndarray, first: np.ndarray, count: np.ndarray, unit: str) -> list[Any]:
    """Returns the slice of each string, for the start of each when all are joined."""
    sizes = np.diff(starts)
    start = np.where(first < 0, first + sizes, first)
    count = np.minimum(count, sizes - start)
    # A negative number of bytes, as a number without a sign, is beyond any length.
    count = np.where(count < 0, sizes - start if unit == "BYTE" else 0, count)
    if units and type(units[0]) is bytes and (count == 1).all():
        return _BYTES[np.frombuffer(b"".join(units), np.uint8)[starts[:-1] + start]].tolist()
    return [v[i:j] for v, i, j in zip(units, start.tolist(), (start + count).tolist(), strict=True)]


def _substr_rule(input: TensorShape, pos: TensorShape, length: TensorShape, *_: Any) -> TensorShape:
    if None not in (pos.rank, length.rank) and pos.as_list() != length.as_list():
        raise invalid(f"pos and len shapes must match: {shape_text(pos)} vs. {shape_text(length)}")
    return broadcast(input, pos)


@string_op("Substr", _substr, shape=_substr_rule, elementwise=True)
def substr(input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Extracts the part of each string from `pos` on, of at most `len` units.

    Args:
        input: a string tensor.
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
