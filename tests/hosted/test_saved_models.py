"""What Keras 2 writes SavedModels with, and reads them: objects of its own classes, in the place of new ones."""

import pytest

import tapeflow as tf

SAVED = tf.__internal__.saved_model


class Counter(tf.Module):
    """An object of a library, which SavedModels name."""

    def __init__(self):
        super().__init__()
        vars(self)["children"] = []  # no part of a checkpoint

    def keep(self, name, child):
        self.children.append(name)
        setattr(self, name, child)


SAVED.load.register_revived_type(
    "test.Counter",
    lambda value: isinstance(value, Counter),
    [SAVED.load.VersionedTypeRegistration(lambda proto: Counter(), 2, 1, 1, setter=Counter.keep)],
)


def model():
    module = tf.Module()
    module.layer = Counter()
    module.layer.w = tf.Variable([1.0, 2.0])
    module.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    module.scaled = tf.function(lambda x: x * module.layer.w, input_signature=[tf.TensorSpec([2])])
    module.number = tf.function(lambda word: module.table.lookup(word), input_signature=[tf.TensorSpec([], tf.string)])
    return module


def test_saving_returns_the_objects_and_their_paths(tmp_path):
    module = model()
    from tapeflow.hosted.saved_models import save_and_return_nodes

    objects, paths = save_and_return_nodes(module, str(tmp_path))
    assert objects[0] is module
    assert paths[module] == []
    assert [reference.name for reference in paths[module.layer.w]] == ["layer", "w"]
    graph = SAVED.parse_saved_model(str(tmp_path)).meta_graphs[0].object_graph_def
    number = next(i for i, value in enumerate(objects) if value is module.layer)
    assert graph.nodes[number].user_object.identifier == "test.Counter"
    assert graph.nodes[number].user_object.version.producer == 2
    assert SAVED.load.get_setter(graph.nodes[number].user_object) is Counter.keep


def test_registered_classes_are_loaded(tmp_path):
    tf.saved_model.save(model(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert isinstance(loaded.layer, Counter)
    assert loaded.layer.children == ["w"]
    assert loaded.scaled([3.0, 3.0]).numpy().tolist() == [3.0, 6.0]
    assert [s.shape for s in loaded.scaled.concrete_functions[0].structured_input_signature[0]] == [[2]]


def test_objects_that_exist_take_the_place_of_new_ones(tmp_path):
    tf.saved_model.save(model(), str(tmp_path))
    layer, table = Counter(), tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    layer.w = tf.Variable([0.0, 0.0])
    nodes = {
        "root": None,
        "root.layer": (layer, lambda value, name, child: value.children.append((name, child is layer.w))),
        "root.layer.w": (layer.w, setattr),
        "root.table": (table, setattr),
    }
    loaded = SAVED.load_partial(str(tmp_path), nodes)
    assert list(loaded) == list(nodes)
    root = loaded["root"]
    assert root.layer is loaded["root.layer"] is layer
    assert layer.children == [("w", True)]
    assert layer.w.numpy().tolist() == [1.0, 2.0]
    layer.w.assign([5.0, 5.0])
    assert root.scaled([1.0, 2.0]).numpy().tolist() == [5.0, 10.0]
    assert int(root.number("b")) == 2


def test_classes_are_registered_by_versions():
    registration = SAVED.load.VersionedTypeRegistration(lambda proto: None, 1, 1, 1)
    with pytest.raises(AssertionError, match="at least one version"):
        SAVED.load.register_revived_type("test.None", lambda value: False, [])
    with pytest.raises(AssertionError, match="multiple registrations"):
        SAVED.load.register_revived_type("test.Two", lambda value: False, [registration, registration])
    assert "test.Counter" in SAVED.load.registered_identifiers()


def test_functions_of_keras_2_are_functions():
    cls = tf.__internal__.function.Function
    assert isinstance(tf.function(lambda x: x), cls)
    doubled = cls(lambda x: x * 2, "doubled", autograph=False)
    assert isinstance(doubled, cls)
    assert int(doubled(4)) == 8
    assert doubled.function_spec.arg_names == ["x"]


def test_tables_of_loaded_models_are_restored_resources(tmp_path):
    from tensorflow.python.trackable.resource import RestoredResource

    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    module.find = tf.function(module.table.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert isinstance(loaded.table, RestoredResource)
    assert loaded.find(tf.constant(["a", "b"])).numpy().tolist() == [1, -1]
