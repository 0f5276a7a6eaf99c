"""Graphs with constants for their variables; the results are those of TensorFlow 2.21."""

import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tapeflow as tf
from tapeflow_compat.tensorflow_python.tools.freeze_graph import freeze_graph, freeze_graph_with_def_protos

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A graph with two variables in all forms, and a checkpoint of them."""
    path = tmp_path_factory.mktemp("graph")
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        with tf.device("/device:CPU:0"):
            a = v1.get_variable("a", initializer=[1.0, 2.0], use_resource=True)
        b = v1.get_variable("b", initializer=[3.0, 5.0], use_resource=True)
        v1.assign(b, [20.0, 30.0], name="change")
        y = tf.add(a * x, b, name="y")
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver()
        saver.save(session, str(path / "values"), write_meta_graph=False)
        v1.train.export_meta_graph(str(path / "meta"), saver_def=saver.as_saver_def())
        (path / "graph").write_bytes(graph.as_graph_def().SerializeToString())
        (path / "text").write_text(str(graph.as_graph_def()))
        (path / "saver").write_bytes(saver.as_saver_def().SerializeToString())
        v1.saved_model.simple_save(session, str(path / "model"), {"x": x}, {"y": y})
    return path


def freeze(folder, graph="graph", saver="", binary=True, checkpoint="values", names="y", output="", clear=True,
           initializers="", **options):  # fmt: skip
    paths = [str(folder / name) if name else "" for name in (graph, saver, checkpoint)]
    return freeze_graph(paths[0], paths[1], binary, paths[2], names, None, None, output, clear, initializers, **options)


def test_operations_of_the_graph_restore_the_variables(tmp_path):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        a = v1.get_variable("a", initializer=3.0, use_resource=True)
        tf.identity(a.read_value() * 2.0, name="y")
        path = tf.constant("", name="path")
        (value,) = tf.raw_ops.RestoreV2(prefix=path, tensor_names=["other"], shape_and_slices=[""], dtypes=[tf.float32])
        v1.assign(a, tf.reshape(value, []), name="restore")
        session.run(v1.global_variables_initializer())
        v1.train.Saver({"other": a}).save(session, str(tmp_path / "values"), write_meta_graph=False)
    definition = v1.train.Saver(allow_empty=True).as_saver_def()
    definition.filename_tensor_name, definition.restore_op_name, definition.save_tensor_name = (
        "path:0",
        "restore",
        "path:0",
    )
    graph_def = graph.as_graph_def()
    (node,) = [node for node in graph_def.node if node.op == "RestoreV2"]
    node.attr["dtypes"].list.type[:] = [tf.float32.as_datatype_enum]
    frozen = freeze_graph_with_def_protos(
        graph_def, definition, str(tmp_path / "values"), "y", None, None, "", True, ""
    )
    with tf.Graph().as_default(), v1.Session() as session:
        tf.graph_util.import_graph_def(frozen, name="")
        assert session.run("y:0") == 6.0


def run(graph_def):
    with tf.Graph().as_default(), v1.Session() as session:
        tf.graph_util.import_graph_def(graph_def, name="")
        return session.run("y:0", {"x:0": [10.0, 100.0]}).tolist()


VALUES = [13.0, 205.0]


@pytest.mark.parametrize(
    "options",
    [
        {}, {"saver": "saver"}, {"graph": "text", "binary": False}, {"graph": "", "meta": True},
        {"graph": "", "checkpoint": "", "input_saved_model_dir": "model"},
    ],
    ids=str,
)  # fmt: skip
def test_variables_become_constants(folder, options):
    options = dict(options)
    if options.pop("meta", False):
        options["input_meta_graph"] = str(folder / "meta")
    if "input_saved_model_dir" in options:
        options["input_saved_model_dir"] = str(folder / "model")
    frozen = freeze(folder, **options)
    assert run(frozen) == VALUES
    assert not {"VarHandleOp", "AssignVariableOp"} & {node.op for node in frozen.node}
    assert {node.op for node in frozen.node if node.name in ("a", "b")} == {"Const"}


def test_nodes_that_run_before(folder):
    assert run(freeze(folder, initializers="change")) == [30.0, 230.0]


@pytest.mark.parametrize(
    ("options", "kept"),
    [({"variable_names_whitelist": "a"}, {"b"}), ({"variable_names_denylist": "a"}, {"a"}),
     ({"variable_names_whitelist": "a, b", "variable_names_denylist": "b"}, {"b"})],
)  # fmt: skip
def test_variables_that_stay(folder, options, kept):
    frozen = freeze(folder, **options)
    assert {node.name for node in frozen.node if node.op == "VarHandleOp"} == kept
    assert {node.name for node in frozen.node if node.op == "Const"} >= {"a", "b"} - kept


@pytest.mark.parametrize("clear", [True, False])
def test_devices_of_nodes(folder, clear):
    graph_def = GraphDef.FromString((folder / "graph").read_bytes())
    graph_def.node[0].device = "/device:CPU:0"
    frozen = freeze_graph_with_def_protos(graph_def, None, str(folder / "values"), "y", None, None, "", clear, "")
    assert {node.device for node in frozen.node if node.name == graph_def.node[0].name} == {
        "" if clear else "/device:CPU:0"
    }


def test_the_graph_is_written(folder, tmp_path):
    path = tmp_path / "frozen"
    frozen = freeze(folder, output=str(path))
    assert GraphDef.FromString(path.read_bytes()) == frozen


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"checkpoint": "no"}, ValueError, "Input checkpoint '.*no' doesn't exist!"),
        ({"checkpoint": ""}, ValueError, "Input checkpoint '' doesn't exist!"),
        ({"names": ""}, ValueError, "You need to supply the name of a node to --output_node_names"),
        ({"graph": ""}, ValueError, "There is no graph: pass --input_graph, --input_meta_graph or"),
        ({"graph": "no"}, OSError, "Input graph file '.*no' does not exist!"),
        ({"saver": "no"}, OSError, "Input saver file '.*no' does not exist!"),
        ({"input_meta_graph": "no"}, OSError, "Input meta graph file 'no' does not exist!"),
    ],
)
def test_files_that_are_missing(folder, options, error, message):
    with pytest.raises(error, match=message):
        freeze(folder, **options)


def test_graphs_without_the_variables(folder, tmp_path):
    def graph_def_of(*names):
        with tf.Graph().as_default() as graph:
            variables = [v1.get_variable(name, initializer=1.0, use_resource=True) for name in names]
            tf.add_n([tf.constant(1.0), *variables], name="y")
        return graph.as_graph_def()

    checkpoint = str(folder / "values")
    for names, message in (
        ((), "No variables were found in this model. It is likely the model was frozen previously"),
        (("c",), "No variables were found in this model"),
        (("a/part_0", "a/part_1"), "Models containing partition variables cannot be converted from checkpoint files"),
    ):
        with pytest.raises(ValueError, match=message):
            freeze_graph_with_def_protos(graph_def_of(*names), None, checkpoint, "y", None, None, "", True, "")
