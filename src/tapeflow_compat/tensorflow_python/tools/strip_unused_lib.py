"""`strip_unused`: the part of a graph between its inputs and its outputs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tapeflow.core.types.dtypes import as_dtype
from tapeflow.io import gfile
from tapeflow_compat.compat.v1.graph_util import extract_sub_graph
from tapeflow_compat.tensorflow_python.tools.commands import (
    add_switch,
    add_text,
    read_message,
    run_command,
    split_names,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message


def main() -> None:
    """Runs the command `strip_unused` in `sys.argv`, and ends the process."""
    parser = argparse.ArgumentParser("strip_unused", description="Writes the part of a graph that outputs need.")
    add_text(parser, "input_graph", "a GraphDef's file")
    add_switch(parser, "input_binary", "the file is binary, not text")
    add_text(parser, "output_graph", "the file to write")
    add_switch(parser, "output_binary", "write it in binary form, not as text", True)
    add_text(parser, "input_node_names", "the nodes that become placeholders, joined by commas")
    add_text(parser, "output_node_names", "the nodes to keep, joined by commas")
    add_text(parser, "placeholder_type_enum", "the dtypes of the placeholders, joined by commas", "float32")
    options = parser.parse_args()
    options.placeholder_type_enum = dtype_numbers(options.placeholder_type_enum)
    run_command("strip_unused", lambda: strip_unused_from_files(**vars(options)))


def dtype_numbers(text: str) -> int | list[int]:
    """Returns the numbers of dtypes, by their names or numbers, which commas separate; one alone is no list."""
    numbers = [as_dtype(int(n) if n.isdigit() else n).as_datatype_enum for n in split_names(text)]
    return numbers if len(numbers) > 1 else numbers[0]


def strip_unused(
    input_graph_def: Message,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | Sequence[int],
) -> Any:
    """Returns the nodes that some nodes need, with placeholders in the place of others.

    Args:
        input_graph_def: a `GraphDef`.
        input_node_names: the names of the nodes that become placeholders.
        output_node_names: the names of the nodes to keep, with all that they need.
        placeholder_type_enum: the dtype of all placeholders, or of each, as a number.

    Returns:
        A `GraphDef`.

    Raises:
        ValueError: a name is a tensor's.
        KeyError: the graph has no such input.

    Example:
        >>> from tapeflow.tensorflow_python.tools.strip_unused_lib import strip_unused
        >>> with tf.Graph().as_default() as g:
        ...     a = tf.constant(1.0, name="a") + 1.0
        ...     b = tf.identity(a, name="b") * 2.0
        ...     c = tf.identity(b, name="c")
        >>> part = strip_unused(g.as_graph_def(), ["b"], ["c"], tf.float32.as_datatype_enum)
        >>> [node.op for node in part.node]
        ['Placeholder', 'Const', 'Mul', 'Identity']
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not an Operation.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}.")
    with_inputs = GraphDef()
    with_inputs.CopyFrom(input_graph_def)
    for node in with_inputs.node:
        if node.name not in input_node_names:
            continue
        kept = {name: node.attr[name] for name in ("_output_shapes", "shape") if name in node.attr}
        placeholder = type(node)(name=node.name, op="Placeholder")
        one = isinstance(placeholder_type_enum, int)
        placeholder.attr["dtype"].type = (
            placeholder_type_enum if one else placeholder_type_enum[list(input_node_names).index(node.name)]  # type: ignore[index]
        )
        for name, value in kept.items():
            placeholder.attr[name].CopyFrom(value)
        node.CopyFrom(placeholder)
    return extract_sub_graph(with_inputs, output_node_names)


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: int | Sequence[int],
) -> int | None:
    """Does for files what `strip_unused` does for graphs. Names are joined by commas.

    Returns:
        -1 if there is no such file or no name, which is printed; otherwise None.
    """
    if not gfile.exists(input_graph):
        print(f"Input graph file '{input_graph}' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    graph = read_message(input_graph, GraphDef(), input_binary, "Input graph file")
    graph = strip_unused(graph, split_names(input_node_names), split_names(output_node_names), placeholder_type_enum)
    with gfile.GFile(output_graph, "wb" if output_binary else "w") as file:
        file.write(graph.SerializeToString() if output_binary else text_format.MessageToString(graph))
    print(f"{len(graph.node)} ops in the final graph.")
    return None
