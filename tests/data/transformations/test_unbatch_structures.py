"""Slices and ragged batches of structures with ragged tensors. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4 = Dataset.range(4)

ROWS = [
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), [x, -x])).unbatch(),
        [([], 0), ([0], 0), ([0], 1), ([0], -1), ([0, 1], 2), ([0], -2), ([0, 1, 2], 3), ([0], -3)],
        (tf.RaggedTensorSpec([None], tf.int64, 0, tf.int64), TensorSpec([], tf.int64)),
        8,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]),)).unbatch(),
        [([],), ([0],), ([0],), ([0],), ([0, 1],), ([0],), ([0, 1, 2],), ([0],)],
        (tf.RaggedTensorSpec([None], tf.int64, 0, tf.int64),),
        8,
    ),
    (
        lambda: r4.map(lambda x: tf.ragged.range([x, 1])).unbatch(),
        [[], [0], [0], [0], [0, 1], [0], [0, 1, 2], [0]],
        tf.RaggedTensorSpec([None], tf.int64, 0, tf.int64),
        8,
    ),
    (
        lambda: r4.map(lambda x: ({"a": tf.ragged.range([x, 1])}, [x, -x])).unbatch(),
        [
            ({"a": []}, 0),
            ({"a": [0]}, 0),
            ({"a": [0]}, 1),
            ({"a": [0]}, -1),
            ({"a": [0, 1]}, 2),
            ({"a": [0]}, -2),
            ({"a": [0, 1, 2]}, 3),
            ({"a": [0]}, -3),
        ],
        ({"a": tf.RaggedTensorSpec([None], tf.int64, 0, tf.int64)}, TensorSpec([], tf.int64)),
        8,
    ),
    (
        lambda: r4.map(lambda x: {"a": tf.ragged.range([x, 1])}).unbatch(),
        [{"a": []}, {"a": [0]}, {"a": [0]}, {"a": [0]}, {"a": [0, 1]}, {"a": [0]}, {"a": [0, 1, 2]}, {"a": [0]}],
        {"a": tf.RaggedTensorSpec([None], tf.int64, 0, tf.int64)},
        8,
    ),
    (
        lambda: r4.map(lambda x: (tf.fill([x], x), x)).ragged_batch(3),
        [([[], [1], [2, 2]], [0, 1, 2]), ([[3, 3, 3]], [3])],
        (tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int64), TensorSpec([None], tf.int64)),
        2,
    ),
    (
        lambda: r4.map(lambda x: (tf.fill([x], x),)).ragged_batch(3),
        [([[], [1], [2, 2]],), ([[3, 3, 3]],)],
        (tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int64),),
        2,
    ),
    (
        lambda: r4.map(lambda x: ({"a": tf.fill([x], x)}, x)).ragged_batch(3),
        [({"a": [[], [1], [2, 2]]}, [0, 1, 2]), ({"a": [[3, 3, 3]]}, [3])],
        ({"a": tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int64)}, TensorSpec([None], tf.int64)),
        2,
    ),
    (
        lambda: r4.map(lambda x: {"a": tf.fill([x], x)}).ragged_batch(3),
        [{"a": [[], [1], [2, 2]]}, {"a": [[3, 3, 3]]}],
        {"a": tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int64)},
        2,
    ),
    (
        lambda: r4.map(lambda x: (tf.fill([x + 1], x),)).unbatch(),
        [(0,), (1,), (1,), (2,), (2,), (2,), (3,), (3,), (3,), (3,)],
        (TensorSpec([], tf.int64),),
        -2,
    ),
    (
        lambda: r4.map(lambda x: (tf.fill([x, 2], x), x)).padded_batch(2),
        [([[[0, 0]], [[1, 1]]], [0, 1]), ([[[2, 2], [2, 2], [0, 0]], [[3, 3], [3, 3], [3, 3]]], [2, 3])],
        (TensorSpec([None, None, 2], tf.int64), TensorSpec([None], tf.int64)),
        2,
    ),
    (
        lambda: r4.map(lambda x: (tf.fill([x], x),)).padded_batch(3),
        [([[0, 0], [1, 0], [2, 2]],), ([[3, 3, 3]],)],
        (TensorSpec([None, None], tf.int64),),
        2,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), x)).batch(2).unbatch(),
        [([[], [0]], 0), ([[0], [0]], 1), ([[0, 1], [0]], 2), ([[0, 1, 2], [0]], 3)],
        (tf.RaggedTensorSpec([2, None], tf.int64, 1, tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), x)).batch(3, drop_remainder=True),
        [([[[], [0]], [[0], [0]], [[0, 1], [0]]], [0, 1, 2])],
        (tf.RaggedTensorSpec([3, 2, None], tf.int64, 2, tf.int64), TensorSpec([3], tf.int64)),
        1,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]),)).window(2).flat_map(lambda w: w.batch(2)),
        [[[[], [0]], [[0], [0]]], [[[0, 1], [0]], [[0, 1, 2], [0]]]],
        tf.RaggedTensorSpec([None, 2, None], tf.int64, 2, tf.int64),
        -2,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), x)).shuffle(3, seed=4).cache().repeat(2),
        [
            ([[0], [0]], 1),
            ([[0, 1, 2], [0]], 3),
            ([[], [0]], 0),
            ([[0, 1], [0]], 2),
            ([[0], [0]], 1),
            ([[0, 1, 2], [0]], 3),
            ([[], [0]], 0),
            ([[0, 1], [0]], 2),
        ],
        (tf.RaggedTensorSpec([2, None], tf.int64, 1, tf.int64), TensorSpec([], tf.int64)),
        8,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), x)).take_while(lambda r, x: x < 2),
        [([[], [0]], 0), ([[0], [0]], 1)],
        (tf.RaggedTensorSpec([2, None], tf.int64, 1, tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), x)).interleave(
            lambda r, x: Dataset.from_tensors((r, x)).repeat(2), cycle_length=2
        ),
        [
            ([[], [0]], 0),
            ([[0], [0]], 1),
            ([[], [0]], 0),
            ([[0], [0]], 1),
            ([[0, 1], [0]], 2),
            ([[0, 1, 2], [0]], 3),
            ([[0, 1], [0]], 2),
            ([[0, 1, 2], [0]], 3),
        ],
        (tf.RaggedTensorSpec([2, None], tf.int64, 1, tf.int64), TensorSpec([], tf.int64)),
        -2,
    ),
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), x)).concatenate(
            Dataset.from_tensors((tf.ragged.constant([[9], []], tf.int64), np.int64(8)))
        ),
        [([[], [0]], 0), ([[0], [0]], 1), ([[0, 1], [0]], 2), ([[0, 1, 2], [0]], 3), ([[9], []], 8)],
        (tf.RaggedTensorSpec([2, None], tf.int64, 1, tf.int64), TensorSpec([], tf.int64)),
        5,
    ),
    (
        lambda: r4.map(lambda x: (tf.sparse.from_dense([x, 0]), x)).group_by_window(
            lambda s, x: x % 2, lambda k, w: w.batch(4), 3
        ),
        [(([[1, 0]], [2], [2, 2]), [0, 2]), (([[0, 0], [1, 0]], [1, 3], [2, 2]), [1, 3])],
        (tf.SparseTensorSpec([None, 2], tf.int64), TensorSpec([None], tf.int64)),
        -2,
    ),
    (
        lambda: Dataset.from_tensor_slices((tf.ragged.constant([[1], [2, 3]]), ["a", "b"])).batch(2),
        [([[1], [2, 3]], [b"a", b"b"])],
        (tf.RaggedTensorSpec([None, None], tf.int32, 1, tf.int64), TensorSpec([None], tf.string)),
        1,
    ),
    (
        lambda: Dataset.zip(r4.map(lambda x: tf.ragged.range([x, 1])), r4).map(lambda r, x: (r + x, x)),
        [([[], [0]], 0), ([[1], [1]], 1), ([[2, 3], [2]], 2), ([[3, 4, 5], [3]], 3)],
        (tf.RaggedTensorSpec([2, None], tf.int64, 1, tf.int64), TensorSpec([], tf.int64)),
        4,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: r4.map(lambda x: (tf.ragged.range([x, 1]), x)).scan(np.int64(0), lambda s, r, x: (s + x, (r, s))),
        TypeError,
        "<lambda>.<locals>.<lambda>() missing 1 required positional argument: 'x'",
    ),
    (lambda: r4.map(lambda x: (x, None)).unbatch(), ValueError, "Cannot unbatch an input with scalar components."),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
