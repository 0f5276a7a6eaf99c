"""Members of graphs, operations and functions that few programs use."""

import pytest

import tapeflow as tf


def test_operations_by_the_names_of_their_ops():
    with tf.Graph().as_default() as graph:
        x = tf.constant([1.0, 2.0], name="x")
        negative = graph.create_op("Neg", [x], name="negative")
        total = graph.create_op("AddN", [x, negative.outputs[0]])
        copy = tf.Operation.from_node_def(negative.node_def, graph, [x])
    assert [op.name for op in (negative, total, copy)] == ["negative", "AddN", "negative_1"]
    assert negative.get_attr("T") is tf.float32 and graph.num_operations() == 4
    with tf.compat.v1.Session(graph=graph) as session:
        assert session.run([copy.outputs[0], total.outputs[0]])[0].tolist() == [-1.0, -2.0]
    with pytest.raises(tf.errors.NotFoundError):
        graph.create_op("NoSuchOp", [])


def test_definitions_and_versions():
    graph = tf.Graph()
    definition = graph.op_def_for_type("MatMul")
    assert [a.name for a in definition.input_arg] == ["a", "b"]
    assert {a.name: a.default_value.b for a in definition.attr}["transpose_a"] is False
    assert graph.graph_def_versions.producer == graph.as_graph_def().versions.producer


def test_what_may_be_fed_and_fetched():
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0, name="x")
    assert graph.is_feedable(x) and graph.is_fetchable(x.op)
    graph.prevent_feeding(x)
    graph.prevent_fetching(x.op)
    assert not graph.is_feedable(x) and not graph.is_fetchable(x) and x.op.colocation_groups() == [b"loc:@x"]


def test_other_gradients():
    @tf.RegisterGradient("TwiceTheGradient")
    def _(op, dy):
        return dy * 2.0

    @tf.RegisterGradient("ThriceTheGradient")
    def _(op, dy):
        return dy * 3.0

    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        with graph.gradient_override_map({"Identity": "TwiceTheGradient"}):
            y = tf.identity(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                z = tf.identity(x)
            within = tf.gradients(y, x)[0]
            of_tape = tape.gradient(z, x)  # tapes ignore the map, as TensorFlow's do
            with graph.gradient_override_map({"Identity": "ThriceTheGradient"}):
                inner = tf.identity(x)
        dx, thrice, own = [tf.gradients(t, x)[0] for t in (y, inner, tf.identity(x))]
    with tf.compat.v1.Session(graph=graph) as session:
        assert session.run([dx, within, of_tape, thrice, own]) == [2.0, 2.0, 1.0, 3.0, 1.0]
    with pytest.raises(TypeError, match="must be a dictionary"), graph.gradient_override_map([]):
        pass


def test_inner_functions():
    v = tf.Variable(3.0)
    concrete = tf.function(lambda x, k=2: x * v + k).get_concrete_function(tf.TensorSpec([], tf.float32))
    inner = concrete.inference_fn
    assert [t.numpy() for t in inner(tf.constant(2.0), v)] == [8.0]
    assert inner.call_with_captures((tf.constant(2.0),), {}, [v]).numpy() == 8.0
    assert inner.name == concrete.name and list(concrete.function_type.parameters) == ["x", "k"]


def test_attrs_are_those_of_the_node():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 4, 4, 1])
        conv = tf.nn.conv2d(x, tf.ones([2, 2, 1, 1]), [1, 2, 2, 1], "SAME").op
        constant = tf.constant([1, 2]).op
    assert [conv.get_attr(name) for name in ("padding", "strides", "explicit_paddings")] == [b"SAME", [1, 2, 2, 1], []]
    assert [d.size for d in x.op.get_attr("shape").dim] == [-1, 4, 4, 1]
    assert tf.make_ndarray(constant.get_attr("value")).tolist() == [1, 2] and constant.get_attr("dtype") is tf.int32
    with pytest.raises(ValueError, match=r"Operation 'Conv2D' has no attr named 'nope'\."):
        conv.get_attr("nope")


def test_what_runs_after_an_operation():
    with tf.Graph().as_default():
        first = tf.constant(1.0).op
        with tf.control_dependencies([first]):
            second = tf.constant(2.0).op
    assert first._control_outputs == [second] and second._control_outputs == []


def test_a_program_sets_the_control_flow_context_of_the_graph_that_is_built():
    @tf.function(jit_compile=True)
    def f(x):
        graph = tf.compat.v1.get_default_graph()
        before = graph._get_control_flow_context()
        graph._set_control_flow_context("own")
        seen.append((before, graph._control_flow_context))
        graph._set_control_flow_context(before)
        return x + 1.0

    seen = []
    assert float(f(1.0)) == 2.0
    assert seen[0] == (None, "own")


def test_numbers_in_lists_of_tensors_are_constants():
    """Tensors from outside are captured, if they are large. The names are TensorFlow's."""
    large = tf.ones([200])

    def found(values):
        joined = tf.function(lambda x: tf.concat(values(x), 0), autograph=False)
        concrete = joined.get_concrete_function(tf.TensorSpec([2]))
        names = [o.name for o in concrete.graph.get_operations() if o.name.startswith("concat/values")]
        return len(concrete.captured_inputs), names

    assert found(lambda x: [x, [1.0, 2.0]]) == (0, ["concat/values_1"])
    assert found(lambda x: ([1.0], x, (3.0,), x)) == (0, ["concat/values_0", "concat/values_2"])
    assert found(lambda x: [x, [1.0] * 200]) == (0, ["concat/values_1"])
    assert found(lambda x: [x, large, [1.0]])[0] == 1
