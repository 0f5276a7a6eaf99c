"""Short ways to make syntax trees."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

OPERATORS = "ag__"  # what generated code calls this package's operators


@dataclasses.dataclass(slots=True)
class Notes:
    """What is found out about a node of a syntax tree, see `notes`.

    Attributes:
        live_in: the variables that are live where a statement of control flow begins.
        live_out: those that are live after it.
        maybe_undefined: a variable may be read here before it is defined.
        native: the statement is Python's own, whatever it gets.
        extra_test: an expression that must be true for a `for` to go on.
    """

    live_in: set[str] = dataclasses.field(default_factory=set)
    live_out: set[str] = dataclasses.field(default_factory=set)
    maybe_undefined: bool = False
    native: bool = False
    extra_test: ast.expr | None = None


def notes(node: ast.AST) -> Notes:
    """Returns the notes about a node, which it carries with it."""
    found = vars(node).get("notes")
    if found is None:
        found = vars(node)["notes"] = Notes()
    return found


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def constant(value: Any) -> ast.Constant:
    return ast.Constant(value)


def assign(name: str, value: ast.expr, where: ast.AST) -> ast.Assign:
    """`name = value`, standing at the line of another node."""
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([store(name)], value, None), where))


def operator_call(operator: str, *arguments: ast.expr) -> ast.Call:
    """`ag__.operator(arguments)`."""
    return ast.Call(ast.Attribute(load(OPERATORS), operator, ast.Load()), list(arguments), [])


def delayed(value: ast.expr) -> ast.Lambda:
    """`lambda: value`."""
    return ast.Lambda(ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), value)


def names_of(names: Any) -> ast.Tuple:
    """Returns the names, as a tuple of strings."""
    return ast.Tuple([constant(n) for n in names], ast.Load())


_SINCE_3_12: dict[str, Any] = {"type_params": []}  # a field that must be there


def function(name: str, parameters: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """`def name(parameters): body`."""
    arguments = [ast.arg(p) for p in parameters]
    return ast.FunctionDef(
        name=name, body=body, decorator_list=[], returns=None, type_comment=None,
        args=ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[]),
        **_SINCE_3_12,
    )  # fmt: skip


class Names:
    """Gives names that a function does not use."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def new(self, wish: str) -> str:
        """Returns a free name: the wish itself, or with a number."""
        name, k = wish, 0
        while name in self.taken:
            k += 1
            name = f"{wish}_{k}"
        self.taken.add(name)
        return name
