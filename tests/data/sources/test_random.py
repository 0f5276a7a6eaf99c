"""Datasets of random numbers. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset, check_eager

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec

ROWS = [
    (
        lambda: Dataset.random(seed=4).take(4),
        [3140572256, 1890473413, 1605976525, 2919565505],
        TensorSpec([], tf.int64),
        4,
    ),
    (
        lambda: Dataset.random(seed=4).take(2).repeat(2),
        [3140572256, 1890473413, 3140572256, 1890473413],
        TensorSpec([], tf.int64),
        4,
    ),
    (
        lambda: Dataset.random(seed=4, rerandomize_each_iteration=True).take(2).repeat(2),
        [1031416996, 2683143056, 2935086158, 1935971334],
        TensorSpec([], tf.int64),
        4,
    ),
    (
        lambda: Dataset.random(4, False).take(2).repeat(2),
        [3140572256, 1890473413, 3140572256, 1890473413],
        TensorSpec([], tf.int64),
        4,
    ),
    (lambda: Dataset.random(seed=0).take(2), [3823634032, 3842641596], TensorSpec([], tf.int64), 2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


EAGER_ROWS = [(lambda: Dataset.random().take(2), [362095362, 2708693949], TensorSpec([], tf.int64), 2)]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), EAGER_ROWS)
def test_elements_of_eager_datasets(make, elements, spec, cardinality):
    check_eager(make, elements, spec, cardinality)
