"""Graphs and sessions of TensorFlow 1's kind, and the `GraphDef` of a graph."""

import pathlib
import threading

import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2

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


# ---- runs ------------------------------------------------------------------------------------------------------------


def test_runs_in_parts_compute_everything_once():
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(0.0)
        x, y = v1.placeholder(tf.float32, [], "x"), v1.placeholder(tf.float32, [], "y")
        session.run(v.initializer)
        with tf.control_dependencies([v.assign_add(1.0)]):
            total = x + 1.0
        product = total * y
        handle = session.partial_run_setup([total, product, v.op], [x, y])
        assert session.partial_run(handle, total, {x: 2.0}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="can't be computed from the feeds"):
            session.partial_run(handle, product)
        assert session.partial_run(handle, [product, v.op], {y: 4.0}) == [12.0, None]
        assert session.run(v) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup' before performing partial runs!"):
            session.partial_run(handle, total)
        handle = session.partial_run_setup([product], [x, y])
        with pytest.raises(tf.errors.InvalidArgumentError, match="was not specified in partial_run_setup"):
            session.partial_run(handle, total, {x: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one target"):
            session.partial_run_setup([])


def test_callables():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None])
        call = session.make_callable({"sum": tf.reduce_sum(x), "x": x}, [x])
        assert call([1.0, 2.0])["sum"] == 3.0 and call([5.0])["sum"] == 5.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed"):
            call()


def test_callables_from_options():
    with tf.Graph().as_default(), v1.Session() as session:
        x, y, other = v1.placeholder(tf.float32), v1.placeholder(tf.float32), tf.constant(5.0)
        total = x + y
        count = v1.get_variable("count", initializer=0.0, use_resource=True)
        step = count.assign_add(1.0)
        session.run(count.initializer)
        options = config_pb2.CallableOptions(
            feed=[x.name], fetch=[total.name], target=[step.op.name],
            tensor_connection=[{"from_tensor": other.name, "to_tensor": y.name}],
        )  # fmt: skip
        call = session._make_callable_from_options(options)
        assert call(np.float32(2.0)) == [7.0] and call(3.0, run_metadata=None) == [8.0]
        assert session.run(count) == 2.0


@pytest.mark.parametrize(
    ("fetch", "error", "message"),
    [
        (None, TypeError, 'Argument `fetch` = None has invalid type "NoneType"'),
        (3, TypeError, 'Argument `fetch` = 3 has invalid type "int" must be a string or Tensor'),
        ("nope", ValueError, "cannot be interpreted as a Tensor"),
        ("nope:0", ValueError, "refers to a Tensor which does not exist"),
    ],
)
def test_what_can_not_be_fetched(fetch, error, message):
    with tf.Graph().as_default(), v1.Session() as session, pytest.raises(error, match=message):
        session.run(fetch)


def test_what_can_not_be_fed():
    with tf.Graph().as_default(), v1.Session() as session:
        x, i = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.int32)
        wrong_types = [{"q:0": 3.0}, {3: 3.0}, {x: x}, {i: 2**40}, [1]]
        for feed in wrong_types:
            with pytest.raises(TypeError):
                session.run(x, feed)
        for value in ("abc", 3.0):
            with pytest.raises(ValueError, match=r"could not convert|Cannot feed value of shape"):
                session.run(x, {x: value})


def test_values_of_composite_tensors():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.sparse_placeholder(tf.float32)
        value = session.run(x, {x: ([[0, 1]], [2.0], [3, 4])})
        assert type(value).__name__ == "SparseTensorValue"
        assert (value.indices.tolist(), value.values.tolist(), value.dense_shape.tolist()) == ([[0, 1]], [2.0], [3, 4])


def test_variables_of_a_graph():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="v")
        assert (v.name, w.name, v.op.type, v.graph, v.initializer.name) == (
            "v:0",
            "v_1:0",
            "VarHandleOp",
            graph,
            "v/Assign",
        )
        assert session.run(v1.report_uninitialized_variables()).tolist() == [b"v", b"v_1"]
        with pytest.raises(tf.errors.FailedPreconditionError, match="Could not find variable v"):
            session.run(v)
        session.run(v1.global_variables_initializer())
        assert session.run(v1.is_variable_initialized(v))
        v.load([5.0, 6.0], session)
        assert v.eval().tolist() == [5.0, 6.0]
        assert {v: 1}[v] == 1
        session.run(tf.group(v1.assign(v, [0.0, 0.0]), v1.assign_add(w, 1.0)))
        assert session.run([v, w])[1] == 4.0 and session.run(v).tolist() == [0.0, 0.0]


def test_without_eager_execution():
    v1.disable_eager_execution()
    try:
        assert not tf.executing_eagerly() and not v1.executing_eagerly_outside_functions()
        c = tf.constant(2.0) * 3.0
        with v1.Session() as session:
            assert session.run(c) == 6.0
        v1.reset_default_graph()
        assert v1.get_default_graph().get_operations() == [] and not tf.executing_eagerly()
        with tf.Graph().as_default(), pytest.raises(AssertionError, match="nested graphs"):
            v1.reset_default_graph()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(tf.executing_eagerly()))
        thread.start()
        thread.join()
        assert seen == [True]
    finally:
        v1.enable_eager_execution()
    assert tf.executing_eagerly() and (tf.constant(2.0) * 3.0).numpy() == 6.0


