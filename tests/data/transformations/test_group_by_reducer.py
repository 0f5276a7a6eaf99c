"""Reduced groups of elements. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
r4, r6 = (Dataset.range(n) for n in (4, 6))
sums = experimental.Reducer(lambda key: key * 100, lambda s, x: s + x, lambda s: (s, s + 1))

ROWS = [
    (
        lambda: r6.apply(experimental.group_by_reducer(lambda x: x % 3, sums)),
        [(3, 4), (105, 106), (207, 208)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: r6.apply(experimental.group_by_reducer(lambda x: 1 - x % 2, sums)),
        [(9, 10), (106, 107)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: r6.take(0).apply(experimental.group_by_reducer(lambda x: x, sums)),
        [],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r6.apply(experimental.group_by_reducer(lambda x: tf.cast(x, tf.int32), sums)),
        ValueError,
        "Invalid `key_func`. `key_func` must return a single `tf.int6",
    ),
    (
        lambda: r4.map(lambda x: (x % 2, x * 10)).apply(
            experimental.group_by_reducer(
                lambda k, v: k,
                experimental.Reducer(
                    lambda key: (key, np.int64(0)), lambda s, k, v: (s[0], s[1] + v), lambda a, b: {"key": a, "sum": b}
                ),
            )
        ),
        TypeError,
        "<lambda>.<locals>.<lambda>() missing 1 required positional argument: 'v'",
    ),
    (
        lambda: r6.apply(
            experimental.group_by_reducer(
                lambda x: x % 2,
                experimental.Reducer(lambda key: np.int64(0), lambda s, x: tf.cast(s, tf.float32), lambda s: s),
            )
        ),
        TypeError,
        "Invalid `reducer`. The element types for the new state",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
