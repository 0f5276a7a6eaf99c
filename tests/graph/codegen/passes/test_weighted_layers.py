"""Convolutions with what follows them as one kernel, seen in the source, and that results stay what they were."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.linalg import packed_products

X = np.random.default_rng(0).normal(size=(4, 10, 10, 8)).astype("float32")


def variable(*shape, seed=1):
    return tf.Variable(np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype("float32"))


FILTERS, BIAS = variable(3, 3, 8, 6), variable(6)
OF_EACH_CHANNEL = variable(3, 3, 8, 2)
MEAN, VARIANCE, OFFSET, SCALE = (variable(6, seed=seed) for seed in range(2, 6))


def normalized(x, shape=(6,)):
    mean, variance, offset, scale = (tf.reshape(v, shape) for v in (MEAN, VARIANCE, OFFSET, SCALE))
    factor = scale * tf.math.rsqrt(variance + 1e-3)
    return x * factor + (offset - mean * factor)


def convolved(x, **options):
    return tf.nn.conv2d(x, FILTERS, **{"strides": 1, "padding": "SAME", **options})


def padded(x, *amounts):
    return tf.nn.conv2d(tf.pad(x, amounts), FILTERS, 2, "VALID")


def traced(function, *args):
    concrete = tf.function(function).get_concrete_function(*args)
    return concrete, concrete.source()


ALIKE = ([0, 0], [1, 1], [2, 2], [0, 0])
CASES = {
    "Conv2D": lambda x: convolved(x),
    "Conv2DBiasAddRelu": lambda x: tf.nn.relu(tf.nn.bias_add(convolved(x), BIAS)),
    "Conv2DMulAddV2": lambda x: normalized(convolved(x)),
    "Conv2DBiasAddMulAddV2Relu": lambda x: tf.nn.relu(normalized(tf.nn.bias_add(convolved(x, strides=2), BIAS))),
    "Conv2DMulAddV2Relu6": lambda x: tf.nn.relu6(normalized(convolved(x, strides=2), (1, 1, 1, 6))),
    "Conv2DSubMul": lambda x: (convolved(x, dilations=2) - MEAN) * 2.0,
    "DepthwiseConv2dNativeAddV2Relu6": lambda x: tf.nn.relu6(
        tf.nn.depthwise_conv2d(x, OF_EACH_CHANNEL, (1, 2, 2, 1), "SAME") + tf.range(16.0)
    ),
    "DepthwiseConv2dNativeMul": lambda x: tf.nn.depthwise_conv2d(x, OF_EACH_CHANNEL, [1] * 4, "VALID") * tf.range(16.0),
    "PadConv2DAddV2": lambda x: padded(x, *ALIKE) + BIAS,
    "PadConv2DRelu": lambda x: tf.nn.relu(padded(x, *ALIKE)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("batch", [4, None])
def test_a_layer_is_one_step(name, batch):
    concrete, source = traced(CASES[name], tf.TensorSpec((batch, 10, 10, 8)))
    assert source.count("return (") == 1
    assert f"= op_{name}(x, " in source
    for _ in range(2):  # the second time, the weights are prepared
        np.testing.assert_allclose(concrete(tf.constant(X)), CASES[name](tf.constant(X)), rtol=2e-5, atol=2e-5)


def test_an_empty_batch_stays_empty():
    concrete, _ = traced(CASES["PadConv2DRelu"], tf.TensorSpec((None, 10, 10, 8)))
    assert concrete(tf.zeros([0, 10, 10, 8])).shape == (0, 5, 6, 6)


@pytest.mark.parametrize("depthwise", [True, False])
@pytest.mark.parametrize("amounts", [(0, 1, 0, 1), (1, 2, 0, 0), (2, 0, 0, 1), (0, 3, 1, 1)], ids=str)
def test_padding_that_differs_on_two_sides(amounts, depthwise):
    top, bottom, left, right = amounts

    def f(x):
        x = tf.pad(x, [[0, 0], [top, bottom], [left, right], [0, 0]])
        if depthwise:
            return tf.nn.depthwise_conv2d(x, OF_EACH_CHANNEL, (1, 2, 2, 1), "VALID")
        return tf.nn.conv2d(x, FILTERS, 2, "VALID")

    concrete, source = traced(f, tf.constant(X))
    assert "op_Pad(" not in source
    np.testing.assert_allclose(concrete(tf.constant(X)), f(tf.constant(X)), rtol=2e-5, atol=2e-5)


def test_padding_with_a_batch_or_channels_stays():
    filters = variable(3, 3, 9, 6)
    f = lambda x: tf.nn.conv2d(tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 1]]), filters, 1, "VALID")  # noqa: E731
    assert "op_Pad(" in traced(f, tf.constant(X))[1]


def residual(x):
    first = tf.nn.relu(convolved(x))
    second = normalized(convolved(tf.concat([first, first], -1)[..., :8]))
    return tf.nn.relu(second + first) * 2.0


def test_a_residual_is_added_in_the_same_step():
    large = tf.constant(np.tile(X, [10, 2, 2, 1]))
    concrete, source = traced(residual, large)
    assert "op_Conv2DMulAddV2AddV2Relu(Relu, " in source
    for _ in range(2):
        np.testing.assert_allclose(concrete(large), residual(large), rtol=2e-5, atol=2e-5)


def test_a_residual_that_is_used_again_is_not_written_to():
    def f(x):
        first = tf.nn.relu(convolved(x, dilations=2))
        return tf.nn.relu6(convolved(x) * SCALE + first), first

    large = tf.constant(np.tile(X, [10, 2, 2, 1]))
    concrete, source = traced(f, large)
    assert "op_Conv2DMulAddV2(Relu, x, " in source
    for result, expected in zip(concrete(large), f(large), strict=True):
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("relu", [True, False])
def test_a_residual_of_any_number_of_images(relu):
    """One image is broadcast."""
    f = lambda x, y: (tf.nn.relu if relu else tf.identity)(normalized(convolved(x)) + y)  # noqa: E731
    specs = tf.TensorSpec((None, 10, 10, 8)), tf.TensorSpec((None, 10, 10, 6))
    concrete, source = traced(f, *specs)
    assert "op_Conv2DMulAddV2AddV2" in source
    for images, others in ((4, 4), (4, 1), (1, 4), (0, 0), (0, 1), (1, 0)):
        x, y = tf.constant(X[:images]), tf.constant(np.tile(X, 2)[:others, ..., :6] * 3.0)
        np.testing.assert_allclose(concrete(x, y), f(x, y), rtol=2e-5, atol=2e-5)


def test_a_residual_of_other_channels_stays():
    f = lambda x, y: normalized(convolved(x)) + y  # noqa: E731
    specs = tf.TensorSpec((None, 10, 10, 8)), tf.TensorSpec((None, 10, None, 1))
    source = traced(f, *specs)[1]
    assert "op_AddV2(" in source and "op_Conv2DMulAddV2(" in source


def test_a_result_that_is_used_again_stays():
    def f(x):
        y = convolved(x)
        return tf.nn.relu(y * SCALE), y

    concrete, source = traced(f, tf.constant(X))
    assert "op_Conv2D(x" in source and "Conv2DMul" not in source
    for result, expected in zip(concrete(tf.constant(X)), f(tf.constant(X)), strict=True):
        np.testing.assert_allclose(result, expected, rtol=2e-5)


@pytest.mark.parametrize("other", [lambda x: x[0, 0, 0, :6], lambda x: x[:, :, :, :6]], ids=["vector", "image"])
def test_a_factor_that_depends_on_inputs_stays(other):
    f = lambda x: convolved(x) * other(x)  # noqa: E731
    concrete, source = traced(f, tf.constant(X))
    assert "op_Conv2D(x" in source and "Conv2DMul" not in source
    np.testing.assert_allclose(concrete(tf.constant(X)), f(tf.constant(X)), rtol=2e-5, atol=2e-5)


def test_filters_that_depend_on_inputs_are_not_prepared():
    f = lambda x, filters: tf.nn.conv2d(x, filters, 1, "SAME")  # noqa: E731
    assert "Weights" not in traced(f, tf.constant(X), tf.constant(FILTERS))[1]


def test_a_vector_along_another_dimension_stays():
    f = lambda x: convolved(x[:, :6, :6]) * tf.reshape(SCALE, (6, 1))  # noqa: E731
    concrete, source = traced(f, tf.constant(X))
    assert "op_Conv2D(" in source and "Conv2DMul" not in source
    np.testing.assert_allclose(concrete(tf.constant(X)), f(tf.constant(X)), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("shape", [(6,), (1, 6), (1, 1, 6), (1, 1, 1, 6)])
def test_a_factor_that_adds_dimensions_stays(monkeypatch, shape):
    monkeypatch.setattr(packed_products, "is_large", lambda *_: True)
    matrix = variable(8, 6)
    f = lambda x: tf.matmul(x[:, 0, 0], matrix) * tf.reshape(SCALE, shape)  # noqa: E731
    concrete, source = traced(f, tf.constant(X))
    assert ("= op_MatMulMul(" in source) == (len(shape) <= 2)
    np.testing.assert_allclose(concrete(tf.constant(X)), f(tf.constant(X)), rtol=2e-5, atol=2e-5, strict=True)


def test_other_dtypes_and_layouts_are_left():
    wide = tf.Variable(tf.cast(FILTERS, tf.float64))
    assert "Weights" not in traced(lambda x: tf.nn.conv2d(x, wide, 1, "SAME"), tf.TensorSpec(X.shape, tf.float64))[1]
    first = lambda x: tf.nn.conv2d(x, FILTERS, 1, "SAME", data_format="NCHW")  # noqa: E731
    assert "Weights" not in traced(first, tf.TensorSpec((4, 8, 10, 10)))[1]


def test_a_model_gives_what_it_gives_eagerly():
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((12, 12, 3)),
        layers.ZeroPadding2D(1), layers.Conv2D(8, 3, strides=2), layers.BatchNormalization(), layers.ReLU(),
        layers.DepthwiseConv2D(3, padding="same", use_bias=False), layers.BatchNormalization(), layers.ReLU(6.0),
    ])  # fmt: skip
    for v in model.weights:
        v.assign(np.random.default_rng(0).uniform(0.5, 1.5, v.shape))
    x = np.random.default_rng(1).normal(size=(2, 12, 12, 3)).astype("float32")
    concrete, source = traced(lambda x: model(x, training=False), tf.constant(x))
    assert "op_PadConv2DBiasAddMulAddV2Relu(" in source
    np.testing.assert_allclose(concrete(tf.constant(x)), model(x, training=False), rtol=2e-5, atol=2e-5)


def near_misses(function, *args):
    lines = traced(function, *args)[0].explain_rewrites().splitlines()
    return [line.partition("near miss: ")[2] for line in lines if "near miss" in line]


def test_a_bias_after_a_result_that_is_used_again_is_a_near_miss():
    def f(x):
        y = convolved(x)
        return tf.nn.bias_add(y, BIAS), normalized(tf.sigmoid(y) * y), y

    line = f"{__file__}:{f.__code__.co_firstlineno + 2}"
    assert near_misses(f, tf.constant(X)) == [
        f"layer at {line}: the result of Conv2D is used elsewhere, such as in a gradient"
    ]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (y := convolved(x)) * tf.nn.relu6(y + 3.0),  # numbers that no training changes
        lambda x: (y := tf.nn.bias_add(convolved(x), BIAS)) * x[0, 0, 0, :6] + y,  # a factor that depends on inputs
        lambda x: tf.nn.relu(y := convolved(x)) + y,  # an activation
    ],
)
def test_other_steps_after_a_result_that_is_used_again_are_not_explained(f):
    assert not near_misses(f, tf.constant(X))


def test_training_steps_have_no_near_misses():
    def step(x):
        with tf.GradientTape() as tape:
            y = convolved(x)
            loss = tf.reduce_sum(tf.nn.bias_add(y, BIAS) * y)
        FILTERS.assign_sub(1e-6 * tape.gradient(loss, FILTERS))
        return loss

    assert not near_misses(step, tf.constant(X))


def test_a_sum_of_two_layers_is_added_by_the_first_one():
    f = lambda x: tf.nn.relu(tf.nn.bias_add(convolved(x), BIAS) + convolved(x, dilations=2) * SCALE)  # noqa: E731
    concrete, source = traced(f, tf.constant(X))
    assert "= op_Conv2DMul(x, " in source and "= op_Conv2DBiasAddAddV2Relu(" in source
    np.testing.assert_allclose(concrete(tf.constant(X)), f(tf.constant(X)), rtol=2e-5, atol=2e-5)


def test_a_layer_of_many_steps():
    def f(x):
        x = convolved(x)
        for i in range(300):
            x = x + BIAS if i % 3 else x * 0.5
        return x

    concrete, source = traced(f, tf.constant(X))
    assert source.count("return (") == 1 and source.count("= op_Conv2DMul") == 1
    np.testing.assert_allclose(concrete(tf.constant(X)), f(tf.constant(X)), rtol=2e-5, atol=2e-5)
