"""Loading: which graph of a SavedModel, which parts of it, and what is in the loaded object."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def folder(tmp_path):
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0])
    module.inner = tf.Module()
    module.inner.w = tf.Variable(3.0, trainable=False)
    module.items = [module.v, {"k": module.inner}]
    module.f = tf.function(lambda x: x * module.v, input_signature=[tf.TensorSpec([2], tf.float32)])
    tf.saved_model.save(module, str(tmp_path / "m"))
    return str(tmp_path / "m")


def test_objects(folder):
    loaded = tf.saved_model.load(folder)
    assert loaded.v.numpy().tolist() == [1.0, 2.0]
    assert loaded.v.trainable
    assert not loaded.inner.w.trainable
    assert loaded.items[0] is loaded.v
    assert loaded.items[1]["k"] is loaded.inner
    assert len(loaded.items) == 2
    assert loaded.f(tf.constant([3.0, 4.0])).numpy().tolist() == [3.0, 8.0]
    loaded.v.assign([5.0, 6.0])
    assert loaded.f(tf.constant([1.0, 1.0])).numpy().tolist() == [5.0, 6.0]
    assert list(loaded.signatures) == ["serving_default"]
    assert loaded.tensorflow_version
    with pytest.raises((TypeError, ValueError)):
        loaded.f(tf.constant([1.0, 2.0, 3.0]))


def test_tags(folder):
    for tags in (None, "serve", ["serve"], {"serve"}):
        assert tf.saved_model.load(folder, tags).v.shape == [2]
    with pytest.raises(ValueError, match="tags"):
        tf.saved_model.load(folder, ["train"])
    with pytest.raises(ValueError, match="tags"):
        tf.saved_model.load(folder, ["serve", "gpu"])


def test_several_graphs(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.get_variable("v", initializer=1.0)
        sess.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(sess, ["train"])
        builder.add_meta_graph(["serve", "gpu"])
        builder.save()
    with pytest.raises(ValueError, match=r"requires a .tags=. argument if there is more than one"):
        tf.saved_model.load(str(tmp_path / "m"))
    for tags in (["train"], ["gpu", "serve"]):
        assert [v.numpy() for v in tf.saved_model.load(str(tmp_path / "m"), tags).variables] == [1.0]
    with pytest.raises((ValueError, RuntimeError), match="serve"):
        tf.saved_model.load(str(tmp_path / "m"), ["serve"])


def test_folders_without_a_model(tmp_path):
    for name in ("none", "empty"):
        with pytest.raises(OSError, match="SavedModel file does not exist"):
            tf.saved_model.load(str(tmp_path / name))
        (tmp_path / "empty").mkdir(exist_ok=True)
    assert not tf.saved_model.contains_saved_model(str(tmp_path))


def test_options_of_loading(folder):
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    skipped = tf.saved_model.load(folder, options=options)
    assert skipped.v.shape == [2]
    aliases = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    assert tf.saved_model.load(folder, options=aliases).v.numpy().tolist() == [1.0, 2.0]


def test_parts_of_a_model(folder):
    parts = tf.__internal__.saved_model.load_partial(folder, ["root.inner", "root.v"])
    assert parts["root.inner"].w.numpy() == 3.0
    assert parts["root.v"].numpy().tolist() == [1.0, 2.0]
