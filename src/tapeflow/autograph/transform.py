"""Rewrites the definition of a function: control flow, logic and calls go through `operators`.

The steps, for a function and then for those inside it: mark conditions that can only be Python's own (`x is None`);
turn jumps into flags (`jumps.py`); analyze which variables are live and which may be undefined (`activity.py`); turn
control flow into functions over the variables that it changes. Every new node has the line of the user's code that it
replaces.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterator
from typing import Any

from tapeflow.autograph import activity, break_continue_return
from tapeflow.autograph.modules import never_converted
from tapeflow.autograph.node_builders import (
    OPERATORS,
    FreshNames,
    assign,
    build_lambda,
    constant,
    function,
    load,
    names_of,
    notes,
    operator_call,
    store,
)
from tapeflow.autograph.operators.builtins import REPLACED

_TESTS = frozenset({"isinstance", "issubclass", "hasattr", "callable"})
_LOOP_OPTIONS = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def _statement_blocks(statements: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yields lists of statements: these, and those in `with`, `if` and `try` among them."""
    yield statements
    for statement in statements:
        if isinstance(statement, (ast.With, ast.If, ast.Try)):
            for block in (statement.body, getattr(statement, "orelse", []), getattr(statement, "finalbody", [])):
                if block:
                    yield from _statement_blocks(block)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CLOSURES = (ast.Lambda, ast.GeneratorExp)


