"""Models of old TensorFlow versions load in every way, compute what they computed, and train on."""

import importlib.util
import pathlib
import shutil

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
HOME = pathlib.Path(__file__).parents[1] / "fixtures" / "old_versions"
SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "old_versions" / "graphs.py"


def _subject():
    spec = importlib.util.spec_from_file_location("old_graphs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


graphs = _subject()
GRAPHS = [name for name in graphs.FIXTURES["1.15.5"] if name in graphs.GRAPHS]
FUNCTIONS = [name for name in graphs.FIXTURES["2.0.4"] if name != "estimator"]


@pytest.fixture
def files(monkeypatch, tmp_path):
    """Returns a function that makes a copy of the artefacts of a version current: their files have relative names."""

    def of(version, name):
        shutil.copytree(HOME / version / "graphs" / name, tmp_path / name)
        monkeypatch.chdir(tmp_path)
        return name

    return of


def check(results, name):
    """Checks results: outputs to 2e-5 of the largest value, what follows of training to 1e-5."""
    expected = dict(np.load(f"{name}/io.npz"))
    expected["first_loss"] = expected["losses"][0] if len(expected.get("losses", ())) else None
    for key, value in results.items():
        scale = np.abs(expected[key]).max() if np.size(expected[key]) else 0.0
        np.testing.assert_allclose(value, expected[key], 0, (2e-5 if key == "y" else 1e-5) * scale, err_msg=key)


@pytest.mark.parametrize("loader", graphs.LOADERS)
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_of_tensorflow_1(name, loader, files):
    check(graphs.load_and_run(tf, files("1.15.5", name), loader), name)


@pytest.mark.parametrize("loader", graphs.LOADERS[:2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_tensorflow_2_0(name, loader, files):
    results = graphs.load_and_call(tf, files("2.0.4", name), loader)
    check(results, name)
    if name == "prints_to_file":
        assert pathlib.Path("prints_to_file/printed.txt").read_text().startswith("sum -2.02")


def test_an_estimator_reads_its_vocabulary(files):
    folder = files("2.0.4", "estimator")
    io = np.load(f"{folder}/io.npz")
    predict = tf.saved_model.load(f"{folder}/saved").signatures["predict"]
    results = predict(tf.constant(io["examples"]))
    with v1.Session(graph=tf.Graph()) as sess:
        signature = v1.saved_model.load(sess, ["serve"], f"{folder}/saved").signature_def["predict"]
        outputs = {key: info.name for key, info in signature.outputs.items()}
        in_session = sess.run(outputs, {signature.inputs["examples"].name: io["examples"]})
    for found in (in_session, {key: value.numpy() for key, value in results.items()}):
        np.testing.assert_allclose(found["logits"], io["logits"], 0, 2e-5)
        assert found["classes"].tolist() == io["classes"].astype(object).tolist()


@pytest.mark.parametrize("prefix", ["m", "shards-?????-of-00001"])
def test_checkpoints_of_the_first_format(prefix, files):
    folder = files("1.15.5", "first_format")
    expected = {key.replace("|", "/"): value for key, value in np.load(f"{folder}/io.npz").items()}
    reader = tf.train.load_checkpoint(f"{folder}/{prefix}")
    assert reader.get_variable_to_shape_map() == {key: list(value.shape) for key, value in expected.items()}
    for key, value in expected.items():
        np.testing.assert_array_equal(reader.get_tensor(key), value.astype(object) if key == "text" else value)
        assert key == "text" or reader.get_variable_to_dtype_map()[key] == value.dtype


def test_a_graph_restores_and_saves_the_first_format(files):
    folder = files("1.15.5", "first_format")
    with v1.Session(graph=tf.Graph()) as sess:
        saver = v1.train.import_meta_graph(f"{folder}/m.meta")
        saver.restore(sess, f"{folder}/m")
        path = saver.save(sess, "again")
    np.testing.assert_array_equal(tf.train.load_variable(path, "parts/w"), np.load(f"{folder}/io.npz")["parts|w"])
    assert tf.train.latest_checkpoint(".") == "./again"


def test_what_is_no_checkpoint_of_the_first_format(files):
    folder = files("1.15.5", "first_format")
    with pytest.raises(tf.errors.DataLossError, match=r"m.meta: .*Perhaps the file is corrupt or no checkpoint"):
        tf.train.load_checkpoint(f"{folder}/m.meta")
    data = pathlib.Path(f"{folder}/m").read_bytes()
    pathlib.Path("cut").write_bytes(data[: len(data) // 2])
    with pytest.raises(tf.errors.DataLossError):
        tf.train.load_checkpoint("cut")


# ---- graphs as functions ---------------------------------------------------------------------------------------------


def test_parts_of_a_loaded_graph(files):
    folder = files("1.15.5", "plain_ref")
    io = np.load(f"{folder}/io.npz")
    loaded = tf.saved_model.load(f"{folder}/saved")
    assert {v.name for v in loaded.variables} >= {"w:0", "b:0", "global_step:0"}
    assert {v.name for v in loaded.variables if v.trainable} == {"w:0", "b:0"}
    assert loaded.graph.get_tensor_by_name("y:0").shape.as_list() == [None, 2]
    logits, output = loaded.prune("x:0", [loaded.graph.get_tensor_by_name("add:0"), "y:0"])(tf.constant(io["x"]))
    np.testing.assert_allclose(np.tanh(logits), output, 1e-6)
    again = loaded.prune(["add:0"], {"y": "y:0"})(logits)
    np.testing.assert_array_equal(again["y"], output)
    with pytest.raises(KeyError, match="The graph has no 'nowhere'"):
        loaded.prune("x:0", "nowhere:0")
    with pytest.raises(TypeError, match="missing required inputs: x"):
        loaded.signatures["serving_default"]()
    with pytest.raises(ValueError, match="has one MetaGraph with tags"):
        tf.saved_model.load(f"{folder}/saved", tags=["train"])


def test_training_changes_the_variables_of_a_loaded_graph_alone(files):
    folder = files("1.15.5", "plain_ref")
    first, second = (tf.saved_model.load(f"{folder}/saved") for _ in range(2))
    before = first.signatures["serving_default"](x=tf.ones([1, 3]))["y"]
    for variable in first.variables:
        if variable.trainable:
            variable.assign(tf.zeros_like(variable))
    assert not first.signatures["serving_default"](x=tf.ones([1, 3]))["y"].numpy().any()
    np.testing.assert_array_equal(second.signatures["serving_default"](x=tf.ones([1, 3]))["y"], before)


@pytest.mark.parametrize("name", ["plain_ref", "table_res", "vocabulary_ref", "lstm_ref"])
def test_a_loaded_graph_can_be_saved_again(name, files):
    folder = files("1.15.5", name)
    io = np.load(f"{folder}/io.npz")
    loaded = tf.saved_model.load(f"{folder}/saved")
    tf.saved_model.save(loaded, "again", signatures=dict(loaded.signatures))
    again = tf.saved_model.load("again").signatures["serving_default"]
    np.testing.assert_allclose(again(x=tf.constant(io["x"]))["y"], io["y"], 0, 2e-5)


def test_saved_models_in_the_form_of_text(files):
    folder = files("1.15.5", "plain_ref")
    io = np.load(f"{folder}/io.npz")
    with v1.Session(graph=tf.Graph()) as sess:
        meta = v1.saved_model.load(sess, ["serve"], f"{folder}/saved")
    (file,) = pathlib.Path(folder, "saved").glob("*.pb")
    file.with_suffix(".pbtxt").write_text(f"saved_model_schema_version: 1\nmeta_graphs {{\n{meta}}}\n")
    file.unlink()
    assert tf.saved_model.contains_saved_model(f"{folder}/saved")
    loaded = tf.saved_model.load(f"{folder}/saved")
    y = loaded.signatures["serving_default"](x=tf.constant(io["x"]))["y"]
    np.testing.assert_allclose(y, io["y"], 0, 2e-5)
    file.with_suffix(".pbtxt").write_text("meta_graphs { nothing }")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.saved_model.load(f"{folder}/saved")


def test_one_of_several_graphs_is_loaded_by_its_tags(tmp_path):
    builder = v1.saved_model.Builder(str(tmp_path / "model"))
    for factor, tag in ((2.0, "serve"), (3.0, "train")):
        with tf.Graph().as_default(), v1.Session() as sess:
            v = v1.get_variable("v", initializer=5.0)
            x = v1.placeholder(tf.float32, [], name="x")
            sess.run(v.initializer)
            signature = v1.saved_model.predict_signature_def({"x": x}, {"y": x * v * factor})
            if tag == "serve":
                builder.add_meta_graph_and_variables(sess, [tag], {"serving_default": signature})
            else:
                builder.add_meta_graph([tag], {"serving_default": signature})
    builder.save()
    with pytest.raises(ValueError, match="requires a 'tags=' argument if there is more than one MetaGraph"):
        tf.saved_model.load(str(tmp_path / "model"))
    for tags, expected in (("serve", 10.0), (["train"], 15.0)):
        loaded = tf.saved_model.load(str(tmp_path / "model"), tags)
        assert loaded.signatures["serving_default"](x=tf.constant(1.0))["y"].numpy() == expected


def test_wrapped_graphs_run_control_flow_as_it_stands(files):
    folder = files("1.15.5", "loop_in_loop_res")
    io = np.load(f"{folder}/io.npz")
    with v1.Session(graph=tf.Graph()) as sess:
        v1.saved_model.load(sess, ["serve"], f"{folder}/saved")
        frozen = v1.graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), ["y", "loss"])
    wrapped = v1.wrap_function(lambda: tf.import_graph_def(frozen, name=""), [])
    np.testing.assert_allclose(wrapped.prune("x:0", "y:0")(tf.constant(io["x"])), io["y"], 1e-5)


def test_ops_that_are_not_here_fail_only_when_they_run(tmp_path):
    with tf.Graph().as_default():
        tf.square(v1.placeholder(tf.float32, [], name="x"), name="y")
        meta = v1.train.export_meta_graph()
    node = meta.graph_def.node.add(name="read", op="LMDBReader")
    node.attr["container"].s = b""
    with v1.Session(graph=tf.Graph()) as sess:
        v1.train.import_meta_graph(meta)
        assert sess.run("y:0", {"x:0": 3.0}) == 9.0
        with pytest.raises(tf.errors.UnimplementedError, match="Op type 'LMDBReader' of node 'read' is TensorFlow's"):
            sess.run("read")


@pytest.mark.parametrize(
    "name", ["cond_several_ref", "switch_case_res", "keras_layers_ref", "loop_in_cond_res", "loop_of_conds_ref"]
)
def test_gradients_of_a_new_loss_pass_control_flow(name, files):
    folder = files("1.15.5", name)
    io = np.load(f"{folder}/io.npz")
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        v1.train.import_meta_graph(f"{folder}/m.meta").restore(sess, f"{folder}/m")
        loss = tf.reduce_mean((graph.get_tensor_by_name("y:0") - 1.0) ** 4)
        names = [v.name for v in v1.trainable_variables()]
        in_session = sess.run(v1.gradients(loss, v1.trainable_variables()), {"x:0": io["x"]})
    loaded = tf.saved_model.load(f"{folder}/saved")
    variables = {v.name: v for v in loaded.variables}
    with tf.GradientTape() as tape:
        y = loaded.signatures["serving_default"](x=tf.constant(io["x"]))["y"]
        loss = tf.reduce_mean((y - 1.0) ** 4)
    for expected, found in zip(tape.gradient(loss, [variables[n] for n in names]), in_session, strict=True):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-6)


def test_gradients_do_not_pass_tensor_arrays_of_training_graphs(files):
    folder = files("1.15.5", "lstm_ref")
    with tf.Graph().as_default() as graph:
        v1.train.import_meta_graph(f"{folder}/m.meta")
        with pytest.raises(tf.errors.UnimplementedError, match=r"load the model with tf\.saved_model\.load"):
            v1.gradients(graph.get_tensor_by_name("y:0"), v1.trainable_variables())


def test_two_copies_of_a_graph_have_reference_variables_of_their_own(files):
    folder = files("1.15.5", "plain_ref")
    io = np.load(f"{folder}/io.npz")
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        for scope in ("a", "b"):
            v1.train.import_meta_graph(f"{folder}/m.meta", import_scope=scope).restore(sess, f"{folder}/m")
        assert {v.op.name for v in v1.trainable_variables()} == {"a/w", "a/b", "b/w", "b/b"}
        sess.run("a/train", {"a/x:0": io["x"], "a/t:0": io["t"]})
        np.testing.assert_allclose(sess.run("b/y:0", {"b/x:0": io["x"]}), io["y"], 0, 2e-5)
        assert np.abs(sess.run("a/y:0", {"a/x:0": io["x"]}) - io["y"]).max() > 1e-3
        assert sess.run("a/w:0").shape == graph.get_tensor_by_name("b/w:0").shape == (3, 2)


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_is_the_session_s(files):
    folder = files("1.15.5", "table_res")
    io = np.load(f"{folder}/io.npz")
    with tf.Graph().as_default() as graph, v1.Session() as first, v1.Session() as second:
        saver = v1.train.import_meta_graph(f"{folder}/m.meta")
        for sess in (first, second):
            saver.restore(sess, f"{folder}/m")
        first.run(graph.get_collection("table_initializer"))
        np.testing.assert_allclose(first.run("y:0", {"x:0": io["x"]}), io["y"], 0, 2e-5)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            second.run("y:0", {"x:0": io["x"]})


def test_a_table_that_changes_keeps_its_state_between_runs():
    with tf.Graph().as_default() as graph:
        handle = tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64)
        keys = v1.placeholder(tf.int64, [None], name="keys")
        insert = tf.raw_ops.LookupTableInsertV2(table_handle=handle, keys=keys, values=keys * 10)
        found = tf.raw_ops.LookupTableFindV2(table_handle=handle, keys=keys, default_value=tf.constant(-1, tf.int64))
    definition = graph.as_graph_def()
    with tf.Graph().as_default() as imported:
        tf.import_graph_def(definition, name="")
    with v1.Session(graph=imported) as sess, v1.Session(graph=imported) as other:
        sess.run(insert.name, {"keys:0": [1, 2]})
        assert sess.run(found.name, {"keys:0": [2, 3]}).tolist() == [20, -1]
        assert other.run(found.name, {"keys:0": [2, 3]}).tolist() == [-1, -1]


# ---- TensorFlow 2 in sessions ----------------------------------------------------------------------------------------


def test_a_saver_restores_a_checkpoint_of_objects(tmp_path):
    model = tf.Module()
    model.v = tf.Variable([1.0, 2.0], name="v")
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "objects"))
    with tf.Graph().as_default(), v1.Session() as sess:
        v = v1.get_variable("v", [2], initializer=v1.zeros_initializer())
        v1.train.Saver().restore(sess, path)
        assert sess.run(v).tolist() == [1.0, 2.0]
        v1.get_variable("other", [2], initializer=v1.zeros_initializer())
        with pytest.raises(tf.errors.NotFoundError, match="Key other not found"):
            v1.train.Saver().restore(sess, path)


