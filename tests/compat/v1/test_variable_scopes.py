"""Variable scopes: names, defaults, reuse, getters, and first values of variables."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


# ---- names -----------------------------------------------------------------------------------------------------------


def test_default_names_are_counted():
    names = []
    with v1.variable_scope("out"):
        for name in ("a", "a", "a_1", "a"):
            with v1.variable_scope(None, name) as scope:
                names.append(scope.name)
    assert names == ["out/a", "out/a_1", "out/a_1_1", "out/a_2"]
    with v1.variable_scope("out"), v1.variable_scope(None, "a") as scope:
        assert scope.name == "out/a"  # the scope begins anew
    with v1.variable_scope("b"):
        pass
    with v1.variable_scope(None, "b") as scope:
        assert scope.name == "b_1"


def test_names_of_operations():
    with v1.variable_scope("a") as a:
        assert tf.constant(1.0, name="c").name == "a/c:0"
        assert a.original_name_scope == "a/"
    with v1.variable_scope("a") as again:
        assert tf.constant(1.0, name="c").name == "a_1/c:0"
        assert again.original_name_scope == "a_1/"
        assert v1.get_variable("v", []).name == "a/v:0"
    with v1.variable_scope("other"), v1.variable_scope(a):
        assert tf.constant(1.0, name="c").name == "other/a/c:0"
        assert v1.get_variable("w", []).name == "a/w:0"
    with v1.variable_scope("plain", auxiliary_name_scope=False) as plain:
        assert tf.constant(1.0, name="d").name == "d:0"
        assert v1.get_variable("v", []).name == "plain/v:0"
        assert plain.original_name_scope == ""
    with v1.variable_scope(""):
        assert v1.get_variable("top", []).name == "top:0"


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"name_or_scope": None}, TypeError, "If default_name is None then name_or_scope is required"),
        ({"name_or_scope": 3}, TypeError, "must be a string or VariableScope"),
        ({"name_or_scope": "a", "reuse": 1}, ValueError, "reuse parameter must be True or False or None"),
        (
            {"name_or_scope": None, "default_name": "a", "reuse": True},
            ValueError,
            "cannot be used without a name_or_scope",
        ),
    ],
)
def test_scopes_that_are_none(arguments, kind, message):
    with pytest.raises(kind, match=message), v1.variable_scope(**arguments):
        pass


# ---- defaults --------------------------------------------------------------------------------------------------------


def test_attributes_of_a_scope():
    scope = v1.get_variable_scope()
    assert scope.name == ""
    assert scope.dtype == tf.float32
    assert scope.initializer is None
    assert scope.regularizer is None
    assert scope.partitioner is None
    assert scope.custom_getter is None
    assert scope.constraint is None
    assert scope.caching_device is None
    zeros, double, first, same = v1.zeros_initializer(), (lambda v: v * 2.0), (lambda shape, dtype: [1]), (lambda v: v)
    options = {"initializer": zeros, "regularizer": double, "constraint": same, "dtype": tf.float64}
    with v1.variable_scope("a", **options) as a, v1.variable_scope("b") as b:
        assert a.constraint is same
        for scope in (a, b):
            assert (scope.initializer, scope.regularizer, scope.dtype) == (zeros, double, tf.float64)
    assert v1.get_variable_scope().initializer is None
    with v1.variable_scope("c") as c:
        c.set_initializer(v1.ones_initializer())
        c.set_dtype(tf.float64)
        c.set_regularizer(double)
        c.set_partitioner(first)
        assert c.partitioner is first
        assert c.regularizer is double
        assert c.dtype == tf.float64
        c.set_partitioner(None)
        c.set_caching_device("/cpu:0")
        assert c.caching_device == "/cpu:0" or callable(c.caching_device)
        c.set_custom_getter(lambda getter, name, **options: getter(name + "_got", **options))
        v = v1.get_variable("v", [2])
        assert v.name == "c/v_got:0"
        assert v.dtype == tf.float64
        assert len(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)) == 1
        c.reuse_variables()
        assert c.reuse is True
        assert v1.get_variable("v", [2]) is v
    with v1.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v).tolist() == [1.0, 1.0]
        assert sess.run(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)[0]).tolist() == [2.0, 2.0]


def test_collections_of_a_scope():
    with v1.variable_scope("a") as a:
        v = v1.get_variable("v", [])
        w = v1.get_variable("w", [], trainable=False)
        local = v1.get_local_variable("l", [])
        extra = v1.get_variable("extra", [], collections=["mine"])
    with v1.variable_scope("ab"):
        v1.get_variable("v", [])
    assert a.global_variables() == [v, w]
    assert a.trainable_variables() == [v, extra]
    assert a.local_variables() == [local]
    assert a.get_collection("mine") == [extra]
    assert len(v1.get_variable_scope().global_variables()) == 3


def test_reuse_is_inherited_and_can_be_turned_off():
    with v1.variable_scope("a", reuse=v1.AUTO_REUSE) as a:
        v = v1.get_variable("v", [2])
        assert v1.get_variable("v", [2]) is v
        with v1.variable_scope("b", reuse=False) as b:
            assert b.reuse == v1.AUTO_REUSE
    with v1.variable_scope(a, reuse=False) as again:
        assert again.reuse in (False, v1.AUTO_REUSE)
    with v1.variable_scope("a", reuse=True):
        assert v1.get_variable("v") is v
        with pytest.raises(ValueError, match="Trying to share variable a/v, but specified dtype"):
            v1.get_variable("v", [2], tf.float64)
        with pytest.raises(ValueError, match="Trying to share variable a/v, but specified shape"):
            v1.get_variable("v", [3])
        with pytest.raises(ValueError, match="does not exist"):
            v1.get_variable("w", [2])
    with v1.variable_scope("a"), pytest.raises(ValueError, match="already exists, disallowed"):
        v1.get_variable("v", [2])


# ---- first values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected", "dtype"),
    [
        ({"initializer": 3}, 3, tf.int32),
        ({"initializer": [1.5, 2.5]}, [1.5, 2.5], tf.float32),
        ({"initializer": np.float64([1.0])}, [1.0], tf.float64),
        ({"initializer": 3, "dtype": tf.int32}, 3, tf.int32),
        ({"shape": [2], "dtype": tf.int64}, [0, 0], tf.int64),
        ({"shape": [2], "dtype": tf.bool}, [False, False], tf.bool),
        ({"shape": [1], "dtype": tf.string, "initializer": v1.constant_initializer("x")}, [b"x"], tf.string),
        ({"shape": 2, "initializer": v1.ones_initializer}, [1.0, 1.0], tf.float32),
        ({"initializer": lambda: tf.constant([4, 5])}, [4, 5], tf.int32),
        ({"shape": [2], "initializer": lambda shape, dtype: tf.fill(shape, tf.cast(7, dtype))}, [7.0, 7.0], tf.float32),
    ],
)
def test_first_values(options, expected, dtype):
    if dtype == tf.int32 and callable(options["initializer"]):
        options = {**options, "dtype": tf.int32}
    v = v1.get_variable("v", **options)
    assert v.dtype.base_dtype == dtype
    with v1.Session() as sess:
        sess.run(v.initializer)
        assert np.asarray(sess.run(v)).tolist() == expected


def test_values_by_default_are_glorots():
    v1.set_random_seed(3)
    v = v1.get_variable("v", [30, 20])
    with v1.Session() as sess:
        sess.run(v.initializer)
        found = sess.run(v)
    limit = np.sqrt(6.0 / 50)
    assert np.abs(found).max() <= limit
    assert np.abs(found).max() > 0.9 * limit
    assert abs(found.mean()) < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": [1], "initializer": [1.0]}, "If initializer is a constant, do not specify shape"),
        ({}, "shape.*must be"),
        ({"shape": [None, 2]}, "fully defined"),
        ({"initializer": 3, "dtype": tf.float64}, "explicit dtype '.*float64'.* don't match"),
        ({"shape": [2], "dtype": tf.complex64}, "An initializer for variable v of|initializer"),
    ],
)
def test_variables_without_a_value(options, message):
    with pytest.raises(ValueError, match=message):
        v1.get_variable("v", **options)


def test_regularizers():
    v = v1.get_variable("v", initializer=[1.0, 2.0], regularizer=lambda v: tf.reduce_sum(v) * 0.5)
    v1.get_variable("w", initializer=[1.0], regularizer=lambda v: None)
    (loss,) = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name.startswith("v/Regularizer/")
    with v1.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(loss) == 1.5


def test_getters():
    calls = []

    def outer(getter, name, **options):
        calls.append(("outer", name, options["trainable"]))
        return getter(name, **options)

    def inner(getter, name, *args, **options):
        calls.append(("inner", name))
        return getter(name, *args, **{**options, "trainable": False})

    with v1.variable_scope("a", custom_getter=outer):
        v = v1.get_variable("v", [], trainable=True)
        w = v1.get_variable("w", [], custom_getter=inner)
    assert calls[0] == ("outer", "a/v", True)
    assert ("inner", "a/w") in calls
    assert v.trainable
    assert not w.trainable


def test_variables_of_loops_are_of_the_graph():
    def body(i, x):
        return i + 1, x * v1.get_variable("v", initializer=2.0)

    with v1.variable_scope("s", reuse=v1.AUTO_REUSE):
        _, y = tf.while_loop(lambda i, x: i < 3, body, [0, 1.0])
    (v,) = v1.global_variables()
    assert v.name == "s/v:0"
    with v1.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(y) == 8.0


def test_local_variables():
    v = v1.get_local_variable("v", [2], tf.int32, collections=["mine"])
    assert v1.local_variables() == [v] == v1.get_collection("mine")
    assert not v.trainable
    assert v1.global_variables() == []
    assert v1.trainable_variables() == []
