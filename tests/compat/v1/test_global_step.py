"""Global steps: how they are created, found and read."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
train = v1.train


def test_creation():
    with tf.Graph().as_default() as graph:
        assert train.get_global_step() is None
        step = train.create_global_step()
        assert step.name == "global_step:0"
        assert step.dtype == tf.int64
        assert step.shape == []
        assert not step.trainable
        assert v1.get_collection(v1.GraphKeys.GLOBAL_STEP) == [step]
        assert v1.global_variables() == [step]
        assert train.get_global_step() is step
        assert train.get_or_create_global_step() is step
        with pytest.raises(ValueError, match='"global_step" already exists'):
            train.create_global_step()
        other = tf.Graph()
        with other.as_default():
            assert train.get_or_create_global_step(graph) is step
            assert train.get_global_step(graph) is step
            assert train.get_global_step() is None
        made = train.create_global_step(other)
        assert made.graph is other


@pytest.mark.parametrize(("value", "expected"), [(tf.int32, None), (tf.float32, TypeError)])
def test_a_variable_of_that_name(value, expected):
    with tf.Graph().as_default():
        v = v1.get_variable("global_step", [], value, initializer=v1.zeros_initializer())
        if expected is None:
            assert train.get_global_step() is v
        else:
            with pytest.raises(expected, match="does not have integer type"):
                train.get_global_step()


def test_steps_that_are_none():
    with tf.Graph().as_default():
        v1.add_to_collection(v1.GraphKeys.GLOBAL_STEP, v1.get_variable("a", [2], tf.int64))
        with pytest.raises(TypeError, match="not scalar"):
            train.get_global_step()
        train.assert_global_step(v1.get_variable("b", [], tf.int64))
        for wrong in (v1.get_variable("c", [], tf.float32), "text"):
            with pytest.raises(TypeError):
                train.assert_global_step(wrong)


def test_values():
    with tf.Graph().as_default(), v1.Session() as sess:
        step = train.create_global_step()
        sess.run(step.initializer)
        sess.run(v1.assign_add(step, 7).op)
        assert train.global_step(sess, step) == 7
        assert type(train.global_step(sess, step)) is int
        assert train.global_step(sess, tf.constant(3)) == 3
    assert train.global_step(None, tf.Variable(np.int64(5))) == 5
