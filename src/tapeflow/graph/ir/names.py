"""The names of a graph's operations: unique, with the current scopes as prefixes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import state
from tapeflow.core.scopes import name_scope

if TYPE_CHECKING:
    from tapeflow.graph.ir.operation import Operation


def numbered_name(name: str, is_used: Callable[[str], bool]) -> str:
    """Returns a name that is not in use: this one, or with the first possible number behind it."""
    unique, count = name, 0
    while is_used(unique):
        count += 1
        unique = f"{name}_{count}"
    return unique


class GraphNames:
    """The part of a graph that names its operations."""

    def __init__(self) -> None:
        super().__init__()
        self._by_name: dict[str, Operation] = {}
        self._name_counts: dict[str, int] = {}
        self._control: list[list[Operation]] = []

    def name_scope(self, name: str | None) -> Any:
        """Returns a scope that prefixes the names of operations."""
        return name_scope(name or "")

    def get_name_scope(self) -> str:
        """Returns the current scope."""
        return state.name_scope

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Returns a name with the current scopes as prefix, and with a number if it is in use.

        Args:
            name: the name.
            mark_as_used: True to reserve the name.

        Example:
            >>> g = tf.Graph()
            >>> g.unique_name("x"), g.unique_name("x")
            ('x', 'x_1')
        """
        if state.name_scope:
            name = f"{state.name_scope}/{name}"
        counts = self._name_counts
        key = name.lower()
        count = counts.get(key, 0)
        if not mark_as_used:
            return name if not count else f"{name}_{count}"
        counts[key] = count + 1
        if not count:
            return name
        while True:
            numbered = f"{name}_{count}"
            if numbered.lower() not in counts:
                break
            count += 1
        counts[numbered.lower()] = 1
        counts[key] = count + 1
        return numbered

    def _operation_name(self, name: str) -> str:
        """Returns the name of a new operation. A name that ends in `/` is absolute."""
        if not name.endswith("/"):
            return self.unique_name(name)
        name = name.rstrip("/")
        if name in self._by_name:
            with self._outside_of_scopes():
                return self.unique_name(name)
        self._name_counts.setdefault(name.lower(), 1)
        return name

    def reserved_name(self, name: str) -> str:
        """Reserves the name of an operation that is added later as `name/`."""
        return self._operation_name(name)

    def _outside_of_scopes(self) -> _OutsideOfScopes:
        """Returns a context for operations of the graph as a whole: no name scope, control dependency or tape
        applies."""
        return _OutsideOfScopes(self)


class _OutsideOfScopes:
    """The context. It is a class for speed: each constant of a traced function enters one."""

    __slots__ = ("_before", "_graph")

    def __init__(self, graph: GraphNames) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._before = state.name_scope, self._graph._control, state.devices, state.tapes
        state.name_scope, self._graph._control, state.devices, state.tapes = "", [], [], []

    def __exit__(self, *_: object) -> None:
        state.name_scope, self._graph._control, state.devices, state.tapes = self._before
