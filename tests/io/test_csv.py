"""Comma-separated values in graphs."""

import tapeflow as tf


def test_graphs_have_all_defaults():
    """A program that reads the graph gets the defaults that were constants, and the format."""

    def function(lines):
        required = tf.constant([], tf.int32)
        return tf.io.decode_csv(lines, [[0.5], required, tf.int64], ";", False, "none", [0, 2, 3])

    lines = tf.constant(["1;x;2;3", "none;y;4;5"])
    graph = tf.function(function).get_concrete_function(lines).graph.as_graph_def()
    (node,) = [n for n in graph.node if n.op == "DecodeCSV"]
    assert len(node.input) == 4
    read = tf.compat.v1.wrap_function(lambda: tf.graph_util.import_graph_def(graph, name=""), [])
    values = read.prune("lines:0", [f"{node.name}:{i}" for i in range(3)])(lines)
    assert [v.numpy().tolist() for v in values] == [[1.0, 0.5], [2, 4], [3, 5]]
