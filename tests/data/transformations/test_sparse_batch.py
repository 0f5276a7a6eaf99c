"""Sparse batches. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset = tf.data.Dataset
r4 = Dataset.range(4)

ROWS = [
    (
        lambda: r4.map(lambda x: tf.fill([x], x)).sparse_batch(3, [4]),
        [([[1, 0], [2, 0], [2, 1]], [1, 2, 2], [3, 4]), ([[0, 0], [0, 1], [0, 2]], [3, 3, 3], [1, 4])],
        tf.SparseTensorSpec([None, 4], tf.int64),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x, 2], "a")).sparse_batch(2, [None, 3]),
        [
            ([[1, 0, 0], [1, 0, 1]], [b"a", b"a"], [2, 1, 3]),
            (
                [
                    [0, 0, 0],
                    [0, 0, 1],
                    [0, 1, 0],
                    [0, 1, 1],
                    [1, 0, 0],
                    [1, 0, 1],
                    [1, 1, 0],
                    [1, 1, 1],
                    [1, 2, 0],
                    [1, 2, 1],
                ],
                [b"a", b"a", b"a", b"a", b"a", b"a", b"a", b"a", b"a", b"a"],
                [2, 3, 3],
            ),
        ],
        tf.SparseTensorSpec([None, None, 3], tf.string),
        2,
    ),
    (
        lambda: r4.sparse_batch(3, []),
        [([[0], [1], [2]], [0, 1, 2], [3]), ([[0]], [3], [1])],
        tf.SparseTensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r4.filter(lambda x: x > 0).map(lambda x: tf.fill([x], x)).sparse_batch(2, [3]),
        [([[0, 0], [1, 0], [1, 1]], [1, 2, 2], [2, 3]), ([[0, 0], [0, 1], [0, 2]], [3, 3, 3], [1, 3])],
        tf.SparseTensorSpec([None, 3], tf.int64),
        -2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x], x)).repeat().sparse_batch(2, [3]).take(2),
        [([[1, 0]], [1], [2, 3]), ([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [2, 2, 3, 3, 3], [2, 3])],
        tf.SparseTensorSpec([None, 3], tf.int64),
        2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: r4.map(lambda x: tf.fill([x], x)).sparse_batch(2, [-1]), ValueError, "Dimension -1 must be >= 0"),
    (lambda: r4.map(lambda x: tf.fill([x, 2], "a")).sparse_batch(2, [-1, 2]), ValueError, "Dimension -1 must be >= 0"),
    (
        lambda: r4.map(lambda x: tf.fill([x], 1.5)).sparse_batch(4, [2]),
        tf.errors.DataLossError,
        "Input element had shape ([3]) that is larger than the row shape ([2]). [Op:IteratorGetNext",
    ),
    (
        lambda: r4.map(lambda x: (x, x)).sparse_batch(2, [3]),
        TypeError,
        "`dense_to_sparse_batch` requires an input dataset whose elements have a single component, ",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
