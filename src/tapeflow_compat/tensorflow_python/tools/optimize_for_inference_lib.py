"""`optimize_for_inference`: a frozen graph without nodes that only training needs, and without batch normalizations."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tapeflow.array.protos import make_ndarray, make_tensor_proto
from tapeflow.core.types.dtypes import bool as tf_bool
from tapeflow.io import gfile
from tapeflow_compat.compat.v1.graph_util import extract_sub_graph, remove_training_nodes
from tapeflow_compat.compat.v1.logging import warning
from tapeflow_compat.tensorflow_python.tools.commands import (
    add_switch,
    add_text,
    read_message,
    run_command,
    split_names,
)
from tapeflow_compat.tensorflow_python.tools.strip_unused_lib import dtype_numbers, strip_unused

if TYPE_CHECKING:
    from google.protobuf.message import Message

# The inputs of normalizations, by their places: image, mean, variance, offset and scale; and the name of epsilon.
_NORMALIZATIONS = {
    "BatchNormWithGlobalNormalization": (0, 1, 2, 3, 4, "variance_epsilon"),
    "FusedBatchNorm": (0, 3, 4, 2, 1, "epsilon"),
    "FusedBatchNormV3": (0, 3, 4, 2, 1, "epsilon"),
}
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def main() -> None:
    """Runs the command `optimize_for_inference` in `sys.argv`, and ends the process."""
    parser = argparse.ArgumentParser("optimize_for_inference", description="Writes a frozen graph for inference.")
    add_text(parser, "input", "a GraphDef's file", required=True)
    add_text(parser, "output", "the file to write", required=True)
    add_text(parser, "input_names", "the nodes that are fed, joined by commas", required=True)
    add_text(parser, "output_names", "the nodes whose values are wanted, joined by commas", required=True)
    add_switch(parser, "frozen_graph", "the files are binary, not text", True)
    add_text(parser, "placeholder_type_enum", "the dtypes of the inputs, joined by commas", "float32")
    add_switch(parser, "toco_compatible", "accepted, and without effect")
    options = parser.parse_args()

    def command() -> None:
        graph = read_message(options.input, GraphDef(), options.frozen_graph, "Input graph file")
        types = dtype_numbers(options.placeholder_type_enum)
        graph = optimize_for_inference(
            graph, split_names(options.input_names), split_names(options.output_names), types
        )
        with gfile.GFile(options.output, "wb" if options.frozen_graph else "w") as file:
            file.write(graph.SerializeToString() if options.frozen_graph else text_format.MessageToString(graph))

    run_command("optimize_for_inference", command)


def optimize_for_inference(
    input_graph_def: Message,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | Sequence[int],
    toco_compatible: bool = False,
    placeholder_to_const_names: Sequence[str] | None = None,
) -> Any:
    """Returns the part of a frozen graph between its inputs and outputs, with batch normalizations in the filters.

    Normalizations of several ops, and convolutions of resized or padded images, stay as they are: TensorFlow fuses
    these.

    Args:
        input_graph_def: a `GraphDef` whose variables are constants.
        input_node_names: the names of the nodes that are fed.
        output_node_names: the names of the nodes whose values are wanted.
        placeholder_type_enum: the dtype of all inputs, or of each, as a number.
        toco_compatible: accepted, and without effect.
        placeholder_to_const_names: placeholders of Booleans that become constants, as `name=True` or `name=False`.

    Returns:
        A `GraphDef`.

    Raises:
        ValueError: a name is a tensor's, or the graph is damaged.
        KeyError: the graph has no such input.

    Example:
        >>> from tapeflow.tensorflow_python.tools.optimize_for_inference_lib import optimize_for_inference
        >>> with tf.Graph().as_default() as g:
        ...     x = tf.compat.v1.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        ...     y = tf.nn.conv2d(x, tf.ones([1, 1, 2, 3]), 1, "SAME")
        ...     ones = tf.ones([3])
        ...     y = tf.compat.v1.nn.fused_batch_norm(y, ones, ones, ones, ones, is_training=False)[0]
        ...     y = tf.identity(y, name="y")
        >>> small = optimize_for_inference(g.as_graph_def(), ["x"], ["y"], tf.float32.as_datatype_enum)
        >>> sorted(node.op for node in small.node)
        ['BiasAdd', 'Const', 'Const', 'Conv2D', 'Identity', 'Placeholder']
    """
    ensure_graph_is_valid(input_graph_def)
    graph = convert_placeholder_to_const(input_graph_def, placeholder_to_const_names)
    graph = strip_unused(graph, input_node_names, output_node_names, placeholder_type_enum)
    graph = extract_sub_graph(fold_batch_norms(remove_training_nodes(graph, output_node_names)), output_node_names)
    ensure_graph_is_valid(graph)
    return graph


def ensure_graph_is_valid(graph_def: Message) -> None:
    """Checks that each name is one node's, and that all inputs exist.

    Raises:
        ValueError: otherwise.
    """
    nodes = _nodes_by_name(graph_def)
    for node in graph_def.node:
        for name in node.input:
            if node_name_from_input(name) not in nodes:
                raise ValueError(f"Input for {node.name} not found: {name}")


def _nodes_by_name(graph_def: Message) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if nodes.setdefault(node.name, node) is not node:
            raise ValueError(f"Duplicate node names detected for {node.name}")
    return nodes


def node_name_from_input(node_name: str) -> str:
    """Returns the name of the node of an input, without its output's number."""
    return re.sub(r":\d+$", "", node_name.removeprefix("^"))


