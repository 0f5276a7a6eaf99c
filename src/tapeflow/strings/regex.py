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
from tapeflow.strings.automata import PATH_BITS, Automaton, automaton, column_at, compile_pattern
from tapeflow.strings.kernels import character_at, each, encode_text, starts_of, string_op, text

GROUP_ENDS = 20  # of the match and of the nine groups that a rewrite can name
_FEW = 5  # strings: up to here, RE2 is faster than a loop
_MANY = 10_000  # strings: from here on, large automata are worth their time


def _compile_pattern(pattern: bytes) -> Any:
    """Compiles an expression.

    Raises:
        InvalidArgumentError: it is malformed.
    """
    try:
        return compile_pattern(pattern)
    except re2.error as error:
        raise invalid(f"Invalid pattern: {text(pattern)}, error: {text(error.args[0])}") from None


def _automaton_for(input: StringArray, pattern: bytes, whole: bool) -> Automaton | None:
    """Returns the automaton of an expression if it is worth its time, see `automaton`."""
    return automaton(pattern, whole, 1 << (20 if input.size >= _MANY else 16)) if input.size > _FEW else None


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
    table = _automaton_for(input, pattern, whole=False)
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
def _find_end(
    data: Bytes, begin: int, at: int, end: int, table: Int32s, starts: Int32s, pages: Int32s, classes: Bytes,
    places: Int32s,
) -> int:  # fmt: skip
    """Returns the end of the first match, or -1. Writes the places in the table that lead there, for the first byte of
    each character, and -1 for the others."""
    state, stop, first = _state_at(data, begin, at, starts), -1, at
    while True:
        column, width = 0, 1
        if at < end:
            if data[at] < 0x80:
                column = classes[data[at]]
            else:
                column = column_at(data, at, end, pages, classes)
                width = column & 7
                column >>= 3
                for i in range(at + 1 - first, at + width - first):
                    places[i] = -1
        places[at - first] = state + column
        entry = table[state + column]
        if entry & 1:
            stop = at
        state = entry >> 1
        if state == 0 or at == end:
            return stop
        at += width


@loop
def _find_groups(at: int, stop: int, rows: Int32s, paths: Int32s, places: Int32s, groups: Int64s) -> None:
    """Goes back from the end of a match to its beginning. Writes where groups begin and end, or -1.

    Args:
        at: the place where the search began.
        stop: the end of the match.
        rows, paths: of the automaton.
        places: what `_find_end` wrote.
        groups: int64s to write to.
    """
    for i in range(GROUP_ENDS):
        groups[i] = -1
    groups[1] = stop
    path = paths[rows[places[stop - at]]]
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
        while places[stop - at] < 0:
            stop -= 1
        path = paths[rows[places[stop - at]] + 1 + (path & (1 << PATH_BITS) - 1)]


@loop
def _width_at(data: Bytes, at: int, end: int) -> int:
    """Returns the length of the UTF-8 character at a place, or 1."""
    character = character_at(data, at, end) if at < end else -1
    return character & 7 if 0 <= character < 8 * 0x110000 else 1


@loop
def _replace_matches(
    data: Bytes, offsets: Int64s, count: int, table: Int32s, starts: Int32s, pages: Int32s, classes: Bytes,
    rows: Int32s, paths: Int32s, literals: Bytes, ends_of_literals: Int64s, parts: Int64s, parts_count: int,
    replaces_all: int, places: Int32s, groups: Int64s, out: Bytes, room: int, ends: Int64s,
) -> int:  # fmt: skip
    """Replaces matches. Returns the size of the result, of which no more is written than there is room for."""
    to = 0
    for i in range(count):
        begin, end = offsets[i], offsets[i + 1]
        kept, at, last = begin, begin, -1  # what is copied already, and the end of the match before
        while at <= end:
            stop = _find_end(data, begin, at, end, table, starts, pages, classes, places)
            if stop < 0:
                break
            _find_groups(at, stop, rows, paths, places, groups)
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
    table, keep_table = (_automaton_for(input, *how) for how in ((delimiter, False), (keep_pattern, True)))
    data, offsets = input.packed()
    if compiled.groups and table is not None and keep_table is not None:
        starts, limits = np.empty((2, 2 * len(data) + 1), np.int64)  # at most two parts for each byte
        splits = np.zeros(input.size + 1, np.int64)
        room = np.empty(len(data) + 1, np.int32), np.empty(GROUP_ENDS, np.int64)
        arguments = data, offsets, input.size, *table, *keep_table[:4], bool(keep_pattern), *room
        count = _split_strings(*arguments, starts, limits, splits)
        if count < 0:
            raise _empty_delimiter(delimiter)
        starts, limits = starts[:count].copy(), limits[:count].copy()
    else:
        keeps = functools.lru_cache(1024)(lambda part: bool(keep_pattern) and keeping.fullmatch(part) is not None)
        rows = [_split_element(compiled, keeps, element.partition(b"\0")[0]) for element in input.flat]
        splits = starts_of(rows)
        starts, limits = np.array([s for row in rows for s in row], np.int64).reshape(-1, 2).T.copy()
    parts = gather_ranges(data, starts + np.repeat(offsets[:-1], np.diff(splits)), limits - starts)
    return parts, torch.from_numpy(starts), torch.from_numpy(limits), torch.from_numpy(splits)


