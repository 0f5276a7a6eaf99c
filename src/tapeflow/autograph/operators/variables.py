"""Variables that have no value yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Undefined:
    """Stands for a variable that has no value yet; whoever uses it gets Python's own error.

    Attributes:
        symbol_name: the variable.
    """

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def read(self) -> Any:
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self) -> str:
        return f"<undefined variable {self.symbol_name!r}>"


class UndefinedReturnValue(Undefined):
    """Stands for what a function returns, as long as it has not returned."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("the return value")


def ld(value: Any) -> Any:
    """Returns a variable that may be undefined.

    Raises:
        UnboundLocalError: it is.
    """
    return value.read() if isinstance(value, Undefined) else value


def ldu(read: Callable[[], Any], name: str) -> Any:
    """Returns an attribute or item, or `Undefined` where there is none."""
    try:
        return read()
    except (NameError, AttributeError, KeyError, IndexError, TypeError):
        return Undefined(name)


def changed(value: Any, read: Callable[[], Any]) -> bool:
    """Returns whether an attribute or item has to be assigned so that it is `value`."""
    return not isinstance(value, Undefined) and ldu(read, "") is not value


def ret(value: Any, done: Any) -> Any:
    """What a function gives that may come to its end without `return`."""
    if isinstance(value, Undefined):
        return None
    if done is True or done is False:
        return value if done else None
    raise ValueError("a function that returns a value under a condition on a tensor must return one in every case")
