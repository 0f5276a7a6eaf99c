"""Elements without repetitions. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r5 = Dataset.range(5)

ROWS = [
    (lambda: r5.map(lambda x: x % 3).unique(), [0, 1, 2], TensorSpec([], tf.int64), -2),
    (lambda: r5.map(lambda x: tf.strings.as_string(x % 2)).unique(), [b"0", b"1"], TensorSpec([], tf.string), -2),
    (lambda: r5.map(lambda x: tf.cast(x // 2, tf.int32)).unique(), [0, 1, 2], TensorSpec([], tf.int32), -2),
    (
        lambda: r5.map(lambda x: tf.fill([x % 2 + 1], x // 4)).unique(),
        [[0], [0, 0], [1]],
        TensorSpec([None], tf.int64),
        -2,
    ),
    (
        lambda: r5.map(lambda x: 6 // (x - 1)).unique(),
        [-6, "InvalidArgumentError", 6, 3, 2],
        TensorSpec([], tf.int64),
        -2,
    ),
    (lambda: r5.repeat(3).unique(), [0, 1, 2, 3, 4], TensorSpec([], tf.int64), -2),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r5.map(lambda x: (x, x)).unique(),
        tf.errors.InvalidArgumentError,
        "UniqueDataset only supports inputs with a single component. [Op:UniqueDataset] name: ",
    ),
    (
        lambda: r5.map(lambda x: tf.cast(x, tf.float32)).unique(),
        TypeError,
        "`tf.data.Dataset.unique` does not support type <dtype: 'float32'> -- only `tf.int32`, `tf.",
    ),
    (
        lambda: r5.map(lambda x: x > 2).unique(),
        TypeError,
        "`tf.data.Dataset.unique` does not support type <dtype: 'bool'> -- only `tf.int32`, `tf.int",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
