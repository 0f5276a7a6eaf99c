"""The syntax tree of a function's source, with its positions in the file."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import tokenize
import types
from typing import Any

from tapeflow.autograph.node_builders import function

_HEADROOM = "if 1:\n"  # under it an indented block parses unchanged, with its columns


class SourceNotFound(ValueError):
    """The source of a function can't be read, or has changed since the function was compiled."""


def tree_of(function: types.FunctionType) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda:
    """Returns the definition of a function, with the line numbers of its file.

    Raises:
        SourceNotFound: there is no source, as for code typed at the interactive prompt.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines or code.co_firstlineno > len(lines):
        raise SourceNotFound(f"the source of {function!r} can't be read from {code.co_filename!r}")
    node = _lambda_node(code, lines) if code.co_name == "<lambda>" else _definition_of(code, lines)
    if node is None:
        raise SourceNotFound(
            f"{code.co_filename}:{code.co_firstlineno} is not, or no longer, the source of {function!r}"
        )
    return node


def _last_line(code: types.CodeType) -> int:
    """Returns the last line of the code and of the functions inside it."""
    last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    return max([last, *(_last_line(c) for c in code.co_consts if isinstance(c, types.CodeType))])


def _definition_of(code: types.CodeType, lines: list[str]) -> Any:
    first = code.co_firstlineno - 1
    end = _last_line(code)
    margin = len(lines[first]) - len(lines[first].lstrip())
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > margin):
        end += 1
    # A text of several lines, or brackets, may reach to the left of the function.
    tree = _parse_lines(lines[first:end], margin) or _parse_lines(_block_at(lines[first:]), margin)
    if tree is None or not tree.body:
        return None
    node = tree.body[0].body[0] if margin else tree.body[0]
    if getattr(node, "name", None) != code.co_name:
        return None
    ast.increment_lineno(node, first - (1 if margin else 0))
    return node


def _block_at(lines: list[str]) -> list[str]:
    """Returns the lines of the block at the start of some lines; none if these are no tokens of Python."""
    try:
        return inspect.getblock(lines)
    except (SyntaxError, tokenize.TokenError):
        return []


def _parse_lines(lines: list[str], margin: int) -> Any:
    text = "".join(lines)
    try:
        return ast.parse(_HEADROOM + text if margin else text)
    except SyntaxError:
        return None


def _lambda_node(code: types.CodeType, lines: list[str]) -> ast.Lambda | None:
    """Returns the lambda of a code object: one that begins in its first line and compiles to the same code."""
    first = code.co_firstlineno
    ends = [
        (end_line, end_column)
        for line, end_line, _, end_column in code.co_positions()
        if line is not None and line >= first and end_line is not None and end_column
    ]
    if not ends:
        return None
    end_line, end_column = max(ends)
    text = lines[first - 1]
    encoded = text.encode()
    start = encoded.find(b"lambda")
    while start >= 0:
        rest = [encoded[start:].decode(), *lines[first:end_line]]
        node = _shortest_lambda(rest, end_line - first, end_column - (start if end_line == first else 0))
        if node is not None and _same_code(node, code):
            ast.increment_lineno(node, first - 1)
            for child in ast.walk(node):
                _shift_columns(child, first, start)
            return node
        start = encoded.find(b"lambda", start + 1)
    return None


def _shift_columns(node: Any, line: int, columns: int) -> None:
    """Corrects the columns of a node in the first line. One character was prepended to this line."""
    if getattr(node, "lineno", None) == line:
        node.col_offset += columns - 1
    if getattr(node, "end_lineno", None) == line:
        node.end_col_offset += columns - 1


def _shortest_lambda(lines: list[str], last: int, end: int) -> ast.Lambda | None:
    """Parses up to the end of the lambda's body, including brackets that close after it."""
    head, tail = "".join(lines[:last]), lines[last].encode()
    for stop in range(max(end, 0), len(tail) + 1):
        if stop > end and tail[stop - 1 : stop] not in b")]} ":
            break
        try:
            node = ast.parse("(" + head + tail[:stop].decode(errors="ignore") + ")", mode="eval").body
        except SyntaxError:
            continue
        return node if isinstance(node, ast.Lambda) else None
    return None


def _same_code(node: ast.Lambda, code: types.CodeType) -> bool:
    free = [name for name in code.co_freevars if name != "__class__"]
    factory = function("factory", free, [ast.Return(node)])
    module = ast.fix_missing_locations(ast.Module([factory], []))
    try:
        outer = next(c for c in compile(module, "", "exec").co_consts if isinstance(c, types.CodeType))
    except SyntaxError:
        return False
    same = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == "<lambda>")
    return _normalize_code(same) == _normalize_code(code)


def _normalize_code(code: types.CodeType) -> Any:
    """Returns the common part of one lambda's code objects; method calls differ with the import of their object."""
    jumps = {*dis.hasjrel, *dis.hasjabs}
    steps = []
    for i in dis.get_instructions(code):
        if i.opname not in ("PUSH_NULL", "PRECALL", "CACHE"):
            of = "" if i.opcode in jumps or isinstance(i.argval, types.CodeType) else repr(i.argval)
            steps.append((i.opname.replace("LOAD_METHOD", "LOAD_ATTR"), of))
    return steps, code.co_varnames, code.co_freevars
