"""The errors of operations that fail while a graph runs, formatted as in TensorFlow."""

from __future__ import annotations

from typing import Any

from tapeflow.core.errors import OpError
from tapeflow.graph.ir.operation import Operation


def locate_error(error: OpError, operation: Operation) -> OpError:
    """Returns an operation's error with a message that shows the user's code lines that added the operation.

    In a session, the error's `op` is the operation.
    """
    graph: Any = operation.graph
    while graph.around is not None:
        graph = graph.around
    name, unavailable = operation.name, "<stack traces unavailable>\n"
    node = f"[[{{{{node {name}}}}}]]"
    start = "Graph execution error:\n\nDetected at node"
    frames = []
    for frame in operation.traceback:
        source = f"      {frame.line}\n" if frame.line else ""
        frames.append(f'File "{frame.filename}", line {frame.lineno}, in {frame.name}\n{source}')
    if graph.building_function:
        lines = "".join(f"  {frame}" for frame in frames) or unavailable
        function = f" [Op:{graph.inference_name}]" if graph.inference_name else ""
        text = f"{start} {name} defined at (most recent call last):\n{lines}{error.message}\n\t {node}{function}"
    else:
        lines = "".join(f"    {frame}" for frame in frames) or unavailable
        cause = f"Node: '{name}'\n{error.message}"
        text = f"{start} '{name}' defined at (most recent call last):\n{lines}{cause}\n\t {node}"
    new = error.with_message(text)
    if not graph.building_function:
        new._op, new._node_def = operation, operation.node_def
    new.operation, new.reason = operation, error.reason or error.message
    return new
