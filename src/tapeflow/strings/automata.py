"""Regular expressions as automata over characters, for loops over whole buffers.

RE2's wrapper for Python takes a microsecond for a match. For most expressions of programs, `automaton` builds the table
that RE2 would build while it runs. All others are RE2's. For 100,000 words, replacing `[^a-z]` takes 5 ms with the
table, 650 ms with the wrapper and 36 ms in TensorFlow; full matches of `[a-z]+.*` take 1.5, 105 and 5 ms. A match is
the one that RE2 finds: the leftmost, and of those the one that a backtracking engine would try first.

An expression is compiled to instructions (Thompson, 1968). A state of the automaton is a list of instructions in the
order of their priority; behind an instruction that matches, the rest of the list is cut off. Each instruction in a list
has one predecessor in the list before. So the path of a match is found backwards from its end, and with it the match's
beginning and its groups.

The automaton steps over UTF-8 characters. Characters that are in the same sets of the expression form a class, and the
table has a column for each class. Over bytes, a set of characters beyond ASCII would need states of its own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import re2

from tapeflow.core.loops import Bytes, Int32s, loop
from tapeflow.strings.kernels import character_at

PATH_BITS = 11  # of the place of an instruction in a state
_MOST_INSTRUCTIONS = 1 << PATH_BITS
_MOST_CLASSES = 255
_MOST_REPEATS = 50
_MOST_GROUPS = 9  # a rewrite can name no others

_LOOSE = 0x110000  # stands for bytes that look like a character, such as too long a form of it: RE2's `.` matches these
_ASTRAY = 0x110001  # stands for a byte that begins no character
_CODES = 0x111000  # all of these, in whole pages
_PAGE = 256
_END = 0  # the column for the end of a string
_AT_BEGINNING, _AFTER_OTHER, _AFTER_WORD = range(3)


class Automaton(NamedTuple):
    """The table of an expression.

    Attributes:
        table: int32s `[states * columns]`, as bytes: for each state and the end of a string, or a class of characters,
            the place of the next state's row times two, plus one if a match ends before the character. Row 0 is the
            state without a way out.
        starts: int32s `[3]`, as bytes: the row of the first state at the beginning of a string, behind a byte that is
            no part of a word, and behind one that is.
        pages: int32s, as bytes: for each 256 code points the place in `classes` where theirs begin.
        classes: the columns of code points, a byte each. ASCII's come first.
        rows: int32s `[states * columns]`, as bytes: where the paths for each state and column begin.
        paths: int32s, as bytes: a path to the match, then one to each instruction of the next state. A path is the
            place of its first instruction in the state, plus `1 << PATH_BITS + i` for each end of a group on it. End
            `2 * n` is the beginning of group `n`, and the next one its end. Group 0 is the match.
    """

    table: bytes
    starts: bytes
    pages: bytes
    classes: bytes
    rows: bytes
    paths: bytes


class _Unsupported(Exception):
    """The expression is left to RE2."""


@functools.lru_cache(256)
def automaton(pattern: bytes, whole: bool, effort: int) -> Automaton | None:
    """Returns the automaton of an expression, or None for one that is left to RE2.

    Args:
        pattern: the expression; RE2 accepts it.
        whole: matches are whole strings, and any of them will do: no part of a list is cut off. Otherwise, a match may
            begin anywhere.
        effort: the most steps to build it with. A million of them take 0.2 s.
    """
    try:
        node = _Parser(pattern.decode()).parsed()
        program = _Program(node if whole else ("all", [*_ANY_BEGINNING, node]))
        return _Builder(program, whole, effort).automaton()
    except (_Unsupported, UnicodeDecodeError, RecursionError):
        return None


@functools.lru_cache(256)
def compile_pattern(pattern: bytes) -> Any:
    """Compiles an expression with RE2.

    Raises:
        re2.error: it is malformed.
    """
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


# ---- the expression as a tree ----------------------------------------------------------------------------------------

# A set is a tuple of ranges of code points, each with its first one and its end, in order and with gaps between them.
# A node is a tuple of a kind and its parts: ("set", characters), ("all", nodes), ("any", nodes),
# ("repeat", node, least, most or None, greedy), ("assert", kind), ("save", a group's end).

_Set = tuple[tuple[int, int], ...]
_ANY_BEGINNING = ("repeat", ("set", ((0, _CODES),)), 0, None, False), ("save", 0)
_ESCAPE = re.compile(r"\\(?:[pPx]\{[^}]*\}|[pP].|x..|[0-7]{1,3}|[^QEC])", re.DOTALL)
_SET = re.compile(r"\[\^?\]?(?:\\[pPx]\{[^}]*\}|\\.|\[:\^?\w+:\]|[^\]\\])*\]", re.DOTALL)
_BEYOND_ASCII = re.compile(r"[^\0-\x7f]|\\[pPx0-7]")  # what may tell characters beyond ASCII apart


@functools.lru_cache(256)
def _find_set(expression: str) -> _Set:
    """Returns the characters that an expression of one character matches, by RE2 and its tables of Unicode."""
    size = _LOOSE if _BEYOND_ASCII.search(expression) else 0x81
    text = np.arange(size, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass").encode("utf-8", "surrogatepass")
    try:
        spans = [match.span() for match in compile_pattern(b"(?:%s)+" % expression.encode()).finditer(text)]
    except re2.error:
        raise _Unsupported from None
    places = [0, 0x80, 0x80 + 2 * 0x780, 0x80 + 2 * 0x780 + 3 * 0xF800, 0x80 + 2 * 0x780 + 3 * 0xF800 + 4 * 0x100000]
    codes = np.interp(np.array(spans).reshape(-1), places, [0, 0x80, 0x800, 0x10000, _LOOSE]).astype(int).tolist()
    if codes and codes[-1] == size:
        codes[-1] = _LOOSE + (codes[-2] <= 0x80)  # RE2 tests all that is not ASCII without looking closely
    return tuple(zip(codes[::2], codes[1::2], strict=True))


class _Parser:
    """Parses the part of RE2's syntax that automata are built for."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self._groups = pattern, 0, 0

    def parsed(self) -> Any:
        node = self._alternatives()
        if self._at < len(self._pattern) or (r"\B" in self._pattern and _may_be_empty(node)):
            raise _Unsupported  # `\B` matches in the midst of a character
        return node

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        is_next = self._peek(text)
        self._at += len(text) * is_next
        return is_next

    def _take_match(self, expression: re.Pattern[str]) -> str:
        match = expression.match(self._pattern, self._at)
        if match is None:
            raise _Unsupported
        self._at = match.end()
        return match[0]

    def _alternatives(self) -> Any:
        nodes = [self._sequence()]
        while self._take("|"):
            nodes.append(self._sequence())
        return nodes[0] if len(nodes) == 1 else ("any", nodes)

    def _sequence(self) -> Any:
        nodes = []
        while self._at < len(self._pattern) and not self._peek("|") and not self._peek(")"):
            nodes.append(self._repeated(self._atom()))
        return ("all", nodes)

    def _repeated(self, node: Any) -> Any:
        bounds: tuple[int, int | None] | None = None
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._take(sign):
                bounds = least, most
                break
        else:
            if self._peek("{"):
                bounds = self._bounds()
        if bounds is None:
            return node
        greedy = not self._take("?")
        if self._peek("*") or self._peek("+") or self._peek("?") or self._peek("{") or _may_be_empty(node):
            raise _Unsupported
        return ("repeat", node, *bounds, greedy)

    def _bounds(self) -> tuple[int, int | None]:
        inner, brace, _ = self._pattern[self._at + 1 :].partition("}")
        first, comma, last = inner.partition(",")
        if not brace or not first.isdecimal() or (last and not last.isdecimal()):
            raise _Unsupported  # RE2 reads such a brace as itself
        self._at += len(inner) + 2
        least = int(first)
        most = int(last) if last else None if comma else least
        if max(least, most or 0) > _MOST_REPEATS:
            raise _Unsupported
        return least, most

    def _atom(self) -> Any:
        if self._take("("):
            return self._group()
        if self._peek("["):
            return ("set", _find_set(self._take_match(_SET)))
        if self._peek("\\"):
            escape = self._take_match(_ESCAPE)
            kind = {r"\b": "edge", r"\B": "inside", r"\A": "begin", r"\z": "end"}.get(escape)
            return ("assert", kind) if kind else ("set", _find_set(escape))
        character = self._pattern[self._at]
        self._at += 1
        if character in "^$":
            return ("assert", "begin" if character == "^" else "end")
        if character in "*+?":
            raise _Unsupported
        return ("set", _find_set(".") if character == "." else ((ord(character), ord(character) + 1),))

    def _group(self) -> Any:
        saved = not self._take("?:")
        if self._take("?P<") or self._take("?<"):
            self._at = self._pattern.index(">", self._at) + 1
        elif self._peek("?"):
            raise _Unsupported
        self._groups += saved
        first = 2 * self._groups
        node = self._alternatives()
        if not self._take(")"):
            raise _Unsupported
        return ("all", [("save", first), node, ("save", first + 1)]) if saved and first <= 2 * _MOST_GROUPS else node


