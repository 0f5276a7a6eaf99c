"""What Keras 2 writes SavedModels with, and reads them: objects of its own classes, in the place of new ones."""

import pytest

import tapeflow as tf
from tapeflow.saved_model.messages import read_model, write_model
from tapeflow.train.bundle import Bundle, write_bundle
from tapeflow.train.reader import OBJECT_GRAPH
from tapeflow.train.restoration import parse_graph

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


class EmptyInitializer(tf.lookup.KeyValueTensorInitializer):
    def initialize(self, table):
        pass


def test_saving_returns_the_objects_and_their_paths(tmp_path):
    module = model()
    from tapeflow.tensorflow_python.saved_models import save_and_return_nodes

    objects, paths = save_and_return_nodes(module, str(tmp_path))
    assert objects[0] is module
    assert paths[module] == []
    assert [reference.name for reference in paths[module.layer.w]] == ["layer", "w"]
    graph = SAVED.parse_saved_model(str(tmp_path)).meta_graphs[0].object_graph_def
    number = next(i for i, value in enumerate(objects) if value is module.layer)
    assert graph.nodes[number].user_object.identifier == "test.Counter"
    assert graph.nodes[number].user_object.version.producer == 2
    assert SAVED.load.get_setter(graph.nodes[number].user_object) is Counter.keep


def test_signatures_are_of_the_class_that_importers_name(tmp_path):
    """onnx2tf, for example."""
    tf.install_as_tensorflow()
    from tensorflow.python.saved_model.load import _WrapperFunction

    module = tf.Module()
    module.f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], name="x")])
    tf.saved_model.save(module, tmp_path, signatures=module.f)
    assert isinstance(tf.saved_model.load(tmp_path).signatures["serving_default"], _WrapperFunction)


def test_registered_classes_are_loaded(tmp_path):
    tf.saved_model.save(model(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert isinstance(loaded.layer, Counter)
    assert loaded.layer.children == ["w"]
    assert loaded.scaled([3.0, 3.0]).numpy().tolist() == [3.0, 6.0]
    assert [s.shape for s in loaded.scaled.concrete_functions[0].structured_input_signature[0]] == [[2]]


def test_objects_that_exist_take_the_place_of_new_ones(tmp_path):
    tf.saved_model.save(model(), str(tmp_path))
    layer, table = Counter(), tf.lookup.StaticHashTable(EmptyInitializer(["?"], [0]), -1)
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
    other = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["z"], [9]), -1)
    with pytest.raises(tf.errors.FailedPreconditionError, match="already initialized with different data"):
        SAVED.load_partial(str(tmp_path), {"root": None, "root.table": (other, setattr)})


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


def test_keras_2_names_the_variables_that_it_restores():
    with tf.name_scope("outer"):
        variable = tf.Variable([1.0], name="kernel")
    variable._handle_name = "dense/kernel:0"
    assert variable.name == variable._handle_name == "dense/kernel:0"
    assert variable._shared_name == "dense/kernel"
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        mirrored = tf.Variable([1.0], name="kernel")
    mirrored._handle_name = "dense/kernel:0"
    assert mirrored.name == "dense/kernel:0"
    assert [v.name for v in mirrored.values] == ["dense/kernel:0", "dense/kernel/replica_1:0"]


# ---- slot variables --------------------------------------------------------------------------------------------------


def _move_edge_to_slot(nodes, optimizer, variable):
    """Makes the child "m" of an object graph's optimizer a slot variable, as those of Keras 2 are."""
    child = next(c for c in nodes[optimizer].children if c.local_name == "m")
    nodes[optimizer].slot_variables.add(
        original_variable_node_id=variable, slot_name="m", slot_variable_node_id=child.node_id
    )
    nodes[optimizer].children.remove(child)


def _save_with_slot(path, optimizer):
    module = tf.Module()
    module.v, module.optimizer = tf.Variable([1.0, 2.0], name="v"), optimizer
    module.optimizer.m = tf.Variable([3.0, 4.0], name="Adam/v/m")
    tf.saved_model.save(module, str(path))
    (saved,) = read_model(str(path))
    numbers = {c.local_name: c.node_id for c in saved.object_graph_def.nodes[0].children}
    _move_edge_to_slot(saved.object_graph_def.nodes, numbers["optimizer"], numbers["v"])
    write_model(str(path), saved)
    prefix = str(path / "variables" / "variables")
    bundle = Bundle(prefix)
    tensors = {name: bundle.read(name) for name in bundle.entries if name}
    graph = parse_graph(bundle, tensors[OBJECT_GRAPH].numpy())
    numbers = {c.local_name: c.node_id for c in graph.nodes[0].children}
    _move_edge_to_slot(graph.nodes, numbers["optimizer"], numbers["v"])
    tensors[OBJECT_GRAPH] = tf.constant(graph.SerializeToString())
    write_bundle(prefix, tensors.items())


class Optimizer(tf.Module):
    def __init__(self):
        super().__init__()
        vars(self)["slots"] = {}

    def add_slot(self, var, slot_name):
        self.slots[var.name, slot_name] = tf.Variable(tf.zeros_like(var))
        return self.slots[var.name, slot_name]


SAVED.load.register_revived_type(
    "test.Optimizer",
    lambda value: isinstance(value, Optimizer),
    [SAVED.load.VersionedTypeRegistration(lambda proto: Optimizer(), 1, 1, 1)],
)


def test_slot_variables_of_an_optimizer_of_an_unknown_class(tmp_path):
    _save_with_slot(tmp_path, tf.Module())
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.v.numpy().tolist() == [1.0, 2.0]
    assert not hasattr(loaded.optimizer, "m")


def test_slot_variables_are_added_to_their_optimizer(tmp_path):
    _save_with_slot(tmp_path, Optimizer())
    loaded = tf.saved_model.load(str(tmp_path))
    assert {key: slot.numpy().tolist() for key, slot in loaded.optimizer.slots.items()} == {("v:0", "m"): [3.0, 4.0]}


def test_tables_of_loaded_models_are_restored_resources(tmp_path):
    tf.install_as_tensorflow()
    from tensorflow.python.trackable.resource import RestoredResource

    module = tf.Module()
    module.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    module.find = tf.function(module.table.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert isinstance(loaded.table, RestoredResource)
    assert loaded.find(tf.constant(["a", "b"])).numpy().tolist() == [1, -1]
