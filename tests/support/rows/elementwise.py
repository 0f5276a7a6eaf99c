"""Rows of the functions of one tensor in `tapeflow/math/`: elementary functions, complex numbers and casts."""

import numpy as np

import tapeflow as tf
from op_table import COMPLEX, FLOATS, SIGNED, WIDE_FLOATS, Row, rand, sample
from rows.arithmetic import MISMATCHED, no_nan, number_that_does_not_fit, other_dtype

Invalid = tf.errors.InvalidArgumentError

ANY = [sample(rand(2, 3)), sample(rand()), sample(rand(0, 3)), sample(rand(3, 1, 2, low=-4.0, high=4.0))]
POSITIVE = [sample(rand(2, 3, low=0.5, high=3.0)), sample(rand(low=0.5)), sample(rand(0, 3))]
WITHIN_ONE = [sample(rand(2, 3, low=-0.9, high=0.9)), sample(rand(low=0.1, high=0.5))]
ABOVE_ONE = [sample(rand(2, 3, low=1.5, high=3.0)), sample(rand(low=1.5))]
PAIRS = [sample(rand(2, 3, low=0.5), rand(2, 3, seed=1, low=0.5)), sample(rand(2, 1, 3, low=1.0), rand(4, 1, low=0.5)),
         sample(rand(low=0.5), rand(3, low=0.5)), sample(rand(0, 3), rand(1, 3))]  # fmt: skip
WITH_ZEROS = [sample(np.array([0.0, 2.0, 0.0]), np.array([0.0, 3.0, 5.0])), *PAIRS]
NOT_FLOATING = (sample([1, 2]), Invalid, "Value for attr 'T' of int32 is not in the list of allowed values")
NOT_BOOL = (sample([True]), Invalid, "Value for attr 'T' of bool is not in the list of allowed values")
NOT_TEXT = (sample("text"), Invalid, "Value for attr 'T' of string is not in the list of allowed values")

# Half precision loses what an inverse or a difference takes away.
LOOSE = {"float16": (1e-2, 5e-3), "bfloat16": (5e-2, 5e-2)}


def function(name, samples, reference, dtypes=FLOATS + COMPLEX, **options):
    """A function of one floating tensor."""
    return Row(name, samples, reference, dtypes, bad=[NOT_FLOATING, NOT_BOOL, NOT_TEXT], **options)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def signs(x):
    return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))


def l2_normalize(x, axis=None, epsilon=1e-12):
    length = np.sum(np.abs(x) ** 2, axis=axis if axis is None or isinstance(axis, int) else tuple(axis), keepdims=True)
    return x / np.sqrt(np.maximum(length, epsilon))


