"""Loops over few numbers, compiled to machine code."""

import numpy as np
import pytest

import tapeflow as tf


def source_of(function, *arguments):
    return function.get_concrete_function(*arguments).source()


def check(function, *arguments, native=True, tolerance=1e-6):
    """Compares a function of loops with eager calls, plain and compiled."""
    wanted = tf.nest.flatten(function(*arguments))
    for jit_compile in (False, True):
        compiled = tf.function(function, jit_compile=jit_compile)
        for got, want in zip(tf.nest.flatten(compiled(*arguments)), wanted, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got.numpy(), want.numpy(), tolerance, tolerance)
        assert ("op_Native" in source_of(compiled, *arguments)) is native


def pendulum(state):
    """Runge and Kutta's steps of a damped pendulum."""

    def slope(y):
        return tf.stack([y[1], -tf.sin(y[0]) - 0.1 * y[1]])

    for _ in tf.range(200):
        k1 = slope(state)
        k2 = slope(state + 0.005 * k1)
        k3 = slope(state + 0.005 * k2)
        k4 = slope(state + 0.01 * k3)
        state += 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slices_and_stacks(dtype):
    check(pendulum, tf.constant([1.0, 0.0], dtype), tolerance={"float32": 2e-5, "float64": 1e-12}[dtype])


def test_scalars_of_several_dtypes():
    def function(n):
        steps, total, seen = tf.constant(0), tf.constant(0.0, tf.float64), tf.constant(False)
        while tf.logical_and(steps < 300, total < 40.0):
            total += tf.cast(n + steps, tf.float64) / 7.0
            seen = tf.logical_or(seen, steps * 2 == n)
            steps += 1
        return steps, total, seen

    check(function, tf.constant(6))


def test_integers_wrap_around():
    def function(x):
        for _ in tf.range(2000):
            x = x * 1103515245 + 12345
        return x

    check(function, tf.constant(7))


def test_products_reductions_and_moves():
    matrix = tf.constant(np.random.default_rng(0).normal(size=(3, 3)) * 0.3, tf.float32)

    def function(x, v):
        for _ in tf.range(500):
            x = tf.tanh(tf.matmul(matrix, x, transpose_a=True) + tf.reverse(x, [0]))
            norm = tf.sqrt(tf.reduce_sum(x * x, 0, keepdims=True)) + tf.reduce_max(x) - tf.reduce_mean(x, [0, 1])
            x = tf.concat([x[1:], x[:1]], 0) / norm + tf.transpose(tf.expand_dims(v, 0))
            v = tf.squeeze(x, 1) * 0.5
        return x, v

    check(function, tf.ones([3, 1]), tf.constant([0.1, 0.2, 0.3]), tolerance=1e-4)


def test_no_iteration_and_a_limit():
    def function(x):
        return tf.while_loop(lambda x: x < 5.0, lambda x: (x * 1.5 + 0.1,), [x], maximum_iterations=3)

    for start in (1.0, 100.0):
        check(function, tf.constant(start), native=False)  # it is short

    def long(x):
        return tf.while_loop(lambda x: x < 5.0, lambda x: (x * 1.0001,), [x], maximum_iterations=100000)

    for start in (1.0, 100.0):
        check(long, tf.constant(start), tolerance=1e-3)


def test_gradients_of_loops_stay_right():
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(100):
                y = tf.sin(y) + x * 0.1
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)

    x = tf.constant([0.5, -0.3])
    np.testing.assert_allclose(tf.function(function)(x), function(x), rtol=1e-5)

    @tf.function
    def forward(x):
        for _ in tf.range(1000):
            x = tf.sin(x) * 1.01
        return x

    before = forward(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = forward(x)
    assert np.isfinite(tape.gradient(y, x)).all()
    np.testing.assert_allclose(y, before, rtol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: tf.strings.as_string(x),
        lambda x: tf.gather(x, tf.cast(x[:1], tf.int32) * 0),
        lambda x: tf.random.uniform([2]),
    ],
    ids=["strings", "an index", "random numbers"],
)
def test_what_does_not_qualify_is_a_loop_as_before(change):
    def function(x):
        for _ in tf.range(1000):
            change(x)
            x = x * 0.99
            x = x + tf.cast(tf.size(change(x)), tf.float32) * 0.001
        return x

    compiled = tf.function(function)
    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(compiled(x), function(x), rtol=1e-5)


def test_unknown_sizes_are_a_loop_as_before():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def function(x):
        for _ in tf.range(1000):
            x = x * 0.99 + 0.01
        return x

    assert "op_Native" not in source_of(function)
    np.testing.assert_allclose(function(tf.constant([3.0, 1.0])), [1.0000863, 1.0], rtol=1e-5)
