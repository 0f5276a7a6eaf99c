"""Checks of the calls between the functions of a library. A hostile file may have functions that call themselves, or
that call each other so often that they expand to billions of operations.
"""

from __future__ import annotations

import functools
import graphlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tapeflow.core import errors
from tapeflow.graph.graphdef.node_protos import definition_of

_MOST_NESTED = 64  # calls: each takes about ten of the 1,000 Python frames
_MOST_OPERATIONS = 1 << 22  # after all calls are expanded


def check_calls(library: Mapping[str, Any], roots: Iterable[str]) -> None:
    """Checks that functions can be built: a function becomes a graph that holds the graphs of all that it calls.

    Args:
        library: `FunctionDef`s by name.
        roots: the names of the functions to build. Unknown ones are skipped.

    Raises:
        UnimplementedError: a function calls itself, or calls are nested too deeply.
        ResourceExhaustedError: the functions expand to too many operations.
    """
    callees: dict[str, list[str]] = {}
    stack = [name for name in roots if name in library]
    while stack:
        name = stack.pop()
        if name not in callees:
            callees[name] = [callee for callee in called_by(library[name].node_def) if callee in library]
            stack += callees[name]
    try:
        order = list(graphlib.TopologicalSorter(callees).static_order())
    except graphlib.CycleError as error:
        calls = error.args[1][::-1]
        raise errors.UnimplementedError.of(
            f"Function '{calls[0]}' calls itself: that can't be imported. The calls: {' -> '.join(calls)}"
        ) from None
    depths: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for name in order:
        depths[name] = 1 + max((depths[c] for c in callees[name]), default=0)
        sizes[name] = len(library[name].node_def) + sum(sizes[c] for c in callees[name])
        _check_size(name, depths[name], sizes[name])


def _check_size(name: str, depth: int, size: int) -> None:
    if depth > _MOST_NESTED:
        raise errors.UnimplementedError.of(
            f"Function '{name}' can't be imported: its calls are nested {depth} deep, and {_MOST_NESTED} is the most"
        )
    if size > _MOST_OPERATIONS:
        raise errors.ResourceExhaustedError.of(
            f"Function '{name}' can't be imported: with the functions that it calls it has {size} operations, and "
            f"{_MOST_OPERATIONS} is the most"
        )


def called_by(nodes: Iterable[Any]) -> Iterator[str]:
    """Yields the names of the functions that nodes call: nodes of a `GraphDef` or `FunctionDef`."""
    for node in nodes:
        for attr in _function_attrs(node.op):
            value = node.attr.get(attr, None)
            if value is not None:
                yield from [f.name for f in (value.list.func or [value.func]) if f.name]


@functools.lru_cache(maxsize=4096)
def _function_attrs(op: str) -> tuple[str, ...]:
    """Returns the names of an op's attrs that are functions; none if there is no such op."""
    try:
        attrs = definition_of(op).attrs
    except errors.NotFoundError:
        return ()
    return tuple([name for name in attrs if attrs[name].type in ("func", "list(func)")])
