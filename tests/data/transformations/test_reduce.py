"""Reductions of all elements. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import plain

Dataset = tf.data.Dataset
r4, r5 = (Dataset.range(n) for n in (4, 5))

VALUES = [
    (lambda: r5.reduce(np.int64(0), lambda s, x: s + x), 10),
    (lambda: r5.reduce(np.int64(100), lambda s, x: s * 2 - x), 3174),
    (lambda: r5.take(0).reduce(np.int64(7), lambda s, x: s + x), 7),
    (
        lambda: r5.reduce({"n": 0, "s": "a"}, lambda s, x: {"n": s["n"] + 1, "s": s["s"] + tf.strings.as_string(x)}),
        {"n": 5, "s": b"a01234"},
    ),
    (lambda: r4.reduce(tf.zeros([1], tf.int64), lambda s, x: tf.concat([s, [x]], 0)), [0, 0, 1, 2, 3]),
    (lambda: tf.function(lambda: r5.reduce(np.int64(3), lambda s, x: s + x))(), 13),
    (lambda: tf.function(lambda: r5.reduce((np.int64(3), 1.5), lambda s, x: (s[0] + x, s[1] * 2.0)))(), (13, 48.0)),
]


@pytest.mark.parametrize(("compute", "expected"), VALUES)
def test_values(compute, expected):
    tf.random.set_seed(1)
    assert tf.nest.map_structure(plain, compute()) == expected


ERRORS = [
    (
        lambda: r5.map(lambda x: (x, x * x)).reduce((np.int64(0), np.int64(1)), lambda s, x, y: (s[0] + x, s[1] + y)),
        TypeError,
        "<lambda>.<locals>.<lambda>() missing 1 required positional argument: 'y'",
    ),
    (
        lambda: r5.reduce(0, lambda s, x: (s, s)),
        tf.errors.InvalidArgumentError,
        "The number of components of the initial state and the reduce function output does not matc",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
