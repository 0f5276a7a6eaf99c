"""Functions of unknown sizes: calls write them anew for their sizes."""

import gc

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values.symbolic import SymbolicTensor


def normalized(x, scale):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3) * scale


def step(x, scale):
    with tf.GradientTape() as tape:
        tape.watch([x, scale])
        y = normalized(tf.nn.gelu(x), scale) + x
        loss = tf.reduce_mean(tf.reshape(y, [-1]) ** 2) / tf.cast(tf.shape(x)[0], tf.float32)
    return [loss, y, *tape.gradient(loss, [x, scale])]


def random(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape), tf.float32)


def traced(function, *shapes):
    return tf.function(function, input_signature=[tf.TensorSpec(s, tf.float32) for s in shapes])


@pytest.mark.parametrize("shape", [(None, 6), (None, None), None], ids=str)
def test_results_are_those_of_eager_calls(shape):
    function, scale = traced(step, shape, [None]), random(6, seed=1)
    for size in [4, 4, 1, *[7] * 9, 0, 4, 7]:
        x = random(size, 6, seed=size)
        for got, want in zip(function(x, scale), step(x, scale), strict=True):
            assert got.shape == want.shape and got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert function.experimental_get_tracing_count() == 1


def test_sizes_that_do_not_go_together():
    function = traced(lambda x, y: tf.exp(x) + y * 2.0, [None], [None])
    np.testing.assert_allclose(function(tf.zeros([3]), tf.ones([3])), [3.0, 3.0, 3.0])
    np.testing.assert_allclose(function(tf.zeros([3]), tf.ones([1])), [3.0, 3.0, 3.0])
    for sizes in [(3, 2), (2, 3)]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="ncompatible shapes"):
            function(*map(tf.ones, sizes))
    np.testing.assert_allclose(function(tf.zeros([2]), tf.ones([2])), [3.0, 3.0])


def test_an_error_of_the_first_call():
    function = traced(lambda x, y: tf.exp(x) + y * 2.0, [None], [None])
    with pytest.raises(tf.errors.InvalidArgumentError, match="ncompatible shapes"):
        function(tf.ones([3]), tf.ones([2]))
    np.testing.assert_allclose(function(tf.zeros([2]), tf.ones([2])), [3.0, 3.0])


def test_gradients_outside_of_the_function():
    function = traced(normalized, [None, 6], [6])
    for size in (3, 5, 3):
        x, scale = random(size, 6), random(6, seed=1)
        results = []
        for f in (function, normalized):
            with tf.GradientTape() as tape:
                tape.watch([x, scale])
                y = f(x, scale)
                loss = tf.reduce_sum(y * tf.sin(y))
            results.append([y, *tape.gradient(loss, [x, scale])])
        for got, want in zip(*results, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_variables_change_once_in_each_call():
    v = tf.Variable([0.0, 0.0])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def add(x):
        v.assign_add(tf.reduce_sum(x, 0))
        return tf.shape(x)[0]

    assert [int(add(tf.ones([n, 2]))) for n in (2, 3, 2)] == [2, 3, 2]
    np.testing.assert_array_equal(v, [7.0, 7.0])


def test_the_last_batch_of_fit():
    """The batches of `fit` have no static size if the last one is smaller."""

    def weights(eagerly):
        tf.keras.utils.set_random_seed(3)
        model = tf.keras.Sequential(
            [tf.keras.Input([4]), tf.keras.layers.Dense(8, "gelu"), tf.keras.layers.LayerNormalization(),
             tf.keras.layers.Dense(2)]
        )  # fmt: skip
        model.compile("sgd", "mse", run_eagerly=eagerly)
        model.fit(random(10, 4), random(10, 2, seed=1), batch_size=4, epochs=2, shuffle=False, verbose=0)
        return model.get_weights()

    for got, want in zip(weights(False), weights(True), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_shape_that_the_graph_denies():
    """The function said more of a shape than is true of the call."""

    @tf.function(input_signature=[tf.TensorSpec([2, None], tf.float32)])
    def function(x):
        y = tf.concat([x, x], 1)
        y.set_shape([2, 4])
        return tf.exp(y) + 1.0

    np.testing.assert_allclose(function(tf.zeros([2, 2])), np.full([2, 4], 2.0))
    assert function(tf.zeros([2, 3])).shape == [2, 6]
    for _ in range(9):
        np.testing.assert_allclose(function(tf.zeros([2, 3])), np.full([2, 6], 2.0))


def test_folded_tensors_live_as_long_as_their_constants():
    """Constants stand by the ids of tensors: the id of a freed tensor could become another one's."""
    function = traced(step, (None, 6), [None])
    function(random(4, 6), random(6))
    of_sizes = function.get_concrete_function(random(4, 6), random(6)).body.compiled._of_sizes
    program = next(iter(of_sizes._made.values())).program
    live = {id(o) for o in gc.get_objects() if isinstance(o, SymbolicTensor)}
    assert set(program.constants) <= live


@pytest.mark.parametrize("shape", [[3, 3], [2, -1], [0, 3], [7]])
@pytest.mark.parametrize("function", [tf.broadcast_to, tf.reshape])
def test_shapes_that_are_tensors_are_checked_at_each_call(function, shape):
    x, specs = tf.ones([2, 3]), [tf.TensorSpec([None, None]), tf.TensorSpec([None], tf.int32)]
    f = tf.function(lambda x, shape: tf.exp(function(x, shape)) * 2.0, input_signature=specs)
    assert f(x, tf.constant([2, 3])).shape == [2, 3]
    if function is tf.reshape and -1 in shape:
        assert f(x, tf.constant(shape)).shape == [2, 3]
        return
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(x, tf.constant(shape))
