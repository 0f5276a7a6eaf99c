"""Elements without those that fail. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.map(lambda x: 6 // (x - 1)).ignore_errors(), [-6, 6, 3, 2], TensorSpec([], tf.int64), -2),
    (
        lambda: r5.map(lambda x: 6 // (x - 1)).apply(experimental.ignore_errors(log_warning=False)),
        [-6, 6, 3, 2],
        TensorSpec([], tf.int64),
        -2,
    ),
    (lambda: r5.ignore_errors(log_warning=True), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), -2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)
