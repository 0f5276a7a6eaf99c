"""Rows of `tapeflow/math/arithmetic.py`, `division.py` and `extrema.py`."""

import numpy as np

import tapeflow as tf
from op_table import COMPLEX, FLOATS, INTEGERS, NUMBERS, SIGNED, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError

PAIRS = [sample(rand(2, 3), rand(2, 3, seed=1)), sample(rand(2, 1, 3), rand(4, 1)), sample(rand(), rand(3)),
         sample(rand(0, 3), rand(1, 3))]  # fmt: skip
DIVISORS = [sample(rand(2, 3), rand(2, 3, low=1.0, high=2.0)), sample(rand(2, 1, 3), rand(4, 1, low=-3.0, high=-1.0)),
            sample(rand(), rand(3, low=1.0)), sample(rand(0, 3), rand(1, 3, low=1.0))]  # fmt: skip
MISMATCHED = (sample(np.ones([2, 3]), np.ones([4, 3])), Invalid, "Incompatible shapes: [2,3] vs. [4,3]")
BOTH_ZERO = [sample(np.array([0.0, 2.0, -1.0]), np.array([0.0, 0.0, 4.0])), *DIVISORS]
WHOLE = [sample(np.array([7.0, -7.0, 0.0]), np.array([3.0, 2.0, 5.0])), sample(np.array([[7.0], [9.0]]), np.array(4.0))]
# Steps of the quotient near which the remainder's derivative by finite differences means nothing.
MODULI = [sample(np.array([5.3, -5.3, 0.7]), np.array([2.0, 3.0, -2.0])),
          sample(np.array([[4.6], [-3.2]]), np.array(1.5))]  # fmt: skip


def other_dtype(op):
    said = f"cannot compute {op} as input #1(zero-based) was expected to be a float tensor but is a int32 tensor"
    return sample(tf.constant(1.0), tf.constant(1)), Invalid, said


def number_that_does_not_fit():
    return sample(tf.constant(1), 2.5), TypeError, "Cannot convert 2.5 to EagerTensor of dtype int32"


def by_zero(op):
    return sample(tf.constant([1, 2]), 0), Invalid, f"Integer division by zero [Op:{op}]"


def no_nan(function, zero):
    """A NumPy function with 0 where its operand of that number is 0."""

    def reference(x, y):
        with np.errstate(all="ignore"):
            result = function(x, y)
        return np.where(np.broadcast_to((x, y)[zero] == 0, result.shape), 0, result)

    return reference


def clip(t, low, high):
    return np.maximum(np.minimum(t, high), low)


def squared_difference(x, y):
    return (x - y) * np.conj(x - y)


