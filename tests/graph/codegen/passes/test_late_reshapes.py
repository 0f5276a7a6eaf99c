"""Reshapes behind what is done to each element, so that this joins the product before them."""

import numpy as np
import pytest

import tapeflow as tf

X = np.random.default_rng(0).normal(size=(4, 6, 8)).astype("float32")
WEIGHTS = tf.Variable(np.random.default_rng(1).normal(size=(8, 12)).astype("float32"))
BIAS = tf.Variable(np.linspace(-1.0, 1.0, 12, dtype="float32"))
FILTERS = tf.Variable(np.random.default_rng(2).normal(size=(3, 8, 12)).astype("float32"))


def rows(x):
    return tf.reshape(tf.reshape(x, [-1, 8]) @ WEIGHTS, [-1, 6, 12])


def heads(x):
    return tf.reshape(tf.matmul(x, WEIGHTS), [-1, 6, 3, 4])


def of_heads(v):
    return tf.reshape(v, [3, 4])


CASES = {
    "a bias": (lambda x: tf.nn.bias_add(rows(x), BIAS), "op_MatMulBiasAdd("),
    "a sum": (lambda x: rows(x) + BIAS, "op_MatMulAddV2("),
    "a sum, the other way round": (lambda x: BIAS + rows(x), "op_MatMulAddV2("),
    "a matrix": (lambda x: rows(x) + BIAS[None, :], "op_MatMulAddV2("),
    "a bias and an activation": (lambda x: tf.nn.relu(tf.nn.bias_add(rows(x), BIAS)), "op_MatMulBiasAdd("),
    "heads": (lambda x: heads(x) + of_heads(BIAS), "op_BatchMatMulV2AddV2("),
    "a convolution of sequences": (
        lambda x: tf.nn.relu(tf.nn.bias_add(tf.nn.conv1d(x, FILTERS, 1, "SAME"), BIAS)), "op_Conv2DBiasAddRelu(",
    ),
}  # fmt: skip


def check(function, spec):
    """Returns the source of a function, whose results and gradients are those of eager calls."""
    concrete = tf.function(function).get_concrete_function(spec)

    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            loss = tf.reduce_sum(y * tf.sin(y))
        return [y, *tape.gradient(loss, [x, WEIGHTS, BIAS, FILTERS])]

    for x in (X, X[:0]) if spec.shape[0] is None else (X,):
        np.testing.assert_allclose(concrete(tf.constant(x)), function(tf.constant(x)), rtol=2e-5, atol=2e-5)
        for got, want in zip(tf.function(gradients)(tf.constant(x)), gradients(tf.constant(x)), strict=True):
            if want is not None:
                np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)
    return concrete.source()


@pytest.mark.parametrize("batch", [4, None])
@pytest.mark.parametrize("name", CASES)
def test_what_joins_a_product(name, batch):
    function, call = CASES[name]
    source = check(function, tf.TensorSpec([batch, 6, 8]))
    assert source.count(call) == 1
    assert "BiasAdd(" not in source.replace("op_MatMulBiasAdd(", "") and "op_AddV2(" not in source


@pytest.mark.parametrize(
    "function",
    [
        lambda x: rows(x) + tf.reshape(tf.tile(BIAS, [6]), [6, 12]),  # more than one number for a channel
        lambda x: tf.reshape(tf.matmul(x, WEIGHTS), [-1, 6, 6, 2]) + tf.reshape(BIAS, [6, 2])[:, :1],
        lambda x: tf.reshape(rows(x), [-1, 36, 2]) + BIAS[:2],  # the last dimension is no longer the channels
    ],
)
def test_operands_that_are_not_of_channels(function):
    assert "op_AddV2(" in check(function, tf.TensorSpec([4, 6, 8]))


def test_a_product_that_is_used_before_the_reshape():
    def function(x):
        product = tf.reshape(x, [-1, 8]) @ WEIGHTS
        return tf.nn.bias_add(tf.reshape(product, [-1, 6, 12]), BIAS) + tf.reduce_mean(product)

    assert "op_MatMulBiasAdd(" not in check(function, tf.TensorSpec([400, 6, 8]))
