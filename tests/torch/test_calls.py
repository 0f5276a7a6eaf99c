"""Modules that torch.export can't capture: one operation of a graph, differentiated by torch's autograd."""

import numpy as np
import pytest
import torch

import tapeflow as tf


class Decides(torch.nn.Module):
    """A number decides what it computes of a matrix, whole numbers and a list of vectors."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x, counts=None, others=()):
        self.steps += 1
        y = torch.tanh(self.linear(x)) if x.sum().item() > -1e9 else x
        if counts is not None:
            y = y * counts
        for other in others:
            y = y + other
        return {"y": y, "rows": counts, "sums": [y.sum(0), y.detach().argmax(1)]}


@pytest.fixture(name="layer")
def layer_of_module():
    torch.manual_seed(0)
    return tf.torch.Layer(Decides())


X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
COUNTS = np.array([[1, 2]] * 4, np.int32)
OTHERS = [np.array([1.0, -1.0], np.float32), np.array([0.5, 0.25], np.float32)]


def torch_results(module, order=1):
    """Returns the result, and the gradients of the inputs and parameters of the sum of squares."""
    x, others = torch.tensor(X, requires_grad=True), [torch.tensor(o, requires_grad=True) for o in OTHERS]
    sources = [x, *others, *module.parameters()]
    result = module(x, torch.tensor(COUNTS), others)
    target = (result["y"] ** 2).sum() + (result["sums"][0] ** 3).sum()
    for _ in range(order - 1):
        target = sum((g**2).sum() for g in torch.autograd.grad(target, sources, create_graph=True))
    return result, torch.autograd.grad(target, sources)


def gradients(layer, order):
    x, others = tf.constant(X), [tf.constant(o) for o in OTHERS]
    sources = [x, *others, *layer.trainable_variables]

    def differentiate(order):
        with tf.GradientTape() as tape:
            tape.watch([x, *others])
            if order == 1:
                result = layer(x, tf.constant(COUNTS), others)
                target = tf.reduce_sum(result["y"] ** 2) + tf.reduce_sum(result["sums"][0] ** 3)
            else:
                target = tf.add_n([tf.reduce_sum(g**2) for g in differentiate(order - 1)])
        return tape.gradient(target, sources)

    return differentiate(order)


@pytest.mark.parametrize("traced", [False, True])
def test_results(layer, traced):
    def call():
        return layer(tf.constant(X), tf.constant(COUNTS), [tf.constant(o) for o in OTHERS])

    result = (tf.function(call) if traced else call)()
    expected, _ = torch_results(layer.module)
    np.testing.assert_allclose(result["y"], expected["y"].detach(), rtol=1e-6)
    np.testing.assert_allclose(result["sums"][0], expected["sums"][0].detach(), rtol=1e-6)
    assert result["rows"].numpy().tolist() == COUNTS.tolist() and result["rows"].dtype == tf.int32
    assert result["sums"][1].numpy().tolist() == expected["sums"][1].tolist()
    assert result["sums"][1].dtype == tf.int64


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_gradients(layer, order, traced):
    call = tf.function(gradients) if traced else gradients
    _, expected = torch_results(layer.module, order)
    for mine, theirs in zip(call(layer, order), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def test_gradients_outside_of_the_function(layer):
    function = tf.function(lambda x: layer(x)["y"])
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(function(x) ** 2)
    gradients = tape.gradient(total, [x, *layer.trainable_variables])
    own = torch.tensor(X, requires_grad=True)
    (layer.module(own)["y"] ** 2).sum().backward()
    for mine, theirs in zip(gradients, [own, *layer.module.parameters()], strict=True):
        np.testing.assert_allclose(mine, theirs.grad, rtol=1e-5, atol=1e-6)


def test_results_without_a_gradient(layer):
    x, others = tf.constant(X), [tf.constant(o) for o in OTHERS]

    @tf.function
    def differentiate():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, *others])
            result = layer(x, others=others)
            kept = tf.cast(result["sums"][1], tf.float32)
        weight, bias = (v.value for v in layer.trainable_variables)
        return (
            tape.gradient(result["sums"][0], [x, others[1], bias]),
            tape.gradient(kept, [x, weight]),
            tape.gradient(result["y"], [others[0], weight], output_gradients=tf.ones([4, 2])),
        )

    (of_x, of_other, of_bias), nothing, (of_first, of_weight) = differentiate()
    assert nothing == [None, None] and of_other.numpy().tolist() == [4.0, 4.0] == of_first.numpy().tolist()
    own = torch.tensor(X, requires_grad=True)
    layer.module(own)["y"].sum().backward()
    linear = layer.module.linear
    for mine, theirs in ((of_x, own), (of_bias, linear.bias), (of_weight, linear.weight)):
        np.testing.assert_allclose(mine, theirs.grad, rtol=1e-5, atol=1e-6)


def test_one_call_of_the_module_for_a_step(layer):
    call = tf.function(gradients)
    call(layer, 1)
    before = int(layer.module.steps)
    call(layer, 1)
    assert int(layer.module.steps) == before + 1


def test_a_module_in_training_runs_where_its_result_is_unused(layer):
    @tf.function
    def ignore(training):
        layer(tf.constant(X), training=training)
        return tf.constant(1)

    for training, runs in ((True, 1), (False, 0)):
        ignore(training)
        before = int(layer.module.steps)
        ignore(training)
        assert int(layer.module.steps) == before + runs


@pytest.mark.parametrize("taped", [False, True])
def test_shapes_in_graphs(layer, taped):
    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([2], tf.float32)])
    def shapes(x, other):
        with tf.GradientTape() as tape:
            if taped:
                tape.watch(x)
            result = layer(x, others=[other])
        if not taped:
            return result["y"], result["sums"]
        return result["y"], result["sums"], tape.gradient(result["y"], x)

    concrete = shapes.get_concrete_function()
    y, (sums, places), *gradient = concrete.structured_outputs
    assert y.shape.as_list() == [None, 2] and sums.shape.as_list() == [2] and places.shape.as_list() == [None]
    assert [g.shape.as_list() for g in gradient] == [[None, 3]] * taped
    assert concrete(tf.constant(X), tf.constant(OTHERS[0]))[0].shape == [4, 2]


def test_inputs_have_a_rank(layer):
    function = tf.function(lambda x: layer(x)["y"], input_signature=[tf.TensorSpec(None)])
    with pytest.raises(ValueError, match="A torch module needs inputs of static rank"):
        function(tf.constant(X))


def test_errors_of_the_module(layer):
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        tf.function(lambda: layer(tf.ones([2, 5])))()


def test_variables_are_arguments(layer):
    v = tf.Variable(X)

    @tf.function
    def differentiate():
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(layer(v)["y"] ** 2)
        return total, tape.gradient(total, v)

    total, gradient = differentiate()
    own = torch.tensor(X, requires_grad=True)
    expected = (layer.module(own)["y"] ** 2).sum()
    expected.backward()
    np.testing.assert_allclose(total, expected.detach(), rtol=1e-6)
    np.testing.assert_allclose(gradient, own.grad, rtol=1e-5, atol=1e-6)


def test_forward_mode(layer):
    x, direction = tf.constant(X), tf.constant(X[::-1].copy())
    with tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
        y = layer(x)["y"]
    _, expected = torch.func.jvp(
        lambda x: torch.tanh(layer.module.linear(x)), (torch.tensor(X),), (torch.tensor(direction.numpy()),)
    )
    np.testing.assert_allclose(accumulator.jvp(y), expected.detach(), rtol=1e-5, atol=1e-6)


def test_two_tapes(layer):
    x = tf.constant(X)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        outer.watch(x)
        inner.watch(x)
        total = tf.reduce_sum(layer(x)["y"] ** 2)
    own = torch.tensor(X, requires_grad=True)
    (layer.module(own)["y"] ** 2).sum().backward()
    for tape in (outer, inner):
        np.testing.assert_allclose(tape.gradient(total, x), own.grad, rtol=1e-5, atol=1e-6)
    assert torch.is_grad_enabled()
