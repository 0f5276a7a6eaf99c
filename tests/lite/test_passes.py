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


W = tf.constant(rng.standard_normal([4, 4]).astype(np.float32))
X = rng.standard_normal([3, 4]).astype(np.float32)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x @ W - 2.0, {"FULLY_CONNECTED": 1}),
        (lambda x: x @ W * [1.0, 2.0, 3.0, 4.0], {"FULLY_CONNECTED": 1}),
        (lambda x: x @ W / [1.0, 2.0, 3.0, 4.0], {"FULLY_CONNECTED": 1}),
        (lambda x: [1.0, 2.0, 3.0, 4.0] + x @ W, {"FULLY_CONNECTED": 1}),
        (lambda x: [1.0, 2.0, 3.0, 4.0] / (x @ W), {"FULLY_CONNECTED": 1, "DIV": 1}),
        (lambda x: (x @ W + 3.0) * 2.0 - 1.0, {"FULLY_CONNECTED": 1}),
        (lambda x: (x * [1.0, 2.0, 3.0, 4.0]) @ W, {"FULLY_CONNECTED": 1}),
        (lambda x: ([1.0, 2.0, 3.0, 4.0] * x) @ W, {"FULLY_CONNECTED": 1}),
        (lambda x: (x / [1.0, 2.0, 3.0, 4.0]) @ W, {"FULLY_CONNECTED": 1}),
        (lambda x: ([1.0, 2.0, 3.0, 4.0] / x) @ W, {"DIV": 1, "FULLY_CONNECTED": 1}),
        (lambda x: tf.nn.relu(x * 2.0) @ W, {"MUL": 1, "FULLY_CONNECTED": 1}),
        (lambda x: (x + 2.0) @ W, {"ADD": 1, "FULLY_CONNECTED": 1}),
        (lambda x: tf.nn.relu(tf.nn.relu(x @ W)), {"FULLY_CONNECTED": 1, "RELU": 1}),
        (lambda x: tf.nn.relu6(x @ W), {"FULLY_CONNECTED": 1}),
        (lambda x: (x + 0.0) * 2.0, {"MUL": 1}),
        (lambda x: (0.0 + x - 0.0) * 2.0, {"MUL": 1}),
        (lambda x: x * 1.0 / 1.0 + x, {"ADD": 1}),
        (lambda x: 1.0 * x + x, {"ADD": 1}),
        (lambda x: 0.0 - x, {"SUB": 1}),
        (lambda x: 1.0 / x, {"DIV": 1}),
        (lambda x: x + [0.0, 0.0, 0.0, 1.0], {"ADD": 1}),
        (lambda x: tf.transpose(tf.transpose(x)) + 1.0, {"ADD": 1}),
        (lambda x: tf.reshape(tf.reshape(x, [-1, 2, 2]), [-1, 4]) * 2.0, {"MUL": 1}),
        (lambda x: x * (tf.nn.relu6(x + 3.0) * (1 / 6)), {"HARD_SWISH": 1}),
        (lambda x: tf.nn.relu6(x + 3.0) / 6.0 * x, {"HARD_SWISH": 1}),
        (lambda x: x * (tf.nn.relu6(x + 3.0) / 5.0), {"ADD": 1, "MUL": 1, "DIV": 1}),
        (lambda x: (x + 1.0) * (tf.nn.relu6(x + 3.0) / 6.0), {"ADD": 2, "MUL": 1, "DIV": 1}),
    ],
)
def test_remaining_operators_of_functions(function, expected):
    assert codes(check(function, X, tolerance=2e-5)) == expected


@pytest.mark.parametrize(
    ("edges", "stride", "dilation", "remaining"),
    [
        ([[1, 1], [1, 1]], 1, 1, {"CONV_2D": 1}),
        ([[0, 1], [0, 1]], 2, 1, {"CONV_2D": 1}),
        ([[2, 2], [2, 2]], 1, 2, {"CONV_2D": 1}),
        ([[1, 0], [1, 0]], 2, 1, {"PAD": 1, "CONV_2D": 1}),
        ([[1, 1], [1, 2]], 1, 1, {"PAD": 1, "CONV_2D": 1}),
        ([[1, 1], [1, 1]], 1, 2, {"PAD": 1, "CONV_2D": 1}),
    ],
)
def test_paddings_of_convolutions(edges, stride, dilation, remaining):
    images = rng.standard_normal([1, 8, 8, 2]).astype(np.float32)
    filters = rng.standard_normal([3, 3, 2, 3]).astype(np.float32)

    def padded(x):
        x = tf.pad(x, [[0, 0], *edges, [0, 0]])
        return tf.nn.conv2d(x, filters, stride, "VALID", dilations=dilation)

    assert codes(check(padded, images, batch=False, tolerance=2e-5)) == remaining
    scaled = check(lambda x: padded(x * [2.0, 3.0]), images, batch=False, tolerance=2e-5)
    assert codes(scaled) == remaining


def test_factors_that_are_not_finite_are_not_folded():
    for function in (lambda x: x @ W / [1.0, 0.0, 3.0, 4.0], lambda x: (x / [1.0, 0.0, 3.0, 4.0]) @ W):
        found = codes(convert(function, tf.TensorSpec([3, 4])))
        assert found == {"FULLY_CONNECTED": 1, "DIV": 1}


