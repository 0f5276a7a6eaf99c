"""Comparing messages: graphs node by node, and others field by field."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message
from tensorboard.compat.proto.graph_pb2 import GraphDef


def assert_equal_graph_def(expected: Any, actual: Any) -> None:
    """Checks that two graphs have the same nodes, in whatever order, with their inputs, devices and attributes.

    Raises:
        AssertionError: they differ: it says where.
        TypeError: one of them is no `GraphDef`.

    Example:
        >>> g = tf.Graph()
        >>> with g.as_default():
        ...     c = tf.constant(1)
        >>> tf.test.assert_equal_graph_def(g.as_graph_def(), g.as_graph_def())
    """
    for title, value in (("expected", expected), ("actual", actual)):
        if not isinstance(value, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {title}, got {type(value).__name__}")
    wanted, found = ({node.name: node for node in graph.node} for graph in (expected, actual))
    for name, node in wanted.items():
        if name not in found:
            raise AssertionError(f"Did not find expected node '{_written(node)}'")
        if _comparable(node) != _comparable(found[name]):
            raise AssertionError(f"Graphs differ at node '{name}':\nexpected {node}\nactual   {found[name]}")
    for name, node in found.items():
        if name not in wanted:
            raise AssertionError(f"Found unexpected node '{_written(node)}'")


def _written(node: Any) -> str:
    return f"{{{{node {node.name}}}}} = {node.op}[{', '.join(sorted(node.attr))}]({', '.join(node.input)})"


def _comparable(node: Any) -> tuple[Any, ...]:
    """What counts in a node. Control inputs have no order."""
    data = [name for name in node.input if not name.startswith("^")]
    control = sorted(name for name in node.input if name.startswith("^"))
    attrs = {name: value.SerializeToString(deterministic=True) for name, value in node.attr.items() if name[0] != "_"}
    return node.op, node.device, data, control, attrs


def as_message(expected: Any, like: Any) -> Any:
    """Returns a message as it is, or the one of a text, of the class of another."""
    return expected if isinstance(expected, Message) else text_format.Parse(expected, type(like)())


def difference(expected: Any, actual: Any, relative_tolerance: float | None = None) -> str | None:
    """How two messages differ, or None: texts line by line, floating fields within the tolerance."""
    if type(expected) is not type(actual):
        return f"{type(expected).__name__} is compared with {type(actual).__name__}"
    if relative_tolerance is None:
        wanted, found = (text_format.MessageToString(m) for m in (expected, actual))
        return None if wanted == found else f"expected:\n{wanted}\nactual:\n{found}"
    for field in expected.DESCRIPTOR.fields:
        pairs = _values(expected, field), _values(actual, field)
        if len(pairs[0]) != len(pairs[1]):
            return f"{field.full_name} has {len(pairs[1])} values, not {len(pairs[0])}"
        for a, b in zip(*pairs, strict=True):
            if isinstance(a, Message):
                found_difference = difference(a, b, relative_tolerance)
                if found_difference:
                    return found_difference
            elif a != b and not (isinstance(a, float) and abs(a - b) <= relative_tolerance * max(abs(a), abs(b))):
                return f"{field.full_name} is {b!r}, not {a!r}"
    return None


def _values(message: Any, field: Any) -> list[Any]:
    value = getattr(message, field.name)
    if isinstance(value, (str, bytes, int, float, Message)):
        return [value] if not field.has_presence or message.HasField(field.name) else []
    return [value[key] for key in sorted(value)] if hasattr(value, "keys") else list(value)
