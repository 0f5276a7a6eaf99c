"""Rows of `tapeflow/math/comparison.py`, `rounding.py` and `tapeflow/bitwise/bits.py`."""

import numpy as np

import tapeflow as tf
from op_table import FLOATS, INTEGERS, NUMBERS, SIGNED, UNSIGNED, Row, rand, sample
from rows.arithmetic import MISMATCHED, number_that_does_not_fit, other_dtype

Invalid = tf.errors.InvalidArgumentError

# Whole numbers, so that many are equal.
PAIRS = [sample(np.round(rand(2, 3)), np.round(rand(2, 3, seed=1))), sample(np.round(rand(4, 1)), np.round(rand(3))),
         sample(np.array(1.0), np.array([1.0, 2.0])), sample(rand(0, 3), rand(3))]  # fmt: skip
BITS = [sample(np.array([12.0, 10.0, 127.0]), np.array([10.0, 3.0, 2.0])),
        sample(np.array([[5.0], [9.0]]), np.array(3.0)), sample(np.zeros([0]), np.array(1.0))]  # fmt: skip
TRUTHS = [sample([True, True, False], [True, False, False]), sample([[True], [False]], [True, False]),
          sample(True, False)]  # fmt: skip
TESTED = [sample(np.array([1.0, np.nan, np.inf, -np.inf, 0.0])), sample(rand()), sample(rand(0, 2))]
ROUNDED = [sample(np.array([0.5, 1.5, 2.5, -0.5, -1.7, 2.4, 0.0])), sample(rand()), sample(rand(0, 2))]


def compared(name, op, reference, dtypes=FLOATS + INTEGERS):
    bad = [MISMATCHED, other_dtype(op), number_that_does_not_fit()]
    if op not in ("Equal", "NotEqual"):
        bad.append((sample("a", "b"), Invalid, "Value for attr 'T' of string"))
    return Row(name, PAIRS, reference, dtypes, result="bool", gradient=False, bad=bad)


def logic(name, reference):
    bad = [(sample(1, 0), TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
           (sample(tf.constant(1), True), Invalid, "was expected to be a bool tensor but is a int32 tensor"),
           (sample([True, True], [True, True, False]), Invalid, "Incompatible shapes: [2] vs. [3]")]  # fmt: skip
    return Row(name, TRUTHS, reference, ["bool"], gradient=False, bad=bad)


def bits(name, op, reference, dtypes=INTEGERS):
    return Row(f"bitwise.{name}", BITS, reference, dtypes, gradient=False, bad=[
        (sample(1.0, 2.0), Invalid, "Value for attr 'T' of float is not in the list of allowed values"),
        (sample(tf.constant(1), tf.constant(1, tf.int64)), Invalid, f"cannot compute {op} as input #1"),
        (sample([1, 2], [1, 2, 3]), Invalid, "Incompatible shapes: [2] vs. [3]"),
    ])  # fmt: skip


def float_only(name, reference, result=None):
    samples = TESTED if result else ROUNDED
    return Row(f"math.{name}", samples, reference, FLOATS, result=result, gradient=False, bad=[
        (sample([1, 2]), Invalid, "Value for attr 'T' of int32 is not in the list of allowed values"),
    ])  # fmt: skip


ROWS = [
    compared("equal", "Equal", np.equal, NUMBERS),
    compared("not_equal", "NotEqual", np.not_equal, NUMBERS),
    compared("less", "Less", np.less),
    compared("less_equal", "LessEqual", np.less_equal),
    compared("greater", "Greater", np.greater),
    compared("greater_equal", "GreaterEqual", np.greater_equal),
    logic("logical_and", np.logical_and),
    logic("logical_or", np.logical_or),
    logic("math.logical_xor", np.logical_xor),
    Row("logical_not", [sample([True, False]), sample(True)], np.logical_not, ["bool"], gradient=False,
        bad=[(sample(1.0), TypeError, "Cannot convert 1.0 to EagerTensor of dtype bool")]),
    float_only("is_nan", np.isnan, "bool"),
    float_only("is_inf", np.isinf, "bool"),
    float_only("is_finite", np.isfinite, "bool"),
    float_only("floor", np.floor),
    float_only("ceil", np.ceil),
    float_only("rint", np.rint),
    Row("round", ROUNDED, np.round, FLOATS, gradient=False, bad=[
        (sample([True]), Invalid, "Value for attr 'T' of bool"),
        (sample(1j), tf.errors.NotFoundError, "Round has no kernel for complex numbers"),
    ]),
    Row("round", [sample(np.array([3.0, 4.0]))], np.round, INTEGERS, gradient=False),
    Row("math.nextafter", [sample(rand(2, 3), rand(2, 3, seed=1)), sample(rand(2, 1), np.array([5.0, -5.0]))],
        np.nextafter, ["float64"], nth=[0], bad=[
        MISMATCHED, (sample(*[tf.constant(1.0, tf.float16)] * 2), Invalid, "Value for attr 'T' of half"),
    ]),
    Row("raw_ops.PopulationCount", [((), {"x": np.array([[5, 7, 0]], np.int32)}), ((), {"x": np.array(-1, np.int64)})],
        lambda x: np.vectorize(lambda v: bin(int(v) & (1 << 8 * x.itemsize) - 1).count("1"), [np.uint8])(x),
        ["int32"], result="uint8", gradient=False,
        bad=[(((), {"x": 1.5}), Invalid, "Value for attr 'T' of float is not in the list of allowed values")]),
    bits("bitwise_and", "BitwiseAnd", np.bitwise_and),
    bits("bitwise_or", "BitwiseOr", np.bitwise_or),
    bits("bitwise_xor", "BitwiseXor", np.bitwise_xor),
    bits("left_shift", "LeftShift", np.left_shift, ("int16", "int32", "int64", "uint16", "uint32", "uint64")),
    bits("right_shift", "RightShift", np.right_shift),
    Row("bitwise.invert", [sample(np.array([0.0, 5.0, 127.0])), sample(np.array(1.0))], np.invert, SIGNED + UNSIGNED,
        gradient=False, bad=[(sample(1.5), Invalid, "Value for attr 'T' of float")]),
]  # fmt: skip
