"""Modules of torch in a `tf.function`: arguments that are no tensors, constants, buffers, and lists of images."""

import numpy as np
import pytest
import torch

import tapeflow as tf

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])


class Takes(torch.nn.Module):
    """Computes with numbers, flags, texts, nests and constants of its own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("passing", torch.tensor([10.0, 20.0, 30.0]), persistent=False)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.plain = torch.tensor([0.5, 0.25, 0.125])

    def forward(self, x, scale=2.0, *, kind="sum"):
        self.calls += 1
        y = x * scale + self.kept + self.passing + self.plain + torch.tensor([1.0, 0.0, -1.0])
        return (y.sum(1) if kind == "sum" else y), [x, {"scale": scale, "kind": kind, "none": None}]


def close(mine, theirs):
    np.testing.assert_allclose(mine, theirs.detach(), rtol=1e-6)


@pytest.mark.parametrize("named", [{}, {"kind": "all", "scale": 3.0}, {"kind": "sum", "scale": -1}, {"scale": 0.5}])
def test_arguments(named):
    module = Takes()
    layer = tf.torch.Layer(module)
    function = tf.function(lambda x: layer(x, **named))
    y, (same, rest) = function(tf.torch.from_torch(X))
    expected, (_, wanted) = Takes()(X, **named)
    close(y, expected)
    close(same, X)
    assert rest["kind"] in (wanted["kind"], tf.constant(wanted["kind"])) and rest["none"] is None
    assert "Takes" not in {
        op.type for op in function.get_concrete_function(tf.torch.from_torch(X)).graph.get_operations()
    }
    before = int(module.calls)
    function(tf.torch.from_torch(X))
    assert int(module.calls) == before + 1


def test_buffers_are_variables_of_the_graph():
    module = Takes()
    layer = tf.torch.Layer(module)
    function = tf.function(lambda x: layer(x)[0])
    first = function(tf.torch.from_torch(X)).numpy()
    module.kept.add_(1.0)
    module.passing.mul_(2.0)
    np.testing.assert_allclose(function(tf.torch.from_torch(X)), first + 3.0 + 60.0)


def test_gradients_of_parameters():
    layer = tf.torch.Layer(torch.nn.Linear(3, 2))

    @tf.function
    def gradients(x):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(layer(x))
        return tape.gradient(total, layer.trainable_variables, unconnected_gradients="zero")

    x = tf.torch.from_torch(X)
    weight, bias = gradients(x)
    np.testing.assert_allclose(weight, np.tile(X.sum(0).numpy(), [2, 1]), rtol=1e-6)
    assert bias.numpy().tolist() == [2.0, 2.0]
