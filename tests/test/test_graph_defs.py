"""Comparisons of messages: graphs, and the fields of others within a tolerance."""

import pytest
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.summary_pb2 import Summary

import tapeflow as tf


class Case(tf.test.TestCase):
    def runTest(self):
        pass


case = Case()


def graph_of(**changes):
    """A graph of two nodes, the second one changed."""
    node = NodeDef(name="b", op="Add", device="/cpu:0", input=["a", "c", "^d", "^e"])
    node.attr["T"].type = 1
    for name, value in changes.items():
        if isinstance(value, list):
            node.ClearField(name)
            getattr(node, name).extend(value)
        else:
            setattr(node, name, value)
    return GraphDef(node=[NodeDef(name="a", op="Const"), node])


EQUAL = {
    "same": graph_of(),
    "order": GraphDef(node=reversed(graph_of().node)),
    "control inputs": graph_of(input=["a", "c", "^e", "^d"]),
    "a private attribute": graph_of(),
}
EQUAL["a private attribute"].node[1].attr["_class"].s = b"loc"
OTHER = {
    "op": graph_of(op="Sub"),
    "device": graph_of(device="/cpu:1"),
    "inputs": graph_of(input=["c", "a", "^d", "^e"]),
    "control inputs": graph_of(input=["a", "c", "^d", "^f"]),
    "an attribute": graph_of(),
    "one more attribute": graph_of(),
}
OTHER["an attribute"].node[1].attr["T"].type = 3
OTHER["one more attribute"].node[1].attr["N"].i = 1


@pytest.mark.parametrize("name", EQUAL)
def test_equal_graphs(name):
    tf.test.assert_equal_graph_def(graph_of(), EQUAL[name])
    tf.test.assert_equal_graph_def(EQUAL[name], graph_of())


@pytest.mark.parametrize("name", OTHER)
def test_other_graphs(name):
    with pytest.raises(AssertionError):
        tf.test.assert_equal_graph_def(graph_of(), OTHER[name])
    with pytest.raises(AssertionError):
        tf.test.assert_equal_graph_def(OTHER[name], graph_of())


def test_the_first_argument_is_a_graph():
    with pytest.raises(TypeError, match=r"for expected, got str"):
        tf.test.assert_equal_graph_def("", GraphDef())


def floats(*values, tag="t"):
    return Summary(value=[{"tag": tag, "simple_value": value} for value in values])


def test_messages_are_equal():
    case.assertProtoEquals(floats(1.0, 2.0), floats(1.0, 2.0))
    case.assertProtoEquals("value { tag: 't' simple_value: 2.0 }", floats(2.0))
    case.assertProtoEquals(floats(1.0, 2.0), floats(1.0, 2.0), relative_tolerance=1e-9)
    case.assertProtoEquals(floats(100.0), floats(101.0), relative_tolerance=0.01)
    case.assertProtoEquals(AttrValue(i=3), AttrValue(i=3), relative_tolerance=0.5)
    case.assertProtoEquals(graph_of(), graph_of(), relative_tolerance=0.5)


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "pattern"),
    [
        (floats(1.0), floats(1.5), None, "because"),
        (floats(100.0), floats(102.1), 0.02, "102"),
        (floats(-1.0), floats(1.0), 0.5, "because"),
        (floats(1.0), floats(1.0, 2.0), 0.5, "because"),
        (floats(1.0), floats(1.0, tag="u"), 0.5, "because"),
        (AttrValue(i=100), AttrValue(i=101), 0.5, "because"),
        (AttrValue(), AttrValue(f=0.0), 0.5, "because"),
        (AttrValue(s=b"a"), AttrValue(s=b"b"), 0.5, "because"),
        (AttrValue(b=True), AttrValue(b=False), 0.5, "because"),
        (graph_of(), OTHER["an attribute"], 0.5, "because"),
        (graph_of(), OTHER["one more attribute"], 0.5, "because"),
        (GraphDef(), NodeDef(), None, "proto"),
    ],
)
def test_messages_differ(expected, actual, tolerance, pattern):
    with pytest.raises(AssertionError, match=pattern):
        case.assertProtoEquals(expected, actual, msg="because", relative_tolerance=tolerance)


def test_the_difference_is_named():
    with pytest.raises(AssertionError, match=r"simple_value is 1.5, not 1.0"):
        case.assertProtoEquals(floats(1.0), floats(1.5), relative_tolerance=0.1)
    with pytest.raises(AssertionError, match=r"Summary.value has 2 values, not 1"):
        case.assertProtoEquals(floats(1.0), floats(1.0, 1.0), relative_tolerance=0.1)


def test_versions_of_graphs():
    text, graph = "node { name: 'a' op: 'Const' }", GraphDef(node=[NodeDef(name="a", op="Const")])
    graph.versions.producer = tf.version.GRAPH_DEF_VERSION
    case.assertProtoEqualsVersion(text, graph)
    with pytest.raises(AssertionError):
        case.assertProtoEqualsVersion(text, graph, producer=5)
    with pytest.raises(AssertionError):
        case.assertProtoEqualsVersion(text, graph, min_consumer=3)
    graph.versions.producer, graph.versions.min_consumer = 5, 3
    case.assertProtoEqualsVersion(text, graph, producer=5, min_consumer=3)
