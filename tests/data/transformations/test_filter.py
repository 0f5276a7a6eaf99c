"""Elements that satisfy a predicate. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.filter(lambda x: x % 2 == 1), [1, 3], TensorSpec([], tf.int64), -2),
    (
        lambda: r5.map(lambda x: (x, -x)).filter(lambda x, y: x + 2 * y < -2),
        [(3, -3), (4, -4)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: r5.map(lambda x: 6 // x).filter(lambda x: x > 1),
        ["InvalidArgumentError", 6, 3, 2],
        TensorSpec([], tf.int64),
        -2,
    ),
    (lambda: r5.filter(lambda x: 6 // x > 1), ["InvalidArgumentError", 1, 2, 3], TensorSpec([], tf.int64), -2),
    (
        lambda: r5.repeat().filter(lambda x: x < 2),
        [
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
            0,
            1,
        ],
        TensorSpec([], tf.int64),
        -2,
    ),
    (lambda: r5.take_while(lambda x: x < 3), [0, 1, 2], TensorSpec([], tf.int64), -2),
    (lambda: r5.take_while(lambda x: x < 0), [], TensorSpec([], tf.int64), -2),
    (lambda: r5.take_while(lambda x: x != 1).repeat(2), [0, 0], TensorSpec([], tf.int64), -2),
    (lambda: r5.take_while(lambda x: 6 // (x - 2) < 3), [0, 1, "InvalidArgumentError"], TensorSpec([], tf.int64), -2),
    (
        lambda: r5.map(lambda x: {"a": x}).take_while(lambda e: e["a"] < 2),
        [{"a": 0}, {"a": 1}],
        {"a": TensorSpec([], tf.int64)},
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r5.filter(lambda x: x),
        ValueError,
        "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return typ",
    )
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
