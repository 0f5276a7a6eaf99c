"""Forms of element-wise ops: the runtime and TapeFlow compute the same values."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import check, codes, convert

X = np.float32([[-2.5, -1, 0, 0.5], [1, 2, 3.5, -0.25], [7, -7, 6, 5]])
Y = np.float32([[2, -3, 1.5, 4], [-1, 5, 0.5, 2], [3, 3, -4, -2]])
INTS = np.int32([[-7, 7, 3], [5, -5, 0]])
BY = np.int32([[2, -2, 5], [3, 3, -4]])


@pytest.mark.parametrize(("function", "inputs"), [
    (lambda x: tf.nn.relu(x), [X]),
    (lambda x: tf.nn.relu6(x), [X]),
    (lambda x: tf.nn.relu(x), [INTS]),
    (lambda x: tf.nn.elu(x), [X]),
    (lambda x: tf.nn.selu(x), [X]),
    (lambda x: tf.nn.leaky_relu(x), [X]),
    (lambda x: tf.nn.leaky_relu(x, 0.4), [X]),
    (lambda x: tf.ones_like(x), [X]),
    (lambda x: tf.ones_like(x), [INTS]),
    (lambda x: tf.zeros_like(x), [X]),
    (lambda x, y: tf.atan2(x, y), [X, Y]),
    (lambda x, y: tf.raw_ops.Mod(x=x, y=y), [INTS, BY]),
    (lambda x, y: tf.math.mod(x, y), [X, Y]),
    (lambda x, y: tf.math.floormod(x, y), [INTS, BY]),
    (lambda x, y: tf.math.floordiv(x, y), [INTS, BY]),
    (lambda x, y: tf.raw_ops.TruncateDiv(x=x, y=y), [INTS, BY]),
    (lambda x, y: tf.math.squared_difference(x, y), [X, Y]),
    (lambda x, y: tf.math.maximum(x, y) - tf.math.minimum(x, y[:1]), [X, Y]),
    (lambda x, y: tf.where(x > y, x, y * 10), [X, Y]),
    (lambda x, y: tf.where(x[:, :1] > y[:, :1], x, y), [X, Y]),
    (lambda x, y: tf.compat.v1.where(x[:, 0] > 0, x, y), [X, Y]),
    (lambda x: tf.bitwise.invert(x), [INTS]),
    (lambda x: tf.bitwise.invert(x), [np.uint8([[0, 3, 255]])]),
    (lambda x: tf.nn.bias_add(x, [1.0, 2.0, 3.0, 4.0]), [X]),
    (lambda x: tf.identity_n([x, -x]), [X]),
    (lambda x: tf.raw_ops.IdentityN(input=[x]), [X]),
    (lambda x: tf.cast(x, tf.int32), [X]),
    (lambda x: tf.cast(x, tf.float32) / 4, [INTS]),
    (lambda x: tf.cast(x > 0, tf.float32), [X]),
    (lambda x: tf.math.reciprocal(x), [Y]),
    (lambda x: tf.math.sign(x) * tf.square(x), [X]),
    (lambda x: tf.clip_by_value(x, -1, 2), [X]),
    (lambda x: tf.math.is_nan(x / x), [X]),
    (lambda x: tf.math.log1p(tf.abs(x)) + tf.math.expm1(x), [X]),
    (lambda x: tf.nn.softplus(x) - tf.math.sigmoid(x), [X]),
    (lambda x, y: tf.math.divide_no_nan(x, y * tf.cast(y > 0, tf.float32)), [X, Y]),
    (lambda x, y: tf.math.logical_xor(x > 0, y > 0) | (x == y) & (x != 2), [X, Y]),
])  # fmt: skip
def test_values(function, inputs):
    check(function, *inputs)


def test_bias_of_images_with_channels_first():
    images = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
    check(lambda x: tf.nn.bias_add(x, [1.0, 20.0, 300.0], data_format="NCHW"), images)


def test_operators():
    assert codes(check(lambda x: tf.nn.relu6(x + 1), X)) == {"ADD": 1}
    assert codes(check(lambda x: tf.nn.relu(x), INTS)).keys() == {"MAXIMUM"}


def test_angles_of_other_shapes():
    check(lambda x, y: tf.atan2(x, y), X, Y[:1], batch=False)
    check(lambda x, y: tf.atan2(x, y), X[:1], Y, batch=False)


def test_remainders_of_floats_in_c_have_no_form():
    with pytest.raises(TypeError, match="its remainder is C's, and TFLite has the one of floor_mod"):
        convert(lambda x: tf.raw_ops.Mod(x=x, y=x + 1.0), tf.TensorSpec([3]))
