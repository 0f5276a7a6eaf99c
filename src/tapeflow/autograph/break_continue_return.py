"""Replaces `break`, `continue` and early `return` in control flow by flags and conditions.

    for x in xs:                        for x in xs:          (and until break_)
        if x < 0: continue                  if x < 0: pass
        if x > 9: break           ->        else:
        total += x                              if x > 9: break_ = True
                                                else: total += x

If one branch of an `if` always jumps, the following statements move into the other branch, and need no flag.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tapeflow.autograph.activity import own_nodes
from tapeflow.autograph.node_builders import assign, constant, load, notes, operator_call

_LOOPS = (ast.While, ast.For)


class UnsupportedJump(ValueError):
    """A jump that can't be expressed with flags."""


def lower(node: ast.FunctionDef, names: Any) -> bool:
    """Rewrites the body of a function in place, and returns whether its returns were rewritten."""
    lowering = _Lowering(names, _returns_early(node.body))
    body, _, always = lowering.block(node.body, None)
    if lowering.returns:
        # Without a read no flag is needed: all control flow ends in a return, or continues to the end.
        has_flag = lowering.done in lowering.read
        done = load(lowering.done) if has_flag else constant(True)
        result = load(lowering.value) if always else operator_call("ret", load(lowering.value), done)
        start = [assign(lowering.value, operator_call("UndefinedReturnValue"), node)]
        if has_flag:
            start.append(assign(lowering.done, constant(False), node))
        body = [*start, *body, ast.copy_location(ast.Return(result), node.body[-1])]
    node.body = [_without_unread(stmt, lowering) for stmt in body if not lowering.is_unread(stmt)]
    return lowering.returns


def _returns_early(body: Sequence[ast.stmt]) -> bool:
    """Returns True if there is a `return` inside control flow that becomes functions."""
    return any(
        isinstance(inner, ast.Return)
        for node in own_nodes(body)
        if isinstance(node, _LOOPS) or (isinstance(node, ast.If) and not notes(node).native)
        for inner in own_nodes(_child_statements(node))
    )


def _child_statements(node: ast.If | ast.While | ast.For) -> list[ast.stmt]:
    return [*node.body, *node.orelse]


class _Loop:
    def __init__(self, names: Any) -> None:
        self.break_ = names.new("break_")
        self.continue_ = names.new("continue_")


