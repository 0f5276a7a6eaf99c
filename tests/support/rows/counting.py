"""Rows of `tapeflow/math/topk.py` and `counting.py`, and of `tf.math.zero_fraction`."""

import numpy as np

import tapeflow as tf
from op_table import FLOATS, INTEGERS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError


def top_k(input, k=1, sorted=True, index_type=None, name=None):
    places = np.argsort(-input.astype(np.float64), -1, kind="stable")[..., : int(k)]
    return np.take_along_axis(input, places, -1), places


def approximately(sign):
    def reference(operand, k, reduction_dimension=-1):
        rows = np.moveaxis(operand, reduction_dimension, -1)
        values, places = top_k(sign * rows, k)
        return np.moveaxis(sign * values, -1, reduction_dimension), np.moveaxis(places, -1, reduction_dimension)

    return reference


def in_top_k(targets, predictions, k):
    chosen = predictions[np.arange(len(predictions)), targets]
    return (predictions > chosen[:, None]).sum(1) < k


def bincount(arr, weights=None, minlength=0, maxlength=None, dtype=None, axis=None, binary_output=False):
    arr = np.asarray(arr)
    if axis == -1 and arr.ndim == 2:
        size = max(int(arr.max()) + 1, minlength)
        amounts = [None] * len(arr) if weights is None else weights
        rows = [bincount(a, w, size, maxlength, binary_output=binary_output) for a, w in zip(arr, amounts, strict=True)]
        return np.stack(rows)
    counts = np.bincount(arr.reshape(-1), None if weights is None else weights.reshape(-1), minlength)[:maxlength]
    return (counts > 0).astype(np.int32) if binary_output else counts


def confusion(labels, predictions, num_classes=None, weights=None, dtype=None):
    size = num_classes or int(max(np.max(labels), np.max(predictions))) + 1
    out = np.zeros([size, size])
    np.add.at(out, (np.ravel(labels), np.ravel(predictions)), 1 if weights is None else np.ravel(weights))
    return out


DISTINCT = np.random.default_rng(1).permutation(600).reshape(2, 300) / 8.0 - 40
BAD_TOP_K = [
    (sample([1.0, 2.0], 3), Invalid, "input must have at least k columns. Had 2, needed 3"),
    (sample(5.0), Invalid, "input must be >= 1-D, got shape []"),
    (sample([1.0], -1), Invalid, "Need k >= 0, got -1"),
    (sample([1.0], [1]), Invalid, "k must be scalar"),
    (sample([1.0], 1.0), Invalid, "Tk"),
    (sample(["a"], 1), Invalid, "string"),
    (sample([True], 1), Invalid, "bool"),
    (sample([1.0], 1, True, tf.uint8), Invalid, "index_type"),
]
BAD_APPROXIMATE = [
    (sample([1.0, 2.0], 3), Invalid, "input must have at least k columns. Had 2, needed 3"),
    (sample([1.0], 1, 1), Invalid, "reduction_dimension 1 is not one of shape [1]"),
    (sample([1], 1), Invalid, "int32"),
]
APPROXIMATE = [sample(rand(4), 2), sample(rand(3, 2), 2, 0), sample(rand(2, 3, 2), 1, reduction_dimension=-2)]
IN_TOP_K = [
    sample([1, 0], rand(2, 3), 1),
    sample(np.array([2, 2]), rand(2, 3), 2),
    sample([0, 1], np.array([[0.5, 0.5], [0.5, 0.5]]), k=1),
]
BAD_IN_TOP_K = [
    (sample([1], [[1.0], [3.0]], 1), Invalid, "First dimension of predictions 2 must match length of targets 1"),
    (sample([1], [1.0], 1), Invalid, "predictions must be 2-dimensional"),
    (sample([[1]], [[1.0]], 1), Invalid, "targets must be 1-dimensional"),
    (sample([1], [[1.0]], [1]), Invalid, "k must be 0-D"),
    (sample([0.0], [[1.0]], 1), Invalid, "float"),
]
COUNTED = [
    sample([1, 1, 2, 5]),
    sample([1, 2], minlength=5),
    sample([1, 5, 2], maxlength=3),
    sample(3),
    sample([[1, 1], [2, 0]]),
    sample([[1, 1], [2, 0]], axis=-1),
    sample([[1, 1], [2, 0]], axis=0),
    sample([[1, 1], [2, 0]], axis=-1, binary_output=True),
    sample([[1, 3]], axis=-1, maxlength=2),
    sample([1, 1], binary_output=True),
]
BAD_COUNTED = [
    (sample([-1]), Invalid, "Input arr must be non-negative!"),
    (sample([1, 2], [1.0]), Invalid, "`weights` must be the same shape as `arr`"),
    (sample([1], maxlength=-1), Invalid, "size (-1) must be non-negative"),
    (sample([[[1]]], axis=-1), Invalid, "Shape must be at most rank 2 but is rank 3"),
    (sample([1], axis=1), ValueError, "Unsupported value for argument axis=1"),
    (sample([1], [1.0], binary_output=True), ValueError, "mutually exclusive"),
    (sample(tf.constant([1], tf.uint8)), Invalid, "Tidx"),
    (sample([1], dtype=tf.int16), Invalid, "int16"),
    (sample([1], minlength=2.5), TypeError, "2.5"),
]
WEIGHED = [sample([1, 1, 2], rand(3)), sample([[1, 1], [2, 0]], rand(2, 2), axis=-1)]
CONFUSED = [
    sample([1, 2, 4], [2, 2, 4]),
    sample([0, 1], [1, 1], num_classes=3),
    sample([[0], [1]], [1, 1]),
    sample([[0, 1], [1, 1]], [[1, 0], [1, 1]]),
]
BAD_CONFUSED = [
    (sample([-1], [0]), Invalid, "`labels` contains negative values"),
    (sample([0], [-1]), Invalid, "`predictions` contains negative values"),
    (sample([5], [0], 2), Invalid, "`labels` out of bound"),
    (sample([0], [5], 2), Invalid, "`predictions` out of bound"),
    (sample([0, 1], [0]), Invalid, "Shapes of all inputs must match"),
    (sample([0, 1], [0, 1], weights=[1.0]), ValueError, "Shapes (2,) and (1,) are incompatible"),
    (sample([], []), Invalid, "num_classes"),
]
TOP_K = [sample(rand(4), 2), sample(rand(2, 3), 3), sample(rand(2, 2, 3)), sample(rand(0, 3), 2), sample(rand(2, 3), 0)]
LONG = [sample(DISTINCT, 3), sample(np.repeat(DISTINCT, 2, -1), 5)]
HALVES = ("float16", "bfloat16", "float32")

