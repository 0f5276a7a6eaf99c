"""The public `tf.compat.v1.graph_util` namespace: `GraphDef`s reduced to the nodes that a program needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.protos import make_tensor_proto
from tapeflow.graph.graphdef.import_graph import import_graph_def  # noqa: F401 (public)
from tapeflow.graph.graphdef.node_protos import node_name
from tapeflow_compat.compat.v1.freezing import freeze
from tapeflow_compat.compat.v1.protos import message

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow.graph.ir.graph import Graph
    from tapeflow_compat.compat.v1.session import Session

_VARIABLES = frozenset(
    {"Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate", "TruncatedNormal",
     "Variable", "VariableV2"}
)  # fmt: skip


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Returns True if a node has to be on the CPU: it outputs strings or int32s, or is a variable pinned to the CPU.

    Args:
        node: a `NodeDef`, or an operation.

    Example:
        >>> with tf.Graph().as_default():
        ...     tf.compat.v1.graph_util.must_run_on_cpu(tf.constant("text").op)
        True
    """
    node = getattr(node, "node_def", node)
    if pin_variables_on_cpu and node.op in _VARIABLES:
        return True
    if node.op == "Const":
        return node.attr["dtype"].type in (3, 7)  # int32, string
    if node.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return node.attr["T"].type == 3
    if node.op == "Cast":
        return node.attr["SrcT"].type == 3
    return False


def extract_sub_graph(graph_def: Message, dest_nodes: Iterable[str]) -> Any:
    """Returns the part of a graph that some nodes need.

    Args:
        graph_def: a `GraphDef`.
        dest_nodes: the names of the nodes.

    Returns:
        A `GraphDef`.

    Raises:
        TypeError: an argument is not of its type.
        AssertionError: the graph has no such node.

    Example:
        >>> with tf.Graph().as_default() as g:
        ...     a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        >>> [n.name for n in tf.compat.v1.graph_util.extract_sub_graph(g.as_graph_def(), ["b"]).node]
        ['b']
    """
    _check(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings.")
    needs = {node.name: [node_name(i) for i in node.input] for node in graph_def.node}
    stack = list(dest_nodes)
    for name in stack:
        if name not in needs:
            raise AssertionError(f"{name} is not in graph")
    needed: set[str] = set()
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            stack.extend(needs.get(name, ()))
    return _with_nodes(graph_def, [node for node in graph_def.node if node.name in needed])


def remove_training_nodes(input_graph: Any, protected_nodes: Sequence[str] | None = None) -> Any:
    """Returns a graph without nodes that only training needs: identities and checks of numbers.

    Args:
        input_graph: a `GraphDef`.
        protected_nodes: the names of nodes that stay.

    Returns:
        A `GraphDef` with the inputs of removed nodes in the place of their outputs.

    Example:
        >>> with tf.Graph().as_default() as g:
        ...     y = tf.identity(tf.identity(tf.constant(1.0, name="c")), name="y")
        >>> [n.name for n in tf.compat.v1.graph_util.remove_training_nodes(g.as_graph_def(), ["y"]).node]
        ['c', 'y']
    """
    _check(input_graph)
    protected = set(protected_nodes or ())
    nodes = [node for node in input_graph.node if node.op != "CheckNumerics" or node.name in protected]
    short = {n.name: n.input[0] for n in input_graph.node if n.op == "CheckNumerics" and n.name not in protected}
    referenced = {i[1:] for node in nodes for i in node.input if i.startswith("^")}
    for node in nodes:
        plain = node.op == "Identity" and node.name not in protected and node.name not in referenced
        if plain and len(node.input) == 1 and not node.input[0].startswith("^"):
            short[node.name] = node.input[0]
    result = _with_nodes(input_graph, [node for node in nodes if node.name not in short])
    for node in result.node:
        node.input[:] = [_followed(text, short) for text in node.input]
    return result


def _followed(text: str, short: dict[str, str]) -> str:
    while node_name(text) in short and not text.startswith("^"):
        text = short[node_name(text)]
    return text


def convert_variables_to_constants(
    sess: Session,
    input_graph_def: Message,
    output_node_names: Sequence[str],
    variable_names_whitelist: Sequence[str] | None = None,
    variable_names_blacklist: Sequence[str] | None = None,
) -> Any:
    """Returns the part of a graph that some nodes need, with a session's values in the place of variables.

    Args:
        sess: the session.
        input_graph_def: the `GraphDef`.
        output_node_names: the names of the nodes.
        variable_names_whitelist: the names of the variables that become constants; by default all.
        variable_names_blacklist: the names of variables that stay.

    Returns:
        A `GraphDef`.

    Example:
        >>> with tf.Graph().as_default() as g, tf.compat.v1.Session() as sess:
        ...     y = tf.multiply(tf.Variable(2.0, name="v"), 3.0, name="y")
        ...     sess.run(tf.compat.v1.global_variables_initializer())
        ...     frozen = tf.compat.v1.graph_util.convert_variables_to_constants(sess, g.as_graph_def(), ["y"])
        >>> sorted({n.op for n in frozen.node})
        ['Const', 'Identity', 'Mul']
    """
    part = extract_sub_graph(input_graph_def, output_node_names)
    names = [
        node.name for node in part.node
        if node.op in ("VarHandleOp", "VariableV2", "Variable")
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and node.name not in (variable_names_blacklist or ())
    ]  # fmt: skip
    values = sess.run([_reading(sess, name) for name in names]) if names else []
    return freeze(part, {name: make_tensor_proto(value) for name, value in zip(names, values, strict=True)})


def _reading(sess: Session, name: str) -> Any:
    """Returns a tensor with the value of the variable that a node is, by its handle or by reference."""
    handle = sess.graph.get_operation_by_name(name)
    if handle.type == "ReadVariableOp":  # as which references are imported
        return handle.outputs[0]
    return sess.graph.read_of(handle.op.attrs["variable"])


def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> Any:
    """Returns the shape of an output of a graph, by its name as nodes write it.

    Example:
        >>> with tf.Graph().as_default() as g:
        ...     c = tf.constant([1.0, 2.0], name="c")
        >>> tf.compat.v1.graph_util.tensor_shape_from_node_def_name(g, "c")
        TensorShape([2])
    """
    name = input_name.removeprefix("^")
    return graph.get_tensor_by_name(name if ":" in name else f"{name}:0").shape


def _check(graph_def: Message) -> None:
    if not hasattr(graph_def, "library") or not hasattr(graph_def, "node"):
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, not {type(graph_def).__name__}.")


def _with_nodes(graph_def: Message, nodes: Iterable[Any]) -> Any:
    result = message("GraphDef")()
    result.node.extend(nodes)
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result
