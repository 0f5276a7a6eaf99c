"""The lookup of the trace for a call: which calls share a trace, and what a lookup costs."""

from __future__ import annotations

import importlib
import inspect
import sys

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
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(before)
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
