"""Outputs of a function that passes on a state. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.scan(np.int64(1), lambda s, x: (s + x, s * 10)), [10, 10, 20, 40, 70], TensorSpec([], tf.int64), 5),
    (
        lambda: r5.scan((np.int64(1), 0), lambda s, x: ((s[0] + x, s[1] + 1), (s[0], s[1]))),
        [(1, 0), (1, 1), (2, 2), (4, 3), (7, 4)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int32)),
        5,
    ),
    (
        lambda: r5.scan({"a": np.int64(0)}, lambda s, x: ({"a": s["a"] + x}, {"b": s["a"], "c": x})),
        [{"b": 0, "c": 0}, {"b": 0, "c": 1}, {"b": 1, "c": 2}, {"b": 3, "c": 3}, {"b": 6, "c": 4}],
        {"b": TensorSpec([], tf.int64), "c": TensorSpec([], tf.int64)},
        5,
    ),
    (
        lambda: r5.scan(tf.zeros([1], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), tf.size(s))),
        [1, 2, 3, 4, 5],
        TensorSpec([], tf.int32),
        5,
    ),
    (
        lambda: r5.scan("a", lambda s, x: (s + "b", s)),
        [b"a", b"ab", b"abb", b"abbb", b"abbbb"],
        TensorSpec([], tf.string),
        5,
    ),
    (
        lambda: r5.scan(np.int64(0), lambda s, x: (6 // (x - 1), s)),
        [0, "InvalidArgumentError", -6, 6, 3],
        TensorSpec([], tf.int64),
        5,
    ),
    (
        lambda: r5.filter(lambda x: x < 3).scan(np.int64(0), lambda s, x: (s + x, s)),
        [0, 0, 1],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r5.repeat().scan(np.int64(0), lambda s, x: (s + x, s)).take(7),
        [0, 0, 1, 3, 6, 10, 10],
        TensorSpec([], tf.int64),
        7,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r5.scan(np.int64(0), lambda s, x: s + x),
        TypeError,
        "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the outp",
    ),
    (
        lambda: r5.scan(np.int64(0), lambda s, x: (s, x, x)),
        TypeError,
        "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the outp",
    ),
    (
        lambda: r5.scan(np.int64(0), lambda s, x: (tf.cast(s, tf.float32), x)),
        TypeError,
        "Invalid `scan_func`. The element types for the new state must match the initial state. Exp",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
