"""Restoring from an object graph: now or later, once or several times, and what is told of the rest."""

import gc
import logging

import pytest

import tapeflow as tf


class Node(tf.Module):
    pass


def node(**children):
    module = Node()
    for name, child in children.items():
        setattr(module, name, child)
    return module


def write(folder, name="ckpt", **objects):
    return tf.train.Checkpoint(**objects).write(str(folder / name))


def read(path, **objects):
    return tf.train.Checkpoint(**objects).read(path)


def lines_of(caplog):
    lines = [record.getMessage() for record in caplog.records if record.name == "tensorflow"]
    caplog.clear()
    return lines


def test_what_is_created_later_is_restored_then(tmp_path):
    path = write(tmp_path, top=node(a=tf.Variable(1.0), deep=node(b=tf.Variable(2.0))))
    top = node()
    status = read(path, top=top)
    top.a = tf.Variable(0.0)
    assert top.a.numpy() == 1.0
    top.deep = node(c=tf.Variable(5.0))
    top.deep.b = tf.Variable(0.0)
    assert top.deep.b.numpy() == 2.0 and top.deep.c.numpy() == 5.0
    status.expect_partial()


@pytest.mark.parametrize("later_first", [False, True])
def test_the_later_of_two_restores_counts(tmp_path, later_first):
    first = write(tmp_path, "1", v=tf.Variable(1.0), w=tf.Variable(10.0))
    second = write(tmp_path, "2", v=tf.Variable(2.0))
    root = tf.train.Checkpoint()
    root.read(first).expect_partial()
    root.read(second).expect_partial()
    if later_first:
        root.w = tf.Variable(0.0)
        root.v = tf.Variable(0.0)
    else:
        root.v = tf.Variable(0.0)
        root.w = tf.Variable(0.0)
    assert root.v.numpy() == 2.0 and root.w.numpy() == 10.0
    root.v.assign(7.0)
    root.read(first).expect_partial()
    assert root.v.numpy() == 1.0


def test_one_object_under_two_names(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    v = tf.Variable(1.0)
    path = write(tmp_path, a=v, b=v)
    a, b = tf.Variable(0.0, name="first"), tf.Variable(0.0, name="second")
    read(path, a=a, b=b).expect_partial()
    assert (a.numpy(), b.numpy()) == (1.0, 0.0)
    (line,) = lines_of(caplog)
    assert line.startswith("Inconsistent references when loading the checkpoint into this object graph.")
    assert "first" in line.split("The referenced variables are:")[1]
    both = tf.Variable(0.0)
    read(path, a=both, b=both).assert_consumed()
    assert both.numpy() == 1.0 and lines_of(caplog) == []
    path = write(tmp_path, "two", a=tf.Variable(3.0), b=tf.Variable(4.0))
    read(path, a=both, b=both)  # two values for one object: the last
    assert both.numpy() in (3.0, 4.0)


def test_values_that_nobody_took_are_told(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    v = tf.Variable(1.0)
    path = write(tmp_path, a=v, top=node(deep=node(b=tf.Variable(2.0)), items=[tf.Variable(3.0)]))
    for quiet in (False, True):
        status = read(path, a=tf.Variable(0.0))
        if quiet:
            status.expect_partial()
        del status
        gc.collect()
        lines = lines_of(caplog)
        if quiet:
            assert lines == []
            continue
        assert "deleted with values that were never restored" in lines[0]
        prefix = "Value in checkpoint could not be found in the restored object: (root)"
        assert sorted(lines[1:]) == [f"{prefix}.top.deep.b", f"{prefix}.top.items.0"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        read(path, a=tf.Variable(1))
    gc.collect()
    assert lines_of(caplog) == []  # a restore that failed says enough


def test_other_dtypes_and_shapes(tmp_path):
    path = write(tmp_path, v=tf.Variable([1.0, 2.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tensor_name = v/\.ATTRIBUTES/VARIABLE_VALUE; expected"):
        read(path, v=tf.Variable([1, 2]))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="expected dtype double does not equal original dtype float"
    ):
        read(path, v=tf.Variable([1.0, 2.0], dtype=tf.float64))
    with pytest.raises(ValueError, match="shape"):
        read(path, v=tf.Variable([1.0]))


def test_slots(tmp_path):
    def pair(value):
        v = tf.Variable([value], name="v")
        return v, tf.compat.v1.train.MomentumOptimizer(1.0, 0.5)

    v, optimizer = pair(1.0)
    optimizer.apply_gradients([(tf.constant([4.0]), v)])
    path = write(tmp_path, v=v, optimizer=optimizer)
    for order in (("v", "optimizer"), ("optimizer", "v")):
        w, other = pair(0.0)
        root = tf.train.Checkpoint()
        root.read(path).expect_partial()
        for name in order:  # the slot is restored when both are there
            setattr(root, name, {"v": w, "optimizer": other}[name])
        other.apply_gradients([(tf.constant([0.0]), w)])
        assert other.get_slot(w, "momentum").numpy().tolist() == [2.0]
        assert w.numpy().tolist() == [-3.0 - 2.0]
    w, other = pair(0.0)
    read(path, v=w).expect_partial()
    other.apply_gradients([(tf.constant([1.0]), w)])
    assert other.get_slot(w, "momentum").numpy().tolist() == [1.0]


def test_damaged_graphs(tmp_path):
    from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

    from tapeflow.train.restoration import parse_graph

    class Bundle:
        prefix = "where"

    good = TrackableObjectGraph()
    good.nodes.add().children.add(node_id=1, local_name="a")
    good.nodes.add().slot_variables.add(original_variable_node_id=0, slot_variable_node_id=1, slot_name="s")
    assert parse_graph(Bundle, good.SerializeToString()) == good
    bad = []
    for change in (
        lambda graph: graph.nodes[0].children[0].__setattr__("node_id", 2),
        lambda graph: graph.nodes[0].children[0].__setattr__("node_id", -1),
        lambda graph: graph.nodes[1].slot_variables[0].__setattr__("original_variable_node_id", 2),
        lambda graph: graph.nodes[1].slot_variables[0].__setattr__("slot_variable_node_id", 5),
        lambda graph: graph.ClearField("nodes"),
    ):
        graph = TrackableObjectGraph.FromString(good.SerializeToString())
        change(graph)
        bad.append(graph.SerializeToString())
    for data in (*bad, b"\xff\xff"):
        with pytest.raises(tf.errors.DataLossError, match="The object graph in the checkpoint where cannot be read"):
            parse_graph(Bundle, data)
