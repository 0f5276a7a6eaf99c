"""Rows of `tapeflow/math/reduction.py` and `cumulative.py`."""

import numpy as np

import tapeflow as tf
from op_table import COMPLEX, FLOATS, INTEGERS, NUMBERS, SIGNED, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError

# Sums of a handful of numbers in the narrow floats, computed in float32 and rounded once.
SAMPLES = [
    sample(rand(2, 3)),
    sample(rand(2, 3), 0),
    sample(rand(2, 3, 4), [0, -1]),
    sample(rand(2, 3, 4), axis=(1,), keepdims=True),
    sample(rand(2, 3), keepdims=True),
    sample(rand(2, 3), axis=[]),
    sample(rand(2, 3), axis=np.array([1])),
    sample(rand(2, 3), axis=tf.constant([1, 0])),
    sample(rand()),
]
# Elements of no two equal magnitudes, so that extremes have no ties.
DISTINCT = [sample(np.asarray(a + np.arange(a.size).reshape(a.shape)), *more, **named) for (a, *more), named in SAMPLES]
EMPTY = [sample(rand(0, 3), 0), sample(rand(0, 3), -1), sample(rand(2, 0), axis=[0, 1])]

BAD = [
    (sample([1.0, 2.0], 1), Invalid, "Invalid reduction dimension (1 for input with 1 dimension(s)"),
    (sample([[1.0]], -3), Invalid, "Invalid reduction dimension (-3 for input with 2 dimension(s)"),
    (sample(3.0, 0), Invalid, "Invalid reduction dimension (0 for input with 0 dimension(s)"),
    (sample([[1.0]], [0, 0]), Invalid, "Invalid reduction arguments: Axes contains duplicate dimension: 0"),
    (sample([[1.0]], [1, -1]), Invalid, "Invalid reduction arguments: Axes contains duplicate dimension: 1"),
    (sample([[1.0]], 0.5), Invalid, "Tidx"),
    (sample("a"), Invalid, "string"),
    (sample([True]), Invalid, "bool"),
]
BAD_MOMENTS = [*BAD[:-3],
               (sample([[1.0]], 0.5), TypeError, "Cannot convert 0.5 to EagerTensor of dtype int32"),
               (sample([1]), TypeError, "Input must be either real or complex. Received integer type")]  # fmt: skip
BAD_BOOLS = [
    (sample([True], 1), Invalid, "Invalid reduction dimension (1 for input with 1 dimension(s)"),
    (sample([[True]], [0, 0]), Invalid, "Axes contains duplicate dimension: 0"),
    (sample([1]), TypeError, "bool"),
    (sample(tf.constant([1])), Invalid, "bool"),
]


def axes(axis):
    if axis is None:
        return None
    return tuple(np.atleast_1d(np.asarray(axis, np.int64)).tolist())


def reduced(function):
    """NumPy's reduction, with an axis as TensorFlow takes it."""
    return lambda x, axis=None, keepdims=False: function(x, axis=axes(axis), keepdims=keepdims)


def mean(x, axis=None, keepdims=False):
    with np.errstate(all="ignore"):
        if x.dtype.kind in "iu" and x.size:
            return np.trunc(np.mean(x.astype(np.float64), axis=axes(axis), keepdims=keepdims))
        least = 0 if x.dtype.kind == "f" else 1  # TensorFlow has 0 for the mean of no complex numbers
        return np.asarray(x.sum(axis=axes(axis), keepdims=keepdims)) / max(count(x, axis), least)


def count(x, axis):
    return x.size if axis is None else int(np.prod([x.shape[a] for a in axes(axis)], dtype=int))


def norm(x, axis=None, keepdims=False):
    total = np.sum(np.abs(x) ** 2, axis=axes(axis), keepdims=keepdims)
    return np.sqrt(total)


def logsumexp(x, axis=None, keepdims=False):
    with np.errstate(divide="ignore"):
        return np.log(np.sum(np.exp(x), axis=axes(axis), keepdims=keepdims))


def extreme(function, initial):
    return lambda x, axis=None, keepdims=False: function(x, axis=axes(axis), keepdims=keepdims, initial=initial)


def position(function):
    return lambda x, axis=0, output_type=None: function(x, axis=axis)


def scan(function, first):
    """A cumulative function of NumPy, with TensorFlow's exclusive and reverse."""

    def reference(x, axis=0, exclusive=False, reverse=False):
        if reverse:
            x = np.flip(x, axis)
        out = function(x, axis)
        if exclusive and x.shape[axis]:
            start = np.full_like(out.take([0], axis), first)
            out = np.concatenate([start, out.take(range(x.shape[axis] - 1), axis)], axis)
        return np.flip(out, axis) if reverse else out

    return reference


