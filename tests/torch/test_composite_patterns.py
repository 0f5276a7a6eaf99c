"""Layer normalizations, GELUs and attention in a module's source."""

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
    module = check(layer, torch.rand(3, 5, 4), [v.value for v in layer.trainable_variables])
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


def attention(q, k, v, mask=None, scale=0.5):
    scores = tf.matmul(q, k, transpose_b=True) * scale
    return tf.matmul(tf.nn.softmax(scores if mask is None else scores + mask), v)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: attention(x, x * 2.0, x + 1.0),
        lambda x: attention(x * 0.3, x * 2.0, x + 1.0, tf.reduce_mean(x, -1)[:, :, None, :]),
        lambda x: attention(x, x * 2.0, x + 1.0, tf.constant([[0.0, -1e9, 0.0, 0.0]])),
        lambda x: tf.einsum(
            "bnts,bsnh->btnh", tf.nn.softmax(tf.einsum("bsnh,btnh->bnts", x * 2.0, x * 0.25 + 1.0)), x + 1.0
        ),
    ],
    ids=["plain", "mask", "constant mask", "transposed"],
)
def test_attention(function):
    module = check(function, torch.rand(2, 3, 4, 5))
    assert module.source().count("scaled_dot_product_attention(") == 1
    assert "Softmax" not in module.source()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_of_keras(causal, masked):
    layer = layers.MultiHeadAttention(2, 3, dropout=0.5 if masked or causal else 0.0)  # with zeros for masked weights
    mask = tf.constant([[True, True, True, False]]) if masked else None

    def function(x):
        return layer(x, x, attention_mask=mask, use_causal_mask=causal)

    function(tf.zeros([2, 4, 5]))
    module = check(function, torch.rand(2, 4, 5), [v.value for v in layer.trainable_variables])
    assert "scaled_dot_product_attention(" in module.source()


@pytest.mark.parametrize("dropout", [0.0, 0.5], ids=["alike", "zeros"])  # the weights where everything is masked
def test_attention_where_everything_may_be_masked(dropout):
    layer = layers.MultiHeadAttention(2, 3, dropout=dropout)
    function = lambda x: layer(x, x, attention_mask=tf.reduce_sum(x, -1)[:, None, :] > 0.0)  # noqa: E731
    function(tf.zeros([2, 4, 5]))
    x = torch.rand(2, 4, 5)
    x[1] *= -1.0
    module = check(function, x, [v.value for v in layer.trainable_variables])
    assert ("scaled_dot_product_attention(" in module.source()) == (dropout > 0.0)


def test_attention_whose_weights_are_used():
    def function(x):
        weights = tf.nn.softmax(tf.matmul(x, x, transpose_b=True))
        return tf.matmul(weights, x) + tf.reduce_sum(weights)

    assert "scaled_dot_product_attention(" not in check(function, torch.rand(2, 3, 4, 5)).source()


def trained(layer, x):
    """The module of a layer in training, whose results, gradients and new statistics are the layer's."""
    model = tf.keras.Sequential([tf.keras.Input(x.shape[1:]), layer])
    for v in layer.variables:
        v.assign(v + np.linspace(0.1, 0.5, v.shape[0]))
    module = tf.torch.module(model).train()
    leaf = x.clone().requires_grad_()
    y = module(leaf)
    dx, *others = torch.autograd.grad((y * y * y).sum(), [leaf, *module.parameters()])
    t = tf.torch.from_torch(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        expected = model(t, training=True)
        loss = tf.reduce_sum(expected**3)
    gradients = tape.gradient(loss, [t, *(v.value for v in layer.trainable_variables)])
    np.testing.assert_allclose(y.detach(), expected, rtol=1e-4, atol=1e-5)
    for p, g in zip([dx, *others], gradients, strict=True):
        np.testing.assert_allclose(p, g, rtol=1e-3, atol=1e-4)
    for buffer, v in zip(module.buffers(), layer.non_trainable_variables, strict=False):
        np.testing.assert_allclose(buffer, v, rtol=1e-5)
    return module


@pytest.mark.parametrize("shape", [(5, 3), (4, 6, 3), (4, 5, 6, 3), (2, 2, 3, 4, 3), (1, 1, 1, 3)])
@pytest.mark.parametrize("arguments", [{}, {"scale": False}, {"center": False}, {"scale": False, "center": False}])
def test_batch_normalization_in_training(shape, arguments):
    module = trained(layers.BatchNormalization(**arguments), torch.rand(shape))
    assert "batch_norm(" in module.source()
    assert "Rsqrt" not in module.source()


def test_batch_normalization_whose_statistics_are_used():
    scale, offset = tf.constant([1.0, 2.0]), tf.constant([0.5, -0.5])

    def function(x, uses):
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
        return y + variance if uses else y

    x = torch.rand(2, 3, 3, 2)
    assert "batch_norm(" in check(lambda x: function(x, False), x).source()
    assert "batch_norm(" not in check(lambda x: function(x, True), x).source()


def test_dropout():
    model = tf.keras.Sequential([tf.keras.Input((50,)), layers.Dropout(0.25)])
    module = tf.torch.module(model).train()
    assert module.source().count("torch.nn.functional.dropout(") == module.source().count(", 0.25)") == 1
    y = module(torch.ones(40, 50))
    assert set(y.unique().tolist()) == {0.0, torch.tensor(4.0 / 3.0).item()}
    assert 0.2 < (y == 0.0).float().mean() < 0.3
    assert "dropout" not in module.eval().source()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.where(tf.random.uniform(tf.shape(x)) >= 0.5, x * 3.0, 0.0),
        lambda x: tf.where(tf.random.uniform(tf.shape(x)) >= 0.5, x * 2.0, 1.0),
        lambda x: tf.where(tf.random.uniform(tf.shape(x)[1:]) >= 0.5, x * 2.0, 0.0),
    ],
)
def test_what_is_like_dropout(function):
    assert "dropout" not in tf.torch.module(tf.function(function), tf.TensorSpec([None, 3])).source()


def test_attention_with_dropout():
    layer = layers.MultiHeadAttention(2, 3, dropout=0.5)
    inputs = tf.keras.Input((4, 5))
    module = tf.torch.module(tf.keras.Model(inputs, layer(inputs, inputs))).train()
    assert ", dropout_p=0.5, " in module.source()
    assert module(torch.rand(2, 4, 5)).shape == (2, 4, 5)


@pytest.mark.parametrize(
    ("create", "sizes"),
    [
        (lambda: layers.Dense(3, bias_initializer="uniform"), (5,)),
        (lambda: layers.Dense(3, bias_initializer="uniform"), (4, 5)),
        (lambda: layers.EinsumDense("abc,cde->abde", (None, 2, 3), None, "de", bias_initializer="uniform"), (4, 5)),
    ],
    ids=["vectors", "rows", "heads"],
)
def test_linear_layers(create, sizes):
    layer = create()
    layer.build((None, *sizes))
    module = check(layer, torch.rand(2, *sizes), [v.value for v in layer.trainable_variables])
    assert module.source().count("torch.nn.functional.linear(") == 1
    assert "BatchMatMul" not in module.source()
