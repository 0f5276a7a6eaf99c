"""Comparisons of messages: graphs node by node, and others field by field."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message
from tensorboard.compat.proto.graph_pb2 import GraphDef


def assert_equal_graph_def(expected: GraphDef, actual: GraphDef) -> None:
    """Checks that two graphs have the same nodes, in any order, with their inputs, devices and attributes.

    Args:
        expected, actual: the graphs, `GraphDef` messages.

    Returns:
        None.

    Raises:
        AssertionError: the graphs differ.
        TypeError: an argument is not a `GraphDef`.

    Example:
        >>> g = tf.Graph()
        >>> with g.as_default():
        ...     c = tf.constant(1)
        >>> tf.test.assert_equal_graph_def(g.as_graph_def(), g.as_graph_def())
    """
    for title, value in (("expected", expected), ("actual", actual)):
        if not isinstance(value, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {title}, got {type(value).__name__}")
    expected_nodes, nodes = ({node.name: node for node in graph.node} for graph in (expected, actual))
    for name, node in expected_nodes.items():
        if name not in nodes:
            raise AssertionError(f"Did not find expected node '{_node_text(node)}'")
        if _comparable_fields(node) != _comparable_fields(nodes[name]):
            raise AssertionError(f"Graphs differ at node '{name}':\nexpected {node}\nactual   {nodes[name]}")
    for name, node in nodes.items():
        if name not in expected_nodes:
            raise AssertionError(f"Found unexpected node '{_node_text(node)}'")


def _node_text(node: Any) -> str:
    return f"{{{{node {node.name}}}}} = {node.op}[{', '.join(sorted(node.attr))}]({', '.join(node.input)})"


def _comparable_fields(node: Any) -> tuple[Any, ...]:
    """Returns the compared fields of a node. Control inputs have no order."""
    data = [name for name in node.input if not name.startswith("^")]
    control = sorted(name for name in node.input if name.startswith("^"))
    attrs = {name: value.SerializeToString(deterministic=True) for name, value in node.attr.items() if name[0] != "_"}
    return node.op, node.device, data, control, attrs


def as_message(expected: Any, like: Any) -> Any:
    """Returns a message; parses its text to a message of the class of `like`."""
    if isinstance(expected, (str, bytes)):
        return text_format.Parse(expected, type(like)())
    if type(expected) is not type(like):
        raise AssertionError(f"Can't compare protos of type {type(expected)} and {type(like)}.")
    return expected


def difference(expected: Any, actual: Any, relative_tolerance: float | None = None) -> str | None:
    """Describes the difference of two messages, or returns None; floating fields are equal within the tolerance."""
    if type(expected) is not type(actual):
        return f"{type(expected).__name__} is compared with {type(actual).__name__}"
    if relative_tolerance is None:
        texts = [text_format.MessageToString(m) for m in (expected, actual)]
        return None if texts[0] == texts[1] else "expected:\n{}\nactual:\n{}".format(*texts)
    for field in expected.DESCRIPTOR.fields:
        pairs = _field_values(expected, field), _field_values(actual, field)
        if len(pairs[0]) != len(pairs[1]):
            return f"{field.full_name} has {len(pairs[1])} values, not {len(pairs[0])}"
        for a, b in zip(*pairs, strict=True):
            if isinstance(a, Message):
                problem = difference(a, b, relative_tolerance)
                if problem:
                    return problem
            elif a != b and not (isinstance(a, float) and abs(a - b) <= relative_tolerance * max(abs(a), abs(b))):
                return f"{field.full_name} is {b!r}, not {a!r}"
    return None


def _field_values(message: Message, field: Any) -> list[Any]:
    value = getattr(message, field.name)
    if isinstance(value, (str, bytes, int, float, Message)):
        return [value] if not field.has_presence or message.HasField(field.name) else []
    return [value[key] for key in sorted(value)] if hasattr(value, "keys") else list(value)
