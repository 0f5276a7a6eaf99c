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


def test_graphs_of_functions():
    to_graph = importlib.import_module("tensorflow.python.framework.function_def_to_graph").function_def_to_graph
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
        y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.cond(y[0] > 1.0, lambda: y, lambda: y + x)), (0, x)
        )
        bodies = {name: function.definition for name, function in graph._functions.items()}
        loop = next(operation for operation in graph.get_operations() if operation.type.endswith("While"))
        names = [loop.get_attr(attr).name for attr in ("cond", "body")]
        assert set(names) < bodies.keys() and y[1].shape == [2]
        body = to_graph(bodies[names[1]])
        given = to_graph(bodies[names[1]], input_shapes=[[], [], [], None, [2]])
    assert "tensorflow.python.framework.func_graph.FuncGraph" in str(type(body))
    assert [t.dtype for t in body.inputs] == [tf.int32, tf.int32, tf.int32, tf.float32, tf.float32]
    assert given.inputs[0].shape.rank == 0 and given.inputs[3].shape.rank is None
    with pytest.raises(ValueError, match="Length of `input_shapes` must match"):
        to_graph(bodies[names[1]], input_shapes=[[]])


def test_captures_of_a_function():
    v, c = tf.Variable(1.0), tf.random.normal([])
    graph = tf.function(lambda: v * c).get_concrete_function().graph
    captures = graph.function_captures
    assert list(captures.by_val_internal.values()) == graph.internal_captures
    assert captures.by_val_external[id(v)] is v and captures.by_val_internal.keys() == captures.by_val_external.keys()


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


def test_a_number_of_cpus():
    at_least = importlib.import_module(
        "tensorflow.python.distribute.strategy_combinations"
    ).set_virtual_cpus_to_at_least
    at_least(1)
    cpu = tf.config.list_physical_devices("CPU")[0]
    count = len(tf.config.get_logical_device_configuration(cpu) or [cpu])
    at_least(count)
    assert len(tf.config.list_logical_devices("CPU")) == count
    with pytest.raises(ValueError, match="must be at least 1 not 0"):
        at_least(0)


def test_evaluations_of_checkpoints(tmp_path):
    from tensorflow.python.training import evaluation

    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=3.0)
        total = v1.get_variable("total", initializer=0.0, collections=["local_variables"])
        step = v1.assign_add(total, v)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(v.assign(5.0))
            path = v1.train.Saver([v]).save(session, str(tmp_path / "model"))
        for ops in (step, [step], {"step": step}):
            hook = evaluation._StopAfterNEvalsHook(3)
            result = evaluation._evaluate_once(path, eval_ops=ops, final_ops={"total": total}, hooks=[hook])
            assert result == {"total": 15.0}
        assert evaluation._evaluate_once(path, final_ops=v) == 5.0
        counter = evaluation._get_or_create_eval_step()
        assert (counter.name, counter.dtype, counter.shape) == ("eval_step:0", tf.int64, [])
        v1.add_to_collection("eval_step", v)
        with pytest.raises(ValueError, match="Multiple tensors added"):
            evaluation._get_or_create_eval_step()
