"""Normalizations of Keras in eager mode, with many elements: one compiled function."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import composites

SHAPE = (40, 2000)  # more elements than take the ops
layers = tf.keras.layers


def random(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape), "float32")


COLUMN = random(SHAPE[1], seed=1)
NORMALIZATIONS = {
    "layer": lambda x: tf.keras.ops.layer_normalization(x, COLUMN, COLUMN),
    "layer by defaults": tf.keras.ops.layer_normalization,
    "layer over two axes": lambda x: tf.keras.ops.layer_normalization(tf.reshape(x, [40, 20, 100]), axis=[1, 2]),
    "RMS": lambda x: tf.keras.ops.rms_normalization(x, COLUMN, epsilon=0.1),
    "layer of Keras": layers.LayerNormalization(),
    "RMS layer of Keras": layers.RMSNormalization(),
    "groups": layers.GroupNormalization(20),
    "groups of images": lambda x: layers.GroupNormalization(5)(tf.reshape(x, [4, 20, 20, 50])),
    "groups of the first axis": lambda x: layers.GroupNormalization(5, axis=1)(tf.reshape(x, [4, 50, 20, 20])),
    "groups without a scale": lambda x: layers.GroupNormalization(-1, scale=False)(tf.reshape(x, [4, 20, 1000])),
    "batch": lambda x: layers.BatchNormalization()(x, training=True),
}


def with_gradient(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        total = tf.reduce_sum(tf.sin(y))
    return y, tape.gradient(total, x)


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_values_and_gradients(name, monkeypatch):
    function, x = NORMALIZATIONS[name], random(*SHAPE)
    got = with_gradient(function, x)
    monkeypatch.setattr(composites, "_LEAST", 1 << 60)
    for a, b in zip(got, with_gradient(function, x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5)


def test_many_elements_are_compiled(monkeypatch):
    operands, is_compiled = [], composites.is_compiled
    monkeypatch.setattr(composites, "is_compiled", lambda x: is_compiled(x) and (operands.append(x) or True))
    tf.keras.ops.layer_normalization(random(*SHAPE))
    assert len(operands) == 1
    tf.keras.ops.layer_normalization(random(4, 5))
    assert len(operands) == 1
    NORMALIZATIONS["groups"](random(4, SHAPE[1]))
    assert len(operands) == 1
    NORMALIZATIONS["groups"](random(*SHAPE))
    assert len(operands) > 1


def test_variables_of_a_layer_get_gradients():
    layer, x = layers.LayerNormalization(), random(*SHAPE)
    layer.build(x.shape)
    layer.gamma.assign(COLUMN)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(x) ** 2)
    dgamma, dbeta = tape.gradient(y, layer.trainable_variables)
    normal = (x - tf.reduce_mean(x, 1, keepdims=True)) / tf.sqrt(tf.math.reduce_variance(x, 1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(dgamma, tf.reduce_sum(2 * normal**2 * COLUMN, 0), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(dbeta, tf.reduce_sum(2 * normal * COLUMN, 0), rtol=1e-3, atol=1e-3)
