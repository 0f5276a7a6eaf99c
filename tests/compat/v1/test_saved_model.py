"""SavedModels of TensorFlow 1: signatures, builders, and their files."""

import os

import pytest

import tapeflow as tf

v1 = tf.compat.v1
saved_model = v1.saved_model


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def info_of(name, dtype=tf.float32):
    return v1.TensorInfo(name=name, dtype=dtype.as_datatype_enum)


def test_signatures_of_messages():
    value = tf.constant([1.0])
    signature = saved_model.build_signature_def({"a": info_of("x:0")}, {"b": info_of("y:0")}, "mine", {"a": value})
    assert signature.inputs["a"].name == "x:0"
    assert signature.outputs["b"].name == "y:0"
    assert signature.method_name == "mine"
    assert tf.make_ndarray(signature.defaults["a"]).tolist() == [1.0]
    with pytest.raises(ValueError):
        saved_model.build_signature_def({"a": info_of("x:0")}, {}, "mine", {"a": v1.placeholder(tf.float32)})
    empty = saved_model.build_signature_def()
    assert not empty.inputs
    assert not empty.outputs
    assert not empty.defaults
    assert empty.method_name == ""


@pytest.mark.parametrize(
    ("make", "method", "inputs", "outputs"),
    [
        (lambda x, y, s: saved_model.predict_signature_def({"i": x}, {"o": y}), "predict", ["i"], ["o"]),
        (lambda x, y, s: saved_model.regression_signature_def(s, y), "regress", ["inputs"], ["outputs"]),
        (
            lambda x, y, s: saved_model.classification_signature_def(s, s, y),
            "classify",
            ["inputs"],
            ["classes", "scores"],
        ),
    ],
)
def test_signatures_by_kind(make, method, inputs, outputs):
    x, s = v1.placeholder(tf.float32, [2]), v1.placeholder(tf.string, [2])
    signature = make(x, x * 2.0, s)
    assert signature.method_name == f"tensorflow/serving/{method}"
    assert sorted(signature.inputs) == inputs
    assert sorted(signature.outputs) == outputs
    assert saved_model.is_valid_signature(signature)
    signature.method_name = "other"
    assert not saved_model.is_valid_signature(signature)


def test_signatures_that_are_none():
    x, s = v1.placeholder(tf.float32, [2]), v1.placeholder(tf.string, [2])
    for call in (
        lambda: saved_model.predict_signature_def({}, {"o": x}),
        lambda: saved_model.predict_signature_def({"i": x}, {}),
        lambda: saved_model.predict_signature_def(None, {"o": x}),
        lambda: saved_model.regression_signature_def(None, x),
        lambda: saved_model.regression_signature_def(s, None),
        lambda: saved_model.regression_signature_def(x, x),
        lambda: saved_model.regression_signature_def(s, s),
        lambda: saved_model.classification_signature_def(None, s, x),
        lambda: saved_model.classification_signature_def(s, None, None),
        lambda: saved_model.classification_signature_def(x, s, x),
        lambda: saved_model.classification_signature_def(s, x, x),
        lambda: saved_model.classification_signature_def(s, s, s),
    ):
        with pytest.raises(ValueError):
            call()


def test_tensors_of_messages(graph):
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    info = saved_model.build_tensor_info(x)
    assert info.name == "x:0"
    assert info.dtype == 1
    assert [d.size for d in info.tensor_shape.dim] == [-1, 2]
    assert saved_model.get_tensor_from_tensor_info(info) is x
    sparse = v1.sparse_placeholder(tf.int32, name="s")
    found = saved_model.get_tensor_from_tensor_info(saved_model.build_tensor_info(sparse))
    assert found.values is sparse.values
    assert found.indices is sparse.indices
    other = tf.Graph()
    with other.as_default():
        y = tf.identity(tf.constant(1.0), name="in/x")
        assert saved_model.get_tensor_from_tensor_info(info, import_scope="in") is y
    with pytest.raises(ValueError, match="encoding"):
        saved_model.get_tensor_from_tensor_info(v1.TensorInfo())


def save(folder, asset, **options):
    """Writes a model with a variable, an asset and a signature."""
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [], name="x")
        v = v1.get_variable("v", initializer=3.0)
        y = tf.multiply(x, v, name="y")
        name = tf.constant(asset, name="asset")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, name)
        table = v1.get_local_variable("local", initializer=1.0)
        sess.run([v.initializer, table.initializer])
        builder = saved_model.Builder(folder)
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["early"])
        signature = saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(
            sess, ["serve"], {"s": signature}, v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.group(table.assign(7.0), name="main"), **options,
        )  # fmt: skip
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(sess, ["serve"])
        return builder.save()


def test_builders(tmp_path):
    asset = tmp_path / "words.txt"
    asset.write_text("a\n")
    folder = str(tmp_path / "m")
    assert save(folder, str(asset)) == os.fsencode(os.path.join(folder, "saved_model.pb"))
    assert saved_model.contains_saved_model(folder)
    assert not saved_model.contains_saved_model(str(tmp_path))
    with tf.Graph().as_default(), v1.Session() as sess:
        meta = saved_model.load(sess, ["serve"], folder)
        assert sess.run("y:0", {"x:0": 2.0}) == 6.0
        assert sess.run(v1.local_variables()[0]) == 7.0
        assert meta.signature_def["s"].inputs["x"].name == "x:0"
        assert list(meta.meta_info_def.tags) == ["serve"]
        assert (tmp_path / "m" / "assets" / "words.txt").read_text() == "a\n"
        assert [a.filename for a in meta.asset_file_def] == ["words.txt"]
    with tf.Graph().as_default(), v1.Session() as sess:
        saved_model.load(sess, ["serve"], folder, import_scope="in")
        assert sess.run("in/y:0", {"in/x:0": 2.0}) == 6.0
        with pytest.raises(RuntimeError, match=r"(?s)MetaGraphDef associated with tags.*could not be found"):
            saved_model.load(sess, ["train"], folder)
    with pytest.raises((AssertionError, OSError)):
        saved_model.Builder(folder)


def test_assets_have_constant_names(tmp_path):
    with v1.Session() as sess:
        builder = saved_model.Builder(str(tmp_path / "m"))
        with pytest.raises(TypeError, match="must be of type constant"):
            builder.add_meta_graph_and_variables(
                sess,
                ["serve"],
                assets_collection=[v1.placeholder(tf.string, [])],
                saver=v1.train.Saver(allow_empty=True),
            )
        with pytest.raises(AssertionError):
            saved_model.Builder(str(tmp_path / "n")).add_meta_graph_and_variables(
                sess, ["serve"], {"s": saved_model.build_signature_def({"a": v1.TensorInfo()})}
            )


def test_simple_models(tmp_path):
    with v1.Session() as sess:
        x = v1.placeholder(tf.float32, [])
        v = v1.get_variable("v", initializer=3.0)
        sess.run(v.initializer)
        saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": x * v})
    with tf.Graph().as_default(), v1.Session() as sess:
        meta = saved_model.load(sess, [saved_model.tag_constants.SERVING], str(tmp_path / "m"))
        signature = meta.signature_def["serving_default"]
        assert sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: 2.0}) == 6.0