def _empty_delimiter(pattern: bytes) -> Exception:
    return invalid(f"The delimiter must not match an empty string, got the pattern {text(pattern)}")


@loop
def _split_strings(
    data: Bytes, offsets: Int64s, count: int, table: Int32s, starts: Int32s, pages: Int32s, classes: Bytes,
    rows: Int32s, paths: Int32s, keep_table: Int32s, keep_starts: Int32s, keep_pages: Int32s, keep_classes: Bytes,
    keeps: int, places: Int32s, groups: Int64s, begins: Int64s, limits: Int64s, splits: Int64s,
) -> int:  # fmt: skip
    """Finds the parts between delimiters, see `split_at_matches`. Each search begins a text, as in TensorFlow Text.
    Returns the number of parts, or -1 for an empty match."""
    size = 0
    for i in range(count):
        begin, end, at = offsets[i], offsets[i], offsets[i]
        while end < offsets[i + 1] and data[end]:
            end += 1
        while at <= end:
            stop = _find_end(data, at, at, end, table, starts, pages, classes, places)
            if stop < 0:
                break
            if stop == at:
                return -1
            _find_groups(at, stop, rows, paths, places, groups)
            if groups[2] > at:
                begins[size], limits[size] = at - begin, groups[2] - begin
                size += 1
            if (
                keeps and groups[2] >= 0
                and _is_accepted(data, groups[2], groups[3], keep_table, keep_starts, keep_pages, keep_classes)
            ):  # fmt: skip
                begins[size], limits[size] = groups[2] - begin, groups[3] - begin
                size += 1
            at = stop
        if at < end:
            begins[size], limits[size] = at - begin, end - begin
            size += 1
        splits[i + 1] = size
    return size


def _split_element(compiled: Any, keeps: Callable[[bytes], bool], element: bytes) -> list[tuple[int, int]]:
    """Returns the begin and end of each part of a string, as `_split_strings` finds them."""
    spans: list[tuple[int, int]] = []
    at, rest = 0, memoryview(element)
    while compiled.groups and (match := compiled.search(rest[at:])) is not None:
        if match.end() == 0:
            raise _empty_delimiter(match.re.pattern)
        start, end = (at + place for place in match.span(1))
        if start > at:
            spans.append((at, start))
        if start >= at and keeps(element[start:end]):
            spans.append((start, end))
        at += match.end()
    return [*spans, (at, len(element))] if at < len(element) else spans


def _word_bytes(word: str | bytes) -> bytes:
    return word if isinstance(word, bytes) else encode_text(word)


@string_op("StaticRegexReplace", _replace_kernel, shape=same, elementwise=True)
def _static_replace(
    input: TensorLike, pattern: str = "", rewrite: str = "", replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of an expression that is an attr."""


@string_op("RegexReplace", shape=check_ranks_first(lambda input, *_: input, None, 0, 0), elementwise=True)
def _replace_by_tensor(
    input: StringArray, pattern: StringArray, rewrite: StringArray, replace_global: bool = True
) -> StringArray:
    """Replaces matches of an expression that is a tensor."""
    return _replace_kernel(input, pattern[()], rewrite[()], replace_global)


def regex_replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replaces matches of a regular expression.

    Args:
        input: a string tensor of any shape.
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
    table = _automaton_for(input, pattern, whole=True)
    if table is None:
        matches = [compiled.fullmatch(element) is not None for element in input.flat]
        return torch.from_numpy(np.array(matches, np.bool_).reshape(input.shape))
    out = np.empty(input.size, np.uint8)
    _match_strings(input.data, input.offsets, input.size, *table[:4], out)
    return torch.from_numpy(out.view(np.bool_).reshape(input.shape))


@loop
def _match_strings(
    data: Bytes, offsets: Int64s, count: int, table: Int32s, starts: Int32s, pages: Int32s, classes: Bytes, out: Bytes
) -> None:
    for i in range(count):
        out[i] = _is_accepted(data, offsets[i], offsets[i + 1], table, starts, pages, classes)


@loop
def _is_accepted(data: Bytes, at: int, end: int, table: Int32s, starts: Int32s, pages: Int32s, classes: Bytes) -> int:
    """Returns 1 if an automaton of whole strings accepts a range of bytes."""
    state = starts[0]
    while state and at < end:
        if data[at] < 0x80:
            state = table[state + classes[data[at]]] >> 1
            at += 1
        else:
            column = column_at(data, at, end, pages, classes)
            state = table[state + (column >> 3)] >> 1
            at += column & 7
    return table[state] & 1


@string_op("StaticRegexFullMatch", _full_match_kernel, shape=same, elementwise=True)
def _static_full_match(input: TensorLike, pattern: str = "", name: str | None = None) -> Tensor:
    """Tests whether strings match an expression that is an attr."""


@string_op("RegexFullMatch", shape=check_ranks_first(same, None, 0), elementwise=True)
def _full_match(input: StringArray, pattern: StringArray) -> torch.Tensor:
    """Tests whether strings match an expression that is a tensor."""
    return _full_match_kernel(input, pattern[()])


def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether each string matches a regular expression from its beginning to its end.

    Args:
        input: a string tensor of any shape.
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
