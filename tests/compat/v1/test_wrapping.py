"""`tf.compat.v1.wrap_function`, and what savers save beside variables."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def scaled(x):
    w = v1.get_variable("w", [], initializer=v1.constant_initializer(2.0))
    return {"y": x * w, "op": v1.assign_add(w, 1.0).op}


def build():
    a = v1.placeholder(tf.float32, [2], name="a")
    b = tf.identity(a * 2.0, name="b")
    c = tf.add(b, v1.get_variable("v", initializer=[1.0, 2.0]), name="c")
    v1.assign(v1.get_variable("unused", initializer=0.0), 1.0, name="assigned")
    return c


def test_a_wrapped_function_runs_what_it_returns():
    f = v1.wrap_function(scaled, [tf.TensorSpec([], tf.float32)])
    results = [f(3.0) for _ in range(2)]
    assert [r["op"] for r in results] == [None, None]
    assert float(f.variables[0]) == 4.0
    assert [v.name for v in f.variables] == ["w:0"]
    assert repr(f.graph).startswith("FuncGraph(name=wrapped_function, ")


def test_nothing_runs_for_its_effects_alone():
    graph = v1.wrap_function(build, [])
    unused = next(v for v in graph.variables if v.name == "unused:0")
    graph.prune("a:0", "c:0")(tf.constant([1.0, 1.0]))
    assert float(unused) == 0.0
    assert graph.prune([], graph.graph.get_operation_by_name("assigned"))() is None
    assert float(unused) == 1.0


def test_prune():
    graph = v1.wrap_function(build, [])
    assert graph.prune("a:0", "c:0")(tf.constant([1.0, 1.0])).numpy().tolist() == [3.0, 4.0]
    b, c = graph.prune("a:0", ["b:0", "c:0"])(tf.constant([1.0, 2.0]))
    assert b.numpy().tolist() == [2.0, 4.0]
    assert c.numpy().tolist() == [3.0, 6.0]
    from_the_middle = graph.prune({"b": "b:0"}, {"c": "c:0"})
    assert from_the_middle(b=tf.constant([0.0, 0.0]))["c"].numpy().tolist() == [1.0, 2.0]
    assert from_the_middle.graph.get_operations()[0].name == "b"
    assert from_the_middle.prune("b:0", "c:0")(tf.constant([5.0, 5.0])).numpy().tolist() == [6.0, 7.0]
    with pytest.raises(ValueError, match="must be tensors"):
        graph.prune("b", "c:0")
    with pytest.raises(KeyError):
        graph.prune("nothing:0", "c:0")
    with pytest.raises(ValueError, match="Can only prune function whose feeds and fetches from graph"):
        graph.prune([], from_the_middle.outputs[0])


def test_gradients_pass():
    f = v1.wrap_function(lambda x: x * v1.get_variable("w", initializer=3.0), [tf.TensorSpec([], tf.float32)])
    x = tf.constant(2.0)
    for function in (f, f.prune(f.inputs[0], f.outputs[0]), tf.function(lambda x: f(x))):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        assert [float(g) for g in tape.gradient(y, [x, *f.variables])] == [3.0, 2.0]


def test_a_graph_def_is_called():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        tf.add(x, 2.0, name="y")
    wrapped = v1.wrap_function(lambda: tf.import_graph_def(graph.as_graph_def(), name=""), [])
    assert float(wrapped.prune("x:0", "y:0")(tf.constant(1.0))) == 3.0


def test_arguments_of_other_types_are_refused():
    f = v1.wrap_function(lambda x: x + 1.0, [tf.TensorSpec([], tf.float32)])
    with pytest.raises(NotImplementedError, match="Keyword arguments are not supported"):
        f(x=1.0)
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32"):
        f(tf.constant(1))


def test_savers_save_the_positions_of_iterators(tmp_path):
    def element_and_saver():
        iterator = v1.data.make_initializable_iterator(tf.data.Dataset.range(9).shuffle(9, seed=1))
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
        v1.get_variable("w", initializer=5.0)
        return iterator.initializer, iterator.get_next(), v1.train.Saver()

    with tf.Graph().as_default(), v1.Session() as sess:
        begin, element, saver = element_and_saver()
        sess.run([begin, v1.global_variables_initializer()])
        for _ in range(3):
            sess.run(element)
        path = saver.save(sess, str(tmp_path / "ckpt"))
        expected = [sess.run(element) for _ in range(4)]
        saver.restore(sess, path)
        assert [sess.run(element) for _ in range(4)] == expected
    assert [name for name, _ in tf.train.list_variables(path)] == ["IteratorV2:0_STATE", "w"]
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        begin, element, saver = element_and_saver()
        graph.finalize()
        sess.run(begin)
        saver.restore(sess, path)
        assert [sess.run(element) for _ in range(4)] == expected


def test_graphs_with_iterators_are_written(tmp_path):
    with tf.Graph().as_default():
        iterator = v1.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices({"x": np.ones([2, 3])}))
        iterator.get_next()
        w = v1.get_variable("w", initializer=1.0)
        meta = v1.train.Saver([w]).export_meta_graph(str(tmp_path / "graph.meta"), clear_devices=True)
    assert [node.op for node in meta.graph_def.node if "Iterator" in node.op] == [
        "IteratorV2", "MakeIterator", "IteratorGetNext",
    ]  # fmt: skip


def test_parts_of_wrapped_control_flow():
    def build(x):
        v = v1.get_variable("v", [], initializer=v1.ones_initializer())
        if_false, if_true = tf.raw_ops.Switch(data=x * v, pred=x > 0)
        return tf.raw_ops.Merge(inputs=[if_false, if_true])

    f = v1.wrap_function(build, [tf.TensorSpec([], tf.float32)])
    assert [t.dtype for t in f.inputs] == [tf.float32, tf.resource] and f.outputs == list(f.structured_outputs)
    for x, branch in ((2.0, 1), (-2.0, 0)):
        assert f.prune(f.inputs, f.outputs[1])(tf.constant(x)).numpy() == branch
        assert [r.numpy() for r in f.prune(f.inputs[0].name, ["Merge:1", "Merge:0"])(tf.constant(x))] == [branch, x]
