"""Regular expressions, by TensorFlow's own library, RE2: https://github.com/google/re2/wiki/Syntax."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import re2
import torch

from tapeflow.core.loops import Bytes, Int32s, Int64s, copy, loop, trailing_zeros
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.shape_rules import check_ranks_first, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.strings import StringArray, gather_ranges
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.strings.automata import PATH_BITS, automaton
from tapeflow.strings.kernels import each, encode_text, starts_of, string_op, text

GROUP_ENDS = 20  # of the match and of the nine groups that a rewrite can name
_FEW = 5  # strings: up to here, RE2 is faster than a loop


@functools.lru_cache(256)
def _compile_pattern(pattern: bytes) -> Any:
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


@functools.lru_cache(256)
def _parse_rewrite(rewrite: bytes) -> tuple[list[bytes | int], int, bool]:
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


def _find_matches(compiled: Any, element: bytes) -> Iterator[tuple[int, int, Any]]:
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
            position += _character_width(element, position)
            continue
        yield start, end, match
        position = last = end


def _character_width(element: bytes, position: int) -> int:
    """Returns the length of the UTF-8 character at a position, or 1."""
    for width in (1, 2, 3, 4):
        try:
            element[position : position + width].decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            continue
        return width
    return 1


def _keep_element(element: bytes) -> bytes:
    return element


@functools.lru_cache(256)
def _replacing_function(pattern: bytes, rewrite: bytes, replace_global: bool) -> Callable[[bytes], bytes]:
    """Returns the function that replaces the matches in a string, or its first one."""
    compiled = _compile_pattern(pattern)
    pieces, groups, complete = _parse_rewrite(rewrite)
    if groups > compiled.groups or not (complete or replace_global):
        return _keep_element  # as RE2 does

    def replace(element: bytes) -> bytes:
        out, done = [], 0
        for start, end, match in _find_matches(compiled, element):
            out.append(element[done:start])
            out += [piece if isinstance(piece, bytes) else match[piece] or b"" for piece in pieces]
            done = end
            if not replace_global:
                break
        return b"".join([*out, element[done:]]) if done or out else element

    return replace


def _replace_kernel(input: StringArray, pattern: Any, rewrite: Any, replace_global: bool) -> StringArray:
    pattern, rewrite = _word_bytes(pattern), _word_bytes(rewrite)
    replace = _replacing_function(pattern, rewrite, replace_global)
    table = automaton(pattern, whole=False) if input.size > _FEW else None
    if table is None or replace is _keep_element:
        return each(replace, input)
    data, offsets = input.packed()
    out, ends = np.empty(len(data) + 64, np.uint8), np.zeros(input.size + 1, np.int64)
    room = np.empty(len(data) + 1, np.int32), np.empty(GROUP_ENDS, np.int64)  # for the longest string at least
    arguments = data, offsets, input.size, *table, *_rewrite_parts(rewrite), replace_global, *room
    size = _replace_matches(*arguments, out, len(out), ends)
    if size > len(out):
        out = np.empty(size, np.uint8)
        size = _replace_matches(*arguments, out, len(out), ends)
    return StringArray(out[:size], ends, input.shape)


@functools.lru_cache(256)
def _rewrite_parts(rewrite: bytes) -> tuple[bytes, bytes, bytes, int]:
    """Returns the parts of a rewrite: the literals between groups, all in a row, with their offsets as bytes; the
    numbers of the groups, as bytes; and how many groups there are."""
    literals, groups = [b""], []
    for piece in _parse_rewrite(rewrite)[0]:
        if isinstance(piece, bytes):
            literals[-1] += piece
        else:
            literals.append(b"")
            groups.append(piece)
    array = StringArray.of(literals)
    numbers = np.array(groups, np.int64).tobytes()
    return array.packed()[0], array.offsets.tobytes(), numbers, len(groups)


@loop
def _state_at(data: Bytes, begin: int, at: int, starts: Int32s) -> int:
    """Returns the first state for matches that begin at a place or behind it."""
    if at == begin:
        return starts[0]
    byte = data[at - 1]
    return starts[1 + (48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 95)]


@loop
def _find_end(data: Bytes, begin: int, at: int, end: int, table: Int32s, starts: Int32s, states: Int32s) -> int:
    """Returns the end of the first match, or -1. Writes the states that lead there."""
    state, found, first = _state_at(data, begin, at, starts), -1, at
    while True:
        states[at - first] = state
        entry = table[state + (data[at] if at < end else 256)]
        if entry & 1:
            found = at
        state = entry >> 1
        if state == 0 or at == end:
            return found
        at += 1


@loop
def _find_groups(
    data: Bytes, at: int, stop: int, end: int, rows: Int32s, paths: Int32s, states: Int32s, groups: Int64s
) -> None:
    """Goes back from the end of a match to its beginning. Writes where groups begin and end, or -1.

    Args:
        data: the strings.
        at: the place where the search began.
        stop: the end of the match.
        end: the end of the string.
        rows, paths: of the automaton.
        states: the states from `at` to `stop`.
        groups: int64s to write to.
    """
    for i in range(GROUP_ENDS):
        groups[i] = -1
    path = paths[rows[states[stop - at] + (data[stop] if stop < end else 256)]]
    while True:
        ends = path >> PATH_BITS
        while ends:
            i = trailing_zeros(ends)
            if groups[i] < 0:
                groups[i] = stop
            ends &= ends - 1
        if groups[0] >= 0:
            break
        stop -= 1
        path = paths[rows[states[stop - at] + data[stop]] + 1 + (path & (1 << PATH_BITS) - 1)]


@loop
def _width_at(data: Bytes, at: int, end: int) -> int:
    """Returns the length of the UTF-8 character at a place, or 1."""
    if at >= end or data[at] < 0xC2 or data[at] > 0xF4:
        return 1
    first = data[at]
    width = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    if at + width > end:
        return 1
    for i in range(at + 1, at + width):
        if data[i] & 0xC0 != 0x80:
            return 1
    second = data[at + 1]
    if (first == 0xE0 and second < 0xA0) or (first == 0xF0 and second < 0x90) or (first == 0xF4 and second > 0x8F):
        return 1
    return width


@loop
def _replace_matches(
    data: Bytes, offsets: Int64s, count: int, table: Int32s, starts: Int32s, rows: Int32s, paths: Int32s,
    literals: Bytes, ends_of_literals: Int64s, parts: Int64s, parts_count: int, replaces_all: int, states: Int32s,
    groups: Int64s, out: Bytes, room: int, ends: Int64s,
) -> int:  # fmt: skip
    """Replaces matches. Returns the size of the result, of which no more is written than there is room for."""
    to = 0
    for i in range(count):
        begin, end = offsets[i], offsets[i + 1]
        kept, at, last = begin, begin, -1  # what is copied already, and the end of the match before
        while at <= end:
            stop = _find_end(data, begin, at, end, table, starts, states)
            if stop < 0:
                break
            _find_groups(data, at, stop, end, rows, paths, states, groups)
            groups[1] = stop
            if groups[0] == stop and stop == last:  # an empty match at the end of another does not count
                at += _width_at(data, at, end)
                last = -1
                continue
            size = groups[0] - kept
            if to + size <= room:
                copy(out, to, data, kept, size)
            to += size
            for j in range(parts_count + 1):
                size = ends_of_literals[j + 1] - ends_of_literals[j]
                if to + size <= room:
                    copy(out, to, literals, ends_of_literals[j], size)
                to += size
                if j < parts_count:
                    first = groups[2 * parts[j]]
                    size = groups[2 * parts[j] + 1] - first  # 0 for a group that is not there
                    if to + size <= room:
                        copy(out, to, data, first, size)
                    to += size
            kept, at, last = stop, stop, stop
            if not replaces_all:
                break
        if to + end - kept <= room:
            copy(out, to, data, kept, end - kept)
        to += end - kept
        ends[i + 1] = to
    return to


def split_at_matches(
    input: StringArray, delimiter: bytes, keep_pattern: bytes
) -> tuple[StringArray, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Splits strings at the matches of an expression.

    Args:
        input: the strings. A zero byte ends one, as in TensorFlow Text.
        delimiter: the expression. Its first group divides the parts.
        keep_pattern: an expression. Delimiters that match it from beginning to end are parts, too; none if it is empty.

    Returns:
        The parts of all strings, their begins and ends in the strings, and the row splits.

    Raises:
        InvalidArgumentError: an expression is malformed, or `delimiter` matches an empty string.
    """
    compiled, keeping = _compile_pattern(delimiter), _compile_pattern(keep_pattern)
    keeps = functools.lru_cache(1024)(lambda part: bool(keep_pattern) and keeping.fullmatch(part) is not None)
    split = _split_anywhere if _CONTEXT.search(delimiter) is None else _split_in_context
    rows = [split(compiled, keeps, element.partition(b"\0")[0]) for element in input.flat]
    splits, spans = starts_of(rows), np.array([s for row in rows for s in row], np.int64).reshape(-1, 2)
    data, offsets = input.packed()
    starts, limits = np.ascontiguousarray(spans[:, 0]), np.ascontiguousarray(spans[:, 1])
    parts = gather_ranges(data, starts + np.repeat(offsets[:-1], np.diff(splits)), limits - starts)
    return parts, torch.from_numpy(starts), torch.from_numpy(limits), torch.from_numpy(splits)


