"""Calls of a module of torch: results, gradients of each order, tapes, structures and inputs."""

import numpy as np
import pytest
import torch

import tapeflow as tf


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return tf.torch.Layer(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)))


X = tf.constant(np.random.default_rng(0).normal(size=(5, 3)), tf.float32)


def torch_gradients(module, order=1):
    x = tf.torch.to_torch(X).requires_grad_()
    sources = [x, *module.parameters()]
    target = (module(x) ** 2).sum()
    for _ in range(order - 1):
        first = torch.autograd.grad(target, sources, create_graph=True)
        target = sum((g**2).sum() for g in first)
    return torch.autograd.grad(target, sources, allow_unused=True)


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradients(layer, order, traced):
    def gradients(x, order):
        sources = [x, *layer.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch(x)
            if order == 1:
                target = tf.reduce_sum(layer(x) ** 2)
            else:
                target = sum(tf.reduce_sum(g**2) for g in gradients(x, order - 1))
        return tape.gradient(target, sources, unconnected_gradients="zero")

    function = tf.function(gradients) if traced else gradients
    for g, wanted in zip(function(X, order), torch_gradients(layer.module, order), strict=True):
        wanted = np.zeros(g.shape) if wanted is None else wanted.numpy()
        np.testing.assert_allclose(g, wanted, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_function_that_calls_it(layer):
    f = tf.function(lambda x: layer(x) * 2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = tf.reduce_sum((f(X) / 2.0) ** 2)
    for _ in range(2):
        for g, wanted in zip(
            tape.gradient(y, [X, *layer.trainable_variables]), torch_gradients(layer.module), strict=True
        ):
            np.testing.assert_allclose(g, wanted, rtol=1e-4, atol=1e-5)


def test_what_a_tape_watches(layer):
    weight, bias = [v.value for v in layer.variables[:2]]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(weight)
        y = layer(X)
    g = tape.gradient(y, [weight, bias])
    assert tape.watched_variables() == (weight,)
    np.testing.assert_allclose(g[0], torch.autograd.grad(layer.module(tf.torch.to_torch(X)).sum(), weight.parameter)[0])
    assert g[1] is None
    layer.module[2].requires_grad_(False)
    with tf.GradientTape() as tape:
        y = layer(X)
    assert [g is None for g in tape.gradient(y, [v.value for v in layer.variables])] == [False, False, True, True]


def test_a_tape_adds_up_calls(layer):
    with tf.GradientTape() as tape:
        y = layer(X) + layer(X) * tf.reduce_sum(layer.variables[1])
    module, bias = layer.module, layer.module[0].bias
    x = tf.torch.to_torch(X)
    wanted = torch.autograd.grad((module(x) + module(x) * bias.sum()).sum(), list(module.parameters()))
    for g, w in zip(tape.gradient(y, layer.trainable_variables), wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2])
def test_an_argument_passed_twice(order):
    layer = tf.torch.Layer(torch.nn.Bilinear(3, 3, 1))

    def gradient(x, order):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, x) if order == 1 else gradient(x, order - 1)
        return tape.gradient(y, x)

    x = tf.torch.to_torch(X).requires_grad_()
    y = layer.module(x, x).sum()
    for _ in range(order):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(gradient(X, order), y.detach(), rtol=1e-4, atol=1e-5)


def test_second_gradients_beside_an_argument_that_is_not_watched():
    class Scaled(torch.nn.Module):
        def forward(self, x, factor):
            return x**3 * factor

    layer, x = tf.torch.Layer(Scaled()), tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, tf.constant([2.0, 3.0]))
        dx = tape.gradient(y, x)
    assert outer.gradient(dx, x).numpy().tolist() == [12.0, 36.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, tf.constant([2.0, 3.0]))
    with tf.GradientTape() as outer:  # around the gradient alone
        outer.watch(x)
        dx = tape.gradient(y, x)
    assert outer.gradient(dx, x).numpy().tolist() == [12.0, 36.0]


