"""Regular expressions as automata over bytes, for loops over whole buffers.

RE2's wrapper for Python takes a microsecond for a match. Most expressions in programs are small: characters, sets,
repetitions, alternatives, anchors. For these, `automaton` builds the table that RE2 would build while it runs. All
others are RE2's. For 100,000 words, replacing `[^a-z]` takes 5 ms with the table, 650 ms with the wrapper and 36 ms in
TensorFlow; full matches of `[a-z]+.*` take 1.5, 105 and 5 ms. A match is the one that RE2 finds: the leftmost, and of
those the one that a backtracking engine would try first.

An expression is compiled to instructions (Thompson, 1968). A state of the automaton is a list of instructions in the
order of their priority; behind an instruction that matches, the rest of the list is cut off. Each instruction in a list
has one predecessor in the list before. So the path of a match is found backwards from its end, and with it the match's
beginning and its groups.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

END = 256  # the symbol at the end of a string
_SYMBOLS = 257
_MOST_STATES = 256
PATH_BITS = 11  # of the place of an instruction in a state
_MOST_INSTRUCTIONS = 1 << PATH_BITS
_MOST_REPEATS = 50
_MOST_GROUPS = 9  # a rewrite can name no others
_EVERY_BYTE = (1 << 256) - 1

_ALL = (1 << 128) - 1  # the set of all ASCII characters; a set is an int with a bit for each byte
_AT_BEGINNING, _AFTER_OTHER, _AFTER_WORD = range(3)


def _set_of(characters: str) -> int:
    return sum(1 << ord(c) for c in set(characters))


def _range_bits(first: int, last: int) -> int:
    return (1 << last + 1) - (1 << first)


_DIGITS = _range_bits(48, 57)
_WORDS = _DIGITS | _range_bits(65, 90) | _range_bits(97, 122) | _set_of("_")
_SPACES = _set_of("\t\n\f\r ")
_CLASSES = {"d": _DIGITS, "w": _WORDS, "s": _SPACES}
_CONTROLS = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_POSIX = {
    "alnum": _WORDS & ~_set_of("_"), "alpha": _range_bits(65, 90) | _range_bits(97, 122), "blank": _set_of(" \t"),
    "cntrl": _range_bits(0, 31) | 1 << 127, "digit": _DIGITS,
    "lower": _range_bits(97, 122), "upper": _range_bits(65, 90),
    "punct": _range_bits(33, 47) | _range_bits(58, 64) | _range_bits(91, 96) | _range_bits(123, 126),
    "space": _SPACES | 1 << 11,
    "word": _WORDS, "xdigit": _DIGITS | _range_bits(65, 70) | _range_bits(97, 102), "print": _range_bits(32, 126),
    "graph": _range_bits(33, 126), "ascii": _ALL,
}  # fmt: skip
_TAIL = _range_bits(0x80, 0xBF)
# The bytes of characters that are not ASCII. RE2 lets a few sequences pass that are not quite UTF-8, too.
_BEYOND_ASCII = (
    (_range_bits(0xC2, 0xDF), _TAIL), (_range_bits(0xE0, 0xEF), _TAIL, _TAIL),
    (_range_bits(0xF0, 0xF4), _TAIL, _TAIL, _TAIL)
)  # fmt: skip


class Automaton(NamedTuple):
    """The table of an expression.

    Attributes:
        table: int32s `[states * 257]`, as bytes: for each state and byte, or the end, the place of the next state's row
            times two, plus one if a match ends before the byte. Row 0 is the state without a way out.
        starts: int32s `[3]`, as bytes: the row of the first state at the beginning of a string, behind a byte that is
            no part of a word, and behind one that is.
        rows: int32s `[states * 257]`, as bytes: where the paths for each state and byte begin.
        paths: int32s, as bytes: a path to the match, then one to each instruction of the next state. A path is the
            place of its first instruction in the state, plus `1 << PATH_BITS + i` for each end of a group on it. End
            `2 * n` is the beginning of group `n`, and the next one its end. Group 0 is the match.
    """

    table: bytes
    starts: bytes
    rows: bytes
    paths: bytes


class _Unsupported(Exception):
    """The expression is left to RE2."""


@functools.lru_cache(256)
def automaton(pattern: bytes, whole: bool) -> Automaton | None:
    """Returns the automaton of an expression, or None for one that is left to RE2.

    Args:
        pattern: the expression; RE2 accepts it.
        whole: matches are whole strings, and any of them will do: no part of a list is cut off. Otherwise, a match may
            begin anywhere.
    """
    try:
        node = _Parser(pattern.decode()).parsed()
        program = _Program(node if whole else ("all", [*_ANY_BEGINNING, node]))
        return _Builder(program, whole).automaton()
    except (_Unsupported, UnicodeDecodeError, RecursionError):
        return None


# ---- the expression as a tree ----------------------------------------------------------------------------------------

# A node is a tuple of a kind and its parts: ("set", bytes, whether characters beyond ASCII are in it, too),
# ("all", nodes), ("any", nodes), ("repeat", node, least, most or None, greedy), ("assert", kind),
# ("save", a group's end).

_ANY_BEGINNING = ("repeat", ("set", _EVERY_BYTE, False), 0, None, False), ("save", 0)


class _Parser:
    """Parses the part of RE2's syntax that automata are built for."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self._groups = pattern, 0, 0

    def parsed(self) -> Any:
        node = self._alternatives()
        if self._at < len(self._pattern):
            raise _Unsupported
        return node

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        found = self._peek(text)
        self._at += len(text) * found
        return found

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise _Unsupported
        self._at += 1
        return self._pattern[self._at - 1]

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
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            return self._set()
        if character == ".":
            return ("set", _ALL & ~_set_of("\n"), True)
        if character in "^$":
            return ("assert", "begin" if character == "^" else "end")
        if character in "*+?":
            raise _Unsupported
        if character == "\\":
            return self._escaped()
        return _literal_node(character)

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

    def _escaped(self) -> Any:
        character = self._next()
        if character in "bBAz":
            return ("assert", {"b": "edge", "B": "inside", "A": "begin", "z": "end"}[character])
        if character.lower() in _CLASSES:
            chosen = _CLASSES[character.lower()]
            return ("set", _ALL & ~chosen, True) if character.isupper() else ("set", chosen, False)
        return _literal_node(chr(self._escape(character)))

    def _escape(self, character: str) -> int:
        """Returns the character that an escape stands for."""
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character.isalnum() or not character.isascii():
            raise _Unsupported
        return ord(character)

    def _set(self) -> Any:
        negated, chosen, first = self._take("^"), 0, True
        while first or not self._peek("]"):
            first = False
            if self._take("[:"):
                name, closed, _ = self._pattern[self._at :].partition(":]")
                if not closed or name not in _POSIX:
                    raise _Unsupported
                self._at += len(name) + 2
                chosen |= _POSIX[name]
                continue
            low = self._set_member()
            if low is None:
                chosen |= self._class
            elif self._peek("-") and not self._peek("-]"):
                self._at += 1
                high = self._set_member()
                if high is None:
                    raise _Unsupported
                chosen |= _range_bits(low, high)
            else:
                chosen |= 1 << low
        self._at += 1
        return ("set", _ALL & ~chosen, True) if negated else ("set", chosen, False)

    def _set_member(self) -> int | None:
        """Returns a character of a set; None for a class, which is then in `_class`."""
        character = self._next()
        if not character.isascii():
            raise _Unsupported
        if character != "\\":
            return ord(character)
        escaped = self._next()
        if escaped in _CLASSES:
            self._class = _CLASSES[escaped]
            return None
        return self._escape(escaped)


