"""`tf.Module` and `tf.CriticalSection`."""

import collections
import copy
import threading

import pytest

import tapeflow as tf


class Net(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.b = tf.Variable(1.0, name="b")
        self.a = tf.Variable(2.0, name="a", trainable=False)
        self.list = [tf.Variable(3.0, name="l"), tf.Module(name="inner")]
        self.dict = {"z": tf.Variable(4.0, name="z"), "y": tf.Variable(5.0, name="y")}
        self._hidden = tf.Variable(6.0, name="h")
        self.sub = tf.Module(name="sub")
        self.sub.v = tf.Variable(7.0, name="sv")
        self.sub.below = tf.Module(name="below")
        self.sub.below.v = tf.Variable(8.0, name="ssv")
        self.sub.above = self
        self.list[1].v = tf.Variable(9.0, name="iv")
        self.again = self.b
        self.tuple = (tf.Module(name="t1"),)


def test_variables_in_the_order_of_their_attributes():
    net = Net()
    assert [v.name for v in net.variables] == [f"{n}:0" for n in ["h", "a", "b", "y", "z", "l", "iv", "sv", "ssv"]]
    assert [v.name for v in net.non_trainable_variables] == ["a:0"]
    assert len(net.trainable_variables) == 8
    assert [m.name for m in net.submodules] == ["inner", "sub", "t1", "below"]


def test_weights_of_containers():
    """Keras 2 asks containers for the weights of the layers and variables in them."""
    module, inner = tf.Module(), tf.Module()
    inner.w = tf.Variable(1.0, name="w")
    module.parts = [tf.Variable(2.0, name="a"), inner, [tf.Variable(3, trainable=False, name="b")]]
    module.named = {"z": tf.Variable(4.0, name="z"), "y": inner}

    def names(weights):
        return [w.name[:-2] for w in weights]

    parts = module.parts
    assert names(parts.trainable_variables) == ["w", "a"] and names(parts.non_trainable_weights) == ["b"]
    assert names(parts.variables) == ["w", "a", "b"] and names(module.named.weights) == ["w", "z"]
    parts.trainable = False
    assert parts.trainable_weights == [] and names(parts.non_trainable_variables) == ["w", "a", "b"]
    assert (parts.layers, parts.losses, parts.updates) == ([], [], [])


def test_tuples_with_objects_to_track_have_a_type_of_their_own():
    """As in TensorFlow; `jax2tf` refuses to be imported otherwise."""
    Pair = collections.namedtuple("Pair", "x y")
    net = tf.Module()
    net.plain, net.parts, net.pair = (1, 2), (tf.Module(), [1], (tf.Variable(1.0),)), Pair(tf.Module(), 2)
    assert type(net.plain) is tuple and type(net.pair) is Pair
    assert type(net.parts) is type(net.parts[2]) is not tuple
    assert isinstance(net.parts, tuple) and net.parts == tuple(net.parts) and hash(net.parts[:1]) == hash(net.parts[:1])
    assert repr(net.parts) == repr(tuple(net.parts))
    again = net.again = net.parts
    assert again is net.parts
    tf.nest.assert_same_structure(net.parts, tuple(net.parts))
    doubled = tf.nest.map_structure(lambda part: (part, part), net.parts)
    assert type(doubled) is tuple and len(tf.nest.flatten(doubled)) == 6
    assert type(copy.copy(net.parts)) is tuple


def test_paths():
    found = Net()._flatten(predicate=lambda o: isinstance(o, tf.Variable), with_path=True)
    assert [path for path, _ in found] == [
        ("_hidden",), ("a",), ("again",), ("b",), ("dict", "y"), ("dict", "z"), ("list", 0), ("list", 1, "v"),
        ("sub", "v"), ("sub", "below", "v"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cls", "name"),
    [("CamelCaseNet2D", "camel_case_net2_d"), ("HTTPServer", "http_server"), ("_Priv", "__priv"), ("A1", "a1")],
)
def test_the_name_of_a_class(cls, name):
    assert type(cls, (tf.Module,), {})().name == name


@pytest.mark.parametrize("name", ["x y", "1x", "", "a/b"])
def test_names_are_identifiers(name):
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name=name)


def test_keywords_are_names():
    assert tf.Module(name="lambda").name == "lambda"


def test_name_scopes():
    class Dense(tf.Module):
        def __init__(self):
            super().__init__()
            with self.name_scope:
                self.w = tf.Variable(1.0, name="w")

        @tf.Module.with_name_scope
        def __call__(self):
            return tf.Variable(1.0, name="late").name

    with tf.name_scope("outer"):
        dense = Dense()
    assert (dense.name, dense.name_scope.name, dense.w.name) == ("dense", "outer/dense/", "outer/dense/w:0")
    assert dense() == "outer/dense/late:0"
    assert dense.__call__.__name__ == "__call__"


def test_an_attribute_that_cannot_be_searched_is_named():
    module = tf.Module()
    module.mixed = {1: 2, "a": 3}
    with pytest.raises(ValueError, match="Error processing property 'mixed'"):
        module.variables  # noqa: B018


def test_a_critical_section_excludes_other_threads():
    section, total = tf.CriticalSection(), [0]

    def add():
        before = total[0]
        for _ in range(1000):
            pass
        total[0] = before + 1

    threads = [threading.Thread(target=lambda: [section.execute(add) for _ in range(200)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert total == [800]
    assert section.execute(lambda: 5).dtype == tf.int32
    with pytest.raises(ValueError, match="already running"):
        section.execute(lambda: section.execute(lambda: 1))
