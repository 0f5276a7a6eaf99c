"""Lengths, case, and parts of strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.ops.shape_rules import text as shape_text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import each, encoded, numbers, string_op, text


def _characters(element: bytes) -> int:
    """Counts the UTF-8 characters that begin in an element."""
    return sum((byte & 0xC0) != 0x80 for byte in element)


def _length(input: np.ndarray, unit: str) -> torch.Tensor:
    return numbers({"BYTE": len, "UTF8_CHAR": _characters}[unit], input, torch.int32)


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
    if encoding:
        return each(lambda v: getattr(v.decode("utf-8", "replace"), method)().encode(), input)
    return each(lambda v: getattr(v, method)(), input)


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


@string_op("StringStrip", lambda input: each(lambda v: v.strip(b" \t\n\v\f\r"), input), shape=same, elementwise=True)
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


def _substring(element: Any, pos: int, count: int, unit: str, index: int) -> bytes:
    units: Any = text(element) if unit == "UTF8_CHAR" else element
    if not -len(units) <= pos <= len(units):
        raise invalid(f"pos {pos} out of range for string b'{text(element)}' at index {index}")
    start = pos + len(units) if pos < 0 else pos
    if count < 0 and unit == "BYTE":  # as a number without a sign it is beyond any length
        return bytes(units[start:])
    part = units[start : start + max(count, 0)]
    return encoded(part) if isinstance(part, str) else part


def _substr(input: np.ndarray, pos: torch.Tensor, len: torch.Tensor, unit: str) -> np.ndarray:
    if pos.shape != len.shape:
        raise invalid(f"pos and len should have the same shape, got: {list(pos.shape)} vs. {list(len.shape)}")
    shape = tuple(broadcast(TensorShape(input.shape), TensorShape(pos.shape)))
    strings = np.broadcast_to(input, shape).reshape(-1)
    starts = np.broadcast_to(pos.numpy(), shape).reshape(-1).tolist()
    counts = np.broadcast_to(len.numpy(), shape).reshape(-1).tolist()
    out = np.empty(strings.size, object)
    out[:] = [_substring(v, p, n, unit, i) for i, (v, p, n) in enumerate(zip(strings, starts, counts, strict=True))]
    return out.reshape(shape)


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
