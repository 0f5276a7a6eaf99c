"""Batches of batches of other sizes. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r6 = Dataset.range(6)

ROWS = [
    (lambda: r6.batch(2).rebatch(3), [[0, 1, 2], [3, 4, 5]], TensorSpec([None], tf.int64), -2),
    (lambda: r6.batch(4).rebatch(3, drop_remainder=True), [[0, 1, 2], [3, 4, 5]], TensorSpec([3], tf.int64), -2),
    (lambda: r6.batch(2).rebatch(4), [[0, 1, 2, 3], [4, 5]], TensorSpec([None], tf.int64), -2),
    (lambda: r6.batch(2).rebatch(4, drop_remainder=True), [[0, 1, 2, 3]], TensorSpec([4], tf.int64), -2),
    (lambda: r6.batch(2).rebatch([1, 2, 1]), [[0], [1, 2], [3], [4], [5]], TensorSpec([None], tf.int64), -2),
    (lambda: r6.batch(2).rebatch([2, 3], True), [[0, 1], [2, 3, 4]], TensorSpec([None], tf.int64), -2),
    (lambda: r6.batch(6).rebatch([4, 1]), [[0, 1, 2, 3], [4], [5]], TensorSpec([None], tf.int64), -2),
    (
        lambda: r6.map(lambda x: (x, [x, 2 * x])).batch(4).rebatch(3),
        [([0, 1, 2], [[0, 0], [1, 2], [2, 4]]), ([3, 4, 5], [[3, 6], [4, 8], [5, 10]])],
        (TensorSpec([None], tf.int64), TensorSpec([None, 2], tf.int64)),
        -2,
    ),
    (lambda: r6.batch(3, True).rebatch(2), [[0, 1], [2, 3], [4, 5]], TensorSpec([None], tf.int64), -2),
    (lambda: r6.batch(3, True).rebatch(2, True), [[0, 1], [2, 3], [4, 5]], TensorSpec([2], tf.int64), -2),
    (lambda: r6.batch(3).repeat().rebatch(4).take(2), [[0, 1, 2, 3], [4, 5, 0, 1]], TensorSpec([None], tf.int64), -2),
    (
        lambda: r6.map(lambda x: {"a": tf.strings.as_string(x)}).batch(4).rebatch(5),
        [{"a": [b"0", b"1", b"2", b"3", b"4"]}, {"a": [b"5"]}],
        {"a": TensorSpec([None], tf.string)},
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r6.rebatch(2),
        ValueError,
        "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar ",
    )
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
