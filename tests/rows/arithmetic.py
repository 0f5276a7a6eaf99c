"""Rows of `tapeflow/math/arithmetic.py`."""

import numpy as np
import tapeflow as tf
from op_table import COMPLEX, FLOATS, NUMBERS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError

PAIRS = [sample(rand(2, 3), rand(2, 3, seed=1)), sample(rand(2, 1, 3), rand(4, 1)), sample(rand(), rand(3)),
         sample(rand(0, 3), rand(1, 3))]  # fmt: skip
MISMATCHED = (sample(np.ones([2, 3]), np.ones([4, 3])), Invalid, "Incompatible shapes: [2,3] vs. [4,3]")


def other_dtype(op):
    said = f"cannot compute {op} as input #1(zero-based) was expected to be a float tensor but is a int32 tensor"
    return sample(tf.constant(1.0), tf.constant(1)), Invalid, said


ROWS = [
    Row("add", PAIRS, np.add, NUMBERS, bad=[MISMATCHED, other_dtype("AddV2")]),
    Row("subtract", PAIRS, np.subtract, NUMBERS, bad=[MISMATCHED, other_dtype("Sub")]),
    Row("multiply", PAIRS, np.multiply, NUMBERS, bad=[MISMATCHED, other_dtype("Mul")]),
    Row("negative", [sample(rand(2, 3)), sample(rand())], np.negative, FLOATS + COMPLEX + ("int8", "int32", "int64")),
    Row("math.floordiv", [sample(rand(2, 3), rand(2, 3, low=1.0, high=2.0))], np.floor_divide, ("float32", "float64"),
        gradient=False),
]  # fmt: skip
