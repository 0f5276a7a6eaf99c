"""Graphs and sessions of TensorFlow 1's kind, and the `GraphDef` of a graph."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def test_subgraphs_by_what_is_fed():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32)
        y = tf.square(x)
        z = tf.add(x, y)
        session = v1.Session()
        assert session.run([z], {x: 2.0}) == [6.0]
        assert session.run([z], {x: 2.0, y: 2.0}) == [4.0]
        assert session.run({"z": z, "pair": (x, "Square:0")}, {x: 3.0}) == {"z": 12.0, "pair": (3.0, 9.0)}
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor"):
            session.run(z)
        session.close()
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run(z, {x: 1.0})


def test_each_session_has_its_own_variables():
    with tf.Graph().as_default():
        v = tf.Variable(tf.constant(2.0) * 3.0)
        added = v.assign_add(1.0)
        initializer = v1.global_variables_initializer()
        one, two = v1.Session(), v1.Session()
        with pytest.raises(tf.errors.FailedPreconditionError):
            one.run(v)
        one.run(initializer)
        two.run(initializer)
        assert one.run(added) == 7.0 and one.run(v) == 7.0
        assert two.run(v) == 6.0


def test_a_feed_must_fit():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2])
        assert session.run(x + 1.0, {x: [[1, 2]]}).tolist() == [[2.0, 3.0]]
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run(x, {x: [1.0]})


def test_control_dependencies():
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(1.0)
        session.run(v1.global_variables_initializer())
        with tf.control_dependencies([v.assign(5.0)]):
            y = tf.constant(2.0) * 1.0
        assert session.run(y) == 2.0
        assert session.run(v) == 5.0


def test_conditionals_in_a_graph_def():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = tf.constant(9.0)
        y = tf.cond(x > 0.0, lambda: x * x, lambda: tf.constant(0.0))
        assert session.run(y) == 81.0
        proto = graph.as_graph_def()
    kinds = {node.op for node in proto.node}
    assert {"Const", "Greater", "StatelessIf"} <= kinds
    assert {f.signature.name for f in proto.library.function} == {
        a.func.name for node in proto.node for a in node.attr.values() if a.WhichOneof("value") == "func"
    }


def test_graphs_know_their_operations():
    graph = tf.Graph()
    with graph.as_default():
        with tf.name_scope("layer"):
            c = tf.constant([1.0, 2.0], name="c")
        total = tf.reduce_sum(c, name="total")
    assert [op.name for op in graph.get_operations()] == ["layer/c", "total"]
    assert graph.get_tensor_by_name("total:0") is total
    with pytest.raises(KeyError):
        graph.get_operation_by_name("nothing")
    assert v1.Session(graph=graph).run("total:0") == np.float32(3.0)
