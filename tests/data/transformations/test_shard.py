"""Shards of elements. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r6 = Dataset.range(6)

ROWS = [
    (lambda: r6.shard(2, 0), [0, 2, 4], TensorSpec([], tf.int64), 3),
    (lambda: r6.shard(4, 1), [1, 5], TensorSpec([], tf.int64), 2),
    (lambda: r6.shard(4, 3), [3], TensorSpec([], tf.int64), 1),
    (lambda: r6.shard(1, 0), [0, 1, 2, 3, 4, 5], TensorSpec([], tf.int64), 6),
    (lambda: r6.take(2).shard(4, 3), [], TensorSpec([], tf.int64), 0),
    (lambda: r6.take(2).shard(4, 1), [1], TensorSpec([], tf.int64), 1),
    (lambda: r6.take(5).shard(2, 1), [1, 3], TensorSpec([], tf.int64), 2),
    (lambda: r6.repeat().shard(4, 1).take(5), [1, 5, 3, 1, 5], TensorSpec([], tf.int64), 5),
    (lambda: r6.filter(lambda x: x > 1).shard(3, 1), [3], TensorSpec([], tf.int64), -2),
    (lambda: r6.map(lambda x: 6 // (x - 1)).shard(2, 1), ["InvalidArgumentError", 6, 2], TensorSpec([], tf.int64), 3),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).shard(2, 0),
        [-6, "InvalidArgumentError", 3, 1],
        TensorSpec([], tf.int64),
        3,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r6.shard(0, 0),
        tf.errors.InvalidArgumentError,
        "Number of shards must be greater than zero (currently num_shards = 0). [Op:ShardDataset] n",
    ),
    (
        lambda: r6.shard(-2, 0),
        tf.errors.InvalidArgumentError,
        "Number of shards must be greater than zero (currently num_shards = -2). [Op:ShardDataset] ",
    ),
    (
        lambda: r6.shard(2, 2),
        tf.errors.InvalidArgumentError,
        "Index must be between 0 and 1 (currently index = 2). [Op:ShardDataset] name: ",
    ),
    (
        lambda: r6.shard(2, -1),
        tf.errors.InvalidArgumentError,
        "Index must be between 0 and 1 (currently index = -1). [Op:ShardDataset] name: ",
    ),
    (
        lambda: r6.shard(-1, -1),
        tf.errors.FailedPreconditionError,
        "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in `tf.distribute.Strategy.exper",
    ),
    (
        lambda: r6.shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT),
        tf.errors.FailedPreconditionError,
        "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in `tf.distribute.Strategy.exper",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)


def test_shards_that_must_not_be_empty():
    def shard(index):
        return tf.raw_ops.ShardDataset(
            input_dataset=tf.data.experimental.to_variant(r6), num_shards=9, index=index, require_non_empty=True,
            output_types=[tf.int64], output_shapes=[[]],
        )  # fmt: skip

    def elements(index):
        return [int(x) for (x,) in tf.data.experimental.from_variant(shard(index), (tf.TensorSpec([], tf.int64),))]

    assert elements(5) == [5]
    for index in (6, 8):
        with pytest.raises(tf.errors.InvalidArgumentError, match="There aren't enough elements in this dataset"):
            elements(index)
