"""Batches of elements that fail. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r6 = Dataset.range(6)

ROWS = [
    (
        lambda: r6.filter(lambda x: 6 // (x - 1) < 9).batch(3),
        ["InvalidArgumentError", [2, 3, 4], [5]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).filter(lambda x: True).batch(3),
        ["InvalidArgumentError", [6, 3, 2], [1]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).batch(3),
        ["InvalidArgumentError", [3, 2, 1]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).skip(1).batch(3),
        ["InvalidArgumentError", [6, 3, 2], [1]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).take(6).batch(3),
        ["InvalidArgumentError", [6, 3, 2], [1]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).prefetch(1).batch(3),
        ["InvalidArgumentError", [6, 3, 2], [1]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).repeat(2).batch(5),
        ["InvalidArgumentError", [6, 3, 2, 1, -6], "InvalidArgumentError", [6, 3, 2, 1]],
        TensorSpec([None], tf.int64),
        3,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).map(lambda x: x).batch(3),
        ["InvalidArgumentError", [3, 2, 1]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r6.flat_map(lambda x: Dataset.from_tensors(x).map(lambda y: 6 // (y - 1))).batch(3),
        ["InvalidArgumentError", [6, 3, 2], [1]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.filter(lambda x: 6 // (x - 1) < 9).batch(3, num_parallel_calls=2),
        ["InvalidArgumentError", [2, 3, 4], [5]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r6.scan(np.int64(0), lambda s, x: (s, 6 // (x - 1))).batch(3),
        ["InvalidArgumentError", [6, 3, 2], [1]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1), num_parallel_calls=2).batch(3),
        ["InvalidArgumentError", [3, 2, 1]],
        TensorSpec([None], tf.int64),
        2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)