def _may_be_empty(node: Any) -> bool:
    kind = node[0]
    if kind == "set":
        return False
    if kind == "all":
        return all(map(_may_be_empty, node[1]))
    if kind == "any":
        return any(map(_may_be_empty, node[1]))
    return kind != "repeat" or node[2] == 0


# ---- instructions ----------------------------------------------------------------------------------------------------


class _Program:
    """The instructions of an expression: ("set", characters, next), ("any", nexts), ("assert", kind, next),
    ("save", a group's end, next) or ("match",)."""

    def __init__(self, node: Any) -> None:
        self.instructions: list[Any] = []
        self.first = self._write(node, self._add(("match",)))

    def _add(self, instruction: Any) -> int:
        if len(self.instructions) >= _MOST_INSTRUCTIONS:
            raise _Unsupported
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _write(self, node: Any, after: int) -> int:
        """Writes the instructions of a node that go on with `after`; returns the first one."""
        kind = node[0]
        if kind == "all":
            for part in reversed(node[1]):
                after = self._write(part, after)
            return after
        if kind == "any":
            return self._add(("any", [self._write(part, after) for part in node[1]]))
        if kind != "repeat":
            return self._add((kind, node[1], after))
        _, part, least, most, greedy = node
        if most is None:
            loop = self._add(None)
            body = self._write(part, loop)
            self.instructions[loop] = ("any", [body, after] if greedy else [after, body])
            after = loop
        else:
            end = after
            for _ in range(most - least):
                body = self._write(part, after)
                after = self._add(("any", [body, end] if greedy else [end, body]))
        for _ in range(least):
            after = self._write(part, after)
        return after