def test_switches_between_tensorflow_1_and_2():
    v1.disable_v2_behavior()
    try:
        assert not tf.executing_eagerly() and not v1.control_flow_v2_enabled()
        chosen = v1.cond(tf.constant(True), lambda: [tf.constant(1)], lambda: [tf.constant(2)])
        assert isinstance(chosen, tf.Tensor)
    finally:
        v1.enable_v2_behavior()
    assert tf.executing_eagerly() and v1.control_flow_v2_enabled()
    v1.disable_resource_variables()
    assert v1.resource_variables_enabled()
    with pytest.raises(tf.errors.UnimplementedError):
        v1.disable_v2_tensorshape()


def test_tensors_compared_by_identity():
    a, b, v = tf.constant([1, 2]), tf.constant([1, 2]), tf.Variable(1)
    v1.disable_tensor_equality()
    try:
        assert (a == b, a == a, a != b, a == 1, v == v, v == 1) == (False, True, True, False, True, False)
        assert a not in [b]
    finally:
        v1.enable_tensor_equality()
    assert (a == b).numpy().tolist() == [True, True] and bool(v == 1)


def test_interactive_sessions():
    graph = tf.Graph()
    session = v1.InteractiveSession(graph=graph)
    try:
        assert v1.get_default_session() is session and session.graph is graph
        with graph.as_default():
            assert (tf.constant(2.0) * 3.0).eval() == 6.0
    finally:
        session.close()
    assert v1.get_default_session() is None


@pytest.mark.parametrize("scope", [None, "in"])
def test_loads_graphs_that_tensorflow_1_saved(scope):
    prefix = f"{scope}/" if scope else ""
    path = pathlib.Path(__file__).parents[2] / "fixtures" / "v1_saved_model"
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["serve"], path, scope).signature_def["serving_default"]
        x, y = (prefix + info.name for info in (signature.inputs["x"], signature.outputs["y"]))
        assert session.run(y, {x: [[1.0, 1.0], [0.0, 2.0]]}).tolist() == [[7.0], [8.0]]
        assert session.run(f"{prefix}read:0") == b"a\nc\nd\n"
        assert [v.name for v in v1.global_variables()] == [f"{prefix}layer/w:0"]


def test_init_scope_stays_in_the_graph():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        fails = v1.assert_equal(v1.placeholder_with_default(1, []), 2)
        with tf.control_dependencies([fails]), tf.init_scope():
            assert not tf.executing_eagerly()
            c = tf.constant(1.0) + 1.0
        assert c.graph is graph and session.run(c) == 2.0

        @tf.function
        def f():
            with tf.init_scope():
                made.append(tf.constant(3.0))
            return tf.constant(1.0)

        made: list[tf.Tensor] = []
        f()
        assert made[0].graph is graph


def test_collections():
    with tf.Graph().as_default() as graph:
        v1.add_to_collection("mine", 1)
        v1.get_variable("a/v", [1])
        assert v1.get_collection("mine") == [1]
        assert [v.name for v in v1.get_collection(v1.GraphKeys.GLOBAL_VARIABLES, "a/")] == ["a/v:0"]
        assert sorted(graph.get_all_collection_keys()) == ["mine", "trainable_variables", "variables"]


def test_an_operation_takes_the_name_of_a_scope_as_it_is():
    with tf.Graph().as_default():
        with v1.name_scope("outer"), v1.name_scope("layer") as scope:
            inside = tf.identity(1.0, name="x")
            result = tf.identity(inside, name=scope)
        assert (inside.name, result.name) == ("outer/layer/x:0", "outer/layer:0")
        variable = v1.Variable(1.0, name=scope)
        assert variable.name == "outer/layer_1:0"
        with v1.name_scope("fresh") as fresh:
            assert v1.Variable(1.0, name=fresh).name == "fresh:0"


def test_what_an_assignment_gives_is_read_after_it():
    with tf.Graph().as_default(), v1.Session() as sess:
        v = tf.Variable(1.0)
        twice = v.assign_add(2.0) * 2.0
        sess.run(v.initializer)
        assert sess.run(twice) == 6.0
        assert sess.run(v) == 3.0


def test_partial_runs_draw_as_whole_ones_do():
    with tf.Graph().as_default():
        first, second = (tf.random.uniform([], seed=seed) for seed in (1, 1))
        with v1.Session() as sess:
            whole = [sess.run([first, second]) for _ in range(2)]
        with v1.Session() as sess:
            parts = []
            for _ in range(2):
                handle = sess.partial_run_setup([first, second], [])
                parts.append([sess.partial_run(handle, t) for t in (first, second)])
    assert parts == whole