class Transformer(ast.NodeTransformer):
    """Converts one function, and by other transformers the functions inside it.

    Attributes:
        changed: whether anything was converted.
    """

    def __init__(
        self, names: FreshNames, namespace: dict[str, Any], hidden: set[str], inherited: set[str], owner: str | None
    ) -> None:
        self.names = names
        self.namespace = namespace
        self.hidden = hidden  # names that hide the module's names: local variables here or around here
        self.inherited = inherited
        self.owner = owner  # the first parameter of the method, for `super()`
        self.changed = False
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.shared: set[str] = set()  # variables that control flow writes to
        self.in_definitions: set[str] = set()  # variables that nested definitions read

    # ---- functions ---------------------------------------------------------------------------------------------------

    def function(self, node: Any) -> Any:
        """Converts a definition in place."""
        if isinstance(node, ast.Lambda):
            self.hidden = self.hidden | activity.parameters(node)
            activity.Definitions(set(), self.inherited)._expressions([node.body], set())
            node.body = self.visit(node.body)
            return node
        local = activity.parameters(node) | activity.writes(node.body)
        self.globals, self.nonlocals = (activity.declared_names(node.body, k) for k in (ast.Global, ast.Nonlocal))
        self.hidden = (self.hidden | local) - self.globals
        document = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        node.body = _without_declarations(node.body[len(document) :]) or [ast.copy_location(ast.Pass(), node)]
        _mark_native([node], self._is_builtin)
        break_continue_return.lower(node, self.names)
        activity.mark_live(node.body, self.globals | self.nonlocals)
        self.shared = activity.writes(_make_body_function(node.body)) - self.globals - self.nonlocals
        self.in_definitions = activity.closure_reads(node.body, _DEFINITIONS)
        definitions = activity.Definitions(self.shared, self.inherited - local)
        definitions.block(node.body, activity.parameters(node))
        deleted = {n for s in activity.own_nodes(node.body) if isinstance(s, ast.Delete) for n in activity.writes([s])}
        undefined = definitions.undefined - activity.parameters(node)
        self.inherited = (self.inherited - local) | undefined | (deleted & self.shared)
        body = self._block(node.body)
        start: list[ast.stmt] = [assign(n, operator_call("Undefined", constant(n)), node) for n in sorted(undefined)]
        node.body = [*document, *self._declarations(self.globals | self.nonlocals, node), *start, *body]
        return node

    def _nested(self, node: Any, owner: str | None) -> Any:
        inner = Transformer(self.names, self.namespace, self.hidden, self.inherited, owner)
        node = inner.function(node)
        self.changed |= inner.changed
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if is_generator(node):
            return node
        self._visit_defaults(node.args)
        return self._nested(node, None)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self._visit_defaults(node.args)
        return node if is_generator(node) else self._nested(node, self.owner)

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self.visit(d) for d in arguments.kw_defaults]

    def _leave(self, node: ast.AST) -> Any:
        return node

    visit_AsyncFunctionDef = visit_AsyncFor = _leave

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Converts the methods of a class."""
        for k, stmt in enumerate(node.body):
            if isinstance(stmt, ast.FunctionDef) and not is_generator(stmt):
                node.body[k] = self._nested(stmt, first_parameter(stmt))
        return node

    # ---- control flow ------------------------------------------------------------------------------------------------

    def _block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for stmt in stmts:
            new = self.visit(stmt)
            out.extend(new if isinstance(new, list) else [new])
        return out or [ast.Pass()]

    def visit_If(self, node: ast.If) -> Any:
        if notes(node).native:
            node.test = self.visit(node.test)
            node.body = self._block(node.body)
            node.orelse = self._block(node.orelse) if node.orelse else []
            return node
        branches = [*node.body, *node.orelse]
        written = activity.writes(branches)
        outputs = sorted(written & notes(node).live_out)
        inner = sorted((written & notes(node).live_in) - notes(node).live_out)
        composites = self._composites(branches, written)
        names = [*outputs, *composites, *inner]
        body = self._body("if_body", [], node.body, written, node)
        orelse = self._body("else_body", [], node.orelse, written, node)
        call = operator_call(
            "if_stmt", self.visit(node.test), load(body.name), load(orelse.name), load("get_state"), load("set_state"),
            names_of(names), constant(len(outputs) + len(composites)),
        )  # fmt: skip
        return self._statement(node, [*self._state([*outputs], composites, inner), body, orelse], call)

    def visit_While(self, node: ast.While) -> Any:
        options = self._options(node)
        test_writes = activity.writes([node.test])
        if test_writes:
            options.keys.append(constant("test_assigns"))
            options.values.append(constant(True))
        written = activity.writes(node.body) | test_writes
        state = sorted(written & (notes(node).live_in | notes(node).live_out))
        composites = self._composites(node.body, written)
        returned = ast.copy_location(ast.Return(self.visit(node.test)), node.test)
        test = function("loop_test", [], [*self._declarations(test_writes, node), returned])
        own = self._own_variables(node.body, written - set(state))
        body = self._body("loop_body", [], node.body, written, node, own)
        call = operator_call(
            "while_stmt", load("loop_test"), load("loop_body"), load("get_state"), load("set_state"),
            names_of([*state, *composites]), options,
        )  # fmt: skip
        return self._statement(node, [*self._state(state, composites, []), test, body], call)

    def visit_For(self, node: ast.For) -> Any:
        options = self._options(node)
        if isinstance(node.target, ast.Name):  # a range defines it, even if the loop never runs
            options.keys.append(constant("iterate_names"))
            options.values.append(constant(node.target.id))
        written = activity.writes([*node.body, node.target])
        state = sorted(written & (notes(node).live_in | notes(node).live_out))
        composites = self._composites(node.body, written)
        extra: list[ast.stmt] = []
        if (test := notes(node).extra_test) is not None:
            extra = [function("extra_test", [], [ast.Return(self.visit(test))])]
        item = self.names.new("itr")
        target = ast.copy_location(ast.Assign([node.target], load(item), None), node.target)
        own = self._own_variables(node.body, written - set(state))
        body = self._body("loop_body", [item], [target, *node.body], written, node, own)
        call = operator_call(
            "for_stmt", self.visit(node.iter), load("extra_test") if extra else constant(None), load("loop_body"),
            load("get_state"), load("set_state"), names_of([*state, *composites]), options,
        )  # fmt: skip
        return self._statement(node, [*self._state(state, composites, []), *extra, body], call)

    def _statement(self, node: Any, definitions: list[ast.stmt], call: ast.Call) -> list[ast.stmt]:
        self.changed = True
        where = getattr(node, "test", None) or node.iter
        stmts = [*definitions, ast.Expr(call)]
        for stmt in stmts:
            ast.copy_location(stmt, node)
            # The call gets the location of the statement's own line, for tracebacks.
            stmt.end_lineno, stmt.end_col_offset = where.end_lineno, where.end_col_offset
        return stmts

    def _own_variables(self, body: list[ast.stmt], names: set[str]) -> set[str]:
        """Returns the variables that each iteration of a loop has for itself: lambdas in the loop keep their values.

        Args:
            body: the loop's body.
            names: the variables that are used in one iteration alone.
        """
        return names & self.shared & activity.closure_reads(body, _CLOSURES) - self.in_definitions

    def _body(
        self,
        name: str,
        parameters: list[str],
        body: list[ast.stmt],
        written: set[str],
        node: Any,
        own: set[str] = frozenset(),  # type: ignore[assignment]
    ) -> ast.FunctionDef:
        inside = self._block(body) if body else [ast.copy_location(ast.Pass(), node)]
        start = [assign(n, operator_call("Undefined", constant(n)), node) for n in sorted(own)]
        return function(name, parameters, [*self._declarations(written - own, node), *start, *inside])

    def _declarations(self, names: set[str], node: ast.AST) -> list[ast.stmt]:
        """Builds the declarations for a control flow function that writes variables of the function around it."""
        kinds = [(ast.Global, names & self.globals), (ast.Nonlocal, names & (self.nonlocals | self.shared))]
        return [ast.copy_location(kind(sorted(declared)), node) for kind, declared in kinds if declared]

    def _composites(self, stmts: list[ast.stmt], written: set[str]) -> dict[str, ast.expr]:
        targets = activity.composite_writes(stmts)
        return {text: node for text, node in targets.items() if not (activity.root_names(node) or set()) & written}

    def _state(self, outputs: list[str], composites: dict[str, ast.expr], inner: list[str]) -> list[ast.stmt]:
        """Builds `get_state` and `set_state`, which return and assign the variables as a tuple."""
        values: list[ast.expr] = [load(n) for n in outputs]
        targets: list[ast.expr] = [store(n) for n in outputs]
        assignments: list[ast.stmt] = []
        for k, (text, node) in enumerate(composites.items()):
            read, again = (build_lambda(ast.parse(text, mode="eval").body) for _ in range(2))
            values.append(operator_call("ldu", read, constant(text)))
            targets.append(store(f"value_{k}"))
            changed = operator_call("changed", load(f"value_{k}"), again)
            assignments.append(ast.If(changed, [ast.Assign([node], load(f"value_{k}"), None)], []))
        values += [load(n) for n in inner]
        targets += [store(n) for n in inner]
        get = function("get_state", [], [ast.Return(ast.Tuple(values, ast.Load()))])
        declarations = self._declarations({*outputs, *inner}, ast.Pass())
        take = ast.Assign([ast.Tuple(targets, ast.Store())], load("vars_"), None) if targets else ast.Pass()
        return [get, function("set_state", ["vars_"], [*declarations, take, *assignments])]

    def _options(self, node: Any) -> ast.Dict:
        """Removes `set_loop_options(...)` from a loop's body, and builds a dict of its arguments."""
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        for block in _statement_blocks(node.body):
            for stmt in list(block):
                call: Any = stmt.value if isinstance(stmt, ast.Expr) else None
                func = getattr(call, "func", None)
                if getattr(func, "attr", getattr(func, "id", "")) == "set_loop_options":
                    block.remove(stmt)
                    named = [(k.arg, k.value) for k in call.keywords]
                    for key, value in [*zip(_LOOP_OPTIONS, call.args, strict=False), *named]:
                        keys.append(constant(key))
                        values.append(self.visit(value))
            if not block:
                block.append(ast.copy_location(ast.Pass(), node))
        return ast.Dict(keys, values)

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Makes a deleted variable undefined if control flow shares it, as its functions must still have the name."""
        return [
            assign(target.id, operator_call("Undefined", constant(target.id)), node)
            if isinstance(target, ast.Name) and target.id in self.shared
            else ast.copy_location(ast.Delete([self.visit(target)]), node)
            for target in node.targets
        ]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        node.value = self.visit(node.value)
        if not isinstance(node.target, ast.Name):
            node.target = self.visit(node.target)
        elif notes(node).maybe_undefined:
            name = node.target.id
            return [assign(name, operator_call("ld", load(name)), node), node]
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        if self._is_python_value(node.test):
            return self.generic_visit(node)
        message = build_lambda(self.visit(node.msg)) if node.msg else constant(None)
        return ast.copy_location(ast.Expr(self._replaced(node, "assert_stmt", self.visit(node.test), message)), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Removes annotations: annotations of local variables are never evaluated, and shared variables can't have
        any."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        target = self.visit(node.target)
        return ast.copy_location(ast.Assign([target], self.visit(node.value), None), node)

    def _replaced(self, node: ast.AST, operator: str, *arguments: ast.expr) -> ast.Call:
        """Returns the call of an operator that takes the place of a node."""
        self.changed = True
        return ast.copy_location(operator_call(operator, *arguments), node)

    # ---- expressions -------------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Load) and notes(node).maybe_undefined:
            return ast.copy_location(operator_call("ld", ast.copy_location(load(node.id), node)), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        if self._is_python_value(node) or _has_walrus(*node.values):
            return self.generic_visit(node)
        first, *others = [self.visit(v) for v in node.values]
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self._replaced(node, name, first, *(ast.copy_location(build_lambda(v), v) for v in others))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if not isinstance(node.op, ast.Not) or self._is_python_value(node):
            return self.generic_visit(node)
        return self._replaced(node, "not_", self.visit(node.operand))

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if self._is_python_value(node.test) or _has_walrus(node.body, node.orelse):
            return self.generic_visit(node)
        text = ast.unparse(node.test)
        body, orelse = (ast.copy_location(build_lambda(v), v) for v in (self.visit(node.body), self.visit(node.orelse)))
        return self._replaced(node, "if_exp", self.visit(node.test), body, orelse, constant(text))

    def visit_Compare(self, node: ast.Compare) -> Any:
        if len(node.ops) == 1 or self._is_python_value(node) or _has_walrus(*node.comparators):
            return self.generic_visit(node)
        parts: list[ast.expr] = [self.visit(node.left)]
        for op, value in zip(node.ops, node.comparators, strict=True):
            parts += [constant(_COMPARISONS[type(op)]), ast.copy_location(build_lambda(self.visit(value)), value)]
        return self._replaced(node, "compare", *parts)

    def visit_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name == "super" and not node.args and self.owner and self._is_builtin("super"):
            node.args = [ast.copy_location(load("__class__"), node), ast.copy_location(load(self.owner), node)]
            return node
        if name in ("locals", "vars", "eval", "exec", "dir") and self._is_builtin(name):
            raise UnsupportedCode(f"{name}() looks into the function's frame")
        plain = self._is_plain(node.func) or (
            isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == OPERATORS
        )
        self.generic_visit(node)
        if not plain:
            node.func = self._replaced(node.func, "converted_call", node.func)
        return node

    # ---- code that needs no conversion -------------------------------------------------------------------------------

    def _is_builtin(self, name: str) -> bool:
        return name not in self.hidden and name not in self.namespace and hasattr(builtins, name)

    def _is_plain(self, func: ast.expr) -> bool:
        """Returns True if the callee is certainly a function of a library or of Python, which needs no conversion."""
        path: list[str] = []
        while isinstance(func, ast.Attribute):
            path.append(func.attr)
            func = func.value
        if not isinstance(func, ast.Name) or func.id in self.hidden:
            return isinstance(func, ast.Constant)  # a method of a literal
        if func.id not in self.namespace:
            value = getattr(builtins, func.id, None)
            return value is not None and not path and value not in REPLACED
        value = self.namespace[func.id]
        if path and not isinstance(value, types.ModuleType):
            return False
        for name in reversed(path):
            value = getattr(value, name, None)
        if isinstance(value, type):
            return type(value) is not type or value not in REPLACED
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            return value not in REPLACED and never_converted(getattr(value, "__module__", None))
        return False

    def _is_python_value(self, node: ast.expr) -> bool:
        return _is_python_value(node, self._is_builtin)


def first_parameter(node: Any) -> str | None:
    """Returns the name of a function's first parameter, which is `self` in a method."""
    first = [*node.args.posonlyargs, *node.args.args]
    return first[0].arg if first else None


