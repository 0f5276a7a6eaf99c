"""`tf.xla.experimental`: the earlier ways to have functions compiled."""

import pytest

import tapeflow as tf


def test_compile_gives_a_list_of_tensors():
    @tf.function
    def function(x):
        return tf.xla.experimental.compile(lambda a: (a + 1, a), [x])

    assert [t.numpy().item() for t in function(tf.constant(1))] == [2, 1]
    (one,) = tf.xla.experimental.compile(lambda: 3)
    assert one.numpy() == 3
    with pytest.raises(TypeError, match="inputs must be a list"):
        tf.xla.experimental.compile(lambda a: a, tf.constant(1))


def test_jit_scopes_are_for_graphs():
    @tf.function
    def function(x):
        with tf.xla.experimental.jit_scope():
            return x + 1

    assert function(tf.constant(1)).numpy() == 2
    scope = tf.xla.experimental.jit_scope()
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"), scope:
        pass
