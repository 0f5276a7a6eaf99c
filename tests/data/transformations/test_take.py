"""The first elements. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.take(2), [0, 1], TensorSpec([], tf.int64), 2),
    (lambda: r5.take(0), [], TensorSpec([], tf.int64), 0),
    (lambda: r5.take(5), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.take(8), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.take(-1), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.repeat().take(7), [0, 1, 2, 3, 4, 0, 1], TensorSpec([], tf.int64), 7),
    (lambda: r5.repeat().take(0), [], TensorSpec([], tf.int64), 0),
    (
        lambda: r5.repeat().take(-1),
        [
            0,
            1,
            2,
            3,
            4,
            0,
            1,
            2,
            3,
            4,
            0,
            1,
            2,
            3,
            4,
            0,
            1,
            2,
            3,
            4,
            0,
            1,
            2,
            3,
            4,
            0,
            1,
            2,
            3,
            4,
            0,
            1,
            2,
            3,
            4,
            0,
            1,
            2,
            3,
            4,
        ],
        TensorSpec([], tf.int64),
        -1,
    ),
    (lambda: r5.filter(lambda x: x > 1).take(2), [2, 3], TensorSpec([], tf.int64), -2),
    (lambda: r5.filter(lambda x: x > 1).take(0), [], TensorSpec([], tf.int64), -2),
    (lambda: r5.filter(lambda x: x > 1).take(-1), [2, 3, 4], TensorSpec([], tf.int64), -2),
    (lambda: r5.map(lambda x: 6 // (x - 1)).take(3), [-6, "InvalidArgumentError", 6, 3], TensorSpec([], tf.int64), 3),
    (lambda: r5.take(tf.constant(3, tf.int64)), [0, 1, 2], TensorSpec([], tf.int64), 3),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)