class UnsupportedCode(ValueError):
    """The function contains code that can't be converted."""


def is_generator(node: Any) -> bool:
    """Returns True if the function yields or awaits, which prevents turning control flow into functions."""
    body = node.body if isinstance(node.body, list) else [node.body]
    return any(
        isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith))
        for n in activity.own_nodes(body)
    )


def _is_python_value(node: ast.expr, is_builtin: Any) -> bool:
    """Returns True if the value of a condition is certainly Python's own, never a tensor."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _is_python_value(node.operand, is_builtin)
    if isinstance(node, ast.BoolOp):
        return all(_is_python_value(v, is_builtin) for v in node.values)
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _TESTS
        and is_builtin(node.func.id)
    )


def _mark_native(roots: list[Any], is_builtin: Any) -> None:
    for node in activity.own_nodes(roots[0].body):
        if isinstance(node, ast.If):
            notes(node).native = _is_python_value(node.test, is_builtin)


def _make_body_function(body: list[ast.stmt]) -> list[ast.AST]:
    nodes: list[ast.AST] = []
    for node in activity.own_nodes(body):
        if isinstance(node, (ast.While, ast.For)):
            nodes += [*node.body, node.target if isinstance(node, ast.For) else node.test]
        elif isinstance(node, ast.If) and not notes(node).native:
            nodes += [*node.body, *node.orelse]
    return nodes


def _without_declarations(stmts: list[ast.stmt]) -> list[ast.stmt]:
    """Removes `global` and `nonlocal` from statements and the blocks inside; `_declarations` adds them again."""
    rest = [s for s in stmts if not isinstance(s, (ast.Global, ast.Nonlocal))]
    for stmt in activity.own_nodes(rest):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(stmt, field, None)
            if isinstance(block, list) and not isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inside = [s for s in block if not isinstance(s, (ast.Global, ast.Nonlocal))]
                if len(inside) != len(block):
                    setattr(stmt, field, inside or [ast.copy_location(ast.Pass(), block[0])])
    return rest


def _has_walrus(*values: ast.expr) -> bool:
    """Returns True if there is a `:=`, whose variable would be local to a lambda."""
    return any(isinstance(n, ast.NamedExpr) for n in activity.own_nodes(values))
