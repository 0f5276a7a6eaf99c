"""Ranges of numbers. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec

ROWS = [
    (lambda: Dataset.range(5), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (lambda: Dataset.range(0), [], TensorSpec([], tf.int64), 0),
    (lambda: Dataset.range(-3), [], TensorSpec([], tf.int64), 0),
    (lambda: Dataset.range(2, 5), [2, 3, 4], TensorSpec([], tf.int64), 3),
    (lambda: Dataset.range(5, 2), [], TensorSpec([], tf.int64), 0),
    (lambda: Dataset.range(2, 11, 3), [2, 5, 8], TensorSpec([], tf.int64), 3),
    (lambda: Dataset.range(2, 12, 3), [2, 5, 8, 11], TensorSpec([], tf.int64), 4),
    (lambda: Dataset.range(10, 0, -3), [10, 7, 4, 1], TensorSpec([], tf.int64), 4),
    (lambda: Dataset.range(9, 0, -3), [9, 6, 3], TensorSpec([], tf.int64), 3),
    (lambda: Dataset.range(0, 9, -3), [], TensorSpec([], tf.int64), 0),
    (lambda: Dataset.range(3, output_type=tf.int32), [0, 1, 2], TensorSpec([], tf.int32), 3),
    (lambda: Dataset.range(1, 3, output_type=tf.float32), [1.0, 2.0], TensorSpec([], tf.float32), 2),
    (lambda: Dataset.range(1, 9, 4, output_type=tf.float64).batch(2), [[1.0, 5.0]], TensorSpec([None], tf.float64), 1),
    (lambda: Dataset.range(2, 11, 3).shuffle(3, seed=7).batch(2), [[2, 5], [8]], TensorSpec([None], tf.int64), 2),
    (
        lambda: Dataset.range(2**40, 2**40 + 3),
        [1099511627776, 1099511627777, 1099511627778],
        TensorSpec([], tf.int64),
        3,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: Dataset.range(1, 5, 0),
        tf.errors.InvalidArgumentError,
        "step must be a non-zero integer. [Op:RangeDataset] name: ",
    ),
    (lambda: Dataset.range(), ValueError, "Invalid `args`. The length of `args` should be between 1 and 3 but was 0."),
    (
        lambda: Dataset.range(1, 2, 3, 4),
        ValueError,
        "Invalid `args`. The length of `args` should be between 1 and 3 but was 4.",
    ),
    (lambda: Dataset.range(1.5), TypeError, "Cannot convert 1.5 to EagerTensor of dtype int64"),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
