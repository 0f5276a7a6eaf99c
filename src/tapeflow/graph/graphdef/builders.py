"""Builders: functions that add the operation for a node of a `GraphDef` whose op is not registered.

They register here by the op of the node: `node_ops.py` registers the builders of the engine, and services (tables,
queues, checkpoints) register theirs when they are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# (builder of the graph, node, inputs) -> operation, or a pair of it and the node's outputs if these differ from its own
Build = Callable[[Any, Any, list[Any]], Any]

_builders: dict[str, Build] = {}
# A higher layer adds functions that load the services with builders.
load_services: list[Callable[[], None]] = []


def register(builders: dict[str, Build]) -> None:
    """Registers builders, by the ops of the nodes."""
    _builders.update(builders)


def builder_of(op: str) -> Build | None:
    """Returns the builder of nodes of an op, or None."""
    for load in load_services:
        load()
    return _builders.get(op)
