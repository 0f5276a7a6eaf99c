"""Datasets one after the other. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4, r6 = (Dataset.range(n) for n in (4, 6))

ROWS = [
    (lambda: r4.concatenate(r6.skip(4)), [0, 1, 2, 3, 4, 5], TensorSpec([], tf.int64), 6),
    (
        lambda: r4.concatenate(r6.repeat()),
        [
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            4,
            5,
            0,
            1,
            2,
            3,
            4,
            5,
            0,
            1,
            2,
            3,
            4,
            5,
            0,
            1,
            2,
            3,
            4,
            5,
            0,
            1,
            2,
            3,
            4,
            5,
            0,
            1,
            2,
            3,
            4,
            5,
        ],
        TensorSpec([], tf.int64),
        -1,
    ),
    (
        lambda: r4.repeat().concatenate(r6),
        [
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
            0,
            1,
            2,
            3,
        ],
        TensorSpec([], tf.int64),
        -1,
    ),
    (lambda: r4.concatenate(r4.filter(lambda x: x > 2)), [0, 1, 2, 3, 3], TensorSpec([], tf.int64), -2),
    (lambda: r4.batch(2).concatenate(r4.batch(3)), [[0, 1], [2, 3], [0, 1, 2], [3]], TensorSpec([None], tf.int64), 4),
    (
        lambda: r4.batch(2, True).concatenate(r6.batch(3, True)),
        [[0, 1], [2, 3], [0, 1, 2], [3, 4, 5]],
        TensorSpec([None], tf.int64),
        4,
    ),
    (
        lambda: r4.map(lambda x: {"a": x}).concatenate(r4.map(lambda x: {"a": x + 10})),
        [{"a": 0}, {"a": 1}, {"a": 2}, {"a": 3}, {"a": 10}, {"a": 11}, {"a": 12}, {"a": 13}],
        {"a": TensorSpec([], tf.int64)},
        8,
    ),
    (
        lambda: r4.map(lambda x: 1 // (x - 3)).concatenate(r4.map(lambda x: 6 // x)),
        [-1, -1, -1, "InvalidArgumentError", "InvalidArgumentError", 6, 3, 2],
        TensorSpec([], tf.int64),
        8,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: r4.concatenate(Dataset.from_tensors(["a"])), TypeError, "Incompatible dataset elements:"),
    (lambda: r4.concatenate(Dataset.from_tensors(1.5)), TypeError, "Incompatible dataset elements:"),
    (lambda: r4.concatenate(Dataset.from_tensors((1, 2))), TypeError, "Incompatible dataset elements:"),
    (
        lambda: r4.map(lambda x: {"a": x}).concatenate(r4.map(lambda x: {"b": x + 10})),
        TypeError,
        "Incompatible dataset elements:",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
