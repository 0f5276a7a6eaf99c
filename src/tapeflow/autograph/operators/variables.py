"""Variables that have no value yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.identities import identity
from tapeflow.control.conditions_and_loops import Assert
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.values import nest
from tapeflow.core.values.tensor import Tensor


class Undefined:
    """The value of an undefined variable; a read raises Python's own error.

    Attributes:
        symbol_name: the name of the variable.
    """

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def read(self) -> Any:
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self) -> str:
        return f"<undefined variable {self.symbol_name!r}>"


class UndefinedReturnValue(Undefined):
    """The return value of a function that has not returned yet."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("the return value")


def require_values(values: Any, runs: Any, names: Sequence[str]) -> Any:
    """Returns values that a loop of the graph defines. The graph fails if the loop never runs.

    Args:
        values: a structure of values.
        runs: a boolean scalar, true if the loop runs.
        names: the names of the values, for the message.
    """
    message = f"loop must iterate at least once to initialize {', '.join(names)}"
    with control_dependencies([Assert(runs, [message])]):
        return nest.map_structure(lambda v: identity(v) if isinstance(v, Tensor) else v, values, expand_composites=True)


def ld(value: Any) -> Any:
    """Reads a variable that may be undefined.

    Raises:
        UnboundLocalError: it is undefined.
    """
    return value.read() if isinstance(value, Undefined) else value


def ldu(read: Callable[[], Any], name: str) -> Any:
    """Reads an attribute or item; returns `Undefined` where there is none."""
    try:
        return read()
    except (NameError, AttributeError, KeyError, IndexError, TypeError):
        return Undefined(name)


def changed(value: Any, read: Callable[[], Any]) -> bool:
    """Returns True if an attribute or item differs from `value`, and so must be assigned."""
    return not isinstance(value, Undefined) and ldu(read, "") is not value


def ret(value: Any, done: Any) -> Any:
    """Returns the result of a function that may reach its end without `return`.

    If a loop returns it, the graph fails where the loop never runs.

    Raises:
        ValueError: it depends on a tensor whether the function returns a value.
    """
    if isinstance(value, Undefined):
        return None
    if done is True or done is False:
        return value if done else None
    if getattr(done, "op", None) is not None and done.op.type in ("While", "StatelessWhile"):
        return require_values(value, done, ["the function return value"])
    raise ValueError("a function that returns a value under a condition on a tensor must return one in every case")
