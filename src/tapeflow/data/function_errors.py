"""Errors of the user's functions in a pipeline, with the transformation that called the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core.errors import OpError
from tapeflow.data.node import CLASSES, Node

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph
    from tapeflow.graph.ir.operation import Operation


def with_transformation(error: OpError, root: Node) -> OpError:
    """Returns an error that names the transformation whose function failed, and the way to it.

    Args:
        error: the error of an iterator.
        root: the last node of its dataset.

    Returns:
        Another error; the same one if no function of this pipeline failed, or one that TensorFlow does not name.
    """
    graph = None if error.operation is None else error.operation.graph
    inner: list[str] = []  # the transformations in functions that return datasets
    path = None
    while graph is not None and not (path := _path_to(root, graph)):
        around = graph.around
        calling = [o.type for o in around._operations if o.type in CLASSES and _calls_graph(o, graph)] if around else []
        inner = calling[:1] + inner
        graph = around
    if not path:
        return error
    number = sum(1 for _ in _nodes_below(path[-1][1]))
    op = inner[-1] if inner else path[-1][1].op
    if not CLASSES[op].names_errors:
        return error
    places = [f"{_short_name(node.op)}{'' if i is None else f'[{i}]'}" for i, node in path]
    way = "::".join(["Iterator::Root", *places]) + "".join(f"[0]::{_short_name(name)}" for name in inner)
    start = f"Error in user-defined function passed to {op}:{number} transformation with iterator: {way}"
    return error.with_message(f"{start}: {error.reason}\n\n{error.message}")


def _short_name(op: str) -> str:
    return op.replace("Dataset", "")


def _calls_graph(operation: Operation, graph: Graph) -> bool:
    """Returns True if an operation calls a function with this graph."""
    return any(arg.body.graph is graph for arg in operation.args if hasattr(arg, "body"))


def _path_to(node: Node, graph: Graph) -> list[tuple[int | None, Node]]:
    """Returns the nodes from this one to the one that calls a function with this graph, each with the number of the
    input that comes next if it has several; nothing if no node does."""
    if any(function._body.graph is graph for function in node.functions().values()):
        return [(None, node)]
    for i, below in enumerate(node.inputs):
        if path := _path_to(below, graph):
            return [(i if len(node.inputs) > 1 else None, node), *path]
    return []


def _nodes_below(node: Node) -> Any:
    for below in node.inputs:
        yield below
        yield from _nodes_below(below)
