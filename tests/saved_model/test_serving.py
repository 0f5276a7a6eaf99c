"""The graph of a SavedModel: what TensorFlow 1 and servers run and restore."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    module = tf.Module()
    module.v, module.w = tf.Variable([1.0, 2.0]), tf.Variable(3, name="count")
    lines = tf.lookup.TextFileInitializer(
        str(tmp_path / "words"), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )  # fmt: skip
    module.words = tf.lookup.StaticHashTable(lines, -1)
    module.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    module.counts.insert(["x"], [7])
    module.numbers = tf.random.stateless_uniform([5000], [1, 2])  # too many for a constant of the function

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "words"), tf.TensorSpec([], tf.float32, "scale")])
    def find(words, scale):
        return {
            "number": module.words.lookup(words),
            "count": module.counts.lookup(words),
            "v": module.v * scale,
            "w": module.w + 0,
            "sum": tf.reduce_sum(module.numbers),
        }

    @tf.function(input_signature=[tf.TensorSpec([2], name="value")])
    def assign(value):
        module.v.assign(value)
        module.counts.insert(["x"], [9])
        return {"done": module.w.assign_add(1)}

    module.find, module.assign = find, assign
    tf.saved_model.save(module, str(tmp_path / "m"), {"find": find, "assign": assign})
    return str(tmp_path / "m"), float(tf.reduce_sum(module.numbers))


def call(session, meta, name, **feeds):
    signature = meta.signature_def[name]
    fetches = {key: info.name for key, info in signature.outputs.items()}
    return session.run(fetches, {signature.inputs[key].name: value for key, value in feeds.items()})


def test_signatures_are_run_by_sessions(folder):
    path, total = folder
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], path)
        found = call(session, meta, "find", words=["b", "x", "a"], scale=2.0)
        assert found["number"].tolist() == [1, -1, 0] and found["count"].tolist() == [0, 7, 0]
        assert found["v"].tolist() == [2.0, 4.0] and found["w"] == 3
        assert found["sum"] == pytest.approx(total, rel=1e-6)
        assert call(session, meta, "assign", value=[5.0, 6.0]) == {"done": 4}
        found = call(session, meta, "find", words=["x"], scale=1.0)
        assert (found["v"].tolist(), found["w"], found["count"].tolist()) == ([5.0, 6.0], 4, [9])


def test_savers_of_the_graph(folder, tmp_path):
    path, _ = folder
    with tf.Graph().as_default() as graph, v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], path)
        call(session, meta, "assign", value=[5.0, 6.0])
        saver = meta.saver_def
        prefix = str(tmp_path / "again")
        assert session.run(saver.save_tensor_name, {saver.filename_tensor_name: prefix}).decode().startswith(prefix)
        names = dict(tf.train.list_variables(prefix))
        value = "/.ATTRIBUTES/VARIABLE_VALUE"
        expected = {f"v{value}": [2], f"w{value}": []}
        expected |= {f"counts/.ATTRIBUTES/table-{part}": [1] for part in ("keys", "values")}
        assert names == expected
        assert tf.train.load_variable(prefix, f"w{value}") == 4
        restore = graph.get_operation_by_name(saver.restore_op_name)
        session.run(restore, {saver.filename_tensor_name: f"{path}/variables/variables"})
        found = call(session, meta, "find", words=["x"], scale=1.0)
        assert (found["v"].tolist(), found["w"], found["count"].tolist()) == ([1.0, 2.0], 3, [7])


def test_nodes_of_the_graph(folder):
    from tapeflow.saved_model.messages import read_model

    (meta,) = read_model(folder[0])
    nodes = {node.name: node for node in meta.graph_def.node}
    variables = [node for node in nodes.values() if node.op == "VarHandleOp"]
    assert sorted(node.attr["dtype"].type for node in variables) == [1, 3]
    assert len({node.attr["shared_name"].s for node in variables}) == 2
    find = meta.signature_def["find"]
    placeholder = nodes[find.inputs["words"].name.removesuffix(":0")]
    assert placeholder.op == "Placeholder" and placeholder.attr["dtype"].type == 7
    assert [d.size for d in placeholder.attr["shape"].shape.dim] == [-1]
    calls = {info.name.partition(":")[0] for info in find.outputs.values()}
    (name,) = calls
    assert nodes[name].op == "StatefulPartitionedCall" and len(nodes[name].attr["Tout"].list.type) == 5
    assert len(nodes[name].attr["Tin"].list.type) == len(nodes[name].input)
    outputs = {key: int(info.name.partition(":")[2]) for key, info in find.outputs.items()}
    assert sorted(outputs, key=outputs.get) == sorted(outputs)
    types = {key: nodes[name].attr["Tout"].list.type[i] for key, i in outputs.items()}
    assert types == {key: info.dtype for key, info in find.outputs.items()}


def test_a_model_without_variables(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: {"y": x + 1.0}, input_signature=[tf.TensorSpec([], name="x")])
    tf.saved_model.save(module, str(tmp_path / "m"))
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        assert call(session, meta, "serving_default", x=1.0) == {"y": 2.0}
