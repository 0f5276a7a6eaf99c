"""Sparse tensors of TensorFlow 1: merged ids, and reductions by old names of arguments."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


def sparse(values, shape=(2, 2), indices=((0, 0), (0, 1), (1, 0))):
    return tf.SparseTensor(indices, values, shape)


def test_merged_ids():
    ids, values = sparse([3, 1, 2]), sparse([0.5, 0.25, 4.0])
    merged = v1.sparse_merge(ids, values, 5)
    assert merged.indices.numpy().tolist() == [[0, 1], [0, 3], [1, 2]]
    assert merged.values.numpy().tolist() == [0.25, 0.5, 4.0]
    assert merged.dense_shape.numpy().tolist() == [2, 5]
    kept = v1.sparse_merge(ids, values, 5, already_sorted=True)
    assert kept.indices.numpy().tolist() == [[0, 3], [0, 1], [1, 2]]
    assert kept.values.numpy().tolist() == [0.5, 0.25, 4.0]
    several = v1.sparse_merge([ids, sparse(np.int32([1, 0, 1]))], values, [5, 3])
    assert several.dense_shape.numpy().tolist() == [2, 5, 3]
    assert several.indices.numpy().tolist() == [[0, 1, 0], [0, 3, 1], [1, 2, 1]]


@pytest.mark.parametrize(
    ("ids", "values", "sizes", "kind", "message"),
    [
        ([sparse([1, 1, 1])], sparse([1.0, 1.0, 1.0]), 5, TypeError, "vocab_size"),
        (sparse([1, 1, 1]), sparse([1.0, 1.0, 1.0]), [5], TypeError, "vocab_size|sp_ids"),
        ([sparse([1, 1, 1])], sparse([1.0, 1.0, 1.0]), [5, 6], ValueError, "have to have equal lengths"),
        (tf.constant([1]), sparse([1.0, 1.0, 1.0]), 5, TypeError, ""),
        (sparse([1, 1, 1]), tf.constant([1.0]), 5, TypeError, ""),
    ],
)
def test_ids_that_can_not_be_merged(ids, values, sizes, kind, message):
    with pytest.raises(kind, match=message or None):
        v1.sparse_merge(ids, values, sizes)


@pytest.mark.parametrize(("name", "expected"), [("sum", [[5.0], [3.0]]), ("max", [[4.0], [3.0]])])
def test_reductions(name, expected):
    x = sparse([1.0, 4.0, 3.0])
    dense, compressed = getattr(v1, f"sparse_reduce_{name}"), getattr(v1, f"sparse_reduce_{name}_sparse")
    assert dense(x, axis=1, keepdims=True).numpy().tolist() == expected
    assert dense(x, reduction_axes=1, keep_dims=True).numpy().tolist() == expected
    assert dense(x, axis=-1).numpy().tolist() == [e[0] for e in expected]
    assert dense(x).numpy() == (8.0 if name == "sum" else 4.0)
    found = compressed(x, axis=[1], keepdims=True)
    assert isinstance(found, tf.SparseTensor)
    assert tf.sparse.to_dense(found).numpy().tolist() == expected
    assert tf.sparse.to_dense(compressed(x, 1)).numpy().tolist() == [e[0] for e in expected]


@pytest.mark.parametrize(("name", "scale"), [("sum", [3.0, 3.0]), ("mean", [1.5, 3.0]), ("sqrt_n", [3 / 2**0.5, 3.0])])
def test_segments(name, scale):
    data = tf.constant([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    function = getattr(v1, f"sparse_segment_{name}")
    ids, rows = [0, 0, 2], [0, 1, 2]
    expected = [[scale[0], scale[0] * 10], [0, 0], [scale[1], scale[1] * 10]]
    np.testing.assert_allclose(function(data, rows, ids), expected, rtol=1e-6)
    np.testing.assert_allclose(function(data, rows, ids, num_segments=4), [*expected, [0, 0]], rtol=1e-6)