# ---- states ----------------------------------------------------------------------------------------------------------


class _Builder:
    """Builds the states of an automaton."""

    def __init__(self, program: _Program, whole: bool, effort: int) -> None:
        self._instructions, self._first, self._whole, self._effort = program.instructions, program.first, whole, effort
        kinds = {i[1] for i in self._instructions if i[0] == "assert"}
        self._sees_words, self._sees_beginning = bool(kinds & {"edge", "inside"}), "begin" in kinds
        self._numbers: dict[Any, int] = {(): 0}
        self._states: list[Any] = [()]
        self._rows: dict[tuple[int, ...], int] = {}  # where rows of paths begin
        self._paths: list[int] = []

    def automaton(self) -> Automaton:
        words = [_find_set(r"\w")] * self._sees_words
        sets = [*dict.fromkeys(words + [i[1] for i in self._instructions if i[0] == "set"])]
        columns, members = _classes_of(sets)
        held = [{chosen for chosen, holds in zip(sets, flags, strict=True) if holds} for flags in members]
        contexts = [(column == _END, self._sees_words and words[0] in sets) for column, sets in enumerate(held)]
        starts = [self._number([self._first], before) for before in (_AT_BEGINNING, _AFTER_OTHER, _AFTER_WORD)]
        steps: list[list[tuple[int, int]]] = [[(0, 0)] * len(held)]
        while len(steps) < len(self._states):
            state = self._states[len(steps)]
            ways = {context: self._ways(state, *context) for context in dict.fromkeys(contexts)}
            pairs = zip(contexts, held, strict=True)
            steps.append([self._step(*ways[context], sets, context) for context, sets in pairs])
        pages: dict[bytes, int] = {}
        places = [pages.setdefault(columns[i : i + _PAGE], len(pages) * _PAGE) for i in range(0, _CODES, _PAGE)]
        width = len(held)
        entries, rows = np.array(steps, np.int32).reshape(-1, 2).T
        return Automaton(
            (entries // 2 * 2 * width + entries % 2).tobytes(), (width * np.array(starts, np.int32)).tobytes(),
            np.array(places, np.int32).tobytes(), b"".join(pages), rows.tobytes(),
            np.array(self._paths, np.int32).tobytes(),
        )  # fmt: skip

    def _number(self, instructions: Sequence[int], before: int) -> int:
        """Returns the number of a state, a new one if there is none yet."""
        if not instructions:
            return 0
        if before == _AT_BEGINNING and not self._sees_beginning:
            before = _AFTER_OTHER
        if before == _AFTER_WORD and not self._sees_words:
            before = _AFTER_OTHER
        key = (tuple(instructions), before)
        if key not in self._numbers:
            self._numbers[key] = len(self._states)
            self._states.append(key)
        return self._numbers[key]

    def _ways(self, state: Any, at_end: bool, is_word: bool) -> tuple[int, list[tuple[Any, int]]]:
        """Returns a state's path to a match, or -1, and its instructions for sets, with their paths.

        Args:
            state: the state.
            at_end: what follows is the end of the string.
            is_word: what follows is a character of words.
        """
        instructions, before = state
        after_word = before == _AFTER_WORD
        holds = {
            "begin": before == _AT_BEGINNING, "end": at_end,
            "edge": after_word != is_word, "inside": after_word == is_word,
        }  # fmt: skip
        ways: list[tuple[Any, int]] = []  # in the order of priority
        seen: set[int] = set()
        match = -1
        pending = [(number, place) for place, number in reversed([*enumerate(instructions)])]
        while pending:
            number, path = pending.pop()
            if number in seen:
                continue
            seen.add(number)
            instruction = self._instructions[number]
            if instruction[0] == "match":
                match = path
                if not self._whole:
                    break
            elif instruction[0] == "any":
                pending.extend([(each, path) for each in reversed(instruction[1])])
            elif instruction[0] == "save":
                pending.append((instruction[2], path | 1 << PATH_BITS + instruction[1]))
            elif instruction[0] == "assert":
                if holds[instruction[1]]:
                    pending.append((instruction[2], path))
            elif not at_end:
                ways.append((instruction, path))
        self._spend(len(seen))
        return match, ways

    def _step(self, match: int, ways: Any, held: Any, context: tuple[bool, bool]) -> tuple[int, int]:
        """Returns the number of the next state times two, plus one for a match, and where the row of paths begins.

        Args:
            match, ways: of the state, see `_ways`.
            held: the sets that have the class of the characters.
            context: whether the string ends, and whether the characters are of words.
        """
        self._spend(len(ways) + 1)
        following: dict[int, int] = {}
        for (_, chosen, after), path in ways:
            if chosen in held:
                following.setdefault(after, path)
        row = match, *following.values()
        if row not in self._rows:
            self._rows[row] = len(self._paths)
            self._paths += row
        state = self._number([*following], _AFTER_WORD if context[1] else _AFTER_OTHER)
        return 2 * state + (match >= 0), self._rows[row]

    def _spend(self, steps: int) -> None:
        self._effort -= steps
        if self._effort < 0:
            raise _Unsupported


def _classes_of(sets: Sequence[_Set]) -> tuple[bytes, list[list[bool]]]:
    """Returns the column of each code point as a byte, and for each column whether it is in each set. The column of the
    end is in none."""
    edges = np.array(sorted({0, _LOOSE, _ASTRAY, _CODES}.union(*[edge for chosen in sets for edge in chosen])))
    flags = np.zeros((len(edges) - 1, len(sets)), np.bool_)
    for i, chosen in enumerate(sets):
        for first, last in np.searchsorted(edges, np.array(chosen).reshape(-1, 2)):
            flags[first:last, i] = True
    columns: dict[bytes, int] = {}
    numbers = [columns.setdefault(row.tobytes(), len(columns) + 1) for row in flags]
    if len(columns) > _MOST_CLASSES:
        raise _Unsupported
    members = [[False] * len(sets), *[np.frombuffer(row, np.bool_).tolist() for row in columns]]
    return np.repeat(np.array(numbers, np.uint8), np.diff(edges)).tobytes(), members


# ---- characters ------------------------------------------------------------------------------------------------------


@loop
def column_at(data: Bytes, at: int, end: int, pages: Int32s, classes: Bytes) -> int:
    """Returns the column of a character that is not ASCII, times 8, plus its width in bytes."""
    character = character_at(data, at, end)
    code, width = character >> 3 if character >= 0 else 0x110001, character & 7
    return 8 * classes[pages[code >> 8] + (code & 255)] + width
