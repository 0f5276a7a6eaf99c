"""Slices of tensors. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec

ROWS = [
    (lambda: Dataset.from_tensor_slices([1, 2, 3]), [1, 2, 3], TensorSpec([], tf.int32), 3),
    (
        lambda: Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6]]),
        [[1, 2], [3, 4], [5, 6]],
        TensorSpec([2], tf.int32),
        3,
    ),
    (
        lambda: Dataset.from_tensor_slices(([1, 2], ["a", "b"])),
        [(1, b"a"), (2, b"b")],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string)),
        2,
    ),
    (
        lambda: Dataset.from_tensor_slices({"a": [1.5, 2.5], "b": ([True, False], [[3], [4]])}),
        [{"a": 1.5, "b": (True, [3])}, {"a": 2.5, "b": (False, [4])}],
        {"a": TensorSpec([], tf.float32), "b": (TensorSpec([], tf.bool), TensorSpec([1], tf.int32))},
        2,
    ),
    (
        lambda: Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]])),
        [([[1]], [1], [2]), ([[0]], [2], [2]), ([], [], [2])],
        tf.SparseTensorSpec([2], tf.int32),
        3,
    ),
    (
        lambda: Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])),
        [[1, 2], [], [3]],
        tf.RaggedTensorSpec([None], tf.int32, 0, tf.int64),
        3,
    ),
    (
        lambda: Dataset.from_tensor_slices((tf.ragged.constant([[1, 2], []]), [5, 6])),
        [([1, 2], 5), ([], 6)],
        (tf.RaggedTensorSpec([None], tf.int32, 0, tf.int64), TensorSpec([], tf.int32)),
        2,
    ),
    (
        lambda: Dataset.from_tensor_slices(np.arange(6, dtype=np.uint8).reshape(3, 2)),
        [[0, 1], [2, 3], [4, 5]],
        TensorSpec([2], tf.uint8),
        3,
    ),
    (lambda: Dataset.from_tensor_slices(np.zeros([0, 2], np.int16)), [], TensorSpec([2], tf.int16), 0),
    (lambda: Dataset.from_tensor_slices(tf.zeros([2, 0])), [[], []], TensorSpec([0], tf.float32), 2),
    (
        lambda: Dataset.from_tensor_slices(([1, 2], [[3, 4], [5, 6]])).batch(2),
        [([1, 2], [[3, 4], [5, 6]])],
        (TensorSpec([None], tf.int32), TensorSpec([None, 2], tf.int32)),
        1,
    ),
    (
        lambda: Dataset.from_tensor_slices(["a", "b", "c"]).shuffle(2, seed=5).batch(2),
        [[b"b", b"a"], [b"c"]],
        TensorSpec([None], tf.string),
        2,
    ),
    (
        lambda: Dataset.from_tensor_slices(["a", "b", "c"]).skip(1).batch(2),
        [[b"b", b"c"]],
        TensorSpec([None], tf.string),
        1,
    ),
    (
        lambda: Dataset.from_tensor_slices(([1, 2], None)),
        [(1, None), (2, None)],
        (TensorSpec([], tf.int32), tf.NoneTensorSpec()),
        2,
    ),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: Dataset.from_tensor_slices(5), ValueError, "Unbatching a tensor is only supported for rank >= 1"),
    (lambda: Dataset.from_tensor_slices(([1, 2], [3])), ValueError, "Dimensions 2 and 1 are not compatible"),
    (
        lambda: Dataset.from_tensor_slices(([1, 2], 3)),
        ValueError,
        "Unbatching a tensor is only supported for rank >= 1",
    ),
    (
        lambda: Dataset.from_tensor_slices([[1, 2], [3]]),
        ValueError,
        "Can't convert non-rectangular Python sequence to Tensor.",
    ),
    (lambda: Dataset.from_tensor_slices(()), ValueError, "Invalid `element`. `element` should not be empty."),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