ROWS = [
    Row("add", PAIRS, np.add, NUMBERS, bad=[
        MISMATCHED, other_dtype("AddV2"), (sample(tf.constant(1), 2.5), Invalid, "[Op:AddV2]"),
        (sample(["a", "b"], ["a", "b", "c"]), Invalid, "Incompatible shapes: [2] vs. [3]"),
    ]),
    Row("subtract", PAIRS, np.subtract, NUMBERS, bad=[MISMATCHED, other_dtype("Sub"), number_that_does_not_fit()]),
    Row("multiply", PAIRS, np.multiply, NUMBERS, bad=[MISMATCHED, other_dtype("Mul"), number_that_does_not_fit()]),
    Row("negative", [sample(rand(2, 3)), sample(rand())], np.negative, FLOATS + COMPLEX + SIGNED, bad=[
        (sample(tf.constant([True])), Invalid, "Value for attr 'T' of bool"),
    ]),
    Row("math.squared_difference", PAIRS, squared_difference, FLOATS + COMPLEX + ("int32", "int64"), bad=[
        MISMATCHED, (sample(tf.constant(1, tf.int8), tf.constant(1, tf.int8)), Invalid, "Value for attr 'T' of int8"),
    ]),
    Row("math.multiply_no_nan", BOTH_ZERO, no_nan(np.multiply, 1), FLOATS + COMPLEX, bad=[
        MISMATCHED, (sample(tf.constant([1.0]), tf.constant([1])), ValueError, "requested dtype float32"),
    ]),
    Row("realdiv", DIVISORS, np.divide, FLOATS + COMPLEX, bad=[
        MISMATCHED,
        (sample(tf.constant(1), tf.constant(2)), tf.errors.NotFoundError, "RealDiv has no kernel for integers"),
    ]),
    Row("truediv", DIVISORS, np.divide, FLOATS + COMPLEX, bad=[
        MISMATCHED, (sample(tf.constant([1.0]), tf.constant([1])), TypeError, "must have the same dtype"),
        (sample(True, True), TypeError, "Invalid dtype tf.bool"),
    ]),
    Row("divide", WHOLE, np.divide, ("int32", "int64", "uint32"), result="float64", gradient=False),
    Row("math.truediv", WHOLE, np.divide, ("int8", "int16"), result="float32", gradient=False,
        tolerance={"int8": (1e-6, 0), "int16": (1e-6, 0)}),
    Row("math.floordiv", WHOLE, lambda x, y: np.floor(x / y), FLOATS + SIGNED, gradient=False, bad=[
        MISMATCHED, by_zero("FloorDiv"), number_that_does_not_fit(),
        (sample(1j, 2j), tf.errors.NotFoundError, "FloorDiv has no kernel for complex numbers"),
    ]),
    Row("math.floormod", WHOLE, np.mod, FLOATS + SIGNED, gradient=False, bad=[MISMATCHED, by_zero("FloorMod")]),
    Row("math.mod", MODULI, np.mod, WIDE_FLOATS),
    Row("truncatediv", WHOLE, lambda x, y: np.trunc(x / y), FLOATS + SIGNED, gradient=False, bad=[
        MISMATCHED, (sample(tf.constant(1), 0), tf.errors.InternalError, "[Op:TruncateDiv]"),
    ]),
    Row("truncatemod", MODULI, np.fmod, WIDE_FLOATS, bad=[
        MISMATCHED, (sample(tf.constant(1), 0), tf.errors.InternalError, "[Op:TruncateMod]"),
    ]),
    Row("math.divide_no_nan", BOTH_ZERO, no_nan(np.divide, 1), FLOATS + COMPLEX, nth=[0], bad=[
        MISMATCHED, (sample(tf.constant([1.0]), tf.constant([1])), TypeError, "must have the same dtype"),
        (sample("a", "b"), TypeError, "Invalid dtype"),
    ]),
    Row("math.divide_no_nan", DIVISORS),
    Row("math.xdivy", BOTH_ZERO, no_nan(np.divide, 0), FLOATS + COMPLEX, gradient=False, bad=[MISMATCHED]),
    Row("math.xdivy", DIVISORS),
    Row("math.reciprocal", [sample(rand(2, 3, low=1.0)), sample(rand(low=1.0)), sample(rand(0, 2))],
        np.reciprocal, FLOATS + COMPLEX, bad=[
        (sample([2, 4]), tf.errors.NotFoundError, "Reciprocal has no kernel for integers"),
    ]),
    Row("math.reciprocal_no_nan", [sample(np.array([2.0, 0.0, -4.0]))],
        lambda x: np.divide(1, x, out=np.zeros_like(x), where=x != 0), FLOATS + COMPLEX,
        gradient=False, bad=[
        (sample([2]), Invalid, "Value for attr 'T' of int32"), (sample(True), TypeError, "Cannot convert"),
    ]),
    Row("math.reciprocal_no_nan", [sample(rand(2, 3, low=1.0))]),
    Row("maximum", PAIRS, np.maximum, FLOATS + INTEGERS, bad=[
        MISMATCHED, other_dtype("Maximum"), number_that_does_not_fit(),
        (sample(1j, 2j), Invalid, "Value for attr 'T' of complex128"),
    ]),
    Row("minimum", PAIRS, np.minimum, FLOATS + INTEGERS, bad=[MISMATCHED, other_dtype("Minimum")]),
    Row("clip_by_value", [sample(rand(2, 3), np.array(-1.0), np.array(0.5)),
                          sample(rand(2, 3), rand(3) - 1, rand(2, 1) + 1),
                          sample(rand(3), np.array(1.0), np.array(-1.0)),
                          sample(rand(0, 2), np.array(0.0), np.array(1.0))],
        clip, FLOATS + SIGNED, nth=[0], bad=[
        (sample([1.0, 2.0], [0.0, 0.0, 0.0], 1.0), Invalid, "Incompatible shapes: [2] vs. [3]"),
        (sample([1.0, 2.0], [[0.0, 0.0]], 1.0), ValueError, "Shapes (2,) and (1, 2) are incompatible"),
        (sample([1, 2], 0.5, 1.5), TypeError, "Cannot convert 0.5"),
        (sample(tf.constant([1j]), 0, 1), Invalid, "complex"),
    ]),
    Row("add_n", [sample([rand(2, 3), rand(2, 3, seed=1), rand(2, 3, seed=2)]), sample([rand()])],
        lambda inputs: sum(inputs), NUMBERS, gradient=False, bad=[
        (sample([]), ValueError, "at least one"),
        (sample(1), TypeError, "not iterable"),
        (sample([tf.constant([1]), tf.constant([1, 2])]), Invalid, "Input 0: [1] != input 1: [2] [Op:AddN]"),
        (sample([1, 2.5]), Invalid, "cannot compute AddN as input #1"),
    ]),
    Row("math.accumulate_n", [sample([rand(2), rand(2, seed=1)])], lambda inputs: sum(inputs), NUMBERS,
        gradient=False, bad=[
        (sample([]), ValueError, "at least one Tensor"),
        (sample([1, 2], shape=[2]), ValueError, "Shapes (2,) and () are incompatible"),
        (sample([1, 2], tensor_dtype=tf.float32), TypeError, "`tensor_dtype`"),
    ]),
    Row("scalar_mul", [sample(np.array(2.5), rand(2, 3)), sample(rand(), rand())], np.multiply, NUMBERS, bad=[
        (sample([1.0, 2.0], tf.constant([1.0, 2.0])), ValueError, "must be a 0-D value"),
        (sample("a", tf.constant(1.0)), TypeError, "Cannot convert 'a'"),
    ]),
    Row("math.polyval", [sample([rand(3), rand(3, seed=1), rand(3, seed=2)], rand(3, seed=3)),
                         sample([np.array(2.0)], rand())],
        np.polyval, WIDE_FLOATS, nth=[1], bad=[(sample(1, 2), ValueError, "must be list")]),
]  # fmt: skip
