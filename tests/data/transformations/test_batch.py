"""Batches of elements. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4, r5, r6 = (Dataset.range(n) for n in (4, 5, 6))

ROWS = [
    (lambda: r5.batch(2), [[0, 1], [2, 3], [4]], TensorSpec([None], tf.int64), 3),
    (lambda: r5.batch(2, drop_remainder=True), [[0, 1], [2, 3]], TensorSpec([2], tf.int64), 2),
    (lambda: r5.batch(5), [[0, 1, 2, 3, 4]], TensorSpec([None], tf.int64), 1),
    (lambda: r5.batch(5, True), [[0, 1, 2, 3, 4]], TensorSpec([5], tf.int64), 1),
    (lambda: r5.batch(7), [[0, 1, 2, 3, 4]], TensorSpec([None], tf.int64), 1),
    (lambda: r5.batch(7, drop_remainder=True), [], TensorSpec([7], tf.int64), 0),
    (lambda: r6.batch(3, True).batch(1), [[[0, 1, 2]], [[3, 4, 5]]], TensorSpec([None, 3], tf.int64), 2),
    (
        lambda: r5.batch(2, num_parallel_calls=2, deterministic=True),
        [[0, 1], [2, 3], [4]],
        TensorSpec([None], tf.int64),
        3,
    ),
    (lambda: r5.repeat().batch(4).take(2), [[0, 1, 2, 3], [4, 0, 1, 2]], TensorSpec([None], tf.int64), 2),
    (lambda: r5.filter(lambda x: x > 1).batch(2), [[2, 3], [4]], TensorSpec([None], tf.int64), -2),
    (lambda: r5.filter(lambda x: x > 1).batch(2, True), [[2, 3]], TensorSpec([2], tf.int64), -2),
    (
        lambda: r5.map(lambda x: 12 // (x - 2)).batch(2),
        [[-6, -12], "InvalidArgumentError", [6]],
        TensorSpec([None], tf.int64),
        3,
    ),
    (
        lambda: r6.map(lambda x: 12 // (x - 4)).batch(3),
        [[-3, -4, -6], "InvalidArgumentError"],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r5.shuffle(3, seed=4).skip(1).map(lambda x: x * 3).batch(3),
        [[9, 6, 12], [0]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r5.map(lambda x: (x, tf.cast(x, tf.float32) / 4)).batch(3),
        [([0, 1, 2], [0.0, 0.25, 0.5]), ([3, 4], [0.75, 1.0])],
        (TensorSpec([None], tf.int64), TensorSpec([None], tf.float32)),
        2,
    ),
    (lambda: r6.take(5).shard(2, 1).repeat(3).batch(4), [[1, 3, 1, 3], [1, 3]], TensorSpec([None], tf.int64), 2),
    (lambda: r6.map(lambda x: x + 1).take(4).batch(3, drop_remainder=True), [[1, 2, 3]], TensorSpec([3], tf.int64), 1),
    (
        lambda: Dataset.from_tensor_slices({"a": [[1, 2], [3, 4], [5, 6]], "b": ["x", "y", "z"]}).batch(2),
        [{"a": [[1, 2], [3, 4]], "b": [b"x", b"y"]}, {"a": [[5, 6]], "b": [b"z"]}],
        {"a": TensorSpec([None, 2], tf.int32), "b": TensorSpec([None], tf.string)},
        2,
    ),
    (
        lambda: (
            Dataset.from_tensor_slices({"a": [[1, 2], [3, 4], [5, 6]], "b": ["x", "y", "z"]}).repeat(2).batch(4, True)
        ),
        [{"a": [[1, 2], [3, 4], [5, 6], [1, 2]], "b": [b"x", b"y", b"z", b"x"]}],
        {"a": TensorSpec([4, 2], tf.int32), "b": TensorSpec([4], tf.string)},
        1,
    ),
    (
        lambda: r4.map(lambda x: tf.ones([x], tf.int32)).batch(2),
        ["InvalidArgumentError", "InvalidArgumentError"],
        TensorSpec([None, None], tf.int32),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.repeat(["a"], [x])).batch(2),
        ["InvalidArgumentError", "InvalidArgumentError"],
        TensorSpec([None, None], tf.string),
        2,
    ),
    (
        lambda: r4.map(lambda x: (x, tf.ones([2, x + 1]))).batch(1),
        [
            ([0], [[[1.0], [1.0]]]),
            ([1], [[[1.0, 1.0], [1.0, 1.0]]]),
            ([2], [[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]),
            ([3], [[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]]),
        ],
        (TensorSpec([None], tf.int64), TensorSpec([None, 2, None], tf.float32)),
        4,
    ),
    (
        lambda: r4.map(lambda x: tf.sparse.from_dense([x, 0, x + 1])).batch(3),
        [([[0, 2], [1, 0], [1, 2], [2, 0], [2, 2]], [1, 1, 2, 2, 3], [3, 3]), ([[0, 0], [0, 2]], [3, 4], [1, 3])],
        tf.SparseTensorSpec([None, 3], tf.int64),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.ragged.range([x, 1])).batch(3),
        [[[[], [0]], [[0], [0]], [[0, 1], [0]]], [[[0, 1, 2], [0]]]],
        tf.RaggedTensorSpec([None, 2, None], tf.int64, 2, tf.int64),
        2,
    ),
    (
        lambda: r4.map(lambda x: (x, None)).batch(3),
        [([0, 1, 2], None), ([3], None)],
        (TensorSpec([None], tf.int64), tf.NoneTensorSpec()),
        2,
    ),
    (
        lambda: Dataset.zip((r5, r5.map(lambda x: x * x))).batch(2),
        [([0, 1], [0, 1]), ([2, 3], [4, 9]), ([4], [16])],
        (TensorSpec([None], tf.int64), TensorSpec([None], tf.int64)),
        3,
    ),
    (
        lambda: Dataset.zip((r5, r6)).batch(2),
        [([0, 1], [0, 1]), ([2, 3], [2, 3]), ([4], [4])],
        (TensorSpec([None], tf.int64), TensorSpec([None], tf.int64)),
        3,
    ),
    (lambda: Dataset.from_tensors([1.5, 2.5]).batch(2), [[[1.5, 2.5]]], TensorSpec([None, 2], tf.float32), 1),
    (lambda: Dataset.from_tensors(tf.zeros([0, 2])).batch(2), [[[]]], TensorSpec([None, 0, 2], tf.float32), 1),
    (lambda: r5.take(0).batch(2), [], TensorSpec([None], tf.int64), 0),
    (lambda: r5.batch(tf.constant(3, tf.int64)), [[0, 1, 2], [3, 4]], TensorSpec([None], tf.int64), 2),
    (lambda: r5.batch(np.int32(3), drop_remainder=np.True_), [[0, 1, 2]], TensorSpec([3], tf.int64), 1),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r5.batch(0),
        tf.errors.InvalidArgumentError,
        "Batch size must be greater than zero. [Op:BatchDatasetV2] name: ",
    ),
    (
        lambda: r5.batch(-1),
        tf.errors.InvalidArgumentError,
        "Batch size must be greater than zero. [Op:BatchDatasetV2] name: ",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
