"""`tape.explain_gradient` shows the lines at which gradients are lost."""

import re
import warnings

import numpy as np
import pytest

import tapeflow as tf


def explain(lose, source=None, persistent=True):
    """The explanation of `lose(x)`'s gradient, and the source lines in it."""
    x = tf.Variable([1.0, 4.0], name="x") if source is None else source
    with tf.GradientTape(persistent) as tape:
        y = lose(x)
    text = tape.explain_gradient(y, x)
    assert (tape.gradient(y, x) is None) == ("is None" in text)
    return text, re.findall(r"^    (.*)", text, re.MULTILINE)


def test_a_gradient_that_exists():
    assert explain(lambda x: x * x)[0] == "The gradient with respect to x:0 is not None."
    assert explain(lambda x: x * x, persistent=False)[0] == "The gradient with respect to x:0 is not None."


def lose_by_cast(x):
    whole = tf.cast(x * 2.0, tf.int32)
    return tf.cast(whole, tf.float32) + 1.0


def lose_by_index(x):
    return tf.gather(tf.constant([1.0, 2.0]), tf.argmax(x))


def lose_by_stopping(x):
    return tf.reduce_sum(tf.stop_gradient(x * 3.0)) * 2.0


def lose_by_numpy(x):
    return tf.constant(np.square(x)) * 2.0


def lose_by_numpy_method(x):
    return tf.constant((x * 2.0).numpy()) * 2.0


def lose_by_number(x):
    return tf.constant(float(x[0] * 2.0)) * 2.0


def lose_by_variable(x):
    return tf.Variable(x * 2.0) * 3.0


def lose_by_comparison(x):
    return tf.where(x > 2.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("lose", "line", "reason"),
    [
        (lose_by_cast, "whole = tf.cast(x * 2.0, tf.int32)", "Cast returns int32"),
        (lose_by_index, "return tf.gather(tf.constant([1.0, 2.0]), tf.argmax(x))", "ArgMax returns int64"),
        (lose_by_stopping, "return tf.reduce_sum(tf.stop_gradient(x * 3.0)) * 2.0", "on purpose"),
        (lose_by_numpy, "return tf.constant(np.square(x)) * 2.0", "use the functions of tf"),
        (lose_by_numpy_method, "return tf.constant((x * 2.0).numpy()) * 2.0", r"numpy\(\) gives values"),
        (lose_by_number, "return tf.constant(float(x[0] * 2.0)) * 2.0", r"float\(\) gives a Python value"),
        (lose_by_variable, "return tf.Variable(x * 2.0) * 3.0", "begins with a copy"),
        (lose_by_comparison, "return tf.where(x > 2.0, 1.0, 0.0)", "Greater returns bool"),
    ],
)
def test_the_line_at_which_it_is_lost(lose, line, reason):
    x = tf.Variable([1.0, 4.0], name="x")
    with tf.GradientTape() as tape:
        y = lose(x)
    text = tape.explain_gradient(y, x)
    assert tape.gradient(y, x) is None
    assert f"    {line}\n" in text and re.search(reason, text)
    assert f'test_explanations.py", line {lose.__code__.co_firstlineno + 1}, in {lose.__name__}' in text


def test_the_line_in_a_function():
    text, lines = explain(tf.function(lose_by_stopping))
    assert lines == ["return tf.reduce_sum(tf.stop_gradient(x * 3.0)) * 2.0"] and "Inside functions" in text
    inner = tf.function(lose_by_cast)
    text, lines = explain(tf.function(lambda x: inner(x) * 2.0))
    assert lines == ["whole = tf.cast(x * 2.0, tf.int32)"]


def test_only_calls_on_the_way_to_the_target_are_named():
    x, stop, other = tf.Variable([1.0]), tf.function(lose_by_stopping), tf.function(lose_by_cast)
    with tf.GradientTape(persistent=True) as tape:
        y = stop(x)
        other(x)
    assert "stop_gradient" in tape.explain_gradient(y, x) and "int32" not in tape.explain_gradient(y, x)


def test_sources_that_are_not_watched():
    assert "call tape.watch(tensor)" in explain(lambda x: x * x, tf.constant(2.0))[0]
    assert "trainable" in explain(lambda x: x * x, tf.Variable(2.0, trainable=False))[0]
    assert "It is int32" in explain(lambda x: x * x, tf.Variable(2))[0]
    assert "No op inside the tape read" in explain(lambda x: tf.constant(1.0))[0]
    assert "of one of these returns None for it: nothing" in explain(nothing)[0]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        v = tf.Variable(1.0)
        y = v * 2.0
    assert "watch_accessed_variables=False" in tape.explain_gradient(y, v)
    assert "recorded nothing yet" in tf.GradientTape().explain_gradient(y, v)


@tf.custom_gradient
def nothing(x):
    return x * 2.0, lambda dy: None


def test_several_sources_and_a_tape_that_was_used_up():
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(a * b)
    assert tape.gradient(y, [a, b]) == [None, None]
    text = tape.explain_gradient(y, [a, b])
    assert text.startswith("The gradient with respect to a:0, b:0 is None.") and "StopGradient" in text


def test_tapes_in_functions():
    x, said = tf.Variable(1.0), []

    @tf.function
    def step():
        with tf.GradientTape(persistent=True) as tape:
            y = tf.round(x)
        said.append(tape.explain_gradient(y, x))
        return tape.gradient(y, x)

    assert step() is None and "    y = tf.round(x)\n  Round has no gradient." in said[0]


class Stopping(tf.keras.Model):
    def __init__(self, all_of_it):
        super().__init__()
        self.first, self.second, self.all = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1), all_of_it

    def call(self, x):
        y = tf.stop_gradient(self.first(x))
        return tf.stop_gradient(self.second(y)) if self.all else self.second(y)


@pytest.mark.parametrize("eagerly", [False, True])
def test_keras_says_where(eagerly):
    x = np.ones([4, 3], np.float32)
    model = Stopping(False)
    model.compile("sgd", "mse", run_eagerly=eagerly)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(x, x[:, :1], verbose=0)
    said = [str(w.message) for w in caught]
    place = next(i for i, text in enumerate(said) if text.startswith("Gradients do not exist"))
    assert "    y = tf.stop_gradient(self.first(x))\n" in said[place + 1]
    model = Stopping(True)
    model.compile("sgd", "mse", run_eagerly=eagerly)
    with pytest.raises(ValueError, match=r"No gradients provided for any variable(.|\n)*tf.stop_gradient\(self.second"):
        model.fit(x, x[:, :1], verbose=0)