_CONTEXT = re.compile(rb"[\^$]|\\[bBAz]")  # an anchor, or a set that is negated


def _split_anywhere(compiled: Any, keeps: Callable[[bytes], bool], element: bytes) -> list[tuple[int, int]]:
    """Returns the begin and end of each part of a string, see `split_at_matches`."""
    spans: list[tuple[int, int]] = []
    done = 0
    for match in compiled.finditer(element) if compiled.groups else ():
        _add_parts(spans, keeps, element, match, 0, done)
        done = match.end()
    return [*spans, (done, len(element))] if done < len(element) else spans


def _split_in_context(compiled: Any, keeps: Callable[[bytes], bool], element: bytes) -> list[tuple[int, int]]:
    """Does the same for an expression with anchors: each search begins a text, as in TensorFlow Text."""
    spans: list[tuple[int, int]] = []
    done = 0
    while compiled.groups and (match := compiled.search(element[done:])) is not None:
        _add_parts(spans, keeps, element, match, done, done)
        done += match.end()
    return [*spans, (done, len(element))] if done < len(element) else spans


def _add_parts(
    spans: list[tuple[int, int]], keeps: Callable[[bytes], bool], element: bytes, match: Any, begin: int, done: int
) -> None:
    """Adds the part before a match, and the delimiter if `keeps` says so."""
    start, end = match.span(1)
    if begin + match.end() == done:
        raise invalid(f"The delimiter must not match an empty string, got the pattern {text(match.re.pattern)}")
    if begin + start > done:
        spans.append((done, begin + start))
    if keeps(element[begin + start : begin + end]):
        spans.append((begin + start, begin + end))


