"""Slices of elements. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4, r5, r6 = (Dataset.range(n) for n in (4, 5, 6))

ROWS = [
    (lambda: r5.batch(2).unbatch(), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), -2),
    (lambda: r4.batch(2, True).unbatch(), [0, 1, 2, 3], TensorSpec([], tf.int64), 4),
    (lambda: r6.batch(2, True).repeat().unbatch().take(5), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), 5),
    (
        lambda: r6.batch(4).repeat().unbatch(),
        [
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
            0,
            1,
            2,
            3,
        ],
        TensorSpec([], tf.int64),
        -1,
    ),
    (
        lambda: r4.map(lambda x: (tf.fill([x], x), tf.fill([x, 2], "a"))).unbatch(),
        [
            (1, [b"a", b"a"]),
            (2, [b"a", b"a"]),
            (2, [b"a", b"a"]),
            (3, [b"a", b"a"]),
            (3, [b"a", b"a"]),
            (3, [b"a", b"a"]),
        ],
        (TensorSpec([], tf.int64), TensorSpec([2], tf.string)),
        -2,
    ),
    (
        lambda: r4.map(lambda x: {"a": tf.ragged.range([x, 1]), "b": [x, -x]}).unbatch(),
        [
            {"a": [], "b": 0},
            {"a": [0], "b": 0},
            {"a": [0], "b": 1},
            {"a": [0], "b": -1},
            {"a": [0, 1], "b": 2},
            {"a": [0], "b": -2},
            {"a": [0, 1, 2], "b": 3},
            {"a": [0], "b": -3},
        ],
        {"a": tf.RaggedTensorSpec([None], tf.int64, 0, tf.int64), "b": TensorSpec([], tf.int64)},
        8,
    ),
    (lambda: r4.filter(lambda x: x > 1).batch(2, True).unbatch(), [2, 3], TensorSpec([], tf.int64), -2),
    (
        lambda: r4.map(lambda x: (tf.fill([x], 1), tf.fill([2], 2))).unbatch(),
        ["InvalidArgumentError", "InvalidArgumentError", (1, 2), (1, 2), "InvalidArgumentError"],
        (TensorSpec([], tf.int32), TensorSpec([], tf.int32)),
        8,
    ),
    (
        lambda: r4.map(lambda x: (tf.fill([x], 1), tf.fill([x + 1], 2))).unbatch(),
        ["InvalidArgumentError", "InvalidArgumentError", "InvalidArgumentError", "InvalidArgumentError"],
        (TensorSpec([], tf.int32), TensorSpec([], tf.int32)),
        -2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([2], 6 // (x - 1))).unbatch(),
        [-6, -6, "InvalidArgumentError", 6, 6, 3, 3],
        TensorSpec([], tf.int64),
        8,
    ),
    (lambda: Dataset.from_tensors(tf.zeros([0, 3])).unbatch(), [], TensorSpec([3], tf.float32), -2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: r4.unbatch(), ValueError, "Cannot unbatch an input with scalar components."),
    (
        lambda: r4.map(lambda x: ([x, x], [x, x, x])).unbatch(),
        ValueError,
        "`unbatch()` is only supported for datasets of elements whose components have a matching le",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