def _literal_node(character: str) -> Any:
    return ("all", [("set", 1 << byte, False) for byte in character.encode()])


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
    """The instructions of an expression: ("set", bytes, next), ("any", nexts), ("assert", kind, next),
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
        if kind == "set":
            return self._write_set(node[1], node[2], after)
        if kind == "all":
            for part in reversed(node[1]):
                after = self._write(part, after)
            return after
        if kind == "any":
            return self._add(("any", [self._write(part, after) for part in node[1]]))
        if kind in ("assert", "save"):
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

    def _write_set(self, chosen: int, beyond: bool, after: int) -> int:
        ways = [self._add(("set", chosen, after))] if chosen else []
        for sets in _BEYOND_ASCII if beyond else ():
            way = after
            for one in reversed(sets):
                way = self._add(("set", one, way))
            ways.append(way)
        return ways[0] if len(ways) == 1 else self._add(("any", ways))


# ---- states ----------------------------------------------------------------------------------------------------------


class _Builder:
    """Builds the states of an automaton."""

    def __init__(self, program: _Program, whole: bool) -> None:
        self._instructions, self._first, self._whole = program.instructions, program.first, whole
        kinds = {i[1] for i in self._instructions if i[0] == "assert"}
        self._sees_words, self._sees_beginning = bool(kinds & {"edge", "inside"}), "begin" in kinds
        self._numbers: dict[Any, int] = {(): 0}
        self._states: list[Any] = [()]
        self._rows: dict[tuple[int, ...], int] = {}  # where rows of paths begin
        self._paths: list[int] = []

    def automaton(self) -> Automaton:
        starts = [self._number([self._first], before) for before in (_AT_BEGINNING, _AFTER_OTHER, _AFTER_WORD)]
        classes = self._classes()
        steps: list[list[tuple[int, int]]] = [[(0, 0)] * len(classes)]
        while len(steps) < len(self._states):
            steps.append([self._step(self._states[len(steps)], symbol) for symbol, _ in classes])
        columns = np.zeros(_SYMBOLS, np.int64)
        for i, (_, members) in enumerate(classes):
            columns[members] = i
        table, rows = (np.array(steps, np.int32)[:, columns, i].tobytes() for i in (0, 1))
        first = _SYMBOLS * np.array(starts, np.int32)
        return Automaton(table, first.tobytes(), rows, np.array(self._paths, np.int32).tobytes())

    def _classes(self) -> list[tuple[int, list[int]]]:
        """Returns the symbols that no instruction tells apart: one of them, and all."""
        sets = sorted({i[1] for i in self._instructions if i[0] == "set"} | ({_WORDS} if self._sees_words else set()))
        groups: dict[Any, list[int]] = {}
        for byte in range(256):
            groups.setdefault(tuple(s >> byte & 1 for s in sets), []).append(byte)
        return [(END, [END]), *[(members[0], members) for members in groups.values()]]

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
            if len(self._states) >= _MOST_STATES:
                raise _Unsupported
            self._numbers[key] = len(self._states)
            self._states.append(key)
        return self._numbers[key]

    def _step(self, state: Any, symbol: int) -> tuple[int, int]:
        """Returns the entry of the table for a state and a symbol, and where the row of their paths begins."""
        instructions, before = state
        after_word, is_word = before == _AFTER_WORD, symbol != END and bool(_WORDS >> symbol & 1)
        holds = {
            "begin": before == _AT_BEGINNING, "end": symbol == END,
            "edge": after_word != is_word, "inside": after_word == is_word,
        }  # fmt: skip
        following: dict[int, int] = {}  # instructions in the order of their priority, with their paths
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
            elif symbol != END and instruction[1] >> symbol & 1:
                following.setdefault(instruction[2], path)
        row = match, *following.values()
        if row not in self._rows:
            self._rows[row] = len(self._paths)
            self._paths += row
        state = self._number([*following], _AFTER_WORD if is_word else _AFTER_OTHER)
        return 2 * _SYMBOLS * state + (match >= 0), self._rows[row]
