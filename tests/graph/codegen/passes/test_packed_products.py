"""Products with weights that are packed once, with a bias and an activation, where MKL is slow."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import mkl

pytestmark = pytest.mark.skipif(not mkl.products_are_slow(), reason="MKL multiplies fast on this processor")


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(0.0, 0.3, shape).astype("float32")


X, W, BIAS, SCALE = random(128, 256), tf.Variable(random(256, 288)), tf.Variable(random(288)), tf.Variable(random(288))


def product(x):
    return tf.matmul(x, W)


CASES = {
    "MatMul": product,
    "MatMulAddV2": lambda x: product(x) + BIAS,
    "MatMulBiasAdd": lambda x: tf.nn.bias_add(product(x), BIAS),
    "MatMulBiasAddRelu": lambda x: tf.nn.relu(tf.nn.bias_add(product(x), BIAS)),
    "MatMulMulAddV2Relu": lambda x: tf.nn.relu(product(x) * SCALE + BIAS),
    "MatMulMul by turned weights": lambda x: tf.matmul(x, tf.transpose(W), transpose_b=True) * SCALE,
    "BatchMatMulV2AddV2": lambda x: tf.matmul(tf.reshape(x, [2, 64, 256]), W) + BIAS,
    "BatchMatMulV2 by turned weights": lambda x: tf.matmul(tf.reshape(x, [2, 64, 256]), tf.transpose(W), False, True),
}


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_one_step(name):
    concrete = tf.function(CASES[name]).get_concrete_function(X)
    assert f"= op_{name.partition(' ')[0]}(" in concrete.source()
    for change in (1.0, 1.0, 0.5):  # the second time, the weights are packed; the third time, they are others
        W.assign(W * change)
        np.testing.assert_allclose(concrete(tf.constant(X)), CASES[name](tf.constant(X)), rtol=1e-4, atol=1e-4)


def test_packed_weights_have_memory_of_their_own():
    function = tf.function(product)
    before = function(X)
    W.assign_add(tf.ones_like(W))
    np.testing.assert_allclose(function(X), before + tf.reduce_sum(X, 1, keepdims=True), rtol=1e-4, atol=1e-3)


def test_a_residual_is_added_afterwards():
    function = lambda x, y: tf.nn.relu(product(x) + y)  # noqa: E731
    y = random(128, 288)
    concrete = tf.function(function).get_concrete_function(X, y)
    assert "op_MatMul(x, " in concrete.source()
    np.testing.assert_allclose(concrete(X, y), function(X, y), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(None, 256), (4, 256)])
def test_other_products_stay(shape):
    assert "Weights(" not in tf.function(product).get_concrete_function(tf.TensorSpec(shape)).source()


def test_training_steps_pack_nothing():
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(product(x) ** 2)
        W.assign_sub(1e-6 * tape.gradient(loss, W))
        return loss

    assert "Weights(" not in tf.function(step).get_concrete_function(X).source()