def test_takes_variables(layer):
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = layer.call(x)
    module = layer.module
    t = tf.torch.to_torch(X).requires_grad_()
    np.testing.assert_allclose(tape.gradient(y, x), torch.autograd.grad(module(t).sum(), t)[0], rtol=1e-5)


def test_jacobian(layer):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        y = layer(X)
    wanted = torch.autograd.functional.jacobian(layer.module, tf.torch.to_torch(X))
    np.testing.assert_allclose(tape.jacobian(y, X, experimental_use_pfor=False), wanted, rtol=1e-4, atol=1e-5)


def test_structures_and_keywords():
    class Module(torch.nn.Module):
        def forward(self, pair, *, scale):
            return {"sum": pair[0] + pair[1], "rest": [pair[0] * scale, "text"]}

    layer = tf.torch.Layer(Module())
    result = layer((tf.constant([1.0]), tf.constant([2.0])), scale=3.0)
    assert result["sum"].numpy().tolist() == [3]
    assert result["rest"][0].numpy().tolist() == [3]
    assert result["rest"][1] == "text"


def test_inputs_are_never_written_to():
    x = tf.constant([-1.0, 1.0])
    assert tf.torch.Layer(torch.nn.ReLU(inplace=True))(x).numpy().tolist() == [0, 1]
    assert x.numpy().tolist() == [-1, 1]


def test_modules_run_in_the_mode_that_a_call_names():
    module = torch.nn.Dropout(0.5)
    layer = tf.torch.Layer(module)
    x = tf.ones([100])
    assert layer(x, training=False).numpy().tolist() == [1.0] * 100 and module.training is False
    assert set(layer(x, training=True).numpy().tolist()) == {0.0, 2.0} and module.training is True


def test_parameters_without_gradients(layer):
    layer.module[0].weight.requires_grad_(False)
    with tf.GradientTape() as tape:
        y = layer(X)
    found = tape.gradient(y, layer.variables)
    assert [g is None for g in found] == [True, False, False, False]
    layer.module[0].weight.requires_grad_(True)
    with tf.GradientTape() as tape:
        y = layer(X)
    assert all(g is not None for g in tape.gradient(y, layer.variables))


def test_the_mode_of_torchs_gradients_stays(layer):
    for enabled in (True, False):
        with torch.set_grad_enabled(enabled), tf.GradientTape() as tape:
            tape.watch(X)
            y = layer(X)
            assert torch.is_grad_enabled() is enabled
        assert tape.gradient(y, X) is not None
        with torch.set_grad_enabled(enabled):
            layer(X)
            assert torch.is_grad_enabled() is enabled


class Several(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x, *, other=None):
        y = x * self.scale * 3.0
        return {"y": y, "none": None, "text": "t", "sum": y.sum() if other is None else (y + other).sum()}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_results_and_gradients_of_nests(order, traced):
    layer, x, other = tf.torch.Layer(Several()), tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])

    def run(x, other):
        with tf.GradientTape() as outer:
            outer.watch([x, other])
            with tf.GradientTape(watch_accessed_variables=order == 1) as tape:
                tape.watch([x, other])
                results = layer(x, other=other)
                target = results["sum"] ** 2
            first = tape.gradient(target, [x, other])
            total = tf.reduce_sum(first[0])
        return results["y"], results["sum"], first, outer.gradient(total, [x, other])

    y, total, first, second = (tf.function(run) if traced else run)(x, other)
    assert y.numpy().tolist() == [6.0, 12.0] and float(total) == 25.0
    assert [g.numpy().tolist() for g in first] == [[300.0] * 2, [50.0] * 2]
    assert [g.numpy().tolist() for g in second] == [[144.0] * 2, [24.0] * 2]


def test_results_that_are_no_tensors():
    results = tf.torch.Layer(Several())(tf.constant([1.0]), other=None)
    assert results["none"] is None and results["text"] == "t" and float(results["sum"]) == 6.0
