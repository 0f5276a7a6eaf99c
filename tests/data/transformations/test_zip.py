"""Elements side by side. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4, r5, r6 = (Dataset.range(n) for n in (4, 5, 6))

ROWS = [
    (
        lambda: Dataset.zip((r4, r6)),
        [(0, 0), (1, 1), (2, 2), (3, 3)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        4,
    ),
    (
        lambda: Dataset.zip(r4, r6.skip(3)),
        [(0, 3), (1, 4), (2, 5)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        3,
    ),
    (
        lambda: Dataset.zip(datasets=(r4, {"a": r5, "b": (r6, r4)})),
        [
            (0, {"a": 0, "b": (0, 0)}),
            (1, {"a": 1, "b": (1, 1)}),
            (2, {"a": 2, "b": (2, 2)}),
            (3, {"a": 3, "b": (3, 3)}),
        ],
        (
            TensorSpec([], tf.int64),
            {"a": TensorSpec([], tf.int64), "b": (TensorSpec([], tf.int64), TensorSpec([], tf.int64))},
        ),
        4,
    ),
    (lambda: Dataset.zip(r4), [0, 1, 2, 3], TensorSpec([], tf.int64), 4),
    (lambda: Dataset.zip((r4,)), [(0,), (1,), (2,), (3,)], (TensorSpec([], tf.int64),), 4),
    (
        lambda: Dataset.zip((r4.repeat(), r6)),
        [(0, 0), (1, 1), (2, 2), (3, 3), (0, 4), (1, 5)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        6,
    ),
    (
        lambda: Dataset.zip((r4.repeat(), r6.repeat())).take(5),
        [(0, 0), (1, 1), (2, 2), (3, 3), (0, 4)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        5,
    ),
    (
        lambda: Dataset.zip((r4.repeat(), r6.repeat())),
        [
            (0, 0),
            (1, 1),
            (2, 2),
            (3, 3),
            (0, 4),
            (1, 5),
            (2, 0),
            (3, 1),
            (0, 2),
            (1, 3),
            (2, 4),
            (3, 5),
            (0, 0),
            (1, 1),
            (2, 2),
            (3, 3),
            (0, 4),
            (1, 5),
            (2, 0),
            (3, 1),
            (0, 2),
            (1, 3),
            (2, 4),
            (3, 5),
            (0, 0),
            (1, 1),
            (2, 2),
            (3, 3),
            (0, 4),
            (1, 5),
            (2, 0),
            (3, 1),
            (0, 2),
            (1, 3),
            (2, 4),
            (3, 5),
            (0, 0),
            (1, 1),
            (2, 2),
            (3, 3),
        ],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -1,
    ),
    (
        lambda: Dataset.zip((r4.filter(lambda x: x > 1), r6)),
        [(2, 0), (3, 1)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: Dataset.zip((r4.filter(lambda x: x > 1), r6.repeat())),
        [(2, 0), (3, 1)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: Dataset.zip((r4.map(lambda x: 6 // (x - 1)), r6.map(lambda x: 6 // (x - 2)))),
        [(-6, -3), "InvalidArgumentError", "InvalidArgumentError", (3, 6)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        4,
    ),
    (
        lambda: Dataset.zip((r4.map(lambda x: (x, -x)), r6.map(lambda x: {"a": x}))),
        [((0, 0), {"a": 0}), ((1, -1), {"a": 1}), ((2, -2), {"a": 2}), ((3, -3), {"a": 3})],
        ((TensorSpec([], tf.int64), TensorSpec([], tf.int64)), {"a": TensorSpec([], tf.int64)}),
        4,
    ),
    (
        lambda: Dataset.zip((r4, r6)).batch(3),
        [([0, 1, 2], [0, 1, 2]), ([3], [3])],
        (TensorSpec([None], tf.int64), TensorSpec([None], tf.int64)),
        2,
    ),
    (
        lambda: Dataset.zip((r4, r6.filter(lambda x: True))).batch(3),
        [([0, 1, 2], [0, 1, 2]), ([3], [3])],
        (TensorSpec([None], tf.int64), TensorSpec([None], tf.int64)),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: Dataset.zip(), TypeError, "Must pass at least one dataset to `zip`."),
    (lambda: Dataset.zip(r4, datasets=r6), TypeError, "Both `*args` and `datasets` cannot be set."),
    (
        lambda: Dataset.zip((r4, 3)),
        TypeError,
        "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset`",
    ),
    (
        lambda: Dataset.zip([r4, r6]),
        TypeError,
        "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset`",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
