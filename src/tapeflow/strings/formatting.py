"""Conversions from numbers to strings and back."""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np
import torch

from tapeflow.array.tensor_text import tensor_text
from tapeflow.core.loops import MASK, Bytes, Float64s, Int64s, loop
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, float32, string, uint64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import FEW, StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, as_numpy, invalid
from tapeflow.strings.join_and_ngrams import join
from tapeflow.strings.kernels import each, encode_text, string_op

# The flags of C's `printf` that may stand before a width.
_FLAGS = " +-0#"
_FEW = 16  # strings: up to here, Python reads numbers faster than a loop
_BYTES_OF_LETTER = 16  # Python formats digit by digit, in several buffers


def _as_string(input: Any, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> StringArray:
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    array: Any
    if isinstance(input, StringArray):
        dtype, array = string, input
    else:
        dtype, array = FROM_TORCH[input.dtype], as_numpy(input, FROM_TORCH[input.dtype])
    if not (dtype.is_floating or dtype.is_complex):
        if (scientific or shortest) and dtype is not string:
            raise invalid(f"scientific and shortest format not supported for datatype {dtype.name}")
        if precision >= 0 and dtype is not string:
            raise invalid(f"precision not supported for datatype {dtype.name}")
    if fill and fill not in _FLAGS:
        raise invalid(f'Fill argument not supported: "{fill}"')
    check_memory([array.size, max(width, 0) + max(precision, 0)], _BYTES_OF_LETTER, UNFILLED)
    size = str(width) if width >= 0 else ""
    digits = f".{precision}" if precision >= 0 else ""
    notation = "e" if scientific else "g" if shortest else "f"
    sign = "" if dtype.is_unsigned and fill in ("+", " ") else fill  # C's unsigned numbers have no sign

    def number(value: Any, letter: str) -> str:
        flag = "" if fill == "0" and not np.isfinite(value) else sign
        return f"%{flag}{size}{digits}{letter}" % value

    def formatted(value: Any) -> bytes:
        if dtype is string:
            return value.ljust(width) if fill == "-" else value.rjust(width)
        if dtype.is_bool:
            word = "true" if value else "false"
        elif dtype.is_complex:
            word = f"({number(float(value.real), notation)},{number(float(value.imag), notation)})"
        elif dtype.is_floating:
            word = number(float(value), notation)
        else:
            word = number(int(value), "d")
        return word.encode()

    texts = array.reshape(-1)
    if texts.size > FEW and dtype.is_integer and not size and not fill and dtype is not uint64:
        values, offsets = texts.astype(np.int64), np.zeros(texts.size + 1, np.int64)
        out = np.empty(20 * texts.size, np.uint8)
        _write_integers(values, texts.size, out, offsets)
        return StringArray(out[: offsets[-1]].copy(), offsets, array.shape)
    if dtype.is_integer or (dtype.is_floating and (fill != "0" or bool(np.isfinite(texts).all()))):
        template = f"%{sign}{size}{digits}{'d' if dtype.is_integer else notation}\0"  # one format for all numbers
        values = texts.astype(np.float64) if dtype.is_floating else texts
        words = (template * values.size % tuple(values.tolist())).encode()
        strings: Any = StringArray.from_separated(words[:-1], array.shape)
        return strings
    return each(formatted, array)


@loop
def _write_integers(values: Int64s, count: int, out: Bytes, offsets: Int64s) -> None:
    """Writes integers in decimal notation, of at most 20 bytes each."""
    at = 0
    for i in range(count):
        value = values[i]
        negative = value < 0
        if negative:
            out[at] = 45
            at += 1
        power, digits = 1, 1  # digits are counted, then written from the last one on
        rest = (-value & MASK) >> 1 if negative else value >> 1  # half of it, so that no number overflows
        while digits < 19 and rest >= 5 * power:
            power *= 10
            digits += 1
        rest = -value & MASK if negative else value
        for j in range(digits):
            out[at + digits - 1 - j] = 48 + rest % 10
            rest = rest // 10
        at += digits
        offsets[i + 1] = at


@op("AsString", kernel=_as_string, strings=_as_string, shape=same, elementwise=True)
def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Writes each number as a string.

    Args:
        input: numbers, booleans or strings, of any shape.
        precision: an int, the number of digits after the point, for floats; -1 for 6.
        scientific: writes floats as `1.5e+00`.
        shortest: writes floats in the shorter notation.
        width: an int, the least length of the strings; -1 by default.
        fill: the character that shorter strings are filled with: a space, "0", or "-" for spaces after the number.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: the options exclude each other, or are for floats only.

    Example:
        >>> tf.strings.as_string([1.5, 2.0], precision=2).numpy().tolist()
        [b'1.50', b'2.00']
    """


as_string.op.differentiable = False


def read_numbers(strings: StringArray, dtype: DType) -> tuple[np.ndarray, int]:
    """Reads the number in each string.

    A loop reads those with few digits, whose value is exact or one rounding away. Python reads the rest.

    Args:
        strings: the strings.
        dtype: float32, float64, or a dtype of integers.

    Returns:
        A vector of the numbers, and the place of the first string that is none of the dtype, or -1.
    """
    if strings.size <= _FEW:
        return _read_few(strings.flat, dtype)
    strings = strings.reshape(-1)
    values = np.empty(strings.size, np.int64 if dtype.is_integer else np.float64)
    left = np.empty(strings.size, np.int64)
    read = _read_integers if dtype.is_integer else _read_floats
    unread = {*left[: read(strings.data, strings.offsets, strings.size, values, left)].tolist()}
    if dtype.is_integer:
        least, greatest = _limits_of(dtype)
        unread.update(np.flatnonzero((values < least) | (values > greatest)).tolist())
    elif dtype is float32:
        unread.update(np.flatnonzero(values.view(np.int64) & _LOST_BITS == _HALF).tolist())
    return _parse_into(values.astype(dtype.as_numpy_dtype), ((i, strings[i]) for i in sorted(unread)), dtype)


def _parse_into(numbers: np.ndarray, words: Iterable[tuple[int, bytes]], dtype: DType) -> tuple[np.ndarray, int]:
    """Writes the numbers that words mean to their places. Returns all, and the place of the first wrong word, or -1."""
    for i, word in words:
        try:
            numbers[i] = parse_number(word, dtype)
        except ValueError:
            return numbers, i
    return numbers, -1


def _read_few(words: list[bytes], dtype: DType) -> tuple[np.ndarray, int]:
    """Reads a few numbers, all at once if they are written and rounded as in Python."""
    kind: Any = int if dtype.is_integer else float
    with contextlib.suppress(ValueError, OverflowError):
        values = [] if b"_" in b"".join(words) else list(map(kind, words))
        # Some float32s need care, see `_as_float32`.
        careful = dtype is float32 and [
            v for v in values if frexp(v)[0] * _TWO_TO_24 % 1.0 == 0.5 or not -3e38 < v < 3e38
        ]  # fmt: skip
        if values and not careful:
            return np.array(values, dtype.as_numpy_dtype), -1
    return _parse_into(np.zeros(len(words), dtype.as_numpy_dtype), enumerate(words), dtype)


def _as_float32(word: bytes, number: float) -> float:
    """Returns the float32 next to a decimal number, for the float64 next to it, or a float64 that rounds to it."""
    if frexp(number)[0] * _TWO_TO_24 % 1.0 == 0.5:  # in the middle between two float32s
        exact = Fraction(number if _HEXADECIMAL.match(word) else Decimal(word.decode().strip()))
        if exact != number:
            number = math.nextafter(number, math.inf if exact > number else -math.inf)
    return number * math.inf if abs(number) >= _TOO_LARGE else number


_TWO_TO_24 = 2.0**24
_LOST_BITS, _HALF = 0x1FFFFFFF, 0x10000000  # of a float64 that becomes a float32
_TOO_LARGE = float.fromhex("0x1.ffffffp127")  # for a float32


@loop
def _read_integers(data: Bytes, offsets: Int64s, count: int, out: Int64s, left: Int64s) -> int:
    """Reads integers of up to 18 digits. Returns the number of strings that are something else, whose places are the
    first in `left`."""
    rest = 0
    for i in range(count):
        at, end = _skip_blanks(data, offsets[i], offsets[i + 1]), offsets[i + 1]
        negative = at < end and data[at] == 45
        if at < end and (data[at] == 45 or data[at] == 43):
            at += 1
        first, value = at, 0
        while at < end and 48 <= data[at] <= 57 and at - first < 18:
            value = 10 * value + data[at] - 48
            at += 1
        if at == first or _skip_blanks(data, at, end) < end:
            left[rest] = i
            rest += 1
            value = 0
        out[i] = -value if negative else value
    return rest


@loop
def _read_floats(data: Bytes, offsets: Int64s, count: int, out: Float64s, left: Int64s) -> int:
    """Reads decimal numbers of up to 15 digits with small exponents, both exact. See `_read_integers`."""
    rest = 0
    for i in range(count):
        at, end = _skip_blanks(data, offsets[i], offsets[i + 1]), offsets[i + 1]
        negative = at < end and data[at] == 45
        if at < end and (data[at] == 45 or data[at] == 43):
            at += 1
        value, digits, point, exponent = 0, 0, 0, 0
        while at < end and (48 <= data[at] <= 57 or (data[at] == 46 and point == 0)) and digits < 16:
            if data[at] == 46:
                point = 1
            else:
                value = 10 * value + data[at] - 48
                digits += 1
                exponent -= point
            at += 1
        if at + 1 < end and (data[at] == 69 or data[at] == 101) and digits:
            at += 1
            down = data[at] == 45
            if data[at] == 45 or data[at] == 43:
                at += 1
            first, power = at, 0
            while at < end and 48 <= data[at] <= 57 and at - first < 3:
                power = 10 * power + data[at] - 48
                at += 1
            if at == first:
                digits = 0
            exponent += -power if down else power
        number = float(value)
        if digits == 0 or digits > 15 or exponent > 22 or exponent < -22 or _skip_blanks(data, at, end) < end:
            left[rest] = i
            rest += 1
            number = 0.0
        elif exponent < 0:
            number /= _power_of_ten(-exponent)
        else:
            number *= _power_of_ten(exponent)
        out[i] = -number if negative else number
    return rest


@loop
def _power_of_ten(exponent: int) -> float:
    power = 1.0
    for _ in range(exponent):
        power *= 10.0
    return power


@loop
def _skip_blanks(data: Bytes, at: int, end: int) -> int:
    while at < end and (data[at] == 32 or 9 <= data[at] <= 13):
        at += 1
    return at


_HEXADECIMAL = re.compile(rb"[ \t-\r]*[-+]?0[xX]")


@functools.cache
def _limits_of(dtype: DType) -> tuple[int, int]:
    return int(dtype.min), int(dtype.max)


def parse_number(word: bytes, dtype: DType) -> Any:
    """Returns the number that a word means.

    Raises:
        ValueError: it is no number, or out of the dtype's range.
    """
    if b"_" in word:  # which Python allows between digits
        raise ValueError
    if dtype.is_integer:
        value, (least, greatest) = int(word), _limits_of(dtype)
        if not least <= value <= greatest:
            raise ValueError
        return value
    try:
        number = float.fromhex(word.decode()) if _HEXADECIMAL.match(word) else float(word)
    except OverflowError:
        return -math.inf if b"-" in word else math.inf
    return number if dtype is not float32 else _as_float32(word, number)


@string_op("StringToNumber", shape=same, elementwise=True)
def _string_to_number(string_tensor: StringArray, out_type: DType = float32) -> torch.Tensor:
    """Reads the number in each string."""
    numbers, wrong = read_numbers(string_tensor, out_type)
    if wrong >= 0:
        shown = string_tensor.reshape(-1)[wrong].decode("utf-8", "replace")
        raise invalid(f"StringToNumberOp could not correctly convert string: {shown}")
    return torch.from_numpy(numbers.reshape(string_tensor.shape))


def to_number(input: TensorLike, out_type: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Reads the number in each string.

    Args:
        input: a string tensor of any shape; white space around a number is skipped.
        out_type: float32, float64, int32, int64, uint32 or uint64; float32 by default.

    Returns:
        A tensor of the shape of `input` and the dtype `out_type`.

    Raises:
        InvalidArgumentError: a string is not such a number, or out of range.

    Example:
        >>> tf.strings.to_number(["1.5", "-2"]).numpy().tolist()
        [1.5, -2.0]
    """
    return _string_to_number(input, out_type, name)


def _format_rule(inputs: Sequence[TensorShape], template: str, placeholder: str, summarize: int) -> TensorShape:
    places = template.count(placeholder)
    if places != len(inputs):
        raise ValueError(f"num placeholders in template and num inputs must match: {places} vs. {len(inputs)}")
    return TensorShape([])


@string_op("StringFormat", shape=_format_rule)
def _string_format(inputs: list[Any], template: str = "%s", placeholder: str = "%s", summarize: int = 3) -> StringArray:
    """Puts tensors in the place of placeholders."""
    edge = None if summarize < 0 else summarize
    tensors = [EagerTensor(v, string if isinstance(v, StringArray) else FROM_TORCH[v.dtype]) for v in inputs]
    parts = template.split(placeholder)
    texts = [tensor_text(t, edge) + p for t, p in zip(tensors, parts[1:], strict=True)]
    return StringArray.scalar(encode_text(parts[0] + "".join(texts)))


def format(
    template: str, inputs: TensorLike, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """Puts tensors, as `tf.print` writes them, in the place of placeholders.

    Args:
        template: the text with placeholders.
        inputs: a tensor or `RaggedTensor` of any shape, or a list of these with one element per placeholder.
        placeholder: the text that a tensor replaces; "{}" by default.
        summarize: an int, the number of elements to show at both ends of each dimension; -1 for all. The default is 3.

    Returns:
        A scalar string.

    Raises:
        ValueError: there are not as many tensors as placeholders.

    Example:
        >>> tf.strings.format("x = {}", tf.constant([1, 2])).numpy()
        b'x = [1 2]'
    """
    from tapeflow.ragged.tensor import RaggedTensor
    from tapeflow.ragged.text import text_of

    if isinstance(inputs, (bool, int, float, complex)):
        raise TypeError(f"object of type '{type(inputs).__name__}' has no len()")
    values = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    parts = template.split(placeholder)
    if len(parts) - 1 != len(values):
        raise ValueError(
            f"The template expects {len(parts) - 1} tensors, but the inputs only has {len(values)}. Please ensure the "
            "number of placeholders in template matches inputs length."
        )
    if not any(isinstance(v, RaggedTensor) for v in values):
        return _string_format([convert(v) for v in values], template, placeholder, summarize, name)
    texts = [
        text_of(v, None if summarize < 0 else summarize) if isinstance(v, RaggedTensor)
        else _string_format([convert(v)], "{}", "{}", summarize)
        for v in values
    ]  # fmt: skip
    return join([parts[0], *[piece for pair in zip(texts, parts[1:], strict=True) for piece in pair]])