def node_from_map(node_map: Mapping[str, Any], name: str) -> Any:
    """Returns the node of an input.

    Raises:
        ValueError: there is none.
    """
    if node_name_from_input(name) not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[node_name_from_input(name)]


def values_from_const(node_def: Message) -> np.ndarray:
    """Returns the value of a constant.

    Raises:
        ValueError: the node is none.
    """
    if node_def.op != "Const":
        raise ValueError(f"Can not extract constant value from a node that is not Const. Got:\n{node_def}")
    value: np.ndarray = make_ndarray(node_def.attr["value"].tensor)
    return value


def convert_placeholder_to_const(input_graph_def: Message, nodes_to_convert: Iterable[str] | None = None) -> Any:
    """Returns a graph with constants in the place of some placeholders of Booleans.

    Args:
        input_graph_def: a `GraphDef`.
        nodes_to_convert: `name=True` or `name=False` for each; Keras's learning phase is False unless it is there.

    Returns:
        A `GraphDef`.

    Raises:
        ValueError: an entry has another form.
    """
    values = {"keras_learning_phase": "False"}
    for entry in nodes_to_convert or ():
        name, equals, value = entry.partition("=")
        if not equals or value.lower() not in ("true", "false"):
            raise ValueError(f"{entry!r} is neither NAME=True nor NAME=False.")
        values[name.strip()] = value
    result = GraphDef()
    result.CopyFrom(input_graph_def)
    for node in result.node:
        key = next((key for key in values if key in node.name), None)
        if key is None or node.op not in ("Placeholder", "PlaceholderWithDefault"):
            continue
        if node.attr["dtype"].type != tf_bool.as_datatype_enum:
            warning(f"{node.name} stays a placeholder: only those of Booleans become constants.")
            continue
        value = make_tensor_proto(values[key].lower() == "true", tf_bool, [])
        node.CopyFrom(_constant(node.name, value))
    return result


def _constant(name: str, value: Any) -> Any:
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = value.dtype
    node.attr["value"].tensor.CopyFrom(value)
    return node


def fold_batch_norms(input_graph_def: Message) -> Any:
    """Returns a graph with filters and a bias in the place of each batch normalization of a convolution.

    Args:
        input_graph_def: a `GraphDef` whose variables are constants.

    Returns:
        A `GraphDef`. A normalization that does not follow a convolution with constant filters stays, with a warning.

    Raises:
        ValueError: two nodes have one name.
    """
    nodes = _nodes_by_name(input_graph_def)
    replaced: set[str] = set()
    added = []
    for node in input_graph_def.node:
        if node.op in _NORMALIZATIONS:
            try:
                gone, new = _fold_one(node, nodes)
            except ValueError as error:
                warning(f"The batch normalization {node.name} stays: {error}")
                continue
            replaced.update(gone)
            added += new
    result = GraphDef(versions=input_graph_def.versions, library=input_graph_def.library)
    for node in input_graph_def.node:
        if node.name not in replaced:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.input[:] = [i for i in node.input if not (i.startswith("^") and i[1:] in replaced)]
    result.node.extend(added)
    return result


def _fold_one(node: Any, nodes: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Returns the names of the nodes that go and the nodes in their place, for one normalization.

    Raises:
        ValueError: it can't be folded.
    """
    places = _NORMALIZATIONS[node.op]
    image = node_from_map(nodes, node.input[places[0]])
    gone, bias = [node.name], None
    if image.op in ("BiasAdd", "Add", "AddV2"):
        gone.append(image.name)
        image, bias = (node_from_map(nodes, name) for name in image.input)
        if image.op not in _CONVOLUTIONS:
            image, bias = bias, image
    if image.op not in _CONVOLUTIONS:
        raise ValueError(f"its input {image.name} is no convolution.")
    filters_node = node_from_map(nodes, image.input[1])
    filters = values_from_const(filters_node)
    channels = filters.shape[3] if image.op == "Conv2D" else filters.shape[2] * filters.shape[3]
    mean, variance, offset, scale = (values_from_const(node_from_map(nodes, node.input[i])) for i in places[1:5])
    if any(v.shape != (channels,) for v in (mean, variance, offset, scale)):
        raise ValueError(f"its parameters do not have the shape of {channels} channels.")
    if bias is not None:
        mean = mean - values_from_const(bias)
    factor = 1.0 / np.sqrt(variance + np.asarray(node.attr[places[5]].f, variance.dtype))
    if node.op != "BatchNormWithGlobalNormalization" or node.attr["scale_after_normalization"].b:
        factor = factor * scale
    shape = (1, 1, 1, -1) if image.op == "Conv2D" else (1, 1, *filters.shape[2:])
    weights = _constant(
        f"{image.name}_weights", make_tensor_proto((filters * factor.reshape(shape)).astype(filters.dtype))
    )
    shift = _constant(f"{image.name}_bn_offset", make_tensor_proto((offset - mean * factor).astype(filters.dtype)))
    convolution, biased = NodeDef(), NodeDef(name=node.name, op="BiasAdd")
    convolution.CopyFrom(image)
    convolution.input[1] = weights.name
    for attr in ("T", "data_format"):
        biased.attr[attr].CopyFrom(image.attr[attr])
    biased.input.extend([convolution.name, shift.name])
    return [*gone, image.name, filters_node.name], [weights, convolution, shift, biased]
