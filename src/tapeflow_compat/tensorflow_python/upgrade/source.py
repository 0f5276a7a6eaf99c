"""Source text with the places of calls and arguments, and edits of it that keep everything else."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_OPENING, _CLOSING = "([{", ")]}"


class Source:
    """A program's text. Edits are collected and made at once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.splitlines(keepends=True) or [""]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, int, int, str]] = []  # with the order of those at one place
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        skipped = (
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.COMMENT,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENDMARKER,
        )
        self._tokens = [
            (self._starts[t.start[0] - 1] + t.start[1], self._starts[t.end[0] - 1] + t.end[1], t.string)
            for t in tokens
            if t.type not in skipped
        ]

    def place(self, line: int, column: int) -> int:
        """Returns the index in the text of a line and a column in bytes, as trees have them."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def start(self, node: Any) -> int:
        """Returns the index at which a node begins."""
        return self.place(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        """Returns the index at which a node ends."""
        return self.place(node.end_lineno, node.end_col_offset)

    def replace(self, start: int, end: int, text: str) -> None:
        """Replaces a part of the text. Parts must not overlap; texts put at one place follow in this order."""
        self._edits.append((start, end, 1, len(self._edits), text))

    def put_after(self, place: int, text: str) -> None:
        """Puts text behind what ends at a place. The last of several texts comes first: it is an inner call's."""
        self._edits.append((place, place, 0, -len(self._edits), text))

    def edited(self) -> str:
        """Returns the text after all edits."""
        parts, done = [], 0
        for start, end, _, _, text in sorted(self._edits):
            parts += [self.text[done:start], text]
            done = max(done, end)
        return "".join([*parts, self.text[done:]])

    def arguments(self, call: ast.Call) -> tuple[list[Argument], int]:
        """Returns the arguments of a call in the order of the text, and the index of its closing parenthesis."""
        nodes: list[Any] = sorted([*call.args, *call.keywords], key=self.start)
        ends = [self.end(node) for node in nodes]
        after = self.end(call.func)
        tokens = [token for token in self._tokens if after <= token[0] < self.end(call)]
        while tokens and tokens[0][2] != "(":  # the parentheses around `func`
            tokens.pop(0)
        arguments: list[Argument] = []
        depth, first, last = 0, -1, -1
        for start, end, text in tokens:
            if text in _OPENING:
                depth += 1
                if depth == 1:
                    continue
            ends_argument = depth == 1 and (text == "," or text in _CLOSING) and text
            if ends_argument and len(arguments) < len(nodes) and start >= ends[len(arguments)]:
                node = nodes[len(arguments)]
                named = isinstance(node, ast.keyword)
                name, value = (node.arg, node.value) if named else (None, node)
                spreads = isinstance(node, ast.Starred) or (named and name is None)
                arguments.append(Argument(name, value, first, last, named, spreads))
                first = -1
            if text in _CLOSING:
                depth -= 1
                if depth == 0:
                    return arguments, start
            if not (ends_argument and first < 0):
                first = start if first < 0 else first
                last = end
        raise ValueError("the call has no end")


@dataclass
class Argument:
    """An argument of a call.

    Attributes:
        name: its keyword, also if it gets one by an edit; None if it is positional.
        value: its expression.
        start, end: its place in the text, with its keyword and its parentheses.
        named: True if the text has the keyword.
        spreads: True for `*args` and `**kwargs`.
        removed: True if it goes.
    """

    name: str | None
    value: Any
    start: int
    end: int
    named: bool
    spreads: bool
    removed: bool = False
    keyword: str | None = None  # to be written
    before: str = ""
    after: str = ""


class Call:
    """A call in a program, with the edits of its function and its arguments."""

    def __init__(self, source: Source, node: ast.Call, name: str | None) -> None:
        self.source, self.node, self.name = source, node, name
        self.arguments, self._close = source.arguments(node)
        self.function: str | None = None  # the new one
        self._appended: list[str] = []

    @property
    def spreads(self) -> bool:
        """True if the call has `*args` or `**kwargs`."""
        return any(argument.spreads for argument in self.arguments)

    def positional(self) -> list[Argument]:
        """Returns the arguments without keywords."""
        return [a for a in self.arguments if a.name is None and not a.spreads and not a.removed]

    def find(self, name: str, place: int | None = None) -> Argument | None:
        """Returns the argument with a keyword, or at a place among the positional ones; None if there is none."""
        for argument in self.arguments:
            if argument.name == name and not argument.removed:
                return argument
        positional = self.positional()
        return positional[place] if place is not None and place < len(positional) else None

    def set_keyword(self, argument: Argument, keyword: str) -> None:
        """Names an argument."""
        argument.name = argument.keyword = keyword

    def wrap(self, argument: Argument, before: str, after: str) -> None:
        """Puts text around the value of an argument."""
        argument.before, argument.after = before + argument.before, argument.after + after

    def append(self, text: str) -> None:
        """Adds an argument at the end."""
        self._appended.append(text)

    def write(self) -> None:
        """Makes the edits in the source."""
        source = self.source
        if self.function is not None:
            source.replace(source.start(self.node.func), source.end(self.node.func), self.function)
        if self._appended:
            kept = [a for a in self.arguments if not a.removed]
            place = kept[-1].end if kept else self._close
            source.put_after(place, (", " if kept else "") + ", ".join(self._appended))
        for i, argument in enumerate(self.arguments):
            if not argument.removed:
                self._write_argument(argument)
            elif all(a.removed for a in self.arguments[:i]):
                rest = self.arguments[i + 1 :]
                source.replace(argument.start, rest[0].start if rest else argument.end, "")
            else:
                source.replace(self.arguments[i - 1].end, argument.end, "")

    def _write_argument(self, argument: Argument) -> None:
        source = self.source
        value = argument.start
        if argument.named and not argument.spreads:
            value = source.text.index("=", argument.start) + 1
            while source.text[value].isspace():
                value += 1
        if argument.keyword is not None:
            if argument.named:
                end = argument.start + len(source.text[argument.start : value].partition("=")[0].rstrip())
                source.replace(argument.start, end, argument.keyword)
            else:
                source.replace(value, value, f"{argument.keyword}=")
        if argument.before:
            source.replace(value, value, argument.before)
        if argument.after:
            source.put_after(argument.end, argument.after)


def dotted_name(node: Any) -> str | None:
    """Returns `a.b.c` for such an expression, otherwise None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def literal(node: Any, values: Sequence[Any]) -> bool:
    """Returns True if an expression is one of some constants."""
    return isinstance(node, ast.Constant) and any(type(node.value) is type(v) and node.value == v for v in values)
