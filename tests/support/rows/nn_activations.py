"""Rows of `tapeflow/nn/activations.py`, `softmaxes.py` and `bias.py`."""

import numpy as np
from scipy import special

import tapeflow as tf
from op_table import FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError

ONE = [sample(rand(2, 3)), sample(rand()), sample(rand(0, 2)), sample(rand(2, 1, 4, low=-8, high=8))]
REAL = (*FLOATS, "int8", "int16", "int32", "int64", "uint8")
NOT_TEXT = (sample("text"), Invalid, "Value for attr 'T' of string is not in the list of allowed values")
NOT_INTS = (sample([1, 2]), Invalid, "Value for attr 'T' of int32 is not in the list of allowed values")


def elu(x):
    return np.where(x > 0, x, np.expm1(x))


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))


def leaky_relu(x, alpha=0.2):
    return np.where(x > 0, x, np.float32(alpha).astype(float) * x)


def gelu(x, approximate=False):
    """With the constants as TensorFlow has them: numbers of float32, whatever the dtype."""
    if approximate:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + float(np.float32(0.044715)) * x**3)))
    return 0.5 * x * (1 + special.erf(x * float(np.float32(np.sqrt(0.5)))))


def silu(x, beta=1.0):
    return x * special.expit(beta * x)


def crelu(x, axis=-1):
    return np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], axis)


def softmax(x, axis=-1):
    return special.softmax(x, axis)


def log_softmax(x, axis=-1):
    return special.log_softmax(x, axis)


def bias_add(x, b, data_format=None):
    return x + (b.reshape(-1, *[1] * (x.ndim - 2)) if data_format == "NCHW" else b)


# Functions of several steps in the tensor's own dtype, each rounded.
STEPS = {"float16": (5e-3, 5e-3), "bfloat16": (4e-2, 4e-2)}
ROWS_OF = [sample(rand(2, 3)), sample(rand(4)), sample(rand(2, 3, 4), axis=1), sample(rand(3, 2), axis=0),
           sample(rand(0, 3)), sample(rand(2, 3, 4), -3)]  # fmt: skip

ROWS = [
    Row("nn.relu", ONE, lambda x: np.maximum(x, 0), REAL, bad=[NOT_TEXT, (sample([True]), Invalid, "'T' of bool")]),
    Row("nn.relu6", ONE, lambda x: np.clip(x, 0, 6), REAL, bad=[NOT_TEXT]),
    Row("nn.leaky_relu", [*ONE, sample(rand(3), alpha=0.5)], leaky_relu, FLOATS),
    Row("nn.elu", ONE, elu, FLOATS, bad=[NOT_TEXT, NOT_INTS]),
    Row("nn.selu", ONE, selu, FLOATS, bad=[NOT_TEXT, NOT_INTS]),
    Row("nn.gelu", [*ONE, sample(rand(3), approximate=True)], gelu, FLOATS, tolerance=STEPS,
        bad=[(sample([1, 2]), ValueError, "`features.dtype` must be a floating point tensor")]),
    Row("nn.silu", [*ONE, sample(rand(3), beta=2.0), sample(rand(2, 3), beta=rand(3))], silu, FLOATS, tolerance=STEPS),
    Row("nn.crelu", [sample(rand(2, 3)), sample(rand(2, 3), axis=0)], crelu, FLOATS),
    Row("nn.softmax", ROWS_OF, softmax, FLOATS, bad=[
        NOT_INTS,
        (sample([1.0, 2.0], axis=1), Invalid, "`dim` must be in the range [-1, 1)"),
        (sample(1.0), Invalid, "logits must have >= 1 dimension"),
    ]),
    Row("nn.log_softmax", ROWS_OF, log_softmax, FLOATS, tolerance=STEPS, bad=[NOT_INTS]),
    Row("nn.bias_add", [
        sample(rand(2, 3), rand(3)), sample(rand(2, 3, 4, 2), rand(2)), sample(rand(2, 3), rand(3), data_format="NCHW"),
        sample(rand(2, 3, 4, 2), rand(3), data_format="NCHW"), sample(rand(0, 3), rand(3)),
        sample(rand(1, 2, 2), rand(2)),
    ], bias_add, (*FLOATS, "int32", "complex64"), bad=[
        (sample(np.ones([2, 3]), np.ones(2)), Invalid, "Must provide as many biases as the last dimension"),
        (sample(np.ones([2, 3, 1]), np.ones(1), "NCHW"), Invalid, "as many biases as the channel dimension"),
        (sample(np.ones(2), np.ones(2)), Invalid, "Input tensor must be at least 2D: [2]"),
        (sample(np.ones([2, 1]), np.ones([1, 1])), Invalid, "Biases must be 1D: [1,1]"),
        (sample(np.ones([2, 1]), np.ones(1), "HWC"), ValueError, "`data_format` must be of the form"),
    ]),
]  # fmt: skip
