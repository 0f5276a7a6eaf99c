"""Graphs reduced to the nodes that a program needs, with constants in the place of variables."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
graph_util = v1.graph_util


def node(op, **types):
    """A node with dtypes as attrs."""
    made = v1.NodeDef(name="n", op=op)
    for name, dtype in types.items():
        made.attr[name].type = dtype.as_datatype_enum
    return made


@pytest.mark.parametrize(
    ("made", "pinned", "expected"),
    [
        (node("Const", dtype=tf.int32), False, True),
        (node("Const", dtype=tf.string), False, True),
        (node("Const", dtype=tf.float32), False, False),
        (node("Const", dtype=tf.int64), False, False),
        (node("DynamicStitch", T=tf.int32), False, True),
        (node("DynamicStitch", T=tf.float32), False, False),
        (node("ParallelDynamicStitch", T=tf.int32), False, True),
        (node("Cast", SrcT=tf.int32, DstT=tf.float32), False, True),
        (node("Cast", SrcT=tf.float32, DstT=tf.int32), False, False),
        (node("VariableV2"), True, True),
        (node("VariableV2"), False, False),
        (node("AssignAdd", T=tf.float32), True, True),
        (node("VarHandleOp"), True, False),
        (node("Add", T=tf.int32), True, False),
    ],
)
def test_nodes_of_the_cpu(made, pinned, expected):
    assert graph_util.must_run_on_cpu(made, pinned) is expected
    if made.op == "Const":
        with tf.Graph().as_default():
            operation = tf.constant([], tf.as_dtype(made.attr["dtype"].type)).op
        assert graph_util.must_run_on_cpu(operation) is expected


def test_parts_of_graphs():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        with tf.control_dependencies([tf.no_op(name="before")]):
            b = tf.add(a, 2.0, name="b")
        tf.multiply(b, 3.0, name="c")
    proto = graph.as_graph_def()
    part = graph_util.extract_sub_graph(proto, ["b"])
    assert {n.name for n in part.node} == {"a", "before", "b", "b/y"}
    assert [n.name for n in part.node] == [n.name for n in proto.node if n.name in ("a", "before", "b", "b/y")]
    assert part.versions == proto.versions
    assert [n.name for n in graph_util.extract_sub_graph(proto, ("a", "before")).node] == ["a", "before"]
    with pytest.raises(AssertionError, match="x is not in graph"):
        graph_util.extract_sub_graph(proto, ["a", "x"])
    with pytest.raises(TypeError, match=r"dest_nodes must be an iterable of strings|must be an iterable"):
        graph_util.extract_sub_graph(proto, "a")
    with pytest.raises(TypeError, match=r"graph_def must be a graph_pb2.GraphDef proto"):
        graph_util.extract_sub_graph(graph, ["a"])


def test_nodes_of_training():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        checked = tf.identity(tf.debugging.check_numerics(a, "m", name="check"), name="one")
        two = tf.identity(checked, name="two")
        with tf.control_dependencies([tf.identity(a, name="referenced")]):
            tf.add(two, checked, name="sum")
    proto = graph.as_graph_def()
    names = [n.name for n in graph_util.remove_training_nodes(proto).node]
    assert names == ["a", "referenced", "sum"]
    result = graph_util.remove_training_nodes(proto, ["two", "check"])
    assert [n.name for n in result.node] == ["a", "check", "two", "referenced", "sum"]
    inputs = {n.name: list(n.input) for n in result.node}
    assert inputs["sum"] == ["two", "check", "^referenced"]
    assert inputs["two"] == ["check"]
    assert {n.name: list(n.input) for n in proto.node}["sum"] == ["two", "one", "^referenced"]
    with pytest.raises(TypeError, match="GraphDef"):
        graph_util.remove_training_nodes(3)


def test_constants_in_the_place_of_variables():
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        v, w = v1.get_variable("v", initializer=[1.0, 2.0]), v1.get_variable("w", initializer=[3.0, 5.0])
        rows = tf.gather(v, [1, 1], name="rows")
        tf.add(rows * w, tf.cast(tf.shape(v), tf.float32), name="y")
        sess.run(v1.global_variables_initializer())
        sess.run(v.assign([4.0, 6.0]).op)
        proto = graph.as_graph_def()
        frozen = graph_util.convert_variables_to_constants(sess, proto, ["y"])
        only = graph_util.convert_variables_to_constants(sess, proto, ["y"], variable_names_whitelist=["v"])
        without = graph_util.convert_variables_to_constants(sess, proto, ["y"], variable_names_blacklist=["v"])

    def handles(graph_def):
        return [n.name for n in graph_def.node if n.op == "VarHandleOp"]

    assert (handles(frozen), handles(only), handles(without)) == ([], ["w"], ["v"])
    with tf.Graph().as_default(), v1.Session() as sess:
        (y,) = tf.import_graph_def(frozen, return_elements=["y:0"])
        assert sess.run(y).tolist() == [6.0 * 3.0 + 2.0, 6.0 * 5.0 + 2.0]


def test_variables_in_functions_become_constants():
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        v, x = v1.get_variable("v", initializer=3.0), v1.placeholder(tf.float32, [], name="x")

        @tf.function
        def inner(x):
            return x * v

        y = tf.cond(x > 0.0, lambda: inner(x), lambda: v - x)
        y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + v), [0, y])[1]
        tf.identity(y, name="y")
        sess.run(v.initializer)
        frozen = graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
        expected = [sess.run(y, {x: value}) for value in (2.0, -2.0)]
    bodies = [n.op for f in frozen.library.function for n in f.node_def]
    assert "ReadVariableOp" not in bodies
    assert "VarHandleOp" not in [n.op for n in frozen.node]
    with tf.Graph().as_default(), v1.Session() as sess:
        x, y = tf.import_graph_def(frozen, return_elements=["x:0", "y:0"])
        assert [sess.run(y, {x: value}) for value in (2.0, -2.0)] == expected == [12.0, 11.0]


def test_shapes_by_names():
    with tf.Graph().as_default() as graph:
        tf.split(tf.zeros([4, 3]), [1, 3], name="s")
    for name, shape in (("s", [1, 3]), ("s:1", [3, 3]), ("s:0", [1, 3])):
        assert graph_util.tensor_shape_from_node_def_name(graph, name).as_list() == shape
    assert np.prod(shape) == 3