ROWS = [
    Row("math.top_k", TOP_K, top_k, FLOATS + INTEGERS, bad=BAD_TOP_K),
    # Of long rows and few elements there is a faster way. Narrower floats would round some to equals.
    Row("math.top_k", LONG, top_k, ("float32", "float64", "int32"), gradient=False),
    Row("math.approx_max_k", APPROXIMATE, approximately(1), HALVES, gradient=False, bad=BAD_APPROXIMATE),
    Row("math.approx_min_k", APPROXIMATE, approximately(-1), HALVES, gradient=False, bad=BAD_APPROXIMATE),
    Row("math.in_top_k", IN_TOP_K, in_top_k, ("float32",), result="bool", gradient=False, bad=BAD_IN_TOP_K),
    Row("math.bincount", COUNTED, bincount, ("int32",), gradient=False, bad=BAD_COUNTED),
    Row("math.bincount", WEIGHED, bincount, ("float32", "float64"), gradient=False),
    Row("math.confusion_matrix", CONFUSED, confusion, ("int32",), gradient=False, bad=BAD_CONFUSED),
    Row("math.confusion_matrix", [sample([0, 1], [1, 1], 2, rand(2), tf.float64)], confusion, ("float64",)),
    Row("math.is_non_decreasing", [sample(rand(3)), sample([1, 1, 2]), sample([]), sample([[1, 2], [0, 3]])],
        lambda x: np.all(np.diff(np.ravel(x)) >= 0), result="bool", gradient=False,
        bad=[(sample(["a"]), TypeError, "Expected x to be numeric")]),
    Row("math.is_strictly_increasing", [sample(rand(3)), sample([1, 1, 2]), sample(3), sample([1.0, 2.0])],
        lambda x: np.all(np.diff(np.ravel(x)) > 0), result="bool", gradient=False,
        bad=[(sample([True]), TypeError, "Expected x to be numeric")]),
    # The result is float32 whatever the dtype.
    Row("math.zero_fraction", [sample(np.array([0.0, 1.0, 0.0])), sample([0, 1]), sample([True, False])],
        lambda value: np.mean(np.asarray(value) == 0), FLOATS + INTEGERS, result="float32", gradient=False,
        tolerance=dict.fromkeys(FLOATS + INTEGERS, (1e-6, 0))),
]  # fmt: skip
