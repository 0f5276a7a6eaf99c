"""The lookup of the trace for a call: which calls share a trace, and what a lookup costs."""

from __future__ import annotations

import gc
import importlib
import inspect
import sys

import numpy as np
import pytest

import tapeflow as tf

TWO, ONE_TWO = tf.constant(2.0), tf.constant([1.0, 2.0])
LOOKUP = importlib.import_module("tapeflow.function.function")


def counted(python_function, **options):
    """Returns a `tf.function`, and a list that gets an item for each trace."""
    traces: list[int] = []

    def traced(*args, **kwargs):
        traces.append(1)
        return python_function(*args, **kwargs)

    traced.__signature__ = inspect.signature(python_function)
    return tf.function(traced, **options), traces


def test_all_ways_to_pass_an_argument_share_a_trace():
    f, traces = counted(lambda x, y=TWO, *, k=3: x - y * k)
    x, y = tf.constant(1.0), tf.constant(2.0)
    for _ in range(2):
        results = [f(x), f(x=x), f(x, y), f(y=y, x=x), f(x, y, k=3), f(k=3, x=x)]
        assert [float(r) for r in results] == [-5.0] * 6
    assert len(traces) == 1
    assert float(f(x, k=4)) == -7.0
    assert len(traces) == 2


def test_tensors_passed_by_name_are_told_apart_after_a_call_with_the_same_tensor_twice():
    f = tf.function(lambda x, y: x - y)
    a, b = tf.constant(5.0), tf.constant(3.0)
    assert float(f(y=a, x=a)) == 0.0
    assert float(f(y=b, x=a)) == 2.0
    assert float(f(x=b, y=a)) == -2.0


def test_a_default_tensor_is_passed_though_the_key_has_no_place_for_it():
    f, traces = counted(lambda x, y=ONE_TWO: x + y)
    x = tf.constant([1.0, 1.0])
    for _ in range(3):
        assert f(x).numpy().tolist() == [2.0, 3.0]
    assert f(x, x).numpy().tolist() == [2.0, 2.0]
    assert len(traces) == 1


def test_dicts_share_a_trace_whatever_the_order_of_their_keys():
    f, traces = counted(lambda d: d["a"] - d["b"])
    a, b = tf.constant(1.0), tf.constant(5.0)
    assert float(f({"a": a, "b": b})) == float(f({"b": b, "a": a})) == -4.0
    assert len(traces) == 1


def test_a_call_inside_of_another_function_shares_the_trace_of_an_eager_call():
    f, traces = counted(lambda x: x + 1.0)
    f(tf.constant(1.0))
    assert float(tf.function(lambda x: f(x) * 2.0)(tf.constant(1.0))) == 4.0
    assert len(traces) == 1


def test_graphs_of_tensorflow_1_have_traces_of_their_own():
    f, traces = counted(lambda x: x + 1.0)
    f(tf.constant(1.0))
    for wanted in (2, 3):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            results = [f(tf.constant(1.0)), tf.function(lambda x: f(x) * 1.0)(tf.constant(1.0))]
            assert session.run(results) == [2.0, 2.0]
        assert len(traces) == wanted
    f(tf.constant(1.0))
    assert len(traces) == 3


def test_a_trace_under_a_tape_is_the_one_without():
    f, traces = counted(lambda x: x * x)
    x = tf.constant(3.0)
    f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 6.0
    assert len(traces) == 1


