"""Rewrites of files: which operators remain, with the same results."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import assert_close, check, codes, convert, run

rng = np.random.default_rng(0)


def file_of(layers, shape):
    """Returns a model with random statistics, and its file."""
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([tf.keras.Input(shape), *layers])
    for weight in model.weights:
        if "moving" in weight.path:
            weight.assign(rng.uniform(0.5, 1.5, weight.shape))
        elif "gamma" in weight.path or "beta" in weight.path:
            weight.assign(rng.standard_normal(weight.shape))
    content = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    x = rng.standard_normal([3, *shape]).astype(np.float32)
    assert_close(run(content, x)[0], model(x).numpy(), 1e-5)
    return codes(content)


K = tf.keras.layers


@pytest.mark.parametrize(
    ("layers", "shape", "expected"),
    [
        ([K.Conv2D(4, 3), K.BatchNormalization(), K.ReLU()], (8, 8, 3), {"CONV_2D": 1}),
        ([K.DepthwiseConv2D(3), K.BatchNormalization(), K.ReLU(6.0)], (8, 8, 3), {"DEPTHWISE_CONV_2D": 1}),
        ([K.Dense(4), K.BatchNormalization(), K.ReLU()], (8,), {"FULLY_CONNECTED": 1}),
        ([K.Dense(4), K.BatchNormalization()], (6, 8), {"FULLY_CONNECTED": 1}),
        ([K.ReLU(), K.BatchNormalization()], (8,), {"RELU": 1, "MUL": 1, "ADD": 1}),
        ([K.Rescaling(2.0), K.Conv2D(4, 3)], (8, 8, 3), {"CONV_2D": 1}),
        ([K.ZeroPadding2D(((0, 1), (0, 1))), K.Conv2D(4, 3, strides=2)], (8, 8, 3), {"CONV_2D": 1}),
        ([K.ZeroPadding2D(1), K.Conv2D(4, 3, strides=2)], (8, 8, 3), {"PAD": 1, "CONV_2D": 1}),
        ([K.Dense(4, activation="gelu")], (8,), {"FULLY_CONNECTED": 1, "GELU": 1}),
        ([K.Activation("hard_silu")], (8,), {"HARD_SWISH": 1}),
        ([K.Conv2D(4, 1), K.Activation("swish")], (8, 8, 3), {"CONV_2D": 1, "LOGISTIC": 1, "MUL": 1}),
        ([K.Conv1D(4, 3), K.BatchNormalization(), K.ReLU()], (8, 3), {"RESHAPE": 2, "CONV_2D": 1}),
        ([K.Flatten(), K.Reshape([8, 3]), K.Reshape([2, 12])], (4, 6), {"RESHAPE": 1}),
        ([K.Permute([2, 1]), K.Permute([2, 1]), K.Dense(2)], (4, 6), {"FULLY_CONNECTED": 1}),
        ([K.Dropout(0.5), K.Dense(2, use_bias=False)], (4,), {"FULLY_CONNECTED": 1}),
        ([K.Dense(4), K.Lambda(lambda x: x - 2.0)], (8,), {"FULLY_CONNECTED": 1}),
        ([K.Dense(4), K.Lambda(lambda x: 2.0 - x)], (8,), {"FULLY_CONNECTED": 1, "SUB": 1}),
        ([K.Dense(4), K.Lambda(lambda x: x / 2.0)], (8,), {"FULLY_CONNECTED": 1}),
        ([K.Dense(4), K.Lambda(lambda x: 2.0 / x)], (8,), {"FULLY_CONNECTED": 1, "DIV": 1}),
    ],
)
def test_remaining_operators(layers, shape, expected):
    assert file_of(layers, shape) == expected


def test_gelu_of_other_programs():
    x = rng.standard_normal([3, 4]).astype(np.float32)

    def half_last(x):
        return 0.5 * (x * (1.0 + tf.math.erf(x / tf.sqrt(2.0))))

    def approximate(x):
        return 0.5 * x * (1.0 + tf.tanh(tf.sqrt(2.0 / np.float32(np.pi)) * (x + 0.044715 * tf.pow(x, 3))))

    for function in (half_last, approximate, lambda x: tf.nn.gelu(x), lambda x: tf.nn.gelu(x, approximate=True)):
        assert codes(check(function, x, tolerance=5e-6)) == {"GELU": 1}


def test_nearly_a_gelu():
    x = rng.standard_normal([3, 4]).astype(np.float32)
    assert "GELU" not in codes(check(lambda x: 0.5 * x * (1.0 + tf.math.erf(x / 1.3)), x))
    assert "GELU" not in codes(check(lambda x: 0.25 * x * (1.0 + tf.math.erf(x / tf.sqrt(2.0))), x))
    assert "HARD_SWISH" not in codes(check(lambda x: x * tf.nn.relu6(x + 2.0) / 6.0, x))


def test_results_with_other_uses_stay():
    w, x = tf.constant(rng.standard_normal([4, 4]).astype(np.float32)), rng.standard_normal([3, 4]).astype(np.float32)

    def f(x):
        y = x @ w
        return y, tf.nn.relu(y), y * 2.0

    assert codes(check(f, x)) == {"FULLY_CONNECTED": 1, "RELU": 1, "MUL": 1}


def test_constants_of_several_shapes_are_not_folded():
    w, x = tf.constant(rng.standard_normal([4, 4]).astype(np.float32)), rng.standard_normal([3, 4]).astype(np.float32)
    assert codes(check(lambda x: x @ w + [[1.0], [2.0], [3.0]], x, batch=False)) == {"FULLY_CONNECTED": 1, "ADD": 1}
    assert codes(check(lambda x: 2.0 - x @ w, x)) == {"FULLY_CONNECTED": 1, "SUB": 1}
    assert codes(check(lambda x: tf.nn.relu(x @ w + 1.0) * 2.0, x)) == {"FULLY_CONNECTED": 1, "MUL": 1}


def test_operations_on_constants_are_computed():
    def f(x):
        table = tf.cast(tf.range(12), tf.float32)
        return x + tf.reduce_sum(tf.reshape(table, [3, 4]), axis=0)

    assert codes(convert(f, tf.TensorSpec([None, 4]))) == {"ADD": 1}
    large = convert(lambda x: x + tf.zeros([1000, 1000]), tf.TensorSpec([1000, 1000]))
    assert len(large) < 10_000
