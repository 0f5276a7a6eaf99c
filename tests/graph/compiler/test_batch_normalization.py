"""Batch normalization in training, which layers spell with small ops, in clusters."""

import numpy as np
import pytest

import tapeflow as tf


def _normalized(x, scale, offset, axes, epsilon=1e-3):
    mean, variance = tf.nn.moments(x, axes)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon), mean, variance


def _step(scale, offset):
    """A function that returns a normalization with its statistics, and its gradients."""
    parameters = [p for p in (scale, offset) if p is not None]

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch([x, *parameters])
            y, mean, variance = _normalized(x, scale, offset, list(range(x.shape.rank - 1)))
            loss = tf.reduce_sum(tf.sin(y * 3.0) * y)
        return [y, mean, variance, *tape.gradient(loss, [x, *parameters])]

    return step


def _values(*shape, dtype="float32", seed=0):
    return tf.constant(np.random.default_rng(seed).normal(1.0, 2.0, shape), dtype)


def _check(step, x, spec):
    for jit_compile in (False, True):
        concrete = tf.function(step, jit_compile=jit_compile).get_concrete_function(spec)
        for got, want in zip(concrete(x), step(x), strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize(("has_scale", "has_offset"), [(True, True), (False, True), (True, False), (False, False)])
@pytest.mark.parametrize("shape", [(6, 3), (4, 5, 3), (2, 4, 5, 3), (2, 2, 3, 2, 3)])
def test_layers(shape, has_scale, has_offset, unknown):
    scale, offset = _values(3, seed=1) if has_scale else None, _values(3, seed=2) if has_offset else None
    spec = tf.TensorSpec([None, *shape[1:]] if unknown else shape)
    _check(_step(scale, offset), _values(*shape), spec)


@pytest.mark.parametrize("unknown", [False, True])
def test_parameters_that_have_all_dimensions(unknown):
    """Layers that name their axis reshape what they normalize with."""
    scale, offset = _values(3, seed=1), _values(3, seed=2)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            mean, variance = tf.nn.moments(x, [0, 1, 2])
            parts = [tf.reshape(v, [1, 1, 1, 3]) for v in (mean, variance, offset, scale)]
            y = tf.nn.batch_normalization(x, *parts, 1e-3)
            loss = tf.reduce_sum(tf.sin(y * 3.0) * y)
        return [y, mean, variance, *tape.gradient(loss, [x, scale, offset])]

    spec = tf.TensorSpec([None, 4, 5, 3] if unknown else [2, 4, 5, 3])
    _check(step, _values(2, 4, 5, 3), spec)
    _check(step, tf.zeros([0, 4, 5, 3]), tf.TensorSpec([None, 4, 5, 3]))


def test_activations_take_no_memory_of_their_own():
    scale, offset = _values(8, seed=1), _values(8, seed=2)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            y, mean, variance = _normalized(x, scale, offset, [0, 1, 2])
            loss = tf.reduce_sum(tf.nn.relu(y) * x)
        return [loss, mean, variance, *tape.gradient(loss, [x, scale, offset])]

    x = _values(4, 16, 16, 8)
    assert "op_Relu(" not in tf.function(step).get_concrete_function(x).source()
    _check(step, x, tf.TensorSpec(x.shape))


def test_two_whose_results_are_added():
    """Their offsets have one gradient."""
    scales, offsets = (_values(3, seed=1), _values(3, seed=2)), (_values(3, seed=3), _values(3, seed=4))

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch([x, *scales, *offsets])
            y = _normalized(x, scales[0], offsets[0], [0, 1])[0] + _normalized(x * x, scales[1], offsets[1], [0, 1])[0]
            loss = tf.reduce_sum(tf.sin(y) * y)
        return [y, *tape.gradient(loss, [x, *scales, *offsets])]

    _check(step, _values(4, 5, 3), tf.TensorSpec([4, 5, 3]))


def test_what_goes_past_the_normalization_too():
    scale, offset = _values(3, seed=1), _values(3, seed=2)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            z = tf.exp(x * 0.1)
            y = _normalized(z, scale, offset, [0, 1])[0] * tf.sin(z) + z * z
            loss = tf.reduce_sum(tf.sin(y) * y)
        return [y, *tape.gradient(loss, [x, z, scale, offset])]

    _check(step, _values(4, 5, 3), tf.TensorSpec([None, 5, 3]))


def test_one_input_of_two():
    parameters = [_values(3, seed=i) for i in range(4)]

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch([x, *parameters])
            first = _normalized(x, *parameters[:2], [0, 1])[0]
            second = _normalized(x, *parameters[2:], [0, 1], epsilon=0.1)[0]
            loss = tf.reduce_sum(tf.sin(first) * second * second)
        return [first, second, *tape.gradient(loss, [x, *parameters])]

    _check(step, _values(4, 5, 3), tf.TensorSpec([4, 5, 3]))


def test_other_dtypes_and_views():
    scale, offset = _values(3, dtype="float64", seed=1), _values(3, dtype="float64", seed=2)
    x = tf.transpose(_values(3, 4, 5, dtype="float64"))
    _check(_step(scale, offset), x, tf.TensorSpec([5, 4, 3], tf.float64))


@pytest.mark.parametrize("shape", [(1, 3), (0, 3), (0, 4, 3)])
def test_batches_of_one_and_none(shape):
    _check(_step(_values(3, seed=1), _values(3, seed=2)), _values(*shape), tf.TensorSpec([None, *shape[1:]]))


def test_one_column():
    _check(_step(_values(3, seed=1), _values(3, seed=2)), _values(4, 1), tf.TensorSpec([4, 1]))


def test_what_else_takes_the_parts():
    """The statistics, the scaled input and the squares have other uses, the input another gradient."""

    def step(x, scale, offset):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            y, mean, variance = _normalized(x, scale, offset, [0])
            loss = tf.reduce_sum(y * y * y + x * mean) + tf.reduce_sum(tf.exp(-variance))
        return [y, *tape.gradient(loss, [x, scale, offset])]

    arguments = _values(6, 3), _values(3, seed=1), _values(3, seed=2)
    for got, want in zip(tf.function(step)(*arguments), step(*arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


def test_second_gradients():
    def step(x, scale, offset):
        with tf.GradientTape() as outer:
            outer.watch([x, scale, offset])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y, _, _ = _normalized(x, scale, offset, [0, 1])
                loss = tf.reduce_sum(tf.sin(y))
            penalty = tf.reduce_sum(tape.gradient(loss, x) ** 2)
        return outer.gradient(penalty, [x, scale, offset])

    arguments = [_values(4, 5, 3), _values(3, seed=1), _values(3, seed=2)]
    for got, want in zip(tf.function(step)(*arguments), step(*arguments), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_a_keras_layer_trains_as_it_does_eagerly():
    def results(eagerly):
        layer = tf.keras.layers.BatchNormalization()
        layer.build([None, 4, 3])
        optimizer = tf.keras.optimizers.SGD(0.1)

        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.cos(layer(x, training=True)) + 1.0)
            weights = layer.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return loss

        step = step if eagerly else tf.function(step)
        losses = [float(step(_values(8, 4, 3, seed=i))) for i in range(3)]
        return losses, [w.numpy() for w in layer.weights]

    (losses, weights), (others, other_weights) = results(True), results(False)
    np.testing.assert_allclose(losses, others, rtol=1e-5)
    for w, other in zip(weights, other_weights, strict=True):
        np.testing.assert_allclose(w, other, rtol=1e-5, atol=1e-6)
