"""Random loops as they are compiled when they run: for the sizes of a call, in threads, after what kernels compute."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from support.random_loops import TRIPS, inputs_of, loop
from tapeflow.graph.codegen.loop_kernel import Loop
from tapeflow.graph.compiler import loop_code, native_loops


@pytest.fixture(params=["inside", "hoisted"])
def sized(request, monkeypatch):
    """Compiles all loops for the sizes of calls, and divides small tensors among three threads."""
    monkeypatch.setattr(native_loops, "SMALL", 0)
    monkeypatch.setattr(native_loops, "_READ_QUICKLY", -1 if request.param == "hoisted" else 1 << 18)
    for name, value in (("_OF_THREADS", 1), ("_WORK_OF_THREADS", 0), ("_OF_A_PART", 16)):
        monkeypatch.setattr(loop_code, name, value)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("sized")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("with_gradient", [False, True])
def test_random_loop(seed, with_gradient):
    dtype, state, captured = inputs_of(seed)

    def function(state, captured):
        array = tf.TensorArray(dtype, TRIPS, element_shape=state[0].shape, clear_after_read=False)
        if not with_gradient:
            return loop(seed, state, captured, array)
        with tf.GradientTape() as tape:
            tape.watch([state, captured])
            _, stacked, last = loop(seed, state, captured, array, smooth=True)
            loss = tf.reduce_sum(tf.sin(stacked)) + tf.add_n([tf.reduce_sum(x * x) for x in last])
        return tape.gradient(loss, [*state, *captured], unconnected_gradients="zero")

    compiled, wanted = tf.function(function), tf.nest.flatten(function(state, captured))
    tolerance = 1e-8 if dtype is tf.float64 else 2e-2
    for _ in range(2):
        for got, want in zip(tf.nest.flatten(compiled(state, captured)), wanted, strict=True):
            np.testing.assert_allclose(got, tf.convert_to_tensor(want), tolerance, tolerance)


def test_hoisted_rows_of_another_size(monkeypatch):
    """A variable changes its shape: the rows from before the loop are shorter than those of the machine code."""
    monkeypatch.setattr(native_loops, "_READ_QUICKLY", -1)
    weights = tf.Variable(tf.ones([3, 600]), shape=[3, None])

    def function(x):
        h = tf.ones([4])
        for t in tf.range(60):
            h = tf.tanh(h + tf.reduce_sum(h[:, tf.newaxis] * tf.matmul(x[t], weights), -1))
        return h

    x = tf.constant(np.random.default_rng(0).standard_normal([60, 4, 3]).astype(np.float32))
    compiled = tf.function(function, input_signature=[tf.TensorSpec([None, 4, 3])])
    for size in (600, 2, 600):
        weights.assign(tf.fill([3, size], 0.01))
        np.testing.assert_allclose(compiled(x), function(x), rtol=1e-4, atol=1e-5)


def test_a_first_call_without_iterations(monkeypatch):
    """It does not keep later calls from machine code."""
    monkeypatch.setattr(native_loops, "_READ_QUICKLY", -1)

    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([], tf.int32)])
    def function(x, n):
        h = x
        for t in tf.range(n):
            h = tf.tanh(tf.matmul(h, x) + tf.cast(t, tf.float32) * tf.matmul(x, x))
        return h

    x = tf.constant(np.random.default_rng(0).standard_normal([3, 3]).astype(np.float32))
    np.testing.assert_array_equal(function(x, 0), x)
    wanted = tf.tanh(tf.matmul(x, x))
    monkeypatch.setattr(Loop, "__call__", lambda *_: pytest.fail("the loop runs in Python"))
    np.testing.assert_allclose(function(x, 1), wanted, rtol=1e-5, atol=1e-6)