def test_cubes_of_gelus():
    def approximate(cube):
        return lambda x: 0.5 * x * (1.0 + tf.tanh(tf.sqrt(2.0 / np.float32(np.pi)) * (x + 0.044715 * cube(x))))

    for cube in (lambda x: x * x * x, lambda x: x * tf.square(x), lambda x: tf.pow(x, 3.0)):
        assert codes(check(approximate(cube), X, tolerance=1e-5)) == {"GELU": 1}
    for cube in (lambda x: x * x * 2.0, lambda x: tf.pow(x, 2.0), lambda x: tf.square(x)):
        assert "GELU" not in codes(check(approximate(cube), X, tolerance=1e-5))


def test_dense_layers_keep_dimensions():
    x = rng.standard_normal([2, 3, 4]).astype(np.float32)
    content = check(lambda x: tf.reshape(tf.reshape(x, [-1, 4]) @ W, [2, 3, 4]), x, batch=False)
    assert codes(content) == {"FULLY_CONNECTED": 1}
    content = check(lambda x: tf.reshape(tf.reshape(x, [-1, 4]) @ W, [3, 2, 4]), x, batch=False)
    assert codes(content) == {"FULLY_CONNECTED": 1, "RESHAPE": 2}


def test_paddings_of_images_of_unknown_size_stay():
    filters = rng.standard_normal([3, 3, 2, 3]).astype(np.float32)

    def padded(x):
        return tf.nn.conv2d(tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), filters, 1, "VALID")

    assert codes(convert(padded, tf.TensorSpec([1, 8, 8, 2]))) == {"CONV_2D": 1}
    assert codes(convert(padded, tf.TensorSpec([1, None, 8, 2]))) == {"PAD": 1, "CONV_2D": 1}
    assert codes(convert(padded, tf.TensorSpec([None, 8, 8, 2]))) == {"CONV_2D": 1}


@pytest.mark.parametrize(
    ("function", "shape", "expected"),
    [
        (lambda x: x * 1.0 + x, [None, None, 4], {"ADD": 1}),
        (lambda x: (x + [[0.0]]) * 2.0, [None, 4], {"MUL": 1}),
        (lambda x: (x + [0.0, 0.0, 0.0, 0.0]) * 2.0, [None, 4], {"MUL": 1}),
        (lambda x: (x + [[[0.0]]]) * 2.0, [3, 4], {"ADD": 1, "MUL": 1}),
        (lambda x: (x + tf.zeros([3, 4])) * 2.0, [1, 4], {"ADD": 1, "MUL": 1}),
        (lambda x: x * 1.0, [3, 4], {"MUL": 1}),
        (lambda x: tf.nn.relu(x + 0.0), [3, 4], {"RELU": 1}),
        (lambda x: tf.transpose(tf.transpose(x, [1, 2, 0]), [1, 2, 0]) + 1.0, [2, 3, 4], {"TRANSPOSE": 1, "ADD": 1}),
        (lambda x: tf.transpose(tf.transpose(x, [1, 2, 0]), [2, 0, 1]) + 1.0, [2, 3, 4], {"ADD": 1}),
        (lambda x: tf.reshape(tf.reshape(x, [6, 4]), [3, 8]) + 1.0, [2, 3, 4], {"RESHAPE": 1, "ADD": 1}),
        (
            lambda x: tf.nn.relu(tf.reshape(x @ W, [2, 2, 3])) + 1.0,
            [3, 4],
            {"FULLY_CONNECTED": 1, "RESHAPE": 1, "ADD": 1},
        ),
        (lambda x: tf.reshape(x @ W, [-1, 2, 2]) + [1.0, 2.0], [3, 4], {"FULLY_CONNECTED": 1, "RESHAPE": 1, "ADD": 1}),
        (lambda x: tf.reshape(x @ W, [-1, 1, 4]) + [1.0, 2.0, 3.0, 4.0], [3, 4], {"FULLY_CONNECTED": 1, "RESHAPE": 1}),
        (lambda x: (x @ W) + [[1.0, 2.0, 3.0, 4.0]], [3, 4], {"FULLY_CONNECTED": 1}),
        (lambda x: (x[:1] @ W) + [[1.0], [2.0]], [3, 4], {"STRIDED_SLICE": 1, "FULLY_CONNECTED": 1, "ADD": 1}),
        (lambda x: tf.nn.relu(x + x), [3, 4], {"ADD": 1}),
        (lambda x: tf.nn.relu(x - 1.0), [3, 4], {"SUB": 1}),
        (lambda x: tf.nn.relu6(x / 2.0), [3, 4], {"DIV": 1}),
        (lambda x: tf.nn.relu(tf.exp(x)), [3, 4], {"EXP": 1, "RELU": 1}),
        (lambda x: tf.nn.relu(x * 2.0) * 1.0 + 3.0, [3, 4], {"MUL": 1, "ADD": 1}),
        (lambda x: (tf.nn.relu(x * 1.0)) + 3.0, [3, 4], {"RELU": 1, "ADD": 1}),
        (lambda x: tf.math.erf(x), [3, 4], None),
    ],
)
def test_more_remaining_operators(function, shape, expected):
    content = convert(function, tf.TensorSpec(shape))
    x = rng.standard_normal([2 if d is None else d for d in shape]).astype(np.float32)
    for got, want in zip(run(content, x), tf.nest.flatten(function(tf.constant(x))), strict=True):
        assert_close(got, want.numpy(), 2e-5)
    assert expected is None or codes(content) == expected
    assert "ERF" not in codes(content)
