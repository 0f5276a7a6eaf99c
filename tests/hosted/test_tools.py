"""What tools that read or convert graphs ask TensorFlow's inner modules for."""

import importlib

import pytest

import tapeflow as tf


@pytest.fixture(autouse=True, scope="module")
def hosted():
    tf.install_as_tensorflow()


def test_definitions_of_ops():
    definitions = importlib.import_module("tensorflow.python.framework.c_api_util").ApiDefMap()
    assert "MatMul" in definitions.op_names()
    assert [output.name for output in definitions.get_op_def("Unique").output_arg] == ["y", "idx"]
    with pytest.raises(ValueError, match="No op_def found with op name NoSuchOp"):
        definitions.get_op_def("NoSuchOp")


def test_statistics_of_operations():
    ops = importlib.import_module("tensorflow.python.framework.ops")

    @ops.RegisterStatistics("Rint", "test")
    def _(graph, node):
        return ops.OpStats("test", graph.get_tensor_by_name(f"{node.name}:0").shape.num_elements())

    with tf.Graph().as_default() as graph:
        nodes = [t.op.node_def for t in (tf.math.rint(tf.ones([2, 3])), tf.ones([2]))]
    stats = [ops.get_stats_for_node_def(graph, node, "test") for node in nodes]
    assert [s.value for s in stats] == [6, None]
    stats[1] += stats[0]
    stats[1] += stats[0]
    assert stats[1].value == 12
    with pytest.raises(ValueError, match="Can't add an OpStat of type test to one of flops"):
        stats[0] += ops.OpStats("flops", 1)
    with pytest.raises(KeyError, match="two statistics functions with name 'Rint,test'"):
        ops.RegisterStatistics("Rint", "test")(len)
    for name in (3, "Add,Mul"):
        with pytest.raises(TypeError, match="op_type must"):
            ops.RegisterStatistics(name, "test")


def test_an_optimized_graph_has_no_calls():
    optimizer = importlib.import_module("tensorflow.python.grappler.tf_optimizer")
    doubled = tf.function(lambda x: x * 2.0)
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        tf.identity(doubled(doubled(x)), name="y")
    graph_def = optimizer.OptimizeGraph(None, tf.compat.v1.train.export_meta_graph(graph=graph))
    assert not {"PartitionedCall", "StatefulPartitionedCall"} & {node.op for node in graph_def.node}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x, y = tf.import_graph_def(graph_def, return_elements=["x:0", "y:0"])
        assert session.run(y, {x: 3.0}) == 12.0
