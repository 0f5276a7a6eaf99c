"""Short ways to make syntax trees."""

from __future__ import annotations

import ast
from typing import Any

OPERATORS = "ag__"  # what generated code calls this package's operators


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
    """The names, as a tuple of strings."""
    return ast.Tuple([constant(n) for n in names], ast.Load())


def function(name: str, parameter: str | None, body: list[ast.stmt]) -> ast.FunctionDef:
    """`def name(parameter): body`."""
    arguments = [ast.arg(parameter)] if parameter else []
    node = ast.FunctionDef(
        name=name, body=body, decorator_list=[], returns=None, type_comment=None,
        args=ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[]),
    )  # fmt: skip
    node.type_params = []  # type: ignore[attr-defined]
    return node


class Names:
    """Gives names that a function does not use."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def new(self, wish: str) -> str:
        """A free name: the wish itself, or with a number."""
        name, k = wish, 0
        while name in self.taken:
            k += 1
            name = f"{wish}_{k}"
        self.taken.add(name)
        return name
