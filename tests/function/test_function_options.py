"""Options of functions, their traces, and functions as attributes."""

import copy
import functools
import pickle

import numpy as np
import pytest

import tapeflow as tf


def double(x):
    """Doubles."""
    return x * 2


def count(function):
    return function.experimental_get_tracing_count()


def test_defaults():
    f = tf.function(double)
    assert f.input_signature is None and f.name == "double" and f.__doc__ == "Doubles." and f.__name__ == "double"
    assert f.python_function is double and count(f) == 0
    assert int(f(tf.constant(3))) == 6 and count(f) == 1
    assert int(f(tf.constant(4))) == 8 and count(f) == 1
    assert f(tf.constant([1, 2])).numpy().tolist() == [2, 4] and count(f) == 2
    assert f(tf.constant([1, 2, 3])).numpy().tolist() == [2, 4, 6] and count(f) == 3  # nothing is relaxed


@pytest.mark.parametrize("options", [{"reduce_retracing": True}, {"experimental_relax_shapes": True}])
def test_retracing_may_be_reduced(options):
    f = tf.function(double, **options)
    for size in (1, 2, 3, 4):
        assert f(tf.ones([size])).numpy().tolist() == [2.0] * size
    assert count(f) == 2
    for off in (tf.function(double), tf.function(double, experimental_relax_shapes=False)):
        for size in (1, 2, 3):
            off(tf.ones([size]))
        assert count(off) == 3
    on = tf.function(double, reduce_retracing=True, experimental_relax_shapes=False)
    for size in (1, 2, 3):
        on(tf.ones([size]))
    assert count(on) == 2


def test_relaxed_traces_serve_what_differs_in_shapes_alone():
    f = tf.function(lambda x, k: x * k, reduce_retracing=True)
    for size, k in ((1, 2.0), (2, 2.0), (3, 2.0), (3, 3.0), (4, 3.0)):
        assert f(tf.ones([size]), k).numpy().tolist() == [k] * size
    before = count(f)
    f(tf.ones([9]), 3.0)
    f(tf.ones([9]), 2.0)
    assert count(f) == before
    f(tf.ones([2, 2]), 2.0)
    assert count(f) == before + 1
    f(tf.ones([2], tf.float64), tf.constant(2.0, tf.float64))
    assert count(f) == before + 2


def test_signatures_convert():
    f = tf.function(double, input_signature=[tf.TensorSpec([None], tf.float32)])
    assert f.input_signature == (tf.TensorSpec([None], tf.float32),)
    assert f([1, 2]).numpy().tolist() == f(np.array([1.0, 2.0], np.float32)).numpy().tolist() == [2.0, 4.0]
    assert f([1.0]).dtype is tf.float32 and count(f) == 1
    assert f.get_concrete_function() is f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    for wrong in (tf.constant([1]), [[1.0]], "text"):
        with pytest.raises((TypeError, ValueError), match=r"Binding inputs to tf\.function failed"):
            f(wrong)
    assert count(f) == 1


@pytest.mark.parametrize(
    ("function", "signature", "said"),
    [
        (double, [3], "input_signature"),
        (double, [tf.TensorSpec([]), tf.TensorSpec([])], "input_signature"),
        (lambda x, y: x, [tf.TensorSpec([])], "input_signature missing type constraint|signature"),
        (lambda x, *, k: x, [tf.TensorSpec([])], "keyword-only"),
    ],
)
def test_signatures_that_are_refused(function, signature, said):
    with pytest.raises((TypeError, ValueError), match=said):
        tf.function(function, input_signature=signature)(tf.constant(1.0))


def test_signatures_leave_defaults_alone():
    spec = tf.TensorSpec([], tf.float32)
    f = tf.function(lambda x, k=3, *, m=1.0: x * k + m, input_signature=[spec])
    assert float(f(2.0)) == 7.0 and float(f(tf.constant(4.0))) == 13.0


def test_decorators():
    @tf.function(autograph=False, reduce_retracing=True)
    def f(x):
        return x + 1

    assert int(f(tf.constant(1))) == 2
    again = tf.function(f, autograph=False)
    assert int(again(tf.constant(1))) == 2 and again.python_function is f.python_function
    partial = tf.function(functools.partial(lambda x, y: x - y, y=2))
    assert int(partial(tf.constant(5))) == 3
    with pytest.raises(TypeError):
        tf.function(3)(tf.constant(1))


def test_functions_are_not_decorated_after_their_traces():
    f = tf.function(double)
    f._decorate(lambda function: lambda x: function(x) + 1)
    assert int(f(tf.constant(3))) == 7
    with pytest.raises(ValueError, match="Functions cannot be decorated after they have been traced"):
        f._decorate(lambda function: function)


