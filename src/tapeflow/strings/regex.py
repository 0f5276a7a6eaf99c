"""Regular expressions, by TensorFlow's own library, RE2: https://github.com/google/re2/wiki/Syntax."""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import re2
import torch

from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.shape_rules import ranked, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.kernels import each, encoded, joined, string_op, strings_of, text


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
    rb"(%s|\\[dDsSwW]|\[\^?(?:%s|\\[dsw]|[^\x00\\\[\]^\x80-\xff])(?:%s|\\[dsw]|[^\x00\\\[\]\x80-\xff])*\]"
    rb"|[^\x00\\\[\](){}*+?|^$\x80-\xff])([*+?]?)" % (_ESCAPED, _ESCAPED, _ESCAPED)
)
_IN_PYTHON = {b".": rb"[^\n\x00]", b"\\s": rb"[\t\n\f\r ]", b"\\S": rb"[^\t\n\f\r \x00]", b"\\D": rb"[^\d\x00]",
              b"\\W": rb"[^\w\x00]"}  # fmt: skip
_MOST_STEPS = 1 << 14  # of Python's engine for a string, which can be those of a thousand calls of RE2
_MOST_ALTERNATIVES = 8


class _Simple(NamedTuple):
    """A simple expression for Python's engine.

    Where something behind a repeated character can fail, a match may take `length ** repeats` steps; `repeats` is zero
    if only the last character is repeated.
    """

    compiled: re.Pattern[bytes]
    repeats: int
    may_be_empty: bool


@functools.lru_cache(256)
def _for_python(pattern: bytes) -> _Simple | None:
    """Compiles a simple expression for Python's engine, whose calls take a fraction of RE2's time; None for others.

    Simple are characters and sets in a row, which may be repeated, ends of words, and groups of these, of which one of
    several may match. Both engines match these alike in ASCII text without zero bytes. No match contains a zero byte.
    """
    if any(twice in pattern for twice in (b"--", b"&&", b"~~", b"||")):  # Python reserves them in sets
        return None
    out, position, grouped = [], 0, False
    repeats, repeated = 0, False  # how many are repeated, and whether the last one is
    length, alternatives = 0, [0]  # the least number of characters: so far, and in each alternative of a group
    while position < len(pattern):
        piece, pair = pattern[position : position + 1], pattern[position : position + 2]
        if piece == (b")" if grouped else b"("):
            if pair in (b"()", b"(?", b")*", b")+", b")?", b"){"):
                return None
            length, alternatives = length + (min(alternatives) if grouped else 0), [0]
            grouped = not grouped
        elif pair == rb"\b":
            piece, repeated = pair, False
        elif piece == b"|" and grouped:
            alternatives.append(0)
        else:
            one = _ONE.match(pattern, position)
            if one is None:
                return None
            piece, repeated = _character_for_python(one[1]) + one[2], bool(one[2])
            repeats += repeated
            length += not grouped and one[2] in (b"", b"+")
            alternatives[-1] += one[2] in (b"", b"+")
            position = one.end() - len(piece)
        out.append(piece)
        position += len(piece)
    if grouped or not out or out.count(b"|") > _MOST_ALTERNATIVES:
        return None
    return _Simple(re.compile(b"".join(out)), 0 if repeats == repeated else repeats, not length)


def _character_for_python(character: bytes) -> bytes:
    """Returns a character or a set as Python's engine reads it, with zero bytes left out of negated sets."""
    if character[:1] != b"[" or len(character) == 1:
        return _IN_PYTHON.get(character, re.escape(character) if len(character) == 1 else character)
    inner = re.sub(rb"\\.", lambda escape: rb"\t\n\f\r " if escape[0] == b"\\s" else escape[0], character[1:-1])
    return b"[" + inner + (rb"\x00]" if inner[:1] == b"^" else b"]")


def _simple(strings: list[bytes], pattern: bytes, anchored: bool) -> tuple[re.Pattern[bytes], bytes] | None:
    """Returns an expression for Python's engine, and all strings joined by zero bytes, if that engine may be used.

    Args:
        strings: the strings.
        pattern: the expression.
        anchored: matches are whole strings. Otherwise there may be many in a string, and none may be empty.
    """
    simple = _for_python(pattern)
    if simple is None or not strings or (simple.may_be_empty and not anchored):
        return None
    whole = joined(strings)
    if whole is None or not whole.isascii():
        return None
    if simple.repeats and max(map(len, strings)) ** (simple.repeats + (not anchored)) > _MOST_STEPS:
        return None
    return simple.compiled, whole


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
    simple = _simple(input.reshape(-1).tolist(), _bytes(pattern), anchored=False)
    pieces, groups, complete = _rewriting(_bytes(rewrite))
    if simple is None or groups > simple[0].groups or not complete or b"\0" in _bytes(rewrite):
        return each(replace, input)
    compiled, whole = simple
    template = b"".join([b"\\g<%d>" % p if isinstance(p, int) else p.replace(b"\\", b"\\\\") for p in pieces])
    if replace_global:
        return strings_of(compiled.sub(template, whole).split(b"\0")).reshape(input.shape)
    return each(lambda element: compiled.sub(template, element, 1), input)


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
    compiled, strings = _compiled(_bytes(pattern)), input.reshape(-1).tolist()
    simple = _simple(strings, _bytes(pattern), anchored=True)
    if simple is None:
        distinct = {element: compiled.fullmatch(element) is not None for element in set(strings)}
        matches: Iterator[bool] = map(distinct.__getitem__, strings)
    else:
        matches = map(operator.is_not, map(simple[0].fullmatch, strings), itertools.repeat(None))
    return torch.from_numpy(np.fromiter(matches, np.bool_, len(strings)).reshape(input.shape))


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
