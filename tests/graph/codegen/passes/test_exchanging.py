"""Products that are transposed are computed with their operands exchanged: the same values and gradients."""

import numpy as np
import pytest

import tapeflow as tf

RNG = np.random.default_rng(0)
X, Y = (RNG.normal(size=shape).astype("float32") for shape in ((2, 3, 5, 4), (2, 3, 4, 6)))

EXCHANGED = {
    "plain": lambda x, y: tf.transpose(tf.matmul(x, y), (0, 1, 3, 2)),
    "transposed operands": lambda x, y: tf.transpose(
        tf.matmul(tf.linalg.matrix_transpose(x), tf.linalg.matrix_transpose(y), True, True), (0, 1, 3, 2)
    ),
    "one batch": lambda x, y: tf.transpose(tf.matmul(x, y[:, :1]), (0, 1, 3, 2)),
}
STAY = {
    "used twice": lambda x, y: (lambda z: tf.transpose(z, (0, 1, 3, 2)) + tf.reduce_sum(z))(tf.matmul(x, y)),
    "other axes": lambda x, y: tf.transpose(tf.matmul(x, y), (0, 2, 1, 3)),
}


def check(function):
    """Returns the source of a function and its gradients, which are those of eager calls."""

    def run(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = function(x, y)
            loss = tf.reduce_sum(tf.sin(z))
        return [z, *tape.gradient(loss, [x, y])]

    x, y = tf.constant(X), tf.constant(Y)
    for value, expected in zip(tf.function(run)(x, y), run(x, y), strict=True):
        assert value.shape == expected.shape
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)
    return tf.function(function).get_concrete_function(x, y).source()


@pytest.mark.parametrize("name", EXCHANGED)
def test_a_transposed_product_is_one_product(name):
    source = check(EXCHANGED[name])
    assert source.count("op_BatchMatMulV2(") == 1
    assert "transpose = " not in source.split("op_BatchMatMulV2(")[1]


@pytest.mark.parametrize("name", STAY)
def test_what_is_used_otherwise_stays(name):
    assert "op_Transpose(" in check(STAY[name])


def test_the_adjoint_of_complex_products_stays():
    x, y = (tf.complex(tf.constant(v), tf.constant(v)[..., ::-1]) for v in (X, Y))
    function = tf.function(EXCHANGED["plain"])
    np.testing.assert_allclose(function(x, y), EXCHANGED["plain"](x, y), rtol=1e-5, atol=1e-5)


def test_the_scores_of_keras_attention_are_not_transposed():
    layer = tf.keras.layers.MultiHeadAttention(3, 4, dropout=0.1)
    x = tf.constant(RNG.normal(size=(2, 7, 12)).astype("float32"))
    layer(x, x)

    def gradients(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sin(layer(x, x, use_causal_mask=True)))
        return [loss, *tape.gradient(loss, layer.trainable_variables)]

    for value, expected in zip(tf.function(gradients)(x), gradients(x), strict=True):
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=1e-5)
