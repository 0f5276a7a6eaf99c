"""Scopes of names, control dependencies and variable creators. TensorFlow passes these tests, too."""

import pytest

import tapeflow as tf


def test_names_of_scopes():
    assert tf.get_current_name_scope() == ""
    with tf.name_scope("a") as first:
        assert first == "a/" and tf.get_current_name_scope() == "a"
        with tf.name_scope("b") as second:
            assert second == "a/b/" and tf.get_current_name_scope() == "a/b"
            with tf.name_scope("other/") as third:
                assert third == "other/" and tf.get_current_name_scope() == "other"
            with tf.name_scope("") as root:
                assert root == "" and tf.get_current_name_scope() == ""
            assert tf.Variable(1.0, name="v").name == "a/b/v:0"
        assert tf.get_current_name_scope() == "a"
        with tf.name_scope("b") as again:
            assert again == "a/b/"  # eagerly, names may occur twice
    assert tf.get_current_name_scope() == "" and tf.Variable(1.0, name="v").name == "v:0"
    assert tf.name_scope("x").name == "x"


def test_a_scope_may_be_entered_again():
    scope = tf.name_scope("a")
    with scope as first, scope as second:
        assert (first, second) == ("a/", "a/a/")
    with pytest.raises(KeyError), scope:
        raise KeyError
    assert tf.get_current_name_scope() == ""
    with pytest.raises(ValueError, match="name for name_scope must be a string"):
        tf.name_scope(3)


def test_names_of_operations_in_scopes():
    with tf.Graph().as_default():
        with tf.name_scope("a") as first:
            x = tf.constant(1.0, name="x")
        with tf.name_scope("a") as second, tf.name_scope("b"):
            y = tf.constant(1.0, name="y")
        with tf.name_scope("a/"):
            z = tf.constant(1.0, name="z")
        assert (first, second) == ("a/", "a_1/")
        assert (x.name, y.name, z.name) == ("a/x:0", "a_1/b/y:0", "a/z:0")


def test_control_dependencies():
    calls = []
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.assign(2.0), lambda: calls.append(1)]):
        assert float(v) == 2.0 and calls == [1]
    with tf.control_dependencies(None), tf.control_dependencies([]):
        pass
    with tf.Graph().as_default():
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        with tf.control_dependencies([a]):
            c = tf.constant(3.0)
            with tf.control_dependencies([b.op]):
                d = tf.constant(4.0)
            with tf.control_dependencies(None):
                e = tf.constant(5.0)
        assert [op.name for op in c.op.control_inputs] == ["a"] and not e.op.control_inputs
        assert sorted(op.name for op in d.op.control_inputs) == ["a", "b"]


def test_modes():
    seen = []
    assert tf.executing_eagerly() and not tf.inside_function()

    @tf.function(autograph=False)
    def f():
        seen.append((tf.executing_eagerly(), tf.inside_function()))
        with tf.init_scope():
            seen.append((tf.executing_eagerly(), tf.inside_function()))
        return tf.constant(1)

    f()
    with tf.Graph().as_default() as graph:
        seen.append((tf.executing_eagerly(), tf.inside_function()))

        @tf.function(autograph=False)
        def g():
            with tf.init_scope():
                seen.append((tf.executing_eagerly(), tf.compat.v1.get_default_graph() is graph))
            return tf.constant(1)

        g()
    assert seen == [(False, True), (True, True), (False, False), (False, True)]


def test_tapes_do_not_see_what_is_outside():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.init_scope():
            hidden = x * x
        y = x * hidden
    assert float(tape.gradient(y, x)) == 9.0


def test_creators_of_variables():
    order = []

    def named(name):
        def creator(next_creator, **kwargs):
            order.append(name)
            return next_creator(**{**kwargs, "name": f"{name}_{kwargs['name']}"})

        return creator

    with tf.variable_creator_scope(named("outer")), tf.variable_creator_scope(named("inner")):
        v = tf.Variable(1.0, name="v")
    assert order == ["inner", "outer"] and v.name == "outer_inner_v:0"
    with pytest.raises(KeyError), tf.variable_creator_scope(named("x")):
        raise KeyError
    assert tf.Variable(1.0, name="v").name == "v:0" and len(order) == 2
