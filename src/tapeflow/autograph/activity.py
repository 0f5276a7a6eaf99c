"""Data flow in syntax trees: names read and written, variables live after a statement, and those certainly defined.

The trees have no `break` and `continue`, and no early `return` in control flow that becomes functions. So statements
run from top to bottom, and each analysis is a walk over the tree.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from tapeflow.autograph.node_builders import notes

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(roots: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yields the nodes at and below `roots` in the same function; nested functions and classes are not entered."""
    stack = list(roots)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack.extend(_outside_parts(node))
        else:
            stack.extend(ast.iter_child_nodes(node))


def _outside_parts(node: Any) -> list[ast.AST]:
    """Returns the parts of a nested function or class that run where it is defined."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    return defaults if isinstance(node, ast.Lambda) else [*node.decorator_list, *defaults]


def reads(*roots: ast.AST) -> set[str]:
    """Returns the names that are read, also by functions defined inside."""
    return {
        n.id for root in roots for n in ast.walk(root) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)
    }


def closure_reads(roots: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> set[str]:
    """Returns the names that are read in nested functions of some kinds."""
    nested = (n for root in roots for n in ast.walk(root) if isinstance(n, kinds))
    return reads(*nested)


def writes(roots: Iterable[ast.AST]) -> set[str]:
    """Returns the names that the function itself binds in these nodes."""
    roots = list(roots)
    inner = {
        id(n) for node in own_nodes(roots) if isinstance(node, COMPREHENSIONS)
        for g in node.generators for n in ast.walk(g.target)
    }  # fmt: skip
    names: set[str] = set()
    for node in own_nodes(roots):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load) and id(node) not in inner:
                names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(a.asname or a.name.partition(".")[0] for a in node.names)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
    return names


def composite_writes(roots: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Returns the attributes and items that are assigned to (`self.x`, `d['a']`, `a[i]`), by their text, sorted."""
    stored = [n for n in own_nodes(roots) if isinstance(getattr(n, "ctx", None), ast.Store)]
    targets = {ast.unparse(n): n for n in stored if isinstance(n, (ast.Attribute, ast.Subscript)) and root_names(n)}
    return dict(sorted(targets.items()))


def root_names(node: ast.AST) -> set[str] | None:
    """Returns the names that a chain of attributes and simple items depends on, or None if it is anything else."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute):
        return root_names(node.value)
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant):
            return root_names(node.value)
        if isinstance(node.slice, ast.Name):
            below = root_names(node.value)
            return below and below | {node.slice.id}
    return None


def parameters(node: Any) -> set[str]:
    """Returns the names of a function's parameters."""
    a = node.args
    return {p.arg for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if p}


def declared_names(body: Iterable[ast.AST], kind: type[ast.Global | ast.Nonlocal]) -> set[str]:
    """Returns the names that a function declares `global` or `nonlocal`."""
    return {name for node in own_nodes(body) if isinstance(node, kind) for name in node.names}


# ---- liveness ------------------------------------------------------------------------------------------------------


def mark_live(body: list[ast.stmt], at_exit: set[str]) -> None:
    """Notes, for each `if` and loop, the names live after it (`live_out`) and, inside, at its start (`live_in`)."""
    _live_block(body, set(at_exit), set())


def _live_block(stmts: list[ast.stmt], live: set[str], always: set[str]) -> set[str]:
    for stmt in reversed(stmts):
        live = _live_before(stmt, live, always) | always
    return live


def _live_before(node: ast.AST, out: set[str], always: set[str]) -> set[str]:
    """Returns the names live before a statement.

    Args:
        node: the statement.
        out: the names live after it.
        always: the names live at any point where it may raise an error or return.
    """
    if isinstance(node, ast.If):
        inside = _live_block(node.body, out, always) | _live_block(node.orelse, out, always)
        notes(node).live_out, notes(node).live_in = out, inside
        return inside | reads(node.test)
    if isinstance(node, ast.While):
        return _live_loop(node, out, always, reads(node.test), set())
    if isinstance(node, ast.For):
        extra = notes(node).extra_test
        head = _live_loop(node, out, always, reads(extra) if extra else set(), writes([node.target]))
        return head | reads(node.iter, node.target)
    if isinstance(node, (ast.Try, ast.TryStar)):
        after = _live_block(node.finalbody, out, always)
        handled = set(after)
        for handler in node.handlers:
            handled |= _live_block(handler.body, after, always) - {handler.name}
            handled |= reads(handler.type) if handler.type else set()
        return _live_block(node.body, _live_block(node.orelse, after, always | after), always | handled) | handled
    if isinstance(node, (ast.With, ast.AsyncWith)):
        inside = _live_block(node.body, out, always)
        targets = [i.optional_vars for i in node.items if i.optional_vars]
        return (inside - writes(targets)) | reads(*(i.context_expr for i in node.items), *targets)
    if isinstance(node, ast.Match):
        inside = out.union(
            *(_live_block(c.body, out, always) | reads(*([c.guard] if c.guard else [])) for c in node.cases)
        )
        return inside | reads(node.subject, *(c.pattern for c in node.cases))
    if isinstance(node, (ast.Return, ast.Raise)):
        return reads(node) | always
    return (out - _certain_writes(node)) | reads(node)


