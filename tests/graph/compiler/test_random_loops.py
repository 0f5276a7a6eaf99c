"""Random loops, compiled to machine code and compared with eager mode."""

import numpy as np
import pytest

import tapeflow as tf
from support.random_loops import TRIPS, inputs_of, loop


@pytest.mark.parametrize("seed", range(60))
def test_random_loop(seed):
    dtype, state, captured = inputs_of(seed)

    def function(state, captured):
        array = tf.TensorArray(dtype, TRIPS, element_shape=state[0].shape, clear_after_read=False)
        return loop(seed, state, captured, array)

    wanted = tf.nest.flatten(function(state, captured))
    compiled = tf.function(function)
    results = tf.nest.flatten(compiled(state, captured))
    again = tf.nest.flatten(compiled(state, captured))
    source = compiled.get_concrete_function(state, captured).source()
    assert "op_Native" in source
    tolerance = 1e-9 if dtype is tf.float64 else 2e-3
    for got, second, want in zip(results, again, wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, tolerance, tolerance)
        np.testing.assert_array_equal(got, second)


@pytest.mark.parametrize("seed", range(60))
def test_gradient_of_a_random_loop(seed):
    dtype, state, captured = inputs_of(seed)

    def function(state, captured):
        with tf.GradientTape() as tape:
            tape.watch([state, captured])
            array = tf.TensorArray(dtype, TRIPS, element_shape=state[0].shape, clear_after_read=False)
            _, stacked, last = loop(seed, state, captured, array, smooth=True)
            loss = tf.reduce_sum(tf.sin(stacked)) + tf.add_n([tf.reduce_sum(x * x) for x in last])
        return tape.gradient(loss, [*state, *captured], unconnected_gradients="zero")

    compiled = tf.function(function)
    results, again = compiled(state, captured), compiled(state, captured)
    assert "op_Native" in compiled.get_concrete_function(state, captured).source()
    tolerance = 1e-8 if dtype is tf.float64 else 2e-2
    wanted = map(tf.convert_to_tensor, function(state, captured))  # eager slices are sparse
    for got, second, want in zip(results, again, wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, tolerance, tolerance)
        np.testing.assert_array_equal(got, second)