ROWS = [
    Row("abs", [sample(rand(2, 3)), sample(rand()), sample(rand(0, 3))], np.abs, FLOATS + SIGNED,
        bad=[NOT_BOOL, NOT_TEXT, (sample(tf.constant(1, tf.uint8)), Invalid, "Value for attr 'T' of uint8")]),
    Row("abs", ANY, np.abs, ["complex64"], result="float32", gradient=False, tolerance={"complex64": (1e-6, 1e-6)}),
    Row("abs", ANY, np.abs, ["complex128"], result="float64", gradient=False),
    Row("sign", ANY, signs, FLOATS + SIGNED + COMPLEX, bad=[NOT_BOOL, NOT_TEXT]),
    Row("square", ANY, np.square, FLOATS + SIGNED + COMPLEX + ("uint8", "uint16", "uint32"), bad=[NOT_BOOL, NOT_TEXT]),
    function("sqrt", POSITIVE, np.sqrt),
    function("math.rsqrt", POSITIVE, lambda x: 1 / np.sqrt(x)),
    Row("pow", PAIRS, np.power, FLOATS + COMPLEX, tolerance=LOOSE, bad=[
        MISMATCHED, other_dtype("Pow"), number_that_does_not_fit(),
        (sample(2, -1), Invalid, "Integers to negative integer powers are not allowed [Op:Pow]"),
        (sample(tf.constant(1, tf.uint8), tf.constant(1, tf.uint8)), Invalid, "Value for attr 'T' of uint8"),
    ]),
    Row("math.pow", [sample(rand(100, low=0.1), np.array(2.0)), sample(rand(3, 40, low=0.1), np.array(0.5))], np.power,
        WIDE_FLOATS),
    Row("pow", [sample(np.array([2.0, -3.0, 0.0]), np.array([3.0, 2.0, 0.0]))], np.power, SIGNED, gradient=False),
    function("exp", ANY, np.exp),
    function("math.expm1", ANY, np.expm1),
    function("math.log", POSITIVE, np.log),
    function("math.log1p", POSITIVE, np.log1p),
    Row("math.xlogy", WITH_ZEROS, no_nan(lambda x, y: x * np.log(y), 0), FLOATS + COMPLEX, gradient=False,
        tolerance=LOOSE, bad=[MISMATCHED, other_dtype("Xlogy")]),
    Row("math.xlogy", PAIRS),
    Row("math.xlog1py", WITH_ZEROS, no_nan(lambda x, y: x * np.log1p(y), 0), FLOATS + COMPLEX, tolerance=LOOSE,
        gradient=False, bad=[MISMATCHED, other_dtype("Xlog1py")]),
    Row("math.xlog1py", PAIRS),
    function("sigmoid", ANY, sigmoid),
    function("math.log_sigmoid", ANY, lambda x: -np.logaddexp(0, -x), FLOATS),
    function("tanh", ANY, np.tanh),
    function("math.softplus", [*ANY, sample(np.array([-60.0, 30.0, 60.0]))], lambda x: np.logaddexp(0, x), FLOATS),
    function("math.softsign", ANY, lambda x: x / (1 + np.abs(x)), FLOATS),
    function("sin", ANY, np.sin),
    function("cos", ANY, np.cos),
    function("tan", WITHIN_ONE, np.tan),
    function("asin", WITHIN_ONE, np.arcsin),
    function("acos", WITHIN_ONE, np.arccos),
    function("atan", ANY, np.arctan, FLOATS),
    function("sinh", ANY, np.sinh),
    function("cosh", ANY, np.cosh),
    function("asinh", ANY, np.arcsinh),
    function("acosh", ABOVE_ONE, np.arccosh),
    function("atanh", WITHIN_ONE, np.arctanh),
    Row("atan2", PAIRS, np.arctan2, FLOATS, bad=[
        MISMATCHED, other_dtype("Atan2"), (sample(1, 2), Invalid, "Value for attr 'T' of int32"),
    ]),
    Row("complex", [sample(rand(2, 3), rand(2, 3, seed=1)), sample(rand(2, 1), rand(3))], lambda re, im: re + 1j * im,
        ["float32"], result="complex64", gradient=False, bad=[
        (sample(1, 2), TypeError, "incorrect types: int32 int32"),
        (sample(1.0, 2), TypeError, "incorrect types: float32 int32"),
        (sample([1.0, 2.0], [1.0, 2.0, 3.0]), Invalid, "Incompatible shapes: [2] vs. [3] [Op:Complex]"),
    ]),
    Row("math.real", ANY, np.real, WIDE_FLOATS, bad=[(sample("a"), TypeError, "must be a numeric tensor")]),
    Row("math.real", ANY, np.real, ["complex64"], result="float32", gradient=False),
    Row("math.imag", ANY, np.imag, ["complex128"], result="float64", gradient=False),
    Row("math.conj", ANY, np.conj, FLOATS + COMPLEX,
        bad=[(sample(True), TypeError, "Expected numeric or variant tensor")]),
    Row("math.angle", ANY, np.angle, WIDE_FLOATS, gradient=False, bad=[
        (sample([1, 2]), TypeError, "Cannot convert 3.14"), (sample("a"), TypeError, "Cannot convert 0"),
    ]),
    Row("math.angle", ANY, np.angle, ["complex64"], result="float32", gradient=False),
    Row("cast", [sample(rand(2, 3), "float64"), sample(rand(0), "float64")], lambda x, _: x,
        FLOATS, result="float64", bad=[
        (sample("a", tf.int32), tf.errors.UnimplementedError, "Cast string to int32 is not supported [Op:Cast]"),
        (sample(1, tf.string), tf.errors.UnimplementedError, "Cast int32 to string is not supported [Op:Cast]"),
        (sample(1, "nonsense"), TypeError, "to a TensorFlow DType"),
    ]),
    Row("saturate_cast", [sample(np.array([300.0, -5.5, 7.9]), "uint8")], lambda x, _: np.clip(x, 0, 255), ["float32"],
        result="uint8", gradient=False, bad=[
        (sample("a", tf.int32), TypeError, "Cannot find minimum value"),
        (sample(True, tf.int32), TypeError, "Cannot find minimum value"),
    ]),
    Row("bitcast", [sample(np.array([1.5, -2.0]), "int32")], lambda x, _: x.astype(np.float32).view(np.int32),
        ["float32"], result="int32", gradient=False, bad=[
        (sample(tf.constant([1, 2, 3], tf.uint8), tf.float32), Invalid, "Cannot bitcast"),
        (sample(["a"], tf.int32), Invalid, "Value for attr 'T' of string"),
        (sample(1.0, tf.string), Invalid, "Value for attr 'type' of string"),
    ]),
    Row("math.l2_normalize", [sample(rand(2, 3)), sample(rand(2, 3), axis=1), sample(rand(2, 3, 2), axis=[0, -1]),
                              sample(rand(0, 3), axis=0)],
        l2_normalize, WIDE_FLOATS + COMPLEX, bad=[(sample([3, 4]), TypeError, "Cannot convert 1e-12")]),
]  # fmt: skip