class _Lowering:
    def __init__(self, names: Any, returns: bool) -> None:
        self.names = names
        self.returns = returns
        self.value = names.new("retval_") if returns else ""
        self.done = names.new("do_return") if returns else ""
        self.flags = {self.done} if returns else set()
        self.read: set[str] = set()

    def block(self, stmts: Sequence[ast.stmt], loop: _Loop | None) -> tuple[list[ast.stmt], set[str], bool]:
        """Lowers statements.

        Returns:
            The statements without jumps, the flags that they may set, and whether they always jump.
        """
        done: list[ast.stmt] = []
        for k, stmt in enumerate(stmts):
            rest = list(stmts[k + 1 :])
            if isinstance(stmt, (ast.Break, ast.Continue)) and loop:
                flag = loop.break_ if isinstance(stmt, ast.Break) else loop.continue_
                return [*done, assign(flag, constant(True), stmt)], {flag}, True
            if isinstance(stmt, ast.Return):
                if not self.returns:
                    return [*done, stmt], set(), True
                value = stmt.value or constant(None)
                end = [assign(self.value, value, stmt), assign(self.done, constant(True), stmt)]
                return [*done, *end], {self.done}, True
            if isinstance(stmt, ast.Raise):
                return [*done, stmt], set(), True
            lowered, flags, always, rest = self._statement(stmt, rest, loop)
            done.extend(lowered)
            if always:
                return done, flags, True
            if flags and rest:
                rest, later, always = self.block(rest, loop)
                done.append(self._unless(flags, rest, rest[0]))
                return done, flags | later, always
            if flags:
                return done, flags, False
        return done, set(), False

    def _statement(
        self, stmt: ast.stmt, rest: list[ast.stmt], loop: _Loop | None
    ) -> tuple[list[ast.stmt], set[str], bool, list[ast.stmt]]:
        """Lowers one statement; returns the result of `block` for it, and the statements that remain to follow it."""
        if isinstance(stmt, ast.If):
            return self._if(stmt, rest, loop)
        if isinstance(stmt, _LOOPS):
            return *self._loop(stmt, loop), False, rest
        if isinstance(stmt, (ast.With, ast.Match)):
            parts: Sequence[ast.With | ast.match_case] = [stmt] if isinstance(stmt, ast.With) else stmt.cases
            flags: set[str] = set()
            for part in parts:
                part.body, more, _ = self.block(part.body, loop)
                flags |= more
            return [stmt], flags, False, rest
        if isinstance(stmt, (ast.Try, ast.TryStar)):
            return [stmt], self._try(stmt, loop), False, rest
        return [stmt], set(), False, rest

    def _if(
        self, stmt: ast.If, rest: list[ast.stmt], loop: _Loop | None
    ) -> tuple[list[ast.stmt], set[str], bool, list[ast.stmt]]:
        body, orelse = stmt.body, stmt.orelse
        if _has_jump(stmt):
            if rest and _always_jumps(body):
                orelse, rest = [*orelse, *rest], []
            elif rest and _always_jumps(orelse):
                body, rest = [*body, *rest], []
        stmt.body, first, one = self.block(body, loop)
        stmt.orelse, second, other = self.block(orelse, loop) if orelse else ([], set(), False)
        return [stmt], first | second, one and other, rest

    def _try(self, stmt: ast.Try | ast.TryStar, loop: _Loop | None) -> set[str]:
        if any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in _jump_nodes(stmt.finalbody)):
            raise UnsupportedJump("a jump out of a finally block")
        stmt.body, flags, _ = self.block(stmt.body, loop)
        if stmt.orelse:
            orelse, later, _ = self.block(stmt.orelse, loop)
            stmt.orelse = [self._unless(flags, orelse, orelse[0])] if flags else orelse
            flags = flags | later
        for handler in stmt.handlers:
            handler.body, more, _ = self.block(handler.body, loop)
            flags = flags | more
        stmt.finalbody = self.block(stmt.finalbody, loop)[0]
        return flags

    def _loop(self, stmt: ast.While | ast.For, outer: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        loop = _Loop(self.names)
        self.flags |= {loop.break_, loop.continue_}
        stmt.body, flags, _ = self.block(stmt.body, loop)
        before: list[ast.stmt] = []
        if loop.continue_ in flags:
            stmt.body.insert(0, assign(loop.continue_, constant(False), stmt))
        stops = sorted(flags - {loop.continue_})
        if loop.break_ in flags:
            before.append(assign(loop.break_, constant(False), stmt))
        if stops:
            self.read.update(stops)
            going = self._none(stops, stmt)
            if isinstance(stmt, ast.While):
                always = isinstance(stmt.test, ast.Constant) and stmt.test.value
                stmt.test = going if always else ast.copy_location(ast.BoolOp(ast.And(), [going, stmt.test]), stmt.test)
            else:
                notes(stmt).extra_test = going
        orelse, stmt.orelse = stmt.orelse, []
        escaping = flags - {loop.break_, loop.continue_}
        if not orelse:
            return [*before, stmt], escaping
        orelse, later, _ = self.block(orelse, outer)
        after = [self._unless(set(stops), orelse, orelse[0])] if stops else orelse
        return [*before, stmt, *after], escaping | later

    def _unless(self, flags: set[str], body: list[ast.stmt], where: ast.AST) -> ast.If:
        self.read.update(flags)
        return ast.copy_location(ast.If(self._none(sorted(flags), where), body, []), where)

    def _none(self, flags: Sequence[str], where: Any) -> ast.expr:
        """Builds the test that none of the flags is set."""
        tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), load(flag)) for flag in flags]
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        return ast.fix_missing_locations(ast.copy_location(test, getattr(where, "test", where)))

    def is_unread(self, stmt: Any) -> bool:
        """Returns True if the statement sets a flag that is never read."""
        return (
            isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name)
            and stmt.targets[0].id in self.flags - self.read
        )  # fmt: skip


def _without_unread(node: Any, lowering: _Lowering) -> Any:
    for child in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(child, field, None)
            if isinstance(block, list) and any(lowering.is_unread(s) for s in block):
                rest = [s for s in block if not lowering.is_unread(s)]
                setattr(child, field, rest or ([ast.copy_location(ast.Pass(), block[0])] if field == "body" else []))
    return node


def _jump_nodes(stmts: Sequence[ast.stmt]) -> list[ast.AST]:
    """Returns the nodes of statements, without nodes in inner loops, whose `break` and `continue` belong to these."""
    nodes = list(own_nodes(stmts))
    inside = {id(n) for node in nodes if isinstance(node, _LOOPS) for n in own_nodes(node.body)}
    return [n for n in nodes if id(n) not in inside or isinstance(n, ast.Return)]


def _has_jump(stmt: ast.If) -> bool:
    return any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in _jump_nodes(_child_statements(stmt)))


def _always_jumps(stmts: Sequence[ast.stmt]) -> bool:
    """Returns True if a block always ends in a jump or an error."""
    for stmt in stmts:
        if isinstance(stmt, (ast.Break, ast.Continue, ast.Return, ast.Raise)):
            return True
        if isinstance(stmt, ast.If) and stmt.orelse and _always_jumps(stmt.body) and _always_jumps(stmt.orelse):
            return True
    return False
