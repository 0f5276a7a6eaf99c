"""`tf.__internal__.tracking`."""

import types

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import tracking


@pytest.mark.parametrize("before", [None, True, False])
def test_attributes_are_no_children_in_a_scope(before):
    module = tf.Module()
    if before is not None:
        module._setattr_tracking = before
    with pytest.raises(KeyError), tracking.no_automatic_dependency_tracking_scope(module):
        module.plain = {"a": tf.Variable(1.0)}
        raise KeyError
    module.tracked = {"a": tf.Variable(1.0)}
    assert type(module.plain) is dict
    assert (type(module.tracked) is dict) is (before is False)
    assert module._setattr_tracking is (True if before is None else before)


def test_initial_values_of_a_checkpoint():
    position = types.SimpleNamespace(restore_uid=7, value=lambda: "value")
    initial = tracking.CheckpointInitialValueCallable(position)
    assert initial.checkpoint_position is position and initial.restore_uid == 7
    assert initial() == initial([2], tf.float32, shard_info=None) == "value"


def test_an_object_is_saved_like_another(tmp_path):
    class Wrapper(tracking.DelegatingTrackableMixin, tf.__internal__.tracking.Trackable):
        pass

    inner = tf.Module()
    inner.v = tf.Variable([1.0, 2.0])
    wrapper = Wrapper(inner)
    assert wrapper._trackable_children() == inner._trackable_children()
    assert wrapper._lookup_dependency("v") is inner.v
    child = tf.Variable(3.0)
    wrapper._track_trackable(child, "w")
    assert inner._lookup_dependency("w") is child
    other = tf.Variable(4.0)
    with pytest.raises(ValueError):
        wrapper._track_trackable(other, "w")
    wrapper._track_trackable(other, "w", overwrite=True)
    assert inner._lookup_dependency("w") is other
    path = tf.train.Checkpoint(root=inner).write(str(tmp_path / "one"))
    inner.v.assign([8.0, 9.0])
    tf.train.Checkpoint(root=inner).restore(path)
    assert inner.v.numpy().tolist() == [1.0, 2.0]
