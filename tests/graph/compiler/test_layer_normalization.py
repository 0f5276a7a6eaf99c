"""Layer normalization in training, which Keras spells with small ops, in clusters."""

import numpy as np
import pytest

import tapeflow as tf


def random(*shape, dtype="float32", seed=0):
    return tf.constant(np.random.default_rng(seed).normal(1.0, 2.0, shape), dtype)


def normalized(x, scale, offset, epsilon=1e-3):
    """A normalization over the last axis as Keras spells it, and its statistics."""
    shape = [1] * (x.shape.rank - 1) + [-1]
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    factor = tf.math.rsqrt(variance + epsilon) * tf.reshape(scale, shape)
    shift = -mean * factor
    return x * factor + (shift if offset is None else shift + tf.reshape(offset, shape)), mean, variance


def check(step, *arguments):
    """Compares a function that returns gradients, plain and compiled, with eager calls; returns the compiled source."""
    wanted = step(*arguments)
    for jit_compile in (False, True):
        concrete = tf.function(step, jit_compile=jit_compile).get_concrete_function(*arguments)
        for got, want in zip(concrete(*arguments), wanted, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
    return concrete.source()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("past", [True, False])
@pytest.mark.parametrize("shape", [(6, 3), (4, 5, 3), (2, 4, 5, 3)])
def test_layers(shape, past, has_offset, dtype):
    def step(x, scale, offset):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            y = normalized(x, scale, offset if has_offset else None)[0]
            y = tf.sin(y * 3.0) * y
            loss = tf.reduce_sum(y + x * x if past else y)  # with a connection past it
        return [y, *tape.gradient(loss, [x, scale, offset][: 2 + has_offset])]

    vectors = [random(3, seed=seed, dtype=dtype) for seed in (1, 2)]
    source = check(step, random(*shape, dtype=dtype), *vectors)
    assert "op_Mean(" not in source and "op_Rsqrt(" not in source and "op_RsqrtGrad(" not in source


def test_training_steps_in_a_loop():
    """Scale and offset are reshaped before the loop."""

    def step(x, scale, offset):
        for _ in tf.range(2):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(tf.sin(normalized(x, scale, offset)[0]))
            x -= 0.1 * tape.gradient(loss, x)
        return [x]

    check(step, random(4, 5, 3), random(3, seed=1), random(3, seed=2))


@pytest.mark.parametrize("wanted", [[0], [1], [2], [0, 1], [1, 2]], ids=str)
def test_some_of_the_gradients(wanted):
    def step(x, scale, offset):
        with tf.GradientTape() as tape:
            sources = [(x, scale, offset)[i] for i in wanted]
            tape.watch(sources)
            loss = tf.reduce_sum(tf.sin(normalized(x * 2.0, scale, offset)[0]))
        return tape.gradient(loss, sources)

    check(step, random(4, 5, 3), random(3, seed=1), random(3, seed=2))


def test_blocks_with_connections_past_them():
    layers = tf.keras.layers
    blocks = [(layers.LayerNormalization(epsilon=1e-5), layers.Dense(8, activation="gelu")) for _ in range(3)]
    last = layers.LayerNormalization()

    def model(x):
        for norm, dense in blocks:
            x = x + dense(norm(x))
        return last(x)

    model(tf.zeros([2, 5, 8]))
    variables = [v.value for layer in [*sum(blocks, ()), last] for v in layer.trainable_variables]

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch([x, *variables])
            loss = tf.reduce_sum(tf.sin(model(x)))
        return [loss, *tape.gradient(loss, [x, *variables])]

    check(step, random(2, 5, 8))


@pytest.mark.parametrize("shape", [(2, 8), (3, 16), (4, 64), (4, 128)])
def test_equal_numbers(shape):
    """Their variance is exactly zero, as in TensorFlow, where an epsilon is too small to hide roundings of the mean."""

    @tf.function(jit_compile=True)
    def step(x, scale, offset):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = normalized(x, scale, offset, 1e-12)[0]
        return y, tape.gradient(y, x)

    for number in (0.1, 0.3, 1 / 3, 7.7, 1000.1):
        for get in (step, step.python_function):
            y, _ = get(tf.fill(shape, number), tf.ones(shape[-1:]), tf.zeros(shape[-1:]))
            assert not np.any(y), number


def test_statistics_that_are_used():
    def step(x, scale, offset):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            y, mean, variance = normalized(x, scale, offset)
            loss = tf.reduce_sum(tf.sin(y))
        return [y, mean, variance, *tape.gradient(loss, [x, scale, offset])]

    check(step, random(4, 5, 3), random(3, seed=1), random(3, seed=2))


def test_two_gradients_of_one_normalization():
    def step(x, scale, offset):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, scale])
            y = normalized(x, scale, offset)[0]
            losses = tf.reduce_sum(tf.sin(y)), tf.reduce_sum(y * y * y)
        return [g for loss in losses for g in tape.gradient(loss, [x, scale])]

    check(step, random(4, 5, 3), random(3, seed=1), random(3, seed=2))


def test_what_is_like_a_layer_normalization():
    """The gradient passes through the mean that the variance is of, and the epsilon is no number."""

    def step(x, scale, offset):
        with tf.GradientTape() as tape:
            tape.watch([x, scale])
            mean = tf.reduce_mean(x, -1, keepdims=True)
            variance = tf.reduce_mean(tf.math.squared_difference(x, mean * 1.5), -1, keepdims=True)
            factor = tf.math.rsqrt(variance + 1e-3) * scale
            loss = tf.reduce_sum(tf.sin(x * factor + (offset - mean * factor)))
        return tape.gradient(loss, [x, scale])

    check(step, random(4, 5, 3), random(3, seed=1), random(3, seed=2))


def test_second_gradients():
    def step(x, scale, offset):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(tf.sin(normalized(x, scale, offset)[0]))
            gradient = tape.gradient(loss, x)
            total = tf.reduce_sum(gradient * gradient)
        return [gradient, outer.gradient(total, x)]

    arguments = random(4, 5, 3), random(3, seed=1), random(3, seed=2)
    concrete = tf.function(step).get_concrete_function(*arguments)
    for got, want in zip(concrete(*arguments), step(*arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-4)
