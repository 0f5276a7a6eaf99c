"""`tf.xla.experimental.compile`: which structures it gives."""

import pytest

import tapeflow as tf

compile_function = tf.xla.experimental.compile


def test_structures_of_results():
    x = tf.constant([1, 2])
    assert compile_function(lambda: None) is None
    named = compile_function(lambda a: {"b": a + 1, "a": [3, a]}, [x])
    assert sorted(named) == ["a", "b"] and named["b"].numpy().tolist() == [2, 3]
    assert named["a"][0].numpy() == 3 and named["a"][1].numpy().tolist() == [1, 2]
    for result in (
        compile_function(lambda a, b: (a, [b, 4]), [x, 2]),
        compile_function(lambda a, b: [a, b, 4], [x, 2]),
    ):
        assert type(result) is list and [t.numpy().tolist() for t in result] == [[1, 2], 2, 4]
    nested = compile_function(lambda pair, c: pair["a"] - pair["b"] * c, [{"a": x, "b": 1}, tf.constant(3)])
    assert [t.numpy().tolist() for t in nested] == [[-2, -1]]
    assert [t.numpy() for t in compile_function(lambda: tf.constant(5), None)] == [5]
    for inputs in (x, (x,), {"a": x}):
        with pytest.raises(TypeError, match="inputs must be a list"):
            compile_function(lambda a: a, inputs)


def test_jit_scopes():
    with tf.Graph().as_default():
        for options in ({}, {"compile_ops": lambda node: False, "separate_compiled_gradients": True}):
            with tf.xla.experimental.jit_scope(**options):
                x = tf.constant(1) + 1
        with tf.compat.v1.Session() as session:
            assert session.run(x) == 2