def test_many_shapes_do_not_drop_the_one_trace_that_serves_them(monkeypatch):
    monkeypatch.setattr(LOOKUP, "MOST_TRACES", 8)
    f, traces = counted(lambda x: x + 1.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    for n in range(30):
        assert f(tf.ones([n])).shape == [n]
    assert len(traces) == f.experimental_get_tracing_count() == 1


def test_the_oldest_trace_is_dropped(monkeypatch, caplog):
    monkeypatch.setattr(LOOKUP, "MOST_TRACES", 8)
    f, traces = counted(lambda x, n: x + n)
    for n in range(10):
        f(tf.constant(1.0), float(n))
    assert f.experimental_get_tracing_count() == 8
    assert "more than 8 traces" in caplog.text
    f(tf.constant(1.0), 9.0)
    assert len(traces) == 10
    f(tf.constant(1.0), 0.0)
    assert len(traces) == 11


def test_a_signature_converts_what_is_no_tensor_in_every_call():
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)])
    assert f(tf.constant([1.0])).numpy().tolist() == [1.0]
    assert f([1, 2]).numpy().tolist() == f([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="Can not cast"):
        f(tf.constant([1]))


def test_a_call_refuses_a_spec_in_the_place_of_a_tensor():
    f = tf.function(lambda x: x)
    f(tf.constant(1.0))
    with pytest.raises((TypeError, ValueError)):
        f(tf.TensorSpec([], tf.float32))


def test_keywords_and_extra_arguments_are_bound_as_python_binds_them():
    f = tf.function(lambda a, /, b, *more, c=1, **named: (a, b, more, c, named))
    x = tf.constant(1)
    for args, kwargs in (
        ((x, 2), {}), ((x, 2, 3, 4), {"c": 5}), ((x,), {"b": 2, "a": 7}), ((x, 2), {"z": 1, "d": 2, "c": 3}),
    ):  # fmt: skip
        a, b, more, c, named = f(*args, **kwargs)
        wanted = f.python_function(*args, **kwargs)
        assert (int(a), int(b), tuple(map(int, more)), int(c)) == (1, *map(tuple_or_int, wanted[1:4]))
        assert {k: int(v) for k, v in named.items()} == wanted[4]
    for args, kwargs in (((x,), {}), ((), {"a": x, "b": 2}), ((x, 2), {"b": 3})):
        with pytest.raises(TypeError, match="Binding inputs to"):
            f(*args, **kwargs)


def tuple_or_int(value):
    return tuple(map(int, value)) if isinstance(value, tuple) else int(value)


def frames(call) -> int:
    """Returns the number of Python functions that a call enters."""
    entered: list[str] = []
    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # a collection would enter the finalizers of other tests' objects
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return len(entered)


X = tf.constant([1.0])
ITERATOR = iter(tf.data.Dataset.from_tensors(X).repeat())


@pytest.mark.parametrize(
    "function, call",
    [
        (lambda x: x + 1.0, lambda f: f(X)),
        (lambda x: x + 1.0, lambda f: f(x=X)),
        (lambda d: d["a"] + d["b"][0], lambda f: f({"a": X, "b": [X]})),
        (lambda x, training=False: x + 1.0, lambda f: f(X, training=True)),
        (lambda iterator: X, lambda f: f(ITERATOR)),
    ],
    ids=["tensor", "keyword", "nested", "flag", "iterator"],
)
def test_a_lookup_takes_few_steps(function, call):
    f = tf.function(function)

    def taped():
        with tf.GradientTape():
            call(f)

    for run in (lambda: call(f), taped):
        run()
        run()
        assert frames(run) <= 50


# ---- more general traces ---------------------------------------------------------------------------------------------

OPEN = tf.TensorSpec([None, None])
GENERAL = {
    "tensors": ([OPEN], lambda: [tf.ones([2, 3]), tf.ones([3, 3])]),
    "arrays": ([tf.TensorSpec([None], tf.float64)], lambda: [np.ones(3), np.ones(4)]),
    "nested": ([{"a": (tf.TensorSpec([None]),)}], lambda: [{"a": (tf.ones([n]),)} for n in (3, 4)]),
    "ragged": ([tf.RaggedTensorSpec([None, None])], lambda: [tf.ragged.constant([[1.0]] * n) for n in (3, 4)]),
    "sparse": ([tf.SparseTensorSpec([None, None])], lambda: [tf.sparse.from_dense([[1.0]] * n) for n in (3, 4)]),
    "variables": ([tf.Variable([1.0], shape=[None])], lambda: [tf.Variable([1.0] * n) for n in (3, 4)]),
}


@pytest.mark.parametrize("kind", GENERAL)
def test_a_more_general_trace_is_used(kind):
    types, arguments = GENERAL[kind]
    f, traces = counted(lambda x: tf.nest.flatten(x, expand_composites=True)[0] + 1)
    general = f.get_concrete_function(*types)
    for _ in range(2):
        for argument in arguments():
            f(argument)
            assert f.get_concrete_function(argument) is general
    assert len(traces) == 1


def test_the_most_specific_general_trace_is_used():
    shapes = []
    f = tf.function(lambda x: (shapes.append(x.shape.as_list()), tf.size(x))[1])
    three, two = f(tf.ones([1, 3])), f(tf.ones([1, 2]))
    for spec in ([None, 3], [None, None]):
        f.get_concrete_function(tf.TensorSpec(spec))
    assert (three.numpy(), two.numpy()) == (3, 2)
    assert f.get_concrete_function(tf.TensorSpec([4, 3])).inputs[0].shape.as_list() == [None, 3]
    assert f.get_concrete_function(tf.TensorSpec([4, 4])).inputs[0].shape.as_list() == [None, None]
    assert f.get_concrete_function(tf.TensorSpec([1, 3])).inputs[0].shape.as_list() == [1, 3]
    assert shapes == [[1, 3], [1, 2], [None, 3], [None, None]]


def test_other_dtypes_and_python_values_need_other_traces():
    f, traces = counted(lambda x, y: tf.cast(x, tf.float32) * y)
    f.get_concrete_function(tf.TensorSpec([None]), tf.TensorSpec([]))
    f(tf.ones([2]), tf.constant(1.0))
    assert len(traces) == 1
    f(tf.ones([2], tf.int32), tf.constant(1.0))
    f(tf.ones([2]), 2.0)
    assert len(traces) == 3


@pytest.mark.parametrize(
    "value",
    [
        lambda n: tf.ones([n]),
        lambda n: tf.ragged.constant([[1.0]] * n),
        lambda n: tf.sparse.from_dense([[1.0]] * n),
        lambda n: tf.IndexedSlices(tf.ones([n, 2]), tf.range(n), tf.constant([9, 2])),
        lambda n: {"a": (tf.ones([n]), "text")},
    ],
    ids=["tensor", "ragged", "sparse", "slices", "nested"],
)
def test_reduce_retracing_relaxes_all_kinds_of_tensors(value):
    f, traces = counted(lambda x: tf.nest.flatten(x, expand_composites=True)[0] + 1, reduce_retracing=True)
    for n in (2, 3, 4, 5):
        f(value(n))
    assert len(traces) == 2


# ---- variables -------------------------------------------------------------------------------------------------------


def test_variables_of_one_type_share_a_trace():
    f, traces = counted(lambda v, x: v.assign_add(x) * 2.0)
    variables = [tf.Variable(float(i)) for i in range(4)]
    assert [f(v, tf.constant(10.0)).numpy() for v in variables] == [20.0, 22.0, 24.0, 26.0]
    assert [v.numpy() for v in variables] == [10.0, 11.0, 12.0, 13.0]
    assert len(traces) == 1
    f(tf.Variable(1.0, trainable=False), tf.constant(1.0))
    f(tf.Variable([1.0]), tf.constant([1.0]))
    f(tf.Variable([1.0], shape=[None]), tf.constant([1.0]))
    assert len(traces) == 4


def test_the_same_variable_twice_needs_another_trace():
    f, traces = counted(lambda a, b: a.assign_add(b) + b)
    a, b, c = (tf.Variable(v) for v in (1.0, 2.0, 3.0))
    assert [f(a, b).numpy(), f(b, c).numpy(), f(a, a).numpy(), f(c, c).numpy()] == [5.0, 8.0, 12.0, 12.0]
    assert len(traces) == 2
    lists, traces = counted(lambda vs: vs[0] * 2.0 + vs[1])
    assert [lists([a, b]).numpy(), lists([b, a]).numpy(), lists([a, a]).numpy()] == [17.0, 16.0, 18.0]
    assert len(traces) == 2


def test_gradients_of_variables_that_share_a_trace():
    f, traces = counted(lambda v, x: v * v * x)
    for value in (1.0, 2.0, 3.0):
        v = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = f(v, tf.constant(2.0))
        assert (y.numpy(), tape.gradient(y, v).numpy()) == (2 * value**2, 4 * value)

    def inner_gradient(v):
        with tf.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, v)

    g, more = counted(inner_gradient)
    assert [g(tf.Variable(v)).numpy() for v in (1.0, 2.0)] == [2.0, 4.0]
    assert len(traces) == len(more) == 1


