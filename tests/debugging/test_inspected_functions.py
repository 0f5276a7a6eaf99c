"""Functions that show the result of each operation to inspectors."""

import contextlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.context import state
from tapeflow.debugging.inspected_functions import FINITE_NUMBERS, add_inspector, remove_inspector


class Recorder:
    """Looks at the results of ops of some names, and remembers them."""

    reason = "the test looks"

    def __init__(self, *names):
        self.names, self.seen, self.entered = names, [], []

    def choose(self, step):
        return [i for i, _ in enumerate(step.outputs)] if step.name in self.names else []

    def look(self, step, place, value, inputs):
        inputs = [None if v is None else np.asarray(v).tolist() for v in inputs]
        self.seen.append((step.name, place, np.asarray(value).tolist(), inputs))

    def enter(self, operations):
        self.entered.append([o.type for o in operations])


@contextlib.contextmanager
def inspecting(*inspectors):
    for inspector in inspectors:
        add_inspector(inspector)
    try:
        yield
    finally:
        for inspector in inspectors:
            remove_inspector(inspector)
    assert state.compiler is None


def test_results_and_inputs():
    recorder = Recorder("Mul", "AddV2", "Split")

    def compute(x, n):
        y = tf.multiply(x, x)
        a, b = tf.split(y, 2)
        return tf.add(a, b), tf.gather(y, n)

    with inspecting(recorder):
        f = tf.function(compute)
        found = f(tf.constant([2.0, 3.0]), tf.constant(1))
    assert [t.numpy().tolist() for t in found] == [[13.0], 9.0]
    assert recorder.seen == [
        ("Mul", 0, [4.0, 9.0], [[2.0, 3.0], [2.0, 3.0]]),
        ("Split", 0, [4.0], [[4.0, 9.0]]),
        ("Split", 1, [9.0], [[4.0, 9.0]]),
        ("AddV2", 0, [13.0], [[4.0], [9.0]]),
    ]
    assert len(recorder.entered) == 1 and "Mul" in recorder.entered[0]
    recorder.seen.clear()
    f(tf.constant([1.0, 1.0]), tf.constant(0))  # it was traced for this
    assert [name for name, *_ in recorder.seen] == ["Mul", "Split", "Split", "AddV2"]


def test_inputs_that_are_no_floats_are_left_out():
    recorder = Recorder("GatherV2", "Cast")
    with inspecting(recorder):
        tf.function(lambda x, i: tf.gather(x, i) + tf.cast(i, tf.float32))(tf.constant([2.0, 3.0]), tf.constant([1]))
    assert recorder.seen[0] == ("GatherV2", 0, [3.0], [[2.0, 3.0], None])
    assert recorder.seen[1] == ("Cast", 0, [1.0], [None])


def test_unused_results_are_looked_at():
    recorder = Recorder("Exp")

    def compute(x):
        tf.exp(x)
        return x + 1.0

    with inspecting(recorder):
        f = tf.function(compute)
        assert f(tf.constant(0.0)).numpy() == 1.0
    assert recorder.seen == [("Exp", 0, 1.0, [0.0])]
    plain = tf.function(compute)
    plain(tf.constant(0.0))
    assert len(recorder.seen) == 1


@pytest.mark.parametrize("inner", ["call", "condition", "loop"])
def test_functions_inside(inner):
    recorder = Recorder("Exp")
    functions = {
        "call": lambda x: tf.function(lambda y: tf.exp(y))(x) + 1.0,
        "condition": lambda x: tf.cond(x > 0.0, lambda: tf.exp(x), lambda: x),
        "loop": lambda x: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.exp(y)), (0, x))[1],
    }
    with inspecting(recorder):
        tf.function(functions[inner])(tf.constant(1.0))
    seen = [value for _, _, value, _ in recorder.seen]
    expected = [np.exp(1.0)] if inner != "loop" else [np.exp(1.0), np.exp(np.exp(1.0))]
    assert seen == pytest.approx(expected, rel=1e-6)


def test_several_inspectors():
    first, second = Recorder("Mul"), Recorder("Mul", "Neg")
    with inspecting(first, second):
        tf.function(lambda x: -(x * x))(tf.constant(2.0))
        remove_inspector(first)
        tf.function(lambda x: -(x * x))(tf.constant(3.0))
        add_inspector(first)
    assert [value for _, _, value, _ in first.seen] == [4.0]
    assert [value for _, _, value, _ in second.seen] == [4.0, -4.0, 9.0, -9.0]
    remove_inspector(first)  # which is none any more
    assert state.compiler is None


def test_functions_that_show_results_are_not_compiled():
    with inspecting(Recorder(), FINITE_NUMBERS):
        assert state.compiler.explanation() == (
            "not compiled: the test looks, tf.debugging.enable_check_numerics() checks the result of each op"
        )
        assert not state.compiler.optimizes


def test_numbers_that_are_not_finite():
    with inspecting(FINITE_NUMBERS):
        f = tf.function(lambda x: tf.math.log(x))
        assert f(tf.constant(1.0)).numpy() == 0.0
        with pytest.raises(tf.errors.InvalidArgumentError, match='output 0 of graph op "Log"'):
            f(tf.constant([1.0, 0.0]))
