"""How often functions that create variables are traced: the innermost one twice. Recorded from TensorFlow."""

import random

import numpy as np
import pytest

import tapeflow as tf


class Counted:
    """Functions that count how often they are traced, and create a variable in their first trace."""

    def __init__(self):
        self.counts = []

    def function(self, body, creates=True, in_init_scope=False):
        place, made = len(self.counts), []
        self.counts.append(0)

        @tf.function
        def f(x):
            self.counts[place] += 1
            if creates and not made:
                if in_init_scope:
                    with tf.init_scope():
                        made.append(tf.Variable(1.0))
                else:
                    made.append(tf.Variable(1.0))
            return body(x) * (made[0] if made else 1.0)

        return f

    def after(self, f):
        assert [f(tf.constant(v)).numpy() for v in (1.0, 2.0)] == [1.0, 2.0]
        return self.counts


def test_a_function_that_creates_a_variable_is_traced_twice():
    counted = Counted()
    assert counted.after(counted.function(lambda x: x)) == [2]


def test_a_function_that_creates_a_variable_in_an_init_scope_is_traced_twice():
    counted = Counted()
    assert counted.after(counted.function(lambda x: x, in_init_scope=True)) == [2]


@pytest.mark.parametrize("in_init_scope", [False, True])
def test_only_the_innermost_function_is_traced_again(in_init_scope):
    counted = Counted()
    inner = counted.function(lambda x: x, in_init_scope=in_init_scope)
    middle = counted.function(inner, creates=False)
    assert counted.after(counted.function(middle, creates=False)) == [2, 1, 1]


def test_functions_that_both_create_variables():
    counted = Counted()
    inner = counted.function(lambda x: x)
    assert counted.after(counted.function(inner)) == [2, 2]


def test_a_function_created_in_a_function():
    counts, made = [0, 0], []

    @tf.function
    def outer(x):
        counts[0] += 1

        @tf.function
        def inner(y):
            counts[1] += 1
            if not made:
                made.append(tf.Variable(1.0))
            return y * made[0]

        return inner(x)

    assert [outer(tf.constant(v)).numpy() for v in (1.0, 2.0)] == [1.0, 2.0]
    assert counts == [1, 2]


@pytest.mark.parametrize("in_init_scope", [False, True])
def test_a_variable_in_every_trace_is_an_error(in_init_scope):
    @tf.function
    def f(x):
        if in_init_scope:
            with tf.init_scope():
                v = tf.Variable(1.0)
        else:
            v = tf.Variable(1.0)
        return x * v

    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the first call"):
        f(tf.constant(1.0))


def test_python_random_numbers_are_those_of_the_second_trace():
    made = []

    @tf.function
    def f(x):
        factor = random.random()
        if not made:
            with tf.init_scope():
                made.append(tf.Variable(1.0))
        return x * made[0] * factor

    random.seed(5)
    drawn = f(tf.constant(1.0)).numpy()
    random.seed(5)
    random.random()
    np.testing.assert_allclose(drawn, random.random(), rtol=1e-6)


def test_branches_that_create_variables():
    counts, made = [0], []

    @tf.function
    def f(x):
        counts[0] += 1

        def create():
            if not made:
                with tf.init_scope():
                    made.append(tf.Variable(2.0))
            return x * made[0]

        return tf.cond(x > 0, create, lambda: x)

    assert [f(tf.constant(v)).numpy() for v in (1.0, -1.0)] == [2.0, -1.0]
    assert counts == [2]