def test_texts_of_all_traces():
    f = tf.function(double)
    f(tf.constant(1))
    f(tf.constant([1.0]))
    text = f.pretty_printed_concrete_signatures()
    assert text == "\n\n".join(c.pretty_printed_signature() for c in f._list_all_concrete_functions())
    assert "TensorSpec(shape=(1,), dtype=tf.float32, name=None)" in text and text.count("Input Parameters:") == 2


class Scaled:
    """An object with methods that are functions."""

    def __init__(self, by):
        self.by = by

    @tf.function
    def scale(self, x, k=1):
        return x * self.by * k

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def signed(self, x):
        return x * self.by


def test_methods_belong_to_their_objects():
    two, three = Scaled(2), Scaled(3)
    assert int(two.scale(tf.constant(5))) == 10 and int(three.scale(tf.constant(5), k=2)) == 30
    assert two.scale is two.scale and two.scale is not three.scale and count(two.scale) == 1
    assert two.signed([1.0]).numpy().tolist() == [2.0] and three.signed([1.0, 2.0]).numpy().tolist() == [3.0, 6.0]
    assert Scaled.scale(two, tf.constant(5)).numpy() == 10
    assert two.scale.python_function(tf.constant(1)).numpy() == 2


def test_methods_of_objects_without_a_hash():
    class Listed(Scaled):
        __hash__ = None

        def __eq__(self, other):
            return self is other

    two, three = Listed(2), Listed(3)
    for _ in range(2):
        assert int(two.scale(tf.constant(5))) == 10 and int(three.scale(tf.constant(5))) == 15
    assert count(two.scale) == 1


def test_copies():
    f = tf.function(double, autograph=False)
    f(tf.constant(1))
    g = copy.deepcopy(f)
    assert g is not f and int(g(tf.constant(3))) == 6 and g.python_function is double
    h = pickle.loads(pickle.dumps(f))
    assert int(h(tf.constant(4))) == 8


def test_nested_structures_are_passed_to_the_python_function():
    seen = []

    @tf.function(autograph=False)
    def f(nest, *rest, key=None, **named):
        seen.append((sorted(nest), len(rest), key, sorted(named)))
        return nest["a"][0] + sum(rest) + named.get("z", 0)

    assert int(f({"a": [tf.constant(1)], "b": 2}, 3, 4, key="k", z=tf.constant(5))) == 13
    assert seen == [(["a", "b"], 2, "k", ["z"])]
    assert int(f({"a": [tf.constant(2)], "b": 2}, 3, 4, key="k", z=tf.constant(6))) == 15 and len(seen) == 1
    f({"a": [tf.constant(2)], "b": 3}, 3, 4, key="k", z=tf.constant(6))
    f({"a": [tf.constant(2)], "b": 2}, 3, 5, key="k", z=tf.constant(6))
    f({"a": [tf.constant(2)], "b": 2}, 3, 4, key="m", z=tf.constant(6))
    f({"a": [tf.constant(2)], "b": 2}, 3, 4, key="k", z=6)
    assert len(seen) == 5


def test_representations_of_compiled_functions():
    f = tf.function(lambda x: x + 1.0, jit_compile=True)
    x = tf.constant([1.0, 2.0])
    assert isinstance(f.experimental_get_compiler_ir(x)(), str)
    with pytest.raises(ValueError, match="Invalid stage selected"):
        f.experimental_get_compiler_ir(x)(stage="other")
    with pytest.raises(ValueError, match="jit_compile=True"):
        tf.function(lambda x: x).experimental_get_compiler_ir(x)()


def test_seeds_of_graphs_have_traces_of_their_own():
    f = tf.function(lambda: tf.random.uniform([2]))
    with tf.Graph().as_default():
        tf.compat.v1.set_random_seed(7)
        first = f()
        with tf.compat.v1.Session() as session:
            values = session.run(first)
    assert values.shape == (2,)
    assert f().shape == [2]


def test_traces_are_saved():
    f = tf.function(double, input_signature=[tf.TensorSpec([2], tf.float32)])
    (trace,) = f._trackable_children().values()  # it is traced for that
    assert trace is f.get_concrete_function() and list(f._trackable_children()) == ["trace_0"]
    g = tf.function(double)
    assert g._trackable_children() == {}
    g(tf.constant(1))
    g(tf.constant([1]))
    assert list(g._trackable_children().values()) == g._list_all_concrete_functions()
    assert list(g._trackable_children()) == ["trace_0", "trace_1"]


def test_features_of_autograph():
    feature = tf.autograph.experimental.Feature
    for options in (feature.EQUALITY_OPERATORS, (feature.EQUALITY_OPERATORS, feature.LISTS), [feature.ALL]):

        @tf.function(experimental_autograph_options=options)
        def f(x):
            if x > 0:
                return x * 2
            return -x

        assert int(f(tf.constant(3))) == 6 and int(f(tf.constant(-3))) == 3
