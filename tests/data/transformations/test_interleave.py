"""Elements of several datasets in turn. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
r4, r6 = (Dataset.range(n) for n in (4, 6))

ROWS = [
    (
        lambda: r4.interleave(lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=2),
        [0, 10, 1, 11, 2, 12, 20, 30, 21, 31, 22, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=2, block_length=2),
        [0, 1, 10, 11, 2, 12, 20, 21, 30, 31, 22, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(10 * x, 10 * x + 5), cycle_length=3, block_length=2),
        [0, 1, 10, 11, 20, 21, 2, 3, 12, 13, 22, 23, 4, 14, 24, 30, 31, 32, 33, 34],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=1),
        [0, 0, 1, 0, 1, 2],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r6.interleave(lambda x: Dataset.range(x % 3), cycle_length=2, block_length=1),
        [0, 0, 1, 0, 0, 1],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(
            lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=2, block_length=2, num_parallel_calls=2
        ),
        [0, 1, 10, 11, 2, 12, 20, 21, 30, 31, 22, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(
            lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=2, num_parallel_calls=1, deterministic=True
        ),
        [0, 10, 1, 11, 2, 12, 20, 30, 21, 31, 22, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(
            lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=1, num_parallel_calls=tf.data.AUTOTUNE
        ),
        [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=7),
        [0, 10, 20, 30, 1, 11, 21, 31, 2, 12, 22, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(3).map(lambda y: 6 // (y - x)), cycle_length=2),
        ["InvalidArgumentError", 6, -6, 3, "InvalidArgumentError", 6, -3, -2, -6, -3, "InvalidArgumentError", -6],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(3).map(lambda y: 6 // (y - x)), cycle_length=2, block_length=2),
        ["InvalidArgumentError", 6, 3, -6, "InvalidArgumentError", 6, -3, -6, -2, -3, "InvalidArgumentError", -6],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.interleave(
            lambda x: Dataset.range(3).map(lambda y: 6 // (y - x)), cycle_length=2, block_length=2, num_parallel_calls=2
        ),
        ["InvalidArgumentError", 6, -6, "InvalidArgumentError", 3, 6, -3, -6, -2, -3, "InvalidArgumentError", -6],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.map(lambda x: 6 // (x - 1)).interleave(lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2),
        [-6, "InvalidArgumentError", 6, -6, 6, -6, 6, 3, 3, 3],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.apply(
            experimental.parallel_interleave(
                lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=2, block_length=2
            )
        ),
        [0, 1, 10, 11, 2, 12, 20, 21, 30, 31, 22, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.apply(experimental.parallel_interleave(lambda x: Dataset.range(10 * x, 10 * x + 3), cycle_length=3)),
        [0, 10, 20, 1, 11, 21, 2, 12, 22, 30, 31, 32],
        TensorSpec([], tf.int64),
        -2,
    ),
    (
        lambda: r4.repeat().interleave(lambda x: Dataset.range(x), cycle_length=2).take(5),
        [0, 0, 1, 0, 1],
        TensorSpec([], tf.int64),
        -2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=0, num_parallel_calls=2),
        tf.errors.InvalidArgumentError,
        "`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0 but is 0 [Op:ParallelInterleav",
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=2, block_length=0, num_parallel_calls=2),
        tf.errors.InvalidArgumentError,
        "`block_length` must be > 0 [Op:ParallelInterleaveDatasetV4] name: ",
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=0),
        tf.errors.InvalidArgumentError,
        "cycle_length must be greater than zero. [Op:InterleaveDataset] name: ",
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=-2),
        tf.errors.InvalidArgumentError,
        "cycle_length must be greater than zero. [Op:InterleaveDataset] name: ",
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=2, block_length=0),
        tf.errors.InvalidArgumentError,
        "block_length must be greater than zero. [Op:InterleaveDataset] name: ",
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=2, num_parallel_calls=0),
        tf.errors.InvalidArgumentError,
        "num_parallel_calls must be greater than zero. [Op:ParallelInterleaveDatasetV4] name: ",
    ),
    (
        lambda: r4.interleave(lambda x: Dataset.range(x), cycle_length=2, num_parallel_calls=-3),
        tf.errors.InvalidArgumentError,
        "num_parallel_calls must be greater than zero. [Op:ParallelInterleaveDatasetV4] name: ",
    ),
    (
        lambda: r4.interleave(lambda x: (x, x), cycle_length=2),
        TypeError,
        "The `map_func` argument must return a `Dataset` object. Got <class 'tuple'>.",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
