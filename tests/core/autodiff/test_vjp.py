"""Gradients of ops that have none of their own, by torch. The ops here are declared by the tests."""

import itertools

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.autodiff import vjp
from tapeflow.core.ops import definition
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op

NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def registry():
    """Removes the ops that a test declares."""
    before = dict(definition.registry)
    yield
    definition.registry.clear()
    definition.registry.update(before)


def declare(kernel, signature="x:T, y:T -> z:T; attr=T:type"):
    @op(f"TestVjp{next(NUMBERS)}", kernel, shape=lambda x, y: x, signature=signature)
    def function(x, y, name=None):
        """Is a test's."""

    return function


X, Y = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])


@pytest.mark.parametrize("watched", [(True, True), (True, False), (False, True)])
def test_gradients_of_watched_inputs(watched):
    function = declare(lambda x, y: x * x * y)
    assert vjp.is_gradient_of(function.op) and not vjp.is_gradient_of(ops.Mul.op)
    with tf.GradientTape() as tape:
        for value, wanted in zip((X, Y), watched, strict=True):
            if wanted:
                tape.watch(value)
        z = function(X, Y)
    found = tape.gradient(z, [X, Y], output_gradients=tf.constant([1.0, 10.0]))
    for gradient, expected, wanted in zip(found, ([6.0, 200.0], [1.0, 40.0]), watched, strict=True):
        assert gradient.numpy().tolist() == expected if wanted else gradient is None


def test_gradients_of_higher_orders():
    function = declare(lambda x, y: x**3 * y)
    with tf.GradientTape() as outer, tf.GradientTape() as middle:
        outer.watch(X)
        middle.watch([X, Y])
        with tf.GradientTape() as inner:
            inner.watch(X)
            z = function(X, Y)
        first = inner.gradient(z, X)
    second, mixed = middle.gradient(first, [X, Y])
    assert first.numpy().tolist() == [9.0, 60.0] and second.numpy().tolist() == [18.0, 60.0]
    assert mixed.numpy().tolist() == [3.0, 12.0]
    assert outer.gradient(second, X) is None  # it was computed outside of this tape


def test_results_that_do_not_depend_on_an_input():
    constant = declare(lambda x, y: torch.ones_like(x))
    part = declare(lambda x, y: (x * 2.0, torch.arange(2)), "x:T, y:T -> a:T, b:int64; attr=T:type")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([X, Y])
        a, (b, c) = constant(X, Y), part(X, Y)
    assert [g.numpy().tolist() for g in tape.gradient(a, [X, Y])] == [[0.0, 0.0], [0.0, 0.0]]
    assert [g.numpy().tolist() for g in tape.gradient(b, [X, Y])] == [[2.0, 2.0], [0.0, 0.0]]
    assert c.dtype is tf.int64 and tape.gradient(c, X) is None


def test_integers_beside_floats_have_no_gradient():
    scale = declare(lambda x, y: x * y, "x:T, y:int64 -> z:T; attr=T:type")
    n = tf.constant([2, 3], tf.int64)
    with tf.GradientTape() as tape:
        tape.watch([X, n])
        z = scale(X, n)
    first, second = tape.gradient(z, [X, n])
    assert first.numpy().tolist() == [2.0, 3.0] and second is None


def test_sparse_cotangents():
    function = declare(lambda x, y: x * y)
    table = tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(table)
        z = tf.gather(function(table, table), [2, 0])
    assert tape.gradient(z, table).numpy().tolist() == [[2.0], [0.0], [6.0]]


def test_gradients_of_lists():
    @op(f"TestVjp{next(NUMBERS)}", lambda values, x: sum(values) * x, shape=lambda values, x: x,
        signature="values:N*T, x:T -> z:T; attr=N:int; attr=T:type")  # fmt: skip
    def function(values, x, name=None):
        """Is a test's."""

    with tf.GradientTape() as tape:
        tape.watch([X, Y])
        z = function([X, X, Y], Y)
    assert [g.numpy().tolist() for g in tape.gradient(z, [X, Y])] == [[6.0, 10.0], [8.0, 14.0]]


def test_in_functions_and_for_each_slice():
    function = declare(lambda x, y: torch.sin(x) * y)

    def gradients(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = function(x, y)
        return tape.gradient(z, [x, y])

    expected = [np.cos(X) * Y.numpy(), np.sin(X)]
    for found in (gradients(X, Y), tf.function(gradients)(X, Y), tf.vectorized_map(lambda xy: gradients(*xy), (X, Y))):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_cotangents_of_another_shape():
    kernel = vjp.KernelVjp("TestGrad", lambda x: x * 2.0, 1, (True,))
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        kernel.kernel(torch.ones(2), torch.ones(3))
    assert raised.value.message == "TestGrad got a gradient of the shape [3] for a result of the shape [2]"
    x = torch.ones(2)
    (found,) = kernel.kernel(x, torch.tensor([1.0, 3.0]))
    assert found.tolist() == [2.0, 6.0] and not found.requires_grad and not x.requires_grad
    leaf = torch.ones(2, requires_grad=True)
    (nested,) = vjp.KernelVjp("TestGrad", lambda x: x**2, 1, (True,)).kernel(leaf, torch.ones(2))
    assert nested.requires_grad