def test_variables_in_control_flow_and_inner_functions_that_share_a_trace():
    inner = tf.function(lambda v: v.assign_add(1.0))

    def steps(v, n):
        for _ in tf.range(n):
            if v > 10.0:
                v.assign_sub(5.0)
            else:
                inner(v)
        return v.read_value()

    f, traces = counted(steps)
    assert [f(tf.Variable(v), tf.constant(3)).numpy() for v in (1.0, 10.0)] == [4.0, 7.0]
    assert len(traces) == 1


def test_a_variable_of_the_closure_stays_the_closures():
    w = tf.Variable(5.0)
    f, traces = counted(lambda v: w + v)
    assert [f(tf.Variable(1.0)).numpy(), f(w).numpy(), f(tf.Variable(3.0)).numpy()] == [6.0, 10.0, 8.0]
    assert len(traces) == 1


def test_a_concrete_function_takes_any_variable_of_its_type():
    f = tf.function(lambda v: v + 1.0).get_concrete_function(tf.Variable(1.0))
    assert f(tf.Variable(7.0)).numpy() == 8.0
    assert repr(f.structured_input_signature[0][0]) == (
        "VariableSpec(shape=(), dtype=tf.float32, trainable=True, alias_id=0)"
    )
    with pytest.raises(TypeError):
        f(tf.Variable([7.0]))


