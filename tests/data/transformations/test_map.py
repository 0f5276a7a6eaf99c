"""Results of a function of each element. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, experimental, TensorSpec = tf.data.Dataset, tf.data.experimental, tf.TensorSpec
r4, r6 = (Dataset.range(n) for n in (4, 6))

ROWS = [
    (lambda: r4.map(lambda x: x * 2 + 1), [1, 3, 5, 7], TensorSpec([], tf.int64), 4),
    (
        lambda: r4.map(lambda x: (x, {"a": -x})),
        [(0, {"a": 0}), (1, {"a": -1}), (2, {"a": -2}), (3, {"a": -3})],
        (TensorSpec([], tf.int64), {"a": TensorSpec([], tf.int64)}),
        4,
    ),
    (
        lambda: r4.map(lambda x: [x, x]),
        [(0, 0), (1, 1), (2, 2), (3, 3)],
        (TensorSpec([], tf.int64), TensorSpec([], tf.int64)),
        4,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x], 1.5)),
        [[], [1.5], [1.5, 1.5], [1.5, 1.5, 1.5]],
        TensorSpec([None], tf.float32),
        4,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), tf.sparse.from_dense([0, x]))),
        [
            ([[], [0]], ([], [], [2])),
            ([[0], [0]], ([[1]], [1], [2])),
            ([[0, 1], [0]], ([[1]], [2], [2])),
            ([[0, 1, 2], [0]], ([[1]], [3], [2])),
        ],
        (tf.RaggedTensorSpec([2, None], tf.int64, 1, tf.int64), tf.SparseTensorSpec([2], tf.int64)),
        4,
    ),
    (
        lambda: r4.map(lambda x: (x, None)),
        [(0, None), (1, None), (2, None), (3, None)],
        (TensorSpec([], tf.int64), tf.NoneTensorSpec()),
        4,
    ),
    (lambda: r4.map(lambda x: 3), [3, 3, 3, 3], TensorSpec([], tf.int32), 4),
    (
        lambda: r4.map(lambda x: Dataset.range(x)),
        [[], [0], [0, 1], [0, 1, 2]],
        tf.data.DatasetSpec(TensorSpec([], tf.int64)),
        4,
    ),
    (lambda: r4.map(lambda x: 6 // (x - 1)), [-6, "InvalidArgumentError", 6, 3], TensorSpec([], tf.int64), 4),
    (
        lambda: r6.map(lambda x: 6 // (x - 3), num_parallel_calls=2),
        [-2, -3, -6, "InvalidArgumentError", 6, 3],
        TensorSpec([], tf.int64),
        6,
    ),
    (
        lambda: r6.map(lambda x: x * 3, num_parallel_calls=3, deterministic=True),
        [0, 3, 6, 9, 12, 15],
        TensorSpec([], tf.int64),
        6,
    ),
    (
        lambda: r6.map(lambda x: x * 3, num_parallel_calls=tf.data.AUTOTUNE),
        [0, 3, 6, 9, 12, 15],
        TensorSpec([], tf.int64),
        6,
    ),
    (lambda: r4.map(lambda x: x * 2).batch(3), [[0, 2, 4], [6]], TensorSpec([None], tf.int64), 2),
    (
        lambda: r4.map(lambda x: tf.range(x)[:2]).batch(1),
        [[[]], [[0]], [[0, 1]], [[0, 1]]],
        TensorSpec([None, None], tf.int64),
        4,
    ),
    (
        lambda: r4.map(lambda x: tf.strings.as_string(x) + "!").batch(3, True),
        [[b"0!", b"1!", b"2!"]],
        TensorSpec([3], tf.string),
        1,
    ),
    (
        lambda: r4.map(lambda x: tf.random.uniform([]) * 0.0).batch(3),
        [[0.0, 0.0, 0.0], [0.0]],
        TensorSpec([None], tf.float32),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.math.exp(tf.cast(x, tf.float32) * 0.0)).batch(3),
        [[1.0, 1.0, 1.0], [1.0]],
        TensorSpec([None], tf.float32),
        2,
    ),
    (lambda: r4.batch(2).map(lambda x: tf.reduce_sum(x)).batch(2), [[1, 5]], TensorSpec([None], tf.int64), 1),
    (
        lambda: r4.map(lambda x: x).map(lambda x: x + 1).shuffle(4, seed=9).batch(3),
        [[4, 3, 2], [1]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (lambda: r4.repeat().map(lambda x: -x).take(6), [0, -1, -2, -3, 0, -1], TensorSpec([], tf.int64), 6),
    (
        lambda: r4.apply(experimental.map_and_batch(lambda x: -x, 3)),
        [[0, -1, -2], [-3]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r4.apply(experimental.map_and_batch(lambda x: -x, 3, drop_remainder=True)),
        [[0, -1, -2]],
        TensorSpec([3], tf.int64),
        1,
    ),
    (
        lambda: r4.apply(experimental.map_and_batch(lambda x: -x, 2, num_parallel_calls=2)),
        [[0, -1], [-2, -3]],
        TensorSpec([None], tf.int64),
        2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r4.map(lambda x: None),
        tf.errors.InvalidArgumentError,
        "The function passed to Dataset.map() must return at least on",
    ),
    (
        lambda: r4.map(lambda x: x, num_parallel_calls=0),
        tf.errors.InvalidArgumentError,
        "num_parallel_calls must be greater than zero. [Op:ParallelMapDatasetV2] name: ",
    ),
    (
        lambda: r4.map(lambda x: x, num_parallel_calls=-2),
        tf.errors.InvalidArgumentError,
        "num_parallel_calls must be greater than zero. [Op:ParallelMapDatasetV2] name: ",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