def _live_loop(
    node: ast.While | ast.For, out: set[str], always: set[str], test: set[str], targets: set[str]
) -> set[str]:
    head = out | test
    while True:
        grown = head | (_live_block(node.body, head, always) - targets)
        if grown == head:
            notes(node).live_out, notes(node).live_in = out, head
            return head
        head = grown


def _certain_writes(node: ast.AST) -> set[str]:
    kinds = ast.Assign, ast.AnnAssign, ast.Delete, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom
    return writes([node]) if isinstance(node, kinds) and getattr(node, "value", node) is not None else set()


# ---- definite assignment ---------------------------------------------------------------------------------------------


class Definitions:
    """Finds where a variable may be read, or control flow entered, before it is defined.

    Attributes:
        undefined: the variables that need a value, `Undefined`, when the function begins.
    """

    def __init__(self, shared: set[str], inherited: set[str]) -> None:
        self.shared = shared  # variables of this function that control flow writes to
        self.inherited = inherited  # such variables of the functions around this one
        self.undefined: set[str] = set()

    def block(self, stmts: Iterable[ast.AST], defined: set[str] | None) -> set[str] | None:
        """Notes reads of variables that may be undefined in a block.

        Args:
            stmts: the statements.
            defined: the variables certainly defined before them; None where they are unreachable.

        Returns:
            The variables certainly defined after them; None where the end is unreachable.
        """
        for stmt in stmts:
            defined = self._statement(stmt, defined)
        return defined

    def _statement(self, node: ast.AST, defined: set[str] | None) -> set[str] | None:
        if defined is None:
            defined = set(self.shared)  # unreachable: every variable counts as defined
        if isinstance(node, ast.If):
            self._expressions([node.test], defined)
            if not notes(node).native:
                self._entered(node, defined)
            ends = [self.block(node.body, set(defined)), self.block(node.orelse, set(defined))]
            return _intersect_names(*ends)
        if isinstance(node, (ast.While, ast.For)):
            parts = [node.test] if isinstance(node, ast.While) else [node.target, node.iter]
            extra = notes(node).extra_test  # of a `for`
            self._expressions([*parts, *([extra] if extra else [])], defined)
            self._entered(node, defined)
            self.block(node.body, defined | writes(parts[:1]))
            return defined
        if isinstance(node, (ast.Try, ast.TryStar)):
            end = self.block([*node.body, *node.orelse], set(defined))
            for handler in node.handlers:
                if handler.type:
                    self._expressions([handler.type], defined)
                bound = {handler.name} if handler.name else set()
                after = self.block(handler.body, defined | bound)
                end = _intersect_names(end, after if after is None else after - (bound - defined))
            after = self.block(node.finalbody, set(defined))
            if after is None or (end is None and not node.handlers):
                return None
            return after if end is None else end | after
        if isinstance(node, (ast.With, ast.AsyncWith)):
            self._expressions(node.items, defined)
            defined = defined | writes(node.items)
            after = self.block(node.body, set(defined))
            # The context may suppress an error: its body need not run to the end.
            return after if after is None else defined
        if isinstance(node, ast.Match):
            self._expressions([node.subject], defined)
            for case in node.cases:
                bound = defined | writes([case.pattern])
                self._expressions([case.pattern, *([case.guard] if case.guard else [])], bound)
                self.block(case.body, bound)
            return defined
        self._expressions([node], defined)
        if isinstance(node, (ast.Return, ast.Raise)):
            return None
        if isinstance(node, ast.Delete):
            return defined - writes([node])
        return defined | _certain_writes(node)

    def _entered(self, node: ast.AST, defined: set[str]) -> None:
        self.undefined |= (writes([node]) & self.shared) - defined

    def _expressions(self, roots: Iterable[ast.AST], defined: set[str]) -> None:
        """Notes reads of variables that may be undefined; nested functions run at any time, so all theirs may be."""
        for node in own_nodes(roots):
            if isinstance(node, ast.Name):
                if node.id in self.shared:
                    notes(node).maybe_undefined = node.id not in defined
                elif node.id in self.inherited:
                    notes(node).maybe_undefined = True
            elif isinstance(node, ast.AugAssign) and getattr(node.target, "id", "") in self.shared - defined:
                notes(node).maybe_undefined = True


def _intersect_names(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    return other if one is None else one if other is None else one & other