SCANS = [
    sample(rand(4)),
    sample(rand(2, 3), 1),
    sample(rand(2, 3), axis=-1, exclusive=True),
    sample(rand(2, 3), axis=0, reverse=True),
    sample(rand(2, 3), 1, True, True),
    sample(rand(0, 3), 0, True),
    sample(rand(3), axis=tf.constant(0)),
]
BAD_SCANS = [
    (sample([1.0, 2.0], 1), Invalid, "ScanOp: Expected scan axis in the range [-1, 1), but got 1"),
    (sample(3.0), Invalid, "ScanOp: Expected scan axis in the range [0, 0), but got 0"),
    (sample([1.0], [0, 1]), Invalid, "ScanOp: axis must be a scalar"),
    (sample("a"), Invalid, "string"),
]
SPARSE = np.array([[0.0, 1.0], [2.0, 0.0]])
POSITIONS = [
    sample(rand(2, 3)),
    sample(rand(2, 3), 1),
    sample(rand(2, 3, 2), axis=-2),
    sample(np.array([1.0, 3.0, 3.0, 1.0])),
    sample(rand(0, 3), 1),
]
BAD_POSITIONS = [
    (sample(3.0), Invalid, "Expected dimension in the range [0, 0), but got 0"),
    (sample([1.0], 1), Invalid, "Expected dimension in the range [-1, 1), but got 1"),
    (sample(tf.zeros([2, 0]), 1), Invalid, "Reduction axis 1 is empty in shape [2,0]"),
    (sample([1.0], 0, tf.float32), Invalid, "output_type"),
    (sample(["a"]), Invalid, "string"),
]

ROWS = [
    Row("reduce_sum", SAMPLES + EMPTY, reduced(np.sum), NUMBERS, bad=BAD),
    Row("reduce_mean", SAMPLES, mean, (*FLOATS, *COMPLEX, *SIGNED, "uint8", "uint16", "uint32"), bad=BAD),
    Row("reduce_prod", SAMPLES + EMPTY, reduced(np.prod), NUMBERS, bad=BAD),
    Row("reduce_max", DISTINCT, reduced(np.max), FLOATS + INTEGERS, bad=BAD),
    Row("reduce_min", DISTINCT, reduced(np.min), FLOATS + INTEGERS, bad=BAD),
    # NaN and infinities have no finite differences.
    Row("math.reduce_mean", EMPTY, mean, FLOATS + COMPLEX, gradient=False),
    Row("math.reduce_max", EMPTY, extreme(np.max, -np.inf), FLOATS, gradient=False),
    Row("math.reduce_min", EMPTY, extreme(np.min, np.inf), FLOATS, gradient=False),
    Row("math.reduce_logsumexp", EMPTY, logsumexp, FLOATS, gradient=False),
    Row("math.reduce_euclidean_norm", SAMPLES, norm, FLOATS + COMPLEX, bad=BAD),
    Row("reduce_logsumexp", SAMPLES, logsumexp, FLOATS, bad=BAD[:-2]),
    Row("math.reduce_variance", SAMPLES[:5], reduced(np.var), FLOATS, bad=BAD_MOMENTS),
    Row("math.reduce_std", SAMPLES[:5], reduced(np.std), FLOATS, bad=BAD_MOMENTS),
    Row("reduce_all", [sample(b) for b in ([True, False], [[True, True]], True)], np.all, ("bool",),
        gradient=False, bad=BAD_BOOLS),
    Row("reduce_any", [sample(b) for b in ([True, False], [[False]], False)], np.any, ("bool",),
        gradient=False, bad=BAD_BOOLS),
    Row("argmax", POSITIONS, position(np.argmax), FLOATS + INTEGERS, result="int64", gradient=False, bad=[
        *BAD_POSITIONS, (sample([1.0], [0]), TypeError, "axis must be int or Tensor with integer datatype")]),
    Row("argmin", POSITIONS, position(np.argmin), FLOATS + INTEGERS, result="int64", gradient=False, bad=[
        *BAD_POSITIONS, (sample([1.0], [0]), Invalid, "dim must be a scalar, but received tensor of shape: [1]")]),
    Row("math.count_nonzero", [sample(SPARSE), sample(SPARSE, 1, True)], reduced(np.count_nonzero), NUMBERS,
        result="int64", gradient=False, bad=BAD[:3]),
    Row("cumsum", SCANS, scan(np.cumsum, 0), NUMBERS, bad=BAD_SCANS),
    Row("math.cumprod", SCANS, scan(np.cumprod, 1), NUMBERS, bad=BAD_SCANS),
    # The first of an exclusive scan is -inf, which has no finite difference: its gradients are in test_reductions.py.
    Row("math.cumulative_logsumexp", [s for s in SCANS if not (s[1].get("exclusive") or len(s[0]) > 2)],
        scan(np.logaddexp.accumulate, -np.inf), FLOATS, bad=BAD_SCANS),
    Row("math.cumulative_logsumexp", SCANS, scan(np.logaddexp.accumulate, -np.inf), WIDE_FLOATS, gradient=False),
]  # fmt: skip
