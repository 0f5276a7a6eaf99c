"""Windows of elements. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r6 = Dataset.range(6)

ROWS = [
    (lambda: r6.window(2), [[0, 1], [2, 3], [4, 5]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 3),
    (lambda: r6.window(4), [[0, 1, 2, 3], [4, 5]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 2),
    (lambda: r6.window(4, drop_remainder=True), [[0, 1, 2, 3]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 1),
    (
        lambda: r6.window(3, 1),
        [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5], [5]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        6,
    ),
    (
        lambda: r6.window(3, shift=1, drop_remainder=True),
        [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        4,
    ),
    (lambda: r6.window(2, 3), [[0, 1], [3, 4]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 2),
    (lambda: r6.window(2, shift=4, stride=1), [[0, 1], [4, 5]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 2),
    (
        lambda: r6.window(2, 1, 2),
        [[0, 2], [1, 3], [2, 4], [3, 5], [4], [5]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        6,
    ),
    (
        lambda: r6.window(2, 1, 2, True),
        [[0, 2], [1, 3], [2, 4], [3, 5]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        4,
    ),
    (
        lambda: r6.window(3, shift=2, stride=2, drop_remainder=False),
        [[0, 2, 4], [2, 4], [4]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        3,
    ),
    (
        lambda: r6.window(2, shift=5, stride=2, drop_remainder=True),
        [[0, 2]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        1,
    ),
    (lambda: r6.window(7, drop_remainder=True), [], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 0),
    (lambda: r6.window(7), [[0, 1, 2, 3, 4, 5]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 1),
    (lambda: r6.take(0).window(2), [], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 0),
    (
        lambda: r6.map(lambda x: (x, {"a": -x})).window(4),
        [([0, 1, 2, 3], {"a": [0, -1, -2, -3]}), ([4, 5], {"a": [-4, -5]})],
        (tf.data.DatasetSpec(TensorSpec([], tf.int64)), {"a": tf.data.DatasetSpec(TensorSpec([], tf.int64))}),
        2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).window(2),
        ["InvalidArgumentError", [6, 3], [2, 1]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        3,
    ),
    (
        lambda: r6.repeat().window(4, 2).take(2),
        [[0, 1, 2, 3], [2, 3, 4, 5]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        2,
    ),
    (lambda: r6.filter(lambda x: x > 2).window(2), [[3, 4], [5]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), -2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r6.window(0),
        tf.errors.InvalidArgumentError,
        "Window size must be greater than zero. [Op:WindowDataset] name: ",
    ),
    (
        lambda: r6.window(2, 0),
        tf.errors.InvalidArgumentError,
        "Window shift must be greater than zero. [Op:WindowDataset] name: ",
    ),
    (
        lambda: r6.window(2, 1, 0),
        tf.errors.InvalidArgumentError,
        "Window stride must be greater than zero. [Op:WindowDataset] name: ",
    ),
    (
        lambda: r6.window(-1),
        tf.errors.InvalidArgumentError,
        "Window size must be greater than zero. [Op:WindowDataset] name: ",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
