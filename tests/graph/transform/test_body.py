"""Functions that call functions."""

import sys
from collections import Counter

import pytest

import tapeflow as tf
from tapeflow.core.autodiff.tape import EVERYTHING
from tapeflow.core.context import listeners, state
from tapeflow.graph.transform.body import order_of_tapes


def test_tracing_visits_each_of_many_nested_functions_a_few_times():
    @tf.function
    def doubled(x):
        return x + x

    function = doubled
    for _ in range(30):

        def level(inner):
            @tf.function
            def outer(x):
                return inner(x) + inner(1.0 - x)

            return outer

        function = level(function)

    calls: Counter[str] = Counter()

    def count(frame, event, _):
        if event == "call":
            calls[frame.f_code.co_name] += 1
            assert calls["_is_stateful"] < 1000

    sys.setprofile(count)
    try:
        concrete = function.get_concrete_function(tf.TensorSpec([], tf.float32))
    finally:
        sys.setprofile(None)
    assert not concrete.graph.is_stateful
    assert calls["_is_stateful"] > 30


class Listener:
    """A listener to calls, as that of debug dumps."""

    seen = EVERYTHING

    def __init__(self):
        self.calls = []

    def record(self, op, inputs, attrs, outputs):
        self.calls.append((op.name, [i.numpy().tolist() for i in inputs], attrs, [o.numpy().tolist() for o in outputs]))


@pytest.fixture
def listener(monkeypatch):
    listener = Listener()
    monkeypatch.setattr(state, "tapes", [listener])
    listeners.append(listener)
    yield listener
    listeners.remove(listener)


def test_listeners_hear_of_calls_that_no_tape_watches(listener):
    @tf.function
    def function(x, y):
        return x * y, y + 1.0

    function.get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([]))
    listener.calls.clear()
    function(tf.constant(2.0), tf.constant(3.0))
    (name, inputs, attrs, outputs), *others = listener.calls
    assert not others and "PartitionedCall" in name
    assert (inputs, attrs, outputs) == ([2.0, 3.0], (), [6.0, 4.0])


def test_only_tapes_count_for_the_order_of_gradients(listener):
    assert order_of_tapes() == -1
    with tf.GradientTape():
        assert order_of_tapes() == 0
        with tf.GradientTape(persistent=True):
            assert order_of_tapes() == 2


def test_a_call_is_recorded_if_a_tape_watches_any_input():
    function = tf.function(lambda x, y: x * y).get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([]))
    x, y, v = tf.constant(2.0), tf.constant(3.0), tf.Variable(5.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(y)
        inner.watch(x)
        z = function(x, y)
    assert (float(inner.gradient(z, x)), float(outer.gradient(z, y))) == (3.0, 2.0)
    with tf.GradientTape() as tape:
        z = function(x, y)
    assert tape.gradient(z, x) is None
    with tf.GradientTape() as tape:
        z = tf.function(lambda x: x * v)(x)
    assert tape.watched_variables() == (v,) and float(tape.gradient(z, v)) == 2.0