def _word_bytes(word: str | bytes) -> bytes:
    return word if isinstance(word, bytes) else encode_text(word)


@string_op("StaticRegexReplace", _replace_kernel, shape=same, elementwise=True)
def _static_replace(
    input: TensorLike, pattern: str = "", rewrite: str = "", replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of an expression that is an attr."""


def _replace_by_tensors(
    input: StringArray, pattern: StringArray, rewrite: StringArray, replace_global: bool
) -> StringArray:
    return _replace_kernel(input, pattern[()], rewrite[()], replace_global)


@string_op(
    "RegexReplace", _replace_by_tensors, shape=check_ranks_first(lambda input, *_: input, None, 0, 0), elementwise=True
)
def _replace_by_tensor(
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
        return _replace_by_tensor(input, pattern, rewrite, replace_global, name)
    return _static_replace(input, _python_text(pattern), _python_text(rewrite), replace_global, name)


def _full_match_kernel(input: StringArray, pattern: Any) -> torch.Tensor:
    pattern = _word_bytes(pattern)
    compiled = _compile_pattern(pattern)
    table = automaton(pattern, whole=True) if input.size > _FEW else None
    if table is None:
        matches = [compiled.fullmatch(element) is not None for element in input.flat]
        return torch.from_numpy(np.array(matches, np.bool_).reshape(input.shape))
    out = np.empty(input.size, np.uint8)
    _match_strings(input.data, input.offsets, input.size, table.table, table.starts, out)
    return torch.from_numpy(out.view(np.bool_).reshape(input.shape))


@loop
def _match_strings(data: Bytes, offsets: Int64s, count: int, table: Int32s, starts: Int32s, out: Bytes) -> None:
    for i in range(count):
        state, at, end = starts[0], offsets[i], offsets[i + 1]
        while state and at < end:
            state = table[state + data[at]] >> 1
            at += 1
        out[i] = table[state + 256] & 1 if state else 0


@string_op("StaticRegexFullMatch", _full_match_kernel, shape=same, elementwise=True)
def _static_full_match(input: TensorLike, pattern: str = "", name: str | None = None) -> Tensor:
    """Tests whether strings match an expression that is an attr."""


def _full_match_by_tensor(input: StringArray, pattern: StringArray) -> torch.Tensor:
    return _full_match_kernel(input, pattern[()])


@string_op("RegexFullMatch", _full_match_by_tensor, shape=check_ranks_first(same, None, 0), elementwise=True)
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
    return _static_full_match(input, _python_text(pattern), name)


def _python_text(value: Any) -> str:
    """Returns a string as Python text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return text(value)
    word = host_value(convert(value, string))
    if isinstance(word, tuple):
        raise invalid(f"Pattern and rewrite must be scalar, but received [{len(word)}]")
    return text(word)
