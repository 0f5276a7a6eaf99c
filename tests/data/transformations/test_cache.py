"""Cached elements. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.cache(), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: r5.map(lambda x: x + 1).cache().repeat(2), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5], TensorSpec([], tf.int64), 10),
    (lambda: r5.shuffle(5, seed=2).cache().repeat(2), [2, 0, 1, 3, 4, 2, 0, 1, 3, 4], TensorSpec([], tf.int64), 10),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)
