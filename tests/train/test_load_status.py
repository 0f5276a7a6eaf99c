"""Statuses of restored checkpoints: what they assert."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture
def saved(tmp_path):
    """A checkpoint of `a` and of `n.b`."""
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0), n=tf.train.Checkpoint(b=tf.Variable(2.0)))
    return checkpoint.write(str(tmp_path / "m"))


def restored(path, **objects):
    return tf.train.Checkpoint(**objects).read(path)


def test_all_of_it(saved):
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    status = restored(saved, a=a, n=tf.train.Checkpoint(b=b))
    for check in (status.assert_consumed, status.assert_existing_objects_matched, status.assert_nontrivial_match):
        assert check() is status
    assert status.expect_partial() is status
    assert status.initialize_or_restore() is None
    assert status.run_restore_ops() is None
    assert (a.numpy(), b.numpy()) == (1.0, 2.0)


def test_less_than_that(saved):
    status = restored(saved, a=tf.Variable(0.0))
    assert status.assert_existing_objects_matched() is status
    assert status.assert_nontrivial_match() is status
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.n\.b"):
        status.assert_consumed()
    status.expect_partial()


def test_more_than_that(saved):
    status = restored(saved, a=tf.Variable(0.0), n=tf.train.Checkpoint(b=tf.Variable(0.0)), c=tf.Variable(0.0))
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match="Found 1 Python objects that were not bound to checkpointed values"):
            check()
    assert status.assert_nontrivial_match() is status


def test_nothing_of_it(saved):
    status = restored(saved, x=tf.Variable(0.0))
    with pytest.raises(AssertionError, match="Nothing except the root object matched a checkpointed value"):
        status.assert_nontrivial_match()
    status.expect_partial()


def test_containers_without_elements_need_no_value(saved):
    status = restored(saved, a=tf.Variable(0.0), n=tf.train.Checkpoint(b=tf.Variable(0.0)), l=[])
    assert status.assert_consumed() is status


def test_no_checkpoint():
    status = tf.train.Checkpoint(a=tf.Variable(0.0)).restore(None)
    for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match", "run_restore_ops"):
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            getattr(status, name)()
    assert status.expect_partial() is status
    assert status.initialize_or_restore() is None


# ---- checkpoints without objects -------------------------------------------------------------------------------------


@pytest.fixture
def by_name(tmp_path):
    """A checkpoint of TensorFlow 1 with `v` and `w`."""
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.get_variable("v", initializer=1.0)
        v1.get_variable("w", initializer=[2.0, 3.0])
        sess.run(v1.global_variables_initializer())
        return v1.train.Saver().save(sess, str(tmp_path / "m"), write_meta_graph=False)


def test_names_of_variables(by_name):
    v, w = tf.Variable(0.0, name="v"), tf.Variable([0.0, 0.0], name="w")
    status = restored(by_name, v=v, w=w)
    for check in (status.assert_consumed, status.assert_existing_objects_matched, status.assert_nontrivial_match):
        assert check() is status
    assert v.numpy() == 1.0
    assert w.numpy().tolist() == [2.0, 3.0]
    assert status.expect_partial() is status


def test_some_names_of_variables(by_name):
    status = restored(by_name, v=tf.Variable(0.0, name="v"))  # the checkpoint may have more
    assert status.assert_consumed() is status
    assert status.assert_nontrivial_match() is status


def test_other_names_of_variables(by_name):
    for objects in (
        {"v": tf.Variable(0.0, name="v"), "x": tf.Variable(0.0, name="x")},
        {"x": tf.Variable(0.0, name="x")},
    ):
        status = restored(by_name, **objects)
        for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
            with pytest.raises(AssertionError, match="Some objects had attributes which were not restored"):
                getattr(status, name)()


def test_the_save_counter_needs_no_value(by_name):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0, name="v"))
    checkpoint.restore(by_name).assert_consumed()
    assert checkpoint.save_counter.numpy() == 0
