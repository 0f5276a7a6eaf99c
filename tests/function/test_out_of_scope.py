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


def test_scratch_graphs_take_the_tensors_of_any_graph_but_those_inside():
    """Keras 2 calls each layer in a graph of its own to infer shapes, also on tensors of such graphs that are gone."""
    first, second = (tf.__internal__.FuncGraph(name) for name in ("first", "second"))
    with first.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 2]) * 2.0
    with second.as_default():
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x @ tf.ones([2, 3]), lambda: tf.ones([1, 3]))
        assert y.graph is second and y.shape.as_list() == [None, 3]
    assert second.external_captures == [x]
    with first.as_default():
        with tf.__internal__.FuncGraph("inside").as_default():
            inside = x + 1.0
        with pytest.raises(TypeError, match="out of scope"):
            inside * 2.0
