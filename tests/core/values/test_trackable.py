"""Trackable objects and their edges. TensorFlow passes these tests, too: the names are its own."""

import pytest

import tapeflow as tf


def edges(thing):
    """The edges of an object, in order."""
    return [(edge.name, edge.ref) for edge in thing._checkpoint_dependencies]


class Leaf(tf.Module):
    """A trackable object."""

    def __init__(self):
        super().__init__()
        self._maybe_initialize_trackable()  # which TensorFlow needs


def test_children_by_name():
    root, first, second = Leaf(), Leaf(), Leaf()
    assert root._track_trackable(first, "first") is first
    root._track_trackable(second, name="second")
    root._track_trackable(first, "again")
    assert edges(root) == [("first", first), ("second", second), ("again", first)]
    assert root._trackable_children() == {"first": first, "second": second, "again": first}
    assert root._lookup_dependency("second") is second and root._lookup_dependency("third") is None
    assert root._lookup_dependency("second", {"second": first}) is first
    name, ref = root._checkpoint_dependencies[0]
    assert (name, ref) == ("first", first)


def test_names_are_given_once():
    root, first, second = Leaf(), Leaf(), Leaf()
    root._track_trackable(first, "child")
    root._track_trackable(first, "child")
    with pytest.raises(ValueError, match="but a Trackable with this name is already declared as a dependency"):
        root._track_trackable(second, "child")
    assert edges(root) == [("child", first)]
    root._track_trackable(first, "other")
    assert root._track_trackable(second, "child", overwrite=True) is second
    assert edges(root) == [("child", second), ("other", first)]  # in the same place
    assert root._lookup_dependency("child") is second
    with pytest.raises(TypeError, match=r"can only be used to track objects of type Trackable. Got type <class 'int'>"):
        root._track_trackable(3, "number")
    assert len(edges(root)) == 2


def test_attributes_are_children():
    root, first, second = Leaf(), Leaf(), Leaf()
    root.child, root.number, root.text = first, 3, "text"
    assert edges(root) == [("child", first)] and root.number == 3 and root.text == "text"
    root.child = second
    assert edges(root) == [("child", second)]
    root.child = 7  # leaves the child, as attributes set to plain values do
    assert edges(root) == [("child", second)] and root.child == 7
    del root.child
    assert edges(root) == [] and not hasattr(root, "child")
    root.child = first
    assert edges(root) == [("child", first)]
    del root.number
    assert not hasattr(root, "number")
    with pytest.raises(AttributeError):
        del root.number


def test_attributes_that_are_no_children():
    root, child = Leaf(), Leaf()
    root.child = root._no_dependency(child)
    assert root.child is child and edges(root) == []
    root._setattr_tracking = False
    root.other = child
    assert root.other is child and edges(root) == [] and root._setattr_tracking is False
    root._setattr_tracking = True
    root.third = child
    assert edges(root) == [("third", child)]


def test_variables_of_a_getter():
    root, calls = Leaf(), []

    def getter(**kwargs):
        calls.append(kwargs)
        return tf.Variable(tf.fill(kwargs["shape"], 2.0), name=kwargs["name"])

    v = root._add_variable_with_custom_getter("v", [2], tf.float32, None, getter, trainable=False)
    assert v.numpy().tolist() == [2.0, 2.0] and edges(root) == [("v", v)]
    assert calls[0]["name"] == "v" and calls[0]["dtype"] is tf.float32 and calls[0]["trainable"] is False
    with pytest.raises(ValueError, match="already"):
        root._add_variable_with_custom_getter("v", [2], getter=getter)
    other = root._add_variable_with_custom_getter("v", [1], getter=getter, overwrite=True)
    assert edges(root) == [("v", other)]


def test_what_is_restored_later(tmp_path):
    """A checkpoint restores a child as soon as it becomes one."""
    saved = Leaf()
    saved.v, saved.inner = tf.Variable([1.0, 2.0]), Leaf()
    saved.inner.w = tf.Variable(5)
    path = tf.train.Checkpoint(root=saved).save(str(tmp_path / "file"))
    root = Leaf()
    status = tf.train.Checkpoint(root=root).restore(path)
    assert set(root._deferred_dependencies) == {"v", "inner"}
    root.v = tf.Variable([0.0, 0.0])
    assert root.v.numpy().tolist() == [1.0, 2.0] and set(root._deferred_dependencies) == {"inner"}
    inner = Leaf()
    inner.w = tf.Variable(0)
    assert int(inner.w) == 0
    root.inner = inner
    assert int(inner.w) == 5 and not root._deferred_dependencies
    status.assert_consumed()


def test_lists_and_dicts_are_followed():
    root = Leaf()
    given = [tf.Variable(1.0), {"a": tf.Variable(2.0)}, (tf.Variable(3.0), 4)]
    root.nest = given
    assert edges(root)[0][0] == "nest" and len(edges(root)) == 1
    assert [float(v) for v in root.trainable_variables] == [1.0, 2.0, 3.0]
    root.pair = (tf.Variable(7.0), tf.Variable(8.0))
    assert isinstance(root.pair, tuple) and [name for name, _ in edges(root)] == ["nest", "pair"]


def test_defaults_of_trackable_objects():
    root = Leaf()
    assert root._deferred_dependencies == {} and edges(root) == []
    assert root._gather_saveables_for_checkpoint() == {}
    for call in (root._serialize_to_tensors, lambda: root._restore_from_tensors({})):
        with pytest.raises(NotImplementedError):
            call()
    assert root._object_identifier == "_generic_user_object"