def test_a_session_loads_a_saved_model_of_tensorflow_2():
    with v1.Session(graph=tf.Graph()) as sess:
        signature = v1.saved_model.load(sess, ["serve"], str(HOME / "ds_in_function")).signature_def["serving_default"]
        result = sess.run(signature.outputs["output_0"].name, {signature.inputs["n"].name: 4})
    assert result == tf.saved_model.load(str(HOME / "ds_in_function")).total(tf.constant(4, tf.int64)) == 14


@pytest.mark.parametrize("name", ["once", "twice", "two", "cond"])
def test_gradients_of_a_variable_that_a_loop_reads(name):
    module = tf.saved_model.load(str(HOME / "loop_of_variable"))
    function = getattr(module, name)
    specs = tf.nest.flatten(function.concrete_functions[0].structured_input_signature)
    args = [tf.fill([d or 2 for d in s.shape], tf.constant(0.5 if s.dtype.is_floating else 3, s.dtype)) for s in specs]

    def total():
        return tf.reduce_sum(function(*args))

    with tf.GradientTape() as tape:
        result = total()
    gradient = tape.gradient(result, module.w)
    step = tf.constant(np.random.RandomState(0).normal(size=module.w.shape) * 1e-3, tf.float32)
    module.w.assign_add(step)
    above = total()
    module.w.assign_sub(2.0 * step)
    np.testing.assert_allclose((above - total()) / 2.0, tf.reduce_sum(gradient * step), 2e-3, 1e-6)
