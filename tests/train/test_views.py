"""`tf.train.TrackableView` and `tf.train.CheckpointView`. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf


class Node(tf.Module):
    pass


def tree(extra=False):
    """Returns a root with `a`, `b` below, `a` and a list below `b`, and what is in these."""
    root, a, b = Node(), Node(), Node()
    root.a, root.b, b.again = a, b, a
    a.v = tf.Variable(1.0)
    b.items = [tf.Variable(2.0)]
    if extra:
        b.more = tf.Variable(3.0)
    return root


@pytest.fixture
def path(tmp_path):
    return tf.train.Checkpoint(top=tree()).write(str(tmp_path / "ckpt"))


def test_objects():
    root = tree()
    view = tf.train.TrackableView(root)
    assert view.root is root
    children = view.children(root)
    assert set(children) == {"a", "b"} and children["a"] is root.a
    below = tf.train.TrackableView.children(root.b)
    assert set(below) == {"again", "items"} and set(view.children(below["items"])) == {"0"}
    found = view.descendants()
    assert found[:3] == [root, root.a, root.b] and len(found) == len({id(o) for o in found}) == 6
    assert any(o is root.a.v for o in found) and any(o is root.b.items[0] for o in found)


def test_nodes(path):
    view = tf.train.CheckpointView(path)
    top = view.children(0)
    assert set(top) == {"top"}
    below = view.children(top["top"])
    assert set(below) == {"a", "b"} and view.children(below["b"])["again"] == below["a"]
    assert view.descendants()[0] == 0 and sorted(view.descendants()) == list(range(len(view.descendants())))
    assert len(view.descendants()) == 7


def test_matches(path):
    view, root = tf.train.CheckpointView(path), tree(extra=True)
    whole = tf.train.Checkpoint(top=root)
    matched = view.match(whole)
    below = view.children(view.children(0)["top"])
    assert matched[0] is whole and matched[below["a"]] is root.a and matched[below["b"]] is root.b
    assert len(matched) == 7
    matched, nodes, objects = view.diff(whole)
    assert len(matched) == 7 and nodes == []
    assert any(o is root.b.more for o in objects)
    partial = Node()
    partial.a = Node()
    matched, nodes, objects = view.diff(tf.train.Checkpoint(top=partial))
    assert matched[below["a"]] is partial.a and below["b"] in nodes and below["a"] not in nodes
    assert len(matched) + len(nodes) == 7 and 0 not in nodes
    with pytest.raises((ValueError, AttributeError)):
        view.match(3)
