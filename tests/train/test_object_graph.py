"""The object graph of a checkpoint: names, children, attributes and slots. Expected values are TensorFlow's."""

import importlib

import pytest

import tapeflow as tf

PACKAGE = "tensorflow.core.protobuf" if tf.__name__ == "tensorflow" else "tensorboard.compat.proto"
Graph = importlib.import_module(f"{PACKAGE}.trackable_object_graph_pb2").TrackableObjectGraph


def graph_of(folder, **objects):
    path = tf.train.Checkpoint(**objects).write(str(folder / "ckpt"))
    reader = tf.train.load_checkpoint(path)
    names = sorted(set(reader.get_variable_to_shape_map()) - {"_CHECKPOINTABLE_OBJECT_GRAPH"})
    return Graph.FromString(reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")), names


def children(node):
    return {child.local_name: child.node_id for child in node.children}


class Node(tf.Module):
    pass


def test_nodes_level_by_level(tmp_path):
    deep, shared = Node(), tf.Variable(1.0, name="shared")
    deep.inner = Node()
    deep.inner.v, deep.shared = tf.Variable([2.0], name="v"), shared
    deep.empty = Node()
    graph, names = graph_of(tmp_path, a=deep, b=shared)
    assert children(graph.nodes[0]) == {"a": 1, "b": 2}
    below = children(graph.nodes[1])
    assert set(below) == {"inner", "shared", "empty"} and below["shared"] == 2
    assert names == ["a/inner/v/.ATTRIBUTES/VARIABLE_VALUE", "b/.ATTRIBUTES/VARIABLE_VALUE"]
    (attribute,) = graph.nodes[2].attributes
    assert attribute.name == "VARIABLE_VALUE" and attribute.full_name == "shared"
    assert attribute.checkpoint_key == "b/.ATTRIBUTES/VARIABLE_VALUE"
    marked = [node.has_checkpoint_values.value for node in graph.nodes]
    assert marked == [i not in (below["empty"],) for i in range(len(graph.nodes))]


def test_cycles(tmp_path):
    a, b, none = Node(), Node(), Node()
    a.b, b.a, a.v = b, a, tf.Variable(1.0)
    none.other = Node()
    none.other.back = none
    graph, names = graph_of(tmp_path, b=b, none=none)
    assert names == ["b/a/v/.ATTRIBUTES/VARIABLE_VALUE"]
    places = children(graph.nodes[0])
    assert children(graph.nodes[children(graph.nodes[places["b"]])["a"]])["b"] == places["b"]
    assert graph.nodes[places["b"]].has_checkpoint_values.value
    assert not graph.nodes[places["none"]].has_checkpoint_values.value


@pytest.mark.parametrize(
    ("name", "key"), [("a.b", "a..b"), ("a/b", "a.Sb"), ("a./b", "a...Sb"), ("a..b", "a....b"), ("plain", "plain")]
)
def test_names_are_escaped(tmp_path, name, key):
    holder = Node()
    setattr(holder, name, tf.Variable(1.0))
    _, names = graph_of(tmp_path, top=holder)
    assert names == [f"top/{key}/.ATTRIBUTES/VARIABLE_VALUE"]


def test_lists_and_dicts(tmp_path):
    holder = Node()
    holder.items = [tf.Variable(1.0), {"k": tf.Variable(2.0)}, (tf.Variable(3.0),)]
    _, names = graph_of(tmp_path, top=holder)
    value = ".ATTRIBUTES/VARIABLE_VALUE"
    assert names == [f"top/items/0/{value}", f"top/items/1/k/{value}", f"top/items/2/0/{value}"]


def test_slots(tmp_path):
    momentum = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    v = tf.Variable([1.0, 2.0], name="v")
    momentum.apply_gradients([(tf.ones([2]), v)])
    graph, names = graph_of(tmp_path, v=v, optimizer=momentum)
    places = children(graph.nodes[0])
    (slot,) = graph.nodes[places["optimizer"]].slot_variables
    assert slot.original_variable_node_id == places["v"] and slot.slot_name == "momentum"
    key = "v/.OPTIMIZER_SLOT/optimizer/momentum/.ATTRIBUTES/VARIABLE_VALUE"
    assert graph.nodes[slot.slot_variable_node_id].attributes[0].checkpoint_key == key
    assert names == ["v/.ATTRIBUTES/VARIABLE_VALUE", key]
    v.assign([5.0, 5.0])
    momentum.get_slot(v, "momentum").assign([7.0, 7.0])
    other, again = tf.Variable([0.0, 0.0]), tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    restored = tf.train.Checkpoint(v=other, optimizer=again)
    restored.read(str(tmp_path / "ckpt"))
    again.apply_gradients([(tf.zeros([2]), other)])
    assert again.get_slot(other, "momentum").numpy().tolist() == pytest.approx([0.9, 0.9])