def test_a_training_step_for_two_networks():
    def step(weights, x):
        with tf.GradientTape() as tape:
            loss = sum(tf.reduce_sum(w * x) for w in weights)
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(g * 0.1)
        return loss

    f, traces = counted(step)
    one, other = ([tf.Variable([v, v + 1.0]) for v in values] for values in ((1.0, 3.0), (5.0, 7.0)))
    losses = [f(one, tf.constant(2.0)), f(other, tf.constant(2.0)), f(one, tf.constant(2.0))]
    np.testing.assert_allclose(losses, [20.0, 52.0, 18.4], rtol=1e-6)
    assert len(traces) == 1


# ---- warnings --------------------------------------------------------------------------------------------------------


def function_per_call():
    for _ in range(7):
        tf.function(lambda x: x + 1)(tf.constant(1))


def method_per_object():
    class Model(tf.Module):
        @tf.function
        def call(self, x):
            return x + 1

    for _ in range(7):
        Model().call(tf.constant(1))


def three_calls_each():
    for _ in range(7):
        f = tf.function(lambda x: x + 1)
        for _ in range(3):
            f(tf.constant(1))


def after_many_calls():
    f = tf.function(lambda x: x + 1)
    for n in [1] * 30 + list(range(2, 8)):
        f(tf.ones([n]))


def rare_traces():
    f = tf.function(lambda x: x + 1)
    for n in range(20):
        f(tf.ones([n + 2]))
        for _ in range(3):
            f(tf.ones([1]))


def concrete_functions():
    f = tf.function(lambda x: x + 1)
    for n in range(8):
        f.get_concrete_function(tf.ones([n]))


@pytest.mark.parametrize(
    ("calls", "warnings"),
    [
        (function_per_call, ["5 out of the last 5", "6 out of the last 6"]),
        (method_per_object, ["5 out of the last 5", "6 out of the last 6"]),
        (three_calls_each, ["5 out of the last 13", "5 out of the last 13"]),
        (after_many_calls, ["5 out of the last 34", "6 out of the last 35"]),
        (rare_traces, []),
        (concrete_functions, []),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_warnings_count_traces_of_the_code(calls, warnings, caplog):
    with caplog.at_level("WARNING"):
        calls()
    said = [r.getMessage() for r in caplog.records if "retracing" in r.getMessage()]
    assert [text.split(" calls")[0] for text in said] == warnings
