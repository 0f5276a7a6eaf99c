"""Functions that build syntax trees."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

OPERATORS = "ag__"  # the name of this package's operators in generated code


@dataclasses.dataclass(slots=True)
class Notes:
    """Results of the analysis of a node of a syntax tree, see `notes`.

    Attributes:
        live_in: the variables that are live at the start of a statement of control flow.
        live_out: the variables that are live after it.
        maybe_undefined: a variable may be read here before it is defined.
        native: the statement remains Python's own, as its condition is never a tensor.
        extra_test: an expression that must be true for a `for` to continue.
    """

    live_in: set[str] = dataclasses.field(default_factory=set)
    live_out: set[str] = dataclasses.field(default_factory=set)
    maybe_undefined: bool = False
    native: bool = False
    extra_test: ast.expr | None = None


def notes(node: ast.AST) -> Notes:
    """Returns the notes about a node, an attribute of the node."""
    existing = vars(node).get("notes")
    if existing is None:
        existing = vars(node)["notes"] = Notes()
    return existing


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def constant(value: Any) -> ast.Constant:
    return ast.Constant(value)


def assign(name: str, value: ast.expr, where: ast.AST) -> ast.Assign:
    """Builds `name = value`, at the line of another node."""
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([store(name)], value, None), where))


def operator_call(operator: str, *arguments: ast.expr) -> ast.Call:
    """Builds `ag__.operator(arguments)`."""
    return ast.Call(ast.Attribute(load(OPERATORS), operator, ast.Load()), list(arguments), [])


def build_lambda(value: ast.expr) -> ast.Lambda:
    """Builds `lambda: value`."""
    return ast.Lambda(ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), value)


def names_of(names: Any) -> ast.Tuple:
    """Builds a tuple of the names, as strings."""
    return ast.Tuple([constant(n) for n in names], ast.Load())


_SINCE_3_12: dict[str, Any] = {"type_params": []}  # a required field


def function(name: str, parameters: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """Builds `def name(parameters): body`."""
    arguments = [ast.arg(p) for p in parameters]
    return ast.FunctionDef(
        name=name, body=body, decorator_list=[], returns=None, type_comment=None,
        args=ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[]),
        **_SINCE_3_12,
    )  # fmt: skip


class FreshNames:
    """A source of names that a function does not use."""

    def __init__(self, used: set[str]) -> None:
        self.used = set(used)

    def new(self, base: str) -> str:
        """Returns an unused name: the base itself, or with a number."""
        name, k = base, 0
        while name in self.used:
            k += 1
            name = f"{base}_{k}"
        self.used.add(name)
        return name
