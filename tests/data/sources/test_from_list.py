"""Datasets of lists. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

experimental, TensorSpec = tf.data.experimental, tf.TensorSpec

ROWS = [
    (lambda: experimental.from_list([1, 2, 3]), [1, 2, 3], TensorSpec([], tf.int32), 3),
    (
        lambda: experimental.from_list([(1, "a"), (2, "b")]),
        [(1, b"a"), (2, b"b")],
        (TensorSpec([], tf.int32), TensorSpec([], tf.string)),
        2,
    ),
    (
        lambda: experimental.from_list([{"a": [1, 2]}, {"a": [3, 4]}]),
        [{"a": [1, 2]}, {"a": [3, 4]}],
        {"a": TensorSpec([2], tf.int32)},
        2,
    ),
    (lambda: experimental.from_list([[1, 2], [3, 4]]), [[1, 2], [3, 4]], TensorSpec([2], tf.int32), 2),
    (
        lambda: experimental.from_list([np.float32([1]), np.float32([1, 2])]),
        [[1.0], [1.0, 2.0]],
        TensorSpec([None], tf.float32),
        2,
    ),
    (lambda: experimental.from_list([1]), [1], TensorSpec([], tf.int32), 1),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (lambda: experimental.from_list((1, 2)), ValueError, "Invalid `elements`. `elements` must be a list."),
    (
        lambda: experimental.from_list([]),
        ValueError,
        "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use `tf.",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
