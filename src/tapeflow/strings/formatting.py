"""Conversions from numbers to strings and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, float32, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, as_numpy, invalid
from tapeflow.printing import tensor_text
from tapeflow.strings.joining import join
from tapeflow.strings.kernels import each, numbers, string_op, strings_of

# The flags of C's `printf` that may stand before a width.
_FLAGS = " +-0#"
_BYTES_OF_LETTER = 16  # Python formats digit by digit, in several buffers


def _as_string(input: Any, precision: int, scientific: bool, shortest: bool, width: int, fill: str) -> np.ndarray:
    if len(fill) > 1:
        raise invalid("Fill string must be one or fewer characters")
    if scientific and shortest:
        raise invalid("Cannot select both scientific and shortest notation")
    if isinstance(input, np.ndarray):
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

    def number(value: Any, letter: str) -> str:
        signed = "" if dtype.is_unsigned and fill in ("+", " ") else fill  # C's unsigned numbers have no sign
        flag = "" if fill == "0" and not np.isfinite(value) else signed
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
    if dtype.is_integer or (dtype.is_floating and (fill != "0" or bool(np.isfinite(texts).all()))):
        sign = "" if dtype.is_unsigned and fill in ("+", " ") else fill
        template = f"%{sign}{size}{digits}{'d' if dtype.is_integer else notation}\0"  # one format for all numbers
        values = texts.astype(np.float64) if dtype.is_floating else texts
        words = (template * values.size % tuple(values.tolist())).encode().split(b"\0")
        return strings_of(words[:-1]).reshape(array.shape)
    return each(formatted, array)


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
        input: numbers, booleans or strings.
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


def _to_number(input: np.ndarray, out_type: DType) -> torch.Tensor:
    kind = int if out_type.is_integer else float
    try:
        if b"_" not in b"".join(input.reshape(-1).tolist()):
            return numbers(kind, input, out_type.as_numpy_dtype)
    except (ValueError, OverflowError):
        pass
    for word in input.reshape(-1).tolist():
        if _parsed(word, out_type) is None:
            raise invalid(f"StringToNumberOp could not correctly convert string: {word.decode('utf-8', 'replace')}")
    return numbers(lambda word: _parsed(word, out_type), input, out_type.as_numpy_dtype)


def _parsed(word: bytes, dtype: DType) -> Any:
    """Returns the number that a word means, or None if it is not one of the dtype."""
    if b"_" in word:  # which Python allows between digits
        return None
    try:
        value = int(word) if dtype.is_integer else float(word)
    except ValueError:
        return None
    return value if dtype.is_floating or dtype.min <= value <= dtype.max else None


@string_op("StringToNumber", _to_number, shape=same, elementwise=True)
def _string_to_number(string_tensor: TensorLike, out_type: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Reads the number in each string."""


def to_number(input: TensorLike, out_type: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Reads the number in each string.

    Args:
        input: a string tensor; white space around a number is skipped.
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


def _formatted(inputs: list[Any], template: str, placeholder: str, summarize: int) -> np.ndarray:
    edge = None if summarize < 0 else summarize
    tensors = [EagerTensor(v, string if isinstance(v, np.ndarray) else FROM_TORCH[v.dtype]) for v in inputs]
    parts = template.split(placeholder)
    out = np.empty((), object)
    out[()] = (parts[0] + "".join(tensor_text(t, edge) + p for t, p in zip(tensors, parts[1:], strict=True))).encode()
    return out


def _format_rule(inputs: Sequence[TensorShape], template: str, placeholder: str, summarize: int) -> TensorShape:
    places = template.count(placeholder)
    if places != len(inputs):
        raise ValueError(f"num placeholders in template and num inputs must match: {places} vs. {len(inputs)}")
    return TensorShape([])


@string_op("StringFormat", _formatted, shape=_format_rule)
def _string_format(
    inputs: Sequence[TensorLike],
    template: str = "%s",
    placeholder: str = "%s",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """Puts tensors in the place of placeholders."""


def format(
    template: str, inputs: TensorLike, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """Puts tensors, as `tf.print` writes them, in the place of placeholders.

    Args:
        template: the text with placeholders.
        inputs: a tensor or `RaggedTensor`, or a list of these with one element per placeholder.
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
