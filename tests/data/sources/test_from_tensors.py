"""Datasets of one element. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
from dataset_rows import check_dataset

Dataset, TensorSpec = tf.data.Dataset, tf.TensorSpec
r4 = Dataset.range(4)

ROWS = [
    (lambda: Dataset.from_tensors(3), [3], TensorSpec([], tf.int32), 1),
    (lambda: Dataset.from_tensors([1.5, 2.5]), [[1.5, 2.5]], TensorSpec([2], tf.float32), 1),
    (
        lambda: Dataset.from_tensors(([1, 2], {"a": "x", "b": [[True]]})),
        [([1, 2], {"a": b"x", "b": [[True]]})],
        (TensorSpec([2], tf.int32), {"a": TensorSpec([], tf.string), "b": TensorSpec([1, 1], tf.bool)}),
        1,
    ),
    (lambda: Dataset.from_tensors((1, None)), [(1, None)], (TensorSpec([], tf.int32), tf.NoneTensorSpec()), 1),
    (
        lambda: Dataset.from_tensors(tf.sparse.from_dense([[0, 1], [2, 0]])),
        [([[0, 1], [1, 0]], [1, 2], [2, 2])],
        tf.SparseTensorSpec([2, 2], tf.int32),
        1,
    ),
    (
        lambda: Dataset.from_tensors(tf.ragged.constant([[1, 2], [], [3]])),
        [[[1, 2], [], [3]]],
        tf.RaggedTensorSpec([3, None], tf.int32, 1, tf.int64),
        1,
    ),
    (lambda: Dataset.from_tensors(r4), [[0, 1, 2, 3]], tf.data.DatasetSpec(TensorSpec([], tf.int64)), 1),
    (lambda: Dataset.from_tensors(np.zeros([0, 2], np.int16)), [[]], TensorSpec([0, 2], tf.int16), 1),
    (lambda: Dataset.from_tensors(np.array(["a", "bc"])), [[b"a", b"bc"]], TensorSpec([2], tf.string), 1),
    (lambda: Dataset.from_tensors([1, 2]).repeat(2).batch(2), [[[1, 2], [1, 2]]], TensorSpec([None, 2], tf.int32), 1),
]


@pytest.mark.parametrize(("make", "elements", "spec", "cardinality"), ROWS)
def test_elements(make, elements, spec, cardinality):
    check_dataset(make, elements, spec, cardinality)


ERRORS = [
    (
        lambda: Dataset.from_tensors(()),
        tf.errors.InvalidArgumentError,
        "An element must have at least one tensor, but there is none",
    ),
    (
        lambda: Dataset.from_tensors(None),
        tf.errors.InvalidArgumentError,
        "An element must have at least one tensor, but there is none",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), ERRORS)
def test_errors(make, error, message):
    with pytest.raises(error) as caught:
        next(iter(make()))
    assert message in str(caught.value)
