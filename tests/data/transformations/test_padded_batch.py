"""Padded batches. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4, r6 = (Dataset.range(n) for n in (4, 6))
ragged = r4.map(lambda x: tf.fill([x], x))
pairs = r4.map(lambda x: (tf.fill([x], x), tf.fill([2, x], "a")))

ROWS = [
    (lambda: ragged.padded_batch(3), [[[0, 0], [1, 0], [2, 2]], [[3, 3, 3]]], TensorSpec([None, None], tf.int64), 2),
    (
        lambda: ragged.padded_batch(3, drop_remainder=True),
        [[[0, 0], [1, 0], [2, 2]]],
        TensorSpec([3, None], tf.int64),
        1,
    ),
    (
        lambda: ragged.padded_batch(2, [4], np.int64(7)),
        [[[7, 7, 7, 7], [1, 7, 7, 7]], [[2, 2, 7, 7], [3, 3, 3, 7]]],
        TensorSpec([None, 4], tf.int64),
        2,
    ),
    (
        lambda: ragged.padded_batch(4, padded_shapes=[-1], padding_values=np.int64(-1)),
        [[[-1, -1, -1], [1, -1, -1], [2, 2, -1], [3, 3, 3]]],
        TensorSpec([None, None], tf.int64),
        1,
    ),
    (
        lambda: ragged.padded_batch(4, padded_shapes=[None]),
        [[[0, 0, 0], [1, 0, 0], [2, 2, 0], [3, 3, 3]]],
        TensorSpec([None, None], tf.int64),
        1,
    ),
    (
        lambda: ragged.padded_batch(4, padded_shapes=tf.TensorShape([5])),
        [[[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [2, 2, 0, 0, 0], [3, 3, 3, 0, 0]]],
        TensorSpec([None, 5], tf.int64),
        1,
    ),
    (
        lambda: ragged.padded_batch(4, padded_shapes=tf.constant([3], tf.int64)),
        [[[0, 0, 0], [1, 0, 0], [2, 2, 0], [3, 3, 3]]],
        TensorSpec([None, 3], tf.int64),
        1,
    ),
    (
        lambda: pairs.padded_batch(3),
        [
            (
                [[0, 0], [1, 0], [2, 2]],
                [[[b"", b""], [b"", b""]], [[b"a", b""], [b"a", b""]], [[b"a", b"a"], [b"a", b"a"]]],
            ),
            ([[3, 3, 3]], [[[b"a", b"a", b"a"], [b"a", b"a", b"a"]]]),
        ],
        (TensorSpec([None, None], tf.int64), TensorSpec([None, 2, None], tf.string)),
        2,
    ),
    (
        lambda: pairs.padded_batch(2, padded_shapes=([None], [3, None]), padding_values=(np.int64(9), "b")),
        [
            ([[9], [1]], [[[b"b"], [b"b"], [b"b"]], [[b"a"], [b"a"], [b"b"]]]),
            (
                [[2, 2, 9], [3, 3, 3]],
                [
                    [[b"a", b"a", b"b"], [b"a", b"a", b"b"], [b"b", b"b", b"b"]],
                    [[b"a", b"a", b"a"], [b"a", b"a", b"a"], [b"b", b"b", b"b"]],
                ],
            ),
        ],
        (TensorSpec([None, None], tf.int64), TensorSpec([None, 3, None], tf.string)),
        2,
    ),
    (
        lambda: pairs.padded_batch(2, padded_shapes=([3], [2, -1]), padding_values=(None, "b")),
        [
            ([[0, 0, 0], [1, 0, 0]], [[[b"b"], [b"b"]], [[b"a"], [b"a"]]]),
            (
                [[2, 2, 0], [3, 3, 3]],
                [[[b"a", b"a", b"b"], [b"a", b"a", b"b"]], [[b"a", b"a", b"a"], [b"a", b"a", b"a"]]],
            ),
        ],
        (TensorSpec([None, 3], tf.int64), TensorSpec([None, 2, None], tf.string)),
        2,
    ),
    (
        lambda: pairs.padded_batch(3, ([None], [2, 4]), drop_remainder=True),
        [
            (
                [[0, 0], [1, 0], [2, 2]],
                [
                    [[b"", b"", b"", b""], [b"", b"", b"", b""]],
                    [[b"a", b"", b"", b""], [b"a", b"", b"", b""]],
                    [[b"a", b"a", b"", b""], [b"a", b"a", b"", b""]],
                ],
            )
        ],
        (TensorSpec([3, None], tf.int64), TensorSpec([3, 2, 4], tf.string)),
        1,
    ),
    (
        lambda: r4.map(lambda x: {"a": tf.fill([x], 1.5)}).padded_batch(4, {"a": [3]}, {"a": 0.5}),
        [{"a": [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5], [1.5, 1.5, 0.5], [1.5, 1.5, 1.5]]}],
        {"a": TensorSpec([None, 3], tf.float32)},
        1,
    ),
    (lambda: r4.padded_batch(3), [[0, 1, 2], [3]], TensorSpec([None], tf.int64), 2),
    (lambda: r4.padded_batch(3, []), [[0, 1, 2], [3]], TensorSpec([None], tf.int64), 2),
    (
        lambda: Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6]]).padded_batch(2, [3]),
        [[[1, 2, 0], [3, 4, 0]], [[5, 6, 0]]],
        TensorSpec([None, 3], tf.int32),
        2,
    ),
    (
        lambda: (
            Dataset.from_tensor_slices([True, False, True]).map(lambda x: tf.fill([2], x)).padded_batch(2, [3], True)
        ),
        [[[True, True, True], [False, False, True]], [[True, True, True]]],
        TensorSpec([None, 3], tf.bool),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.fill([x], tf.cast(2, tf.bfloat16))).padded_batch(2),
        [[[0.0], [2.0]], [[2.0, 2.0, 0.0], [2.0, 2.0, 2.0]]],
        TensorSpec([None, None], tf.bfloat16),
        2,
    ),
    (
        lambda: r4.map(lambda x: tf.numpy_function(lambda v: np.full([v], v), [x], tf.int64)).padded_batch(3, [None]),
        [[[0, 0], [1, 0], [2, 2]], [[3, 3, 3]]],
        TensorSpec([None, None], tf.int64),
        2,
    ),
    (
        lambda: r4.map(
            lambda x: tf.numpy_function(lambda v: np.full([v] * (1 + v % 2), v), [x], tf.int64)
        ).padded_batch(2, [None]),
        ["InvalidArgumentError", "InvalidArgumentError"],
        TensorSpec([None, None], tf.int64),
        2,
    ),
    (
        lambda: r4.map(lambda x: 6 // (x - 1)).padded_batch(3),
        ["InvalidArgumentError", [6, 3]],
        TensorSpec([None], tf.int64),
        2,
    ),
    (
        lambda: r6.map(lambda x: 6 // (x - 1)).padded_batch(2),
        ["InvalidArgumentError", [6, 3], [2, 1]],
        TensorSpec([None], tf.int64),
        3,
    ),
    (
        lambda: ragged.repeat().padded_batch(3).take(2),
        [[[0, 0], [1, 0], [2, 2]], [[3, 3, 3], [0, 0, 0], [1, 0, 0]]],
        TensorSpec([None, None], tf.int64),
        2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: ragged.padded_batch(4, [2]),
        tf.errors.DataLossError,
        "Attempted to pad to a smaller size than the input element. [Op:IteratorGetNext] name: ",
    ),
    (
        lambda: pairs.padded_batch(4, ([3], [1, 3])),
        ValueError,
        "The padded shape (1, 3) is not compatible with the shape (2, None) of the corresponding in",
    ),
    (
        lambda: Dataset.from_tensor_slices([[1, 2], [3, 4]]).padded_batch(2, [1]),
        ValueError,
        "The padded shape (1,) is not compatible with the shape (2,) of the corresponding input com",
    ),
    (
        lambda: ragged.padded_batch(2, [2, 2]),
        ValueError,
        "The padded shape (2, 2) is not compatible with the shape (None,) of the corresponding inpu",
    ),
    (
        lambda: ragged.padded_batch(2, [None], 1.5),
        TypeError,
        "Invalid `padding_values`. `padding_values` values type <dtype: 'float32'> does not match t",
    ),
    (
        lambda: ragged.padded_batch(2, [None], np.int32(1)),
        TypeError,
        "Invalid `padding_values`. `padding_values` values type <dtype: 'int32'> does not match typ",
    ),
    (
        lambda: ragged.padded_batch(2, [None], np.int64([1])),
        ValueError,
        "Invalid `padding_values`. `padding_values` values should be scalars, but got (1,).",
    ),
    (
        lambda: ragged.padded_batch(0),
        tf.errors.InvalidArgumentError,
        "Batch size must be greater than zero. [Op:PaddedBatchDatasetV2] name: ",
    ),
    (
        lambda: ragged.padded_batch(-2),
        tf.errors.InvalidArgumentError,
        "Batch size must be greater than zero. [Op:PaddedBatchDatasetV2] name: ",
    ),
    (lambda: r4.window(2).padded_batch(2), TypeError, "`padded_batch` is not supported for datasets of datasets"),
    (
        lambda: r4.map(lambda x: tf.sparse.from_dense([x])).padded_batch(2),
        TypeError,
        "`padded_batch` is only supported for datasets that produce tensor elements but type spec o",
    ),
    (
        lambda: r4.map(lambda x: tf.ragged.range([x, 1])).padded_batch(2),
        TypeError,
        "`padded_batch` is only supported for datasets that produce tensor elements but type spec o",
    ),
    (
        lambda: r4.map(lambda x: tf.py_function(lambda v: tf.fill([v], v), [x], tf.int64)).padded_batch(2),
        ValueError,
        "You must provide `padded_shapes` argument because component 0 has unknown rank.",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
