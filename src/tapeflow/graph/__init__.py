"""Graphs: operations in program order, what is done with them, and the Python functions that they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.hooks import hooks

# The compiler and TensorFlow's protocol buffers are loaded when a graph first needs them.


def _graph_def(*args: Any) -> Any:
    from tapeflow.graph.graphdef.export import graph_def

    return graph_def(*args)


def _node_def(operation: Any) -> Any:
    from tapeflow.graph.graphdef.export import node_def

    return node_def(operation)


def _value_now(tensor: Any, value_of: Callable[[Any], Any]) -> Any:
    from tapeflow.graph.codegen.compile import value_now

    return value_now(tensor, value_of)


def _create_operation(graph: Any, op: str, inputs: list[Any], attrs: dict[str, Any], name: str | None) -> Any:
    from tapeflow.graph.graphdef.importing import create_operation

    return create_operation(graph, op, inputs, attrs, name)


def _op_def_proto(name: str) -> Any:
    from tapeflow.graph.graphdef.definitions import op_def_proto

    return op_def_proto(name)


def _graph_def_versions() -> Any:
    from tapeflow.graph.graphdef.definitions import versions

    return versions()


hooks.create_operation, hooks.op_def_proto = _create_operation, _op_def_proto
hooks.graph_def_versions = _graph_def_versions
hooks.graph_def, hooks.node_def, hooks.value_now = _graph_def, _node_def, _value_now
