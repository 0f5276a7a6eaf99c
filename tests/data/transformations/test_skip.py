"""Elements without the first. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.skip(2), [2, 3, 4], TensorSpec([], tf.int64), 3),
    (lambda: r5.skip(0), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.skip(5), [], TensorSpec([], tf.int64), 0),
    (lambda: r5.skip(9), [], TensorSpec([], tf.int64), 0),
    (lambda: r5.skip(-1), [], TensorSpec([], tf.int64), 0),
    (lambda: r5.repeat().skip(7).take(3), [2, 3, 4], TensorSpec([], tf.int64), 3),
    (lambda: r5.repeat().skip(-1), [], TensorSpec([], tf.int64), -1),
    (lambda: r5.filter(lambda x: x > 1).skip(1), [3, 4], TensorSpec([], tf.int64), -2),
    (lambda: r5.map(lambda x: 6 // (x - 1)).skip(2), ["InvalidArgumentError", 2], TensorSpec([], tf.int64), 3),
    (lambda: r5.map(lambda x: 6 // (x - 3)).skip(1), [-3, -6, "InvalidArgumentError", 6], TensorSpec([], tf.int64), 4),
    (lambda: r5.skip(tf.constant(3, tf.int64)), [3, 4], TensorSpec([], tf.int64), 2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)
