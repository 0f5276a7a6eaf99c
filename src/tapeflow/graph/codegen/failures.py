"""The errors of operations that failed while a graph ran, as TensorFlow prints them."""

from __future__ import annotations

from typing import Any

from tapeflow.core.errors import OpError
from tapeflow.graph.ir.operation import Operation


def detected(error: OpError, operation: Operation) -> OpError:
    """Returns an operation's error with the lines of the user's code that added the operation in its message.

    The error of an operation that a session runs has the operation as its `op`.
    """
    graph: Any = operation.graph
    while getattr(graph, "around", None) is not None:
        graph = graph.around
    name = operation.name
    node = f"[[{{{{node {name}}}}}]]"
    start = "Graph execution error:\n\nDetected at node"
    frames = [f'File "{frame.filename}", line {frame.lineno}, in {frame.name}\n' for frame in operation.traceback]
    if graph.building_function:
        lines = "".join(f"  {frame}\n" for frame in frames) or "<stack traces unavailable>\n"
        function = f" [Op:{graph.inference_name}]" if graph.inference_name else ""
        text = f"{start} {name} defined at (most recent call last):\n{lines}{error.message}\n\t {node}{function}"
        new = error.with_message(text)
    else:
        lines = "".join(f"    {frame}" for frame in frames) or "<stack traces unavailable>\n"
        text = (
            f"{start} '{name}' defined at (most recent call last):\n{lines}Node: '{name}'\n{error.message}\n\t {node}"
        )
        new = error.with_message(text)
        new._op, new._node_def = operation, operation.node_def
    new.operation = operation
    return new
