"""Regular expressions, by TensorFlow's own library, RE2: https://github.com/google/re2/wiki/Syntax."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import re2
import torch

from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.shape_rules import ranked, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import each, encoded, joined, numbers, string_op, strings_of, text


@functools.lru_cache(256)
def _compiled(pattern: bytes) -> Any:
    """Compiles an expression.

    Raises:
        InvalidArgumentError: it is malformed.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise invalid(f"Invalid pattern: {text(pattern)}, error: {text(error.args[0])}") from None


# A character, escaped or not, or a set of them, as RE2 and Python's engine both read it.
_ESCAPED = rb"\\[^\x00a-zA-Z0-9_\x80-\xff]"
_ONE = re.compile(
    rb"%s|\\[dDsSwW]|\[\^?(?:%s|\\[dsw]|[^\x00\\\[\]^\x80-\xff])(?:%s|\\[dsw]|[^\x00\\\[\]\x80-\xff])*\]"
    rb"|[^\x00\\\[\](){}*+?|^$\x80-\xff]" % (_ESCAPED, _ESCAPED, _ESCAPED)
)
_IN_PYTHON = {b".": rb"[^\n\x00]", b"\\s": rb"[\t\n\f\r ]", b"\\S": rb"[^\t\n\f\r \x00]", b"\\D": rb"[^\d\x00]",
              b"\\W": rb"[^\w\x00]"}  # fmt: skip


@functools.lru_cache(256)
def _for_python(pattern: bytes) -> re.Pattern[bytes] | None:
    """Compiles a simple expression for Python's engine, whose calls take a fraction of RE2's time; None for others.

    Simple are characters, sets and groups of them in a row, of which the last may be repeated. Both engines match
    these alike in ASCII text without zero bytes, in linear time. No match is empty, and none contains a zero byte.
    """
    if any(twice in pattern for twice in (b"--", b"&&", b"~~", b"||")):  # Python reserves them in sets
        return None
    out, position, grouped = [], 0, False
    while position < len(pattern):
        if pattern[position : position + 1] == (b")" if grouped else b"("):
            if pattern[position : position + 2] in (b"()", b"(?"):
                return None
            out.append(pattern[position : position + 1])
            grouped = not grouped
            position += 1
            continue
        one = _ONE.match(pattern, position)
        if one is None:
            rest = pattern[position:]
            if rest not in (b"+", b"+)") or not out or out[-1] in (b"(", b")") or grouped is not (rest == b"+)"):
                return None
            return re.compile(b"".join([*out, rest]))
        out.append(_character_for_python(one[0]))
        position = one.end()
    return re.compile(b"".join(out)) if out and not grouped else None


def _character_for_python(character: bytes) -> bytes:
    """Returns a character or a set as Python's engine reads it, with zero bytes left out of negated sets."""
    if character[:1] != b"[" or len(character) == 1:
        return _IN_PYTHON.get(character, re.escape(character) if len(character) == 1 else character)
    inner = re.sub(rb"\\.", lambda escape: rb"\t\n\f\r " if escape[0] == b"\\s" else escape[0], character[1:-1])
    return b"[" + inner + (rb"\x00]" if inner[:1] == b"^" else b"]")


def _simple(strings: np.ndarray, pattern: bytes) -> tuple[re.Pattern[bytes], bytes] | tuple[None, None]:
    """Returns an expression for Python's engine, and all strings joined by zero bytes, if that engine may be used."""
    compiled = _for_python(pattern)
    whole = None if compiled is None else joined(strings.reshape(-1).tolist())
    return (None, None) if compiled is None or whole is None or not whole.isascii() else (compiled, whole)


def _rewriting(rewrite: bytes) -> tuple[list[bytes | int], int, bool]:
    """Parses a rewrite.

    Returns:
        Its literals and numbers of groups, up to the first escape that is none; the greatest number of a group in all
        of it; and whether there is no such escape.
    """
    parts = re.split(rb"\\(.|$)", rewrite, flags=re.DOTALL)
    groups = max((int(code) for code in parts[1::2] if code.isdigit()), default=0)
    pieces: list[bytes | int] = [parts[0]]
    for code, rest in zip(parts[1::2], parts[2::2], strict=True):
        if not code.isdigit() and code != b"\\":
            return pieces, groups, False
        pieces += [code if code == b"\\" else int(code), rest]
    return pieces, groups, True


