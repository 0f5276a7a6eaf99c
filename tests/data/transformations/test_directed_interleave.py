"""Elements of several datasets in a chosen order. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4, r6 = (Dataset.range(n) for n in (4, 6))

ROWS = [
    (
        lambda: Dataset.choose_from_datasets(
            [r4, r6.map(lambda x: x + 10)], Dataset.from_tensor_slices(np.int64([0, 1, 1, 0, 0]))
        ),
        [0, 10, 11, 1, 2],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets(
            [r4.take(1), r6.take(3)], Dataset.from_tensor_slices(np.int64([0, 0, 1, 0, 1, 1, 1, 0]))
        ),
        [0],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets(
            [r4.take(1), r6.take(3)],
            Dataset.from_tensor_slices(np.int64([0, 0, 1, 0, 1, 1, 1, 0])),
            stop_on_empty_dataset=False,
        ),
        [0, 0, 1, 2],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets(
            [r4.take(1), r6.take(3)], Dataset.range(2).repeat(), stop_on_empty_dataset=True
        ),
        [0, 0],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets(
            [r4.take(1), r6.take(3)], Dataset.range(2).repeat(), stop_on_empty_dataset=False
        ),
        [0, 0, 1, 2],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets([r4.repeat(), r6.repeat()], Dataset.range(2)),
        [0, 0],
        TensorSpec([], tf.int64),
        -1,
    ),
    (lambda: Dataset.choose_from_datasets([r4.repeat(), r6], Dataset.range(2)), [0, 0], TensorSpec([], tf.int64), -1),
    (
        lambda: Dataset.choose_from_datasets([r4.repeat(), r6], Dataset.range(2), False),
        [0, 0],
        TensorSpec([], tf.int64),
        -1,
    ),
    (
        lambda: Dataset.choose_from_datasets([r4, r6], Dataset.range(3)),
        [0, 0, "InvalidArgumentError"],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets([r4, r6], Dataset.range(-1, 1)),
        ["InvalidArgumentError", 0],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets([r4, r6], Dataset.range(3).map(lambda x: 1 // x % 2)),
        ["InvalidArgumentError", 0, 0],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets([r4.batch(2), r4.batch(4, True)], Dataset.range(2)),
        [[0, 1], [0, 1, 2, 3]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: Dataset.choose_from_datasets(
            [r4.map(lambda x: 6 // x), r6.map(lambda x: x * 10)], Dataset.range(2).repeat(3)
        ),
        ["InvalidArgumentError", 0, 6, 10, 3, 20],
        TensorSpec([], tf.int64),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: Dataset.choose_from_datasets([], Dataset.range(2)),
        ValueError,
        "Invalid `datasets`. `datasets` should not be empty.",
    ),
    (
        lambda: Dataset.choose_from_datasets([r4, Dataset.from_tensors("a")], Dataset.range(2)),
        TypeError,
        "Invalid `datasets`. `datasets` must have compatible element specs.",
    ),
    (
        lambda: Dataset.choose_from_datasets([r4, r6], Dataset.from_tensors([1])),
        TypeError,
        "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors b",
    ),
    (
        lambda: Dataset.choose_from_datasets([r4, r6], Dataset.from_tensors(1)),
        TypeError,
        "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors b",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
