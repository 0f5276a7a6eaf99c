"""Layer normalizations and GELUs in a module's source."""

import numpy as np
import pytest
import torch

import tapeflow as tf

layers = tf.keras.layers


def check(function, x, variables=()):
    """The module of a function, whose results and gradients are the function's."""
    module = tf.torch.module(tf.function(function), tf.TensorSpec([None, *x.shape[1:]]))
    leaf = x.clone().requires_grad_()
    y = module(leaf)
    (y * y * y).sum().backward()
    t = tf.torch.from_torch(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        expected = function(t)
        loss = tf.reduce_sum(expected**3)
    gradients = tape.gradient(loss, [t, *variables])
    np.testing.assert_allclose(y.detach(), expected, rtol=1e-5, atol=1e-6)
    for p, g in zip([leaf, *module.parameters()], gradients, strict=True):
        np.testing.assert_allclose(p.grad, g, rtol=1e-4, atol=1e-5)
    return module


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu(approximate):
    module = check(lambda x: tf.nn.gelu(x, approximate), torch.linspace(-4, 4, 12).reshape(3, 4))
    call = "torch.nn.functional.gelu(x, approximate='tanh')" if approximate else "torch.nn.functional.gelu(x)"
    assert f" = {call}\n" in module.source()
    assert len(module.source().splitlines()) == 3


def test_layer_normalization():
    layer = layers.LayerNormalization(epsilon=1e-3)
    layer.build((None, 5, 4))
    for v in layer.variables:
        v.assign(v + np.linspace(0.1, 0.5, 4))
    module = check(layer, torch.rand(3, 5, 4), [v.value for v in layer.variables])
    assert ", (4,), self." in module.source()
    assert "torch.nn.functional.layer_norm(" in module.source()
    assert len(module.source().splitlines()) == 3


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 0.5 * (tf.math.erf(x * 0.7) + 1.0),
        lambda x: x * 0.5 * (tf.math.erf(x * 0.7071067811865476) + 2.0),
        lambda x: tf.exp(x) * 0.5 * (tf.math.erf(x * 0.7071067811865476) + 1.0),
        lambda x: x * 0.5 * (tf.tanh(0.7978845608028654 * (x + 0.05 * x * x * x)) + 1.0),
    ],
)
def test_what_is_like_a_gelu(function):
    assert "functional" not in check(function, torch.linspace(-2, 2, 12).reshape(3, 4)).source()


def test_what_is_like_a_layer_normalization():
    scale, offset = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.5, 0.0, -0.5])

    def normalized(x, axis, keepdims, shift=None):
        mean = tf.reduce_mean(x, axis, keepdims=keepdims)
        center = mean if shift is None else mean + shift
        variance = tf.reduce_mean(tf.math.squared_difference(x, center), axis, keepdims=keepdims)
        factor = tf.math.rsqrt(variance + 0.1) * scale
        return x * factor + (-mean * factor + offset)

    x = torch.rand(3, 3)
    for arguments in ((0, True), (-1, False), (-1, True, 0.5)):
        assert "layer_norm" not in check(lambda x, a=arguments: normalized(x, *a), x).source()
    assert "layer_norm" in check(lambda x: normalized(x, 1, True), x).source()