def _matches(compiled: Any, element: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yields start, end and match of those that do not overlap, without an empty one at the end of another."""
    position, last = 0, -1
    for match in compiled.finditer(element):  # which is faster, but goes on in the midst of a character if one is empty
        start, end = match.span()
        if start == end:
            break
        yield start, end, match
        position = last = end
    else:
        return
    while position <= len(element) and (match := compiled.search(element, position)):
        start, end = match.span()
        if start == end == last:
            position += _width(element, position)
            continue
        yield start, end, match
        position = last = end


def _width(element: bytes, position: int) -> int:
    """Returns the length of the UTF-8 character at a position, or 1."""
    for width in (1, 2, 3, 4):
        try:
            element[position : position + width].decode()
        except UnicodeDecodeError:
            continue
        return width
    return 1


def _replacing(pattern: bytes, rewrite: bytes, replace_global: bool) -> Callable[[bytes], bytes]:
    """Returns the function that replaces the matches in a string, or its first one."""
    compiled = _compiled(pattern)
    pieces, groups, complete = _rewriting(rewrite)
    if groups > compiled.groups or not (complete or replace_global):
        return lambda element: element  # as RE2 does

    def replace(element: bytes) -> bytes:
        out, done = [], 0
        for start, end, match in _matches(compiled, element):
            out.append(element[done:start])
            out += [piece if isinstance(piece, bytes) else match[piece] or b"" for piece in pieces]
            done = end
            if not replace_global:
                break
        return b"".join([*out, element[done:]]) if done or out else element

    return replace


def _replace_kernel(input: np.ndarray, pattern: Any, rewrite: Any, replace_global: bool) -> np.ndarray:
    replace = _replacing(_bytes(pattern), _bytes(rewrite), replace_global)
    simple, whole = _simple(input, _bytes(pattern))
    pieces, groups, complete = _rewriting(_bytes(rewrite))
    if simple is None or whole is None or groups > simple.groups or not complete or b"\0" in _bytes(rewrite):
        return each(replace, input)
    template = b"".join([b"\\g<%d>" % p if isinstance(p, int) else p.replace(b"\\", b"\\\\") for p in pieces])
    if replace_global:
        return strings_of(simple.sub(template, whole).split(b"\0")).reshape(input.shape)
    return each(lambda element: simple.sub(template, element, 1), input)


def _bytes(word: str | bytes) -> bytes:
    return word if isinstance(word, bytes) else encoded(word)


@string_op("StaticRegexReplace", _replace_kernel, shape=same, elementwise=True)
def _static_replace(
    input: TensorLike, pattern: str = "", rewrite: str = "", replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of an expression that is an attr."""


def _replace_by_tensors(
    input: np.ndarray, pattern: np.ndarray, rewrite: np.ndarray, replace_global: bool
) -> np.ndarray:
    return _replace_kernel(input, pattern[()], rewrite[()], replace_global)


@string_op("RegexReplace", _replace_by_tensors, shape=ranked(lambda input, *_: input, None, 0, 0), elementwise=True)
def _replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of an expression that is a tensor."""


def regex_replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of a regular expression.

    Args:
        input: a string tensor.
        pattern: a string scalar, the regular expression.
        rewrite: the replacement, a scalar; `\\1` stands for the first group.
        replace_global: replaces all matches; otherwise only the first one in each string.

    Returns:
        Strings, of the shape of `input`.

    Raises:
        InvalidArgumentError: the pattern is malformed.

    Example:
        >>> tf.strings.regex_replace("hello", "(l+)", r"<\\1>").numpy()
        b'he<ll>o'
    """
    if isinstance(pattern, Tensor) or isinstance(rewrite, Tensor):
        return _replace(input, pattern, rewrite, replace_global, name)
    return _static_replace(input, _word(pattern), _word(rewrite), replace_global, name)


def _full_match_kernel(input: np.ndarray, pattern: Any) -> torch.Tensor:
    compiled = _compiled(_bytes(pattern))
    simple, _ = _simple(input, _bytes(pattern))
    match = compiled.fullmatch if simple is None else simple.fullmatch
    return numbers(lambda v: match(v) is not None, input, np.bool_)


@string_op("StaticRegexFullMatch", _full_match_kernel, shape=same, elementwise=True)
def _static_full_match(input: TensorLike, pattern: str = "", name: str | None = None) -> Tensor:
    """Tests whether strings match an expression that is an attr."""


def _full_match_by_tensor(input: np.ndarray, pattern: np.ndarray) -> torch.Tensor:
    return _full_match_kernel(input, pattern[()])


@string_op("RegexFullMatch", _full_match_by_tensor, shape=ranked(same, None, 0), elementwise=True)
def _full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether strings match an expression that is a tensor."""


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether each string matches a regular expression from its beginning to its end.

    Args:
        input: a string tensor.
        pattern: a string scalar, the regular expression.

    Returns:
        Booleans, of the shape of `input`.

    Raises:
        InvalidArgumentError: the pattern is malformed.

    Example:
        >>> tf.strings.regex_full_match(["abc", "abx"], "ab[cd]").numpy().tolist()
        [True, False]
    """
    if isinstance(pattern, Tensor):
        return _full_match(input, pattern, name)
    return _static_full_match(input, _word(pattern), name)


def _word(value: Any) -> str:
    """Returns a string as Python text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return text(value)
    word = host_value(convert(value, string))
    if isinstance(word, tuple):
        raise invalid(f"Pattern and rewrite must be scalar, but received [{len(word)}]")
    return text(word)
