"""Graphs in files."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from tapeflow.graph.ir.graph import Graph
from tapeflow.io import gfile
from tapeflow.io.atomic_replace import write_file


def write_graph(
    graph_or_graph_def: Graph | Any, logdir: str | os.PathLike[str], name: str, as_text: bool = True
) -> str:
    """Writes a graph to a file.

    Args:
        graph_or_graph_def: a `tf.Graph` or a `GraphDef`.
        logdir: the directory; it is created if it does not exist.
        name: the file's name.
        as_text: writes the `GraphDef` as text, and not in its binary form; True by default.

    Returns:
        The file's path.

    Raises:
        NotFoundError, FailedPreconditionError: the folder can't be created.

    Example:
        >>> import pathlib, tempfile
        >>> with tf.Graph().as_default() as g:
        ...     c = tf.constant(1.0, name="c")
        >>> path = tf.io.write_graph(g, tempfile.mkdtemp(), "graph.pbtxt")
        >>> 'name: "c"' in pathlib.Path(path).read_text()
        True
    """
    proto = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    gfile.makedirs(logdir)
    path = os.path.join(os.fspath(logdir), name)
    data = text_format.MessageToString(proto).encode() if as_text else proto.SerializeToString(deterministic=True)
    write_file(path, data)
    return path
