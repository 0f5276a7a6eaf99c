"""Tensors of a function's graph that are used after its trace."""

import pytest

import tapeflow as tf


@pytest.fixture
def leaked():
    tensors = []

    @tf.function
    def leak(x):
        tensors.append(x + 1.0)
        return x

    leak(tf.constant(1.0))
    return tensors[0]


_USES = {
    "operator": lambda t: t + 1.0,
    "reflected": lambda t: tf.constant(1.0) * t,
    "op": tf.square,
    "list": lambda t: tf.stack([t, t]),
    "assign": lambda t: tf.Variable(1.0).assign(t),
    "assign_add": lambda t: tf.Variable(1.0).assign_add(t),
    "argument": lambda t: tf.function(lambda x: x)(t),
    "function": lambda t: tf.function(lambda: t + 1.0)(),
    "cond": lambda t: tf.cond(t > 0.0, lambda: 1, lambda: 2),
}


@pytest.mark.parametrize("name", _USES)
def test_the_error_explains_the_scope(leaked, name):
    with pytest.raises(TypeError, match=r"'add:0'.* is out of scope(.|\n)*FuncGraph\(name=leak"):
        _USES[name](leaked)
