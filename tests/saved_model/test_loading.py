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


def test_values_that_are_left_out(tmp_path):
    module = tf.Module()
    module.v, module.w = tf.Variable([1.0, 2.0]), tf.Variable([[3]], shape=[None, 1], trainable=False)
    module.f = tf.function(lambda: module.v + 1.0, input_signature=[])
    tf.saved_model.save(module, str(tmp_path))
    skip = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    loaded = tf.saved_model.load(str(tmp_path), options=skip)
    assert loaded.v.shape == [2] and loaded.w.shape.as_list() == [None, 1] and not loaded.w.trainable
    for file in (tmp_path / "variables").iterdir():
        file.unlink()
    loaded = tf.saved_model.load(str(tmp_path), options=skip)
    loaded.v.assign([5.0, 5.0])
    assert loaded.f().numpy().tolist() == [6.0, 6.0]
    with pytest.raises((OSError, tf.errors.OpError)):
        tf.saved_model.load(str(tmp_path))


def test_aliases(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])
    module.g = tf.function(lambda x: x * 3.0, input_signature=[tf.TensorSpec([])])
    save = tf.saved_model.SaveOptions(function_aliases={"twice": module.f})
    tf.saved_model.save(module, str(tmp_path), options=save)
    options = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded = tf.saved_model.load(str(tmp_path), options=options)
    assert list(loaded.function_aliases) == ["twice"] and loaded.function_aliases["twice"](4.0).numpy() == 8.0
    assert not hasattr(tf.saved_model.load(str(tmp_path)), "function_aliases")


def test_attributes_of_variables(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(
        1.0, trainable=False, name="mine", aggregation=tf.VariableAggregation.SUM,
        synchronization=tf.VariableSynchronization.ON_READ,
    )  # fmt: skip
    tf.saved_model.save(module, str(tmp_path))
    v = tf.saved_model.load(str(tmp_path)).v
    assert (v.name, v.trainable, v.dtype, v.shape) == ("mine:0", False, tf.float32, [])
    assert (v.aggregation, v.synchronization) == (tf.VariableAggregation.SUM, tf.VariableSynchronization.ON_READ)


def test_lists_dicts_and_tuples(tmp_path):
    module = tf.Module()
    module.items = [tf.Variable(float(i)) for i in range(12)]
    module.named = {"b": tf.Variable(1.0), "a": [tf.Variable(2.0), (tf.Variable(3.0), {"x": tf.Variable(4.0)})]}
    module.pair = (tf.Variable(5.0), tf.Variable(6.0))
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert [v.numpy() for v in loaded.items] == [float(i) for i in range(12)]
    assert loaded.named["b"].numpy() == 1.0 and loaded.named["a"][0].numpy() == 2.0
    assert loaded.named["a"][1][1]["x"].numpy() == 4.0
    assert isinstance(loaded.pair, tuple) and [v.numpy() for v in loaded.pair] == [5.0, 6.0]


def test_objects_that_are_called(tmp_path):
    class Double(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([])])
        def __call__(self, x):
            return x * 2.0

    module = tf.Module()
    module.double, module.plain = Double(), tf.Module()
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.double(3.0).numpy() == 6.0 and callable(loaded.double)
    for uncallable in (loaded, loaded.plain):
        with pytest.raises(TypeError, match="not callable"):
            uncallable(3.0)


def test_slots_of_optimizers(tmp_path):
    module = tf.Module()
    module.v, module.optimizer = tf.Variable([1.0], name="v"), v1.train.MomentumOptimizer(1.0, 0.5)
    module.optimizer.apply_gradients([(tf.constant([4.0]), module.v)])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.optimizer.get_slot_names() == ["momentum"]
    assert loaded.optimizer.get_slot(loaded.v, "momentum").numpy().tolist() == [4.0]
    assert loaded.optimizer.get_slot(loaded.v, "other") is None


def test_existing_objects_are_filled(folder):
    class Holder:
        pass

    holder, v = Holder(), tf.Variable([0.0, 0.0])
    names = []

    def set_child(obj, name, child):
        names.append(name)
        setattr(obj, name, child)

    parts = tf.__internal__.saved_model.load_partial(
        folder, {"root": None, "root.v": (v, set_child), "root.inner": (holder, set_child)}
    )
    assert parts["root.v"] is v is parts["root"].v and v.numpy().tolist() == [1.0, 2.0]
    assert parts["root.inner"] is holder and holder.w.numpy() == 3.0 and names == ["w"]
    assert parts["root"].f(tf.constant([1.0, 1.0])).numpy().tolist() == [1.0, 2.0]
    v.assign([4.0, 4.0])
    assert parts["root"].f(tf.constant([1.0, 1.0])).numpy().tolist() == [4.0, 4.0]
