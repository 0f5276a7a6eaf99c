"""Ragged batches. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
r4 = Dataset.range(4)

ROWS = [
    (
        lambda: r4.map(lambda x: tf.fill([x], x)).ragged_batch(3),
        [[[], [1], [2, 2]], [[3, 3, 3]]],
        tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int64),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x], x)).ragged_batch(3, drop_remainder=True),
        [[[], [1], [2, 2]]],
        tf.RaggedTensorSpec([3, None], tf.int64, 1, tf.int64),
        1,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x], x)).ragged_batch(2, row_splits_dtype=tf.int32),
        [[[], [1]], [[2, 2], [3, 3, 3]]],
        tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int32),
        2,
    ),
    (
        lambda: r4.map(lambda x: {"a": tf.fill([x, 2], 1.5), "b": x}).ragged_batch(3),
        [
            {"a": [[], [[1.5, 1.5]], [[1.5, 1.5], [1.5, 1.5]]], "b": [0, 1, 2]},
            {"a": [[[1.5, 1.5], [1.5, 1.5], [1.5, 1.5]]], "b": [3]},
        ],
        {"a": tf.RaggedTensorSpec([None, None, 2], tf.float32, 1, tf.int64), "b": TensorSpec([None], tf.int64)},
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([2, x], 1.5)).ragged_batch(3),
        [[[[], []], [[1.5], [1.5]], [[1.5, 1.5], [1.5, 1.5]]], [[[1.5, 1.5, 1.5], [1.5, 1.5, 1.5]]]],
        tf.RaggedTensorSpec([None, 2, None], tf.float32, 2, tf.int64),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x, x + 1, 2], "s")).ragged_batch(2),
        [
            [[], [[[b"s", b"s"], [b"s", b"s"]]]],
            [
                [[[b"s", b"s"], [b"s", b"s"], [b"s", b"s"]], [[b"s", b"s"], [b"s", b"s"], [b"s", b"s"]]],
                [
                    [[b"s", b"s"], [b"s", b"s"], [b"s", b"s"], [b"s", b"s"]],
                    [[b"s", b"s"], [b"s", b"s"], [b"s", b"s"], [b"s", b"s"]],
                    [[b"s", b"s"], [b"s", b"s"], [b"s", b"s"], [b"s", b"s"]],
                ],
            ],
        ],
        tf.RaggedTensorSpec([None, None, None, 2], tf.string, 2, tf.int64),
        2,
    ),
    (lambda: r4.ragged_batch(3), [[0, 1, 2], [3]], TensorSpec([None], tf.int64), 2),
    (
        lambda: Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6]]).ragged_batch(2),
        [[[1, 2], [3, 4]], [[5, 6]]],
        TensorSpec([None, 2], tf.int32),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.ragged.range([x, 1])).ragged_batch(3),
        [[[[], [0]], [[0], [0]], [[0, 1], [0]]], [[[0, 1, 2], [0]]]],
        tf.RaggedTensorSpec([None, 2, None], tf.int64, 2, tf.int64),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x], x)).apply(experimental.dense_to_ragged_batch(3, True, tf.int32)),
        [[[], [1], [2, 2]]],
        tf.RaggedTensorSpec([3, None], tf.int64, 1, tf.int32),
        1,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r4.map(lambda x: tf.fill([x], x)).ragged_batch(0),
        tf.errors.InvalidArgumentError,
        "Batch size must be greater than zero. [Op:BatchDatasetV2] name: ",
    )
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
